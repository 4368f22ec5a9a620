//! The project's commands, run as `cargo xtask NAME`.
//!
//! Read [`commands`] for what there is, and [`model`] next: it is what all of them work on.

use std::process::ExitCode;

use anyhow::{bail, Context, Result};

mod bench;
mod codegen;
mod commands;
mod demo;
mod fuzz;
mod import;
mod install;
mod miri;
mod model;
mod references;
mod release;
mod setup;
mod test;

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
    let Some((name, args)) = args.split_first() else { bail!("expected a command:\n{}", commands::all()) };
    // What stands behind `--` is another program's.
    let asks = |args: &[String]| args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--help" || arg == "-h");
    if ["help", "--help", "-h"].contains(&name.as_str()) {
        let about =
            args.first().map_or_else(|| Ok(commands::all()), |name| commands::find(name).map(commands::Command::help));
        print!("{}", about?);
        return Ok(());
    }
    let command = commands::find(name)?;
    if asks(args) {
        print!("{}", command.help());
        return Ok(());
    }
    // Every path is relative to the workspace's root.
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask is not in a workspace")?;
    std::env::set_current_dir(root).with_context(|| root.display().to_string())?;
    (command.run)(args)
}
