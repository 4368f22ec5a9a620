"""What drives a `Server`: requests and sockets on one side, agents on the other. `_asgi` stands on this."""

from __future__ import annotations

import asyncio
import logging
import os
from typing import Any, Awaitable, Callable, Dict, Iterable, List, Mapping, Optional, Set, Tuple, Union

from .._native import Server
from ..aio import Agent, RequestError
from ..aio._host import awaited
from ..aio._log import Limited, log
from ..aio._pipe import Clock, Inbox, Outbox
from ._types import ServerOptions


FAILED = "The agent could not be served"
"""What clients are told of an agent that has failed; a `RequestError` has words for them of its own."""

Start = Callable[[], Union[Agent, Awaitable[Agent]]]
Step = Mapping[str, Any]


class Exchange:
    """A request, or a socket."""

    __slots__ = ("number", "wake", "step", "response", "finished", "gone")

    def __init__(self, number: int) -> None:
        self.number = number
        self.wake = asyncio.Event()
        # What the body has led to.
        self.step: Optional[Step] = None
        self.response: Optional[Step] = None
        self.finished = self.gone = False


class Link:
    """A connection and its agent."""

    def __init__(self, hub: Hub, number: int) -> None:
        self.number = number
        self.inbox = Inbox(lambda full: hub.pause(number, full))
        self.outbox = Outbox(lambda data: hub.send(number, data))


class Hub:
    """A server in one event loop."""

    def __init__(
        self, options: ServerOptions, start: Start, on_report: Optional[Callable[[Any], object]]
    ) -> None:
        self.server = Server(options)
        self.loop = asyncio.get_running_loop()
        self._start = start
        self._on_report = on_report
        self._limited = Limited()
        self._exchanges: Dict[int, Exchange] = {}
        self._links: Dict[int, Link] = {}
        self._tasks: Set[asyncio.Task[None]] = set()
        # Those that wait until their agent has read.
        self._fed: List[Exchange] = []
        self._next = 0
        self._pumping = False
        self._clock = Clock(self.server.poll_timeout, self._time_is_up)
        self._told: Dict[str, Callable[[Any], None]] = {
            "opened": self._opened,
            "message": self._message,
            "closed": self._closed,
            "respond": self._respond,
            "ready": self._ready,
            "finish": self._finish,
            "drained": self._drained,
            "violation": self._report,
            "advice": self._report,
        }

    # Requests.

    def begin(self) -> Exchange:
        """A new request."""
        self._next += 1
        exchange = self._exchanges[self._next] = Exchange(self._next)
        return exchange

    def request(
        self, exchange: Exchange, method: str, target: str, headers: Iterable[Tuple[bytes, bytes]]
    ) -> Step:
        """Its head."""
        self._tick()
        wanted = self.server.wants_entropy()
        if wanted:
            self.server.add_entropy(os.urandom(wanted))
        step: Step = self.server.request(exchange.number, method, target, headers)
        self.pump()
        return step

    def body(self, exchange: Exchange, data: bytes, end: bool) -> Step:
        """A piece of its body."""
        self._tick()
        step: Step = self.server.body(exchange.number, data, end)
        self.pump()
        return step

    def text(self, exchange: Exchange, text: str) -> None:
        """A text frame."""
        self._tick()
        self.server.text(exchange.number, text)
        self.pump()

    def binary(self, exchange: Exchange) -> None:
        """A binary frame."""
        self._tick()
        self.server.binary(exchange.number)
        self.pump()

    def pong(self, exchange: Exchange) -> None:
        """The client is alive."""
        self._tick()
        self.server.pong(exchange.number)

    def written(self, exchange: Exchange, count: int) -> None:
        """So many bytes of its stream have gone out."""
        self._tick()
        self.server.consume(exchange.number, count)
        self.pump()

    def frame(self, exchange: Exchange) -> Any:
        """The next frame for a socket."""
        frame = self.server.frame(exchange.number)
        self.pump()
        return frame

    async def fed(self, exchange: Exchange) -> None:
        """Waits until more may be read from a socket."""
        while not self.server.is_hungry(exchange.number) and not exchange.gone:
            self._fed.append(exchange)
            await exchange.wake.wait()
            exchange.wake.clear()

    def end(self, exchange: Exchange) -> None:
        """It is over."""
        self._exchanges.pop(exchange.number, None)
        self._tick()
        self.server.closed(exchange.number)
        self.pump()

    # Agents.

    def send(self, number: int, data: bytes) -> Optional[str]:
        """A message of an agent."""
        self._tick()
        try:
            return self.server.send(number, data)
        except Exception as problem:
            # An answer to a call that the transport has answered by itself, as when its reader was gone.
            self._limited.log("unsent", logging.DEBUG, "a message was not sent: %s", problem)
            return None
        finally:
            self.pump()

    def pause(self, number: int, full: bool) -> None:
        """An agent has too much to read, or not any more."""
        self.server.pause(number, full)
        if not full:
            self.pump()

    async def close(self, grace: float) -> None:
        """Ends all connections."""
        for number in list(self._links):
            self.server.close(number)
        self.pump()
        if self._tasks:
            _, late = await asyncio.wait(self._tasks, timeout=grace)
            for task in late:
                task.cancel()
            if late:
                await asyncio.wait(late, timeout=grace)
        self._clock.stop()

    @property
    def idle(self) -> bool:
        """Whether nothing goes on."""
        return not self._tasks and not self._exchanges

    async def _serve(self, link: Link) -> None:
        agent = None
        try:
            agent = await awaited(self._start())
            await agent.serve(link.inbox, link.outbox)
        except Exception as problem:
            log.exception("an agent could not be served")
            if agent is None:
                # What a client asks first is answered with the reason. Over a socket, it may not be there yet.
                await link.inbox.read()
            self._tick()
            self.server.fail(link.number, problem.message if isinstance(problem, RequestError) else FAILED)
        finally:
            link.outbox.close()
            self.server.close(link.number)
            self.pump()

    # Events.

    def pump(self) -> None:
        """Does what the server tells."""
        if self._pumping:
            return
        self._pumping = True
        poll, told = self.server.poll_event, self._told
        try:
            while (event := poll()) is not None:
                told[event["event"]](event)
        finally:
            self._pumping = False
        if self._fed:
            fed, self._fed = self._fed, []
            for exchange in fed:
                exchange.wake.set()
        self._clock.set()

    def _tick(self) -> None:
        self.server.handle_timeout(self._clock.now())

    def _time_is_up(self) -> None:
        self._tick()
        self.pump()

    def _opened(self, event: Any) -> None:
        number = event["connection"]
        link = self._links[number] = Link(self, number)
        task = self.loop.create_task(self._serve(link))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _message(self, event: Any) -> None:
        link = self._links.get(event["connection"])
        if link is not None:
            link.inbox.put(event["json"])

    def _closed(self, event: Any) -> None:
        link = self._links.pop(event["connection"], None)
        if link is not None:
            link.outbox.close()
            link.inbox.end()

    def _drained(self, event: Any) -> None:
        link = self._links.get(event["connection"])
        if link is not None:
            link.outbox.flush()

    def _respond(self, event: Any) -> None:
        exchange = self._exchanges.get(event["exchange"])
        if exchange is not None:
            exchange.response = event["response"]
            exchange.wake.set()

    def _ready(self, event: Any) -> None:
        exchange = self._exchanges.get(event["exchange"])
        if exchange is not None:
            exchange.wake.set()

    def _finish(self, event: Any) -> None:
        exchange = self._exchanges.get(event["exchange"])
        if exchange is not None:
            exchange.finished = True
            exchange.wake.set()

    def _report(self, event: Any) -> None:
        rule, status = event["rule"], event["status"]
        what = "accepted" if status is None else f"status {status}"
        self._limited.log(rule, logging.INFO, "%s: %s (%s)", rule, event["message"], what)
        if self._on_report is not None:
            try:
                self._on_report(event)
            except Exception:
                log.exception("on_report failed")
