"""A tool call that reports its progress, and the permission to run it."""

from __future__ import annotations

import os
import warnings
from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Type, Union, cast

import libacp

from .._attributes import Attributes
from ._host import StrPath, content, with_meta
from ._told import Told

if TYPE_CHECKING:
    from libacp.types import v1

    from ._display import DisplayTerminal
    from ._terminal import Terminal

OVER = ("completed", "failed", "cancelled")
ONCE: List[Mapping[str, Any]] = [
    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
]


class Permission:
    """The answer to a permission request. It is true if it allows the tool call."""

    __slots__ = Attributes(__name__, "Permission", "option_id kind allowed meta __dict__ __weakref__")

    option_id: Optional[str]
    """The id of the chosen option; ``None`` if none was chosen."""
    kind: Optional[v1.PermissionOptionKind]
    """The kind of the chosen option."""
    allowed: bool
    """Whether the answer allows the tool call."""
    meta: Mapping[str, Any]
    """The ``_meta`` of the answer; empty if there is none."""

    def __init__(self, options: Sequence[Mapping[str, Any]], result: Mapping[str, Any]) -> None:
        outcome = result["outcome"]
        self.meta = result.get("_meta") or {}
        self.option_id = outcome.get("optionId")
        kinds = {option["optionId"]: option["kind"] for option in options}
        self.kind = kinds.get(self.option_id)
        self.allowed = (self.kind or "").startswith("allow")

    def __bool__(self) -> bool:
        return self.allowed

    def __repr__(self) -> str:
        return f"<Permission {self.option_id!r}, {self.kind or 'no choice'}>"


class ToolCall:
    """A tool call of a turn; `Turn.tool_call` creates it. Use it once, with ``async with``."""

    __slots__ = Attributes(__name__, "ToolCall", "id title status __dict__ __weakref__")

    id: str
    """The id of the tool call."""
    title: str
    """The title."""
    status: v1.ToolCallStatus
    """The status that was last reported."""

    def __init__(
        self,
        session: Told,
        title: str,
        *,
        id: Optional[str],
        status: v1.ToolCallStatus,
        members: Mapping[str, Any],
    ) -> None:
        self.id = id or f"call-{os.urandom(8).hex()}"
        self.title = title
        self.status = status
        self._session = session
        # What was reported, apart from title and status.
        self._members: Dict[str, Any] = {name: value for name, value in members.items() if value is not None}
        self._refused = False
        self._entered = self._left = False

    async def __aenter__(self) -> ToolCall:
        if self._entered:
            raise RuntimeError("a tool call is used with `async with` once")
        self._entered = True
        await self._report("tool_call", {"title": self.title, "status": self.status, **self._members})
        return self

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], problem: Optional[BaseException], trace: Optional[TracebackType]
    ) -> None:
        self._left = True
        if self.status in OVER:
            return
        status = "failed" if kind is not None or self._refused else "completed"
        wire = self._session.client._wire
        try:
            # At once, so that being cancelled here does not leave the call without an end.
            wire.notify_now("session/update", self._update("tool_call_update", {"status": status}))
        except libacp.Error:
            # What it is left by says more than that its end cannot be reported.
            if kind is None:
                raise
        self.status = cast("v1.ToolCallStatus", status)
        await wire.drain()

    async def update(
        self,
        *,
        title: Optional[str] = None,
        kind: Optional[v1.ToolKind] = None,
        status: Optional[v1.ToolCallStatus] = None,
        name: Optional[str] = None,
        content: Optional[Sequence[v1.ToolCallContent]] = None,
        locations: Optional[Sequence[v1.ToolCallLocation]] = None,
        raw_input: Any = None,
        raw_output: Any = None,
    ) -> None:
        """Reports changes; fields that are not given keep their values. Content and locations replace the earlier ones.
        """
        self._inside()
        changes = {
            "title": title,
            "kind": kind,
            "status": status,
            "name": name,
            "content": None if content is None else list(content),
            "locations": None if locations is None else list(locations),
            "rawInput": raw_input,
            "rawOutput": raw_output,
        }
        changed = {each: value for each, value in changes.items() if value is not None}
        await self._report("tool_call_update", changed)
        self.title = changed.pop("title", self.title)
        self.status = changed.pop("status", self.status)
        self._members.update(changed)

    async def text(self, text: str) -> None:
        """Adds text to the content of the tool call."""
        await self._show({"type": "content", "content": content(text)})

    async def diff(self, path: StrPath, new_text: str, old_text: Optional[str] = None) -> None:
        """Adds a change of a file to the content; without `old_text`, the file is new."""
        old = {} if old_text is None else {"oldText": old_text}
        await self._show({"type": "diff", "path": os.fspath(path), "newText": new_text, **old})

    async def show(self, terminal: Union[Terminal, DisplayTerminal]) -> None:
        """Adds a live terminal to the content: one of the client, or of the agent."""
        await self._show({"type": "terminal", "terminalId": terminal.id})

    async def append(
        self, what: Union[str, v1.ToolCallContent], *, meta: Optional[Mapping[str, Any]] = None
    ) -> None:
        """Adds text, or any content, without sending again what is there. In version 1 all content is sent, at most its
        last 64 KiB.
        """
        self._inside()
        item: Mapping[str, Any] = {"type": "content", "content": content(what)} if isinstance(what, str) else what
        await self._report("tool_call_content_chunk", with_meta({"content": item}, meta))
        self._members.setdefault("content", []).append(item)

    async def complete(self, *, raw_output: Any = None) -> None:
        """Reports the tool call as completed, before the end of its block."""
        await self.update(status="completed", raw_output=raw_output)

    async def fail(self, text: Optional[str] = None) -> None:
        """Reports the tool call as failed, with a reason."""
        why: List[Any] = [] if text is None else [{"type": "content", "content": content(text)}]
        await self.update(status="failed", content=[*self._shown, *why] if why else None)

    async def cancelled(self) -> None:
        """Reports that the tool call was cancelled, as by `Agent.on_cancel_tool`. Version 1 calls that failed."""
        await self.update(status=cast("v1.ToolCallStatus", "cancelled"))

    async def ask_permission(
        self,
        options: Optional[Sequence[v1.PermissionOption]] = None,
        *,
        whole: bool = False,
        timeout: Optional[float] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> Permission:
        """Asks the user for permission to run the tool call. A pending call is in_progress after that, or failed at the
        end of its block.

        The request has the id and title of the tool call. With `whole` it has everything that was reported, such as
        kind, content, locations and input, for clients that do not store it.
        """
        self._inside()
        call: Dict[str, Any] = {"toolCallId": self.id, "title": self.title}
        if whole:
            call.update(self._members, status=self.status)
        permission = await ask_permission(self._session, call, options, timeout, meta)
        self._refused = not permission.allowed
        if permission.allowed and self.status == "pending":
            await self.update(status="in_progress")
        return permission

    def _inside(self) -> None:
        if not self._entered or self._left:
            when = "over" if self._left else "not reported yet"
            raise RuntimeError(f"this tool call is {when}: use it inside of `async with turn.tool_call(...) as call:`")

    def __del__(self) -> None:
        # As for a coroutine that is forgotten.
        if not getattr(self, "_entered", True):
            warnings.warn(
                f"the tool call {self.title!r} was never reported: use `async with turn.tool_call(...) as call:`",
                RuntimeWarning,
                stacklevel=2,
            )

    @property
    def _shown(self) -> Sequence[Any]:
        return cast("Sequence[Any]", self._members.get("content", ()))

    async def _show(self, item: Any) -> None:
        await self.update(content=[*self._shown, item])

    async def _report(self, kind: str, members: Mapping[str, Any]) -> None:
        await self._session.client._wire.notify("session/update", self._update(kind, members))

    def _update(self, kind: str, members: Mapping[str, Any]) -> Mapping[str, Any]:
        update = {"sessionUpdate": kind, "toolCallId": self.id, **members}
        return {"sessionId": self._session.id, "update": update}

    def __repr__(self) -> str:
        return f"<ToolCall {self.id!r}, {self.status}>"


async def ask_permission(
    session: Told,
    call: Mapping[str, Any],
    options: Optional[Sequence[v1.PermissionOption]],
    timeout: Optional[float],
    meta: Optional[Mapping[str, Any]],
) -> Permission:
    offered = cast("Sequence[Mapping[str, Any]]", ONCE if options is None else options)
    params = with_meta({"sessionId": session.id, "toolCall": call, "options": list(offered)}, meta)
    asked = session.client._wire.request("session/request_permission", params, timeout=timeout)
    result: Dict[str, Any] = await asked
    return Permission(offered, result)
