"""A session, on the client's side."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, AsyncIterator, Dict, List, Mapping, Optional, Sequence, Tuple, Union, cast

from libacp.view import Changes, View

from .._attributes import Attributes
from ._exchange import Exchange, PromptTurn
from ._host import StrPath, content, with_meta
from ._watch import Watch

if TYPE_CHECKING:
    from libacp.names import SessionSnapshot
    from libacp.types import v1, v2

    from ._agent_peer import AgentPeer


TOOL_CALLS = ("tool_call", "tool_call_update")
# Titles of tool calls that are remembered.
TITLES = 256


class ClientSession:
    """A session, on the client's side. `AgentPeer.new_session`, `load_session` and `resume_session` open it."""

    __slots__ = Attributes(__name__, "ClientSession", "id agent cwd roots result data __dict__ __weakref__")

    id: str
    """The id of the session."""
    agent: AgentPeer
    """The agent of the session."""
    cwd: str
    """The working directory."""
    roots: List[str]
    """The working directory and all additional directories, to which `Files` confines the agent."""
    result: Dict[str, Any]
    """The complete answer to the call that opened the session, with ``modes`` and ``configOptions`` if the agent has
    any, and ``_meta``.
    """
    data: Any
    """Any data that the client attaches to the session."""

    def __init__(self, agent: AgentPeer, id: str, cwd: StrPath = "", further: Sequence[StrPath] = ()) -> None:
        self.agent = agent
        self.id = id
        self._place(*place(cwd, further))
        self.result = {}
        self.data = None
        self._view: Optional[View] = None
        # What the tool calls that are not over are called.
        self._titles: Dict[str, str] = {}
        # Calls that will end it, or open it, and are under way.
        self._closing = self._opening = 0
        # Whether it has ended, and nothing more is done in its name.
        self._over = False

    def _place(self, cwd: str, roots: List[str]) -> None:
        self.cwd, self.roots = cwd, roots

    @property
    def open(self) -> bool:
        """Whether the session is open."""
        return self.agent.sessions.get(self.id) is self

    @property
    def snapshot(self) -> Optional[SessionSnapshot]:
        """Everything that the agent has reported about the session, such as its plan, modes, tool calls and commands;
        ``None`` if the session is not open.
        """
        return self.agent.connection.session_snapshot(self.id)

    @property
    def view(self) -> View:
        """The session as a conversation, which is what a client shows. It is always up to date, and stays as it was
        read last when the session is over.

        Raises:
            RuntimeError: if the client was created without ``view=True``.
        """
        view = self._view
        if view is None or view.session != self.id:
            if not self.agent.connection.config.view:
                raise RuntimeError("no views are kept: create the client with `view=True`")
            view = self._view = View(self.agent.connection, self.id)
        return view

    def changes(self) -> AsyncIterator[Changes]:
        """Follows the view: iterates over what has changed, first over everything that is there. What changes while
        the body of the loop is busy is one item. The iteration ends when the session is over or the connection has
        ended. Leave it at any time; several may run at once.

            async for changes in session.changes():
                for entry in changes.entries:
                    ...

        Raises:
            RuntimeError: if the client was created without ``view=True``.
        """
        return Watch(self)

    def forget_view(self) -> bool:
        """Lets the connection forget the view of a session that is over; otherwise it keeps the views of the 64 latest
        ones. Returns whether there was one. `view` stays as it is.
        """
        return self.view.forget()

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

    @property
    def _takes_terminals(self) -> bool:
        return not (self._over or self._closing)

    def _cancel_now(self) -> None:
        known = self.agent.connection.session(self.id)
        if known is not None and known.turn not in ("idle", "cancelling"):
            self.agent._wire.notify_now("session/cancel", {"sessionId": self.id})

    async def _free(self) -> None:
        """Waits for a turn that was cancelled."""
        while self.agent.connection.holds_back(self.id):
            going = [each for each in self._exchanges if isinstance(each, PromptTurn)]
            if not going:
                return
            await going[-1]._over.wait()

    @property
    def _exchanges(self) -> "List[Exchange[Any]]":
        return [each for each in self.agent._exchanges.values() if each.session is self]

    def _name(self, call: Any) -> None:
        # The policy may let through what the model does not have.
        if type(call) is not dict or call.get("sessionUpdate") not in TOOL_CALLS:
            return
        id, title = str(call.get("toolCallId")), call.get("title")
        if call.get("status") in ("completed", "failed"):
            self._titles.pop(id, None)
        elif isinstance(title, str) and title:
            self._titles[id] = title
            if len(self._titles) > TITLES:
                del self._titles[next(iter(self._titles))]

    def __repr__(self) -> str:
        return f"<ClientSession {self.id!r}>"


def place(cwd: StrPath, further: Sequence[StrPath]) -> Tuple[str, List[str]]:
    """A working directory, and all roots."""
    own = os.fspath(cwd)
    return own, [own, *(os.fspath(each) for each in further)] if cwd else []
