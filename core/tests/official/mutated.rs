//! The same comparison with messages that nobody has thought of: instances of all types, put together anew and made
//! worse.
//!
//! `LIBACP_MESSAGES` takes the place of the number of messages, `LIBACP_SEED` of the fixed seed:
//!
//! ```text
//! LIBACP_MESSAGES=1000000 cargo test -p libacp --test official -- --nocapture mutated
//! ```
//!
//! A million takes less than a minute of one processor. A difference is known by its kind, in which nothing of the
//! message stands; `differences.txt` has the reason of each.

use std::collections::BTreeMap;

use serde_json::Value;

use super::instances::Model;
use super::rng::Rng;
use super::{covers, differences, entries, mutate, part_of, Entry, Outcome};

const SEED: u64 = 0x00ac_2026_1122;
const MESSAGES: usize = 60_000;

/// A type with both sides' readers, and its instances.
struct Subject {
    version: &'static str,
    entry: Entry,
    instances: Vec<Value>,
}

fn subjects() -> Vec<Subject> {
    let of = |version: &'static str| {
        let model = Model::load(version);
        let both = entries(version).into_iter().filter(|entry| entry.theirs.is_some());
        both.map(|entry| {
            let instances = model.instances(entry.name).into_iter().map(|(_, value)| value).collect();
            Subject { version, entry, instances }
        })
        .collect::<Vec<_>>()
    };
    [of("v1"), of("v2")].into_iter().flatten().collect()
}

/// All places in a value.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    out.push(at.to_owned());
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                places(value, &format!("{at}/{}", name.replace('~', "~0").replace('/', "~1")), out);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                places(value, &format!("{at}/{index}"), out);
            }
        }
        _ => {}
    }
}

/// Puts a piece of another message into one.
fn graft(rng: &mut Rng, value: &mut Value, from: &Value) {
    let (mut there, mut here) = (Vec::new(), Vec::new());
    places(from, "", &mut there);
    places(value, "", &mut here);
    let chosen = rng.pick(&there);
    let piece = from.pointer(chosen).cloned().unwrap_or_default();
    let at = rng.pick(&here);
    if let (true, Some(Value::Object(members))) = (rng.one_in(4), value.pointer_mut(at)) {
        // As one more member, whose name stands at another place.
        let name = rng.pick(&there).rsplit('/').next().unwrap_or_default().to_owned();
        members.insert(name, piece);
    } else if let Some(place) = value.pointer_mut(at) {
        *place = piece;
    }
}

fn message(rng: &mut Rng, subjects: &[Subject], subject: &Subject) -> String {
    let mut value = rng.pick(&subject.instances).clone();
    while rng.one_in(2) {
        let donor = rng.pick(subjects);
        let other = rng.pick(&donor.instances);
        graft(rng, &mut value, other);
    }
    let mut text = value.to_string().into_bytes();
    if !rng.one_in(4) {
        mutate::mutate(rng, &mut text);
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// What an error says, without what it quotes and where it was.
fn kind_of_error(error: &str) -> String {
    let end = [" at line ", ", at byte ", " of untagged", ", expected"].iter().filter_map(|end| error.find(end)).min();
    let mut out = String::new();
    for (index, piece) in error[..end.unwrap_or(error.len())].split('"').enumerate() {
        out.push_str(if index % 2 == 0 { piece } else { "…" });
    }
    let quoted: Vec<_> = out.split('`').enumerate().map(|(at, piece)| if at % 2 == 0 { piece } else { "…" }).collect();
    quoted.concat().replace(": ", ", ")
}

/// A refusal of ours: the rule and what was expected, without the place.
fn kind_of_problem(problem: &str) -> String {
    let mut parts = problem.splitn(3, ": ");
    let (Some(rule), Some(_), Some(what)) = (parts.next(), parts.next(), parts.next()) else {
        return kind_of_error(problem);
    };
    let (expected, found) = what.rsplit_once(", found ").unwrap_or((what, "something"));
    let expected = if expected.starts_with("expected one of") { "expected one of those" } else { expected };
    format!("{rule} {expected}, found {}", kind_of_error(found))
}

fn name_of_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// What kind of difference there is between two values.
fn kind_of_value(name: &str, ours: &Value, theirs: &Value) -> Option<String> {
    match (ours, theirs) {
        _ if ours == theirs => None,
        (Value::Object(a), Value::Object(b)) => {
            a.keys().chain(b.keys()).find_map(|name| match (a.get(name), b.get(name)) {
                (Some(a), Some(b)) => kind_of_value(name, a, b),
                (Some(_), None) => Some(format!("only ours has {name}")),
                _ => Some(format!("only theirs has {name}")),
            })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            a.iter().zip(b).find_map(|(a, b)| kind_of_value(name, a, b))
        }
        _ => Some(format!("{name} is {} for us and {} for them", name_of_type(ours), name_of_type(theirs))),
    }
}

fn kind(ours: &Outcome, theirs: &Outcome) -> Option<String> {
    match (ours, theirs) {
        (Err(_), Err(_)) => None,
        (Ok(ours), Ok(theirs)) => kind_of_value("the whole", ours, theirs),
        (Ok(_), Err(error)) => Some(format!("theirs refuses, {}", kind_of_error(error))),
        (Err(error), Ok(_)) => Some(format!("ours refuses, {}", kind_of_problem(error))),
    }
}

/// The same text without halves of surrogate pairs, and without numbers that no double holds.
fn without_odd_scalars(json: &str) -> String {
    let unit =
        |at: usize| json.get(at..at + 6)?.strip_prefix("\\u").and_then(|digits| u16::from_str_radix(digits, 16).ok());
    let (mut out, mut at) = (String::new(), 0);
    while let Some(next) = json[at..].chars().next() {
        let long = match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                out.push_str("\\ufffd");
                at += 6;
                continue;
            }
            _ if next == '\\' => 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
            _ => next.len_utf8(),
        };
        out.push_str(&json[at..at + long]);
        at += long;
    }
    out.replace("1e400", "1e300")
}

/// Writes whole numbers without sign of zero, fraction and exponent.
fn write_plainly(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9e15);
            #[allow(clippy::cast_possible_truncation, reason = "it is whole and small")]
            if let (Some(whole), true) = (whole, number.is_f64()) {
                *value = Value::from(whole as i64);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(write_plainly),
        Value::Object(members) => members.values_mut().for_each(write_plainly),
        _ => {}
    }
}

impl Subject {
    fn ours(&self, json: &str) -> Outcome {
        (self.entry.ours)(json, part_of(self.entry.name))
    }

    fn difference(&self, json: &str) -> Option<String> {
        kind(&self.ours(json), &self.entry.theirs.map(|read| read(json))?)
    }

    /// What kind of difference a message shows, if any. Where one thing in it is the cause of all, it is that.
    fn cause(&self, json: &str) -> Option<String> {
        let mut kind = self.difference(json)?;
        let usual = without_odd_scalars(json);
        if usual != json {
            let Some(rest) = self.difference(&usual) else { return Some("odd scalars".to_owned()) };
            kind = rest;
        }
        let mut value = match serde_json::from_str::<Value>(&usual) {
            Ok(value) => value,
            Err(error) if error.to_string().starts_with("recursion") => return Some("deep nesting".to_owned()),
            Err(_) if kind.starts_with("ours refuses") => return Some("only theirs reads what is no JSON".to_owned()),
            Err(_) => return Some(format!("only ours reads what is no JSON, {kind}")),
        };
        let Some(mut once) = self.difference(&value.to_string()) else { return Some("a member twice".to_owned()) };
        let mut plain = value.clone();
        write_plainly(&mut plain);
        if plain != value {
            value = plain;
            once = match self.difference(&value.to_string()) {
                Some(rest) => rest,
                None => return Some("a whole number in another form".to_owned()),
            };
        }
        // Lists that are no lists for us: a number in their place makes no difference.
        let expected = |error: &String| error.split(", found ").next().map(str::to_owned);
        let same = |a: &Outcome, b: &Outcome| match (a, b) {
            (Err(a), Err(b)) => expected(a) == expected(b),
            _ => a == b,
        };
        let ours = self.ours(&value.to_string());
        let mut all = Vec::new();
        places(&value, "", &mut all);
        for place in all {
            let mut other = value.clone();
            match other.pointer_mut(&place) {
                Some(list @ Value::Array(_)) => *list = Value::from(17.5),
                _ => continue,
            }
            if same(&self.ours(&other.to_string()), &ours) {
                value = other;
            }
        }
        Some(self.difference(&value.to_string()).map_or_else(|| "a list as an object".to_owned(), |_| once))
    }
}

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|_| panic!("{name}: a number, not {text}")))
}

#[test]
fn mutated_messages_are_read_as_the_official_crate_does() {
    let (count, seed) = (number("LIBACP_MESSAGES", MESSAGES as u64), number("LIBACP_SEED", SEED));
    let (subjects, mut rng) = (subjects(), Rng::new(seed));
    let known = differences();
    let mut explained: BTreeMap<&String, usize> = BTreeMap::new();
    let mut unexplained: BTreeMap<String, (usize, String)> = BTreeMap::new();
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..count {
        let subject = rng.pick(&subjects);
        let json = message(&mut rng, &subjects, subject);
        let Some(kind) = subject.cause(&json) else {
            *if subject.ours(&json).is_ok() { &mut accepted } else { &mut refused } += 1;
            continue;
        };
        let what = format!("mutated {} {}, {kind}", subject.version, subject.entry.name);
        if let Some((line, _)) = known.iter().find(|(line, _)| covers(line, &what)) {
            *explained.entry(line).or_default() += 1;
        } else {
            let (times, shortest) = unexplained.entry(what).or_insert((0, json.clone()));
            *times += 1;
            if json.len() < shortest.len() {
                *shortest = json;
            }
        }
    }
    println!("{count} messages with the seed {seed}: {accepted} accepted by both, {refused} refused by both");
    for (line, times) in &explained {
        println!("{times:>9} {line}");
    }
    let list: Vec<String> =
        unexplained.iter().map(|(what, (times, json))| format!("{times:>9} {what}\n    {json}")).collect();
    assert!(unexplained.is_empty(), "differences without a reason:\n{}", list.join("\n"));
    assert!(accepted > count / 20 && refused > count / 20, "the messages are all good or all bad");
}
