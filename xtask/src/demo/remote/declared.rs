//! What is known to fail in the remote matrix, and the rules that peers are known to break: `tests/interop/remote/declared.json`.

use std::collections::BTreeSet;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use serde::Deserialize;

use super::cell::Cell;

const FILE: &str = "tests/interop/remote/declared.json";

/// Some cells; a list that is missing is all of its kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cells {
    client: Option<Vec<String>>,
    server: Option<Vec<String>>,
    over: Option<Vec<String>>,
}

impl Cells {
    fn has(&self, cell: &Cell) -> bool {
        let listed = |list: &Option<Vec<String>>, name: &str| {
            list.as_ref().is_none_or(|names| names.iter().any(|each| each == name))
        };
        // The servers of one application are one peer.
        let server = cell.server.name.split('/').next().unwrap_or_default();
        listed(&self.client, cell.client.name)
            && (listed(&self.server, server) || listed(&self.server, cell.server.name))
            && listed(&self.over, cell.way.name())
    }
}

/// A step that a peer cannot do.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fails {
    cells: Cells,
    step: String,
    /// Whether the peer has no such thing at all.
    #[serde(default)]
    pub(super) not_offered: bool,
    /// Where in the peer that is.
    pub(super) place: String,
    #[serde(skip)]
    met: AtomicBool,
}

/// A rule that a peer breaks.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Breaks {
    cells: Cells,
    /// `client` or `server`.
    by: String,
    rules: Vec<String>,
    why: String,
    #[serde(skip)]
    met: AtomicBool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Declared {
    steps: Vec<Fails>,
    rules: Vec<Breaks>,
}

impl Declared {
    pub(super) fn load() -> Result<Self> {
        Self::read(&fs::read_to_string(FILE).context(FILE)?)
    }

    pub(super) fn read(text: &str) -> Result<Self> {
        serde_json::from_str(text).context(FILE)
    }

    /// Why this step fails in this cell: the number of the declaration, and it.
    pub(super) fn failure(&self, cell: &Cell, step: &str) -> Option<(usize, &Fails)> {
        let (number, fails) =
            self.steps.iter().enumerate().find(|(_, each)| each.step == step && each.cells.has(cell))?;
        fails.met.store(true, Ordering::Relaxed);
        Some((number + 1, fails))
    }

    /// The rules that are broken in this cell.
    pub(super) fn broken(&self, cell: &Cell) -> BTreeSet<(&'static str, String)> {
        let mut all = BTreeSet::new();
        for each in self.rules.iter().filter(|each| each.cells.has(cell)) {
            each.met.store(true, Ordering::Relaxed);
            let by = if each.by == "client" { "client" } else { "server" };
            all.extend(each.rules.iter().map(|rule| (by, rule.clone())));
        }
        all
    }

    /// The notes under the table: those that were met.
    pub(super) fn notes(&self) -> Vec<String> {
        let steps = self.steps.iter().enumerate().filter(|(_, each)| each.met.load(Ordering::Relaxed));
        let mut notes: Vec<String> = steps
            .map(|(number, each)| format!("{:>4} {}: {}", format!("[{}]", number + 1), each.step, each.place))
            .collect();
        let rules = self.rules.iter().filter(|each| each.met.load(Ordering::Relaxed));
        notes.extend(rules.map(|each| format!("     {} of a {}: {}", each.rules.join(", "), each.by, each.why)));
        notes
    }

    /// What was declared and met by no cell.
    pub(super) fn unmet(&self) -> Vec<String> {
        let steps = self.steps.iter().filter(|each| !each.met.load(Ordering::Relaxed)).map(|each| &each.place);
        let rules = self.rules.iter().filter(|each| !each.met.load(Ordering::Relaxed)).map(|each| &each.why);
        steps.chain(rules).map(|what| format!("{FILE}: no cell is like this: {what}")).collect()
    }
}
