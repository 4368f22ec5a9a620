//! What a client is told once.

use serde::Deserialize;

use crate::http::tolerance::Tolerance;

/// The settings of a [`Client`](super::Client).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClientOptions {
    /// The target of every request: the path of the address, with its query.
    pub target: String,
    /// The host of the address without its port, for cookies. Empty if the HTTP library keeps cookies by itself.
    pub host: String,
    /// Whether the scheme of the address is `https` or `wss`.
    pub secure: bool,
    /// What messages are carried by.
    pub transport: Transport,
    /// Open the connection again when it was lost, and its sessions in it.
    pub reconnect: bool,
    /// Send `Last-Event-ID` when a stream is opened again, to servers that give events ids: a draft.
    pub resumable: bool,
    /// What is accepted although the draft says otherwise.
    pub tolerance: Tolerance,
    /// Bounds.
    pub limits: ClientLimits,
    /// Times, in milliseconds.
    pub times: ClientTimes,
}

impl Default for ClientOptions {
    fn default() -> Self {
        ClientOptions {
            target: "/acp".into(),
            host: String::new(),
            secure: false,
            transport: Transport::Http,
            reconnect: true,
            resumable: false,
            tolerance: Tolerance::default(),
            limits: ClientLimits::default(),
            times: ClientTimes::default(),
        }
    }
}

/// What messages are carried by (HTTP-02).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Transport {
    /// Requests, and streams of events.
    #[default]
    Http,
    /// A WebSocket.
    WebSocket,
}

/// Bounds of a [`Client`](super::Client).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ClientLimits {
    /// Bytes of one message from the server. 64 MiB.
    pub message: usize,
    /// Bytes of messages that wait to be sent; then the host has to wait. 4 MiB.
    pub outbox: usize,
    /// Open calls in each direction. 1,024.
    pub calls: usize,
    /// Sessions. 256.
    pub sessions: usize,
    /// Streams that can be open at once, where something bounds them: 6 less one for the other requests in a browser over
    /// HTTP/1.1. No bound.
    pub streams: usize,
}

impl Default for ClientLimits {
    fn default() -> Self {
        ClientLimits { message: 64 << 20, outbox: 4 << 20, calls: 1024, sessions: 256, streams: usize::MAX }
    }
}

/// Times of a [`Client`](super::Client), in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ClientTimes {
    /// How long the stream of a session has to be silent before the answer to its load is taken for the end of its history
    /// (HTTP-12); 0 for not at all. 50.
    pub quiet: u64,
    /// How long that answer waits at most. 2 seconds.
    pub replay: u64,
    /// How long the messages of a session wait for its stream to open. 1 second.
    pub open: u64,
    /// How long a request may take until its response begins, that to `initialize` until it has ended, and a socket until
    /// `initialize` is answered; and how long the answer to a call that opens a session again may be in doubt before it is
    /// asked once more. 30 seconds.
    pub response: u64,
    /// How long nothing may come on any stream while the answer to a call that the server has accepted is due on one, before
    /// that is told ([`Action::Silent`](super::Action::Silent)); 0 for never. It should be longer than the time between the
    /// comments of the server (HTTP-21). 20 seconds.
    pub first: u64,
    /// How long a stream that has had comments may be silent before it is taken for dead (HTTP-21), and how long one that does
    /// not come back is looked for before what it belongs to is given up, as lost (HTTP-18). It should be longer than the
    /// server keeps a connection that nobody uses. 75 seconds.
    pub silence: u64,
    /// A stream that broke may have lost the answers to calls. If it is silent for so long once it is open again, they are
    /// reported as lost. 5 minutes.
    pub doubt: u64,
    /// The time before the second attempt to reconnect; it doubles with each. 250.
    pub retry: u64,
    /// The longest time between attempts. 30 seconds.
    pub longest_retry: u64,
    /// How long a lost connection is tried to be opened again: since nobody was there, or since a connection has lasted for
    /// 5 seconds. 5 minutes.
    pub give_up: u64,
}

impl Default for ClientTimes {
    fn default() -> Self {
        ClientTimes {
            quiet: 50,
            replay: 2_000,
            open: 1_000,
            response: 30_000,
            first: 20_000,
            silence: 75_000,
            doubt: 300_000,
            retry: 250,
            longest_retry: 30_000,
            give_up: 300_000,
        }
    }
}
