//! The asynchronous Rust layer as programs: every client with every agent, in processes, and on WebAssembly.

use std::process::Command;

use anyhow::{bail, ensure, Result};

use super::Log;
use crate::setup::{bring_all, cargo, steps, WASM};

const CLIENTS: &[&str] = &["acp-tokio-client", "acp-smol-client"];
/// What an agent is asked, and what the client prints of it.
type Talk = (&'static [&'static str], &'static str);
const HELLO: Talk = (&["hello"], "tool: Think about it\ntool: completed\nagent: HELLO\nend: end_turn\n");
const CANCEL: Talk = (&["--cancel", "wait"], "tool: Think about it\ntool: failed\nend: cancelled\n");
const NUMBER: Talk = (&["nothing.txt"], "There is no such file\nend: end_turn\n");
/// What would wait for ever if it were opened.
const PIPE: &str = "target/pipe";
const WAITS: Talk = (&[PIPE], "Not a regular file\nend: end_turn\n");

/// Agents, and what is said to them: those of this layer, and one on `libacp.aio` in Python.
const AGENTS: &[(&[&str], &[Talk])] = &[
    (&["target/debug/acp-tokio-agent"], &[HELLO, CANCEL]),
    (&["target/debug/acp-smol-agent"], &[HELLO, CANCEL]),
    (&[steps::PYTHON, "examples/python/hello_agent.py"], &[NUMBER, WAITS]),
];

pub(super) fn run(log: &Log<'_>) -> Result<()> {
    bring_all([&steps::PYTHON_MODULE, &steps::RUST_TESTS])?;
    let _ = std::fs::remove_file(PIPE);
    log.run(Command::new("mkfifo").arg(PIPE))?;
    for client in CLIENTS {
        for (agent, talks) in AGENTS {
            for (arguments, expected) in *talks {
                talk(client, agent, arguments, expected)?;
                log.passed(&format!("{client} {} -- {}", arguments.join(" "), agent.join(" ")))?;
            }
        }
    }
    log.run(cargo().args(["build", "--quiet", "-p", "libacp-examples-async", "--bin", "acp-local", "--target", WASM]))?;
    let module = format!("target/{WASM}/debug/acp-local.wasm");
    log.run(Command::new("node").args(["examples/rust-async/wasm.mjs", &module]))?;
    log.passed("an agent and a client in WebAssembly")
}

fn talk(client: &str, agent: &[&str], arguments: &[&str], expected: &str) -> Result<()> {
    let mut command = Command::new(format!("target/debug/{client}"));
    let output = command.args(arguments).arg("--").args(agent).output()?;
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{client} with {agent:?} ended with {}: {errors}", output.status);
    ensure!(errors.is_empty(), "{client} with {agent:?}: {errors}");
    // The lines that are looked for stand last; an agent of another kind may say more before.
    if !said.strip_suffix("the agent ended with 0\n").is_some_and(|said| said.ends_with(expected)) {
        bail!("{client} with {agent:?} printed {said:?}");
    }
    Ok(())
}
