//! The steps, and the lines in which a client tells how each has ended.

use std::collections::BTreeMap;
use std::fs;

use anyhow::{bail, ensure, Context, Result};
use serde_json::Value;

pub(super) const STEPS: &str = "tests/interop/catalogue/steps.json";

/// All steps, in their order.
pub(super) struct Catalogue(Vec<Step>);

struct Step {
    id: String,
    says: String,
    versions: Vec<u8>,
}

impl Catalogue {
    pub(super) fn load() -> Result<Self> {
        let value: Value = serde_json::from_str(&fs::read_to_string(STEPS).context(STEPS)?).context(STEPS)?;
        Self::read(&value).context(STEPS)
    }

    pub(super) fn read(value: &Value) -> Result<Self> {
        let mut steps: Vec<Step> = Vec::new();
        for step in value["steps"].as_array().context("expected a list as steps")? {
            let id = step["id"].as_str().with_context(|| format!("no id in {step}"))?;
            ensure!(!steps.iter().any(|other| other.id == id), "{id} is there twice");
            let says = step["says"].as_str().filter(|says| !says.is_empty());
            let says = says.with_context(|| format!("{id} does not say what it is"))?.to_owned();
            let versions = step["versions"].as_array().map(Vec::as_slice).unwrap_or_default();
            let versions: Vec<u8> =
                versions.iter().filter_map(Value::as_u64).filter_map(|version| version.try_into().ok()).collect();
            ensure!(!versions.is_empty(), "{id} has no versions");
            steps.push(Step { id: id.to_owned(), says, versions });
        }
        Ok(Catalogue(steps))
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.0.iter().any(|other| other.id == id)
    }

    /// The steps of a version.
    pub(super) fn of(&self, version: u8) -> impl Iterator<Item = &str> {
        self.told(version).map(|(id, _)| id)
    }

    /// The steps of a version, and what each is about.
    pub(super) fn told(&self, version: u8) -> impl Iterator<Item = (&str, &str)> {
        let of = self.0.iter().filter(move |step| step.versions.contains(&version));
        of.map(|step| (step.id.as_str(), step.says.as_str()))
    }
}

/// How a step has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended {
    Passed,
    NotOffered(String),
    Failed(String),
}

/// What a client has said of each step.
#[derive(Debug)]
pub(super) struct Said(BTreeMap<String, Ended>);

impl Said {
    /// Reads the lines `STEP id passed | not-offered why | failed what`, and the `RESULT` that has to fit them.
    pub(super) fn read(text: &str) -> Result<Self> {
        let mut said = BTreeMap::new();
        let mut counts = [0; 3];
        let mut result = None;
        for line in text.lines() {
            let mut words = line.splitn(4, ' ');
            match (words.next(), words.next(), words.next(), words.next().unwrap_or_default()) {
                (Some("RESULT"), ..) => result = Some(line),
                (Some("STEP"), Some(id), Some(word), why) => {
                    let (index, ended) = match word {
                        "passed" => (0, Ended::Passed),
                        "not-offered" => (1, Ended::NotOffered(why.to_owned())),
                        "failed" => (2, Ended::Failed(why.to_owned())),
                        _ => bail!("the client says: {line}"),
                    };
                    counts[index] += 1;
                    ensure!(said.insert(id.to_owned(), ended).is_none(), "the client says {id} twice");
                }
                _ => bail!("the client says: {line}"),
            }
        }
        let [passed, not_offered, failed] = counts;
        let expected = format!("RESULT passed={passed} not-offered={not_offered} failed={failed}");
        ensure!(result.is_some(), "the client has not said its result");
        ensure!(result == Some(&expected), "expected {expected}, the client says {}", result.unwrap_or_default());
        Ok(Said(said))
    }

    /// How a step has ended, if a line says that.
    pub(super) fn of(&self, id: &str) -> Option<&Ended> {
        self.0.get(id)
    }

    /// Steps that the client has made up.
    pub(super) fn others<'s>(&'s self, known: &'s [&str]) -> impl Iterator<Item = &'s str> {
        self.0.keys().map(String::as_str).filter(|id| !known.contains(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_step_is_there_once_and_says_what_it_is() {
        let read = |steps: Value| Catalogue::read(&json!({"steps": steps})).map(|_| ()).map_err(|e| e.to_string());
        let step = json!({"id": "a", "says": "A", "versions": [1]});
        assert_eq!(read(json!([step])), Ok(()));
        assert_eq!(read(json!([step, step])), Err("a is there twice".to_owned()));
        assert_eq!(read(json!([{"id": "a", "versions": [1]}])), Err("a does not say what it is".to_owned()));
        assert_eq!(read(json!([{"id": "a", "says": "A"}])), Err("a has no versions".to_owned()));
        let ours = serde_json::from_str(include_str!("../../../../tests/interop/catalogue/steps.json")).unwrap();
        assert!(Catalogue::read(&ours).unwrap().of(2).count() > 40);
    }

    #[test]
    fn lines_have_to_fit_their_result() {
        let said =
            Said::read("STEP a passed\nSTEP b failed x: expected 1, got 2\nRESULT passed=1 not-offered=0 failed=1\n");
        let said = said.unwrap();
        assert_eq!(said.of("b"), Some(&Ended::Failed("x: expected 1, got 2".to_owned())));
        assert_eq!(said.of("c"), None);
        assert_eq!(said.others(&["a"]).collect::<Vec<_>>(), ["b"]);
        for (text, message) in [
            ("STEP a passed\n", "has not said its result"),
            ("STEP a passed\nRESULT passed=2 not-offered=0 failed=0\n", "expected RESULT passed=1"),
            ("STEP a passed\nSTEP a passed\n", "says a twice"),
            ("STEP a perhaps\n", "says: STEP a perhaps"),
            ("Traceback\n", "says: Traceback"),
        ] {
            let error = Said::read(text).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
