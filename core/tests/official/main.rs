//! Our types against the official crate's: every type, in every shape, good and bad.
//!
//! What decodes there must decode here, what fails there must fail here, and both must be written as the same JSON. What
//! differs on purpose has a line with its reason in `differences.txt`; a line that is no longer needed is an error.

mod instances;
// Its other half is for messages that are answered.
#[allow(dead_code)]
#[path = "../support/mutate.rs"]
mod mutate;
mod mutated;
#[path = "../support/rng.rs"]
mod rng;

use std::any::TypeId;
use std::collections::{BTreeMap, BTreeSet};

use instances::Model;
use libacp::schema::{decode, Message, Policy};
use libacp::validation::table::Tables;
use libacp::validation::{check, Mode, Part};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What came out: JSON as it would be written, or why it was refused.
type Outcome = Result<Value, String>;

/// A type that both sides may have.
struct Entry {
    name: &'static str,
    ours: fn(&str, Part) -> Outcome,
    /// `None` where the official crate has no such type.
    theirs: Option<fn(&str) -> Outcome>,
}

/// Stands for an official type that does not exist.
#[derive(Serialize, Deserialize)]
struct Absent;

/// What a type is a part of, by its name.
fn part_of(name: &str) -> Part {
    match name {
        name if name.ends_with("Request") => Part::Request,
        name if name.ends_with("Notification") => Part::Notification,
        _ => Part::Response,
    }
}

fn policy(part: Part) -> Policy {
    Policy { mode: Mode::Tolerant, part, drafts: u32::MAX }
}

fn ours<'a, T: Message<'a>>(json: &'a str, part: Part) -> Outcome {
    let value = decode::<T>(json, policy(part)).map_err(|error| error.to_string())?.value;
    let text = serde_json::to_string(&value).map_err(|error| error.to_string())?;
    serde_json::from_str(&text).map_err(|error| format!("wrote what is not JSON: {error}: {text}"))
}

fn theirs<T: DeserializeOwned + Serialize>(json: &str) -> Outcome {
    let value: T = serde_json::from_str(json).map_err(|error| error.to_string())?;
    serde_json::to_value(value).map_err(|error| error.to_string())
}

fn known<T: DeserializeOwned + Serialize + 'static>() -> Option<fn(&str) -> Outcome> {
    (TypeId::of::<T>() != TypeId::of::<Absent>()).then_some(theirs::<T> as fn(&str) -> Outcome)
}

/// Pairs types by name. A name that the official crate lacks falls through its glob import to [`Absent`].
macro_rules! compare {
    ($version:ident; $($name:ident,)+) => {
        mod $version {
            use super::{known, Entry};
            use fallback::*;

            // Only the names that the official crate lacks are used.
            #[allow(dead_code)]
            mod fallback {
                $(pub(super) type $name = super::super::Absent;)+
            }

            #[rustfmt::skip]
            pub(super) fn entries() -> Vec<Entry> {
                #[allow(unused_imports)]
                use agent_client_protocol_schema::{$version::*, ProtocolVersion};
                vec![$(Entry {
                    name: stringify!($name),
                    ours: |json, part| super::ours::<libacp::schema::$version::$name>(json, part),
                    theirs: known::<$name>(),
                }),+]
            }
        }
    };
}

include!("v1.rs");
include!("v2.rs");

/// The id of a request is the core's own type, which both versions share.
fn request_id(version: &'static libacp::validation::table::Tables, json: &str, part: Part) -> Outcome {
    let names = version.names;
    let at = names.binary_search_by_key(&"RequestId", |(name, _)| name).map_err(|_| "no such type")?;
    let policy = policy(part);
    let checked = check(version, policy.drafts, names[at].1, json, policy.mode, policy.part);
    let checked = checked.map_err(|error| error.to_string())?;
    let id: libacp::Id = serde_json::from_str(&checked.json).map_err(|error| error.to_string())?;
    serde_json::to_value(id).map_err(|error| error.to_string())
}

fn entries(version: &str) -> Vec<Entry> {
    use agent_client_protocol_schema as official;
    use libacp::schema::tables;
    let (mut entries, id) = match version {
        "v1" => (
            v1::entries(),
            Entry {
                name: "RequestId",
                ours: |json, part| request_id(&tables::v1::TABLES, json, part),
                theirs: known::<official::v1::RequestId>(),
            },
        ),
        _ => (
            v2::entries(),
            Entry {
                name: "RequestId",
                ours: |json, part| request_id(&tables::v2::TABLES, json, part),
                theirs: known::<official::v2::RequestId>(),
            },
        ),
    };
    entries.push(id);
    entries
}

/// The reasons of known differences, by what they are about: `v1 Type what`, or `v1 Type` for a type that only we have;
/// or `mutated v1 Type, kind`.
fn differences() -> BTreeMap<String, String> {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/official/differences.txt");
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parts = lines.map(|line| line.split_once(": ").unwrap_or_else(|| panic!("no reason in {line:?}")));
    parts.map(|(what, reason)| (what.to_owned(), reason.to_owned())).collect()
}

/// What is different, if anything.
fn difference(ours: &Outcome, theirs: &Outcome) -> Option<String> {
    match (ours, theirs) {
        (Ok(ours), Ok(theirs)) if ours == theirs => None,
        (Err(_), Err(_)) => None,
        (Ok(ours), Ok(theirs)) => Some(first_difference("", ours, theirs)),
        (Ok(ours), Err(error)) => Some(format!("ours {ours}\n    theirs refuses: {error}")),
        (Err(error), Ok(theirs)) => Some(format!("ours refuses: {error}\n    theirs {theirs}")),
    }
}

/// Where two values differ first.
fn first_difference(at: &str, ours: &Value, theirs: &Value) -> String {
    if let (Value::Object(a), Value::Object(b)) = (ours, theirs) {
        for name in a.keys().chain(b.keys()) {
            match (a.get(name), b.get(name)) {
                (Some(a), Some(b)) if a == b => {}
                (Some(a), Some(b)) => return first_difference(&format!("{at}/{name}"), a, b),
                (Some(a), None) => return format!("only ours has {at}/{name}: {a}"),
                (None, b) => return format!("only theirs has {at}/{name}: {}", b.unwrap_or(&Value::Null)),
            }
        }
    }
    if let (Value::Array(a), Value::Array(b)) = (ours, theirs) {
        if let Some(i) = a.iter().zip(b).position(|(a, b)| a != b).filter(|_| a.len() == b.len()) {
            return first_difference(&format!("{at}/{i}"), &a[i], &b[i]);
        }
    }
    format!("{at}: ours {ours}, theirs {theirs}")
}

/// What was different: on purpose or not.
#[derive(Default)]
struct Ledger {
    known: BTreeMap<String, String>,
    used: BTreeSet<String>,
    explained: usize,
    unexplained: Vec<String>,
}

impl Ledger {
    fn note(&mut self, what: &str, seen: &str) {
        if let Some((line, _)) = self.known.iter().find(|(line, _)| covers(line, what)) {
            self.used.insert(line.clone());
            self.explained += 1;
        } else {
            self.unexplained.push(format!("{what}\n    {seen}"));
        }
    }
}

#[test]
fn types_agree_with_the_official_crate() {
    // The others are about messages that are mutated.
    let known = differences().into_iter().filter(|(line, _)| line.starts_with('v')).collect();
    let mut ledger = Ledger { known, ..Ledger::default() };
    for version in ["v1", "v2"] {
        let model = Model::load(version);
        let entries = entries(version);
        let missing: Vec<_> = model.names().filter(|name| !entries.iter().any(|entry| entry.name == *name)).collect();
        assert!(missing.is_empty(), "types of {version} that are not compared: {missing:?}");
        let (mut types, mut alone, mut instances) = (0, 0, 0);
        for entry in entries {
            let Some(theirs) = entry.theirs else {
                alone += 1;
                if !model.is_ours_alone(entry.name) {
                    ledger.note(&format!("{version} {}", entry.name), "the official crate has no such type");
                }
                continue;
            };
            types += 1;
            let part = part_of(entry.name);
            for (kind, value) in model.instances(entry.name) {
                instances += 1;
                let json = value.to_string();
                if let Some(seen) = difference(&(entry.ours)(&json, part), &theirs(&json)) {
                    ledger.note(&format!("{version} {} {kind}", entry.name), &format!("from {json}\n    {seen}"));
                }
            }
        }
        println!("{version}: {types} types compared in {instances} instances, {alone} types are ours alone");
    }
    let Ledger { known, used, explained, unexplained } = ledger;
    println!("{explained} differences have one of {} reasons, {} have none", known.len(), unexplained.len());
    assert!(unexplained.is_empty(), "differences without a reason:\n{}", unexplained.join("\n"));
    let idle: Vec<_> = known.keys().filter(|line| !used.contains(*line)).collect();
    assert!(idle.is_empty(), "lines of differences.txt that are no longer needed: {idle:#?}");
}

/// What is said of a host's value: the rule and the place of each problem.
fn told(version: &'static Tables, name: &str, json: &str) -> Option<Vec<(&'static str, String)>> {
    let at = version.names.binary_search_by_key(&name, |(name, _)| name).ok()?;
    let checked = check(version, u32::MAX, version.names[at].1, json, Mode::Send, Part::Request).ok()?;
    Some(checked.problems.iter().map(|problem| (problem.rule.as_str(), problem.pointer())).collect())
}

#[test]
fn a_host_s_own_members_are_told_from_those_of_the_specification() {
    use libacp::schema::tables::{v1, v2};
    let (mut own, mut right, mut wrong) = (0, 0, Vec::new());
    for (version, tables) in [("v1", &v1::TABLES), ("v2", &v2::TABLES)] {
        let model = Model::load(version);
        for name in model.names() {
            for (kind, value) in model.instances(name) {
                // Without its tag, an object has the members of all variants, and they are not one type's.
                if kind.ends_with("no tag") || kind.ends_with("null tag") {
                    continue;
                }
                let Some(told) = told(tables, name, &value.to_string()) else { continue };
                let more = kind.ends_with("unknown member");
                let expected = match kind.as_str() {
                    _ if more && !model.is_forwarded(name) => vec![("EXT-01", "/somethingNew".to_owned())],
                    // The model lists what a value of its own may be in the place where it is offered.
                    "unknown value" if name == "LlmProtocol" => vec![("PROV-11", String::new())],
                    _ => Vec::new(),
                };
                *if more { &mut own } else { &mut right } += 1;
                if told != expected {
                    wrong.push(format!("{version} {name} {kind}: {told:?} of {value}"));
                }
            }
        }
    }
    println!("{own} instances with a member too many, {right} without");
    assert!(wrong.is_empty() && own > 300 && right > 1000, "{own}, {right}\n{}", wrong.join("\n"));
}

/// Whether a line is about something; a `*` in it stands for anything.
fn covers(line: &str, what: &str) -> bool {
    match line.split_once('*') {
        None => line == what,
        Some((start, rest)) => what.strip_prefix(start).is_some_and(|mut what| loop {
            if covers(rest, what) {
                break true;
            }
            let mut chars = what.chars();
            if chars.next().is_none() {
                break false;
            }
            what = chars.as_str();
        }),
    }
}
