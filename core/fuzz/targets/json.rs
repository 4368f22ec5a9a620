//! JSON and the envelope: what is JSON here is JSON for `serde_json`, a string has the same value, and a message that is
//! delivered is the one that `serde_json` reads.

use libacp::connection::{Event, Versions};
use libacp::json::{self, SyntaxKind};
use libacp::schema::tables::v1::TABLES;
use libacp::validation::{check, Mode, Part, Rejected};
use libacp::{Config, Connection, Id};
use serde::de::IgnoredAny;
use serde_json::Value;

pub(crate) fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let other: Result<IgnoredAny, _> = serde_json::from_str(text);
    // Any value at all is type 0.
    match check(&TABLES, 0, 0, text, Mode::Strict, Part::Notification) {
        Ok(_) => assert!(other.is_ok(), "not JSON: {text}"),
        Err(Rejected::Syntax(error)) if matches!(error.kind, SyntaxKind::Depth | SyntaxKind::Surrogate) => {}
        Err(error) => assert!(other.is_err(), "JSON: {text}: {error}"),
    }
    strings(text);
    if !text.contains('\n') {
        envelope(text, 1);
        // A list is a batch, each of whose messages has its own events.
        if !text.trim_start().starts_with('[') {
            envelope(text, 2);
        }
    }
}

/// A text as the value of a string, and as a string itself.
fn strings(text: &str) {
    let quoted = serde_json::to_string(text).expect("a string");
    assert_eq!(json::unescape(&quoted).as_deref(), Some(text));
    let mut out = String::new();
    json::quote(&mut out, text);
    assert_eq!(serde_json::from_str::<String>(&out).expect("a string"), text);
    match serde_json::from_str::<String>(text) {
        Ok(value) => assert_eq!(json::unescape(text).as_deref(), Some(&*value)),
        // Half surrogate pairs are read as U+FFFD.
        Err(_) => assert!(json::unescape(text).is_none_or(|value| value.contains(char::REPLACEMENT_CHARACTER))),
    }
}

fn envelope(text: &str, version: u16) {
    let mut config = Config::agent();
    config.versions = Versions::only(version);
    let mut agent = Connection::new(config);
    let info = r#""info":{"name":"x","version":"1"}"#;
    let (hello, welcome) = match version {
        1 => (String::new(), "{}".to_owned()),
        _ => (format!(",{info}"), format!("{{{info},\"capabilities\":{{\"session\":{{}}}}}}")),
    };
    let params = format!("{{\"protocolVersion\":{version}{hello}}}");
    let hello = format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{params}}}\n");
    agent.receive(hello.as_bytes());
    while agent.poll_event().is_some() {}
    agent.respond(&Id::Number(0), &welcome).expect("an answer to initialize");
    agent.consume(usize::MAX);
    agent.receive(text.as_bytes());
    agent.receive(b"\n");
    while let Some(event) = agent.poll_event() {
        let (id, method, params) = match &event {
            Event::Request(request) => (Some(request.id.to_json()), &request.method, request.params()),
            // A cancel may have had an id all the same (RPC-29).
            Event::Notification(told) => (None, &told.method, told.params()),
            _ => continue,
        };
        // Numbers that no double holds are JSON all the same.
        let Ok(message) = serde_json::from_str::<Value>(text) else { continue };
        assert_eq!(message["method"], **method);
        if let Some(id) = id {
            assert!(same(&message["id"], &serde_json::from_str(&id).expect("an id")));
        }
        assert!(serde_json::from_str::<IgnoredAny>(params).is_ok(), "params that are not JSON: {params}");
    }
    let sent = String::from_utf8(agent.transmit().to_vec()).expect("UTF-8 is sent");
    for line in sent.lines() {
        let answer: Value = serde_json::from_str(line).expect("JSON is sent");
        if !answer["id"].is_null() {
            // Half a surrogate pair, or a number that no double holds, is nothing that `serde_json` reads.
            let Ok(message) = serde_json::from_str::<Value>(text) else { continue };
            assert!(same(&answer["id"], &message["id"]));
        }
    }
}

/// Whether two ids are one; -0 is no other number than 0.
fn same(one: &Value, other: &Value) -> bool {
    one == other || (one.as_f64() == Some(0.0) && other.as_f64() == Some(0.0))
}
