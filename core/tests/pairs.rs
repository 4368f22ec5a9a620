//! Two connections wired together: hosts that keep to the rules get along, and one that does keeps its promises to
//! whatever else.
//!
//! Read `choices` (how a run is repeated and made simpler), `host` (what both hosts share), `client`, `agent` and
//! `updates` (what they do), `pair` and `stranger` (how they meet). `LIBACP_SEED` takes the place of the fixed seed and
//! `LIBACP_RUNS` that of the number of runs, to look for more.

#[path = "pairs/agent.rs"]
mod agent;
#[path = "pairs/choices.rs"]
mod choices;
#[path = "pairs/client.rs"]
mod client;
#[path = "pairs/host.rs"]
mod host;
#[path = "support/mutate.rs"]
mod mutate;
#[path = "pairs/pair.rs"]
mod pair;
#[path = "support/rng.rs"]
mod rng;
#[path = "pairs/stranger.rs"]
mod stranger;
#[path = "pairs/updates.rs"]
mod updates;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Instant;

use choices::{simplest, Choices};
use host::{Base, Host as _};
use pair::Pair;
use serde_json::{json, Value};
use stranger::Meeting;

const SEED: u64 = 0x00ac_2026_1122;
const RUNS: u64 = 600;
/// What happens in one run.
const STEPS: usize = 400;

/// How often each thing was seen.
type Seen = BTreeMap<String, usize>;
/// One run: what was seen, or which promise was broken and what had been said until then.
type Run = fn(&mut Choices) -> Result<Seen, (String, Vec<String>)>;

/// Sets what a path names, and the objects on the way.
pub(crate) fn put(object: &mut Value, path: &str, value: Value) {
    let place = path.split('.').fold(object, |at, name| {
        if !at.is_object() {
            *at = json!({});
        }
        &mut at[name]
    });
    *place = value;
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Why a run fails, if it does; a panic is a failure too.
fn failure(run: Run, choices: &mut Choices) -> Result<Seen, (String, Vec<String>)> {
    catch_unwind(AssertUnwindSafe(|| run(choices))).unwrap_or_else(|_| Err(("a panic".into(), Vec::new())))
}

fn run_all(what: &str, run: Run) -> Seen {
    let (seed, begun) = (number("LIBACP_SEED").unwrap_or(SEED), Instant::now());
    let runs = number("LIBACP_RUNS").unwrap_or(RUNS);
    let mut all = Seen::new();
    for index in 0..runs {
        let mut choices = Choices::new(seed.wrapping_add(index));
        match failure(run, &mut choices) {
            Ok(more) => more.into_iter().for_each(|(what, count)| *all.entry(what).or_default() += count),
            Err((why, _)) => {
                let fails = |choices: &mut Choices| failure(run, choices).err().map(|(why, _)| why);
                let (simple, _) = simplest(&choices, &fails);
                let (why, log) = failure(run, &mut Choices::again(&simple)).err().unwrap_or((why, Vec::new()));
                panic!("LIBACP_SEED={} LIBACP_RUNS=1: {why}\n{}", seed.wrapping_add(index), log.join("\n"));
            }
        }
    }
    let seconds = begun.elapsed().as_secs_f64();
    let mut out = std::io::stdout();
    writeln!(out, "{what}: seed {seed}, {runs} runs in {seconds:.1} s: {all:?}").unwrap();
    all
}

fn pair_run(choices: &mut Choices) -> Result<Seen, (String, Vec<String>)> {
    let mut pair = Pair::new(choices);
    let outcome = talk(&mut pair, choices);
    let seen = both(pair.client.base(), pair.agent.base());
    outcome.map(|()| seen).map_err(|why| (why, pair.log()))
}

/// What both hosts have seen.
fn both(one: &mut Base, other: &mut Base) -> Seen {
    let mut seen = std::mem::take(&mut one.seen);
    for (what, count) in std::mem::take(&mut other.seen) {
        *seen.entry(what).or_default() += count;
    }
    seen
}

fn stranger_run(choices: &mut Choices) -> Result<Seen, (String, Vec<String>)> {
    let mut meeting = Meeting::new(choices);
    let mut outcome = Ok(());
    for _ in 0..STEPS {
        if choices.are_over() || outcome.is_err() {
            break;
        }
        outcome = meeting.step(choices);
    }
    let outcome = outcome.and_then(|()| meeting.part());
    let seen = both(meeting.client.base(), meeting.agent.base());
    outcome.map(|()| seen).map_err(|why| (why, meeting.log()))
}

fn talk(pair: &mut Pair, choices: &mut Choices) -> Result<(), String> {
    for _ in 0..STEPS {
        if choices.are_over() {
            break;
        }
        pair.step(choices)?;
    }
    let at_rest = !choices.one_in(4);
    if at_rest {
        pair.settle(choices)?;
        pair.compare()?;
    }
    pair.part(choices, at_rest)
}

#[test]
fn hosts_that_keep_to_the_rules_get_along() {
    let seen = run_all("hosts that keep to the rules", pair_run);
    assert!(!seen.contains_key("violation") && !seen.contains_key("misuse"));
    let missing: Vec<_> = client::Client::MOVES
        .iter()
        .map(|(name, _)| name)
        .chain(agent::Agent::MOVES.iter().map(|(name, _)| name))
        .filter(|name| seen.get(**name).is_none_or(|count| *count < 10))
        .collect();
    assert!(missing.is_empty(), "hardly ever: {missing:?}");
}

#[test]
fn a_host_keeps_its_promises_to_a_stranger() {
    let seen = run_all("a host and a stranger", stranger_run);
    for what in ["violation", "misuse", "request", "response", "notification", "cancel", "answered", "closed"] {
        assert!(seen.get(what).is_some_and(|count| *count >= 100), "hardly ever: {what}");
    }
}
