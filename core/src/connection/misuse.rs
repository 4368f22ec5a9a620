//! What the host asked for that is not allowed now.

use std::borrow::Cow;
use std::fmt;

use super::rules::Refusal;
use crate::rules::RuleId;
use crate::validation::Problem;

/// The host asked for something that the specification forbids now. Nothing was sent and nothing has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Misuse {
    /// What kind of mistake it is.
    pub kind: MisuseKind,
    /// The rule that forbids it, as listed in the rule catalogue.
    pub rule: RuleId,
    /// JSON pointer into the params or result that the host passed; empty when it is about the call as a whole.
    pub pointer: String,
    /// What is wrong, what was expected, and what to do instead.
    pub message: Cow<'static, str>,
}

/// Kinds of misuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MisuseKind {
    /// Too early, too late, or twice.
    Phase,
    /// No such method, or not from this side, or not in this form.
    Method,
    /// The peer did not advertise what this needs.
    Capability,
    /// Params, a result or an error that do not fit the model.
    Params,
    /// A session that is not open on this connection.
    Session,
    /// An id that names no open request.
    Id,
    /// A limit of the configuration.
    Limit,
}

impl MisuseKind {
    /// A name for it, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            MisuseKind::Phase => "phase",
            MisuseKind::Method => "method",
            MisuseKind::Capability => "capability",
            MisuseKind::Params => "params",
            MisuseKind::Session => "session",
            MisuseKind::Id => "id",
            MisuseKind::Limit => "limit",
        }
    }
}

impl Misuse {
    /// One about a call as a whole, as a layer on top of a connection has them.
    pub fn new(kind: MisuseKind, rule: RuleId, message: impl Into<Cow<'static, str>>) -> Self {
        Misuse { kind, rule, pointer: String::new(), message: message.into() }
    }

    pub(crate) fn at(mut self, pointer: impl Into<String>) -> Self {
        self.pointer = pointer.into();
        self
    }

    pub(crate) fn problem(problem: &Problem) -> Self {
        let message = format!("expected {}, found {}", problem.expected, problem.found);
        Misuse::new(MisuseKind::Params, problem.rule, message).at(problem.pointer())
    }
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
