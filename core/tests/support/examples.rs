//! Holds `tests/vectors/examples` against its list: each example is replayed, and comes to what the list says.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{Map, Value};

use crate::scenario::Scenario;

/// How many examples the specification shows.
pub(crate) const EXAMPLES: usize = 366;
/// Those without a scenario: what they show is no message.
const LEFT_OUT: [(&str, &str); 2] = [
    ("194", "an entry of the registry, which is no message"),
    ("195", "an entry of the registry, which is no message"),
];

/// What is wrong with the folder, one line for each, and how many examples are replayed.
pub(crate) fn complaints(root: &Path, all: &[Scenario]) -> (Vec<String>, usize) {
    let index = fs::read_to_string(root.join("examples/index.json")).expect("the list of the examples");
    let index: Value = serde_json::from_str(&index).expect("the list is JSON");
    let (covered, uncovered) = (object(&index["covered"]), object(&index["uncovered"]));
    let mut replayed: BTreeMap<&str, Vec<&Scenario>> = BTreeMap::new();
    for scenario in all.iter().filter(|scenario| scenario.file.starts_with("examples")) {
        replayed.entry(&scenario.name).or_default().push(scenario);
    }
    let count = replayed.len();
    let mut wrong = Vec::new();
    let left_out: Vec<(&str, &str)> =
        uncovered.iter().map(|(id, reason)| (id.as_str(), reason.as_str().unwrap_or_default())).collect();
    if left_out != LEFT_OUT {
        wrong.push(format!("left out are {left_out:?} instead of {LEFT_OUT:?}"));
    }
    if covered.len() + uncovered.len() != EXAMPLES {
        wrong.push(format!("{} examples instead of {EXAMPLES}", covered.len() + uncovered.len()));
    }
    for number in 1..=EXAMPLES {
        let id = format!("{number:03}");
        match (covered.get(&id), uncovered.get(&id).and_then(Value::as_str), replayed.remove(id.as_str())) {
            (Some(verdict), None, Some(scenarios)) => {
                wrong.extend(compare(verdict, &scenarios).map(|why| format!("{id}: {why}")));
            }
            (None, Some(reason), None) if !reason.is_empty() => {}
            (Some(_), None, None) => wrong.push(format!("{id}: no scenario")),
            _ => wrong.push(format!("{id}: listed as covered, or as uncovered with the reason, and not as both")),
        }
    }
    wrong.extend(replayed.into_keys().map(|id| format!("{id}: a scenario that the list does not have")));
    (wrong, count)
}

fn object(value: &Value) -> &Map<String, Value> {
    value.as_object().expect("an object of examples")
}

/// Why the scenarios of one example do not come to `[VERDICT, RULE, …]`.
fn compare(verdict: &Value, scenarios: &[&Scenario]) -> Option<String> {
    let words: Vec<&str> = verdict.as_array()?.iter().filter_map(Value::as_str).collect();
    let (verdict, rules) = words.split_first()?;
    let found: Vec<Vec<(&str, bool)>> = scenarios.iter().map(|scenario| objections(scenario)).collect();
    let named = |of: &Vec<(&str, bool)>| of.iter().any(|(rule, _)| rules.contains(rule));
    match *verdict {
        "valid" => found.iter().flatten().next().map(|(rule, _)| format!("valid, and {rule} objects")),
        "accepted" => {
            let right = found.iter().all(|of| of.is_empty() || named(of)) && found.iter().any(Vec::is_empty);
            (!right).then(|| format!("expected {rules:?} for the sender alone, found {found:?}"))
        }
        "invalid" => (!found.iter().all(named)).then(|| format!("expected one of {rules:?}, found {found:?}")),
        "tolerated" => {
            let delivered = found.iter().flatten().any(|(rule, delivered)| *delivered && rules.contains(rule));
            (!delivered || !found.iter().all(named))
                .then(|| format!("expected {rules:?} and delivery, found {found:?}"))
        }
        _ => Some(format!("the verdict {words:?}")),
    }
}

/// The rules that a scenario expects to object, and whether the message was delivered all the same.
fn objections(scenario: &Scenario) -> Vec<(&str, bool)> {
    let steps = || scenario.steps.iter().map(|(step, _)| step);
    let misuse = steps().filter_map(|step| Some((step.get("misuse")?["rule"].as_str()?, false)));
    let events = steps().filter_map(|step| step["expect"].as_array()).flatten();
    let violations = events.filter(|event| event["event"] == "violation");
    let violations =
        violations.filter_map(|event| Some((event["rule"].as_str()?, event["consequence"] == "delivered")));
    misuse.chain(violations).collect()
}
