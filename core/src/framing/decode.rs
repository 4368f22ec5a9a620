//! Bytes to frames.

use std::collections::VecDeque;

use super::Framing;

/// How many bytes are kept of a frame that is too long.
const HEAD: usize = 256;
/// A line longer than this is not a header.
const HEADER_LIMIT: usize = 1024;
/// The byte order mark of UTF-8.
const MARK: &[u8] = b"\xef\xbb\xbf";
/// Chunks up to this length are searched for a line end as they are added.
const SHORT: usize = 8;
/// The spare capacity that a decoded frame may keep: this, plus its own length.
const SLACK: usize = 64;

/// Something that the decoder found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A frame, without its line end or header.
    Frame(Vec<u8>),
    /// The last frame of the stream, if it has no line end (FRAME-11).
    Tail(Vec<u8>),
    /// A frame over the limit. Its bytes are skipped.
    TooLong {
        /// Its first bytes.
        head: Vec<u8>,
    },
    /// A byte order mark at the start of the stream, which is skipped (FRAME-12).
    ByteOrderMark,
    /// The first message with the other stream framing (FRAME-13, FRAME-14). Such messages are decoded as well.
    OtherFraming,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the start of a line.
    Line,
    /// Inside a line over the limit.
    SkipLine,
    /// After a header line with a length.
    Header { length: usize },
    /// Inside a body of known length.
    Body { length: usize },
    /// Inside a body over the limit.
    SkipBody { left: usize },
}

/// Splits a byte stream into frames.
#[derive(Debug)]
pub struct Decoder {
    framing: Framing,
    limit: usize,
    buffer: Vec<u8>,
    /// The first byte of `buffer` that was not consumed.
    start: usize,
    /// The first byte of `buffer` that was not searched for a line end.
    searched: usize,
    state: State,
    messages: VecDeque<Item>,
    at_start: bool,
    told_other: bool,
    ended: bool,
}

impl Decoder {
    /// A decoder for frames of at most `limit` bytes.
    pub fn new(framing: Framing, limit: usize) -> Self {
        Decoder {
            framing,
            limit,
            buffer: Vec::new(),
            start: 0,
            searched: 0,
            state: State::Line,
            messages: VecDeque::new(),
            at_start: true,
            told_other: false,
            ended: false,
        }
    }

    /// Adds bytes, in chunks of any size (with [`Framing::Messages`]: exactly one message).
    pub fn push(&mut self, bytes: &[u8]) {
        if self.framing == Framing::Messages {
            let item = if bytes.len() > self.limit {
                Item::TooLong { head: bytes[..HEAD.min(self.limit)].to_vec() }
            } else {
                Item::Frame(bytes.to_vec())
            };
            self.messages.push_back(item);
            return;
        }
        let mut bytes = bytes;
        // Bytes that are skipped never enter the buffer.
        if self.start == self.buffer.len() {
            match self.state {
                State::SkipLine => match memchr::memchr(b'\n', bytes) {
                    Some(end) => {
                        bytes = &bytes[end + 1..];
                        self.state = State::Line;
                    }
                    None => return,
                },
                State::SkipBody { left } => {
                    let skipped = left.min(bytes.len());
                    bytes = &bytes[skipped..];
                    self.state = if skipped == left { State::Line } else { State::SkipBody { left: left - skipped } };
                }
                _ => {}
            }
        }
        if self.start > 0 && self.start >= self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.searched -= self.start;
            self.start = 0;
        }
        if bytes.len() <= SHORT && self.searched == self.buffer.len() && !bytes.contains(&b'\n') {
            self.searched += bytes.len();
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The number of bytes that were added and not decoded yet.
    pub fn buffered(&self) -> usize {
        let messages: usize =
            self.messages.iter().map(|item| if let Item::Frame(frame) = item { frame.len() } else { 0 }).sum();
        self.buffer.len() - self.start + messages
    }

    /// The next item, if it is complete.
    #[must_use]
    pub fn poll(&mut self) -> Option<Item> {
        if self.framing == Framing::Messages {
            return self.messages.pop_front();
        }
        let item = self.poll_stream();
        if item.is_none() && self.start == self.buffer.len() {
            super::empty(&mut self.buffer);
            self.start = 0;
            self.searched = 0;
        }
        item
    }

    /// A cheap check: true means that [`poll`](Self::poll) would return `None`.
    #[must_use]
    pub fn is_starved(&mut self) -> bool {
        match self.state {
            State::Line | State::Header { .. } if self.framing != Framing::Messages && !self.at_start => {
                let starved = memchr::memchr(b'\n', &self.buffer[self.searched..]).is_none()
                    && self.buffer.len() - self.start <= self.limit + 1;
                if starved {
                    self.searched = self.buffer.len();
                }
                starved
            }
            State::Body { length } => self.buffer.len() - self.start < length,
            _ => false,
        }
    }

    /// Ends the stream. Returns what is left of it, the first time.
    #[must_use]
    pub fn finish(&mut self) -> Option<Item> {
        if std::mem::replace(&mut self.ended, true) {
            return None;
        }
        let left = self.buffer.len() - self.start;
        let tail = self.take(left, left);
        let skipping = matches!(self.state, State::SkipLine | State::SkipBody { .. });
        if skipping || tail.iter().all(u8::is_ascii_whitespace) {
            None
        } else {
            Some(Item::Tail(tail))
        }
    }

    fn poll_stream(&mut self) -> Option<Item> {
        loop {
            if self.at_start {
                let pending = &self.buffer[self.start..];
                if pending.is_empty() || (pending.len() < MARK.len() && MARK.starts_with(pending)) {
                    return None;
                }
                self.at_start = false;
                if pending.starts_with(MARK) {
                    self.advance(MARK.len());
                    return Some(Item::ByteOrderMark);
                }
            }
            match self.state {
                State::Body { length } => {
                    if self.buffer.len() - self.start < length {
                        return None;
                    }
                    self.state = State::Line;
                    return Some(Item::Frame(self.take(length, length)));
                }
                State::SkipBody { left } => {
                    let skipped = left.min(self.buffer.len() - self.start);
                    self.advance(skipped);
                    if skipped < left {
                        self.state = State::SkipBody { left: left - skipped };
                        return None;
                    }
                    self.state = State::Line;
                }
                State::SkipLine => {
                    let rest = &self.buffer[self.start..];
                    let Some(end) = memchr::memchr(b'\n', rest) else {
                        self.advance(rest.len());
                        return None;
                    };
                    self.advance(end + 1);
                    self.state = State::Line;
                }
                State::Line | State::Header { .. } => match self.line() {
                    Line::Incomplete => return None,
                    Line::Nothing => {}
                    Line::Item(item) => return Some(item),
                },
            }
        }
    }

    fn line(&mut self) -> Line {
        let unsearched = &self.buffer[self.searched..];
        let found = if unsearched.is_empty() { None } else { memchr::memchr(b'\n', unsearched) };
        let Some(found) = found else {
            self.searched = self.buffer.len();
            // One more byte for a carriage return, which belongs to the line end.
            if self.buffer.len() - self.start > self.limit + 1 {
                let head = self.buffer[self.start..self.start + HEAD.min(self.limit)].to_vec();
                self.advance(self.buffer.len() - self.start);
                self.state = State::SkipLine;
                return Line::Item(Item::TooLong { head });
            }
            return Line::Incomplete;
        };
        let end = self.searched + found;
        let line = &self.buffer[self.start..end];
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let length = line.len();
        let whole = end + 1 - self.start;
        // Checked first, so that the result does not depend on how the bytes were split.
        if length > self.limit {
            let head = line[..HEAD.min(self.limit)].to_vec();
            self.state = State::Line;
            self.advance(whole);
            return Line::Item(Item::TooLong { head });
        }
        if line.iter().all(|b| matches!(b, b' ' | b'\t' | b'\r')) {
            if let State::Header { length } = self.state {
                self.begin_body(length);
            }
            self.advance(whole);
            return if let State::SkipBody { .. } = self.state {
                Line::Item(Item::TooLong { head: Vec::new() })
            } else {
                Line::Nothing
            };
        }
        if let Some(header) = header(line) {
            if let Header::Length(length) = header {
                self.state = State::Header { length };
            }
            self.advance(whole);
            return self.other_framing(Framing::ContentLength);
        }
        if self.framing == Framing::ContentLength && !self.told_other {
            return self.other_framing(Framing::Lines);
        }
        self.state = State::Line;
        Line::Item(Item::Frame(self.take(length, whole)))
    }

    fn begin_body(&mut self, length: usize) {
        self.state = if length > self.limit { State::SkipBody { left: length } } else { State::Body { length } };
    }

    /// Reports, once, that the peer uses the other framing.
    fn other_framing(&mut self, used: Framing) -> Line {
        if used == self.framing || std::mem::replace(&mut self.told_other, true) {
            Line::Nothing
        } else {
            Line::Item(Item::OtherFraming)
        }
    }

    /// Takes a frame of `length` bytes out of the buffer, and removes `whole` bytes with it. If that is everything, the
    /// buffer itself becomes the frame, which saves a copy: usually the peer writes one message at a time.
    fn take(&mut self, length: usize, whole: usize) -> Vec<u8> {
        if self.start == 0 && whole == self.buffer.len() && self.buffer.capacity() <= 2 * length + SLACK {
            let mut frame = std::mem::take(&mut self.buffer);
            frame.truncate(length);
            self.searched = 0;
            return frame;
        }
        let frame = self.buffer[self.start..self.start + length].to_vec();
        self.advance(whole);
        frame
    }

    fn advance(&mut self, length: usize) {
        self.start += length;
        self.searched = self.start;
    }
}

enum Line {
    Incomplete,
    Nothing,
    Item(Item),
}

enum Header {
    Length(usize),
    Other,
}

/// A line of an LSP header block.
fn header(line: &[u8]) -> Option<Header> {
    if line.len() > HEADER_LIMIT || !line.first()?.eq_ignore_ascii_case(&b'c') {
        return None;
    }
    let line = std::str::from_utf8(line).ok()?;
    let (name, value) = line.split_once(':')?;
    if name.eq_ignore_ascii_case("content-length") {
        value.trim().parse().ok().map(Header::Length)
    } else if name.eq_ignore_ascii_case("content-type") {
        Some(Header::Other)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn items(framing: Framing, limit: usize, pieces: &[&[u8]]) -> Vec<Item> {
        let mut decoder = Decoder::new(framing, limit);
        let mut out = Vec::new();
        for piece in pieces {
            decoder.push(piece);
            let starved = decoder.is_starved();
            while let Some(item) = decoder.poll() {
                assert!(!starved);
                out.push(item);
            }
            assert!(decoder.buffered() <= limit + 2 || pieces.len() < 3 || framing == Framing::Messages);
        }
        out.extend(decoder.finish());
        assert_eq!(decoder.finish(), None);
        out
    }

    fn frame(text: &str) -> Item {
        Item::Frame(text.as_bytes().to_vec())
    }

    const STREAM: &[u8] = b"\xef\xbb\xbf{\"a\":1}\r\n\n  \r\nnoise \xe2\x80\xa8 line\nContent-Length: 7\r\nContent-Type: x\r\n\r\n{\"b\":2}Content-Length: 3\r\n\r\n[1]\n0123456789012345678901234567890\n{}\ntail";

    #[test]
    fn every_split_gives_the_same_items() {
        let expected = vec![
            Item::ByteOrderMark,
            frame("{\"a\":1}"),
            frame("noise \u{2028} line"),
            Item::OtherFraming,
            frame("{\"b\":2}"),
            frame("[1]"),
            Item::TooLong { head: Vec::new() },
            frame("{}"),
            Item::Tail(b"tail".to_vec()),
        ];
        let without_heads = |items: Vec<Item>| -> Vec<Item> {
            let strip = |item| if let Item::TooLong { .. } = item { Item::TooLong { head: Vec::new() } } else { item };
            items.into_iter().map(strip).collect()
        };
        for cut in 0..=STREAM.len() {
            let (left, right) = STREAM.split_at(cut);
            assert_eq!(without_heads(items(Framing::Lines, 25, &[left, right])), expected, "cut at {cut}");
        }
        let single: Vec<&[u8]> = STREAM.chunks(1).collect();
        assert_eq!(without_heads(items(Framing::Lines, 25, &single)), expected);
    }

    #[test]
    fn a_line_of_exactly_the_limit_passes() {
        assert_eq!(
            items(Framing::Lines, 4, &[b"1234\r", b"\n12345\n6\n"]),
            [frame("1234"), Item::TooLong { head: b"1234".to_vec() }, frame("6")]
        );
    }

    #[test]
    fn whatever_is_over_the_limit_is_too_long_in_every_split() {
        for line in ["Content-Length: 2", "              ", "{              }"] {
            let stream = format!("{line}\r\n{{}}\n").into_bytes();
            let single: Vec<&[u8]> = stream.chunks(1).collect();
            let head = line.as_bytes()[..4].to_vec();
            let expected = [Item::TooLong { head }, frame("{}")];
            assert_eq!(items(Framing::Lines, 4, &[&stream]), expected, "{line:?}");
            assert_eq!(items(Framing::Lines, 4, &single), expected, "{line:?}");
        }
    }

    #[test]
    fn bodies_over_the_limit_are_skipped_by_length() {
        let body = "x".repeat(65);
        let stream = format!("Content-Length: 65\r\n\r\n{body}Content-Length: 2\r\n\r\n{{}}{{\"x\":1}}\n").into_bytes();
        let expected = [Item::TooLong { head: Vec::new() }, frame("{}"), Item::OtherFraming, frame("{\"x\":1}")];
        for cut in 0..=stream.len() {
            let (left, right) = stream.split_at(cut);
            assert_eq!(items(Framing::ContentLength, 64, &[left, right]), expected, "cut at {cut}");
        }
    }

    #[test]
    fn a_frame_that_came_alone_takes_the_buffer_over_and_no_more() {
        let mut decoder = Decoder::new(Framing::Lines, 1 << 20);
        decoder.push(b"{\"a\":1}\r\n");
        assert!(matches!(decoder.poll(), Some(Item::Frame(frame)) if frame == b"{\"a\":1}"));
        assert_eq!((decoder.buffer.capacity(), decoder.poll()), (0, None));
        // A short frame must not keep a large buffer alive.
        decoder.push(&[b"x".repeat(1 << 16).as_slice(), b"\n[", b"1"].concat());
        assert!(decoder.poll().is_some());
        decoder.push(b"2]\n");
        let Some(Item::Frame(frame)) = decoder.poll() else { panic!("no frame") };
        assert_eq!(frame, b"[12]");
        assert!(frame.capacity() <= SLACK);
        assert_eq!((decoder.poll(), decoder.buffer.len()), (None, 0));
        assert!(decoder.buffer.capacity() <= crate::framing::IDLE_CAPACITY);
    }

    #[test]
    fn messages_stay_as_they_come() {
        assert_eq!(
            items(Framing::Messages, 4, &[b"{\n}", b"12345"]),
            [frame("{\n}"), Item::TooLong { head: b"1234".to_vec() }]
        );
    }
}
