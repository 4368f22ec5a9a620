"""A prompt turn on the agent's side: what the agent reports, and what it requests from the client."""

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
    """One prompt, from its arrival until its answer. All methods go to the client that sent it, and wait while that
    client is slow to read.

    Raises:
        libacp.Misuse: each method, if the specification forbids the call now, such as reading a file of a client that
            does not support it; nothing was sent.
    """

    __slots__ = Attributes(__name__, "Turn", "session blocks meta id cancelled __dict__ __weakref__")

    session: AgentSession
    """The session of the prompt."""
    blocks: Sequence[v1.ContentBlock]
    """The content blocks of the prompt, as received."""
    meta: Mapping[str, Any]
    """The ``_meta`` of the prompt; empty if there is none."""
    id: Union[int, str, None]
    """The id of the request."""
    cancelled: bool
    """Whether the turn is cancelled: by the client, because the client is gone, or because the agent ends."""

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
        """The concatenated text of the prompt."""
        return "".join(block["text"] for block in self.blocks if block["type"] == "text")

    async def message(
        self,
        what: Union[str, v1.ContentBlock],
        *,
        message_id: Optional[str] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Sends a chunk of a message to the user: text, or any content block. Chunks with the same id form one message.
        """
        await self._say("agent_message_chunk", what, message_id, meta)

    async def thought(
        self,
        what: Union[str, v1.ContentBlock],
        *,
        message_id: Optional[str] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> None:
        """Sends a chunk of the agent's reasoning, in the same way as `message`."""
        await self._say("agent_thought_chunk", what, message_id, meta)

    async def plan(
        self, entries: Sequence[Union[str, v1.PlanEntry]], *, meta: Optional[Mapping[str, Any]] = None
    ) -> None:
        """Sends the complete plan; a string stands for a pending entry of medium priority."""
        steps = [_step(entry) for entry in entries]
        await self.session._update(with_meta({"sessionUpdate": "plan", "entries": steps}, meta))

    async def update(self, update: v1.SessionUpdate, *, meta: Optional[Mapping[str, Any]] = None) -> None:
        """Sends a `session/update` with this update; `meta` is the ``_meta`` of the params. In version 2 an update of
        version 1 is said in that version's words; one that has them already goes out unchanged.
        """
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
        """Creates a tool call that reports itself: ``async with turn.tool_call("Read notes", kind="read") as call:
        ...``.

        It is reported at the beginning of the block, and as completed at its end, or as failed if an exception leaves
        the block or permission was denied. A tool call that will ask for permission starts with the status ``pending``.
        A location may be given as a path.
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
        """Asks the user for permission to run a tool call, with the options to allow or reject it once, unless
        `options` are given. A tool call that is not a `ToolCall` is sent unchanged.
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
        """Reads a text file through the client, with changes that the user has not saved: `limit` lines starting at
        `line`, which counts from 1.
        """
        params = with_meta({"path": os.fspath(path), **_given(line=line, limit=limit)}, meta)
        result = await self.session.request("fs/read_text_file", params, timeout=timeout)
        return str(result["content"])

    async def read_text(self, path: StrPath, *, timeout: Optional[float] = None) -> str:
        """Reads a text file, through the client if it supports that, with changes that the user has not saved, or from
        the disk.
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
        """Writes a text file through the client."""
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
        """Creates a command in a terminal of the client: ``async with turn.terminal("make", ["test"]) as terminal:
        ...``.

        It is started at the beginning of the block, and always released at its end.
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
