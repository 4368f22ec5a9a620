//! Messages on the wire, one at a time, independent of how the bytes are split.

use std::fmt;

use crate::framing::Framing;
use crate::{Config, Role};

/// A message on the wire, as a `trace` hook sees it. Displayed (`{}`), it is one line that starts with `->` if the
/// message was sent and with `<-` if it was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Traced<'a> {
    /// The side that traces.
    pub role: Role,
    /// Whether this side sent the message; otherwise it received it.
    pub sent: bool,
    /// The message without its line end. A message larger than [`Limits::frame`](crate::connection::Limits) comes in
    /// pieces.
    pub message: &'a [u8],
}

impl fmt::Display for Traced<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let arrow = if self.sent { "->" } else { "<-" };
        write!(f, "{arrow} {}", String::from_utf8_lossy(self.message))
    }
}

/// Reassembles messages.
pub(super) struct Tracer {
    role: Role,
    whole: bool,
    most: usize,
    /// Incomplete lines: of what was received, and of what was sent.
    rest: [Vec<u8>; 2],
}

impl Tracer {
    pub(super) fn new(config: &Config) -> Self {
        let whole = config.framing == Framing::Messages;
        Tracer { role: config.role, whole, most: config.limits.frame, rest: [Vec::new(), Vec::new()] }
    }

    pub(super) fn add(&mut self, sent: bool, bytes: &[u8], mut tell: impl FnMut(&Traced<'_>)) {
        let role = self.role;
        let mut say = |message: &[u8]| {
            let message = message.strip_suffix(b"\r").unwrap_or(message);
            if !message.trim_ascii().is_empty() {
                tell(&Traced { role, sent, message });
            }
        };
        if self.whole {
            return say(bytes);
        }
        let rest = &mut self.rest[usize::from(sent)];
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let line = piece.strip_suffix(b"\n");
            if rest.is_empty() && line.is_some() {
                say(line.unwrap_or_default());
                continue;
            }
            rest.extend_from_slice(line.unwrap_or(piece));
            if line.is_some() || rest.len() > self.most {
                say(rest);
                rest.clear();
            }
        }
    }

    /// Passes on the last lines without a line end.
    pub(super) fn end(&mut self, mut tell: impl FnMut(&Traced<'_>)) {
        for sent in [false, true] {
            if !self.rest[usize::from(sent)].is_empty() {
                self.add(sent, b"\n", &mut tell);
            }
        }
    }
}
