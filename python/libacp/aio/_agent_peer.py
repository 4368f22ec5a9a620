"""What goes on between a client and its agent: the agent's requests are served, and updates find who waits for them.

`_agents` has what clients call.
"""

from __future__ import annotations

import asyncio
from typing import (
    Any,
    Awaitable,
    Dict,
    List,
    Mapping,
    Optional,
    Tuple,
    TypeVar,
)

import libacp

from ._child import Child
from ._client_sessions import ENDING, NAMED_BY_AGENT, Offering, Opening, S, SessionsPeer
from ._errors import AgentEnded, no_handler, no_session
from ._exchange import Exchange
from ._host import awaited, with_meta
from ._jobs import CHEAP, Cost, Job
from ._methods import whole
from ._remote import Remote
from ._wire import Reader, Writer

R = TypeVar("R")
# What is asked of the user, about what was told before.
QUESTIONS = ("session/request_permission", "elicitation/create")
TOOL_CALLS = ("tool_call", "tool_call_update")
# What an answer takes at most where the host's own files and terminals do not say.
FILE = 4 * 1024 * 1024
OUTPUT = 1024 * 1024
# What a write brings is counted by the connection.
WRITING = Cost(file=True)
# How long an agent that has closed its output may take to end.
END = 1.0


class ServingPeer(SessionsPeer[S]):
    """The part of the agent's object that serves its requests and takes its updates."""

    def __init__(self, client: Offering, reader: Reader, writer: Writer) -> None:
        self._child: Optional[Child] = None
        self._remote: Optional[Remote] = None
        self._handlers = client._served()
        self._offered = client._offered(self._handlers)
        self._reading = Cost(FILE, file=True)
        # The tasks that wait for an answer, other than that of a prompt.
        self._askers: List[Optional[asyncio.Task[Any]]] = []
        # Those that have been sent, by the serial numbers of their calls.
        self._exchanges: Dict[Optional[int], Exchange[Any, Any]] = {}
        self._greeting: Dict[str, Any] = {}
        super().__init__(client, self._handlers, reader, writer)

    async def _ask(self, method: str, params: Mapping[str, object], **how: Any) -> Any:
        return await self._ended_well(method, self._wire.request(method, params, **how))

    async def _ended_well(self, method: str, answer: Awaitable[R]) -> R:
        """The answer; when there is none because the agent is gone, how it went."""
        try:
            return await answer
        except libacp.PeerError as problem:
            ended = None if self._remote is None else self._remote.explain(problem, method)
            if ended is None:
                raise
            raise ended from ended.__cause__
        except libacp.NoResult as problem:
            ended = None if self._remote is None else self._remote.explain(problem, method)
            if ended is not None:
                raise ended from ended.__cause__
            if problem.outcome != "closed" or self._child is None:
                raise
            # Its output ends a little before it does.
            raise AgentEnded(method, *await self._child.status(END)) from None

    def _exchanges_of(self, session: Any) -> List[Exchange[Any, Any]]:
        return [each for each in self._exchanges.values() if each.session is session]

    async def _enter(
        self,
        method: str,
        session: S,
        params: Mapping[str, Any],
        where: Tuple[str, List[str]],
        timeout: Optional[float],
    ) -> S:
        opening = Opening(self, session, where)

        def settle(response: libacp.Response, waited_for: bool) -> None:
            opening.end()
            self._opened(session, response, waited_for, opening)

        def unsent() -> None:
            opening.end()
            self._not_opened(session)

        await self._ask(method, params, settle=settle, unsent=unsent, timeout=timeout)
        if session._over and self.connection.phase != "closed":
            # The agent has named a session that is open.
            raise libacp.NoResult("invalid", method)
        return session

    async def _run(self, timeout: Optional[float], meta: Optional[Mapping[str, Any]] = None) -> None:
        """Opens the connection."""
        params = {"clientInfo": self._host.info, "clientCapabilities": self._offered}
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
            for exchange in self._exchanges_of(subject):
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
            subject = self._subject(notification.session) or self._new(notification.session or "")
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

    def _updated(self, session: S, update: Any, of: Optional[libacp.Notification] = None) -> None:
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
