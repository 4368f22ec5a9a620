//! The workloads on libacp, and the floor of W4. Read `lib.rs` first, then `turns.rs`.
#![forbid(unsafe_code)]

mod turns;

use std::hint::black_box;

use libacp::schema::v1::SessionNotification;
use libacp::{Config, Connection, Event};
use libacp_bench::{client, client_with, SESSION};
use libacp_bench_measure::{none, timed, Inputs, Pass, Work, PIECE};
use serde::de::IgnoredAny;

/// Connections of W5, and its simulated seconds.
const CONNECTIONS: usize = 10_000;
const SECONDS: u64 = 10;

const WORKS: &[Work] = &[
    ("none", none),
    ("w1", turns::chunks),
    ("w2", turns::diffs),
    ("w3", turns::files),
    ("w4-small", |inputs| decode(&inputs.bytes("small.jsonl"), PIECE, events)),
    ("w4-mix", |inputs| decode(&inputs.bytes("mix.jsonl"), PIECE, events)),
    ("w4-small-view", |inputs| decode_shown(&inputs.bytes("small.jsonl"))),
    ("w4-mix-view", |inputs| decode_shown(&inputs.bytes("mix.jsonl"))),
    ("w4-small-typed", |inputs| decode(&inputs.bytes("small.jsonl"), PIECE, structs)),
    ("w4-mix-typed", |inputs| decode(&inputs.bytes("mix.jsonl"), PIECE, structs)),
    ("w4-small-floor", |inputs| ignore(&inputs.bytes("small.jsonl"))),
    ("w4-mix-floor", |inputs| ignore(&inputs.bytes("mix.jsonl"))),
    ("w5", many),
    ("w6-whole", |inputs| decode(&inputs.bytes("big.jsonl"), usize::MAX, events)),
    ("w6-4096", |inputs| decode(&inputs.bytes("big.jsonl"), 4096, events)),
    ("w6-100", |inputs| decode(&inputs.bytes("big.jsonl"), 100, events)),
    ("w6-1", |inputs| decode(&inputs.bytes("big.jsonl"), 1, events)),
];

fn main() {
    libacp_bench_measure::main(WORKS);
}

/// Gives a connection bytes in pieces, and takes the events after each.
fn decode(bytes: &[u8], piece: usize, drain: fn(&mut Connection) -> usize) -> Pass {
    let mut client = client(SESSION);
    timed(|| {
        let mut count = 0;
        for piece in bytes.chunks(piece) {
            client.receive(piece);
            count += drain(&mut client);
        }
        count
    })
}

/// The same with a view of the session, which is asked after each piece what has changed.
fn decode_shown(bytes: &[u8]) -> Pass {
    let mut config = Config::client();
    config.view = true;
    let mut client = client_with(config, SESSION);
    timed(|| {
        let (mut count, mut drawn) = (0, 0);
        for piece in bytes.chunks(PIECE) {
            client.receive(piece);
            count += events(&mut client);
            let view = client.view("s-0").expect("a view");
            black_box(view.since(drawn).entries().count());
            drawn = view.revision();
        }
        count
    })
}

/// Takes all events.
fn events(client: &mut Connection) -> usize {
    let mut count = 0;
    while let Some(event) = client.poll_event() {
        // Anything else would be a message that broke a rule, and another work.
        assert!(matches!(event, Event::Notification(_)), "{event:?}");
        black_box(event);
        count += 1;
    }
    count
}

/// Takes all events, and their params as types.
fn structs(client: &mut Connection) -> usize {
    let mut count = 0;
    while let Some(event) = client.poll_event() {
        let Event::Notification(notification) = &event else { panic!("{event:?}") };
        let params: SessionNotification<'_> = notification.params_as().expect("params that were validated");
        black_box(&params);
        count += 1;
    }
    count
}

/// What reading the bytes as JSON costs when nothing is kept.
fn ignore(bytes: &[u8]) -> Pass {
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).collect();
    timed(|| {
        for line in &lines {
            black_box(serde_json::from_slice::<IgnoredAny>(line).expect("JSON"));
        }
        lines.len()
    })
}

fn many(inputs: &Inputs) -> Pass {
    let mut clients: Vec<Connection> = (0..CONNECTIONS).map(|_| client(r#"{"sessionId":"s-0"}"#)).collect();
    let lines = inputs.bytes("small.jsonl");
    let mut lines = lines.split_inclusive(|byte| *byte == b'\n');
    timed(|| {
        let mut count = 0;
        for second in 1..=SECONDS {
            let line = lines.next().expect("a line for each second");
            for client in &mut clients {
                client.receive(line);
                count += events(client);
                client.handle_timeout(second * 1000);
                assert!(client.transmit().is_empty());
                black_box(client.poll_timeout());
            }
        }
        count
    })
}
