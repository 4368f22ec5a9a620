//! The client and the agent of the catalogue on `libacp-tokio`:
//!
//! ```text
//! libacp-catalogue client --steps FILE --version 1|2 --work DIR -- AGENT ARGUMENT ...
//! libacp-catalogue agent --version 1|2 [--login]
//! ```

#![forbid(unsafe_code)]

mod agent;
mod checks;
mod client;
mod offers;
mod seen;
mod turns;

use std::process::ExitCode;

use libacp::aio::Failure;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &[String]) -> Result<(), Failure> {
    let own = arguments.split(|argument| argument == "--").next().unwrap_or_default();
    let value = |name: &str| {
        let at = own.iter().position(|argument| argument == name);
        at.and_then(|at| own.get(at + 1)).ok_or_else(|| Failure::new(format!("expected {name} and a value")))
    };
    let version: u16 = value("--version")?.parse()?;
    if own.first().is_some_and(|role| role == "agent") {
        return Ok(agent::serve(version, own.iter().any(|argument| argument == "--login")).await?);
    }
    let agent = &arguments[(own.len() + 1).min(arguments.len())..];
    let playing = client::play(value("--steps")?, version, value("--work")?, agent);
    // What drives the connections runs beside it, on this thread.
    tokio::task::LocalSet::new().run_until(playing).await
}
