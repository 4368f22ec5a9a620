//! An ACP client and an ACP agent on libacp, with nothing but threads and pipes around the core.
//!
//! Both play the conversation that `tests/interop/README.md` describes and check everything they receive. For how a
//! host drives the core, read [`link`]; for what the client does for an agent, `bin/acp-demo-client.rs` and
//! [`terminal`]; for how the conversation is played and checked, [`player`] and [`script`].
//!
//! [`chat`] is another agent, for people: it has no model, and shows what a client has to draw.

#![forbid(unsafe_code)]

pub mod chat;
pub mod link;
pub mod player;
pub mod script;
pub mod tap;
pub mod terminal;

use std::fmt::{self, Write as _};

/// Why a host gives up.
#[derive(Debug)]
pub struct Failure(pub String);

/// How everything here ends.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    /// A failure with the place it happened at in front.
    #[must_use]
    pub fn at(self, place: &str) -> Self {
        let separator = if self.0.starts_with(['/', ':']) { "" } else { ": " };
        Failure(format!("{place}{separator}{}", self.0))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure(error.to_string())
    }
}

/// A text with something of the peer's in it, so that it steers no terminal: control characters, and those that turn the
/// direction of writing, are written as in JSON.
#[must_use]
pub fn shown(text: &str) -> String {
    let hidden = |character: char| {
        let marks = ['\u{61c}', '\u{200e}', '\u{200f}', '\u{2028}', '\u{2029}'];
        let turns = matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        character.is_control() || turns || marks.contains(&character)
    };
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if hidden(character) {
            let _ = write!(line, "\\u{:04x}", u32::from(character));
        } else {
            line.push(character);
        }
    }
    line
}

/// Returns with a [`Failure`] made like a `format!`.
#[macro_export]
macro_rules! fail {
    ($($message:tt)*) => { return Err($crate::Failure(format!($($message)*))) };
}
