//! SESS: opening, loading, resuming, listing, closing and deleting sessions.
//!
//! SESS-01, SESS-24, SESS-44 and SESS-52 are in the connection (`Sessions::standing`), as is what it does
//! when a session is closed (SESS-22); the gates and most shapes are in the model. `roots` has the directories and
//! tool servers of a session, `prompt` its system prompt, `children` the sessions that its agent runs below it, and
//! `list` what is known of sessions that are not open here.

mod children;
mod list;
mod prompt;
mod roots;

use super::catalogue::{rule, E, R, T};
use super::scene::{Action, Check, Message, Objection, On, Scene, Tracker, ATTACHING, ENDING, OPENING};
use super::{Area, Level, Severity};
use crate::connection::{MisuseKind, Pending, Role, SessionState, State, Turn};
use Level::{Must, MustNot, Should};
use Severity::{Error, Note, Warning};

pub(crate) use children::Child;
pub(crate) use list::Shelf;
pub(crate) use roots::Place;

/// Calls whose answer names a new session.
const MAKING: &[&str] = &["session/new", "session/fork"];
/// Updates that are part of the history of a conversation.
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
    name: "SESS",
    title: "Session setup, load, resume, list, close, delete, fork",
    rules: RULES,
    checks: &[
        Check::new(id!("SESS-49"), On::Answer, &["session/fork"], same_as_source).receive(Action::Report),
        Check::new(id!("SESS-03"), On::Answer, MAKING, used_id).receive(Action::Report),
        Check::new(id!("SESS-17"), On::Call, HISTORY, history).receive(Action::Report).kind(MisuseKind::Phase),
        Check::new(id!("SESS-25"), On::Call, OPENING, roots::not_advertised).kind(MisuseKind::Capability),
        Check::new(id!("SESS-27"), On::Call, OPENING, roots::twice).send(Action::Report).receive(Action::Pass),
        Check::new(id!("SESS-30"), On::Call, ATTACHING, list::roots_left_out)
            .send(Action::Report)
            .receive(Action::Pass),
        Check::new(id!("SESS-31"), On::Call, ATTACHING, list::moved).send(Action::Report).receive(Action::Report),
        Check::new(id!("SESS-33"), On::Call, &["fs/read_text_file", "fs/write_text_file"], roots::outside)
            .send(Action::Pass)
            .receive(Action::Report),
        Check::new(id!("SESS-37"), On::Call, &["session/list"], list::foreign_cursor).receive(Action::Report),
        Check::new(id!("SESS-47"), On::Answer, &["session/list"], list::deleted)
            .send(Action::Pass)
            .receive(Action::Report),
        Check::new(id!("SESS-50"), On::Call, &["session/update:session_info_update"], more_than_a_title)
            .send(Action::Pass)
            .receive(Action::Report),
        Check::new(id!("SESS-55"), On::Call, OPENING, |scene| roots::server_not_reachable(scene, "http"))
            .kind(MisuseKind::Capability),
        Check::new(id!("SESS-56"), On::Call, OPENING, |scene| roots::server_not_reachable(scene, "sse"))
            .kind(MisuseKind::Capability),
        Check::new(id!("SESS-56"), On::Call, OPENING, roots::outdated).send(Action::Report).receive(Action::Pass),
        Check::new(id!("SESS-68"), On::Call, OPENING, prompt::not_advertised).kind(MisuseKind::Capability),
        Check::new(id!("SESS-69"), On::Call, OPENING, prompt::other_mode).kind(MisuseKind::Capability),
        Check::new(id!("SESS-70"), On::Call, OPENING, prompt::not_text),
        Check::new(id!("SESS-71"), On::Call, children::UPDATES, children::not_advertised)
            .receive(Action::Report)
            .kind(MisuseKind::Capability),
        Check::new(id!("SESS-72"), On::Call, children::MESSAGE, children::names_unknown)
            .receive(Action::Report)
            .kind(MisuseKind::Session),
        Check::new(id!("SESS-73"), On::Call, children::UPDATE, children::wrong_parent)
            .receive(Action::Report)
            .kind(MisuseKind::Session),
        Check::new(id!("LIMIT-04"), On::Call, children::UPDATE, children::too_many)
            .receive(Action::Drop)
            .kind(MisuseKind::Limit),
        Check::new(id!("SESS-74"), On::Call, children::CHANGING, children::not_for_children).kind(MisuseKind::Session),
        Check::new(id!("SESS-75"), On::Call, &["session/cancel"], children::not_cancellable)
            .kind(MisuseKind::Capability),
    ],
    trackers: &[
        Tracker { rules: &[id!("SESS-52")], on: On::Call, messages: MAKING, track: expect },
        Tracker { rules: &[id!("SESS-29"), id!("SESS-51")], on: On::Answer, messages: MAKING, track: created },
        Tracker {
            rules: &[id!("SESS-15")],
            on: On::Call,
            messages: &["session/load"],
            track: |state, call| attach(state, call, SessionState::Loading),
        },
        Tracker {
            rules: &[id!("SESS-51")],
            on: On::Call,
            messages: &["session/resume"],
            track: |state, call| attach(state, call, SessionState::Resuming),
        },
        Tracker { rules: &[id!("SESS-15"), id!("SESS-29")], on: On::Answer, messages: ATTACHING, track: attached },
        Tracker { rules: &[id!("SESS-22")], on: On::Call, messages: ENDING, track: closing },
        Tracker {
            rules: &[id!("SESS-24"), id!("SESS-47")],
            on: On::Answer,
            messages: &["session/close", "session/archive", "session/delete"],
            track: closed,
        },
        Tracker {
            rules: &[id!("SESS-37"), id!("SESS-43")],
            on: On::Answer,
            messages: &["session/list"],
            track: list::listed,
        },
        Tracker { rules: &[id!("SESS-72")], on: On::Call, messages: children::UPDATE, track: children::announced },
    ],
};

pub(super) static RULES: &[super::Rule] = &[
    rule("SESS-01", Must, Error, E | R, "Calls about a session name one that was opened on this connection."),
    rule("SESS-02", MustNot, Error, E | R, "The sessions of one connection mean nothing on another.").reported_as(&["SESS-01"]),
    rule("SESS-03", Must, Warning, E | R, "The id of a new session is not that of an open one."),
    rule("SESS-04", Must, Error, E | R, "The working directory of a session is an absolute path."),
    rule("SESS-06", Should, Note, T, "The roots of a session bound the files that tools touch; a session says whether a path is inside."),
    rule("SESS-07", Must, Warning, E | R, "New and loaded sessions always list their MCP servers, if only as an empty list."),
    rule("SESS-09", MustNot, Error, E | R, "Sessions are loaded only by agents that advertise it."),
    rule("SESS-10", MustNot, Error, E | R, "Sessions are resumed only by agents that advertise it."),
    rule("SESS-11", MustNot, Error, E | R, "Sessions are closed only by agents that advertise it."),
    rule("SESS-12", MustNot, Error, E | R, "Sessions are listed only by agents that advertise it."),
    rule("SESS-13", MustNot, Error, E | R, "Sessions are deleted only by agents that advertise it."),
    rule("SESS-14", MustNot, Error, E | R, "Sessions are forked only by agents that advertise it (draft)."),
    rule("SESS-15", Must, Note, T, "Loading replays the whole conversation before its answer; what comes until then is marked as the past."),
    rule("SESS-17", MustNot, Warning, E | R, "Resuming sends no history before its answer."),
    rule("SESS-19", Must, Error, E | R, "A replay begins at a kind of place that the agent knows (v2)."),
    rule("SESS-21", MustNot, Error, E | R, "Version 2 has no session/load and no session/set_mode.").reported_as(&["EXT-07", "RPC-17"]),
    rule("SESS-22", Must, Note, T, "Closing a session cancels its work first, as session/cancel would."),
    rule("SESS-24", MustNot, Error, E | R | T, "A closed session is used again only after it was opened again.")
        .reported_as(&["SESS-01"]),
    rule("SESS-25", Must, Error, E | R, "More roots than the working directory are given only to agents that advertise it."),
    rule("SESS-26", Must, Error, E | R, "Each further root is an absolute path."),
    rule("SESS-27", Should, Note, E, "No root is given twice, and the working directory not once more."),
    rule("SESS-28", MustNot, Error, R, "A root that cannot be used fails the request; it is not left out.").reported_as(&["SESS-26"]),
    rule("SESS-29", MustNot, Note, T, "The roots of a session are those of the call that opened it and no others."),
    rule("SESS-30", Must, Warning, E, "Loading and resuming repeat all roots that are wanted."),
    rule("SESS-31", Must, Warning, E | R, "Roots change only together with the session's own working directory."),
    rule("SESS-33", Must, Warning, R,
        // Whether a path really is inside only the host's file system knows, links and all (SESS-34), and it may have
        // been asked for more by its user. So the tolerant policy tells, and the strict one refuses.
        "A client serves files inside the session's roots; a path outside is reported, and refused under the strict policy."),
    rule("SESS-36", Must, Error, E | R, "The working directory that a list is filtered by is absolute."),
    rule("SESS-37", Must, Error, E | R | T, "A cursor is used as the agent gave it on this connection."),
    rule("SESS-39", Must, Warning, E | R, "A page always has its list of sessions, if only an empty one."),
    rule("SESS-40", Should, Error, R, "A cursor that means nothing is answered with an error.").reported_as(&["SESS-37"]),
    rule("SESS-42", Must, Warning, E | R, "Listed sessions have an id and absolute directories; their times are ISO 8601."),
    rule("SESS-43", MustNot, Note, T, "The roots that a list reports replace what was known of them."),
    rule("SESS-44", Must, Error, E, "A session that was only listed is not open.").reported_as(&["SESS-01"]),
    rule("SESS-47", Must, Warning, R | T, "A deleted session is not listed again."),
    rule("SESS-49", Must, Warning, E | R, "A fork has an id of its own (draft)."),
    rule("SESS-50", Must, Warning, R, "A session info update changes title and time only."),
    rule("SESS-51", Must, Note, T, "Directories do not change while a session is open."),
    rule("SESS-52", Must, Warning, T | R, "Updates may come before the answer that names their session, not without one."),
    rule("SESS-55", Must, Error, E | R, "MCP servers over HTTP are given only to agents that advertise it."),
    rule("SESS-56", Must, Error, E | R, "MCP servers over SSE, which is outdated, are given only to agents that advertise it."),
    rule("SESS-58", Must, Error, E | R, "An MCP server without a type is a program: name, absolute command, arguments and environment."),
    rule("SESS-59", Must, Error, E | R, "An MCP server over HTTP or SSE has name, address and headers."),
    rule("SESS-60", Must, Error, E | R, "Every MCP server has a type, and what its type requires (v2)."),
    rule("SESS-62", Must, Error, E | R, "Environment and headers are lists of names and values."),
    rule("SESS-66", Must, Error, E | R, "A fork names its source and an absolute working directory (draft)."),
    // From here on the numbers are this catalogue's own: what these rules say was decided after it was numbered.
    rule("SESS-68", Must, Error, E | R, "A system prompt is given only to agents that advertise it (v1)."),
    rule(
        "SESS-69",
        Must,
        Error,
        E | R,
        "A system prompt is appended, or applied in another way that the agent lists; other ways are refused (v1).",
    ),
    rule(
        "SESS-70",
        Must,
        Error,
        E | R,
        "A system prompt has at least one block and text only; what cannot be applied is refused, and no session is made (v1).",
    ),
    rule("SESS-71", MustNot, Warning, E | R, "Child sessions are shown only to clients that advertise them (v1)."),
    rule(
        "SESS-72",
        Must,
        Warning,
        E | R | T,
        "A child session is announced before anything names it; then it is known until its parent ends (v1).",
    )
    .reported_as(&["SESS-01", "SESS-52", "ELIC-05", "TOOL-35"]),
    rule(
        "SESS-73",
        Must,
        Warning,
        E | R,
        "A child session has an id of its own and one parent, which does not change (v1).",
    ),
    rule("SESS-74", MustNot, Error, E | R, "A client does not prompt, load, close or otherwise change a child session (v1)."),
    rule("SESS-75", MustNot, Error, E | R, "A child session is cancelled by itself only where it allows that (v1)."),
    rule(
        "SESS-76",
        Must,
        Note,
        T,
        "Cancelling or closing a session answers the open questions of its children too (v1).",
    ),
];

fn used_id(scene: &Scene<'_>) -> Option<Objection> {
    let id = scene.message.text("/sessionId")?;
    let source = scene.message.session.is_some_and(|source| **source == *id);
    if source || scene.state.sessions.get(&id).is_none() {
        return None;
    }
    Some(Objection::new("/sessionId", "a session with this id is open on this connection; make another id"))
}

fn same_as_source(scene: &Scene<'_>) -> Option<Objection> {
    let same = scene.message.text("/sessionId")? == **scene.message.session?;
    same.then(|| Objection::new("/sessionId", "the id of the session that was forked; the branch needs one of its own"))
}

fn history(scene: &Scene<'_>) -> Option<Objection> {
    let session = scene.session()?;
    // In version 2 a resume may ask for the history, and a turn that still runs goes on saying things.
    if scene.state.tables.version > 1 || session.state != SessionState::Resuming || session.turn != Turn::Idle {
        return None;
    }
    Some(Objection::new("/update", "session/resume has not been answered, and it replays nothing; session/load does"))
}

fn more_than_a_title(scene: &Scene<'_>) -> Option<Objection> {
    let fixed = ["/update/sessionId", "/update/cwd", "/update/additionalDirectories"];
    let pointer = fixed.into_iter().find(|pointer| scene.message.get(pointer).is_some())?;
    Some(Objection::new(pointer, "an update of the title and the time cannot change this"))
}

/// SESS-52: the session will be known by an answer that is under way.
fn expect(state: &mut State, call: &Message<'_>) -> Option<Box<str>> {
    state.sessions.expected += 1;
    Place::note(call)
}

fn created(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    let id = answer.text("/sessionId");
    state.sessions.expected_one(id.as_deref());
    if let Some(id) = id {
        state.sessions.shelf.reopened(&id);
        let session = state.sessions.known.get_mut(&id)?;
        session.place = answer.note().and_then(Place::read);
        state.sessions.set_free(&id);
    }
    None
}

fn attach(state: &mut State, call: &Message<'_>, to: SessionState) -> Option<Box<str>> {
    let id = call.session?;
    state.sessions.enter(id.clone(), to).state = to;
    children::follow(state, id);
    Place::note(call)
}

fn attached(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    let id = answer.session?;
    let attaching = |pending: &Pending| pending.of_session(id).any(|request| ATTACHING.contains(&&*request.method));
    let open = if state.config.role == Role::Client { &state.outbound } else { &state.inbound };
    let (waits, may_come) = (attaching(open), attaching(&state.late));
    let session = state.sessions.known.get_mut(id)?;
    if answer.body.is_some() {
        session.opened = true;
        session.place = answer.note().and_then(Place::read);
        state.sessions.shelf.reopened(id);
    }
    // Other calls that load or resume it may still be under way.
    if session.opened && !waits {
        session.state = SessionState::Ready;
    } else if !session.opened && !waits && !may_come {
        state.sessions.remove(id);
    }
    children::follow(state, id);
    None
}

/// SESS-22: what still runs is being cancelled.
fn closing(state: &mut State, call: &Message<'_>) -> Option<Box<str>> {
    let newest = state.newest();
    let session = state.sessions.get_mut(call.session)?;
    if session.turn != Turn::Idle {
        session.stop_turn(newest);
    }
    None
}

fn closed(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    answer.body?;
    let id = answer.session?;
    let place = state.sessions.remove(id).and_then(|session| session.place);
    let limit = state.config.limits.sessions;
    if answer.method == "session/delete" {
        state.sessions.shelf.delete(id, limit);
    } else if let Some(place) = place {
        state.sessions.shelf.put(id, place, limit);
    }
    children::follow(state, id);
    None
}
