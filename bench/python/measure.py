"""What the Python programs of the benchmark share: how they are called, measure, and print. See bench/README.md.

Read next: ours.py, official.py, floor.py.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Awaitable, Callable, Iterator, List, Optional, Union

# Bytes that a host reads at once.
PIECE = 64 * 1024
CHUNKS, DIFFS, FILES = 20_000, 2_000, 5_000
CONNECTIONS, SECONDS = 10_000, 10


class Pass:
    """How long one pass took, and how many messages it has handled."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.count = 0

    @contextmanager
    def timed(self) -> Iterator[None]:
        begun = time.perf_counter()
        yield
        self.seconds = time.perf_counter() - begun


class Inputs:
    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)

    def bytes(self, name: str) -> bytes:
        return (self._folder / name).read_bytes()

    def text(self, name: str) -> str:
        return self.bytes(name).decode()

    def lines(self, name: str) -> List[bytes]:
        return self.bytes(name).splitlines(keepends=True)


Work = Callable[[Inputs], Union[Pass, Awaitable[Pass]]]


def none(_: Inputs) -> Pass:
    """Nothing: what the process is without the library."""
    return Pass()


def main(works: Callable[[], "dict[str, Work]"]) -> None:
    """Does what the command line says. `works` imports the library."""
    name, folder, milliseconds = sys.argv[1:]
    work = none if name == "none" else works()[name]
    inputs, least = Inputs(folder), int(milliseconds) / 1000
    last = once(work, inputs)
    seconds = last.seconds
    if least:
        spent, passes = 0.0, 0
        while spent < least:
            last = once(work, inputs)
            spent += last.seconds
            passes += 1
        seconds = spent / passes
    print(json.dumps({"work": name, "seconds": seconds, "count": last.count, "peak_kib": peak_kib()}))


def once(work: Work, inputs: Inputs) -> Pass:
    done = work(inputs)
    return done if isinstance(done, Pass) else asyncio.run(finish(done))


async def finish(work: Awaitable[Pass]) -> Pass:
    return await work


def peak_kib() -> Optional[int]:
    """The most memory that this process had, where the system tells."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM:")), None)


class Pipe(asyncio.Transport):
    """One direction of a pipe in memory, between asyncio's own streams, with their limits on what waits."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        super().__init__()
        self._reader = reader
        self._closing = False
        self.protocol: Any = None
        reader.set_transport(self)

    def write(self, data: Any) -> None:
        self._reader.feed_data(data)

    def pause_reading(self) -> None:
        self.protocol.pause_writing()

    def resume_reading(self) -> None:
        self.protocol.resume_writing()

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        if not self._closing:
            self._closing = True
            self._reader.feed_eof()

    def get_write_buffer_size(self) -> int:
        return 0

    def set_write_buffer_limits(self, high: Optional[int] = None, low: Optional[int] = None) -> None:
        pass


def pipe() -> "tuple[asyncio.StreamReader, asyncio.StreamWriter]":
    """Both ends of one direction."""
    reader = asyncio.StreamReader()
    transport = Pipe(reader)
    transport.protocol = asyncio.StreamReaderProtocol(asyncio.StreamReader())
    return reader, asyncio.StreamWriter(transport, transport.protocol, None, asyncio.get_running_loop())
