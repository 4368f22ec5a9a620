//! What a session has one of: its state, its title, its options. Each is JSON text, with the revision that told it.

use crate::json::Writer;

/// One of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Name {
    State,
    StopReason,
    Error,
    Usage,
    TurnUsage,
    Title,
    UpdatedAt,
    ConfigOptions,
    Modes,
    Commands,
    Background,
    Questions,
    Prompts,
    Replaying,
    Frozen,
    Turn,
    Trimmed,
    Dropped,
}

/// By [`Name`]: what they are called, and what stands for one that was not told.
const ALL: [(&str, &str); 18] = [
    ("state", "\"idle\""),
    ("stopReason", "null"),
    ("error", "null"),
    ("usage", "null"),
    ("turnUsage", "null"),
    ("title", "null"),
    ("updatedAt", "null"),
    ("configOptions", "null"),
    ("modes", "null"),
    ("commands", "null"),
    ("background", "null"),
    ("questions", "[]"),
    ("prompts", "[]"),
    ("replaying", "false"),
    ("frozen", "false"),
    ("turn", "0"),
    ("trimmed", "0"),
    ("dropped", "0"),
];

/// What is longer is not kept.
const LONGEST: usize = 256 * 1024;

#[derive(Debug, Clone)]
pub(super) struct Facts([(u64, Option<Box<str>>); ALL.len()]);

impl Default for Facts {
    fn default() -> Self {
        Facts([const { (0, None) }; ALL.len()])
    }
}

impl Facts {
    /// The JSON of one, if it was told.
    pub(super) fn get(&self, name: Name) -> Option<&str> {
        self.0[name as usize].1.as_deref()
    }

    /// The JSON of one, or of what stands for it.
    pub(super) fn or_default(&self, name: Name) -> &str {
        self.get(name).unwrap_or(ALL[name as usize].1)
    }

    /// Sets one, or clears it, in the revision that follows, if that changes it.
    pub(super) fn set(&mut self, name: Name, value: Option<&str>, revision: &mut u64) -> bool {
        let (known_in, known) = &mut self.0[name as usize];
        let value = value.filter(|value| *value != ALL[name as usize].1 && value.len() <= LONGEST);
        if known.as_deref() == value {
            return false;
        }
        *revision += 1;
        (*known_in, *known) = (*revision, value.map(Into::into));
        true
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.iter().filter_map(|(_, value)| value.as_ref()).map(|value| value.len()).sum()
    }

    /// The names and the JSON of those that changed after a revision.
    pub(super) fn since(&self, revision: u64) -> impl Iterator<Item = (&'static str, &str)> {
        let all = ALL.iter().zip(&self.0);
        let changed = all.filter(move |(_, (known_in, _))| *known_in > revision);
        changed.map(|((name, default), (_, value))| (*name, value.as_deref().unwrap_or(default)))
    }

    pub(super) fn write(&self, out: &mut Writer) {
        for ((name, default), (_, value)) in ALL.iter().zip(&self.0) {
            out.key(name).json(value.as_deref().unwrap_or(default));
        }
    }
}
