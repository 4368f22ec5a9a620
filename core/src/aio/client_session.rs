//! A session on the client's side.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use futures::stream::{self, Stream};
use serde::Serialize;

use super::call::{raw, result, Asking, Call, Tell};
use super::error::Error;
use super::kept::Kept;
use super::name::{about, Name};
use super::peer::AgentPeer;
use super::shared::Shared;
use crate::connection::Response;
use crate::schema::{v1, v2, Raw};

/// A session, as the client sees it. Clones are the same session.
#[derive(Clone)]
pub struct ClientSession {
    agent: AgentPeer,
    id: Arc<str>,
    opened: Option<Arc<v1::NewSessionResponse<'static>>>,
    /// What was kept with the session, after it has ended.
    left: Option<Arc<Kept>>,
}

impl ClientSession {
    pub(super) fn new(agent: AgentPeer, opened: v1::NewSessionResponse<'static>) -> Self {
        let (id, opened): (Arc<str>, _) = (opened.session_id.as_str().into(), Arc::new(opened));
        agent.keep(&id, |kept| kept.opened = Some(Arc::clone(&opened)));
        ClientSession { agent, id, opened: Some(opened), left: None }
    }

    fn known(agent: AgentPeer, id: Arc<str>) -> Self {
        let opened = agent.kept(&id, |kept| kept.opened.clone()).flatten();
        ClientSession { agent, id, opened, left: None }
    }

    /// The session that a response has created. If the agent answers with the id of an open session, that session stays
    /// unchanged.
    fn made(shared: &Arc<Shared>, response: &Response) -> Result<Self, Error> {
        let opened: v1::NewSessionResponse<'static> = result(shared, response)?;
        let agent = AgentPeer::new(shared);
        let first = agent.kept(opened.session_id.as_str(), |kept| kept.serial);
        if first.is_some_and(|first| first != response.serial) {
            return Err(Error::Invalid { method: response.method.clone(), violation: None });
        }
        Ok(Self::new(agent, opened))
    }

    /// The session that was resumed.
    fn resumed(shared: &Arc<Shared>, response: &Response) -> Result<Self, Error> {
        let resumed: v1::ResumeSessionResponse<'static> = result(shared, response)?;
        let id = response.session.as_deref().unwrap_or_default();
        let mut opened = v1::NewSessionResponse::new(id.to_owned());
        (opened.modes, opened.config_options, opened.meta) = (resumed.modes, resumed.config_options, resumed.meta);
        Ok(Self::new(AgentPeer::new(shared), opened))
    }

    /// A session that has ended.
    pub(super) fn ended(agent: AgentPeer, id: Arc<str>, kept: Kept) -> Self {
        ClientSession { agent, id, opened: kept.opened.clone(), left: Some(Arc::new(kept)) }
    }

    /// The session that a message is about.
    pub(super) fn of(shared: &Arc<Shared>, id: Option<&Arc<str>>) -> Option<Self> {
        Some(Self::known(AgentPeer::new(shared), id?.clone()))
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The agent.
    pub fn agent(&self) -> &AgentPeer {
        &self.agent
    }

    /// The response to the call that opened the session: its modes and config options, if the agent has any, and
    /// `_meta`. `None` if the session was opened by an untyped call.
    pub fn opened(&self) -> Option<&v1::NewSessionResponse<'static>> {
        self.opened.as_deref()
    }

    /// The working directory; `None` if the session is not open.
    pub fn cwd(&self) -> Option<String> {
        self.roots().into_iter().next()
    }

    /// The working directory and all additional directories. Files that the agent asks for have to be inside them.
    pub fn roots(&self) -> Vec<String> {
        self.agent.roots(&self.id)
    }

    /// Whether the session is open.
    pub fn is_open(&self) -> bool {
        self.left.is_none() && self.agent.knows(&self.id)
    }

    /// The value that [`set_data`](Self::set_data) stored with the session, if it has this type.
    pub fn data<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let data = match &self.left {
            Some(left) => left.data.clone(),
            None => self.agent.kept(&self.id, |kept| kept.data.clone()).flatten(),
        };
        data?.downcast().ok()
    }

    /// Stores a value with the session while it is open.
    pub fn set_data<T: Any + Send + Sync>(&self, data: T) {
        self.agent.keep(&self.id, |kept| kept.data = Some(Arc::new(data)));
    }

    /// The state of the session as JSON text; see [`Session::snapshot`](crate::connection::Session::snapshot). `None`
    /// if the session is not open.
    pub fn snapshot(&self) -> Option<String> {
        self.agent.snapshot(&self.id)
    }

    /// Like [`AgentPeer::request`](super::Peer::request), with the session's id added to the params.
    pub fn request(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &(impl Serialize + ?Sized),
    ) -> Call<Raw<'static>> {
        let params = serde_json::to_string(params).map(|params| about(&self.id, &params));
        Call::new(Asking::written(&self.agent.shared, method.into(), params, None), raw)
    }

    /// Like [`AgentPeer::notify`](super::Peer::notify), with the session's id added to the params.
    pub fn notify(&self, method: impl Into<Cow<'static, str>>, params: &(impl Serialize + ?Sized)) -> Tell {
        let name = Name::of(Arc::clone(&self.id));
        Tell::new(&self.agent.shared, method.into(), serde_json::to_string(params), Some(&name))
    }

    /// Cancels the turn of the session. Open permission requests are answered with `cancelled`.
    pub fn cancel(&self) -> Tell {
        self.agent.tell(&v1::CancelNotification::new(self.id()))
    }

    /// Sets the session's mode.
    pub fn set_mode(&self, mode_id: &str) -> Call<()> {
        self.agent.call(&v1::SetSessionModeRequest::new(self.id(), mode_id)).done()
    }

    /// Sets a config option: a selection to the id of one of its values, a switch to `true` or `false`. Returns all
    /// options with their new values.
    pub fn set_config_option<'a>(
        &self,
        config_id: &str,
        value: impl Into<ConfigValue<'a>>,
    ) -> Call<Vec<v1::SessionConfigOption<'static>>> {
        let request = v1::SetSessionConfigOptionRequest::new(self.id(), config_id, value.into().0);
        self.agent.call(&request).read_as(|shared, response| {
            let answer: v1::SetSessionConfigOptionResponse<'static> = result(shared, response)?;
            Ok(answer.config_options)
        })
    }

    /// Cancels one tool call of the session, if the agent allows that: in version 2, while an update says so. The call then
    /// ends with an update of its own.
    pub fn cancel_tool_call(&self, id: &str) -> Call<()> {
        self.agent.call(&v2::CancelToolCallRequest::new(self.id(), id)).done()
    }

    /// Cancels the command in a terminal of the agent's, if the agent allows that, like
    /// [`cancel_tool_call`](Self::cancel_tool_call).
    pub fn cancel_terminal(&self, id: &str) -> Call<()> {
        self.agent.call(&v2::CancelTerminalRequest::new(self.id(), id)).done()
    }

    /// Closes the session, if the agent supports that. This cancels its turn.
    pub fn close(&self) -> Call<()> {
        self.agent.call(&v1::CloseSessionRequest::new(self.id())).done()
    }
}

impl fmt::Debug for ClientSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ClientSession").field(&self.id).finish()
    }
}

impl AgentPeer {
    /// Opens a session with a working directory, an absolute path.
    ///
    /// If the agent answers with the id of an open session, it breaks a rule: the call ends with [`Error::Invalid`],
    /// and that session stays unchanged.
    pub fn new_session(&self, cwd: &str) -> Call<ClientSession> {
        self.new_session_with(&v1::NewSessionRequest::new(cwd, vec![]))
    }

    /// Like [`new_session`](Self::new_session), with all params: additional directories, MCP servers.
    pub fn new_session_with(&self, request: &v1::NewSessionRequest<'_>) -> Call<ClientSession> {
        self.call(request).read_as(ClientSession::made)
    }

    /// Resumes an earlier session without a replay, if the agent supports that.
    pub fn resume_session(&self, id: &str, cwd: &str) -> Call<ClientSession> {
        self.resume_session_with(&v1::ResumeSessionRequest::new(id, cwd))
    }

    /// Like [`resume_session`](Self::resume_session), with all params: additional directories, MCP servers.
    pub fn resume_session_with(&self, request: &v1::ResumeSessionRequest<'_>) -> Call<ClientSession> {
        self.call(request).read_as(ClientSession::resumed)
    }

    /// Lists the sessions of the agent, if it supports that. Pages are requested as they are needed.
    pub fn list_sessions(&self) -> impl Stream<Item = Result<v1::SessionInfo<'static>, Error>> + Send + Unpin + use<> {
        self.list_sessions_with(v1::ListSessionsRequest::default())
    }

    /// Like [`list_sessions`](Self::list_sessions), with a filter such as the working directory.
    pub fn list_sessions_with(
        &self,
        request: v1::ListSessionsRequest<'static>,
    ) -> impl Stream<Item = Result<v1::SessionInfo<'static>, Error>> + Send + Unpin + use<> {
        let agent = self.clone();
        let request = Some(request);
        // Boxed, so that a loop can read it as it is.
        Box::pin(stream::try_unfold((request, Vec::new().into_iter()), move |(mut next, mut page)| {
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
        }))
    }

    /// A session that was opened on this connection.
    pub fn session(&self, id: &str) -> Option<ClientSession> {
        self.knows(id).then(|| ClientSession::known(self.clone(), id.into()))
    }

    /// Closes the connection: pending calls end with [`Error::Closed`], running handlers are dropped, and the future
    /// that drives the connection ends when everything sent before was written.
    pub fn close(&self) {
        self.shared.with(|state| {
            state.host.close();
            state.kick();
        });
    }
}

/// The value of a config option. Created from an id for a selection, from a `bool` for a switch.
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
