//! The observer: a conversation seen from outside, for inspectors, recorders and conformance runs.
//!
//! Theory of operation. The messages of both directions are judged by one state and change it. A frame is read as its
//! receiver would read it: before each frame, the connection is turned to the side that receives it, so that this side's
//! requests are the connection's own and the sender is its peer. Nothing is ever answered. A message that a receiver should
//! refuse is reported, and followed as far as that makes sense, because the real receiver may decide otherwise: its answer
//! shows what it did. What is over a limit is not followed, so memory stays bounded whatever the two sides send.
//!
//! Bytes wait until events are polled. What one side has sent is in the decoder of its direction. Where the other side spoke
//! before that was read, its bytes wait in a queue behind it, so that the order of the messages is kept.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use super::receiving::Receiving;
use super::report::Subject;
use super::{CloseReason, Closed, Config, Connection, Event, OpenRequest, Outcome, Phase, Role, Session, Versions};
use crate::framing::{Framing, Item};
use crate::jsonrpc::Id;
use crate::validation::table::Method;

/// Follows the conversation of a client and an agent, and reports the violations of both. It sends nothing.
///
/// The bytes of each side go in with [`receive`](Self::receive), in the order in which they were sent and split in any way.
/// [`poll_event`](Self::poll_event) returns each event with the side that sent the message: requests, notifications,
/// violations, and the end of each request as [`Event::Response`]. The [consequence](super::Consequence) of a violation is
/// what a receiver should do with the message; what the real receiver did shows in later events.
///
/// ```
/// use libacp::connection::{Event, Observer};
/// use libacp::{Config, Role};
///
/// let mut observer = Observer::new(Config::client());
/// observer.receive(Role::Client, b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n");
/// observer.receive(Role::Agent, b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1}}\n");
/// observer.receive(Role::Client, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"work\"}}\n");
/// let mut broken = Vec::new();
/// while let Some((from, event)) = observer.poll_event() {
///     if let Event::Violation(violation) = event {
///         broken.push((from, violation.rule.as_str()));
///     }
/// }
/// assert_eq!(broken, [(Role::Client, "SESS-04")]);
/// ```
#[derive(Debug)]
pub struct Observer {
    /// Turned to the side that receives the frame which is read.
    pub(super) connection: Connection,
    /// The parts of the direction that the connection is not turned to.
    other: Direction,
    /// What was received after the bytes in the connection's decoder.
    waiting: VecDeque<(Role, Waiting)>,
    /// Number of bytes in `waiting`.
    bytes: usize,
    /// Events of the frame that was read last.
    events: VecDeque<(Role, Event)>,
    /// Sides whose stream has ended.
    told: Sides,
    /// Sides whose stream was read to its end.
    ended: Sides,
}

/// The parts of a connection that belong to one direction.
#[derive(Debug)]
struct Direction {
    receiving: Receiving,
    answered: u64,
}

#[derive(Debug)]
enum Waiting {
    Bytes(Vec<u8>),
    End,
}

/// A set of sides.
#[derive(Debug, Default)]
struct Sides([bool; 2]);

impl Sides {
    fn has(&self, side: Role) -> bool {
        self.0[side as usize]
    }

    /// Adds a side; `true` if it was not in the set.
    fn add(&mut self, side: Role) -> bool {
        !mem::replace(&mut self.0[side as usize], true)
    }
}

impl Default for Observer {
    /// Creates an observer of all protocol versions, with default limits.
    fn default() -> Self {
        let mut config = Config::client();
        config.versions = Versions::ALL;
        Self::new(config)
    }
}

impl Observer {
    /// Creates an observer for a conversation from its start.
    ///
    /// The role and the time limits of `config` are not used. [`Config::versions`] are the versions that can be followed,
    /// usually [all](super::Versions::ALL).
    pub fn new(config: Config) -> Self {
        let receiving = Receiving::new(config.framing, config.limits.frame);
        let mut connection = Connection::new(config);
        connection.observes = true;
        Observer {
            connection,
            other: Direction { receiving, answered: 0 },
            waiting: VecDeque::new(),
            bytes: 0,
            events: VecDeque::new(),
            told: Sides::default(),
            ended: Sides::default(),
        }
    }

    /// Takes bytes that one side sent, split in any way. With
    /// [`Framing::Messages`](crate::framing::Framing::Messages), each call takes one message.
    ///
    /// This never fails: what is wrong with the bytes is reported by events. Pass the bytes of the two sides in the order
    /// in which they were sent, as an answer before its request is an answer to nothing. Poll after each call, as that is
    /// when the bytes are read.
    pub fn receive(&mut self, from: Role, bytes: &[u8]) {
        if self.connection.lifecycle.is_closed() || self.told.has(from) || bytes.is_empty() {
            return;
        }
        if self.waiting.is_empty() {
            let turned = self.sender() == from;
            if turned || self.connection.receiving.needs_input() {
                self.turn_to(from.other());
                self.connection.receiving.push(bytes);
                return;
            }
        }
        self.bytes += bytes.len();
        match self.waiting.back_mut() {
            Some((side, Waiting::Bytes(last)))
                if *side == from && self.connection.state.config.framing != Framing::Messages =>
            {
                last.extend_from_slice(bytes);
            }
            _ => self.waiting.push_back((from, Waiting::Bytes(bytes.to_vec()))),
        }
    }

    /// Tells the observer that one side has closed its stream. Once both have, requests without an answer end with
    /// [`Outcome::Closed`], and the last event is [`Event::Closed`].
    pub fn receive_eof(&mut self, from: Role) {
        if !self.connection.lifecycle.is_closed() && self.told.add(from) {
            self.waiting.push_back((from, Waiting::End));
        }
    }

    /// Returns the next event and the side that sent the message; `None` when more bytes are needed. For a
    /// [`Response`](Event::Response) without an answer, the side is the one that sent the request.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<(Role, Event)> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if self.connection.lifecycle.is_closed() {
                (self.waiting, self.bytes) = (VecDeque::new(), 0);
                return None;
            }
            let from = self.sender();
            if let Some(item) = self.connection.receiving.poll() {
                self.read(from, item);
                continue;
            }
            let (from, next) = self.waiting.pop_front()?;
            self.turn_to(from.other());
            match next {
                Waiting::Bytes(bytes) => {
                    self.bytes -= bytes.len();
                    self.connection.receiving.push(&bytes);
                }
                Waiting::End => self.end(from),
            }
        }
    }

    /// The number of bytes, of both sides, that were received and not read yet.
    pub fn buffered(&self) -> usize {
        self.connection.receiving.buffered() + self.other.receiving.buffered() + self.bytes
    }

    /// The protocol version that both sides have agreed on. Between `initialize` and its answer, the version that the agent
    /// should answer with; `None` before.
    pub fn version(&self) -> Option<u16> {
        self.connection.version()
    }

    /// How far the conversation has come.
    pub fn phase(&self) -> Phase {
        self.connection.phase()
    }

    /// The capabilities of one side: the object that it sent in `initialize`, as JSON text; `{}` before that.
    pub fn capabilities(&self, of: Role) -> &str {
        if self.connection.role() == of {
            self.connection.own_capabilities()
        } else {
            self.connection.capabilities()
        }
    }

    /// The session of this id; `None` when it is not open.
    pub fn session(&self, id: &str) -> Option<&Session> {
        self.connection.session(id)
    }

    /// The sessions that are open, being loaded or being resumed, in no particular order.
    pub fn sessions(&self) -> impl Iterator<Item = (&Arc<str>, &Session)> {
        self.connection.sessions()
    }

    /// The requests that one side sent and that have no answer yet, oldest first.
    pub fn open_requests(&self, of: Role) -> impl Iterator<Item = &OpenRequest> {
        let state = &self.connection.state;
        let requests = if self.connection.role() == of { &state.outbound } else { &state.inbound };
        requests.iter()
    }

    /// All that is known of the conversation as a whole, as JSON text: see [`Connection::snapshot`].
    pub fn snapshot(&self) -> String {
        self.connection.snapshot()
    }

    /// The side that sent the bytes in the connection's decoder.
    fn sender(&self) -> Role {
        self.connection.role().other()
    }

    /// The stream of one side has ended; the connection is turned to the other.
    fn end(&mut self, from: Role) {
        if let Some(item) = self.connection.receiving.poll_rest() {
            self.read(from, item);
        }
        self.ended.add(from);
        if !self.ended.has(from.other()) || self.connection.lifecycle.is_closed() {
            return;
        }
        let terminals = self.connection.open_terminals();
        for receiver in [from, from.other()] {
            self.turn_to(receiver);
            while let Some(request) = self.connection.state.outbound.pop_first() {
                self.connection.end_request(request, Outcome::Closed);
            }
            self.take_events(receiver);
        }
        self.connection.show_over();
        self.connection.lifecycle.close(CloseReason::EndOfStream);
        let closed = Closed { reason: CloseReason::EndOfStream, unanswered: Vec::new(), terminals };
        self.events.push_back((from, Event::Closed(closed)));
    }

    fn read(&mut self, from: Role, item: Item) {
        self.connection.incoming(item);
        self.take_events(from);
    }

    fn take_events(&mut self, from: Role) {
        while let Some(event) = self.connection.events.pop() {
            self.events.push_back((from, event));
        }
    }

    /// Turns the connection to the side that receives.
    fn turn_to(&mut self, receiver: Role) {
        let connection = &mut self.connection;
        if connection.state.config.role() == receiver {
            return;
        }
        let Direction { receiving, answered } = &mut self.other;
        mem::swap(&mut connection.receiving, receiving);
        mem::swap(&mut connection.state.answered, answered);
        connection.state.turn_to(receiver);
        if let Some(earlier) = connection.lifecycle.earlier() {
            earlier.turn();
        }
    }
}

impl Connection {
    /// Keeps a request that its receiver should refuse, as the receiver may serve it all the same: the answer shows what it
    /// did. Over a limit nothing is followed: of a request for one session too many, only the answer is awaited.
    pub(super) fn keep_refused(&mut self, subject: &Subject) {
        let limits = &self.state.config.limits;
        if self.state.inbound.len() >= limits.pending {
            return;
        }
        let Some(id) = subject.id.clone().filter(|id| *id != Id::Null && self.state.inbound.get(id).is_none()) else {
            return;
        };
        let Some(method) = subject.method.clone() else { return };
        let fits = |row: &&Method| self.state.sessions.full(row, subject.session.as_deref(), limits).is_none();
        let row = self.state.method(&method).filter(fits);
        let serial = self.next_serial();
        self.state.inbound.insert(OpenRequest {
            id,
            serial,
            method,
            session: subject.session.clone(),
            cancelled: false,
            deadline: None,
            row,
            generation: self.state.sessions.generation(subject.session.as_ref()),
            note: None,
            grace: None,
            late: None,
        });
    }

    /// Whether a request was kept without what its answer brings about.
    pub(super) fn is_unfollowed(&self, request: &OpenRequest) -> bool {
        self.observes && request.row.is_none() && self.state.method(&request.method).is_some()
    }
}
