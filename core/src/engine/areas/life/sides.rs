//! Whose messages ids belong to, the user's or the agent's (LIFE-13).
//!
//! Thoughts are the agent's: models give one id to what they think and what they say, and each of the two is a message of
//! its own kind.

use super::super::recent::{Recent, KEPT};
use crate::engine::{Message, Objection, Scene, State};

/// The ids of a session's messages, and whether each is the user's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sides(Recent<bool>);

fn is_users(update: &Message<'_>) -> Option<bool> {
    Some(update.text("/update/sessionUpdate")?.starts_with("user_"))
}

pub(super) fn other(scene: &Scene<'_>) -> Option<Objection> {
    let known = *scene.session()?.work.sides.0.get(&scene.message.text("/update/messageId")?)?;
    (known != is_users(&scene.message)?).then(|| {
        let whose = if known { "the user" } else { "the agent" };
        Objection::new(
            "/update/messageId",
            format!("this id belongs to a message of {whose}; a new message has a new id"),
        )
    })
}

/// The first update under an id says whose it is.
pub(super) fn seen(state: &mut State, update: &Message<'_>) -> Option<Box<str>> {
    let keep = state.config.limits.remembered;
    let session = state.sessions.get_mut(update.session)?;
    let id = update.text("/update/messageId").filter(|id| id.len() <= KEPT)?;
    let users = is_users(update)?;
    session.work.sides.0.entry(&id, keep, || users);
    None
}
