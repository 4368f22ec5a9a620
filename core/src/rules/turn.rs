//! TURN: prompt turns.
//!
//! TURN-15 is in the connection (`respond_error`); shapes are in the model.

use super::catalogue::{rule, E, R, T};
use super::scene::{Action, Check, Message, Objection, On, Scene, Tracker};
use super::{Area, Level, Severity};
use crate::connection::{MisuseKind, SessionState, State, Turn};
use Level::{May, Must, MustNot, Should};
use Severity::{Error, Note, Warning};

const PROMPT: &[&str] = &["session/prompt"];
/// Updates that are part of a turn; the others may come at any time.
const WORK: &[&str] = &[
    "session/update:user_message_chunk",
    "session/update:agent_message_chunk",
    "session/update:agent_thought_chunk",
    "session/update:tool_call",
    "session/update:tool_call_update",
    "session/update:plan",
];

/// What is known of a session's turns beside the one that runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Turns {
    /// One has ended.
    ended: bool,
    /// The agent gives ids to its messages.
    ids: bool,
}

pub(super) static AREA: Area = Area {
    name: "TURN",
    title: "Prompt turn (v1)",
    rules: RULES,
    checks: &[
        Check::new(id!("TURN-03"), On::Call, PROMPT, second_prompt).receive(Action::Report).kind(MisuseKind::Phase),
        Check::new(id!("TURN-05"), On::Call, WORK, late).send(Action::Report).receive(Action::Report),
        Check::new(id!("TURN-10"), On::Call, PROMPT, own_id).receive(Action::Pass),
        Check::new(id!("TURN-11"), On::Call, &["session/update:user_message_chunk"], no_id)
            .send(Action::Report)
            .receive(Action::Pass),
        Check::new(id!("TURN-16"), On::Answer, PROMPT, nobody_cancelled).send(Action::Pass).receive(Action::Report),
    ],
    trackers: &[
        Tracker { on: On::Call, messages: PROMPT, track: prompted },
        Tracker { on: On::Answer, messages: PROMPT, track: ended },
        Tracker { on: On::Call, messages: &["session/update:state_update"], track: state_update },
        Tracker {
            on: On::Call,
            messages: &["session/update:agent_message_chunk", "session/update:agent_thought_chunk"],
            track: said,
        },
    ],
};

pub(super) static RULES: &[super::Rule] = &[
    rule("TURN-01", Must, Error, E | R, "The answer to a prompt says why the turn ended, in one of five words."),
    rule("TURN-02", Must, Note, T, "A turn lasts until its prompt is answered; open prompts are listed."),
    rule(
        "TURN-03",
        Should,
        Warning,
        E | R,
        "A session has one prompt at a time; an agent that queues more may take them.",
    ),
    rule("TURN-04", Must, Error, E | R, "A prompt is a list of content blocks."),
    rule("TURN-05", Must, Warning, E | R, "What belongs to a turn is sent before its answer."),
    rule(
        "TURN-06",
        May,
        Note,
        R,
        "Commands, settings, usage and work before the first turn may be reported without one.",
    ),
    rule("TURN-08", Must, Error, E | R, "An update is an object inside of the params, of one of the kinds that exist."),
    rule("TURN-09", May, Note, T, "Pieces with the same message id are one message; without an id the kind tells."),
    rule("TURN-10", MustNot, Error, E | T, "Message ids are the agent's alone; a prompt has none."),
    rule("TURN-11", Should, Note, T, "An agent that gives ids to its messages gives them to the user's too."),
    rule(
        "TURN-12",
        Must,
        Error,
        E | R,
        "Usage is counted in whole numbers from 0, its cost in an amount and a currency; a number that is none is left out, and the rest is delivered.",
    ),
    rule(
        "TURN-14",
        Must,
        Note,
        T,
        "After a refusal the prompt and all after it are out of the context; the stop reason says so.",
    ),
    rule("TURN-15", Must, Error, E, "A turn that was cancelled ends as cancelled and never as an error."),
    rule("TURN-16", Should, Warning, R, "Only what the client cancelled ends as cancelled."),
    rule("TURN-18", May, Warning, R, "Token counts at the end of a turn are whole or left out (draft)."),
    rule("TURN-19", Must, Note, T, "A turn is over with its answer; the next prompt may follow at once."),
    rule("TURN-20", Must, Error, E | R, "No prompt before the connection and its session are set up."),
];

fn second_prompt(scene: &Scene<'_>) -> Option<Objection> {
    if scene.state.tables.version > 1 || scene.session()?.prompts == 0 {
        return None;
    }
    Some(Objection::new("", "a prompt of this session has no answer yet; wait for it, or send session/cancel first"))
}

fn late(scene: &Scene<'_>) -> Option<Objection> {
    let session = scene.session()?;
    let idle = session.turn == Turn::Idle && session.state == SessionState::Ready;
    // A prompt that was not answered in time may still be worked on.
    if scene.state.tables.version > 1 || !idle || !session.turns.ended || session.late_prompts > 0 {
        return None;
    }
    Some(Objection::new("/update", "the turn is over; what belongs to it comes before the answer to its prompt"))
}

fn own_id(scene: &Scene<'_>) -> Option<Objection> {
    scene.message.get("/messageId")?;
    Some(Objection::new("/messageId", "a prompt has no id: the agent makes the ids of messages; leave it out"))
}

fn no_id(scene: &Scene<'_>) -> Option<Objection> {
    if scene.message.get("/update/messageId").is_some() || !scene.session()?.turns.ids {
        return None;
    }
    Some(Objection::new("/update/messageId", "other messages of this session have ids; give this one an id too"))
}

fn nobody_cancelled(scene: &Scene<'_>) -> Option<Objection> {
    let asked = scene.session()?.turn == Turn::Cancelling || scene.message.request?.cancelled;
    if asked || scene.message.get("/stopReason")? != "\"cancelled\"" {
        return None;
    }
    Some(Objection::new("/stopReason", "cancelled, and nobody had asked for it"))
}

/// TURN-11.
fn said(state: &mut State, update: &Message<'_>) -> Option<Box<str>> {
    let turns = &mut state.sessions.get_mut(update.session)?.turns;
    turns.ids = turns.ids || update.get("/update/messageId").is_some();
    None
}

fn prompted(state: &mut State, call: &Message<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(call.session)?;
    session.prompts += 1;
    if session.turn == Turn::Idle {
        session.turn = Turn::Running;
    }
    None
}

/// TURN-19: the turn is over once its last prompt is answered. In v2 the answer only says that the prompt was taken; a
/// `state_update` ends the work (LIFE-02).
fn ended(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    let accepted_only = answer.body.is_some() && state.tables.version > 1;
    let session = state.sessions.get_mut(answer.session)?;
    session.prompts = session.prompts.saturating_sub(1);
    if session.prompts == 0 && !accepted_only {
        session.turn = Turn::Idle;
        session.turns.ended = true;
    }
    None
}

/// LIFE-04, LIFE-05.
fn state_update(state: &mut State, update: &Message<'_>) -> Option<Box<str>> {
    let name = update.text("/update/state")?;
    let session = state.sessions.get_mut(update.session)?;
    match (&*name, session.turn) {
        ("idle", _) => session.turn = Turn::Idle,
        ("running" | "requires_action", Turn::Idle) => session.turn = Turn::Running,
        _ => {}
    }
    None
}
