"""The exceptions of libacp. They can be pickled, compared by their attributes, and caught as :class:`Error`."""

from ._attributes import Attributes
from ._text import error_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar

    from .names import MisuseKind, Outcome


class Error(Exception):
    """What all exceptions of libacp are."""


class Misuse(Error):
    """The host asked for something that the specification forbids now. Nothing was sent and nothing has changed."""

    __slots__ = Attributes(__name__, "Misuse", "rule message pointer")

    kind: "ClassVar[MisuseKind]"
    """What kind of mistake it is, the same in every language."""
    rule: str
    """The rule that forbids it, as listed in the rule catalogue."""
    message: str
    """What is wrong, what was expected, and what to do instead."""
    pointer: str
    """JSON pointer into the params or result that the host passed; empty when it is about the call as a whole."""

    def __init__(self, rule: str, message: str, pointer: str = "") -> None:
        super().__init__(rule, message, pointer)
        self.rule = rule
        self.message = message
        self.pointer = pointer

    def __str__(self) -> str:
        return ": ".join(part for part in (self.rule, self.pointer, self.message) if part)


class PhaseMisuse(Misuse):
    """Too early, too late, or twice."""

    kind: "ClassVar[MisuseKind]" = "phase"


class MethodMisuse(Misuse):
    """No such method, or not from this side, or not in this form."""

    kind: "ClassVar[MisuseKind]" = "method"


class CapabilityMisuse(Misuse):
    """The peer did not advertise what this needs."""

    kind: "ClassVar[MisuseKind]" = "capability"


class ParamsMisuse(Misuse):
    """Params, a result or an error that do not fit the model."""

    kind: "ClassVar[MisuseKind]" = "params"


class SessionMisuse(Misuse):
    """A session that is not open on this connection."""

    kind: "ClassVar[MisuseKind]" = "session"


class IdMisuse(Misuse):
    """An id that names no open request."""

    kind: "ClassVar[MisuseKind]" = "id"


class LimitMisuse(Misuse):
    """A limit of the configuration."""

    kind: "ClassVar[MisuseKind]" = "limit"


class _ErrorAnswer(Error):
    """What an error answer says, whichever side gives it."""

    __slots__ = Attributes(__name__, "_ErrorAnswer", "code message data")

    code: int
    """Its code; `libacp.ErrorCode` has the specification's by name, and there are others."""
    message: str
    """Its message: one short sentence."""
    data: "Any"
    """More about it, ``None`` without any."""

    def __init__(self, code: int, message: str, data: "Any" = None) -> None:
        super().__init__(code, message, data)
        self.code = code
        self.message = message
        self.data = data

    def __str__(self) -> str:
        return error_text(self.message, self.code, self.data)


class PeerError(_ErrorAnswer):
    """The peer answered a request with an error.

    As a string, it is the message, the code, and what `data` says in words (as ``details`` or ``message``), cut where it
    is long; control characters are shown, and do nothing. The attributes have it as it came.
    """


class NoResult(Error):
    """A request ended without an answer that can be used."""

    __slots__ = Attributes(__name__, "NoResult", "outcome method")

    outcome: "Outcome"
    """How it ended: ``invalid``, ``timeout``, ``cancelled`` or ``closed``."""
    method: str
    """The method that was called."""

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
