//! `initialize` once more (INIT-23): in versions that have it, a client may send it again until its first other request, and
//! the last that succeeds counts.

use crate::connection::{Connection, Phase, Role};
use crate::engine::Side;
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
    /// Looks at it from the other side.
    pub(in crate::connection) fn turn(&mut self) {
        std::mem::swap(&mut self.own, &mut self.peer);
    }
}

impl Connection {
    /// Whether the client may send `initialize` now.
    pub(in crate::connection) fn may_begin(&self) -> bool {
        let again = || self.state.tables.dialect.initialize_again && id!("INIT-23").is_on(Way::Track);
        self.phase == Phase::Start || (self.phase == Phase::Ready && !self.settled && again())
    }

    /// A side sends a request that is not `initialize`.
    pub(in crate::connection) fn settle(&mut self, sender: Role) {
        self.settled |= sender == Role::Client && self.phase == Phase::Ready;
    }

    /// Whether what the agent sends may have been on its way when the client sent `initialize` once more.
    pub(in crate::connection) fn may_cross(&self) -> bool {
        self.earlier.is_some() && self.state.config.role == Role::Client
    }

    /// `initialize` is sent or has come: what was agreed on before, if anything was, holds again should it fail.
    pub(super) fn begin(&mut self) {
        if self.phase == Phase::Ready {
            let state = &self.state;
            self.earlier = Some(Box::new(Earlier {
                tables: state.tables,
                version: state.version,
                own: state.own.clone(),
                peer: state.peer.clone(),
                offered: None,
            }));
        }
        self.phase = Phase::Initializing;
    }

    /// `initialize` has been answered, and what was agreed on before is over.
    pub(super) fn begun(&mut self) {
        self.earlier = None;
        self.phase = Phase::Ready;
        self.opened = true;
    }

    /// `initialize` has failed, so it may be tried again.
    pub(in crate::connection) fn initialize_failed(&mut self) {
        let Some(earlier) = self.earlier.take() else {
            self.phase = Phase::Start;
            self.state.version = None;
            return self.agree_on(self.state.config.first_tables());
        };
        let Earlier { tables, version, own, peer, .. } = *earlier;
        (self.state.version, self.state.own, self.state.peer) = (version, own, peer);
        self.phase = Phase::Ready;
        self.agree_on(tables);
    }
}
