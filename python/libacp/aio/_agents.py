"""The agent, as seen by its client, and its sessions: what clients call.

What goes on meanwhile stands below: `_agent_peer` serves the agent's requests, `_client_sessions` knows which sessions are
open, `_exchange` has prompts.
"""

from __future__ import annotations

import asyncio
import os
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncIterator,
    Dict,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
    cast,
)

import libacp

from .._attributes import Attributes
from ._agent_peer import ServingPeer
from ._child import Child
from ._client_sessions import LIFE, Offering, Opening
from ._exchange import Exchange, Prompt
from ._host import StrPath, content, with_meta
from ._remote import Remote
from ._session import Session, place
from ._wire import Call, Reader, Writer

if TYPE_CHECKING:
    from libacp.types import v1, v2


class PromptTurn(Prompt["ClientSession"]):
    """A prompt and its turn; `ClientSession.prompt` creates it.

        turn = session.prompt("Hello")
        async for update in turn:
            ...
        print(turn.stop_reason)

    Leaving the iteration early, or cancelling the task that iterates or waits, cancels the turn; remaining updates then
    go to the client's `on_update`.
    """


class LoadingSession(Exchange["ClientSession", "ClientSession"]):
    """A session that is being loaded; `AgentPeer.load_session` creates it.

    Await it for the session, or iterate over it first for the updates that the agent replays.
    """

    def _made(self, result: Any) -> ClientSession:
        return self.session

    def __init__(
        self, session: ClientSession, params: Mapping[str, Any], place: Tuple[str, List[str]], timeout: Optional[float]
    ) -> None:
        super().__init__(session, "session/load", params, timeout)
        self._place = place

    async def _begin(self) -> Call:
        agent = self.session.agent
        # It may have been opened since this was made.
        self._move(agent._object(self.session))
        self._opening = Opening(agent, self.session, self._place)
        try:
            call = await super()._begin()
        except BaseException:
            self._opening.end()
            raise
        return call

    def _settle(self, response: libacp.Response, waited_for: bool) -> None:
        self._opening.end()
        self.session.agent._opened(self.session, response, waited_for, self._opening)
        super()._settle(response, waited_for)


class ClientSession(Session["AgentPeer"]):
    """A session, on the client's side. `AgentPeer.new_session`, `load_session` and `resume_session` open it."""

    @property
    def open(self) -> bool:
        """Whether the session is open."""
        return self.agent.sessions.get(self.id) is self

    def prompt(
        self,
        what: Union[str, Mapping[str, Any], Sequence[Union[str, v1.ContentBlock]]],
        *,
        timeout: Optional[float] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> PromptTurn:
        """Creates a prompt of text, a content block, or several of them. See `PromptTurn` for how to run it.

        It is sent when it is first iterated over or awaited, after the end of an earlier turn that was cancelled. If
        the turn has not ended `timeout` seconds after that, it is cancelled and `libacp.NoResult` is raised; the agent
        still has to end it before it takes another prompt.
        """
        several = [what] if isinstance(what, (str, Mapping)) else what
        blocks = [content(each) for each in several]
        return PromptTurn(self, with_meta({"sessionId": self.id, "prompt": blocks}, meta), timeout)

    async def cancel(self, *, meta: Optional[Mapping[str, Any]] = None) -> None:
        """Cancels the work of the session. This also answers its open permission requests."""
        await self.notify("session/cancel", with_meta({}, meta))

    async def set_mode(
        self, mode_id: str, *, timeout: Optional[float] = None, meta: Optional[Mapping[str, Any]] = None
    ) -> v1.SetSessionModeResponse:
        """Sets the mode of the session."""
        return cast(
            "v1.SetSessionModeResponse",
            await self.request("session/set_mode", with_meta({"modeId": mode_id}, meta), timeout=timeout),
        )

    async def set_config_option(
        self,
        config_id: str,
        value: Union[str, bool],
        *,
        timeout: Optional[float] = None,
        meta: Optional[Mapping[str, Any]] = None,
    ) -> List[v1.SessionConfigOption]:
        """Sets a config option, and returns all options with their current values."""
        typed = {"type": "boolean"} if isinstance(value, bool) else {}
        params = with_meta({"configId": config_id, "value": value, **typed}, meta)
        result = await self.request("session/set_config_option", params, timeout=timeout)
        options: List[v1.SessionConfigOption] = result["configOptions"]
        return options

    async def cancel_tool_call(
        self, id: str, *, timeout: Optional[float] = None, meta: Optional[Mapping[str, Any]] = None
    ) -> v2.CancelToolCallResponse:
        """Cancels a tool call that the agent says can be cancelled by itself (version 2), and nothing else."""
        result = await self.request("tool_call/cancel", with_meta({"toolCallId": id}, meta), timeout=timeout)
        return cast("v2.CancelToolCallResponse", result)

    async def close(
        self, *, timeout: Optional[float] = None, meta: Optional[Mapping[str, Any]] = None
    ) -> v1.CloseSessionResponse:
        """Closes the session, if the agent supports it; this cancels its turn."""
        result = await self.request("session/close", with_meta({}, meta), timeout=timeout)
        await self.agent._all_ended()
        return cast("v1.CloseSessionResponse", result)

    async def request(
        self, method: str, params: Optional[Mapping[str, object]] = None, *, timeout: Optional[float] = None
    ) -> Any:
        """Sends a request like `AgentPeer.request`, with the session id added to the params."""
        return await self.agent.request(method, {"sessionId": self.id, **(params or {})}, timeout=timeout)

    async def notify(self, method: str, params: Optional[Mapping[str, object]] = None) -> None:
        """Sends a notification like `AgentPeer.notify`, with the session id added to the params."""
        await self.agent.notify(method, {"sessionId": self.id, **(params or {})})

    async def _free(self) -> None:
        """Waits for a turn that was cancelled."""
        connection = self.agent.connection
        while connection.phase != "closed" and connection.holds_back(self.id):
            going = [each for each in self.agent._exchanges_of(self) if isinstance(each, PromptTurn)]
            # Nobody waits for a turn whose time was up, but it goes on at the agent.
            await (going[-1]._over.wait() if going else self.agent._wire.moved())

    def __repr__(self) -> str:
        return f"<ClientSession {self.id!r}>"


class AgentPeer(ServingPeer[ClientSession]):
    """A connected agent, as seen by its client. `spawn_agent` and `connect` create it."""

    __slots__ = Attributes(__name__, "AgentPeer", "process")

    process: Optional[asyncio.subprocess.Process]
    """The process of the agent, if `spawn_agent` started it."""

    def __init__(self, client: Offering, reader: Reader, writer: Writer) -> None:
        self.process = None
        self._made: Optional[AbstractAsyncContextManager[AgentPeer]] = None
        super().__init__(client, reader, writer)

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
        settle = self._life(method, params) if method in LIFE else None
        unsent = None if settle is None else partial(settle, None, True)
        task = asyncio.current_task()
        self._askers.append(task)
        try:
            return await self._ask(method, params, timeout=timeout, settle=settle, unsent=unsent)
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

    async def close(self) -> None:
        """Closes the connection, and ends the agent's process if `spawn_agent` started it. ``async with`` calls it at
        the end.
        """
        made, self._made = self._made, None
        if made is not None:
            await made.__aexit__(None, None, None)

    def _started_as(self, process: asyncio.subprocess.Process, child: Child) -> None:
        self.process, self._child = process, child

    def _reached_by(self, remote: Remote) -> None:
        self._remote = remote
        remote.loading = self._loading.__contains__

    def _leave_with(self, made: AbstractAsyncContextManager[AgentPeer]) -> None:
        self._made = made

    def _new(self, id: str, cwd: StrPath = "", further: Sequence[StrPath] = ()) -> ClientSession:
        return ClientSession(self, id, cwd, further)


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
