//! Replays all scenarios of `tests/vectors`, whole, byte by byte, and (where they are short) in every two pieces.

#[path = "support/base64.rs"]
mod base64;
#[path = "support/complete.rs"]
mod complete;
#[path = "support/config.rs"]
mod config;
#[path = "support/event.rs"]
mod event;
#[path = "support/exact.rs"]
mod exact;
#[path = "support/examples.rs"]
mod examples;
#[path = "support/expected.rs"]
mod expected;
#[path = "support/falsify.rs"]
mod falsify;
#[path = "support/frames.rs"]
mod frames;
#[path = "support/replay.rs"]
mod replay;
#[path = "support/scenario.rs"]
mod scenario;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::panic::catch_unwind;
use std::thread;

use libacp::connection::Policy;
use libacp::rules::{rule, Severity};
use serde_json::Value;

/// One line for a scenario that failed: the first split of its bytes that did, and why.
fn failure(scenario: &scenario::Scenario) -> Option<String> {
    let fails = |split| {
        // A panic is one scenario's failure, and the others still run.
        let outcome = catch_unwind(|| scenario.run(split)).unwrap_or_else(|_| Err("a panic".into()));
        outcome.err().map(|why| (split, why))
    };
    let (split, why) = scenario.splits().into_iter().find_map(fails)?;
    Some(format!("{}: {} ({split:?}): {why}", scenario.file, scenario.name))
}

/// The failures of all scenarios, in their order; each processor takes its share.
fn failures(all: &[scenario::Scenario]) -> Vec<String> {
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let work = |first: usize| {
        let mine = all.iter().enumerate().skip(first).step_by(workers);
        mine.filter_map(|(index, scenario)| Some((index, failure(scenario)?))).collect::<Vec<_>>()
    };
    let mut found = thread::scope(|scope| {
        let running: Vec<_> = (0..workers)
            .map(|first| {
                let work = &work;
                scope.spawn(move || work(first))
            })
            .collect();
        running.into_iter().flat_map(|worker| worker.join().expect("a worker's end")).collect::<Vec<_>>()
    });
    found.sort();
    found.into_iter().map(|(_, why)| why).collect()
}

/// `UPDATE_VECTORS=1` writes into the files what they must state and do not.
#[test]
fn vectors() {
    if std::env::var_os("UPDATE_VECTORS").is_some() {
        let wrong = complete::complete(&scenario::vectors());
        assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    }
    let all = scenario::load(&scenario::vectors());
    let failures = failures(&all);
    // Past the capture of test output: the count is compared between languages. The runner may have begun a line.
    let mut out = std::io::stdout();
    writeln!(out, "\nnote: vectors replayed in Rust: {}", all.len()).unwrap();
    for failure in &failures {
        writeln!(out, "{failure}").unwrap();
    }
    writeln!(out, "{} passed, {} failed", all.len() - failures.len(), failures.len()).unwrap();
    assert!(!all.is_empty() && failures.is_empty());
}

/// Whether a trace has a broken rule of this severity in it.
fn has(trace: &[Value], severity: Severity) -> bool {
    let rules = trace.iter().filter(|event| event["event"] == "violation").filter_map(|event| event["rule"].as_str());
    rules.filter_map(rule).any(|rule| rule.severity == severity)
}

/// A trace without the reasons for which messages were stopped. What breaks several rules is stopped by the first of them
/// that stops anything, and which that is depends on what the policies let pass.
fn without_reasons(trace: &[Value]) -> Vec<Value> {
    let stops = |event: &Value| event["event"] == "violation" && event["consequence"] != "delivered";
    let stopped: Vec<&Value> = trace.iter().filter(|event| stops(event)).map(|event| &event["frame"]).collect();
    let counts = |event: &&Value| {
        event["event"] != "violation" || event["consequence"] != "delivered" || !stopped.contains(&&event["frame"])
    };
    let bare = |event: &Value| {
        let sent = event.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        let mut bare = sent.filter(|sent| sent.get("error").is_some()).unwrap_or_else(|| event.clone());
        let reasons: &[&str] = if stops(event) { &["rule", "message", "pointer", "code"] } else { &["error"] };
        if let (Some(members), true) = (bare.as_object_mut(), event.is_string() || stops(event)) {
            members.retain(|name, _| !reasons.contains(&name.as_str()));
        }
        bare
    };
    trace.iter().filter(counts).map(bare).collect()
}

/// What comes of a scenario, but for advice.
fn trace(scenario: &scenario::Scenario, policy: Policy, policies: [Option<Policy>; 3]) -> Vec<Value> {
    let mut trace = scenario.trace(|config| (config.policy, config.policies) = (policy, policies));
    trace.retain(|event| event["event"] != "advice");
    trace
}

#[test]
fn each_rule_follows_the_policy_of_its_severity() {
    let all = scenario::load(&scenario::vectors());
    let others = [(Policy::Tolerant, Policy::Strict), (Policy::Strict, Policy::Off), (Policy::Off, Policy::Tolerant)];
    let mut compared = 0;
    for scenario in
        all.iter().filter(|scenario| scenario.steps.iter().all(|(step, _)| step.get("feed_repeat").is_none()))
    {
        let plain = others.map(|(policy, _)| trace(scenario, policy, [None; 3]));
        for ((policy, base), expected) in others.into_iter().zip(&plain) {
            let found = trace(scenario, base, [Some(policy); 3]);
            assert_eq!(*expected, found, "{}: {}: {policy:?} over {base:?}", scenario.file, scenario.name);
        }
        // What comes neither way may have any policy. What is off leaves no trace of what has come.
        let pairs = [(Policy::Tolerant, Policy::Strict, &plain[0]), (Policy::Strict, Policy::Tolerant, &plain[1])];
        for severity in [Severity::Note, Severity::Warning, Severity::Error] {
            for (policy, other, expected) in pairs {
                if plain[..2].iter().any(|plain| has(plain, severity)) {
                    continue;
                }
                let mut policies = [None; 3];
                policies[severity as usize] = Some(other);
                let found = trace(scenario, policy, policies);
                if has(&found, severity) {
                    let (expected, found) = (without_reasons(expected), without_reasons(&found));
                    assert_eq!(expected, found, "{}: {}: {severity:?} {other:?}", scenario.file, scenario.name);
                    continue;
                }
                assert_eq!(*expected, found, "{}: {}: {severity:?} {other:?}", scenario.file, scenario.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 5_000, "{compared}");
}

#[test]
fn whatever_is_falsified_is_noticed() {
    let mut tally = falsify::Tally::default();
    for scenario in scenario::load(&scenario::vectors()) {
        tally.replay(&scenario);
    }
    let (events, unnoticed) = (tally.events(), tally.unnoticed.len());
    writeln!(std::io::stdout(), "\n{} falsified members in {events} events, {unnoticed} unnoticed", tally.falsified)
        .unwrap();
    assert!(events > 1000 && tally.falsified > 10 * events);
    assert!(tally.unnoticed.is_empty(), "{}", tally.unnoticed[..unnoticed.min(20)].join("\n"));
}

#[test]
fn what_is_expected_wrongly_fails() {
    let root = scenario::vectors();
    let shared = scenario::Shared::read(&root);
    let wrong = std::fs::read_to_string(root.join("wrong.ndjson")).unwrap();
    for line in wrong.lines() {
        let outcome = shared.scenario("wrong", line).and_then(|scenario| scenario.run(replay::Split::Whole));
        assert!(outcome.is_err(), "{line}");
    }
    assert!(wrong.lines().count() > 20);
}

/// Each edge case of views that is known has a scenario, by the number in its name.
#[test]
fn each_edge_case_of_views_has_a_scenario() {
    let all = scenario::load(&scenario::vectors());
    let views: Vec<_> = all.iter().filter(|scenario| scenario.file.contains("VIEW")).collect();
    let missing: Vec<usize> = (1..=26)
        .filter(|number| !views.iter().any(|scenario| scenario.name.starts_with(&format!("{number}: "))))
        .collect();
    // Two views of one session id on two connections: `two_connections_have_a_view_each`.
    assert_eq!(missing, [26]);
}

/// Of those that all languages have, and whose value is JSON.
#[test]
fn every_getter_is_asked_for() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/protocol/getters.json");
    let getters: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let groups = getters.as_object().unwrap().values().filter_map(|group| group["getters"].as_object());
    let asked_of = |getter: &Value| getter.get("in").is_none() && getter["gives"] != "config";
    let wanted: BTreeSet<&str> =
        groups.flatten().filter(|(_, getter)| asked_of(getter)).map(|(name, _)| name.as_str()).collect();
    let all = scenario::load(&scenario::vectors());
    let steps = all.iter().flat_map(|scenario| &scenario.steps).filter(|(step, _)| !step["gives"].is_null());
    // What a step `view` asks for in every language: numbers that no scenario knows.
    let views = ["view", "view_content", "view_revision", "view_since"];
    let asked: BTreeSet<&str> = steps.filter_map(|(step, _)| step["get"].as_str()).chain(views).collect();
    assert_eq!(asked, wanted);
}

#[test]
fn every_example_has_its_scenarios() {
    let root = scenario::vectors();
    let (complaints, replayed) = examples::complaints(&root, &scenario::load(&root));
    writeln!(
        std::io::stdout(),
        "\nexamples of the specification: {} replayed, {} left out",
        replayed,
        examples::EXAMPLES - replayed
    )
    .unwrap();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
