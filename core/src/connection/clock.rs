//! Time: requests that end for want of an answer, and what becomes of an answer that comes after that.
//!
//! A request that timed out, or was cancelled and not answered within the grace time, moves to a table of late
//! requests. It keeps what it held (the session that it may open, the slot of a terminal, the turn of a prompt), since
//! the peer may still be at work. Its late answer settles that, like any answer. The table is bounded: the oldest entry
//! makes room, and what it held is released.

use super::outgoing::CANCEL;
use super::{Advice, Connection, Event, Outcome, Phase, Response, State};
use crate::engine::{Late, OpenRequest, Pending};
use crate::jsonrpc::{write_notification, Id};
use crate::rules::Way;
use crate::validation::table;

impl Connection {
    /// Tells the time, in milliseconds on a clock of the host's own that does not run backwards.
    ///
    /// Requests of the host's whose time is up end with [`Outcome::Timeout`]; the peer is asked to stop them with
    /// `$/cancel_request`, which peers that do not know it ignore, so look at [`transmit`](Self::transmit) afterwards.
    /// Requests that were cancelled and are still not answered end with [`Outcome::Cancelled`] after the
    /// [grace time](super::Config::cancel_grace). An answer that comes later is an [`Event::LateResponse`]; a prompt's
    /// turn goes on until then, until its session is closed, or until the grace time is over. Of the peer's requests
    /// that wait too long the host is [reminded](super::Config::reminder).
    pub fn handle_timeout(&mut self, now: u64) {
        self.now = self.now.max(now);
        while let Some(request) = self.state.outbound.pop_expired(self.now) {
            self.end_unanswered(request);
        }
        while let Some(id) = self.state.late.overdue(self.now).map(|request| request.id.clone()) {
            self.end_turn(&id);
        }
        while let Some(request) = self.state.inbound.overdue(self.now).filter(|_| id!("RPC-15").is_on(Way::Track)) {
            let advice = Advice {
                rule: id!("RPC-15"),
                message: "a request of the peer's still waits for its one answer; respond to it".into(),
                pointer: String::new(),
                method: request.method.to_string(),
                id: Some(request.id.clone()),
                session: request.session.clone(),
            };
            self.events.push(Event::Advice(advice));
        }
    }

    /// When [`handle_timeout`](Self::handle_timeout) is wanted, on the host's clock.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<u64> {
        if self.replies.held && !self.replies_over_limit() {
            return Some(self.now);
        }
        let State { outbound, late, inbound, .. } = &self.state;
        [outbound, late, inbound].into_iter().filter_map(Pending::next_deadline).min()
    }

    /// When a request ends that is cancelled now.
    pub(super) fn grace(&self) -> Option<u64> {
        self.state.config.cancel_grace.map(|after| self.now.saturating_add(after))
    }

    fn end_unanswered(&mut self, mut request: OpenRequest) {
        let starts = request.row.is_some_and(|row| row.phase == table::Phase::Start);
        let cancelled = request.grace.is_some_and(|grace| request.deadline.is_none_or(|deadline| grace < deadline));
        if starts && self.phase == Phase::Initializing {
            self.initialize_failed();
        }
        if self.phase == Phase::Ready && !starts && !request.cancelled {
            self.outbox.push_whole(write_notification(CANCEL, &format!("{{\"requestId\":{}}}", request.id)));
            request.cancelled = true;
            request.grace = self.grace();
        }
        self.events.push(Event::Response(Response {
            id: request.id.clone(),
            serial: request.serial,
            method: request.method.clone(),
            session: request.session.clone(),
            outcome: if cancelled { Outcome::Cancelled } else { Outcome::Timeout },
        }));
        if self.state.late.len() >= self.state.config.limits.pending {
            let oldest = self.state.late.iter().next().map(|request| request.id.clone());
            if let Some(oldest) = oldest.and_then(|id| self.take_late(&id)) {
                self.track_answer(&oldest, None);
            }
        }
        // An answer that only says that the turn begins is nothing to wait for.
        let turn = request.method == "session/prompt" && self.state.tables.dialect.answer_ends_turn();
        request.deadline = None;
        request.grace = request.grace.filter(|_| turn && !cancelled);
        request.late = Some(Late::Holds);
        let (id, number) = (request.id.clone(), self.next_serial());
        self.state.late.insert_as(number, request);
        if turn && cancelled {
            self.end_turn(&id);
        }
    }

    /// Ends the turn of a late prompt, so that its session can be prompted again.
    pub(super) fn end_turn(&mut self, id: &Id) {
        let Some(request) = self.state.late.get(id).cloned() else { return };
        self.track_answer(&request, None);
        self.state.sessions.awaits_late_answer(&request);
        self.state.late.release(id);
    }

    /// A late request that is answered or forgotten now.
    pub(super) fn take_late(&mut self, id: &Id) -> Option<OpenRequest> {
        let mut request = self.state.late.remove(id)?;
        if request.late == Some(Late::Released) {
            self.state.sessions.has_late_answer(&request);
            // What its session does now is none of its business.
            request.life = None;
        }
        Some(request)
    }
}
