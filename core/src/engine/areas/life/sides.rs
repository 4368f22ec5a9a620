//! Which message ids belong to the user and which to the agent (LIFE-13).
//!
//! Thoughts count as the agent's. A thought and a message of the agent may have the same id, because models use one id
//! for both.

use super::super::recent::{Recent, KEPT};
use crate::engine::operations::Speaker;
use crate::engine::{Finding, RuleContext, RuleMessage, State};

/// The ids of a session's messages, and whether each is the user's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Sides(Recent<bool>);

fn is_users(update: &RuleMessage<'_>) -> Option<bool> {
    Some(update.text("/update/sessionUpdate")?.starts_with("user_"))
}

pub(super) fn other(context: &RuleContext<'_>) -> Option<Finding> {
    let known = *context.session()?.work.sides.0.get(&context.message.text("/update/messageId")?)?;
    (known != is_users(&context.message)?).then(|| {
        let whose = if known { "the user" } else { "the agent" };
        Finding::new(
            "/update/messageId",
            format!("this id belongs to a message of {whose}; a new message has a new id"),
        )
    })
}

/// The first update with an id decides.
pub(super) fn seen(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let keep = state.config.limits.remembered;
    let session = state.sessions.get_mut(update.session)?;
    let told = update.operation?;
    let id = told.id().filter(|id| id.len() <= KEPT)?;
    let users = told.speaker()? == Speaker::User;
    session.work.sides.0.entry(&id, keep, || users);
    None
}
