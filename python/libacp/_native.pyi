# What `libacp._native` has. `python/tests/stub_docs.py` writes the docstrings, which are those of the module.
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Final, final

from ._errors import Misuse, PeerError
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
from .types import v1

__all__ = [
    "DRAFTS",
    "Advice",
    "Answered",
    "Cancel",
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
    "RawJson",
    "Request",
    "Response",
    "Rule",
    "Session",
    "TerminalRef",
    "Violation",
    "__version__",
    "cut_output",
    "rule",
]

__version__: Final[str]
DRAFTS: Final[tuple[str, ...]]

def rule(id: str) -> Rule | None:
    """The rule with this id, as events and exceptions carry it; `None` when there is none."""
def cut_output(output: str, byte_limit: int) -> v1.TerminalOutputResponse:
    """The end of a command's output that fits the `outputByteLimit` of `terminal/create`, as the answer to
    `terminal/output`: a dict with `output` and `truncated`, to which the exit status can be added. It is cut
    from the front, and never inside a character; the limit counts bytes of UTF-8.
    """

@final
class ErrorCode:
    """The codes of error answers."""
    PARSE_ERROR: Final[int]
    INVALID_REQUEST: Final[int]
    METHOD_NOT_FOUND: Final[int]
    INVALID_PARAMS: Final[int]
    INTERNAL_ERROR: Final[int]
    REQUEST_CANCELLED: Final[int]
    AUTH_REQUIRED: Final[int]
    RESOURCE_NOT_FOUND: Final[int]
    UNSUPPORTED_PROTOCOL_VERSION: Final[int]
    @staticmethod
    def message(code: int) -> str:
        """The usual short message for a code."""

@final
class FileOperation:
    """What `Files.read` and `Files.write` return, to be run once."""
    def run(self) -> tuple[str | None, int | None, str | None]:
        """Waits for its turn, and does it."""

@final
class Files:
    """The files of one session. `libacp.aio.Files` is what clients use; this is what it stands on.

    The roots are opened now, and stay the folders that they are; those that are not there hold nothing. `may`
    is called on those threads, one call for each file, with its path from its root, whether it is to be
    written, and its root. `read` and `write` return at once with what has to be run, on another thread: it
    waits for its turn, which is that of the call that made it, and returns the text, the code of the error and
    its message; ``None`` for what there is not.
    """
    guards: Final[tuple[tuple[str, ...], tuple[str, ...]]]
    def __new__(
        cls,
        roots: Sequence[str | PathLike[str]],
        *,
        most: int,
        may: Callable[[str, bool, str], bool] | None = None,
    ) -> Files: ...
    @property
    def roots(self) -> list[Any]:
        """The roots that were there, with all links followed."""
    def read(self, path: str, line: int | None, limit: int | None) -> FileOperation:
        """To read a file, from this line on and so many of them."""
    def write(self, path: str, text: str) -> FileOperation:
        """To write a file."""
    @staticmethod
    def guarded(path: str, writing: bool, root: str) -> bool:
        """What holds without a `may`."""

@final
class RawJson:
    """JSON text in place of an object, where a host has it already: `connection.request(method, RawJson(text))`."""
    def __new__(cls, text: str | bytes, /) -> RawJson: ...
    @property
    def text(self) -> str:
        """The text."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[RawJson], tuple[str]]: ...

@final
class Limits:
    """Bounds that hold whatever the peer sends."""
    def __new__(
        cls,
        frame: int = 33_554_432,
        depth: int = 128,
        pending: int = 1024,
        sessions: int = 10_000,
        terminals: int = 1024,
        remembered: int = 4096,
    ) -> Limits: ...
    @property
    def frame(self) -> int:
        """Bytes of one frame."""
    @property
    def depth(self) -> int:
        """Nesting of lists and objects in one frame."""
    @property
    def pending(self) -> int:
        """Open requests in each direction."""
    @property
    def sessions(self) -> int:
        """Sessions that are tracked at once."""
    @property
    def terminals(self) -> int:
        """Terminals that are tracked per session."""
    @property
    def remembered(self) -> int:
        """Things of one kind that are remembered per session beside terminals: tool calls, plans, compactions,
        modes.
        """
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Limits], tuple[int, int, int, int, int, int]]: ...

@final
class Config:
    """What a connection was made with; `Connection.config`."""
    @property
    def role(self) -> Role:
        """The side that the host plays: `client` or `agent`."""
    @property
    def framing(self) -> Framing:
        """How messages are told apart: `lines`, `content-length` or `messages`."""
    @property
    def policy(self) -> Policy:
        """What happens to messages that break a rule: `tolerant`, `strict` or `off`."""
    @property
    def policies(self) -> dict[Severity, Policy]:
        """Policies for the rules of one severity (`note`, `warning`, `error`) where they differ; see
        `Rule.severity`.
        """
    @property
    def limits(self) -> Limits:
        """Bounds."""
    @property
    def versions(self) -> tuple[int, ...]:
        """The versions of the protocol that may be agreed on, oldest first."""
    @property
    def drafts(self) -> tuple[str, ...]:
        """Drafts that are switched on."""
    @property
    def timeout(self) -> int | None:
        """Milliseconds after which a request of the host's own fails, unless the call says otherwise."""
    @property
    def cancel_grace(self) -> int | None:
        """Milliseconds that the peer has to answer a request that was cancelled."""
    @property
    def reminder(self) -> int | None:
        """Milliseconds after which the host is reminded, once, of a request of the peer's that it has not
        answered.
        """
    @property
    def prompt_queueing(self) -> bool:
        """Whether a session may have several prompts at once, for agents that queue prompts (`TURN-03`)."""
    @property
    def foreign_methods(self) -> tuple[str, ...]:
        """Methods that are neither the specification's nor begin with an underscore, and are sent and delivered
        all the same.
        """
    def __eq__(self, value: object, /) -> bool: ...

@final
class Rule:
    """One rule of the catalogue."""
    __match_args__: Final = ("id", "level", "severity")
    @property
    def id(self) -> str:
        """Its id."""
    @property
    def level(self) -> Level:
        """How binding the specification makes it: `MUST`, `MUST NOT`, `SHOULD`, `SHOULD NOT` or `MAY`."""
    @property
    def severity(self) -> Severity:
        """How bad it is when a peer breaks it: `note`, `warning` or `error`."""
    @property
    def send(self) -> bool:
        """Whether the host's calls are held to it."""
    @property
    def receive(self) -> bool:
        """Whether the peer's messages are held to it."""
    @property
    def track(self) -> bool:
        """Whether the connection follows or does what it says."""
    @property
    def text(self) -> str:
        """What it says, in one sentence."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class OpenRequest:
    """A request that has no answer yet."""
    __match_args__: Final = ("method", "id")
    @property
    def id(self) -> Id:
        """Its id."""
    @property
    def serial(self) -> int:
        """Its number on this connection; see `Request.serial`."""
    @property
    def method(self) -> str:
        """The method."""
    @property
    def session(self) -> str | None:
        """The session it is about."""
    @property
    def cancelled(self) -> bool:
        """Whether its sender has asked to cancel it."""
    @property
    def deadline(self) -> int | None:
        """When it times out, in the host's milliseconds; of a peer's request, when the host is reminded of it."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@final
class Session:
    """What is known of one session."""
    __match_args__: Final = ("state", "turn")
    @property
    def state(self) -> SessionState:
        """Whether it can be used: `loading`, `resuming` or `ready`."""
    @property
    def turn(self) -> Turn:
        """Whether the agent works for it: `idle`, `running`, `requires_action` or `cancelling`."""
    @property
    def terminals(self) -> dict[str, bool]:
        """Its open terminals, and whether the command of each has ended."""
    def __eq__(self, value: object, /) -> bool: ...

@final
class TerminalRef:
    """A terminal, by session."""
    __match_args__: Final = ("session", "terminal")
    def __new__(cls, session: str, terminal: str) -> TerminalRef: ...
    @property
    def session(self) -> str:
        """The session it belongs to."""
    @property
    def terminal(self) -> str:
        """Its id there."""
    def __eq__(self, value: object, /) -> bool: ...
    def __lt__(self, value: TerminalRef, /) -> bool: ...
    def __le__(self, value: TerminalRef, /) -> bool: ...
    def __gt__(self, value: TerminalRef, /) -> bool: ...
    def __ge__(self, value: TerminalRef, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[TerminalRef], tuple[str, str]]: ...

@final
class Request:
    """A request of the peer's; answer it with `respond` or `respond_error`."""
    __match_args__: Final = ("method", "params", "id")
    def __new__(
        cls, method: str, params: object = None, id: Id = None, session: str | None = None, serial: int = 0
    ) -> Request: ...
    @property
    def method(self) -> str:
        """The method."""
    @property
    def params(self) -> Any:
        """The params, read when first asked for; `{}` where there were none. They fit the model, except for
        extension methods.
        """
    @property
    def params_json(self) -> str:
        """The params as JSON text."""
    @property
    def id(self) -> Id:
        """Its id, exactly as sent."""
    @property
    def session(self) -> str | None:
        """The session it is about."""
    @property
    def serial(self) -> int:
        """A number for it that is unique on this connection, where an id is unwieldy."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Request], tuple[Any, ...]]: ...

@final
class Notification:
    """A notification of the peer's."""
    __match_args__: Final = ("method", "params")
    def __new__(
        cls,
        method: str,
        params: object = None,
        session: str | None = None,
        update: str | None = None,
        timing: Timing = "none",
    ) -> Notification: ...
    @property
    def method(self) -> str:
        """The method."""
    @property
    def params(self) -> Any:
        """The params, read when first asked for; `{}` where there were none. They fit the model, except for
        extension methods.
        """
    @property
    def params_json(self) -> str:
        """The params as JSON text."""
    @property
    def session(self) -> str | None:
        """The session it is about."""
    @property
    def update(self) -> str | None:
        """The kind of a `session/update`, where the model knows it."""
    @property
    def timing(self) -> Timing:
        """Where it stands in the life of its session: `turn`, `replay`, `idle` or `none`."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Notification], tuple[Any, ...]]: ...

@final
class Response:
    """The end of a request of the host's. Each request has exactly one."""
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
        """The id that `request` returned."""
    @property
    def outcome(self) -> Outcome:
        """How it ended: `result`, `error`, `invalid`, `timeout`, `cancelled` or `closed`."""
    @property
    def method(self) -> str:
        """The method that was called."""
    def result(self) -> Any:
        """The result; raises `PeerError` or `NoResult` when there is none."""
    @property
    def result_json(self) -> str | None:
        """The result as JSON text, if there is one."""
    @property
    def error(self) -> PeerError | None:
        """The peer's error, if it sent one."""
    @property
    def session(self) -> str | None:
        """The session it was about."""
    @property
    def serial(self) -> int:
        """The request's own number; see `OpenRequest.serial`."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Response], tuple[Any, ...]]: ...

@final
class LateResponse:
    """An answer of the peer's to a request that had ended with the outcome `timeout` or `cancelled`. What it
    opened is open: close the session or release the terminal if nobody wants it any more.
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
        """The id that `request` returned."""
    @property
    def outcome(self) -> Outcome:
        """What it is: `result`, `error` or `invalid`."""
    @property
    def method(self) -> str:
        """The method that was called."""
    def result(self) -> Any:
        """The result; raises `PeerError` or `NoResult` when there is none."""
    @property
    def result_json(self) -> str | None:
        """The result as JSON text, if there is one."""
    @property
    def error(self) -> PeerError | None:
        """The peer's error, if it sent one."""
    @property
    def session(self) -> str | None:
        """The session it was about."""
    @property
    def serial(self) -> int:
        """The request's own number; see `OpenRequest.serial`."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[LateResponse], tuple[Any, ...]]: ...

@final
class Cancel:
    """The peer no longer wants the answer to a request (`$/cancel_request`). It must be answered all the same."""
    __match_args__: Final = ("id", "method")
    def __new__(cls, id: Id, method: str, session: str | None = None, serial: int = 0) -> Cancel: ...
    @property
    def id(self) -> Id:
        """The id of the peer's request."""
    @property
    def method(self) -> str:
        """The method that was called."""
    @property
    def session(self) -> str | None:
        """The session it is about."""
    @property
    def serial(self) -> int:
        """The request's own number; see `Request.serial`."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Cancel], tuple[Any, ...]]: ...

@final
class Answered:
    """The core has answered a request of the peer's in the host's place: close the dialog, an answer of the host's
    would be a second one.
    """
    __match_args__: Final = ("id", "method", "rule")
    def __new__(cls, id: Id, method: str, rule: str, session: str | None = None, serial: int = 0) -> Answered: ...
    @property
    def id(self) -> Id:
        """The id of the peer's request."""
    @property
    def method(self) -> str:
        """The method that was called."""
    @property
    def rule(self) -> str:
        """The rule that asks for it."""
    @property
    def session(self) -> str | None:
        """The session it is about."""
    @property
    def serial(self) -> int:
        """The request's own number; see `Request.serial`."""
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
        """The rule, as listed in the rule catalogue."""
    @property
    def message(self) -> str:
        """What is wrong, in one sentence."""
    @property
    def pointer(self) -> str:
        """JSON pointer into the params or result; empty when it is about the message as a whole."""
    @property
    def method(self) -> str | None:
        """The method, where one could be read."""
    @property
    def id(self) -> Id:
        """The id, where one could be read."""
    @property
    def has_id(self) -> bool:
        """Whether an id could be read: tells an id that is `None` from no id."""
    @property
    def session(self) -> str | None:
        """The session it is about, where one could be read before what is wrong."""
    @property
    def frame(self) -> int:
        """The number of the frame on this connection, from 1."""
    @property
    def excerpt(self) -> str:
        """Its first bytes, at most 256, with U+FFFD for what is not UTF-8."""
    @property
    def consequence(self) -> Consequence:
        """What became of the message: `delivered`, `dropped` or `refused`."""
    @property
    def code(self) -> int | None:
        """The code of the error that it was answered with, if it was."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Violation], tuple[Any, ...]]: ...

@final
class Advice:
    """The host's own message went out, but a rule that does not bind says that it should not look like this. Or it
    has not gone out at all: a request of the peer's has waited for its answer as long as `reminder` says
    (`RPC-15`).
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
        """The rule, as listed in the rule catalogue."""
    @property
    def message(self) -> str:
        """What is odd, in one sentence."""
    @property
    def pointer(self) -> str:
        """JSON pointer into the params or result."""
    @property
    def method(self) -> str:
        """The method; of an answer, the method that was called."""
    @property
    def id(self) -> Id:
        """The id of the peer's request that it is about: of an answer, and of a reminder that there is none yet."""
    @property
    def has_id(self) -> bool:
        """Whether it is about a request of the peer's: tells an id that is `None` from no id."""
    @property
    def session(self) -> str | None:
        """The session it is about."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Advice], tuple[Any, ...]]: ...

@final
class Closed:
    """The connection is over; the last event."""
    __match_args__: Final = ("reason",)
    def __new__(
        cls, reason: CloseReason, unanswered: Sequence[Id] = ..., terminals: Sequence[TerminalRef] = ...
    ) -> Closed: ...
    @property
    def reason(self) -> CloseReason:
        """Why: `end_of_stream`, `host` or `version`."""
    @property
    def unanswered(self) -> tuple[Id, ...]:
        """Ids of the peer's requests that the host never answered, oldest first."""
    @property
    def terminals(self) -> tuple[TerminalRef, ...]:
        """Terminals that were never released."""
    def __eq__(self, value: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Closed], tuple[Any, ...]]: ...

@final
class Events(Iterator[Event]):
    """The iterator of `Connection.events`."""
    def __iter__(self) -> Events: ...
    def __next__(self) -> Event: ...

@final
class Connection:
    """One peer, seen from one side.

    The drain order after anything went in (bytes, end of stream, time, a call of the host's): `next_event`
    until it returns `None`, then write what `data_to_send` returns, then ask `poll_timeout` when to come back.

    One thread at a time: a call while another thread is inside one raises `RuntimeError` and changes nothing.
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
    ) -> Connection: ...
    def receive_data(self, data: bytes | bytearray | memoryview, /) -> None:
        """Takes bytes from the peer, in any split (with the framing `messages`: one message a call). Never fails
        for what is in them; what is wrong becomes events.
        """
    def receive_eof(self) -> None:
        """The peer has closed its side: what was received is still read, then everything open ends."""
    def next_event(self) -> Event | None:
        """The next thing that the host must know, or `None`."""
    def events(self) -> Events:
        """The events that are there now, until there are none."""
    def data_to_send(self) -> bytes:
        """All bytes for the peer, which count as written from now on. With the framing `messages`: one message;
        call until it returns nothing.
        """
    def transmit(self, limit: int | None = None) -> bytes:
        """Bytes for the peer, at most `limit` of them, which go on waiting until they are consumed."""
    def consume(self, count: int) -> None:
        """Takes `count` bytes of `transmit` as written; partial writes are normal."""
    def request(
        self,
        method: str,
        params: Mapping[str, object] | RawJson | None = None,
        *,
        id: int | str = ...,
        timeout: int | None = ...,
    ) -> int | str:
        """Sends a request and returns its id; the answer comes as one `Response`.

        For `initialize`, `protocolVersion` is filled in when it is left out. `timeout` is in milliseconds from
        the time that was last told; `None` waits for ever, also where the connection has a time-out. Raises
        `Misuse` when the call is not allowed now; nothing is sent then.
        """
    def notify(self, method: str, params: Mapping[str, object] | RawJson | None = None) -> None:
        """Sends a notification. `session/cancel` also answers the session's open permission requests with
        `cancelled`.

        Raises `Misuse` when it is not allowed now; nothing is sent then.
        """
    def respond(self, request: Request | Cancel | OpenRequest | Id, result: object) -> None:
        """Answers a request of the peer's, named by its event or its id. For `initialize`, `protocolVersion` is
        filled in when it is left out.

        Raises `Misuse` when no such request is open or the result does not fit; nothing is sent then.
        """
    def respond_error(
        self, request: Request | Cancel | OpenRequest | Id, code: int, message: str, data: object = None
    ) -> None:
        """Answers a request of the peer's with an error. The error of a prompt that the client has cancelled is
        sent as the stop reason `cancelled`.

        Raises `Misuse` when no such request is open; nothing is sent then.
        """
    def cancel(self, id: int | str) -> None:
        """Asks the peer to cancel a request of the host's own (`$/cancel_request`). Its answer still comes,
        whatever it is. Asking twice sends nothing more.
        """
    def close(self) -> None:
        """Ends the connection from this side: permission requests that are open are answered `cancelled`, own
        requests end as `closed`, and what waits can still be sent.
        """
    def handle_timeout(self, now: int) -> None:
        """Tells the time, in milliseconds on a clock of the host's own that does not run backwards. Requests whose
        time is up end as `timeout`, and of the peer's that wait too long the host is reminded by an `Advice`.
        """
    def poll_timeout(self) -> int | None:
        """When `handle_timeout` is wanted, on the host's clock."""
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
    # The end of what is generated.
    def can(self, method: str) -> bool:
        """Whether a method could be sent now as far as version, side, phase and capabilities go."""
    def why_not(self, method: str) -> Misuse | None:
        """Why a method could not be sent now, as the `Misuse` that the call would raise; `None` when it could."""

@final
class ObserverEvents(Iterator[tuple[Role, Event]]):
    """The iterator of `Observer.events`."""
    def __iter__(self) -> ObserverEvents: ...
    def __next__(self) -> tuple[Role, Event]: ...

@final
class Observer:
    """Looks on while a client and an agent talk, and reports what either of them does wrong. It sends nothing.

    The bytes of each side go in with `receive_data`, in the order in which they were sent. After each call take
    `next_event` until it returns `None`: what was received is read then. Each event comes with the side that
    sent it, so a `Violation` with the side that broke the rule; its consequence is what a receiver is to do
    about the message, and what the real one did is in what follows.

    Without `versions`, all versions of the protocol are followed. One thread at a time, as with a `Connection`.
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
    ) -> Observer: ...
    def receive_data(self, side: Role, data: bytes | bytearray | memoryview, /) -> None:
        """Takes bytes that one side (`client` or `agent`) has sent, in any split (with the framing `messages`: one
        message a call). Never fails for what is in them; what is wrong becomes events. Bytes of the two sides
        go in in the order in which they were sent: an answer before its request is an answer to nothing.
        """
    def receive_eof(self, side: Role, /) -> None:
        """One side (`client` or `agent`) has closed its stream. Once both have, requests that were never answered
        end as `closed`, and the last event is a `Closed`.
        """
    def next_event(self) -> tuple[Role, Event] | None:
        """What was seen next, and the side that sent it; `None` when there is nothing more now. A `Response` for
        want of an answer comes with the side that had asked.
        """
    def events(self) -> ObserverEvents:
        """What was seen, each event with the side that sent it, until there is nothing more now."""
    @property
    def buffered(self) -> int:
        """How much was received and has not been read yet, of both sides. In bytes."""
    @property
    def version(self) -> int | None:
        """The version that both sides have agreed on; before the agent has answered, what it is expected to
        answer. `None` before `initialize`.
        """
    @property
    def phase(self) -> Phase:
        """How far the conversation is: `start`, `initializing`, `ready` or `closed`."""
    def capabilities(self, side: Role) -> dict[str, Any]:
        """What one side (`client` or `agent`) can do: its capabilities object, `{}` before `initialize`. A new
        object each time.
        """
    @property
    def sessions(self) -> dict[str, Session]:
        """The sessions that are known now, by id."""
    def session(self, id: str) -> Session | None:
        """What is known of one session at a glance. `None` when the session is not known."""
    def open_requests(self, side: Role) -> list[OpenRequest]:
        """The requests that one side (`client` or `agent`) has sent and that have no answer yet, oldest first."""
    def snapshot(self) -> ConnectionSnapshot:
        """All that is known of the conversation as a whole, as `Connection.snapshot` has it."""
    def session_snapshot(self, id: str) -> SessionSnapshot | None:
        """All that is known of a session, as `Connection.session_snapshot` has it. `None` when the session is not
        known.
        """
