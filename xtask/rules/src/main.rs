//! `cargo xtask rules [--check]`: prints the rule catalogue, holds it against the specification's rules and the vectors,
//! and writes `docs/src/rules.md`. `cargo xtask rules --prove` is another program (`prove`).
//!
//! The exit status is 1 when a rule of the specification has neither a row nor a word for why it has none, when an event
//! of the vectors carries an id that no row has, when none carries an id though its row says that events do, when the C
//! header has other ids, and, with `--check`, when a file is stale.

mod carried;
mod list;
mod page;
mod specification;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use carried::Vectors;
use libacp::rules::{Rule, AREAS};

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
    let entries = specification::read()?;
    let vectors = Vectors::read(&["tests/vectors", "tests/http"].map(Path::new))?;
    println!("{:<10} {:<10} {:<8} {:<4} {:<7} {:<5} vectors", "rule", "level", "severity", "send", "receive", "track");
    let all = || AREAS.iter().flat_map(|area| area.rules);
    for rule in all() {
        println!("{} {}", row(rule), vectors.count(rule.id));
    }
    let claimed = |from: fn(&Rule) -> bool| all().filter(|rule| from(rule)).count();
    println!(
        "{} rules: {} on send, {} on receive, {} tracked",
        all().count(),
        claimed(|rule| rule.send),
        claimed(|rule| rule.receive),
        claimed(|rule| rule.track)
    );
    for line in specification::summary(&entries) {
        println!("{line}");
    }
    let mut complaints = specification::complaints(&entries);
    complaints.extend(vectors.complaints(&entries));
    for (path, text) in [(page::PATH, page::text(&entries)?)] {
        if fs::read_to_string(path).is_ok_and(|old| old == text) {
            continue;
        }
        if check {
            complaints.push(format!("{path} is stale; run `cargo xtask rules`"));
        } else {
            fs::write(path, text)?;
        }
    }
    complaints.extend(list::complaints()?);
    // A round figure, which one more rule leaves true.
    let figure = format!("[more than {} rules](docs/src/rules.md)", (all().count() - 1) / 10 * 10);
    if !fs::read_to_string("README.md")?.contains(&figure) {
        complaints.push(format!("README.md does not say {figure}"));
    }
    for line in &complaints {
        println!("{line}");
    }
    let held = all().count() + entries.iter().filter(|entry| entry.word.is_some()).count();
    println!("{held} passed, {} failed", complaints.len());
    Ok(complaints.is_empty())
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
