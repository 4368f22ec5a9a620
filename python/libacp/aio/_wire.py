"""A connection on a pair of streams: reading, writing, waiting for answers. This module knows no methods.

Incoming events have no task of their own: each goes to `deliver` at once, in the order of the bytes, and dispatching
stops while the connection says so. Then reading stops too, which slows the peer down. A send waits for the transport
*before* its message is made, so a cancelled send has not happened, and memory holds at most the limit of the transport
and one message. Each message is written at once, so a host that computes without a pause is still heard. A send waits
(`busy`) only if the transport is behind or after a burst of messages, because each wait costs a round of the event loop.
The transport gets no more than it accepts: the rest of a long message waits here, and later messages wait in the
connection.
"""

from __future__ import annotations

import asyncio
from typing import Any, Callable, Dict, Mapping, Optional, Protocol, Union

import libacp
from libacp import Response

from ._log import log
from ._seconds import milliseconds
from ._trace import RECEIVED, SENT, Tracer
from ._watchers import Watchers

READ = 64 * 1024
# Handed to the transport at once, and what may wait there before it gets no more.
PIECE = 64 * 1024
HIGH = 64 * 1024
# What is sent without a pause, each message counted with so many bytes more, before others get their turn.
BURST = 64 * 1024
MESSAGE = 1024
# A peer that reads no more is as good as gone, but what it has said is still worth hearing.
DEAF_SECONDS = 1.0


class Reader(Protocol):
    """A source of bytes: an `asyncio.StreamReader`, or any object with its `read`.

    With the framing ``messages``, each read returns one message.
    """

    async def read(self, n: int = ..., /) -> bytes:
        """Returns at most `n` bytes; none at the end."""
        ...


class Writer(Protocol):
    """A destination for bytes: an `asyncio.StreamWriter`, or any object with these methods.

    With the framing ``messages``, each write is one message.
    """

    def write(self, data: bytes, /) -> None:
        """Takes bytes."""
        ...

    async def drain(self) -> None:
        """Waits while too many bytes have not been written yet."""
        ...

    def close(self) -> None:
        """Closes the stream after the bytes that were written."""
        ...


Settle = Callable[[libacp.Response, bool], None]


class Call:
    """A request of the host's that waits for its answer."""

    __slots__ = ("id", "future", "settle")

    def __init__(self, id: Union[int, str], future: asyncio.Future[Any], settle: Optional[Settle]) -> None:
        self.id = id
        self.future = future
        self.settle = settle


class Wire:
    def __init__(
        self,
        connection: libacp.Connection,
        reader: Reader,
        writer: Writer,
        deliver: Callable[[libacp.Event], None],
        tracer: Optional[Tracer] = None,
        gathers: bool = False,
    ) -> None:
        self.connection = connection
        self._reader, self._writer = reader, writer
        self._transport: Optional[asyncio.WriteTransport] = getattr(writer, "transport", None)
        self._deliver = deliver
        self._tracer = tracer
        self._loop = asyncio.get_running_loop()
        self._calls: Dict[Union[int, str, None], Call] = {}
        self._started = self._loop.time()
        self._dispatching = self._closing = False
        self.stalled = False
        """Whether events wait until there is room for them."""
        self.behind = False
        """Whether more is to be written than the transport takes."""
        self._rest = memoryview(b"")
        self.watchers = Watchers()
        self._pump: Optional[asyncio.Task[None]] = None
        self._sent = self._heard = 0
        self._deaf: Optional[asyncio.TimerHandle] = None
        # Set for the first time that was due; what is due later, or never any more, is looked at then.
        self._timer: Optional[asyncio.TimerHandle] = None
        self._due: Optional[int] = None
        # What the connection reminds of counts from the time that it knows of; otherwise it needs none.
        self._timed = connection.config.reminder is not None or connection.config.timeout is not None
        self._messages = connection.config.framing == "messages"
        # What may wait in the transport. If chunks are to gather in the connection, nothing, so that it says when it is
        # idle.
        self._gathers, self._high = gathers, 1 if gathers else HIGH
        if gathers and self._transport is not None:
            self._transport.set_write_buffer_limits(0)
        self._went_on = asyncio.Event()
        self._moved: Optional[asyncio.Future[None]] = None
        # Before Python 3.12, only one task at a time may wait in `drain`.
        self._draining = asyncio.Lock()
        self.reading = self._loop.create_task(self._read())

    async def request(
        self,
        method: str,
        params: Mapping[str, object],
        *,
        timeout: Optional[float] = None,
        settle: Optional[Settle] = None,
        unsent: Optional[Callable[[], None]] = None,
        urgent: bool = False,
    ) -> Any:
        """Asks the peer, and waits for its answer. What is `urgent` does not wait for the transport. `unsent` hears, in
        place of `settle`, that it was not sent: because it may not be, or because nobody waits any more.
        """
        try:
            if not urgent and self.busy():
                await self.drain()
            call = self.ask(method, params, timeout=timeout, settle=settle)
        except BaseException:
            if unsent is not None:
                unsent()
            raise
        try:
            return await call.future
        except asyncio.CancelledError:
            if self._calls.get(call.id) is call:
                self.give_up(call.id)
            raise

    def ask(
        self,
        method: str,
        params: Mapping[str, object],
        *,
        timeout: Optional[float] = None,
        settle: Optional[Settle] = None,
        sent: Optional[Callable[[int], None]] = None,
    ) -> Call:
        """Sends a request without waiting for anything. `settle` sees the answer in its place among the events, and
        whether somebody still waits for it; `sent` learns its serial number before any of these events.
        """
        self._open_for(method)
        if self._timed or timeout is not None:
            self.connection.handle_timeout(self._now())
        if timeout is None:
            id = self.connection.request(method, params)
        else:
            id = self.connection.request(method, params, timeout=milliseconds(timeout))
        call = self._calls[id] = Call(id, self._loop.create_future(), settle)
        if sent is not None:
            made = self.connection.pending_by_id(id)
            assert made is not None
            sent(made.serial)
        self.dispatch()
        return call

    async def notify(self, method: str, params: Mapping[str, object]) -> None:
        if self.busy():
            await self.drain()
        self.notify_now(method, params)

    async def notify_opened(self, opening: libacp.Request, method: str, params: Mapping[str, object]) -> None:
        """Sends a notification about the session that a request opens, once it may be named."""
        if self.busy():
            await self.drain()
        self._open_for(method)
        self.connection.notify_opened(opening, method, params)
        self.dispatch()

    def notify_now(self, method: str, params: Mapping[str, object]) -> None:
        """Sends a notification without waiting for the transport: for what is small, and rare."""
        self._open_for(method)
        self.connection.notify(method, params)
        self.dispatch()

    def _open_for(self, method: str) -> None:
        # After the end, a call ends as one that was open then.
        if self.connection.phase == "closed":
            raise libacp.NoResult("closed", method)

    def give_up(self, id: Union[int, str]) -> None:
        """Nobody waits for a request any more; no mistake when the connection is over."""
        if self.connection.phase != "closed":
            self.connection.handle_timeout(self._now())
            self.connection.abandon(id)
            self.dispatch()

    def dispatch(self) -> None:
        """Delivers the events that are there, as long as there is room for them, and writes what is to be written."""
        if self._dispatching:
            return
        self._dispatching = True
        next_event, deliver = self.connection.next_event, self._deliver
        waiting = self.stalled
        try:
            while (event := next_event()) is not None:
                if isinstance(event, Response):
                    self._settle(event)
                else:
                    deliver(event)
        finally:
            self._dispatching = False
            self.stalled = self.connection.paused
            if waiting:
                self._went_on.set()
        if self.watchers:
            self.watchers.look()
        if self._moved is not None:
            self._moved.set_result(None)
            self._moved = None
        self._write()
        due = self.connection.poll_timeout()
        if due is not None and (self._due is None or due < self._due) and not self._closing:
            self._set_timer(due)

    async def moved(self) -> None:
        """Waits until something has come, or is due."""
        if self._moved is None:
            self._moved = self._loop.create_future()
        await asyncio.shield(self._moved)

    def busy(self) -> bool:
        """Whether a send has to wait: for the transport, or for others to have their turn."""
        transport = self._transport
        if self._sent >= BURST or transport is None or transport.is_closing():
            return True
        if self._gathers:
            return not self.connection.has_room
        return self.behind or transport.get_write_buffer_size() > 0

    async def drain(self) -> None:
        """Waits until all is written and the transport takes more, and lets others run in any case."""
        await asyncio.sleep(0)
        # Not before: whoever comes meanwhile waits as well, and overtakes nobody.
        self._sent = 0
        if self._deaf is not None:
            return
        async with self._draining:
            while self._deaf is None:
                try:
                    await self._writer.drain()
                except OSError:
                    self._lose()
                if not self.behind:
                    break
                self._hand_over()
                if self.stalled:
                    # Its own answers may have held it up.
                    self.dispatch()

    async def close(self, seconds: float) -> None:
        """Ends the connection from this side: what waits is written, for so long at most, and the stream is closed."""
        self._closing = True
        self.connection.close()
        self.dispatch()
        transport = self._transport
        try:
            if transport is not None and not transport.is_closing():
                # So that `drain` waits for all of it.
                transport.set_write_buffer_limits(0)
            await asyncio.wait_for(self.drain(), seconds)
        except asyncio.TimeoutError:
            pass

    def abandon(self) -> None:
        """Lets go of the streams, whatever has been written."""
        self.reading.cancel()
        if self._pump is not None:
            self._pump.cancel()
        for timer in (self._timer, self._deaf):
            if timer is not None:
                timer.cancel()
        self._timer = None
        if self._tracer is not None:
            self._tracer.end()
        try:
            self._writer.close()
        except OSError:
            pass

    async def _read(self) -> None:
        try:
            while data := await self._reader.read(READ):
                self._heard += 1
                if self._tracer is not None:
                    self._tracer.add(RECEIVED, data)
                if self._timed:
                    self.connection.handle_timeout(self._now())
                self.connection.receive_data(data)
                self.dispatch()
                while self.stalled and not self._closing:
                    self._went_on.clear()
                    await self._went_on.wait()
        except OSError:
            pass  # As good as the end.
        except Exception:
            log.exception("reading from the peer failed")
        self._end_of_stream()

    def _end_of_stream(self) -> None:
        self.connection.receive_eof()
        self.dispatch()

    def _settle(self, response: libacp.Response) -> None:
        call = self._calls.pop(response.id, None)
        if call is None:
            return
        future = call.future
        if call.settle is not None:
            call.settle(response, not future.done())
        if future.done():
            return
        try:
            future.set_result(response.result())
        except libacp.Error as problem:
            future.set_exception(problem)

    def _write(self) -> None:
        if self.behind:
            self._sent += MESSAGE
            return
        data = self.connection.data_to_send()
        while data:
            if self._deaf is not None:
                data = self.connection.data_to_send()
                continue
            transport = self._transport
            room = transport is None or transport.get_write_buffer_size() < self._high
            if len(data) > PIECE or not room:
                # The rest waits here, and what is said meanwhile in the connection.
                self._rest, self.behind = memoryview(data), True
                if room:
                    self._hand_over()
                if self.behind and (self._pump is None or self._pump.done()):
                    self._pump = self._loop.create_task(self.drain())
                return
            self._put(data)
            data = self.connection.data_to_send() if self._messages else b""

    def _hand_over(self) -> None:
        """Writes of what waits as much as the transport takes, and some of it in any case."""
        transport = self._transport
        while self._rest:
            if self._deaf is not None or (transport is not None and transport.is_closing()):
                self._rest = memoryview(self.connection.data_to_send())
                continue
            size = len(self._rest) if self._messages else PIECE
            piece, self._rest = self._rest[:size], self._rest[size:]
            self._put(bytes(piece))
            if self._deaf is not None:
                continue
            if not self._rest:
                self._rest = memoryview(self.connection.data_to_send())
            if transport is None or transport.get_write_buffer_size() >= self._high:
                # Only `drain` tells whether it takes more.
                break
        self.behind = bool(self._rest)

    def _put(self, data: bytes) -> None:
        self._sent += len(data) + MESSAGE
        if self._tracer is not None:
            self._tracer.add(SENT, data)
        try:
            self._writer.write(data)
        except (OSError, RuntimeError):
            self._lose()

    def _lose(self) -> None:
        self._rest, self.behind = memoryview(b""), False
        if self._deaf is None:
            self._deaf = self._loop.call_later(DEAF_SECONDS, self._is_gone, self._heard)

    def _is_gone(self, heard: int) -> None:
        if self.stalled or heard != self._heard:
            self._deaf = self._loop.call_later(DEAF_SECONDS, self._is_gone, self._heard)
        else:
            self._end_of_stream()

    def _now(self) -> int:
        return int((self._loop.time() - self._started) * 1000)

    def _set_timer(self, due: int) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._due = due
        # One millisecond later, so that it is due when the clock is read.
        self._timer = self._loop.call_at(self._started + (due + 1) / 1000, self._time_is_up)

    def _time_is_up(self) -> None:
        self._due = self._timer = None
        self.connection.handle_timeout(self._now())
        self.dispatch()
