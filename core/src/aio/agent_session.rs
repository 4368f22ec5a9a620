//! A session on the agent's side.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::call::{Asking, Call, Tell};
use super::error::Error;
use super::opening::{about, Kept, Name};
use super::peer::ClientPeer;
use crate::schema::{v1, Raw};

/// A session, as the agent has it. Copies of it are the same session.
#[derive(Clone)]
pub struct AgentSession {
    client: ClientPeer,
    name: Arc<Name>,
    /// What was kept with it, when it is over.
    left: Option<Arc<Kept>>,
}

impl AgentSession {
    pub(super) fn new(client: ClientPeer, id: Arc<str>) -> Self {
        Self::named(client, Name::of(id))
    }

    pub(super) fn named(client: ClientPeer, name: Arc<Name>) -> Self {
        AgentSession { client, name, left: None }
    }

    /// A session that is over.
    pub(super) fn ended(client: ClientPeer, id: Arc<str>, kept: Kept) -> Self {
        let name = kept.name.clone().unwrap_or_else(|| Name::of(id));
        AgentSession { client, name, left: Some(Arc::new(kept)) }
    }

    /// Its id. In the handler that opens a new session, this is the one that is made up, until the answer has another.
    pub fn id(&self) -> &str {
        self.name.id()
    }

    /// The client that opened it.
    pub fn client(&self) -> &ClientPeer {
        &self.client
    }

    /// Whether it is open: not before the answer that opens it, nor after it was closed, nor where a handler is asked to
    /// delete a session that is none of this connection's.
    pub fn is_open(&self) -> bool {
        self.left.is_none() && self.name.pending().is_none() && self.client.knows(self.id())
    }

    /// Its working directory; `None` when it is neither open nor being opened.
    pub fn cwd(&self) -> Option<String> {
        self.roots().into_iter().next()
    }

    /// The working directory and all further directories.
    pub fn roots(&self) -> Vec<String> {
        match &self.name.opening {
            Some(opening) => opening.roots.clone(),
            None => self.client.roots(self.id()),
        }
    }

    /// The MCP servers that the client wants used.
    pub fn mcp_servers(&self) -> Arc<[v1::McpServer<'static>]> {
        let kept = || self.client.kept(self.id(), |kept| kept.name.clone()).flatten();
        let servers = |name: &Name| name.opening.as_ref().map(|opening| Arc::clone(&opening.mcp_servers));
        servers(&self.name).or_else(|| servers(&*kept()?)).unwrap_or_default()
    }

    /// What the agent keeps with the session, if it is of this type; see [`set_data`](Self::set_data).
    pub fn data<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let data = match (self.name.pending(), &self.left) {
            (_, Some(left)) => left.data.clone(),
            (Some(opening), None) => opening.data(),
            (None, None) => self.client.kept(self.id(), |kept| kept.data.clone()).flatten(),
        };
        data?.downcast().ok()
    }

    /// Keeps a value with the session while it is open. What a handler keeps that opens a session is there once the client
    /// has the answer, in place of what was kept with a session that was open already.
    pub fn set_data<T: Any + Send + Sync>(&self, data: T) {
        match self.name.pending() {
            Some(opening) => opening.set_data(Arc::new(data)),
            None => self.client.keep(self.name.id(), |kept| kept.data = Some(Arc::new(data))),
        }
    }

    /// All that the client has been told of it, as JSON text; see
    /// [`Session::snapshot`](crate::connection::Session::snapshot).
    pub fn snapshot(&self) -> Option<String> {
        self.client.snapshot(self.id())
    }

    /// Sends a `session/update`. While a handler opens the session, it waits for the answer that names it, except for
    /// the replay of a session that is loaded; when there is no session in the end, it is not sent.
    pub fn update(&self, update: &v1::SessionUpdate<'_>) -> Tell {
        self.notify("session/update", &Update { update })
    }

    /// [`ClientPeer::request`](super::Peer::request) with the session's id added to the params.
    pub fn request(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &(impl Serialize + ?Sized),
    ) -> Call<Raw<'static>> {
        let params = serde_json::to_string(params).map(|params| about(self.id(), &params));
        Call::new(Asking::written(&self.client.shared, method.into(), params, None), super::call::raw)
    }

    /// [`ClientPeer::notify`](super::Peer::notify) with the session's id added to the params. It waits as
    /// [`update`](Self::update) does.
    pub fn notify(&self, method: impl Into<Cow<'static, str>>, params: &(impl Serialize + ?Sized)) -> Tell {
        Tell::new(&self.client.shared, method.into(), serde_json::to_string(params), Some(&self.name))
    }

    /// Sends one at once: what is small, and must not get lost when a future is dropped.
    pub(super) fn update_now(&self, update: &v1::SessionUpdate<'_>) -> Result<(), Error> {
        let method = "session/update";
        let params = serde_json::to_string(&Update { update });
        let params = params.map_err(|error| Error::Unreadable { method: method.into(), error })?;
        self.client.shared.with(|state| state.tell_of(&self.name, method, &params))
    }
}

/// The params of `session/update` but for the session.
#[derive(Serialize)]
struct Update<'u> {
    update: &'u v1::SessionUpdate<'u>,
}

impl ClientPeer {
    /// An open session.
    pub fn session(&self, id: &str) -> Option<AgentSession> {
        self.knows(id).then(|| AgentSession::new(self.clone(), id.into()))
    }
}

impl fmt::Debug for AgentSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AgentSession").field(&self.id()).finish()
    }
}
