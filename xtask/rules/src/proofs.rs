//! Which test proves which rule.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use libacp::rules;
use serde_json::Value;

/// Rules to the places that prove them.
#[derive(Default)]
pub(crate) struct Proofs {
    places: BTreeMap<String, Vec<String>>,
    vectors: BTreeMap<String, Vectors>,
}

/// What the scenarios of one rule show.
#[derive(Default, Clone, Copy)]
pub(crate) struct Vectors {
    /// Scenarios in which something is refused, reported, advised against or answered by the connection itself.
    pub(crate) broken: usize,
    /// Scenarios in which all goes through.
    pub(crate) kept: usize,
}

/// Reads the vectors, and the documentation of the core's tests.
pub(crate) fn collect() -> Result<Proofs, Box<dyn Error>> {
    let mut proofs = Proofs::default();
    proofs.read_vectors(Path::new("tests/vectors"))?;
    for folder in ["core/src", "core/tests"] {
        proofs.read_tests(Path::new(folder))?;
    }
    Ok(proofs)
}

impl Proofs {
    /// The first place that proves a rule, and how many more there are; empty when there is none.
    pub(crate) fn of(&self, rule: &str) -> String {
        match self.places.get(rule).map(Vec::as_slice) {
            None | Some([]) => String::new(),
            Some([one]) => one.clone(),
            Some([first, rest @ ..]) => format!("{first} (+{})", rest.len()),
        }
    }

    /// What its scenarios show; `None` when it has none.
    pub(crate) fn vectors_of(&self, rule: &str) -> Option<Vectors> {
        self.vectors.get(rule).copied()
    }

    /// Proofs of rules that the catalogue does not have. Limits are ours and have no row.
    pub(crate) fn strangers(&self) -> Vec<String> {
        let foreign =
            |rule: &str| !rule.starts_with("LIMIT-") && !rule.starts_with("BATCH-") && rules::rule(rule).is_none();
        let unknown = self.places.iter().filter(|(rule, _)| foreign(rule));
        unknown.map(|(rule, places)| format!("no rule {rule}, which {} names", places[0])).collect()
    }

    fn add(&mut self, rule: &str, place: String) {
        self.places.entry(rule.to_owned()).or_default().push(place);
    }

    fn read_vectors(&mut self, folder: &Path) -> Result<(), Box<dyn Error>> {
        for path in files(folder, "jsonl")? {
            let text = fs::read_to_string(&path)?;
            // U+2028 may stand inside a line, so lines end at line feeds alone.
            for line in text.split('\n').filter(|line| !line.trim().is_empty()) {
                let scenario: Value = serde_json::from_str(line).map_err(|e| format!("{path}: {e}"))?;
                let short = path.trim_start_matches("tests/vectors/").trim_end_matches(".jsonl");
                let name = scenario["name"].as_str().unwrap_or("?");
                if let Some(rule) = scenario["rule"].as_str() {
                    self.add(rule, format!("{short}: {name}"));
                    let vectors = self.vectors.entry(rule.to_owned()).or_default();
                    let count = if objects(&scenario["steps"]) { &mut vectors.broken } else { &mut vectors.kept };
                    *count += 1;
                }
            }
        }
        Ok(())
    }

    fn read_tests(&mut self, folder: &Path) -> Result<(), Box<dyn Error>> {
        for path in files(folder, "rs")? {
            for line in fs::read_to_string(&path)?.lines() {
                let Some(named) = line.trim().strip_prefix("/// Proves ") else { continue };
                for rule in named.trim_end_matches('.').split([',', ' ']).filter(|word| word.contains('-')) {
                    self.add(rule, path.clone());
                }
            }
        }
        Ok(())
    }
}

/// Whether any step names a rule: in a misuse, a violation, advice, an answer of the connection's own or a `can`.
fn objects(steps: &Value) -> bool {
    match steps {
        Value::Array(items) => items.iter().any(objects),
        Value::Object(step) => {
            let named = step.get("rule").is_some_and(Value::is_string);
            let cannot = |can: &Value| can.as_object().is_some_and(|can| can.values().any(Value::is_string));
            named
                || step.get("can").is_some_and(cannot)
                || step.get("misuse").is_some_and(objects)
                || step.get("expect").is_some_and(objects)
        }
        _ => false,
    }
}

/// All files below a folder with this extension, in order.
fn files(folder: &Path, extension: &str) -> Result<Vec<String>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path, extension)?);
        } else if path.extension().is_some_and(|end| end == extension) {
            found.push(path.to_string_lossy().into_owned());
        }
    }
    found.sort();
    Ok(found)
}
