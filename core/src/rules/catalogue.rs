//! The words of a rule, and the type of its id.
//!
//! An id in the code is written `id!("SESS-01")`, which is looked up while the crate is compiled: one that no row has does
//! not compile, so that whatever an event or an error carries is in the catalogue.

use std::fmt;

use super::switch::Way;
use super::table::AREAS;
use crate::versions::Versions;

/// One area of the catalogue.
#[derive(Debug)]
#[non_exhaustive]
pub struct Area {
    /// The prefix of its rules' ids.
    pub name: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// Its rules, in order.
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
    /// The versions of the protocol that it belongs to.
    pub versions: Versions,
    /// The directions that not all of its versions have, each with those that do.
    pub(super) only: &'static [(Way, Versions)],
    /// The rules whose ids events carry in place of this one's, where their checks speak for it; usually none.
    pub reported_as: &'static [&'static str],
    /// What it says, in one sentence of our own; empty without the feature `words`.
    pub text: &'static str,
}

impl Rule {
    /// Whether it holds in a direction in a version of the protocol.
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

    /// With directions that not all of its versions have.
    pub(super) const fn only(mut self, ways: &'static [(Way, Versions)]) -> Self {
        self.only = ways;
        self
    }

    /// With the ids that events carry in place of this one's.
    pub(super) const fn reported_as(mut self, ids: &'static [&'static str]) -> Self {
        self.reported_as = ids;
        self
    }
}

/// The id of a rule in the catalogue; there are no others.
///
/// It compares with text, and prints as it.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RuleId {
    /// Where its row stands. A reference to the row would not do: constants may be copied, and their addresses differ then.
    area: u8,
    row: u8,
}

impl RuleId {
    /// Its text, such as `SESS-01`.
    pub const fn as_str(self) -> &'static str {
        self.rule().id
    }

    /// The rule.
    pub const fn rule(self) -> &'static Rule {
        &AREAS[self.area as usize].rules[self.row as usize]
    }

    /// The id that is spelt like this. In a constant, one that no row has does not compile.
    ///
    /// ```
    /// # use libacp::rules::RuleId;
    /// const CWD: RuleId = RuleId::of("SESS-04");
    /// assert_eq!(CWD, "SESS-04");
    /// ```
    ///
    /// # Panics
    /// When no rule has this id; [`rule`](super::rule) asks.
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

/// Equality of texts, which `==` does not offer while constants are computed.
const fn same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() && one[at] == other[at] {
        at += 1;
    }
    at == one.len() && at == other.len()
}

/// The id of a rule in the catalogue, looked up while the crate is compiled.
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

/// Enforced on what the host sends.
pub(super) const SEND: u8 = 1;
/// Enforced on what the peer sends.
pub(super) const RECEIVE: u8 = 2;
/// Followed or done by the connection.
pub(super) const TRACK: u8 = 4;

/// A row of the catalogue.
///
/// Without the feature `words` its text stays out of the program.
pub(super) const fn rule(
    id: &'static str,
    level: Level,
    severity: Severity,
    held: u8,
    versions: Versions,
    text: &'static str,
) -> Rule {
    let text = if cfg!(feature = "words") { text } else { "" };
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
        text,
    }
}
