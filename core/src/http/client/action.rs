//! What a client asks its host to do, and what it tells.

use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use crate::http::ws::Frame;
use crate::rules::RuleId;
use crate::Id;

/// Something to do, or that has happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Action {
    /// Make a request. Pass what comes of it to [`Client::response`](super::Client::response), `data`, `end` and `failed`.
    Request(Outgoing),
    /// Open a WebSocket with these headers. Its response is passed in like any other, with status 101.
    Connect {
        /// The exchange that the socket is.
        exchange: u64,
        /// The headers besides those of the handshake.
        headers: Vec<(Cow<'static, str>, String)>,
    },
    /// Send a frame on the socket.
    Frame {
        /// The exchange.
        exchange: u64,
        /// The frame.
        frame: Frame,
    },
    /// Give up an exchange; nothing more of it is wanted.
    Abort {
        /// The exchange.
        exchange: u64,
    },
    /// A message from the server.
    Message {
        /// The message.
        json: String,
        /// Whether it is the history of a session that is being loaded.
        replayed: bool,
    },
    /// The connection is open, for the first time or again.
    Connected {
        /// The value of `Acp-Connection-Id`.
        id: String,
    },
    /// The connection was lost.
    Lost(Lost),
    /// Another attempt is made at this time.
    Retrying {
        /// When, in milliseconds.
        at: u64,
    },
    /// A session is open again.
    Attached {
        /// The session.
        session: String,
        /// Whether its history was told once more.
        replayed: bool,
    },
    /// A session could not be opened again, or its messages were lost.
    Detached {
        /// The session.
        session: String,
    },
    /// A stream broke and is open again. Messages that were on their way may be missing.
    Gap {
        /// The session; `None` for the stream of the connection.
        session: Option<String>,
    },
    /// Nothing comes on a stream although an answer is due there, as behind a proxy that buffers responses. It stays open.
    Silent(Silence),
    /// The server wants other credentials: set a header and call [`Client::retry`](super::Client::retry). Nothing is sent
    /// until then.
    Unauthorized {
        /// 401 or 403.
        status: u16,
        /// The value of `WWW-Authenticate`.
        challenge: Option<String>,
    },
    /// The server refused an answer or a notification of the host. A call that is refused ends with an error, whose data has
    /// the `status`, and as `error` the server's own.
    Refused {
        /// The status.
        status: u16,
        /// The method, empty for an answer.
        method: String,
        /// The message of the server's error, if its response has one of at most 4 KiB.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The server broke a rule.
    Violation(ClientReport),
    /// The conversation is over.
    Closed(ClosedWhy),
}

/// A request to make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Outgoing {
    /// The number of the exchange.
    pub exchange: u64,
    /// The method.
    pub method: &'static str,
    /// The target.
    pub target: String,
    /// The headers, without the host and the length of the body.
    pub headers: Vec<(Cow<'static, str>, String)>,
    /// The body; empty for none.
    pub body: String,
}

/// What was lost with a connection.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
#[non_exhaustive]
pub struct Lost {
    /// Calls of the host that nobody will answer. Whether the agent has carried them out is unknown.
    #[serde(serialize_with = "crate::http::json::ids")]
    pub calls: Vec<Id>,
    /// Requests of the agent that need no answer any more. One that comes all the same is a misuse (HTTP-11), which a host
    /// can leave at that.
    #[serde(serialize_with = "crate::http::json::ids")]
    pub questions: Vec<Id>,
    /// Sessions, which are opened again as soon as there is a connection, if the agent can.
    pub sessions: Vec<String>,
    /// The code with which the server closed the WebSocket (RFC 6455, 7.4): 1009 if a message was over its limit (HTTP-27),
    /// 1008 if it does not allow what the client did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<u16>,
}

impl Lost {
    /// An error for a call whose outcome is unknown (HTTP-18), for hosts that need an answer.
    pub fn answer(id: &Id) -> String {
        let data = r#"{"rule":"HTTP-18","outcome":"unknown"}"#;
        let text = "The connection was lost before the answer came";
        crate::jsonrpc::write_error(id, crate::ErrorCode::INTERNAL_ERROR, text, Some(data))
    }
}

/// A stream on which nothing has come since it was asked for, neither an event nor a comment, although the server has accepted
/// a call whose answer comes there (HTTP-21).
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Silence {
    /// The session; `None` for the stream of the connection.
    pub session: Option<String>,
    /// How long it has been silent, in milliseconds, since it was open and the call was accepted.
    pub waited: u64,
    /// Whether the head of its response has come.
    pub head: bool,
    /// What may be the matter, and what to do.
    pub message: Cow<'static, str>,
}

/// A rule that the server broke, or that the host should know of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ClientReport {
    /// The rule.
    pub rule: RuleId,
    /// What was wrong.
    pub message: Cow<'static, str>,
    /// The session, if it was about one.
    pub session: Option<String>,
}

/// Why a conversation is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(tag = "why", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ClosedWhy {
    /// The host has ended it.
    Host,
    /// `initialize` was answered with an error.
    NotInitialized,
    /// The server does not serve this transport; another may work (HTTP-02).
    NotServed {
        /// The status.
        status: u16,
    },
    /// The server refused to open a connection.
    Refused {
        /// The status.
        status: u16,
    },
    /// The server could not be reached for too long.
    Unreachable,
    /// The server broke the protocol, so that nothing can be done.
    Protocol,
}

/// Why a message was not sent. Nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ClientSendError {
    /// The conversation is over.
    Closed,
    /// Too much waits to be sent; try again when [`Client::is_hungry`](super::Client::is_hungry) says so.
    Full,
    /// The message cannot be sent.
    Misuse {
        /// The rule that does not allow it.
        rule: RuleId,
        /// What is wrong, and what to do instead.
        message: &'static str,
    },
}

impl fmt::Display for ClientSendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ClientSendError::Closed => f.write_str("the conversation is over"),
            ClientSendError::Full => f.write_str("too much waits to be sent"),
            ClientSendError::Misuse { rule, message } => write!(f, "{rule}: {message}"),
        }
    }
}

impl std::error::Error for ClientSendError {}
