//! A budget for the memory of large responses: those that are being produced, and those that the peer has not read.
//!
//! A request of a few bytes can ask for a response of many megabytes. Requests of such methods wait in order until the
//! budget has room for one more response. Other requests do not wait, and every request is answered.

use std::collections::VecDeque;
use std::task::{Context, Poll, Waker};

/// How many bytes of answers may be in progress.
const MOST: usize = 16 * 1024 * 1024;
/// The size that is assumed before it is known: the largest file that `libacp-files` returns.
pub(super) const UNKNOWN: usize = 10_000_000;
/// Methods whose answers can be as large as a file or the output of a terminal.
const LARGE: [&str; 2] = ["fs/read_text_file", "terminal/output"];

/// The bytes that are taken, and the requests that wait, in order.
#[derive(Default)]
pub(super) struct Budget {
    taken: usize,
    waiting: VecDeque<(u64, Option<Waker>)>,
}

impl Budget {
    /// Registers a request. Requests of the methods in [`LARGE`] have to be [admitted](Self::admitted).
    pub(super) fn enter(&mut self, serial: u64, method: &str) {
        if LARGE.contains(&method) {
            self.waiting.push_back((serial, None));
        }
    }

    /// Waits until a request may be served. Says whether it is charged now, for an answer of an unknown size.
    pub(super) fn admitted(&mut self, serial: u64, cx: &Context<'_>) -> Poll<bool> {
        let Some(place) = self.place(serial) else { return Poll::Ready(false) };
        if place > 0 || !self.fits() {
            self.waiting[place].1 = Some(cx.waker().clone());
            return Poll::Pending;
        }
        self.waiting.pop_front();
        Poll::Ready(true)
    }

    /// Sets how many bytes the response to a request takes until it is written, and wakes the next in line if there is
    /// room for it.
    pub(super) fn charge(&mut self, serial: u64, before: usize, bytes: usize) -> Option<Waker> {
        if let Some(place) = self.place(serial) {
            self.waiting.remove(place);
        }
        self.taken = self.taken - before + bytes;
        if !self.fits() {
            return None;
        }
        self.waiting.front_mut()?.1.take()
    }

    fn place(&self, serial: u64) -> Option<usize> {
        // Serial numbers increase, so the queue is sorted by them.
        self.waiting.binary_search_by_key(&serial, |(waiting, _)| *waiting).ok()
    }

    fn fits(&self) -> bool {
        self.taken == 0 || self.taken + UNKNOWN <= MOST
    }
}
