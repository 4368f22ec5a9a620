//! The client: messages of a host in, requests to make out, and back; over streams or over a WebSocket.
//!
//! The host sends messages as to an agent on a pipe, beginning with `initialize`, and does what
//! [`poll_action`](Client::poll_action) says: it makes requests and passes in what comes of them. Where messages go, in which
//! order, and what becomes of them when a connection breaks is the client's work:
//!
//! * The messages of a session go out one after the other, answers to the agent's questions at once.
//! * A stream that breaks is opened again, and costs nothing else. A connection that is gone is opened again, with all of its
//!   sessions; the host learns which calls nobody will answer ([`Action::Lost`]).
//!
//! ```
//! use libacp::http::{Action, Client, ClientOptions};
//!
//! let mut client = Client::new(ClientOptions::default(), 42);
//! client.send(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#).unwrap();
//! let Some(Action::Request(request)) = client.poll_action() else { panic!() };
//! assert_eq!((request.method, &*request.target), ("POST", "/acp"));
//! client.response(request.exchange, 200, &[("content-type", b"application/json"), ("acp-connection-id", b"c1")]);
//! client.data(request.exchange, br#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}"#);
//! client.end(request.exchange);
//! assert_eq!(client.poll_action(), Some(Action::Connected { id: "c1".into() }));
//! let Some(Action::Request(stream)) = client.poll_action() else { panic!() };
//! assert_eq!(stream.method, "GET");
//! let Some(Action::Message { json, .. }) = client.poll_action() else { panic!() };
//! assert!(json.contains("result"));
//! ```
//!
//! `memory` is what is remembered, `questions` by which ids the host knows those of the agent, `lanes` the order of what goes
//! out, `streams` what is read, `receive` what becomes of a message, `connect` how connections begin, break and begin again,
//! `silence` what is told of streams on which nothing comes, and `clock` the time.

mod action;
mod clock;
mod connect;
mod lanes;
mod memory;
mod options;
mod questions;
mod receive;
mod responses;
mod silence;
mod streams;

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

pub use action::{Action, ClientReport, ClientSendError, ClosedWhy, Lost, Outgoing, Silence};
use lanes::{Lane, Post};
use memory::Memory;
pub use options::{ClientLimits, ClientOptions, ClientTimes, Transport};
use questions::renamed;
use receive::Held;
use streams::Reading;

use crate::http::cookie::Jar;
use crate::http::head::{fits_header, CONNECTION_ID, EVENT_STREAM, JSON, PROTOCOL_VERSION, SESSION_ID};
use crate::http::route::{Effect, Form, Summary, Unreadable, NAME};
use crate::rules::{RuleId, Way};
use crate::Id;

/// The stream of a session, or `None` for that of the connection; and what goes out in order.
type Name = Option<String>;

/// How far a client is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing was sent.
    New,
    /// `initialize` is on its way, or a socket.
    Initializing,
    Ready,
    /// The connection is gone, and another attempt is made at this time.
    Waiting(u64),
    Closed,
}

/// What an exchange is for.
#[derive(Debug)]
enum Doing {
    Initialize {
        post: Post,
        body: Vec<u8>,
        begun: bool,
    },
    Post {
        lane: Option<Name>,
        post: Post,
    },
    /// A message that the server refuses, and what it says about it.
    Refused {
        lane: Option<Name>,
        post: Post,
        status: u16,
        body: Vec<u8>,
    },
    Read {
        name: Name,
    },
    Delete,
    Socket,
}

/// An exchange that is not over.
#[derive(Debug)]
struct Exchange {
    doing: Doing,
    /// When its response has to begin.
    until: u64,
}

/// A client of one server. It does no I/O, and its memory is bounded by [`ClientLimits`].
#[derive(Debug)]
pub struct Client {
    options: ClientOptions,
    now: u64,
    random: u64,
    jar: Option<Jar>,
    headers: Vec<(String, String)>,
    phase: Phase,
    /// The value of `Acp-Connection-Id`.
    id: Option<String>,
    memory: Memory,
    exchanges: BTreeMap<u64, Exchange>,
    next: u64,
    lanes: BTreeMap<Name, Lane>,
    streams: BTreeMap<Name, Reading>,
    held: Vec<Held>,
    socket: Option<u64>,
    /// The code of the server's close frame on that socket.
    close_code: Option<u16>,
    actions: VecDeque<Action>,
    /// Nothing is sent until the host has other credentials.
    barred: bool,
    /// Since when there has been no connection that works, and how often one was tried to be opened.
    lost_since: Option<u64>,
    tries: u32,
    /// When the connection began.
    began: u64,
}

impl Client {
    /// A client before its first message. `seed` is any number that differs between clients; the times of their attempts to
    /// reconnect are spread by it.
    pub fn new(options: ClientOptions, seed: u64) -> Self {
        let jar = (!options.host.is_empty()).then(|| Jar::new(&options.host, options.secure));
        Client {
            options,
            now: 0,
            random: seed,
            jar,
            headers: Vec::new(),
            phase: Phase::New,
            id: None,
            memory: Memory::default(),
            exchanges: BTreeMap::new(),
            next: 1,
            lanes: BTreeMap::new(),
            streams: BTreeMap::new(),
            held: Vec::new(),
            socket: None,
            close_code: None,
            actions: VecDeque::new(),
            barred: false,
            lost_since: None,
            tries: 0,
            began: 0,
        }
    }

    /// Sets a header of all requests from now on, such as `authorization`; its former value is replaced. Returns `false` if
    /// the name or the value cannot be those of a header.
    pub fn set_header(&mut self, name: &str, value: &str) -> bool {
        let token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let fits = !name.is_empty() && name.bytes().all(token);
        if !fits || !value.bytes().all(|byte| byte == b'\t' || (0x20..0x7f).contains(&byte)) {
            return false;
        }
        let name = name.to_ascii_lowercase();
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.to_owned()));
        true
    }

    /// The next thing to do, or that has happened. Poll until there is none after each call that passes something in.
    pub fn poll_action(&mut self) -> Option<Action> {
        self.actions.pop_front()
    }

    /// Whether [`send`](Self::send) takes more; false while too much waits to be sent.
    pub fn is_hungry(&self) -> bool {
        self.queued() < self.options.limits.outbox
    }

    /// The value of `Acp-Connection-Id`, while there is a connection.
    pub fn connection_id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// Sends a message of the host.
    ///
    /// An answer goes to the question that the host was given, and to no other one: one that was lost with its connection
    /// ([`Lost::questions`]) has no answer any more (HTTP-11), and if the agent of the next connection asks with the same
    /// id, the host is given that question with another id, which begins with `libacp-q`.
    ///
    /// # Errors
    /// [`ClientSendError::Full`] while too much waits to be sent; [`ClientSendError::Misuse`] for what cannot be sent at all.
    pub fn send(&mut self, json: &str) -> Result<(), ClientSendError> {
        if self.phase == Phase::Closed {
            return Err(ClientSendError::Closed);
        }
        let summary = Summary::read(json).map_err(unsendable)?;
        let session = self.fitting(&summary).inspect_err(|_| {
            if let Some(id) = summary.id.as_ref().filter(|_| summary.is_answer()) {
                self.memory.questions.answered_late(id);
            }
        })?;
        if !self.is_hungry() {
            return Err(ClientSendError::Full);
        }
        if summary.is_answer() {
            let own = summary.id.as_ref().and_then(|id| self.memory.questions.answered(id));
            let renamed = own.as_ref().map(|own| renamed(json, summary.id_place.clone(), own));
            let post = Post::new(renamed.as_deref().unwrap_or(json), &summary, session);
            self.answer(Post { answers: own.or(post.answers), ..post });
            return Ok(());
        }
        let post = Post::new(json, &summary, session.clone());
        // Whoever is told to stop has been told to begin.
        let cancelled = summary.cancels.as_ref().and_then(|id| self.memory.calls.get(id));
        let lane = cancelled.map_or(session, |call| call.session.clone());
        if summary.form == Form::Request {
            self.memory.call(&summary, json);
        }
        if summary.is_initialize() && self.phase == Phase::New {
            self.initialize(post);
            return Ok(());
        }
        if post.attaches && self.phase == Phase::Ready && !self.is_websocket() {
            self.open_stream(&lane, true);
        }
        self.enqueue(lane, post);
        self.pump();
        Ok(())
    }

    /// The session that a message goes out for, if the message can be sent now.
    fn fitting(&self, summary: &Summary<'_>) -> Result<Name, ClientSendError> {
        let misuse = |rule: RuleId, message| Err(ClientSendError::Misuse { rule, message });
        let limits = &self.options.limits;
        let first = if self.is_websocket() { id!("WS-02") } else { id!("HTTP-03") };
        if self.phase == Phase::New && !summary.is_initialize() && first.is_on(Way::Send) {
            return misuse(first, "the first message has to be initialize");
        }
        let mut session = summary.session.as_deref().map(str::to_owned);
        match (&summary.form, &summary.id) {
            (Form::Result | Form::Error, Some(id)) => match self.memory.questions.session(id) {
                Some(asked) => session.clone_from(asked),
                None => return misuse(id!("HTTP-11"), "the agent has no such open request"),
            },
            (Form::Request, Some(id)) if *id == Id::Null || self.memory.calls.contains_key(id) => {
                return misuse(id!("RPC-10"), "a call with this id is open");
            }
            (Form::Request, _) if self.memory.calls.len() >= limits.calls => return Err(ClientSendError::Full),
            _ => {}
        }
        if self.is_websocket() {
            return Ok(session);
        }
        if session.as_deref().is_some_and(|id| !fits_header(id, NAME)) && id!("HTTP-22").is_on(Way::Send) {
            return misuse(id!("HTTP-22"), "the id of this session cannot stand in a header; use WebSocket");
        }
        let opens = match summary.effect {
            Effect::Makes => true,
            Effect::Attaches => !self.streams.contains_key(&session),
            Effect::Ends | Effect::None => false,
        };
        let opening = self.memory.calls.values().filter(|call| call.effect == Effect::Makes).count();
        let taken = self.streams.len().max(1) + opening;
        if opens && taken >= limits.streams.min(limits.sessions + 1) {
            return misuse(id!("HTTP-27"), "there is no room for another stream; close a session, or use WebSocket");
        }
        Ok(session)
    }

    fn is_websocket(&self) -> bool {
        self.options.transport == Transport::WebSocket
    }

    /// A new exchange.
    fn begin(&mut self, doing: Doing) -> u64 {
        let (exchange, until) = (self.next, self.now.saturating_add(self.options.times.response));
        self.next += 1;
        self.exchanges.insert(exchange, Exchange { doing, until });
        exchange
    }

    /// A request on the connection.
    fn request(&mut self, method: &'static str, session: Option<&str>, doing: Doing, body: String) -> u64 {
        let mut headers = self.common_headers();
        let (name, value) = if method == "GET" { ("accept", EVENT_STREAM) } else { ("content-type", JSON) };
        if method != "DELETE" {
            headers.push((name.into(), value.into()));
        }
        if let Some(id) = self.id.clone() {
            headers.push((CONNECTION_ID.into(), id));
            let version = self.memory.version.clone().filter(|version| !version.is_empty());
            headers.extend(
                version.filter(|_| id!("HTTP-17").is_on(Way::Track)).map(|version| (PROTOCOL_VERSION.into(), version)),
            );
        }
        if let Some(session) = session.filter(|session| fits_header(session, NAME)) {
            headers.push((SESSION_ID.into(), session.to_owned()));
        }
        if let Doing::Read { name } = &doing {
            let last = self.streams.get(name).and_then(|stream| stream.reader.last_id());
            let last = last.filter(|last| self.options.resumable && fits_header(last, NAME)).map(str::to_owned);
            headers.extend(last.map(|last| ("last-event-id".into(), last)));
        }
        let exchange = self.begin(doing);
        let target = self.options.target.clone();
        self.actions.push_back(Action::Request(Outgoing { exchange, method, target, headers, body }));
        exchange
    }

    /// The host's headers, and the cookies (HTTP-16, WS-06).
    fn common_headers(&mut self) -> Vec<(Cow<'static, str>, String)> {
        let rule = if self.is_websocket() { id!("WS-06") } else { id!("HTTP-16") };
        let mut headers: Vec<(Cow<'static, str>, String)> =
            self.headers.iter().map(|(name, value)| (Cow::Owned(name.clone()), value.clone())).collect();
        let cookies = self.jar.as_mut().and_then(|jar| jar.header(&self.options.target, self.now));
        headers.extend(cookies.filter(|_| rule.is_on(Way::Track)).map(|cookies| ("cookie".into(), cookies)));
        headers
    }

    fn report(&mut self, rule: RuleId, message: &'static str, session: Name) {
        if rule.is_on(Way::Receive) {
            self.actions.push_back(Action::Violation(ClientReport { rule, message: message.into(), session }));
        }
    }

    /// A time to wait before the next attempt, longer after each one.
    fn pause(&mut self, tries: u32) -> u64 {
        let times = self.options.times;
        let most = times.retry.saturating_mul(1 << tries.saturating_sub(1).min(20)).min(times.longest_retry);
        // Xorshift with a multiplication: enough to spread clients, and nothing that has to be secret.
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.random ^ self.random >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        most / 2 + (mixed ^ mixed >> 31) % (most / 2 + 1)
    }
}

fn unsendable(why: Unreadable) -> ClientSendError {
    let (rule, message) = why.misuse();
    ClientSendError::Misuse { rule, message }
}
