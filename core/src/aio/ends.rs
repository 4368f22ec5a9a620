//! What is stored with sessions while they are open, and reports of sessions that have ended.

use std::sync::Arc;

use super::agent_session::AgentSession;
use super::client_session::ClientSession;
use super::handlers::{Handlers, Report};
use super::kept::Kept;
use super::peer::Peer;
use super::shared::{Shared, State};
use crate::connection::Response;
use crate::{json, Role};

impl State {
    /// Records the session that a response has opened or ended.
    pub(super) fn lived(&mut self, response: &Response, wanted: bool) {
        let Some(result) = response.outcome.result() else { return };
        let opened: Option<Arc<str>> = match &*response.method {
            "session/new" | "session/fork" if wanted => {
                json::pointer(result, "/sessionId").and_then(json::unescape).map(|id| (&*id).into())
            }
            "session/load" | "session/resume" => response.session.clone(),
            method => {
                if let Some(session) = &response.session {
                    self.ended(method, session);
                }
                None
            }
        };
        // The session may have ended meanwhile, or was open before.
        if let Some(id) = opened.filter(|id| self.connection().session(id).is_some() && !self.kept.contains_key(id)) {
            self.kept.insert(id, Kept { serial: response.serial, ..Kept::default() });
        }
    }

    /// Removes what is stored with a session that was closed or deleted.
    pub(super) fn ended(&mut self, method: &str, session: &str) {
        if matches!(method, "session/close" | "session/delete") {
            self.over.extend(self.kept.remove_entry(session));
        }
    }
}

/// Reports a session that has ended.
pub(super) fn tell_end<H: Handlers>(shared: &Arc<Shared>, handlers: &H, id: Arc<str>, kept: Kept) {
    if shared.with(|state| state.connection().role()) == Role::Agent {
        handlers.report(&Report::AgentSession(&AgentSession::ended(Peer::new(shared), id, kept)));
    } else {
        handlers.report(&Report::ClientSession(&ClientSession::ended(Peer::new(shared), id, kept)));
    }
}

/// Reports the sessions that end with their connection, however it ends.
pub(super) struct Ends<'a, H: Handlers>(pub(super) &'a Arc<Shared>, pub(super) &'a H);

impl<H: Handlers> Drop for Ends<'_, H> {
    fn drop(&mut self) {
        while let Some((id, kept)) = self.0.with(|state| state.over.pop_front()) {
            tell_end(self.0, self.1, id, kept);
        }
    }
}
