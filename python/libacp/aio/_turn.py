"""What the agent reports during its work, and what it requests from the client. `_clients` has the turn of a prompt."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, Dict, Generic, Mapping, Optional, Sequence, TypeVar, Union

from .._attributes import Attributes
from ._display import DisplayTerminal
from ._host import StrPath, content, with_meta
from ._plan import step
from ._terminal import Terminal
from ._told import Told
from ._tool_call import Permission, ToolCall, ask_permission

if TYPE_CHECKING:
    from libacp.types import v1

S = TypeVar("S", bound=Told)


class Foreground(Generic[S]):
    """Work in the foreground of a session."""

    __slots__ = Attributes(__name__, "Foreground", "session blocks meta id cancelled __dict__ __weakref__")

    session: S
    """The session of the work."""
    blocks: Sequence[v1.ContentBlock]
    """The content blocks of the prompt, as received; none of `AgentSession.work`."""
    meta: Mapping[str, Any]
    """The ``_meta`` of the prompt; empty if there is none."""
    id: Union[int, str, None]
    """The id of the request; ``None`` of `AgentSession.work`."""
    cancelled: bool
    """Whether the turn is cancelled: by the client, because the client is gone, or because the agent ends."""

    def __init__(
        self,
        session: S,
        params: Mapping[str, Any],
        task: Optional[asyncio.Task[Any]],
        id: Union[int, str, None],
        serial: int,
    ) -> None:
        self.session = session
        self.blocks = params.get("prompt", ())
        self.meta = params.get("_meta") or {}
        self.id = id
        self.cancelled = self._left = False
        self._task = task
        # That of its request, or the number of the work.
        self._serial = serial

    @property
    def text(self) -> str:
        """The concatenated text of the prompt."""
        return "".join(block["text"] for block in self.blocks if block["type"] == "text")

    def hold(self) -> None:
        """Holds the prompt back: it becomes a message of the conversation with `insert`, or with the first thing that is
        reported of the work on it. Until then it can be refused, by an exception of the handler, and leaves nothing in
        the conversation. Without this it is a message as soon as the handler waits for something, so call it before.

        In version 1 a prompt is part of the conversation from the beginning, and this does nothing.

        Raises:
            libacp.Misuse: if the prompt is a message already, was cancelled, or there is none.
        """
        self.session.client.connection.hold(self._serial)

    async def insert(self) -> None:
        """Makes the prompt a message of the conversation, if it is none. In version 1 this does nothing.

        Raises:
            libacp.Misuse: if the prompt was cancelled, or there is none.
        """
        client = self.session.client
        await client._tell("session/prompt", client.connection.insert, self._serial)

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
        steps = [step(entry) for entry in entries]
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
        if self.session.client.can("fs/read_text_file"):
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

    async def display_terminal(
        self,
        command: str,
        *,
        cwd: Optional[StrPath] = None,
        id: Optional[str] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> DisplayTerminal:
        """Shows a command that the agent runs itself, and returns its terminal, to report what it prints and how it ends:

            terminal = await turn.display_terminal("make test")
            await call.show(terminal)
            await terminal.write(b"ok\\n")
            await terminal.exit(0)

        In version 1 its output is text of the tool calls that show it.
        """
        terminal = DisplayTerminal(self.session, id or f"terminal-{os.urandom(8).hex()}")
        await terminal._update(with_meta({"command": command, **_given(cwd=cwd and os.fspath(cwd))}, meta))
        return terminal

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
            if self._task is not None:
                self._task.cancel()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.session!r}>"


def _given(**members: Any) -> "dict[str, Any]":
    return {name: value for name, value in members.items() if value is not None}


def _location(where: Union[StrPath, v1.ToolCallLocation]) -> Mapping[str, Any]:
    return {"path": os.fspath(where)} if isinstance(where, (str, os.PathLike)) else where


def _on_disk(path: StrPath) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()
