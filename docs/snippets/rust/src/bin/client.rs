//! A client: `client AGENT [ARGUMENT...]` starts an agent, gives it one prompt, and prints what it says.

use std::error::Error;
use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use libacp::connection::{Notification, Response};
use libacp::schema::v1::{
    AgentNotification, ContentBlock, InitializeRequest, NewSessionRequest, PromptRequest, ProtocolVersion,
    SessionUpdate, TextContent,
};
use libacp::typed::Client;
use libacp::{ErrorCode, Event};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut command = Command::new(arguments.next().ok_or("usage: client AGENT [ARGUMENT...]")?);
    let mut process = Process(command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?);
    let (to, from) = (process.0.stdin.take().ok_or("no pipe")?, process.0.stdout.take().ok_or("no pipe")?);
    let mut agent = Host { connection: Client::default(), to, from };

    let hello = agent.connection.call(&InitializeRequest::new(ProtocolVersion(1)))?;
    hello.result(&agent.response(hello.serial())?)?;

    let cwd = std::env::current_dir()?;
    let session = agent.connection.call(&NewSessionRequest::new(cwd.to_str().ok_or("not Unicode")?, vec![]))?;
    let answer = agent.response(session.serial())?;
    let session = session.result(&answer)?;

    let prompt = vec![ContentBlock::Text(TextContent::new("Hello"))];
    let turn = agent.connection.call(&PromptRequest::new(session.session_id, prompt))?;
    let answer = agent.response(turn.serial())?;
    println!("\n({:?})", turn.result(&answer)?.stop_reason);
    Ok(())
}

/// The agent. Its input is closed before this is dropped, which is its sign to end; half a second later it has.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        for _ in 0..100 {
            if !matches!(self.0.try_wait(), Ok(None)) {
                return;
            }
            sleep(Duration::from_millis(5));
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A connection and the pipes to its peer.
struct Host {
    connection: Client,
    to: ChildStdin,
    from: ChildStdout,
}

impl Host {
    /// Waits for the end of a request; what comes in before it is handled.
    fn response(&mut self, serial: u64) -> Result<Response, Box<dyn Error>> {
        let mut bytes = [0; 16 * 1024];
        loop {
            while let Some(event) = self.connection.poll_event() {
                match event {
                    Event::Response(response) if response.serial == serial => return Ok(response),
                    Event::Notification(told) => show(&told)?,
                    // This client has offered neither files nor terminals, and allows nothing.
                    Event::Request(asked) if asked.method == "session/request_permission" => {
                        self.connection.respond(&asked.id, r#"{"outcome":{"outcome":"cancelled"}}"#)?;
                    }
                    Event::Request(asked) => {
                        self.connection.respond_error(&asked.id, ErrorCode::METHOD_NOT_FOUND, "Not served", None)?;
                    }
                    Event::Violation(broken) => eprintln!("{}: {}", broken.rule, broken.message),
                    _ => {}
                }
            }
            let waiting = self.connection.transmit();
            let written = waiting.len();
            self.to.write_all(waiting)?;
            self.connection.consume(written);
            match self.from.read(&mut bytes)? {
                0 => self.connection.receive_eof(),
                count => self.connection.receive(&bytes[..count]),
            }
        }
    }
}

fn show(told: &Notification) -> Result<(), Box<dyn Error>> {
    if let AgentNotification::Session(params) = AgentNotification::read(told)? {
        if let SessionUpdate::AgentMessageChunk(chunk) = params.update {
            if let ContentBlock::Text(text) = chunk.content {
                print!("{}", text.text);
            }
        }
    }
    Ok(())
}
