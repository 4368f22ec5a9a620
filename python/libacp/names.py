"""The names of libacp's states and kinds, as types for annotations. Not needed at run time."""

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
    """The modes of a session; the list is ``None`` if it was not reported, or exceeds the limits of the connection."""

    currentModeId: str
    """The id of the current mode."""
    availableModes: "Optional[List[_types.v1.SessionMode]]"
    """The modes that the session offers."""


class ToolCallState(TypedDict):
    """The status of a tool call."""

    toolCallId: str
    """The id of the tool call."""
    status: str
    """``pending``, ``in_progress``, ``completed`` or ``failed``; in version 1 also ``cancelled``, if this side is the
    client and has cancelled the turn. Version 2 also has ``cancelled``, ``paused`` and custom statuses.
    """


class DisplayTerminal(TypedDict):
    """A terminal that the agent runs and the client displays (version 2)."""

    terminalId: str
    """The id of the terminal."""
    exited: bool
    """Whether its command has ended."""


class Cancellable(TypedDict):
    """The tool calls and terminals that the client may cancel now, by id (version 2)."""

    toolCalls: List[str]
    """The ids of the tool calls."""
    terminals: List[str]
    """The ids of the terminals."""


class PermissionDecision(TypedDict):
    """What a `PermissionPolicy` decided about one request for permission."""

    action: Literal["allow", "deny", "ask"]
    """What to do. ``ask`` leaves the request to the user; without anybody to ask, reject it."""
    optionId: Optional[str]
    """The option to answer with; ``None`` where the user decides, and where no option rejects."""
    rule: Optional[str]
    """The rule that decided, as a JSON pointer into the policy; ``None`` if no rule is about it."""
    reason: str
    """Why, in one sentence that contains nothing of the agent's."""
    sessionId: Optional[str]
    """The session of the request."""
    toolCallId: Optional[str]
    """The tool call, if the request names one."""


class SessionSnapshot(TypedDict):
    """The result of ``Connection.session_snapshot``. ``None`` means that nothing was reported, or more than the limits
    of the connection allow.

    In version 2, the items of lists that the agent reports have the types of ``libacp.types.v2``.
    """

    state: SessionState
    """How far the session is opened."""
    turn: Turn
    """Whether the agent is working."""
    stopReason: Optional[str]
    """The latest stop reason that the agent reported (version 2)."""
    error: "Optional[_types.v2.Error]"
    """The error, if the stop reason is ``error`` (version 2)."""
    background: "Optional[List[_types.v2.BackgroundWork]]"
    """The background work; ``None`` if the agent does not list it (version 2)."""
    terminals: Dict[str, bool]
    """The open terminals by id; the value says whether the command has ended."""
    cwd: Optional[str]
    """The working directory."""
    roots: List[str]
    """The working directory and the additional directories."""
    modes: Optional[SessionModes]
    """The modes."""
    configOptions: "Optional[List[_types.v1.SessionConfigOption]]"
    """The config options with their values."""
    toolCalls: List[ToolCallState]
    """The tool calls, oldest first."""
    displayTerminals: List[DisplayTerminal]
    """The terminals that the agent runs, oldest first (version 2)."""
    cancellable: Cancellable
    """The tool calls and terminals that the client may cancel now (version 2)."""
    plan: "Optional[List[_types.v1.PlanEntry]]"
    """The entries of the plan."""
    planIds: List[str]
    """The ids of the plans that have one."""
    commands: "Optional[List[_types.v1.AvailableCommand]]"
    """The slash commands."""
    openCompactions: List[str]
    """The ids of the compactions that have not ended."""
    authUncertain: bool
    """Whether the user has logged out since the session was opened, so that it may require a login."""
    parent: Optional[str]
    """The id of the parent session; ``None`` for a session that the client opened."""
    mayCancel: bool
    """Whether the client may cancel the work of the session: always, except for a child session that does not allow it.
    """


class LoginMethod(TypedDict):
    """A login method that can be used."""

    methodId: str
    """The id of the login method."""
    kind: LoginKind
    """``agent`` if ``authenticate`` asks the agent to log in, ``terminal`` if the client runs the login in a terminal.
    In version 2 also ``custom`` for an extension type, which ``auth/login`` asks for, and ``unknown`` for a type
    that is newer than this library.
    """


class ProviderState(TypedDict):
    """A model provider that the agent listed."""

    providerId: str
    """The id of the provider."""
    enabled: bool
    """Whether the provider is enabled."""


class ConnectionSnapshot(TypedDict):
    """The result of ``Connection.snapshot``."""

    phase: Phase
    """The phase of the connection."""
    version: Optional[int]
    """The agreed protocol version; ``None`` before it is agreed."""
    login: Login
    """Whether the agent requires a login, as far as is known."""
    loginMethods: List[LoginMethod]
    """The login methods that can be used, in the agent's order."""
    openElicitations: List[str]
    """The ids of elicitations in url mode that have not been completed."""
    providers: List[ProviderState]
    """The model providers that the agent listed last (draft)."""
