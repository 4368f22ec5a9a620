"""What W7 and W8 have in common: uvicorn in this process, on sockets of the system's."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Any, AsyncIterator

import uvicorn

# Files of W8, each of which takes a request of HTTP as well.
READS = 2_000


@contextlib.asynccontextmanager
async def served(app: Any) -> AsyncIterator[str]:
    """Serves an ASGI application; what comes after the scheme of its address."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_level="error", lifespan="on", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    serving = asyncio.ensure_future(server.serve(sockets=[listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
