"""The names that libacp gives to states and kinds, as types for annotations. Nothing here is needed at run time."""

from typing import Dict, List, Literal, Optional, TypedDict, Union

from . import types as _types
from ._native import Advice, Answered, Cancel, Closed, LateResponse, Notification, Request, Response, Violation

Id = Union[int, str, None]
Role = Literal["client", "agent"]
Framing = Literal["lines", "content-length", "messages"]
Policy = Literal["tolerant", "strict", "off"]
Severity = Literal["note", "warning", "error"]
Level = Literal["MUST", "MUST NOT", "SHOULD", "SHOULD NOT", "MAY"]
Phase = Literal["start", "initializing", "ready", "closed"]
Timing = Literal["turn", "replay", "idle", "none"]
Outcome = Literal["result", "error", "invalid", "timeout", "cancelled", "closed"]
Consequence = Literal["delivered", "dropped", "refused"]
CloseReason = Literal["end_of_stream", "host", "version"]
SessionState = Literal["loading", "resuming", "ready"]
Turn = Literal["idle", "running", "cancelling", "requires_action"]
RetryClass = Literal["safe", "key", "never"]
Login = Literal["unknown", "required", "done"]
LoginKind = Literal["agent", "terminal", "custom", "unknown"]
MisuseKind = Literal["phase", "method", "capability", "params", "session", "id", "limit"]
Event = Union[Request, Notification, Response, LateResponse, Cancel, Answered, Violation, Advice, Closed]


class SessionModes(TypedDict):
    """The modes of a session; the list is ``None`` when it was not told, or is longer than what is kept."""

    currentModeId: str
    availableModes: "Optional[List[_types.v1.SessionMode]]"


class ToolCallState(TypedDict):
    """How far a tool call is."""

    toolCallId: str
    status: str
    """``pending``, ``in_progress``, ``completed`` or ``failed``; ``cancelled`` in version 1 only where this side is the
    client and has cancelled the turn. Version 2 has ``paused`` and statuses of the agent's own as well."""


class DisplayTerminal(TypedDict):
    """A terminal that the agent runs (version 2)."""

    terminalId: str
    exited: bool
    """Whether its command has ended."""


class Cancellable(TypedDict):
    """What the client may cancel now, by its ids (version 2)."""

    toolCalls: List[str]
    terminals: List[str]


class SessionSnapshot(TypedDict):
    """What ``Connection.session_snapshot`` gives; ``None`` says that the session has told of none, or of too many.

    With version 2 of the protocol, the items of the lists that the agent tells of are those of ``libacp.types.v2``.
    """

    state: SessionState
    turn: Turn
    stopReason: Optional[str]
    """Why the work has ended, as the agent told it last (version 2)."""
    error: "Optional[_types.v2.Error]"
    """What failed, where the stop reason is ``error`` (version 2)."""
    background: "Optional[List[_types.v2.BackgroundWork]]"
    """What runs beside the foreground work; ``None`` where the agent does not say (version 2)."""
    terminals: Dict[str, bool]
    """Open terminals, and whether the command of each has ended."""
    cwd: Optional[str]
    roots: List[str]
    """The working directory and the others."""
    modes: Optional[SessionModes]
    configOptions: "Optional[List[_types.v1.SessionConfigOption]]"
    toolCalls: List[ToolCallState]
    """Oldest first."""
    displayTerminals: List[DisplayTerminal]
    """Those that the agent runs in version 2, oldest first."""
    cancellable: Cancellable
    plan: "Optional[List[_types.v1.PlanEntry]]"
    planIds: List[str]
    """Plans that have an id."""
    commands: "Optional[List[_types.v1.AvailableCommand]]"
    openCompactions: List[str]
    """Compactions that have not ended."""
    authUncertain: bool
    """The user has logged out since it was opened, so that it may fail for want of a login."""
    parent: Optional[str]
    """The session whose agent runs this one below it; `None` for a session that the client opened."""
    mayCancel: bool
    """Whether the client may cancel its work: always, unless it is a child that does not allow it."""


class LoginMethod(TypedDict):
    """A way to log in that can be used."""

    methodId: str
    kind: LoginKind
    """``agent`` where ``authenticate`` asks the agent to do it, ``terminal`` where the client runs it in a terminal. In
    version 2 also ``custom`` for a type of the two sides' own, which ``auth/login`` asks for, and ``unknown`` for one that
    is newer than this library."""


class ProviderState(TypedDict):
    """A model provider that the agent has listed."""

    providerId: str
    enabled: bool


class ConnectionSnapshot(TypedDict):
    """What ``Connection.snapshot`` gives."""

    phase: Phase
    version: Optional[int]
    login: Login
    """Whether the agent works for this user, as far as anything has said."""
    loginMethods: List[LoginMethod]
    """In the agent's order."""
    openElicitations: List[str]
    """Questions that are settled on web pages and have not been yet."""
    providers: List[ProviderState]
    """Those that the agent listed last; a draft."""
