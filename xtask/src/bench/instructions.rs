//! How many instructions W4 takes, which hardly depends on what else the machine does: the tests compare it with what is
//! kept in [`KEPT`], and a change that takes noticeably more has to say so by changing that file.

use std::fs;
use std::process::Command;

use anyhow::{bail, ensure, Context, Result};
use serde_json::{json, Map, Value};

use super::{inputs, rounds::output};
use crate::setup::bench::COUNT;
use crate::setup::require;

/// What is kept.
const KEPT: &str = "bench/instructions.json";
/// Lines of each input that are decoded: enough for a count that is the same again.
const LINES: u64 = 1_000;
/// More than this part up fails.
const TOLERANCE: f64 = 0.05;
/// The inputs, and the same while a view of the session is kept.
const COUNTS: &[&str] = &["small", "mix", "small-view", "mix-view"];
const VIEW: &str = "-view";
const UPDATE: &str = "if that is meant: cargo xtask bench --instructions --update";

/// Counts, and compares or keeps.
pub(super) fn run(update: bool) -> Result<()> {
    require("valgrind")?;
    inputs::write()?;
    COUNT.bring()?;
    let counted = count()?;
    if update {
        let text = serde_json::to_string_pretty(&counted)?;
        fs::write(KEPT, text + "\n").context(KEPT)?;
        println!("written: {KEPT}");
        return Ok(());
    }
    let text =
        fs::read_to_string(KEPT).with_context(|| format!("{KEPT}; cargo xtask bench --instructions --update"))?;
    let kept: Value = serde_json::from_str(&text).context(KEPT)?;
    let (lines, worse) = compare(&kept, &counted)?;
    println!("{}", lines.join("\n"));
    ensure!(worse == 0, "W4 takes more instructions than are kept in {KEPT}; {UPDATE}");
    Ok(())
}

/// Instructions of each, and what they depend on.
fn count() -> Result<Value> {
    let compiler = Command::new("rustc").arg("--version").output().context("rustc")?;
    let compiler = String::from_utf8_lossy(&compiler.stdout).trim().to_owned();
    let (mut instructions, mut processor) = (Map::new(), Value::Null);
    for name in COUNTS {
        let input = name.strip_suffix(VIEW).unwrap_or(name);
        let profile = format!("target/bench/callgrind-{name}.out");
        let mut valgrind = Command::new("valgrind");
        valgrind.args(["--quiet", "--tool=callgrind", "--toggle-collect=w4_count::decode*"]);
        valgrind.arg(format!("--callgrind-out-file={profile}"));
        valgrind.args(["target/release/w4-count", &format!("{}/{input}.jsonl", inputs::FOLDER), &LINES.to_string()]);
        valgrind.args((*name != input).then_some("view"));
        let mut line = output(&mut valgrind)?;
        ensure!(line["events"] == LINES, "{name}: {} events of {LINES} lines", line["events"]);
        processor = line["processor"].take();
        let text = fs::read_to_string(&profile).with_context(|| profile.clone())?;
        let total = text.lines().find_map(|line| line.strip_prefix("totals: ")?.trim().parse::<u64>().ok());
        let total = total.filter(|total| *total > 0).with_context(|| format!("{profile} has no count"))?;
        instructions.insert((*name).to_owned(), total.into());
    }
    Ok(json!({"rustc": compiler, "processor": processor, "lines": LINES, "instructions": instructions}))
}

/// What to say of it, and how many inputs take too many instructions.
fn compare(kept: &Value, counted: &Value) -> Result<(Vec<String>, usize)> {
    let mut lines = Vec::new();
    for depends in ["rustc", "processor", "lines"] {
        if kept[depends] != counted[depends] {
            lines.push(format!(
                "note: instruction counts were NOT COMPARED: {KEPT} has {depends} {}, and this is {}; {UPDATE}",
                kept[depends], counted[depends]
            ));
        }
    }
    if !lines.is_empty() {
        // That all lines are decoded was checked in any case.
        lines.push(format!("{} passed, 0 failed", COUNTS.len()));
        return Ok((lines, 0));
    }
    let mut worse = 0;
    for name in COUNTS {
        let of = |value: &Value| value["instructions"][name].as_f64().filter(|count| *count > 0.0);
        let Some((old, new)) = of(kept).zip(of(counted)) else { bail!("{KEPT} has no count of {name}") };
        let change = new / old - 1.0;
        let is_worse = change > TOLERANCE;
        worse += usize::from(is_worse);
        #[allow(clippy::cast_precision_loss, reason = "a small number")]
        let each = new / LINES as f64;
        let verdict = match change {
            _ if is_worse => format!("FAILED: more than {} % up; {UPDATE}", TOLERANCE * 100.0),
            change if change < -TOLERANCE => "so much less that it should be kept: --instructions --update".to_owned(),
            _ => "as is kept".to_owned(),
        };
        lines.push(format!("note: W4 {name}: {each:.0} instructions a message, {:+.1} %, {verdict}", change * 100.0));
    }
    lines.push(format!("{} passed, {worse} failed", COUNTS.len() - worse));
    Ok((lines, worse))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(small: u64, processor: &str) -> Value {
        json!({"rustc": "1", "processor": processor, "lines": 1, "instructions": {"small": small, "mix": 1000, "small-view": 1, "mix-view": 1}})
    }

    #[test]
    fn what_goes_up_by_more_than_the_tolerance_fails() {
        let worse = |small| compare(&counts(1000, "a"), &counts(small, "a")).unwrap().1;
        assert_eq!([900, 1000, 1049, 1051].map(worse), [0, 0, 0, 1]);
        let (lines, _) = compare(&counts(1000, "a"), &counts(1100, "a")).unwrap();
        assert!(lines[0].contains("+10.0 %, FAILED") && lines[0].contains("--update"), "{lines:?}");
        assert_eq!(lines[4], "3 passed, 1 failed");
    }

    #[test]
    fn counts_of_another_machine_are_not_compared_and_that_is_said() {
        let (lines, worse) = compare(&counts(1, "a"), &counts(1000, "b")).unwrap();
        assert_eq!((lines.len(), worse), (2, 0));
        assert!(lines[0].starts_with("note: instruction counts were NOT COMPARED"), "{lines:?}");
    }
}
