//! NOTE: notices, compaction and suggested prompts.
//!
//! In version 1, clients advertise notices and compaction with `session.notices` and `session.compaction`. Suggested
//! prompts are a draft.

use std::borrow::Cow;

use super::recent::Recent;
use crate::engine::{
    Action, Area, Check, Finding, MessageKind, MisuseKind, RuleContext, RuleMessage, Session, SessionState, State,
    Tracker,
};

const NOTICE: &[&str] = &["session/update:notice"];
const UPDATE: &[&str] = &["session/update:compaction_update"];
const CHUNK: &[&str] = &["session/update:compaction_summary_chunk"];
const SUGGESTIONS: &[&str] = &["session/update:prompt_suggestions_update"];
const COMPACTION: &[&str] = &["session/update:compaction_update", "session/update:compaction_summary_chunk"];

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("NOTE-01"), MessageKind::Call, NOTICE, no_title).receive(Action::Drop),
        Check::new(id!("NOTE-04"), MessageKind::Call, NOTICE, replays).receive(Action::Pass).kind(MisuseKind::Phase),
        Check::new(id!("NOTE-04"), MessageKind::Call, NOTICE, replayed).send(Action::Pass).receive(Action::Report),
        Check::new(id!("NOTE-06"), MessageKind::Call, NOTICE, unwanted)
            .receive(Action::Report)
            .kind(MisuseKind::Capability),
        Check::new(id!("NOTE-06"), MessageKind::Call, COMPACTION, unwanted)
            .receive(Action::Report)
            .kind(MisuseKind::Capability),
        Check::new(id!("NOTE-13"), MessageKind::Call, SUGGESTIONS, unwanted)
            .receive(Action::Report)
            .kind(MisuseKind::Capability),
        Check::new(id!("NOTE-07"), MessageKind::Call, CHUNK, not_in_progress).receive(Action::Report),
        Check::new(id!("NOTE-08"), MessageKind::Call, UPDATE, used_id).receive(Action::Report),
        Check::new(id!("NOTE-09"), MessageKind::Call, UPDATE, ended_twice).send(Action::Pass).receive(Action::Report),
        Check::new(id!("NOTE-10"), MessageKind::Call, UPDATE, wrong_member).receive(Action::Report),
    ],
    trackers: &[Tracker { rules: &[id!("NOTE-09")], on: MessageKind::Call, messages: UPDATE, track: updated }],
};

/// The compactions of a session, and whether each has ended.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Compactions(Recent<bool>);

impl Session {
    /// The ids of the session's compactions that have not ended, oldest first (NOTE-09).
    pub fn open_compactions(&self) -> impl Iterator<Item = &str> {
        self.compactions.0.iter().filter(|(_, ended)| !**ended).map(|(id, _)| id)
    }
}

fn no_title(context: &RuleContext<'_>) -> Option<Finding> {
    let empty = context.message.text("/update/title")?.is_empty();
    empty.then(|| Finding::new("/update/title", "an empty title; say what the notice is about"))
}

/// A session that was open before may have sent it when it had not read yet that it is to be loaded again.
fn replayed(context: &RuleContext<'_>) -> Option<Finding> {
    if context.root()?.opened {
        None
    } else {
        replays(context)
    }
}

fn replays(context: &RuleContext<'_>) -> Option<Finding> {
    let ready = context.session()?.state == SessionState::Ready;
    (!ready).then(|| Finding::new("/update/sessionUpdate", "a notice is not part of the history; wait for the answer"))
}

fn unwanted(context: &RuleContext<'_>) -> Option<Finding> {
    let part = context.lacks(&context.message.text("/update/sessionUpdate")?)?;
    let message = format!("the client did not advertise {}", part.capability());
    Some(Finding::new("/update/sessionUpdate", message))
}

/// Whether the compaction that an update names has ended; `Err` if there is none. `None` while history is replayed.
fn known(context: &RuleContext<'_>) -> Option<Result<bool, ()>> {
    let session = context.session().filter(|session| session.state == SessionState::Ready)?;
    let id = context.message.text("/update/compactionId")?;
    match session.compactions.0.get(&id) {
        Some(&ended) => Some(Ok(ended)),
        None => session.compactions.0.is_new(&id).then_some(Err(())),
    }
}

fn not_in_progress(context: &RuleContext<'_>) -> Option<Finding> {
    let why = match known(context)? {
        Ok(false) => return None,
        Ok(true) => "the compaction has ended; its summary is complete",
        Err(()) => "no compaction with this id; start with a compaction_update that is in_progress",
    };
    Some(Finding::new("/update/compactionId", why))
}

fn is_final(status: Option<Cow<'_, str>>) -> bool {
    status.is_some_and(|status| matches!(&*status, "completed" | "failed" | "cancelled"))
}

fn ends(context: &RuleContext<'_>) -> bool {
    is_final(context.message.text("/update/status"))
}

fn used_id(context: &RuleContext<'_>) -> Option<Finding> {
    let again = known(context)? == Ok(true) && !ends(context);
    again.then(|| Finding::new("/update/compactionId", "a compaction with this id has ended; use a new id"))
}

fn ended_twice(context: &RuleContext<'_>) -> Option<Finding> {
    let twice = known(context)? == Ok(true) && ends(context);
    twice.then(|| Finding::new("/update/status", "the compaction has already ended"))
}

fn wrong_member(context: &RuleContext<'_>) -> Option<Finding> {
    let status = context.message.text("/update/status")?;
    if status != "completed" && !context.message.items("/update/summary").is_empty() {
        return Some(Finding::new("/update/summary", "only the status completed has a summary"));
    }
    if status != "failed" && context.message.get("/update/error").is_some() {
        return Some(Finding::new("/update/error", "only the status failed has an error"));
    }
    None
}

fn updated(state: &mut State, message: &RuleMessage<'_>) -> Option<Box<str>> {
    let limit = state.config.limits.remembered;
    let update = message.operation?;
    let ended = is_final(update.text("status"));
    let compactions = &mut state.sessions.get_mut(message.session)?.compactions.0;
    *compactions.entry(&update.id()?, limit, || ended) |= ended;
    None
}
