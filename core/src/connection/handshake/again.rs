//! `initialize` once more (INIT-23): in versions that have it, a client may send it again until its first other request, and
//! the last that succeeds counts.

use crate::connection::{Connection, Role};
use crate::engine::{Side, State};
use crate::rules::Way;
use crate::validation::table::Tables;

/// What an earlier `initialize` has agreed on, while another one is open.
#[derive(Debug)]
pub(in crate::connection) struct Earlier {
    tables: &'static Tables,
    version: Option<u16>,
    own: Side,
    peer: Side,
    /// What the client says in the other one: until that has succeeded, the agent goes by what it said before.
    pub(super) offered: Option<Side>,
}

impl Earlier {
    /// What is agreed on now.
    pub(in crate::connection) fn of(state: &State) -> Self {
        Earlier {
            tables: state.tables,
            version: state.version,
            own: state.own.clone(),
            peer: state.peer.clone(),
            offered: None,
        }
    }

    /// Makes it hold again, but for the tables, which are returned.
    fn restore(self, state: &mut State) -> &'static Tables {
        (state.version, state.own, state.peer) = (self.version, self.own, self.peer);
        self.tables
    }

    /// Sees it from the other side.
    pub(in crate::connection) fn turn(&mut self) {
        std::mem::swap(&mut self.own, &mut self.peer);
    }
}

impl Connection {
    /// Whether the client may send `initialize` now.
    pub(in crate::connection) fn may_initialize(&self) -> bool {
        let again = || self.state.tables.dialect.initialize_again && id!("INIT-23").is_on(Way::Track);
        self.lifecycle.may_initialize(again)
    }

    /// Whether what the agent sends may have been on its way when the client sent `initialize` once more.
    pub(in crate::connection) fn may_cross(&self) -> bool {
        self.lifecycle.is_repeating() && self.state.config.role() == Role::Client
    }

    /// `initialize` has failed, so it may be tried again.
    pub(in crate::connection) fn initialize_failed(&mut self) {
        let tables = if let Some(earlier) = self.lifecycle.initialize_failed() {
            earlier.restore(&mut self.state)
        } else {
            self.state.version = None;
            self.state.config.first_tables()
        };
        self.agree_on(tables);
    }
}
