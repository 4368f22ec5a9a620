//! After a session was loaded again, its view is what it was, if the agent replays everything; and if the load fails, in
//! any case: recordings and random conversations of both versions.

#[path = "support/base64.rs"]
mod base64;
#[path = "support/conversation.rs"]
mod conversation;
#[path = "support/recording.rs"]
mod recording;
#[path = "support/rng.rs"]
mod rng;
#[path = "support/talk.rs"]
mod talk;

use std::path::Path;

use conversation::{message, update, Replayed};
use libacp::connection::{Observer, Versions};
use libacp::view::View;
use libacp::{Config, Role};
use serde_json::{json, Value};
use talk::Talk;

/// What is to be the same. Left out are the revisions, epochs and ends, which count changes; the indexes, because what has moved
/// or is gone leaves its place empty; in version 2 the turns, because what is told between the beginning of the work and
/// the message of the user's that it is about is told before that message again, and nothing says that the work had begun;
/// and in version 1 the status `cancelled`, which is the client's own mark (CANCEL-02). Where a message without an id ended
/// because its turn did, nothing says so again, so that adjacent ones of one role count as one.
fn shown(view: &View, version: u64, marked: &[String]) -> Value {
    let mut all: Value = serde_json::from_str(&view.to_json()).unwrap();
    let leave_out = |value: &mut Value, names: &[&str]| {
        value.as_object_mut().unwrap().retain(|name, _| !names.contains(&name.as_str()));
    };
    leave_out(&mut all, &["revision", "epoch"]);
    if version == 2 {
        leave_out(&mut all, &["turn"]);
    }
    for list in ["entries", "terminals"] {
        let Some(entries) = all.get_mut(list).and_then(Value::as_array_mut) else { continue };
        entries.dedup_by(|later, earlier| goes_on(earlier, later));
        for entry in entries {
            leave_out(entry, &["revision", "rewritten", "end", "index"]);
            if version == 2 || list == "terminals" {
                leave_out(entry, &["turn"]);
            } else if marked.iter().any(|id| entry["type"] == "tool_call" && entry["id"] == **id) {
                leave_out(entry, &["status"]);
            }
        }
    }
    all
}

/// The tool calls that the client has marked itself.
fn marked(view: &View) -> Vec<String> {
    let marked = view.entries().filter(|entry| entry.get("status") == Some("\"cancelled\""));
    marked.filter_map(|entry| entry.id().map(str::to_owned)).collect()
}

/// Adds a message to the one before it, if neither has an id and both are of one role.
fn goes_on(earlier: &mut Value, later: &Value) -> bool {
    let is_one = later["type"] == "message" && later["id"].is_null();
    if !is_one || ["type", "id", "role"].iter().any(|name| earlier[*name] != later[*name]) {
        return false;
    }
    let (blocks, more) = (earlier["blocks"].as_array_mut().unwrap(), later["blocks"].as_array().unwrap());
    blocks.extend(more.iter().cloned());
    blocks.dedup_by(|later, earlier| {
        let plain = |block: &Value| block["type"] == "text" && block.as_object().unwrap().len() == 2;
        if !plain(later) || !plain(earlier) {
            return false;
        }
        earlier["text"] = (earlier["text"].as_str().unwrap().to_owned() + later["text"].as_str().unwrap()).into();
        true
    });
    true
}

/// Where two views are different.
fn difference(place: &str, one: &Value, other: &Value) -> Option<String> {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let both = one.iter().zip(other).enumerate();
            both.into_iter().find_map(|(at, (one, other))| difference(&format!("{place}/{at}"), one, other))
        }
        (Value::Object(one), Value::Object(other)) if one.len() == other.len() => {
            one.iter().find_map(|(name, value)| {
                difference(&format!("{place}/{name}"), value, other.get(name).unwrap_or(&Value::Null))
            })
        }
        _ => (one != other).then(|| format!("{place} was {one} and is {other}")),
    }
}

/// All of it but the number of the revision.
fn whole(view: &View) -> Value {
    let mut all: Value = serde_json::from_str(&view.to_json()).unwrap();
    all.as_object_mut().unwrap().remove("revision");
    all
}

fn observer() -> Observer {
    let mut config = Config::client();
    (config.view, config.versions) = (true, Versions::ALL);
    Observer::new(config)
}

fn see(observer: &mut Observer, from: Role, bytes: &[u8]) {
    observer.receive(from, bytes);
    while observer.poll_event().is_some() {}
}

fn view<'o>(observer: &'o Observer, id: &str) -> &'o View {
    observer.views().find(|(known, _)| ***known == *id).unwrap().1
}

/// Loads the sessions of a recording again, as they were when one was first loaded or closed; how many there are.
fn is_the_same_after_a_load(path: &Path) -> usize {
    let name = recording::name(path);
    let told = conversation::beginning(path);
    for session in &told.sessions {
        let mut observer = observer();
        told.bytes.iter().for_each(|(from, bytes)| see(&mut observer, *from, bytes));
        let (id, Replayed { load, updates, result }) =
            (&session.0, told.replayed(session, view(&observer, &session.0)));
        let before = view(&observer, id).clone();
        for (request, succeeds) in [(10_001, false), (10_002, true)] {
            see(&mut observer, Role::Client, &message(&json!({"id": request, "method": load.0, "params": load.1})));
            let some = if succeeds { updates.len() } else { updates.len() / 2 };
            updates[..some].iter().for_each(|told| see(&mut observer, Role::Agent, &update(id, told)));
            assert!(view(&observer, id).is_replaying(), "{name}: {id}");
            let answer = if succeeds {
                json!({"id": request, "result": result})
            } else {
                json!({"id": request, "error": {"code": -32603, "message": "no"}})
            };
            see(&mut observer, Role::Agent, &message(&answer));
            if !succeeds {
                assert_eq!(
                    difference("", &whole(&before), &whole(view(&observer, id))),
                    None,
                    "{name}: {id}: it failed"
                );
            }
        }
        let after = view(&observer, id);
        let marked = marked(&before);
        let [before, after] = [&before, after].map(|view| shown(view, told.version, &marked));
        assert_eq!(difference("", &before, &after), None, "{name}: {id}");
    }
    told.sessions.len()
}

#[test]
fn recordings_are_the_same_after_a_load() {
    let sessions: usize = recording::all().iter().map(|path| is_the_same_after_a_load(path)).sum();
    assert!(sessions >= 19, "{sessions} sessions");
}

#[test]
fn random_conversations_are_the_same_after_a_load() {
    let mut entries = 0;
    for seed in 0..400 {
        let version = 1 + u16::try_from(seed % 2).unwrap();
        let mut talk = Talk::new(version, seed);
        for _ in 0..=seed % 7 {
            talk.turn();
        }
        let (before, told) = (talk.view().clone(), talk.told.clone());
        entries += before.entries().count();
        let (method, params) = conversation::load(version.into(), "s", &json!("/w"));
        talk.ask(method, &params);
        for told in &told[..told.len() / 2] {
            talk.tell(told);
        }
        talk.answer("error", &json!({"code": -32603, "message": "no"}));
        assert_eq!(difference("", &whole(&before), &whole(talk.view())), None, "seed {seed}: the load has failed");
        talk.ask(method, &params);
        for told in &told {
            talk.tell(told);
        }
        if version == 2 {
            talk.tell(&json!({"sessionUpdate": "state_update", "state": "idle"}));
        }
        assert!(talk.view().is_replaying(), "seed {seed}");
        talk.answer("result", &json!({}));
        let [before, after] = [&before, talk.view()].map(|view| shown(view, version.into(), &[]));
        assert_eq!(difference("", &before, &after), None, "seed {seed}");
    }
    assert!(entries > 4_000, "{entries} entries");
}
