"""What a `Server` and a `Client` tell those who drive them, besides what everybody may want to know (`_types`)."""

from __future__ import annotations

from typing import Iterable, List, Literal, Mapping, Optional, Tuple, TypedDict, Union

from ._types import Report, TransportEvent

Piece = Union[str, bytes]
Headers = Union[Iterable[Tuple[Piece, Piece]], Mapping[str, str]]
Pairs = List[Tuple[str, str]]


class TextFrame(TypedDict):
    """A text frame with one message."""

    frame: Literal["text"]
    text: str
    """The message."""


class PingFrame(TypedDict):
    """A ping without data. Libraries that send their own leave it out."""

    frame: Literal["ping"]


class CloseFrame(TypedDict):
    """The last frame."""

    frame: Literal["close"]
    code: int
    """The code of RFC 6455."""
    reason: str
    """The reason."""


Frame = Union[TextFrame, PingFrame, CloseFrame]


class Response(TypedDict):
    """A response."""

    status: int
    """The status."""
    headers: Pairs
    """The headers, without the length of the body."""
    body: str
    """The body; empty, or JSON."""


class Respond(Response):
    """Send this response. The server has forgotten the exchange."""

    step: Literal["respond"]


class Body(TypedDict):
    """Pass the body to `Server.body`."""

    step: Literal["body"]
    limit: int
    """Bytes that it may still have."""


class Wait(TypedDict):
    """The response comes as an event."""

    step: Literal["wait"]


class Stream(Response):
    """Send this head and keep the body open: its bytes are what `Server.transmit` returns."""

    step: Literal["stream"]


class Upgrade(Response):
    """Accept the WebSocket with these headers: its frames are what `Server.frame` returns."""

    step: Literal["upgrade"]


Step = Union[Respond, Body, Wait, Stream, Upgrade]


class Opened(TypedDict):
    """A client has opened a connection; start an agent for it."""

    event: Literal["opened"]
    connection: int
    """The new connection."""


class Message(TypedDict):
    """A message from a client, for the agent of its connection."""

    event: Literal["message"]
    connection: int
    """The connection."""
    json: str
    """The message, as the client has sent it."""


class Ended(TypedDict):
    """A connection is over; nothing more comes from it."""

    event: Literal["closed"]
    connection: int
    """The connection."""
    why: Literal["client", "host", "not-initialized", "idle", "stalled", "protocol"]
    """Why."""


class Answer(TypedDict):
    """The response to a request that waits."""

    event: Literal["respond"]
    exchange: int
    """The exchange."""
    response: Response
    """What to send."""


class Ready(TypedDict):
    """There are bytes to write on a stream, or frames on a socket."""

    event: Literal["ready"]
    exchange: int
    """The exchange."""


class Finish(TypedDict):
    """A stream ends: write what is left, end the body, and call `Server.closed`."""

    event: Literal["finish"]
    exchange: int
    """The exchange."""


class Drained(TypedDict):
    """There is room again, after `Server.send` has returned ``full``."""

    event: Literal["drained"]
    connection: int
    """The connection."""


ServerEvent = Union[Opened, Message, Ended, Answer, Ready, Finish, Drained, Report]


class Outgoing(TypedDict):
    """Make a request."""

    event: Literal["request"]
    exchange: int
    """The number of the exchange."""
    method: str
    """The method."""
    target: str
    """The target."""
    headers: Pairs
    """The headers, without the host and the length of the body."""
    body: str
    """The body; empty for none."""


class Connect(TypedDict):
    """Open a WebSocket. Its response is passed in like any other, with status 101."""

    event: Literal["connect"]
    exchange: int
    """The exchange that the socket is."""
    headers: Pairs
    """The headers besides those of the handshake."""


class SendFrame(TypedDict):
    """Send a frame on the socket."""

    event: Literal["frame"]
    exchange: int
    """The exchange."""
    frame: Frame
    """The frame."""


class Abort(TypedDict):
    """Give up an exchange; nothing more of it is wanted."""

    event: Literal["abort"]
    exchange: int
    """The exchange."""


class Received(TypedDict):
    """A message from the server."""

    event: Literal["message"]
    json: str
    """The message."""
    replayed: bool
    """Whether it is the history of a session that is being loaded."""


Action = Union[Outgoing, Connect, SendFrame, Abort, Received, TransportEvent]
"""What `Client.poll_action` returns."""

__all__ = [
    "Abort",
    "Action",
    "Answer",
    "Body",
    "CloseFrame",
    "Connect",
    "Drained",
    "Ended",
    "Finish",
    "Frame",
    "Headers",
    "Message",
    "Opened",
    "Outgoing",
    "Pairs",
    "PingFrame",
    "Ready",
    "Received",
    "Respond",
    "Response",
    "SendFrame",
    "ServerEvent",
    "Step",
    "Stream",
    "TextFrame",
    "Upgrade",
    "Wait",
]
