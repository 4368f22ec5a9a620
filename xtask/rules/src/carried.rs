//! Which rules the vectors are about, and which ids their events and errors carry.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::Path;

use libacp::rules::{self, Rule, Way, AREAS};
use serde_json::Value;

use crate::specification::Entry;

#[derive(Debug, Default)]
pub(crate) struct Vectors {
    /// How many scenarios name a rule, each with a place.
    named: BTreeMap<String, (usize, String)>,
    /// The ids that events and errors carry: the host's own misuse and advice, the peer's violations, and answers of the
    /// connection's own.
    carried: BTreeSet<(String, &'static str)>,
}

impl Vectors {
    pub(crate) fn read(folders: &[&Path]) -> Result<Self, Box<dyn Error>> {
        let mut vectors = Vectors::default();
        let found: Vec<Vec<String>> = folders.iter().map(|folder| files(folder)).collect::<Result<_, _>>()?;
        for path in found.into_iter().flatten() {
            // U+2028 may stand inside a line, so lines end at line feeds alone.
            for line in fs::read_to_string(&path)?.split('\n').filter(|line| !line.trim().is_empty()) {
                let scenario: Value = serde_json::from_str(line).map_err(|error| format!("{path}: {error}"))?;
                if let Some(rule) = scenario["rule"].as_str() {
                    vectors.named.entry(rule.to_owned()).or_insert_with(|| (0, path.clone())).0 += 1;
                }
                for step in scenario["steps"].as_array().into_iter().flatten() {
                    vectors.step(step);
                }
            }
        }
        Ok(vectors)
    }

    fn step(&mut self, step: &Value) {
        let mut carry = |rule: &Value, by: &'static str| {
            if let Some(rule) = rule.as_str() {
                self.carried.insert((rule.to_owned(), by));
            }
        };
        carry(&step["misuse"]["rule"], "send");
        step["can"].as_object().into_iter().flat_map(|can| can.values()).for_each(|rule| carry(rule, "send"));
        for event in step["expect"].as_array().into_iter().flatten() {
            let by = match event["event"].as_str() {
                Some("violation") => "receive",
                Some("advice") => "send",
                _ => "track",
            };
            carry(&event["rule"], by);
        }
    }

    pub(crate) fn count(&self, rule: &str) -> usize {
        self.named.get(rule).map_or(0, |(count, _)| *count)
    }

    /// Ids that are in no list, and rows whose ids no event carries though they claim that events do.
    pub(crate) fn complaints(&self, entries: &[Entry]) -> Vec<String> {
        let listed = |id: &str| rules::rule(id).is_some() || entries.iter().any(|entry| entry.id == id);
        let strangers = self.named.iter().filter(|(id, _)| !listed(id));
        let mut wrong: Vec<String> =
            strangers.map(|(id, (_, path))| format!("no rule {id}, which {path} names")).collect();
        let unlisted = self.carried.iter().filter(|(id, _)| rules::rule(id).is_none());
        wrong.extend(unlisted.map(|(id, _)| format!("no row for {id}, which an event of the vectors carries")));
        for rule in AREAS.iter().flat_map(|area| area.rules) {
            let silent = [(rule.send, Way::Send), (rule.receive, Way::Receive)];
            for (_, way) in silent.into_iter().filter(|(claimed, way)| *claimed && !self.speaks(rule, *way)) {
                wrong.push(format!("no event of the vectors carries {} on {}", rule.id, way.name()));
            }
        }
        wrong
    }

    /// Whether an event carries the rule's id, or one that stands in its place.
    fn speaks(&self, rule: &Rule, way: Way) -> bool {
        let mut ids = [rule.id].into_iter().chain(rule.reported_as.iter().copied());
        ids.any(|id| self.carried.contains(&(id.to_owned(), way.name())))
    }
}

/// All vector files below a folder, in order.
fn files(folder: &Path) -> Result<Vec<String>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path.extension().is_some_and(|end| end == "jsonl") {
            found.push(path.to_string_lossy().into_owned());
        }
    }
    found.sort();
    Ok(found)
}
