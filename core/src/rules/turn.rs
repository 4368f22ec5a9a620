//! TURN: prompt turns.

use super::scene::{Message, On, Tracker};
use super::Area;
use crate::connection::{State, Turn};

pub(super) static AREA: Area = Area {
    name: "TURN",
    title: "Prompt turn (v1)",
    rules: &[],
    checks: &[],
    trackers: &[
        Tracker { on: On::Call, messages: &["session/prompt"], track: prompted },
        Tracker { on: On::Answer, messages: &["session/prompt"], track: ended },
        Tracker { on: On::Call, messages: &["session/update:state_update"], track: state_update },
    ],
};

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
