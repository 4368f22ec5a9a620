//! The connection: one participant of a conversation, a client or an agent.
//!
//! Theory of operation. Bytes go in with [`Connection::receive`] and wait there; [`Connection::poll_event`] reads them one
//! frame at a time. So the state is always what the events have told the host, and no more waits than the host has put in.
//! A frame passes framing, envelope, admission, validation, the session's state and the checks of the rules, in that order,
//! and becomes an event, a violation, or both. The host's own calls pass the same tables the other way: each writes one
//! whole message and changes the state with it, or does neither.
//!
//! [`Connection`] is composed of parts. Each owns what it needs, in a file of its own with its own tests:
//!
//! | part | what it owns |
//! | --- | --- |
//! | `State` (`engine`) | the protocol: what both sides know, judged and changed by each message |
//! | `Lifecycle` (`lifecycle`) | the phase; how `initialize` is repeated and fails; why the connection ended |
//! | `Receiving` (`receiving`) | bytes and frames, their numbers and excerpts, templates of received messages |
//! | `Sending` (`sending`) | what waits to be written, the budget of automatic answers, ids, templates of sent params |
//! | `Batches` (`batch`) | answers that wait for the rest of their batch (version 2) |
//! | `Inserted`, `Repeats` | prompts that have become messages, and prompts that repeat another (version 2) |
//! | `EventQueue` (`event_queue`) | events that the host has not taken yet |
//! | `Clock` (`clock`) | the time that the host has told last |
//!
//! The steps of the flows connect them. For a frame: `incoming` (the order of checks), `parse` and `body` (reading and
//! validating), `calls` and `answers` (what a message does), `judge` (the rules), `report` and `error_data` (violations and
//! refusals). For the host's calls: `admitted` (what may be sent now), `outgoing` and `notify`. Beside them: `handshake`
//! (`initialize`), `auto_answer` (requests that the connection answers on the host's behalf), `template_cache` (messages
//! that need not be validated again), `snapshot`, and `viewed` (what the views are shown). The `observer` feeds a connection
//! with both directions.

mod admitted;
mod answers;
mod auto_answer;
mod batch;
mod body;
mod calls;
mod clock;
mod error_data;
mod event;
mod event_queue;
mod handshake;
mod incoming;
mod inserted;
mod judge;
mod lifecycle;
mod merging;
mod misuse;
mod notify;
mod observer;
mod options;
mod outgoing;
mod parse;
mod receiving;
mod repeats;
mod report;
mod sending;
mod snapshot;
mod template_cache;
mod viewed;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::sync::Arc;

pub(crate) use event::Json;
pub use event::{
    Advice, Answered, Cancel, CloseReason, Closed, Consequence, Event, Notification, Outcome, Request, Response,
    ResultText, Violation,
};
pub use lifecycle::Phase;
pub use misuse::Misuse;
pub use observer::Observer;
pub use options::{CallOptions, Timeout};

pub use crate::engine::{
    Config, Limits, Login, LoginKind, MisuseKind, NotForeign, OpenRequest, Policy, RequestKey, Role, Session,
    SessionState, TerminalRef, Timing, Turn, UnknownDraft,
};
pub use crate::versions::{NoVersions, Versions};

use crate::engine::State;
use crate::jsonrpc::Id;
use crate::rules::Way;
use crate::validation::table;
use batch::Batches;
use clock::Clock;
use event_queue::EventQueue;
use inserted::Inserted;
use lifecycle::Lifecycle;
use receiving::Receiving;
use repeats::Repeats;
use sending::Sending;

use crate::view::Views;

/// Lower bound of the budget for automatic answers that wait to be written, in bytes.
const MIN_REPLY_BUDGET: usize = 1 << 20;

/// One side of a conversation: checks, tracks and answers what the peer sends, and checks what the host sends.
///
/// It does no I/O. Its methods are of four kinds:
///
/// * input: [`receive`](Self::receive), [`receive_eof`](Self::receive_eof), [`handle_timeout`](Self::handle_timeout);
/// * output: [`poll_event`](Self::poll_event), [`transmit`](Self::transmit) with [`consume`](Self::consume),
///   [`poll_timeout`](Self::poll_timeout);
/// * calls: [`request`](Self::request), [`notify`](Self::notify), [`respond`](Self::respond),
///   [`respond_error`](Self::respond_error), [`cancel`](Self::cancel), [`close`](Self::close);
/// * state: everything that takes `&self`.
///
/// After any input or call, drain the output in this order: [`poll_event`](Self::poll_event) until it returns `None`; write
/// [`transmit`](Self::transmit) and [`consume`](Self::consume) what was written; ask [`poll_timeout`](Self::poll_timeout)
/// when to come back.
#[derive(Debug)]
pub struct Connection {
    /// The protocol: what both sides know, judged and changed by each message.
    state: State,
    lifecycle: Lifecycle,
    receiving: Receiving,
    sending: Sending,
    batches: Batches,
    inserted: Inserted,
    repeats: Repeats,
    events: EventQueue,
    clock: Clock,
    /// The connection belongs to an observer: nothing is answered, and what one side should refuse is followed.
    observes: bool,
    /// Sessions as conversations, if the host wants them.
    views: Option<Box<Views>>,
}

impl Connection {
    /// Creates a connection for the side that `config` names. Nothing has been sent or received.
    pub fn new(mut config: Config) -> Self {
        config.limits.depth = config.limits.depth.min(crate::json::MAX_DEPTH);
        Connection {
            lifecycle: Lifecycle::new(),
            receiving: Receiving::new(config.framing, config.limits.frame),
            sending: Sending::new(config.framing),
            batches: Batches::default(),
            inserted: Inserted::default(),
            repeats: Repeats::default(),
            events: EventQueue::default(),
            clock: Clock::default(),
            observes: false,
            views: config.view.then(Box::default),
            state: State::new(config),
        }
    }

    /// Takes bytes that the peer sent, split in any way. With
    /// [`Framing::Messages`](crate::framing::Framing::Messages), each call takes one message.
    ///
    /// This never fails: what is wrong with the bytes is reported by events. Bytes that come after
    /// [`receive_eof`](Self::receive_eof), or when the connection is over, are ignored.
    pub fn receive(&mut self, bytes: &[u8]) {
        if !self.lifecycle.is_closed() {
            self.receiving.push(bytes);
        }
    }

    /// Tells the connection that the peer has closed its side of the stream.
    ///
    /// What was received before is still read. Then the host's open requests end with [`Outcome::Closed`], and the last
    /// event is [`Event::Closed`]. A peer that only stopped writing may still read: the requests that [`Event::Closed`]
    /// lists can be answered.
    pub fn receive_eof(&mut self) {
        self.receiving.end();
    }

    /// Returns the next event, reading as many frames as that takes; `None` when more bytes are needed.
    ///
    /// Automatic answers (refusals, and answers on the host's behalf) are bounded. While more bytes of them wait in
    /// [`transmit`](Self::transmit) than [`Limits::frame`], or 1 MiB if that is more, no frame is read, so that a peer that
    /// provokes answers and reads none does not fill the memory. Once they are written, [`poll_timeout`](Self::poll_timeout)
    /// returns the present time: poll again. Answers that wait for the rest of their batch count as well, the host's
    /// included; with too many of those, the batch's open requests must be answered first (BATCH-05).
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.events.pop() {
                return Some(event);
            }
            // Nothing more comes in after the end of the stream, so what its rest is answered is bounded by it.
            self.sending.pause(!self.receiving.has_ended() && self.replies_over_limit());
            if self.lifecycle.is_closed() || self.sending.is_paused() {
                return None;
            }
            if let Some(item) = self.receiving.poll() {
                self.incoming(item);
            } else if self.receiving.has_ended() {
                match self.receiving.poll_rest() {
                    Some(item) => self.incoming(item),
                    None => self.end(CloseReason::EndOfStream),
                }
            } else {
                return None;
            }
        }
    }

    /// Cheap check: `true` means that [`poll_event`](Self::poll_event) would return `None`. Callers that receive many small
    /// chunks can skip polling after each; `false` says nothing.
    #[must_use]
    pub fn is_starved(&mut self) -> bool {
        // Where frames wait for answers to be written, only a poll finds that they have been.
        self.events.is_empty() && !self.sending.is_paused() && self.receiving.needs_input()
    }

    /// The bytes to write to the peer, until they are [consumed](Self::consume); empty when there are none. With
    /// [`Framing::Messages`](crate::framing::Framing::Messages), the rest of one message.
    ///
    /// While many bytes wait here, stop reading from the peer.
    #[must_use]
    pub fn transmit(&self) -> &[u8] {
        self.sending.pending()
    }

    /// The number of bytes that wait to be written: the length of [`transmit`](Self::transmit), or with
    /// [`Framing::Messages`](crate::framing::Framing::Messages) that of all messages together. Answers that wait for the
    /// rest of their batch cannot be written yet and are not counted.
    pub fn unsent(&self) -> usize {
        self.sending.len()
    }

    /// Removes the first `count` bytes of [`transmit`](Self::transmit), which were written. Partial writes are normal; a
    /// count above the length removes everything.
    pub fn consume(&mut self, count: usize) {
        self.sending.consume(count);
    }

    /// Upper bound on how many bytes of automatic answers wait.
    pub(crate) fn auto_reply_bytes(&self) -> usize {
        self.sending.auto_reply_bytes() + self.batches.held()
    }

    /// Whether chunks of a message are merged while they wait. What [`transmit`](Self::transmit) has shown must then be
    /// consumed before anything else is done.
    pub(crate) fn merge_chunks(&mut self, merges: bool) {
        self.sending.merges = merges;
    }

    /// Whether more automatic answers wait than their budget allows.
    fn replies_over_limit(&self) -> bool {
        self.auto_reply_bytes() > self.state.config.limits.frame.max(MIN_REPLY_BUDGET)
    }

    /// Ends the connection from this side.
    ///
    /// Open permission requests are answered with `cancelled` (PERM-19) and elicitations with `cancel` (ELIC-28). The host's
    /// open requests end with [`Outcome::Closed`], and the last event is [`Event::Closed`]. What waits in
    /// [`transmit`](Self::transmit) can still be written.
    ///
    /// The answers of an incomplete batch are written without those that are missing. After the peer has closed its side, a
    /// batch goes on waiting for its answers; calling this writes what there is.
    pub fn close(&mut self) {
        if self.lifecycle.is_closed() {
            self.send_batches();
        } else {
            self.auto_answer(None, crate::engine::questions::AutoAnswerReason::End);
            self.end(CloseReason::Host);
        }
    }

    /// The side of this connection's host.
    pub fn role(&self) -> Role {
        self.state.config.role
    }

    /// The configuration that the connection was created with.
    pub fn config(&self) -> &Config {
        &self.state.config
    }

    /// How far the connection has come.
    pub fn phase(&self) -> Phase {
        self.lifecycle.phase()
    }

    /// The agreed protocol version. An agent knows it once it has received `initialize`, a client once it has received the
    /// answer; `None` before.
    pub fn version(&self) -> Option<u16> {
        self.state.version
    }

    /// The peer's capabilities: the object that it sent in `initialize`, as JSON text; `{}` before that.
    pub fn capabilities(&self) -> &str {
        or_empty(&self.state.peer.capabilities)
    }

    /// The host's capabilities: the object that it sent in `initialize`, as JSON text; `{}` before that.
    pub fn own_capabilities(&self) -> &str {
        or_empty(&self.state.own.capabilities)
    }

    /// The peer's params (a client's) or result (an agent's) of `initialize` as JSON text, which also has its name and its
    /// ways to log in; `{}` before that.
    pub fn peer_info(&self) -> &str {
        or_empty(&self.state.peer.initialize)
    }

    /// The name of the peer's program, for logs and messages; `None` before `initialize`, and where the peer does not tell
    /// its name, as it should (INIT-11).
    pub fn peer_name(&self) -> Option<Cow<'_, str>> {
        self.version()?;
        let info = self.state.tables.dialect.hello(self.role().other()).info;
        crate::json::unescape(crate::json::agreed(self.peer_info(), &format!("/{info}/name"))?)
    }

    /// Whether a request of this method may be sent again when its outcome is unknown, because it timed out or the
    /// connection was lost: `safe` (as it is), `key` (with the same `idempotencyKey`) or `never` (it might be done twice).
    /// These are the names of [`Retry`](crate::validation::table::Retry). `None` before a version is agreed on, and for
    /// methods that are not requests of that version.
    pub fn retry_class(&self, method: &str) -> Option<&'static str> {
        self.version()?;
        let row = self.state.method(method)?;
        (row.kind != table::Kind::Notification).then(|| row.retry.name())
    }

    /// What the peer advertises for one extension, under `_meta` of its capabilities, as JSON text (EXT-10); `None` where it
    /// advertises nothing, and before `initialize`.
    pub fn peer_extension(&self, name: &str) -> Option<&str> {
        self.state.peer.extension(name)
    }

    /// The sessions that are open, being loaded or being resumed, in no particular order.
    pub fn sessions(&self) -> impl Iterator<Item = (&Arc<str>, &Session)> {
        self.state.sessions.iter()
    }

    /// The session of this id; `None` when it is not open here.
    pub fn session(&self, id: &str) -> Option<&Session> {
        self.state.sessions.get(id)
    }

    /// The requests that the host sent and that have no answer yet, oldest first.
    pub fn pending(&self) -> impl Iterator<Item = &OpenRequest> {
        self.state.outbound.iter()
    }

    /// Those of the host's open requests that are prompts of this session, open it, or ask its user, oldest first.
    pub(crate) fn pending_of<'c>(&'c self, session: &'c Arc<str>) -> impl Iterator<Item = &'c OpenRequest> {
        self.state.outbound.of_session(session)
    }

    /// The requests that the peer sent and that the host has not answered yet, oldest first (RPC-15).
    pub fn unanswered(&self) -> impl Iterator<Item = &OpenRequest> {
        self.state.inbound.iter()
    }

    /// The peer's open request with this serial.
    pub fn unanswered_by_serial(&self, serial: u64) -> Option<&OpenRequest> {
        self.state.inbound.by_serial(serial)
    }

    /// The host's open request with this serial.
    pub fn pending_by_serial(&self, serial: u64) -> Option<&OpenRequest> {
        self.state.outbound.by_serial(serial)
    }

    /// The host's open request with this id.
    pub fn pending_by_id(&self, id: &Id) -> Option<&OpenRequest> {
        self.state.outbound.get(id)
    }

    /// The peer's open request with this id.
    pub fn unanswered_by_id(&self, id: &Id) -> Option<&OpenRequest> {
        self.state.inbound.get(id)
    }

    /// Whether the user is logged in with the agent, as far as messages have shown (AUTH-02). After a logout, sessions that
    /// were open are marked by [`Session::auth_uncertain`].
    pub fn login(&self) -> Login {
        self.state.auth.login
    }

    /// The ways to log in that the agent offers and that can be used, in the agent's order: the id of each, and who carries
    /// it out.
    pub fn login_methods(&self) -> impl Iterator<Item = (&str, LoginKind)> {
        self.state.auth.methods.iter().map(|(id, kind)| (&**id, *kind))
    }

    /// The ids of elicitations in `url` mode that are not completed yet (ELIC-20), in alphabetical order.
    pub fn open_elicitations(&self) -> impl Iterator<Item = &str> {
        self.state.elicitations.ids()
    }

    /// The model providers that the agent listed last, in alphabetical order of their ids, and whether each is enabled
    /// (PROV-04; a draft).
    pub fn providers(&self) -> impl Iterator<Item = (&str, bool)> {
        self.state.providers.iter()
    }

    /// The terminals that were created and not released (TERM-04), by session.
    pub fn open_terminals(&self) -> Vec<TerminalRef> {
        self.state.sessions.terminals()
    }

    /// The number of bytes that were received and not read yet. While it is large, stop reading from the transport.
    pub fn buffered(&self) -> usize {
        self.receiving.buffered()
    }

    fn next_serial(&mut self) -> u64 {
        self.state.newest += 1;
        self.state.newest
    }

    /// Ends a request of the host, which may be a late one, with an event.
    fn end_request(&mut self, request: OpenRequest, outcome: Outcome) {
        if !self.is_unfollowed(&request) {
            self.track_answer(&request, outcome.result());
        }
        let starts = request.row.is_some_and(|row| row.phase == crate::validation::table::Phase::Start);
        if starts && request.late.is_none() && self.lifecycle.is_initializing() {
            self.initialize_failed();
        }
        let OpenRequest { id, serial, method, session, late, .. } = request;
        let response = Response { id, serial, method, session, outcome };
        self.events.push(if late.is_some() { Event::LateResponse(response) } else { Event::Response(response) });
    }

    /// Ends everything (RPC-33).
    fn end(&mut self, reason: CloseReason) {
        self.lifecycle.close(reason);
        let told = id!("RPC-33").is_on(Way::Track)
            && (reason != CloseReason::EndOfStream || id!("FRAME-07").is_on(Way::Track));
        while let Some(request) = self.state.outbound.pop_first().filter(|_| told) {
            self.end_request(request, Outcome::Closed);
        }
        while let Some(request) = self.state.late.pop_first() {
            self.track_answer(&request, None);
        }
        // An agent still answers after its client has closed its side.
        if reason != CloseReason::EndOfStream || self.state.config.role == Role::Client {
            self.show_over();
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
