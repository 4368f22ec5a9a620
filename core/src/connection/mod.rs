//! The connection: one peer, seen from one side.
//!
//! Theory of operation. Bytes go in with [`Connection::receive`] and wait there; [`Connection::poll_event`] reads them
//! one frame at a time. So what the core knows is always what the host has been told, and what waits is bounded by what
//! the host has put in. A frame passes framing, envelope, admission (`rules`), validation and tracking (`session`), in
//! that order, and ends as an event, as a violation, or both. The host's own calls pass the same tables the other way,
//! and either change everything they should and write one whole message, or change and write nothing.
//!
//! Read in this order: `config`, `event`, `misuse` (what hosts see), `outgoing` and `telling` (the host's calls),
//! `incoming`, `checker` and `template` (frames), `batch` (several messages in one), `calls` and `answers` (what frames turn into), `dismiss` (what the
//! connection answers by itself), `clock` (what nobody answers), `handshake` (`initialize`), `state`, `session`,
//! `early`, `pending` and `inserted` (what is tracked), `snapshot` (all that hosts see of it), `rules`. `queue` holds the events.

mod answers;
mod auto_answer;
mod batch;
mod body;
mod calls;
mod clock;
mod event;
mod event_queue;
mod handshake;
mod incoming;
mod inserted;
mod judge;
mod misuse;
mod notify;
mod observer;
mod outgoing;
mod repeats;
mod report;
mod snapshot;
mod template_cache;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

pub use event::{
    Advice, Answered, Cancel, CloseReason, Closed, Consequence, Event, Notification, Outcome, Request, Response,
    ResultText, Violation,
};
pub use misuse::Misuse;
pub use observer::Observer;
pub use outgoing::{CallOptions, Timeout};

pub use crate::engine::{
    Config, Limits, Login, LoginKind, MisuseKind, NotForeign, OpenRequest, Policy, RequestKey, Role, Session,
    SessionState, TerminalRef, Timing, Turn, UnknownDraft,
};
pub use crate::versions::{NoVersions, Versions};

use crate::engine::State;
use crate::framing::{Decoder, Outbox};
use crate::jsonrpc::Id;
use crate::rules::Way;
use crate::validation::{table, FieldIndex};
use batch::Batches;
use event_queue::EventQueue;
use handshake::Earlier;
use inserted::Inserted;
use repeats::Repeats;
use template_cache::{Slots, TemplateCache};

/// How far a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// `initialize` has not been sent.
    Start,
    /// `initialize` has been sent and not answered.
    Initializing,
    /// Open.
    Ready,
    /// Over.
    Closed,
}

impl Phase {
    /// A name for it, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Start => "start",
            Phase::Initializing => "initializing",
            Phase::Ready => "ready",
            Phase::Closed => "closed",
        }
    }
}

/// So many bytes of own answers may wait, however short frames are.
const MIN_REPLY_BUDGET: usize = 1 << 20;

/// The connection's own answers.
#[derive(Debug, Default)]
struct Replies {
    /// Bytes of the outbox that may be such answers.
    waiting: usize,
    /// Frames wait until these have been written.
    held: bool,
}

/// One peer, seen from one side.
///
/// The drain order after anything went in (bytes, end of stream, time, a call of the host's):
/// [`poll_event`](Self::poll_event) until it returns `None`, then write [`transmit`](Self::transmit) and
/// [`consume`](Self::consume) what was written, then ask [`poll_timeout`](Self::poll_timeout) when to come back.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is true or not whatever the others are")]
pub struct Connection {
    phase: Phase,
    state: State,
    decoder: Decoder,
    end_of_stream: bool,
    outbox: Outbox,
    replies: Replies,
    batches: Batches,
    inserted: Inserted,
    repeats: Repeats,
    events: EventQueue,
    next_id: i64,
    now: u64,
    frames: u64,
    /// First bytes of the frame that is being read.
    head: Vec<u8>,
    /// Whether the frame has more than these.
    head_is_cut: bool,
    /// What was seen of the last message, for the next one to use its room.
    scratch: FieldIndex,
    templates: TemplateCache,
    /// The same for what the host sends.
    send_templates: TemplateCache,
    /// Room for the slots of a template.
    slots: Slots,
    /// The connection was ready once.
    opened: bool,
    /// The client has sent a request other than `initialize`, which is not repeated any more.
    settled: bool,
    /// What holds again should the `initialize` fail that is open.
    earlier: Option<Box<Earlier>>,
    ended: Option<CloseReason>,
    /// It looks on: nothing is answered, and what one side should refuse is followed.
    observes: bool,
}

impl Connection {
    /// A connection at its start.
    pub fn new(mut config: Config) -> Self {
        config.limits.depth = config.limits.depth.min(crate::json::MAX_DEPTH);
        Connection {
            phase: Phase::Start,
            decoder: Decoder::new(config.framing, config.limits.frame),
            end_of_stream: false,
            outbox: Outbox::new(config.framing),
            replies: Replies::default(),
            batches: Batches::default(),
            inserted: Inserted::default(),
            repeats: Repeats::default(),
            events: EventQueue::default(),
            next_id: 1,
            now: 0,
            frames: 0,
            head: Vec::new(),
            head_is_cut: false,
            scratch: FieldIndex::default(),
            templates: TemplateCache::default(),
            send_templates: TemplateCache::default(),
            slots: Slots::new(),
            opened: false,
            settled: false,
            earlier: None,
            ended: None,
            observes: false,
            state: State::new(config),
        }
    }

    /// Takes bytes from the peer, in any split (with [`Framing::Messages`](crate::framing::Framing::Messages): one
    /// message a call). Never fails; what is wrong with them becomes events.
    pub fn receive(&mut self, bytes: &[u8]) {
        if self.phase != Phase::Closed && !self.end_of_stream {
            self.decoder.push(bytes);
        }
    }

    /// The peer has closed its side: what was received is still read, then the host's requests end. A peer that only
    /// stopped writing may still read, so its own requests can be answered after [`Event::Closed`] has listed them.
    pub fn receive_eof(&mut self) {
        self.end_of_stream = true;
    }

    /// The next thing that the host must know.
    ///
    /// While more of the connection's own answers (refusals, questions answered in the host's place) wait in [`transmit`](Self::transmit)
    /// than [one frame](Limits::frame) may have bytes, or 1 MiB if that is more, no further frame is read: a peer that
    /// provokes answers and reads none fills no memory. Once they are written, [`poll_timeout`](Self::poll_timeout) says
    /// that it is time to go on. Answers that wait for the rest of their batch count as well, the host's too: with
    /// so many of them, requests that are open have to be answered first (BATCH-05).
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.events.pop() {
                return Some(event);
            }
            // Nothing more comes in after the end of the stream, so what its rest is answered is bounded by it.
            self.replies.held = !self.end_of_stream && self.replies_over_limit();
            if self.phase == Phase::Closed || self.replies.held {
                return None;
            }
            if let Some(item) = self.decoder.poll() {
                self.incoming(item);
            } else if self.end_of_stream {
                match self.decoder.finish() {
                    Some(item) => self.incoming(item),
                    None => self.end(CloseReason::EndOfStream),
                }
            } else {
                return None;
            }
        }
    }

    /// Whether it is clear at a glance that [`poll_event`](Self::poll_event) has nothing before more bytes come: who gets
    /// them in small pieces need not ask after each.
    #[must_use]
    pub fn is_starved(&mut self) -> bool {
        // What is held has to be let go by a poll.
        self.events.is_empty() && !self.end_of_stream && !self.replies.held && self.decoder.is_starved()
    }

    /// Bytes for the peer, which wait here until they are consumed: while they are many, read no more from the peer (with
    /// [`Framing::Messages`](crate::framing::Framing::Messages): the rest of one message). Empty when there are none.
    #[must_use]
    pub fn transmit(&self) -> &[u8] {
        self.outbox.pending()
    }

    /// Bytes that wait for the peer: the length of [`transmit`](Self::transmit), or with
    /// [`Framing::Messages`](crate::framing::Framing::Messages) of all messages. Answers that wait for the rest of their
    /// batch cannot be sent yet, and are not among them.
    pub fn unsent(&self) -> usize {
        self.outbox.len()
    }

    /// Takes `count` bytes of [`transmit`](Self::transmit) as written; partial writes are normal.
    pub fn consume(&mut self, count: usize) {
        self.outbox.consume(count);
        self.replies.waiting = self.replies.waiting.min(self.outbox.len());
    }

    /// Whether too many of the connection's own answers wait for the host to write them.
    fn replies_over_limit(&self) -> bool {
        self.replies.waiting + self.batches.held() > self.state.config.limits.frame.max(MIN_REPLY_BUDGET)
    }

    /// Ends the connection from this side: permission requests that are open are answered `cancelled` (PERM-19) and
    /// elicitations `cancel` (ELIC-28), own requests end with [`Outcome::Closed`], and what waits in
    /// [`transmit`](Self::transmit) can still be sent. Of a batch that is not complete, the answers that are there go out:
    /// there will be no others. After [`receive_eof`](Self::receive_eof) a batch goes on waiting for its answers, like any
    /// request, and this writes what is there.
    pub fn close(&mut self) {
        if self.phase == Phase::Closed {
            self.send_batches();
        } else {
            self.auto_answer(None, crate::engine::questions::AutoAnswerReason::End);
            self.end(CloseReason::Host);
        }
    }

    /// The side that the host plays.
    pub fn role(&self) -> Role {
        self.state.config.role
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.state.config
    }

    /// How far the connection is.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// The agreed protocol version: a client knows it once `initialize` has been answered, an agent once it has come.
    pub fn version(&self) -> Option<u16> {
        self.state.version
    }

    /// What the peer can do: its capabilities object as JSON text, `{}` before `initialize`.
    pub fn capabilities(&self) -> &str {
        or_empty(&self.state.peer.capabilities)
    }

    /// What the host said it can do: its capabilities object as JSON text, `{}` before `initialize`.
    pub fn own_capabilities(&self) -> &str {
        or_empty(&self.state.own.capabilities)
    }

    /// The peer's whole params or result of `initialize` as JSON text: its name, its ways to log in. `{}` before.
    pub fn peer_info(&self) -> &str {
        or_empty(&self.state.peer.initialize)
    }

    /// The name of the program behind the peer, for logs and messages; `None` before `initialize`, and where the peer does
    /// not say it, as it should (INIT-11).
    pub fn peer_name(&self) -> Option<Cow<'_, str>> {
        self.version()?;
        let info = self.state.tables.dialect.hello(self.role().other()).info;
        crate::json::unescape(crate::json::agreed(self.peer_info(), &format!("/{info}/name"))?)
    }

    /// Whether a request of this method may be sent once more when nobody knows what became of it, because its time was up or
    /// the connection is gone: `safe` as it is, `key` with the `idempotencyKey` that it had the first time, `never` because
    /// it might be done twice; the name of a [`Retry`](crate::validation::table::Retry). `None` before the version is agreed
    /// on, and for methods that are no requests of that version.
    pub fn retry_class(&self, method: &str) -> Option<&'static str> {
        self.version()?;
        let row = self.state.method(method)?;
        (row.kind != table::Kind::Notification).then(|| row.retry.name())
    }

    /// What the peer says about one extension under `_meta` of its capabilities, as JSON text; `None` where it does not
    /// advertise it (EXT-10), and before `initialize`.
    pub fn peer_extension(&self, name: &str) -> Option<&str> {
        self.state.peer.extension(name)
    }

    /// The sessions that are known, in no order.
    pub fn sessions(&self) -> impl Iterator<Item = (&Arc<str>, &Session)> {
        self.state.sessions.iter()
    }

    /// What is known of one session.
    pub fn session(&self, id: &str) -> Option<&Session> {
        self.state.sessions.get(id)
    }

    /// The host's own requests that have no answer yet, oldest first.
    pub fn pending(&self) -> impl Iterator<Item = &OpenRequest> {
        self.state.outbound.iter()
    }

    /// The peer's requests that the host has not answered yet, oldest first (RPC-15).
    pub fn unanswered(&self) -> impl Iterator<Item = &OpenRequest> {
        self.state.inbound.iter()
    }

    /// The peer's open request with this number.
    pub fn unanswered_by_serial(&self, serial: u64) -> Option<&OpenRequest> {
        self.state.inbound.by_serial(serial)
    }

    /// The host's own open request with this number.
    pub fn pending_by_serial(&self, serial: u64) -> Option<&OpenRequest> {
        self.state.outbound.by_serial(serial)
    }

    /// The host's own open request with this id.
    pub fn pending_by_id(&self, id: &Id) -> Option<&OpenRequest> {
        self.state.outbound.get(id)
    }

    /// The peer's open request with this id.
    pub fn unanswered_by_id(&self, id: &Id) -> Option<&OpenRequest> {
        self.state.inbound.get(id)
    }

    /// Whether the agent works for this user, as far as anything has said (AUTH-02); both sides know it. After a logout, sessions that were
    /// open are marked as well: [`Session::auth_uncertain`].
    pub fn login(&self) -> Login {
        self.state.auth.login
    }

    /// The ways to log in that the agent listed and that can be used, in its order: the id, and who carries it out.
    pub fn login_methods(&self) -> impl Iterator<Item = (&str, LoginKind)> {
        self.state.auth.methods.iter().map(|(id, kind)| (&**id, *kind))
    }

    /// The ids of questions that are settled on web pages and have not been yet (ELIC-20), in the order of their text.
    pub fn open_elicitations(&self) -> impl Iterator<Item = &str> {
        self.state.elicitations.ids()
    }

    /// The model providers that the agent listed last, in the order of their ids, and whether each is switched on
    /// (PROV-04; draft).
    pub fn providers(&self) -> impl Iterator<Item = (&str, bool)> {
        self.state.providers.iter()
    }

    /// Terminals that were created and not released, by session (TERM-04).
    pub fn open_terminals(&self) -> Vec<TerminalRef> {
        self.state.sessions.terminals()
    }

    /// Bytes that were received and not read yet: stop reading from the transport while this is large.
    pub fn buffered(&self) -> usize {
        self.decoder.buffered()
    }

    /// Whether `initialize` has been answered, also when the connection is over by now.
    fn ready(&self) -> bool {
        self.phase == Phase::Ready || (self.phase == Phase::Closed && self.opened)
    }

    fn next_serial(&mut self) -> u64 {
        self.state.newest += 1;
        self.state.newest
    }

    /// Ends a request of the host's, which may be a late one, with an event.
    fn end_request(&mut self, request: OpenRequest, outcome: Outcome) {
        if !self.is_unfollowed(&request) {
            self.track_answer(&request, outcome.result());
        }
        let starts = request.row.is_some_and(|row| row.phase == crate::validation::table::Phase::Start);
        if starts && request.late.is_none() && self.phase == Phase::Initializing {
            self.initialize_failed();
        }
        let OpenRequest { id, serial, method, session, late, .. } = request;
        let response = Response { id, serial, method, session, outcome };
        self.events.push(if late.is_some() { Event::LateResponse(response) } else { Event::Response(response) });
    }

    /// Ends everything (RPC-33).
    fn end(&mut self, reason: CloseReason) {
        self.phase = Phase::Closed;
        self.ended = Some(reason);
        let told = id!("RPC-33").is_on(Way::Track)
            && (reason != CloseReason::EndOfStream || id!("FRAME-07").is_on(Way::Track));
        while let Some(request) = self.state.outbound.pop_first().filter(|_| told) {
            self.end_request(request, Outcome::Closed);
        }
        while let Some(request) = self.state.late.pop_first() {
            self.track_answer(&request, None);
        }
        self.state.inbound.stop_clock();
        let unanswered: Vec<Id> = self.state.inbound.iter().map(|request| request.id.clone()).collect();
        if reason != CloseReason::EndOfStream {
            while self.state.inbound.pop_first().is_some() {}
            self.repeats.clear();
            self.send_batches();
        }
        let terminals = if id!("TERM-04").is_on(Way::Track) { self.open_terminals() } else { Vec::new() };
        self.events.push(Event::Closed(Closed { reason, unanswered, terminals }));
    }
}

fn or_empty(json: &str) -> &str {
    if json.is_empty() {
        "{}"
    } else {
        json
    }
}
