//! Two connections wired together: hosts that keep to the rules get along, and one that does keeps its promises to
//! whatever else.
//!
//! Read `choices` (how a run is repeated and made simpler), `host` (what all hosts share), `client`, `agent` and
//! `updates` (what they do in version 1), `two` (the same for version 2), `link` and `pair` (how they meet, and who looks
//! on) and `stranger`. `LIBACP_SEED` takes the place of the fixed seed and `LIBACP_RUNS` that of the number of runs, to
//! look for more.

#[path = "pairs/agent.rs"]
mod agent;
#[path = "pairs/choices.rs"]
mod choices;
#[path = "pairs/client.rs"]
mod client;
#[path = "pairs/host.rs"]
mod host;
#[path = "pairs/link.rs"]
mod link;
#[path = "support/model.rs"]
#[allow(dead_code)]
mod model;
#[path = "support/mutate.rs"]
mod mutate;
#[path = "pairs/pair.rs"]
mod pair;
#[path = "support/rng.rs"]
mod rng;
#[path = "pairs/stranger.rs"]
mod stranger;
#[path = "pairs/two/mod.rs"]
mod two;
#[path = "pairs/updates.rs"]
mod updates;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::Instant;

use choices::{simplest, Choices};
use host::{Base, Host};
use libacp::Role;
use model::Model;
use pair::{Pair, Speech};
use serde_json::{json, Value};
use stranger::Meeting;

const SEED: u64 = 0x00ac_2026_1122;
const RUNS: u64 = 600;
/// What is seen less often may as well not be tested.
const OFTEN: usize = 10;

#[derive(Debug)]
struct One;

impl Speech for One {
    type Client = client::Client;
    type Agent = agent::Agent;
    const VERSION: u16 = 1;
    const STEPS: usize = 400;
    const MAY_SPEAK_MORE: &'static [Role] = &[Role::Agent];
    const DRAFTS: &'static [&'static str] = &["session_fork", "plan_operations", "auth_status"];
    // Its agent runs no sessions below others, and knows of no login that changes.
    const NEVER: &'static [&'static str] =
        &["subagent_update", "session_message", "session_message_chunk", "auth/status_update"];
    const UNIONS: &'static [(&'static str, &'static str, &'static str)] =
        &[("SessionUpdate", "update", "sessionUpdate")];
}

#[derive(Debug)]
struct Two;

impl Speech for Two {
    type Client = two::Client;
    type Agent = two::Agent;
    const VERSION: u16 = 2;
    // More is said before a session comes to something.
    const STEPS: usize = 800;
    const MAY_SPEAK_MORE: &'static [Role] = &[Role::Client, Role::Agent];
    const DRAFTS: &'static [&'static str] = two::DRAFTS;
    // Its agent runs no sessions below others, and never loses sight of one.
    const NEVER: &'static [&'static str] =
        &["subagent_update", "session_message", "session_message_chunk", "subagent", "unknown", "session"];
    const UNIONS: &'static [(&'static str, &'static str, &'static str)] = two::UNIONS;
}

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

fn pair_run<V: Speech>(choices: &mut Choices) -> Result<Seen, (String, Vec<String>)> {
    let mut pair = Pair::<V>::new(choices);
    let outcome = talk(&mut pair, choices);
    let mut seen = both(pair.client.base(), pair.agent.base());
    *seen.entry("batch".into()).or_default() += pair.batches();
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

fn stranger_run<V: Speech>(choices: &mut Choices) -> Result<Seen, (String, Vec<String>)> {
    let mut meeting = Meeting::<V>::new(choices);
    let mut outcome = Ok(());
    for _ in 0..V::STEPS {
        if choices.are_over() || outcome.is_err() {
            break;
        }
        outcome = meeting.step(choices);
    }
    let outcome = outcome.and_then(|()| meeting.part());
    let seen = both(meeting.client.base(), meeting.agent.base());
    outcome.map(|()| seen).map_err(|why| (why, meeting.log()))
}

fn talk<V: Speech>(pair: &mut Pair<V>, choices: &mut Choices) -> Result<(), String> {
    for _ in 0..V::STEPS {
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

/// What a legal host can send of a version and its drafts, by the names under which it is counted.
fn sendable<V: Speech>() -> Vec<String> {
    let model = Model::load(V::VERSION);
    let stable = |draft: Option<&str>| draft.is_none_or(|draft| V::DRAFTS.contains(&draft));
    let spoken = |name: &str, draft: Option<&str>| stable(draft) && !V::NEVER.contains(&name);
    let methods = model.methods.iter().filter(|(name, row)| spoken(name, row["draft"].as_str()));
    let mut all: Vec<_> = methods.map(|(name, _)| format!("sent {name}")).collect();
    for (ty, member, tag) in V::UNIONS {
        let variants = model.variants(ty).into_iter().filter(|(name, draft)| spoken(name, draft.as_deref()));
        all.extend(variants.map(|(name, _)| format!("{member} {tag} {name}")));
    }
    all
}

fn get_along<V: Speech>() {
    let seen = run_all(&format!("hosts that keep to the rules of version {}", V::VERSION), pair_run::<V>);
    assert!(!seen.contains_key("violation") && !seen.contains_key("misuse"));
    let moves = V::Client::MOVES.iter().map(|(name, _)| *name).chain(V::Agent::MOVES.iter().map(|(name, _)| *name));
    let missing: Vec<_> = moves
        .map(str::to_owned)
        .chain(sendable::<V>())
        .filter(|name| seen.get(name).is_none_or(|count| *count < OFTEN))
        .collect();
    assert!(missing.is_empty(), "hardly ever: {missing:?}");
}

fn keep_promises<V: Speech>() {
    let seen = run_all(&format!("a host of version {} and a stranger", V::VERSION), stranger_run::<V>);
    for what in ["violation", "misuse", "request", "response", "notification", "cancel", "answered", "closed"] {
        assert!(seen.get(what).is_some_and(|count| *count >= 100), "hardly ever: {what}");
    }
}

#[test]
fn hosts_that_keep_to_the_rules_get_along() {
    get_along::<One>();
}

#[test]
fn hosts_that_keep_to_the_rules_of_version_2_get_along() {
    get_along::<Two>();
}

#[test]
fn a_host_keeps_its_promises_to_a_stranger() {
    keep_promises::<One>();
}

#[test]
fn a_host_of_version_2_keeps_its_promises_to_a_stranger() {
    keep_promises::<Two>();
}
