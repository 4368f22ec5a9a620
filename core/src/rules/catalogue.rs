//! The rows of the catalogue, and the type of rule ids.
//!
//! Code writes an id as `id!("SESS-01")`, which is looked up at compile time. An id without a row does not compile, so
//! every id that an event or an error carries is in the catalogue.

use std::fmt;

use super::switch::Way;
use super::table::AREAS;
use crate::versions::Versions;

/// An area of the catalogue.
#[derive(Debug)]
#[non_exhaustive]
pub struct Area {
    /// The prefix of the ids of its rules.
    pub name: &'static str,
    /// What the area is about. Empty without the feature `words`.
    pub title: &'static str,
    /// The rules of the area, in order.
    pub rules: &'static [Rule],
}

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
    /// The word that the specification uses, such as `MUST NOT`.
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

/// How bad it is to break a rule. A host can set a policy for each severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Unusual, but harmless.
    Note,
    /// Wrong, but the intention is clear.
    Warning,
    /// Wrong, and the message cannot be used as it is.
    Error,
}

impl Severity {
    /// The name of the severity, the same in all languages.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

/// A rule of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rule {
    /// The id that events and errors carry.
    pub id: &'static str,
    /// How binding the specification makes the rule.
    pub level: Level,
    /// How bad it is to break the rule.
    pub severity: Severity,
    /// Whether the host's messages are checked against the rule.
    pub send: bool,
    /// Whether the peer's messages are checked against the rule.
    pub receive: bool,
    /// Whether the connection itself follows the rule.
    pub track: bool,
    /// The protocol versions that have the rule.
    pub versions: Versions,
    /// Directions that only some of the rule's versions have, with those versions.
    pub(super) only: &'static [(Way, Versions)],
    /// The rules whose ids events carry in place of this one's because their checks cover it. Usually empty.
    pub reported_as: &'static [&'static str],
    /// What the rule says, in one sentence of our own. Empty without the feature `words`.
    pub text: &'static str,
}

impl Rule {
    /// Whether the rule holds in a direction in a version of the protocol.
    #[doc(hidden)]
    pub fn holds(&self, way: Way, version: u16) -> bool {
        let claimed = match way {
            Way::Send => self.send,
            Way::Receive => self.receive,
            Way::Track => self.track,
        };
        let narrowed = self.only.iter().find(|(narrowed, _)| *narrowed == way);
        claimed && narrowed.map_or(self.versions, |(_, versions)| *versions).contains(version)
    }

    /// Sets the directions that only some of the rule's versions have.
    pub(super) const fn only(mut self, ways: &'static [(Way, Versions)]) -> Self {
        self.only = ways;
        self
    }

    /// Sets the ids that events carry in place of this one's.
    pub(super) const fn reported_as(mut self, ids: &'static [&'static str]) -> Self {
        self.reported_as = ids;
        self
    }
}

/// The id of a rule of the catalogue. It compares with text and is displayed as text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RuleId {
    /// The place of the row. A reference would not do: constants may be duplicated, and their addresses then differ.
    area: u8,
    row: u8,
}

impl RuleId {
    /// The text of the id, such as `SESS-01`.
    pub const fn as_str(self) -> &'static str {
        self.rule().id
    }

    /// The row of the rule.
    pub const fn rule(self) -> &'static Rule {
        &AREAS[self.area as usize].rules[self.row as usize]
    }

    /// The id with this text. In a constant, an id without a row is a compile error.
    ///
    /// ```
    /// # use libacp::rules::RuleId;
    /// const CWD: RuleId = RuleId::of("SESS-04");
    /// assert_eq!(CWD, "SESS-04");
    /// ```
    ///
    /// # Panics
    /// If no rule has this id. [`rule`](super::rule) does not panic.
    pub const fn of(id: &str) -> Self {
        let mut area = 0;
        while area < AREAS.len() {
            let rules = AREAS[area].rules;
            let mut at = 0;
            while at < rules.len() {
                if same(rules[at].id, id) {
                    return RuleId { area: area as u8, row: at as u8 };
                }
                at += 1;
            }
            area += 1;
        }
        panic!("no row of the catalogue has this id")
    }
}

/// Compares texts at compile time, where `==` is not available.
const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// The id of a rule of the catalogue, looked up at compile time.
macro_rules! id {
    ($id:literal) => {
        const { $crate::rules::RuleId::of($id) }
    };
}

impl AsRef<str> for RuleId {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl fmt::Display for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for RuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl serde::Serialize for RuleId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl PartialEq<str> for RuleId {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for RuleId {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

/// The host's messages are checked against the rule.
pub(super) const SEND: u8 = 1;
/// The peer's messages are checked against the rule.
pub(super) const RECEIVE: u8 = 2;
/// The connection itself follows the rule.
pub(super) const TRACK: u8 = 4;

/// What only people read, which does not become part of the program without the feature `words`.
pub(super) const fn words(text: &'static str) -> &'static str {
    if cfg!(feature = "words") {
        text
    } else {
        ""
    }
}

/// A row of the catalogue.
pub(super) const fn rule(
    id: &'static str,
    level: Level,
    severity: Severity,
    held: u8,
    versions: Versions,
    text: &'static str,
) -> Rule {
    Rule {
        id,
        level,
        severity,
        send: held & SEND != 0,
        receive: held & RECEIVE != 0,
        track: held & TRACK != 0,
        versions,
        only: &[],
        reported_as: &[],
        text: words(text),
    }
}
