//! The client's record of what passed, and how it looks to a person.

use std::collections::HashMap;
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

/// One line for a person for each.
pub(super) fn shown(records: &[Record], coloured: bool) -> Vec<String> {
    // A result is told by the method that it belongs to, which only its request names.
    let mut open = HashMap::new();
    records.iter().map(|record| record.shown(&mut open, coloured)).collect()
}

/// Requests without an answer: who sent them, their id, their method.
type Open = HashMap<(bool, String), String>;

impl Record {
    fn shown(&self, open: &mut Open, coloured: bool) -> String {
        let (arrow, colour) = if self.to_agent { ("client → agent", "36") } else { ("client ← agent", "33") };
        let text: String = self.line.chars().take(SHOWN).flat_map(visible).collect();
        let cut = self.line.chars().nth(SHOWN).map(|_| format!(" ... ({} bytes)", self.line.len())).unwrap_or_default();
        let (on, off) = if coloured { (format!("\x1b[{colour}m"), "\x1b[0m") } else { (String::new(), "") };
        format!("{:>9.1} ms  {on}{arrow}  {:<36}{off}  {text}{cut}", self.ms, self.kind(open))
    }

    /// What kind of message it is.
    fn kind(&self, open: &mut Open) -> String {
        let message: Value = serde_json::from_str(&self.line).unwrap_or_default();
        let id = message.get("id").map(Value::to_string);
        match (message["method"].as_str(), id) {
            (Some(method), Some(id)) => {
                open.insert((self.to_agent, id), method.to_owned());
                format!("request {method}")
            }
            (Some(method), None) => format!("notification {method}"),
            (None, Some(id)) => {
                let kind = if message.get("error").is_some() { "error" } else { "result" };
                let method = open.remove(&(!self.to_agent, id));
                format!("{kind} of {}", method.as_deref().unwrap_or("no request"))
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_by_their_methods() {
        let lines = [
            (true, r#"{"id":1,"method":"a"}"#),
            (false, r#"{"id":1,"method":"b"}"#),
            (true, r#"{"id":1,"result":{}}"#),
            (false, r#"{"id":1,"error":{}}"#),
            (false, r#"{"id":1,"result":{}}"#),
            (true, "{\"method\":\"c\",\u{1b}\u{2028}"),
            (true, r#"{"method":"c"}"#),
        ];
        let records = lines.map(|(to_agent, line)| Record { to_agent, ms: 0.0, line: line.to_owned() });
        let mut open = Open::new();
        let kinds: Vec<String> = records.iter().map(|record| record.kind(&mut open)).collect();
        let expected = [
            "request a",
            "request b",
            "result of b",
            "error of a",
            "result of no request",
            "no message",
            "notification c",
        ];
        assert_eq!(kinds, expected);
        assert!(shown(&records, false)[5].ends_with(r"\u{1b}\u{2028}"));
    }

    #[test]
    fn records_are_read_or_refused() {
        let read = record(r#"{"d":"<","ms":1.5,"s":"{}"}"#).unwrap();
        assert_eq!((read.to_agent, read.ms.to_string(), read.line), (false, "1.5".to_owned(), "{}".to_owned()));
        for (line, message) in
            [("{", "EOF"), (r#"{"d":"x"}"#, "/d: "), (r#"{"d":">"}"#, "/ms: "), (r#"{"d":">","ms":1}"#, "/s: ")]
        {
            let error = record(line).err().unwrap();
            assert!(error.to_string().starts_with(message), "{line}: {error}");
        }
    }
}
