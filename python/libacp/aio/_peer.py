"""The other side of a connection: sending requests to it, and handling its requests."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, Dict, Mapping, Optional

import libacp
from libacp import Notification, Request

from .._attributes import Attributes
from ._budget import Budget
from ._current import CURRENT
from ._errors import RequestError
from ._hooks import Hooks
from ._host import Host
from ._jobs import CHEAP, Cost, Job
from ._log import Limited
from ._trace import tracer
from ._wire import Reader, Wire, Writer

LEVELS = {"note": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR}
# Characters of the place of a violation that are logged; a peer may have made them up.
PLACE = 200
# What the client does not take was left out.
LEFT_OUT = ("AUTH-08", "CONF-08")
# Files that are read or written at a time.
FILES = 4


class Peer:
    """The other side of a connection."""

    __slots__ = Attributes(__name__, "Peer", "connection __dict__ __weakref__")

    connection: libacp.Connection
    """The underlying connection, to inspect its state. Code that feeds it takes over from this object."""

    def __init__(
        self, host: Host, connection: libacp.Connection, reader: Reader, writer: Writer, *, gathers: bool = False
    ) -> None:
        self.connection = connection
        self._host = host
        self._loop = asyncio.get_running_loop()
        self._jobs: Dict[int, Job] = {}
        # Bytes of answers that are not written yet, and of the work that will make them.
        self._answers, self._files = Budget(), Budget(FILES)
        self._in_order = asyncio.Lock()
        # How many wait for that: whoever comes does not overtake one that is about to go on.
        self._ordered = 0
        # Requests that wait for their turn.
        self._waiting = 0
        self._leaving = False
        """Whether this side ends the connection: what ends with it was not cancelled by the peer."""
        self._limited = Limited()
        connection.pace(host.max_requests)
        self._hooks = Hooks(host, self._limited, connection, lambda: self._wire.dispatch())
        self._ended: asyncio.Future[None] = self._loop.create_future()
        config = connection.config
        traced = tracer(host, connection.role, config.framing)
        self._wire = Wire(connection, reader, writer, self._deliver, traced, gathers)

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """The capabilities that the peer advertised in `initialize`."""
        return self.connection.capabilities

    @property
    def version(self) -> Optional[int]:
        """The version of the protocol that was agreed on; ``None`` before."""
        return self.connection.version

    @property
    def closed(self) -> bool:
        """Whether the connection has ended."""
        return self.connection.phase == "closed"

    async def wait_closed(self) -> None:
        """Waits until the connection has ended: the peer closed it, its process ended, or this side closed it."""
        await asyncio.shield(self._ended)

    def extension(self, name: str) -> Any:
        """What the peer advertises about an extension in ``_meta`` of its capabilities; ``None`` if it does not."""
        return self.connection.peer_extension(name)

    def can(self, method: str) -> bool:
        """Whether the version, the phase and the capabilities allow a method to be called now."""
        return self.connection.can(method)

    def why_not(self, method: str) -> Optional[libacp.Misuse]:
        """Why a method cannot be called now; ``None`` if it can."""
        return self.connection.why_not(method)

    async def request(
        self, method: str, params: Optional[Mapping[str, object]] = None, *, timeout: Optional[float] = None
    ) -> Any:
        """Sends a request and returns its result. Cancelling the task asks the peer to cancel the request.

        Arguments:
            `timeout`: the timeout in seconds, in place of the one of the connection.

        Raises:
            libacp.Misuse: if the specification forbids the call now; nothing was sent.
            libacp.PeerError: if the peer answers with an error.
            libacp.NoResult: if there is no valid answer before the timeout or the end of the connection.
        """
        return await self._wire.request(method, params or {}, timeout=timeout)

    async def notify(self, method: str, params: Optional[Mapping[str, object]] = None) -> None:
        """Sends a notification.

        Raises:
            libacp.Misuse: if the specification forbids it now; nothing was sent.
        """
        await self._wire.notify(method, params or {})

    # What the roles add.

    def _cost(self, request: libacp.Request) -> Cost:
        """What it takes to serve a request."""
        return CHEAP

    async def _perform(self, job: Job) -> Any:
        """Does what a request asks for; its result."""
        raise NotImplementedError

    def _notified(self, notification: libacp.Notification) -> None:
        """Takes a notification."""
        raise NotImplementedError

    def _closed(self) -> None:
        """The connection is over."""

    def _deliver(self, event: libacp.Event) -> None:
        if isinstance(event, Notification):
            self._notified(event)
        elif isinstance(event, Request):
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
            line = (event.rule, event.method, event.pointer, event.message)
            level = logging.WARNING if event.rule in LEFT_OUT else logging.INFO
            self._limited.log(f"advice: {event.rule}", level, "advice: %s: %s%s: %s", *line)
            if self._host.on_advice is not None:
                self._hooks.call("on_advice", self._host.on_advice, event)
        elif isinstance(event, libacp.Closed):
            self._end()

    def _late(self, response: libacp.LateResponse) -> None:
        """Nobody waits for this answer any more. The connection gives back what it has opened."""
        if self._host.on_late_response is not None:
            self._hooks.call("on_late_response", self._host.on_late_response, response)

    def _violated(self, violation: libacp.Violation) -> None:
        rule = libacp.rule(violation.rule)
        assert rule is not None  # Whatever a violation carries is in the catalogue.
        level = LEVELS[rule.severity]
        # Not its excerpt: what a peer sends may hold secrets.
        place = ascii(f"{violation.method or 'message'}{violation.pointer}"[:PLACE])[1:-1]
        line = (violation.rule, place, violation.message, violation.consequence)
        self._limited.log(violation.rule, level, "%s: %s: %s (%s)", *line)
        if self._host.on_violation is not None:
            self._hooks.call("on_violation", self._host.on_violation, violation)

    def _session_over(self, session: Any) -> None:
        if self._host.on_session_end is not None:
            self._hooks.call("on_session_end", self._host.on_session_end, session)

    def _serve(self, request: libacp.Request) -> None:
        job = self._jobs[request.serial] = Job(request, self._cost(request))
        if job.cost is CHEAP or (not self._waiting and self._take_now(job)):
            work = self._work(job)
        else:
            self._waiting += 1
            job.waits = True
            work = self._wait_and_work(job)
        job.task = self._loop.create_task(work)

    def _take_now(self, job: Job) -> bool:
        cost, serial = job.cost, job.request.serial
        if cost.file and not self._files.take_now(serial, 1):
            return False
        if not self._answers.take_now(serial, cost.answer):
            self._files.give(serial)
            return False
        job.taken = True
        return True

    async def _wait_and_work(self, job: Job) -> None:
        cost, serial = job.cost, job.request.serial
        try:
            if cost.file:
                await self._files.take(serial, 1)
            try:
                await self._answers.take(serial, cost.answer)
            except BaseException:
                self._files.give(serial)
                raise
            job.taken = True
            self._admit(job)
            await self._work(job)
        finally:
            self._done(job)

    def _admit(self, job: Job) -> None:
        """A request does not wait for its turn any more."""
        job.waits = False
        self._waiting -= 1

    async def _work(self, job: Job) -> None:
        request = job.request
        CURRENT.set(request.id)
        try:
            if self._wire.behind or self._ordered:
                await self._in_turn()
            try:
                result = await self._perform(job)
            except RequestError as refusal:
                self._refuse(job, refusal.code, refusal.message, refusal.data)
            except Exception as problem:
                self._hooks.failed(f"the handler of {request.method} failed", request.method, problem)
                self._refuse(job, libacp.ErrorCode.INTERNAL_ERROR, data=self._exposed(problem))
            else:
                if self._wire.behind:
                    await self._caught_up()
                self._answer(job, {} if result is None else result)
                # It may be long, and is not needed for waiting.
                del result
            # The place among the jobs is kept until the answer has gone out.
            if self._wire.busy():
                await self._wire.drain()
        finally:
            self._done(job)

    async def _in_turn(self) -> None:
        """Waits for the transport, so that work begins in the order of the requests."""
        self._ordered += 1
        try:
            async with self._in_order:
                await self._caught_up()
        finally:
            self._ordered -= 1

    async def _caught_up(self) -> None:
        """Waits until the transport has all that was said: a peer that does not read gets no more work done, and at most
        one answer waits behind the transport.
        """
        while self._wire.behind:
            await self._wire.drain()

    def _done(self, job: Job) -> None:
        if self._jobs.pop(job.request.serial, None) is None:
            return
        if job.waits:
            self._admit(job)
        if self.connection.served(job.request):
            self._wire.dispatch()
        if job.taken:
            self._answers.give(job.request.serial)
            self._files.give(job.request.serial)
        if job.answered:
            return
        # Cancelled, perhaps before it had begun.
        if job.request.method == "session/prompt" and not self._leaving:
            self._answer(job, {"stopReason": "cancelled"})
        self._refuse(job, libacp.ErrorCode.REQUEST_CANCELLED)

    def _exposed(self, problem: Exception) -> Any:
        """What the peer is told of an exception."""
        if isinstance(problem, libacp.Misuse):
            return {"rule": problem.rule}
        return {"details": str(problem)} if self._host.expose_errors else None

    def _answer(self, job: Job, result: Any) -> None:
        """Answers a request."""
        if job.answered:
            return
        try:
            self.connection.respond(job.request, result)
        except libacp.Misuse as misuse:
            if self.connection.phase != "closed":
                what = f"the result of the handler of {job.request.method} cannot be sent"
                self._limited.log(what, logging.ERROR, "%s: %s", what, misuse)
                self._hooks.tell(job.request.method, misuse)
                self._refuse(job, libacp.ErrorCode.INTERNAL_ERROR, data=self._exposed(misuse))
            return
        job.answered = True
        if job.accepted is not None:
            job.accepted(result)
        self._wire.dispatch()

    def _refuse(self, job: Job, code: int, message: Optional[str] = None, data: Any = None) -> None:
        if job.answered:
            return
        job.answered = True
        try:
            message = libacp.ErrorCode.message(code) if message is None else message
            self.connection.respond_error(job.request, code, message, data)
        except Exception as problem:  # Misuse, or a code or a message of another type: the peer waits all the same.
            if self.connection.phase == "closed":
                return
            what = f"the error of the handler of {job.request.method} cannot be sent"
            self._limited.log(what, logging.ERROR, "%s: %s", what, problem)
            self._hooks.tell(job.request.method, problem)
            internal = libacp.ErrorCode.INTERNAL_ERROR
            self.connection.respond_error(job.request, internal, libacp.ErrorCode.message(internal))
        self._wire.dispatch()

    def _stop(self, serial: int) -> None:
        job = self._jobs.get(serial)
        if job is None or job.task is None:
            return
        if job.stop is None:
            # Where it has not begun, nothing of it ever runs.
            job.task.add_done_callback(lambda _: self._done(job))
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
        self._leaving = True
        self._closed()
        running = [job.task for job in self._jobs.values() if job.task is not None]
        if self._hooks.task is not None:
            running.append(self._hooks.task)
        for serial in list(self._jobs):
            self._stop(serial)
        try:
            if running:
                _, late = await asyncio.wait(running, timeout=grace)
                for task in late:
                    late_one = "a handler does not end, and is given up"
                    self._limited.log(late_one, logging.WARNING, late_one)
                    task.cancel()
            await self._wire.close(grace)
        finally:
            self._wire.abandon()
            self._limited.tell()
