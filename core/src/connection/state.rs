//! What is known of the conversation, and looked up in what the protocol says.

use std::cell::Cell;

use super::checker::find_method;
use super::pending::Pending;
use super::rules::Gates;
use super::session::Sessions;
use super::Config;
use crate::rules::scene::{kind_of, rows, Applying, On};
use crate::rules::{Auth, Elicitations, Mcp, Providers};
use crate::validation::table::{Method, Tables};

/// What rules look at and trackers change.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) config: Config,
    /// The agreed version's tables; version 1's before.
    pub(crate) tables: &'static Tables,
    pub(crate) version: Option<u16>,
    /// The host's open requests.
    pub(crate) outbound: Pending,
    /// Those that ended without an answer, in the order of their ends; the peer may still answer them.
    pub(crate) late: Pending,
    /// The peer's open requests.
    pub(crate) inbound: Pending,
    pub(crate) sessions: Sessions,
    pub(crate) auth: Auth,
    pub(crate) elicitations: Elicitations,
    pub(crate) providers: Providers,
    pub(crate) mcp: Mcp,
    pub(crate) own: Side,
    pub(crate) peer: Side,
    /// The highest serial number of the host's requests that the peer has answered.
    pub(crate) answered: u64,
    pub(crate) follows: Follows,
    /// The method that was looked up last: most messages are of the same kind as the one before.
    pub(crate) lately: Cell<Option<&'static Method>>,
    /// The rows that were looked up, for each kind of call that has come.
    pub(crate) looked: Vec<Looked>,
}

/// A method, a kind of its messages, and the rows for that.
pub(crate) type Looked = (&'static Method, Option<&'static str>, Applying);

impl State {
    /// A method of the agreed version, if no draft that is off brings it.
    pub(crate) fn method(&self, name: &str) -> Option<&'static Method> {
        let here = |row: &&'static Method| self.tables.methods.as_ptr_range().contains(&std::ptr::from_ref(*row));
        let lately = self.lately.get().filter(|row| row.name == name).filter(here);
        lately.or_else(|| {
            let found = find_method(self.tables, self.config.drafts, name);
            self.lately.set(found);
            found
        })
    }

    /// The serial number of the newest request, as far as it is open or was the peer's to answer.
    pub(crate) fn newest(&self) -> u64 {
        self.outbound.newest().max(self.inbound.newest()).max(self.answered)
    }

    /// The rows of the catalogue for a call.
    pub(crate) fn rows(&mut self, method: &'static Method, kind: Option<&'static str>) -> Applying {
        // Both are the model's, so that it is enough to look where they are.
        let place = |kind: Option<&'static str>| kind.map(|kind| (kind.as_ptr(), kind.len()));
        let same = |(known, of, _): &&Looked| std::ptr::eq(*known, method) && place(*of) == place(kind);
        if let Some((.., rows)) = self.looked.iter().find(same) {
            return *rows;
        }
        let found = rows(On::Call, method.name, kind);
        self.looked.push((method, kind, found));
        found
    }

    /// The same for a method that may be an extension's.
    pub(crate) fn rows_of(
        &mut self,
        row: Option<&'static Method>,
        method: &str,
        is_request: bool,
        update: Option<&'static str>,
    ) -> Applying {
        match row {
            Some(row) => self.rows(row, kind_of(row, is_request, update)),
            None => rows(On::Call, method, update),
        }
    }
}

/// What is done with messages beyond delivering them: everything, but for measuring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Follows {
    pub(crate) checks: bool,
    pub(crate) trackers: bool,
}

/// What one side said in `initialize`.
#[derive(Debug, Default)]
pub(crate) struct Side {
    /// Its capabilities object, as JSON text.
    pub(crate) capabilities: String,
    /// Its whole initialize params or result, as JSON text.
    pub(crate) hello: String,
    pub(crate) gates: Gates,
}
