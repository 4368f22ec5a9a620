//! Counts what the heap is asked for: `bench-memory WORK`.
//!
//! `allocations` is how many one small update takes from `receive` to its event, once the connection is warm;
//! `view` is the bytes that the view of a session of 10,000 short messages holds; `idle-client` and `idle-agent` are the bytes that a connection with one session holds while nothing happens.
#![forbid(unsafe_code)]

use std::alloc::System;
use std::hint::black_box;

use libacp::{Config, Connection, Event};
use libacp_bench::{client, client_with, feed, idle_client};
use stats_alloc::{Region, StatsAlloc, INSTRUMENTED_SYSTEM};

#[global_allocator]
static HEAP: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const CONNECTIONS: usize = 1_000;
const UPDATES: usize = 10_000;
const SESSION: &str = r#"{"sessionId":"s-0"}"#;

fn main() {
    let name = std::env::args().nth(1).expect("expected WORK");
    #[allow(clippy::cast_precision_loss, reason = "small numbers")]
    let value = match name.as_str() {
        "allocations" => allocations() as f64 / UPDATES as f64,
        "view" => view() as f64,
        "idle-client" => bytes(|| idle_client(SESSION)) as f64 / CONNECTIONS as f64,
        "idle-agent" => bytes(idle_agent) as f64 / CONNECTIONS as f64,
        _ => panic!("no work {name}"),
    };
    println!(r#"{{"work":"{name}","value":{value}}}"#);
}

fn allocations() -> usize {
    let mut client = client(SESSION);
    let update = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Forty bytes of what the agent says now.."}}"#;
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{{\"sessionId\":\"s-0\",\"update\":{update}}}}}\n"
    );
    let mut pass = || {
        for _ in 0..UPDATES {
            client.receive(line.as_bytes());
            let event = client.poll_event();
            assert!(matches!(event, Some(Event::Notification(_))), "{event:?}");
            black_box(&event);
        }
    };
    pass();
    let region = Region::new(HEAP);
    pass();
    let change = region.change();
    change.allocations + change.reallocations
}

/// What a client holds more after as many messages with a view of them.
fn view() -> usize {
    let mut config = Config::client();
    config.view = true;
    // As many as there are stay whole.
    config.limits.view_entries = 2 * UPDATES;
    let mut client = client_with(config, SESSION);
    let region = Region::new(HEAP);
    for number in 0..UPDATES {
        let content = r#"{"type":"text","text":"Forty bytes of what the agent says now.."}"#;
        let update = format!(
            r#"{{"sessionUpdate":"agent_message_chunk","messageId":"message-{number:05}","content":{content}}}"#
        );
        let params = format!(r#"{{"sessionId":"s-0","update":{update}}}"#);
        feed(&mut client, &format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#));
    }
    let change = region.change();
    assert_eq!(client.view("s-0").expect("a view").entries().count(), UPDATES + 1);
    change.bytes_allocated - change.bytes_deallocated
}

/// What so many of them hold.
fn bytes(make: impl Fn() -> Connection) -> usize {
    drop(make());
    let mut all = Vec::with_capacity(CONNECTIONS);
    let region = Region::new(HEAP);
    all.extend((0..CONNECTIONS).map(|_| make()));
    let change = region.change();
    black_box(&all);
    // The list itself was made before.
    change.bytes_allocated - change.bytes_deallocated + CONNECTIONS * size_of::<Connection>()
}

fn idle_agent() -> Connection {
    let mut agent = Connection::new(Config::agent());
    feed(&mut agent, r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#);
    agent.respond(&libacp::Id::from(1), "{}").expect("a greeting");
    feed(&mut agent, r#"{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":"/work","mcpServers":[]}}"#);
    agent.respond(&libacp::Id::from(2), SESSION).expect("a session");
    agent.consume(usize::MAX);
    agent
}
