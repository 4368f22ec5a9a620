//! What can be asked for, and what is said about it.

use std::fmt::Write as _;
use std::process::Command as Process;

use anyhow::{bail, Context, Result};

use crate::{bench, codegen, demo, fuzz, import, install, miri, references, release, setup, test};

/// An option as it is written, and what it does.
pub(crate) type Options = &'static [(&'static str, &'static str)];

/// A command.
pub(crate) struct Command {
    pub(crate) name: &'static str,
    /// What may stand behind the name.
    takes: &'static str,
    /// One line.
    does: &'static str,
    options: Options,
    pub(crate) run: fn(&[String]) -> Result<()>,
}

const COMMANDS: &[Command] = &[
    Command {
        name: "import",
        takes: "[--check]",
        does: "refresh the model's structure from the official schemas, and list what lacks words",
        options: &[("--check", "write nothing; fail when the schemas differ from the model, or words lack")],
        run: |args| import::run(check(args)?),
    },
    Command {
        name: "codegen",
        takes: "[--check]",
        does: "write what is generated from the model",
        options: &[("--check", "write nothing; fail when something is stale")],
        run: |args| codegen::run(check(args)?),
    },
    Command {
        name: "test",
        takes: "[SUITE …] [--list]",
        does: "set up what it needs, then run everything",
        options: &[("SUITE", "run this suite instead"), ("--list", "name the suites, and run none")],
        run: test::run,
    },
    Command {
        name: "rules",
        takes: "[--check | --prove]",
        does: "print the rule catalogue with what proves each rule, and write docs/src/rules.md",
        options: &[
            ("--check", "write nothing; fail when that page is stale"),
            ("--prove", "switch each rule off in each of its directions, and fail when its own vectors still pass"),
        ],
        run: rules,
    },
    Command {
        name: "book",
        takes: "[FOLDER]",
        does: "build the book of docs/ into target/book",
        options: &[("FOLDER", "the book of this folder instead")],
        run: book,
    },
    Command {
        name: "web",
        takes: "[--port N] [--cwd DIR] [--root DIR] [-- AGENT …] | --screenshots",
        does: "serve the example page, talking to an agent",
        options: &[
            ("--port N", "listen on this port of 127.0.0.1; a free one without it"),
            ("--cwd DIR", "where sessions work; the root, or this folder, without it"),
            (
                "--root DIR",
                "serve the files of this folder, and run commands in it, each when you agree; neither without it",
            ),
            ("-- AGENT …", "the agent's command; an example agent without it"),
            ("--screenshots", "make the book's pictures of the page, which takes Chromium"),
        ],
        run: web,
    },
    Command {
        name: "install",
        takes: install::USAGE,
        does: "build the C library and lay it out for C and C++ programs",
        options: install::OPTIONS,
        run: install::run,
    },
    Command {
        name: "release",
        takes: release::USAGE,
        does: "make a part of a release, try it, and publish it if that is asked for",
        options: release::OPTIONS,
        run: release::run,
    },
    Command {
        name: "bench",
        takes: bench::USAGE,
        does: "measure everything beside the official SDKs, or count instructions",
        options: bench::OPTIONS,
        run: bench::run,
    },
    Command {
        name: "fuzz",
        takes: fuzz::USAGE,
        does: "look for inputs that break the core or the C interface, and print what was found",
        options: fuzz::OPTIONS,
        run: fuzz::run,
    },
    Command {
        name: "miri",
        takes: "",
        does: "run tests of the core and of the C interface in Miri, which needs a nightly toolchain",
        options: &[],
        run: miri::run,
    },
    Command {
        name: "demo",
        takes: demo::USAGE,
        does: "play one conversation between every client and every agent",
        options: demo::OPTIONS,
        run: demo::run,
    },
];

impl Command {
    /// What it does and takes.
    pub(crate) fn help(&self) -> String {
        let mut out =
            format!("cargo xtask {}\n\n{}\n", [self.name, self.takes].join(" ").trim_end(), sentence(self.does));
        let width = self.options.iter().map(|(option, _)| option.chars().count()).max().unwrap_or(0);
        for (at, (option, does)) in self.options.iter().enumerate() {
            let _ = writeln!(out, "{}  {option:<width$}  {does}", if at == 0 { "\n" } else { "" });
        }
        out
    }
}

/// The command of this name.
pub(crate) fn find(name: &str) -> Result<&'static Command> {
    let command = COMMANDS.iter().find(|command| command.name == name);
    command.with_context(|| format!("no command {name}; there are:\n{}", all()))
}

/// All commands.
pub(crate) fn all() -> String {
    let line = |command: &Command| {
        format!("  cargo xtask {}\n      {}\n", [command.name, command.takes].join(" ").trim_end(), command.does)
    };
    let lines: Vec<String> = COMMANDS.iter().map(line).collect();
    lines.concat() + "`cargo xtask COMMAND --help` says what its options do.\n"
}

fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).chain(['.']).collect())
}

fn book(args: &[String]) -> Result<()> {
    if args.is_empty() {
        references::bring()?;
    }
    program("xtask-book", args)
}

fn web(args: &[String]) -> Result<()> {
    setup::bring_all([&setup::steps::WEB])?;
    if args == ["--screenshots"] {
        setup::run(setup::steps::npm("tests/browser").arg("ci"))?;
        return become_process(Process::new("node").arg("tests/browser/screenshots.mjs"));
    }
    become_process(Process::new("target/debug/xtask-web").args(args))
}

fn rules(args: &[String]) -> Result<()> {
    match args {
        [flag] if flag == "--prove" => become_process(setup::cargo().args([
            "run",
            "--quiet",
            "-p",
            "xtask-rules",
            "--features",
            "prove",
            "--bin",
            "prove",
        ])),
        args => program("xtask-rules", args),
    }
}

/// For commands that are a package of their own; ends as that does.
fn program(package: &str, args: &[String]) -> Result<()> {
    become_process(setup::cargo().args(["run", "--quiet", "-p", package, "--"]).args(args))
}

/// Goes on as another program, so that whoever ends this ends that.
#[cfg(unix)]
fn become_process(process: &mut Process) -> Result<()> {
    let error = std::os::unix::process::CommandExt::exec(process);
    Err(error).with_context(|| process.get_program().to_string_lossy().into_owned())
}

/// Runs another program and ends as that does.
#[cfg(not(unix))]
fn become_process(process: &mut Process) -> Result<()> {
    let status = process.status().with_context(|| process.get_program().to_string_lossy().into_owned())?;
    std::process::exit(status.code().unwrap_or(1));
}

/// For commands whose only argument is `--check`.
fn check(args: &[String]) -> Result<bool> {
    match args {
        [] => Ok(false),
        [flag] if flag == "--check" => Ok(true),
        _ => bail!("expected no argument but --check"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_explained() {
        for command in COMMANDS {
            let words =
                command.takes.split(['[', ']', '|', ' ']).filter(|word| word.starts_with("--") && word.len() > 2);
            let explained =
                |word: &str| command.options.iter().any(|(option, _)| option.split(' ').any(|part| part == word));
            for word in words {
                assert!(explained(word), "{} {word}", command.name);
            }
            for (option, _) in command.options {
                let name = option.split(' ').next().unwrap_or_default();
                assert!(command.takes.contains(name), "{} takes no {name}", command.name);
            }
        }
    }
}
