//! What the peer may have this side hold for it: the answers that are made for it and those that it has not read.
//!
//! A request of some bytes can ask for an answer of many millions. Requests of such methods wait in order until there is
//! room for one more answer. Others are not held up, and each has its answer.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

use super::shared::State;

/// Bytes of answers that may be under way.
const MOST: usize = 16 * 1024 * 1024;
/// What an answer counts for before it is known: a file of the size that `libacp-files` hands out.
const UNKNOWN: usize = 10_000_000;
/// Requests whose answers are as large as a file or a terminal's output.
const LARGE: [&str; 2] = ["fs/read_text_file", "terminal/output"];

/// The bytes that are taken, and who waits for some, in order.
#[derive(Default)]
pub(super) struct Budget {
    taken: usize,
    waiting: VecDeque<(u64, Option<Waker>)>,
}

impl Budget {
    /// A request has come. Those of the methods that matter have to be [admitted](State::admitted).
    pub(super) fn enter(&mut self, serial: u64, method: &str) {
        if LARGE.contains(&method) {
            self.waiting.push_back((serial, None));
        }
    }

    fn place(&self, serial: u64) -> Option<usize> {
        // Requests are numbered as they come.
        self.waiting.binary_search_by_key(&serial, |(waiting, _)| *waiting).ok()
    }

    fn fits(&self) -> bool {
        self.taken == 0 || self.taken + UNKNOWN <= MOST
    }

    /// Whoever is first, if there is room.
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

    /// An answer of so many bytes waits to be written, or none any more.
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
