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
use std::path::Path;

use account::Replay;
use libacp::Role;

/// The columns of a list that the test compares; what follows `#` is the reason.
fn columns(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim_end()
}

/// Replays the sides that a file's name says were recorded. Where both were, the lines say which of them they are about.
fn replay(path: &Path) -> Replay {
    let name = path.file_stem().unwrap().to_str().unwrap();
    let sides: &[(Role, &str)] = match name.split('-').next() {
        Some("agent") => &[(Role::Agent, "")],
        Some("client") => &[(Role::Client, "")],
        Some("both") => &[(Role::Agent, "<\t"), (Role::Client, ">\t")],
        _ => panic!("{name}: expected agent-, client- or both-"),
    };
    let mut all = Replay::default();
    for (side, mark) in sides {
        let one = account::replay(path, *side);
        all.messages += one.messages;
        all.report.extend(one.report.iter().map(|line| format!("{mark}{line}")));
        all.unaccounted.extend(one.unaccounted);
        all.refused.extend(one.refused);
    }
    all
}

#[test]
fn recordings_are_delivered_once_and_in_order() {
    let mut out = std::io::stdout();
    let mut wrong = Vec::new();
    let all = recording::all();
    assert!(all.len() >= 17, "{} recordings", all.len());
    for path in all {
        let name = recording::name(&path);
        let replay = replay(&path);
        wrong.extend(replay.unaccounted.iter().map(|why| format!("{name}: {why}")));
        // In version 2, the other side was this library, and nothing that it did was wrong.
        if name.starts_with("version-2/") && !name.contains("/both-") {
            wrong.extend(replay.refused.iter().map(|call| format!("{name}: cannot be sent: {call}")));
        }
        let list = path.with_file_name("expected").join(format!("{}.txt", path.file_stem().unwrap().to_str().unwrap()));
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
