"""Standard input and output as streams, and kept from everybody else while they carry the protocol."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from contextlib import asynccontextmanager
from typing import AsyncIterator, Tuple

from ._wire import Reader, Writer


class FileReader:
    """Reads what the event loop cannot wait for: a regular file, or a pipe where there is no readiness to wait for."""

    def __init__(self, file: int) -> None:
        self._file = file

    async def read(self, n: int = -1, /) -> bytes:
        """Some bytes, at most `n`; none at the end."""
        return await asyncio.get_running_loop().run_in_executor(None, os.read, self._file, n)


class FileWriter:
    """Writes at once what the event loop cannot wait for."""

    def __init__(self, file: int) -> None:
        self._file = file

    def write(self, data: bytes, /) -> None:
        """Writes all of it."""
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._file, rest) :]

    async def drain(self) -> None:
        """Nothing waits here."""

    def close(self) -> None:
        """The file is closed by who opened it."""


def waitable(file: int) -> bool:
    """Whether the event loop can wait for it."""
    mode = os.fstat(file).st_mode
    return os.name != "nt" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(file))


@asynccontextmanager
async def standard_streams() -> AsyncIterator[Tuple[Reader, Writer]]:
    """The streams. Meanwhile, prints go to standard error, and child processes have an empty standard input, so that
    nothing but the protocol's messages comes in between (FRAME-04).
    """
    loop = asyncio.get_running_loop()
    own_in, own_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    if sys.stdout is not None:
        sys.stdout.flush()
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    os.close(nothing)
    reader: Reader
    writer: Writer
    transports: "list[asyncio.BaseTransport]" = []
    try:
        if waitable(own_in):
            stream = asyncio.StreamReader()
            source = open(own_in, "rb", buffering=0, closefd=False)
            transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), source)
            transports.append(transport)
            reader = stream
        else:
            reader = FileReader(own_in)
        if waitable(own_out):
            sink = open(own_out, "wb", buffering=0, closefd=False)
            out, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, sink)
            transports.append(out)
            writer = asyncio.StreamWriter(out, protocol, None, loop)
        else:
            writer = FileWriter(own_out)
        yield reader, writer
    finally:
        for each in transports:
            each.close()
        if os.name != "nt":
            # The event loop has changed what others share.
            os.set_blocking(own_in, True)
            os.set_blocking(own_out, True)
        if sys.stdout is not None:
            sys.stdout.flush()
        # What others have printed has gone to standard error; from here on it is their output again.
        os.dup2(own_in, 0)
        os.dup2(own_out, 1)
        os.close(own_in)
        os.close(own_out)
