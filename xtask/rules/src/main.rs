//! `cargo xtask rules [--check]`: prints the rule catalogue with what proves each rule, and writes `docs/src/rules.md`.
//!
//! A vector proves the rule that it names in `rule`; a Rust test proves the rules that its documentation names after
//! `Proves`. The exit status is 1 when a rule has no proof, when an error or a warning that vectors show is never broken
//! or never kept in them, when a proof names a rule that does not exist, and, with `--check`, when the page is stale.

mod page;
mod proofs;

use std::process::ExitCode;

use libacp::rules::{Rule, Severity, AREAS};
use proofs::{Proofs, Vectors};

const PAGE: &str = "docs/src/rules.md";

fn main() -> ExitCode {
    let check = std::env::args().any(|argument| argument == "--check");
    match run(check) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(check: bool) -> Result<bool, Box<dyn std::error::Error>> {
    let proofs = proofs::collect()?;
    let mut unproved = Vec::new();
    let mut halves = Vec::new();
    println!(
        "{:<10} {:<10} {:<8} {:<4} {:<7} {:<5} proved by",
        "rule", "level", "severity", "send", "receive", "track"
    );
    for rule in AREAS.iter().flat_map(|area| area.rules) {
        let proved = proofs.of(rule.id);
        println!("{} {proved}", row(rule));
        if proved.is_empty() {
            unproved.push(rule.id);
        }
        halves.extend(half(rule, &proofs));
    }
    let count = AREAS.iter().map(|area| area.rules.len()).sum::<usize>();
    let checked = |from: fn(&Rule) -> bool| AREAS.iter().flat_map(|area| area.rules).filter(|rule| from(rule)).count();
    let strangers = proofs.strangers();
    println!("{count} rules, {} proved", count - unproved.len());
    if !unproved.is_empty() {
        println!("without a test: {}", unproved.join(", "));
    }
    println!(
        "{} on send, {} on receive, {} tracked",
        checked(|rule| rule.send),
        checked(|rule| rule.receive),
        checked(|rule| rule.track)
    );
    for line in strangers.iter().chain(&halves) {
        println!("{line}");
    }
    let fresh = page::write(PAGE, check)?;
    if !fresh {
        println!("{PAGE} is stale; run `cargo xtask rules`");
    }
    let passed = count - unproved.len();
    let failed = unproved.len() + strangers.len() + halves.len() + usize::from(!fresh);
    println!("{passed} passed, {failed} failed");
    Ok(failed == 0)
}

/// What the vectors of a rule do not show, if it can be seen in vectors.
fn half(rule: &Rule, proofs: &Proofs) -> Option<String> {
    let vectors =
        proofs.vectors_of(rule.id).filter(|_| rule.severity != Severity::Note && (rule.send || rule.receive))?;
    let missing = match vectors {
        // What is only sent may be put right instead of refused.
        Vectors { broken: 0, .. } if rule.receive => "broken",
        Vectors { kept: 0, .. } => "kept",
        _ => return None,
    };
    Some(format!("{} is never {missing} in a vector", rule.id))
}

fn row(rule: &Rule) -> String {
    let yes = |flag: bool| if flag { "yes" } else { "-" };
    format!(
        "{:<10} {:<10} {:<8} {:<4} {:<7} {:<5}",
        rule.id,
        rule.level.name(),
        rule.severity.name(),
        yes(rule.send),
        yes(rule.receive),
        yes(rule.track)
    )
}
