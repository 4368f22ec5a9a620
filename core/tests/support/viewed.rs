//! The step `view`: what the views of a connection are to be.
//!
//! Beside what a scenario expects, a copy of each view is kept that reads nothing but what has changed, and of contents
//! nothing but what is new. It must be the view.

use std::collections::BTreeMap;

use libacp::Connection;
use serde_json::{json, Map, Value};

use super::getters::get;

/// Lists whose items are held against the expected ones member by member.
const LISTS: [&str; 2] = ["entries", "terminals"];
/// What a connection counts as it will.
const COUNTED: [&str; 3] = ["revision", "rewritten", "end"];
/// What changes have that is not a member of the view.
const OF_CHANGES: [&str; 3] = ["reset", "first", "removed"];
/// Contents that are lists.
const CONTENTS: [&str; 3] = ["blocks", "summary", "content"];

/// What is kept of a view between two steps.
#[derive(Debug, Default)]
pub(crate) struct Copy {
    revision: u64,
    /// The revision at the last step about it.
    drawn: u64,
    members: Map<String, Value>,
    entries: BTreeMap<u64, Value>,
}

impl Copy {
    /// Reads what has changed; whether there is a view.
    pub(crate) fn follow(&mut self, connection: &mut Connection, session: &str) -> Result<bool, String> {
        let mut ask = |getter: &str, with: &[Value]| {
            let with: Vec<Value> = [json!(session)].iter().chain(with).cloned().collect();
            get(connection, getter, &with)
        };
        let now = ask("view_revision", &[])?;
        if now == self.revision && self.revision > 0 {
            return Ok(true);
        }
        let Value::Object(changes) = ask("view_since", &[json!(self.revision)])? else {
            *self = Copy::default();
            return if now.is_null() { Ok(false) } else { Err("a view has a revision and no changes".into()) };
        };
        if changes["reset"] == true {
            (self.members, self.entries) = Default::default();
        }
        for head in LISTS.iter().flat_map(|name| changes[*name].as_array().expect("a list")) {
            let index = head["index"].as_u64().ok_or("an entry without an index")?;
            let mut known = self.entries.remove(&index);
            let position = known.as_ref().map_or(0, |known| known["end"].as_u64().unwrap_or_default());
            let content = ask("view_content", &[json!(index), json!(position)])?;
            if content["from"] == 0 {
                known = None;
            } else if content["from"] != position {
                return Err(format!("asked from {position}: {content}"));
            }
            self.entries.insert(index, joined(head, known.as_ref(), &content)?);
        }
        for index in changes["removed"].as_array().into_iter().flatten() {
            self.entries.remove(&index.as_u64().ok_or("an index")?);
        }
        self.entries = self.entries.split_off(&changes["first"].as_u64().ok_or("the first index")?);
        self.revision = changes["revision"].as_u64().ok_or("a revision")?;
        let others =
            changes.into_iter().filter(|(name, _)| !LISTS.contains(&&**name) && !OF_CHANGES.contains(&&**name));
        self.members.extend(others);
        if now == self.revision {
            Ok(true)
        } else {
            Err(format!("the revision is {now}, and that of what has changed {}", self.revision))
        }
    }

    /// Whether it is the view.
    fn same(&self, whole: &Value) -> Result<(), String> {
        let mut all = self.members.clone();
        for name in LISTS {
            let is = |entry: &&Value| (entry["type"] == "terminal") == (name == "terminals");
            all.insert(name.into(), self.entries.values().filter(is).cloned().collect());
        }
        let members = whole.as_object().expect("members");
        let other = members.iter().find(|(name, value)| all.get(*name) != Some(*value));
        let other = other.or_else(|| all.iter().find(|(name, _)| !members.contains_key(*name)));
        other.map_or(Ok(()), |(name, _)| {
            Err(format!(
                "{name} was read as\n  {}\nand is\n  {}",
                all.get(name).unwrap_or(&Value::Null),
                members.get(name).unwrap_or(&Value::Null)
            ))
        })
    }
}

/// An entry from its head, what was known of it, and what is new of its content.
fn joined(head: &Value, known: Option<&Value>, content: &Value) -> Result<Value, String> {
    let mut entry = head.clone();
    for name in CONTENTS {
        let Some(new) = content[name].as_array() else { continue };
        let mut all = known.map_or(&[][..], |known| known[name].as_array().expect("a list")).to_vec();
        let mut new = new.iter();
        if content["continues"] == true {
            let last = all.last_mut().ok_or("nothing goes on")?;
            let more = new.next().and_then(|block| block["text"].as_str()).ok_or("no text goes on")?;
            let text = last["text"].as_str().ok_or("what goes on is no text")?.to_owned();
            last["text"] = (text + more).into();
        }
        all.extend(new.cloned());
        entry[name] = all.into();
    }
    if let Some(output) = content["output"].as_str() {
        let before = known.map_or("", |known| known["output"].as_str().expect("text"));
        (entry["output"], entry["before"]) = ((before.to_owned() + output).into(), content["before"].clone());
    }
    if head["end"] == content["end"] {
        Ok(entry)
    } else {
        Err(format!("the content of {head} ends elsewhere: {content}"))
    }
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Holds the view of a session against what it is to show; null expects that there is none.
pub(crate) fn same(
    connection: &mut Connection,
    step: &Value,
    copies: &mut BTreeMap<String, Copy>,
) -> Result<(), String> {
    let session = step["view"].as_str().ok_or("the id of a session")?;
    let shows = step.get("shows").ok_or("what it shows is not stated")?;
    let copy = copies.entry(session.to_owned()).or_default();
    let followed = copy.follow(connection, session)?;
    let whole = get(connection, "view", &[json!(session)])?;
    let Some(view) = connection.view(session) else {
        return if shows.is_null() && !followed && whole.is_null() {
            Ok(())
        } else {
            Err("there is no such view".into())
        };
    };
    copy.same(&whole)?;
    let members = shows.as_object().ok_or("there is such a view")?;
    let mut found = whole;
    found["busy"] = view.is_busy().into();
    let changes = view.since(std::mem::replace(&mut copy.drawn, view.revision()));
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
        if entry.text() != text
            || entry.content_from(0).text() != if text.is_empty() { entry.output_text() } else { text.into() }
        {
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
