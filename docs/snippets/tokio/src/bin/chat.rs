//! A conversation in a terminal: each line is a prompt, Ctrl-C cancels the turn. `chat PROGRAM ARGUMENT...`

use std::env;

use libacp::aio::{Client, ClientSession, Error, Failure};
use libacp::printable;
use libacp::schema::v1::{ContentBlock, SessionUpdate};
use libacp_tokio::{spawn, Files, Terminals};
use tokio::io::{AsyncBufReadExt, BufReader};

// ANCHOR: spawned
async fn chat() -> Result<(), Failure> {
    let mut command = env::args().skip(1);
    let program = command.next().ok_or_else(|| Failure::new("expected PROGRAM ARGUMENT..."))?;
    let folder = env::current_dir()?.to_string_lossy().into_owned();
    let client = Client::new("chat", "1.0").permission(async |request| Ok(request.allow()));
    let client = libacp_tokio::files!(client, Files::new());
    let client = libacp_tokio::terminals!(client, Terminals::new());
    let (starting, driving) = spawn(program).args(command).connect(client)?;
    tokio::spawn(driving);
    let agent = starting.open().await?;
    let session = agent.new_session(&folder).await?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line?,
            ended = agent.ended() => return Err(ended.into()),
            // Between turns, it ends the program.
            _ = tokio::signal::ctrl_c() => break,
        };
        let Some(line) = line else { break };
        match turn(&session, &line).await {
            // The connection is over: how the agent has ended is the error, with what it said last.
            Err(Error::Closed { .. }) => return Err(agent.ended().await.into()),
            result => result?,
        }
    }
    agent.close().await;
    Ok(())
}
// ANCHOR_END: spawned

// ANCHOR: turn
async fn turn(session: &ClientSession, line: &str) -> Result<(), Error> {
    let mut turn = session.prompt(line);
    loop {
        tokio::select! {
            update = turn.update() => match update? {
                Some(SessionUpdate::AgentMessageChunk(chunk)) => {
                    if let ContentBlock::Text(text) = chunk.content {
                        println!("{}", printable(&text.text));
                    }
                }
                Some(_) => {}
                None => return Ok(()),
            },
            // The turn goes on to its end, which the agent decides.
            _ = tokio::signal::ctrl_c() => turn.cancel().await?,
        }
    }
}
// ANCHOR_END: turn

// ANCHOR: main
#[tokio::main]
async fn main() {
    let result = chat().await;
    if let Err(failure) = &result {
        eprintln!("Error: {failure}");
    }
    // A thread of tokio's may still wait for a line, and the end of the runtime would wait for that thread.
    std::process::exit(i32::from(result.is_err()))
}
// ANCHOR_END: main
