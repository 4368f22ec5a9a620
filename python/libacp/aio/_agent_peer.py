"""The agent, as seen by its client."""

from __future__ import annotations

import asyncio
import os
from contextlib import AbstractAsyncContextManager
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Awaitable,
    Dict,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    cast,
)

import libacp

from .._attributes import Attributes
from ._child import Child
from ._client import Client
from ._client_sessions import ENDING, LIFE, NAMED_BY_AGENT, SessionsPeer
from ._errors import AgentEnded, no_handler, no_session
from ._exchange import Exchange, LoadingSession, Opening
from ._host import StrPath, awaited, merged, with_meta
from ._jobs import CHEAP, Cost, Job
from ._methods import shown, whole
from ._session import TOOL_CALLS, ClientSession, place
from ._wire import Reader, Writer

if TYPE_CHECKING:
    from libacp.types import v1

# What is asked of the user, about what was told before.
QUESTIONS = ("session/request_permission", "elicitation/create")
# What an answer takes at most where the host's own files and terminals do not say.
FILE = 4 * 1024 * 1024
OUTPUT = 1024 * 1024
# What a write brings is counted by the connection.
WRITING = Cost(file=True)
# How long an agent that has closed its output may take to end.
END = 1.0


class AgentPeer(SessionsPeer):
    """A connected agent, as seen by its client. `spawn_agent` and `connect` create it."""

    __slots__ = Attributes(__name__, "AgentPeer", "process")

    process: Optional[asyncio.subprocess.Process]
    """The process of the agent, if `spawn_agent` started it."""

    def __init__(self, client: Client, reader: Reader, writer: Writer) -> None:
        self.process = None
        self._child: Optional[Child] = None
        self._handlers = client._served()
        self._reading = Cost(FILE, file=True)
        self._made: Optional[AbstractAsyncContextManager[AgentPeer]] = None
        # The tasks that wait for an answer, other than that of a prompt.
        self._askers: List[Optional[asyncio.Task[Any]]] = []
        # Those that have been sent, by the serial numbers of their calls.
        self._exchanges: Dict[Optional[int], Exchange[Any]] = {}
        self._greeting: Dict[str, Any] = {}
        super().__init__(client, self._handlers, reader, writer)

    @property
    def capabilities(self) -> v1.AgentCapabilities:
        """The capabilities that the agent advertised in `initialize`, in the form of version 1."""
        return cast("v1.AgentCapabilities", self._greeting.get("agentCapabilities") or {})

    @property
    def info(self) -> Dict[str, Any]:
        """The name and version of the agent, if it gave them."""
        return self._greeting.get("agentInfo") or {}

    @property
    def greeting(self) -> v1.InitializeResponse:
        """The complete answer of the agent to `initialize`, with its ``_meta``, in the form of version 1."""
        return cast("v1.InitializeResponse", self._greeting)

    @property
    def auth_methods(self) -> List[v1.AuthMethod]:
        """The login methods that the agent offers."""
        return self._greeting.get("authMethods") or []

    @property
    def call(self) -> v1.CallAgent:
        """Sends a request like `request`, with the types of the protocol: ``await agent.call("session/list", {})``."""
        return cast("v1.CallAgent", self.request)

    async def request(
        self, method: str, params: Optional[Mapping[str, object]] = None, *, timeout: Optional[float] = None
    ) -> Any:
        """Sends a request like `Peer.request`.

        Raises:
            AgentEnded: if the agent's process ended before it answered; otherwise as `Peer.request`.
        """
        params = params or {}
        how = self._life(method, params) if method in LIFE else None
        task = asyncio.current_task()
        self._askers.append(task)
        try:
            return await self._ask(method, params, timeout=timeout, settle=how)
        except libacp.Misuse:
            if how is not None:
                how(None, True)
            raise
        finally:
            self._askers.remove(task)

    async def new_session(
        self,
        cwd: StrPath,
        *,
        mcp_servers: Sequence[v1.McpServer] = (),
        additional_directories: Sequence[StrPath] = (),
        timeout: Optional[float] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> ClientSession:
        """Creates a session in a working directory, which is an absolute path."""
        session = ClientSession(self, "", cwd, additional_directories)
        params = _setup("", place(cwd, additional_directories), mcp_servers, meta)
        return await self._enter("session/new", session, params, place(cwd, additional_directories), timeout)

    def load_session(
        self,
        id: str,
        cwd: StrPath,
        *,
        mcp_servers: Sequence[v1.McpServer] = (),
        additional_directories: Sequence[StrPath] = (),
        timeout: Optional[float] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> LoadingSession:
        """Loads an earlier session, if the agent supports it. Await the result, or first iterate over it to receive the
        updates with which the agent replays the conversation. Loading an open session returns its existing object.
        """
        session = self._object(ClientSession(self, id, cwd, additional_directories))
        where = place(cwd, additional_directories)
        return LoadingSession(session, _setup(id, where, mcp_servers, meta), where, timeout)

    async def resume_session(
        self,
        id: str,
        cwd: StrPath,
        *,
        mcp_servers: Sequence[v1.McpServer] = (),
        additional_directories: Sequence[StrPath] = (),
        timeout: Optional[float] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> ClientSession:
        """Resumes an earlier session without a replay, if the agent supports it. Resuming an open session returns its
        existing object.
        """
        session = self._object(ClientSession(self, id, cwd, additional_directories))
        where = place(cwd, additional_directories)
        return await self._enter("session/resume", session, _setup(id, where, mcp_servers, meta), where, timeout)

    async def list_sessions(
        self,
        cwd: Optional[StrPath] = None,
        *,
        timeout: Optional[float] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> AsyncIterator[v1.SessionInfo]:
        """Iterates over the sessions that the agent stores, if it supports that; pages are requested when they are
        needed.
        """
        params: Dict[str, Any] = with_meta({} if cwd is None else {"cwd": os.fspath(cwd)}, meta)
        while True:
            page = await self.request("session/list", params, timeout=timeout)
            for each in page["sessions"]:
                yield each
            if page.get("nextCursor") is None:
                return
            params = {**params, "cursor": page["nextCursor"]}

    async def delete_session(
        self, id: str, *, timeout: Optional[float] = None, meta: Optional[Mapping[str, Any]] = None
    ) -> v1.DeleteSessionResponse:
        """Asks the agent to delete a session, if it supports that."""
        params = with_meta({"sessionId": id}, meta)
        return cast("v1.DeleteSessionResponse", await self.request("session/delete", params, timeout=timeout))

    async def authenticate(
        self, method_id: str, *, timeout: Optional[float] = None, meta: Optional[Mapping[str, Any]] = None
    ) -> v1.AuthenticateResponse:
        """Logs in with one of `auth_methods`."""
        params = with_meta({"methodId": method_id}, meta)
        return cast("v1.AuthenticateResponse", await self.request("authenticate", params, timeout=timeout))

    async def logout(
        self, *, timeout: Optional[float] = None, meta: Optional[Mapping[str, Any]] = None
    ) -> v1.LogoutResponse:
        """Logs out, if the agent supports it."""
        return cast("v1.LogoutResponse", await self.request("logout", with_meta({}, meta), timeout=timeout))

    async def _ask(self, method: str, params: Mapping[str, object], **how: Any) -> Any:
        return await self._ended_well(method, self._wire.request(method, params, **how))

    async def _ended_well(self, method: str, answer: Awaitable[Any]) -> Any:
        """The answer; when there is none because the agent is gone, how it went."""
        try:
            return await answer
        except libacp.NoResult as problem:
            if problem.outcome != "closed" or self._child is None:
                raise
            # Its output ends a little before it does.
            raise AgentEnded(method, *await self._child.status(END)) from None

    async def _enter(
        self,
        method: str,
        session: ClientSession,
        params: Mapping[str, Any],
        where: Tuple[str, List[str]],
        timeout: Optional[float],
    ) -> ClientSession:
        opening = Opening(self, session, where)

        def settle(response: libacp.Response, waited_for: bool) -> None:
            opening.end()
            self._opened(session, response, waited_for, opening)

        try:
            await self._ask(method, params, settle=settle, timeout=timeout)
        except libacp.Misuse:
            opening.end()
            self._not_opened(session)
            raise
        if session._over and self.connection.phase != "closed":
            # The agent has named a session that is open.
            raise libacp.NoResult("invalid", method)
        return session

    async def close(self) -> None:
        """Closes the connection, and ends the agent's process if `spawn_agent` started it. ``async with`` calls it at
        the end.
        """
        made, self._made = self._made, None
        if made is not None:
            await made.__aexit__(None, None, None)

    def _started_as(self, process: asyncio.subprocess.Process, child: Child) -> None:
        self.process, self._child = process, child

    def _leave_with(self, made: AbstractAsyncContextManager[AgentPeer]) -> None:
        self._made = made

    async def _run(self, timeout: Optional[float], meta: Optional[Mapping[str, Any]] = None) -> None:
        """Opens the connection."""
        client = self._host
        capabilities = merged(shown(self._handlers), client.given_capabilities)
        params = {"clientInfo": client.info, "clientCapabilities": capabilities}
        await self._ask("initialize", with_meta(params, meta), timeout=timeout, settle=self._greeted)

    def _greeted(self, response: libacp.Response, waited_for: bool) -> None:
        if response.outcome == "result":
            self._greeting = response.result()

    async def _perform(self, job: Job) -> Any:
        request = job.request
        handler = self._handlers.get(request.method)
        if handler is None:
            raise no_handler(request.method)
        subject = self._subject(request.session)
        if subject is None or (subject is not self and subject._over):
            raise no_session()
        if request.method in QUESTIONS:
            # What the question is about is seen before it.
            for exchange in subject._exchanges if subject is not self else ():
                await exchange._caught_up(self._askers)
            if self._wire.watchers:
                await self._wire.watchers.go_on()
        result = await awaited(handler(subject, request.params))
        if type(result) is dict or request.method.startswith("_"):
            return result
        return whole(request.method, result)

    def _cost(self, request: libacp.Request) -> Cost:
        method = request.method
        if method == "fs/read_text_file":
            if self._reading.answer != getattr(self._disk, "most", FILE):
                self._reading = Cost(_most(self._disk, "most", FILE), file=True)
            return self._reading
        if method == "fs/write_text_file":
            return WRITING
        if method == "terminal/output":
            return Cost(_most(self._commands, "output_byte_limit", OUTPUT))
        return CHEAP

    def _subject(self, session: Optional[str]) -> Any:
        """What a message is about; ``None`` for a session that is not open."""
        if session is None:
            return self
        return self._loading.get(session) or self.sessions.get(session) or self._adopt(session)

    def _late(self, response: libacp.LateResponse) -> None:
        if response.outcome == "result" and response.method in NAMED_BY_AGENT:
            id = response.result()["sessionId"]
            if id not in self.sessions:
                self._given_up.add(id)
        super()._late(response)
        if response.outcome == "result" and response.method in ENDING:
            session = self.sessions.get(response.session or "")
            if session is not None:
                self._ends_with(response.method, session)
            self._sweep()

    def _notified(self, notification: libacp.Notification) -> None:
        params, method, exchange = notification.params, notification.method, self._exchanges.get(notification.exchange)
        if exchange is not None:
            subject: Any = exchange.session
        else:
            # An update may come before the answer that names its session.
            subject = self._subject(notification.session) or ClientSession(self, notification.session or "")
        handler = self._handlers.get(method)
        if handler is not None:
            self._hooks.call(method, handler, subject, params, of=notification)
        if method != "session/update":
            return
        update = params["update"]
        # The policy may let through what the model does not have.
        if type(update) is dict and update.get("sessionUpdate") in TOOL_CALLS:
            subject._name(update)
        if exchange is not None and exchange._open:
            exchange._take(params, self.connection.keep(notification))
        else:
            self._updated(subject, update, notification)

    def _updated(self, session: ClientSession, update: Any, of: Optional[libacp.Notification] = None) -> None:
        """An update that no iterator takes."""
        if self._host.on_update is not None:
            self._hooks.call("on_update", self._host.on_update, session, update, of=of)

    def _closed(self) -> None:
        for session in [*self.sessions.values(), *self._loading.values()]:
            self._leave(session)

    async def _finish(self, grace: float) -> None:
        for session in list(self.sessions.values()):
            self._leave(session)
        try:
            await super()._finish(grace)
        finally:
            for session in list(self.sessions.values()):
                self._leave(session)
            await self._all_ended()


def _most(of: object, name: str, otherwise: int) -> int:
    """A limit of the host's own, if it has one."""
    value = getattr(of, name, None)
    return value if isinstance(value, int) else otherwise


def _setup(
    id: str, where: Tuple[str, List[str]], mcp_servers: Sequence[v1.McpServer], meta: Optional[Mapping[str, Any]]
) -> Dict[str, Any]:
    cwd, roots = where
    params: Dict[str, Any] = {"cwd": cwd, "mcpServers": list(mcp_servers)}
    if id:
        params["sessionId"] = id
    if len(roots) > 1:
        params["additionalDirectories"] = roots[1:]
    return with_meta(params, meta)
