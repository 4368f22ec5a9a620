//! Receiving: bytes become frames, and reports show where in the stream they are.

use super::template_cache::TemplateCache;
use crate::framing::{Decoder, Framing, Item};
use crate::json;

/// Maximum number of bytes of a frame that a violation shows.
const MAX_EXCERPT_BYTES: usize = 256;
/// Methods whose messages may hold secrets, so that nothing of them is shown (AUTH-27, PROV-10).
const SECRET: &[&str] = &["authenticate", "auth/login", "providers/set", "providers/list"];

/// What has come from the peer and is being read.
#[derive(Debug)]
pub(super) struct Receiving {
    decoder: Decoder,
    has_ended: bool,
    /// Number of frames that have been read.
    frames: u64,
    /// The number that violations show, from 1.
    frame_number: u64,
    /// First bytes of the frame that is being read; empty where nothing of it may be shown.
    ///
    /// They are copied before anybody knows of a violation, as the frame itself is given away with the event. The buffer
    /// is the same for all frames.
    excerpt: Vec<u8>,
    excerpt_truncated: bool,
    /// Templates of messages that the peer sent.
    pub(super) templates: TemplateCache,
}

impl Receiving {
    pub(super) fn new(framing: Framing, max_frame: usize) -> Self {
        Receiving {
            decoder: Decoder::new(framing, max_frame),
            has_ended: false,
            frames: 0,
            frame_number: 0,
            excerpt: Vec::new(),
            excerpt_truncated: false,
            templates: TemplateCache::default(),
        }
    }

    /// Adds bytes; none are taken after the end of the stream.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if !self.has_ended {
            self.decoder.push(bytes);
        }
    }

    /// The stream has ended: what was received is still read.
    pub(super) fn end(&mut self) {
        self.has_ended = true;
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The next frame, if all of it is there.
    pub(super) fn poll(&mut self) -> Option<Item> {
        self.decoder.poll()
    }

    /// What is left after the last whole frame; asked at the end of the stream, once [`poll`](Self::poll) has nothing.
    pub(super) fn poll_rest(&mut self) -> Option<Item> {
        self.decoder.finish()
    }

    /// Cheap check: `true` means that [`poll`](Self::poll) would return `None`.
    pub(super) fn needs_input(&mut self) -> bool {
        !self.has_ended && self.decoder.is_starved()
    }

    /// Number of bytes that were received and not read.
    pub(super) fn buffered(&self) -> usize {
        self.decoder.buffered()
    }

    /// Notes the frame that is read next, for reports about it.
    pub(super) fn begin(&mut self, item: &Item) {
        let (bytes, is_frame): (&[u8], bool) = match item {
            Item::Frame(bytes) | Item::Tail(bytes) | Item::TooLong { head: bytes } => (bytes, true),
            Item::ByteOrderMark | Item::OtherFraming => (&[], false),
        };
        self.frames += u64::from(is_frame);
        // What stands before a frame is reported with the number of that frame.
        self.frame_number = self.frames + u64::from(!is_frame);
        self.excerpt.clear();
        self.excerpt.extend_from_slice(&bytes[..MAX_EXCERPT_BYTES.min(bytes.len())]);
        self.excerpt_truncated = bytes.len() > MAX_EXCERPT_BYTES;
    }

    /// The number of the frame that is being read, from 1.
    pub(super) fn frame_number(&self) -> u64 {
        self.frame_number
    }

    /// Shows nothing of the frame where it names a method whose messages may hold secrets, be it a message or not.
    pub(super) fn hide_secrets(&mut self, frame: &[u8]) {
        if SECRET.iter().any(|method| json::mentions(frame, format!("\"{method}\"").as_bytes())) {
            self.excerpt.clear();
        }
    }

    /// The beginning of the frame as text, with U+FFFD for what is not UTF-8; empty where it may hold secrets.
    pub(super) fn excerpt(&self, method: Option<&str>) -> String {
        if method.is_some_and(|method| SECRET.contains(&method)) {
            return String::new();
        }
        let bytes = match std::str::from_utf8(&self.excerpt) {
            // A character that is cut in two is not shown.
            Err(error) if self.excerpt_truncated && error.error_len().is_none() => &self.excerpt[..error.valid_up_to()],
            _ => &self.excerpt,
        };
        String::from_utf8_lossy(bytes).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn receiving() -> Receiving {
        Receiving::new(Framing::Lines, 1000)
    }

    fn begin(receiving: &mut Receiving, frame: &str) {
        receiving.begin(&Item::Frame(frame.into()));
    }

    #[test]
    fn what_stands_before_a_frame_has_its_number() {
        let mut receiving = receiving();
        receiving.begin(&Item::ByteOrderMark);
        assert_eq!(receiving.frame_number(), 1);
        begin(&mut receiving, "x");
        assert_eq!(receiving.frame_number(), 1);
        receiving.begin(&Item::TooLong { head: b"y".to_vec() });
        assert_eq!((receiving.frame_number(), &*receiving.excerpt(None)), (2, "y"));
    }

    #[test]
    fn an_excerpt_ends_at_a_character() {
        let mut receiving = receiving();
        begin(&mut receiving, &format!("{}é", "x".repeat(MAX_EXCERPT_BYTES - 1)));
        assert_eq!(receiving.excerpt(None), "x".repeat(MAX_EXCERPT_BYTES - 1));
        receiving.begin(&Item::Frame(vec![b'x', 0xc3]));
        assert_eq!(receiving.excerpt(None), "x\u{fffd}");
    }

    #[test]
    fn secrets_are_not_shown() {
        let mut receiving = receiving();
        begin(&mut receiving, r#"{"method":"providers/set"}"#);
        assert_eq!(receiving.excerpt(Some("providers/set")), "");
        assert!(!receiving.excerpt(None).is_empty());
        receiving.hide_secrets(br#"{"method":"providers/set"}"#);
        assert_eq!(receiving.excerpt(None), "");
    }

    #[test]
    fn nothing_is_taken_after_the_end() {
        let mut receiving = receiving();
        receiving.push(b"a");
        assert!(receiving.poll().is_none() && receiving.needs_input());
        receiving.end();
        receiving.push(b"b\n");
        assert!(!receiving.needs_input() && receiving.poll().is_none());
        assert_eq!(receiving.buffered(), 1);
        assert!(receiving.poll_rest().is_some());
    }
}
