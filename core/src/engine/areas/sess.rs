//! SESS: opening, loading, resuming, listing, closing and deleting sessions.
//!
//! `Sessions::standing` enforces SESS-01, SESS-24, SESS-44 and SESS-52, and the connection what happens when a session
//! is closed (SESS-22). Gates and most types are in the model. `roots` has the directories and MCP servers of a
//! session, `prompt` its system prompt, `children` its child sessions, and `list` sessions that are not open here.

mod children;
mod list;
mod prompt;
mod roots;

use std::sync::Arc;

use super::life::{self, MESSAGES};
use crate::engine::{
    Action, Area, Check, Finding, MessageKind, MisuseKind, Pending, Role, RuleContext, RuleMessage, SessionState,
    State, Tracker, Turn, ATTACHING, CLOSING, ENDING, OPENING,
};
use crate::jsonrpc::ErrorCode;
use crate::rules::Way;
use crate::validation::table::Effect;

pub(crate) use children::Child;
pub(crate) use list::ClosedSessions;
pub(crate) use roots::SessionDirs;

/// Methods whose answers name a new session.
const MAKING: &[&str] = &["@makes"];
/// Updates that are history.
const HISTORY: &[&str] = &[
    "session/update:user_message_chunk",
    "session/update:agent_message_chunk",
    "session/update:agent_thought_chunk",
    "session/update:tool_call",
    "session/update:tool_call_update",
    "session/update:plan",
    "session/update:plan_update",
];

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("SESS-49"), MessageKind::Answer, &["session/fork"], same_as_source).receive(Action::Report),
        Check::new(id!("SESS-03"), MessageKind::Answer, MAKING, used_id).receive(Action::Report),
        Check::new(id!("SESS-17"), MessageKind::Call, HISTORY, history)
            .receive(Action::Report)
            .kind(MisuseKind::Phase)
            .only(1),
        // In version 2, messages are foreground work or history; tool calls may also be background work.
        Check::new(id!("SESS-17"), MessageKind::Call, MESSAGES, history)
            .receive(Action::Report)
            .kind(MisuseKind::Phase)
            .only(2),
        Check::new(id!("SESS-19"), MessageKind::Call, &["session/resume"], unknown_place).send(Action::Pass),
        Check::new(id!("SESS-25"), MessageKind::Call, OPENING, roots::not_advertised).kind(MisuseKind::Capability),
        Check::new(id!("SESS-27"), MessageKind::Call, OPENING, roots::twice).send(Action::Report).receive(Action::Pass),
        Check::new(id!("SESS-30"), MessageKind::Call, ATTACHING, list::roots_left_out)
            .send(Action::Report)
            .receive(Action::Pass),
        Check::new(id!("SESS-31"), MessageKind::Call, ATTACHING, list::moved)
            .send(Action::Report)
            .receive(Action::Report),
        Check::new(id!("SESS-33"), MessageKind::Call, &["fs/read_text_file", "fs/write_text_file"], roots::outside)
            .send(Action::Pass)
            .receive(Action::Report),
        Check::new(id!("SESS-37"), MessageKind::Call, &["session/list"], list::foreign_cursor).receive(Action::Report),
        Check::new(id!("SESS-46"), MessageKind::Error, &["session/delete"], list::deletes_nothing)
            .send(Action::Report)
            .receive(Action::ReportAlways),
        Check::new(id!("SESS-47"), MessageKind::Answer, &["session/list"], list::deleted)
            .send(Action::Pass)
            .receive(Action::Report)
            .only(1),
        Check::new(id!("SESS-47"), MessageKind::Answer, &["session/list"], list::deleted)
            .send(Action::Report)
            .receive(Action::Report)
            .only(2),
        Check::new(id!("SESS-95"), MessageKind::Answer, &["session/list"], list::elsewhere)
            .send(Action::Report)
            .receive(Action::Report),
        Check::new(id!("SESS-50"), MessageKind::Call, &["session/update:session_info_update"], more_than_a_title)
            .send(Action::Pass)
            .receive(Action::Report),
        Check::new(id!("SESS-55"), MessageKind::Call, OPENING, |context| roots::server_not_reachable(context, "http"))
            .kind(MisuseKind::Capability),
        Check::new(id!("SESS-56"), MessageKind::Call, OPENING, |context| roots::server_not_reachable(context, "sse"))
            .kind(MisuseKind::Capability),
        Check::new(id!("SESS-56"), MessageKind::Call, OPENING, roots::outdated)
            .send(Action::Report)
            .receive(Action::Pass),
        Check::new(id!("SESS-57"), MessageKind::Call, OPENING, |context| roots::server_not_reachable(context, "stdio"))
            .kind(MisuseKind::Capability),
        Check::new(id!("SESS-82"), MessageKind::Error, &["session/close"], closes_nothing)
            .send(Action::Report)
            .receive(Action::Pass),
        Check::new(id!("SESS-83"), MessageKind::Call, OPENING, roots::same_variable)
            .send(Action::Report)
            .receive(Action::Pass),
        Check::new(id!("SESS-68"), MessageKind::Call, OPENING, prompt::not_advertised).kind(MisuseKind::Capability),
        Check::new(id!("SESS-69"), MessageKind::Call, OPENING, prompt::other_mode).kind(MisuseKind::Capability),
        Check::new(id!("SESS-70"), MessageKind::Call, OPENING, prompt::not_text),
        Check::new(id!("SESS-71"), MessageKind::Call, children::UPDATES, children::not_advertised)
            .receive(Action::Report)
            .kind(MisuseKind::Capability),
        Check::new(id!("SESS-72"), MessageKind::Call, children::MESSAGE, children::names_unknown)
            .receive(Action::Report)
            .kind(MisuseKind::Session),
        Check::new(id!("SESS-73"), MessageKind::Call, children::UPDATE, children::wrong_parent)
            .receive(Action::Report)
            .kind(MisuseKind::Session),
        Check::new(id!("LIMIT-04"), MessageKind::Call, children::UPDATE, children::too_many)
            .receive(Action::Drop)
            .kind(MisuseKind::Limit),
        Check::new(id!("SESS-74"), MessageKind::Call, children::CHANGING, children::not_for_children)
            .kind(MisuseKind::Session),
        Check::new(id!("SESS-75"), MessageKind::Call, &["session/cancel"], children::not_cancellable)
            .kind(MisuseKind::Capability),
    ],
    trackers: &[
        Tracker { rules: &[id!("SESS-52")], on: MessageKind::Call, messages: MAKING, track: expect },
        Tracker {
            rules: &[id!("SESS-29"), id!("SESS-51"), id!("SESS-78")],
            on: MessageKind::Answer,
            messages: MAKING,
            track: created,
        },
        Tracker {
            rules: &[id!("SESS-15")],
            on: MessageKind::Call,
            messages: &["session/load"],
            track: |state, call| attach(state, call, SessionState::Loading),
        },
        Tracker {
            rules: &[id!("SESS-51")],
            on: MessageKind::Call,
            messages: &["session/resume"],
            track: |state, call| attach(state, call, SessionState::Resuming),
        },
        Tracker { rules: &[id!("SESS-18")], on: MessageKind::Call, messages: &["session/resume"], track: replay },
        Tracker {
            rules: &[id!("SESS-15"), id!("SESS-29")],
            on: MessageKind::Answer,
            messages: ATTACHING,
            track: attached,
        },
        Tracker { rules: &[id!("SESS-22")], on: MessageKind::Call, messages: ENDING, track: closing },
        Tracker { rules: &[id!("SESS-24"), id!("SESS-47")], on: MessageKind::Answer, messages: CLOSING, track: closed },
        Tracker { rules: &[], on: MessageKind::Call, messages: &["session/list"], track: list::filtered },
        Tracker {
            rules: &[id!("SESS-37"), id!("SESS-43")],
            on: MessageKind::Answer,
            messages: &["session/list"],
            track: list::listed,
        },
        Tracker {
            rules: &[id!("SESS-72")],
            on: MessageKind::Call,
            messages: children::UPDATE,
            track: children::announced,
        },
        Tracker {
            rules: &[id!("SESS-87")],
            on: MessageKind::Call,
            messages: children::UPDATE,
            track: children::mirrored,
        },
    ],
};

fn used_id(context: &RuleContext<'_>) -> Option<Finding> {
    let id = context.message.text("/sessionId")?;
    let source = context.message.session.is_some_and(|source| **source == *id);
    if source || !context.state.sessions.is_used(&id) {
        return None;
    }
    Some(Finding::new("/sessionId", "a session with this id is open on this connection; use another id"))
}

fn same_as_source(context: &RuleContext<'_>) -> Option<Finding> {
    let same = context.message.text("/sessionId")? == **context.message.session?;
    same.then(|| Finding::new("/sessionId", "this is the id of the forked session; the new session needs its own id"))
}

fn history(context: &RuleContext<'_>) -> Option<Finding> {
    let session = context.session()?;
    // A session that was open before, or a child of one, may have sent it when it had not read yet that it is to be
    // resumed again.
    if context.root()?.opened && context.way() == Way::Receive {
        return None;
    }
    // In version 2, a resume may request the history, and a turn that still runs sends updates.
    if session.state != SessionState::Resuming || session.may_work() || session.is_replayed() {
        return None;
    }
    let message =
        "session/resume has not been answered, and it replays nothing; session/load, or replayFrom in version \
                   2, does";
    Some(Finding::new("/update", message))
}

/// An agent may have custom types of positions, which its host knows.
fn unknown_place(context: &RuleContext<'_>) -> Option<Finding> {
    let kind = context.message.text("/replayFrom/type")?;
    if kind == "start" || kind.starts_with('_') {
        return None;
    }
    Some(Finding::new("/replayFrom/type", "not a type of position at which a replay can start"))
}

fn closes_nothing(context: &RuleContext<'_>) -> Option<Finding> {
    let unknown = context.message.get("/code")?.parse() == Ok(ErrorCode::RESOURCE_NOT_FOUND.0);
    unknown.then(|| Finding::new("/code", "closing a session that is not open succeeds; answer with {}"))
}

fn more_than_a_title(context: &RuleContext<'_>) -> Option<Finding> {
    let fixed = ["/update/sessionId", "/update/cwd", "/update/additionalDirectories"];
    let pointer = fixed.into_iter().find(|pointer| context.message.get(pointer).is_some())?;
    Some(Finding::new(pointer, "a session info update can change only the title and the time"))
}

/// SESS-52: an answer will name the session.
fn expect(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    state.sessions.expected += 1;
    SessionDirs::note(call)
}

fn created(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let id = answer.text("/sessionId");
    state.sessions.expected_one(id.as_deref());
    if let Some(id) = id {
        state.sessions.closed.reopened(&id);
        state.sessions.set_free(&id);
        let place = answer.note().and_then(SessionDirs::read);
        for child in state.sessions.below(&id) {
            // The parent's directories were not known when the child was announced.
            if let Some(child) = state.sessions.known.get_mut(&child) {
                child.place = child.place.take().or_else(|| place.clone());
            }
        }
        state.sessions.known.get_mut(&id)?.place = place;
    }
    None
}

fn attach(state: &mut State, call: &RuleMessage<'_>, to: SessionState) -> Option<Box<str>> {
    let id = call.session?;
    let session = state.sessions.enter(id.clone(), to);
    // Another request may have asked for a history that is not complete yet.
    session.state = if session.owes_end() { SessionState::Loading } else { to };
    children::follow(state, id);
    SessionDirs::note(call)
}

fn attached(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let id = answer.session?;
    let attaching = |pending: &Pending| pending.of_session(id).any(|request| request.does(Effect::Attaches));
    let open = if state.config.role() == Role::Client { &state.outbound } else { &state.inbound };
    let (waits, may_come) = (attaching(open), attaching(&state.late));
    let session = state.sessions.known.get_mut(id)?;
    if answer.body.is_some() {
        session.opened = true;
        session.place = answer.note().and_then(SessionDirs::read);
        state.sessions.closed.reopened(id);
    }
    // Other requests that load or resume it may still be open.
    if session.opened && !waits {
        session.state = SessionState::Ready;
    } else if !session.opened && !waits && !may_come {
        state.sessions.remove(id);
    }
    children::follow(state, id);
    None
}

/// Updates are history until the answer, or until the replay is complete (SESS-92).
fn replay(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    call.get("/replayFrom")?;
    let id = call.session?;
    state.sessions.known.get_mut(id)?.state = SessionState::Loading;
    children::follow(state, id);
    None
}

/// SESS-22: running work is being cancelled.
fn closing(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let newest = state.newest;
    let session = state.sessions.get_mut(call.session)?;
    if session.turn != Turn::Idle {
        session.stop_turn(newest);
    }
    None
}

fn closed(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    answer.body?;
    let id = answer.session?;
    let place = state.sessions.remove(id).and_then(|session| session.place);
    let (limit, newest) = (state.config.limits.sessions, state.newest);
    if answer.request.is_some_and(|request| request.does(Effect::Deletes)) {
        state.sessions.closed.delete(id, limit, newest);
    } else if let Some(place) = place {
        state.sessions.closed.put(id, place, limit);
    }
    attach_again(state, id, answer.request?.serial);
    children::follow(state, id);
    None
}

/// A request that loads or resumes a session may have followed the one that has just ended it.
fn attach_again(state: &mut State, id: &Arc<str>, ended: u64) {
    let client = state.config.role() == Role::Client;
    let open = if client { &mut state.outbound } else { &mut state.inbound };
    let later = open.of_session(id).filter(|request| request.serial > ended && request.does(Effect::Attaches));
    let (mut requests, mut replays, mut loads) = (0, 0, false);
    for request in later {
        requests += 1;
        replays += usize::from(life::has_replay(request));
        loads |= request.method == "session/load";
    }
    if requests > 0 {
        let to = if loads || replays > 0 { SessionState::Loading } else { SessionState::Resuming };
        state.sessions.enter(Arc::clone(id), to).work.resumed(replays);
        open.adopt(id, ended, state.sessions.generation(Some(id)));
    }
}
