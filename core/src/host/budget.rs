//! A budget for the memory of large answers: those that are being made, and those that the peer has not read.
//!
//! A request of a few bytes can ask for an answer of many megabytes. Such requests take a share before they are served, and
//! wait in order while there is none. Other requests do not wait, and every request is answered.

use std::collections::{HashMap, VecDeque};

/// How many bytes of answers may be under way. One that is larger goes alone.
const MOST: usize = 16 * 1024 * 1024;
/// Methods whose answers can be as large as a file or the output of a terminal.
const LARGE: [&str; 2] = ["fs/read_text_file", "terminal/output"];

/// The shares of requests in what there is of something, such as the memory of answers. Requests are named by their serial
/// numbers.
#[derive(Debug)]
pub struct Budget {
    most: usize,
    taken: usize,
    shares: HashMap<u64, usize>,
    waiting: VecDeque<(u64, usize)>,
}

impl Default for Budget {
    /// 16 MiB of answers.
    fn default() -> Self {
        Budget::new(MOST)
    }
}

impl Budget {
    /// A budget of so much.
    pub fn new(most: usize) -> Self {
        Budget { most, taken: 0, shares: HashMap::new(), waiting: VecDeque::new() }
    }

    /// Whether the answer of a method may be so large that its request takes a share before it is served.
    pub fn is_large(method: &str) -> bool {
        LARGE.contains(&method)
    }

    /// Asks for a share, in place of the one that the request has. Returns whether it is there; if not, the request waits in
    /// order, and holds nothing meanwhile. What is more than there is goes alone.
    #[must_use]
    pub fn ask(&mut self, request: u64, bytes: usize) -> bool {
        let before = self.free(request);
        if bytes > before && (!self.waiting.is_empty() || !self.fits(bytes)) {
            self.waiting.push_back((request, bytes));
            return false;
        }
        self.grant(request, bytes);
        true
    }

    /// Sets what the answer of a request takes, now that it is there, until it is written.
    pub fn set(&mut self, request: u64, bytes: usize) {
        self.free(request);
        if bytes > 0 {
            self.grant(request, bytes);
        }
    }

    /// The request needs no share any more: its answer is written, or nobody wants it.
    pub fn release(&mut self, request: u64) {
        self.free(request);
    }

    /// The next request that waited and has its share now. Call it until it gives none, after each [`ask`](Self::ask),
    /// [`set`](Self::set) or [`release`](Self::release).
    pub fn poll(&mut self) -> Option<u64> {
        let (request, bytes) = *self.waiting.front().filter(|(_, bytes)| self.fits(*bytes))?;
        self.waiting.pop_front();
        self.grant(request, bytes);
        Some(request)
    }

    /// Whether a request waits for its share.
    pub fn is_waiting(&self, request: u64) -> bool {
        self.waiting.iter().any(|(waiting, _)| *waiting == request)
    }

    fn free(&mut self, request: u64) -> usize {
        self.waiting.retain(|(waiting, _)| *waiting != request);
        let bytes = self.shares.remove(&request).unwrap_or_default();
        self.taken -= bytes;
        bytes
    }

    fn grant(&mut self, request: u64, bytes: usize) {
        self.taken += bytes;
        self.shares.insert(request, bytes);
    }

    fn fits(&self, bytes: usize) -> bool {
        self.taken == 0 || self.taken + bytes <= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_wait_in_order_until_there_is_room() {
        let mut budget = Budget::default();
        assert!(budget.ask(1, MOST));
        assert!(!budget.ask(2, 2) && !budget.ask(3, 1), "the third does not overtake the second");
        assert_eq!(budget.poll(), None);
        budget.set(1, MOST - 2);
        assert_eq!((budget.poll(), budget.poll(), budget.is_waiting(3)), (Some(2), None, true));
        budget.release(2);
        assert_eq!((budget.poll(), budget.poll(), budget.is_waiting(3)), (Some(3), None, false));
    }

    #[test]
    fn one_that_is_larger_than_all_goes_alone() {
        let mut budget = Budget::default();
        assert!(budget.ask(1, MOST + 1) && !budget.ask(2, 1));
        budget.release(1);
        assert_eq!(budget.poll(), Some(2));
        assert!(!budget.ask(3, MOST));
    }

    #[test]
    fn a_share_shrinks_at_once_and_waits_to_grow() {
        let mut budget = Budget::default();
        assert!(budget.ask(1, MOST / 2) && budget.ask(2, MOST / 2));
        assert!(budget.ask(2, 1), "a smaller one is there");
        assert!(!budget.ask(2, MOST) && budget.is_waiting(2));
        budget.release(1);
        assert_eq!(budget.poll(), Some(2));
    }

    #[test]
    fn an_answer_that_is_there_counts_whatever_it_takes() {
        let mut budget = Budget::default();
        budget.set(1, MOST);
        assert!(!budget.ask(2, 1));
        budget.release(2);
        budget.set(1, 0);
        assert!(budget.poll().is_none() && budget.ask(3, MOST));
    }
}
