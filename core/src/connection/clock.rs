//! Time: requests that end without an answer, and what becomes of an answer that comes after that.
//!
//! A request that timed out, or was cancelled and not answered within the grace time, moves to a table of late
//! requests. It keeps what it held (the session that it may open, the slot of a terminal, the turn of a prompt), since
//! the peer may still be at work. Its late answer settles that, like any answer. The table is bounded: the oldest entry
//! makes room, and what it held is released.

use super::outgoing::CANCEL;
use super::{Advice, Connection, Event, Outcome, Response, State};
use crate::engine::{Late, OpenRequest, Pending};
use crate::jsonrpc::{write_notification, Id};
use crate::rules::Way;
use crate::validation::table;

/// The time as the host has told it.
#[derive(Debug, Default)]
pub(super) struct Clock {
    now: u64,
}

impl Clock {
    /// Takes the time in milliseconds; one that is earlier than the last is not taken.
    fn advance(&mut self, now: u64) {
        self.now = self.now.max(now);
    }

    /// The time that was told last, in milliseconds.
    fn now(&self) -> u64 {
        self.now
    }

    /// The time this many milliseconds from now; `None` for never.
    pub(super) fn after(&self, milliseconds: Option<u64>) -> Option<u64> {
        milliseconds.map(|milliseconds| self.now.saturating_add(milliseconds))
    }
}

impl Connection {
    /// Sets the time: milliseconds on a monotonic clock of the host's choice. A time before the last one is ignored.
    ///
    /// Requests of the host whose time limit has passed end with [`Outcome::Timeout`]. The peer is asked to stop working on
    /// them by `$/cancel_request`, so check [`transmit`](Self::transmit) afterwards. Requests that were cancelled and have
    /// no answer end with [`Outcome::Cancelled`] after [`Config::cancel_grace`](super::Config::cancel_grace). An answer that
    /// comes later is an [`Event::LateResponse`]. The turn of a prompt that ended like this goes on until its answer comes,
    /// its session is closed, or the grace time is over. For requests of the peer that have waited for
    /// [`Config::reminder`](super::Config::reminder) there is an [`Event::Advice`] (RPC-15).
    pub fn handle_timeout(&mut self, now: u64) {
        self.clock.advance(now);
        let now = self.clock.now();
        while let Some(request) = self.state.outbound.pop_expired(now) {
            self.end_unanswered(request);
        }
        while let Some(id) = self.state.late.overdue(now).map(|request| request.id.clone()) {
            self.end_turn(&id);
        }
        while let Some(request) = self.state.inbound.overdue(now).filter(|_| id!("RPC-15").is_on(Way::Track)) {
            let advice = Advice {
                rule: id!("RPC-15"),
                message: "a request of the peer has not been answered; respond to it".into(),
                pointer: String::new(),
                method: request.method.to_string(),
                id: Some(request.id.clone()),
                session: request.session.clone(),
            };
            self.events.push(Event::Advice(advice));
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next, in milliseconds on the host's clock; `None` when no time
    /// limit is running. A time that has passed means now.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<u64> {
        if self.sending.is_paused() && !self.replies_over_limit() {
            return Some(self.clock.now());
        }
        let State { outbound, late, inbound, .. } = &self.state;
        [outbound, late, inbound].into_iter().filter_map(Pending::next_deadline).min()
    }

    /// When a request ends that is cancelled now.
    pub(crate) fn grace(&self) -> Option<u64> {
        self.clock.after(self.state.config.cancel_grace)
    }

    fn end_unanswered(&mut self, mut request: OpenRequest) {
        let starts = request.row.is_some_and(|row| row.phase == table::Phase::Start);
        let cancelled = request.grace.is_some_and(|grace| request.deadline.is_none_or(|deadline| grace < deadline));
        if starts && self.lifecycle.is_initializing() {
            self.initialize_failed();
        }
        if self.lifecycle.is_ready() && !starts && !request.cancelled {
            self.sending.write(write_notification(CANCEL, &format!("{{\"requestId\":{}}}", request.id)));
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
        // Where a prompt's answer only says that work begins, the turn does not depend on it.
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
            request.generation = None;
        }
        Some(request)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_does_not_run_backwards_or_over() {
        let mut clock = Clock::default();
        clock.advance(5);
        clock.advance(3);
        assert_eq!((clock.now(), clock.after(Some(2)), clock.after(None)), (5, Some(7), None));
        assert_eq!(clock.after(Some(u64::MAX)), Some(u64::MAX));
    }
}
