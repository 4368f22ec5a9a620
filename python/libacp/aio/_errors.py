"""The exceptions of `libacp.aio`, in addition to those of `libacp`."""

from __future__ import annotations

import signal
from typing import TYPE_CHECKING, Optional, Sequence, Tuple

import libacp

from .._attributes import Attributes
from .._errors import NoResult, _ErrorAnswer
from .._text import printable

if TYPE_CHECKING:
    from ..http import ClosedWhy


class RequestError(_ErrorAnswer):
    """A handler raises this to answer its request with an error.

    Any other exception of a handler is logged, and the request is answered with an internal error without details. That
    includes a `PeerError` of another connection, which is why the two are separate classes.
    """


class AgentEnded(NoResult):
    """The agent's process ended before it answered."""

    __slots__ = Attributes(__name__, "AgentEnded", "returncode stderr")

    returncode: Optional[int]
    """The return code, as in `asyncio.subprocess`; ``None`` if the agent only closed its output."""

    stderr: Tuple[str, ...]
    """The last lines, at most 20, that the agent printed to standard error, unchanged. Empty if the `stderr` argument
    of `spawn_agent` sends them elsewhere than to this process or to a function.
    """

    def __init__(self, method: str, returncode: Optional[int], stderr: Sequence[str] = ()) -> None:
        super().__init__("closed", method)
        self.returncode = returncode
        self.stderr = tuple(stderr)

    def __reduce__(self) -> "tuple[type[AgentEnded], tuple[str, Optional[int], Tuple[str, ...]]]":
        return AgentEnded, (self.method, self.returncode, self.stderr)

    def __str__(self) -> str:
        said = "".join(f"\n  {printable(line)}" for line in self.stderr)
        last = f"; its last lines of stderr:{said}" if said else ""
        return f"{self.method}: the agent {_how(self.returncode)} before it answered{last}"


class OutcomeUnknown(NoResult):
    """The connection to a remote agent was lost before it answered. Whether it has done what was asked is unknown
    (`HTTP-18`). The conversation itself may go on, on another connection.
    """

    def __init__(self, method: str) -> None:
        super().__init__("closed", method)

    def __reduce__(self) -> "tuple[type[OutcomeUnknown], tuple[str]]":
        return OutcomeUnknown, (self.method,)

    def __str__(self) -> str:
        return f"{self.method}: the connection was lost before an answer came; its outcome is unknown"


class RemoteEnded(NoResult):
    """The conversation with a remote agent is over, or could not begin. The exception's cause is what went wrong with the
    network, if something did.
    """

    __slots__ = Attributes(__name__, "RemoteEnded", "why status")

    why: ClosedWhy
    """Why it is over."""
    status: Optional[int]
    """The status that the server sent, if it sent one."""

    def __init__(self, method: str, why: ClosedWhy, status: Optional[int] = None) -> None:
        super().__init__("closed", method)
        self.why = why
        self.status = status

    def __reduce__(self) -> "tuple[type[RemoteEnded], tuple[str, ClosedWhy, Optional[int]]]":
        return RemoteEnded, (self.method, self.why, self.status)

    def __str__(self) -> str:
        status = "" if self.status is None else f" (status {self.status})"
        # Such as a certificate that is not trusted.
        reason = str(self.__cause__ or "") if self.why == "unreachable" else ""
        return f"{self.method}: {_WHY[self.why]}{status}" + (f": {reason}" if reason else "")


_WHY = {
    "host": "the connection was closed",
    "not-initialized": "the agent refused to begin",
    "not-served": "the server does not speak this transport",
    "refused": "the server refused the connection",
    "unreachable": "the server cannot be reached",
    "protocol": "the server broke the protocol",
}


def _how(returncode: Optional[int]) -> str:
    if returncode is None:
        return "closed its output"
    if returncode < 0:
        try:
            return f"was killed by {signal.Signals(-returncode).name}"
        except ValueError:
            return f"was killed by the signal {-returncode}"
    return f"ended with the status {returncode}"


def no_session() -> RequestError:
    """The answer to a request about a session that is not open, or not any more."""
    return RequestError(libacp.ErrorCode.RESOURCE_NOT_FOUND, "There is no such session")


def no_handler(method: str) -> RequestError:
    """The answer to a request that has no handler."""
    return RequestError(libacp.ErrorCode.METHOD_NOT_FOUND, "Method not found", {"method": method})
