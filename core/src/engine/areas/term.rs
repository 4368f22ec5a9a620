//! TERM: terminals that the client runs for the agent.
//!
//! TERM-01 is a gate, TERM-02 and TERM-13 are types in the model; the rest is here.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use crate::engine::{Action, Area, Check, Finding, MessageKind, MisuseKind, RuleContext, RuleMessage, State, Tracker};
use crate::json;
use crate::jsonrpc::ErrorCode;
use crate::map::Map;

/// Methods that name a terminal.
const NAMING: &[&str] = &["terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"];
/// Messages that may show terminals.
const SHOWING: &[&str] = &["session/update:tool_call", "session/update:tool_call_update"];

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("TERM-05"), MessageKind::Call, NAMING, released_before)
            .receive(Action::Refuse(ErrorCode::RESOURCE_NOT_FOUND))
            .kind(MisuseKind::Session),
        Check::new(id!("TERM-11"), MessageKind::Call, NAMING, unknown).kind(MisuseKind::Session),
        Check::new(id!("TERM-08"), MessageKind::Answer, &["terminal/output"], too_long).receive(Action::Pass),
        Check::new(id!("TERM-09"), MessageKind::Answer, &["terminal/output"], exit_status_gone).receive(Action::Report),
        Check::new(id!("TERM-12"), MessageKind::Answer, &["terminal/create"], used_id).receive(Action::Report),
        Check::new(id!("TERM-14"), MessageKind::Call, SHOWING, shown_too_late)
            .receive(Action::Pass)
            .kind(MisuseKind::Session),
    ],
    trackers: &[
        Tracker { rules: &[id!("TERM-08")], on: MessageKind::Call, messages: &["terminal/create"], track: asked },
        Tracker { rules: &[id!("TERM-04")], on: MessageKind::Answer, messages: &["terminal/create"], track: created },
        Tracker { rules: &[id!("TERM-09")], on: MessageKind::Call, messages: NAMING, track: note_id },
        Tracker {
            rules: &[id!("TERM-09")],
            on: MessageKind::Answer,
            messages: &["terminal/wait_for_exit", "terminal/output"],
            track: exited,
        },
        Tracker {
            rules: &[id!("TERM-04"), id!("TERM-05")],
            on: MessageKind::Answer,
            messages: &["terminal/release"],
            track: released,
        },
        Tracker { rules: &[id!("TERM-14")], on: MessageKind::Call, messages: SHOWING, track: shown },
    ],
};

/// The ids of the terminals that were released last.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Released {
    /// Oldest first. An id may be reused after its release, and then be released again.
    order: VecDeque<Arc<str>>,
    /// How often each id is in `order`.
    times: Map<Arc<str>, usize>,
}

impl Released {
    pub(super) fn has(&self, id: &str) -> bool {
        self.times.contains_key(id)
    }

    /// Adds an id. Returns the id that is forgotten for it.
    fn add(&mut self, id: Box<str>, keep: usize) -> Option<Arc<str>> {
        let id: Arc<str> = id.into();
        *self.times.get_or_insert_with(Arc::clone(&id), || 0) += 1;
        self.order.push_back(id);
        let oldest = if self.order.len() > keep { self.order.pop_front()? } else { return None };
        let times = self.times.get_mut(&oldest)?;
        *times -= 1;
        if *times > 0 {
            return None;
        }
        self.times.remove(&oldest);
        Some(oldest)
    }
}

fn terminal_id<'a>(message: &RuleMessage<'a>) -> Option<Cow<'a, str>> {
    message.text("/terminalId")
}

fn released_before(context: &RuleContext<'_>) -> Option<Finding> {
    let id = terminal_id(&context.message)?;
    let session = context.session()?;
    if session.terminals.contains_key(&*id) || !session.released.has(&id) {
        return None;
    }
    Some(Finding::new("/terminalId", "this terminal has been released; create another one"))
}

fn unknown(context: &RuleContext<'_>) -> Option<Finding> {
    let id = terminal_id(&context.message)?;
    let session = context.session()?;
    if session.terminals.contains_key(&*id) || session.released.has(&id) {
        return None;
    }
    Some(Finding::new(
        "/terminalId",
        "no terminal with this id in the session; use the id that terminal/create returned",
    ))
}

fn too_long(context: &RuleContext<'_>) -> Option<Finding> {
    let limit = *context.session()?.byte_limits.get(context.message.note()?)?;
    let output = context.message.text("/output")?;
    if output.len() as u64 <= limit {
        return None;
    }
    let message =
        format!("{} bytes, but the agent asked for at most {limit}; cut the output from the front", output.len());
    Some(Finding::new("/output", message))
}

fn exit_status_gone(context: &RuleContext<'_>) -> Option<Finding> {
    let ended = *context.session()?.terminals.get(context.message.note()?)?;
    if !ended || context.message.get("/exitStatus").is_some() {
        return None;
    }
    Some(Finding::new("/exitStatus", "the command has ended, so every output has its exit status from now on"))
}

fn used_id(context: &RuleContext<'_>) -> Option<Finding> {
    let id = terminal_id(&context.message)?;
    if !context.session()?.terminals.contains_key(&*id) {
        return None;
    }
    Some(Finding::new("/terminalId", "an open terminal of this session already has this id"))
}

/// The terminals in the content of a tool call, with their indexes.
fn shown_ids<'a>(update: &RuleMessage<'a>) -> impl Iterator<Item = (usize, Cow<'a, str>)> {
    let terminal = |item| json::unescape(json::pointer(item, "/type")?).filter(|name| name == "terminal");
    let id = move |item| terminal(item).and_then(|_| json::unescape(json::pointer(item, "/terminalId")?));
    let items = if update.may_have("terminal") { update.items("/update/content") } else { Vec::new() };
    items.into_iter().enumerate().filter_map(move |(at, item)| id(item).map(|id| (at, id)))
}

fn shown_too_late(context: &RuleContext<'_>) -> Option<Finding> {
    let session = context.session()?;
    let late =
        |id: &str| !session.terminals.contains_key(id) && !session.shown.contains_key(id) && session.released.has(id);
    let (at, _) = shown_ids(&context.message).find(|(_, id)| late(id))?;
    Some(Finding::new(
        format!("/update/content/{at}/terminalId"),
        "this terminal has been released, and the client may have discarded it; show it before you release it",
    ))
}

/// A terminal that was shown may be listed again after its release.
fn shown(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(update.session)?;
    for (_, id) in shown_ids(update) {
        if session.terminals.contains_key(&*id) {
            session.shown.insert(id.into(), ());
        }
    }
    None
}

/// Notes the byte limit, until the answer names the terminal.
fn asked(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    if let Some(session) = state.sessions.get_mut(call.session) {
        session.creating += 1;
    }
    call.get("/outputByteLimit").map(Into::into)
}

fn created(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(answer.session)?;
    session.creating = session.creating.saturating_sub(1);
    let id: Box<str> = terminal_id(answer)?.into();
    if let Some(limit) = answer.note().and_then(|limit| limit.parse().ok()) {
        session.byte_limits.insert(id.clone(), limit);
    }
    session.terminals.insert(id, false);
    None
}

fn note_id(_: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    terminal_id(call).map(Into::into)
}

fn exited(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let running = answer.method == "terminal/output" && answer.get("/exitStatus").is_none();
    if answer.body.is_some() && !running {
        *state.sessions.get_mut(answer.session)?.terminals.get_mut(answer.note()?)? = true;
    }
    None
}

/// TERM-04: a released terminal is no longer listed. Its id is kept for a while, to report later uses.
fn released(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    answer.body?;
    let keep = state.config.limits.terminals;
    let session = state.sessions.get_mut(answer.session)?;
    let (id, _) = session.terminals.remove_entry(answer.note()?)?;
    session.byte_limits.remove(&id);
    if let Some(forgotten) = session.released.add(id, keep) {
        session.shown.remove(&*forgotten);
    }
    None
}
