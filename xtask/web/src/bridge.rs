//! A WebSocket on one side, an agent's standard streams on the other. A text message is a line, and the other way round.
//!
//! Three threads: one reads the page, one writes what it said to the agent, one brings the page what the agent says. An
//! agent that does not read stops only the second one, so that the first always sees when the page goes.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, ChildStdout, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tungstenite::handshake::machine::TryParse;
use tungstenite::handshake::server::{create_response, write_response, Request};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

use crate::inbox::Inbox;
use crate::{agents, tell, Site};

/// Bytes of one message, as in the core's limits.
pub(crate) const MESSAGE: usize = 32 << 20;
/// How long the page may take to read the last words after its agent has ended.
const LAST_WORDS: Duration = Duration::from_millis(250);
/// How long to wait before looking again.
const PAUSE: Duration = Duration::from_millis(5);

/// The writing half of a socket.
struct Stream(Arc<TcpStream>);

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (&*self.0).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        (&*self.0).flush()
    }
}

/// The reading half of a socket. What tungstenite would answer by itself is answered by the writing half.
struct Reading(Arc<TcpStream>);

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buffer)
    }
}

impl Write for Reading {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The page, for those who tell it something.
#[derive(Clone)]
struct Page(Arc<Mutex<WebSocket<Stream>>>);

impl Page {
    fn send(&self, message: Message) -> tungstenite::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).send(message)
    }

    fn close(&self, code: CloseCode, reason: &str) {
        // A page that is gone needs no reason.
        let _ = self.send(Message::Close(Some(CloseFrame { code, reason: reason.into() })));
    }
}

/// Runs until either side has ended.
pub(crate) fn run(site: &Site, stream: &Arc<TcpStream>, head: &[u8]) -> Result<(), Box<dyn Error>> {
    let (length, request) = Request::try_parse(head)?.ok_or("the head is not whole")?;
    write_response(&**stream, &create_response(&request)?)?;
    let config = WebSocketConfig::default().max_message_size(Some(MESSAGE)).max_frame_size(Some(MESSAGE));
    let writing = WebSocket::from_raw_socket(Stream(Arc::clone(stream)), Role::Server, Some(config));
    let page = Page(Arc::new(Mutex::new(writing)));
    let reading = Reading(Arc::clone(stream));
    let reading = WebSocket::from_partially_read(reading, head[length..].to_vec(), Role::Server, Some(config));

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
    loop {
        match reading.read() {
            Ok(Message::Text(text)) => {
                // Line breaks can only stand between tokens, where a blank says the same.
                let line = text.replace(['\n', '\r'], " ") + "\n";
                if let Err(reason) = inbox.put(line.as_bytes()) {
                    tell(&reason);
                    page.close(CloseCode::Error, &reason);
                    break;
                }
            }
            Ok(Message::Ping(bytes)) => {
                if page.send(Message::Pong(bytes)).is_err() {
                    break;
                }
            }
            Ok(Message::Close(_)) | Err(_) => break,
            Ok(_) => {}
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
