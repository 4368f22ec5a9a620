"""What `Server` and `Client` are given, and what they say: dicts with the names of the test vectors."""

from __future__ import annotations

from typing import List, Literal, Optional, TypedDict, Union

Id = Union[int, str, None]


class ServerLimits(TypedDict, total=False):
    """Bounds of a server."""

    body: int
    """Bytes of one message from a client. 16 MiB."""
    bodies: int
    """Bytes of all bodies that are not complete. 64 MiB."""
    headers: int
    """Headers of a request. 100."""
    header_bytes: int
    """Bytes of all headers of a request. 32 KiB."""
    connections: int
    """Open connections. 10,000."""
    sessions: int
    """Sessions of a connection. 256."""
    early_streams: int
    """Streams of a connection for sessions that it does not know yet. 16."""
    calls: int
    """Open calls of a connection, in each direction. 1,024."""
    stream: int
    """Bytes that wait for the reader of a stream or a socket; then the agent has to wait. 1 MiB."""
    unread: int
    """Bytes that wait for a stream that is not open. 256 KiB."""
    retained: int
    """Bytes of each stream that were written and are kept for readers that resume (``Last-Event-ID``): a draft. 0."""
    inbox: int
    """Bytes that wait for the agent of a connection; then the client has to wait. 4 MiB."""
    remembered: int
    """Connections that are gone and whose end is still told. 1,000."""


class ServerTimes(TypedDict, total=False):
    """Times of a server, in milliseconds."""

    keep_alive: int
    """A stream that is silent for so long gets a comment. 15 seconds."""
    idle: int
    """A connection without a stream and without a request ends after this. 10 minutes."""
    body: int
    """How long a body may take. 30 seconds."""
    initialize: int
    """How long the agent may take to answer `initialize`, and a client of a socket to send it. 30 seconds."""
    stall: int
    """How long a reader may take nothing while its buffer is full. 60 seconds."""
    blocking: int
    """The same while another session of the connection waits behind it. 15 seconds; never longer than `stall`."""
    replay: int
    """How long the answer to a load waits for its history to be read (`HTTP-12`). 2 seconds."""
    remember: int
    """How long the end of a connection is told to those who ask for it. 60 seconds."""


class ServerOptions(TypedDict, total=False):
    """The options of a `Server`."""

    path: str
    """The path of the endpoint, ``/acp`` by default; empty for any."""
    hosts: List[str]
    """Hosts that are answered besides the names of this machine (`HTTP-24`)."""
    any_host: bool
    """Whether any host is answered, for servers behind a proxy that checks it."""
    origins: List[str]
    """Origins whose pages are served besides the server's own (`HTTP-23`)."""
    token: str
    """What every request has to carry as a bearer token (`HTTP-25`)."""
    prefix: str
    """What the ids of connections begin with."""
    strict: bool
    """Nothing is tolerated."""
    tolerates: List[str]
    """What is tolerated all the same: ``early-stream``, ``initialized``, ``opens-without-header``, ``needless-header``,
    ``answer-without-header``, ``stale-reader``, ``initialize-again``.
    """
    limits: ServerLimits
    """What is bounded (`HTTP-27`)."""
    times: ServerTimes
    """How long something may take (`HTTP-28`)."""


class ClientLimits(TypedDict, total=False):
    """Bounds of a client."""

    message: int
    """Bytes of one message from the server. 64 MiB."""
    outbox: int
    """Bytes of messages that wait to be sent. 4 MiB."""
    calls: int
    """Open calls in each direction. 1,024."""
    sessions: int
    """Sessions. 256."""
    streams: int
    """Streams that can be open at once. No bound."""


class ClientTimes(TypedDict, total=False):
    """Times of a client, in milliseconds."""

    quiet: int
    """How long the stream of a session has to be silent before the answer to its load is taken for the end of its history
    (`HTTP-12`); 0 for not at all. 50.
    """
    replay: int
    """How long that answer waits at most. 2 seconds."""
    open: int
    """How long the messages of a session wait for its stream to open. 1 second."""
    response: int
    """How long a request may take until its response begins, and `initialize` until it is answered. 30 seconds."""
    first: int
    """How long nothing may come on any stream while the answer to a call that the server has accepted is due on one, before
    that is told (`Silent`); 0 for never. It should be longer than the time between the comments of the server (`HTTP-21`).
    20 seconds.
    """
    silence: int
    """How long a stream that has had comments may be silent before it is taken for dead (`HTTP-21`), and how long one that does
    not come back is looked for before what it belongs to is given up. It should be longer than the server keeps a
    connection that nobody uses. 75 seconds.
    """
    doubt: int
    """How long the answers to calls may be missing after a stream broke. 5 minutes."""
    retry: int
    """The time before the second attempt to reconnect; it doubles with each. 250."""
    longest_retry: int
    """The longest time between attempts. 30 seconds."""
    give_up: int
    """How long a lost connection is tried to be opened again, until one lasts for 5 seconds. 5 minutes."""


class ClientOptions(TypedDict, total=False):
    """The options of a `Client`."""

    target: str
    """The path of the address with its query; ``/acp`` by default."""
    host: str
    """The host of the address without its port, for cookies; empty if the HTTP library keeps them."""
    secure: bool
    """Whether the address is ``https`` or ``wss``."""
    websocket: bool
    """Whether messages are carried by a WebSocket."""
    reconnect: bool
    """Whether a lost connection is opened again, with its sessions; by default it is."""
    resumable: bool
    """Whether streams are opened again with ``Last-Event-ID``: a draft."""
    strict: bool
    """Nothing is tolerated."""
    tolerates: List[str]
    """What is tolerated all the same: ``load-answer``, ``id-in-body``, ``any-status``."""
    limits: ClientLimits
    """Bounds."""
    times: ClientTimes
    """Times."""


class Report(TypedDict):
    """A rule that a client broke, or that the agent would better keep. It has no text of the peer's."""

    event: Literal["violation", "advice"]
    """Which of both."""
    rule: str
    """The rule."""
    message: str
    """What was wrong, and what was done."""
    status: Optional[int]
    """The status with which it was refused; ``None`` if it was accepted."""
    exchange: Optional[int]
    """The exchange, if it was about one."""
    connection: Optional[int]
    """The connection, if it is known."""


class Connected(TypedDict):
    """The connection is open, for the first time or again."""

    event: Literal["connected"]
    id: str
    """The value of ``Acp-Connection-Id``."""


class Closing(TypedDict, total=False):
    """What a close frame says."""

    code: int
    """The code with which the server closed the WebSocket (RFC 6455, 7.4): 1009 if a message was over its limit. Absent without
    one."""


class Lost(Closing):
    """The connection was lost, or the messages of a session were."""

    event: Literal["lost"]
    calls: List[Id]
    """Calls that nobody will answer. Whether the agent has carried them out is unknown."""
    questions: List[Id]
    """Requests of the agent that need no answer any more. One that comes all the same raises `IdMisuse` (`HTTP-11`)."""
    sessions: List[str]
    """Sessions, which are opened again as soon as there is a connection, if the agent can."""


class Retrying(TypedDict):
    """Another attempt to connect is made at this time."""

    event: Literal["retrying"]
    at: int
    """When, in milliseconds of the client's clock."""


class Attached(TypedDict):
    """A session is open again."""

    event: Literal["attached"]
    session: str
    """The session."""
    replayed: bool
    """Whether its history was told once more."""


class Detached(TypedDict):
    """A session could not be opened again, or its messages were lost."""

    event: Literal["detached"]
    session: str
    """The session."""


class Gap(TypedDict):
    """A stream broke and is open again. Messages that were on their way may be missing."""

    event: Literal["gap"]
    session: Optional[str]
    """The session; ``None`` for the stream of the connection."""


class Silent(TypedDict):
    """Nothing comes on a stream although an answer is due there, as behind a proxy that buffers responses. It stays open."""

    event: Literal["silent"]
    session: Optional[str]
    """The session; ``None`` for the stream of the connection."""
    waited: int
    """How long it has been silent, in milliseconds, since it was open and a call was accepted."""
    head: bool
    """Whether the head of its response has come."""
    message: str
    """What may be the matter, and what to do."""


class Unauthorized(TypedDict):
    """The server wants other credentials. Nothing is sent until it has them."""

    event: Literal["unauthorized"]
    status: int
    """401 or 403."""
    challenge: Optional[str]
    """The value of ``WWW-Authenticate``."""


class Saying(TypedDict, total=False):
    """What a refusal says."""

    message: str
    """The message of the server's error. Absent without one."""


class Refused(Saying):
    """The server refused an answer or a notification. A call that is refused ends with an error."""

    event: Literal["refused"]
    status: int
    """The status; 0 if nobody knows whether the message arrived."""
    method: str
    """The method, empty for an answer."""


class Violation(TypedDict):
    """The server broke a rule."""

    event: Literal["violation"]
    rule: str
    """The rule."""
    message: str
    """What was wrong."""
    session: Optional[str]
    """The session, if it was about one."""


ClosedWhy = Literal["host", "not-initialized", "not-served", "refused", "unreachable", "protocol"]


class _Closed(TypedDict):
    event: Literal["closed"]
    why: ClosedWhy
    """Why."""


class Closed(_Closed, total=False):
    """The conversation is over."""

    status: int
    """The status of the response, where there was one: for ``not-served`` and ``refused``."""


TransportEvent = Union[
    Connected, Lost, Retrying, Attached, Detached, Gap, Silent, Unauthorized, Refused, Violation, Closed
]
"""What `libacp.aio.connect` tells of a connection to a remote agent."""
