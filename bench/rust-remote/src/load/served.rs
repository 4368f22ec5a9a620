//! The server, in a process of its own, with an agent in it or as a program.

use std::io::{BufRead, Write};
use std::net::SocketAddr;
use std::process::Stdio;

use anyhow::{Context, Result};
use libacp_tokio::http::{listen as listen_on, serve as serve_on, AgentService, Pipe, ServerOptions};
use serde_json::{json, Value};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::TcpListener;
use tokio::process::{Child, Command};

/// Bytes of one update of a flood.
pub(crate) const PIECE: usize = 64 * 1024;

/// What the agent says to a message, one message after the other. `flood N` is N updates of [`PIECE`] bytes.
fn answer(json: &str, session: &mut u32, say: &mut impl FnMut(Value)) {
    let Ok(message) = serde_json::from_str::<Value>(json) else { return };
    let result = match message["method"].as_str() {
        Some("initialize") => json!({"protocolVersion": 1, "agentCapabilities": {}}),
        Some("session/new") => {
            *session += 1;
            json!({"sessionId": format!("s-{session}")})
        }
        Some("session/prompt") => {
            say(update(&message["params"]["sessionId"], "hello"));
            json!({"stopReason": "end_turn"})
        }
        _ => return,
    };
    say(json!({"jsonrpc": "2.0", "id": message["id"], "result": result}));
}

fn update(session: &Value, text: &str) -> Value {
    let content = json!({"type": "text", "text": text});
    let update = json!({"sessionUpdate": "agent_message_chunk", "content": content});
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session, "update": update}})
}

/// How many updates a prompt asks for, and in which session.
fn flood(json: &str) -> Option<(Value, Value, usize)> {
    let message = serde_json::from_str::<Value>(json).ok()?;
    let text = message["params"]["prompt"][0]["text"].as_str()?;
    let count = text.strip_prefix("flood ")?.parse().ok()?;
    Some((message["id"].clone(), message["params"]["sessionId"].clone(), count))
}

fn ended(id: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": {"stopReason": "end_turn"}})
}

/// The agent on a pipe: what it says waits for the client, as the lines of a program would.
async fn converse(pipe: Pipe) -> std::io::Result<()> {
    let mut session = 0;
    while let Some(json) = pipe.receive().await {
        if let Some((id, name, count)) = flood(&json) {
            let text = update(&name, &"x".repeat(PIECE)).to_string();
            for _ in 0..count {
                pipe.send(&text).await?;
            }
            pipe.send(&ended(&id).to_string()).await?;
            continue;
        }
        let mut said = Vec::new();
        answer(&json, &mut session, &mut |message| said.push(message.to_string()));
        for message in said {
            pipe.send(&message).await?;
        }
    }
    Ok(())
}

/// The agent as a program.
pub(crate) fn agent() -> Result<()> {
    let mut session = 0;
    let mut output = std::io::stdout().lock();
    for line in std::io::stdin().lock().lines() {
        let (line, mut said) = (line?, Vec::new());
        if let Some((id, name, count)) = flood(&line) {
            let text = update(&name, &"x".repeat(PIECE)).to_string();
            for _ in 0..count {
                writeln!(output, "{text}")?;
            }
            said.push(ended(&id));
        } else {
            answer(&line, &mut session, &mut |message| said.push(message));
        }
        for message in said {
            writeln!(output, "{message}")?;
        }
        output.flush()?;
    }
    Ok(())
}

/// Listens, and prints the address.
pub(crate) fn listen() -> Result<TcpListener> {
    let listener = listen_on(SocketAddr::from(([127, 0, 0, 1], 0)))?;
    println!("http://{}/acp", listener.local_addr()?);
    Ok(listener)
}

/// Serves until the input ends.
pub(crate) async fn serve() -> Result<()> {
    let listener = listen()?;
    let mut options = ServerOptions::default();
    // HTTP/1.1 takes a socket for each stream; the system's limit is the one that counts.
    options.limits.connections = 20_000;
    let service = AgentService::new(options, converse);
    tokio::spawn(serve_on(listener, service.clone()));
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    Ok(())
}

/// A server that runs.
pub(crate) struct Served {
    child: Child,
    /// Host and port.
    pub(crate) address: String,
}

impl Served {
    /// Starts a command that prints the address that it serves, or this program as the server.
    pub(crate) async fn start(command: &[&str]) -> Result<Self> {
        let own = std::env::current_exe()?;
        let mut command = if let [program, arguments @ ..] = command {
            let mut command = Command::new(program);
            command.args(arguments);
            command
        } else {
            let mut command = Command::new(&own);
            command.arg("serve");
            command
        };
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut child = command.spawn().context("the server")?;
        let mut lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        let line = lines.next_line().await?.context("the server printed no address")?;
        let address = line.strip_prefix("http://").and_then(|rest| rest.strip_suffix("/acp"));
        let address = address.with_context(|| format!("the server printed {line:?}"))?.to_owned();
        Ok(Served { child, address })
    }

    /// Bytes that the server's process has in memory.
    pub(crate) fn memory(&self) -> Result<u64> {
        let process = self.child.id().context("the server is gone")?;
        let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no size of the server")?;
        let kib: u64 = line.split_whitespace().next().context("no size of the server")?.parse()?;
        Ok(kib * 1024)
    }
}
