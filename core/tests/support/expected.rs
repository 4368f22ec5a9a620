//! What an event must be: each of its members is stated, has one default, or follows from the frame that it came from.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::OnceLock;

use serde_json::{Map, Value};

use crate::exact;
use crate::frames::Frames;
use crate::scenario;

/// Members that are JSON of the peer's; they are compared as text.
pub(crate) const PAYLOADS: [&str; 3] = ["params", "result", "data"];

/// `tests/vectors/format.json`.
pub(crate) fn format() -> &'static Value {
    static FORMAT: OnceLock<Value> = OnceLock::new();
    FORMAT.get_or_init(|| {
        let path: &Path = &scenario::vectors().join("format.json");
        serde_json::from_str(&std::fs::read_to_string(path).expect("the format")).expect("the format is JSON")
    })
}

/// Fails for a member that the format does not have.
pub(crate) fn only(what: &str, value: &Value, known: &Value) -> Result<(), String> {
    let known = known.as_array().ok_or_else(|| format!("{what} is not in the format"))?;
    match value.as_object().and_then(|members| members.keys().find(|name| !known.iter().any(|one| one == *name))) {
        Some(name) => Err(format!("{what} has no member {name}")),
        None => Ok(()),
    }
}

/// The members of an event of this kind, and where what is expected of each comes from.
pub(crate) fn table(event: &Value) -> Option<&'static Map<String, Value>> {
    let mut kind = event["event"].as_str()?.to_owned();
    for member in ["outcome", "consequence"] {
        if let Some(word) = event[member].as_str() {
            write!(kind, "/{word}").expect("a string");
        }
    }
    format()["events"].get(&kind)?.as_object()
}

/// The frame that an expected event came from: the last one, unless it says another.
pub(crate) fn source(expected: &Value, frames: &Frames) -> u64 {
    expected["frame"].as_u64().unwrap_or_else(|| frames.last())
}

/// What is expected of a member that is not stated; `None` where it must be.
pub(crate) fn otherwise(member: &str, rule: &Value, source: u64, frames: &Frames) -> Option<Value> {
    match (rule.as_str(), member) {
        (None, _) => Some(rule.clone()),
        (Some("frame"), "frame") => Some(Value::from(frames.last())),
        (Some("frame"), "excerpt") => frames.excerpt(source).map(Value::from),
        (Some("frame"), "code" | "message") => serde_json::from_str(frames.payload(source, member)?).ok(),
        (Some("frame"), "data") => Some(frames.payload(source, member).map_or(Value::Null, Value::from)),
        (Some("frame"), _) => frames.payload(source, member).map(Value::from),
        _ => None,
    }
}

/// The name that an event has a member's value by: payloads stand there as text.
pub(crate) fn actual_name(member: &str) -> String {
    if PAYLOADS.contains(&member) {
        format!("{member}_text")
    } else {
        member.to_owned()
    }
}

/// The first member of `expected` that the event does not have as it should.
pub(crate) fn difference(expected: &Value, actual: &Value, frames: &Frames) -> Option<String> {
    let Some(table) = table(expected) else {
        return Some("the format knows no such event, or the outcome or the consequence is not stated".to_owned());
    };
    if let Some(why) = strangers(expected, actual, table) {
        return Some(why);
    }
    let source = source(expected, frames);
    std::iter::once(("event", &Value::from("stated")))
        .chain(table.iter().map(|(member, rule)| (member.as_str(), rule)))
        .find_map(|(member, rule)| {
            let found = actual.get(actual_name(member)).unwrap_or(&Value::Null);
            member_difference(member, rule, expected, found, |rule| otherwise(member, rule, source, frames))
        })
}

/// A member of either side that the format does not have.
fn strangers(expected: &Value, actual: &Value, table: &Map<String, Value>) -> Option<String> {
    let payload = |name: &str| PAYLOADS.contains(&name) && table.get(name).is_some_and(Value::is_string);
    let known = |name: &str| table.contains_key(name) || name.strip_suffix("_text").is_some_and(payload);
    let from_frame = table.values().any(|rule| rule == "frame");
    let stated =
        expected.as_object()?.keys().find(|name| *name != "event" && !known(name) && !(*name == "frame" && from_frame));
    let found = actual.as_object()?.iter().find(|(name, value)| {
        *name != "event" && !value.is_null() && (PAYLOADS.contains(&name.as_str()) || !known(name))
    });
    stated
        .map(|name| format!("an event of this kind has no member {name}"))
        .or_else(|| found.map(|(name, value)| format!("{name}: expected nothing, found {value}")))
}

fn member_difference(
    member: &str,
    rule: &Value,
    expected: &Value,
    found: &Value,
    otherwise: impl FnOnce(&Value) -> Option<Value>,
) -> Option<String> {
    let differs = |wanted: &Value| Some(format!("{member}: expected {wanted}, found {found}"));
    let text = expected.get(format!("{member}_text"));
    let stated = expected.get(member);
    if let (Some(_), Some(_)) = (text, stated) {
        return Some(format!("{member} is stated twice"));
    }
    if rule == "prose" && found.as_str().is_none_or(str::is_empty) {
        return Some(format!("{member}: expected a sentence, found {found}"));
    }
    if let (Some(wanted), true) = (stated, PAYLOADS.contains(&member)) {
        if !plain(wanted) {
            return Some(format!("{member} has a number that not every language reads exactly: state {member}_text"));
        }
        let same = found.as_str().map_or(wanted == found, |found| exact::same(&wanted.to_string(), found));
        return if same { None } else { differs(wanted) };
    }
    let Some(wanted) = text.or(stated).cloned().or_else(|| otherwise(rule)) else {
        let prose = rule == "prose";
        return if prose { None } else { Some(format!("{member} is not stated; it is {found}")) };
    };
    if wanted == *found {
        None
    } else {
        differs(&wanted)
    }
}

/// The first member of a misuse that is not stated or different.
pub(crate) fn misuse_difference(expected: &Value, actual: &Value) -> Option<String> {
    only("a misuse", expected, &format()["misuse"]).err().or_else(|| {
        let differs = |(name, found): (&String, &Value)| match expected.get(name) {
            None => Some(format!("{name} is not stated; it is {found}")),
            Some(wanted) if wanted != found => Some(format!("{name}: expected {wanted}, found {found}")),
            Some(_) => None,
        };
        actual.as_object()?.iter().find_map(differs)
    })
}

/// Fails for a step, or a member of one, that the format does not have.
pub(crate) fn known_step(step: &Value) -> Result<(), String> {
    let format = format();
    let members = step.as_object().ok_or("a step that is no object")?;
    let mut kinds = members.keys().filter(|name| format["steps"].get(name.as_str()).is_some());
    let (Some(kind), None) = (kinds.next(), kinds.next()) else {
        return Err(format!("a step of no known kind, or of two: {step}"));
    };
    let beside =
        |name: &String| format["beside"][kind].as_array().is_some_and(|known| known.iter().any(|one| one == name));
    if let Some(name) = members.keys().find(|name| *name != kind && !beside(name)) {
        return Err(format!("the step {kind} has no member {name}"));
    }
    // The members of `can` are methods.
    if kind == "can" {
        Ok(())
    } else {
        only(kind, &step[kind], &format["steps"][kind])
    }
}

/// Whether every number in a value is written the same way in every language: whole ones below 2^53, and short decimals.
pub(crate) fn plain(value: &Value) -> bool {
    match value {
        Value::Number(number) => {
            let text = number.to_string();
            let short = text.len() <= 12 && text.contains('.') && !text.ends_with(".0") && !text.contains('e');
            number.as_i64().map_or(short, |whole| whole.unsigned_abs() < 1 << 53)
        }
        Value::Array(items) => items.iter().all(plain),
        Value::Object(members) => members.values().all(plain),
        _ => true,
    }
}
