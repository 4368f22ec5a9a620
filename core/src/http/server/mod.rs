//! The server: requests of clients in, messages for agents out, and back.
//!
//! The host gives each request, and each WebSocket, a number of its choice: the *exchange*. It passes in heads, bodies and
//! frames, and does what [`Step`] says; what happens later comes by [`poll_event`](Server::poll_event). Each connection has an
//! agent, which the host starts when it is [`Opened`](Event::Opened).
//!
//! ```
//! use libacp::http::{Event, Request, Server, ServerOptions, Step};
//!
//! let mut server = Server::new(ServerOptions::default());
//! server.add_entropy(&[7; 16]); // from the operating system
//! let headers: &[(&str, &[u8])] = &[("host", b"localhost:7332"), ("content-type", b"application/json")];
//! let Step::Body { .. } = server.request(1, &Request::new("POST", "/acp", headers)) else { panic!() };
//! let hello = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#;
//! assert_eq!(server.body(1, hello, true), Step::Wait);
//!
//! let Some(Event::Opened { connection }) = server.poll_event() else { panic!() };
//! let Some(Event::Message { json, .. }) = server.poll_event() else { panic!() };
//! assert_eq!(json.as_bytes(), hello);
//! server.send(connection, r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}"#).unwrap();
//! let Some(Event::Respond { exchange: 1, response }) = server.poll_event() else { panic!() };
//! assert_eq!(response.status, 200);
//! ```
//!
//! `admit` is what is asked of a head, `post` what becomes of a message from a client, `send` of one from an agent, `socket`
//! is for WebSocket, `clock` for the time; `connection` and `stream` are what is kept.

mod admit;
mod clock;
mod close;
mod connection;
mod event;
mod options;
mod post;
mod refusals;
mod send;
mod socket;
mod stream;

use std::collections::{HashMap, VecDeque};

use clock::{Timer, Timers};
use close::Tombstones;
use connection::{Connection, Phase, StreamName};
pub use event::{Closed, ConnectionKey, Event, Report, SendError, Step};
pub use options::{ServerLimits, ServerOptions, ServerTimes};
use refusals::Refusal;

use crate::http::{Frame, Response};
use crate::numbered::Numbered;
use crate::rules::Way;

/// Bytes of randomness in the id of a connection.
const ID: usize = 16;
/// Bytes of randomness that are kept.
const POOL: usize = 64 * ID;
/// What a page of a listed origin may read of a response besides the body.
const READABLE: &str = "acp-connection-id, retry-after, www-authenticate";
/// Reports that nobody has polled; more of them are dropped.
const REPORTS: usize = 256;

/// A request or a socket that the server remembers.
#[derive(Debug)]
enum Exchange {
    /// A body is on its way.
    Body { connection: Option<ConnectionKey>, session: StreamName, bytes: Vec<u8>, until: u64 },
    /// The agent's answer to `initialize` will be the response.
    Waits { connection: ConnectionKey },
    /// It reads a stream.
    Reads { connection: ConnectionKey, stream: StreamName },
    /// The stream has ended, and this is left of it.
    Rest { bytes: Vec<u8>, read: usize },
    /// A WebSocket.
    Socket { connection: ConnectionKey },
    /// The connection of the WebSocket has ended, and these frames are left.
    Frames(VecDeque<Frame>),
}

/// A server for any number of connections. It does no I/O, and its memory is bounded by
/// [`ServerLimits`].
#[derive(Debug)]
pub struct Server {
    options: ServerOptions,
    now: u64,
    pool: Vec<u8>,
    next: u64,
    connections: Numbered<ConnectionKey, Connection>,
    by_id: HashMap<String, ConnectionKey>,
    exchanges: Numbered<u64, Exchange>,
    /// The origins of pages that wait for a response, where browsers have to be told that these may read it.
    pages: HashMap<u64, String>,
    tombstones: Tombstones,
    timers: Timers,
    events: VecDeque<Event>,
    reports: usize,
    /// Connections with something for their agents.
    filled: VecDeque<ConnectionKey>,
    /// Of bodies that are not complete.
    bodies: usize,
}

impl Server {
    /// A server without connections. It needs randomness before it opens the first one: [`add_entropy`](Self::add_entropy).
    pub fn new(options: ServerOptions) -> Self {
        Server {
            options,
            now: 0,
            pool: Vec::new(),
            next: 1,
            connections: Numbered::default(),
            by_id: HashMap::new(),
            exchanges: Numbered::default(),
            pages: HashMap::new(),
            tombstones: Tombstones::default(),
            timers: Timers::default(),
            events: VecDeque::new(),
            reports: 0,
            filled: VecDeque::new(),
            bodies: 0,
        }
    }

    /// The settings.
    pub fn options(&self) -> &ServerOptions {
        &self.options
    }

    /// Adds random bytes from the operating system, of which ids of connections are made: 16 for each. What is more than
    /// 1 KiB is not kept.
    pub fn add_entropy(&mut self, bytes: &[u8]) {
        let room = POOL - self.pool.len();
        self.pool.extend_from_slice(&bytes[..room.min(bytes.len())]);
    }

    /// How many random bytes there is room for; 0 while there are enough for 16 connections.
    pub fn wants_entropy(&self) -> usize {
        if self.pool.len() >= 16 * ID {
            0
        } else {
            POOL - self.pool.len()
        }
    }

    /// The number of open connections.
    pub fn connections(&self) -> usize {
        self.connections.len()
    }

    /// The value of `Acp-Connection-Id` of a connection. It is no secret that proves anything (HTTP-20), but who knows it
    /// can use the connection.
    pub fn connection_id(&self, connection: ConnectionKey) -> Option<&str> {
        self.connections.get(&connection).map(|connection| &*connection.id)
    }

    /// The next event. Poll until there is none after each call that passes something in.
    pub fn poll_event(&mut self) -> Option<Event> {
        if let Some(event) = self.events.pop_front() {
            if matches!(event, Event::Violation(_) | Event::Advice(_)) {
                self.reports -= 1;
            }
            return Some(event);
        }
        while let Some(key) = self.filled.front().copied() {
            let Some(connection) = self.connections.get_mut(&key) else {
                self.filled.pop_front();
                continue;
            };
            if let Some(json) = connection.inbox.pop_unless_paused() {
                return Some(Event::Message { connection: key, json });
            }
            connection.inbox.listed = false;
            self.filled.pop_front();
            if let Some(why) = connection.inbox.closed.filter(|_| !connection.inbox.paused) {
                self.connections.remove(&key);
                return Some(Event::Closed { connection: key, why });
            }
        }
        None
    }

    /// Holds back the messages of a client, or goes on with them: for agents that are slower than their clients. Once
    /// more than [`ServerLimits::inbox`] bytes wait, the client is asked to try again later.
    pub fn pause(&mut self, connection: ConnectionKey, paused: bool) {
        if let Some(connection) = self.connections.get_mut(&connection) {
            connection.inbox.paused = paused;
        }
        self.fill(connection);
    }

    /// Whether to read more from the socket of an exchange. False while its agent has too much to read.
    pub fn is_hungry(&self, exchange: u64) -> bool {
        match self.exchanges.get(&exchange) {
            Some(Exchange::Socket { connection }) => {
                let waits = self.connections.get(connection).map_or(0, |connection| connection.inbox.bytes);
                waits < self.options.limits.inbox
            }
            _ => true,
        }
    }

    /// The bytes to write on a stream.
    pub fn transmit(&self, exchange: u64) -> &[u8] {
        match self.exchanges.get(&exchange) {
            Some(Exchange::Rest { bytes, read }) => &bytes[*read..],
            Some(Exchange::Reads { connection, stream }) => {
                let connection = self.connections.get(connection);
                let stream = match stream {
                    None => connection.map(|connection| &connection.main),
                    Some(name) => connection.and_then(|it| it.sessions.get(name)).map(|session| &session.stream),
                };
                stream.map(stream::Stream::transmit).unwrap_or_default()
            }
            _ => &[],
        }
    }

    /// Removes bytes from the front of [`transmit`](Self::transmit) after they were written.
    pub fn consume(&mut self, exchange: u64, count: usize) {
        match self.exchanges.get_mut(&exchange) {
            Some(Exchange::Rest { bytes, read }) => *read = read.saturating_add(count).min(bytes.len()),
            Some(Exchange::Reads { connection, stream }) => {
                let (key, name) = (*connection, stream.clone());
                self.consumed(key, name.as_deref(), count);
            }
            _ => {}
        }
    }

    /// The exchange is over: its connection broke, or the end of its stream was written. What a reader did not take of a
    /// stream waits for the next one.
    pub fn closed(&mut self, exchange: u64) {
        self.pages.remove(&exchange);
        match self.exchanges.remove(&exchange) {
            Some(Exchange::Body { bytes, until, .. }) => self.body_over(exchange, bytes.len(), until),
            Some(Exchange::Waits { connection }) => {
                let connecting = self.connections.get_mut(&connection).map(|it| {
                    it.calls.values_mut().filter(|call| call.exchange == Some(exchange)).for_each(|call| {
                        call.exchange = None;
                    });
                    it.phase == Phase::Initializing
                });
                // Nobody knows the id of a connection whose first answer has no reader.
                if connecting == Some(true) {
                    self.end(connection, Closed::NotInitialized);
                }
            }
            Some(Exchange::Reads { connection, stream }) => self.reader_gone(connection, stream.as_deref(), exchange),
            Some(Exchange::Socket { connection }) => self.socket_closed(connection),
            Some(Exchange::Rest { .. } | Exchange::Frames(_)) | None => {}
        }
    }

    /// Refuses a request. The rule says whether it is one to refuse at all, which only tests can change.
    fn refuse(&mut self, refusal: &Refusal, exchange: u64, connection: Option<ConnectionKey>) -> Step {
        self.refuse_as(refusal, None, exchange, connection)
    }

    fn refuse_as(
        &mut self,
        refusal: &Refusal,
        message: Option<&str>,
        exchange: u64,
        connection: Option<ConnectionKey>,
    ) -> Step {
        if !refusal.rule.is_on(Way::Receive) {
            return Step::Respond(Response::new(500));
        }
        self.report(Report {
            rule: refusal.rule,
            message: refusal.message.into(),
            status: Some(refusal.status),
            exchange: Some(exchange),
            connection,
        });
        Step::Respond(refusal.response(message))
    }

    /// Gives the host the response to a request that waits.
    fn respond(&mut self, exchange: u64, response: Response) {
        let response = self.dress(exchange, response);
        self.events.push_back(Event::Respond { exchange, response });
    }

    /// Says in a response that the page that asked may read it, if it is of a listed origin.
    fn dress(&mut self, exchange: u64, response: Response) -> Response {
        match self.pages.remove(&exchange) {
            Some(origin) => response
                .header("access-control-allow-origin", origin)
                .header("access-control-expose-headers", READABLE)
                .header("vary", "origin"),
            None => response,
        }
    }

    /// Reports what is accepted all the same.
    fn tolerate(&mut self, refusal: &Refusal, message: &'static str, exchange: u64, connection: ConnectionKey) {
        if refusal.rule.is_on(Way::Receive) {
            self.report(Report {
                rule: refusal.rule,
                message: message.into(),
                status: None,
                exchange: Some(exchange),
                connection: Some(connection),
            });
        }
    }

    /// Reports the stream of a session that nobody has asked for. While it was open, the call could still come (HTTP-12).
    fn report_unasked(&mut self, exchange: u64, connection: ConnectionKey) {
        let message = "the stream of a session was opened that the connection never came to know";
        self.tolerate(&refusals::UNKNOWN_SESSION, message, exchange, connection);
    }

    fn report(&mut self, report: Report) {
        if self.reports < REPORTS {
            self.reports += 1;
            self.events.push_back(Event::Violation(report));
        }
    }

    /// Puts a connection on the list of those with something for their agents.
    fn fill(&mut self, key: ConnectionKey) {
        let Some(connection) = self.connections.get_mut(&key) else { return };
        let inbox = &mut connection.inbox;
        let something = !inbox.messages.is_empty() || inbox.closed.is_some();
        if something && !inbox.listed && !inbox.paused {
            inbox.listed = true;
            self.filled.push_back(key);
        }
    }

    /// A new connection; `None` without randomness.
    fn open(&mut self, phase: Phase) -> Option<ConnectionKey> {
        if self.pool.len() < ID {
            return None;
        }
        let mut id = self.options.prefix.clone();
        for byte in self.pool.drain(..ID) {
            id.push(char::from_digit(u32::from(byte >> 4), 16).unwrap_or_default());
            id.push(char::from_digit(u32::from(byte & 15), 16).unwrap_or_default());
        }
        if self.by_id.contains_key(&id) {
            return None;
        }
        let key = ConnectionKey(self.next);
        self.next += 1;
        self.by_id.insert(id.clone(), key);
        self.connections.insert(key, Connection::new(id, phase, self.now));
        self.wake(key, self.now.saturating_add(self.options.times.initialize));
        self.events.push_back(Event::Opened { connection: key });
        Some(key)
    }

    /// Looks at a connection at this time, or before.
    fn wake(&mut self, key: ConnectionKey, at: u64) {
        if let Some(connection) = self.connections.get_mut(&key).filter(|connection| at < connection.wakes) {
            self.timers.cancel(connection.wakes, Timer::Connection(key));
            connection.wakes = at;
            self.timers.set(at, Timer::Connection(key));
        }
    }
}
