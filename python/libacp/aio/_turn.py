"""A prompt turn on the agent's side: what the agent says in it, and what it asks the client for."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Sequence, Union

from .._attributes import Attributes
from ._host import StrPath, content, with_meta
from ._terminal import Terminal
from ._tool_call import Permission, ToolCall, ask_permission

if TYPE_CHECKING:
    from libacp.types import v1

    from ._client_peer import AgentSession, ClientPeer


class Turn:
    """One prompt, from the time it came until it is answered. All its methods go to the client that sent it.

    A call raises `libacp.Misuse` when the specification forbids it now, as reading a file through a client that offers
    no files; nothing was sent then. Each waits while the client is slow to read.
    """

    __slots__ = Attributes(__name__, "Turn", "session blocks meta id cancelled __dict__ __weakref__")

    session: AgentSession
    """The session that the prompt is for."""
    blocks: Sequence[v1.ContentBlock]
    """The prompt, as it came."""
    meta: Mapping[str, Any]
    """The ``_meta`` of the prompt; empty without any."""
    id: Union[int, str, None]
    """The id of the prompt's request."""
    cancelled: bool
    """Whether the client has cancelled the turn or is gone, or the agent ends."""

    def __init__(
        self, session: AgentSession, params: Mapping[str, Any], task: asyncio.Task[None], id: Union[int, str, None]
    ) -> None:
        self.session = session
        self.blocks = params["prompt"]
        self.meta = params.get("_meta") or {}
        self.id = id
        self.cancelled = self._left = False
        self._task = task

    @property
    def client(self) -> ClientPeer:
        """The client that sent the prompt."""
        return self.session.client

    @property
    def text(self) -> str:
        """The text of the prompt, put together."""
        return "".join(block["text"] for block in self.blocks if block["type"] == "text")

    async def message(
        self,
        what: Union[str, v1.ContentBlock],
        *,
        message_id: Optional[str] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Says something to the user: text, or any content block. Pieces with the same id are one message."""
        await self._say("agent_message_chunk", what, message_id, meta)

    async def thought(
        self,
        what: Union[str, v1.ContentBlock],
        *,
        message_id: Optional[str] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Shows what the agent thinks, as `message` shows what it says."""
        await self._say("agent_thought_chunk", what, message_id, meta)

    async def plan(
        self, entries: Sequence[Union[str, v1.PlanEntry]], *, meta: Optional[Mapping[str, Any]] = None
    ) -> None:
        """Shows the plan, whole; a string stands for a step of medium priority that has not begun."""
        steps = [_step(entry) for entry in entries]
        await self.session._update(with_meta({"sessionUpdate": "plan", "entries": steps}, meta))

    async def update(self, update: v1.SessionUpdate, *, meta: Optional[Mapping[str, Any]] = None) -> None:
        """Sends a `session/update`, as it is; `meta` is the ``_meta`` beside it."""
        await self.session._update(update, meta)

    def tool_call(
        self,
        title: str,
        *,
        kind: v1.ToolKind = "other",
        id: Optional[str] = None,
        status: v1.ToolCallStatus = "in_progress",
        name: Optional[str] = None,
        content: Sequence[v1.ToolCallContent] = (),
        locations: Sequence[Union[StrPath, v1.ToolCallLocation]] = (),
        raw_input: Any = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> ToolCall:
        """A tool call that reports itself: ``async with turn.tool_call("Read notes", kind="read") as call: ...``.

        It is reported on entering, and as completed at the end; as failed when it is left by an exception or when
        permission was refused. One that is to ask for permission begins with the status ``pending``. A location may be
        a path alone.
        """
        return ToolCall(
            self.session,
            title,
            id=id,
            status=status,
            members={
                "kind": kind,
                "name": name,
                "content": list(content) or None,
                "locations": [_location(each) for each in locations] or None,
                "rawInput": raw_input,
                "_meta": meta,
            },
        )

    async def ask_permission(
        self,
        call: Union[ToolCall, v1.ToolCallUpdate],
        options: Optional[Sequence[v1.PermissionOption]] = None,
        *,
        timeout: Optional[float] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> Permission:
        """Asks the user to allow a tool call, once or not at all where `options` do not say otherwise. One that is not a
        `ToolCall` is sent as it is, with its content and whatever else it has.
        """
        if isinstance(call, ToolCall):
            return await call.ask_permission(options, timeout=timeout, meta=meta)
        return await ask_permission(self.session, call, options, timeout, meta)

    async def read_text_file(
        self,
        path: StrPath,
        *,
        line: Optional[int] = None,
        limit: Optional[int] = None,
        timeout: Optional[float] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> str:
        """The text of a file, with what the user has not saved yet: `limit` lines from `line`, which counts from 1."""
        params = with_meta({"path": os.fspath(path), **_given(line=line, limit=limit)}, meta)
        result = await self.session.request("fs/read_text_file", params, timeout=timeout)
        return str(result["content"])

    async def read_text(self, path: StrPath, *, timeout: Optional[float] = None) -> str:
        """The text of a file: from the client where it offers files, with what the user has not saved yet; else from the
        disk.
        """
        if self.client.can("fs/read_text_file"):
            return await self.read_text_file(path, timeout=timeout)
        return await asyncio.get_running_loop().run_in_executor(None, _on_disk, path)

    async def write_text_file(
        self,
        path: StrPath,
        content: str,
        *,
        timeout: Optional[float] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Writes a file through the client."""
        params = with_meta({"path": os.fspath(path), "content": content}, meta)
        await self.session.request("fs/write_text_file", params, timeout=timeout)

    def terminal(
        self,
        command: str,
        args: Sequence[str] = (),
        *,
        env: Optional[Mapping[str, str]] = None,
        cwd: Optional[StrPath] = None,
        output_byte_limit: Optional[int] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> Terminal:
        """A command in a terminal of the client's: ``async with turn.terminal("make", ["test"]) as terminal: ...``.

        It is started on entering, and released at the end, whatever happens.
        """
        if isinstance(args, (str, bytes)):
            raise TypeError(f"the arguments of a command are a list of strings, each by itself: [{args!r}], not {args!r}")
        params = {
            "command": command,
            "args": list(args),
            "env": [{"name": name, "value": value} for name, value in (env or {}).items()],
            **_given(cwd=cwd and os.fspath(cwd), outputByteLimit=output_byte_limit),
        }
        return Terminal(self.session, with_meta(params, meta))

    async def _say(
        self,
        kind: str,
        what: Union[str, v1.ContentBlock],
        message_id: Optional[str],
        meta: Optional[Mapping[str, Any]],
    ) -> None:
        update: Dict[str, Any] = {"sessionUpdate": kind, "content": content(what)}
        if message_id is not None:
            update["messageId"] = message_id
        if meta is not None:
            update["_meta"] = dict(meta)
        await self.session._update(update)

    def _cancel(self, left: bool) -> None:
        """Cancels the handler, once, so that it can clean up; because the agent ends, or because the client wants so."""
        if not self.cancelled:
            self.cancelled, self._left = True, left
            self._task.cancel()

    def __repr__(self) -> str:
        return f"<Turn of {self.session!r}>"


def _given(**members: Any) -> "dict[str, Any]":
    return {name: value for name, value in members.items() if value is not None}


def _location(where: Union[StrPath, v1.ToolCallLocation]) -> Mapping[str, Any]:
    return {"path": os.fspath(where)} if isinstance(where, (str, os.PathLike)) else where


def _step(entry: Union[str, v1.PlanEntry]) -> Mapping[str, Any]:
    return {"content": entry, "priority": "medium", "status": "pending"} if isinstance(entry, str) else entry


def _on_disk(path: StrPath) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()
