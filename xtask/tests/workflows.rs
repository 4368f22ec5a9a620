//! What the workflows run exists, and is nothing that could not be run on any machine: commands of `cargo xtask`, with
//! options that they have, and the gate.

use std::fs;
use std::path::Path;
use std::process::Command;

const GATE: &str = ".ci/run";

/// The workflows, each with its name.
fn workflows() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/workflows");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<(String, String)> = files
        .map(|file| (file.file_name().unwrap().to_string_lossy().into_owned(), fs::read_to_string(file).unwrap()))
        .collect();
    all.sort();
    all
}

/// The commands of a workflow, each on one line.
fn commands(text: &str) -> Vec<&str> {
    let lines = text.lines().map(|line| line.trim_start().trim_start_matches("- "));
    lines.filter_map(|line| line.strip_prefix("run:")).map(str::trim).collect()
}

fn xtask(args: &[&str]) -> Result<String, String> {
    let output = Command::new(env!("CARGO_BIN_EXE_xtask")).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    if output.status.success() {
        Ok(text(output.stdout))
    } else {
        Err(text(output.stderr))
    }
}

/// Why a command cannot be run.
fn wrong(command: &str) -> Option<String> {
    if command == GATE {
        return None;
    }
    let Some(rest) = command.strip_prefix("cargo xtask ") else { return Some("no command of cargo xtask".to_owned()) };
    // The workflow fills these in.
    let rest = rest.split("${{").map(|part| part.split_once("}}").map_or(part, |(_, rest)| rest)).collect::<String>();
    let mut words = rest.split_whitespace();
    let name = words.next()?;
    let help = match xtask(&["help", name]) {
        Ok(help) => help,
        Err(error) => return Some(error),
    };
    if name == "release" {
        // What it does not know is refused before anything is made.
        let part = words.next().unwrap_or_default();
        let error = xtask(&["release", part, "--nothing"]).unwrap_err();
        if !error.contains("--nothing: unknown") {
            return Some(error);
        }
    }
    let mut options = words.filter(|word| word.starts_with("--"));
    options.find(|option| !help.contains(&format!("  {option}"))).map(|option| format!("{name} has no {option}"))
}

#[test]
fn every_command_exists() {
    let all = workflows();
    assert_eq!(all.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["ci.yml", "release.yml"]);
    for (name, text) in &all {
        let commands = commands(text);
        assert!(!commands.is_empty(), "{name} runs nothing");
        for command in commands {
            assert_eq!(wrong(command), None, "{name}: {command}");
        }
    }
}

#[test]
fn what_does_not_exist_is_found() {
    for (command, why) in [
        ("npm publish", "no command of cargo xtask"),
        ("|", "no command of cargo xtask"),
        ("cargo xtask publish", "no command publish"),
        ("cargo xtask release everything", "no part everything"),
        ("cargo xtask release npm --quickly", "release has no --quickly"),
    ] {
        let said = wrong(command).unwrap_or_default();
        assert!(said.contains(why), "{command}: {said}");
    }
}

#[test]
fn wheels_are_made_for_every_target_that_is_published() {
    let all = workflows();
    let (_, release) = &all[1];
    let source = include_str!("../src/release/made.rs");
    let (_, table) = source.split_once("TARGETS").unwrap();
    let (table, _) = table.split_once("];").unwrap();
    let targets: Vec<&str> =
        table.lines().filter_map(|line| line.trim().strip_prefix("(\"")?.split('"').next()).collect();
    assert_eq!(targets.len(), 7, "{targets:?}");
    for target in &targets {
        assert!(release.contains(&format!("{{ target: {target}, ")), "no wheel is made for {target}");
    }
    assert_eq!(release.matches("{ target: ").count(), targets.len());
}

#[test]
fn nothing_is_published_before_everything_is_made() {
    let all = workflows();
    let (before, publish) = all[1].1.split_once("\n  publish:\n").unwrap();
    assert!(
        !before.contains("--publish")
            || before.lines().all(|line| line.starts_with('#') || !line.contains("--publish"))
    );
    assert!(publish.contains("needs: [wheels, npm, crates, c]") && publish.contains("github.ref_type == 'tag'"));
}
