"""What an agent prints to standard error: handed on, the last lines kept."""

from __future__ import annotations

import asyncio
import collections
import contextlib
import os
from typing import Callable, Deque, List, Optional, Tuple

from ._log import log

# Lines that are kept, and characters of each.
LINES = 20
KEPT = 1024
# Bytes of a line at most; what is longer comes in several.
LINE = 64 * 1024
# Lines that the hook gets before anything else may go on.
AT_ONCE = 500
# So many times longer than for a silent pipe it is waited for one from which something comes.
PATIENCE = 10

Hook = Callable[[str], object]


class Stderr:
    """Reads it until there is no more, for a hook or for this process's own standard error."""

    def __init__(self, stream: asyncio.StreamReader, hook: Optional[Hook]) -> None:
        self._stream = stream
        self._hook = hook
        self._lines: Deque[str] = collections.deque(maxlen=LINES)
        self._rest = b""
        # How often something was handed on.
        self._steps = 0
        self._reading = asyncio.ensure_future(self._read())

    async def last(self, seconds: float) -> Tuple[str, ...]:
        """The last lines. What was printed is there already; others may hold the pipe open, whose end may never come."""
        await self._read_out(seconds)
        kept = [*self._lines, _text(self._rest)] if self._rest else self._lines
        return tuple(line[:KEPT] for line in kept)[-LINES:]

    async def end(self, seconds: float) -> None:
        """Hands on what is there, and reads no more."""
        await self._read_out(seconds)
        self._reading.cancel()

    async def _read_out(self, seconds: float) -> None:
        for _ in range(PATIENCE):
            before = self._steps
            await asyncio.wait([self._reading], timeout=seconds)
            if self._reading.done() or self._steps == before:
                return

    async def _read(self) -> None:
        while data := await self._stream.read(LINE):
            self._steps += 1
            if self._hook is None:
                # A terminal may be held, and a pipe full: that is not to stop everything else.
                await asyncio.get_running_loop().run_in_executor(None, _hand_on, data)
            *lines, self._rest = (self._rest + data).split(b"\n")
            if len(self._rest) > LINE:
                lines, self._rest = [*lines, self._rest], b""
            await self._tell(lines)
        if self._rest:
            line, self._rest = self._rest, b""
            await self._tell([line])

    async def _tell(self, lines: List[bytes]) -> None:
        self._lines.extend(_text(line)[:KEPT] for line in lines[-LINES:])
        if self._hook is None:
            return
        for number, line in enumerate(lines, 1):
            try:
                self._hook(_text(line))
            except Exception:
                log.exception("the hook for what an agent logs failed")
            if number % AT_ONCE == 0:
                self._steps += 1
                await asyncio.sleep(0)


def _text(line: bytes) -> str:
    return line.rstrip(b"\r").decode("utf-8", "replace")


def _hand_on(data: bytes) -> None:
    """As if the agent had this process's standard error, which may be closed."""
    rest = memoryview(data)
    with contextlib.suppress(OSError):
        while rest:
            rest = rest[os.write(2, rest) :]
