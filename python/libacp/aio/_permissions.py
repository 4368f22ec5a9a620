"""Permission requests, as a client answers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Mapping, Optional, cast

from .._attributes import Attributes

if TYPE_CHECKING:
    from libacp.types import v1, v2

    from ._agents import ClientSession


class PermissionRequest:
    """A question of an agent, whether a tool call may run."""

    __slots__ = Attributes(__name__, "PermissionRequest", "session tool_call options description subject meta __dict__ __weakref__")

    session: ClientSession
    """The session of the request."""
    tool_call: v1.ToolCallUpdate
    """The tool call that waits for the answer."""
    options: List[v1.PermissionOption]
    """The options to choose from."""
    description: Optional[str]
    """What the agent says about the question (version 2); ``None`` if it says nothing."""
    subject: Optional[v2.RequestPermissionSubject]
    """What the question is about (version 2); ``None`` in version 1, and where the agent does not say it."""
    meta: Mapping[str, Any]
    """The ``_meta`` of the request; empty if there is none."""

    def __init__(self, session: ClientSession, params: Mapping[str, Any]) -> None:
        self.session = session
        self.tool_call = cast("v1.ToolCallUpdate", params["toolCall"])
        self.options = cast("List[v1.PermissionOption]", params["options"])
        self.description = params.get("description")
        self.subject = params.get("subject")
        self.meta = params.get("_meta") or {}
        self._title: Optional[str] = params.get("title")
        self._known: Optional[str] = getattr(session, "_titles", {}).get(self.tool_call["toolCallId"])

    @property
    def title(self) -> str:
        """The title of the question, which it has in version 2; otherwise that of the tool call, from the request or from
        earlier updates; its id if it has no title.
        """
        return self._title or self.tool_call.get("title") or self._known or self.tool_call["toolCallId"]

    def allow(self) -> Optional[str]:
        """The id of the option that allows the tool call once; ``None`` if there is none, even if there is one that
        allows it always.
        """
        return self._pick("allow_once")

    def allow_always(self) -> Optional[str]:
        """The id of the option that allows the tool call always; ``None`` if there is none."""
        return self._pick("allow_always")

    def reject(self) -> Optional[str]:
        """The id of the option that rejects the tool call, once if there is such an option, otherwise always; ``None``
        if there is none.
        """
        return self._pick("reject_once", "reject_always")

    def _pick(self, *kinds: str) -> Optional[str]:
        for kind in kinds:
            for option in self.options:
                if option["kind"] == kind:
                    return option["optionId"]
        return None

    def __repr__(self) -> str:
        return f"<PermissionRequest for {self.title!r}>"


async def reject_all(request: PermissionRequest) -> Optional[str]:
    """Rejects every request; the default of `Client`."""
    return request.reject()


async def allow_all(request: PermissionRequest) -> Optional[str]:
    """Allows every request, once if there is such an option. Only for agents that can do no harm where they run."""
    return request.allow() or request.allow_always()
