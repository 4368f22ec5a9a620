//! Every command says what it takes, at once: nothing is set up for that, and no other program is run.

use std::process::{Command, Output};

const COMMANDS: [&str; 12] =
    ["import", "codegen", "test", "rules", "book", "web", "install", "release", "bench", "fuzz", "miri", "demo"];

/// In an empty folder, with no program to be found.
fn xtask(args: &[&str]) -> Output {
    let folder = std::env::temp_dir().join(format!("libacp-help-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut xtask = Command::new(env!("CARGO_BIN_EXE_xtask"));
    xtask.args(args).env_clear().env("PATH", &folder).current_dir(&folder).output().unwrap()
}

fn said(args: &[&str]) -> String {
    let output = xtask(args);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && errors.is_empty(), "{args:?}: {} {errors}", output.status);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_command_has_help() {
    let all = said(&["--help"]);
    assert_eq!(all, said(&["help"]));
    for command in COMMANDS {
        let help = said(&[command, "--help"]);
        assert!(help.starts_with(&format!("cargo xtask {command}")), "{help}");
        assert_eq!(help, said(&[command, "-h"]));
        assert_eq!(help, said(&["help", command]));
        assert!(all.contains(&format!("  cargo xtask {command}")), "{all}");
    }
    assert_eq!(all.matches("cargo xtask ").count(), COMMANDS.len() + 1, "a command that is not tried here: {all}");
    assert_eq!(said(&["web", "--port", "8000", "--help"]), said(&["web", "--help"]));
}

#[test]
fn options_are_explained() {
    assert_eq!(
        said(&["web", "--help"]),
        "cargo xtask web [--port N] [--cwd DIR] [--root DIR] [-- AGENT …] | --screenshots\n\
         \n\
         Serve the example page, talking to an agent.\n\
         \n  \
           --port N       listen on this port of 127.0.0.1; a free one without it\n  \
           --cwd DIR      where sessions work; the root, or this folder, without it\n  \
           --root DIR     serve the files of this folder, and run commands in it, each when you agree; neither without it\n  \
           -- AGENT …     the agent's command; an example agent without it\n  \
           --screenshots  make the book's pictures of the page, which takes Chromium\n"
    );
}

#[test]
fn an_agent_keeps_its_own_options() {
    // Behind `--` it is the agent that is asked, for which the page is set up; which fails here, where no program is.
    let output = xtask(&["web", "--", "agent", "--help"]);
    assert!(!output.status.success() && output.stdout.is_empty());
}

#[test]
fn what_is_no_command_is_told_the_commands() {
    for args in [&[][..], &["nothing"], &["help", "nothing"]] {
        let output = xtask(args);
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && errors.contains("  cargo xtask demo"), "{args:?}: {errors}");
    }
}
