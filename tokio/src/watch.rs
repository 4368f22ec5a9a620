//! Watches the wire for sessions that are opened and ended: the requests for it as they are sent, and their responses.
//!
//! The roots of a session have to be opened when the host requests the session, and its commands have to end with it;
//! `libacp::aio` reports neither. Nothing is decided from the bytes alone: the connection tells afterwards which
//! sessions are open, and with which roots.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use libacp::aio::{Clock, Transport};
use libacp::framing::{Decoder, Framing, Item};
use serde::de::IgnoredAny;
use serde::Deserialize;

use crate::connection::{Answer, Change, Connection};

/// The method of an outgoing message is within this many bytes from its start.
const HEAD: usize = 256;
/// The maximum length of a response that is read.
const ANSWER: usize = 16 * 1024 * 1024;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    /// It has the client's capabilities.
    Greets,
    /// It opens a session that the response names.
    Opens,
    /// It opens a session that it names.
    Reopens,
    /// It ends a session.
    Ends,
}

/// The methods of the requests that are followed.
const METHODS: &[(&str, Effect)] = &[
    ("initialize", Effect::Greets),
    ("session/new", Effect::Opens),
    ("session/fork", Effect::Opens),
    ("session/load", Effect::Reopens),
    ("session/resume", Effect::Reopens),
    ("session/close", Effect::Ends),
    ("session/delete", Effect::Ends),
];

#[derive(Deserialize)]
struct Request {
    id: u64,
    #[serde(default)]
    params: Params,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Params {
    session_id: Option<String>,
    cwd: Option<String>,
    additional_directories: Option<Vec<String>>,
    client_capabilities: Capabilities,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Capabilities {
    fs: Files,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Files {
    read_text_file: bool,
    write_text_file: bool,
}

#[derive(Deserialize)]
struct Response {
    id: u64,
    method: Option<IgnoredAny>,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Opened {
    result: Named,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Named {
    session_id: String,
}

/// A transport whose messages are watched.
pub(crate) struct Watched<T> {
    transport: T,
    connection: Arc<Connection>,
    /// The beginning of an outgoing line, or all of one that is followed; `None` while a line is skipped.
    line: Option<Vec<u8>>,
    /// How many bytes were watched but not yet accepted by the transport.
    seen: usize,
    /// Followed requests without a response.
    asked: HashSet<u64>,
    answers: Option<Decoder>,
    /// The last bytes of the peer were part of a line.
    amid: bool,
}

impl<T: Transport> Watched<T> {
    pub(crate) fn new(transport: T, connection: &Arc<Connection>) -> Self {
        Watched {
            transport,
            connection: Arc::clone(connection),
            line: Some(Vec::new()),
            seen: 0,
            asked: HashSet::new(),
            answers: None,
            amid: false,
        }
    }

    /// Watches outgoing bytes, in pieces of any size.
    fn sent(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let end = if T::WHOLE { Some(bytes.len() - 1) } else { memchr::memchr(b'\n', bytes) };
            let (piece, rest) = bytes.split_at(end.map_or(bytes.len(), |end| end + 1));
            bytes = rest;
            if let Some(line) = &mut self.line {
                let head = HEAD.saturating_sub(line.len()).min(piece.len());
                line.extend_from_slice(&piece[..head]);
                if line.len() >= HEAD && method(line).is_none() {
                    self.line = None;
                } else {
                    line.extend_from_slice(&piece[head..]);
                }
            }
            if end.is_some() {
                if let Some(line) = self.line.replace(Vec::new()) {
                    self.asks(&line);
                }
            }
        }
    }

    fn asks(&mut self, line: &[u8]) {
        let Some(effect) = method(line) else { return };
        let Ok(Request { id, params }) = serde_json::from_slice(line) else { return };
        if effect == Effect::Greets {
            let fs = params.client_capabilities.fs;
            return self.connection.offers_files(fs.read_text_file || fs.write_text_file);
        }
        let roots: Vec<String> =
            params.cwd.into_iter().chain(params.additional_directories.into_iter().flatten()).collect();
        self.asked.insert(id);
        self.connection.asked(id, Change { effect, session: params.session_id, roots });
    }

    /// Watches incoming bytes while a followed request has no response.
    fn heard(&mut self, mut bytes: &[u8]) {
        let amid = self.amid && !T::WHOLE;
        self.amid = bytes.last().is_some_and(|last| *last != b'\n');
        if self.answers.is_none() && amid {
            // A line that began before the request was sent is not its response.
            let Some(end) = memchr::memchr(b'\n', bytes) else { return };
            bytes = &bytes[end + 1..];
        }
        let framing = if T::WHOLE { Framing::Messages } else { Framing::Lines };
        let answers = self.answers.get_or_insert_with(|| Decoder::new(framing, ANSWER));
        answers.push(bytes);
        while let Some(item) = answers.poll() {
            let (Item::Frame(frame) | Item::Tail(frame)) = item else { continue };
            let Ok(response) = serde_json::from_slice::<Response>(&frame) else { continue };
            if response.method.is_none() && self.asked.remove(&response.id) {
                let opened = serde_json::from_slice::<Opened>(&frame).ok().map(|opened| opened.result.session_id);
                self.connection.answered(response.id, Answer { failed: response.error.is_some(), opened });
            }
        }
        if self.asked.is_empty() {
            self.answers = None;
        }
    }
}

/// The effect of an outgoing message, if it is followed. The method comes before the params.
fn method(line: &[u8]) -> Option<Effect> {
    const KEY: &[u8] = b"\"method\":\"";
    let head = &line[..line.len().min(HEAD)];
    let at = memchr::memmem::find(head, KEY)? + KEY.len();
    let name = head[at..].split(|&byte| byte == b'"').next()?;
    METHODS.iter().find(|(method, _)| method.as_bytes() == name).map(|(_, effect)| *effect)
}

impl<T: Transport> Transport for Watched<T> {
    const WHOLE: bool = T::WHOLE;

    fn poll_read(&mut self, cx: &mut Context<'_>, take: &mut dyn FnMut(&[u8])) -> Poll<io::Result<bool>> {
        let mut read = Vec::new();
        let (watching, amid) = (!self.asked.is_empty(), &mut self.amid);
        let result = self.transport.poll_read(cx, &mut |bytes| {
            if watching {
                read.extend_from_slice(bytes);
            } else {
                *amid = bytes.last().is_some_and(|last| *last != b'\n');
            }
            take(bytes);
        });
        if !read.is_empty() {
            self.heard(&read);
        }
        result
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if bytes.len() > self.seen {
            // Before it is written, so that the peer cannot respond first.
            self.sent(&bytes[self.seen..]);
            self.seen = bytes.len();
        }
        let result = self.transport.poll_write(cx, bytes);
        if let Poll::Ready(Ok(taken)) = &result {
            self.seen = self.seen.saturating_sub(*taken);
        }
        result
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.transport.poll_flush(cx)
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.transport.poll_close(cx)
    }

    fn clock(&mut self) -> Option<Clock> {
        self.transport.clock()
    }

    fn poll_until(&mut self, cx: &mut Context<'_>, time: Duration) -> Poll<()> {
        self.transport.poll_until(cx, time)
    }
}
