//! What a server tells its host.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use crate::http::Response;
use crate::rules::RuleId;

/// Names one of the connections of a server. Keys are never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ConnectionKey(pub(super) u64);

impl ConnectionKey {
    /// The number, for hosts that keep numbers.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The key with this number. One that was never given out names no connection.
    pub const fn from_number(number: u64) -> Self {
        ConnectionKey(number)
    }
}

/// What to do with a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "step", rename_all = "kebab-case")]
#[must_use]
pub enum Step {
    /// Send this response. The server has forgotten the exchange.
    Respond(Response),
    /// Read the body, of at most so many more bytes, and pass it to [`Server::body`](super::Server::body).
    Body {
        /// Bytes that the body may still have.
        limit: usize,
    },
    /// The response comes by [`Event::Respond`].
    Wait,
    /// Send this head and keep the body open; its bytes are at [`Server::transmit`](super::Server::transmit).
    Stream(Response),
    /// Accept the WebSocket with the headers of this response. Its frames come by [`Server::frame`](super::Server::frame).
    Upgrade(Response),
}

/// Something that has happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Event {
    /// A client has opened a connection; start an agent for it.
    Opened {
        /// The new connection.
        connection: ConnectionKey,
    },
    /// A message from a client, for the agent of its connection.
    Message {
        /// The connection.
        connection: ConnectionKey,
        /// The message, as the client has sent it.
        json: String,
    },
    /// A connection is over; nothing more comes from it, and nothing can be sent to it.
    Closed {
        /// The connection.
        connection: ConnectionKey,
        /// Why.
        why: Closed,
    },
    /// The response to a request for which [`Step::Wait`] was returned.
    Respond {
        /// The exchange.
        exchange: u64,
        /// What to send.
        response: Response,
    },
    /// There are bytes to write on a stream, or frames on a socket.
    Ready {
        /// The exchange.
        exchange: u64,
    },
    /// A stream ends: write what is left, then end the body and call [`Server::closed`](super::Server::closed).
    Finish {
        /// The exchange.
        exchange: u64,
    },
    /// After [`SendError::Full`]: there is room again.
    Drained {
        /// The connection.
        connection: ConnectionKey,
    },
    /// A client broke a rule.
    Violation(Report),
    /// The agent did what is allowed and will not work well.
    Advice(Report),
}

/// A rule that was broken, and where. It has no text of the peer's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Report {
    /// The rule.
    pub rule: RuleId,
    /// What was wrong, and what was done.
    pub message: Cow<'static, str>,
    /// The status with which it was refused; `None` if it was accepted.
    pub status: Option<u16>,
    /// The exchange, if it was about one.
    pub exchange: Option<u64>,
    /// The connection, if it is known.
    pub connection: Option<ConnectionKey>,
}

/// Why a connection is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Closed {
    /// The client has ended it: `DELETE`, or a socket that closed (HTTP-14, WS-05).
    Client,
    /// The host has, because the agent is gone or the server stops.
    Host,
    /// `initialize` failed, or took too long (HTTP-28).
    NotInitialized,
    /// Nobody used it (HTTP-21).
    Idle,
    /// The client read nothing for too long, or did not answer pings (HTTP-28).
    Stalled,
    /// The client sent what a socket may not carry.
    Protocol,
}

impl Closed {
    /// The reason in one sentence, for logs and for clients that ask for the connection afterwards.
    pub const fn text(self) -> &'static str {
        match self {
            Closed::Client => "the client has ended this connection",
            Closed::Host => "the agent of this connection has ended",
            Closed::NotInitialized => "this connection was not initialized",
            Closed::Idle => "nobody used this connection for too long",
            Closed::Stalled => "nobody read what this connection had to say",
            Closed::Protocol => "the client broke the protocol on this connection",
        }
    }
}

impl fmt::Display for Closed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

/// Why a message was not sent. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// The connection is over.
    Closed,
    /// Too much waits for the client. Send the message again after [`Event::Drained`], and read nothing from the agent
    /// until then.
    Full,
    /// The message cannot be sent at all: it is no message (RPC-21, RPC-22), a batch (HTTP-15), or an answer to no call of
    /// the client (HTTP-11).
    Misuse {
        /// The rule that does not allow it.
        rule: RuleId,
        /// What is wrong.
        message: &'static str,
    },
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SendError::Closed => f.write_str("the connection is over"),
            SendError::Full => f.write_str("too much waits for the client"),
            SendError::Misuse { rule, message } => write!(f, "{rule}: {message}"),
        }
    }
}

impl std::error::Error for SendError {}
