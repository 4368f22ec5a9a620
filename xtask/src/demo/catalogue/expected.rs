//! What is declared of a cell: steps that one side does not offer, and those at which a peer is known to fail.
//!
//! `tests/interop/catalogue/expected.json` has them, with a reason and a place. A step that ends otherwise than it is
//! declared makes its cell wrong, also when it passes: the declaration is out of date.

use std::fs;

use anyhow::{bail, ensure, Context, Result};
use serde_json::Value;

use super::cell::Cell;
use super::hosts;
use super::steps::{Catalogue, Ended, Said};
use crate::demo::deviations::{members, text};

const EXPECTED: &str = "tests/interop/catalogue/expected.json";
const MEMBERS: &[&str] = &["steps", "client", "agent", "versions", "is", "why", "place"];

/// How a step may end that does not pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Word {
    NotOffered,
    Failed,
}

impl Word {
    pub(super) fn text(self) -> &'static str {
        match self {
            Word::NotOffered => "not offered",
            Word::Failed => "failed",
        }
    }
}

/// One declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Declared {
    steps: Vec<String>,
    /// The hosts on either side that it is about; all, if none are named.
    client: Option<Vec<String>>,
    agent: Option<Vec<String>>,
    versions: Vec<u8>,
    pub(super) is: Word,
    pub(super) why: String,
    /// `peer:FILE:LINE` or `spec:PLACE`.
    pub(super) place: String,
}

/// All that is declared.
pub(super) struct Expected(Vec<Declared>);

/// How a cell went: its numbers, the declarations that were met, and what is wrong.
#[derive(Debug, Default)]
pub(super) struct Verdict {
    pub(super) passed: usize,
    pub(super) met: Vec<(String, Declared)>,
    pub(super) wrong: Vec<String>,
}

impl Expected {
    pub(super) fn load(catalogue: &Catalogue) -> Result<Self> {
        let text = fs::read_to_string(EXPECTED).context(EXPECTED)?;
        let value: Value = serde_json::from_str(&text).context(EXPECTED)?;
        Self::read(&value, catalogue).context(EXPECTED)
    }

    pub(super) fn read(value: &Value, catalogue: &Catalogue) -> Result<Self> {
        let all = value.as_array().context("expected a list")?.iter().enumerate();
        let one = |(index, entry)| Declared::read(entry, catalogue).with_context(|| format!("/{index}"));
        Ok(Expected(all.map(one).collect::<Result<_>>()?))
    }

    pub(super) fn all(&self) -> &[Declared] {
        &self.0
    }

    /// Holds what was said of the steps of a cell against what is declared of it.
    pub(super) fn judge(&self, cell: &Cell, steps: &[&str], said: &Said) -> Verdict {
        let mut verdict = Verdict::default();
        for &step in steps {
            let declared: Vec<&Declared> = self.0.iter().filter(|one| one.is_about(cell, step)).collect();
            let word = match said.of(step) {
                None => {
                    verdict.wrong.push(format!("{step}: no line says how it has ended"));
                    continue;
                }
                Some(Ended::Passed) => None,
                Some(Ended::NotOffered(why)) => Some((Word::NotOffered, why)),
                Some(Ended::Failed(why)) => Some((Word::Failed, why)),
            };
            match (word, declared.as_slice()) {
                (_, [_, _, ..]) => verdict.wrong.push(format!("{step}: it is declared twice")),
                (None, []) => verdict.passed += 1,
                (None, [gone]) => {
                    let Declared { is, place, .. } = gone;
                    verdict.wrong.push(format!("{step}: it passes, and is declared as {} ({place})", is.text()));
                }
                (Some((word, _)), [one]) if one.is == word => verdict.met.push((step.to_owned(), (*one).clone())),
                (Some((word, why)), _) => verdict.wrong.push(format!("{step}: {}: {why}", word.text())),
            }
        }
        verdict.wrong.extend(said.others(steps).map(|id| format!("{id}: there is no such step")));
        verdict
    }
}

impl Declared {
    fn read(entry: &Value, catalogue: &Catalogue) -> Result<Self> {
        let members = members(entry, MEMBERS)?;
        let texts = |name: &str| -> Result<Option<Vec<String>>> {
            let Some(list) = members.get(name) else { return Ok(None) };
            let list = list.as_array().filter(|list| !list.is_empty());
            let text = |value: &Value| value.as_str().map(str::to_owned);
            let list: Option<Vec<String>> = list.and_then(|list| list.iter().map(text).collect());
            list.map(Some).with_context(|| format!("expected a list of names as {name}"))
        };
        let known = |names: Option<Vec<String>>| -> Result<Option<Vec<String>>> {
            let unknown = names.iter().flatten().find(|name| hosts::find(name).is_none());
            unknown.map_or(Ok(names.clone()), |name| bail!("{name}: no such host"))
        };
        let steps = texts("steps")?.context("expected a list as steps")?;
        if let Some(unknown) = steps.iter().find(|id| !catalogue.has(id)) {
            bail!("{unknown}: no such step");
        }
        let (client, agent) = (known(texts("client")?)?, known(texts("agent")?)?);
        ensure!(client.is_some() || agent.is_some(), "it is about no host");
        let versions: Vec<u8> = match members.get("versions") {
            None => vec![1, 2],
            Some(list) => serde_json::from_value(list.clone()).context("versions")?,
        };
        let is = match text(members, "is")?.as_str() {
            "not offered" => Word::NotOffered,
            "failed" => Word::Failed,
            other => bail!("expected \"not offered\" or \"failed\" as is, got {other}"),
        };
        let place = text(members, "place")?;
        ensure!(is_place(&place), "expected peer:FILE:LINE or spec:PLACE as place, got {place}");
        Ok(Declared { steps, client, agent, versions, is, why: text(members, "why")?, place })
    }

    /// Whether it is because of this host, on this side, that a step does not pass.
    pub(super) fn blames(&self, host: &str, client: bool, version: u8, step: &str) -> bool {
        let side = if client { &self.client } else { &self.agent };
        let named = side.as_ref().is_some_and(|names| names.iter().any(|name| name == host));
        named && self.versions.contains(&version) && self.steps.iter().any(|one| one == step)
    }

    fn is_about(&self, cell: &Cell, step: &str) -> bool {
        let named = |names: &Option<Vec<String>>, name: &str| {
            names.as_ref().is_none_or(|all| all.iter().any(|one| one == name))
        };
        self.steps.iter().any(|one| one == step)
            && self.versions.contains(&cell.version)
            && named(&self.client, cell.client.name)
            && named(&self.agent, cell.agent.name)
    }
}

/// Whether it is a line of a peer, or a place in the specification.
fn is_place(place: &str) -> bool {
    match place.split_once(':') {
        Some(("peer", at)) => {
            at.rsplit_once(':').is_some_and(|(file, line)| !file.is_empty() && line.parse::<u32>().is_ok())
        }
        Some(("spec", at)) => !at.is_empty(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn catalogue() -> Catalogue {
        let step = |id| json!({"id": id, "says": "x", "versions": [1, 2]});
        Catalogue::read(&json!({"steps": [step("a"), step("b"), step("c")]})).unwrap()
    }

    fn entry(is: &str) -> Value {
        json!({"steps": ["b"], "agent": ["ts-sdk"], "versions": [1], "is": is, "why": "w", "place": "peer:x.js:3"})
    }

    fn verdict(declared: &Value, version: u8, said: &str) -> Verdict {
        let expected = Expected::read(declared, &catalogue()).unwrap();
        let (client, agent) = hosts::named("python-aio:ts-sdk").unwrap();
        expected.judge(&Cell { client, agent, version }, &["a", "b", "c"], &Said::read(said).unwrap())
    }

    const ALL: &str = "STEP a passed\nSTEP b passed\nSTEP c passed\nRESULT passed=3 not-offered=0 failed=0\n";
    const FAILED: &str = "STEP a passed\nSTEP b failed why\nSTEP c passed\nRESULT passed=2 not-offered=0 failed=1\n";

    #[test]
    fn what_is_declared_and_comes_is_right() {
        let one = verdict(&json!([entry("failed")]), 1, FAILED);
        assert_eq!((one.passed, one.met.len(), one.wrong.len()), (2, 1, 0), "{:?}", one.wrong);
        let other = verdict(&json!([entry("failed")]), 2, ALL);
        assert_eq!((other.passed, other.wrong.len()), (3, 0), "it is about version 1 alone");
    }

    #[test]
    fn what_is_not_declared_or_does_not_come_is_wrong() {
        const NONE: &str = "STEP a passed\nSTEP c passed\nSTEP d passed\nRESULT passed=3 not-offered=0 failed=0\n";
        for (declared, said, wrong) in [
            (json!([]), FAILED, vec!["b: failed: why"]),
            (json!([entry("failed")]), ALL, vec!["b: it passes, and is declared as failed (peer:x.js:3)"]),
            (json!([entry("not offered")]), FAILED, vec!["b: failed: why"]),
            (json!([entry("failed"), entry("failed")]), FAILED, vec!["b: it is declared twice"]),
            (json!([]), NONE, vec!["b: no line says how it has ended", "d: there is no such step"]),
        ] {
            assert_eq!(verdict(&declared, 1, said).wrong, wrong);
        }
    }

    #[test]
    fn what_a_declaration_lacks_is_said() {
        let with = |name: &str, value: Value| {
            let mut entry = entry("failed");
            entry[name] = value;
            entry
        };
        for (entry, message) in [
            (with("steps", json!(["x"])), "/0: x: no such step"),
            (with("steps", json!([])), "/0: expected a list of names as steps"),
            (with("agent", json!(["x"])), "/0: x: no such host"),
            (with("place", json!("x.js:3")), "/0: expected peer:FILE:LINE or spec:PLACE as place, got x.js:3"),
            (with("place", json!("peer:x.js")), "/0: expected peer:FILE:LINE or spec:PLACE as place, got peer:x.js"),
            (with("why", json!("")), "/0: expected a text as why"),
            (with("is", json!("odd")), "/0: expected \"not offered\" or \"failed\" as is, got odd"),
            (
                with("count", json!(1)),
                "/0: count is not known; there are steps, client, agent, versions, is, why, place",
            ),
            (json!({"steps": ["a"], "is": "failed", "why": "w", "place": "spec:x"}), "/0: it is about no host"),
        ] {
            let error = format!("{:#}", Expected::read(&json!([entry]), &catalogue()).err().unwrap());
            assert_eq!(error, message);
        }
    }
}
