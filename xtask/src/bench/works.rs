//! What there is to measure: the works, and who does them.

use std::process::Command;

use crate::setup::bench as steps;
use crate::setup::steps::PYTHON;

/// A language that libacp is used from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Language {
    Rust,
    C,
    Python,
    Node,
}

pub(super) const LANGUAGES: &[Language] = &[Language::Rust, Language::C, Language::Python, Language::Node];

impl Language {
    pub(super) fn name(self) -> &'static str {
        match self {
            Language::Rust => "rust",
            Language::C => "c",
            Language::Python => "python",
            Language::Node => "node",
        }
    }
}

/// The language of this name.
pub(super) fn language(name: &str) -> Option<Language> {
    LANGUAGES.iter().copied().find(|language| language.name() == name)
}

/// Something to be done, the same by all.
pub(super) struct Work {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    /// It takes long to prepare, or long by itself, so it is done once in a round and from cold.
    pub(super) once: bool,
    /// What its speed is shown in, and how much of that one message a second is.
    pub(super) unit: (&'static str, f64),
}

const fn work(name: &'static str, about: &'static str) -> Work {
    Work { name, about, once: false, unit: ("thousand/s", 1e-3) }
}

const fn frame(name: &'static str, about: &'static str, once: bool) -> Work {
    Work { name, about, once, unit: ("MiB/s", 16.0) }
}

pub(super) const WORKS: &[Work] = &[
    work("w1", "one turn, client and agent in one process: 20,000 chunks of 40 bytes"),
    work("w2", "the same with 2,000 tool call updates, each with a diff of 8 KiB"),
    work("w3", "the same with 5,000 files of 1 KiB read one after the other"),
    work("w4-small", "decoding 20,000 small chunks"),
    work("w4-mix", "decoding 20,000 updates of all kinds"),
    work("w4-small-view", "decoding the small chunks, and keeping the view of their session"),
    work("w4-mix-view", "decoding the updates of all kinds, and keeping the view of their session"),
    Work {
        name: "w5",
        about: "10,000 connections, each with one update a second for ten seconds",
        once: true,
        unit: ("thousand/s", 1e-3),
    },
    frame("w6-whole", "one frame of 16 MiB at once", false),
    frame("w6-4096", "the same in pieces of 4,096 bytes", false),
    frame("w6-100", "the same in pieces of 100 bytes", false),
    frame("w6-1", "the same byte by byte", true),
    work("w7-http", "one turn over HTTP/1.1, both ends in one process: 20,000 chunks of 40 bytes"),
    work("w7-http2", "the same over HTTP/2"),
    work("w7-ws", "the same over a WebSocket"),
    work("w8-http", "the same with 2,000 files of 1 KiB read one after the other, over HTTP/1.1"),
    work("w8-http2", "the same over HTTP/2"),
    work("w8-ws", "the same over a WebSocket"),
];

/// Everything that can be named on the command line.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let languages = LANGUAGES.iter().map(|language| language.name());
    WORKS.iter().map(|work| work.name).chain(["memory", "sizes", "load"]).chain(languages)
}

/// What a contender is to the others of its language.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// libacp as it is used.
    Libacp,
    /// libacp in another way.
    Variant,
    /// The official SDK as it is used.
    Official,
    /// The official SDK's way from bytes to a message, without its connection: what W4 is held against.
    Alone,
    /// Nothing but types.
    Types,
    /// Nothing but the parser; over sockets, nothing but the libraries for HTTP and WebSocket.
    Floor,
}

/// Who does works.
pub(super) struct Contender {
    pub(super) language: Language,
    pub(super) side: Side,
    pub(super) name: &'static str,
    /// The program and its first arguments.
    program: &'static [&'static str],
    /// What it adds to the name of a work.
    suffix: &'static str,
    /// Works that it does: those whose names begin so, but for views, which are named in full.
    works: &'static [&'static str],
    /// The program for W7 and W8, and how their names end that it does.
    remote: (&'static [&'static str], &'static [&'static str]),
}

/// Whether it takes sockets: W7 and W8.
fn is_remote(work: &str) -> bool {
    work.starts_with("w7") || work.starts_with("w8")
}

impl Contender {
    pub(super) fn does(&self, work: &str) -> bool {
        if is_remote(work) {
            return self.remote.1.iter().any(|way| work.ends_with(way));
        }
        let is_view = work.ends_with(VIEW);
        self.works.iter().any(|start| *start == work || !is_view && work.starts_with(start))
    }

    /// The command that does a work for so long.
    pub(super) fn command(&self, work: &str, milliseconds: u64) -> Command {
        let program = if is_remote(work) { self.remote.0 } else { self.program };
        let mut command = Command::new(program[0]);
        command.args(&program[1..]).arg(format!("{work}{}", self.suffix));
        command.arg(super::inputs::FOLDER).arg(milliseconds.to_string());
        command
    }
}

/// Ways of W7 and W8. What has no HTTP/2 or none that works here has the others.
const WAYS: &[&str] = &["-http", "-http2", "-ws"];
const NOT_HTTP2: &[&str] = &["-http", "-ws"];
const REMOTE: &[&str] = &["target/release/bench-remote"];
const PYTHON_REMOTE: &[&str] = &[PYTHON, "bench/python/ours_remote.py"];
const PYTHON_OFFICIAL_REMOTE: &[&str] = &[PYTHON, "bench/python/official_remote.py"];
const NODE_REMOTE: &[&str] = &["node", "target/bench/node/ours-remote.mjs"];
pub(super) const NODE_OFFICIAL_REMOTE: &[&str] = &["node", "target/bench/node/official-remote.mjs"];
const PYTHON_FLOOR_REMOTE: &[&str] = &[PYTHON, "bench/python/floor_remote.py"];
const NODE_FLOOR_REMOTE: &[&str] = &["node", "target/bench/node/floor-remote.mjs"];
const OURS: &[&str] = &["target/release/bench-libacp"];
const PYTHON_OURS: &[&str] = &[PYTHON, "bench/python/ours.py"];
const PYTHON_OFFICIAL: &[&str] = &[PYTHON, "bench/python/official.py"];
const NODE_OURS: &[&str] = &["node", "target/bench/node/ours.mjs"];
const NODE_OFFICIAL: &[&str] = &["node", "target/bench/node/official.mjs"];
/// How works end that keep a view.
const VIEW: &str = "-view";
const ALL: &[&str] = &["w", "none"];
const WITH_VIEWS: &[&str] = &["w", "none", "w4-small-view", "w4-mix-view"];
/// Byte by byte, two of the official SDKs take minutes.
const NOT_BYTE_BY_BYTE: &[&str] = &["none", "w1", "w2", "w3", "w4", "w5", "w6-whole", "w6-4096", "w6-100"];
const DECODING: &[&str] = &["w4"];
const SHOWING: &[&str] = &["w4", "w4-small-view", "w4-mix-view"];

const fn contender(
    (language, side): (Language, Side),
    name: &'static str,
    program: &'static [&'static str],
    suffix: &'static str,
    works: &'static [&'static str],
) -> Contender {
    Contender { language, side, name, program, suffix, works, remote: (&[], &[]) }
}

/// The libraries for W7 and W8 without a protocol.
const fn alone(
    language: Language,
    name: &'static str,
    suffix: &'static str,
    remote: &'static [&'static str],
) -> Contender {
    contender((language, Side::Floor), name, &[], suffix, &[]).remote(remote, NOT_HTTP2)
}

impl Contender {
    const fn remote(mut self, program: &'static [&'static str], ways: &'static [&'static str]) -> Self {
        self.remote = (program, ways);
        self
    }
}

pub(super) const CONTENDERS: &[Contender] = &[
    contender((Language::Rust, Side::Libacp), "libacp", OURS, "", WITH_VIEWS).remote(REMOTE, WAYS),
    contender((Language::Rust, Side::Variant), "libacp, params as structs", OURS, "-typed", DECODING),
    contender((Language::Rust, Side::Official), "official SDK", &[steps::OFFICIAL], "", ALL),
    contender((Language::Rust, Side::Alone), "official SDK, decoding alone", &[steps::OFFICIAL], "-alone", DECODING),
    contender((Language::Rust, Side::Types), "official types alone", &[steps::OFFICIAL], "-schema", DECODING),
    contender((Language::Rust, Side::Floor), "serde_json IgnoredAny", OURS, "-floor", DECODING),
    alone(Language::Rust, "hyper and tungstenite alone", "-floor", REMOTE),
    contender((Language::C, Side::Libacp), "libacp", &[steps::C], "", ALL),
    contender((Language::Python, Side::Libacp), "libacp", PYTHON_OURS, "", ALL).remote(PYTHON_REMOTE, NOT_HTTP2),
    contender((Language::Python, Side::Variant), "libacp, params as bytes", PYTHON_OURS, "-bytes", DECODING),
    contender((Language::Python, Side::Official), "official SDK", PYTHON_OFFICIAL, "", NOT_BYTE_BY_BYTE)
        .remote(PYTHON_OFFICIAL_REMOTE, NOT_HTTP2),
    contender((Language::Python, Side::Alone), "official SDK, decoding alone", PYTHON_OFFICIAL, "-alone", SHOWING),
    contender((Language::Python, Side::Floor), "orjson.loads", &[PYTHON, "bench/python/floor.py"], "", DECODING),
    alone(Language::Python, "httpx, websockets and uvicorn alone", "", PYTHON_FLOOR_REMOTE),
    contender((Language::Node, Side::Libacp), "libacp", NODE_OURS, "", ALL).remote(NODE_REMOTE, WAYS),
    contender((Language::Node, Side::Variant), "libacp, params as bytes", NODE_OURS, "-bytes", DECODING),
    contender((Language::Node, Side::Official), "official SDK", NODE_OFFICIAL, "", NOT_BYTE_BY_BYTE)
        .remote(NODE_OFFICIAL_REMOTE, NOT_HTTP2),
    contender((Language::Node, Side::Alone), "official SDK, decoding alone", NODE_OFFICIAL, "-alone", DECODING),
    contender((Language::Node, Side::Floor), "JSON.parse", &["node", "target/bench/node/floor.mjs"], "", DECODING),
    alone(Language::Node, "fetch, node:http and ws alone", "", NODE_FLOOR_REMOTE),
];
