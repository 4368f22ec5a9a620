//! What the programs here have in common, whatever they run on: an agent's handler of prompts, and a client's talk.

#![forbid(unsafe_code)]

#[cfg(not(target_arch = "wasm32"))]
pub mod full;

use std::future::pending;
use std::process::ExitCode;

use libacp::aio::{AgentPeer, Error, Failure, Turn};
use libacp::schema::v1::{ContentBlock, SessionUpdate, ToolKind};
#[cfg(not(target_arch = "wasm32"))]
use libacp::{
    aio::{Received, Reply, RequestError},
    schema::v1::{ReadTextFileRequest, ReadTextFileResponse},
    typed::ClientSide,
    ErrorCode,
};

/// Says what was said, louder; to `wait`, nothing until it is cancelled.
pub async fn shout(turn: Turn) -> Result<(), Failure> {
    let loud = turn.text().to_uppercase();
    let mut call = turn.tool_call("Think about it", ToolKind::Think).await?;
    call.text(&loud).await?;
    if loud == "WAIT" {
        pending::<()>().await;
    }
    call.complete().await?;
    turn.message(loud).await?;
    Ok(())
}

/// Opens a session, prompts, and calls back with a line for each update and one for the end. A turn that shows a tool
/// call is cancelled when `cancel` says so. Lines can be printed as they are: see [`shown`].
pub async fn talk(
    agent: AgentPeer,
    folder: &str,
    prompt: &str,
    cancel: bool,
    mut line: impl FnMut(String),
) -> Result<(), Error> {
    let mut line = |text: String| line(shown(&text));
    let session = agent.new_session(folder).await?;
    let mut turn = session.prompt(prompt);
    while let Some(update) = turn.update().await? {
        if let Some(text) = update.text() {
            line(format!("agent: {text}"));
        }
        match update.v1() {
            Some(SessionUpdate::AgentThoughtChunk(chunk)) => line(format!("thought: {}", text(&chunk.content))),
            Some(SessionUpdate::ToolCall(call)) => {
                line(format!("tool: {}", call.title));
                if cancel {
                    turn.cancel().await?;
                }
            }
            Some(SessionUpdate::ToolCallUpdate(call)) => {
                if let Some(status) = &call.status {
                    line(format!("tool: {status}"));
                }
            }
            _ => {}
        }
    }
    if let Some(reason) = turn.stop_reason() {
        line(format!("end: {reason}"));
    }
    Ok(())
}

/// A text of the peer's as one line that steers no terminal and turns no direction of writing.
#[must_use]
pub fn shown(text: &str) -> String {
    libacp::printable(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// How a program ends. The reason may be what the peer has said.
#[must_use]
pub fn ended(result: &Result<(), Failure>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("Error: {}", shown(&failure.to_string()));
            ExitCode::FAILURE
        }
    }
}

/// Reads a text file for an agent, if it is in the session's folders, on a thread of the files' own.
///
/// # Errors
/// What the agent is told when it is not there.
#[cfg(not(target_arch = "wasm32"))]
pub async fn read_text_file(
    files: &libacp_files::Files,
    received: &Received<ClientSide, fn(ReadTextFileRequest)>,
) -> Result<Reply<fn(ReadTextFileRequest)>, Failure> {
    let (say, said) = futures::channel::oneshot::channel();
    let (line, limit) = (received.line.map(u64::from), received.limit.map(u64::from));
    files.read_later(received.path.to_string(), line, limit, |text| drop(say.send(text)));
    let text = said.await?.map_err(|problem| RequestError::new(ErrorCode(problem.code()), problem.to_string()))?;
    Ok(ReadTextFileResponse::new(text).into())
}

fn text<'a>(block: &'a ContentBlock<'_>) -> &'a str {
    match block {
        ContentBlock::Text(text) => &text.text,
        _ => "something that is not text",
    }
}

/// The command line of a client: `[--cancel] PROMPT -- AGENT ARGV...`.
#[derive(Debug)]
pub struct Options {
    /// What is said to the agent.
    pub prompt: String,
    /// Whether the turn is cancelled at its first tool call.
    pub cancel: bool,
    /// The agent's program, and its arguments.
    pub agent: (String, Vec<String>),
    /// The session's folder: this program's.
    pub folder: String,
}

impl Options {
    /// Reads the command line.
    ///
    /// # Errors
    /// When it is another one.
    pub fn read() -> Result<Self, Failure> {
        let mut arguments = std::env::args().skip(1).peekable();
        let cancel = arguments.next_if(|argument| argument == "--cancel").is_some();
        let usage = || Failure::new("expected [--cancel] PROMPT -- AGENT ARGV...");
        let prompt = arguments.next().ok_or_else(usage)?;
        if arguments.next().is_none_or(|argument| argument != "--") {
            return Err(usage());
        }
        let program = arguments.next().ok_or_else(usage)?;
        let folder = std::env::current_dir()?.to_string_lossy().into_owned();
        Ok(Options { prompt, cancel, agent: (program, arguments.collect()), folder })
    }
}
