//! The step `view`: what the views of a connection are to be.

use std::collections::BTreeMap;

use libacp::Connection;
use serde_json::{Map, Value};

/// Lists whose items are held against the expected ones member by member.
const LISTS: [&str; 2] = ["entries", "terminals"];
/// What a connection counts as it will.
const COUNTED: [&str; 2] = ["revision", "rewritten"];

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Holds the view of a session against what it is to show; null expects that there is none.
pub(crate) fn same(connection: &Connection, step: &Value, drawn: &mut BTreeMap<String, u64>) -> Result<(), String> {
    let session = step["view"].as_str().ok_or("the id of a session")?;
    let shows = step.get("shows").ok_or("what it shows is not stated")?;
    let Some(view) = connection.view(session) else {
        return if shows.is_null() { Ok(()) } else { Err("there is no such view".into()) };
    };
    let members = shows.as_object().ok_or("there is such a view")?;
    let mut found = parsed(&view.to_json());
    found["busy"] = view.is_busy().into();
    let since = drawn.insert(session.to_owned(), view.revision()).unwrap_or(0);
    let changes = view.since(since);
    found["changed"] = changes.entries().map(libacp::view::Entry::index).collect();
    found["removed"] = changes.removed().collect();
    found["members"] = changes.members().map(|(name, _)| name).collect();
    found["reset"] = changes.is_reset().into();
    differs(members, &found).map_or(Ok(()), Err)?;
    agree(view)
}

/// The first member that stands and is different.
fn differs(expected: &Map<String, Value>, found: &Value) -> Option<String> {
    expected.iter().find_map(|(name, value)| {
        let actual = found.get(name);
        if COUNTED.contains(&name.as_str()) {
            return Some(format!("{name} is no business of a scenario"));
        }
        let list = value.as_array().zip(actual.and_then(Value::as_array)).filter(|_| LISTS.contains(&name.as_str()));
        if let Some((wanted, there)) = list.filter(|(wanted, there)| wanted.len() == there.len()) {
            return wanted.iter().zip(there).enumerate().find_map(|(at, (wanted, there))| {
                differs(wanted.as_object()?, there).map(|why| format!("{name} {at}: {why}"))
            });
        }
        (actual != Some(value)).then(|| format!("{name}: expected {value}, found {}", actual.unwrap_or(&Value::Null)))
    })
}

/// What the parts of a view say is what all of it says.
fn agree(view: &libacp::view::View) -> Result<(), String> {
    let whole = parsed(&view.to_json());
    let changes = parsed(&view.since(0).to_json());
    for name in LISTS {
        if changes[name] != whole[name] {
            return Err(format!("all that has changed is not all there is: {name}"));
        }
    }
    let entries: Vec<Value> = view.entries().map(|entry| parsed(&entry.to_json())).collect();
    if whole["entries"] != Value::from(entries) {
        return Err("the entries are others".into());
    }
    for entry in view.entries().chain(view.terminals()) {
        let by_index = view.entry(entry.index()).map(libacp::view::Entry::index);
        if by_index != Some(entry.index()) || entry.revision() > view.revision() {
            return Err(format!("entry {} is not found", entry.index()));
        }
        let text: String = entry.blocks().map(|block| parsed_text(&block)).collect();
        if entry.text() != text {
            return Err(format!("entry {}: the text is not that of its blocks", entry.index()));
        }
    }
    if !view.since(view.revision()).is_empty() {
        return Err("something has changed since now".into());
    }
    Ok(())
}

fn parsed_text(block: &libacp::view::Block<'_>) -> String {
    match block {
        libacp::view::Block::Text(text) => (*text).to_owned(),
        libacp::view::Block::Json(json) => parsed(json)["text"].as_str().unwrap_or_default().to_owned(),
    }
}
