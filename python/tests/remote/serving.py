"""Real servers for the tests: each in a process of its own, on a port that nobody else has."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import AsyncIterator, Dict, Iterator, List, Optional

HERE = Path(__file__).resolve().parent
SECONDS = 30.0

# How each server is started with an application.
SERVERS: Dict[str, List[str]] = {
    "uvicorn": ["-m", "uvicorn", "{app}", "--port", "{port}", "--log-level", "warning", "--timeout-graceful-shutdown", "1"],
    "hypercorn": ["-m", "hypercorn", "{app}", "--bind", "127.0.0.1:{port}", "--graceful-timeout", "1"],
    "granian": ["-m", "granian", "--interface", "asgi", "{app}", "--port", "{port}", "--no-log"],
}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def answers(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 0.2):
        return True
    return False


class Served:
    """A server that runs."""

    def __init__(
        self, server: str, app: str, port: int, env: Optional[Dict[str, str]] = None, options: str = ""
    ) -> None:
        self.server, self.app, self.port, self.env, self.options = server, app, port, env, options.split()
        self.process: "Optional[subprocess.Popen[bytes]]" = None

    def start(self) -> None:
        arguments = [each.format(app=self.app, port=self.port) for each in SERVERS[self.server]]
        env = {**os.environ, **(self.env or {})}
        self.process = subprocess.Popen([sys.executable, *arguments, *self.options], cwd=HERE, env=env)
        end = time.monotonic() + SECONDS
        while not answers(self.port):
            if self.process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise RuntimeError(f"{self.server} does not serve {self.app}")
            time.sleep(0.05)

    def stop(self, number: int = signal.SIGTERM) -> None:
        process, self.process = self.process, None
        if process is None:
            return
        if process.poll() is None:
            process.send_signal(number)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(10)

    def url(self, scheme: str = "http", path: str = "/acp") -> str:
        return f"{scheme}://127.0.0.1:{self.port}{path}"


@contextlib.contextmanager
def serving(
    server: str, app: str = "ours:app", env: Optional[Dict[str, str]] = None, options: str = ""
) -> Iterator[Served]:
    served = Served(server, app, free_port(), env, options)
    served.start()
    try:
        yield served
    finally:
        served.stop()


class Proxy:
    """Passes bytes on to a server, until it is told to break."""

    def __init__(self, port: int) -> None:
        self.target = port
        self.port = 0
        self.open: "set[asyncio.StreamWriter]" = set()
        self.ways: "set[asyncio.Task[None]]" = set()
        self.refuses = False
        self.passed = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refuses:
            writer.close()
            return
        try:
            there_in, there_out = await asyncio.open_connection("127.0.0.1", self.target)
        except OSError:
            writer.close()
            return
        self.open |= {writer, there_out}
        # Nobody waits for these: whoever breaks a connection ends both.
        for way in (self._pass(reader, there_out), self._pass(there_in, writer)):
            task = asyncio.ensure_future(way)
            self.ways.add(task)
            task.add_done_callback(self.ways.discard)

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65536):
                self.passed += len(data)
                writer.write(data)
                await writer.drain()
        with contextlib.suppress(OSError, RuntimeError):
            writer.close()
        self.open.discard(writer)

    def kill(self) -> None:
        """Breaks all connections, without a word."""
        for each in list(self.open):
            each.transport.abort()

    @contextlib.asynccontextmanager
    async def running(self) -> "AsyncIterator[Proxy]":
        listener = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = listener.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            listener.close()
            self.kill()
            if self.ways:
                await asyncio.wait(self.ways)

    def url(self, scheme: str = "http") -> str:
        return f"{scheme}://127.0.0.1:{self.port}/acp"

