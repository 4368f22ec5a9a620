//! Batches against a model of what JSON-RPC says of them, and against the same messages in other pieces.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::connection::{Config, Event, Versions};

/// Numbers without an order, the same in each run (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % u64::try_from(end).unwrap()).unwrap()
    }
}

/// An agent of version 2.
fn agent(frame: usize) -> Connection {
    let mut config = Config { versions: Versions::ALL, ..Config::agent() };
    config.limits.frame = frame;
    let mut agent = Connection::new(config);
    let hello = r#"{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":2,"info":{"name":"c","version":"1"},"capabilities":{}}}"#;
    feed(&mut agent, hello);
    drain(&mut agent);
    agent.respond(&crate::Id::from("hello"), r#"{"info":{"name":"a","version":"1"},"capabilities":{}}"#).unwrap();
    written(&mut agent);
    agent
}

fn feed(agent: &mut Connection, frame: &str) {
    agent.receive(frame.as_bytes());
    agent.receive(b"\n");
}

fn drain(agent: &mut Connection) -> Vec<Event> {
    std::iter::from_fn(|| agent.poll_event()).collect()
}

/// The frames that wait, which are taken as written.
fn written(agent: &mut Connection) -> Vec<String> {
    let text = String::from_utf8(agent.transmit().to_vec()).unwrap();
    agent.consume(text.len());
    text.lines().map(str::to_owned).collect()
}

fn request(id: i64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"_m","params":{{}}}}"#)
}

fn unknown(id: i64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{LONG}","params":{{}}}}"#)
}

fn unknown_answer(id: i64) -> String {
    let data = format!(r#"{{"rule":"RPC-17","method":"{LONG}"}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32601,"message":"Method not found","data":{data}}}}}"#)
}

fn result(id: i64, more: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"x":"{}"}}}}"#, "y".repeat(more))
}

/// Nobody has it, and an error that names it is longer than one that does not.
const LONG: &str = "no/such/method/with/a/name/that/is/so/long/that/there/may/be/no/room/for/it/in/an/answer/at/all";
const TELLS: &str = r#"{"jsonrpc":"2.0","method":"_n","params":{}}"#;
const NUMBER: &str =
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request","data":{"rule":"BATCH-08"}}}"#;

/// What has to be known of a batch: its open requests and its answers, in the order in which they came.
#[derive(Default)]
struct Expected {
    open: BTreeSet<i64>,
    answers: Vec<String>,
}

#[test]
fn answers_go_out_when_a_model_says_so_and_nothing_is_left_behind() {
    let mut chance = Chance(0x00ac_2026);
    let mut agent = agent(32 << 20);
    let mut model: BTreeMap<u64, Expected> = BTreeMap::new();
    let (mut next, mut arrays, mut number) = (0i64, 0, 0);
    for _ in 0..4000 {
        if chance.below(3) > 0 || model.is_empty() {
            let mut expected = Expected::default();
            let entries: Vec<String> = (0..=chance.below(5))
                .map(|_| {
                    next += 1;
                    match chance.below(6) {
                        0 => TELLS.to_owned(),
                        1 => {
                            expected.answers.push(NUMBER.into());
                            "7".to_owned()
                        }
                        2 => {
                            expected.answers.push(unknown_answer(next));
                            unknown(next)
                        }
                        _ => {
                            expected.open.insert(next);
                            request(next)
                        }
                    }
                })
                .collect();
            number += 1;
            model.insert(number, expected);
            feed(&mut agent, &format!("[{}]", entries.join(",")));
            drain(&mut agent);
        } else {
            let of: Vec<u64> = model.keys().copied().collect();
            let expected = model.get_mut(&of[chance.below(of.len())]).unwrap();
            let open: Vec<i64> = expected.open.iter().copied().collect();
            let id = open[chance.below(open.len())];
            let more = chance.below(50);
            agent.respond(&crate::Id::from(id), &format!(r#"{{"x":"{}"}}"#, "y".repeat(more))).unwrap();
            expected.open.remove(&id);
            expected.answers.push(result(id, more));
        }
        let done: Vec<u64> =
            model.iter().filter(|(_, expected)| expected.open.is_empty()).map(|(number, _)| *number).collect();
        let done = done.iter().filter_map(|number| model.remove(number)).map(|expected| expected.answers);
        let wanted: Vec<String> =
            done.filter(|answers| !answers.is_empty()).map(|answers| format!("[{}]", answers.join(","))).collect();
        arrays += wanted.len();
        assert_eq!(written(&mut agent), wanted);
        let open: usize = model.values().map(|expected| expected.open.len()).sum();
        let held: usize = model.values().flat_map(|expected| &expected.answers).map(|answer| answer.len() + 1).sum();
        let batches = &agent.batches;
        assert_eq!((batches.open.len(), batches.of.len(), batches.held), (model.len(), open, held));
        let room: usize = batches.of.values().map(|(_, room)| *room).sum();
        let kept: usize = batches.open.values().map(|batch| batch.room).sum();
        assert_eq!(room, kept);
        if model.len() > 100 {
            // Everything ends at once, oldest first.
            let there = std::mem::take(&mut model).into_values().map(|expected| expected.answers);
            let there = there.filter(|answers| !answers.is_empty()).map(|answers| format!("[{}]", answers.join(",")));
            agent.close();
            assert_eq!(written(&mut agent), there.collect::<Vec<_>>());
            assert!(agent.batches.open.is_empty() && agent.batches.of.is_empty() && agent.batches.held == 0);
            agent = self::agent(32 << 20);
        }
    }
    assert!(arrays > 500, "{arrays}");
}

/// What the host is told, without the number and the text of the frame that it came in.
fn told(events: Vec<Event>) -> Vec<String> {
    let told = events.into_iter().map(|event| match event {
        Event::Request(request) => format!("request {} {}", request.id, request.params()),
        Event::Notification(notification) => format!("notification {}", notification.params()),
        Event::Response(response) => format!("response {} {:?}", response.id, response.outcome.result()),
        Event::Cancel(cancel) => format!("cancel {}", cancel.id),
        Event::Violation(violation) => format!("violation {} {:?}", violation.rule, violation.consequence),
        other => format!("{other:?}"),
    });
    told.collect()
}

/// The answers of a conversation in which these entries come in batches of these lengths, and what the host was told. The
/// host answers in the end, the newest request first.
fn conversation(entries: &[String], lengths: &mut dyn FnMut(usize) -> usize) -> (Vec<String>, BTreeSet<String>) {
    let mut agent = agent(32 << 20);
    for _ in 0..5 {
        agent.request("_q", "{}").unwrap();
    }
    written(&mut agent);
    let (mut rest, mut heard) = (entries, Vec::new());
    let (mut waiting, mut sent) = (Vec::new(), Vec::new());
    while !rest.is_empty() {
        let (now, later) = rest.split_at(lengths(rest.len()));
        // A batch of none is none: a message by itself.
        let (now, later) = if now.is_empty() { rest.split_at(1) } else { (now, later) };
        let single = now.len() == 1 && lengths(2) == 1;
        feed(&mut agent, &if single { now[0].clone() } else { format!("[{}]", now.join(",")) });
        rest = later;
        let events = drain(&mut agent);
        waiting.extend(events.iter().filter_map(|event| match event {
            Event::Request(request) => Some(request.id.clone()),
            _ => None,
        }));
        heard.extend(told(events));
    }
    while let Some(id) = waiting.pop() {
        agent.respond(&id, "{}").unwrap();
    }
    for frame in written(&mut agent) {
        if frame.starts_with('[') {
            let answers = json::items(&frame);
            assert!(!answers.is_empty(), "an empty list");
            sent.extend(answers.into_iter().map(str::to_owned));
        } else {
            sent.push(frame);
        }
    }
    assert!(agent.batches.open.is_empty() && agent.batches.held == 0);
    let count = sent.len();
    let sent: BTreeSet<String> = sent.into_iter().collect();
    assert_eq!(sent.len(), count, "an answer twice");
    (heard, sent)
}

#[test]
fn the_same_messages_in_other_batches_say_the_same() {
    let mut chance = Chance(0x0bad_cafe);
    for round in 0..300 {
        let mut own: Vec<usize> = (1..=5).collect();
        let entries: Vec<String> = (0..=chance.below(20))
            .map(|at| {
                let id = i64::try_from(at).unwrap();
                match chance.below(7) {
                    0 => format!(r#"{{"jsonrpc":"2.0","method":"_n","params":{{"at":{at}}}}}"#),
                    1 if !own.is_empty() => {
                        let answered = own.remove(chance.below(own.len()));
                        format!(r#"{{"jsonrpc":"2.0","id":{answered},"result":{{"at":{at}}}}}"#)
                    }
                    2 => unknown(id),
                    3 => format!(
                        r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{}}}}}"#,
                        id / 2
                    ),
                    _ => request(id),
                }
            })
            .collect();
        let whole = conversation(&entries, &mut |rest| rest);
        let single = conversation(&entries, &mut |_| 1);
        assert_eq!(whole, single, "round {round}: {entries:?}");
        for _ in 0..4 {
            assert_eq!(whole, conversation(&entries, &mut |rest| 1 + chance.below(rest)), "round {round}: {entries:?}");
        }
    }
}

#[test]
fn no_list_is_longer_than_a_frame_and_a_short_error_always_fits() {
    let mut chance = Chance(0x0f00_d001);
    let (mut refused, mut cut) = (0, 0);
    for _ in 0..500 {
        let limit = 2100 + chance.below(2000);
        let mut agent = agent(limit);
        let ids: Vec<i64> = (0..=i64::try_from(chance.below(15)).unwrap()).collect();
        let entries: Vec<String> =
            ids.iter().map(|id| if chance.below(2) == 0 { unknown(*id) } else { request(*id) }).collect();
        feed(&mut agent, &format!("[{}]", entries.join(",")));
        drain(&mut agent);
        let mut open: Vec<Id> = agent.unanswered().map(|request| request.id.clone()).collect();
        while !open.is_empty() {
            let id = open.remove(chance.below(open.len()));
            let text = format!(r#"{{"x":"{}"}}"#, "y".repeat(chance.below(limit)));
            if let Err(misuse) = agent.respond(&id, &text) {
                refused += 1;
                assert_eq!(misuse.rule, "LIMIT-01");
                assert!(agent.unanswered_by_id(&id).is_some(), "an answer that was refused has ended its request");
                agent.respond_error(&id, ErrorCode::INTERNAL_ERROR, "Internal error", None).unwrap();
            }
        }
        let frames = written(&mut agent);
        assert_eq!(frames.len(), 1, "{frames:?}");
        assert!(frames[0].len() <= limit, "{} of {limit}", frames[0].len());
        assert_eq!(json::items(&frames[0]).len(), ids.len());
        cut += usize::from(frames[0].contains(r#""message":"Method not found"}"#));
    }
    assert!(refused > 100 && cut > 0, "{refused} {cut}");
}

#[test]
fn answers_that_wait_for_their_batches_hold_the_peer_back() {
    let mut agent = agent(64 << 10);
    let bound = super::super::MIN_REPLY_BUDGET;
    let text = format!(r#"{{"x":"{}"}}"#, "y".repeat(60_000));
    let mut id = 0;
    while agent.batches.held() <= bound {
        feed(&mut agent, &format!("[{},{}]", request(id), request(id + 1)));
        assert_eq!(drain(&mut agent).len(), 2);
        agent.respond(&crate::Id::from(id), &text).unwrap();
        id += 2;
        assert!(id < 100 && agent.unsent() == 0 && agent.transmit().is_empty());
    }
    feed(&mut agent, TELLS);
    assert!(agent.poll_event().is_none() && agent.poll_timeout().is_none());
    // One batch is complete: its list can be written, and there is less that waits.
    agent.respond(&crate::Id::from(1), "{}").unwrap();
    assert_eq!(agent.poll_timeout(), Some(0));
    assert_eq!(drain(&mut agent).len(), 1);
    assert_eq!(written(&mut agent).len(), 1);
}

#[test]
fn refusals_that_nobody_reads_hold_the_peer_back_as_they_do_one_by_one() {
    let mut agent = agent(32 << 10);
    let bad = format!("[{}]", vec!["7"; 200].join(","));
    let (mut fed, mut heard) = (0, 0);
    while fed < 1000 && agent.buffered() < 100_000 {
        feed(&mut agent, &bad);
        heard += drain(&mut agent).len();
        fed += 1;
    }
    assert!(agent.unsent() < super::super::MIN_REPLY_BUDGET + (32 << 10) && heard < 200 * fed, "{}", agent.unsent());
    while heard < 200 * fed {
        assert!(!written(&mut agent).is_empty());
        heard += drain(&mut agent).len();
    }
    assert_eq!(heard, 200 * fed);
}

#[test]
fn a_cancel_that_comes_too_late_says_what_stops_the_work() {
    let mut client = Connection::new(Config { versions: Versions::ALL, ..Config::client() });
    client.request("initialize", r#"{"info":{"name":"c","version":"1"},"capabilities":{}}"#).unwrap();
    feed(
        &mut client,
        r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":2,"info":{"name":"a","version":"1"},"capabilities":{"session":{}}}}"#,
    );
    drain(&mut client);
    client.request("session/new", r#"{"cwd":"/w"}"#).unwrap();
    feed(&mut client, r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#);
    drain(&mut client);
    let prompt =
        client.request("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}"#).unwrap();
    feed(&mut client, r#"{"jsonrpc":"2.0","id":3,"result":{"messageId":"m"}}"#);
    drain(&mut client);
    let misuse = client.cancel(&prompt).unwrap_err();
    assert_eq!(misuse.rule, "CANCEL-08");
    assert!(misuse.message.contains("session/cancel"), "{misuse}");
    let other = client.cancel(&crate::Id::from(9)).unwrap_err();
    assert!(!other.message.contains("session/cancel"), "{other}");
}
