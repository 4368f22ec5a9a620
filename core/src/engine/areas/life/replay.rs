//! The end of a replay: `replay_complete` separates the history that `session/resume` requested from what follows.
//!
//! It comes once for each such request, before its answer. A child that the replay announces has one of its own. Agents
//! that are older than this update never send it, so nothing waits for it.

use super::AGENT;
use crate::engine::{Finding, OpenRequest, RuleContext, RuleMessage, Session, SessionState, State};
use crate::json;

/// The running replays of a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Replays {
    asked: usize,
    complete: usize,
}

impl Session {
    /// Whether the history that an open request asked for has been replayed.
    pub(crate) fn is_replayed(&self) -> bool {
        self.work.replays.complete > 0
    }

    /// Whether a request has asked for a history whose end was not told.
    pub(in crate::engine::areas) fn owes_end(&self) -> bool {
        self.work.replays.complete < self.work.replays.asked
    }
}

/// Updates that are history if the session is idle. A user message is not one of them: it may come from another client.
pub(super) const OF_THE_PAST: &[&str] = AGENT;
pub(super) const COMPLETE: &[&str] = &["session/update:replay_complete"];
pub(super) const RESUME: &[&str] = &["session/resume"];
pub(super) const CHILD: &[&str] = &["session/update:subagent_update"];

/// Whether a `session/resume` requests a replay.
pub(crate) fn has_replay(request: &OpenRequest) -> bool {
    request.note.as_deref().is_some_and(|note| json::pointer(note, "/replay").is_some())
}

impl Replays {
    pub(super) fn asked(asked: usize) -> Self {
        Replays { asked, complete: 0 }
    }
}

pub(super) fn missing(context: &RuleContext<'_>) -> Option<Finding> {
    let id = context.message.session.filter(|_| context.message.request.is_some_and(has_replay))?;
    let sessions = &context.state.sessions;
    if sessions.get(id)?.work.replays.complete == 0 {
        let message =
            "no replay_complete since the session was resumed; send it after the history, even if there is none";
        return Some(Finding::new("", message));
    }
    let below = sessions.below(id);
    let mut children = below.iter().filter_map(|child| sessions.get(child));
    children.any(Session::owes_end).then(|| {
        let message = "no replay_complete for a child session that the replay has announced; send one for each child";
        Finding::new("", message)
    })
}

pub(super) fn not_asked(context: &RuleContext<'_>) -> Option<Finding> {
    let session = context.session().filter(|session| !session.owes_end())?;
    let message = if session.work.replays.asked > 0 {
        "the replay is already complete"
    } else {
        "no session/resume with replayFrom is open, so there is no replay to complete"
    };
    Some(Finding::new("/update/sessionUpdate", message))
}

pub(super) fn history(context: &RuleContext<'_>) -> Option<Finding> {
    let session = context.session().filter(|session| session.is_replayed())?;
    if session.state != SessionState::Resuming || session.may_work() {
        return None;
    }
    Some(Finding::new("/update", "history after replay_complete; send all history before it"))
}

pub(super) fn asked(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    call.get("/replayFrom")?;
    state.sessions.get_mut(call.session)?.work.replays.asked += 1;
    Some("{\"replay\":true}".into())
}

/// Later updates are not history, and the agent has to report the state again.
pub(super) fn complete(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(update.session).filter(|session| session.owes_end())?;
    session.work.replays.complete += 1;
    session.work.synced = false;
    if !session.owes_end() && session.state == SessionState::Loading {
        session.state = SessionState::Resuming;
    }
    None
}

pub(super) fn announced(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let parent = state.sessions.get(update.session?)?;
    let child = update.operation?.id().filter(|_| parent.state == SessionState::Loading)?;
    let child = state.sessions.known.get_mut(&child).filter(|child| child.parent().is_some())?;
    child.work.replays.asked = 1;
    None
}

pub(super) fn answered(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let id = answer.session.filter(|_| answer.request.is_some_and(has_replay))?;
    for child in state.sessions.below(id) {
        if let Some(child) = state.sessions.known.get_mut(&child) {
            child.work.replays = Replays::default();
        }
    }
    let replays = &mut state.sessions.known.get_mut(id)?.work.replays;
    replays.asked = replays.asked.saturating_sub(1);
    replays.complete = replays.complete.saturating_sub(1).min(replays.asked);
    None
}
