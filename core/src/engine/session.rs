//! The state of each session: whether it is open, whether a turn is running, its terminals, modes, tool calls and so
//! on.
//!
//! The trackers in [`areas`](super::areas) write it. They see every accepted call and answer, in either direction. One
//! side receives what the other sends, so both sides have the same state.

use std::sync::Arc;

use super::areas::{
    Child, ClosedSessions, Commands, Compactions, Displays, Modes, Options, PermissionState, Plans, Released,
    SessionDirs, Tools, Turns, Work,
};
use super::early::Early;
use super::names::{TerminalRef, Timing};
use super::pending::OpenRequest;
use super::session_table::SessionTable;
use super::settings::Limits;
use crate::map::{Map, Set};
use crate::rules::{RuleId, Way};
use crate::validation::table::{Effect, Method, Scope};

const UPDATE: &str = "session/update";

/// The rule that a message of this method breaks by naming a session that is not known.
pub(crate) fn unknown(row: &Method, way: Way) -> RuleId {
    match row.name {
        // The host's own update cannot be too early: the host knows whether a call has no answer yet.
        UPDATE if way == Way::Receive => id!("SESS-52"),
        "elicitation/create" => id!("ELIC-05"),
        _ => id!("SESS-01"),
    }
}

/// Whether a message may name a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Fits,
    /// The session is being loaded or resumed.
    NotSetUp,
    /// There is no such session on this connection.
    Unknown,
}

/// How far a session is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionState {
    /// `session/load`, or `session/resume` with `replayFrom`, has no answer yet. Updates are history, until
    /// `replay_complete` ends the replay (SESS-92).
    Loading,
    /// `session/resume` has no answer yet.
    Resuming,
    /// The session is open and can be prompted.
    Ready,
}

impl SessionState {
    /// The name of this value, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            SessionState::Loading => "loading",
            SessionState::Resuming => "resuming",
            SessionState::Ready => "ready",
        }
    }
}

/// Whether the agent is working in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Turn {
    /// The agent is waiting for a prompt.
    Idle,
    /// The agent is working.
    Running,
    /// The agent is working, and the client has cancelled the work.
    Cancelling,
    /// The agent is waiting for the user (version 2).
    RequiresAction,
}

impl Turn {
    /// The name of this value, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            Turn::Idle => "idle",
            Turn::Running => "running",
            Turn::Cancelling => "cancelling",
            Turn::RequiresAction => "requires_action",
        }
    }
}

/// The state of one session. [`snapshot`](Session::snapshot) has all of it as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// How far the session is set up.
    pub state: SessionState,
    /// Whether the agent is working in the session.
    pub turn: Turn,
    /// The ids of the session's terminals that are not released, and whether the command of each has ended (TERM-04).
    pub terminals: Map<Box<str>, bool>,
    /// Distinguishes the session from an earlier one of the same id; see [`Sessions::of`].
    pub(super) generation: u64,
    /// Whether the user has logged out since the session was opened, so that requests may fail because of that
    /// (AUTH-25).
    pub auth_uncertain: bool,
    /// A request that opens it has succeeded.
    pub(crate) opened: bool,
    /// Prompts without an answer.
    pub(crate) prompts: usize,
    /// Prompts whose turn has ended without an answer; the answer may still come.
    pub(crate) late_prompts: usize,
    /// Requests `terminal/create` without an answer.
    pub(crate) creating: usize,
    /// Byte limits of open terminals that have one.
    pub(crate) byte_limits: Map<Box<str>, u64>,
    /// Terminals that were released.
    pub(crate) released: Released,
    pub(crate) modes: Modes,
    pub(crate) options: Options,
    pub(crate) tools: Tools,
    pub(crate) displays: Displays,
    pub(crate) plans: Plans,
    pub(crate) commands: Commands,
    pub(crate) compactions: Compactions,
    /// Terminals, open or released, that a tool call has shown.
    pub(crate) shown: Set<Box<str>>,
    pub(crate) permits: PermissionState,
    pub(crate) place: Option<SessionDirs>,
    pub(crate) turns: Turns,
    pub(crate) work: Work,
    /// Set if it is a child of another session.
    pub(crate) child: Option<Child>,
}

impl Session {
    pub(crate) fn new(state: SessionState) -> Self {
        Session {
            state,
            turn: Turn::Idle,
            terminals: Map::default(),
            generation: 0,
            auth_uncertain: false,
            opened: false,
            prompts: 0,
            late_prompts: 0,
            creating: 0,
            byte_limits: Map::default(),
            released: Released::default(),
            modes: Modes::default(),
            options: Options::default(),
            tools: Tools::default(),
            displays: Displays::default(),
            plans: Plans::default(),
            commands: Commands::default(),
            compactions: Compactions::default(),
            shown: Set::default(),
            permits: PermissionState::default(),
            place: None,
            turns: Turns::default(),
            work: Work::default(),
            child: None,
        }
    }
}

/// All sessions of a connection.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    pub(crate) known: SessionTable,
    /// The number of requests without an answer that will open a session whose id is not known yet.
    pub(crate) expected: usize,
    /// Sessions that updates name while such a request has no answer.
    pub(super) early: Early,
    /// Sessions that are not open here.
    pub(crate) closed: ClosedSessions,
    /// Child sessions: pairs of parent and child.
    pub(crate) children: Set<(Arc<str>, Arc<str>)>,
    lives: u64,
}

/// A limit that has been reached.
pub(crate) struct Full {
    pub(crate) rule: RuleId,
    what: &'static str,
    limit: usize,
}

impl Full {
    pub(crate) fn message(&self) -> String {
        format!("{} {} are open already", self.limit, self.what)
    }
}

impl Sessions {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Session)> {
        self.known.iter()
    }

    /// The session that a message is about, also before the answer that names its id.
    pub(crate) fn get_mut(&mut self, id: Option<&Arc<str>>) -> Option<&mut Session> {
        self.told_mut(id?)
    }

    /// Like [`get_mut`](Self::get_mut), by the text of the id.
    #[inline]
    pub(crate) fn told_mut(&mut self, id: &str) -> Option<&mut Session> {
        if self.expected == 0 || self.known.contains_key(id) {
            self.known.get_mut(id)
        } else {
            self.early.get_mut(id)
        }
    }

    /// The session that a message of this method is checked against.
    #[inline]
    pub(crate) fn told(&self, method: &str, id: &str) -> Option<&Session> {
        let early = || (self.expected > 0 && method == UPDATE).then(|| self.early.get(id));
        self.known.get(id).or_else(early)
    }

    /// The session of this id, if it is open here or updates named it before its answer.
    pub(crate) fn met(&self, id: &str) -> Option<&Session> {
        self.known.get(id).or_else(|| self.early.find(id))
    }

    /// Opens a session. The state that earlier updates have set is kept.
    pub(crate) fn enter(&mut self, id: Arc<str>, state: SessionState) -> &mut Session {
        let early = self.early.take(&id);
        let lives = &mut self.lives;
        self.known.enter(id, || {
            *lives += 1;
            Session { generation: *lives, ..early.unwrap_or_else(|| Session::new(state)) }
        })
    }

    /// Like [`enter`](Self::enter), for a child of this session.
    pub(super) fn enter_child(&mut self, id: Arc<str>, parent: &str, state: SessionState) -> &mut Session {
        if self.is_known(parent) {
            self.enter(id, state)
        } else {
            self.early.announce(id)
        }
    }

    pub(crate) fn generation(&self, id: Option<&Arc<str>>) -> Option<u64> {
        self.known.get(id?).map(|session| session.generation)
    }

    /// The session that a request is about, unless it was closed since. A late answer does not concern a session that
    /// was opened again under the same id.
    pub(crate) fn of<'r>(&self, request: &'r OpenRequest) -> Option<&'r Arc<str>> {
        request.session.as_ref().filter(|id| self.generation(Some(id)) == request.generation)
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Session> {
        self.known.get(id)
    }

    /// The limit that a call would exceed, if any.
    pub(crate) fn full(&self, row: &Method, session: Option<&str>, limits: &Limits) -> Option<Full> {
        let open_here = || session.and_then(|id| self.known.get(id));
        let opens = match row.effect {
            Effect::Makes => true,
            Effect::Attaches => open_here().is_none(),
            _ if row.name == "terminal/create" => false,
            _ => return None,
        };
        let (rule, what, count, limit) = if opens {
            (id!("LIMIT-04"), "sessions", self.held(), limits.sessions)
        } else {
            let session = open_here()?;
            let count = session.terminals.len() + session.creating;
            (id!("LIMIT-05"), "terminals in a session", count, limits.terminals)
        };
        (count >= limit).then_some(Full { rule, what, limit })
    }

    /// The number of sessions, including those that awaited answers will open.
    pub(super) fn held(&self) -> usize {
        self.known.len() + self.expected + self.early.children()
    }

    /// The shared copy of a known id, or a new one.
    pub(crate) fn intern(&self, id: &str) -> Arc<str> {
        self.find(id).unwrap_or_else(|| Arc::from(id))
    }

    /// The shared copy of a known id.
    pub(crate) fn find(&self, id: &str) -> Option<Arc<str>> {
        self.known.get_key_value(id).map(|(known, _)| Arc::clone(known))
    }

    /// Whether both sides know a session of this id: it is open, or being loaded or resumed. Every check of whether a
    /// message may name a session uses this.
    pub(crate) fn is_known(&self, id: &str) -> bool {
        self.known.contains_key(id)
    }

    /// Whether a message of this method may name this session now (SESS-01, SESS-52, TURN-20).
    #[inline]
    pub(crate) fn standing(&self, row: &Method, id: &str, way: Way) -> Standing {
        match self.known.get(id) {
            Some(Session { state: SessionState::Ready, .. }) => Standing::Fits,
            _ if self.is_known(id) && row.session == Scope::ReadySession && id!("TURN-20").is_on(way) => {
                Standing::NotSetUp
            }
            _ if self.is_known(id) || !matches!(row.session, Scope::Session | Scope::ReadySession) => Standing::Fits,
            // An update may come before the answer that names its session, a call may not.
            _ if self.expected > 0 && row.name == UPDATE => Standing::Fits,
            _ if !unknown(row, way).is_on(way) => Standing::Fits,
            _ => Standing::Unknown,
        }
    }

    /// Prepares to track an update of a session that no answer has named yet.
    pub(crate) fn foresee(&mut self, method: &str, id: Option<&Arc<str>>) {
        if let Some(id) = id.filter(|id| self.expected > 0 && method == UPDATE && !self.is_known(id)) {
            self.early.enter(id, self.expected);
        }
    }

    /// Called when a request that opens a session was answered: with this id, or with an error.
    pub(crate) fn expected_one(&mut self, id: Option<&str>) {
        self.expected = self.expected.saturating_sub(1);
        if let Some(id) = id {
            self.enter(id.into(), SessionState::Ready).opened = true;
            let below = if self.early.children() > 0 { self.below(id) } else { Vec::new() };
            for child in below {
                self.enter(child, SessionState::Ready);
            }
        }
        if self.expected == 0 {
            for (id, session) in std::mem::take(&mut self.early).iter() {
                if let Some(parent) = session.parent() {
                    self.children.remove(&(parent.into(), Arc::clone(id)));
                }
            }
        }
    }

    /// Counts a prompt whose turn has ended and that may still be answered.
    pub(crate) fn awaits_late_answer(&mut self, prompt: &OpenRequest) {
        if let Some(session) = self.of(prompt).and_then(|id| self.known.get_mut(id)) {
            session.late_prompts += 1;
        }
    }

    pub(crate) fn has_late_answer(&mut self, prompt: &OpenRequest) {
        if let Some(session) = self.of(prompt).and_then(|id| self.known.get_mut(id)) {
            session.late_prompts -= 1;
        }
    }

    pub(crate) fn timing(&self, id: &str) -> Timing {
        match self.get(id) {
            Some(Session { state: SessionState::Loading, .. }) => Timing::Replay,
            Some(Session { turn: Turn::Idle, .. }) | None => Timing::Idle,
            Some(_) => Timing::Turn,
        }
    }

    pub(crate) fn terminals(&self) -> Vec<TerminalRef> {
        let mut all = Vec::new();
        for (session, known) in self.known.iter() {
            for terminal in known.terminals.keys() {
                all.push(TerminalRef { session: Arc::clone(session), terminal: terminal.clone() });
            }
        }
        all
    }
}
