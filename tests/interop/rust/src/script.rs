//! The script of `../script.json`: loading, placeholders, generated texts and the comparison.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde_json::Value;

/// The whole script.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Script {
    pub format: u32,
    pub deadline_ms: u64,
    pub files: BTreeMap<String, Text>,
    pub written: BTreeMap<String, Value>,
    pub totals: Value,
    pub lines: Value,
    pub steps: Vec<Step>,
}

/// Who does a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    Client,
    Agent,
}

/// One step: who does it, and what.
#[derive(Clone, Deserialize)]
pub struct Step {
    pub by: Role,
    #[serde(flatten)]
    pub act: Act,
}

/// What is done in a step.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum Act {
    Request(Request),
    Notify { notify: String, params: Value },
    Chunks(Chunks),
    Answer { answer: String },
}

/// A request, its result, and what happens between the two.
#[derive(Clone, Deserialize)]
pub struct Request {
    pub request: String,
    pub params: Value,
    pub result: Value,
    pub open: Option<String>,
    #[serde(default)]
    pub during: Vec<Step>,
}

/// A run of message chunks.
#[derive(Clone, Deserialize)]
pub struct Chunks {
    pub chunks: Vec<Text>,
    pub count: u64,
    pub bytes: u64,
    pub fnv1a32: String,
}

/// A text, or the rule that makes one or several.
#[derive(Clone, Deserialize)]
#[serde(untagged)]
pub enum Text {
    Plain(String),
    Repeat { repeat: String, times: usize },
    Series { series: String, from: u64, to: u64 },
}

impl Text {
    /// The texts that the rule stands for.
    pub fn expand(&self) -> Vec<String> {
        match self {
            Text::Plain(text) => vec![text.clone()],
            Text::Repeat { repeat, times } => vec![repeat.repeat(*times)],
            Text::Series { series, from, to } => (*from..=*to).map(|i| series.replace("{i}", &i.to_string())).collect(),
        }
    }
}

/// What went wrong, and at which step.
#[derive(Clone, Debug)]
pub struct Failure(pub String);

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: std::error::Error> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure(error.to_string())
    }
}

/// Reads the script.
pub fn load(path: &str) -> Result<Script, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure(format!("{path}: {error}")))?;
    let script: Script = serde_json::from_str(&text).map_err(|error| Failure(format!("{path}: {error}")))?;
    if script.format != 1 {
        return Err(Failure(format!("script format {}, expected 1", script.format)));
    }
    Ok(script)
}

/// Puts the values of the placeholders into every string of `value`.
pub fn fill(value: &Value, names: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => {
            let put = |text: String, (name, value): (&String, &String)| text.replace(&format!("{{{name}}}"), value);
            Value::String(names.iter().fold(text.clone(), put))
        }
        Value::Array(items) => items.iter().map(|item| fill(item, names)).collect(),
        Value::Object(members) => members.iter().map(|(key, item)| (key.clone(), fill(item, names))).collect(),
        other => other.clone(),
    }
}

/// Running length and FNV-1a (32 bits) over UTF-8.
pub struct Checksum {
    pub bytes: u64,
    hash: u32,
}

impl Default for Checksum {
    fn default() -> Self {
        Checksum { bytes: 0, hash: 0x811c_9dc5 }
    }
}

impl Checksum {
    pub fn add(&mut self, data: &[u8]) {
        self.bytes += data.len() as u64;
        self.hash = data.iter().fold(self.hash, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193));
    }

    pub fn fnv1a32(&self) -> String {
        format!("{:08x}", self.hash)
    }
}

/// The first difference between what the script expects and what came. An extension's payload (`exact`) has no
/// schema that could add or drop a member: it must be equal.
pub fn difference(expected: &Value, actual: &Value, exact: bool) -> Option<String> {
    if exact {
        return (expected != actual).then(|| unequal("", expected, actual));
    }
    find(expected, actual, "")
}

fn find(expected: &Value, actual: &Value, at: &str) -> Option<String> {
    match (expected, actual) {
        (Value::Null, Value::Null) => None,
        (Value::Object(members), Value::Null) if members.is_empty() => None,
        (Value::Object(members), Value::Object(came)) => members
            .iter()
            .find_map(|(key, item)| find(item, came.get(key).unwrap_or(&Value::Null), &format!("{at}/{key}"))),
        (Value::Array(items), Value::Array(came)) if items.len() == came.len() => {
            let pairs = items.iter().zip(came).enumerate();
            pairs.into_iter().find_map(|(i, (item, other))| find(item, other, &format!("{at}/{i}")))
        }
        _ => (expected != actual).then(|| unequal(at, expected, actual)),
    }
}

fn unequal(at: &str, expected: &Value, actual: &Value) -> String {
    format!("{at}: expected {}, got {}", brief(expected), brief(actual))
}

fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(160) {
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}
