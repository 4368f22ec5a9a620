//! Fills in what scenarios must state and do not: what the connection did is put down, and a person reads it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize as _;
use serde_json::ser::Formatter;
use serde_json::{Map, Serializer, Value};

use crate::exact;
use crate::expected::{self, PAYLOADS};
use crate::frames::Frames;
use crate::replay::{Seen, Split};
use crate::scenario::{self, Scenario};

/// Members to be added to the object that ends at this byte of a file.
type Additions = BTreeMap<(PathBuf, usize), String>;

/// Completes all files below a folder; what cannot be made right by adding to it is returned, one line for each scenario.
pub(crate) fn complete(root: &Path) -> Vec<String> {
    let include = root.join("include.json");
    let includes = fs::read_to_string(&include).expect("the includes");
    let mut texts: BTreeMap<PathBuf, String> = BTreeMap::new();
    let (mut additions, mut wrong) = (Additions::new(), Vec::new());
    for (path, text, start, line, scenario) in lines(root) {
        let mut places = Vec::new();
        let steps = exact::member(&line, "steps").expect("steps");
        let within = start + offset(&line, steps);
        put_in(&path, steps, within, &(&include, &includes), &mut places);
        if let Err(why) = fill(&scenario, &places, &mut additions) {
            wrong.push(format!("{}: {}: {why}", scenario.file, scenario.name));
        }
        texts.entry(path).or_insert(text);
    }
    texts.insert(include, includes);
    for ((path, at), members) in additions.into_iter().rev() {
        // From the end, so that the places before stay where they are.
        texts.get_mut(&path).expect("a file that was read").insert_str(at, &members);
    }
    for (path, text) in texts {
        if fs::read_to_string(&path).expect("a file") != text {
            fs::write(&path, text).expect("a file that can be written");
        }
    }
    wrong
}

/// Every scenario with its file, that file's text, and where in it the line begins.
fn lines(root: &Path) -> Vec<(PathBuf, String, usize, String, Scenario)> {
    let mut last: Option<(PathBuf, String, usize)> = None;
    let scenarios = scenario::load(root).into_iter();
    scenarios
        .map(|scenario| {
            let path = root.join(&scenario.file);
            let (text, mut start) = match last.take() {
                Some((file, text, start)) if file == path => (text, start),
                _ => (fs::read_to_string(&path).expect("a file"), 0),
            };
            let line = loop {
                let line = text[start..].split('\n').next().expect("a line").to_owned();
                if !line.trim().is_empty() {
                    break line;
                }
                start += line.len() + 1;
            };
            last = Some((path.clone(), text.clone(), start + line.len() + 1));
            (path, text, start, line, scenario)
        })
        .collect()
}

/// Where a part of a text begins.
fn offset(whole: &str, part: &str) -> usize {
    part.as_ptr() as usize - whole.as_ptr() as usize
}

/// The file of each step, its text, and where it begins there; includes are put in as [`scenario::load`] does.
fn put_in(
    path: &Path,
    steps: &str,
    start: usize,
    include: &(&PathBuf, &String),
    out: &mut Vec<(PathBuf, String, usize)>,
) {
    for step in exact::items(steps).expect("steps") {
        match exact::member(step, "include").and_then(exact::string) {
            Some(name) => {
                let included = exact::member(include.1, &name).expect("an include");
                put_in(include.0, included, offset(include.1, included), include, out);
            }
            None => out.push((path.to_owned(), step.to_owned(), start + offset(steps, step))),
        }
    }
}

/// Replays a scenario, and adds what its events and misuses lack.
fn fill(scenario: &Scenario, places: &[(PathBuf, String, usize)], additions: &mut Additions) -> Result<(), String> {
    let mut used = BTreeSet::new();
    scenario.judged(Split::Whole, &mut |seen| {
        let lacking = lacking(seen, &mut used);
        let mut whole = seen.expected.clone();
        whole.as_object_mut().expect("an event").extend(lacking.clone());
        if let Some(why) = (Seen { expected: &whole, ..*seen }).difference() {
            return Err(why);
        }
        if lacking.is_empty() {
            return Ok(());
        }
        let (path, step, start) = &places[seen.step];
        let object = match seen.event {
            Some(event) => exact::items(exact::member(step, "expect").expect("events")).expect("events")[event],
            None => exact::member(step, "misuse").expect("a misuse"),
        };
        let end = start + offset(step, object) + object.len() - 1;
        let members = text(&Value::Object(lacking));
        let addition = format!(", {}", &members[1..members.len() - 1]);
        match additions.insert((path.clone(), end), addition.clone()) {
            Some(before) if before != addition => {
                Err(format!("an include lacks{addition} here, and elsewhere{before}"))
            }
            _ => Ok(()),
        }
    })
}

/// The members that are neither stated nor follow from the frame.
fn lacking(seen: &Seen<'_>, used: &mut BTreeSet<u64>) -> Map<String, Value> {
    let mut out = Map::new();
    if seen.event.is_none() {
        let found = seen.actual.as_object().expect("a misuse").iter();
        out.extend(found.filter(|(name, _)| seen.expected.get(name).is_none()).map(|(n, v)| (n.clone(), v.clone())));
        return out;
    }
    let Some(table) = expected::table(seen.actual) else { return out };
    let stated =
        |member: &str| seen.expected.get(member).or_else(|| seen.expected.get(format!("{member}_text"))).is_some();
    let found = |member: &str| seen.actual.get(expected::actual_name(member)).unwrap_or(&Value::Null);
    let mut source = expected::source(seen.expected, seen.frames);
    let from_frame: Vec<&String> = table.iter().filter(|(_, rule)| *rule == "frame").map(|(name, _)| name).collect();
    if !stated("frame") && !from_frame.is_empty() {
        let fits = |source: u64| {
            from_frame.iter().all(|name| {
                stated(name)
                    || expected::otherwise(name, &table[*name], source, seen.frames).as_ref() == Some(found(name))
            })
        };
        let came = match seen.actual["frame"].as_u64() {
            Some(number) => Some(number),
            None => (1..=source).find(|&one| !used.contains(&one) && is(seen.actual, seen.frames, one) && fits(one)),
        };
        if let Some(number) = came.filter(|&number| number != source) {
            source = number;
            out.insert("frame".to_owned(), Value::from(number));
        }
    }
    if seen.actual["event"] != "violation" {
        used.insert(source);
    }
    for (member, rule) in
        table.iter().filter(|(member, rule)| !stated(member) && *member != "frame" && *rule != "prose")
    {
        let (wanted, found) = (expected::otherwise(member, rule, source, seen.frames), found(member));
        if wanted.as_ref() == Some(found) {
            continue;
        }
        let read = found.as_str().filter(|_| PAYLOADS.contains(&member.as_str())).map(|text| {
            let value: Value = serde_json::from_str(text).expect("JSON");
            let same = exact::same(&value.to_string(), text) && expected::plain(&value);
            if same {
                (member.clone(), value)
            } else {
                (format!("{member}_text"), found.clone())
            }
        });
        let (name, value) = read.unwrap_or_else(|| (member.clone(), found.clone()));
        out.insert(name, value);
    }
    out
}

/// Whether a frame is the message that an event tells of.
fn is(actual: &Value, frames: &Frames, number: u64) -> bool {
    let Some(text) = frames.text(number) else { return false };
    let method = exact::member(text, "method").and_then(exact::string);
    let wanted = if matches!(actual["event"].as_str(), Some("response" | "late_response")) {
        None
    } else {
        actual["method"].as_str()
    };
    let id = exact::member(text, "id").map_or(Value::Null, Value::from);
    method.as_deref() == wanted && id == *actual.get("id").unwrap_or(&Value::Null)
}

/// JSON with the blanks that the vectors have.
fn text(value: &Value) -> String {
    struct Spaced;
    impl Formatter for Spaced {
        fn begin_array_value<W: ?Sized + std::io::Write>(&mut self, out: &mut W, first: bool) -> std::io::Result<()> {
            if first {
                Ok(())
            } else {
                out.write_all(b", ")
            }
        }
        fn begin_object_key<W: ?Sized + std::io::Write>(&mut self, out: &mut W, first: bool) -> std::io::Result<()> {
            if first {
                Ok(())
            } else {
                out.write_all(b", ")
            }
        }
        fn begin_object_value<W: ?Sized + std::io::Write>(&mut self, out: &mut W) -> std::io::Result<()> {
            out.write_all(b": ")
        }
    }
    let mut out = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut out, Spaced)).expect("JSON");
    String::from_utf8(out).expect("UTF-8")
}
