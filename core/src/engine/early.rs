//! Sessions that updates name before the call that opens them is answered (SESS-52).
//!
//! An agent may send the commands, the plan or a tool call of a new session as soon as it has made the id, which the
//! client learns from the answer. What these updates say is kept here until an answer names the id and takes it over;
//! the rest is dropped when no such answer is awaited any more. Nothing but updates may name these sessions.

use std::sync::{Arc, OnceLock};

use super::session::{Session, SessionState};
use super::session_table::SessionTable;

/// Number of ids that are kept beyond the number of answers that are awaited: those of calls that failed after the agent had
/// sent updates for their sessions.
const SPARE: usize = 4;

/// What is known of sessions by id.
#[derive(Debug, Default)]
pub(super) struct Early(SessionTable);

impl Early {
    /// The session of this id; a new one if no update has named it.
    pub(super) fn get(&self, id: &str) -> &Session {
        static FRESH: OnceLock<Session> = OnceLock::new();
        self.0.get(id).unwrap_or_else(|| FRESH.get_or_init(|| Session::new(SessionState::Ready)))
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Session> {
        self.0.get_mut(id)
    }

    /// Follows the updates of a session from now on, unless there are too many for the answers that are awaited.
    pub(super) fn enter(&mut self, id: &Arc<str>, expected: usize) {
        if self.0.len() < expected + SPARE || self.0.contains_key(id) {
            self.0.enter(Arc::clone(id), || Session::new(SessionState::Ready));
        }
    }

    pub(super) fn take(&mut self, id: &str) -> Option<Session> {
        self.0.remove(id)
    }
}
