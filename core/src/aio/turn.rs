//! A prompt turn on the agent's side: what the agent says in it, and what it asks the client for.

use std::future::{poll_fn, Future};
use std::sync::Arc;

use super::agent_session::AgentSession;
use super::call::{self, Call, Tell};
use super::error::{Error, Failure};
use super::handlers::Incoming;
use super::peer::ClientPeer;
use super::terminal::Terminal;
use super::tool_call::{self, Permission, ToolCall};
use crate::schema::{v1, Raw};
use crate::Id;

/// One prompt, from the time it came until it is answered. All its methods go to the client that sent it.
///
/// A call ends with [`Error::Misuse`] when the specification forbids it now, as reading a file through a client that
/// offers no files; nothing was sent then. Each waits while the client is slow to read. Copies of it are the same turn.
#[derive(Debug, Clone)]
pub struct Turn {
    session: AgentSession,
    id: Id,
    request: Arc<v1::PromptRequest<'static>>,
    serial: u64,
}

impl Turn {
    pub(super) fn new(incoming: &Incoming) -> Result<Self, Failure> {
        let params: v1::PromptRequest<'static> = incoming.params()?;
        let (Some(session), Some(id)) = (incoming.session(), incoming.id()) else {
            return Err(Failure::new("a prompt without a session"));
        };
        let session = AgentSession::new(ClientPeer::new(&incoming.shared), Arc::clone(session));
        Ok(Turn { session, id: id.clone(), request: Arc::new(params), serial: incoming.serial() })
    }

    /// The id of the request, which questions to the user about it name.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// The session that the prompt is for.
    pub fn session(&self) -> &AgentSession {
        &self.session
    }

    /// The client that sent it.
    pub fn client(&self) -> &ClientPeer {
        self.session.client()
    }

    /// The prompt, as it came.
    pub fn blocks(&self) -> &[v1::ContentBlock<'static>] {
        &self.request.prompt
    }

    /// Data of extensions that came with the prompt (`_meta`).
    pub fn meta(&self) -> Option<&Raw<'static>> {
        self.request.meta.as_ref()
    }

    /// The text of the prompt, put together.
    pub fn text(&self) -> String {
        let texts = self.blocks().iter().filter_map(|block| match block {
            v1::ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Is over when the client has cancelled the turn, or is gone.
    ///
    /// Who asks for this takes over: the handler of the prompt is not dropped when the turn is cancelled, and has to end
    /// soon after this does. Its answer is `cancelled` all the same.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + use<> {
        let (shared, serial) = (Arc::clone(&self.client().shared), self.serial);
        shared.with(|state| {
            if let Some(job) = state.jobs.get_mut(&serial) {
                job.kept = true;
            }
        });
        poll_fn(move |cx| shared.with(|state| state.cancelled(serial, cx, true)))
    }

    /// Whether the client has cancelled the turn, or is gone.
    pub fn is_cancelled(&self) -> bool {
        self.client().shared.with(|state| state.jobs.get(&self.serial).is_none_or(|job| job.cancelled))
    }

    /// Says something to the user: text, or any content block.
    pub fn message<'a>(&self, what: impl Into<v1::ContentBlock<'a>>) -> Tell {
        self.message_with(v1::ContentChunk::new(what.into()))
    }

    /// The same with all that can be said of it: the id of the message that it is a piece of.
    pub fn message_with(&self, piece: v1::ContentChunk<'_>) -> Tell {
        self.update(&v1::SessionUpdate::AgentMessageChunk(piece))
    }

    /// Shows what the agent thinks, as [`message`](Self::message) shows what it says.
    pub fn thought<'a>(&self, what: impl Into<v1::ContentBlock<'a>>) -> Tell {
        self.thought_with(v1::ContentChunk::new(what.into()))
    }

    /// The same with all that can be said of it: the id of the message that it is a piece of.
    pub fn thought_with(&self, piece: v1::ContentChunk<'_>) -> Tell {
        self.update(&v1::SessionUpdate::AgentThoughtChunk(piece))
    }

    /// Shows the plan, whole; a string stands for a step of medium priority that has not begun.
    pub fn plan<'a>(&self, entries: impl IntoIterator<Item = impl Into<v1::PlanEntry<'a>>>) -> Tell {
        self.update(&v1::SessionUpdate::Plan(v1::Plan::new(entries.into_iter().map(Into::into).collect())))
    }

    /// Sends a `session/update`, as it is.
    pub fn update(&self, update: &v1::SessionUpdate<'_>) -> Tell {
        self.session.update(update)
    }

    /// Reports a tool call that begins now; it [reports itself](ToolCall) from then on.
    pub async fn tool_call(&self, title: &str, kind: v1::ToolKind<'_>) -> Result<ToolCall, Error> {
        let mut call = v1::ToolCall::new("", title);
        call.kind = Some(kind);
        call.status = Some(v1::ToolCallStatus::InProgress);
        self.tool_call_with(call).await
    }

    /// The same with all that can be said of it: an id of its own (an empty one is replaced by one that is made up),
    /// arguments, the status `pending` where it is to ask for permission first.
    pub async fn tool_call_with(&self, call: v1::ToolCall<'_>) -> Result<ToolCall, Error> {
        ToolCall::start(&self.session, call).await
    }

    /// Asks the user to allow a tool call, once or not at all.
    pub async fn ask_permission(&self, call: v1::ToolCallUpdate<'_>) -> Result<Permission, Error> {
        self.ask_permission_with(call, vec![]).await
    }

    /// The same with options of the agent's own.
    pub async fn ask_permission_with(
        &self,
        call: v1::ToolCallUpdate<'_>,
        options: Vec<v1::PermissionOption<'_>>,
    ) -> Result<Permission, Error> {
        tool_call::ask_permission(&self.session, call, options).await
    }

    /// The text of a file, with what the user has not saved yet.
    pub fn read_text_file(&self, path: &str) -> Call<String> {
        self.read_lines(path, None, None)
    }

    /// Some lines of a file: from `line` on, which counts from 1, at most `limit`; each a number, or `None` for the
    /// beginning and the end of the file.
    pub fn read_lines(&self, path: &str, line: impl Into<Option<u32>>, limit: impl Into<Option<u32>>) -> Call<String> {
        let mut request = v1::ReadTextFileRequest::new(self.session.id(), path);
        (request.line, request.limit) = (line.into(), limit.into());
        self.client().call(&request).read_as(|shared, response| {
            let file: v1::ReadTextFileResponse<'static> = call::result(shared, response)?;
            Ok(file.content.into_string())
        })
    }

    /// Writes a file through the client.
    pub fn write_text_file(&self, path: &str, content: &str) -> Call<v1::WriteTextFileResponse<'static>> {
        self.client().call(&v1::WriteTextFileRequest::new(self.session.id(), path, content))
    }

    /// Starts a command in a [terminal](Terminal) of the client's.
    pub async fn terminal<'a>(
        &self,
        command: &str,
        args: impl IntoIterator<Item = &'a str>,
    ) -> Result<Terminal, Error> {
        let mut request = v1::CreateTerminalRequest::new(self.session.id(), command);
        request.args = args.into_iter().map(Into::into).collect();
        self.terminal_with(request).await
    }

    /// The same with all that can be said of it: its environment, its directory, how much output is kept.
    pub async fn terminal_with(&self, request: v1::CreateTerminalRequest<'_>) -> Result<Terminal, Error> {
        Terminal::start(&self.session, request).await
    }
}
