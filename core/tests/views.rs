//! What views promise beyond single scenarios: bytes in any pieces, random messages against a plain model, what a chunk
//! costs, and what a peer that means harm can make a view keep.

#[path = "support/base64.rs"]
mod base64;
#[path = "support/recording.rs"]
mod recording;
#[path = "support/rng.rs"]
mod rng;

use std::alloc::System;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cap::Cap;
use libacp::connection::{Observer, Versions};
use libacp::{Config, Connection, Role};
use rng::Rng;
use serde_json::{json, Value};

/// Memory is counted for the whole program, so one test runs at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

fn config(role: Role, version: u16) -> Config {
    let mut config = Config::new(role);
    (config.view, config.versions) = (true, Versions::only(version));
    config
}

fn feed(client: &mut Connection, message: &str) {
    client.receive(message.as_bytes());
    client.receive(b"\n");
    while client.poll_event().is_some() {}
    client.consume(usize::MAX);
}

/// A client with the session `s`, whose turn runs.
fn client(config: Config) -> Connection {
    let version = config.versions.newest();
    let mut client = Connection::new(config);
    let (hello, welcome) = match version {
        1 => ("{}", r#"{"protocolVersion":1}"#),
        _ => (
            r#"{"info":{"name":"c","version":"1"}}"#,
            r#"{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}"#,
        ),
    };
    client.request("initialize", hello).unwrap();
    feed(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":1,"result":{welcome}}}"#));
    client.request("session/new", r#"{"cwd":"/w","mcpServers":[]}"#).unwrap();
    feed(&mut client, r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#);
    client.request("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}"#).unwrap();
    client.consume(usize::MAX);
    client
}

fn update(members: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","update":{{"sessionUpdate":{members}}}}}}}"#
    )
}

/// All views as JSON, without the numbers that depend on when it was looked.
fn views(observer: &Observer) -> BTreeMap<String, Value> {
    let view = |(id, view): (&std::sync::Arc<str>, &libacp::view::View)| {
        (id.to_string(), serde_json::from_str(&view.to_json()).unwrap())
    };
    observer.views().map(view).collect()
}

fn watched(records: &[(Role, &[u8])]) -> BTreeMap<String, Value> {
    let mut config = Config::client();
    (config.view, config.versions) = (true, Versions::ALL);
    let mut observer = Observer::new(config);
    for (from, bytes) in records {
        observer.receive(*from, bytes);
        while observer.poll_event().is_some() {}
    }
    views(&observer)
}

/// Cut anywhere, the same bytes give the same views.
#[test]
fn recordings_give_the_same_views_in_any_pieces() {
    let _alone = alone();
    let mut rng = Rng::new(16);
    let (mut seen, mut entries) = (0, 0);
    for path in recording::all() {
        let records = recording::records(&path);
        let sides = |direction| if direction == '>' { Role::Client } else { Role::Agent };
        let records: Vec<(Role, &[u8])> = records
            .iter()
            .filter(|(direction, _)| *direction != '#')
            .map(|(direction, bytes)| (sides(*direction), &**bytes))
            .collect();
        let whole = watched(&records);
        entries += whole.values().map(|view| view["entries"].as_array().unwrap().len()).sum::<usize>();
        for _ in 0..8 {
            let at = rng.below(records.len());
            let (from, bytes) = records[at];
            let cut = rng.below(bytes.len().max(1));
            let mut pieces = records[..at].to_vec();
            pieces.extend([(from, &bytes[..cut]), (from, &bytes[cut..])]);
            pieces.extend(&records[at + 1..]);
            assert_eq!(watched(&pieces), whole, "{}: {at}, {cut}", path.display());
        }
        seen += 1;
    }
    assert!(seen >= 17 && entries > 100, "{seen} recordings, {entries} entries");
}

/// A conversation as a list of (role, id, text) and of tool calls by their id.
#[derive(Default)]
struct Model {
    list: Vec<Value>,
    open: bool,
}

impl Model {
    fn chunk(&mut self, role: &str, id: Option<&str>, text: &str) {
        let known = match id {
            Some(id) => self.list.iter_mut().find(|entry| entry["role"] == role && entry["id"] == id),
            None => self.list.last_mut().filter(|last| self.open && last["role"] == role && last["id"].is_null()),
        };
        match known {
            Some(entry) => entry["text"] = (entry["text"].as_str().unwrap().to_owned() + text).into(),
            None => self.list.push(json!({"role": role, "id": id, "text": text})),
        }
        self.open = id.is_none();
    }

    fn tool(&mut self, id: &str, members: &[(&str, Value)], whole: bool) {
        self.open = false;
        let at = self.list.iter().position(|entry| entry["tool"] == id).unwrap_or_else(|| {
            self.list.push(json!({}));
            self.list.len() - 1
        });
        if whole || self.list[at].get("tool").is_none() {
            self.list[at] = json!({"tool": id, "title": null, "status": "pending"});
        }
        for (name, value) in members {
            self.list[at][*name] = value.clone();
        }
    }
}

#[test]
fn random_updates_are_what_a_plain_model_makes_of_them() {
    let _alone = alone();
    let words = ["a", "é", "\\n", "\\\"", "🙂", " ", "\\u0041"];
    let statuses = ["pending", "in_progress", "completed"];
    for seed in 0..60 {
        let (mut rng, mut model) = (Rng::new(seed), Model::default());
        let mut client = client(config(Role::Client, 1));
        model.list.push(json!({"role": "user", "id": null, "text": "hi"}));
        for _ in 0..120 {
            if rng.one_in(4) {
                let (id, whole) = (["t-1", "t-2", "t-3"][rng.below(3)], rng.one_in(3));
                let (title, status) = (["A", "B"][rng.below(2)], statuses[rng.below(3)]);
                let mut members = vec![("status", status.into())];
                let mut more = format!(r#""status":"{status}""#);
                if whole || rng.one_in(2) {
                    members.push(("title", title.into()));
                    write!(more, r#","title":"{title}""#).unwrap();
                }
                let kind = if whole { "tool_call" } else { "tool_call_update" };
                feed(&mut client, &update(&format!(r#""{kind}","toolCallId":"{id}",{more}"#)));
                model.tool(id, &members, whole);
                continue;
            }
            let (role, kind) = [("agent", "agent_message_chunk"), ("thought", "agent_thought_chunk")][rng.below(2)];
            let id = [None, Some("m-1"), Some("m-2")][rng.below(3)];
            let text = words[rng.below(words.len())];
            let more = id.map(|id| format!(r#","messageId":"{id}""#)).unwrap_or_default();
            feed(&mut client, &update(&format!(r#""{kind}","content":{{"type":"text","text":"{text}"}}{more}"#)));
            let value: String = serde_json::from_str(&format!("\"{text}\"")).unwrap();
            model.chunk(role, id, &value);
        }
        let found: Vec<Value> = client
            .view("s")
            .unwrap()
            .entries()
            .map(|entry| match entry.speaker() {
                Some(speaker) => json!({"role": speaker.name(), "id": entry.id(), "text": entry.text()}),
                None => json!({"tool": entry.id(), "title": entry.string("title"), "status": entry.string("status")}),
            })
            .collect();
        assert_eq!(found, model.list, "seed {seed}");
    }
}

/// 26 of the edge cases: one id on two connections is two views.
#[test]
fn two_connections_have_a_view_each() {
    let _alone = alone();
    let mut clients = [client(config(Role::Client, 1)), client(config(Role::Client, 1))];
    for (number, client) in clients.iter_mut().enumerate() {
        feed(client, &update(&format!(r#""agent_message_chunk","content":{{"type":"text","text":"{number}"}}"#)));
    }
    let texts = clients.each_ref().map(|client| client.view("s").unwrap().entries().last().unwrap().text().to_owned());
    assert_eq!(texts, ["0", "1"]);
}

/// 17 of the edge cases: a view is forgotten when it is asked for, and not before its session is over.
#[test]
fn the_view_of_a_closed_session_stays_until_it_is_forgotten() {
    let _alone = alone();
    let mut client = client(config(Role::Client, 2));
    client.request("session/close", r#"{"sessionId":"s"}"#).unwrap();
    assert!(!client.forget_view("s") && client.view("s").is_some_and(|view| !view.is_frozen()));
    feed(&mut client, r#"{"jsonrpc":"2.0","id":4,"result":{}}"#);
    assert!(client.view("s").is_some_and(|view| view.is_frozen() && view.entries().count() == 1));
    assert!(client.forget_view("s") && client.view("s").is_none());
    assert!(!client.forget_view("s"));
}

/// 24 of the edge cases: what a message had is free again once it is cleared.
#[test]
fn a_message_that_is_cleared_takes_nothing() {
    let _alone = alone();
    let mut client = client(config(Role::Client, 2));
    let message = |content: &str| update(&format!(r#""agent_message","messageId":"m","content":[{content}]"#));
    feed(&mut client, &message(""));
    let (kept, allocated) = (client.view("s").unwrap().bytes(), ALLOCATOR.allocated());
    feed(&mut client, &message(&format!(r#"{{"type":"text","text":"{}"}}"#, "x".repeat(1 << 20))));
    assert!(client.view("s").unwrap().bytes() > kept + (1 << 20));
    feed(&mut client, &message(""));
    assert_eq!(client.view("s").unwrap().bytes(), kept);
    // The buffer that frames are read into may keep its room.
    assert!(ALLOCATOR.allocated() < allocated + (3 << 20));
}

/// With 100,000 chunks in a message, one more asks the allocator for no more than with 1,000: what is moved when a text
/// grows is moved rarely, and `since` looks at what has changed.
#[test]
fn a_chunk_costs_the_same_in_a_long_message() {
    let _alone = alone();
    let mut client = client(config(Role::Client, 1));
    let chunk = update(r#""agent_message_chunk","content":{"type":"text","text":"a few words, "}"#);
    let mut allocated = |chunks: usize| {
        let before = ALLOCATOR.total_allocated();
        for _ in 0..chunks {
            let drawn = client.view("s").unwrap().revision();
            feed(&mut client, &chunk);
            let view = client.view("s").unwrap();
            let changes = view.since(drawn);
            assert_eq!(changes.entries().count(), 1);
            assert!(view.entries().last().unwrap().text().ends_with("words, "));
        }
        ALLOCATOR.total_allocated() - before
    };
    allocated(100);
    let few = allocated(1_000);
    let many = allocated(100_000);
    assert!(many <= 100 * few * 2, "{few} bytes for 1,000 chunks, {many} for 100,000");
}

/// Who reads a message after each of its chunks reads each byte once.
#[test]
fn reading_a_message_while_it_grows_costs_as_much_as_the_message() {
    let _alone = alone();
    let mut client = client(config(Role::Client, 1));
    let chunk = update(r#""agent_message_chunk","content":{"type":"text","text":"a few words, "}"#);
    let (mut revision, mut position, mut read) = (0, 0, 0);
    let mut allocated = |chunks: usize| {
        let before = ALLOCATOR.total_allocated();
        for _ in 0..chunks {
            feed(&mut client, &chunk);
            let view = client.view("s").unwrap();
            let changes = view.heads_since(revision);
            let content = view.content_from(1, position).unwrap();
            assert!(changes.len() < 1_000 && content.len() < 200, "{changes}, {content}");
            let tail = view.entry(1).unwrap().content_from(position);
            assert_eq!((&*tail.text(), tail.continues()), ("a few words, ", position > 0));
            read += tail.text().len();
            (revision, position) = (view.revision(), tail.end());
        }
        assert_eq!(client.view("s").unwrap().text_of(1).unwrap().len(), read);
        ALLOCATOR.total_allocated() - before
    };
    allocated(100);
    let few = allocated(1_000);
    let many = allocated(100_000);
    assert!(many <= 100 * few * 2, "{few} bytes for 1,000 chunks, {many} for 100,000");
}

/// Positions are told by whoever asks: none of them breaks anything, and what none was is read from the start.
#[test]
fn any_position_is_answered() {
    let _alone = alone();
    let mut client = client(config(Role::Client, 2));
    for content in [r#"{"type":"text","text":"é🙂"}"#, r#"{"type":"text","text":"c","annotations":{"priority":1}}"#]
    {
        feed(&mut client, &update(&format!(r#""agent_message_chunk","messageId":"m","content":{content}"#)));
    }
    feed(&mut client, &update(r#""terminal_output_chunk","terminalId":"x","data":"w6nw""#));
    let item = r#"{"type":"content","content":{"type":"text","text":"a"}}"#;
    feed(&mut client, &update(&format!(r#""tool_call_content_chunk","toolCallId":"t","content":{item}"#)));
    let view = client.view("s").unwrap();
    let mut valid = 0;
    for entry in view.entries().chain(view.terminals()) {
        let all = entry.content_from(0);
        for position in (0..entry.end() + 50).chain([u64::MAX]) {
            let tail = entry.content_from(position);
            assert!(tail.from() == position || tail.from() == 0 && tail.text() == all.text());
            assert!(all.text().ends_with(&*tail.text()) && tail.end() == entry.end());
            assert!(tail.blocks().count() <= all.blocks().count() && tail.items().count() <= all.items().count());
            assert_eq!(tail.to_json(), view.content_from(entry.index(), position).unwrap());
            valid += usize::from(tail.from() > 0);
        }
        assert!(entry.content_from(entry.end()).text().is_empty());
    }
    assert!(valid > 10, "{valid}");
    assert!(view.content_from(99, 0).is_none() && view.text_of(2).is_none() && view.output_of(0).is_none());
    let terminal = view.terminals().next().unwrap();
    assert_eq!(view.output_of(terminal.index()).unwrap(), b"\xc3\xa9\xf0");
}

fn bytes_of(view: &libacp::view::View) -> usize {
    view.entries().chain(view.terminals()).map(|entry| entry.to_json().len()).sum()
}

/// What is sent, and the update of a number.
type Attack = (&'static str, fn(usize, &str) -> String);

/// Whatever a peer sends, a view keeps no more than it should.
#[test]
fn what_a_peer_sends_fills_no_view() {
    let _alone = alone();
    let long = "x".repeat(10_000);
    let many: [Attack; 9] = [
        ("messages", |n, text| {
            format!(r#""agent_message","messageId":"m-{n}","content":[{{"type":"text","text":"{text}"}}]"#)
        }),
        ("one message", |_, text| {
            format!(r#""agent_message_chunk","messageId":"m","content":{{"type":"text","text":"{text}"}}"#)
        }),
        ("images", |_, text| {
            format!(
                r#""agent_message_chunk","messageId":"m","content":{{"type":"image","mimeType":"i/p","data":"{text}"}}"#
            )
        }),
        ("tool calls", |n, text| {
            format!(r#""tool_call_update","toolCallId":"t-{n}","title":"A","rawInput":["{text}"]"#)
        }),
        ("items", |_, text| {
            format!(
                r#""tool_call_content_chunk","toolCallId":"t","content":{{"type":"content","content":{{"type":"text","text":"{text}"}}}}"#
            )
        }),
        ("terminals", |n, text| {
            format!(r#""terminal_output_chunk","terminalId":"x-{n}","data":"{text}","_meta":null"#)
        }),
        ("plans", |n, text| {
            format!(
                r#""plan_update","plan":{{"type":"items","planId":"p-{n}","entries":[{{"content":"{text}","priority":"low","status":"pending"}}]}}"#
            )
        }),
        ("unknown updates", |_, text| format!(r#""_own","text":["{text}"]"#)),
        ("ids", |n, text| {
            format!(
                r#""agent_message_chunk","messageId":"{n}{}","content":{{"type":"text","text":"a"}}"#,
                &text[..4000]
            )
        }),
    ];
    for (name, message) in many {
        let mut config = config(Role::Client, 2);
        config.limits.view_bytes = 1 << 20;
        config.limits.view_content = 256 << 10;
        config.limits.view_output = 64 << 10;
        config.limits.view_entries = 500;
        config.limits.remembered = 100;
        let mut client = client(config);
        let before = ALLOCATOR.allocated();
        let mut most = 0;
        for number in 0..2_000 {
            feed(&mut client, &update(&message(number, &long)));
            most = most.max(ALLOCATOR.allocated() - before);
        }
        let view = client.view("s").unwrap();
        assert!(view.entries().count() + view.terminals().count() <= 1_001, "{name}");
        assert!(view.bytes() <= 1 << 20, "{name}: {} bytes", view.bytes());
        assert!(bytes_of(view) <= 6 << 20, "{name}: {} bytes of JSON", bytes_of(view));
        assert!(most <= 5 << 20, "{name}: {most} bytes");
    }
}
