//! Falsifies what came, one member at a time: a scenario that does not notice does not look at what it expects.

use std::collections::HashSet;

use serde_json::{json, Value};

use crate::exact;
use crate::expected::PAYLOADS;
use crate::replay::{Seen, Split};
use crate::scenario::Scenario;

/// A longer text is falsified in its first members only.
const MOST: usize = 400;

/// What was falsified, and what nobody noticed.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    seen: HashSet<String>,
    pub(crate) falsified: usize,
    pub(crate) unnoticed: Vec<String>,
}

impl Tally {
    /// How many different events and misuses there were.
    pub(crate) fn events(&self) -> usize {
        self.seen.len()
    }

    pub(crate) fn replay(&mut self, scenario: &Scenario) {
        let outcome = scenario.judged(Split::Whole, &mut |seen| {
            // What an include brings is the same in all scenarios.
            if self.seen.insert(format!("{}{}", seen.expected, seen.actual)) {
                self.falsify(scenario, seen);
            }
            seen.difference().map_or(Ok(()), Err)
        });
        // What fails as it is, the other test shows.
        drop(outcome);
    }

    fn falsify(&mut self, scenario: &Scenario, seen: &Seen<'_>) {
        for actual in falsified(seen.actual) {
            self.falsified += 1;
            if (Seen { actual: &actual, ..*seen }).difference().is_none() {
                let place = format!("{}: {}: step {}", scenario.file, scenario.name, seen.step + 1);
                self.unnoticed.push(format!("{place}: {actual} for {}", seen.expected));
            }
        }
    }
}

/// The event or misuse with one thing changed, in each way there is.
pub(crate) fn falsified(actual: &Value) -> Vec<Value> {
    let mut out = Vec::new();
    // Sentences may be others, but there must be one.
    let prose =
        |name: &str| name == "message" && !matches!(actual["event"].as_str(), Some("response" | "late_response"));
    for (name, value) in actual.as_object().expect("members") {
        let payload = name.strip_suffix("_text").is_some_and(|name| PAYLOADS.contains(&name));
        let others = match value.as_str() {
            Some(text) if payload => texts(text).into_iter().take(MOST).map(Value::from).chain([Value::Null]).collect(),
            Some(_) if prose(name) => vec![json!(""), json!(1), Value::Null],
            _ => values(value),
        };
        for other in others {
            let mut changed = actual.clone();
            changed[name] = other;
            out.push(changed);
        }
    }
    let mut more = actual.clone();
    more["extra"] = json!(true);
    out.push(more);
    out
}

/// Other values in the place of one.
fn values(value: &Value) -> Vec<Value> {
    match value {
        Value::String(text) if text.is_empty() => vec![json!("x"), Value::Null],
        Value::String(text) => vec![json!(format!("{text}x")), json!(text[..0]), Value::Null],
        Value::Number(number) => {
            let number = number.as_i64().expect("a code or a number of a frame");
            vec![json!(number + 1), json!(-1 - number), json!(number.to_string()), Value::Null]
        }
        Value::Array(items) => {
            let more = items.iter().cloned().chain([json!("x")]).collect();
            let less = items.iter().skip(1).cloned().collect();
            if items.is_empty() {
                vec![more, Value::Null]
            } else {
                vec![more, less]
            }
        }
        _ => vec![json!("x"), json!(0), json!({})],
    }
}

/// JSON text with one thing changed, at any depth.
fn texts(text: &str) -> Vec<String> {
    let quote = |name: &str| Value::from(name).to_string();
    if let Some(members) = exact::members(text) {
        let write = |members: &[(String, &str)]| {
            let all: Vec<String> = members.iter().map(|(name, value)| format!("{}:{value}", quote(name))).collect();
            format!("{{{}}}", all.join(","))
        };
        let mut out = vec![write(&[members.clone(), vec![("extra".to_owned(), "1")]].concat())];
        for (at, (name, value)) in members.iter().enumerate() {
            let with = |name: &str, value: &str| {
                let before = &members[..at];
                write(&[before, &[(name.to_owned(), value)][..], &members[at + 1..]].concat())
            };
            out.push(write(&[&members[..at], &members[at + 1..]].concat()));
            out.push(with(&format!("{name}x"), value));
            out.extend(texts(value).iter().map(|other| with(name, other)));
            // The same name twice.
            out.push(write(&[members.clone(), vec![(name.clone(), *value)]].concat()));
        }
        return out;
    }
    if let Some(items) = exact::items(text) {
        let write = |items: &[&str]| format!("[{}]", items.join(","));
        let mut out = vec![write(&[items.clone(), vec!["1"]].concat())];
        for (at, item) in items.iter().enumerate() {
            out.push(write(&[&items[..at], &items[at + 1..]].concat()));
            let with = |other: &String| write(&[&items[..at], &[other.as_str()], &items[at + 1..]].concat());
            out.extend(texts(item).iter().map(with));
        }
        return out;
    }
    match exact::string(text) {
        Some(string) => vec![quote(&format!("{string}x")), "null".to_owned()],
        None if text == "true" => vec!["false".to_owned(), "1".to_owned()],
        None if text == "false" => vec!["true".to_owned(), "0".to_owned()],
        None if text == "null" => vec!["0".to_owned(), "{}".to_owned()],
        None => vec![format!("{text}1"), format!("\"{text}\"")],
    }
}

#[test]
fn texts_change_at_every_depth() {
    let changed = texts(r#"{"a":[1,{"b":"c"}],"d":null}"#);
    for text in [
        r#"{"a":[1,{"b":"c"}],"d":null,"extra":1}"#,
        r#"{"a":[1,{"b":"cx"}],"d":null}"#,
        r#"{"a":[1,{}],"d":null}"#,
        r#"{"a":[11,{"b":"c"}],"d":null}"#,
        r#"{"a":[{"b":"c"}],"d":null}"#,
        r#"{"a":[1,{"b":"c"}]}"#,
        r#"{"a":[1,{"b":"c"}],"d":0}"#,
        r#"{"a":[1,{"b":"c"}],"d":null,"d":null}"#,
    ] {
        assert!(changed.iter().any(|other| other == text), "{text} is not in {changed:?}");
    }
}
