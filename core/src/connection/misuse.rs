//! Misuse: calls of the host that are not allowed.

use std::borrow::Cow;
use std::fmt;

use crate::engine::{Check, Finding, MisuseKind, Refusal};
use crate::json;
use crate::rules::RuleId;
use crate::text::place_of;
use crate::text::{escape, printable};
use crate::validation::{Problem, LONGER, TWICE};

/// Maximum number of characters of a value that is shown.
const SHOWN: usize = 60;
/// How checks name an id that they do not show. The host may see its own, so it is put in here.
const THIS_ID: &str = "this id";
/// Members whose values may be secret and must not end up in logs, wherever a host puts them.
const SECRET: &[&str] = &["env", "headers", "_meta"];

/// The host called for something that the specification does not allow now. Nothing was sent, and the state of the
/// connection has not changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misuse {
    /// The kind of mistake.
    pub kind: MisuseKind,
    /// The rule that does not allow it, from the rule catalogue.
    pub rule: RuleId,
    /// JSON pointer into the params or the result that the host passed; empty when the call as a whole is wrong.
    pub pointer: String,
    /// What is wrong, what was expected, and what to do instead.
    pub message: Cow<'static, str>,
}

impl Misuse {
    /// Creates a misuse of a call as a whole, for layers on top of a connection.
    pub fn new(kind: MisuseKind, rule: RuleId, message: impl Into<Cow<'static, str>>) -> Self {
        Misuse { kind, rule, pointer: String::new(), message: message.into() }
    }

    pub(crate) fn at(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = pointer.into();
        self
    }

    /// The misuse for a value of the host's text that is not valid.
    pub(crate) fn problem(problem: &Problem, text: &str) -> Self {
        let pointer = problem.pointer();
        let own = own_value(text, &pointer).filter(|_| ![TWICE, LONGER].contains(&problem.found));
        let message = problem.sentence(own.as_deref());
        Misuse::new(MisuseKind::Params, problem.rule, message).at(pointer)
    }

    /// The misuse for what a check found in the host's text.
    pub(crate) fn finding(check: &Check, finding: Finding, text: &str) -> Self {
        let Finding { pointer, message, .. } = finding;
        // Checks word what they say for both directions, and never know more than the peer may read.
        let message = match own_value(text, &pointer) {
            Some(own) if message.starts_with("not ") => format!("{own} is {message}").into(),
            Some(own) => match place_of(THIS_ID, &message) {
                Some(at) => format!("{}the id {own}{}", &message[..at], &message[at + THIS_ID.len()..]).into(),
                None => message,
            },
            None => message,
        };
        Misuse::new(check.kind, check.rule, message).at(pointer)
    }
}

/// The value at a place of the host's text as the host is shown it: bounded, on one line, and printable.
fn own_value(text: &str, pointer: &str) -> Option<String> {
    if pointer.split('/').any(|name| SECRET.contains(&name)) {
        return None;
    }
    let value = json::pointer(text, pointer)?;
    match value.as_bytes().first()? {
        b'{' | b'[' => None,
        b'"' => json::unescape(value).map(|value| shown(&value)),
        _ => Some(value.chars().take(SHOWN).collect()),
    }
}

/// A text as it is shown: bounded, on one line, and without what would change how the rest is displayed.
pub(super) fn shown(text: &str) -> String {
    let mut out = String::from('"');
    for character in text.chars().take(SHOWN) {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            // It stands on one line, and what is not seen is seen in it.
            '\n' | '\t' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{206f}' | '\u{feff}' => escape(&mut out, character),
            character => out.push_str(&printable(character.encode_utf8(&mut [0; 4]))),
        }
    }
    out.push(if text.chars().nth(SHOWN).is_some() { '…' } else { '"' });
    out
}

impl From<Refusal> for Misuse {
    fn from(refusal: Refusal) -> Self {
        Misuse::new(refusal.kind, refusal.rule, refusal.message)
    }
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            write!(f, "{}: {}", self.rule, self.message)
        } else {
            write!(f, "{}: {}: {}", self.rule, self.pointer, self.message)
        }
    }
}

impl std::error::Error for Misuse {}
