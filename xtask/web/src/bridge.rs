//! A WebSocket on one side, an agent's standard streams on the other. A text message is a line, and the other way round.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{ChildStdout, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

use crate::{agents, Site};

/// Bytes of one message, as in the core's limits.
const MESSAGE: usize = 32 << 20;

/// The reading half of a socket. What tungstenite would answer by itself is answered by the writing half.
struct Reading(TcpStream);

impl Read for Reading {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
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

type Writing = Arc<Mutex<WebSocket<TcpStream>>>;

fn send(to: &Writing, message: Message) -> tungstenite::Result<()> {
    to.lock().unwrap_or_else(PoisonError::into_inner).send(message)
}

/// Runs until either side has ended.
pub(crate) fn run(site: &Site, stream: TcpStream) -> Result<(), Box<dyn Error>> {
    let config = WebSocketConfig::default().max_message_size(Some(MESSAGE)).max_frame_size(Some(MESSAGE));
    let accepted = tungstenite::accept(stream.try_clone()?)?;
    drop(accepted);
    let writing = WebSocket::from_raw_socket(stream.try_clone()?, Role::Server, Some(config));
    let writing: Writing = Arc::new(Mutex::new(writing));
    let mut reading = WebSocket::from_raw_socket(Reading(stream.try_clone()?), Role::Server, Some(config));

    let started = agents::command(&site.agent)
        .and_then(|mut command| site.agents.start(command.stdin(Stdio::piped()).stdout(Stdio::piped())));
    let mut agent = match started {
        Ok(agent) => agent,
        Err(error) => {
            let reason = format!("{} cannot be started: {error}", site.agent[0]).into();
            send(&writing, Message::Close(Some(CloseFrame { code: CloseCode::Error, reason })))?;
            return Err(error.into());
        }
    };
    let output = agent.stdout.take().ok_or("the agent has no output")?;
    let mut input = agent.stdin.take();

    let to_page = Arc::clone(&writing);
    let lines = thread::spawn(move || {
        let ended = lines(output, &to_page);
        let reason = "the agent has ended".into();
        let _ = send(&to_page, Message::Close(Some(CloseFrame { code: CloseCode::Normal, reason })));
        // Wakes the reading half.
        let _ = stream.shutdown(Shutdown::Read);
        ended
    });
    loop {
        match reading.read() {
            Ok(Message::Text(text)) => {
                // Line breaks can only stand between tokens, where a blank says the same.
                let line = text.replace(['\n', '\r'], " ") + "\n";
                if input
                    .as_mut()
                    .is_none_or(|input| input.write_all(line.as_bytes()).and_then(|()| input.flush()).is_err())
                {
                    break;
                }
            }
            Ok(Message::Ping(bytes)) => send(&writing, Message::Pong(bytes))?,
            Ok(Message::Close(_)) | Err(_) => break,
            Ok(_) => {}
        }
    }
    drop(input);
    site.agents.end(&mut agent)?;
    let _ = lines.join();
    Ok(())
}

/// Brings what the agent says.
fn lines(output: ChildStdout, to: &Writing) -> Result<(), Box<dyn Error + Send + Sync>> {
    for line in BufReader::new(output).split(b'\n') {
        // What is not UTF-8 is told as it can be shown; the page's side of the connection reports it.
        let line = String::from_utf8_lossy(&line?).into_owned();
        send(to, Message::text(line))?;
    }
    Ok(())
}
