//! Compares the entries that are marked with a source, which the model takes from elsewhere, with the schemas.

use std::fmt;

use anyhow::Result;
use serde_json::{Map, Value};

use super::compare::{self, differences};
use crate::model::{each_mark, write, GateForm, Sender, Version};

/// A marked fact.
#[derive(Debug, PartialEq)]
pub(super) struct Fact {
    /// Where it stands.
    pub(super) at: String,
    /// The source that its mark names.
    pub(super) source: String,
    /// What the schemas say.
    pub(super) found: Found,
}

/// What the schemas say of a marked fact.
#[derive(Debug, PartialEq)]
pub(super) enum Found {
    /// Nothing.
    Lacking,
    /// The same, as a draft; the model has it as stable.
    Draft,
    /// The same. The mark can go.
    Confirmed,
    /// Something else.
    Changed(Vec<String>),
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lacking => f.write_str("lacking"),
            Self::Draft => f.write_str("there as a draft"),
            Self::Confirmed => f.write_str("confirmed"),
            Self::Changed(how) => write!(f, "changed ({})", how.join("; ")),
        }
    }
}

/// Compares all marked facts of a version. `schemas` merges a version without marks with the structure of the schemas.
pub(super) fn judge(version: &Version, schemas: impl FnOnce(&Version) -> Result<Version>) -> Result<Vec<Fact>> {
    let mut marks = Vec::new();
    let mut bare = version.clone();
    each_mark(&mut bare, &mut |path, mark| marks.extend(mark.take().map(|source| (path.to_vec(), source))));
    let (mut ours, theirs) = (write::value(&bare), write::value(&schemas(&bare)?));
    // The innermost first: each counts by itself, and not as a difference of the entry that it is part of.
    let mut order: Vec<usize> = (0..marks.len()).collect();
    order.sort_by_key(|&i| std::cmp::Reverse(marks[i].0.len()));
    let mut found: Vec<Found> = marks.iter().map(|_| Found::Lacking).collect();
    for i in order {
        let path = &marks[i].0;
        found[i] = match &path[..] {
            [methods, method, part] if methods == "methods" && part == "gate" => gate(version, method, &theirs),
            _ => compare(compare::get(&ours, path), compare::get(&theirs, path)),
        };
        compare::put(&mut ours, path, compare::get(&theirs, path).cloned());
    }
    let fact = |((path, source), found): ((Vec<String>, String), Found)| {
        let at = compare::place(version, &path);
        Fact { at, source, found }
    };
    Ok(marks.into_iter().zip(found).map(fact).collect())
}

fn compare(ours: Option<&Value>, theirs: Option<&Value>) -> Found {
    let (Some(ours), Some(theirs)) = (ours, theirs) else { return Found::Lacking };
    let (draft, our_body) = body(ours);
    let (their_draft, their_body) = body(theirs);
    let mut found = differences(&Value::Object(our_body), &Value::Object(their_body));
    match (draft, their_draft) {
        (None, Some(_)) if found.is_empty() => return Found::Draft,
        (Some(_), None) => found.push("draft: not in the schemas".to_owned()),
        (None, Some(_)) => found.push("draft: not in the model".to_owned()),
        _ => {}
    }
    if found.is_empty() {
        Found::Confirmed
    } else {
        Found::Changed(found)
    }
}

/// Splits the draft off. A variant that is a name alone is written as that name.
fn body(value: &Value) -> (Option<Value>, Map<String, Value>) {
    let mut body = match value {
        Value::Object(members) => members.clone(),
        other => Map::from_iter([("type".to_owned(), other.clone())]),
    };
    (body.shift_remove("draft"), body)
}

/// The schemas have no gates, but they have the capabilities that gates ask for.
fn gate(version: &Version, method: &str, theirs: &Value) -> Found {
    let Some(gate) = version.methods.get(method).and_then(|method| method.gate.as_ref()) else {
        return Found::Lacking;
    };
    let mut name = if gate.of == Sender::Agent { "AgentCapabilities" } else { "ClientCapabilities" };
    let mut draft = false;
    for member in gate.path.split('.') {
        let Some(field) = compare::get(theirs, &["types", name, "object", member]) else { return Found::Lacking };
        draft |= field.get("draft").is_some();
        name = field["type"].as_str().unwrap_or_default();
    }
    if (name == "boolean") != (gate.form == GateForm::Boolean) {
        return Found::Changed(vec![format!(
            "{} by {} in the model, {name} in the schemas",
            gate.path,
            gate.form.name()
        )]);
    }
    if draft && version.methods[method].draft.is_none() {
        return Found::Draft;
    }
    Found::Confirmed
}
