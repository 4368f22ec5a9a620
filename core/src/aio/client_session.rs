//! A session on the client's side, and the exchanges that bring updates: prompts, and sessions that are loaded.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{ready, Context, Poll};

use futures::stream::{self, Stream};

use super::call::{result, Asking};
use super::content::Prompt;
use super::error::Error;
use super::handlers::Incoming;
use super::peer::AgentPeer;
use crate::schema::{v1, Message, Request};

/// A session, as the client has it. Copies of it are the same session.
#[derive(Clone)]
pub struct ClientSession {
    agent: AgentPeer,
    id: Arc<str>,
    opened: Option<Arc<v1::NewSessionResponse<'static>>>,
}

impl ClientSession {
    fn new(agent: &AgentPeer, opened: v1::NewSessionResponse<'static>) -> Self {
        ClientSession { agent: agent.clone(), id: opened.session_id.as_str().into(), opened: Some(Arc::new(opened)) }
    }

    /// The session that a message is about.
    pub(super) fn of(incoming: &Incoming) -> Self {
        let id = incoming.session().cloned().unwrap_or_default();
        ClientSession { agent: AgentPeer::new(&incoming.shared), id, opened: None }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The agent that it is with.
    pub fn agent(&self) -> &AgentPeer {
        &self.agent
    }

    /// The answer to the call that opened it: its modes and config options, where the agent has any. `None` for the
    /// session that a handler is called with.
    pub fn opened(&self) -> Option<&v1::NewSessionResponse<'static>> {
        self.opened.as_deref()
    }

    /// The working directory and all further directories: what files the agent asks for have to be in.
    pub fn roots(&self) -> Vec<String> {
        self.agent.roots(&self.id)
    }

    /// All that the agent has told of it, as JSON text; see
    /// [`Session::snapshot`](crate::connection::Session::snapshot).
    pub fn snapshot(&self) -> Option<String> {
        self.agent.snapshot(&self.id)
    }

    /// A prompt: text, a content block, or several of them. See [`PromptTurn`] for what to do with it.
    pub fn prompt<'a>(&self, what: impl Into<Prompt<'a>>) -> PromptTurn {
        let request = v1::PromptRequest::new(self.id(), what.into().0);
        PromptTurn { exchange: Exchange::new(&self.agent, &request, &self.id), session: self.clone(), result: None }
    }

    /// Cancels what runs in this session. Requests for permission that are open are answered by that.
    pub async fn cancel(&self) -> Result<(), Error> {
        self.agent.tell(&v1::CancelNotification::new(self.id())).await
    }

    /// Puts the session into another mode.
    pub async fn set_mode(&self, mode_id: &str) -> Result<(), Error> {
        self.agent.call(&v1::SetSessionModeRequest::new(self.id(), mode_id)).await.map(drop)
    }

    /// Sets a config option to one of its values; all of them as they are now.
    pub async fn set_config_option(
        &self,
        config_id: &str,
        value: &str,
    ) -> Result<Vec<v1::SessionConfigOption<'static>>, Error> {
        let value = v1::SetSessionConfigOptionRequestKindUntagged::new(value);
        let request = v1::SetSessionConfigOptionRequest::new(self.id(), config_id, value.into());
        Ok(self.agent.call(&request).await?.config_options)
    }

    /// Closes the session, for agents that can; its turn is cancelled by that.
    pub async fn close(&self) -> Result<(), Error> {
        self.agent.call(&v1::CloseSessionRequest::new(self.id())).await.map(drop)
    }
}

impl fmt::Debug for ClientSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClientSession").field(&self.id).finish()
    }
}

impl AgentPeer {
    /// Opens a session in a working directory, an absolute path.
    pub async fn new_session(&self, cwd: &str) -> Result<ClientSession, Error> {
        self.new_session_with(v1::NewSessionRequest::new(cwd, vec![])).await
    }

    /// The same with all that can be said of it: further directories, MCP servers.
    pub async fn new_session_with(&self, request: v1::NewSessionRequest<'_>) -> Result<ClientSession, Error> {
        Ok(ClientSession::new(self, self.call(&request).await?))
    }

    /// Opens an earlier session again, for agents that can; see [`LoadingSession`].
    pub fn load_session(&self, id: &str, cwd: &str) -> LoadingSession {
        self.load_session_with(&v1::LoadSessionRequest::new(vec![], cwd, id))
    }

    /// The same with all that can be said of it.
    pub fn load_session_with(&self, request: &v1::LoadSessionRequest<'_>) -> LoadingSession {
        let id: Arc<str> = request.session_id.as_str().into();
        LoadingSession { exchange: Exchange::new(self, request, &id), agent: self.clone(), id }
    }

    /// Opens an earlier session again without a replay, for agents that can.
    pub async fn resume_session(&self, id: &str, cwd: &str) -> Result<ClientSession, Error> {
        let resumed = self.call(&v1::ResumeSessionRequest::new(id, cwd)).await?;
        let mut opened = v1::NewSessionResponse::new(id.to_owned());
        (opened.modes, opened.config_options) = (resumed.modes, resumed.config_options);
        Ok(ClientSession::new(self, opened))
    }

    /// The sessions that the agent keeps, page by page as they are wanted, for agents that can.
    pub fn list_sessions(&self) -> impl Stream<Item = Result<v1::SessionInfo<'static>, Error>> + Send + use<> {
        let agent = self.clone();
        let request = Some(v1::ListSessionsRequest::default());
        stream::try_unfold((request, Vec::new().into_iter()), move |(mut next, mut page)| {
            let agent = agent.clone();
            async move {
                loop {
                    if let Some(session) = page.next() {
                        return Ok(Some((session, (next, page))));
                    }
                    let Some(mut request) = next.take() else { return Ok(None) };
                    let answer = agent.call(&request).await?;
                    page = answer.sessions.into_iter();
                    request.cursor = answer.next_cursor;
                    next = request.cursor.is_some().then_some(request);
                }
            }
        })
    }

    /// A session that was opened on this connection.
    pub fn session(&self, id: &str) -> Option<ClientSession> {
        let known = self.shared.with(|state| state.connection.session(id).is_some());
        known.then(|| ClientSession { agent: self.clone(), id: id.into(), opened: None })
    }

    /// Ends the connection: calls that wait end with [`Error::Closed`], handlers that run are dropped, and the future
    /// that drives the connection ends when what was said before has gone out.
    pub fn close(&self) {
        self.shared.with(|state| {
            state.connection.close();
            state.kick();
        });
    }
}

/// A request that brings updates before its answer.
struct Exchange(Asking);

impl Exchange {
    fn new<'a, R: Request<'a>>(agent: &AgentPeer, request: &R, session: &Arc<str>) -> Self {
        Exchange(Asking::of(&agent.shared, R::METHOD.into(), request, Some(Arc::clone(session))))
    }

    fn poll_update(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<v1::SessionUpdate<'static>>, Error>> {
        let Some(update) = ready!(self.0.poll_update(cx))? else { return Poll::Ready(Ok(None)) };
        Poll::Ready(Ok(Some(v1::SessionNotification::detached(update.params())?.update)))
    }

    async fn answer<T: Message<'static>>(&mut self) -> Result<T, Error> {
        result(&poll_fn(|cx| self.0.poll_answer(cx)).await?)
    }

    /// The answer, and none of the updates.
    async fn last<T: Message<'static>>(&mut self) -> Result<T, Error> {
        poll_fn(|cx| self.0.poll_sent(cx)).await?;
        self.0.pass_updates_on();
        self.answer().await
    }
}

/// A prompt and its turn: a stream of updates that ends with the turn, whose [stop reason](Self::stop_reason) is known
/// from then on.
///
/// It is sent when it is first polled; after the end of a turn that was cancelled, if there is one. While its updates are
/// not taken, no more is read from the agent. Dropping it before its end cancels the turn (`session/cancel`).
#[must_use = "nothing is sent before it is polled"]
pub struct PromptTurn {
    exchange: Exchange,
    session: ClientSession,
    result: Option<v1::PromptResponse<'static>>,
}

impl PromptTurn {
    /// The next update; `None` at the end of the turn.
    ///
    /// # Errors
    /// That of the prompt, at its end.
    pub async fn update(&mut self) -> Result<Option<v1::SessionUpdate<'static>>, Error> {
        poll_fn(|cx| self.poll_update(cx)).await
    }

    /// Waits for the end of the turn; updates go to the client's
    /// [`on_update`](super::Client::on_update).
    pub async fn finish(mut self) -> Result<v1::PromptResponse<'static>, Error> {
        match self.result.take() {
            Some(result) => Ok(result),
            None => self.exchange.last().await,
        }
    }

    /// Why the turn ended, once it has.
    pub fn stop_reason(&self) -> Option<&v1::StopReason<'static>> {
        self.result.as_ref().map(|result| &result.stop_reason)
    }

    /// The answer, once the turn is over.
    pub fn result(&self) -> Option<&v1::PromptResponse<'static>> {
        self.result.as_ref()
    }

    /// Cancels the turn. It goes on to its end, which the agent decides.
    pub async fn cancel(&self) -> Result<(), Error> {
        if self.exchange.0.is_sent() && !self.exchange.0.is_over() {
            self.session.cancel().await?;
        }
        Ok(())
    }

    fn poll_update(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<v1::SessionUpdate<'static>>, Error>> {
        if self.exchange.0.is_over() {
            return Poll::Ready(Ok(None));
        }
        if let Some(update) = ready!(self.exchange.poll_update(cx))? {
            return Poll::Ready(Ok(Some(update)));
        }
        self.result = Some(result(&ready!(self.exchange.0.poll_answer(cx))?)?);
        Poll::Ready(Ok(None))
    }
}

impl Stream for PromptTurn {
    type Item = Result<v1::SessionUpdate<'static>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_update(cx).map(Result::transpose)
    }
}

impl fmt::Debug for PromptTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptTurn").field("session", &self.session).finish_non_exhaustive()
    }
}

/// A session that is being loaded: a stream of the updates that the agent replays, and then the
/// [session](Self::session). Dropping it before its end asks the agent to cancel the request.
#[must_use = "nothing is sent before it is polled"]
pub struct LoadingSession {
    exchange: Exchange,
    agent: AgentPeer,
    id: Arc<str>,
}

impl LoadingSession {
    /// The next update of the replay; `None` at its end.
    pub async fn update(&mut self) -> Result<Option<v1::SessionUpdate<'static>>, Error> {
        poll_fn(|cx| self.exchange.poll_update(cx)).await
    }

    /// The session, once it is open. Updates of the replay that were not taken go to the client's
    /// [`on_update`](super::Client::on_update).
    pub async fn session(mut self) -> Result<ClientSession, Error> {
        let loaded: v1::LoadSessionResponse<'static> = self.exchange.last().await?;
        let mut opened = v1::NewSessionResponse::new(self.id.to_string());
        (opened.modes, opened.config_options) = (loaded.modes, loaded.config_options);
        Ok(ClientSession::new(&self.agent, opened))
    }
}

impl Stream for LoadingSession {
    type Item = Result<v1::SessionUpdate<'static>, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.exchange.poll_update(cx).map(Result::transpose)
    }
}

impl fmt::Debug for LoadingSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadingSession").field("id", &self.id).finish_non_exhaustive()
    }
}
