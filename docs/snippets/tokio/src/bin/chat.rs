//! A conversation in a terminal: each line is a prompt, Ctrl-C cancels the turn. `chat PROGRAM ARGUMENT...`

use std::collections::HashMap;
use std::env;
use std::io::{stdout, Write};
use std::pin::pin;

use libacp::aio::{Client, ClientSession, Error, Failure};
use libacp::printable;
use libacp::view::{Entry, EntryKind, Speaker, View};
use libacp_tokio::{spawn, Files, Terminals};
use tokio::io::{AsyncBufReadExt, BufReader};

// ANCHOR: spawned
async fn chat() -> Result<(), Failure> {
    let mut command = env::args().skip(1);
    let program = command.next().ok_or_else(|| Failure::new("expected PROGRAM ARGUMENT..."))?;
    let folder = env::current_dir()?.to_string_lossy().into_owned();
    let client = Client::new("chat", "1.0").views().permission(async |request| Ok(request.allow()));
    let client = libacp_tokio::files!(client, Files::new());
    let client = libacp_tokio::terminals!(client, Terminals::new());
    let (starting, driving) = spawn(program).args(command).connect(client)?;
    tokio::spawn(driving);
    let agent = starting.open().await?;
    let session = agent.new_session(&folder).await?;
    let mut screen = Screen::default();
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line?,
            ended = agent.ended() => return Err(ended.into()),
            // Between turns, it ends the program.
            _ = tokio::signal::ctrl_c() => break,
        };
        let Some(line) = line else { break };
        match turn(&session, &mut screen, &line).await {
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
async fn turn(session: &ClientSession, screen: &mut Screen, line: &str) -> Result<(), Error> {
    let mut turn = pin!(session.prompt(line).finish());
    loop {
        tokio::select! {
            ended = &mut turn => {
                session.view(|view| screen.draw(view));
                println!();
                return ended.map(|_| ());
            }
            Some(_) = session.changed(screen.revision) => {
                session.view(|view| screen.draw(view));
            }
            // The turn goes on to its end, which the agent decides.
            _ = tokio::signal::ctrl_c() => session.cancel().await?,
        }
    }
}

/// What is on the screen: of which revision, and how much of each text.
#[derive(Default)]
struct Screen {
    revision: u64,
    bytes: HashMap<u64, usize>,
}

impl Screen {
    fn draw(&mut self, view: &View) {
        for entry in view.since(self.revision).entries() {
            match entry.kind() {
                EntryKind::Message(Speaker::Agent) => {
                    let bytes = self.bytes.entry(entry.index()).or_default();
                    print!("{}", printable(entry.text().get(*bytes..).unwrap_or_default()));
                    *bytes = entry.text().len();
                }
                EntryKind::ToolCall => println!("\n* {}", titled(entry)),
                _ => {}
            }
        }
        self.revision = view.revision();
        let _ = stdout().flush();
    }
}

fn titled(call: &Entry) -> String {
    let text = |name| call.string(name).unwrap_or_default();
    printable(&format!("{} ({})", text("title"), text("status"))).replace('\n', " ")
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
