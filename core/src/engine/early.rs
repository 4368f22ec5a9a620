//! Sessions that updates name before the call that opens them is answered (SESS-52).
//!
//! An agent may send the commands, the plan or a tool call of a new session as soon as it has made the id, which the
//! client learns from the answer. What these updates say is kept here until an answer names the id and takes it over;
//! the rest is dropped when no such answer is awaited any more. Nothing but updates may name these sessions. A child that
//! such a session announces is kept and taken over together with it.

use std::sync::{Arc, OnceLock};

use super::session::{Session, SessionState};
use super::session_table::SessionTable;

/// Number of ids that are kept beyond the number of answers that are awaited: those of calls that failed after the agent had
/// sent updates for their sessions.
const SPARE: usize = 4;

/// What is known of sessions by id.
#[derive(Debug, Default)]
pub(super) struct Early {
    known: SessionTable,
    /// How many of them are children.
    children: usize,
}

impl Early {
    /// The session of this id; a new one if no update has named it.
    pub(super) fn get(&self, id: &str) -> &Session {
        static FRESH: OnceLock<Session> = OnceLock::new();
        self.find(id).unwrap_or_else(|| FRESH.get_or_init(|| Session::new(SessionState::Ready)))
    }

    /// The session of this id, if anything was told of it.
    pub(super) fn find(&self, id: &str) -> Option<&Session> {
        self.known.get(id)
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut Session> {
        self.known.get_mut(id)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Session)> {
        self.known.iter()
    }

    pub(super) fn children(&self) -> usize {
        self.children
    }

    /// Follows the updates of a session from now on, unless there are too many for the answers that are awaited.
    pub(super) fn enter(&mut self, id: &Arc<str>, expected: usize) {
        if self.known.len() - self.children < expected + SPARE || self.known.contains_key(id) {
            self.known.enter(Arc::clone(id), || Session::new(SessionState::Ready));
        }
    }

    /// The session of this id, which is a child from now on.
    pub(super) fn announce(&mut self, id: Arc<str>) -> &mut Session {
        let session = self.known.enter(id, || Session::new(SessionState::Ready));
        self.children += usize::from(session.child.is_none());
        session
    }

    pub(super) fn take(&mut self, id: &str) -> Option<Session> {
        let session = self.known.remove(id)?;
        self.children -= usize::from(session.child.is_some());
        Some(session)
    }
}
