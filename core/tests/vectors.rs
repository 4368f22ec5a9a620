//! Replays all scenarios of `tests/vectors`, whole, byte by byte, and (where they are short) in every two pieces.

#[path = "support/base64.rs"]
mod base64;
#[path = "support/event.rs"]
mod event;
#[path = "support/replay.rs"]
mod replay;
#[path = "support/scenario.rs"]
mod scenario;

use std::io::Write as _;
use std::panic::catch_unwind;

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

#[test]
fn vectors() {
    let all = scenario::load(&scenario::vectors());
    let failures: Vec<String> = all.iter().filter_map(failure).collect();
    // Past the capture of test output: the count is compared between languages.
    let mut out = std::io::stdout();
    for failure in &failures {
        writeln!(out, "{failure}").unwrap();
    }
    writeln!(out, "{} passed, {} failed", all.len() - failures.len(), failures.len()).unwrap();
    assert!(!all.is_empty() && failures.is_empty());
}
