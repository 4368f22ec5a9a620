//! What is known of each session: whether it is open, whether a turn runs, which terminals are open.
//!
//! The tracker sees every call and every answer that crosses the connection, in either direction, after it has been
//! accepted. It is the same for both roles: what one side sends, the other receives.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::config::Limits;
use super::event::{TerminalRef, Timing};
use super::pending::OpenRequest;
use crate::json;

/// Whether a session can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionState {
    /// `session/load` is under way: updates are the past.
    Loading,
    /// `session/resume` is under way.
    Resuming,
    /// Open.
    Ready,
}

impl SessionState {
    /// A name for it, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            SessionState::Loading => "loading",
            SessionState::Resuming => "resuming",
            SessionState::Ready => "ready",
        }
    }
}

/// Whether the agent works for a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Turn {
    /// It waits for a prompt.
    Idle,
    /// It works on a prompt.
    Running,
    /// It works on a prompt that the client has cancelled.
    Cancelling,
}

impl Turn {
    /// A name for it, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            Turn::Idle => "idle",
            Turn::Running => "running",
            Turn::Cancelling => "cancelling",
        }
    }
}

/// What is known of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Whether it can be used.
    pub state: SessionState,
    /// Whether the agent works for it.
    pub turn: Turn,
    /// Its open terminals, and whether the command of each has ended.
    pub terminals: BTreeMap<Box<str>, bool>,
    /// Prompts without an answer.
    prompts: usize,
}

impl Session {
    fn new(state: SessionState) -> Self {
        Session { state, turn: Turn::Idle, terminals: BTreeMap::new(), prompts: 0 }
    }
}

/// All sessions of a connection.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    known: HashMap<Arc<str>, Session>,
    /// Calls under way that will make a session known whose id is not known yet.
    expected: usize,
}

/// A limit that is reached.
pub(crate) struct Full {
    pub(crate) rule: &'static str,
    what: &'static str,
    limit: usize,
}

impl Full {
    pub(crate) fn message(&self) -> String {
        format!("{} {} are open already", self.limit, self.what)
    }
}

/// A call that has been accepted, or its answer.
pub(crate) struct Crossing<'a> {
    pub(crate) params: &'a str,
    pub(crate) session: Option<&'a Arc<str>>,
}

type OnCall = fn(&mut Sessions, &Crossing<'_>) -> Option<Box<str>>;
type OnAnswer = fn(&mut Sessions, &OpenRequest, Option<&str>);

/// What the tracker does for the methods that change what is known: on the call (what it returns is kept until the
/// answer), and on the answer (`None` for an error).
const TRACKED: &[(&str, OnCall, OnAnswer)] = &[
    ("session/new", |sessions, _| sessions.expect(), Sessions::created),
    ("session/fork", |sessions, _| sessions.expect(), Sessions::created),
    ("session/load", |sessions, call| sessions.attach(call, SessionState::Loading), Sessions::attached),
    ("session/resume", |sessions, call| sessions.attach(call, SessionState::Resuming), Sessions::attached),
    ("session/close", |_, _| None, Sessions::closed),
    ("session/delete", |_, _| None, Sessions::closed),
    ("session/prompt", Sessions::prompted, Sessions::prompt_ended),
    ("terminal/create", |_, _| None, Sessions::terminal_created),
    ("terminal/wait_for_exit", terminal_id, Sessions::terminal_exited),
    ("terminal/release", terminal_id, Sessions::terminal_released),
];

fn terminal_id(_: &mut Sessions, call: &Crossing<'_>) -> Option<Box<str>> {
    text(call.params, "/terminalId")
}

fn text(json_text: &str, pointer: &str) -> Option<Box<str>> {
    json::unescape(json::pointer(json_text, pointer)?).map(Into::into)
}

impl Sessions {
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Session)> {
        self.known.iter()
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Session> {
        self.known.get(id)
    }

    /// The limit that a call would go over, if any.
    pub(crate) fn full(&self, method: &str, session: Option<&str>, limits: &Limits) -> Option<Full> {
        let open_here = session.and_then(|id| self.known.get(id));
        let (rule, what, count, limit) = match method {
            "session/new" | "session/load" | "session/resume" | "session/fork" if open_here.is_none() => {
                ("LIMIT-04", "sessions", self.known.len() + self.expected, limits.sessions)
            }
            "terminal/create" => ("LIMIT-05", "terminals in a session", open_here?.terminals.len(), limits.terminals),
            _ => return None,
        };
        (count >= limit).then_some(Full { rule, what, limit })
    }

    /// The shared copy of a known id, or a new one.
    pub(crate) fn intern(&self, id: &str) -> Arc<str> {
        self.known.get_key_value(id).map_or_else(|| Arc::from(id), |(known, _)| Arc::clone(known))
    }

    /// Whether a message may name this session now: it is known, or may become known by an answer that is under way
    /// (SESS-52).
    pub(crate) fn may_be(&self, id: &str) -> bool {
        self.expected > 0 || self.known.contains_key(id)
    }

    pub(crate) fn timing(&self, id: &str) -> Timing {
        match self.known.get(id) {
            Some(Session { state: SessionState::Loading, .. }) => Timing::Replay,
            Some(Session { turn: Turn::Running | Turn::Cancelling, .. }) => Timing::Turn,
            _ => Timing::Idle,
        }
    }

    /// A call was accepted.
    pub(crate) fn on_call(&mut self, method: &str, call: &Crossing<'_>) -> Option<Box<str>> {
        let row = TRACKED.iter().find(|(name, ..)| *name == method)?;
        (row.1)(self, call)
    }

    /// A call ended.
    pub(crate) fn on_answer(&mut self, request: &OpenRequest, result: Option<&str>) {
        if let Some(row) = TRACKED.iter().find(|(name, ..)| *name == request.method) {
            (row.2)(self, request, result);
        }
    }

    /// `session/cancel` was sent; whether a turn was running.
    pub(crate) fn cancel(&mut self, id: &str) -> bool {
        match self.known.get_mut(id) {
            Some(session) if session.turn != Turn::Idle => {
                session.turn = Turn::Cancelling;
                true
            }
            _ => false,
        }
    }

    /// A v2 `state_update`.
    pub(crate) fn state_update(&mut self, id: &str, params: &str) {
        let state = text(params, "/update/state");
        if let (Some(session), Some(state)) = (self.known.get_mut(id), state) {
            match (&*state, session.turn) {
                ("idle", _) => session.turn = Turn::Idle,
                ("running" | "requires_action", Turn::Idle) => session.turn = Turn::Running,
                _ => {}
            }
        }
    }

    pub(crate) fn terminals(&self) -> Vec<TerminalRef> {
        let mut all = Vec::new();
        for (session, known) in &self.known {
            for terminal in known.terminals.keys() {
                all.push(TerminalRef { session: Arc::clone(session), terminal: terminal.clone() });
            }
        }
        all.sort();
        all
    }

    fn expect(&mut self) -> Option<Box<str>> {
        self.expected += 1;
        None
    }

    fn created(&mut self, _: &OpenRequest, result: Option<&str>) {
        self.expected = self.expected.saturating_sub(1);
        if let Some(id) = result.and_then(|result| text(result, "/sessionId")) {
            self.known.entry(id.into()).or_insert_with(|| Session::new(SessionState::Ready));
        }
    }

    fn attach(&mut self, call: &Crossing<'_>, state: SessionState) -> Option<Box<str>> {
        let id = call.session?;
        let new = !self.known.contains_key(id);
        let session = self.known.entry(Arc::clone(id)).or_insert_with(|| Session::new(state));
        session.state = state;
        new.then(|| "new".into())
    }

    fn attached(&mut self, request: &OpenRequest, result: Option<&str>) {
        let Some(id) = &request.session else { return };
        if result.is_none() && request.note.is_some() {
            self.known.remove(id);
        } else if let Some(session) = self.known.get_mut(id) {
            session.state = SessionState::Ready;
        }
    }

    fn closed(&mut self, request: &OpenRequest, result: Option<&str>) {
        if let (Some(id), Some(_)) = (&request.session, result) {
            self.known.remove(id);
        }
    }

    fn prompted(&mut self, call: &Crossing<'_>) -> Option<Box<str>> {
        let session = self.known.get_mut(call.session?)?;
        session.prompts += 1;
        if session.turn == Turn::Idle {
            session.turn = Turn::Running;
        }
        None
    }

    fn prompt_ended(&mut self, request: &OpenRequest, result: Option<&str>) {
        let Some(session) = request.session.as_ref().and_then(|id| self.known.get_mut(id)) else { return };
        session.prompts = session.prompts.saturating_sub(1);
        // In v2 the answer only says that the prompt was taken; a `state_update` ends the work (LIFE-02).
        let accepted_only = result.is_some_and(|result| json::pointer(result, "/stopReason").is_none());
        if session.prompts == 0 && !accepted_only {
            session.turn = Turn::Idle;
        }
    }

    fn terminal_created(&mut self, request: &OpenRequest, result: Option<&str>) {
        let id = result.and_then(|result| text(result, "/terminalId"));
        if let (Some(session), Some(id)) = (request.session.as_ref().and_then(|id| self.known.get_mut(id)), id) {
            session.terminals.insert(id, false);
        }
    }

    fn terminal_exited(&mut self, request: &OpenRequest, result: Option<&str>) {
        let session = request.session.as_ref().and_then(|id| self.known.get_mut(id));
        if let (Some(session), Some(id), Some(_)) = (session, &request.note, result) {
            if let Some(exited) = session.terminals.get_mut(id) {
                *exited = true;
            }
        }
    }

    fn terminal_released(&mut self, request: &OpenRequest, result: Option<&str>) {
        let session = request.session.as_ref().and_then(|id| self.known.get_mut(id));
        if let (Some(session), Some(id), Some(_)) = (session, &request.note, result) {
            session.terminals.remove(id);
        }
    }
}
