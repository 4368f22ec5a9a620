//! The rules that a host broke, as the other one told them, held against what is known of the official SDKs.
//!
//! A host on libacp says each violation on standard error, as one line of JSON. `tests/interop/violations.json` has those
//! that an SDK causes with this conversation, and why: anything else, more or less of it, makes a pair wrong.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{bail, Context, Result};
use serde_json::Value;

use super::hosts::{self, Host};
use super::pair::Pair;

const KNOWN: &str = "tests/interop/violations.json";

/// One rule that one side broke with one method, and how often.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Told {
    host: &'static str,
    /// `client` or `agent`: the side that broke it.
    side: &'static str,
    rule: String,
    method: String,
    count: u64,
}

/// What `said` tells of the other side.
pub(super) fn read(said: &str, of: &Host, side: &'static str) -> Vec<Told> {
    let mut counts: BTreeMap<(String, String), u64> = BTreeMap::new();
    for line in said.lines().filter(|line| line.starts_with('{')) {
        let Ok(line) = serde_json::from_str::<Value>(line) else { continue };
        if let (Some(rule), Some(method)) = (line["violation"].as_str(), line["method"].as_str()) {
            *counts.entry((rule.to_owned(), method.to_owned())).or_default() += 1;
        }
    }
    let told = |((rule, method), count)| Told { host: of.name, side, rule, method, count };
    counts.into_iter().map(told).collect()
}

/// What was told in all pairs: a line for each rule, and how much that was for each host that is watched.
pub(super) fn shown(pairs: &[(Pair, &[Told])]) -> Vec<String> {
    let line = |pair: &Pair, Told { host, side, rule, method, count }: &Told| {
        let line = format!("{:<18} the {side} ({host}) broke {rule:<9} {count:>3} times  {method}", pair.name());
        line.trim_end().to_owned()
    };
    let mut lines: Vec<String> =
        pairs.iter().flat_map(|(pair, told)| told.iter().map(move |one| line(pair, one))).collect();
    for host in hosts::all().filter(|host| !host.ours) {
        let mine = pairs.iter().filter(|(pair, _)| pair.client.name == host.name || pair.agent.name == host.name);
        let told =
            |(_, told): &(Pair, &[Told])| told.iter().filter(|one| one.host == host.name).map(|one| one.count).sum();
        let counts: Vec<u64> = mine.map(told).collect();
        if !counts.is_empty() {
            let (sum, pairs) = (counts.iter().sum::<u64>(), counts.len());
            lines.push(format!("{:<18} {sum} violations told in {pairs} pairs", host.name));
        }
    }
    lines
}

/// What is known, by host and side.
pub(super) struct Known(Value);

impl Known {
    pub(super) fn load() -> Result<Self> {
        let text = fs::read_to_string(KNOWN).context(KNOWN)?;
        let known: Value = serde_json::from_str(&text).context(KNOWN)?;
        for one in known.as_object().into_iter().flatten().filter_map(|(_, sides)| sides.as_object()).flatten() {
            let unexplained = |entry: &&Value| entry["why"].as_str().is_none_or(str::is_empty);
            if let Some(entry) = one.1.as_array().into_iter().flatten().find(unexplained) {
                bail!("{KNOWN}: no reason with {entry}");
            }
        }
        Ok(Known(known))
    }

    /// Holds what was told against what is known; each side says whether the other is one of ours, and so tells.
    pub(super) fn check(&self, told: &[Told], sides: &[(&'static Host, &'static str, bool)]) -> Result<()> {
        for &(host, side, _) in sides.iter().filter(|(.., watched)| *watched) {
            let found: Vec<&Told> = told.iter().filter(|one| (one.host, one.side) == (host.name, side)).collect();
            let known: Vec<Told> = self.of(host, side)?;
            for one in &found {
                let count = known.iter().find(|other| (&other.rule, &other.method) == (&one.rule, &one.method));
                let count = count.map_or(0, |known| known.count);
                if count != one.count {
                    let Told { rule, method, count: times, .. } = one;
                    bail!(
                        "the {side} ({}) broke {rule} with {method} {times} times, known are {count} ({KNOWN})",
                        host.name
                    );
                }
            }
            if let Some(gone) = known.iter().find(|one| !found.contains(one)) {
                let Told { rule, method, .. } = gone;
                bail!("the {side} ({}) no longer breaks {rule} with {method}, as {KNOWN} says", host.name);
            }
        }
        Ok(())
    }

    fn of(&self, host: &Host, side: &'static str) -> Result<Vec<Told>> {
        let text = |entry: &Value, name: &str| {
            entry[name].as_str().map(str::to_owned).with_context(|| format!("{KNOWN}: {name} is missing in {entry}"))
        };
        let entries = self.0[host.name][side].as_array().map(Vec::as_slice).unwrap_or_default();
        let told = |entry: &Value| {
            let (rule, method) = (text(entry, "rule")?, text(entry, "method")?);
            let count = entry["count"].as_u64().with_context(|| format!("{KNOWN}: count is missing in {entry}"))?;
            Ok(Told { host: host.name, side, rule, method, count })
        };
        entries.iter().map(told).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SAID: &str = "warning: x\n{\"violation\":\"TOOL-02\",\"method\":\"session/update\",\"pointer\":\"\"}\n{}\n\
        {\"violation\":\"FRAME-12\",\"method\":\"\"}\n{\"violation\":\"TOOL-02\",\"method\":\"session/update\"}\n{";

    fn sdk() -> &'static Host {
        Host::find("py-sdk").unwrap()
    }

    #[test]
    fn lines_of_violations_are_counted_and_others_ignored() {
        let counts: Vec<_> = read(SAID, sdk(), "agent").into_iter().map(|one| (one.rule, one.count)).collect();
        assert_eq!(counts, [("FRAME-12".to_owned(), 1), ("TOOL-02".to_owned(), 2)]);
    }

    #[test]
    fn more_less_and_other_violations_than_known_are_wrong() {
        let told = read(SAID, sdk(), "agent");
        let entry = |rule: &str, method: &str, count: u64| json!({"rule": rule, "method": method, "count": count});
        let check = |known: &[Value], side, watched| {
            Known(json!({"py-sdk": {"agent": known}}))
                .check(&told, &[(sdk(), side, watched)])
                .map_err(|e| e.to_string())
        };
        let (first, second) = (entry("FRAME-12", "", 1), entry("TOOL-02", "session/update", 2));
        assert_eq!(check(&[first.clone(), second.clone()], "agent", true), Ok(()));
        assert_eq!(check(&[], "agent", false), Ok(()), "an SDK tells nothing of its peer");
        assert_eq!(check(&[], "client", true), Ok(()));
        let wrong = [
            (vec![first.clone()], "broke TOOL-02 with session/update 2 times, known are 0"),
            (vec![first.clone(), entry("TOOL-02", "session/update", 1)], "2 times, known are 1"),
            (vec![first, second, entry("TURN-05", "session/update", 1)], "no longer breaks TURN-05"),
        ];
        for (known, message) in wrong {
            assert!(check(&known, "agent", true).unwrap_err().contains(message), "{message}");
        }
    }
}
