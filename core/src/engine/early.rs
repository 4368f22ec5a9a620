//! Sessions that updates name before the call that opens them is answered (SESS-52).
//!
//! An agent may send the commands, the plan or a tool call of a new session as soon as it has chosen the id, before the
//! client gets the answer with the id. The state that these updates set is kept here until an answer names the session;
//! the rest is dropped when no such answer is awaited any more. Only updates may name these sessions. A child that such
//! a session announces is kept with it.

use std::sync::{Arc, OnceLock};

use super::session::{Session, SessionState};
use super::session_table::SessionTable;

/// The number of ids that are kept in addition to one per awaited answer. A call may fail after the agent has sent
/// updates for its session.
const SPARE: usize = 4;

/// The state of these sessions by id.
#[derive(Debug, Default)]
pub(super) struct Early {
    known: SessionTable,
    /// How many of them are children.
    children: usize,
}

impl Early {
    /// The session of this id; a default one if no update has named it.
    pub(super) fn get(&self, id: &str) -> &Session {
        static FRESH: OnceLock<Session> = OnceLock::new();
        self.find(id).unwrap_or_else(|| FRESH.get_or_init(|| Session::new(SessionState::Ready)))
    }

    /// The session of this id, if an update has named it.
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

    /// Adds a session, unless there are too many for the number of awaited answers.
    pub(super) fn enter(&mut self, id: &Arc<str>, expected: usize) {
        if self.known.len() - self.children < expected + SPARE || self.known.contains_key(id) {
            self.known.enter(Arc::clone(id), || Session::new(SessionState::Ready));
        }
    }

    /// Adds a child session.
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
