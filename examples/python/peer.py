"""A libacp connection on a pair of asyncio streams: all the I/O that a host needs.

libacp takes bytes and gives bytes; this reads them from one stream and writes them to another. It fits a child process
as well as the process's own standard input and output, a socket, or anything else with asyncio streams.
"""

import asyncio
import json
import time
from typing import IO, Any, Optional

import libacp

READ = 64 * 1024
# Reading pauses while this much waits to be understood.
ENOUGH = 1024 * 1024


class Tap:
    """Counts the bytes and lines that pass in one direction, and writes them down where that is wanted."""

    def __init__(self, direction: str, trace: Optional[IO[str]]) -> None:
        self.direction, self.trace = direction, trace
        self.bytes = self.lines = 0
        self.begun = time.monotonic()
        self.rest = b""

    def pass_by(self, data: bytes) -> None:
        self.bytes += len(data)
        self.lines += data.count(b"\n")
        if self.trace:
            *lines, self.rest = (self.rest + data).split(b"\n")
            ms = round((time.monotonic() - self.begun) * 1000, 3)
            for line in lines:
                record = {"d": self.direction, "ms": ms, "s": line.decode("utf-8", "replace")}
                self.trace.write(json.dumps(record) + "\n")


class Peer:
    """The other side of the conversation."""

    def __init__(
        self,
        connection: libacp.Connection,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        trace: Optional[IO[str]] = None,
    ) -> None:
        self.connection = connection
        self.reader, self.writer = reader, writer
        marks = (">", "<") if connection.role == "client" else ("<", ">")
        self.sent, self.received = Tap(marks[0], trace), Tap(marks[1], trace)
        self.more, self.less = asyncio.Event(), asyncio.Event()
        # A task of its own, so that two sides that both write a lot never wait for each other.
        self.reading = asyncio.ensure_future(self.read())

    # ANCHOR: read
    async def read(self) -> None:
        try:
            while data := await self.reader.read(READ):
                self.received.pass_by(data)
                self.connection.receive_data(data)
                self.more.set()
                while self.connection.buffered > ENOUGH:
                    self.less.clear()
                    await self.less.wait()
        except OSError:
            pass  # As good as the end.
        self.connection.receive_eof()
        self.more.set()

    async def flush(self) -> None:
        """Writes what waits for the peer."""
        if data := self.connection.data_to_send():
            self.sent.pass_by(data)
            self.writer.write(data)
            await self.writer.drain()

    async def event(self) -> "libacp.Event":
        """The next thing that happens; the last one is `libacp.Closed`."""
        while (event := self.connection.next_event()) is None:
            # The connection may have answered by itself.
            await self.flush()
            self.more.clear()
            await self.more.wait()
        self.less.set()
        await self.flush()
        return event
    # ANCHOR_END: read

    async def request(self, method: str, params: Any) -> "int | str":
        id = self.connection.request(method, params)
        await self.flush()
        return id

    async def notify(self, method: str, params: Any) -> None:
        self.connection.notify(method, params)
        await self.flush()

    async def respond(self, request: libacp.Request, result: Any) -> None:
        self.connection.respond(request, result)
        await self.flush()
