"""A client, as seen by its agent: its sessions, and the work in them. What agents call.

What goes on meanwhile stands below: `_client_peer` answers the client's requests, `_turn` has what is said during work.
"""

from __future__ import annotations

import asyncio
from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Type, Union, cast

import libacp

from .._attributes import Attributes
from ._client_peer import AnsweringPeer
from ._display import DisplayTerminal
from ._errors import RequestError
from ._host import with_meta
from ._plan import Plan
from ._tool_call import ToolCall
from ._turn import Foreground

if TYPE_CHECKING:
    from libacp.names import SessionSnapshot
    from libacp.types import v1


class AgentSession:
    """A session, on the agent's side."""

    __slots__ = Attributes(__name__, "AgentSession", "id client cwd roots mcp_servers meta data __dict__ __weakref__")

    id: str
    """The id of the session."""
    client: ClientPeer
    """The client that opened the session."""
    cwd: str
    """The working directory."""
    roots: List[str]
    """The working directory and all additional directories."""
    mcp_servers: List[v1.McpServer]
    """The MCP servers that the client has given."""
    meta: Mapping[str, Any]
    """The ``_meta`` of the request that opened the session; empty if there is none."""
    data: Any
    """Any data that the agent attaches to the session."""

    def __init__(self, client: ClientPeer, id: str, params: Mapping[str, Any]) -> None:
        self.id = id
        self.client = client
        self.cwd = params.get("cwd", "")
        self.roots = [each for each in (self.cwd, *(params.get("additionalDirectories") or ())) if each]
        self.meta = params.get("_meta") or {}
        self.mcp_servers = params.get("mcpServers") or []
        self.data = None
        # The request that opens it, while that has no answer.
        self._opening: Optional[libacp.Request] = None

    @property
    def open(self) -> bool:
        """Whether the session is open. It is not while a handler opens it, or if a request only names it, as to delete
        it.
        """
        return self.client.sessions.get(self.id) is self

    @property
    def snapshot(self) -> Optional[SessionSnapshot]:
        """Everything that the client was told about the session, such as its plan, modes and tool calls; ``None`` if
        the session is not open.
        """
        return self.client.connection.session_snapshot(self.id)

    async def update(self, update: v1.SessionUpdate, *, meta: Optional[Mapping[str, Any]] = None) -> None:
        """Sends a `session/update` with this update; `meta` is the ``_meta`` of the params. In version 2 an update of
        version 1 is said in that version's words; one that has them already goes out unchanged.

        While a handler opens the session, updates are held back until after its answer, except for the replay of a
        session that is being loaded.
        """
        await self._update(update, meta)

    async def request(
        self, method: str, params: Optional[Mapping[str, object]] = None, *, timeout: Optional[float] = None
    ) -> Any:
        """Sends a request like `ClientPeer.request`, with the session id added to the params."""
        return await self.client._wire.request(method, {"sessionId": self.id, **(params or {})}, timeout=timeout)

    async def notify(self, method: str, params: Optional[Mapping[str, object]] = None) -> None:
        """Sends a notification like `ClientPeer.notify`, with the session id added to the params.

        While a handler opens the session, notifications are held back until after its answer, except for the replay of
        a session that is being loaded.
        """
        if self._opening is None:
            await self.client._wire.notify(method, {"sessionId": self.id, **(params or {})})
        else:
            await self.client._wire.notify_opened(self._opening, method, params or {})

    def work(self) -> Work:
        """Creates work that no prompt has asked for: ``async with session.work() as turn: ...``. The `Turn` is that of a
        prompt without content.

        Prompts of the session wait for the end of the block. If the client cancels the work or closes the session, or
        disconnects, the block is cancelled. This is no error: the program goes on after the block, and the work has ended as
        ``cancelled`` (`Work.stop_reason`), however the block ends. An exception that leaves the block ends the
        work with an error, as that of a handler does. In version 1 the client only sees the updates.

        Raises:
            libacp.Misuse: at the beginning of the block, if the session works already, or is not open.
        """
        return Work(self)

    def plan(self, id: str) -> Plan:
        """One of the plans of the session, to set or to remove it: ``await session.plan("tests").set(["Run them"])``."""
        return Plan(self, id)

    async def background(self, what: Union[ToolCall, DisplayTerminal]) -> None:
        """Puts a tool call or a terminal that was reported into the background, until its end is reported. The client
        knows then that it goes on beside the work of the session, whose end and whose cancellation do not concern it. In
        version 1 this does nothing.
        """
        item = {"type": "terminal", "terminalId": what.id}
        if isinstance(what, ToolCall):
            item = {"type": "tool_call", "toolCallId": what.id}
        await self.client._tell("session/update", self.client.connection.background, self.id, item)

    async def _update(self, update: Mapping[str, Any], meta: Optional[Mapping[str, Any]] = None) -> None:
        if self._opening is None:
            params: Dict[str, Any] = {"sessionId": self.id, "update": update}
            if meta is not None:
                params["_meta"] = dict(meta)
            await self.client._wire.notify("session/update", params)
        else:
            await self.notify("session/update", with_meta({"update": update}, meta))

    def __repr__(self) -> str:
        return f"<AgentSession {self.id!r}>"


class Turn(Foreground[AgentSession]):
    """One prompt, from its arrival until its answer. All methods go to the client that sent it, and wait while that
    client is slow to read.

    Raises:
        libacp.Misuse: each method, if the specification forbids the call now, such as reading a file of a client that
            does not support it; nothing was sent.
    """

    @property
    def client(self) -> ClientPeer:
        """The client that sent the prompt."""
        return self.session.client


class Work:
    """Work that no prompt has asked for; `AgentSession.work` creates it. Use it once, with ``async with``."""

    __slots__ = Attributes(__name__, "Work", "session stop_reason turn _ended __weakref__")

    session: AgentSession
    """The session of the work."""
    stop_reason: v1.StopReason
    """Why the work ends: ``end_turn``, unless the block sets something else; ``cancelled`` after work that was cancelled."""
    turn: Turn
    """What the block is given."""

    def __init__(self, session: AgentSession) -> None:
        self.session = session
        self.stop_reason = "end_turn"
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    async def __aenter__(self) -> Turn:
        if hasattr(self, "turn"):
            raise RuntimeError("work is used with `async with` once")
        client = self.session.client
        number = await client._tell("session/update", client.connection.begin_work, self.session.id)
        self.turn = Turn(self.session, {}, asyncio.current_task(), None, number)
        client._works[number] = self
        return self.turn

    async def __aexit__(
        self, kind: Optional[Type[BaseException]], problem: Optional[BaseException], trace: Optional[TracebackType]
    ) -> bool:
        client, turn = self.session.client, self.turn
        stopped = turn.cancelled and isinstance(problem, asyncio.CancelledError)
        try:
            self._end(problem)
        except Exception:
            # It ends all the same. What it is left by says more than that its end cannot be reported.
            if client.connection.phase != "closed":
                internal = libacp.ErrorCode.INTERNAL_ERROR
                client.connection.fail_work(turn._serial, internal, libacp.ErrorCode.message(internal))
                if problem is None:
                    raise
        finally:
            del client._works[turn._serial]
            self._ended.set_result(None)
            client._wire.dispatch()
        try:
            await client._wire.drain()
        except asyncio.CancelledError:
            # Perhaps the cancellation of this work, which comes late.
            if stopped or not turn.cancelled:
                raise
            stopped = problem is None
        uncancel = getattr(turn._task, "uncancel", None)
        if turn.cancelled and uncancel is not None:
            uncancel()
        return stopped

    def _end(self, problem: Optional[BaseException]) -> None:
        client, turn = self.session.client, self.turn
        connection, number = client.connection, turn._serial
        if turn.cancelled or isinstance(problem, asyncio.CancelledError):
            self.stop_reason = "cancelled"
            connection.end_work(number, {"stopReason": self.stop_reason})
        elif problem is None:
            connection.end_work(number, {"stopReason": self.stop_reason})
        elif isinstance(problem, RequestError):
            connection.fail_work(number, problem.code, problem.message, problem.data)
        else:
            code = libacp.ErrorCode.INTERNAL_ERROR
            data = client._exposed(problem) if isinstance(problem, Exception) else None
            connection.fail_work(number, code, libacp.ErrorCode.message(code), data)

    def __repr__(self) -> str:
        return f"<Work of {self.session!r}>"


class ClientPeer(AnsweringPeer[AgentSession]):
    """A connected client, as seen by its agent."""

    @property
    def capabilities(self) -> v1.ClientCapabilities:
        """The capabilities that the client advertised in `initialize`, in the form of version 1."""
        return cast("v1.ClientCapabilities", self._taken_capabilities())

    @property
    def info(self) -> Dict[str, Any]:
        """The name and version of the client, if it gave them."""
        return self._greeting.get("clientInfo") or {}

    @property
    def greeting(self) -> v1.InitializeRequest:
        """The complete params of `initialize`, with their ``_meta``, in the form of version 1; empty before."""
        return cast("v1.InitializeRequest", self._greeting)

    @property
    def call(self) -> v1.CallClient:
        """Sends a request like `request`, with the types of the protocol: ``await client.call("fs/read_text_file",
        {...})``.
        """
        return cast("v1.CallClient", self.request)

    def _new(self, id: str, params: Mapping[str, Any]) -> AgentSession:
        return AgentSession(self, id, params)

    def _turn(
        self, session: AgentSession, params: Mapping[str, Any], task: asyncio.Task[None], request: libacp.Request
    ) -> Turn:
        return Turn(session, params, task, request.id, request.serial)
