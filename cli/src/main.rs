//! `acp`: agents over HTTP and WebSocket, and remote agents as commands.
//!
//! `options` is the command line, `serve` and `connect` are the commands, `log` is what is said meanwhile, and `exit` what
//! the program ends with.

#![forbid(unsafe_code)]

mod connect;
mod exit;
mod log;
mod options;
mod serve;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use exit::Failure;
use options::{Command, Options};
use tokio::runtime::Runtime;

fn main() -> ExitCode {
    let Options { command, quiet } = Options::parse();
    log::quiet(quiet);
    if let Command::Completions { shell } = command {
        clap_complete::generate(shell, &mut Options::command(), "acp", &mut std::io::stdout());
        return ExitCode::SUCCESS;
    }
    let result = Runtime::new().map_err(|problem| Failure::Usage(problem.to_string())).and_then(|runtime| {
        let result = runtime.block_on(async {
            match command {
                Command::Serve(options) => serve::run(options).await,
                Command::Connect(options) => connect::run(options).await,
                Command::Completions { .. } => Ok(()),
            }
        });
        // A thread may still wait for standard input.
        runtime.shutdown_background();
        result
    });
    exit::code(result)
}
