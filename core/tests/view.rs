//! Replays the scenarios of `view`: what a view is after each of some messages, whole, byte by byte, and in every two
//! pieces. They are in the format of `tests/vectors`, where they move once other languages have views.

#[path = "support/base64.rs"]
mod base64;
#[path = "support/config.rs"]
mod config;
#[path = "support/event.rs"]
mod event;
#[path = "support/exact.rs"]
mod exact;
#[path = "support/expected.rs"]
mod expected;
#[path = "support/frames.rs"]
mod frames;
#[path = "support/replay.rs"]
mod replay;
#[path = "support/scenario.rs"]
mod scenario;

use std::fs;
use std::path::Path;

use scenario::{Scenario, Shared};

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/view"))
}

fn all() -> Vec<Scenario> {
    Shared::read(&scenario::vectors()).load(folder())
}

#[test]
fn views_are_what_the_scenarios_say() {
    let mut wrong = Vec::new();
    let all = all();
    for scenario in &all {
        let fails = |split| scenario.run(split).err().map(|why| (split, why));
        if let Some((split, why)) = scenario.splits().into_iter().find_map(fails) {
            wrong.push(format!("{}: {} ({split:?}): {why}", scenario.file, scenario.name));
        }
    }
    assert!(all.len() >= 26 && wrong.is_empty(), "{} of {}:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

/// Each edge case that is known has a scenario, by the number in its name.
#[test]
fn each_edge_case_has_a_scenario() {
    let all = all();
    let missing: Vec<usize> = (1..=26)
        .filter(|number| !all.iter().any(|scenario| scenario.name.starts_with(&format!("{number}: "))))
        .collect();
    // Two views of one session id on two connections: `two_connections_have_a_view_each`.
    assert_eq!(missing, [26]);
}

#[test]
fn what_is_expected_wrongly_fails() {
    let shared = Shared::read(&scenario::vectors());
    let wrong = fs::read_to_string(folder().join("wrong.ndjson")).unwrap();
    for line in wrong.lines() {
        let outcome = shared.scenario("wrong", line).and_then(|scenario| scenario.run(replay::Split::Whole));
        assert!(outcome.is_err(), "{line}");
    }
    assert!(wrong.lines().count() >= 5);
}

/// What the specification says of views, and is not so yet. A scenario goes to its file when it passes.
#[test]
fn what_is_known_to_be_wrong_is_wrong() {
    let shared = Shared::read(&scenario::vectors());
    let known = fs::read_to_string(folder().join("known.ndjson")).unwrap();
    for line in known.lines() {
        let outcome = shared.scenario("known", line).and_then(|scenario| scenario.run(replay::Split::Whole));
        assert!(outcome.is_err_and(|why| why.contains(": expected ")), "{line}");
    }
}
