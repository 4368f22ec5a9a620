//! Problems: what does not fit, where, and what was expected there.

use crate::rules::RuleId;
use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// One step of the path from the root of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    /// A member that the model names.
    Name(&'static str),
    /// A key that the sender chose.
    Key(Box<str>),
    /// An item of a list.
    Index(usize),
}

/// `found` of a member that belongs to a disabled draft.
pub(crate) const OF_A_DRAFT: &str = "one of a draft that is off";
/// `found` of a required member that is missing.
pub(crate) const MISSING: &str = "nothing";
/// `found` of a member that the model does not have.
pub(crate) const UNKNOWN: &str = "another one";

/// `found` of an id that is too long to be kept.
pub(crate) const LONGER: &str = "a longer one";

/// One thing about a value that does not fit the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The rule that it breaks.
    pub rule: RuleId,
    /// What was expected, in words.
    pub expected: Cow<'static, str>,
    /// What was found: the kind of value, never the value itself.
    pub found: &'static str,
    /// The word that was probably meant. Only set for the host's own messages.
    near: Option<&'static str>,
    /// The path, innermost step first.
    path: Vec<Segment>,
}

impl Problem {
    pub(crate) fn new(rule: RuleId, expected: impl Into<Cow<'static, str>>, found: &'static str) -> Self {
        Problem { rule, expected: expected.into(), found, near: None, path: Vec::new() }
    }

    /// Sets the word that was probably meant.
    pub(crate) fn near(mut self, word: Option<&'static str>) -> Self {
        self.near = word;
        self
    }

    /// What is wrong, without the place. `own` is the value as it is shown to the host whose value it is.
    pub(crate) fn sentence(&self, own: Option<&str>) -> String {
        let expected = &self.expected;
        let near = self.near.map(|word| format!("; did you mean \"{word}\"?")).unwrap_or_default();
        match (self.found, own) {
            (MISSING, _) => format!("missing; expected {expected}"),
            (UNKNOWN, _) if near.is_empty() => "unknown member; extensions go into _meta".to_owned(),
            (UNKNOWN, _) => format!("unknown member{near} Extensions go into _meta"),
            (OF_A_DRAFT, _) => "a member of a draft that is off; switch the draft on, or leave it out".to_owned(),
            (found, own) => format!("expected {expected}, found {}{near}", own.unwrap_or(found)),
        }
    }

    /// Whether the problem is with the value itself and not with something inside it.
    pub(crate) fn is_here(&self) -> bool {
        self.path.is_empty()
    }

    /// Moves the problem one step inwards.
    pub(crate) fn within(&mut self, segment: Segment) {
        self.path.push(segment);
    }

    /// The place as a JSON pointer (RFC 6901) from the root of the value; empty for the value itself.
    pub fn pointer(&self) -> String {
        self.render(false)
    }

    /// Like [`pointer`](Self::pointer), with `*` in place of keys that the sender chose, so that an answer does not
    /// repeat them.
    pub fn public_pointer(&self) -> String {
        self.render(true)
    }

    fn render(&self, public: bool) -> String {
        let mut out = String::new();
        for segment in self.path.iter().rev() {
            out.push('/');
            match segment {
                Segment::Name(name) => out.push_str(name),
                Segment::Key(_) if public => out.push('*'),
                Segment::Key(key) => out.push_str(&key.replace('~', "~0").replace('/', "~1")),
                Segment::Index(index) => {
                    // Writing to a String cannot fail.
                    let _ = write!(out, "{index}");
                }
            }
        }
        out
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pointer = self.pointer();
        let place = if pointer.is_empty() { "the value" } else { &pointer };
        write!(f, "{}: {place}: {}", self.rule, self.sentence(None))
    }
}
