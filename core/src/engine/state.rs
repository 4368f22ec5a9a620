//! The state of one conversation, and cached look-ups into the protocol's tables.

use std::cell::Cell;

use super::admission::Gates;
use super::areas::{Auth, Elicitations, Mcp, Providers, Suggesting};
use super::context::kind_of;
use super::pending::Pending;
use super::rows::{rows, MessageKind, RuleSet};
use super::session::Sessions;
use super::settings::Config;
use crate::json;
use crate::role::Role;
use crate::rules::{RuleId, Way};
use crate::validation::table::{From, Method, Part, Tables};
use crate::validation::{DraftSet, Mode};

/// What both sides of a conversation know. Checks read it, trackers change it.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) config: Config,
    /// The tables of the agreed version; before that, of the oldest version that the host allows.
    pub(crate) tables: &'static Tables,
    pub(crate) version: Option<u16>,
    /// The host's open requests.
    pub(crate) outbound: Pending,
    /// The host's requests that ended without an answer, in the order in which they ended. The peer may still answer
    /// them.
    pub(crate) late: Pending,
    /// The peer's open requests.
    pub(crate) inbound: Pending,
    pub(crate) sessions: Sessions,
    pub(crate) auth: Auth,
    pub(crate) elicitations: Elicitations,
    pub(crate) providers: Providers,
    pub(crate) mcp: Mcp,
    pub(crate) nes: Suggesting,
    pub(crate) own: Side,
    pub(crate) peer: Side,
    /// The highest serial in use; both directions share one sequence.
    pub(crate) newest: u64,
    /// The highest serial of a request that the host sent and the peer has answered.
    pub(crate) answered: u64,
    /// Cache: the method that was looked up last, as most messages are of the same kind as the one before.
    pub(crate) last_method: Cell<Option<&'static Method>>,
    /// Cache: the rows of each kind of call so far.
    pub(crate) rule_sets: Vec<CachedRuleSet>,
}

/// A method, a kind of its messages, and the rows for that.
pub(crate) type CachedRuleSet = (&'static Method, Option<&'static str>, RuleSet);

impl State {
    pub(crate) fn new(config: Config) -> Self {
        State {
            tables: config.first_tables(),
            version: None,
            outbound: Pending::default(),
            late: Pending::default(),
            inbound: Pending::default(),
            sessions: Sessions::default(),
            auth: Auth::default(),
            elicitations: Elicitations::default(),
            providers: Providers::default(),
            mcp: Mcp::default(),
            nes: Suggesting::default(),
            own: Side::default(),
            peer: Side::default(),
            newest: 0,
            answered: 0,
            last_method: Cell::default(),
            rule_sets: Vec::new(),
            config,
        }
    }

    /// How strictly the peer's values are validated.
    pub(crate) fn mode(&self) -> Mode {
        match self.config.repaired() {
            [true, true, true] => Mode::Tolerant,
            [false, false, false] => Mode::Strict,
            some => Mode::Mixed(some),
        }
    }

    /// The state of a side.
    pub(crate) fn side(&self, side: Role) -> &Side {
        if side == self.config.role() {
            &self.own
        } else {
            &self.peer
        }
    }

    /// Whether a side has advertised the capability at a pointer into its capabilities.
    pub(crate) fn advertises(&self, side: Role, pointer: &str) -> bool {
        match json::pointer(&self.side(side).capabilities, pointer) {
            Some(value) => value == "true" || (value.starts_with('{') && id!("CAP-04").is_on(Way::Track)),
            None => !id!("CAP-01").is_on(Way::Track),
        }
    }

    /// Switches the perspective to a side: own becomes peer, inbound becomes outbound.
    pub(crate) fn turn_to(&mut self, role: Role) {
        if self.config.role() != role {
            self.config.role = role;
            std::mem::swap(&mut self.own, &mut self.peer);
            std::mem::swap(&mut self.inbound, &mut self.outbound);
        }
    }

    /// Whether the agreed version has a rule.
    pub(crate) fn has_rule(&self, rule: RuleId) -> bool {
        rule.rule().versions.contains(self.tables.version)
    }

    /// The part of this name of a method's messages.
    pub(crate) fn part(&self, method: &str, name: &str) -> Option<&'static Part> {
        self.tables.parts.iter().find(|part| part.name == name && part.methods.contains(&method))
    }

    /// Whether the part needs no capability, or that was advertised.
    pub(crate) fn has(&self, part: &Part) -> bool {
        part.needs.is_none_or(|(of, pointer)| {
            self.advertises(if of == From::Client { Role::Client } else { Role::Agent }, pointer)
        })
    }

    /// A method of the agreed version, unless it belongs to a draft that is off.
    pub(crate) fn method(&self, name: &str) -> Option<&'static Method> {
        let here = |row: &&'static Method| self.tables.methods.as_ptr_range().contains(&std::ptr::from_ref(*row));
        let last_method = self.last_method.get().filter(|row| row.name == name).filter(here);
        last_method.or_else(|| {
            let found = find_method(self.tables, self.config.drafts, name);
            self.last_method.set(found);
            found
        })
    }

    /// The rows of the catalogue for a call.
    pub(crate) fn rows(&mut self, method: &'static Method, kind: Option<&'static str>) -> RuleSet {
        // Both are static strings of the model, so comparing addresses is enough.
        let place = |kind: Option<&'static str>| kind.map(|kind| (kind.as_ptr(), kind.len()));
        let same = |(known, of, _): &&CachedRuleSet| std::ptr::eq(*known, method) && place(*of) == place(kind);
        if let Some((.., rows)) = self.rule_sets.iter().find(same) {
            return *rows;
        }
        let found = rows(self.tables.version, MessageKind::Call, method.name, kind);
        self.rule_sets.push((method, kind, found));
        found
    }

    /// Like [`rows`](Self::rows), for a method that may be an extension's.
    pub(crate) fn rows_of(
        &mut self,
        row: Option<&'static Method>,
        method: &str,
        is_request: bool,
        update: Option<&'static str>,
    ) -> RuleSet {
        match row {
            Some(row) => self.rows(row, kind_of(row, is_request, update)),
            None => rows(self.tables.version, MessageKind::Call, method, update),
        }
    }
}

/// What one side sent in `initialize`.
#[derive(Debug, Default, Clone)]
pub(crate) struct Side {
    /// Its capabilities object, as JSON text.
    pub(crate) capabilities: String,
    /// Its whole initialize params or result, as JSON text.
    pub(crate) initialize: String,
    pub(crate) gates: Gates,
}

/// A method of the tables, unless it belongs to a draft that is off.
pub(crate) fn find_method(tables: &'static Tables, drafts: DraftSet, name: &str) -> Option<&'static Method> {
    let at = tables.methods.binary_search_by_key(&name, |row| row.name).ok()?;
    let row = &tables.methods[at];
    (row.draft == 0 || drafts & (1 << row.draft) != 0).then_some(row)
}

impl Side {
    /// The value of one extension in `_meta` of its capabilities.
    pub(crate) fn extension(&self, name: &str) -> Option<&str> {
        let pointer = format!("/_meta/{}", name.replace('~', "~0").replace('/', "~1"));
        json::agreed(&self.capabilities, &pointer).filter(|_| id!("EXT-10").is_on(Way::Track))
    }
}
