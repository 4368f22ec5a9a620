//! What does not fit, where, and what was expected there.

use crate::rules::RuleId;
use std::borrow::Cow;
use std::fmt::{self, Write as _};

/// One step of a path from the root of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    /// A member that the model names.
    Name(&'static str),
    /// A key that the sender made up.
    Key(Box<str>),
    /// An item of a list.
    Index(usize),
}

/// What is found where a member belongs to a draft that is off.
pub(crate) const OF_A_DRAFT: &str = "one of a draft that is off";
/// What is found where a member that must be there is not.
pub(crate) const MISSING: &str = "nothing";
/// What is found where the model has no such member.
pub(crate) const UNKNOWN: &str = "another one";

/// What is found where an id has more bytes than are kept of one.
pub(crate) const LONGER: &str = "a longer one";

/// One thing about a value that does not fit the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The rule that it breaks.
    pub rule: RuleId,
    /// What was expected, in words.
    pub expected: Cow<'static, str>,
    /// What was found: a kind of value, never the value itself.
    pub found: &'static str,
    /// The word that was probably meant. Known of the host's own messages alone.
    near: Option<&'static str>,
    /// The path, innermost step first.
    path: Vec<Segment>,
}

impl Problem {
    pub(crate) fn new(rule: RuleId, expected: impl Into<Cow<'static, str>>, found: &'static str) -> Self {
        Problem { rule, expected: expected.into(), found, near: None, path: Vec::new() }
    }

    /// The same, of a word that is nearly this one.
    pub(crate) fn near(mut self, word: Option<&'static str>) -> Self {
        self.near = word;
        self
    }

    /// What is wrong, without the place. `own` is the value as it is shown where it is the host's own.
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

    /// Whether the problem is with the value itself, not with something inside.
    pub(crate) fn is_here(&self) -> bool {
        self.path.is_empty()
    }

    /// Puts the problem one step further in.
    pub(crate) fn within(&mut self, segment: Segment) {
        self.path.push(segment);
    }

    /// JSON pointer (RFC 6901) from the root of the value; empty for the value itself.
    pub fn pointer(&self) -> String {
        self.render(false)
    }

    /// The pointer without the keys that the sender made up (`*` stands for them): fit for an answer to the sender.
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
