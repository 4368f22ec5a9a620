# What `libacp._native` has. `python/tests/stub_docs.py` writes the docstrings, which are those of the module.
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Final, Literal, final

from ._errors import Misuse, PeerError
from .http._said import Action, Frame, Headers, ServerEvent, Step
from .http._types import ClientOptions, ServerOptions
from .names import (
    CloseReason,
    ConnectionSnapshot,
    Consequence,
    Event,
    Framing,
    Id,
    Level,
    Login,
    LoginMethod,
    Outcome,
    PermissionDecision,
    Phase,
    Policy,
    ProviderState,
    RetryClass,
    Role,
    SessionSnapshot,
    SessionState,
    Severity,
    Timing,
    ToolCallState,
    Turn,
)
from .types import v1, v2
from .views import ViewChanges, ViewContent, ViewSnapshot

__all__ = [
    "DRAFTS",
    "Advice",
    "Answered",
    "Budget",
    "Cancel",
    "Client",
    "Closed",
    "Config",
    "Connection",
    "ErrorCode",
    "Events",
    "FileOperation",
    "Files",
    "LateResponse",
    "Limits",
    "Notification",
    "Observer",
    "ObserverEvents",
    "OpenRequest",
    "PermissionPolicy",
    "RawJson",
    "Request",
    "Response",
    "Rule",
    "Server",
    "Session",
    "TerminalRef",
    "Violation",
    "__version__",
    "cut_output",
    "offers",
    "rule",
    "why_no_handler",
]

__version__: Final[str]
"""The version of the package."""
DRAFTS: Final[tuple[str, ...]]
"""The names of the drafts that a connection can enable."""

def rule(id: str) -> Rule | None:
    """Returns the rule with this id, such as `PERM-02`, as events and exceptions have it; `None` for an unknown
    id.
    """
def cut_output(output: str, byte_limit: int) -> v1.TerminalOutputResponse:
    """Truncates the output of a command to the `outputByteLimit` of `terminal/create` (`TERM-08`).

    The output is cut from the front, never inside of a character. `byte_limit` is in bytes of UTF-8.

    Returns the result for `terminal/output`: a dict with `output` and `truncated`, to which the host adds the
    exit status.
    """
def why_no_handler(config: Config, method: str, stated: Mapping[str, object], /) -> str | None:
    """Returns why a handler of a method would never be called, whatever other handlers there are, by a host that
    states these capabilities; `None` if it may be.
    """
def offers(
    config: Config, handlers: Iterable[str], stated: Mapping[str, object], /
) -> tuple[dict[str, Any] | None, tuple[str, str] | None]:
    """Returns the capabilities, in the form of version 1, of a host with handlers for these methods that states
    these capabilities; and what is wrong with them in place of that: a method and a message.
    """

@final
class ErrorCode:
    """The error codes of the specification, and those of JSON-RPC."""
    PARSE_ERROR: Final[int]
    """-32700: the text is not valid JSON."""
    INVALID_REQUEST: Final[int]
    """-32600: the message is not a valid request, or is not allowed in the current state."""
    METHOD_NOT_FOUND: Final[int]
    """-32601: the method does not exist or is not supported."""
    INVALID_PARAMS: Final[int]
    """-32602: the params are invalid."""
    INTERNAL_ERROR: Final[int]
    """-32603: the side that answers has failed."""
    REQUEST_CANCELLED: Final[int]
    """-32800: the request was cancelled."""
    AUTH_REQUIRED: Final[int]
    """-32000: a login is required first."""
    RESOURCE_NOT_FOUND: Final[int]
    """-32002: a resource, such as a session or a file, does not exist."""
    UNSUPPORTED_PROTOCOL_VERSION: Final[int]
    """-32022: there is no common protocol version (version 2)."""
    @staticmethod
    def message(code: int) -> str:
        """Returns the usual short message for an error code."""

@final
class FileOperation:
    """An operation of `Files.read` or `Files.write`, which runs once."""
    def run(self) -> tuple[str | None, int | None, str | None]:
        """Waits for earlier operations (a read for writes, a write for reads and writes), then runs this one.

        Returns the text of the file, the error code and the error message; each is `None` if there is none.
        """
    def forget(self) -> None:
        """Gives up the operation if it has not begun. Later ones wait for it otherwise, for as long as this object
        lives.
        """

@final
class Files:
    """The text files of one session, confined to its roots. Internal: clients use `libacp.aio.Files`, which is
    built on it.

    The roots are opened now and keep referring to the same directories even if they are renamed; a root that
    does not exist allows nothing. `read` and `write` return an operation immediately; run it on another thread.

    Arguments:
        `roots`: absolute paths of directories.
        `most`: maximum size of a file, in bytes.
        `may`: called on the thread that runs an operation, once per file, with the path relative to its root,
            whether it is to be written, and the root; returns whether that is allowed. By default `guarded`.
    """
    guards: Final[tuple[tuple[str, ...], tuple[str, ...]]]
    """The directories that `guarded` does not allow to be written into, and the files that editors run."""
    def __new__(
        cls,
        roots: Sequence[str | PathLike[str]],
        *,
        most: int,
        may: Callable[[str, bool, str], bool] | None = None,
    ) -> Files: ...
    @property
    def roots(self) -> list[Any]:
        """The roots that exist, with all links resolved."""
    def read(self, path: str, line: int | None, limit: int | None) -> FileOperation:
        """Returns an operation that reads a file, from `line` (from 1) and at most `limit` lines; `None` for the
        whole file.
        """
    def write(self, path: str, text: str) -> FileOperation:
        """Returns an operation that writes a file."""
    @staticmethod
    def guarded(path: str, writing: bool, root: str) -> bool:
        """The default for `may`: whether a path may be read or written."""

@final
class Budget:
    """So much may be taken at a time; who wants more waits, in order. What is more than all of it goes alone."""
    def __new__(cls, most: int | None = None, /) -> Budget: ...
    def ask(self, request: int, amount: int, /) -> bool:
        """Asks for a share for the request with this number. Returns whether it is there; if not, the request
        waits for `poll`.
        """
    def release(self, request: int, /) -> None:
        """Gives a share back, or stops waiting for one."""
    def poll(self) -> int | None:
        """The number of the next request that waited and has its share now; `None` if there is none. Ask until
        there is none.
        """

@final
class PermissionPolicy:
    """Rules that decide requests for permission (PERM-06): allow, deny or ask, by the kind of the tool, its name
    and its paths. The first rule that fits decides.

    A rule has an `action` (`allow`, `deny` or `ask`) and, all of which must fit: `kind`, a kind of tools or a
    list; `tool`, a pattern for the tool's name or a list, with `*` and `?`; `path`, a pattern for its paths or
    a list, whose steps are compared one by one, with `**` for any number of them; `inRoots`, whether the paths
    are inside of the session's directories. A rule that allows by path fits no command, and no tool call that
    tells no path.

    The paths are what the agent says. So a policy saves the user questions, and holds no malicious agent.

    Arguments:
        `policy`: a dict, or JSON text, with `rules`, a list, and `otherwise`, the action if no rule fits (`ask`).

    Raises:
        ValueError: for what is no policy, with the place and what was expected there.
    """
    def __new__(cls, policy: str | Mapping[str, object], /) -> PermissionPolicy: ...
    def decide(self, connection: Connection, params: Mapping[str, Any], /) -> PermissionDecision:
        """Decides a `session/request_permission` that a client's connection has received. It sends nothing.

        Only an option for this one call is chosen to allow it (`allow_once`); to deny it, `reject_once` before
        `reject_always`. With a view (`Connection(view=True)`), the policy knows what was told of the tool call
        before; without one, it knows the request alone.

        Arguments:
            `connection`: the connection of the client.
            `params`: the params of the request.

        Returns:
            what to do, and why. Without an `optionId`, a request that is denied is answered with the outcome `cancelled`,
            and one that is to be asked about is for the user.
        """
    @property
    def decisions(self) -> list[PermissionDecision]:
        """The last 256 decisions, oldest first."""

@final
class RawJson:
    """JSON text that is passed in place of an object: `connection.request(method, RawJson(text))`."""
    def __new__(cls, text: str | bytes, /) -> RawJson: ...
    @property
    def text(self) -> str:
        """The JSON text."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[RawJson], tuple[str]]: ...

@final
class Limits:
    """Limits on the resources that a peer can make a connection use."""
    def __new__(
        cls,
        frame: int = 33_554_432,
        depth: int = 128,
        pending: int = 1024,
        sessions: int = 10_000,
        terminals: int = 1024,
        remembered: int = 4096,
        view_entries: int = 4096,
        view_bytes: int = 16_777_216,
        view_content: int = 4_194_304,
        view_output: int = 1_048_576,
    ) -> Limits: ...
    @property
    def frame(self) -> int:
        """Maximum size of one frame, in bytes."""
    @property
    def depth(self) -> int:
        """Maximum nesting depth of arrays and objects in one frame."""
    @property
    def pending(self) -> int:
        """Maximum number of open requests in each direction, and of entries in one batch."""
    @property
    def sessions(self) -> int:
        """Maximum number of sessions that are tracked at once."""
    @property
    def terminals(self) -> int:
        """Maximum number of terminals that are tracked per session."""
    @property
    def remembered(self) -> int:
        """Maximum number of other items of one kind that are tracked per session: tool calls, plans, compactions,
        modes.
        """
    @property
    def view_entries(self) -> int:
        """Maximum number of complete entries in a view, and of stubs."""
    @property
    def view_bytes(self) -> int:
        """Maximum size of a session's view, in bytes. All views together may have 16 times as much."""
    @property
    def view_content(self) -> int:
        """Maximum size of one content in a view, in bytes: a message, the items of a tool call, its raw input."""
    @property
    def view_output(self) -> int:
        """Maximum size of a terminal's output in a view, in bytes; at least the last half of that is kept."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Limits], tuple[int, int, int, int, int, int, int, int, int, int]]: ...

@final
class Config:
    """The configuration of a connection, as `Connection.config` returns it."""
    @property
    def role(self) -> Role:
        """The role of the host: `client` or `agent`."""
    @property
    def framing(self) -> Framing:
        """How messages are separated: `lines`, `content-length` or `messages`."""
    @property
    def policy(self) -> Policy:
        """How messages of the peer that break a rule are handled: `tolerant`, `strict` or `off`."""
    @property
    def policies(self) -> dict[Severity, Policy]:
        """The policies that replace `policy` for rules of one severity (`note`, `warning` or `error`); see
        `Rule.severity`.
        """
    @property
    def limits(self) -> Limits:
        """The limits of the connection."""
    @property
    def versions(self) -> tuple[int, ...]:
        """The protocol versions that may be agreed on, oldest first."""
    @property
    def drafts(self) -> tuple[str, ...]:
        """The names of the enabled drafts."""
    @property
    def timeout(self) -> int | None:
        """Milliseconds after which a request that the host sends fails, unless the call gives its own timeout;
        `None` for no timeout.
        """
    @property
    def cancel_grace(self) -> int | None:
        """Milliseconds that the peer has to answer a request after it was cancelled; `None` for no limit."""
    @property
    def reminder(self) -> int | None:
        """Milliseconds after which an `Advice` reminds the host, once, of a request that it has not answered;
        `None` for no reminders.
        """
    @property
    def prompt_queueing(self) -> bool:
        """Whether a session may have several open prompts, for agents that queue prompts (`TURN-03`)."""
    @property
    def foreign_methods(self) -> tuple[str, ...]:
        """Methods that are sent and delivered although the specification does not define them and they do not
        begin with an underscore (`EXT-07`).
        """
    @property
    def view(self) -> bool:
        """Whether a view of each session is kept."""
    def __eq__(self, value: object, /) -> bool: ...

@final
class Rule:
    """One rule of the rule catalogue."""
    __match_args__: Final = ("id", "level", "severity")
    @property
    def id(self) -> str:
        """The id of the rule, such as `PERM-02`."""
    @property
    def level(self) -> Level:
        """The level of the requirement: `MUST`, `MUST NOT`, `SHOULD`, `SHOULD NOT` or `MAY`."""
    @property
    def severity(self) -> Severity:
        """How serious it is when a peer breaks the rule: `note`, `warning` or `error`."""
    @property
    def send(self) -> bool:
        """Whether the rule is checked in the host's calls."""
    @property
    def receive(self) -> bool:
        """Whether the rule is checked in the peer's messages."""
    @property
    def track(self) -> bool:
        """Whether the connection keeps the state that the rule describes, or acts as it says."""
    @property
    def text(self) -> str:
        """What the rule says."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class OpenRequest:
    """A request that has not been answered."""
    __match_args__: Final = ("method", "id")
    @property
    def id(self) -> Id:
        """The id of the request."""
    @property
    def serial(self) -> int:
        """The serial number of the request, unique on this connection; see `Request.serial`."""
    @property
    def method(self) -> str:
        """The method of the request."""
    @property
    def session(self) -> str | None:
        """The session id in the params; `None` if there is none."""
    @property
    def cancelled(self) -> bool:
        """Whether its sender has asked to cancel it."""
    @property
    def deadline(self) -> int | None:
        """When a request of the host times out, or when the host is reminded of a request of the peer:
        milliseconds on the host's clock, or `None` for never.
        """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Session:
    """The state of one session."""
    __match_args__: Final = ("state", "turn")
    @property
    def state(self) -> SessionState:
        """How far the session is opened: `loading`, `resuming` or `ready`."""
    @property
    def turn(self) -> Turn:
        """Whether the agent is working: `idle`, `running`, `requires_action` or `cancelling`."""
    @property
    def terminals(self) -> dict[str, bool]:
        """The open terminals by id; the value says whether the command has ended."""
    def __eq__(self, value: object, /) -> bool: ...

@final
class TerminalRef:
    """The id of a terminal together with its session."""
    __match_args__: Final = ("session", "terminal")
    def __new__(cls, session: str, terminal: str) -> TerminalRef: ...
    @property
    def session(self) -> str:
        """The id of the session."""
    @property
    def terminal(self) -> str:
        """The id of the terminal, which is unique in its session."""
    def __eq__(self, value: object, /) -> bool: ...
    def __lt__(self, value: TerminalRef, /) -> bool: ...
    def __le__(self, value: TerminalRef, /) -> bool: ...
    def __gt__(self, value: TerminalRef, /) -> bool: ...
    def __ge__(self, value: TerminalRef, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[TerminalRef], tuple[str, str]]: ...

@final
class Request:
    """The peer sent a request. Answer it with `Connection.respond` or `Connection.respond_error`."""
    __match_args__: Final = ("method", "params", "id")
    def __new__(
        cls, method: str, params: object = None, id: Id = None, session: str | None = None, serial: int = 0
    ) -> Request: ...
    @property
    def method(self) -> str:
        """The method that the peer called."""
    @property
    def params(self) -> Any:
        """The params, parsed on first access; `{}` if there are none. They match the schema, except for extension
        methods.
        """
    @property
    def params_json(self) -> str:
        """The params as JSON text."""
    @property
    def id(self) -> Id:
        """The id of the request, exactly as sent."""
    @property
    def session(self) -> str | None:
        """The session id in the params; `None` if there is none."""
    @property
    def serial(self) -> int:
        """The serial number of the request, unique on this connection: an integer that the host can use in place
        of the id.
        """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Request], tuple[Any, ...]]: ...

@final
class Notification:
    """The peer sent a notification."""
    __match_args__: Final = ("method", "params")
    def __new__(
        cls,
        method: str,
        params: object = None,
        session: str | None = None,
        update: str | None = None,
        timing: Timing = "none",
        exchange: int | None = None,
    ) -> Notification: ...
    @property
    def method(self) -> str:
        """The method that the peer called."""
    @property
    def params(self) -> Any:
        """The params, parsed on first access; `{}` if there are none. They match the schema, except for extension
        methods.
        """
    @property
    def params_json(self) -> str:
        """The params as JSON text."""
    @property
    def session(self) -> str | None:
        """The session id in the params; `None` if there is none."""
    @property
    def update(self) -> str | None:
        """The type of a `session/update`; `None` for other methods and for types that the library does not know."""
    @property
    def timing(self) -> Timing:
        """When in its session it was sent: during a `turn`, in a `replay` of the history, while `idle`, or `none`
        without a session.
        """
    @property
    def exchange(self) -> int | None:
        """The serial number of the host's open call that it belongs to, the prompt whose work it reports or the
        call whose replay it is; see `OpenRequest.serial`. `None` for others, and on a connection without
        `handlers`.
        """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Notification], tuple[Any, ...]]: ...

@final
class Response:
    """A request that the host sent has ended. Every request ends with exactly one `Response`."""
    __match_args__: Final = ("id", "outcome", "method")
    def __new__(
        cls,
        id: Id,
        outcome: Outcome,
        method: str,
        result: object = None,
        error: PeerError | None = None,
        session: str | None = None,
        serial: int = 0,
    ) -> Response: ...
    @property
    def id(self) -> Id:
        """The id of the request, as `Connection.request` returned it."""
    @property
    def outcome(self) -> Outcome:
        """How the request ended: `result`, `error`, `invalid`, `timeout`, `cancelled` or `closed`."""
    @property
    def method(self) -> str:
        """The method of the request."""
    def result(self) -> Any:
        """Returns the result.

        Raises:
            PeerError: if the peer answered with an error.
            NoResult: if there is no valid answer: the outcome is `invalid`, `timeout`, `cancelled` or `closed`.
        """
    @property
    def result_json(self) -> str | None:
        """The result as JSON text; `None` if there is none."""
    @property
    def error(self) -> PeerError | None:
        """The error with which the peer answered; `None` if there is none."""
    @property
    def session(self) -> str | None:
        """The session id in the request, if there is one."""
    @property
    def serial(self) -> int:
        """The serial number of the request on this connection; see `OpenRequest.serial`."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Response], tuple[Any, ...]]: ...

@final
class LateResponse:
    """The peer answered a request that had already ended with the outcome `timeout` or `cancelled`. A session or
    terminal that the answer opens is open: close or release it if it is no longer wanted.
    """
    __match_args__: Final = ("id", "outcome", "method")
    def __new__(
        cls,
        id: Id,
        outcome: Outcome,
        method: str,
        result: object = None,
        error: PeerError | None = None,
        session: str | None = None,
        serial: int = 0,
    ) -> LateResponse: ...
    @property
    def id(self) -> Id:
        """The id of the request, as `Connection.request` returned it."""
    @property
    def outcome(self) -> Outcome:
        """What the answer is: `result`, `error` or `invalid`."""
    @property
    def method(self) -> str:
        """The method of the request."""
    def result(self) -> Any:
        """Returns the result.

        Raises:
            PeerError: if the peer answered with an error.
            NoResult: if there is no valid answer: the outcome is `invalid`, `timeout`, `cancelled` or `closed`.
        """
    @property
    def result_json(self) -> str | None:
        """The result as JSON text; `None` if there is none."""
    @property
    def error(self) -> PeerError | None:
        """The error with which the peer answered; `None` if there is none."""
    @property
    def session(self) -> str | None:
        """The session id in the request, if there is one."""
    @property
    def serial(self) -> int:
        """The serial number of the request on this connection; see `OpenRequest.serial`."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[LateResponse], tuple[Any, ...]]: ...

@final
class Cancel:
    """The peer asked to cancel one of its requests (`$/cancel_request`). The request must still be answered."""
    __match_args__: Final = ("id", "method")
    def __new__(cls, id: Id, method: str, session: str | None = None, serial: int = 0) -> Cancel: ...
    @property
    def id(self) -> Id:
        """The id of the peer's request."""
    @property
    def method(self) -> str:
        """The method of the request."""
    @property
    def session(self) -> str | None:
        """The session id in the params; `None` if there is none."""
    @property
    def serial(self) -> int:
        """The serial number of the request; see `Request.serial`."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Cancel], tuple[Any, ...]]: ...

@final
class Answered:
    """The connection has answered a request of the peer on behalf of the host. The host must not answer it as
    well, and should close a dialog that it shows for the request.
    """
    __match_args__: Final = ("id", "method", "rule")
    def __new__(cls, id: Id, method: str, rule: str, session: str | None = None, serial: int = 0) -> Answered: ...
    @property
    def id(self) -> Id:
        """The id of the peer's request."""
    @property
    def method(self) -> str:
        """The method of the request."""
    @property
    def rule(self) -> str:
        """The id of the rule that requires this answer."""
    @property
    def session(self) -> str | None:
        """The session id in the params; `None` if there is none."""
    @property
    def serial(self) -> int:
        """The serial number of the request; see `Request.serial`."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Answered], tuple[Any, ...]]: ...

@final
class Violation:
    """The peer broke a rule."""
    __match_args__: Final = ("rule", "message")
    def __new__(
        cls,
        rule: str,
        message: str,
        pointer: str = "",
        method: str | None = None,
        id: Id = None,
        has_id: bool | None = None,
        frame: int = 0,
        excerpt: str = "",
        consequence: Consequence = "dropped",
        code: int | None = None,
        session: str | None = None,
    ) -> Violation: ...
    @property
    def rule(self) -> str:
        """The id of the rule; `libacp.rule` has more about it."""
    @property
    def message(self) -> str:
        """What is wrong, in one sentence."""
    @property
    def pointer(self) -> str:
        """JSON pointer to the problem in the params or the result; empty if it concerns the whole message."""
    @property
    def method(self) -> str | None:
        """The method of the message; `None` if it could not be read."""
    @property
    def id(self) -> Id:
        """The id of the message; `None` if it could not be read or is null, see `has_id`."""
    @property
    def has_id(self) -> bool:
        """Whether an id could be read; it distinguishes a null id from no id."""
    @property
    def session(self) -> str | None:
        """The session id in the message; `None` if none could be read."""
    @property
    def frame(self) -> int:
        """The number of the frame among those that were received on this connection, from 1."""
    @property
    def excerpt(self) -> str:
        """The first bytes of the frame, at most 256, with U+FFFD for invalid UTF-8; empty if it may contain
        secrets (`AUTH-27`).
        """
    @property
    def consequence(self) -> Consequence:
        """What happened to the message: it was `delivered`, `dropped`, or `refused` by an error answer."""
    @property
    def code(self) -> int | None:
        """The error code with which the message was refused; `None` if it was not refused."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Violation], tuple[Any, ...]]: ...

@final
class Advice:
    """A recommendation about the host's own behavior: a message that was sent should have been different, or a
    request of the peer has waited for its answer as long as `reminder` allows (`RPC-15`).
    """
    __match_args__: Final = ("rule", "message")
    def __new__(
        cls,
        rule: str,
        message: str,
        pointer: str = "",
        method: str = "",
        id: Id = None,
        has_id: bool | None = None,
        session: str | None = None,
    ) -> Advice: ...
    @property
    def rule(self) -> str:
        """The id of the rule; `libacp.rule` has more about it."""
    @property
    def message(self) -> str:
        """What should be different, in one sentence."""
    @property
    def pointer(self) -> str:
        """JSON pointer to the place in the params or the result; empty if it concerns the whole message."""
    @property
    def method(self) -> str:
        """The method of the message; for an answer, the method of its request."""
    @property
    def id(self) -> Id:
        """The id of the peer's request, if this is about an answer or a missing answer."""
    @property
    def has_id(self) -> bool:
        """Whether this is about a request of the peer; it distinguishes a null id from no id."""
    @property
    def session(self) -> str | None:
        """The session id in the message; `None` if there is none."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Advice], tuple[Any, ...]]: ...

@final
class Closed:
    """The connection has ended. This is the last event."""
    __match_args__: Final = ("reason",)
    def __new__(
        cls, reason: CloseReason, unanswered: Sequence[Id] = ..., terminals: Sequence[TerminalRef] = ...
    ) -> Closed: ...
    @property
    def reason(self) -> CloseReason:
        """Why the connection ended: `end_of_stream`, `host` (`close` was called) or `version` (no common protocol
        version).
        """
    @property
    def unanswered(self) -> tuple[Id, ...]:
        """The ids of the peer's requests that the host never answered, oldest first."""
    @property
    def terminals(self) -> tuple[TerminalRef, ...]:
        """The terminals that were never released."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Closed], tuple[Any, ...]]: ...

@final
class Events(Iterator[Event]):
    """The iterator that `Connection.events` returns."""
    def __iter__(self) -> Events: ...
    def __next__(self) -> Event: ...

@final
class Connection:
    """One side of a connection to one peer. It does no I/O: the host passes in bytes and the time, and takes out
    events and bytes.

    After each input (bytes, end of stream, time, or a call of the host) take events with `next_event` until it
    returns `None`, write what `data_to_send` returns, then ask `poll_timeout` when to call `handle_timeout`.

    A call while another thread is inside of one raises `RuntimeError` and changes nothing.

    Arguments:
        `role`: the side of the host, `client` or `agent`.
        `framing`: how messages are separated: `lines` (stdio), `content-length`, or `messages` (one per
            call).
        `policy`: how messages of the peer that break a rule are handled: `tolerant`, `strict` or `off`.
        `policies`: a policy for the rules of one severity (`note`, `warning` or `error`) in place of
            `policy`.
        `limits`: limits on what the peer can make the connection use; by default `Limits()`.
        `versions`: the protocol versions that may be agreed on; by default version 1 only.
        `drafts`: the drafts to enable, from `DRAFTS`.
        `timeout`: milliseconds after which a request that the host sends fails; `None` for no timeout.
        `cancel_grace`: milliseconds that the peer has to answer a cancelled request; `None` for no limit.
        `reminder`: milliseconds after which an `Advice` reminds the host of an unanswered request; `None` for
            never.
        `prompt_queueing`: whether a session may have several open prompts (`TURN-03`).
        `foreign_methods`: methods to send and deliver although they are neither specified nor begin with `_`.
        `view`: whether to keep a view of each session, the conversation as a client shows it.
        `handlers`: the methods that the host serves, under their names of version 1, as `libacp.aio` gives them. The
            connection then speaks the methods and shapes of version 1 in both versions; only the updates that a client
            receives stay as they are on the wire. By default every message is that of the agreed version.

    Raises:
        ValueError: for a name or a version that does not exist.
    """
    def __new__(
        cls,
        role: Role,
        *,
        framing: Framing = "lines",
        policy: Policy = "tolerant",
        policies: Mapping[Severity, Policy] | None = None,
        limits: Limits | None = None,
        versions: Iterable[int] | None = None,
        drafts: Iterable[str] | None = None,
        timeout: int | None = None,
        cancel_grace: int | None = 10000,
        reminder: int | None = None,
        prompt_queueing: bool = False,
        foreign_methods: Iterable[str] | None = None,
        view: bool = False,
        handlers: Iterable[str] | None = None,
    ) -> Connection: ...
    def receive_data(self, data: bytes | bytearray | memoryview, /) -> None:
        """Takes bytes from the peer, split in any way; with the framing `messages`, exactly one message per call.

        Invalid content never raises: it is reported by `Violation` events.
        """
    def receive_eof(self) -> None:
        """Tells the connection that the peer has closed its stream. What was received before is still processed;
        then all open requests end and `Closed` is the last event.
        """
    def next_event(self) -> Event | None:
        """Returns the next event, or `None` if there is none until the next input."""
    def events(self) -> Events:
        """Returns an iterator over the events that are available now; it calls `next_event`."""
    def data_to_send(self) -> bytes:
        """Removes and returns all bytes to write to the peer. With the framing `messages` it returns one message
        per call, and `b""` after the last.
        """
    def transmit(self, limit: int | None = None) -> bytes:
        """Returns up to `limit` bytes to write to the peer without removing them; call `consume` with the number
        that was written. For transports with partial writes, in place of `data_to_send`.
        """
    def consume(self, count: int) -> None:
        """Removes the first `count` bytes that `transmit` returned, because they were written."""
    def request(
        self,
        method: str,
        params: Mapping[str, object] | RawJson | None = None,
        *,
        id: int | str = ...,
        timeout: int | None = ...,
    ) -> int | str:
        """Sends a request and returns its id. The request ends with exactly one `Response` event.

        Arguments:
            `method`: the method to call.
            `params`: the params; if absent, an empty object. For `initialize`, a missing `protocolVersion` is
                added.
            `id`: an id to use; by default the connection chooses one.
            `timeout`: milliseconds from the time of the last `handle_timeout` call, in place of the timeout of
                the connection; `None` for no timeout.

        Raises:
            Misuse: if the specification forbids the call now or the params are invalid; nothing is sent.
        """
    def notify(self, method: str, params: Mapping[str, object] | RawJson | None = None) -> None:
        """Sends a notification. `session/cancel` also answers the session's open permission requests and
        elicitations with `cancelled` or `cancel`.

        Arguments:
            `method`: the method to call.
            `params`: the params; if absent, an empty object.

        Raises:
            Misuse: if the specification forbids the call now or the params are invalid; nothing is sent.
        """
    def notify_opened(
        self, request: Request, method: str, params: Mapping[str, object] | RawJson | None = None
    ) -> None:
        """Sends a notification about the session that a request of the peer opens: at once if the session may be
        named before the answer, as while it is loaded; otherwise right after the answer, with the id that the
        answer gives the session, and never if the request fails. On a connection without `handlers` it is sent
        at once.

        Arguments:
            `request`: the `Request` event.
            `method`: the method to call.
            `params`: the params without `sessionId`; if absent, an empty object.

        Raises:
            Misuse: if it is sent at once, as `notify`.
        """
    def respond(self, request: Request | Cancel | OpenRequest | Id, result: object) -> None:
        """Answers a request of the peer with a result.

        Arguments:
            `request`: the `Request` event, a `Cancel` or `OpenRequest` of the same request, or its id.
            `result`: the result. For `initialize`, a missing `protocolVersion` is added.

        Raises:
            Misuse: if the request is not open or the result is invalid; nothing is sent.
        """
    def respond_error(
        self, request: Request | Cancel | OpenRequest | Id, code: int, message: str, data: object = None
    ) -> None:
        """Answers a request of the peer with an error. If the request is a prompt of version 1 that the client has
        cancelled, the stop reason `cancelled` is sent instead (`TURN-15`).

        Arguments:
            `request`: the `Request` event, a `Cancel` or `OpenRequest` of the same request, or its id.
            `code`: the error code; `ErrorCode` has those of the specification.
            `message`: one short sentence.
            `data`: any JSON value with details; `None` for no data.

        Raises:
            Misuse: if the request is not open or the error is invalid; nothing is sent.
        """
    def cancel(self, id: int | str) -> None:
        """Asks the peer to cancel a request that the host has sent (`$/cancel_request`). The request still ends
        with a `Response`: the peer's answer, or the outcome `cancelled` once the grace period is over. A second
        call for the same request sends nothing.

        Raises:
            Misuse: if no such request of the host is open.
        """
    def abandon(self, id: Id) -> None:
        """Gives up a request that the host has sent, as nobody waits for it any more, in the way of its method: a
        prompt is cancelled by `session/cancel`, once; `terminal/release` is left alone; anything else is
        cancelled as by `cancel`. The request still ends with a `Response`. If there is no such request, nothing
        is done.
        """
    def holds_back(self, session: str) -> bool:
        """Whether the next prompt of a session has to wait because an earlier one was cancelled and has not ended,
        which in version 1 it has to (`TURN-03`).
        """
    def pace(self, max_requests: int | None = None) -> None:
        """Holds events back from now on while too much of what was taken waits, so that a peer that says more than
        is handled is slowed down: 256 notifications or 1 MiB of them that were kept, eight times as much while
        the peer owes an answer, 16 MiB of requests to write files, or 1 MiB of the connection's own answers
        that are not written.

        Arguments:
            `max_requests`: the number of requests that are served at a time, from 1; `None` for no limit. Each of them
                counts until it is `served`.

        Raises:
            ValueError: if `max_requests` is 0.
        """
    def merge_chunks(self, merges: bool, /) -> None:
        """Whether chunks of messages and thoughts are merged while they wait to be written, as `libacp.aio` does
        it: text is joined, and whatever differs in more than its text is not merged.
        """
    @property
    def has_room(self) -> bool:
        """Whether a message can be sent at once, or has to wait until the transport has taken more."""
    @property
    def paused(self) -> bool:
        """Whether `next_event` has returned `None` because too much waits."""
    def keep(self, notification: Notification | None, /) -> int:
        """Counts something that waits for its handler: a notification, or `None` for what has no size. Returns its
        size, for `take`.
        """
    def take(self, size: int, last: bool, /) -> bool:
        """What was kept was handed over, and `last` says whether nothing is left where it waited. Returns whether
        it is time to take events again.
        """
    def served(self, request: Request, /) -> bool:
        """A request of the peer was served, and its answer is written. Returns whether it is time to take events
        again.
        """
    def hold_prompts(self) -> None:
        """Lets the host see each prompt of version 2 before it is a message of the conversation, so that it can
        still be refused. It becomes one by `insert`, by `stepped`, by the first update about the work on it, or
        by its result. Until then `respond_error` answers the prompt with the error. In version 1, and without
        `handlers`, this changes nothing.
        """
    def hold(self, prompt: int) -> None:
        """Says that the handler of a prompt calls `insert` itself, so that `stepped` does nothing. The prompt is
        named by the serial number of its request.

        Raises:
            Misuse: if the prompt is a message already (`LIFE-24`), was cancelled (`LIFE-21`), or is not being served.
        """
    def stepped(self, prompt: int) -> None:
        """Says that the handler of a prompt has made its first step: the prompt becomes a message, unless it is
        held, was cancelled, or is one already. Call it for each prompt, also when the first step was the last.

        Raises:
            Misuse: if the connection is over.
        """
    def insert(self, prompt: int) -> None:
        """Makes a prompt a message of the conversation, which answers its request with the id of the message
        (`LIFE-01`). Nothing is done for one that is a message already.

        Raises:
            Misuse: if the prompt was cancelled (`LIFE-21`), or is not being served.
        """
    def begin_work(self, session: str) -> int:
        """Begins work in a session that no prompt has asked for (`LIFE-25`), and returns its number. Prompts of
        the session wait for its end. A cancel is an event `Cancel` with this number as the serial number, and
        without a method.

        Raises:
            Misuse: if the session works already (`LIFE-25`), or is not open.
        """
    def end_work(self, work: int, result: object) -> None:
        """Ends work with a result like that of a prompt.

        Raises:
            Misuse: if the result is invalid, or no such work goes on.
        """
    def fail_work(self, work: int, code: int, message: str, data: object = None) -> None:
        """Ends work that has failed, with an error like that of `respond_error`.

        Raises:
            Misuse: if the error is invalid, or no such work goes on.
        """
    def background(self, session: str, item: object) -> None:
        """Puts a tool call or a terminal that was shown into the background of a session, until an update tells
        its end. Nothing is done in version 1.

        Arguments:
            `session`: the id of the session.
            `item`: `{"type": "tool_call", "toolCallId": ...}` or `{"type": "terminal", "terminalId": ...}`.

        Raises:
            Misuse: if it was not shown (`LIFE-32`), is no such object (`LIFE-36`), or the session is not open.
        """
    def close(self) -> None:
        """Closes the connection from this side. Open permission requests and elicitations are answered with
        `cancelled` or `cancel`, open requests of the host end with the outcome `closed`, and bytes that are
        queued can still be sent.
        """
    def handle_timeout(self, now: int) -> None:
        """Sets the current time, in milliseconds on a monotonic clock of the host. Requests whose deadline has
        passed end with the outcome `timeout`, and due reminders are reported as `Advice`.
        """
    def poll_timeout(self) -> int | None:
        """The time at which to call `handle_timeout` next, on the host's clock in milliseconds; `None` if there is
        no deadline.
        """
    # Generated from core/protocol/getters.json by `cargo xtask codegen`, as far as the next such line.
    @property
    def buffered(self) -> int:
        """How much data was received and not decoded yet. Stop reading from the transport while it is large. In
        bytes.
        """
    @property
    def unsent(self) -> int:
        """How much data waits to be written: the length of what `transmit` holds or, with the framing `messages`,
        of all messages. Stop reading from the transport while it is large. In bytes.
        """
    @property
    def needs_input(self) -> bool:
        """A cheap check: true means that polling would certainly find no event now. A host that receives many
        small chunks can skip polling then.
        """
    @property
    def role(self) -> Role:
        """The side that the host plays. One of `client` or `agent`."""
    @property
    def config(self) -> Config:
        """A copy of the configuration, including the defaults."""
    @property
    def phase(self) -> Phase:
        """How far the connection is. One of `start`, `initializing`, `ready` or `closed`.

        See https://agentclientprotocol.com/protocol/v1/initialization
        """
    @property
    def version(self) -> int | None:
        """The agreed protocol version. `None` before it is agreed on: for a client, until `initialize` has been
        answered; for an agent, until `initialize` has arrived.

        See https://agentclientprotocol.com/protocol/v1/initialization
        """
    @property
    def capabilities(self) -> dict[str, Any]:
        """The capabilities object that the peer advertised; `{}` before `initialize`. To ask about one method, use
        `can`. A new object each time.

        See https://agentclientprotocol.com/protocol/v1/initialization
        """
    @property
    def own_capabilities(self) -> dict[str, Any]:
        """The capabilities object that the host advertised; `{}` before `initialize`. A new object each time.

        See https://agentclientprotocol.com/protocol/v1/initialization
        """
    @property
    def peer_info(self) -> dict[str, Any]:
        """The peer's complete params or result of `initialize`, including its name and its login methods; `{}`
        before `initialize`. A new object each time.

        See https://agentclientprotocol.com/protocol/v1/initialization
        """
    @property
    def peer_name(self) -> str | None:
        """The name of the peer's program, for logs and messages. Rule INIT-11. `None` before `initialize`, and if
        the peer does not give its name.

        See https://agentclientprotocol.com/protocol/v1/initialization
        """
    def peer_extension(self, name: str) -> Any | None:
        """What the peer advertises for one extension under `_meta` of its capabilities. Rule EXT-10. A new object
        each time. `None` if the peer does not advertise the extension, and before `initialize`.

        `name` is the extension's name.

        See https://agentclientprotocol.com/protocol/v1/extensibility
        """
    @property
    def login(self) -> Login:
        """Whether the agent accepts this user, as far as is known. One of `unknown`, `required` or `done`.

        See https://agentclientprotocol.com/protocol/v1/authentication
        """
    @property
    def login_methods(self) -> list[LoginMethod]:
        """The agent's login methods that can be used, in the agent's order. The kind is `agent` if `authenticate`
        (version 2: `auth/login`) asks the agent to log in and `terminal` if the client runs the login in a
        terminal. Version 2 adds `custom` for a type that the two sides have agreed on themselves and `unknown`
        for a type that this library does not know. A new object each time.

        See https://agentclientprotocol.com/protocol/v1/authentication
        """
    def retry_class(self, method: str) -> RetryClass | None:
        """Whether a request may be sent again when its outcome is unknown because it timed out or the connection
        was lost: `safe` means unchanged, `key` means with the same `idempotencyKey` as the first time, `never`
        means not at all because it might be carried out twice. Also available after the connection has ended.
        `None` before the version is agreed on, and if the method is not a request of that version.

        `method` is the method's name.

        See https://agentclientprotocol.com/rfds/v2/idempotency-keys
        """
    @property
    def open_elicitations(self) -> list[str]:
        """The ids of the elicitations that are answered on a web page and not completed yet, in alphabetical
        order. Rule ELIC-20.

        See https://agentclientprotocol.com/rfds/elicitation
        """
    @property
    def providers(self) -> list[ProviderState]:
        """The model providers that the agent listed last, ordered by id, and whether each is enabled. Draft
        `llm_providers`. Rule PROV-04. A new object each time.

        See https://agentclientprotocol.com/rfds/custom-llm-endpoint
        """
    def snapshot(self) -> ConnectionSnapshot:
        """The state of the connection as one object. All of its members are always present. A new object each
        time.
        """
    def session_state(self, id: str) -> SessionState | None:
        """Whether a session is open, or being loaded or resumed. One of `loading`, `resuming` or `ready`. `None`
        when the session is not known.

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v1/session-setup
        """
    def session_turn(self, id: str) -> Turn | None:
        """Whether the agent is working for a session. One of `idle`, `running`, `cancelling` or `requires_action`.
        `None` when the session is not known.

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v1/prompt-turn
        """
    def session_cwd(self, id: str) -> str | None:
        """The working directory of a session. `None` when the session is not known, or its directory is not known.

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v1/session-setup
        """
    def session_roots(self, id: str) -> list[str] | None:
        """All directories of a session: the working directory, then the additional ones. `None` when the session
        is not known.

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v1/session-setup
        """
    def session_mode(self, id: str) -> str | None:
        """The id of a session's current mode. `None` when the session is not known, or it has no modes.

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v1/session-modes
        """
    def session_available_modes(self, id: str) -> list[v1.SessionMode] | None:
        """The modes that a session offers, as the agent listed them. A new object each time. `None` when the
        session is not known, or the agent has not sent the list, or it is too long to be kept (256 KiB, or the
        limit `remembered`).

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v1/session-modes
        """
    def session_config_options(self, id: str) -> list[v1.SessionConfigOption] | None:
        """The config options of a session and their values, as the agent listed them last. A new object each time.
        `None` when the session is not known, or the agent has not sent the list, or it is too long to be kept
        (256 KiB).

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v1/session-config-options
        """
    def session_tool_calls(self, id: str) -> list[ToolCallState] | None:
        """The tool calls of a session and the status of each, oldest first. A new object each time. `None` when
        the session is not known.

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v1/tool-calls
        """
    def session_plan(self, id: str) -> list[v1.PlanEntry] | None:
        """The entries of a session's plan, as the agent listed them last. A new object each time. `None` when the
        session is not known, or the agent has not sent the list, or it is too long to be kept (256 KiB).

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v1/agent-plan
        """
    def session_plan_ids(self, id: str) -> list[str] | None:
        """The ids of a session's plans that have an id, in alphabetical order. `None` when the session is not
        known.

        `id` is the session's id.

        See https://agentclientprotocol.com/rfds/plan-operations
        """
    def session_commands(self, id: str) -> list[v1.AvailableCommand] | None:
        """The commands that a user can type in a session, as the agent listed them last. A new object each time.
        `None` when the session is not known, or the agent has not sent the list, or it is too long to be kept
        (256 KiB).

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v1/slash-commands
        """
    def session_open_compactions(self, id: str) -> list[str] | None:
        """The ids of a session's compactions that have not ended, oldest first. Rule NOTE-09. `None` when the
        session is not known.

        `id` is the session's id.
        """
    def session_stop_reason(self, id: str) -> str | None:
        """Why the foreground work of a session ended, as the agent reported it last: `end_turn`, `cancelled`,
        `error` and so on. Rule LIFE-05. `None` when the session is not known, or the agent works, or gave no
        reason, or the version is 1, where the response to the prompt has it.

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v2/prompt-lifecycle
        """
    def session_stop_error(self, id: str) -> v2.Error | None:
        """The JSON-RPC error object that came with the stop reason `error`. Rule LIFE-29. A new object each time.
        `None` when the session is not known, or the stop reason is not `error`, or no error came with it.

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v2/prompt-lifecycle
        """
    def session_background(self, id: str) -> list[v2.BackgroundWork] | None:
        """The background work of a session, as the agent listed it last. Rule LIFE-35. A new object each time.
        `None` when the session is not known, or the agent does not report background work, or the list is
        longer than what is kept.

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v2/prompt-lifecycle
        """
    def session_auth_uncertain(self, id: str) -> bool | None:
        """Whether the user has logged out since a session was opened. If so, the session may fail because a login
        is missing. Rule AUTH-25. `None` when the session is not known.

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v1/authentication
        """
    def session_parent(self, id: str) -> str | None:
        """The id of a session's parent session. `None` when the session is not known, or the client opened it.

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v1/subagents
        """
    def session_may_cancel(self, id: str) -> bool | None:
        """Whether the client may cancel the work of a session. False only for a child session that does not allow
        it. `None` when the session is not known.

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v1/subagents
        """
    def session_snapshot(self, id: str) -> SessionSnapshot | None:
        """The state of a session as one object. All of its members are always present. A member that lists
        something is null if the agent has not sent the list, or if it is too long to be kept (256 KiB, or the
        limit `remembered`). The cost grows with the length of the text. A new object each time. `None` when the
        session is not known.

        `id` is the session's id.
        """
    def command_text(self, session: str, name: str, input: str = "") -> str | None:
        """The text of a prompt that runs one of a session's commands: `/name`, or `/name input`. Rule CMD-05.
        `None` when the session is not known, or it has not listed the command.

        `session` is the session's id. `name` is the command's name. `input` is the text that follows the name;
        empty for none.

        See https://agentclientprotocol.com/protocol/v1/slash-commands
        """
    def in_roots(self, session: str, path: str) -> bool:
        """Whether a path lies inside one of a session's directories. Only the text of the path is examined: `.`
        and `..` are resolved, but the host has to check links in the file system. False if the session or its
        directories are not known. Rule SESS-06.

        `session` is the session's id. `path` is an absolute path.

        See https://agentclientprotocol.com/protocol/v1/session-setup
        """
    @property
    def sessions(self) -> dict[str, Session]:
        """The sessions of the connection, sorted by id.

        See https://agentclientprotocol.com/protocol/v1/session-setup
        """
    def session(self, id: str) -> Session | None:
        """The state of one session in brief. `None` when the session is not known.

        `id` is the session's id.

        See https://agentclientprotocol.com/protocol/v1/session-setup
        """
    @property
    def pending(self) -> list[OpenRequest]:
        """The host's own requests that have no answer yet, oldest first."""
    @property
    def unanswered(self) -> list[OpenRequest]:
        """The peer's requests that the host has not answered yet, oldest first. Rule RPC-15."""
    @property
    def open_terminals(self) -> list[TerminalRef]:
        """The terminals that were created and not released, grouped by session. Rule TERM-04.

        See https://agentclientprotocol.com/protocol/v1/terminals
        """
    def pending_by_id(self, id: Id) -> OpenRequest | None:
        """Finds the host's own open request with this id. `None` when no such request is open.

        `id` is the request's id; raises `TypeError` or `Misuse` for what is none.
        """
    def unanswered_by_id(self, id: Id) -> OpenRequest | None:
        """Finds the peer's open request with this id. `None` when no such request is open.

        `id` is the request's id; raises `TypeError` or `Misuse` for what is none.
        """
    def pending_by_serial(self, serial: int) -> OpenRequest | None:
        """Finds the host's own open request with this serial number. `None` when no such request is open.

        `serial` is the request's serial number on this connection.
        """
    def unanswered_by_serial(self, serial: int) -> OpenRequest | None:
        """Finds the peer's open request with this serial number. `None` when no such request is open.

        `serial` is the request's serial number on this connection.
        """
    @property
    def views(self) -> list[str]:
        """The sessions that have a view: none unless the configuration says `view`."""
    def view(self, session: str) -> ViewSnapshot | None:
        """A session as a conversation: what a client shows, whichever version the peers speak. All of its members
        are always present. The cost grows with the length of the text; `view_since` has what is new. A new
        object each time. `None` when there is no view of the session.

        `session` is the session's id.
        """
    def view_revision(self, session: str) -> int | None:
        """The revision of a session's view: a number that grows with each change. Cheap, to find out whether there
        is anything to draw. `None` when there is no view of the session.

        `session` is the session's id.
        """
    def view_since(self, session: str, revision: int) -> ViewChanges | None:
        """What has changed in a session's view since a revision, without what can be long and grows: entries and
        terminals lack `blocks`, `summary`, `content`, `output` and `before`. Where the number `end` of one is
        not what it was, `view_content` has what is new. The cost grows with what has changed. A new object each
        time. `None` when there is no view of the session.

        `session` is the session's id. `revision` is the revision that was read last; 0 for the first time.
        """
    def view_content(self, session: str, index: int, position: int) -> ViewContent | None:
        """The content of an entry, or of a terminal, from a position on: of a content that has grown at its end,
        what is new. The cost grows with that, so that all of a content costs as much however often it is read
        while it grows. A new object each time. `None` when there is no view of the session, or it has no such
        entry.

        `session` is the session's id. `index` is the entry's index. `position` is the `end` that the content
        was read to; 0 for all of it.
        """
    def view_text(self, session: str, index: int) -> str | None:
        """All text of a message, or of the summary of a compaction, in one piece. `None` when there is no view of
        the session, or the entry of this index is neither a message nor a compaction.

        `session` is the session's id. `index` is the entry's index.
        """
    def forget_view(self, session: str) -> bool:
        """Forgets the view of a session that is over; whether there was one. Views of closed and deleted sessions
        stay until then, or until 64 others are over.

        `session` is the session's id.
        """
    # The end of what is generated.
    def can(self, method: str) -> bool:
        """Whether the version, the role, the phase and the capabilities allow a method to be called now.
        `method:part` asks about an optional part of it, such as `session/prompt:image`.
        """
    def why_not(self, method: str) -> Misuse | None:
        """The `Misuse` that `can` is about, as the call would raise it; `None` if the method can be called now."""

@final
class ObserverEvents(Iterator[tuple[Role, Event]]):
    """The iterator that `Observer.events` returns."""
    def __iter__(self) -> ObserverEvents: ...
    def __next__(self) -> tuple[Role, Event]: ...

@final
class Observer:
    """Observes the conversation of a client and an agent, and reports the violations of both. It sends nothing.

    Pass in the bytes of each side with `receive_data`, in the order in which they were sent, and after each
    call take events with `next_event` until it returns `None`. Every event comes with the side that sent the
    message: for a `Violation`, the side that broke the rule. The consequence of a violation is what a receiver
    should do with the message; the messages that follow show what the real receiver did.

    The arguments are those of `Connection`, except that without `versions` all versions are supported. A call
    while another thread is inside of one raises `RuntimeError` and changes nothing.
    """
    def __new__(
        cls,
        *,
        framing: Framing = "lines",
        policy: Policy = "tolerant",
        policies: Mapping[Severity, Policy] | None = None,
        limits: Limits | None = None,
        versions: Iterable[int] | None = None,
        drafts: Iterable[str] | None = None,
        prompt_queueing: bool = False,
        foreign_methods: Iterable[str] | None = None,
        view: bool = False,
    ) -> Observer: ...
    def receive_data(self, side: Role, data: bytes | bytearray | memoryview, /) -> None:
        """Takes bytes that one side (`client` or `agent`) has sent, split in any way; with the framing `messages`,
        exactly one message per call.

        Pass in the bytes of both sides in the order in which they were sent; an answer that comes before its
        request matches no request. Invalid content never raises: it is reported by `Violation` events.
        """
    def receive_eof(self, side: Role, /) -> None:
        """Tells the observer that one side (`client` or `agent`) has closed its stream. Once both have, unanswered
        requests end with the outcome `closed`, and the last event is `Closed`.
        """
    def next_event(self) -> tuple[Role, Event] | None:
        """Returns the side that sent a message, and the event about it; `None` if there is none until the next
        input. A `Response` for a request that was never answered comes with the side that sent the request.
        """
    def events(self) -> ObserverEvents:
        """Returns an iterator over the events that are available now; it calls `next_event`."""
    @property
    def buffered(self) -> int:
        """The number of bytes that were received from both sides and not processed yet."""
    @property
    def version(self) -> int | None:
        """The agreed protocol version; before the agent has answered, the version that it is expected to answer.
        `None` before `initialize`.
        """
    @property
    def _keeps_views(self) -> bool:
        """For `View`, which has nothing to show otherwise."""
    @property
    def phase(self) -> Phase:
        """The phase of the conversation: `start`, `initializing`, `ready` or `closed`."""
    def capabilities(self, side: Role) -> dict[str, Any]:
        """The capabilities object of one side (`client` or `agent`); `{}` before `initialize`. Each call returns a
        new object.
        """
    @property
    def sessions(self) -> dict[str, Session]:
        """The known sessions by id."""
    def session(self, id: str) -> Session | None:
        """The state of one session; `None` if the session is unknown."""
    def open_requests(self, side: Role) -> list[OpenRequest]:
        """The unanswered requests that one side (`client` or `agent`) has sent, oldest first."""
    def snapshot(self) -> ConnectionSnapshot:
        """The state of the whole conversation, in the form of `Connection.snapshot`."""
    def session_snapshot(self, id: str) -> SessionSnapshot | None:
        """The full state of one session, in the form of `Connection.session_snapshot`; `None` if the session is
        unknown.
        """
    # Generated from core/protocol/getters.json by `cargo xtask codegen`, as far as the next such line.
    @property
    def views(self) -> list[str]:
        """The sessions that have a view: none unless the configuration says `view`."""
    def view(self, session: str) -> ViewSnapshot | None:
        """A session as a conversation: what a client shows, whichever version the peers speak. All of its members
        are always present. The cost grows with the length of the text; `view_since` has what is new. A new
        object each time. `None` when there is no view of the session.

        `session` is the session's id.
        """
    def view_revision(self, session: str) -> int | None:
        """The revision of a session's view: a number that grows with each change. Cheap, to find out whether there
        is anything to draw. `None` when there is no view of the session.

        `session` is the session's id.
        """
    def view_since(self, session: str, revision: int) -> ViewChanges | None:
        """What has changed in a session's view since a revision, without what can be long and grows: entries and
        terminals lack `blocks`, `summary`, `content`, `output` and `before`. Where the number `end` of one is
        not what it was, `view_content` has what is new. The cost grows with what has changed. A new object each
        time. `None` when there is no view of the session.

        `session` is the session's id. `revision` is the revision that was read last; 0 for the first time.
        """
    def view_content(self, session: str, index: int, position: int) -> ViewContent | None:
        """The content of an entry, or of a terminal, from a position on: of a content that has grown at its end,
        what is new. The cost grows with that, so that all of a content costs as much however often it is read
        while it grows. A new object each time. `None` when there is no view of the session, or it has no such
        entry.

        `session` is the session's id. `index` is the entry's index. `position` is the `end` that the content
        was read to; 0 for all of it.
        """
    def view_text(self, session: str, index: int) -> str | None:
        """All text of a message, or of the summary of a compaction, in one piece. `None` when there is no view of
        the session, or the entry of this index is neither a message nor a compaction.

        `session` is the session's id. `index` is the entry's index.
        """
    def forget_view(self, session: str) -> bool:
        """Forgets the view of a session that is over; whether there was one. Views of closed and deleted sessions
        stay until then, or until 64 others are over.

        `session` is the session's id.
        """
    # The end of what is generated.

@final
class Server:
    """A server of the remote transports, Streamable HTTP and WebSocket, for any number of connections. It does no
    I/O: the host passes in heads, bodies, frames and the time, and takes out responses, streams, frames and
    events. `libacp.http.asgi` does that for any ASGI server.

    The host gives each request and each WebSocket a number, the exchange. After each call that passes something
    in, take events with `poll_event` until it returns `None`, then ask `poll_timeout` when to call
    `handle_timeout`.

    A call while another thread is inside of one raises `RuntimeError` and changes nothing.

    Arguments:
        `options`: a mapping with any of `path`, `hosts`, `origins`, `token`, `prefix`, `strict`, `tolerates`, `limits` and
            `times` (milliseconds); see `libacp.http.ServerOptions`.

    Raises:
        ValueError: for an option that does not exist, or has no such value.
    """
    def __new__(cls, options: ServerOptions | None = None) -> Server: ...
    def add_entropy(self, data: bytes | bytearray | memoryview, /) -> None:
        """Adds random bytes from the operating system, of which ids of connections are made: 16 for each."""
    def wants_entropy(self) -> int:
        """How many random bytes there is room for; 0 while there are enough."""
    @property
    def connections(self) -> int:
        """The number of open connections."""
    def connection_id(self, connection: int) -> str | None:
        """The value of `Acp-Connection-Id` of a connection; `None` if there is no such connection."""
    def request(self, exchange: int, method: str, target: str, headers: Headers) -> Step:
        """Takes the head of a request, and says what to do with it.

        With HTTP/2, `:authority` is passed as a header `host`, and an extended CONNECT for WebSocket as a `GET`
        with the headers of a handshake.

        Arguments:
            `exchange`: a number for the request that no other one has.
            `method`: the method, as in `POST`.
            `target`: the path with its query.
            `headers`: pairs of a name and a value, each `str` or `bytes`; or a mapping.
        """
    def body(self, exchange: int, data: bytes | bytearray | memoryview, end: bool) -> Step:
        """Takes a piece of the body of a request, and says what to do next."""
    def text(self, exchange: int, text: str | bytes | bytearray) -> None:
        """Takes a text frame of a WebSocket."""
    def binary(self, exchange: int) -> None:
        """Notes a binary frame of a WebSocket, which is ignored (`WS-04`)."""
    def pong(self, exchange: int) -> None:
        """Notes a pong or a ping: the client is alive."""
    def closed(self, exchange: int) -> None:
        """An exchange is over: its connection broke, or the end of its stream was written. What a reader did not
        take of a stream waits for the next one.
        """
    def poll_event(self) -> ServerEvent | None:
        """Returns the next event, or `None` if there is none until the next input."""
    def transmit(self, exchange: int, limit: int | None = None) -> bytes:
        """Returns up to `limit` bytes to write on a stream without removing them; call `consume` with the number
        that was written.
        """
    def consume(self, exchange: int, count: int) -> None:
        """Removes the first `count` bytes that `transmit` returned, because they were written."""
    def frame(self, exchange: int) -> Frame | None:
        """Removes and returns the next frame to send on a WebSocket; `None` if there is none."""
    def send(self, connection: int, json: str | bytes | bytearray) -> Literal["full", "closed"] | None:
        """Sends a message of an agent to its client.

        Returns `None` if it was taken, `full` if too much waits for the client (send it again after the event
        `drained`), and `closed` if the connection is over.

        Raises:
            Misuse: if it cannot be sent at all.
        """
    def close(self, connection: int) -> None:
        """Ends a connection, because its agent is gone or the server stops."""
    def fail(self, connection: int, why: str) -> None:
        """Ends a connection as `close` does, because its agent has failed: the client's open calls are first
        answered with an error that says why, as far as the client reads. `initialize` is answered like that
        with status 200 and without the id of a connection (HTTP-03), as an agent that refuses it does; the
        outcome of other calls is unknown. `why` is the text of the error.
        """
    def pause(self, connection: int, paused: bool) -> None:
        """Holds back the messages of a client, or goes on with them: for agents that are slower than their
        clients.
        """
    def is_hungry(self, exchange: int) -> bool:
        """Whether to read more from the socket of an exchange. False while its agent has too much to read."""
    def handle_timeout(self, now: int) -> None:
        """Sets the time: milliseconds on a monotonic clock of the host's choice."""
    def poll_timeout(self) -> int | None:
        """When to call `handle_timeout` next; `None` if nothing is waited for."""

@final
class Client:
    """A client of the remote transports, for one server. It does no I/O: the host makes the requests that
    `poll_action` asks for, and passes in what comes of them. `libacp.aio.connect` does that with httpx and
    websockets.

    The host sends messages as to an agent on a pipe, beginning with `initialize`. After each call, take actions
    with `poll_action` until it returns `None`, then ask `poll_timeout` when to call `handle_timeout`.

    A call while another thread is inside of one raises `RuntimeError` and changes nothing.

    Arguments:
        `options`: a mapping with any of `target`, `host`, `secure`, `websocket`, `reconnect`, `resumable`, `strict`,
            `tolerates`, `limits` and `times` (milliseconds); see `libacp.http.ClientOptions`.
        `seed`: a number that differs between clients; it spreads their attempts to reconnect.

    Raises:
        ValueError: for an option that does not exist, or has no such value.
    """
    def __new__(cls, options: ClientOptions | None = None, *, seed: int = 0) -> Client: ...
    def set_header(self, name: str, value: str) -> None:
        """Sets a header of all requests from now on, such as `authorization`; its former value is replaced.

        Raises:
            ValueError: if the name or the value cannot be those of a header.
        """
    def poll_action(self) -> Action | None:
        """Returns the next thing to do, or that has happened; `None` if there is none until the next input."""
    def is_hungry(self) -> bool:
        """Whether `send` takes more; false while too much waits to be sent."""
    @property
    def connection_id(self) -> str | None:
        """The value of `Acp-Connection-Id`; `None` while there is no connection."""
    def send(self, json: str | bytes | bytearray, /) -> Literal["full", "closed"] | None:
        """Sends a message.

        Returns `None` if it was taken, `full` if too much waits to be sent (try again when `is_hungry` says
        so), and `closed` if the conversation is over.

        Raises:
            Misuse: if it cannot be sent.
        """
    def response(self, exchange: int, status: int, headers: Headers) -> None:
        """Takes the head of the response to a request, or of the handshake of a WebSocket (status 101).

        Arguments:
            `exchange`: the number of the request.
            `status`: the status.
            `headers`: pairs of a name and a value, each `str` or `bytes`; or a mapping.
        """
    def data(self, exchange: int, data: bytes | bytearray | memoryview) -> None:
        """Takes bytes of the body of a response, split in any way."""
    def end(self, exchange: int) -> None:
        """A response, or a WebSocket, has ended."""
    def failed(self, exchange: int, sent: bool) -> None:
        """A request came to nothing: there was no connection, or it broke. `sent` is false if the server cannot
        have any of it.
        """
    def text(self, exchange: int, text: str | bytes | bytearray) -> None:
        """Takes a text frame of the WebSocket."""
    def binary(self, exchange: int) -> None:
        """Notes a binary frame of the WebSocket, which is ignored (`WS-04`)."""
    def closed(self, exchange: int, code: int) -> None:
        """Tells the code with which the server closed the WebSocket (RFC 6455, 7.4), which the action `lost` then
        names.
        """
    def retry(self) -> None:
        """Goes on after the action `unauthorized`, with the headers that were set meanwhile."""
    def close(self) -> None:
        """Ends the conversation: `DELETE` (`HTTP-14`), or the end of the WebSocket."""
    def handle_timeout(self, now: int) -> None:
        """Sets the time: milliseconds on a monotonic clock of the host's choice."""
    def poll_timeout(self) -> int | None:
        """When to call `handle_timeout` next; `None` if nothing is waited for."""
    @staticmethod
    def lost_answer(id: Id) -> str:
        """An error answer for a call whose outcome is unknown (`HTTP-18`), for hosts that need an answer to each
        call of the action `lost`.
        """
