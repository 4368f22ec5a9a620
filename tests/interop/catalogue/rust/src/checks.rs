//! How the clients in Rust run steps, compare, and tell; also those on the official SDK, in `../../../rust`.

use std::fmt::Display;
use std::fs;

use serde_json::{json, Map, Value};

/// Why a step does not pass.
pub enum Trouble {
    /// Something is not as it has to be.
    Wrong(String),
    /// One side does not have what the step takes.
    NotOffered(String),
}

pub type Checked<T = ()> = Result<T, Trouble>;

impl From<serde_json::Error> for Trouble {
    fn from(error: serde_json::Error) -> Self {
        Trouble::Wrong(error.to_string())
    }
}

impl From<std::io::Error> for Trouble {
    fn from(error: std::io::Error) -> Self {
        Trouble::Wrong(error.to_string())
    }
}

/// The steps of a version, from the file, with the folder furnished that they are played in.
pub fn steps(file: &str, version: u16, work: &str) -> std::io::Result<Vec<Value>> {
    fs::create_dir_all(format!("{work}/listed"))?;
    fs::write(format!("{work}/notes.txt"), "one\ntwo\nthree\n")?;
    let catalogue: Value = serde_json::from_str(&fs::read_to_string(file)?)?;
    let all = list(&catalogue["steps"]).filter(|step| list(&step["versions"]).any(|one| *one == version));
    Ok(all.cloned().collect())
}

/// What a step has left on the disk.
pub fn check_written(step: &Value, work: &str) -> Checked {
    let mut files = step["written"].as_object().into_iter().flatten();
    files.try_for_each(|(name, text)| same(name, text, &json!(fs::read_to_string(format!("{work}/{name}"))?)))
}

/// How the steps have ended so far.
#[derive(Default)]
pub struct Tally {
    passed: u32,
    not_offered: u32,
    failed: u32,
}

impl Tally {
    /// Prints the line of a step.
    pub fn tell(&mut self, id: &str, ended: Checked) {
        let (count, word) = match ended {
            Ok(()) => (&mut self.passed, "passed".to_owned()),
            Err(Trouble::NotOffered(why)) => (&mut self.not_offered, format!("not-offered {why}")),
            Err(Trouble::Wrong(why)) => (&mut self.failed, format!("failed {why}")),
        };
        *count += 1;
        println!("STEP {id} {}", word.split_whitespace().collect::<Vec<_>>().join(" "));
    }

    /// Prints the sum.
    pub fn end(self) {
        let Tally { passed, not_offered, failed } = self;
        println!("RESULT passed={passed} not-offered={not_offered} failed={failed}");
    }
}

/// The items of a list; none of anything else.
pub fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// A text; an empty one of anything else.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Objects that are expected ask for their members; null stands for what is not there.
pub fn same(what: impl Display, expected: &Value, got: &Value) -> Checked {
    match (expected, got) {
        (Value::Object(expected), Value::Object(got)) => {
            let mut members = expected.iter();
            members.try_for_each(|(name, value)| {
                same(format!("{what}/{name}"), value, got.get(name).unwrap_or(&Value::Null))
            })
        }
        (Value::Array(expected), Value::Array(got)) if expected.len() == got.len() => {
            let mut pairs = expected.iter().zip(got).enumerate();
            pairs.try_for_each(|(index, (expected, got))| same(format!("{what}/{index}"), expected, got))
        }
        _ if expected == got => Ok(()),
        _ => Err(Trouble::Wrong(format!("{what}: expected {}, got {}", short(expected), short(got)))),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(200) {
        None => text,
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], text.len()),
    }
}

/// A value of the catalogue with its placeholders replaced.
pub fn fill(value: &Value, cwd: &str) -> Value {
    match value {
        Value::String(text) => text.replace("{cwd}", cwd).into(),
        Value::Array(all) => all.iter().map(|each| fill(each, cwd)).collect(),
        Value::Object(members) => match (members.get("repeat"), members.get("times")) {
            (Some(Value::String(text)), Some(times)) => {
                text.repeat(times.as_u64().and_then(|times| times.try_into().ok()).unwrap_or_default()).into()
            }
            _ => members.iter().map(|(name, each)| (name.clone(), fill(each, cwd))).collect::<Map<_, _>>().into(),
        },
        other => other.clone(),
    }
}

/// A tool call as the steps ask for it.
pub fn tool(call: &Value) -> Value {
    let content = |kind: &'static str| list(&call["content"]).filter(move |each| each["type"] == kind);
    json!({
        "title": call["title"],
        "kind": call["kind"],
        "status": call["status"],
        "text": content("content").filter_map(|each| each["content"]["text"].as_str()).collect::<String>(),
        "input": call["rawInput"],
        "output": call["rawOutput"],
        "locations": list(&call["locations"]).map(|each| &each["path"]).collect::<Vec<_>>(),
        "diffs": content("diff").map(diff).collect::<Vec<_>>(),
    })
}

/// Version 1 has both texts, version 2 a patch.
fn diff(change: &Value) -> Value {
    if let Some(new) = change["newText"].as_str() {
        let (old, new): (Vec<&str>, Vec<&str>) =
            (change["oldText"].as_str().unwrap_or_default().lines().collect(), new.lines().collect());
        let without =
            |all: &[&str], other: &[&str]| json!(all.iter().filter(|each| !other.contains(each)).collect::<Vec<_>>());
        return json!({"path": change["path"], "removed": without(&old, &new), "added": without(&new, &old)});
    }
    let patch = change["patch"]["text"].as_str().unwrap_or_default();
    let lines = || patch.lines().skip_while(|line| !line.starts_with("@@"));
    let changed = |sign| lines().filter_map(|line| line.strip_prefix(sign)).collect::<Vec<_>>();
    json!({"path": change["changes"][0]["path"], "removed": changed('-'), "added": changed('+')})
}
