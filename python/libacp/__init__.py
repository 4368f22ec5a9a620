"""libacp: the Agent Client Protocol without I/O.

A :class:`Connection` is one side of a connection to one peer. Pass in bytes with ``receive_data``, take events out with
``next_event``, and take out the bytes for the peer with ``data_to_send``; the host does the reading and writing.
:mod:`libacp.aio` does it on asyncio, and is imported when it is first used.
"""

from ._errors import (
    CapabilityMisuse,
    Error,
    IdMisuse,
    LimitMisuse,
    MethodMisuse,
    Misuse,
    NoResult,
    ParamsMisuse,
    PeerError,
    PhaseMisuse,
    SessionMisuse,
)
from ._native import (
    DRAFTS,
    Advice,
    Answered,
    Cancel,
    Closed,
    Config,
    Connection,
    ErrorCode,
    Events,
    LateResponse,
    Limits,
    Notification,
    Observer,
    ObserverEvents,
    OpenRequest,
    PermissionPolicy,
    RawJson,
    Request,
    Response,
    Rule,
    Session,
    TerminalRef,
    Violation,
    __version__,
    cut_output,
    rule,
)
from ._text import printable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import aio as aio
    from . import http as http
    from . import view as view
    from .names import Event
    from .view import View

__all__ = [
    "DRAFTS",
    "Advice",
    "Answered",
    "Cancel",
    "CapabilityMisuse",
    "Closed",
    "Config",
    "Connection",
    "Error",
    "ErrorCode",
    "Event",
    "Events",
    "IdMisuse",
    "LateResponse",
    "LimitMisuse",
    "Limits",
    "MethodMisuse",
    "Misuse",
    "NoResult",
    "Notification",
    "Observer",
    "ObserverEvents",
    "OpenRequest",
    "ParamsMisuse",
    "PeerError",
    "PermissionPolicy",
    "PhaseMisuse",
    "RawJson",
    "Request",
    "Response",
    "Rule",
    "Session",
    "SessionMisuse",
    "TerminalRef",
    "View",
    "Violation",
    "__version__",
    "cut_output",
    "printable",
    "rule",
]


def __getattr__(name: str) -> object:
    # `typing` takes longer to import than all of this package, and most programs do without it.
    if name == "Event":
        from .names import Event

        return Event
    if name == "View":
        from .view import View

        return View
    # So do `asyncio` and all that stands on it.
    if name in ("aio", "http", "view"):
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
