"""What goes on between an agent and its client: requests are answered by handlers, and cancelled.

`_clients` has what agents call.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any, Callable, Dict, Generic, List, Mapping, Optional, Protocol, Sequence, TypeVar

import libacp

from .._attributes import Attributes
from ._errors import RequestError, no_handler
from ._host import Host, awaited
from ._jobs import Job
from ._log import log
from ._methods import whole
from ._peer import Peer
from ._wire import Reader, Writer

# How long handlers may take to end when the client is gone.
GRACE = 5.0
OPENING = ("session/new", "session/load", "session/resume", "session/fork")
NAMED_BY_CLIENT = ("session/load", "session/resume")
ENDING = ("session/close", "session/delete", "session/archive")


class Opened(Protocol):
    """A session."""

    id: str
    _opening: Optional[libacp.Request]


class Going(Protocol):
    """What goes on in the foreground of a session."""

    cancelled: bool
    _left: bool

    def _cancel(self, left: bool) -> None: ...


class OwnWork(Protocol):
    """Such work that no prompt has asked for."""

    @property
    def turn(self) -> Going: ...

    @property
    def session(self) -> Opened: ...

    @property
    def _ended(self) -> asyncio.Future[None]: ...


S = TypeVar("S", bound=Opened)
T = TypeVar("T")


class AnsweringPeer(Peer, Generic[S]):
    """The part of the client's object that answers its requests."""

    __slots__ = Attributes(__name__, "AnsweringPeer", "sessions")

    sessions: Dict[str, S]
    """The open sessions by id; empty once the connection has ended."""

    def __init__(
        self,
        agent: Host,
        offered: Mapping[str, Any],
        auth_methods: Sequence[Any],
        merges: bool,
        reader: Reader,
        writer: Writer,
    ) -> None:
        connection = agent._connection(agent.handlers, reader)
        # Prompts are messages once their handlers have made a step.
        connection.hold_prompts()
        connection.merge_chunks(merges)
        super().__init__(agent, connection, reader, writer, gathers=merges)
        self.sessions = {}
        self._offered, self._auth_methods = offered, auth_methods
        self._greeting: Dict[str, Any] = {}
        # Work that no prompt has asked for, by its number.
        self._works: Dict[int, OwnWork] = {}

    def _new(self, id: str, params: Mapping[str, Any]) -> S:
        """An object for a session."""
        raise NotImplementedError

    def _turn(self, session: S, params: Mapping[str, Any], task: asyncio.Task[None], request: libacp.Request) -> Going:
        """What a handler of prompts is given."""
        raise NotImplementedError

    def _taken_capabilities(self) -> Mapping[str, Any]:
        return self._greeting.get("clientCapabilities") or {}

    async def _run(self) -> None:
        """Serves until the client closes its side."""
        try:
            await self._ended
        finally:
            await self._finish(GRACE)
            # A handler may have opened one while it ended.
            self._closed()

    async def _perform(self, job: Job) -> Any:
        request = job.request
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
        return self.sessions.get(session) or self._new(session, {})

    def _look(self, id: str) -> None:
        """Forgets a session that is not open any more."""
        session = self.sessions.get(id)
        if session is not None and self.connection.session(id) is None:
            del self.sessions[id]
            self._session_over(session)

    async def _initialize(self, job: Job, params: Any) -> Any:
        agent, self._greeting = self._host, params
        result: Dict[str, Any] = {"agentInfo": agent.info, "agentCapabilities": self._offered}
        if self._auth_methods:
            result["authMethods"] = self._auth_methods
        handler = agent.handlers.get(job.request.method)
        more = None if handler is None else await awaited(handler(self, params))
        return _merged(result, whole("initialize", more))

    async def _open(self, job: Job, params: Any) -> Any:
        """All ways to open a session: they differ in who names it, and in what may come before the answer."""
        method = job.request.method
        named = method in NAMED_BY_CLIENT
        session = self._new(params["sessionId"] if named else os.urandom(16).hex(), params)
        handler = self._host.handlers.get(method) if method == "session/new" else self._handler(job)
        session._opening = job.request
        result = dict(whole(method, handler and await awaited(handler(session, params))))
        if not named:
            session.id = result["sessionId"] = result.get("sessionId") or session.id

        def opened(result: Any) -> None:
            session._opening = None
            before = self.sessions.get(session.id)
            self.sessions[session.id] = session
            if before is not None:
                self._session_over(before)

        job.accepted = opened
        return result

    async def _close(self, job: Job, params: Any) -> Any:
        session = self._subject(params["sessionId"])
        # They are cancelled already.
        ending = [each for each in self._jobs.values() if each.request.session == session.id]
        going: List[asyncio.Future[None]] = [work._ended for work in self._works.values() if work.session.id == session.id]
        going += [each.task for each in ending if each.request.method == "session/prompt" and each.task is not None]
        if going:
            await asyncio.wait(going)
        job.accepted = lambda result: self._look(session.id)
        handler = self._host.handlers.get(job.request.method)
        return whole(job.request.method, None if handler is None else await awaited(handler(session, params)))

    async def _prompt(self, job: Job, params: Any) -> Any:
        handler, session = self._handler(job), self.sessions.get(params["sessionId"])
        if session is None or job.task is None:
            raise RequestError(libacp.ErrorCode.INTERNAL_ERROR, "This session takes no prompts")
        turn, serial = self._turn(session, params, job.task, job.request), job.request.serial
        job.stop = lambda: turn._cancel(self._leaving)
        # It runs when the handler waits for something.
        step = self._loop.call_soon(self._stepped, serial)
        result = None
        try:
            result = await awaited(handler(turn))
        except asyncio.CancelledError:
            if not turn.cancelled:
                raise
        except Exception as problem:
            # However a cancelled handler ends, the answer is the same.
            if not turn.cancelled:
                raise
            if not isinstance(problem, RequestError):
                self._hooks.failed(f"the handler of {job.request.method} failed", job.request.method, problem)
        finally:
            step.cancel()
            self._stepped(serial)
        if turn._left:
            # The client has not cancelled it.
            raise RequestError(libacp.ErrorCode.REQUEST_CANCELLED, "The agent ends")
        if turn.cancelled:
            return {**(result if isinstance(result, Mapping) else {}), "stopReason": "cancelled"}
        result = {"stopReason": result} if isinstance(result, str) else dict(whole("session/prompt", result))
        result.setdefault("stopReason", "end_turn")
        return result

    def _stepped(self, prompt: int) -> None:
        """The handler of a prompt has made its first step, with which the prompt is a message unless it is held."""
        try:
            self.connection.stepped(prompt)
        except libacp.Misuse as misuse:
            # The connection is over.
            log.debug("a prompt is no message: %s", misuse)
        # Mostly it is one already.
        if self.connection.unsent:
            self._wire.dispatch()

    async def _tell(self, method: str, tell: Callable[..., T], *what: Any) -> T:
        """Does what sends something, once the transport takes it."""
        if self._wire.busy():
            await self._wire.drain()
        self._wire._open_for(method)
        told = tell(*what)
        self._wire.dispatch()
        return told

    def _stop(self, serial: int) -> None:
        work = self._works.get(serial)
        if work is None:
            super()._stop(serial)
        else:
            work.turn._cancel(self._leaving)

    def _notified(self, notification: libacp.Notification) -> None:
        handler = self._host.handlers.get(notification.method)
        if handler is not None:
            subject = self._subject(notification.session)
            self._hooks.call(notification.method, handler, subject, notification.params, of=notification)

    def _closed(self) -> None:
        for work in self._works.values():
            work.turn._cancel(True)
        for session in list(self.sessions.values()):
            del self.sessions[session.id]
            self._session_over(session)


def _merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> Dict[str, Any]:
    """Merges two objects recursively; where both have a value that is not an object, that of `over` is used."""
    result = dict(base)
    for name, value in over.items():
        below = result.get(name)
        inner = isinstance(below, Mapping) and isinstance(value, Mapping)
        result[name] = _merged(below, value) if inner and below is not None else value
    return result
