//! What a scenario has fed, frame by frame: an expected event is held against the frame that it came from.

use crate::exact;

/// Bytes of a frame that a violation shows.
const EXCERPT: usize = 256;

/// The frames so far. Only what is framed as agreed is cut as the connection cuts it; elsewhere a scenario says itself
/// which number and which text an event has.
#[derive(Debug)]
pub(crate) struct Frames {
    framing: String,
    rest: Vec<u8>,
    all: Vec<Vec<u8>>,
}

impl Frames {
    pub(crate) fn new(framing: Option<&str>) -> Frames {
        Frames { framing: framing.unwrap_or("lines").to_owned(), rest: Vec::new(), all: Vec::new() }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        if self.framing == "messages" {
            self.all.push(bytes.to_vec());
            return;
        }
        self.rest.extend_from_slice(bytes);
        while let Some((start, end, next)) = self.cut() {
            self.add(start, end);
            self.rest.drain(..next);
        }
    }

    pub(crate) fn end(&mut self) {
        self.add(0, self.rest.len());
        self.rest.clear();
    }

    /// Where the next frame begins and ends, and what follows it.
    fn cut(&self) -> Option<(usize, usize, usize)> {
        if self.framing == "lines" {
            let end = self.rest.iter().position(|&byte| byte == b'\n')?;
            return Some((0, end, end + 1));
        }
        let start = self.rest.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
        let head = std::str::from_utf8(&self.rest[..start - 4]).ok()?;
        let length = head.lines().find_map(|line| line.strip_prefix("Content-Length: "))?;
        let end = start + length.parse::<usize>().ok()?;
        (end <= self.rest.len()).then_some((start, end, end))
    }

    fn add(&mut self, start: usize, end: usize) {
        let frame = &self.rest[start..end];
        let frame = frame.strip_suffix(b"\r").unwrap_or(frame);
        if !frame.iter().all(u8::is_ascii_whitespace) {
            self.all.push(frame.to_vec());
        }
    }

    /// The number of the frame that was fed last.
    pub(crate) fn last(&self) -> u64 {
        self.all.len() as u64
    }

    /// What a violation about this frame shows of it.
    pub(crate) fn excerpt(&self, number: u64) -> Option<&str> {
        let frame = self.bytes(number)?;
        let head = &frame[..EXCERPT.min(frame.len())];
        match std::str::from_utf8(head) {
            Ok(text) => Some(text),
            // The cut may go through a character.
            Err(error) if frame.len() > EXCERPT && error.error_len().is_none() => {
                std::str::from_utf8(&head[..error.valid_up_to()]).ok()
            }
            Err(_) => None,
        }
    }

    /// The JSON text that a member of an event has in this frame.
    pub(crate) fn payload(&self, number: u64, member: &str) -> Option<&str> {
        let text = self.text(number)?;
        match member {
            "params" => match exact::members(text)?.iter().filter(|(name, _)| name == "params").count() {
                0 => Some("{}"),
                _ => exact::member(text, "params").map(|params| if params == "null" { "{}" } else { params }),
            },
            "result" => exact::member(text, "result"),
            _ => exact::member(exact::member(text, "error")?, member),
        }
    }

    pub(crate) fn text(&self, number: u64) -> Option<&str> {
        std::str::from_utf8(self.bytes(number)?).ok()
    }

    fn bytes(&self, number: u64) -> Option<&[u8]> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        self.all.get(index).map(Vec::as_slice)
    }
}

#[test]
fn frames_are_cut_as_agreed() {
    let mut lines = Frames::new(None);
    lines.feed(b"{\"params\": [1.0]}\r\n \n{\"par");
    lines.feed(b"ams\":null}\n[]");
    assert_eq!((lines.last(), lines.payload(1, "params"), lines.payload(2, "params")), (2, Some("[1.0]"), Some("{}")));
    lines.end();
    assert_eq!((lines.last(), lines.text(3), lines.payload(3, "params"), lines.text(4)), (3, Some("[]"), None, None));
    let mut headers = Frames::new(Some("content-length"));
    headers.feed(b"Content-Length: 2\r\n\r\n{}Content-Length: 25\r\nContent-Type: x\r\n\r\n{\"error\":{\"code\":");
    headers.feed(b"-32000}}");
    assert_eq!((headers.text(1), headers.payload(2, "code")), (Some("{}"), Some("-32000")));
}
