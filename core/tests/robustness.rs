//! A hundred thousand messages that are wrong in some way, through both roles and both policies.
//!
//! `LIBACP_SEED` takes the place of the fixed seed, to look for more.

#[path = "support/base64.rs"]
mod base64;
#[path = "support/host.rs"]
mod host;
#[path = "support/mutate.rs"]
mod mutate;
#[path = "support/recording.rs"]
mod recording;
#[path = "support/rng.rs"]
mod rng;
#[path = "support/scenario.rs"]
mod scenario;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Instant;

use host::Host;
use libacp::connection::{Policy, Role, Versions};
use libacp::framing::Framing;
use libacp::Config;
use rng::Rng;

const SEED: u64 = 0x00ac_2026_1121;
const MESSAGES: usize = 200_000;
/// Messages that one connection lives through.
const LIFE: usize = 200;

/// Lines that vectors and recordings feed.
fn corpus() -> Vec<Vec<u8>> {
    let vectors = scenario::load(&scenario::vectors());
    // Where headers tell messages apart, lines are not messages.
    let by_line = vectors.iter().filter(|scenario| scenario.config["framing"] != "content-length");
    let fed = by_line.flat_map(|scenario| &scenario.steps).filter_map(|(step, _)| scenario::fed(step));
    let recorded = recording::all().into_iter().flat_map(|path| recording::records(&path)).map(|(_, bytes)| bytes);
    let mut lines: Vec<Vec<u8>> = fed
        .chain(recorded)
        .flat_map(|bytes| bytes.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>())
        .filter(|line| !line.is_empty() && line.len() < 8_000)
        .collect();
    lines.sort();
    lines.dedup();
    lines
}

/// A message, and the text in it that no answer may repeat.
fn message(rng: &mut Rng, corpus: &[Vec<u8>], canary: &str) -> Vec<u8> {
    if rng.one_in(30) {
        let length = rng.below(100);
        return mutate::noise(rng, length);
    }
    let mut text = rng.pick(corpus).clone();
    mutate::aim(rng, &mut text);
    if !rng.one_in(4) {
        mutate::mutate(rng, &mut text);
    }
    if rng.one_in(3) {
        mutate::plant(rng, &mut text, canary);
    }
    text
}

fn config(role: Role, policy: Policy, life: usize) -> Config {
    let mut config = Config::new(role);
    config.policy = policy;
    config.framing = [Framing::Lines, Framing::ContentLength, Framing::Messages][life % 3];
    config.versions = if life % 5 == 1 { Versions::ALL } else { Versions::only(1) };
    config.timeout = (life % 11 == 0).then_some(50);
    config.limits.frame = 16_000;
    config.limits.pending = 30;
    config.limits.sessions = 8;
    config.limits.terminals = 4;
    config
}

#[test]
fn no_message_breaks_a_promise() {
    let seed = std::env::var("LIBACP_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(SEED);
    let mut out = std::io::stdout();
    writeln!(out, "seed {seed}").unwrap();
    let (mut rng, corpus, begun) = (Rng::new(seed), corpus(), Instant::now());
    assert!(corpus.len() > 500, "{} lines", corpus.len());
    let mut events: BTreeMap<&str, usize> = BTreeMap::new();
    for life in 0..MESSAGES / LIFE {
        let policy = if life % 2 == 0 { Policy::Tolerant } else { Policy::Strict };
        let begins = life % 7 != 0;
        let mut hosts = [Role::Client, Role::Agent].map(|role| Host::new(config(role, policy, life), begins));
        for _ in 0..LIFE {
            let canary = format!("canary{:016x}", rng.next());
            let text = message(&mut rng, &corpus, &canary);
            let start = rng.next();
            for host in &mut hosts {
                let outcome = catch_unwind(AssertUnwindSafe(|| host.live(&mut Rng::new(start), &text, &canary)));
                assert!(outcome.is_ok(), "seed {seed}, life {life}: {}", String::from_utf8_lossy(&text));
            }
        }
        for host in hosts {
            for (kind, count) in host.end() {
                *events.entry(kind).or_default() += count;
            }
        }
    }
    // What is never reached is not tested.
    for kind in ["request", "notification", "response", "cancel", "answered", "violation", "closed"] {
        assert!(events.get(kind).is_some_and(|&count| count >= 100), "{kind}: {events:?}");
    }
    let seconds = begun.elapsed().as_secs_f64();
    writeln!(out, "{MESSAGES} messages to each role in {seconds:.1} s: {events:?}").unwrap();
}
