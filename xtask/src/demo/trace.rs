//! The client's record of what passed, and how it looks to a person.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

/// Characters of a message that are shown.
const SHOWN: usize = 240;

/// One line that passed.
pub(super) struct Record {
    pub(super) to_agent: bool,
    pub(super) ms: f64,
    pub(super) line: String,
}

/// Reads a record file.
pub(super) fn read(path: &Path) -> Result<Vec<Record>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    text.lines()
        .enumerate()
        .map(|(index, line)| record(line).with_context(|| format!("trace, line {}", index + 1)))
        .collect()
}

fn record(line: &str) -> Result<Record> {
    let record: Value = serde_json::from_str(line)?;
    let to_agent = match record["d"].as_str() {
        Some(">") => true,
        Some("<") => false,
        _ => anyhow::bail!("/d: expected > or <"),
    };
    let ms = record["ms"].as_f64().context("/ms: expected a number")?;
    Ok(Record { to_agent, ms, line: record["s"].as_str().context("/s: expected a string")?.to_owned() })
}

impl Record {
    /// One line for a person.
    pub(super) fn shown(&self, coloured: bool) -> String {
        let (arrow, colour) = if self.to_agent { ("client → agent", "36") } else { ("client ← agent", "33") };
        let text: String = self.line.chars().take(SHOWN).flat_map(visible).collect();
        let cut = self.line.chars().nth(SHOWN).map(|_| format!(" ... ({} bytes)", self.line.len())).unwrap_or_default();
        let (on, off) = if coloured { (format!("\x1b[{colour}m"), "\x1b[0m") } else { (String::new(), "") };
        format!("{:>9.1} ms  {on}{arrow}  {:<32}{off}  {text}{cut}", self.ms, self.kind())
    }

    /// What kind of message it is.
    fn kind(&self) -> String {
        let message: Value = serde_json::from_str(&self.line).unwrap_or_default();
        let method = message["method"].as_str();
        match (method, message.get("id")) {
            (Some(method), Some(_)) => format!("request {method}"),
            (Some(method), None) => format!("notification {method}"),
            (None, Some(id)) if message.get("error").is_some() => format!("error for {id}"),
            (None, Some(id)) => format!("result for {id}"),
            (None, None) => "no message".to_owned(),
        }
    }
}

/// A terminal must not take anything in a message for an order.
fn visible(character: char) -> Vec<char> {
    if character.is_control() || matches!(character, '\u{2028}' | '\u{2029}') {
        character.escape_unicode().collect()
    } else {
        vec![character]
    }
}
