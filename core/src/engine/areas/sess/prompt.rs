//! System prompts: what a client may give with the call that opens a session.

use crate::engine::{Objection, Role, Scene};
use crate::json;

const PART: &str = "systemPrompt";

fn given(scene: &Scene<'_>) -> bool {
    scene.message.get("/systemPrompt").is_some()
}

pub(super) fn not_advertised(scene: &Scene<'_>) -> Option<Objection> {
    let part = scene.lacks(PART).filter(|_| given(scene))?;
    Some(Objection::new("/systemPrompt", format!("the agent did not advertise {}; leave it out", part.capability())))
}

/// Every agent that takes system prompts appends them; another way is listed under its name.
pub(super) fn other_mode(scene: &Scene<'_>) -> Option<Objection> {
    let mode = given(scene).then(|| scene.message.text("/systemPrompt/mode"))??;
    let part = scene.state.part(scene.message.method, PART)?;
    let name = mode.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if mode == "append" || (name && scene.advertises(Role::Agent, &format!("{}/mode/{mode}", part.needs?.1))) {
        return None;
    }
    let message = format!("the agent did not list this mode in {}.mode; append is always supported", part.capability());
    Some(Objection::new("/systemPrompt/mode", message))
}

pub(super) fn not_text(scene: &Scene<'_>) -> Option<Objection> {
    if !given(scene) {
        return None;
    }
    let blocks = scene.message.items("/systemPrompt/content");
    if blocks.is_empty() {
        return Some(Objection::new("/systemPrompt/content", "there is no block; leave the system prompt out"));
    }
    let is_text = |block: &&str| json::pointer(block, "/type").and_then(json::unescape).is_some_and(|it| it == "text");
    let at = blocks.iter().position(|block| !is_text(block))?;
    Some(Objection::new(format!("/systemPrompt/content/{at}/type"), "a system prompt has only text blocks"))
}
