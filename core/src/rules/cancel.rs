//! CANCEL: `session/cancel` and `$/cancel_request`.

use super::scene::{Message, On, Tracker};
use super::Area;
use crate::connection::{State, Turn};

pub(super) static AREA: Area = Area {
    name: "CANCEL",
    title: "Cancellation",
    rules: &[],
    checks: &[],
    trackers: &[Tracker { on: On::Call, messages: &["session/cancel"], track: cancelled }],
};

/// CANCEL-22, CANCEL-23: a cancel is bound to the turn that runs; where none runs it changes nothing.
fn cancelled(state: &mut State, call: &Message<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(call.session)?;
    if session.turn != Turn::Idle {
        session.turn = Turn::Cancelling;
    }
    None
}
