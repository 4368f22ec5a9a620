//! System prompts, which a client may send when it opens a session.

use crate::engine::{Finding, Role, RuleContext};
use crate::json;

const PART: &str = "systemPrompt";

fn given(context: &RuleContext<'_>) -> bool {
    context.message.get("/systemPrompt").is_some()
}

pub(super) fn not_advertised(context: &RuleContext<'_>) -> Option<Finding> {
    let part = context.lacks(PART).filter(|_| given(context))?;
    Some(Finding::new("/systemPrompt", format!("the agent did not advertise {}; leave it out", part.capability())))
}

/// Every agent that supports system prompts appends them; other modes are advertised by name.
pub(super) fn other_mode(context: &RuleContext<'_>) -> Option<Finding> {
    let mode = given(context).then(|| context.message.text("/systemPrompt/mode"))??;
    let part = context.state.part(context.message.method, PART)?;
    let name = mode.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if mode == "append" || (name && context.advertises(Role::Agent, &format!("{}/mode/{mode}", part.needs?.1))) {
        return None;
    }
    let message = format!("the agent did not list this mode in {}.mode; append is always supported", part.capability());
    Some(Finding::new("/systemPrompt/mode", message))
}

pub(super) fn not_text(context: &RuleContext<'_>) -> Option<Finding> {
    if !given(context) {
        return None;
    }
    let blocks = context.message.items("/systemPrompt/content");
    if blocks.is_empty() {
        return Some(Finding::new("/systemPrompt/content", "there is no block; leave the system prompt out"));
    }
    let is_text = |block: &&str| json::pointer(block, "/type").and_then(json::unescape).is_some_and(|it| it == "text");
    let at = blocks.iter().position(|block| !is_text(block))?;
    Some(Finding::new(format!("/systemPrompt/content/{at}/type"), "a system prompt has only text blocks"))
}
