"""The names that libacp gives to states and kinds, as types for annotations. Nothing here is needed at run time."""

from typing import Literal, Union

from ._native import Advice, Answered, Cancel, Closed, Notification, Request, Response, Violation

Id = Union[int, str, None]
Role = Literal["client", "agent"]
Framing = Literal["lines", "content-length", "messages"]
Policy = Literal["tolerant", "strict", "off"]
Severity = Literal["note", "warning", "error"]
Level = Literal["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY"]
Phase = Literal["start", "initializing", "ready", "closed"]
Timing = Literal["turn", "replay", "idle", "none"]
Outcome = Literal["result", "error", "invalid", "timeout", "closed"]
Consequence = Literal["delivered", "dropped", "refused"]
CloseReason = Literal["end_of_stream", "host", "version"]
SessionState = Literal["loading", "resuming", "ready"]
Turn = Literal["idle", "running", "cancelling"]
MisuseKind = Literal["phase", "method", "capability", "params", "session", "id", "limit"]
Event = Union[Request, Notification, Response, Cancel, Answered, Violation, Advice, Closed]
