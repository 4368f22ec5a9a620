//! What must come out: ratios of one run, and sizes.

use super::rounds::Results;
use super::works::Language::{self, Node, Python, Rust, C};
use super::works::Side::{self, Alone, Floor, Libacp, Official, Variant};
use super::Figure;

/// Which way is good, with the bound that must be reached and the one that is aimed at.
#[derive(Clone, Copy)]
pub(super) enum Goal {
    Least(f64, f64),
    Most(f64, f64),
}

/// What is measured for a goal.
enum Measure {
    /// Speed at a work, against another.
    Speed(&'static str, (Language, Side), (Language, Side)),
    /// Time of one work against that of another.
    Time(&'static str, &'static str, Language),
    /// Memory that W1 takes, against the official SDK.
    Memory(Language),
    /// A size.
    Size(&'static str),
}

/// A goal and what is measured for it.
pub(super) struct Row {
    pub(super) about: &'static str,
    pub(super) goal: Goal,
    measure: Measure,
}

/// How far a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reached {
    Aim,
    Least,
    Not,
}

impl Goal {
    pub(super) fn reached(self, measured: f64) -> Reached {
        let fits = |bound: f64| match self {
            Goal::Least(..) => measured >= bound,
            Goal::Most(..) => measured <= bound,
        };
        let (Goal::Least(bound, aim) | Goal::Most(bound, aim)) = self;
        if fits(aim) {
            Reached::Aim
        } else if fits(bound) {
            Reached::Least
        } else {
            Reached::Not
        }
    }
}

impl Row {
    /// What was measured, if it was.
    pub(super) fn measured(&self, results: &Results) -> Option<Figure> {
        match self.measure {
            Measure::Speed(work, (language, side), against) => {
                Figure::ratio(results.speeds(work, language, side), results.speeds(work, against.0, against.1))
            }
            // The other way round, as these are speeds.
            Measure::Time(slow, fast, language) => {
                Figure::ratio(results.speeds(fast, language, Libacp), results.speeds(slow, language, Libacp))
            }
            Measure::Memory(language) => {
                Figure::ratio(results.memory(language, Libacp), results.memory(language, Official))
            }
            Measure::Size(name) => results.sizes.get(name).copied(),
        }
    }
}

const fn speed(
    about: &'static str,
    work: &'static str,
    ours: (Language, Side),
    theirs: (Language, Side),
    (least, aim): (f64, f64),
) -> Row {
    Row { about, goal: Goal::Least(least, aim), measure: Measure::Speed(work, ours, theirs) }
}

const fn whole(about: &'static str, work: &'static str, language: Language, goal: (f64, f64)) -> Row {
    speed(about, work, (language, Libacp), (language, Official), goal)
}

/// Against the official SDK in Node, which is the one that all are held against over HTTP and WebSocket.
const fn remote(about: &'static str, work: &'static str, language: Language, goal: (f64, f64)) -> Row {
    speed(about, work, (language, Libacp), (Node, Official), goal)
}

const fn memory(about: &'static str, language: Language) -> Row {
    Row { about, goal: Goal::Most(1.0, 0.1), measure: Measure::Memory(language) }
}

const fn pieces(about: &'static str, language: Language) -> Row {
    Row { about, goal: Goal::Most(1.5, 1.1), measure: Measure::Time("w6-100", "w6-whole", language) }
}

const fn shown(about: &'static str, with: &'static str, without: &'static str) -> Row {
    Row { about, goal: Goal::Most(1.25, 1.15), measure: Measure::Time(with, without, Rust) }
}

const fn size(about: &'static str, name: &'static str, most: f64, aim: f64) -> Row {
    Row { about, goal: Goal::Most(most, aim), measure: Measure::Size(name) }
}

/// All of them.
pub(super) const ROWS: &[Row] = &[
    speed("W4 small, Rust: of the speed of IgnoredAny", "w4-small", (Rust, Libacp), (Rust, Floor), (0.5, 0.7)),
    speed("W4 mix, Rust: of the speed of IgnoredAny", "w4-mix", (Rust, Libacp), (Rust, Floor), (0.5, 0.7)),
    speed("W4 small, Rust: times the official SDK", "w4-small", (Rust, Libacp), (Rust, Alone), (10.0, 15.0)),
    speed("W4 mix, Rust: times the official SDK", "w4-mix", (Rust, Libacp), (Rust, Alone), (10.0, 15.0)),
    speed("W4 small, C: of the speed of Rust", "w4-small", (C, Libacp), (Rust, Libacp), (0.9, 0.97)),
    speed("W4 mix, C: of the speed of Rust", "w4-mix", (C, Libacp), (Rust, Libacp), (0.9, 0.97)),
    speed(
        "W4 small, Python, objects: times the official SDK",
        "w4-small",
        (Python, Libacp),
        (Python, Alone),
        (6.0, 9.0),
    ),
    speed("W4 mix, Python, objects: times the official SDK", "w4-mix", (Python, Libacp), (Python, Alone), (6.0, 9.0)),
    speed("W4 small, Python, objects: of orjson.loads", "w4-small", (Python, Libacp), (Python, Floor), (0.6, 0.9)),
    speed("W4 mix, Python, objects: of orjson.loads", "w4-mix", (Python, Libacp), (Python, Floor), (0.6, 0.9)),
    speed(
        "W4 small, Python, bytes: times the official SDK",
        "w4-small",
        (Python, Variant),
        (Python, Alone),
        (12.0, 20.0),
    ),
    speed("W4 mix, Python, bytes: times the official SDK", "w4-mix", (Python, Variant), (Python, Alone), (12.0, 20.0)),
    speed("W4 small, Node, objects: times the official SDK", "w4-small", (Node, Libacp), (Node, Alone), (3.0, 5.0)),
    speed("W4 mix, Node, objects: times the official SDK", "w4-mix", (Node, Libacp), (Node, Alone), (3.0, 5.0)),
    speed("W4 small, Node, objects: of JSON.parse", "w4-small", (Node, Libacp), (Node, Floor), (0.5, 0.8)),
    speed("W4 mix, Node, objects: of JSON.parse", "w4-mix", (Node, Libacp), (Node, Floor), (0.5, 0.8)),
    shown("W4 small with a view, Rust: times the time without", "w4-small-view", "w4-small"),
    shown("W4 mix with a view, Rust: times the time without", "w4-mix-view", "w4-mix"),
    whole("W1, Rust: times the official SDK", "w1", Rust, (8.0, 12.0)),
    whole("W1, Python asyncio: times the official SDK", "w1", Python, (6.0, 10.0)),
    whole("W1, Node: times the official SDK", "w1", Node, (4.0, 8.0)),
    whole("W2, Rust: times the official SDK", "w2", Rust, (2.0, 3.0)),
    whole("W2, Python: times the official SDK", "w2", Python, (4.0, 6.0)),
    whole("W2, Node: times the official SDK", "w2", Node, (3.0, 4.0)),
    whole("W3, Rust: times the official SDK", "w3", Rust, (3.0, 6.0)),
    whole("W3, Python: times the official SDK", "w3", Python, (4.0, 8.0)),
    whole("W3, Node: times the official SDK", "w3", Node, (2.0, 4.0)),
    memory("memory of W1, Rust: of the official SDK's", Rust),
    memory("memory of W1, Python: of the official SDK's", Python),
    memory("memory of W1, Node: of the official SDK's", Node),
    size("an idle client with one session, KiB", "idle-client", 4.0, 1.5),
    size("an idle agent with one session, KiB", "idle-agent", 4.0, 1.5),
    pieces("W6 in pieces of 100 bytes, Rust: times the time at once", Rust),
    pieces("W6 in pieces of 100 bytes, C: times the time at once", C),
    pieces("W6 in pieces of 100 bytes, Python: times the time at once", Python),
    pieces("W6 in pieces of 100 bytes, Node: times the time at once", Node),
    remote("W7 over HTTP/1.1, Rust: times the official SDK in Node", "w7-http", Rust, (3.0, 5.0)),
    remote("W7 over a WebSocket, Rust: times the official SDK in Node", "w7-ws", Rust, (3.0, 5.0)),
    remote("W8 over HTTP/1.1, Rust: times the official SDK in Node", "w8-http", Rust, (3.0, 5.0)),
    remote("W8 over a WebSocket, Rust: times the official SDK in Node", "w8-ws", Rust, (3.0, 5.0)),
    remote("W7 over HTTP/1.1, Node: times the official SDK", "w7-http", Node, (3.0, 5.0)),
    remote("W7 over a WebSocket, Node: times the official SDK", "w7-ws", Node, (3.0, 5.0)),
    remote("W8 over HTTP/1.1, Node: times the official SDK", "w8-http", Node, (3.0, 5.0)),
    remote("W8 over a WebSocket, Node: times the official SDK", "w8-ws", Node, (3.0, 5.0)),
    whole("W7 over HTTP/1.1, Python: times the official SDK", "w7-http", Python, (3.0, 5.0)),
    whole("W7 over a WebSocket, Python: times the official SDK", "w7-ws", Python, (3.0, 5.0)),
    whole("W8 over HTTP/1.1, Python: times the official SDK", "w8-http", Python, (3.0, 5.0)),
    whole("W8 over a WebSocket, Python: times the official SDK", "w8-ws", Python, (3.0, 5.0)),
    size("an idle connection, HTTP/1.1: KiB beyond its sockets", "idle-http", 8.0, 3.0),
    size("an idle connection, HTTP/2: KiB beyond its sockets", "idle-http2", 8.0, 3.0),
    size("an idle connection, WebSocket: KiB beyond its sockets", "idle-ws", 8.0, 3.0),
    size("a turn among 10,000 idle connections, HTTP/1.1: p99, ms", "crowd-http", 50.0, 10.0),
    size("a turn among 10,000 idle connections, HTTP/2: p99, ms", "crowd-http2", 50.0, 10.0),
    size("a turn among 10,000 idle connections, WebSocket: p99, ms", "crowd-ws", 50.0, 10.0),
    size("the same in `acp serve`, as many as descriptors allow: p99, ms", "crowd-serve", 50.0, 10.0),
    size("a turn among 900 slow heads and bodies: p99, ms", "slow", 50.0, 10.0),
    size("the last of the slow heads and bodies is ended after, s", "slow-ended", 35.0, 31.0),
    size("a reader that stops under 1 GiB, HTTP/1.1: MiB that the server takes", "stalled-http", 16.0, 4.0),
    size("a reader that stops under 1 GiB, HTTP/2: MiB that the server takes", "stalled-http2", 16.0, 4.0),
    size("a reader that stops under 1 GiB, WebSocket: MiB that the server takes", "stalled-ws", 16.0, 4.0),
    size("another session of that connection waits at most, HTTP/1.1, s", "stalled-beside", 25.0, 16.0),
    size("another session of that connection waits at most, HTTP/2, s", "stalled-beside-http2", 25.0, 16.0),
    size("a turn of other connections meanwhile: p99, ms", "stalled-others", 50.0, 10.0),
    size("allocations for one small update, Rust", "allocations", 2.0, 0.0),
    size("npm bundle for browsers, gzipped, KiB", "npm", 80.0, 39.0),
    size("Python: import, ms", "import", 30.0, 10.0),
    size("Python: installed, MB", "installed", 3.0, 1.5),
    size("Python: distributions", "distributions", 1.0, 1.0),
    size("crates in `cargo tree -p libacp`", "crates", 15.0, 10.0),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goals_are_reached_from_their_side() {
        assert_eq!(
            [0.4, 0.5, 0.7].map(|of| Goal::Least(0.5, 0.7).reached(of)),
            [Reached::Not, Reached::Least, Reached::Aim]
        );
        assert_eq!(
            [1.6, 1.5, 1.1].map(|of| Goal::Most(1.5, 1.1).reached(of)),
            [Reached::Not, Reached::Least, Reached::Aim]
        );
    }

    #[test]
    fn what_rows_name_is_measured() {
        use crate::bench::works::{CONTENDERS, WORKS};
        let does = |work: &str, (language, side): (Language, Side)| {
            let mut able = CONTENDERS.iter().filter(|each| each.language == language && each.side == side);
            WORKS.iter().any(|each| each.name == work) && able.any(|each| each.does(work))
        };
        for row in ROWS {
            match row.measure {
                Measure::Speed(work, ours, theirs) => assert!(does(work, ours) && does(work, theirs), "{}", row.about),
                Measure::Time(slow, fast, of) => assert!(does(slow, (of, Libacp)) && does(fast, (of, Libacp))),
                Measure::Memory(language) => assert!(does("w1", (language, Official))),
                Measure::Size(_) => {}
            }
        }
    }
}
