//! A budget for the memory of large responses: those that are being produced, and those that the peer has not read.
//!
//! A request of a few bytes can ask for a response of many megabytes. Requests of such methods wait in order until the
//! budget has room for one more response. Other requests do not wait, and every request is answered.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use super::shared::State;

/// How many bytes of answers may be in progress.
const MOST: usize = 16 * 1024 * 1024;
/// The size that is assumed before it is known: the largest file that `libacp-files` returns.
const UNKNOWN: usize = 10_000_000;
/// Methods whose answers can be as large as a file or the output of a terminal.
const LARGE: [&str; 2] = ["fs/read_text_file", "terminal/output"];

/// The bytes that are taken, and the requests that wait, in order.
#[derive(Default)]
pub(super) struct Budget {
    taken: usize,
    waiting: VecDeque<(u64, Option<Waker>)>,
}

impl Budget {
    /// Registers a request. Requests of the methods in [`LARGE`] have to be [admitted](State::admitted).
    pub(super) fn enter(&mut self, serial: u64, method: &str) {
        if LARGE.contains(&method) {
            self.waiting.push_back((serial, None));
        }
    }

    fn place(&self, serial: u64) -> Option<usize> {
        // Serial numbers increase, so the queue is sorted by them.
        self.waiting.binary_search_by_key(&serial, |(waiting, _)| *waiting).ok()
    }

    fn fits(&self) -> bool {
        self.taken == 0 || self.taken + UNKNOWN <= MOST
    }

    /// The waker of the first request in line, if there is room for it.
    fn next(&mut self) -> Option<Waker> {
        if !self.fits() {
            return None;
        }
        self.waiting.front_mut()?.1.take()
    }
}

impl State {
    /// Waits until a request may be served.
    pub(super) fn admitted(&mut self, serial: u64, cx: &Context<'_>) -> Poll<()> {
        let Some(place) = self.budget.place(serial) else { return Poll::Ready(()) };
        if place > 0 || !self.budget.fits() {
            self.budget.waiting[place].1 = Some(cx.waker().clone());
            return Poll::Pending;
        }
        self.budget.waiting.pop_front();
        self.charge(serial, UNKNOWN);
        Poll::Ready(())
    }

    /// Sets how many bytes the response to a request takes until it is written; 0 when it was.
    pub(super) fn charge(&mut self, serial: u64, bytes: usize) {
        if let Some(place) = self.budget.place(serial) {
            self.budget.waiting.remove(place);
        }
        if let Some(job) = self.jobs.get_mut(&serial) {
            self.budget.taken = self.budget.taken - job.cost + bytes;
            job.cost = bytes;
        }
        let next = self.budget.next();
        self.wake(next);
    }
}
