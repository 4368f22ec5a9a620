"""The remote transports, Streamable HTTP and WebSocket: without I/O, and as an ASGI application.

    app = libacp.http.asgi(agent)

serves an `libacp.aio.Agent` in any ASGI server; `libacp.aio.connect` connects a client to a remote agent. `Server` and
`Client` are the state machines below both. The specification of these transports is a draft.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._native import Client, Server
from ._types import (
    Attached,
    ClientLimits,
    ClientOptions,
    ClientTimes,
    Closed,
    ClosedWhy,
    Connected,
    Detached,
    Gap,
    Lost,
    Refused,
    Report,
    Retrying,
    ServerLimits,
    ServerOptions,
    ServerTimes,
    Silent,
    TransportEvent,
    Unauthorized,
    Violation,
)

if TYPE_CHECKING:
    from ._asgi import App as App
    from ._asgi import asgi as asgi

__all__ = [
    "App",
    "Attached",
    "Client",
    "ClientLimits",
    "ClientOptions",
    "ClientTimes",
    "Closed",
    "ClosedWhy",
    "Connected",
    "Detached",
    "Gap",
    "Lost",
    "Refused",
    "Report",
    "Retrying",
    "Server",
    "ServerLimits",
    "ServerOptions",
    "ServerTimes",
    "Silent",
    "TransportEvent",
    "Unauthorized",
    "Violation",
    "asgi",
]


def __getattr__(name: str) -> object:
    # `libacp.aio` stands on this, and the application on `libacp.aio`.
    if name in ("App", "asgi"):
        from . import _asgi

        return getattr(_asgi, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
