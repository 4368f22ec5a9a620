//! Sending: what waits for the transport, the ids of the host's requests, and how much of it all the peer has provoked.

use super::merging::{self, Span};
use super::template_cache::TemplateCache;
use crate::framing::{Framing, Outbox};
use crate::jsonrpc::Id;

/// What waits for the peer, and what the next message needs.
#[derive(Debug)]
pub(super) struct Sending {
    outbox: Outbox,
    /// Upper bound on how many bytes of the outbox are automatic answers.
    auto_reply_bytes: usize,
    /// No frame is decoded until automatic answers have been written.
    is_paused: bool,
    /// Whether chunks are merged while they wait.
    pub(super) merges: bool,
    /// Where the text of the last message stands, if it is a chunk that others were merged into.
    chunk: Option<Span>,
    next_id: i64,
    /// Templates of params that the host sent.
    pub(super) templates: TemplateCache,
}

impl Sending {
    pub(super) fn new(framing: Framing) -> Self {
        Sending {
            outbox: Outbox::new(framing),
            auto_reply_bytes: 0,
            is_paused: false,
            merges: false,
            chunk: None,
            next_id: 1,
            templates: TemplateCache::default(),
        }
    }

    /// What can be written to the transport now.
    pub(super) fn pending(&self) -> &[u8] {
        self.outbox.pending()
    }

    /// Number of bytes that wait.
    pub(super) fn len(&self) -> usize {
        self.outbox.len()
    }

    /// Removes bytes that were written.
    pub(super) fn consume(&mut self, count: usize) {
        self.outbox.consume(count);
        // Which of the bytes were automatic answers is not recorded; there are never more of them than bytes.
        self.auto_reply_bytes = self.auto_reply_bytes.min(self.outbox.len());
    }

    /// Adds a message of the host.
    pub(super) fn write(&mut self, message: String) {
        self.chunk = None;
        self.outbox.push_whole(message);
    }

    /// Adds a chunk of a message, to the one before it if that waits and is of the same message.
    pub(super) fn write_chunk(&mut self, message: String) {
        if self.merge(&message).is_none() {
            self.write(message);
        }
    }

    fn merge(&mut self, message: &str) -> Option<()> {
        let last = self.outbox.last()?;
        let span = self.chunk.or_else(|| merging::span(last))?;
        let text = merging::more(last, span, message)?;
        self.outbox.extend_last(span.after, text);
        self.chunk = Some(span);
        Some(())
    }

    /// Adds an automatic answer.
    pub(super) fn write_auto_reply(&mut self, answer: &str) {
        self.chunk = None;
        let before = self.outbox.len();
        self.outbox.push(answer);
        self.auto_reply_bytes += self.outbox.len() - before;
    }

    /// Adds the array of a batch, and the number of its bytes that are automatic answers.
    pub(super) fn write_batch(&mut self, array: String, auto_reply_bytes: usize) {
        self.chunk = None;
        self.outbox.push_whole(array);
        self.auto_reply_bytes += auto_reply_bytes;
    }

    /// Upper bound on how many bytes of automatic answers wait.
    pub(super) fn auto_reply_bytes(&self) -> usize {
        self.auto_reply_bytes
    }

    pub(super) fn pause(&mut self, is_paused: bool) {
        self.is_paused = is_paused;
    }

    pub(super) fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Whether there is memory for a message of this length.
    pub(super) fn has_memory(&self, length: usize) -> bool {
        self.outbox.has_memory(length)
    }

    /// The next id that is not taken. It is given only once [`use_id`](Self::use_id) says so: a refused call uses none up.
    pub(super) fn free_id(&self, is_taken: impl Fn(&Id) -> bool) -> Id {
        let mut number = self.next_id;
        while is_taken(&Id::Number(number)) {
            number += 1;
        }
        Id::Number(number)
    }

    /// A request with an id of [`free_id`](Self::free_id) was sent.
    pub(super) fn use_id(&mut self, id: &Id) {
        if let Id::Number(number) = id {
            self.next_id = number + 1;
        }
    }

    /// Whether an id was given to a request before.
    pub(super) fn has_used(&self, id: &Id) -> bool {
        matches!(id, Id::Number(number) if (1..self.next_id).contains(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_used_once_and_only_when_they_are_sent() {
        let mut sending = Sending::new(Framing::Lines);
        assert_eq!(sending.free_id(|_| false), Id::Number(1));
        let id = sending.free_id(|id| *id == Id::Number(1));
        assert_eq!((&id, sending.has_used(&id)), (&Id::Number(2), false));
        sending.use_id(&id);
        assert!(sending.has_used(&id) && sending.has_used(&Id::Number(1)) && !sending.has_used(&Id::Number(0)));
        assert!(!sending.has_used(&"2".into()));
        assert_eq!(sending.free_id(|_| false), Id::Number(3));
    }

    #[test]
    fn automatic_answers_are_counted_until_they_are_written() {
        let mut sending = Sending::new(Framing::Lines);
        sending.write("host".into());
        assert_eq!(sending.auto_reply_bytes(), 0);
        sending.write_auto_reply("{}");
        assert_eq!((sending.auto_reply_bytes(), sending.pending()), (3, &b"host\n{}\n"[..]));
        sending.write_batch("[{},{}]".into(), 2);
        assert_eq!((sending.auto_reply_bytes(), sending.len()), (5, 16));
        sending.consume(14);
        assert_eq!(sending.auto_reply_bytes(), 2);
        sending.consume(2);
        assert_eq!((sending.auto_reply_bytes(), sending.len()), (0, 0));
    }
}
