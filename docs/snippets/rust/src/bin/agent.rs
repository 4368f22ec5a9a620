//! An agent: speaks ACP on standard input and output, and says back what it is told.

use std::error::Error;
use std::io::{Read, Write};

use libacp::connection::Request;
use libacp::schema::v1::{
    ClientRequest, ContentBlock, ContentChunk, InitializeRequest, InitializeResponse, NewSessionRequest,
    NewSessionResponse, PromptRequest, PromptResponse, ProtocolVersion, SessionNotification, SessionUpdate, StopReason,
};
use libacp::typed::Agent;
use libacp::{ErrorCode, Event};

fn main() -> Result<(), Box<dyn Error>> {
    let (mut stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut client = Agent::default();
    let mut bytes = [0; 16 * 1024];
    let mut sessions = 0;
    loop {
        match stdin.read(&mut bytes)? {
            0 => client.receive_eof(),
            count => client.receive(&bytes[..count]),
        }
        while let Some(event) = client.poll_event() {
            match event {
                Event::Request(request) => serve(&mut client, &request, &mut sessions)?,
                Event::Violation(broken) => eprintln!("{}: {}", broken.rule, broken.message),
                Event::Closed(_) => return Ok(()),
                _ => {}
            }
        }
        let waiting = client.transmit();
        let written = waiting.len();
        stdout.write_all(waiting)?;
        stdout.flush()?;
        client.consume(written);
    }
}

fn serve(client: &mut Agent, request: &Request, sessions: &mut u32) -> Result<(), Box<dyn Error>> {
    match ClientRequest::read(request)? {
        ClientRequest::Initialize(_) => {
            client.answer::<InitializeRequest>(&request.id, &InitializeResponse::new(ProtocolVersion(1)))?;
        }
        ClientRequest::NewSession(_) => {
            *sessions += 1;
            let session = NewSessionResponse::new(format!("session-{sessions}"));
            client.answer::<NewSessionRequest>(&request.id, &session)?;
        }
        ClientRequest::Prompt(prompt) => {
            // The prompt borrows from the event, and so does what goes back.
            for block in prompt.prompt {
                if let ContentBlock::Text(_) = &block {
                    let update = SessionUpdate::AgentMessageChunk(ContentChunk::new(block));
                    client.tell(&SessionNotification::new(prompt.session_id.clone(), update))?;
                }
            }
            client.answer::<PromptRequest>(&request.id, &PromptResponse::new(StopReason::EndTurn))?;
        }
        _ => client.respond_error(&request.id, ErrorCode::METHOD_NOT_FOUND, "Not served", None)?,
    }
    Ok(())
}
