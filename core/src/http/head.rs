//! Heads: what an HTTP stack hands over of a request or a response before its body, and the look-ups that ACP needs.
//!
//! Nothing here splits bytes into heads: HTTP/1.1, HTTP/2 and TLS are the work of a real library. Read [`route`](super::route)
//! next.

use serde::Serialize;

use crate::{ErrorCode, Id};

/// `Acp-Connection-Id` (HTTP-03, HTTP-07).
pub const CONNECTION_ID: &str = "acp-connection-id";
/// `Acp-Session-Id` (HTTP-08, HTTP-09).
pub const SESSION_ID: &str = "acp-session-id";
/// `Acp-Protocol-Version` (HTTP-17).
pub const PROTOCOL_VERSION: &str = "acp-protocol-version";
/// The type of a body that holds one message (HTTP-05).
pub(crate) const JSON: &str = "application/json";
/// The type of a stream (HTTP-06).
pub(crate) const EVENT_STREAM: &str = "text/event-stream";

/// A header: its name in any case, and its value as bytes, without the space around it.
pub type Header<'a> = (&'a str, &'a [u8]);

/// The headers of a request or a response, in the order in which they came.
#[derive(Debug, Clone, Copy, Default)]
pub struct Headers<'a>(&'a [Header<'a>]);

impl<'a> From<&'a [Header<'a>]> for Headers<'a> {
    fn from(list: &'a [Header<'a>]) -> Self {
        Headers(list)
    }
}

/// A header that must occur once at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Single<'a> {
    Absent,
    /// Its value, of visible ASCII characters and blanks.
    Is(&'a str),
    /// It occurs twice, is empty, or has bytes that no header of ours has.
    Malformed,
}

impl<'a> Single<'a> {
    pub(crate) fn value(self) -> Option<&'a str> {
        if let Single::Is(value) = self {
            Some(value)
        } else {
            None
        }
    }
}

impl<'a> Headers<'a> {
    /// The values of all headers with this name, which is lower-case.
    pub(crate) fn all(self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.0.iter().filter(move |(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
    }

    /// The header that may occur once.
    pub(crate) fn single(self, name: &'a str) -> Single<'a> {
        let mut values = self.all(name);
        match (values.next(), values.next()) {
            (None, _) => Single::Absent,
            (Some(value), None) => {
                let fits = !value.is_empty() && value.iter().all(|byte| (0x20..0x7f).contains(byte));
                std::str::from_utf8(value).ok().filter(|_| fits).map_or(Single::Malformed, Single::Is)
            }
            _ => Single::Malformed,
        }
    }

    /// How many there are, and their bytes.
    pub(crate) fn size(self) -> (usize, usize) {
        (self.0.len(), self.0.iter().map(|(name, value)| name.len() + value.len()).sum())
    }

    /// Whether one of the comma-separated words of a header is this one, in any case.
    pub(crate) fn has_word(self, name: &'a str, word: &str) -> bool {
        let same = |other: &[u8]| other.trim_ascii().eq_ignore_ascii_case(word.as_bytes());
        self.all(name).any(|value| value.split(|byte| *byte == b',').any(same))
    }

    /// Whether `Accept` has this type, such as `text/event-stream`, by name or by a range that includes it. A weight of
    /// zero excludes it, and the most precise range decides.
    pub(crate) fn accepts(self, wanted: &str) -> bool {
        let kind = wanted.split('/').next().unwrap_or_default();
        let mut best: Option<(u8, bool)> = None;
        for value in self.all("accept") {
            for range in pieces(value, b',') {
                let mut parts = pieces(range, b';');
                let name = parts.next().unwrap_or_default().trim_ascii();
                let precision = match name.strip_suffix(b"/*") {
                    _ if name.eq_ignore_ascii_case(wanted.as_bytes()) => 3,
                    Some(b"*") => 1,
                    Some(family) if family.eq_ignore_ascii_case(kind.as_bytes()) => 2,
                    _ => continue,
                };
                let wants = !parts.any(is_zero_weight);
                if best.is_none_or(|(known, _)| known < precision) {
                    best = Some((precision, wants));
                }
            }
        }
        best.is_some_and(|(_, wants)| wants)
    }

    /// Whether `Content-Type` is this type; where it names a charset, that must be UTF-8.
    pub(crate) fn content_is(self, wanted: &str) -> bool {
        let mut values = self.all("content-type");
        let (Some(value), None) = (values.next(), values.next()) else { return false };
        let mut parts = pieces(value, b';');
        let named = parts.next().unwrap_or_default().trim_ascii().eq_ignore_ascii_case(wanted.as_bytes());
        named && parts.all(is_no_other_charset)
    }

    /// `Content-Length`, if it is a number.
    pub(crate) fn content_length(self) -> Option<usize> {
        self.single("content-length").value()?.parse().ok()
    }
}

/// `q=0`, with any number of zeros behind a point.
fn is_zero_weight(part: &[u8]) -> bool {
    let part = part.trim_ascii();
    let Some(weight) = part.strip_prefix(b"q=").or_else(|| part.strip_prefix(b"Q=")) else { return false };
    weight.first() == Some(&b'0') && weight[1..].iter().all(|byte| matches!(byte, b'.' | b'0'))
}

fn is_no_other_charset(part: &[u8]) -> bool {
    let part = part.trim_ascii();
    let Some(at) = part.iter().position(|byte| *byte == b'=') else { return true };
    let (name, value) = (part[..at].trim_ascii(), part[at + 1..].trim_ascii());
    let bare = value.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")).unwrap_or(value);
    !name.eq_ignore_ascii_case(b"charset") || bare.eq_ignore_ascii_case(b"utf-8") || bare.eq_ignore_ascii_case(b"utf8")
}

/// The pieces of a header between separators, none of which stand in quotes.
fn pieces(value: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let (mut quoted, mut escaped) = (false, false);
    value.split(move |&byte| {
        let ends = byte == separator && !quoted;
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' => quoted = !quoted,
            _ => {}
        }
        ends
    })
}

/// Whether a text can stand in a header as an id: one to `limit` visible ASCII characters (HTTP-22).
pub(crate) fn fits_header(id: &str, limit: usize) -> bool {
    (1..=limit).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())
}

/// The head of a request.
///
/// With HTTP/2, `:authority` is passed as a header `host`. An extended CONNECT for WebSocket (RFC 8441) is passed as `GET`
/// with `upgrade: websocket`, `connection: upgrade` and `sec-websocket-version: 13`.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// The method, as in `POST`.
    pub method: &'a str,
    /// The target: a path, and a query behind a question mark.
    pub target: &'a str,
    /// The headers.
    pub headers: Headers<'a>,
}

impl<'a> Request<'a> {
    /// A head.
    pub fn new(method: &'a str, target: &'a str, headers: &'a [Header<'a>]) -> Self {
        Request { method, target, headers: headers.into() }
    }

    /// The path without the query.
    pub(crate) fn path(&self) -> &'a str {
        self.target.split(['?', '#']).next().unwrap_or_default()
    }
}

/// A response that is complete, or the head of a stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Response {
    /// The status.
    pub status: u16,
    /// The headers; names are lower-case. The length of the body is not among them.
    pub headers: Vec<(&'static str, String)>,
    /// The body, which is empty or JSON.
    pub body: String,
}

impl Response {
    pub(crate) fn new(status: u16) -> Self {
        Response { status, headers: Vec::new(), body: String::new() }
    }

    #[must_use]
    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// With a message as its body.
    #[must_use]
    pub(crate) fn json(mut self, body: String) -> Self {
        self.body = body;
        self.header("content-type", JSON)
    }

    /// With a JSON-RPC error as its body. Neither it nor the rule says anything of what the peer sent.
    #[must_use]
    pub(crate) fn error(self, code: ErrorCode, message: &str, rule: &str) -> Self {
        self.json(error(&Id::Null, code, message, rule))
    }
}

/// A JSON-RPC error that names a rule.
pub(crate) fn error(id: &Id, code: ErrorCode, message: &str, rule: &str) -> String {
    crate::jsonrpc::write_error(id, code, message, Some(&format!("{{\"rule\":\"{rule}\"}}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(values: &[&str]) -> bool {
        let list: Vec<Header> = values.iter().map(|value| ("Accept", value.as_bytes())).collect();
        Headers(&list).accepts(EVENT_STREAM)
    }

    #[test]
    fn accept_is_a_list_of_ranges_with_weights() {
        for yes in [
            &["text/event-stream"][..],
            &["application/json, text/event-stream"],
            &["application/json", "TEXT/Event-Stream;q=0.1"],
            &["text/*"],
            &["*/*;q=0.001"],
            &["text/event-stream, */*;q=0"],
            &["a/b;x=\",text/html\", text/event-stream"],
        ] {
            assert!(accepts(yes), "{yes:?}");
        }
        for no in [
            &[][..],
            &["application/json"],
            &["text/event-streams"],
            &["text/event-stream;q=0"],
            &["*/*, text/event-stream;q=0.000"],
            &["application/*"],
            &["a/b;x=\",text/event-stream\""],
            &[""],
        ] {
            assert!(!accepts(no), "{no:?}");
        }
    }

    #[test]
    fn content_types_are_compared_without_parameters() {
        let content = |value: &str| Headers(&[("content-type", value.as_bytes())]).content_is(JSON);
        for yes in ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\";x=y"] {
            assert!(content(yes), "{yes}");
        }
        for no in ["application/jsonp", "application/json; charset=latin1", "text/plain", "", ";"] {
            assert!(!content(no), "{no}");
        }
        assert!(!Headers(&[]).content_is(JSON));
        assert!(!Headers(&[("content-type", b"application/json"), ("Content-Type", b"text/plain")]).content_is(JSON));
    }

    #[test]
    fn a_header_of_ours_occurs_once_and_is_visible() {
        let single = |list: &[Header]| match Headers(list).single("x") {
            Single::Absent => "absent".to_owned(),
            Single::Is(value) => format!("is {value}"),
            Single::Malformed => "malformed".to_owned(),
        };
        assert_eq!(single(&[("y", b"1")]), "absent");
        assert_eq!(single(&[("X", b"a b")]), "is a b");
        for wrong in
            [&[("x", &b"1"[..]), ("X", b"1")][..], &[("x", b"")], &[("x", b"a\r\nb")], &[("x", "é".as_bytes())]]
        {
            assert_eq!(single(wrong), "malformed", "{wrong:?}");
        }
        assert!(Headers(&[("connection", b"keep-alive, Upgrade")]).has_word("connection", "upgrade"));
        assert!(fits_header("sess_1", 6) && !fits_header("sess_12", 6));
        for wrong in ["", "a b", "é", "a\n"] {
            assert!(!fits_header(wrong, 100), "{wrong:?}");
        }
    }

    #[test]
    fn the_query_is_no_part_of_the_path() {
        for target in ["/acp", "/acp?x=/y", "/acp#z"] {
            assert_eq!(Request::new("GET", target, &[]).path(), "/acp");
        }
    }
}
