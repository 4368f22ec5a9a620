//! The project's commands, run as `cargo xtask NAME`.
//!
//! Read [`model`] next: it is what all of them work on.

use std::process::ExitCode;

use anyhow::{bail, Context, Result};

mod bench;
mod codegen;
mod demo;
mod fuzz;
mod import;
mod install;
mod miri;
mod model;
mod setup;
mod test;

/// A command: its name, what it takes, what it does, and how it is run.
type Command = (&'static str, &'static str, &'static str, fn(&[String]) -> Result<()>);

const COMMANDS: &[Command] = &[
    (
        "import",
        "[--check]",
        "refresh the model's structure from the official schemas and list what lacks words",
        |args| import::run(check(args)?),
    ),
    ("codegen", "[--check]", "write what is generated from the model, or fail when something is stale", |args| {
        codegen::run(check(args)?)
    }),
    ("test", "[SUITE …] [--list]", "set up what it needs, then run everything", test::run),
    ("rules", "[--check]", "print the rule catalogue with what proves each rule", |args| program("xtask-rules", args)),
    ("book", "[FOLDER]", "build the book of docs/ into target/book", |args| program("xtask-book", args)),
    ("web", "[--port N] [--cwd DIR] [-- AGENT …]", "serve the example page, talking to an agent", |args| {
        setup::bring_all([&setup::steps::WEB])?;
        let status = std::process::Command::new("target/debug/xtask-web").args(args).status()?;
        std::process::exit(status.code().unwrap_or(1));
    }),
    ("install", install::USAGE, "build the C library and lay it out for C and C++ programs", install::run),
    ("bench", bench::USAGE, "measure everything beside the official SDKs, or count instructions", bench::run),
    (
        "fuzz",
        fuzz::USAGE,
        "look for inputs that break the core or the C interface, and print what was found",
        fuzz::run,
    ),
    ("miri", "", "run tests of the core and of the C interface in Miri, which needs a nightly toolchain", miri::run),
    ("demo", demo::USAGE, "play one conversation between every client and every agent", demo::run),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<()> {
    let Some((name, args)) = args.split_first() else { bail!("expected a command:\n{}", usage()) };
    let command = COMMANDS.iter().find(|command| command.0 == name);
    let command = command.with_context(|| format!("no command {name}; there are:\n{}", usage()))?;
    // Every path is relative to the workspace's root.
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask is not in a workspace")?;
    std::env::set_current_dir(root).with_context(|| root.display().to_string())?;
    command.3(args)
}

fn usage() -> String {
    let line = |(name, args, does, _): &Command| format!("  cargo xtask {name} {args}\n      {does}\n");
    COMMANDS.iter().map(line).collect()
}

/// For commands that are a package of their own; ends as that does.
fn program(package: &str, args: &[String]) -> Result<()> {
    let mut cargo = setup::cargo();
    cargo.args(["run", "--quiet", "-p", package, "--"]).args(args);
    std::process::exit(cargo.status()?.code().unwrap_or(1));
}

/// For commands whose only argument is `--check`.
fn check(args: &[String]) -> Result<bool> {
    match args {
        [] => Ok(false),
        [flag] if flag == "--check" => Ok(true),
        _ => bail!("expected no argument but --check"),
    }
}
