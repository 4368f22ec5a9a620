//! Sessions and terminals that answers have opened, and how what nobody wants any more is given back.

use std::collections::HashMap;
use std::sync::Arc;

use crate::connection::{CallOptions, Response};
use crate::json::Writer;
use crate::Connection;

/// Which call has opened each session of a client, by its serial number.
#[derive(Debug, Default)]
pub(super) struct Opened(HashMap<Arc<str>, u64>);

impl Opened {
    /// Takes an answer that the host sees.
    pub(super) fn answered(&mut self, connection: &Connection, response: &Response) {
        let Some(result) = response.outcome.result() else { return };
        let id = match &*response.method {
            "session/new" | "session/fork" => super::text(result, "/sessionId").map(|id| Arc::from(&*id)),
            "session/load" | "session/resume" => response.session.clone(),
            "session/close" | "session/delete" => {
                self.0.remove(response.session.as_deref().unwrap_or_default());
                return;
            }
            _ => return,
        };
        if self.0.len() >= connection.config().limits.sessions {
            self.0.retain(|id, _| connection.session(id).is_some());
        }
        // It stays with the first as long as it is open.
        let Some(id) = id.filter(|id| connection.session(id).is_some()) else { return };
        self.0.entry(id).or_insert(response.serial);
    }

    fn is_anothers(&self, connection: &Connection, session: &str, serial: u64) -> bool {
        self.0.get(session).is_some_and(|by| *by != serial) && connection.session(session).is_some()
    }

    /// Asks the peer to end what an answer has opened: to release a terminal, or to close a session, if it can and no other
    /// call has opened that.
    pub(super) fn give_back(&mut self, connection: &mut Connection, response: &Response) {
        let Some(result) = response.outcome.result() else { return };
        let (method, member, id) = match &*response.method {
            "terminal/create" => ("terminal/release", "terminalId", super::text(result, "/terminalId")),
            "session/new" | "session/fork" => ("session/close", "sessionId", super::text(result, "/sessionId")),
            _ => return,
        };
        let Some(id) = id else { return };
        if method == "session/close" && self.is_anothers(connection, &id, response.serial) {
            return;
        }
        let mut params = Writer::new();
        params.begin_object();
        if let Some(session) = response.session.as_ref().filter(|_| member != "sessionId") {
            params.key("sessionId").string(session);
        }
        params.key(member).string(&id).end_object();
        self.0.remove(&*id);
        // This fails if the peer cannot, or if the session or the connection is over: nothing is open then.
        let _ = connection.request_with(method, &params.finish().unwrap_or_default(), CallOptions::default());
    }
}
