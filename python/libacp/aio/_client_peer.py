"""A client as its agent sees it, and the sessions that it has opened."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Tuple, cast

import libacp

from ._errors import RequestError
from ._host import awaited, merged
from ._log import log
from ._peer import Job, Peer
from ._turn import Turn
from ._wire import Reader, Writer

if TYPE_CHECKING:
    from libacp.names import SessionSnapshot
    from libacp.types import v1

    from ._agent import Agent

# How long handlers may take to end when the client is gone.
GRACE = 5.0
# The capability that says so, for each method that an agent may have a handler for.
ADVERTISED: Dict[str, "tuple[tuple[str, ...], Any]"] = {
    "session/load": (("loadSession",), True),
    "session/resume": (("sessionCapabilities", "resume"), {}),
    "session/list": (("sessionCapabilities", "list"), {}),
    "session/delete": (("sessionCapabilities", "delete"), {}),
    "session/close": (("sessionCapabilities", "close"), {}),
    "session/fork": (("sessionCapabilities", "fork"), {}),
    "logout": (("auth", "logout"), {}),
}


class AgentSession:
    """A session, on the agent's side."""

    id: str
    """Its id."""
    client: ClientPeer
    """The client that opened it."""
    cwd: str
    """Its working directory."""
    roots: List[str]
    """The working directory and all further roots."""
    mcp_servers: List[v1.McpServer]
    """The MCP servers that the client wants used."""
    data: Any
    """Whatever the agent wants to keep with it."""

    def __init__(self, client: ClientPeer, id: str, params: Mapping[str, Any]) -> None:
        self.id = id
        self.client = client
        self.cwd = params.get("cwd", "")
        self.roots = [self.cwd, *(params.get("additionalDirectories") or ())]
        self.mcp_servers = params.get("mcpServers") or []
        self.data = None
        # What is said before the answer that names the session waits for that answer.
        self._held: Optional[List[Tuple[str, Mapping[str, object]]]] = None

    @property
    def snapshot(self) -> Optional[SessionSnapshot]:
        """All that the client has been told of it: its plan, modes, tool calls; ``None`` when it is not open."""
        return self.client.connection.session_snapshot(self.id)

    async def update(self, update: v1.SessionUpdate) -> None:
        """Sends a `session/update`, as it is."""
        await self._update(update)

    async def request(
        self, method: str, params: Optional[Mapping[str, object]] = None, *, timeout: Optional[float] = None
    ) -> Any:
        """As `ClientPeer.request`, with the session's id added to the params."""
        return await self.client._wire.request(method, {"sessionId": self.id, **(params or {})}, timeout=timeout)

    async def notify(self, method: str, params: Optional[Mapping[str, object]] = None) -> None:
        """As `ClientPeer.notify`, with the session's id added to the params.

        While a handler opens the session, this waits for its answer, except for the replay of a session that is loaded.
        """
        if self._held is not None:
            self._held.append((method, params or {}))
        else:
            await self.client.notify(method, {"sessionId": self.id, **(params or {})})

    async def _update(self, update: Mapping[str, Any]) -> None:
        if self._held is not None:
            self._held.append(("session/update", {"update": update}))
        else:
            await self.client._wire.notify("session/update", {"sessionId": self.id, "update": update})

    async def _let_out(self) -> None:
        held = self._held or []
        try:
            while held:
                method, params = held.pop(0)
                await self.client.notify(method, {"sessionId": self.id, **params})
        except libacp.Misuse as misuse:
            log.error("what was said while %r was opened cannot be sent: %s", self, misuse)
        finally:
            self._held = None

    def __repr__(self) -> str:
        return f"<AgentSession {self.id!r}>"


class ClientPeer(Peer):
    """The client, as its agent sees it."""

    _host: Agent

    def __init__(self, agent: Agent, reader: Reader, writer: Writer) -> None:
        super().__init__(agent, libacp.Connection("agent", **agent.options), reader, writer)
        self.sessions: Dict[str, AgentSession] = {}
        """The open sessions by their ids."""

    @property
    def info(self) -> Dict[str, Any]:
        """Name and version of the client, as far as it told."""
        return self.connection.peer_info.get("clientInfo") or {}

    @property
    def call(self) -> v1.CallClient:
        """`request` with the types of the protocol: ``await client.call("fs/read_text_file", {...})``."""
        return cast("v1.CallClient", self.request)

    async def _run(self) -> None:
        """Serves until the client closes its side."""
        try:
            await self._ended
        finally:
            await self._finish(GRACE)

    async def _perform(self, job: Job) -> Any:
        request, handlers = job.request, self._host.handlers
        params = request.params
        built_in = {
            "initialize": self._initialize,
            "session/new": self._open,
            "session/load": self._open,
            "session/resume": self._open,
            "session/fork": self._open,
            "session/close": self._close,
        }.get(request.method)
        if request.method == "session/prompt":
            return await self._prompt(job, params)
        if built_in is not None:
            return await built_in(job, params)
        handler = handlers.get(request.method)
        if handler is None:
            raise RequestError(libacp.ErrorCode.METHOD_NOT_FOUND, "Method not found")
        return await awaited(handler(self._subject(request.session), params))

    def _subject(self, session: Optional[str]) -> Any:
        """What a handler is about."""
        return self.sessions.get(session or "") or self

    async def _initialize(self, job: Job, params: Any) -> Any:
        agent = self._host
        capabilities: Dict[str, Any] = {"sessionCapabilities": {"close": {}}}
        for name in agent.handlers:
            path, value = ADVERTISED.get(name, ((), None))
            for step in reversed(path):
                value = {step: value}
            capabilities = merged(capabilities, value or {})
        capabilities = merged(capabilities, agent.given_capabilities)
        result: Dict[str, Any] = {"agentInfo": agent.info, "agentCapabilities": capabilities}
        if agent.auth_methods:
            result["authMethods"] = agent.auth_methods
        handler = agent.handlers.get(job.request.method)
        more = None if handler is None else await awaited(handler(self, params))
        return merged(result, more or {})

    async def _open(self, job: Job, params: Any) -> Any:
        """All ways to open a session: they differ in who names it, and in what may come before the answer."""
        method = job.request.method
        named = method in ("session/load", "session/resume")
        session = AgentSession(self, params["sessionId"] if named else os.urandom(16).hex(), params)
        handler = self._host.handlers.get(method)
        if handler is None and method != "session/new":
            raise RequestError(libacp.ErrorCode.METHOD_NOT_FOUND, "Method not found")
        # One that is open already stays so when loading it again fails.
        before = self.sessions.get(session.id)
        self.sessions[session.id] = session
        if method != "session/load":
            session._held, job.after = [], session._let_out
        try:
            result = dict((handler and await awaited(handler(session, params))) or {})
        except BaseException:
            del self.sessions[session.id]
            if before is not None:
                self.sessions[session.id] = before
            raise
        if not named:
            del self.sessions[session.id]
            session.id = result.setdefault("sessionId", session.id)
            self.sessions[session.id] = session
        return result

    async def _close(self, job: Job, params: Any) -> Any:
        session = self.sessions.pop(params["sessionId"], None)
        if session is None:
            return {}
        prompts = self._prompts(session)
        for prompt in prompts:
            self._stop(prompt.request.serial)
        tasks = [prompt.task for prompt in prompts if prompt.task is not None]
        if tasks:
            await asyncio.wait(tasks)
        handler = self._host.handlers.get(job.request.method)
        return None if handler is None else await awaited(handler(session, params))

    async def _prompt(self, job: Job, params: Any) -> Any:
        session, handler = self.sessions.get(params["sessionId"]), self._host.handlers.get("session/prompt")
        if session is None or handler is None or job.task is None:
            raise RequestError(libacp.ErrorCode.INTERNAL_ERROR, "This agent takes no prompts")
        turn = Turn(session, params["prompt"], job.task)
        job.stop = turn._cancel
        try:
            result = await awaited(handler(turn))
        except asyncio.CancelledError:
            if not turn.cancelled:
                raise
            result = None
        result = {"stopReason": result} if isinstance(result, str) else dict(result or {})
        result.setdefault("stopReason", "end_turn")
        return {**result, "stopReason": "cancelled"} if turn.cancelled else result

    def _notified(self, notification: libacp.Notification, size: int) -> None:
        subject = self._subject(notification.session)
        if notification.method == "session/cancel" and isinstance(subject, AgentSession):
            for job in self._prompts(subject):
                self._stop(job.request.serial)
        handler = self._host.handlers.get(notification.method)
        if handler is not None:
            self._call(handler, subject, notification.params)

    def _prompts(self, session: AgentSession) -> List[Job]:
        """The open prompts of a session, also those whose handler has not begun."""
        requests = [(job, job.request) for job in self._jobs.values()]
        return [job for job, each in requests if each.session == session.id and each.method == "session/prompt"]
