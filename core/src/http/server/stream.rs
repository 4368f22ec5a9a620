//! One stream: what waits for its reader, and what of it has been taken.
//!
//! Bytes leave the buffer with the event that they belong to. A reader that goes away in the middle of an event has not seen
//! that event, so the next reader gets it from its beginning; events that were taken as a whole are not sent again. Positions
//! count all bytes since the stream began, which is also what cursors (`Last-Event-ID`) would be made from: a stream that
//! can be resumed keeps events behind `taken` up to a limit, and gives its marks ids.

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
    /// Where events end, of those that were not taken as a whole.
    ends: VecDeque<u64>,
    /// The host knows that there is something to write.
    announced: bool,
    /// When something was written or taken last.
    pub(super) moved: u64,
    /// When the buffer became full, or more came although it was not open.
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

    /// Adds a message. Returns the exchange of which the host has to be told.
    pub(super) fn write(&mut self, json: &str, now: u64) -> Option<u64> {
        if self.lost {
            return None;
        }
        if self.pending() == 0 {
            self.moved = now;
        }
        sse::event(&mut self.buffer, None, json);
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

    /// The reader has taken bytes.
    pub(super) fn consume(&mut self, count: usize, now: u64) {
        let count = count.min(self.pending());
        self.read += count;
        if count > 0 {
            self.moved = now;
        }
        let mut whole = self.base;
        while let Some(&end) = self.ends.front().filter(|end| **end <= self.taken()) {
            whole = end;
            self.ends.pop_front();
        }
        self.announced &= self.pending() > 0;
        let whole = (whole - self.base) as usize;
        if whole == self.buffer.len() {
            self.buffer.clear();
            self.buffer.shrink_to(KEPT);
        } else if whole > self.buffer.len() / 2 {
            self.buffer.drain(..whole);
        } else if whole > 0 {
            // Moving the rest now would cost more than keeping what was taken. It leaves with what comes after it.
            self.ends.push_front(self.base + whole as u64);
            return;
        } else {
            return;
        }
        self.base += whole as u64;
        self.read -= whole;
    }

    /// A reader comes. Returns it if there is something for it.
    pub(super) fn attach(&mut self, exchange: u64, now: u64) -> Option<u64> {
        self.exchange = Some(exchange);
        self.announced = false;
        self.moved = now;
        self.announce()
    }

    /// The reader is gone. What it took of an event that did not end is sent again.
    pub(super) fn detach(&mut self) {
        self.exchange = None;
        self.announced = false;
        let taken = self.taken();
        // The mark that was put back, if any, is where the events that were taken end.
        let whole = self.ends.front().filter(|end| **end <= taken).map_or(self.base, |end| *end);
        self.read = (whole - self.base) as usize;
    }

    /// Gives up what waits.
    pub(super) fn lose(&mut self) {
        let written = self.written();
        *self = Stream { base: written, lost: true, moved: self.moved, ..Stream::default() };
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
            assert_eq!(stream.write("1", 0), None, "nobody reads");
            stream.write("22", 0);
            assert_eq!(stream.attach(5, 0), Some(5));
            stream.consume(part, 0);
            stream.detach();
            let whole = [0, 9, 19].iter().rposition(|end| *end <= part).unwrap();
            assert_eq!(text(&stream), ["data: 1\n\ndata: 22\n\n", "data: 22\n\n", ""][whole], "{part}");
            assert_eq!(stream.taken(), [0, 9, 19][whole]);
            stream.attach(6, 0);
            stream.write("3", 0);
            assert!(text(&stream).ends_with("data: 3\n\n"));
            stream.consume(usize::MAX, 0);
            assert_eq!((stream.pending(), stream.taken()), (0, 28));
        }
    }

    #[test]
    fn memory_follows_what_waits() {
        let mut stream = Stream::default();
        stream.attach(1, 0);
        for round in 0..1000 {
            stream.write(&"x".repeat(100), round);
            if round > 10 {
                stream.consume(108, round);
            }
            assert!(stream.buffer.len() < 25 * 108 && stream.ends.len() < 25, "{round}");
        }
        stream.consume(usize::MAX, 0);
        assert!(stream.buffer.capacity() <= KEPT && stream.ends.is_empty());
    }

    #[test]
    fn the_host_is_told_once() {
        let mut stream = Stream::default();
        stream.attach(1, 0);
        assert_eq!(stream.write("1", 0), Some(1));
        assert_eq!(stream.write("2", 0), None);
        stream.consume(5, 0);
        assert_eq!(stream.write("3", 0), None);
        stream.consume(usize::MAX, 0);
        assert_eq!(stream.keep_alive(1), Some(1));
        assert_eq!(text(&stream), ":\n\n");
        assert_eq!(stream.keep_alive(2), None);
        assert_eq!(text(&stream), ":\n\n");
    }

    #[test]
    fn what_is_lost_is_gone() {
        let mut stream = Stream::default();
        stream.write("1", 0);
        stream.lose();
        assert_eq!(stream.write("2", 0), None);
        assert_eq!((text(&stream), stream.written()), ("", 9));
    }
}
