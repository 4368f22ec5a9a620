//! One stream: what waits for its reader, and what of it has been taken.
//!
//! Bytes leave the buffer with the event that they belong to. A reader that goes away in the middle of an event has not seen
//! that event, so the next reader gets it from its beginning. What was taken as a whole is not sent again, though it may not
//! have arrived: a stream that can be resumed keeps so many bytes of that, numbers its events, and goes on behind the number
//! that a reader names (`Last-Event-ID`).

use std::collections::VecDeque;

use crate::http::sse;

/// Buffers that are empty keep at most this much memory.
const KEPT: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Who reads it.
    pub(super) exchange: Option<u64>,
    buffer: Vec<u8>,
    /// The position of the first byte of the buffer.
    base: u64,
    /// How much of the buffer was taken.
    read: usize,
    /// Where events and comments end, of those in the buffer.
    ends: VecDeque<u64>,
    /// How many have left the buffer: the number of the last of these, as the first is number 1.
    gone: u64,
    /// The host knows that there is something to write.
    announced: bool,
    /// When something was written or taken last.
    pub(super) moved: u64,
    /// When a message was written last.
    pub(super) spoke: Option<u64>,
    /// Since when the agent waits for room, or when something was taken after that.
    pub(super) full_since: Option<u64>,
    /// Messages were dropped; nobody may read on as if nothing had happened.
    pub(super) lost: bool,
}

impl Stream {
    /// The position behind the last event.
    pub(super) fn written(&self) -> u64 {
        self.base + self.buffer.len() as u64
    }

    /// The position up to which the reader has taken it.
    pub(super) fn taken(&self) -> u64 {
        self.base + self.read as u64
    }

    pub(super) fn pending(&self) -> usize {
        self.buffer.len() - self.read
    }

    pub(super) fn is_open(&self) -> bool {
        self.exchange.is_some()
    }

    /// A reader has taken everything.
    pub(super) fn is_waited_for(&self) -> bool {
        self.is_open() && self.pending() == 0
    }

    /// The number of the last event or comment.
    fn number(&self) -> u64 {
        self.gone + self.ends.len() as u64
    }

    /// Adds a message, with a number if the stream can be resumed. Returns the exchange of which the host has to be told.
    pub(super) fn write(&mut self, json: &str, now: u64, resumable: bool) -> Option<u64> {
        if self.lost {
            return None;
        }
        if self.pending() == 0 {
            self.moved = now;
        }
        self.spoke = Some(now);
        let number = resumable.then(|| self.number() + 1);
        sse::event(&mut self.buffer, number, json);
        self.ends.push_back(self.written());
        self.announce()
    }

    /// Adds a comment to a stream that is silent (HTTP-21). Returns what [`write`](Self::write) does.
    pub(super) fn keep_alive(&mut self, now: u64) -> Option<u64> {
        self.moved = now;
        if self.pending() == 0 {
            self.buffer.extend_from_slice(sse::KEEP_ALIVE);
            self.ends.push_back(self.written());
        }
        self.announce()
    }

    fn announce(&mut self) -> Option<u64> {
        let reader = self.exchange.filter(|_| self.pending() > 0 && !self.announced);
        self.announced |= reader.is_some();
        reader
    }

    /// What to write.
    pub(super) fn transmit(&self) -> &[u8] {
        &self.buffer[self.read..]
    }

    /// The reader has taken bytes. So many of those that were taken are kept.
    pub(super) fn consume(&mut self, count: usize, now: u64, retained: usize) {
        let count = count.min(self.pending());
        self.read += count;
        if count > 0 {
            self.moved = now;
        }
        self.announced &= self.pending() > 0;
        let old = self.taken().saturating_sub(retained as u64);
        let leave = self.ends.partition_point(|end| *end <= old);
        let Some(end) = leave.checked_sub(1).map(|last| self.ends[last]) else { return };
        let bytes = (end - self.base) as usize;
        if bytes == self.buffer.len() {
            self.buffer.clear();
            self.buffer.shrink_to(KEPT);
        } else if bytes > self.buffer.len() / 2 {
            self.buffer.drain(..bytes);
        } else {
            // Moving the rest now would cost more than keeping these. They leave with what comes after them.
            return;
        }
        self.ends.drain(..leave);
        self.gone += leave as u64;
        self.base = end;
        self.read -= bytes;
    }

    /// A reader comes. Returns it if there is something for it: of a stream that can be resumed, where it is.
    pub(super) fn attach(&mut self, exchange: u64, now: u64, resumable: bool) -> Option<u64> {
        self.exchange = Some(exchange);
        self.announced = false;
        self.moved = now;
        if resumable && self.pending() == 0 {
            let number = self.number();
            sse::position(&mut self.buffer, number);
            self.ends.push_back(self.written());
        }
        self.announce()
    }

    /// Goes on behind the event with this number. Returns `false` if that is not known any more, or nobody can have it.
    pub(super) fn resume(&mut self, number: u64) -> bool {
        let Some(events) = number.checked_sub(self.gone) else { return false };
        let end = match usize::try_from(events).unwrap_or(usize::MAX) {
            0 => self.base,
            events => self.ends.get(events - 1).copied().unwrap_or(u64::MAX),
        };
        if end > self.taken() {
            return false;
        }
        self.read = (end - self.base) as usize;
        true
    }

    /// The reader is gone. What it took of an event that did not end is sent again.
    pub(super) fn detach(&mut self) {
        self.exchange = None;
        self.announced = false;
        let taken = self.taken();
        let whole = self.ends.partition_point(|end| *end <= taken);
        let whole = whole.checked_sub(1).map_or(self.base, |last| self.ends[last]);
        self.read = (whole - self.base) as usize;
    }

    /// Gives up what waits.
    pub(super) fn lose(&mut self) {
        let (base, gone) = (self.written(), self.number());
        *self = Stream { base, gone, lost: true, moved: self.moved, ..Stream::default() };
    }

    /// What a reader still gets when the stream ends.
    pub(super) fn rest(&mut self) -> Vec<u8> {
        self.buffer.drain(..self.read);
        std::mem::take(&mut self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(stream: &Stream) -> &str {
        std::str::from_utf8(stream.transmit()).unwrap()
    }

    #[test]
    fn an_event_that_was_taken_in_part_comes_again() {
        for part in 0..20 {
            let mut stream = Stream::default();
            assert_eq!(stream.write("1", 0, false), None, "nobody reads");
            stream.write("22", 0, false);
            assert_eq!(stream.attach(5, 0, false), Some(5));
            stream.consume(part, 0, 0);
            stream.detach();
            let whole = [0, 9, 19].iter().rposition(|end| *end <= part).unwrap();
            assert_eq!(text(&stream), ["data: 1\n\ndata: 22\n\n", "data: 22\n\n", ""][whole], "{part}");
            assert_eq!(stream.taken(), [0, 9, 19][whole]);
            stream.attach(6, 0, false);
            stream.write("3", 0, false);
            assert!(text(&stream).ends_with("data: 3\n\n"));
            stream.consume(usize::MAX, 0, 0);
            assert_eq!((stream.pending(), stream.taken()), (0, 28));
        }
    }

    #[test]
    fn a_reader_goes_on_behind_what_it_has() {
        let mut stream = Stream::default();
        assert_eq!(stream.attach(1, 0, true), Some(1));
        assert_eq!(text(&stream), "id: 0\n\n");
        // That is number 1 itself, though it says so to nobody.
        for json in ["\"a\"", "\"b\"", "\"c\""] {
            stream.write(json, 0, true);
        }
        stream.consume(usize::MAX, 0, 100);
        for (number, rest) in [(0, "b"), (1, "a"), (2, "b"), (3, "c"), (4, "")] {
            stream.detach();
            assert!(stream.resume(number), "{number}");
            let first = text(&stream).lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or("\"\"");
            if number > 0 {
                assert_eq!(first.trim_matches('"'), rest);
            } else {
                assert!(text(&stream).starts_with("id: 0\n\nid: 2\ndata: \"a\"\n\n"));
            }
            stream.attach(5, 0, true);
            stream.consume(usize::MAX, 0, 100);
        }
        stream.detach();
        assert!(!stream.resume(u64::MAX), "nobody has it");
        stream.write("\"d\"", 0, true);
        assert!(!stream.resume(stream.number()), "it was not sent");
        assert!(stream.resume(stream.number() - 1));
    }

    #[test]
    fn so_much_of_what_was_taken_is_kept() {
        let mut stream = Stream::default();
        stream.attach(1, 0, true);
        for round in 0..10_000 {
            stream.write(&"x".repeat(100), round, true);
            stream.consume(usize::MAX, round, 1000);
            assert!(stream.buffer.len() <= 2300, "{}", stream.buffer.len());
        }
        let last = stream.number();
        stream.detach();
        assert!(stream.resume(last - 8));
        assert_eq!(text(&stream).matches("data").count(), 8);
        assert!(!stream.resume(last - 30), "that is gone");
    }

    #[test]
    fn memory_follows_what_waits() {
        let mut stream = Stream::default();
        stream.attach(1, 0, false);
        for round in 0..1000 {
            stream.write(&"x".repeat(100), round, false);
            if round > 10 {
                stream.consume(108, round, 0);
            }
            assert!(stream.buffer.len() < 25 * 108 && stream.ends.len() < 25, "{round}");
        }
        stream.consume(usize::MAX, 0, 0);
        assert!(stream.buffer.capacity() <= KEPT && stream.ends.is_empty());
    }

    #[test]
    fn the_host_is_told_once() {
        let mut stream = Stream::default();
        stream.attach(1, 0, false);
        assert_eq!(stream.write("1", 0, false), Some(1));
        assert_eq!(stream.write("2", 0, false), None);
        stream.consume(5, 0, 0);
        assert_eq!(stream.write("3", 0, false), None);
        stream.consume(usize::MAX, 0, 0);
        assert_eq!(stream.keep_alive(1), Some(1));
        assert_eq!(text(&stream), ":\n\n");
        assert_eq!(stream.keep_alive(2), None);
        assert_eq!(text(&stream), ":\n\n");
    }

    #[test]
    fn what_is_lost_is_gone() {
        let mut stream = Stream::default();
        stream.write("1", 0, false);
        stream.lose();
        assert_eq!(stream.write("2", 0, false), None);
        assert_eq!((text(&stream), stream.written()), ("", 9));
    }
}
