"""A client, as seen by its agent, and the client's sessions."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Protocol, Sequence, Union, cast

import libacp

from .._attributes import Attributes
from ._errors import RequestError, no_handler
from ._host import Host, awaited, merged, with_meta
from ._jobs import Job
from ._methods import shown, whole
from ._peer import Peer
from ._wire import Reader, Writer

if TYPE_CHECKING:
    from libacp.names import SessionSnapshot
    from libacp.types import v1

    _Begin = Callable[["AgentSession", Mapping[str, Any], "asyncio.Task[None]", Union[int, str, None]], "Work"]

# How long handlers may take to end when the client is gone.
GRACE = 5.0
OPENING = ("session/new", "session/load", "session/resume", "session/fork")
NAMED_BY_CLIENT = ("session/load", "session/resume")
ENDING = ("session/close", "session/delete", "session/archive")


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


class Work(Protocol):
    """What a handler of prompts is given, as its peer sees it."""

    cancelled: bool
    _left: bool

    def _cancel(self, left: bool) -> None: ...


class ClientPeer(Peer):
    """A connected client, as seen by its agent."""

    __slots__ = Attributes(__name__, "ClientPeer", "sessions")

    sessions: Dict[str, AgentSession]
    """The open sessions by id; empty once the connection has ended."""

    def __init__(
        self,
        agent: Host,
        auth_methods: Sequence[v1.AuthMethod],
        merges: bool,
        turn: _Begin,
        reader: Reader,
        writer: Writer,
    ) -> None:
        connection = libacp.Connection("agent", handlers=agent.handlers, **agent.options)
        connection.merge_chunks(merges)
        super().__init__(agent, connection, reader, writer, gathers=merges)
        self.sessions = {}
        self._auth_methods, self._turn = auth_methods, turn
        self._greeting: Dict[str, Any] = {}

    @property
    def capabilities(self) -> v1.ClientCapabilities:
        """The capabilities that the client advertised in `initialize`, in the form of version 1."""
        return cast("v1.ClientCapabilities", self._greeting.get("clientCapabilities") or {})

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

    async def _run(self) -> None:
        """Serves until the client closes its side."""
        try:
            await self._ended
        finally:
            await self._finish(GRACE)
            # A handler may have opened one while it ended.
            self._closed()

    async def _perform(self, job: Job) -> Any:
        request, handlers = job.request, self._host.handlers
        built_in = {
            "initialize": self._initialize,
            "session/close": self._close,
            "session/prompt": self._prompt,
            **dict.fromkeys(OPENING, self._open),
        }.get(request.method)
        if built_in is not None:
            return await built_in(job, request.params)
        if request.method in ENDING:
            job.accepted = lambda result: self._look(request.session or "")
        result = await awaited(self._handler(job)(self._subject(request.session), request.params))
        return result if request.method.startswith("_") else whole(request.method, result)

    def _handler(self, job: Job) -> Callable[..., Any]:
        handler = self._host.handlers.get(job.request.method)
        if handler is None:
            raise no_handler(job.request.method)
        return handler

    def _subject(self, session: Optional[str]) -> Any:
        """What a handler is about: a session, also one that is not open, or the client."""
        if session is None:
            return self
        return self.sessions.get(session) or AgentSession(self, session, {})

    def _look(self, id: str) -> None:
        """Forgets a session that is not open any more."""
        session = self.sessions.get(id)
        if session is not None and self.connection.session(id) is None:
            del self.sessions[id]
            self._session_over(session)

    async def _initialize(self, job: Job, params: Any) -> Any:
        agent, self._greeting = self._host, params
        capabilities: Dict[str, Any] = {"sessionCapabilities": {"close": {}}}
        capabilities = merged(capabilities, shown(agent.handlers))
        capabilities = merged(capabilities, agent.given_capabilities)
        result: Dict[str, Any] = {"agentInfo": agent.info, "agentCapabilities": capabilities}
        if self._auth_methods:
            result["authMethods"] = self._auth_methods
        handler = agent.handlers.get(job.request.method)
        more = None if handler is None else await awaited(handler(self, params))
        return merged(result, whole("initialize", more))

    async def _open(self, job: Job, params: Any) -> Any:
        """All ways to open a session: they differ in who names it, and in what may come before the answer."""
        method = job.request.method
        named = method in NAMED_BY_CLIENT
        session = AgentSession(self, params["sessionId"] if named else os.urandom(16).hex(), params)
        handler = self._host.handlers.get(method) if method == "session/new" else self._handler(job)
        session._opening = job.request
        result = dict(whole(method, handler and await awaited(handler(session, params))))
        if not named:
            session.id = result["sessionId"] = result.get("sessionId") or session.id

        def opened(result: Any) -> None:
            session._opening = None
            self.sessions[session.id] = session

        job.accepted = opened
        return result

    async def _close(self, job: Job, params: Any) -> Any:
        session = self._subject(params["sessionId"])
        # They are cancelled already.
        ending = [each for each in self._jobs.values() if each.request.session == session.id]
        tasks = [each.task for each in ending if each.request.method == "session/prompt" and each.task is not None]
        if tasks:
            await asyncio.wait(tasks)
        job.accepted = lambda result: self._look(session.id)
        handler = self._host.handlers.get(job.request.method)
        return whole(job.request.method, None if handler is None else await awaited(handler(session, params)))

    async def _prompt(self, job: Job, params: Any) -> Any:
        handler, session = self._handler(job), self.sessions.get(params["sessionId"])
        if session is None or job.task is None:
            raise RequestError(libacp.ErrorCode.INTERNAL_ERROR, "This session takes no prompts")
        turn = self._turn(session, params, job.task, job.request.id)
        job.stop = lambda: turn._cancel(self._leaving)
        try:
            result = await awaited(handler(turn))
        except asyncio.CancelledError:
            if not turn.cancelled:
                raise
            result = None
        if turn._left:
            # The client has not cancelled it.
            raise RequestError(libacp.ErrorCode.REQUEST_CANCELLED, "The agent ends")
        result = {"stopReason": result} if isinstance(result, str) else dict(whole("session/prompt", result))
        result.setdefault("stopReason", "end_turn")
        return {**result, "stopReason": "cancelled"} if turn.cancelled else result

    def _notified(self, notification: libacp.Notification, size: int) -> None:
        handler = self._host.handlers.get(notification.method)
        if handler is not None:
            subject = self._subject(notification.session)
            self._hooks.call(notification.method, handler, subject, notification.params, of=notification)

    def _closed(self) -> None:
        for session in list(self.sessions.values()):
            del self.sessions[session.id]
            self._session_over(session)
