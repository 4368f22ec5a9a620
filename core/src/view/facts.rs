//! What a session has one of: its state, its title, its options. Each is JSON text, with the revision that told it.

use std::borrow::Cow;

use super::options::{mode_of, modes_of, renamed};
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

/// Those that are numbers and change often: they are written when they are asked for.
const COUNTS: [Name; 3] = [Name::Turn, Name::Trimmed, Name::Dropped];

/// Room for so many times what is told is used again.
const SPARE: usize = 4;
/// What is longer is not kept, but for [`OPEN`].
const LONGEST: usize = 256 * 1024;
/// Lists of what waits for an answer, which has its own bounds: none of them may be missing.
const OPEN: [Name; 2] = [Name::Questions, Name::Prompts];

#[derive(Debug, Clone)]
pub(super) struct Facts {
    /// In strings, as most are told again and again and are about as long each time.
    all: [(u64, Option<String>); ALL.len()],
    /// The values of [`COUNTS`].
    counts: [u64; COUNTS.len()],
    /// The member of a config option that is its id.
    pub(super) option_id: &'static str,
    /// The modes that were offered, as a list.
    offered: Option<Box<str>>,
}

impl Default for Facts {
    fn default() -> Self {
        Facts { all: [const { (0, None) }; ALL.len()], counts: [0; COUNTS.len()], option_id: "configId", offered: None }
    }
}

impl Facts {
    /// The JSON of one, if it was told.
    pub(super) fn get(&self, name: Name) -> Option<&str> {
        self.all[name as usize].1.as_deref()
    }

    /// The JSON of one, or of what stands for it.
    pub(super) fn or_default(&self, name: Name) -> &str {
        self.get(name).unwrap_or(ALL[name as usize].1)
    }

    /// Sets one, or clears it, in the revision that follows, if that changes it.
    pub(super) fn set(&mut self, name: Name, value: Option<&str>, revision: &mut u64) -> bool {
        let (known_in, known) = &mut self.all[name as usize];
        let is_kept = |value: &str| value.len() <= LONGEST || OPEN.contains(&name);
        let value = value.filter(|value| *value != ALL[name as usize].1 && is_kept(value));
        if known.as_deref() == value {
            return false;
        }
        *revision += 1;
        *known_in = *revision;
        match (known, value) {
            (Some(known), Some(value)) if known.capacity() <= SPARE * value.len() => {
                known.clear();
                known.push_str(value);
            }
            (known, value) => *known = value.map(Into::into),
        }
        true
    }

    /// Sets the numbers, each in a revision of its own if that changes it.
    pub(super) fn count(&mut self, counts: [u64; COUNTS.len()], revision: &mut u64) {
        for (at, name) in COUNTS.into_iter().enumerate() {
            if self.counts[at] != counts[at] {
                *revision += 1;
                (self.counts[at], self.all[name as usize].0) = (counts[at], *revision);
            }
        }
    }

    /// What it is made of has changed in this revision.
    pub(super) fn mark(&mut self, name: Name, revision: u64) {
        self.all[name as usize].0 = revision;
    }

    /// These modes are offered, beside any that the config options have, in the revision that follows, if that changes them.
    pub(super) fn offer(&mut self, modes: Option<&str>, revision: &mut u64) {
        let modes = modes.filter(|modes| modes.len() <= LONGEST);
        if self.offered.as_deref() != modes {
            self.offered = modes.map(Into::into);
            *revision += 1;
            self.mark(Name::Modes, *revision);
        }
    }

    /// The config options in the words of version 2.
    pub(super) fn options(&self) -> Option<Cow<'_, str>> {
        self.get(Name::ConfigOptions).map(|list| renamed(list, self.option_id))
    }

    /// The mode in force and those that are offered.
    pub(super) fn modes(&self) -> Option<String> {
        let options = self.get(Name::ConfigOptions);
        let current = options.and_then(mode_of).or(self.get(Name::Modes))?;
        let derived = || options.and_then(modes_of).map(Cow::Owned);
        let offered = self.offered.as_deref().map(Cow::Borrowed).or_else(derived);
        let offered = offered.as_deref().unwrap_or("null");
        Some(format!(r#"{{"currentModeId":{current},"availableModes":{offered}}}"#))
    }

    /// The JSON of one as hosts see it, or of what stands for it.
    fn shown(&self, at: usize) -> Cow<'_, str> {
        let shown = match ALL[at].0 {
            "configOptions" => self.options(),
            "modes" => self.modes().map(Cow::Owned),
            _ => match COUNTS.iter().position(|count| *count as usize == at) {
                Some(count) => Some(Cow::Owned(self.counts[count].to_string())),
                None => self.all[at].1.as_deref().map(Cow::Borrowed),
            },
        };
        shown.unwrap_or(Cow::Borrowed(ALL[at].1))
    }

    pub(super) fn bytes(&self) -> usize {
        let all = self.all.iter().flat_map(|(_, value)| value).map(String::len);
        all.chain(self.offered.iter().map(|modes| modes.len())).sum()
    }

    /// The names and the JSON of those that changed after a revision; of all since 0.
    pub(super) fn since(&self, revision: u64) -> impl Iterator<Item = (&'static str, Cow<'_, str>)> {
        let changed = (0..ALL.len()).filter(move |at| revision == 0 || self.all[*at].0 > revision);
        changed.map(|at| (ALL[at].0, self.shown(at)))
    }

    /// Whether any has changed after a revision.
    pub(super) fn changed_since(&self, revision: u64) -> bool {
        self.all.iter().any(|(known_in, _)| *known_in > revision)
    }

    pub(super) fn write(&self, out: &mut Writer) {
        (0..ALL.len()).for_each(|at| _ = out.key(ALL[at].0).json(&self.shown(at)));
    }
}
