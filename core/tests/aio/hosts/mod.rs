//! The host vectors (`tests/hosts`), replayed by agents and clients of `libacp::aio`.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

mod agent;
mod calls;
mod client;
mod format;
mod handlers;
mod inside;
mod replay;
mod turns;
mod world;

/// Why a scenario does not hold.
pub(crate) struct Failed {
    how: &'static str,
    why: String,
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.how, self.why)
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/hosts")
}

fn read(path: &Path) -> Value {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Replays all scenarios of one side, but for those that say that Rust has no such thing.
fn replay(side: &str, scenario: fn(&Value) -> Result<(), Failed>) {
    let mut files: Vec<_> = fs::read_dir(folder().join(side)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let (mut held, mut gaps, mut wrong) = (0, 0, Vec::new());
    for file in files.iter().filter(|file| file.extension().is_some_and(|end| end == "json")) {
        for each in read(file).as_array().unwrap() {
            let name = format!("{}: {}", file.file_stem().unwrap().to_string_lossy(), each["name"]);
            if std::env::var("HOSTS").is_ok_and(|part| !name.contains(&part)) {
                continue;
            }
            if each["gaps"]["rust"].is_string() {
                gaps += 1;
                continue;
            }
            match format::check(each).and_then(|()| scenario(each)) {
                Ok(()) => held += 1,
                Err(failed) => wrong.push(format!("{name}: {failed}")),
            }
        }
    }
    println!("{side}: {held} scenarios hold, {gaps} are not for Rust");
    assert!(wrong.is_empty(), "{} scenarios of {side}s do not hold:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn agents_hold_to_the_host_vectors() {
    replay("agent", agent::run);
}

#[test]
fn clients_hold_to_the_host_vectors() {
    replay("client", client::run);
}

#[test]
fn scenarios_that_are_wrong_fail_as_they_are_to() {
    let wrong = read(&folder().join("wrong.json"));
    for (side, scenario) in [("agent", agent::run as fn(&Value) -> _), ("client", client::run)] {
        for each in wrong[side].as_array().into_iter().flatten().filter(|each| !each["gaps"]["rust"].is_string()) {
            let name = &each["name"];
            match format::check(each).and_then(|()| scenario(each)) {
                Ok(()) => panic!("{side}: {name} holds"),
                Err(failed) => assert_eq!(failed.how, each["fails"], "{side}: {name}: {failed}"),
            }
        }
    }
}
