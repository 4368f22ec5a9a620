//! A conversation seen from outside: inspectors, recorders and conformance runs have the bytes of both sides.
//!
//! Theory of operation. One state is judged and changed by both directions. A frame is read as its receiver would read it:
//! before one, the connection is turned to the side that it goes to, so that what was sent by that side is its own and what
//! comes is the peer's. Nothing is ever answered. What a receiver would refuse is reported and followed as far as it makes
//! sense, because the real receiver may think otherwise: its answer shows what became of it. What is over a limit is not
//! followed, so that what is kept stays bounded whatever the two sides send.
//!
//! Bytes wait until events are asked for. What one side has sent stands in that direction's decoder; where the other side
//! spoke before it was read, it stands in line behind it.

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use super::report::Subject;
use super::template_cache::TemplateCache;
use super::{CloseReason, Closed, Config, Connection, Event, OpenRequest, Outcome, Phase, Role, Session, Versions};
use crate::framing::{Decoder, Framing, Item};
use crate::jsonrpc::Id;
use crate::validation::table::Method;

/// Looks on while a client and an agent talk, and reports what either of them does wrong. It sends nothing.
///
/// The bytes of each side go in with [`receive`](Self::receive) in the order in which they were sent, in any split. What was
/// seen comes out of [`poll_event`](Self::poll_event) with the side that sent it: requests, notifications, the end of each
/// request as [`Event::Response`], and violations. A violation's [consequence](super::Consequence) is what a receiver is to
/// do about the message; what the real one did is in what follows.
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
    /// Turned to the side that a frame goes to.
    connection: Connection,
    /// What belongs to the direction that the connection is not turned to.
    other: Direction,
    /// What came behind what the connection's decoder has.
    waiting: VecDeque<(Role, Waiting)>,
    /// Bytes in there.
    bytes: usize,
    /// Events of the frame that was read last.
    events: VecDeque<(Role, Event)>,
    /// Sides of which it was said that their stream has ended, and those of which it was read.
    told: Sides,
    ended: Sides,
}

/// One direction's own.
#[derive(Debug)]
struct Direction {
    decoder: Decoder,
    templates: TemplateCache,
    frames: u64,
    answered: u64,
}

#[derive(Debug)]
enum Waiting {
    Bytes(Vec<u8>),
    End,
}

/// Some of the two sides.
#[derive(Debug, Default)]
struct Sides([bool; 2]);

impl Sides {
    fn has(&self, side: Role) -> bool {
        self.0[side as usize]
    }

    /// Whether it was not among them before.
    fn add(&mut self, side: Role) -> bool {
        !mem::replace(&mut self.0[side as usize], true)
    }
}

impl Default for Observer {
    /// An observer of all versions, with the defaults of a configuration.
    fn default() -> Self {
        let mut config = Config::client();
        config.versions = Versions::ALL;
        Self::new(config)
    }
}

impl Observer {
    /// An observer at the start of a conversation. The role of the configuration does not matter, nor do its time-outs; the
    /// [versions](Config::versions) are those that it can follow, so usually [all](super::Versions::ALL).
    pub fn new(config: Config) -> Self {
        let decoder = Decoder::new(config.framing, config.limits.frame);
        let mut connection = Connection::new(config);
        connection.observes = true;
        Observer {
            connection,
            other: Direction { decoder, templates: TemplateCache::default(), frames: 0, answered: 0 },
            waiting: VecDeque::new(),
            bytes: 0,
            events: VecDeque::new(),
            told: Sides::default(),
            ended: Sides::default(),
        }
    }

    /// Takes bytes that one side has sent, in any split (with [`Framing::Messages`](crate::framing::Framing::Messages): one
    /// message a call). Never fails; what is wrong with them becomes events. Bytes of the two sides go in in the order in
    /// which they were sent: an answer before its request is an answer to nothing. Poll after each call: what was received
    /// is read then.
    pub fn receive(&mut self, from: Role, bytes: &[u8]) {
        if self.connection.phase == Phase::Closed || self.told.has(from) || bytes.is_empty() {
            return;
        }
        if self.waiting.is_empty() {
            let turned = self.sender() == from;
            if turned || self.connection.decoder.is_starved() {
                self.turn_to(from.other());
                self.connection.decoder.push(bytes);
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

    /// One side has closed its stream. Once both have, requests that were never answered end with [`Outcome::Closed`], and
    /// the last event is [`Event::Closed`].
    pub fn receive_eof(&mut self, from: Role) {
        if self.connection.phase != Phase::Closed && self.told.add(from) {
            self.waiting.push_back((from, Waiting::End));
        }
    }

    /// What was seen next, and who sent it; of a [`Response`](Event::Response), the side that had asked when it ended for
    /// want of an answer.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<(Role, Event)> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Some(event);
            }
            if self.connection.phase == Phase::Closed {
                (self.waiting, self.bytes) = (VecDeque::new(), 0);
                return None;
            }
            let from = self.sender();
            if let Some(item) = self.connection.decoder.poll() {
                self.read(from, item);
                continue;
            }
            let (from, next) = self.waiting.pop_front()?;
            self.turn_to(from.other());
            match next {
                Waiting::Bytes(bytes) => {
                    self.bytes -= bytes.len();
                    self.connection.decoder.push(&bytes);
                }
                Waiting::End => self.end(from),
            }
        }
    }

    /// Bytes that were received and not read yet, of both sides.
    pub fn buffered(&self) -> usize {
        self.connection.decoder.buffered() + self.other.decoder.buffered() + self.bytes
    }

    /// The version that both sides have agreed on; before the agent has answered, what it is expected to answer.
    pub fn version(&self) -> Option<u16> {
        self.connection.version()
    }

    /// How far the conversation is.
    pub fn phase(&self) -> Phase {
        self.connection.phase()
    }

    /// What one side can do: its capabilities object as JSON text, `{}` before `initialize`.
    pub fn capabilities(&self, of: Role) -> &str {
        if self.connection.role() == of {
            self.connection.own_capabilities()
        } else {
            self.connection.capabilities()
        }
    }

    /// What is known of one session.
    pub fn session(&self, id: &str) -> Option<&Session> {
        self.connection.session(id)
    }

    /// The sessions that are known, in no order.
    pub fn sessions(&self) -> impl Iterator<Item = (&Arc<str>, &Session)> {
        self.connection.sessions()
    }

    /// The requests that one side has sent and that have no answer yet, oldest first.
    pub fn open_requests(&self, of: Role) -> impl Iterator<Item = &OpenRequest> {
        let state = &self.connection.state;
        let requests = if self.connection.role() == of { &state.outbound } else { &state.inbound };
        requests.iter()
    }

    /// All that is known of the conversation as a whole, as [`Connection::snapshot`] has it.
    pub fn snapshot(&self) -> String {
        self.connection.snapshot()
    }

    /// Who has sent what the connection's decoder has.
    fn sender(&self) -> Role {
        self.connection.role().other()
    }

    /// The stream of one side has ended; the connection is turned to the other.
    fn end(&mut self, from: Role) {
        if let Some(item) = self.connection.decoder.finish() {
            self.read(from, item);
        }
        self.ended.add(from);
        if !self.ended.has(from.other()) || self.connection.phase == Phase::Closed {
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
        self.connection.phase = Phase::Closed;
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

    /// Looks at the conversation from the side of who receives.
    fn turn_to(&mut self, receiver: Role) {
        let connection = &mut self.connection;
        if connection.state.config.role == receiver {
            return;
        }
        let Direction { decoder, templates, frames, answered } = &mut self.other;
        mem::swap(&mut connection.decoder, decoder);
        mem::swap(&mut connection.templates, templates);
        mem::swap(&mut connection.frames, frames);
        mem::swap(&mut connection.state.answered, answered);
        connection.state.turn_to(receiver);
        if let Some(earlier) = &mut connection.earlier {
            earlier.turn();
        }
    }
}

impl Connection {
    /// A request that a receiver should refuse may be served all the same: it stays open, and what it brings about is known
    /// by its answer. Not so what is over a limit: of a session that there is no room for, the answer alone is awaited.
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
            life: self.state.sessions.life(subject.session.as_ref()),
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
