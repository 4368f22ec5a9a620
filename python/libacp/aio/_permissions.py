"""Requests for permission, as a client answers them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, Mapping, Optional, cast

from .._attributes import Attributes

if TYPE_CHECKING:
    from libacp.types import v1

    from ._session import ClientSession


class PermissionRequest:
    """What an agent asks the user to allow."""

    __slots__ = Attributes(__name__, "PermissionRequest", "session tool_call options meta __dict__ __weakref__")

    session: ClientSession
    """The session in which it asks."""
    tool_call: v1.ToolCallUpdate
    """The tool call that waits for the answer."""
    options: List[v1.PermissionOption]
    """The answers to choose from."""
    meta: Mapping[str, Any]
    """The ``_meta`` of the request; empty without any."""

    def __init__(self, session: ClientSession, params: Mapping[str, Any]) -> None:
        self.session = session
        self.tool_call = cast("v1.ToolCallUpdate", params["toolCall"])
        self.options = cast("List[v1.PermissionOption]", params["options"])
        self.meta = params.get("_meta") or {}
        self._known: Optional[str] = getattr(session, "_titles", {}).get(self.tool_call["toolCallId"])

    @property
    def title(self) -> str:
        """What the tool call is called: in the request, or else as the agent has told of it before; its id where it has not."""
        id = self.tool_call["toolCallId"]
        return self.tool_call.get("title") or self._known or id

    def allow(self) -> Optional[str]:
        """The id of the option that allows it this time; ``None`` where there is none, also where it could be allowed for
        good.
        """
        return self._pick("allow_once")

    def allow_always(self) -> Optional[str]:
        """The id of the option that allows it for good, and what the agent takes for the same; ``None`` without any."""
        return self._pick("allow_always")

    def reject(self) -> Optional[str]:
        """The id of the option that refuses it: for this time if there is one, else for good; ``None`` without any."""
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
    """Refuses everything; what a client does that was given nothing else."""
    return request.reject()


async def allow_all(request: PermissionRequest) -> Optional[str]:
    """Allows everything, each time anew where the agent asks so. For agents that run where they can do no harm."""
    return request.allow() or request.allow_always()
