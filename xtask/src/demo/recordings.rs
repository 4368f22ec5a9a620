//! Recordings of peers in version 2, replayed by a program beside the Rust host.
//!
//! `tests/recordings/README.md` says what they are.

use std::process::Command;

use anyhow::{ensure, Context, Result};

use super::version_2::REPLAY;

const FOLDER: &str = "tests/recordings/version-2";

/// How all of them went.
#[derive(Default)]
pub(super) struct Replayed {
    pub(super) right: usize,
    /// Those that are wrong, and after each what there is to say about it.
    pub(super) wrong: Vec<String>,
}

/// Replays them, and prints a line for each.
pub(super) fn replay() -> Result<Replayed> {
    let output = Command::new(REPLAY).arg(FOLDER).output().context(REPLAY)?;
    let (lines, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    print!("{lines}");
    let replayed = read(&lines, &said);
    ensure!(
        output.status.success() == replayed.wrong.is_empty() && replayed.right + replayed.wrong.len() > 0,
        "{REPLAY} ended with {}: {said}",
        output.status
    );
    Ok(replayed)
}

/// Reads what the program says: lines of `right NAME: …` and `WRONG NAME: …`, and on standard error `NAME: why`.
fn read(lines: &str, said: &str) -> Replayed {
    let wrong = lines.lines().filter_map(|line| line.strip_prefix("WRONG ")).map(|line| {
        let name = line.split(": ").next().unwrap_or_default();
        let mut report = vec![format!("recording {name} is wrong:")];
        report.extend(said.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(": ")).map(str::to_owned));
        report.join("\n  ")
    });
    Replayed { right: lines.lines().filter(|line| line.starts_with("right ")).count(), wrong: wrong.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_recording_stands_with_it() {
        let lines = "right agent-a: 4 messages, 0 violations\nWRONG agent-b: 2 messages, 1 violations\n";
        let replayed = read(lines, "agent-b: not listed: <\nagent-b-2: x\nagent-b: y\n");
        assert_eq!(replayed.right, 1);
        assert_eq!(replayed.wrong, ["recording agent-b is wrong:\n  not listed: <\n  y"]);
        let none = read("", "expected a folder");
        assert_eq!((none.right, none.wrong.len()), (0, 0));
    }
}
