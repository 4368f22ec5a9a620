"""The two ends of a conversation that a state machine carries message by message: what a connection reads from, and what it
writes to.
"""

from __future__ import annotations

import asyncio
import collections
from typing import Callable, Deque, Optional

# What may wait for who reads; then whoever fills it is asked to hold on.
HIGH = 256 * 1024


class Inbox:
    """What the other side has said: a `Reader` with one message per read."""

    framing = "messages"

    def __init__(self, hold: Callable[[bool], object] = lambda full: None) -> None:
        self._messages: Deque[bytes] = collections.deque()
        self._bytes = 0
        self._hold = hold
        self._over = False
        self._waiter: Optional[asyncio.Future[None]] = None
        self.room = asyncio.Event()
        """Whether whoever fills it may go on."""
        self.room.set()

    def put(self, json: str) -> None:
        """Takes a message."""
        if self._over:
            return
        data = json.encode()
        self._messages.append(data)
        self._bytes += len(data)
        if self._bytes > HIGH and self.room.is_set():
            self.room.clear()
            self._hold(True)
        self._wake()

    def end(self) -> None:
        """Nothing more comes."""
        self._over = True
        self.room.set()
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def read(self, n: int = -1, /) -> bytes:
        """The next message; nothing at the end."""
        while not self._messages:
            if self._over:
                return b""
            self._waiter = asyncio.get_running_loop().create_future()
            try:
                await self._waiter
            finally:
                self._waiter = None
        data = self._messages.popleft()
        self._bytes -= len(data)
        if not self.room.is_set() and self._bytes <= HIGH // 2:
            self.room.set()
            self._hold(False)
        return data


class Outbox:
    """What is to be said: a `Writer`, and its transport. Messages that are not taken yet wait here."""

    def __init__(self, send: Callable[[bytes], Optional[str]]) -> None:
        self._send = send
        self._waiting: Deque[bytes] = collections.deque()
        self._bytes = 0
        self._closed = False
        self._empty = asyncio.Event()
        self._empty.set()
        self.transport = self

    def write(self, data: bytes, /) -> None:
        """Takes one message."""
        if self._closed:
            return
        if self._waiting or self._send(data) == "full":
            self._waiting.append(data)
            self._bytes += len(data)
            self._empty.clear()

    def flush(self) -> None:
        """There is room again."""
        while self._waiting and self._send(self._waiting[0]) != "full":
            self._bytes -= len(self._waiting.popleft())
        if not self._waiting:
            self._empty.set()

    async def drain(self) -> None:
        """Waits while messages wait."""
        await self._empty.wait()

    def close(self) -> None:
        """Nothing more is said."""
        self._closed = True
        self._waiting.clear()
        self._bytes = 0
        self._empty.set()

    def is_closing(self) -> bool:
        """Whether nothing more is taken."""
        return self._closed

    def get_write_buffer_size(self) -> int:
        """Bytes that wait."""
        return self._bytes

    def set_write_buffer_limits(self, high: Optional[int] = None, low: Optional[int] = None) -> None:
        """The limits are those of the state machine."""


class Clock:
    """The time of a state machine: milliseconds since it began, and one timer for when it is due."""

    def __init__(self, due: Callable[[], Optional[int]], wake: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._started = self._loop.time()
        self._due, self._wake = due, wake
        self._timer: Optional[asyncio.TimerHandle] = None
        self._at = 0

    def now(self) -> int:
        """The time."""
        return int((self._loop.time() - self._started) * 1000)

    def set(self) -> None:
        """Sees to it that the state machine is woken in time."""
        due = self._due()
        if due is None or (self._timer is not None and self._at <= due):
            return
        self.stop()
        self._at = due
        # One millisecond later, so that it is due when the clock is read.
        self._timer = self._loop.call_at(self._started + (due + 1) / 1000, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._wake()

    def stop(self) -> None:
        """Wakes nobody."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
