//! A prompt turn on the agent's side: updates to the client, and requests to it.

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

/// A prompt turn, from the prompt until its response, or [work](AgentSession::work) without a prompt, whose prompt is empty. All methods send to the client that sent the prompt. Clones are
/// the same turn.
///
/// A call ends with [`Error::Misuse`] if the protocol does not allow it now, for example reading a file through a
/// client without the capability for that. Nothing was sent then. Each call waits while the client is slow to read.
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

    /// The turn of work that no prompt has asked for.
    pub(super) fn without_prompt(session: AgentSession, serial: u64) -> Self {
        let request = v1::PromptRequest::new(session.id().to_owned(), vec![]);
        Turn { session, id: Id::Null, request: Arc::new(request), serial }
    }

    pub(super) fn serial(&self) -> u64 {
        self.serial
    }

    /// The id of the request; null in [work without a prompt](AgentSession::work). Elicitations about the prompt refer to it.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// The session of the prompt.
    pub fn session(&self) -> &AgentSession {
        &self.session
    }

    /// The client that sent it.
    pub fn client(&self) -> &ClientPeer {
        self.session.client()
    }

    /// The content of the prompt.
    pub fn blocks(&self) -> &[v1::ContentBlock<'static>] {
        &self.request.prompt
    }

    /// The `_meta` of the prompt.
    pub fn meta(&self) -> Option<&Raw<'static>> {
        self.request.meta.as_ref()
    }

    /// The text of the prompt: all of its text blocks, concatenated.
    pub fn text(&self) -> String {
        let texts = self.blocks().iter().filter_map(|block| match block {
            v1::ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Resolves when the client has cancelled the turn or has gone away.
    ///
    /// Calling this opts into handling cancellation: the handler of the prompt is then not dropped when the turn is
    /// cancelled, and has to return soon after. The prompt is answered with `cancelled` whatever it returns.
    pub fn cancelled(&self) -> impl Future<Output = ()> + Send + use<> {
        let (shared, serial) = (Arc::clone(&self.client().shared), self.serial);
        shared.with(|state| {
            if let Some(job) = state.jobs.get_mut(&serial) {
                job.kept = true;
            }
        });
        poll_fn(move |cx| shared.with(|state| state.cancelled(serial, cx, true)))
    }

    /// Whether the client has cancelled the turn or has gone away.
    pub fn is_cancelled(&self) -> bool {
        self.client().shared.with(|state| state.jobs.get(&self.serial).is_none_or(|job| job.cancelled))
    }

    /// Sends a chunk of the agent's message: text, or any content block.
    pub fn message<'a>(&self, what: impl Into<v1::ContentBlock<'a>>) -> Tell {
        self.message_with(v1::ContentChunk::new(what.into()))
    }

    /// Like [`message`](Self::message), with all fields, such as the id of the message.
    pub fn message_with(&self, piece: v1::ContentChunk<'_>) -> Tell {
        self.update(&v1::SessionUpdate::AgentMessageChunk(piece))
    }

    /// Sends a chunk of the agent's thought.
    pub fn thought<'a>(&self, what: impl Into<v1::ContentBlock<'a>>) -> Tell {
        self.thought_with(v1::ContentChunk::new(what.into()))
    }

    /// Like [`thought`](Self::thought), with all fields, such as the id of the thought.
    pub fn thought_with(&self, piece: v1::ContentChunk<'_>) -> Tell {
        self.update(&v1::SessionUpdate::AgentThoughtChunk(piece))
    }

    /// Sends the complete plan. A string stands for a pending step of medium priority.
    pub fn plan<'a>(&self, entries: impl IntoIterator<Item = impl Into<v1::PlanEntry<'a>>>) -> Tell {
        self.update(&v1::SessionUpdate::Plan(v1::Plan::new(entries.into_iter().map(Into::into).collect())))
    }

    /// Sends a `session/update`.
    pub fn update(&self, update: &v1::SessionUpdate<'_>) -> Tell {
        self.session.update(update)
    }

    /// Reports a tool call that is in progress. The returned [`ToolCall`] reports what follows.
    ///
    /// # Errors
    /// [`Error`] if the update cannot be sent.
    pub async fn tool_call(&self, title: &str, kind: v1::ToolKind<'_>) -> Result<ToolCall, Error> {
        let mut call = v1::ToolCall::new("", title);
        call.kind = Some(kind);
        call.status = Some(v1::ToolCallStatus::InProgress);
        self.tool_call_with(call).await
    }

    /// Like [`tool_call`](Self::tool_call), with all fields: an id (an empty one is replaced by a generated one),
    /// arguments, the status `pending` if it is to ask for permission first.
    ///
    /// # Errors
    /// [`Error`] if the update cannot be sent.
    pub async fn tool_call_with(&self, call: v1::ToolCall<'_>) -> Result<ToolCall, Error> {
        ToolCall::start(&self.session, call).await
    }

    /// Asks the user whether to allow a tool call, this time only.
    ///
    /// # Errors
    /// [`Error`] of the request.
    pub async fn ask_permission(&self, call: v1::ToolCallUpdate<'_>) -> Result<Permission, Error> {
        self.ask_permission_with(call, vec![]).await
    }

    /// Like [`ask_permission`](Self::ask_permission), with the agent's own options.
    ///
    /// # Errors
    /// [`Error`] of the request.
    pub async fn ask_permission_with(
        &self,
        call: v1::ToolCallUpdate<'_>,
        options: Vec<v1::PermissionOption<'_>>,
    ) -> Result<Permission, Error> {
        tool_call::ask_permission(&self.session, call, options).await
    }

    /// Reads a file through the client, including changes that the user has not saved.
    pub fn read_text_file(&self, path: &str) -> Call<String> {
        self.read_lines(path, None, None)
    }

    /// Reads lines of a file through the client: at most `limit` lines from `line` on, counted from 1. `None` stands
    /// for the beginning or the end of the file.
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

    /// Starts a command in a [terminal](Terminal) of the client.
    ///
    /// # Errors
    /// [`Error`] of the request.
    pub async fn terminal<'a>(
        &self,
        command: &str,
        args: impl IntoIterator<Item = &'a str>,
    ) -> Result<Terminal, Error> {
        let mut request = v1::CreateTerminalRequest::new(self.session.id(), command);
        request.args = args.into_iter().map(Into::into).collect();
        self.terminal_with(request).await
    }

    /// Like [`terminal`](Self::terminal), with all params: the environment, the directory, the limit of the output.
    ///
    /// # Errors
    /// [`Error`] of the request.
    pub async fn terminal_with(&self, request: v1::CreateTerminalRequest<'_>) -> Result<Terminal, Error> {
        Terminal::start(&self.session, request).await
    }
}
