"""A session on the client's side."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Union

from ._exchange import Exchange, PromptTurn
from ._host import StrPath, content

if TYPE_CHECKING:
    from libacp.names import SessionSnapshot
    from libacp.types import v1

    from ._agent_peer import AgentPeer


class ClientSession:
    """A session, on the client's side; `AgentPeer.new_session` and its like open it."""

    id: str
    """Its id."""
    agent: AgentPeer
    """The agent that it is with."""
    cwd: str
    """Its working directory."""
    roots: List[str]
    """The working directory and all further roots; what `Files` confines the agent to."""
    result: Dict[str, Any]
    """The answer to the call that opened it: its ``modes`` and ``configOptions``, where the agent has any."""
    data: Any
    """Whatever the client wants to keep with it."""

    def __init__(self, agent: AgentPeer, id: str, cwd: StrPath = "", further: Sequence[StrPath] = ()) -> None:
        self.agent = agent
        self.id = id
        self.cwd = os.fspath(cwd)
        self.roots = [self.cwd, *(os.fspath(each) for each in further)] if cwd else []
        self.result = {}
        self.data = None
        self._exchange: Optional[Exchange[Any]] = None
        # Calls that will end it and are under way.
        self._closing = 0
        # Whether it has ended, and nothing more is done in its name.
        self._over = False

    @property
    def snapshot(self) -> Optional[SessionSnapshot]:
        """All that the agent has told of it: its plan, modes, tool calls, commands; ``None`` when it is not open."""
        return self.agent.connection.session_snapshot(self.id)

    def prompt(self, what: Union[str, Mapping[str, Any], Sequence[Union[str, v1.ContentBlock]]]) -> PromptTurn:
        """A prompt: text, a content block, or several of them. See `PromptTurn` for what to do with it.

        It is sent when it is first iterated over or awaited; after the end of a turn that was cancelled, if there is
        one.
        """
        several = [what] if isinstance(what, (str, Mapping)) else what
        blocks = [content(each) for each in several]
        return PromptTurn(self, "session/prompt", {"sessionId": self.id, "prompt": blocks})

    async def cancel(self) -> None:
        """Cancels what runs in this session. Requests for permission that are open are answered by that."""
        await self.notify("session/cancel")

    async def set_mode(self, mode_id: str) -> None:
        """Puts the session into another mode."""
        await self.request("session/set_mode", {"modeId": mode_id})

    async def set_config_option(self, config_id: str, value: Union[str, bool]) -> List[v1.SessionConfigOption]:
        """Sets a config option; all of them as they are now."""
        typed = {"type": "boolean"} if isinstance(value, bool) else {}
        params = {"configId": config_id, "value": value, **typed}
        result = await self.request("session/set_config_option", params)
        options: List[v1.SessionConfigOption] = result["configOptions"]
        return options

    async def close(self) -> None:
        """Closes the session, for agents that can; its turn is cancelled by that."""
        await self.request("session/close")
        await self.agent._all_ended()

    async def request(
        self, method: str, params: Optional[Mapping[str, object]] = None, *, timeout: Optional[float] = None
    ) -> Any:
        """As `AgentPeer.request`, with the session's id added to the params."""
        return await self.agent.request(method, {"sessionId": self.id, **(params or {})}, timeout=timeout)

    async def notify(self, method: str, params: Optional[Mapping[str, object]] = None) -> None:
        """As `AgentPeer.notify`, with the session's id added to the params."""
        await self.agent.notify(method, {"sessionId": self.id, **(params or {})})

    @property
    def _takes_terminals(self) -> bool:
        return not (self._over or self._closing)

    def _cancel_now(self) -> None:
        if self.agent.connection.phase != "closed":
            self.agent._wire.notify_now("session/cancel", {"sessionId": self.id})

    async def _free(self) -> None:
        """Waits for a turn that was cancelled; one that was not is for the connection to refuse."""
        while True:
            current, known = self._exchange, self.agent.connection.session(self.id)
            if current is None or known is None or known.turn != "cancelling":
                return
            await current._over.wait()

    def _done(self, exchange: Exchange[Any]) -> None:
        if self._exchange is exchange:
            self._exchange = None

    def _take(self, update: Any, size: int) -> bool:
        return self._exchange is not None and self._exchange._take(update, size)

    def __repr__(self) -> str:
        return f"<ClientSession {self.id!r}>"
