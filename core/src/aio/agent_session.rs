//! A session on the agent's side.

use std::fmt;
use std::sync::Arc;

use super::call::{Said, Tell};
use super::peer::ClientPeer;
use crate::schema::v1;

/// A session, as the agent has it. Copies of it are the same session.
#[derive(Clone)]
pub struct AgentSession {
    client: ClientPeer,
    id: Arc<str>,
}

impl AgentSession {
    pub(super) fn new(client: ClientPeer, id: Arc<str>) -> Self {
        AgentSession { client, id }
    }

    /// Its id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The client that opened it.
    pub fn client(&self) -> &ClientPeer {
        &self.client
    }

    /// Its working directory, once it is open.
    pub fn cwd(&self) -> Option<String> {
        self.roots().into_iter().next()
    }

    /// The working directory and all further directories, once it is open.
    pub fn roots(&self) -> Vec<String> {
        self.client.roots(&self.id)
    }

    /// All that the client has been told of it, as JSON text; see
    /// [`Session::snapshot`](crate::connection::Session::snapshot).
    pub fn snapshot(&self) -> Option<String> {
        self.client.snapshot(&self.id)
    }

    /// Sends a `session/update`. While a handler opens the session, it waits for the answer that names it, except for
    /// the replay of a session that is loaded.
    pub fn update(&self, update: &v1::SessionUpdate<'_>) -> Tell {
        let session = Arc::clone(&self.id);
        let said = crate::schema::write(update).map(|update| Said::Update { session, update });
        Tell::new(&self.client.shared, said)
    }

    /// Sends one at once: what is small, and must not get lost when a future is dropped.
    pub(super) fn update_now(&self, update: &v1::SessionUpdate<'_>) -> Result<(), super::Error> {
        let update = crate::schema::write(update)?;
        self.client.shared.with(|state| state.update(&self.id, &update))
    }
}

impl ClientPeer {
    /// An open session.
    pub fn session(&self, id: &str) -> Option<AgentSession> {
        let known = self.shared.with(|state| state.connection.session(id).is_some());
        known.then(|| AgentSession::new(self.clone(), id.into()))
    }
}

impl fmt::Debug for AgentSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AgentSession").field(&self.id).finish()
    }
}
