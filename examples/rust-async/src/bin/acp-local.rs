//! An agent and a client on one thread, with channels between them, and no I/O at all: it runs as a program, and the
//! same as WebAssembly without imports. The agent's handler holds an `Rc`, which no other thread may see.

#![forbid(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::process::ExitCode;
use std::rc::Rc;

use futures::channel::mpsc;
use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;
use futures::StreamExt;
use libacp::aio::{messages, Agent, AgentPeer, Client, Failure};
use libacp_examples_async::{shout, shown, talk};

fn run() -> Result<Vec<String>, Failure> {
    let (to_agent, from_client) = mpsc::channel::<String>(1);
    let (to_client, from_agent) = mpsc::channel::<String>(1);
    let from_client = from_client.map(Ok::<_, std::io::Error>);
    let from_agent = from_agent.map(Ok::<_, std::io::Error>);
    let (prompts, lines) = (Rc::new(Cell::new(0)), Rc::new(RefCell::new(Vec::new())));
    let result = Rc::new(RefCell::new(None));

    let agent = Agent::new("local-shouter", "1.0").prompt({
        let prompts = Rc::clone(&prompts);
        async move |turn| {
            prompts.set(prompts.get() + 1);
            shout(turn).await
        }
    });
    let client = Client::new("local", "1.0");
    let mut pool = LocalPool::new();
    pool.spawner().spawn_local(async move { agent.serve(messages(from_client, to_client)).await.unwrap_or(()) })?;
    pool.spawner().spawn_local({
        let (lines, result) = (Rc::clone(&lines), Rc::clone(&result));
        async move {
            let talks = client.run(messages(from_agent, to_agent), async |agent: AgentPeer| {
                talk(agent.clone(), "/work", "hello", false, |line| lines.borrow_mut().push(line)).await?;
                talk(agent, "/work", "wait", true, |line| lines.borrow_mut().push(line)).await?;
                Ok(())
            });
            *result.borrow_mut() = Some(talks.await);
        }
    })?;
    // Everything that moves is in here, so that it has come to an end when nothing moves any more.
    pool.run_until_stalled();
    let ended = result.borrow_mut().take().unwrap_or_else(|| Err(Failure::new("it stands still")));
    ended?;
    if prompts.get() != 2 {
        return Err(Failure::new(format!("{} prompts", prompts.get())));
    }
    Ok(lines.take())
}

/// What the client has to have seen.
const EXPECTED: &[&str] = &[
    "tool: Think about it",
    "tool: completed",
    "agent: HELLO",
    "end: end_turn",
    "tool: Think about it",
    "tool: failed",
    "end: cancelled",
];

fn main() -> ExitCode {
    match run() {
        Ok(lines) => {
            println!("{}", lines.join("\n"));
            if lines == EXPECTED {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(failure) => {
            eprintln!("{}", shown(&failure.to_string()));
            ExitCode::from(2)
        }
    }
}
