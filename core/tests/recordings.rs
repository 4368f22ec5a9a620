//! Feeds each recording of `tests/recordings` to a connection of the other role: every message that the recorded side
//! sent is delivered once and in order or reported, and what is reported is what a person has checked and listed.
//!
//! `UPDATE_RECORDINGS=1` prints the lists as they would be now, without reasons.

#[path = "support/account.rs"]
mod account;
#[path = "support/base64.rs"]
mod base64;
#[path = "support/recording.rs"]
mod recording;

use std::fs;
use std::io::Write as _;

/// The columns of a list that the test compares; what follows `#` is the reason.
fn columns(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim_end()
}

#[test]
fn recordings_are_delivered_once_and_in_order() {
    let mut out = std::io::stdout();
    let mut wrong = Vec::new();
    let all = recording::all();
    assert!(all.len() >= 8, "{} recordings", all.len());
    for path in all {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let replay = account::replay(&path);
        wrong.extend(replay.unaccounted.iter().map(|why| format!("{name}: {why}")));
        let list = path.with_file_name("expected").join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_RECORDINGS").is_some() {
            writeln!(out, "== {name}\n{}", replay.report.join("\n")).unwrap();
            continue;
        }
        let expected = fs::read_to_string(&list).unwrap_or_else(|error| panic!("{}: {error}", list.display()));
        let lines: Vec<&str> = expected.lines().filter(|line| !line.trim().is_empty()).collect();
        for line in &lines {
            assert!(line.split_once('#').is_some_and(|(_, reason)| reason.trim().len() > 8), "no reason: {line}");
        }
        let expected: Vec<&str> = lines.into_iter().map(columns).collect();
        let found: Vec<&str> = replay.report.iter().map(|line| columns(line)).collect();
        for line in expected.iter().filter(|line| !found.contains(line)) {
            wrong.push(format!("{name}: not reported: {line}"));
        }
        for line in replay.report.iter().filter(|line| !expected.contains(&columns(line))) {
            wrong.push(format!("{name}: not listed: {line}"));
        }
        if found != expected && wrong.is_empty() {
            wrong.push(format!("{name}: another order or count"));
        }
        writeln!(out, "{name}: {} messages, {} violations", replay.messages, replay.report.len()).unwrap();
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}
