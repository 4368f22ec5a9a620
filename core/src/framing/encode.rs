//! Messages to bytes: the queue for the transport.

use std::collections::VecDeque;

use super::{Framing, IDLE_CAPACITY};

/// Shorter messages are written without checking for memory first.
const WORTH_ASKING: usize = 64 * 1024;

/// Bytes that wait to be written to the peer.
#[derive(Debug)]
pub struct Outbox {
    framing: Framing,
    bytes: Vec<u8>,
    sent: usize,
    /// The lengths of the messages that were not sent completely, if the transport separates messages.
    messages: VecDeque<usize>,
    /// The length of the last message.
    last: usize,
}

impl Outbox {
    /// An empty outbox.
    pub fn new(framing: Framing) -> Self {
        Outbox { framing, bytes: Vec::new(), sent: 0, messages: VecDeque::new(), last: 0 }
    }

    /// Adds a message: compact JSON without line breaks.
    pub fn push(&mut self, message: &str) {
        self.last = message.len();
        match self.framing {
            Framing::Lines => {
                self.bytes.extend_from_slice(message.as_bytes());
                self.bytes.push(b'\n');
            }
            Framing::ContentLength => {
                self.bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", message.len()).as_bytes());
                self.bytes.extend_from_slice(message.as_bytes());
            }
            Framing::Messages => {
                self.bytes.extend_from_slice(message.as_bytes());
                self.messages.push_back(message.len());
            }
        }
    }

    /// Like [`push`](Self::push), but without a copy if the outbox is empty and the framing is [`Framing::Lines`].
    pub(crate) fn push_whole(&mut self, message: String) {
        let room = !self.bytes.is_empty() || self.bytes.capacity() > message.len();
        if self.framing == Framing::Lines && !room {
            self.last = message.len();
            self.bytes = message.into_bytes();
            self.bytes.push(b'\n');
        } else {
            self.push(&message);
        }
    }

    /// The last message, if nothing of it was sent and what is before it does not say how long it is.
    pub(crate) fn last(&self) -> Option<&[u8]> {
        let end = self.bytes.len().checked_sub(self.end()?)?;
        self.bytes.get(end.checked_sub(self.last).filter(|start| *start >= self.sent && !self.is_empty())?..end)
    }

    /// Puts more into the [last](Self::last) message, before so many bytes at its end.
    pub(crate) fn extend_last(&mut self, before: usize, more: &str) {
        let Some(at) = self.end().and_then(|end| self.bytes.len().checked_sub(before + end)) else { return };
        self.bytes.extend_from_slice(more.as_bytes());
        self.bytes[at..].rotate_right(more.len());
        self.last += more.len();
        if let Some(length) = self.messages.back_mut() {
            *length += more.len();
        }
    }

    /// How many bytes stand behind each message.
    fn end(&self) -> Option<usize> {
        match self.framing {
            Framing::Lines => Some(1),
            Framing::Messages => Some(0),
            Framing::ContentLength => None,
        }
    }

    /// Whether there is memory for a message of this length, twice: where it is written, and in the outbox.
    pub(crate) fn has_memory(&self, length: usize) -> bool {
        let here = if self.bytes.len() + length < self.bytes.capacity() { 0 } else { self.bytes.capacity() + length };
        // Twice, for what is needed only while it is written, and some more for small allocations.
        length < WORTH_ASKING || Vec::<u8>::new().try_reserve_exact(2 * (length + here) + WORTH_ASKING).is_ok()
    }

    /// The bytes that can be sent now: all of them or, with [`Framing::Messages`], the rest of one message.
    pub fn pending(&self) -> &[u8] {
        let end = self.messages.front().map_or(self.bytes.len(), |length| self.sent + length);
        &self.bytes[self.sent..end]
    }

    /// The number of bytes that wait.
    pub fn len(&self) -> usize {
        self.bytes.len() - self.sent
    }

    /// Whether no bytes wait.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes bytes from the front of [`pending`](Outbox::pending) after they were sent. A count that is too large
    /// counts as all of them.
    pub fn consume(&mut self, count: usize) {
        let count = count.min(self.pending().len());
        self.sent += count;
        if let Some(length) = self.messages.front_mut() {
            *length -= count;
            if *length == 0 {
                self.messages.pop_front();
            }
        }
        if self.sent == self.bytes.len() {
            super::empty(&mut self.bytes);
            self.sent = 0;
        } else if self.sent >= IDLE_CAPACITY && self.sent >= self.bytes.len() / 2 {
            self.bytes.drain(..self.sent);
            self.sent = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_message_grows_until_some_of_it_is_sent() {
        for framing in [Framing::Lines, Framing::Messages] {
            let mut outbox = Outbox::new(framing);
            assert_eq!(outbox.last(), None);
            outbox.push("[1]");
            outbox.push("[2]");
            assert_eq!(outbox.last(), Some(&b"[2]"[..]));
            outbox.extend_last(1, ",3");
            assert_eq!(outbox.last(), Some(&b"[2,3]"[..]));
            let first = if framing == Framing::Lines { &b"[1]\n[2,3]\n"[..] } else { b"[1]" };
            assert_eq!(outbox.pending(), first);
            outbox.consume(if framing == Framing::Lines { 4 } else { 3 });
            assert_eq!(outbox.last(), Some(&b"[2,3]"[..]));
            assert_eq!(outbox.pending().trim_ascii(), b"[2,3]");
            outbox.consume(1);
            assert_eq!(outbox.last(), None);
        }
        let mut outbox = Outbox::new(Framing::ContentLength);
        outbox.push("[1]");
        assert_eq!(outbox.last(), None);
    }

    #[test]
    fn partial_writes_lose_nothing() {
        for framing in [Framing::Lines, Framing::ContentLength, Framing::Messages] {
            let mut outbox = Outbox::new(framing);
            let mut decoder = crate::framing::Decoder::new(framing, 1 << 20);
            let long = format!("\"{}\"", "x".repeat(100_000));
            let messages = ["{}", long.as_str(), "[1]"];
            for message in messages {
                outbox.push(message);
            }
            let mut whole = Vec::new();
            while !outbox.is_empty() {
                let take = if framing == Framing::Messages { usize::MAX } else { 777 };
                let piece = outbox.pending()[..take.min(outbox.pending().len())].to_vec();
                outbox.consume(piece.len());
                decoder.push(&piece);
                while let Some(crate::framing::Item::Frame(frame)) = decoder.poll() {
                    whole.push(String::from_utf8(frame).unwrap());
                }
            }
            assert_eq!(whole, messages);
        }
    }
}
