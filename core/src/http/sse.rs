//! Event streams (`text/event-stream`): one message is one event.
//!
//! [`Reader`] takes any split of the bytes and gives the same events. [`event`] writes one.

use std::mem;

/// The byte order mark of UTF-8, which may stand at the start of a stream.
const MARK: &[u8] = b"\xef\xbb\xbf";
/// Bytes of a line that is no data; longer ones are skipped.
const FIELD: usize = 4096;
/// The most that a server may set as the time before a reconnection: one hour.
const LONGEST_RETRY: u64 = 3_600_000;

/// A comment, which keeps a stream from being taken for dead (HTTP-21).
pub const KEEP_ALIVE: &[u8] = b":\n\n";

/// Appends a message as an event. In JSON, line ends stand only between values, so they become blanks and the event has
/// one line of data. `id` is the cursor of the event, for streams that can be resumed.
pub fn event(out: &mut Vec<u8>, id: Option<u64>, json: &str) {
    out.reserve(json.len() + 32);
    if let Some(id) = id {
        out.extend_from_slice(b"id: ");
        out.extend_from_slice(id.to_string().as_bytes());
        out.push(b'\n');
    }
    out.extend_from_slice(b"data: ");
    let start = out.len();
    out.extend_from_slice(json.as_bytes());
    if memchr::memchr2(b'\n', b'\r', json.as_bytes()).is_some() {
        for byte in &mut out[start..] {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    out.extend_from_slice(b"\n\n");
}

/// Writes an id without an event: a reader that goes away before the first event knows where it was.
pub(super) fn position(out: &mut Vec<u8>, id: u64) {
    out.extend_from_slice(format!("id: {id}\n\n").as_bytes());
}

/// What a [`Reader`] found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// The data of an event, which is a message.
    Data(String),
    /// An event of another type than `message`, or a comment. It says that the server is alive.
    Other,
    /// An id without an event: [`Reader::last_id`] is where the stream is.
    Position,
    /// How many milliseconds the server asks clients to wait before they reconnect; at most an hour.
    Retry(u64),
    /// An event over the limit, which is skipped (HTTP-27).
    TooLong,
    /// An event whose data is not UTF-8, which is skipped.
    NotUtf8,
}

/// Where the reader is in a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Before the first byte of the stream, with so many bytes of a byte order mark read.
    Mark(usize),
    /// Anywhere else.
    Line,
    /// Behind a carriage return, where a line feed belongs to the same line end.
    Return,
}

/// Reads an event stream. It keeps one event, of at most the limit that it was made with.
#[derive(Debug)]
pub struct Reader {
    limit: usize,
    place: Place,
    /// The line that is not complete.
    line: Vec<u8>,
    /// It is too long.
    skips: bool,
    /// The lines of data of this event, with line feeds between them.
    data: Option<Vec<u8>>,
    too_long: bool,
    /// Whether the type of this event is another one than `message`.
    other: bool,
    /// The id of this event, if it names one.
    next_id: Option<String>,
    last_id: Option<String>,
}

impl Reader {
    /// A reader for events of at most `limit` bytes of data.
    pub fn new(limit: usize) -> Self {
        Reader {
            limit,
            place: Place::Mark(0),
            line: Vec::new(),
            skips: false,
            data: None,
            too_long: false,
            other: false,
            next_id: None,
            last_id: None,
        }
    }

    /// The next item of the stream. It takes bytes from the front of `bytes`, up to the end of the item; `None` when all
    /// are taken.
    pub fn read(&mut self, bytes: &mut &[u8]) -> Option<Item> {
        while let Some(&first) = bytes.first() {
            match self.place {
                Place::Mark(have) if MARK[have] == first => {
                    *bytes = &bytes[1..];
                    self.place = if have + 1 == MARK.len() { Place::Line } else { Place::Mark(have + 1) };
                    continue;
                }
                Place::Mark(have) => {
                    self.line.extend_from_slice(&MARK[..have]);
                    self.place = Place::Line;
                }
                Place::Return => {
                    self.place = Place::Line;
                    if first == b'\n' {
                        *bytes = &bytes[1..];
                        continue;
                    }
                }
                Place::Line => {}
            }
            let Some(end) = memchr::memchr2(b'\r', b'\n', bytes) else {
                self.keep(bytes);
                *bytes = &[];
                return None;
            };
            let (line, rest) = (&bytes[..end], &bytes[end + 1..]);
            if bytes[end] == b'\r' {
                self.place = Place::Return;
            }
            *bytes = rest;
            let item = if self.line.is_empty() && !self.skips {
                self.take(line)
            } else {
                self.keep(line);
                let whole = mem::take(&mut self.line);
                let skips = mem::take(&mut self.skips);
                let item = if skips { self.skipped(&whole) } else { self.take(&whole) };
                self.reuse(whole);
                item
            };
            if item.is_some() {
                return item;
            }
        }
        None
    }

    /// The id of the last event that was read: what `Last-Event-ID` says on a reconnection.
    pub fn last_id(&self) -> Option<&str> {
        self.last_id.as_deref()
    }

    /// Forgets [`last_id`](Self::last_id).
    pub(super) fn forget_id(&mut self) {
        self.last_id = None;
    }

    /// Starts anew with the next response. What was read of an event that did not end is dropped; the last id stays.
    pub fn restart(&mut self) {
        *self = Reader { last_id: self.last_id.take(), ..Reader::new(self.limit) };
    }

    /// Adds to a line that is not complete.
    fn keep(&mut self, bytes: &[u8]) {
        let most = self.limit.saturating_add(FIELD);
        if self.line.len() + bytes.len() > most {
            // So much of it tells which field it is.
            self.line.truncate(FIELD);
            let room = FIELD.saturating_sub(self.line.len()).min(bytes.len());
            self.line.extend_from_slice(&bytes[..room]);
            self.skips = true;
        } else if !self.skips {
            self.line.extend_from_slice(bytes);
        }
    }

    /// Keeps the room of a short line for the next one.
    fn reuse(&mut self, mut line: Vec<u8>) {
        if line.capacity() <= FIELD {
            line.clear();
            self.line = line;
        }
    }

    /// A line that is too long.
    fn skipped(&mut self, head: &[u8]) -> Option<Item> {
        self.too_long |= head.starts_with(b"data:");
        self.other |= head.starts_with(b"event:");
        head.starts_with(b":").then_some(Item::Other)
    }

    /// A complete line.
    fn take(&mut self, line: &[u8]) -> Option<Item> {
        if line.is_empty() {
            return self.dispatch();
        }
        let at = memchr::memchr(b':', line).unwrap_or(line.len());
        let (name, value) = (&line[..at], line.get(at + 1..).unwrap_or_default());
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match name {
            b"" => return Some(Item::Other),
            b"data" => match &mut self.data {
                // With the line feed between two lines.
                data if data.as_ref().map_or(0, |data| data.len() + 1) + value.len() > self.limit => {
                    self.too_long = true;
                }
                Some(data) => {
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                None => self.data = Some(value.to_vec()),
            },
            b"event" => self.other = !value.is_empty() && value != b"message",
            b"id" if value.len() <= FIELD && !value.contains(&0) => {
                self.next_id = std::str::from_utf8(value).ok().map(str::to_owned);
            }
            b"retry" if value.len() <= FIELD => {
                let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
                let number = std::str::from_utf8(value).ok().filter(|_| digits)?;
                return Some(Item::Retry(number.parse().map_or(LONGEST_RETRY, |time: u64| time.min(LONGEST_RETRY))));
            }
            _ => {}
        }
        None
    }

    /// The end of an event.
    fn dispatch(&mut self) -> Option<Item> {
        let position = self.next_id.is_some();
        if let Some(id) = self.next_id.take() {
            self.last_id = Some(id).filter(|id| !id.is_empty());
        }
        let (data, too_long, other) = (self.data.take(), mem::take(&mut self.too_long), mem::take(&mut self.other));
        if too_long {
            return Some(Item::TooLong);
        }
        if other {
            return Some(Item::Other);
        }
        let Some(data) = data else { return position.then_some(Item::Position) };
        Some(crate::json::text(data).map_or(Item::NotUtf8, Item::Data))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(stream: &[u8], limit: usize, chunk: usize) -> (Vec<Item>, Option<String>) {
        let mut reader = Reader::new(limit);
        let mut items = Vec::new();
        for piece in stream.chunks(chunk) {
            let mut rest = piece;
            while let Some(item) = reader.read(&mut rest) {
                items.push(item);
            }
            assert!(rest.is_empty());
        }
        (items, reader.last_id().map(str::to_owned))
    }

    fn data(text: &str) -> Item {
        Item::Data(text.into())
    }

    #[test]
    fn every_split_reads_the_same() {
        let cases: &[(&[u8], &[Item], Option<&str>)] = &[
            (b"data: {}\n\n", &[data("{}")], None),
            (b"\xef\xbb\xbfdata:{}\r\n\r\ndata: 1\r\rdata:  2\n\n", &[data("{}"), data("1"), data(" 2")], None),
            // Half of a byte order mark, and one that is not at the start.
            (b"\xef\xbbdata: 1\n\n", &[], None),
            (b"\n\xef\xbb\xbfdata: 1\n\ndata\n\n", &[data("")], None),
            (b"data: a\ndata\ndata: b\n\n", &[data("a\n\nb")], None),
            (
                b"id: 7\ndata: 1\n\nid: 8\n\n:x\nid: 9\ndata: not ended\n",
                &[data("1"), Item::Position, Item::Other],
                Some("8"),
            ),
            (b"id: 7\n\nid\n\n", &[Item::Position, Item::Position], None),
            (b"id: a\0b\ndata: 1\n\n", &[data("1")], None),
            (
                b"retry: 250\nretry: x\nretry:\nretry: 99999999999999999999\n",
                &[Item::Retry(250), Item::Retry(LONGEST_RETRY)],
                None,
            ),
            (b"event: ping\ndata: 1\n\nevent: message\ndata: 2\n\n", &[Item::Other, data("2")], None),
            (b": alive\n\n\n\n\n", &[Item::Other], None),
            (b"DATA: 1\nother: 2\n\n", &[], None),
            (b"data: \xff\n\ndata: 1\n\n", &[Item::NotUtf8, data("1")], None),
        ];
        for (stream, items, id) in cases {
            for chunk in 1..=stream.len() {
                let (found, last) = all(stream, 100, chunk);
                assert_eq!(
                    (&*found, last.as_deref()),
                    (*items, *id),
                    "{:?} by {chunk}",
                    stream.escape_ascii().to_string()
                );
            }
        }
    }

    #[test]
    fn what_is_too_long_is_skipped_and_costs_no_memory() {
        let long = "x".repeat(3 * FIELD);
        let stream = format!("data: {long}\ndata: 1\n\n:{long}\nid: {long}\ndata: ok\n\ndata: 123456\ndata: 78901\n\n");
        for chunk in [1, 7, FIELD, stream.len()] {
            let (items, id) = all(stream.as_bytes(), 10, chunk);
            assert_eq!(items, [Item::TooLong, Item::Other, data("ok"), Item::TooLong], "by {chunk}");
            assert_eq!(id, None);
        }
        let mut reader = Reader::new(10);
        for _ in 0..1000 {
            assert_eq!(reader.read(&mut &*vec![b'a'; 1000]), None);
            assert!(reader.line.len() <= FIELD + 10);
        }
    }

    #[test]
    fn line_feeds_between_lines_of_data_count() {
        for (limit, item) in [(2, Item::TooLong), (3, data("a\nb"))] {
            assert_eq!(all(b"data: a\ndata: b\n\n", limit, 100).0, [item], "{limit}");
        }
        assert_eq!(all(b"data\ndata\n\n", 0, 100).0, [Item::TooLong]);
    }

    #[test]
    fn what_is_written_is_read() {
        for json in ["{}", "{\n\"a\":\r\n1}", "\"\u{2028}é\\n\""] {
            let mut out = Vec::new();
            event(&mut out, Some(41), json);
            out.extend_from_slice(KEEP_ALIVE);
            let (items, id) = all(&out, 1000, 3);
            assert_eq!(items, [data(&json.replace(['\n', '\r'], " ")), Item::Other]);
            assert_eq!(id.as_deref(), Some("41"));
        }
    }

    #[test]
    fn a_new_response_continues_after_the_last_id() {
        let mut reader = Reader::new(100);
        assert_eq!(reader.read(&mut &b"id: 3\ndata: 1\n\nid: 4\ndata: 2"[..]), Some(data("1")));
        reader.restart();
        assert_eq!(reader.last_id(), Some("3"));
        assert_eq!(reader.read(&mut &b"data: 3\n\n"[..]), Some(data("3")));
    }
}
