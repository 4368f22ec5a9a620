//! The client of the catalogue (`../../../../catalogue`) on the official Rust SDK:
//! `steps-client --steps FILE --version 1|2 --work DIR -- AGENT ARGUMENT ...`.
//!
//! It takes an agent through the steps and prints a line for each. [`peer`] is a connection to an agent, [`offers`] what the client
//! does for it, [`fold`] what a session shows; [`lab`] has the steps.

#![forbid(unsafe_code)]

mod fold;
mod lab;
mod offers;
mod peer;

use std::process::ExitCode;

use futures::executor::LocalPool;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let own = arguments.split(|argument| argument == "--").next().unwrap_or_default();
    let value = |name: &str| {
        let at = own.iter().position(|argument| argument == name);
        at.and_then(|at| own.get(at + 1)).cloned()
    };
    let agent = arguments[(own.len() + 1).min(arguments.len())..].to_vec();
    let (Some(steps), Some(version), Some(work)) = (value("--steps"), value("--version"), value("--work")) else {
        eprintln!("expected --steps FILE --version 1|2 --work DIR -- AGENT ARGUMENT ...");
        return ExitCode::FAILURE;
    };
    let mut pool = LocalPool::new();
    let version = if version == "2" { 2 } else { 1 };
    let playing = lab::play(pool.spawner(), &steps, version, work, agent);
    match pool.run_until(playing) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
