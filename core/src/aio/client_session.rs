//! A session on the client's side.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use futures::stream::{self, Stream};
use serde::Serialize;

use super::call::{raw, Asking, Call, Tell};
use super::content::Prompt;
use super::error::Error;
use super::exchange::{LoadingSession, PromptTurn};
use super::handlers::Incoming;
use super::opening::{about, Name};
use super::peer::AgentPeer;
use crate::schema::{v1, Raw};

/// A session, as the client has it. Copies of it are the same session.
#[derive(Clone)]
pub struct ClientSession {
    agent: AgentPeer,
    id: Arc<str>,
    opened: Option<Arc<v1::NewSessionResponse<'static>>>,
}

impl ClientSession {
    pub(super) fn new(agent: &AgentPeer, opened: v1::NewSessionResponse<'static>) -> Self {
        let (id, opened): (Arc<str>, _) = (opened.session_id.as_str().into(), Arc::new(opened));
        agent.keep(&id, |kept| kept.opened = Some(Arc::clone(&opened)));
        ClientSession { agent: agent.clone(), id, opened: Some(opened) }
    }

    fn known(agent: AgentPeer, id: Arc<str>) -> Self {
        let opened = agent.kept(&id, |kept| kept.opened.clone()).flatten();
        ClientSession { agent, id, opened }
    }

    /// The session that a message is about.
    pub(super) fn of(incoming: &Incoming) -> Option<Self> {
        Some(Self::known(AgentPeer::new(&incoming.shared), incoming.session()?.clone()))
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The agent that it is with.
    pub fn agent(&self) -> &AgentPeer {
        &self.agent
    }

    /// The answer to the call that opened it: its modes and config options, where the agent has any, and `_meta`. `None`
    /// for a session that a call without types has opened.
    pub fn opened(&self) -> Option<&v1::NewSessionResponse<'static>> {
        self.opened.as_deref()
    }

    /// The working directory and all further directories: what files the agent asks for have to be in.
    pub fn roots(&self) -> Vec<String> {
        self.agent.roots(&self.id)
    }

    /// Whether it is open.
    pub fn is_open(&self) -> bool {
        self.agent.knows(&self.id)
    }

    /// What the client keeps with the session, if it is of this type; see [`set_data`](Self::set_data).
    pub fn data<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        self.agent.kept(&self.id, |kept| kept.data.clone()).flatten()?.downcast().ok()
    }

    /// Keeps a value with the session while it is open.
    pub fn set_data<T: Any + Send + Sync>(&self, data: T) {
        self.agent.keep(&self.id, |kept| kept.data = Some(Arc::new(data)));
    }

    /// All that the agent has told of it, as JSON text; see
    /// [`Session::snapshot`](crate::connection::Session::snapshot).
    pub fn snapshot(&self) -> Option<String> {
        self.agent.snapshot(&self.id)
    }

    /// A prompt: text, a content block, or several of them. See [`PromptTurn`] for what to do with it.
    pub fn prompt<'a>(&self, what: impl Into<Prompt<'a>>) -> PromptTurn {
        PromptTurn::new(self, &v1::PromptRequest::new(self.id(), what.into().0))
    }

    /// The same with data of extensions (`_meta`).
    pub fn prompt_with<'a>(&self, what: impl Into<Prompt<'a>>, meta: Raw<'a>) -> PromptTurn {
        let mut request = v1::PromptRequest::new(self.id(), what.into().0);
        request.meta = Some(meta);
        PromptTurn::new(self, &request)
    }

    /// [`AgentPeer::request`](super::Peer::request) with the session's id added to the params.
    pub fn request(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &(impl Serialize + ?Sized),
    ) -> Call<Raw<'static>> {
        let params = serde_json::to_string(params).map(|params| about(&self.id, &params));
        Call::new(Asking::written(&self.agent.shared, method.into(), params, None), raw)
    }

    /// [`AgentPeer::notify`](super::Peer::notify) with the session's id added to the params.
    pub fn notify(&self, method: impl Into<Cow<'static, str>>, params: &(impl Serialize + ?Sized)) -> Tell {
        let name = Name::of(Arc::clone(&self.id));
        Tell::new(&self.agent.shared, method.into(), serde_json::to_string(params), Some(&name))
    }

    /// Cancels what runs in this session. Requests for permission that are open are answered by that.
    pub async fn cancel(&self) -> Result<(), Error> {
        self.agent.tell(&v1::CancelNotification::new(self.id())).await
    }

    /// Puts the session into another mode.
    pub async fn set_mode(&self, mode_id: &str) -> Result<(), Error> {
        self.agent.call(&v1::SetSessionModeRequest::new(self.id(), mode_id)).await.map(drop)
    }

    /// Sets a config option: a selection to the id of one of its values, a switch to `true` or `false`. Returns all of
    /// them as they are now.
    pub async fn set_config_option<'a>(
        &self,
        config_id: &str,
        value: impl Into<ConfigValue<'a>>,
    ) -> Result<Vec<v1::SessionConfigOption<'static>>, Error> {
        let request = v1::SetSessionConfigOptionRequest::new(self.id(), config_id, value.into().0);
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
        LoadingSession::new(self, request)
    }

    /// Opens an earlier session again without a replay, for agents that can.
    pub async fn resume_session(&self, id: &str, cwd: &str) -> Result<ClientSession, Error> {
        self.resume_session_with(v1::ResumeSessionRequest::new(id, cwd)).await
    }

    /// The same with all that can be said of it: further directories, MCP servers.
    pub async fn resume_session_with(&self, request: v1::ResumeSessionRequest<'_>) -> Result<ClientSession, Error> {
        let resumed = self.call(&request).await?;
        let mut opened = v1::NewSessionResponse::new(request.session_id.as_str().to_owned());
        (opened.modes, opened.config_options) = (resumed.modes, resumed.config_options);
        opened.meta = resumed.meta;
        Ok(ClientSession::new(self, opened))
    }

    /// The sessions that the agent keeps, page by page as they are wanted, for agents that can.
    pub fn list_sessions(&self) -> impl Stream<Item = Result<v1::SessionInfo<'static>, Error>> + Send + use<> {
        self.list_sessions_with(v1::ListSessionsRequest::default())
    }

    /// The same for some of them only: those of one directory.
    pub fn list_sessions_with(
        &self,
        request: v1::ListSessionsRequest<'static>,
    ) -> impl Stream<Item = Result<v1::SessionInfo<'static>, Error>> + Send + use<> {
        let agent = self.clone();
        let request = Some(request);
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
        self.knows(id).then(|| ClientSession::known(self.clone(), id.into()))
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

/// The value of a config option: made of an id, for a selection, or of a `bool`, for a switch.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigValue<'a>(v1::SetSessionConfigOptionRequestKind<'a>);

impl<'a> From<&'a str> for ConfigValue<'a> {
    fn from(value: &'a str) -> Self {
        ConfigValue(v1::SetSessionConfigOptionRequestKindUntagged::new(value).into())
    }
}

impl<'a> From<&'a String> for ConfigValue<'a> {
    fn from(value: &'a String) -> Self {
        value.as_str().into()
    }
}

impl From<bool> for ConfigValue<'_> {
    fn from(value: bool) -> Self {
        ConfigValue(v1::SetSessionConfigOptionRequestKindBoolean::new(value).into())
    }
}
