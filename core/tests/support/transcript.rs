//! A view as text, in the format of the transcripts: `tests/recordings/README.md` describes it.

use std::collections::{BTreeMap, BTreeSet};

use libacp::view::{Block, Entry, EntryKind, View};
use serde_json::Value;

/// A text of more bytes is told by its length and its hash.
const LONG: usize = 2048;

fn parsed(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|error| panic!("{error}: {json}"))
}

/// JSON without blanks, the members of objects by their names.
fn tidy(json: &str) -> String {
    sorted(parsed(json)).to_string()
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => items.into_iter().map(sorted).collect(),
        Value::Object(members) => {
            let members: BTreeMap<String, Value> = members.into_iter().collect();
            members.into_iter().map(|(name, value)| (name, sorted(value))).collect()
        }
        plain => plain,
    }
}

pub(crate) fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// FNV-1a of 64 bits.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3))
}

fn words(text: &str) -> String {
    match text.len() {
        0..=LONG => quoted(text),
        long => format!("{long} bytes of text, {:016x}", hash(text.as_bytes())),
    }
}

/// The first line of an entry.
fn heading(entry: &Entry) -> String {
    let string = |name| entry.string(name).unwrap_or_default();
    let what = match entry.kind() {
        EntryKind::Message(speaker) => speaker.name().to_owned(),
        EntryKind::ToolCall => "tool".into(),
        EntryKind::Update => format!("update {}", quoted(&string("sessionUpdate"))),
        kind => kind.name().to_owned(),
    };
    let id = entry.id().map(|id| format!(" {}", quoted(id))).unwrap_or_default();
    let state = match entry.kind() {
        EntryKind::ToolCall => format!(": {}, {}", string("kind"), string("status")),
        EntryKind::Notice => format!(": {}", string("severity")),
        _ => String::new(),
    };
    let flags = [
        (entry.is_pending(), ", pending"),
        (entry.is_discarded(), ", discarded"),
        (entry.is_truncated() || entry.is_trimmed(), ", cut"),
        (entry.permission().is_some(), ", asks"),
    ];
    let flags: String = flags.into_iter().filter(|(is_so, _)| *is_so).map(|(_, flag)| flag).collect();
    what + &id + &state + &flags
}

/// What stands below it.
fn details(entry: &Entry) -> Vec<String> {
    let named = |(label, name): (&str, &str)| Some(format!("{label} {}", tidy(entry.get(name)?)));
    let mut lines: Vec<String> = match entry.kind() {
        EntryKind::Message(_) => entry
            .blocks()
            .map(|block| match block {
                Block::Text(text) => words(text),
                Block::Json(json) => tidy(json),
            })
            .collect(),
        EntryKind::ToolCall => {
            let mut lines: Vec<String> = [("title", "title"), ("name", "name")].into_iter().filter_map(named).collect();
            let locations = sorted(parsed(entry.get("locations").unwrap_or("[]")));
            lines.extend(locations.as_array().unwrap().iter().map(|location| format!("location {location}")));
            lines.extend([("input", "rawInput"), ("output", "rawOutput")].into_iter().filter_map(named));
            lines.extend(entry.items().map(|item| format!("shows {}", tidy(item))));
            lines
        }
        EntryKind::Terminal => {
            let output = Some(entry.output_text()).filter(|output| !output.is_empty());
            let members = [("command", "command"), ("cwd", "cwd"), ("exit", "exitStatus")];
            members.into_iter().filter_map(named).chain(output.map(|text| format!("output {}", words(&text)))).collect()
        }
        EntryKind::Plan => {
            let plan = sorted(parsed(entry.get("plan").unwrap()));
            match plan["entries"].as_array() {
                Some(entries) => entries.iter().map(plan_entry).collect(),
                None => vec![plan.to_string()],
            }
        }
        EntryKind::Notice => {
            [("title", "title"), ("description", "description")].into_iter().filter_map(named).collect()
        }
        EntryKind::Update => vec![tidy(entry.get("update").unwrap())],
        kind => panic!("the format says nothing of {}", kind.name()),
    };
    // Nothing lists the names of what is in `_meta`.
    let all = parsed(&entry.to_json());
    let meta: BTreeSet<&String> = all["meta"].as_object().unwrap().keys().collect();
    lines.extend(meta.into_iter().map(|name| format!("meta {} {}", quoted(name), tidy(entry.meta(name).unwrap()))));
    lines
}

fn plan_entry(entry: &Value) -> String {
    let string = |name: &str| entry[name].as_str().unwrap();
    format!("{}, {}: {}", string("status"), string("priority"), entry["content"])
}

fn list(values: &Value, name: &str) -> String {
    let names = values.as_array().into_iter().flatten().map(|value| value[name].as_str().unwrap());
    names.collect::<Vec<&str>>().join(", ")
}

/// A config option: its id, its value, and the values that it may have, in groups or not.
fn option_line(option: &Value) -> String {
    let values = option["options"].as_array().into_iter().flatten();
    let flat: Vec<Value> = values
        .flat_map(|value| match value["options"].as_array() {
            Some(group) => group.clone(),
            None => vec![value.clone()],
        })
        .collect();
    let (id, value) = (option["configId"].as_str().unwrap(), &option["currentValue"]);
    match list(&flat.into(), "value") {
        values if values.is_empty() => format!("option {id} is {value}"),
        values => format!("option {id} is {value}, of {values}"),
    }
}

/// What a session has one of.
fn facts(view: &View) -> Vec<String> {
    let mode = view.modes().map(|modes| {
        let json = parsed(modes.to_json());
        assert_eq!(json["currentModeId"], *modes.current());
        format!("mode {}, of {}", modes.current(), list(&json["availableModes"], "id"))
    });
    let options = view.config_options().map_or(Value::Null, |options| parsed(&options));
    let one = [
        Some(format!("state {}", view.state())),
        view.stop_reason().map(|reason| format!("stop reason {reason}")),
        view.error().map(|error| format!("error {}", tidy(error))),
        view.usage().map(|usage| format!("usage {}", tidy(usage))),
        view.turn_usage().map(|usage| format!("usage of the turn {}", tidy(usage))),
        view.title().map(|title| format!("title {}", quoted(&title))),
        mode,
    ];
    let rest = [
        view.commands().map(|commands| format!("commands {}", list(&parsed(commands), "name"))),
        view.background().map(|background| format!("background {}", tidy(background))),
        (view.epoch() > 0).then(|| format!("replayed {}", view.epoch())),
        (!view.prompts().is_empty()).then(|| format!("open prompts {}", view.prompts().len())),
        (!view.questions().is_empty()).then(|| format!("open questions {}", view.questions().len())),
        view.is_replaying().then(|| "replaying".into()),
        view.is_frozen().then(|| "over".into()),
    ];
    let options = options.as_array().into_iter().flatten().map(option_line).map(Some);
    one.into_iter().chain(options).chain(rest).flatten().collect()
}

/// The conversation, with what stands beside it.
pub(crate) fn story(view: &View) -> Vec<String> {
    let (mut lines, mut turn) = (Vec::new(), 0);
    for entry in view.entries() {
        if entry.turn() != turn {
            turn = entry.turn();
            lines.push(format!("  turn {turn}"));
        }
        lines.push(format!("    {}", heading(entry)));
        lines.extend(details(entry).into_iter().map(|line| format!("      {line}")));
    }
    for terminal in view.terminals() {
        lines.push(format!("  {}", heading(terminal)));
        lines.extend(details(terminal).into_iter().map(|line| format!("    {line}")));
    }
    lines
}

pub(crate) fn session(id: &str, view: &View, asked: &[String]) -> String {
    let mut lines = vec![format!("session {}", quoted(id)), String::new()];
    lines.extend(story(view));
    if !asked.is_empty() {
        lines.push("  asked".into());
        lines.extend(asked.iter().map(|question| format!("    {question}")));
    }
    lines.push("  at the end".into());
    lines.extend(facts(view).into_iter().map(|line| format!("    {line}")));
    lines.join("\n")
}
