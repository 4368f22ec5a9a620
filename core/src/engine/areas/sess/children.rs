//! Child sessions, which an agent runs for another session and shows to its client.
//!
//! An update of the parent announces a child. From then on it is a session like any other, except that the agent
//! manages it: the client may do with it only what the child's own capabilities allow. It ends together with its
//! parent. In version 1 only the parent reports its state; in version 2 it has state updates of its own, too.

use std::sync::Arc;

use super::super::Work;
use super::SessionDirs;
use crate::engine::{Finding, RuleContext, RuleMessage, Session, Sessions, State, Turn};
use crate::json;

/// Methods with which a client changes a session. They are not allowed for children; `session/cancel` needs a
/// capability.
pub(super) const CHANGING: &[&str] = &[
    "session/prompt",
    "session/load",
    "session/resume",
    "session/fork",
    "session/close",
    "session/delete",
    "session/archive",
    "session/unarchive",
    "session/set_mode",
    "session/set_config_option",
    "session/set_title",
];

pub(super) const UPDATE: &[&str] = &["session/update:subagent_update"];
pub(super) const MESSAGE: &[&str] = &["session/update:session_message"];
/// Updates that need the client's capability `subagents`.
pub(super) const UPDATES: &[&str] =
    &["session/update:subagent_update", "session/update:session_message", "session/update:session_message_chunk"];

/// The parent of a child session, and what the client may do with the child.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Child {
    parent: Arc<str>,
    /// Whether the client may cancel its work.
    cancel: bool,
}

impl Session {
    /// The id of the parent of this child session (SESS-72; protocol page "Subagents"); `None` for a session that the
    /// client opened.
    pub fn parent(&self) -> Option<&str> {
        self.child.as_ref().map(|child| &*child.parent)
    }

    /// Whether the client may cancel this session's work: always, except for a child that does not allow it (SESS-75).
    pub fn may_cancel(&self) -> bool {
        self.child.as_ref().is_none_or(|child| child.cancel)
    }
}

impl Sessions {
    /// The children of a session, their children, and so on.
    pub(crate) fn below(&self, id: &str) -> Vec<Arc<str>> {
        self.below_where(id, |_, _| true)
    }

    /// Like [`below`](Self::below), without children that are background work: a cancel does not affect them
    /// (CANCEL-24).
    pub(crate) fn below_in_foreground(&self, id: &str) -> Vec<Arc<str>> {
        self.below_where(id, |parent, child| !self.get(parent).is_some_and(|it| it.work.background.has_child(child)))
    }

    fn below_where(&self, id: &str, counts: impl Fn(&str, &str) -> bool) -> Vec<Arc<str>> {
        let mut below: Vec<Arc<str>> = Vec::new();
        let (mut parent, mut done) = (Some(Arc::from(id)), 0);
        while let Some(of) = parent {
            let mine =
                self.children.from(&(Arc::clone(&of), Arc::from(""))).take_while(|((parent, _), ())| *parent == of);
            below.extend(mine.filter(|((_, child), ())| counts(&of, child)).map(|((_, child), ())| Arc::clone(child)));
            parent = below.get(done).cloned();
            done += 1;
        }
        below
    }

    /// Whether a session has this id: an open one, or a child of one whose answer is awaited.
    pub(super) fn is_used(&self, id: &str) -> bool {
        self.is_known(id) || self.met(id).is_some_and(|session| session.child.is_some())
    }

    /// Forgets a session.
    pub(crate) fn remove(&mut self, id: &str) -> Option<Session> {
        self.set_free(id);
        self.known.remove(id)
    }

    /// The session is no longer a child.
    pub(super) fn set_free(&mut self, id: &str) {
        if let Some(child) = self.known.get_mut(id).and_then(|session| session.child.take()) {
            self.children.remove(&(child.parent, Arc::from(id)));
        }
    }

    fn has_room(&self, limit: usize) -> bool {
        self.held() < limit
    }
}

/// A session's children have its state, and end with it.
pub(super) fn follow(state: &mut State, id: &str) {
    let to = state.sessions.get(id).map(|session| session.state);
    for child in state.sessions.below(id) {
        match (to, state.sessions.known.get_mut(&child)) {
            (Some(to), Some(session)) => session.state = to,
            _ => drop(state.sessions.remove(&child)),
        }
    }
}

pub(super) fn not_advertised(context: &RuleContext<'_>) -> Option<Finding> {
    context.lacks(&context.message.text("/update/sessionUpdate")?)?;
    Some(Finding::new("/update/sessionUpdate", "the client did not advertise subagents"))
}

pub(super) fn names_unknown(context: &RuleContext<'_>) -> Option<Finding> {
    let unknown = |pointer: &&str| context.message.text(pointer).is_some_and(|id| context.session_of(&id).is_none());
    let pointer = ["/update/senderSessionId", "/update/recipientSessionId"].into_iter().find(unknown)?;
    Some(Finding::new(
        pointer,
        "no such session on this connection; announce a child session with subagent_update first",
    ))
}

/// Why a session cannot be the child of another one.
fn misplaced(state: &State, parent: &str, id: &str) -> Option<&'static str> {
    if parent == id {
        return Some("a session is not its own child");
    }
    match state.sessions.met(id)?.parent() {
        // Before the answer, it is not known whether the session is a child.
        None if !state.sessions.is_known(id) => None,
        None => Some("the client opened this session; a child session has its own id"),
        Some(other) if other != parent => Some("this session is the child of another session, and stays that"),
        Some(_) => None,
    }
}

pub(super) fn wrong_parent(context: &RuleContext<'_>) -> Option<Finding> {
    let why = misplaced(context.state, context.message.session?, &context.message.text("/update/sessionId")?)?;
    Some(Finding::new("/update/sessionId", why))
}

/// LIMIT-04 for sessions that updates announce.
pub(super) fn too_many(context: &RuleContext<'_>) -> Option<Finding> {
    let limit = context.state.config.limits.sessions;
    let id = context.message.text("/update/sessionId")?;
    let sessions = &context.state.sessions;
    if sessions.is_used(&id) || sessions.has_room(limit) {
        return None;
    }
    Some(Finding::new("/update/sessionId", format!("{limit} sessions are already open")))
}

pub(super) fn not_for_children(context: &RuleContext<'_>) -> Option<Finding> {
    context.session()?.parent()?;
    Some(Finding::new("/sessionId", "only the agent may change a child session"))
}

pub(super) fn not_cancellable(context: &RuleContext<'_>) -> Option<Finding> {
    if context.session()?.may_cancel() {
        return None;
    }
    Some(Finding::new("/sessionId", "this child session cannot be cancelled directly; cancel its parent"))
}

/// SESS-72: the first update announces the child, later ones change it.
pub(super) fn announced(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let (parent, id) = (update.session?, update.text("/update/sessionId")?);
    if misplaced(state, parent, &id).is_some() {
        return None;
    }
    let only_here = state.tables.dialect.answer_ends_turn();
    let known = state.sessions.met(parent)?;
    let (inherited, to, work) = (known.place.clone(), known.state, Work::of_child(&known.work));
    let new = !state.sessions.is_used(&id);
    if new && !state.sessions.has_room(state.config.limits.sessions) {
        return None;
    }
    let id: Arc<str> = (&*id).into();
    if new {
        state.sessions.children.insert((Arc::clone(parent), Arc::clone(&id)), ());
    }
    let session = state.sessions.enter_child(id, parent, to);
    let child = session.child.get_or_insert_with(|| Child { parent: Arc::clone(parent), cancel: false });
    // Absence and null are distinct.
    let member = |name: &str| json::pointer(update.body?, name);
    if let Some(capabilities) = member("/update/capabilities") {
        child.cancel = json::pointer(capabilities, "/cancel").is_some_and(|value| value.starts_with('{'));
    }
    if new {
        session.work = work;
    }
    if let Some(state) = member("/update/state").filter(|_| only_here) {
        works(session, json::pointer(state, "/state").and_then(json::unescape).as_deref());
    }
    let own = if new { inherited.as_ref() } else { session.place.as_ref() };
    let (cwd, roots) = (member("/update/cwd"), member("/update/additionalDirectories"));
    session.place = SessionDirs::patch(own, inherited.as_ref(), cwd, roots);
    None
}

/// SESS-87: the parent repeats the state of the child.
pub(super) fn mirrored(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let keep = state.config.limits.remembered;
    let snapshot = update.given("/update/state")?;
    let child = state.sessions.told_mut(&update.text("/update/sessionId")?)?;
    if child.parent() == update.session.map(|parent| &**parent) {
        child.mirror(snapshot, keep);
    }
    None
}

/// In version 1, only the parent reports whether a child works, since a child has no prompts. A cancelled child stays
/// so until its work has ended, because a report that it is running may have crossed the cancel on the wire.
fn works(session: &mut Session, state: Option<&str>) {
    match state {
        Some("running" | "requires_action") if session.turn == Turn::Idle => session.turn = Turn::Running,
        None | Some("idle" | "unknown") => {
            session.turn = Turn::Idle;
            session.tools.leave_over();
            session.permits.forget();
        }
        Some(_) => {}
    }
}
