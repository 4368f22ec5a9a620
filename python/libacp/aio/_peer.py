"""The other side of one connection, whichever it is: what can be asked of it, and how its requests are served."""

from __future__ import annotations

import asyncio
import collections
import functools
import inspect
import logging
from typing import Any, Awaitable, Callable, Deque, Dict, Mapping, Optional, Tuple

import libacp

from ._errors import RequestError
from ._host import Host, awaited
from ._wire import Reader, Wire, Writer

log = logging.getLogger("libacp.aio")
LEVELS = {"note": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
# Characters of the place of a violation that are logged; a peer may have made them up.
PLACE = 200
# Notifications that wait for their handler, before reading stops.
NOTICES = 256
# So many times more of what waits is let in while the host waits for an answer, which may be behind it.
PATIENCE = 8


class Job:
    """A request of the peer's that is being served."""

    __slots__ = ("request", "task", "answered", "stop", "after")

    def __init__(self, request: libacp.Request) -> None:
        self.request = request
        self.task: Optional[asyncio.Task[None]] = None
        self.answered = False
        self.stop: Optional[Callable[[], None]] = None
        """What cancels it, where that is more than cancelling the task."""
        self.after: Optional[Callable[[], Awaitable[None]]] = None
        """What is to follow the result."""


class Peer:
    """The other side of a connection."""

    connection: libacp.Connection
    """The connection underneath: its state can be looked at. Whoever feeds it takes over from this object."""

    def __init__(self, host: Host, connection: libacp.Connection, reader: Reader, writer: Writer) -> None:
        self.connection = connection
        self._host = host
        self._jobs: Dict[int, Job] = {}
        self._notices: Deque[Tuple[Callable[..., Any], Tuple[Any, ...]]] = collections.deque()
        self._noticing: Optional[asyncio.Task[None]] = None
        self._ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._wire = Wire(connection, reader, writer, self._deliver, self._full)

    @property
    def capabilities(self) -> Dict[str, Any]:
        """What the peer said it can do, in `initialize`."""
        return self.connection.capabilities

    def can(self, method: str) -> bool:
        """Whether a method can be sent now, as far as version, phase and capabilities go."""
        return self.connection.can(method)

    def why_not(self, method: str) -> Optional[libacp.Misuse]:
        """Why a method cannot be sent now; ``None`` when it can."""
        return self.connection.why_not(method)

    async def request(
        self, method: str, params: Optional[Mapping[str, object]] = None, *, timeout: Optional[float] = None
    ) -> Any:
        """Asks the peer, and returns its result.

        Raises `libacp.Misuse` when it is not allowed now (nothing was sent), `libacp.PeerError` when the peer answers
        with an error, `libacp.NoResult` when there is no answer that can be used: in `timeout` seconds, or until the
        connection ends. Cancelling the task asks the peer to cancel the request.
        """
        return await self._wire.request(method, params or {}, timeout=timeout)

    async def notify(self, method: str, params: Optional[Mapping[str, object]] = None) -> None:
        """Tells the peer something. Raises `libacp.Misuse` when it is not allowed now; nothing was sent then."""
        await self._wire.notify(method, params or {})

    # What the roles add.

    async def _perform(self, job: Job) -> Any:
        """Does what a request asks for; its result."""
        raise NotImplementedError

    def _notified(self, notification: libacp.Notification, size: int) -> None:
        """Takes a notification."""
        raise NotImplementedError

    def _closed(self) -> None:
        """The connection is over."""

    def _full(self) -> bool:
        """Whether nothing more is to be delivered for now."""
        waiting = len(self._notices)
        return waiting >= NOTICES and waiting >= NOTICES * self._patience

    @property
    def _patience(self) -> int:
        return PATIENCE if self._wire.waiting else 1

    def _deliver(self, event: libacp.Event, size: int) -> None:
        if isinstance(event, libacp.Notification):
            self._notified(event, size)
        elif isinstance(event, libacp.Request):
            self._serve(event)
        elif isinstance(event, libacp.Cancel):
            self._stop(event.serial)
        elif isinstance(event, libacp.Answered):
            # The connection has answered by itself, as the rule says.
            job = self._jobs.get(event.serial)
            if job is not None:
                job.answered = True
            self._stop(event.serial)
        elif isinstance(event, libacp.Violation):
            self._violated(event)
        elif isinstance(event, libacp.LateResponse):
            self._late(event)
        elif isinstance(event, libacp.Advice):
            log.info("advice: %s: %s%s: %s", event.rule, event.method, event.pointer, event.message)
        elif isinstance(event, libacp.Closed):
            self._end()

    def _late(self, response: libacp.LateResponse) -> None:
        """Nobody waits for this answer any more: gives back what it has opened."""
        if response.outcome == "result":
            result = response.result()
            if response.method == "terminal/create":
                self._give_back("terminal/release", {"sessionId": response.session, "terminalId": result["terminalId"]})
            elif response.method in ("session/new", "session/fork"):
                self._give_back("session/close", {"sessionId": result["sessionId"]})
        if self._host.on_late_response is not None:
            self._call(self._host.on_late_response, response)

    def _give_back(self, method: str, params: Mapping[str, object]) -> None:
        try:
            self.connection.request(method, params)
        except libacp.Misuse as misuse:
            # The agent cannot close sessions, or the session or the connection is over.
            log.debug("%s after a late answer: %s", method, misuse)

    def _violated(self, violation: libacp.Violation) -> None:
        rule = libacp.rule(violation.rule)
        assert rule is not None  # Whatever a violation carries is in the catalogue.
        level = LEVELS[rule.severity]
        # Not its excerpt: what a peer sends may hold secrets.
        place = ascii(f"{violation.method or 'message'}{violation.pointer}"[:PLACE])[1:-1]
        log.log(level, "%s: %s: %s (%s)", violation.rule, place, violation.message, violation.consequence)
        if self._host.on_violation is not None:
            self._call(self._host.on_violation, violation)

    def _call(self, handler: Callable[..., Any], *arguments: Any) -> None:
        """Calls a handler whose result nobody waits for; what is asynchronous is done in turn."""
        if self._notices or inspect.iscoroutinefunction(handler):
            self._later(handler, *arguments)
            return
        try:
            done = handler(*arguments)
        except Exception:
            log.exception("a hook or a handler of notifications failed")
        else:
            if inspect.isawaitable(done):
                self._later(lambda: done)

    def _later(self, handler: Callable[..., Any], *arguments: Any) -> None:
        self._notices.append((handler, arguments))
        if self._noticing is None:
            self._noticing = asyncio.ensure_future(self._notice())

    async def _notice(self) -> None:
        while self._notices:
            handler, arguments = self._notices[0]
            try:
                await awaited(handler(*arguments))
            except Exception:
                log.exception("a hook or a handler of notifications failed")
            self._notices.popleft()
            if self._wire.stalled:
                self._wire.dispatch()
        self._noticing = None

    def _serve(self, request: libacp.Request) -> None:
        job = self._jobs[request.serial] = Job(request)
        job.task = asyncio.ensure_future(self._work(job))
        job.task.add_done_callback(functools.partial(self._done, job))

    async def _work(self, job: Job) -> None:
        request = job.request
        try:
            result = await self._perform(job)
        except RequestError as refusal:
            self._refuse(job, refusal.code, refusal.message, refusal.data)
        except Exception:
            log.exception("the handler of %s failed", request.method)
            self._refuse(job, libacp.ErrorCode.INTERNAL_ERROR)
        else:
            self._answer(job, {} if result is None else result)
            if job.after is not None:
                await job.after()
        # The place among the jobs is kept until the answer has gone out.
        if self._wire.busy():
            await self._wire.drain()

    def _done(self, job: Job, task: asyncio.Task[None]) -> None:
        self._jobs.pop(job.request.serial, None)
        if job.answered:
            return
        # Cancelled, perhaps before it had begun.
        if job.request.method == "session/prompt":
            self._answer(job, {"stopReason": "cancelled"})
        self._refuse(job, libacp.ErrorCode.REQUEST_CANCELLED)

    def _answer(self, job: Job, result: Any) -> None:
        if job.answered:
            return
        try:
            self.connection.respond(job.request, result)
        except libacp.Misuse as misuse:
            if self.connection.phase == "closed":
                return
            log.error("the result of the handler of %s cannot be sent: %s", job.request.method, misuse)
            self._refuse(job, libacp.ErrorCode.INTERNAL_ERROR)
        else:
            job.answered = True
            self._wire.dispatch()

    def _refuse(self, job: Job, code: int, message: Optional[str] = None, data: Any = None) -> None:
        if job.answered:
            return
        job.answered = True
        try:
            self.connection.respond_error(job.request, code, message or libacp.ErrorCode.message(code), data)
        except Exception as problem:  # Misuse, or a code or a message of another type: the peer waits all the same.
            if self.connection.phase == "closed":
                return
            log.error("the error of the handler of %s cannot be sent: %s", job.request.method, problem)
            internal = libacp.ErrorCode.INTERNAL_ERROR
            self.connection.respond_error(job.request, internal, libacp.ErrorCode.message(internal))
        self._wire.dispatch()

    def _stop(self, serial: int) -> None:
        job = self._jobs.get(serial)
        if job is None or job.task is None:
            return
        if job.stop is None:
            job.task.cancel()
        else:
            job.stop()

    def _end(self) -> None:
        self._closed()
        for serial in list(self._jobs):
            self._stop(serial)
        if not self._ended.done():
            self._ended.set_result(None)

    async def _finish(self, grace: float) -> None:
        """Closes the connection, and gives the handlers that still run some time to end."""
        running = [job.task for job in self._jobs.values() if job.task is not None]
        if self._noticing is not None:
            running.append(self._noticing)
        for serial in list(self._jobs):
            self._stop(serial)
        try:
            if running:
                _, late = await asyncio.wait(running, timeout=grace)
                for task in late:
                    log.warning("a handler does not end, and is given up")
                    task.cancel()
            await self._wire.close(grace)
        finally:
            self._wire.abandon()
