"""An agent as its client sees it."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any, AsyncIterator, Awaitable, Dict, List, Mapping, Optional, Sequence, cast

import libacp

from ._client import Client
from ._errors import AgentEnded, RequestError
from ._exchange import LoadingSession
from ._host import StrPath, awaited
from ._peer import PATIENCE, Job, Peer
from ._session import ClientSession
from ._wire import Reader, Writer

if TYPE_CHECKING:
    from libacp.types import v1

# What may wait in iterators before reading stops: updates, and bytes of them.
UPDATES = 256
BYTES = 1024 * 1024


class AgentPeer(Peer):
    """The agent, as its client sees it; `spawn_agent` and `connect` make it."""

    process: Optional[asyncio.subprocess.Process] = None
    """The agent's process, where `spawn_agent` has started it."""
    _host: Client

    def __init__(self, client: Client, reader: Reader, writer: Writer) -> None:
        self.sessions: Dict[str, ClientSession] = {}
        """The open sessions by their ids."""
        # Those that are being loaded, and replayed meanwhile.
        self._loading: Dict[str, ClientSession] = {}
        self._updates = self._bytes = self._asked = 0
        super().__init__(client, libacp.Connection("client", **client.options), reader, writer)

    @property
    def info(self) -> Dict[str, Any]:
        """Name and version of the agent, as far as it told."""
        return self.connection.peer_info.get("agentInfo") or {}

    @property
    def auth_methods(self) -> List[v1.AuthMethod]:
        """The ways to log in that the agent offers."""
        return self.connection.peer_info.get("authMethods") or []

    @property
    def call(self) -> v1.CallAgent:
        """`request` with the types of the protocol: ``await agent.call("session/list", {})``."""
        return cast("v1.CallAgent", self.request)

    async def request(
        self, method: str, params: Optional[Mapping[str, object]] = None, *, timeout: Optional[float] = None
    ) -> Any:
        """As `Peer.request`; it raises `AgentEnded` when the agent's process has ended before it answered."""
        self._asked += 1
        try:
            return await self._ask(method, params or {}, timeout=timeout)
        finally:
            self._asked -= 1

    async def new_session(
        self, cwd: StrPath, *, mcp_servers: Sequence[v1.McpServer] = (), additional_directories: Sequence[StrPath] = ()
    ) -> ClientSession:
        """Opens a session in a working directory, an absolute path."""
        session = ClientSession(self, "", cwd, additional_directories)
        return await self._enter("session/new", session, mcp_servers)

    def load_session(
        self,
        id: str,
        cwd: StrPath,
        *,
        mcp_servers: Sequence[v1.McpServer] = (),
        additional_directories: Sequence[StrPath] = (),
    ) -> LoadingSession:
        """Opens an earlier session again, for agents that can. Await it; or iterate over it first, for the updates of
        the conversation, which the agent replays.
        """
        session = ClientSession(self, id, cwd, additional_directories)
        return LoadingSession(session, "session/load", _setup(session, mcp_servers))

    async def resume_session(
        self,
        id: str,
        cwd: StrPath,
        *,
        mcp_servers: Sequence[v1.McpServer] = (),
        additional_directories: Sequence[StrPath] = (),
    ) -> ClientSession:
        """Opens an earlier session again without a replay, for agents that can."""
        session = ClientSession(self, id, cwd, additional_directories)
        return await self._enter("session/resume", session, mcp_servers)

    async def list_sessions(self, cwd: Optional[StrPath] = None) -> AsyncIterator[v1.SessionInfo]:
        """The sessions that the agent keeps, page by page as they are wanted, for agents that can."""
        params: Dict[str, Any] = {} if cwd is None else {"cwd": os.fspath(cwd)}
        while True:
            page = await self.request("session/list", params)
            for each in page["sessions"]:
                yield each
            if page.get("nextCursor") is None:
                return
            params = {**params, "cursor": page["nextCursor"]}

    async def delete_session(self, id: str) -> None:
        """Has the agent delete a session, for agents that can."""
        await self.request("session/delete", {"sessionId": id})

    async def authenticate(self, method_id: str) -> None:
        """Logs in, in one of the ways of `auth_methods`."""
        await self.request("authenticate", {"methodId": method_id})

    async def logout(self) -> None:
        """Ends the login, for agents that can."""
        await self.request("logout", {})

    async def _ask(self, method: str, params: Mapping[str, object], **how: Any) -> Any:
        return await self._ended_well(method, self._wire.request(method, params, **how))

    async def _ended_well(self, method: str, answer: Awaitable[Any]) -> Any:
        """The answer; when there is none because the agent is gone, how it went."""
        try:
            return await answer
        except libacp.NoResult as problem:
            if problem.outcome != "closed" or self.process is None:
                raise
            try:
                # Its output ends a little before it does.
                await asyncio.wait_for(self.process.wait(), 1)
            except asyncio.TimeoutError:
                pass
            raise AgentEnded(method, self.process.returncode) from None

    async def _enter(
        self, method: str, session: ClientSession, mcp_servers: Sequence[v1.McpServer]
    ) -> ClientSession:
        def settle(response: libacp.Response, waited_for: bool) -> None:
            self._opened(session, response, waited_for)

        self._asked += 1
        try:
            await self._ask(method, _setup(session, mcp_servers), settle=settle)
        finally:
            self._asked -= 1
        return session

    def _opened(self, session: ClientSession, response: libacp.Response, waited_for: bool) -> None:
        """A session is open from the place of the answer on; what follows it may be about it already."""
        if response.outcome == "result":
            session.result = response.result()
            session.id = session.result.get("sessionId", session.id)
            self.sessions[session.id] = session

    async def _forget(self, session: ClientSession) -> None:
        if self.sessions.get(session.id) is session:
            del self.sessions[session.id]
        if self._host.terminals is not None:
            await self._host.terminals.end(session)

    async def _run(self, timeout: Optional[float]) -> None:
        """Opens the connection."""
        client = self._host
        params = {"clientInfo": client.info, "clientCapabilities": client.given_capabilities}
        await self._ask("initialize", params, timeout=timeout)

    async def _perform(self, job: Job) -> Any:
        request = job.request
        handler = self._host.handlers.get(request.method)
        if handler is None:
            raise RequestError(libacp.ErrorCode.METHOD_NOT_FOUND, "Method not found")
        return await awaited(handler(self._subject(request.session), request.params))

    def _subject(self, session: Optional[str]) -> Any:
        if session is None:
            return self
        found = self._loading.get(session) or self.sessions.get(session)
        return found or self._adopted(session)

    def _adopted(self, id: str) -> ClientSession:
        """A session that was opened by a `request` of the host's own, or that is not open yet."""
        snapshot = self.connection.session_snapshot(id)
        if snapshot is None:
            return ClientSession(self, id)
        session = self.sessions[id] = ClientSession(self, id, snapshot["cwd"] or "", snapshot["roots"][1:])
        return session

    def _notified(self, notification: libacp.Notification, size: int) -> None:
        params, handler = notification.params, self._host.handlers.get(notification.method)
        subject = self._subject(notification.session)
        if handler is not None:
            self._call(handler, subject, params)
        if notification.method != "session/update":
            return
        if subject._take(params["update"], size):
            self._updates += 1
            self._bytes += size
        elif self._host.on_update is not None:
            self._call(self._host.on_update, subject, params["update"])

    def _taken(self, size: int) -> None:
        """An iterator has handed on an update."""
        self._updates -= 1
        self._bytes -= size

    def _full(self) -> bool:
        if self._updates >= UPDATES or self._bytes >= BYTES:
            most = self._patience
            if self._updates >= UPDATES * most or self._bytes >= BYTES * most:
                return True
        return super()._full()

    @property
    def _patience(self) -> int:
        # Prompts do not count: their answers are behind their updates by nature.
        return PATIENCE if self._asked else 1

    async def _finish(self, grace: float) -> None:
        await super()._finish(grace)
        for session in list(self.sessions.values()):
            await self._forget(session)


def _setup(session: ClientSession, mcp_servers: Sequence[v1.McpServer]) -> Dict[str, Any]:
    params: Dict[str, Any] = {"cwd": session.cwd, "mcpServers": list(mcp_servers)}
    if session.id:
        params["sessionId"] = session.id
    if len(session.roots) > 1:
        params["additionalDirectories"] = session.roots[1:]
    return params
