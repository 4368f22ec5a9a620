"""The exceptions of libacp. They can be pickled, compared by their attributes, and caught as :class:`Error`."""

from ._attributes import Attributes
from ._text import error_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from .names import MisuseKind, Outcome


class Error(Exception):
    """The base class of all exceptions of libacp."""


class Misuse(Error):
    """The specification does not allow this call now. Nothing was sent and nothing has changed."""

    __slots__ = Attributes(__name__, "Misuse", "rule message pointer")

    kind: "ClassVar[MisuseKind]"
    """The kind of mistake, the same in every language."""
    rule: str
    """The id of the rule that forbids the call; `libacp.rule` has more about it."""
    message: str
    """What is wrong, what was expected, and what to do instead."""
    pointer: str
    """JSON pointer to the problem in the params or the result of the call; empty if it concerns the whole call."""

    def __init__(self, rule: str, message: str, pointer: str = "") -> None:
        super().__init__(rule, message, pointer)
        self.rule = rule
        self.message = message
        self.pointer = pointer

    def __str__(self) -> str:
        return ": ".join(part for part in (self.rule, self.pointer, self.message) if part)


class PhaseMisuse(Misuse):
    """The call comes too early, too late, or a second time."""

    kind: "ClassVar[MisuseKind]" = "phase"


class MethodMisuse(Misuse):
    """The method does not exist, is not sent by this side, or is not sent in this form."""

    kind: "ClassVar[MisuseKind]" = "method"


class CapabilityMisuse(Misuse):
    """The peer did not advertise a capability that the call requires."""

    kind: "ClassVar[MisuseKind]" = "capability"


class ParamsMisuse(Misuse):
    """Params, a result or an error do not match the schema."""

    kind: "ClassVar[MisuseKind]" = "params"


class SessionMisuse(Misuse):
    """The session is not open on this connection."""

    kind: "ClassVar[MisuseKind]" = "session"


class IdMisuse(Misuse):
    """No open request has the id."""

    kind: "ClassVar[MisuseKind]" = "id"


class LimitMisuse(Misuse):
    """The call would exceed a limit of the configuration."""

    kind: "ClassVar[MisuseKind]" = "limit"


class _ErrorAnswer(Error):
    """An error answer, of either side."""

    __slots__ = Attributes(__name__, "_ErrorAnswer", "code message data")

    code: int
    """The error code; `libacp.ErrorCode` has those of the specification."""
    message: str
    """The error message: one short sentence."""
    data: "Any"
    """Details of the error; ``None`` if there are none."""

    def __init__(self, code: int, message: str, data: "Any" = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return error_text(self.message, self.code, self.data)


class PeerError(_ErrorAnswer):
    """The peer answered a request with an error.

    `str` returns the message, the code, and the text in `data` (its ``details`` or ``message``), shortened if it is
    long and with control characters escaped. The attributes have the original values.
    """


class NoResult(Error):
    """A request ended without a valid answer."""

    __slots__ = Attributes(__name__, "NoResult", "outcome method")

    outcome: "Outcome"
    """How the request ended: ``invalid``, ``timeout``, ``cancelled`` or ``closed``."""
    method: str
    """The method of the request."""

    def __init__(self, outcome: "Outcome", method: str) -> None:
        super().__init__(outcome, method)
        self.outcome = outcome
        self.method = method

    def __str__(self) -> str:
        return f"{self.method}: {_OUTCOMES.get(self.outcome, self.outcome)}"


_OUTCOMES = {
    "invalid": "the answer cannot be used",
    "timeout": "no answer came in time",
    "cancelled": "it was cancelled, and no answer came in time",
    "closed": "the connection was over before an answer came",
}
