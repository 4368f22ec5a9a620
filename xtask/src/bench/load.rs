//! A server under load: what `bench/rust-remote/src/load` measures, with the same libraries without libacp, and with the
//! official SDK's server, beside it.

use std::collections::BTreeMap;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::Value;

use super::rounds::output;
use super::works::NODE_OFFICIAL_REMOTE;
use super::{Figure, Plan};

const LOAD: &str = "target/release/bench-load";
/// `acp serve`, with the agent of the load as a program.
const SERVE: &[&str] = &[
    "target/release/acp",
    "--quiet",
    "serve",
    "--listen",
    "127.0.0.1:0",
    "--connections",
    "20000",
    "--",
    LOAD,
    "agent",
];

/// What there is, and what it is counted in.
pub(super) const ABOUT: &[(&str, &str)] = &[
    ("idle-http", "server: an idle connection with one session over HTTP/1.1, beyond two sockets of hyper's, KiB"),
    ("idle-http2", "server: the same over HTTP/2, beyond hyper, KiB"),
    ("idle-ws", "server: the same over a WebSocket, beyond hyper and tungstenite, KiB"),
    ("idle-http-whole", "server: the same over HTTP/1.1, with its sockets, KiB"),
    ("idle-http2-whole", "server: the same over HTTP/2, with its sockets, KiB"),
    ("idle-ws-whole", "server: the same over a WebSocket, with its socket, KiB"),
    ("idle-http-official", "server: the official SDK's in Node, HTTP/1.1, with its sockets, KiB"),
    ("crowd-number", "server: idle connections in one process, one in a hundred at work"),
    ("crowd-http", "server: 99 of 100 turns over HTTP/1.1 take at most, ms"),
    ("crowd-http2", "server: the same over HTTP/2, ms"),
    ("crowd-ws", "server: the same over a WebSocket, ms"),
    ("crowd-serve-number", "`acp serve`: idle connections, each with a process, that its descriptors allow"),
    ("crowd-serve-each", "`acp serve`: one of them, with socket and pipes, KiB"),
    ("crowd-serve", "`acp serve`: 99 of 100 turns among them take at most, ms"),
    ("slow", "server: 99 of 100 turns among 900 slow heads and bodies take at most, ms"),
    ("slow-ended", "server: the last of these is ended after, s"),
    ("stalled-http", "server: memory for a reader over HTTP/1.1 that stops for two minutes under 1 GiB, MiB"),
    ("stalled-ws", "server: the same over a WebSocket, MiB"),
    ("stalled-http2", "server: the same over HTTP/2, MiB"),
    ("stalled-serve", "`acp serve`: the same over HTTP/1.1, MiB"),
    ("stalled-beside", "server: another session of that connection waits at most, HTTP/1.1, s"),
    ("stalled-beside-http2", "server: the same over HTTP/2, s"),
    ("stalled-serve-beside", "`acp serve`: the same over HTTP/1.1, s"),
    ("stalled-others", "server: 99 of 100 turns of other connections take meanwhile at most, ms"),
];

pub(super) fn measure(plan: &Plan) -> Result<BTreeMap<&'static str, Figure>> {
    let mut found = BTreeMap::new();
    let whole = plan.rounds >= 5;
    let (idle, crowd, seconds) = if whole { ("4000", "10000", "120") } else { ("1000", "1000", "10") };
    let mut put = |name, value| found.insert(name, Figure::exactly(value));

    for (way, name, all) in [
        ("http", "idle-http", "idle-http-whole"),
        ("http2", "idle-http2", "idle-http2-whole"),
        ("ws", "idle-ws", "idle-ws-whole"),
    ] {
        let ours = number(&load(&["idle", way, idle])?, "kib_each")?;
        let floor = number(&load(&["idle", way, idle, LOAD, "floor"])?, "kib_each")?;
        put(name, ours - floor);
        put(all, ours);
    }
    let official = [&["idle", "http", "1000"], NODE_OFFICIAL_REMOTE, &["serve", super::inputs::FOLDER, "0"]].concat();
    put("idle-http-official", number(&load(&official)?, "kib_each")?);

    for (way, name) in [("http", "crowd-http"), ("http2", "crowd-http2"), ("ws", "crowd-ws")] {
        let line = load(&["crowd", way, crowd])?;
        put(name, number(&line, "p99")?);
        put("crowd-number", number(&line, "connections")?);
    }
    let line = load(&[&["crowd", "ws", crowd], SERVE].concat())?;
    put("crowd-serve-number", number(&line, "connections")?);
    put("crowd-serve-each", number(&line, "kib_each")?);
    put("crowd-serve", number(&line, "p99")?);

    let line = load(&["slow"])?;
    put("slow", number(&line, "p99")?);
    let ended = [number(&line, "silent")?, number(&line, "head")?, number(&line, "body")?];
    put("slow-ended", ended.into_iter().fold(0.0, f64::max));

    for (way, memory, beside) in
        [("http", "stalled-http", "stalled-beside"), ("http2", "stalled-http2", "stalled-beside-http2")]
    {
        let line = load(&["stalled", way, seconds])?;
        put(memory, number(&line, "kib")? / 1024.0);
        put(beside, number(&line, "waited_beside")?);
        put("stalled-others", number(&line, "p99")?);
    }
    put("stalled-ws", number(&load(&["stalled", "ws", seconds])?, "kib")? / 1024.0);
    let line = load(&[&["stalled", "http", seconds], SERVE].concat())?;
    put("stalled-serve", number(&line, "kib")? / 1024.0);
    put("stalled-serve-beside", number(&line, "waited_beside")?);
    Ok(found)
}

fn load(args: &[&str]) -> Result<Value> {
    output(Command::new(LOAD).args(args))
}

fn number(line: &Value, name: &str) -> Result<f64> {
    line[name].as_f64().with_context(|| format!("no {name}"))
}
