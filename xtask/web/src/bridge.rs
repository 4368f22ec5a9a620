//! A WebSocket on one side, an agent's standard streams on the other. A text message is a line, and the other way round.
//!
//! Three threads: one reads the page, one writes what it said to the agent, one brings the page what the agent says. An
//! agent that does not read stops only the second one, so that the first always sees when the page goes.

use std::error::Error;
use std::io::{BufRead, BufReader, Read};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::{Message, WebSocket};

use crate::inbox::Inbox;
use crate::socket::{self, Page, Reading, MESSAGE};
use crate::{agents, tell, Site};

/// How long the page may take to read the last words after its agent has ended.
const LAST_WORDS: Duration = Duration::from_millis(250);
/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(5);

/// Runs until either side has ended.
pub(crate) fn run(site: &Site, stream: &Arc<TcpStream>, head: &[u8]) -> Result<(), Box<dyn Error>> {
    let (page, reading) = socket::accept(stream, head)?;
    let started = agents::command(&site.agent)
        .and_then(|mut command| site.agents.start(command.stdin(Stdio::piped()).stdout(Stdio::piped())));
    let mut agent = match started {
        Ok(agent) => agent,
        Err(error) => {
            page.close(CloseCode::Error, &format!("{} cannot be started: {error}", site.agent[0]));
            return Err(error.into());
        }
    };
    let joined = join(stream, &page, reading, &mut agent);
    // The agent has no input any more, or does not read it. Its end wakes who writes to it and who reads from it.
    site.agents.end(&mut agent)?;
    let lines = joined?;
    let ended = Instant::now();
    while !lines.is_finished() && ended.elapsed() < LAST_WORDS {
        thread::sleep(PAUSE);
    }
    // Wakes who waits for a page that does not read.
    let _ = stream.shutdown(Shutdown::Both);
    Ok(())
}

/// Brings what each side says to the other, until either has ended. Returns the thread that brings the page its lines.
fn join(
    stream: &Arc<TcpStream>,
    page: &Page,
    mut reading: WebSocket<Reading>,
    agent: &mut Child,
) -> Result<thread::JoinHandle<()>, Box<dyn Error>> {
    let output = agent.stdout.take().ok_or("the agent has no output")?;
    let input = agent.stdin.take().ok_or("the agent has no input")?;
    let inbox = Inbox::open(input)?;
    let (to_page, wakes) = (page.clone(), Arc::clone(stream));
    let lines = thread::Builder::new().spawn(move || {
        match lines(output, &to_page) {
            Ok(()) => to_page.close(CloseCode::Normal, "the agent has ended"),
            Err(Broken::Page) => {}
            Err(Broken::Agent(reason)) => {
                tell(&reason);
                to_page.close(CloseCode::Size, &reason);
            }
        }
        // Wakes the reading half.
        let _ = wakes.shutdown(Shutdown::Read);
    })?;
    while let Some(text) = socket::hear(&mut reading, page) {
        // Line breaks can only stand between tokens, where a blank says the same.
        let line = text.replace(['\n', '\r'], " ") + "\n";
        if let Err(reason) = inbox.put(line.as_bytes()) {
            tell(&reason);
            page.close(CloseCode::Error, &reason);
            break;
        }
    }
    Ok(lines)
}

/// Why no more lines can be brought.
enum Broken {
    Page,
    Agent(String),
}

/// Brings what the agent says.
fn lines(output: ChildStdout, to: &Page) -> Result<(), Broken> {
    let mut output = BufReader::new(output);
    loop {
        let mut line = Vec::new();
        let room = (MESSAGE as u64).saturating_add(1);
        let read = output.by_ref().take(room).read_until(b'\n', &mut line);
        if line.ends_with(b"\n") {
            line.pop();
        } else {
            if line.len() > MESSAGE {
                let reason = format!("the agent is ended: a line of its has more than {} MiB", MESSAGE >> 20);
                return Err(Broken::Agent(reason));
            }
            if line.is_empty() || read.is_err() {
                return Ok(());
            }
        }
        // What is not UTF-8 is told as it can be shown; the page's side of the connection reports it.
        let line = String::from_utf8(line).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned());
        to.send(Message::text(line)).map_err(|_| Broken::Page)?;
    }
}
