//! Replays the vectors of the remote transports (`tests/http`), with bodies and streams in pieces of every size.

#[path = "http/ask.rs"]
mod ask;
#[path = "http/remote.rs"]
mod remote;
#[path = "http/serve.rs"]
mod serve;

use std::collections::BTreeSet;
use std::panic::catch_unwind;

use libacp::http::tolerance::POINTS;
use remote::Scenario;

fn failure(scenario: &Scenario) -> Option<String> {
    let fails = |size| {
        let outcome = catch_unwind(|| scenario.run(size)).unwrap_or_else(|_| Err("a panic".into()));
        outcome.err().map(|why| (size, why))
    };
    let (size, why) = scenario.sizes().find_map(fails)?;
    Some(format!("{}: {} (in pieces of {size}): {why}", scenario.file, scenario.name))
}

#[test]
fn every_scenario_holds_in_pieces_of_every_size() {
    let all = remote::load();
    let failures: Vec<String> = all.iter().filter_map(failure).collect();
    assert!(failures.is_empty(), "{} of {} fail:\n{}", failures.len(), all.len(), failures.join("\n"));
}

#[test]
fn every_point_at_which_peers_differ_has_a_scenario() {
    let all = remote::load();
    let seen: BTreeSet<u64> = all.iter().filter_map(|scenario| scenario.point).collect();
    // Two are the work of the library that speaks HTTP; one is about names, which the model has.
    let left = [16, 18, 19];
    let missing: Vec<u8> = POINTS.iter().map(|point| point.number).filter(|number| !left.contains(number)).collect();
    let missing: Vec<u8> = missing.into_iter().filter(|number| !seen.contains(&u64::from(*number))).collect();
    assert_eq!(missing, [0; 0]);
}

#[test]
fn a_wrong_expectation_is_found() {
    let wrong = std::fs::read_to_string(remote::folder().join("wrong.ndjson")).expect("the wrong scenarios");
    let mut count = 0;
    for line in wrong.split('\n').filter(|line| !line.is_empty()) {
        let failed = match remote::read("wrong.ndjson", line) {
            Ok(scenario) => failure(&scenario).is_some(),
            Err(_) => true,
        };
        assert!(failed, "{line}");
        count += 1;
    }
    assert!(count > 10);
}
