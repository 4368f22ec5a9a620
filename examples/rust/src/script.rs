//! `tests/interop/script.json` as Rust types, with its rules for texts, placeholders, checksums and comparison.

use std::collections::BTreeMap;
use std::fs;

use serde::Deserialize;
use serde_json::{json, Value};

use crate::{fail, Failure, Result};

/// Members of an unequal value that a message shows.
const SHOWN: usize = 120;

/// The conversation.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Script {
    format: u32,
    /// Milliseconds after which the client gives up.
    pub deadline_ms: u64,
    /// Files that the client lays out in the work folder.
    pub files: BTreeMap<String, Text>,
    /// Files that must be there at the end, with their length and checksum.
    pub written: BTreeMap<String, Value>,
    /// Updates, and length and checksum of all chunks.
    pub totals: Value,
    /// Lines of each side.
    pub lines: Value,
    /// What happens, in order.
    pub steps: Vec<Step>,
}

/// A side of the conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The client.
    Client,
    /// The agent.
    Agent,
}

/// One step.
#[derive(Debug, Deserialize)]
pub struct Step {
    /// Who acts.
    pub by: Side,
    /// What it does.
    #[serde(flatten)]
    pub act: Act,
}

/// What is done in a step.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Act {
    /// A request.
    Call(Call),
    /// A notification.
    Notify {
        /// The method.
        notify: String,
        /// Its params.
        params: Value,
    },
    /// A run of message chunks.
    Chunks(Chunks),
    /// The answer to a request that was left open.
    Answer {
        /// Its name.
        answer: String,
    },
}

/// A request, what happens before its answer, and the answer.
#[derive(Debug, Deserialize)]
pub struct Call {
    /// The method.
    #[serde(rename = "request")]
    pub method: String,
    /// Its params.
    pub params: Value,
    /// Its result.
    pub result: Value,
    /// The name under which it stays open.
    pub open: Option<String>,
    /// Steps between the request and its answer.
    #[serde(default)]
    pub during: Vec<Step>,
}

/// A run of message chunks.
#[derive(Debug, Deserialize)]
pub struct Chunks {
    /// Their texts.
    pub chunks: Vec<Text>,
    count: u64,
    bytes: u64,
    fnv1a32: String,
}

impl Chunks {
    /// What counting them must give.
    pub fn expected(&self) -> Value {
        json!({"count": self.count, "bytes": self.bytes, "fnv1a32": self.fnv1a32})
    }
}

/// A text, or a rule that makes some.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Text {
    /// Itself.
    Plain(String),
    /// One text that repeats another.
    Repeated {
        /// The other.
        repeat: String,
        /// How often.
        times: usize,
    },
    /// One text for each number.
    Numbered {
        /// With `{i}` for the number.
        series: String,
        /// The first number.
        from: u64,
        /// The last number.
        to: u64,
    },
}

impl Text {
    /// The texts that it stands for.
    pub fn all(&self) -> Vec<String> {
        match self {
            Text::Plain(text) => vec![text.clone()],
            Text::Repeated { repeat, times } => vec![repeat.repeat(*times)],
            Text::Numbered { series, from, to } => {
                (*from..=*to).map(|number| series.replace("{i}", &number.to_string())).collect()
            }
        }
    }
}

impl Script {
    /// Reads the script.
    pub fn load(path: &str) -> Result<Self> {
        let text = fs::read_to_string(path).map_err(|error| Failure::from(error).at(path))?;
        let script: Script = serde_json::from_str(&text).map_err(|error| Failure::from(error).at(path))?;
        if script.format != 1 {
            fail!("{path}: /format: expected 1, got {}", script.format);
        }
        Ok(script)
    }

    /// The session of the conversation: the one that a result makes known.
    pub fn session(&self) -> Result<&Value> {
        let named = |step: &'_ Step| matches!(&step.act, Act::Call(call) if call.result.get("sessionId").is_some());
        match self.steps.iter().find(|step| named(step)).map(|step| &step.act) {
            Some(Act::Call(call)) => Ok(&call.result["sessionId"]),
            _ => fail!("/steps: expected one that makes a session"),
        }
    }
}

/// Values of placeholders.
#[derive(Debug, Default)]
pub struct Names(Vec<(&'static str, String)>);

impl Names {
    /// Gives a placeholder (braces included) a value.
    pub fn learn(&mut self, placeholder: &'static str, value: String) {
        self.0.push((placeholder, value));
    }

    /// Whether a placeholder has a value.
    pub fn knows(&self, placeholder: &str) -> bool {
        self.0.iter().any(|(known, _)| *known == placeholder)
    }

    /// A copy of a value with the placeholders in its strings replaced.
    pub fn fill(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => {
                let replaced = |text: String, (name, value): &(&str, String)| text.replace(name, value);
                Value::String(self.0.iter().fold(text.clone(), replaced))
            }
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            Value::Object(members) => members.iter().map(|(key, item)| (key.clone(), self.fill(item))).collect(),
            scalar => scalar.clone(),
        }
    }
}

/// Length and FNV-1a with 32 bits.
#[derive(Debug)]
pub struct Checksum {
    bytes: u64,
    hash: u32,
}

impl Default for Checksum {
    fn default() -> Self {
        Checksum { bytes: 0, hash: 0x811c_9dc5 }
    }
}

impl Checksum {
    /// Takes in more bytes.
    #[must_use]
    pub fn with(mut self, data: &[u8]) -> Self {
        self.add(data);
        self
    }

    /// Takes in more bytes.
    pub fn add(&mut self, data: &[u8]) {
        self.bytes += data.len() as u64;
        for &byte in data {
            self.hash = (self.hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }

    /// The bytes taken in.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The checksum as the script writes it.
    pub fn digits(&self) -> String {
        format!("{:08x}", self.hash)
    }
}

/// Compares as the script asks for: members that are not expected are let be, except in extension methods.
pub fn compare(method: &str, expected: &Value, came: &Value) -> Result<()> {
    let differs = if method.starts_with('_') { exactly(expected, came) } else { within(expected, came) };
    match differs {
        None => Ok(()),
        Some(difference) => Err(Failure(difference)),
    }
}

fn exactly(expected: &Value, came: &Value) -> Option<String> {
    (expected != came).then(|| unequal(expected, came))
}

fn within(expected: &Value, came: &Value) -> Option<String> {
    match (expected, came) {
        (Value::Object(members), Value::Object(others)) => members.iter().find_map(|(name, member)| {
            let other = others.get(name).unwrap_or(&Value::Null);
            Some(format!("/{name}{}", within(member, other)?))
        }),
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            let mut pairs = items.iter().zip(others).enumerate();
            pairs.find_map(|(index, (item, other))| Some(format!("/{index}{}", within(item, other)?)))
        }
        (Value::Object(members), Value::Null) if members.is_empty() => None,
        _ => exactly(expected, came),
    }
}

fn unequal(expected: &Value, came: &Value) -> String {
    format!(": expected {}, got {}", brief(expected), brief(came))
}

fn brief(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comparison_asks_for_what_is_expected() {
        let same = [
            (json!({"a": 1}), json!({"a": 1, "b": 2})),
            (json!({"a": null, "b": {}}), json!({})),
            (json!({"a": [{}, null]}), json!({"a": [{"x": 1}, null]})),
        ];
        for (expected, came) in same {
            compare("m", &expected, &came).unwrap();
            assert!(compare("_m", &expected, &came).is_err(), "{expected}");
        }
        let different = [
            (json!({"a": {"b": [1, 2]}}), json!({"a": {"b": [1, 3]}}), "/a/b/1: expected 2, got 3"),
            (json!([1]), json!([1, 2]), ": expected [1], got [1,2]"),
            (
                json!(9_007_199_254_740_993_i64),
                json!(9_007_199_254_740_992_i64),
                ": expected 9007199254740993, got 9007199254740992",
            ),
        ];
        for (expected, came, message) in different {
            assert_eq!(compare("m", &expected, &came).unwrap_err().0, message);
        }
    }

    #[test]
    fn checksums_are_fnv_1a() {
        assert_eq!(Checksum::default().digits(), "811c9dc5");
        assert_eq!(Checksum::default().with(b"a").digits(), "e40c292c");
        assert_eq!(Checksum::default().with(b"foobar").digits(), "bf9cf968");
    }
}
