//! What a server is told once: where it is, whom it serves, what is bounded, and how long it waits.

use serde::Deserialize;

use crate::http::tolerance::Tolerance;
use crate::http::{Allowed, Token};

/// The settings of a [`Server`](super::Server). The default serves `/acp` for this machine alone.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ServerOptions {
    /// The path of the endpoint; empty for any, where the host has looked at the path itself.
    pub path: String,
    /// The hosts and origins that are accepted (HTTP-23, HTTP-24).
    pub allowed: Allowed,
    /// What every request has to carry, if anything (HTTP-25).
    pub token: Option<Token>,
    /// What is accepted although the draft says otherwise.
    pub tolerance: Tolerance,
    /// What the ids of connections begin with, such as the name of a node that a load balancer looks for; visible ASCII.
    pub prefix: String,
    /// What is bounded (HTTP-27).
    pub limits: ServerLimits,
    /// How long something may take (HTTP-28), in milliseconds.
    pub times: ServerTimes,
}

impl Default for ServerOptions {
    fn default() -> Self {
        ServerOptions {
            path: "/acp".into(),
            allowed: Allowed::local(),
            token: None,
            tolerance: Tolerance::default(),
            prefix: String::new(),
            limits: ServerLimits::default(),
            times: ServerTimes::default(),
        }
    }
}

/// Bounds of a [`Server`](super::Server).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ServerLimits {
    /// Bytes of one message from a client: the body of a `POST`, or a text frame. 16 MiB.
    pub body: usize,
    /// Bytes of all bodies that are not complete. 64 MiB.
    pub bodies: usize,
    /// Headers of a request. 100.
    pub headers: usize,
    /// Bytes of all headers of a request. 32 KiB.
    pub header_bytes: usize,
    /// Open connections. 10,000.
    pub connections: usize,
    /// Sessions of a connection, each with a stream. 256.
    pub sessions: usize,
    /// Streams of a connection for sessions that it does not know yet, and that no call that is with the agent opens. 16.
    pub early_streams: usize,
    /// Open calls of a connection, in each direction. 1,024.
    pub calls: usize,
    /// Bytes that wait for the reader of a stream or a socket; then the agent has to wait. 1 MiB.
    pub stream: usize,
    /// Bytes that wait for a stream that is not open. 256 KiB.
    pub unread: usize,
    /// Bytes of each stream that were written and are kept, so that a reader whose connection broke goes on behind the last
    /// event that it has (`Last-Event-ID`): a draft. Events have ids then. 0, for none.
    pub retained: usize,
    /// Bytes that wait for the agent of a connection; then the client has to wait. 4 MiB.
    pub inbox: usize,
    /// Connections that are gone and whose end is still told. 1,000.
    pub remembered: usize,
}

impl ServerLimits {
    /// Whether streams can be resumed.
    pub(super) const fn resumable(&self) -> bool {
        self.retained > 0
    }
}

impl Default for ServerLimits {
    fn default() -> Self {
        ServerLimits {
            body: 16 << 20,
            bodies: 64 << 20,
            headers: 100,
            header_bytes: 32 << 10,
            connections: 10_000,
            sessions: 256,
            early_streams: 16,
            calls: 1024,
            stream: 1 << 20,
            unread: 256 << 10,
            retained: 0,
            inbox: 4 << 20,
            remembered: 1000,
        }
    }
}

/// Times of a [`Server`](super::Server), in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ServerTimes {
    /// A stream that is silent for so long gets a comment, and a socket a ping; a socket that is silent three times as
    /// long is closed. 15 seconds; `u64::MAX` for never.
    pub keep_alive: u64,
    /// A connection without a stream and without a request ends after this. 10 minutes.
    pub idle: u64,
    /// How long a body may take. 30 seconds.
    pub body: u64,
    /// How long the agent may take to answer `initialize`, and a client of a socket to send it. 30 seconds.
    pub initialize: u64,
    /// How long a reader may take nothing while its buffer is full. 60 seconds.
    pub stall: u64,
    /// The same while a call waits behind it whose own reader has taken everything: an agent says all of its sessions' messages
    /// in one row, so that nothing of the others comes as long as that buffer is full. 15 seconds; a time over `stall` is
    /// as long as `stall`. A stream of a connection itself has `stall` in any case, as the connection ends with it; so has a
    /// WebSocket, which has one buffer for all sessions.
    pub blocking: u64,
    /// How long the answer to a load waits for its history to be read (HTTP-12). 2 seconds.
    pub replay: u64,
    /// How long the end of a connection is told to those who ask for it. 60 seconds.
    pub remember: u64,
}

impl Default for ServerTimes {
    fn default() -> Self {
        ServerTimes {
            keep_alive: 15_000,
            idle: 600_000,
            body: 30_000,
            initialize: 30_000,
            stall: 60_000,
            blocking: 15_000,
            replay: 2_000,
            remember: 60_000,
        }
    }
}
