//! The words of a rule.

/// How binding the specification makes a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Level {
    /// MUST.
    Must,
    /// MUST NOT.
    MustNot,
    /// SHOULD.
    Should,
    /// SHOULD NOT.
    ShouldNot,
    /// MAY.
    May,
}

impl Level {
    /// As the specification writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Must => "MUST",
            Level::MustNot => "MUST NOT",
            Level::Should => "SHOULD",
            Level::ShouldNot => "SHOULD NOT",
            Level::May => "MAY",
        }
    }
}

/// How bad it is when a peer breaks a rule; a host sets a policy for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Odd, and harmless.
    Note,
    /// Wrong, but what was meant is clear.
    Warning,
    /// Wrong: the message cannot be taken as it is.
    Error,
}

impl Severity {
    /// A name for it, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// One rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// Its id, which events and errors carry.
    pub id: &'static str,
    /// How binding the specification makes it.
    pub level: Level,
    /// How bad it is when a peer breaks it.
    pub severity: Severity,
    /// Whether the host's calls are held to it.
    pub send: bool,
    /// Whether the peer's messages are held to it.
    pub receive: bool,
    /// Whether the connection follows or does what it says.
    pub track: bool,
    /// What it says, in one sentence of our own; empty without the feature `words`.
    pub text: &'static str,
}

/// Enforced on what the host sends.
pub(crate) const E: u8 = 1;
/// Enforced on what the peer sends.
pub(crate) const R: u8 = 2;
/// Followed or done by the connection.
pub(crate) const T: u8 = 4;

/// A row of the catalogue.
///
/// Without the feature `words` its text stays out of the program.
pub(crate) const fn rule(id: &'static str, level: Level, severity: Severity, how: u8, text: &'static str) -> Rule {
    let text = if cfg!(feature = "words") { text } else { "" };
    Rule { id, level, severity, send: how & E != 0, receive: how & R != 0, track: how & T != 0, text }
}
