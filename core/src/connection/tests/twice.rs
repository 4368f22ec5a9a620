//! Members that stand twice: what the checks read of a message that is delivered is what every reader of it sees, the
//! one that takes the first of equal names and the one that takes the last.
//!
//! The messages are all of the model's: every method of both versions with all drafts switched on, every variant of every
//! union in it, with a second member put into every object.

use std::fmt::Write as _;
use std::ops::Range;

use crate::connection::{Config, Connection, Event, Outcome, Role, Versions};
use crate::json::{self, watch, Kind, Scanner, MAX_DEPTH};
use crate::schema::tables;
use crate::validation::table::{Field, From, Kind as Form, Phase, StringKind, Tables, Type, TypeId};
use crate::validation::{validate, Mode, Part, Validator};
use crate::Id;

const ALL_DRAFTS: u32 = u32::MAX;
/// Deeper than any type is but those that hold themselves.
const DEEP: usize = 12;
/// Samples of one variant of a union.
const FEW: usize = 6;

/// Values of a type: in each another variant, somewhere.
fn samples(tables: &Tables, ty: TypeId, deep: usize) -> Vec<String> {
    let string = |kind: StringKind| match kind {
        StringKind::Plain | StringKind::Name => "x",
        StringKind::AbsolutePath => "/x",
        StringKind::Uri => "x:x",
        StringKind::Base64 => "eHh4",
        StringKind::DateTime => "2026-11-21",
        StringKind::Currency => "XXX",
        StringKind::Icon => "data:,x",
    };
    match &tables.types[usize::from(ty)] {
        Type::Any => vec![r#"{"a":{"b":1}}"#.to_owned()],
        Type::Boolean => vec!["true".to_owned()],
        Type::Integer { min, max } => vec![if *min <= 1 && *max >= 1 { 1 } else { *min }.to_string()],
        Type::Line => vec!["1".to_owned()],
        Type::Number { bounds } => vec![bounds.map_or(1, |(low, _)| low).to_string()],
        Type::String(kind) => vec![format!("\"{}\"", string(*kind))],
        Type::Enum { values, .. } => values.iter().take(2).map(|value| format!("\"{value}\"")).collect(),
        Type::Array { item, .. } => {
            vec![if deep == 0 { "[]".to_owned() } else { format!("[{}]", samples(tables, *item, deep - 1).join(",")) }]
        }
        Type::Map { value } => vec![format!("{{\"k\":{}}}", samples(tables, *value, deep.saturating_sub(1))[0])],
        Type::Object { fields } => objects(tables, fields, "", deep),
        Type::Union { tag, variants, untagged, .. } => {
            let mut all = Vec::new();
            for variant in *variants {
                all.extend(tagged(tables, variant.ty, &format!("\"{tag}\":\"{}\"", variant.tag), deep));
            }
            all.push(format!("{{\"{tag}\":\"_x\",\"sessionId\":\"x\",\"a\":{{\"b\":1}}}}"));
            all.extend(untagged.iter().flat_map(|ty| tagged(tables, *ty, "", deep)));
            all
        }
        Type::AnyOf { of } => of.iter().flat_map(|ty| samples(tables, *ty, deep)).collect(),
    }
}

/// Objects of a type, with a tag beside their own members.
fn tagged(tables: &Tables, ty: TypeId, tag: &str, deep: usize) -> Vec<String> {
    if let Type::Object { fields } = tables.types[usize::from(ty)] {
        let mut all = objects(tables, fields, tag, deep);
        all.truncate(FEW);
        return all;
    }
    let comma = if tag.is_empty() { "" } else { "," };
    let all = samples(tables, ty, deep);
    all.into_iter().map(|object| object.replacen('{', &format!("{{{tag}{comma}"), 1)).collect()
}

fn objects(tables: &Tables, fields: &[Field], tag: &str, deep: usize) -> Vec<String> {
    let wanted = fields.iter().filter(|field| deep > 0 || field.has(Field::REQUIRED));
    let members: Vec<_> = wanted.map(|field| (field.name, samples(tables, field.ty, deep.saturating_sub(1)))).collect();
    let object = |other: usize, sample: usize| {
        let mut parts = if tag.is_empty() { Vec::new() } else { vec![tag.to_owned()] };
        for (at, (name, values)) in members.iter().enumerate() {
            parts.push(format!("\"{name}\":{}", values[if at == other { sample } else { 0 }]));
        }
        format!("{{{}}}", parts.join(","))
    };
    let mut all = vec![object(0, 0)];
    for (at, (_, values)) in members.iter().enumerate() {
        all.extend((1..values.len()).map(|sample| object(at, sample)));
    }
    all
}

/// The members of every object: where the object is open, the name and the value.
fn members(text: &str) -> Vec<(Range<usize>, String, Range<usize>)> {
    fn visit(scanner: &mut Scanner<'_>, all: &mut Vec<(Range<usize>, String, Range<usize>)>) {
        let kind = scanner.peek().unwrap();
        if !matches!(kind, Kind::Object | Kind::Array) {
            scanner.skip().unwrap();
            return;
        }
        let start = scanner.checkpoint().offset() + 1;
        let (mut more, mut own) = (scanner.enter(kind).unwrap(), Vec::new());
        while more {
            let name = (kind == Kind::Object).then(|| scanner.key().unwrap().value().into_owned());
            let at = scanner.checkpoint().offset();
            visit(scanner, all);
            own.extend(name.map(|name| (name, at..scanner.offset())));
            more = scanner.more(kind).unwrap();
        }
        let inside = start..scanner.offset() - 1;
        all.extend(own.into_iter().map(|(name, value)| (inside.clone(), name, value)));
    }
    let mut all = Vec::new();
    visit(&mut Scanner::new(text, MAX_DEPTH), &mut all);
    all
}

/// The text with one member given twice: each member of each object, with one value twice and with another one before
/// or behind it. Every third name has an escape in it.
fn doubled(text: &str, tags: &[&str], turn: &mut usize, mut each: impl FnMut(&str)) {
    for (inside, name, value) in members(text) {
        let old = &text[value];
        *turn += 1;
        let tag = format!("\"{}\"", tags[*turn % tags.len()]);
        let other = ["null", "7", "{}", "[]", "true", "\"nowhere\""][*turn % 6];
        for (number, other) in [tag.as_str(), other, old].into_iter().enumerate() {
            let spelled = match name.chars().next() {
                Some(first) if (*turn + number) % 3 == 0 => format!("\\u{:04x}{}", first as u32, &name[1..]),
                _ => name.clone(),
            };
            let (before, rest) = text.split_at(inside.start);
            let (members, after) = rest.split_at(inside.len());
            if (*turn / 3 + number) % 2 == 0 {
                each(&format!("{before}\"{spelled}\":{other},{members}{after}"));
            } else {
                each(&format!("{before}{members},\"{spelled}\":{other}{after}"));
            }
        }
    }
}

/// What a reader sees that takes the first, or the last, of members with one name.
fn view(text: &str, last: bool) -> String {
    fn write(scanner: &mut Scanner<'_>, last: bool, out: &mut String) {
        let kind = scanner.peek().unwrap();
        if !matches!(kind, Kind::Object | Kind::Array) {
            let place = scanner.skip().unwrap();
            out.push_str(scanner.slice(place));
            return;
        }
        let mut parts: Vec<(String, String)> = Vec::new();
        let mut more = scanner.enter(kind).unwrap();
        while more {
            let mut name = String::new();
            if kind == Kind::Object {
                json::quote(&mut name, &scanner.key().unwrap().value());
                name.push(':');
            }
            let mut value = String::new();
            write(scanner, last, &mut value);
            match parts.iter_mut().find(|(known, _)| kind == Kind::Object && *known == name) {
                Some((_, known)) if last => *known = value,
                Some(_) => {}
                None => parts.push((name, value)),
            }
            more = scanner.more(kind).unwrap();
        }
        let parts: Vec<_> = parts.into_iter().map(|(name, value)| name + &value).collect();
        let (open, close) = if kind == Kind::Object { ('{', '}') } else { ('[', ']') };
        let _ = write!(out, "{open}{}{close}", parts.join(","));
    }
    let mut out = String::new();
    write(&mut Scanner::new(text, MAX_DEPTH), last, &mut out);
    out
}

/// What the checks know of a value that they let through.
fn verdict(tables: &'static Tables, ty: TypeId, text: &str, mode: Mode, part: Part) -> Option<(String, String)> {
    let validated = validate(Validator::new(tables, ALL_DRAFTS, mode, part), ty, text).ok()?;
    let session = validated.session.and_then(|place| json::unescape(&text[place]));
    let problems: Vec<_> = validated.checked.problems.iter().map(ToString::to_string).collect();
    let json = validated.checked.json.into_owned();
    Some((format!("{:?} {session:?} {problems:?}", validated.variant), json))
}

/// The tags of all unions.
fn tags(tables: &Tables) -> Vec<&'static str> {
    let mut tags: Vec<&'static str> = Vec::new();
    for ty in tables.types {
        if let Type::Union { variants, .. } = ty {
            tags.extend(variants.iter().map(|variant| variant.tag));
        }
    }
    tags.sort_unstable();
    tags.dedup();
    tags
}

/// Each payload of the model with what it belongs to: its type, its form, its method.
fn payloads(tables: &'static Tables) -> Vec<(TypeId, Part, &'static str)> {
    let mut all = Vec::new();
    for row in tables.methods {
        let part = if row.kind == Form::Notification { Part::Notification } else { Part::Request };
        all.push((row.params, part, row.name));
        if row.kind != Form::Notification {
            all.push((row.result, Part::Response, row.name));
        }
    }
    all
}

#[test]
fn every_reader_sees_what_was_checked() {
    for tables in [&tables::v1::TABLES, &tables::v2::TABLES] {
        let tags = tags(tables);
        let (mut passed, mut turn) = (0, 0);
        for (ty, part, method) in payloads(tables) {
            for sample in samples(tables, ty, DEEP) {
                doubled(&sample, &tags, &mut turn, |text| {
                    for mode in [Mode::Tolerant, Mode::Strict] {
                        let Some((_, delivered)) = verdict(tables, ty, text, mode, part) else { continue };
                        passed += 1;
                        let [first, last] = [false, true].map(|last| view(&delivered, last));
                        let [first, last] = [first, last].map(|view| verdict(tables, ty, &view, mode, part));
                        let (first, last) = (first.map(|(told, _)| told), last.map(|(told, _)| told));
                        let whole = verdict(tables, ty, &delivered, mode, part).map(|(told, _)| told);
                        assert_eq!(first, last, "{method}: {delivered}");
                        assert_eq!(first, whole, "{method}: {delivered}");
                    }
                });
            }
        }
        assert!(passed > 10_000, "{passed}");
    }
}

/// A connection with all there is: each side can do everything, one session is open.
fn ready(role: Role, tables: &'static Tables) -> Connection {
    let mut config = Config::new(role);
    config.versions = Versions::only(tables.version);
    config.drafts = (1 << (crate::schema::drafts::DRAFTS.len() + 1)) - 2;
    config.limits.pending = 1_000_000;
    let method = tables.methods.iter().find(|row| row.name == "initialize").unwrap();
    let hello = samples(tables, method.params, DEEP).swap_remove(0);
    let welcome = samples(tables, method.result, DEEP).swap_remove(0);
    // In version 2 no hello is that of version 1. The list of logins has each id many times.
    let trimmed = |text: &str| {
        let mut writer = json::Writer::new();
        writer.begin_object().key("protocolVersion").unsigned(tables.version.into());
        let others = ["protocolVersion", "authMethods"];
        for (name, value) in json::members(text).into_iter().filter(|(name, _)| !others.contains(&&**name)) {
            writer.key(&name).json(value);
        }
        writer.end_object();
        writer.finish().unwrap()
    };
    let (hello, welcome) = (trimmed(&hello), trimmed(&welcome));
    let mut connection = Connection::new(config);
    if role == Role::Client {
        connection.request("initialize", &hello).unwrap();
        feed(&mut connection, &format!(r#""id":1,"result":{welcome}"#));
        connection.request("session/new", r#"{"cwd":"/x","mcpServers":[]}"#).unwrap();
        feed(&mut connection, r#""id":2,"result":{"sessionId":"x"}"#);
    } else {
        feed(&mut connection, &format!(r#""id":1,"method":"initialize","params":{hello}"#));
        connection.respond(&Id::from(1), &welcome).unwrap();
        feed(&mut connection, r#""id":2,"method":"session/new","params":{"cwd":"/x","mcpServers":[]}"#);
        connection.respond(&Id::from(2), r#"{"sessionId":"x"}"#).unwrap();
    }
    connection.consume(usize::MAX);
    connection
}

fn feed(connection: &mut Connection, members: &str) -> Vec<Event> {
    connection.receive(format!("{{\"jsonrpc\":\"2.0\",{members}}}\n").as_bytes());
    connection.consume(usize::MAX);
    std::iter::from_fn(|| connection.poll_event()).collect()
}

/// What a host is given, if it is, with the session and the kind that it is told of.
fn delivered(event: &Event) -> Option<(&str, Option<&str>, Option<&str>)> {
    match event {
        Event::Request(request) => Some((request.params(), request.session.as_deref(), None)),
        Event::Notification(told) => Some((told.params(), told.session.as_deref(), told.update)),
        Event::Response(response) => match &response.outcome {
            Outcome::Result(result) => Some((result.0.as_str(), None, None)),
            _ => None,
        },
        _ => None,
    }
}

/// Holds one message against what comes of it.
fn hold(connection: &mut Connection, message: &str) -> bool {
    watch::take();
    let events = feed(connection, message);
    let read = watch::take();
    let mut came = false;
    for (text, session, update) in events.iter().filter_map(delivered) {
        came = true;
        assert!(read.is_empty(), "{read:?} were read in {message}");
        for last in [false, true] {
            let view = view(text, last);
            let string = |pointer| json::pointer(&view, pointer).and_then(json::unescape);
            if let Some(session) = session {
                assert_eq!(string("/sessionId").as_deref(), Some(session), "{message}");
            }
            if let Some(update) = update {
                assert_eq!(string("/update/sessionUpdate").as_deref(), Some(update), "{message}");
            }
        }
    }
    came
}

#[test]
fn rules_read_what_every_reader_sees() {
    watch::start();
    let mut came = 0;
    for tables in [&tables::v1::TABLES, &tables::v2::TABLES] {
        let tags = tags(tables);
        for role in [Role::Client, Role::Agent] {
            let (mut turn, mut id) = (0, 0);
            for row in tables.methods.iter().filter(|row| row.phase != Phase::Start) {
                let from_peer = !matches!((row.from, role), (From::Client, Role::Client) | (From::Agent, Role::Agent));
                let mut connection = ready(role, tables);
                let params = samples(tables, row.params, DEEP);
                for sample in if from_peer { params.clone() } else { Vec::new() } {
                    doubled(&sample, &tags, &mut turn, |text| {
                        id += 1;
                        let asks = row.kind != Form::Notification;
                        let id = if asks { format!("\"id\":\"{id}\",") } else { String::new() };
                        let message = format!("{id}\"method\":\"{}\",\"params\":{text}", row.name);
                        came += usize::from(hold(&mut connection, &message));
                    });
                }
                let answered = row.kind != Form::Notification && (!from_peer || row.from == From::Both);
                let mut connection = ready(role, tables);
                for sample in if answered { samples(tables, row.result, DEEP) } else { Vec::new() } {
                    doubled(&sample, &tags, &mut turn, |text| {
                        let asked = params.iter().find_map(|text| connection.request(row.name, text).ok());
                        let Some(id) = asked else { return };
                        came += usize::from(hold(&mut connection, &format!("\"id\":{id},\"result\":{text}")));
                    });
                }
            }
        }
    }
    assert!(came > 5_000, "{came}");
}
