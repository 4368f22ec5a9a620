//! When a host stops taking events, so that a peer that says more than is handled is slowed down by its transport.
//!
//! Theory of operation. What was polled and waits for whoever takes it is *kept* here, and *taken* later: updates in
//! streams, notifications whose handlers come one after the other. Once too much waits, polling gives nothing, and a loop
//! that gets nothing reads nothing. It goes on when half of that has been taken, or earlier where somebody has run dry:
//! of two streams, one that nobody takes from must not starve the other. While the peer owes an answer, which may be behind
//! all that waits, far more is let in.

use std::collections::HashMap;

use crate::connection::Request;

/// Maximum number of messages that wait.
const MESSAGES: usize = 256;
/// Maximum number of bytes of them.
const BYTES: usize = 1024 * 1024;
/// How many times as much may wait while a call has no answer.
const PATIENCE: usize = 8;
/// Maximum number of bytes of the connection's own answers that are not written.
const REPLIES: usize = 1024 * 1024;
/// Maximum number of bytes of requests to write files that are being served. Others do not count: one that lasts as long
/// as a turn must not hold up what ends it.
const WRITES: usize = 16 * 1024 * 1024;
const WRITE: &str = "fs/write_text_file";

/// What a host has polled and not handled yet. [`Host::poll_event`](super::Host::poll_event) gives nothing while it is too
/// much: 256 messages or 1 MiB of them (eight times as much while the peer owes an answer), 16 MiB of requests to write
/// files, or 1 MiB of the connection's own answers that are not written.
///
/// Nothing is limited before [`start`](Self::start), nor after the host has closed the connection.
#[derive(Debug, Default)]
pub struct Pace {
    /// Maximum number of requests that are served at a time; `None` where nothing is limited.
    most: Option<usize>,
    messages: usize,
    bytes: usize,
    requests: usize,
    /// Bytes of requests to write files, by serial, and together.
    writes: HashMap<u64, usize>,
    written: usize,
    is_paused: bool,
}

impl Pace {
    /// Limits what is polled from now on. Requests count from there until they have [ended](Self::end). While `most` of them
    /// are served, no more events come, unless the peer owes an answer. One is served in any case, as otherwise nothing would
    /// ever come.
    pub fn start(&mut self, most: usize) {
        self.most = Some(most.max(1));
    }

    /// A message that was polled waits, with so many bytes of params.
    pub fn keep(&mut self, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes;
    }

    /// A message that was [kept](Self::keep) has been handed over. `is_last` says that nothing is left where it waited.
    /// Returns whether it is time to poll again.
    #[must_use]
    pub fn take(&mut self, bytes: usize, is_last: bool) -> bool {
        self.messages = self.messages.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
        self.is_paused && (is_last || (self.messages <= MESSAGES / 2 && self.bytes <= BYTES / 2))
    }

    /// A request was polled, and is being served.
    pub(super) fn begin(&mut self, request: &Request) {
        if self.most.is_none() {
            return;
        }
        self.requests += 1;
        if request.method == WRITE {
            self.written += request.params().len();
            self.writes.insert(request.serial, request.params().len());
        }
    }

    /// The request with this serial number has been served, and its answer is written. Returns whether it is time to poll
    /// again.
    #[must_use]
    pub fn end(&mut self, serial: u64) -> bool {
        self.requests = self.requests.saturating_sub(1);
        self.written -= self.writes.remove(&serial).unwrap_or_default();
        self.is_paused
    }

    /// Whether the last poll has given nothing because of too much that waits.
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Whether polling gives nothing now. `replies` are the bytes of the connection's own answers that are not written, and
    /// `owed` says whether the peer owes an answer.
    pub(super) fn pauses(&mut self, replies: usize, owed: impl Fn() -> bool) -> bool {
        self.is_paused = self.most.is_some_and(|most| self.is_full(most, replies, owed));
        self.is_paused
    }

    fn is_full(&self, most: usize, replies: usize, owed: impl Fn() -> bool) -> bool {
        if replies > REPLIES || self.written > WRITES {
            return true;
        }
        // Mostly nothing waits, and nobody has to look for calls.
        if self.requests < most && self.messages < MESSAGES && self.bytes < BYTES {
            return false;
        }
        let owed = owed();
        let times = if owed { PATIENCE } else { 1 };
        (self.requests >= most && !owed) || self.messages >= MESSAGES * times || self.bytes >= BYTES * times
    }

    /// The host has closed the connection: what is left comes at once.
    pub(super) fn stop(&mut self) {
        (self.most, self.is_paused) = (None, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connection::Json;

    fn request(serial: u64, method: &'static str, bytes: usize) -> Request {
        let params = Json::whole(" ".repeat(bytes));
        Request { id: crate::Id::Null, serial, method: method.into(), session: None, params }
    }

    fn started() -> Pace {
        let mut pace = Pace::default();
        pace.start(2);
        pace
    }

    #[test]
    fn nothing_is_limited_before_it_starts() {
        let mut pace = Pace::default();
        (0..3000).for_each(|_| pace.keep(BYTES));
        assert!(!pace.pauses(2 * REPLIES, || false) && !pace.is_paused());
        pace.start(1);
        assert!(pace.pauses(0, || true) && pace.is_paused());
        pace.stop();
        assert!(!pace.pauses(0, || false) && !pace.is_paused());
    }

    #[test]
    fn one_request_is_served_in_any_case() {
        let mut pace = Pace::default();
        pace.start(0);
        assert!(!pace.pauses(0, || false));
        pace.begin(&request(1, "session/prompt", 0));
        assert!(pace.pauses(0, || false));
        assert!(pace.end(1) && !pace.pauses(0, || false));
    }

    #[test]
    fn it_pauses_at_256_messages_and_goes_on_at_128() {
        let mut pace = started();
        (0..255).for_each(|_| pace.keep(1));
        assert!(!pace.pauses(0, || false));
        pace.keep(1);
        assert!(pace.pauses(0, || false));
        let resumed = (0..256).position(|_| pace.take(1, false));
        assert_eq!(resumed, Some(127));
        assert!(!pace.pauses(0, || false));
        assert!(!pace.take(1, true), "it is not paused");
    }

    #[test]
    fn it_pauses_at_a_mebibyte_and_goes_on_at_half_of_it() {
        let mut pace = started();
        pace.keep(BYTES - 1);
        assert!(!pace.pauses(0, || false));
        pace.keep(1);
        assert!(pace.pauses(0, || false));
        assert!(!pace.take(1, false));
        assert!(pace.take(BYTES - 1, false));
    }

    #[test]
    fn who_has_run_dry_does_not_wait_for_others() {
        let mut pace = started();
        (0..256).for_each(|_| pace.keep(1));
        assert!(pace.pauses(0, || false));
        assert!(!pace.take(1, false) && pace.take(1, true));
        assert!(!pace.pauses(0, || false));
    }

    #[test]
    fn eight_times_as_much_waits_while_an_answer_is_owed() {
        let mut pace = started();
        (0..2047).for_each(|_| pace.keep(1));
        assert!(!pace.pauses(0, || true));
        pace.keep(1);
        assert!(pace.pauses(0, || true));
    }

    #[test]
    fn requests_are_limited_in_number_unless_an_answer_is_owed_and_in_bytes() {
        let mut pace = started();
        pace.begin(&request(1, "session/prompt", WRITES));
        pace.begin(&request(2, WRITE, WRITES));
        assert!(pace.pauses(0, || false) && !pace.pauses(0, || true));
        pace.begin(&request(3, WRITE, 1));
        assert!(pace.pauses(0, || true) && pace.end(3));
        assert!(!pace.pauses(0, || true));
        assert!(pace.pauses(0, || false) && pace.end(1));
        assert!(!pace.pauses(0, || false) && !pace.end(2));
    }

    #[test]
    fn answers_that_are_not_written_hold_up_reading() {
        let mut pace = started();
        assert!(!pace.pauses(REPLIES, || false) && pace.pauses(REPLIES + 1, || true));
    }
}
