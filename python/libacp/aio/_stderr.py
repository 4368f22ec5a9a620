"""What an agent prints to standard error: handed on, the last lines kept."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import os
from typing import Callable, Deque, Optional, Tuple

from ._log import log

# Lines that are kept, and characters of each.
LINES = 20
KEPT = 1024
# Bytes of a line at most; what is longer comes in several.
LINE = 64 * 1024

Hook = Callable[[str], object]


class Stderr:
    """Reads it until there is no more, for a hook or for this process's own standard error."""

    def __init__(self, stream: asyncio.StreamReader, hook: Optional[Hook]) -> None:
        self._stream = stream
        self._hook = hook
        self._lines: Deque[str] = collections.deque(maxlen=LINES)
        self._rest = b""
        self._reading = asyncio.ensure_future(self._read())

    async def last(self, seconds: float) -> Tuple[str, ...]:
        """The last lines. What was printed is there already; others may hold the pipe open, whose end may never come."""
        await asyncio.wait([self._reading], timeout=seconds)
        kept = [*self._lines, _text(self._rest)] if self._rest else self._lines
        return tuple(line[:KEPT] for line in kept)[-LINES:]

    async def end(self, seconds: float) -> None:
        """Hands on what is there, and reads no more."""
        await asyncio.wait([self._reading], timeout=seconds)
        self._reading.cancel()

    async def _read(self) -> None:
        while data := await self._stream.read(LINE):
            if self._hook is None:
                # A terminal may be held, and a pipe full: that is not to stop everything else.
                await asyncio.get_running_loop().run_in_executor(None, _hand_on, data)
            *lines, self._rest = (self._rest + data).split(b"\n")
            if len(self._rest) > LINE:
                lines, self._rest = [*lines, self._rest], b""
            for line in lines:
                self._tell(line)
        if self._rest:
            line, self._rest = self._rest, b""
            self._tell(line)

    def _tell(self, line: bytes) -> None:
        text = _text(line)
        self._lines.append(text[:KEPT])
        if self._hook is not None:
            try:
                self._hook(text)
            except Exception:
                log.exception("the hook for what an agent logs failed")


def _text(line: bytes) -> str:
    return line.rstrip(b"\r").decode("utf-8", "replace")


def _hand_on(data: bytes) -> None:
    """As if the agent had this process's standard error, which may be closed."""
    rest = memoryview(data)
    with contextlib.suppress(OSError):
        while rest:
            rest = rest[os.write(2, rest) :]
