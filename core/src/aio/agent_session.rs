//! A session on the agent's side.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use super::call::{Asking, Call, Tell};
use super::error::Error;
use super::kept::Kept;
use super::name::{about, Name};
use super::peer::ClientPeer;
use crate::schema::{v1, Raw};

/// A session, as the agent sees it. Clones are the same session.
#[derive(Clone)]
pub struct AgentSession {
    client: ClientPeer,
    name: Arc<Name>,
    /// What was kept with the session, after it has ended.
    left: Option<Arc<Kept>>,
}

impl AgentSession {
    pub(super) fn new(client: ClientPeer, id: Arc<str>) -> Self {
        Self::named(client, Name::of(id))
    }

    pub(super) fn named(client: ClientPeer, name: Arc<Name>) -> Self {
        AgentSession { client, name, left: None }
    }

    /// A session that has ended.
    pub(super) fn ended(client: ClientPeer, id: Arc<str>, kept: Kept) -> Self {
        let name = kept.name.clone().unwrap_or_else(|| Name::of(id));
        AgentSession { client, name, left: Some(Arc::new(kept)) }
    }

    /// The session's id. In the handler that opens a new session, it is the generated id, until the response has
    /// another one.
    pub fn id(&self) -> &str {
        self.name.id()
    }

    /// The client that opened it.
    pub fn client(&self) -> &ClientPeer {
        &self.client
    }

    /// Whether the session is open. It is not before the response that opens it, not after it was closed, and not in a
    /// handler that is asked to delete a session of another connection.
    pub fn is_open(&self) -> bool {
        self.left.is_none() && self.name.pending().is_none() && self.client.knows(self.id())
    }

    /// The working directory; `None` if the session is neither open nor being opened.
    pub fn cwd(&self) -> Option<String> {
        self.roots().into_iter().next()
    }

    /// The working directory and all additional directories.
    pub fn roots(&self) -> Vec<String> {
        match &self.name.opening {
            Some(opening) => opening.roots.clone(),
            None => self.client.roots(self.id()),
        }
    }

    /// The MCP servers from the request that opened the session.
    pub fn mcp_servers(&self) -> Arc<[v1::McpServer<'static>]> {
        let kept = || self.client.kept(self.id(), |kept| kept.name.clone()).flatten();
        let servers = |name: &Name| name.opening.as_ref().map(|opening| Arc::clone(&opening.mcp_servers));
        servers(&self.name).or_else(|| servers(&*kept()?)).unwrap_or_default()
    }

    /// The value that [`set_data`](Self::set_data) stored with the session, if it has this type.
    pub fn data<T: Any + Send + Sync>(&self) -> Option<Arc<T>> {
        let data = match (self.name.pending(), &self.left) {
            (_, Some(left)) => left.data.clone(),
            (Some(opening), None) => opening.data(),
            (None, None) => self.client.kept(self.id(), |kept| kept.data.clone()).flatten(),
        };
        data?.downcast().ok()
    }

    /// Stores a value with the session while it is open. A value that is stored by the handler that opens the session
    /// takes effect once the client has the response, and replaces the value of a session that was already open.
    pub fn set_data<T: Any + Send + Sync>(&self, data: T) {
        match self.name.pending() {
            Some(opening) => opening.set_data(Arc::new(data)),
            None => self.client.keep(self.name.id(), |kept| kept.data = Some(Arc::new(data))),
        }
    }

    /// The state of the session as JSON text; see [`Session::snapshot`](crate::connection::Session::snapshot). `None`
    /// if the session is not open.
    pub fn snapshot(&self) -> Option<String> {
        self.client.snapshot(self.id())
    }

    /// Sends a `session/update`. While a handler is opening the session, the update waits for the response, except for
    /// the replay of a session that is being loaded. If the session is not opened after all, it is not sent.
    pub fn update(&self, update: &v1::SessionUpdate<'_>) -> Tell {
        self.notify("session/update", &Update { update })
    }

    /// Like [`ClientPeer::request`](super::Peer::request), with the session's id added to the params.
    pub fn request(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &(impl Serialize + ?Sized),
    ) -> Call<Raw<'static>> {
        let params = serde_json::to_string(params).map(|params| about(self.id(), &params));
        Call::new(Asking::written(&self.client.shared, method.into(), params, None), super::call::raw)
    }

    /// Like [`ClientPeer::notify`](super::Peer::notify), with the session's id added to the params. It waits like
    /// [`update`](Self::update).
    pub fn notify(&self, method: impl Into<Cow<'static, str>>, params: &(impl Serialize + ?Sized)) -> Tell {
        Tell::new(&self.client.shared, method.into(), serde_json::to_string(params), Some(&self.name))
    }

    /// Sends an update of version 2, which the host says in the version that was agreed.
    pub(super) fn update_of_2(&self, kind: &str, update: &impl Serialize) -> Tell {
        let update = serde_json::to_value(update).map(|mut update| {
            update["sessionUpdate"] = kind.into();
            update
        });
        let params = update.and_then(|update| serde_json::to_string(&Update { update: &update }));
        Tell::new(&self.client.shared, "session/update".into(), params, Some(&self.name))
    }

    /// Sends an update without waiting, for small updates that must not get lost when a future is dropped.
    pub(super) fn update_now(&self, update: &impl Serialize) -> Result<(), Error> {
        let method = "session/update";
        let params = serde_json::to_string(&Update { update });
        let params = params.map_err(|error| Error::Unreadable { method: method.into(), error })?;
        self.client.shared.with(|state| state.tell_of(&self.name, method, &params))
    }
}

/// The params of `session/update` without the session.
#[derive(Serialize)]
struct Update<'u, U> {
    update: &'u U,
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
