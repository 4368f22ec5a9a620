//! System prompts: what a client may give with the call that opens a session (version 1).

use crate::engine::{Objection, Role, Scene};
use crate::json;

const CAPABILITY: &str = "/sessionCapabilities/systemPrompt";

fn given(scene: &Scene<'_>) -> bool {
    scene.message.get("/systemPrompt").is_some()
}

pub(super) fn not_advertised(scene: &Scene<'_>) -> Option<Objection> {
    scene.lacks("systemPrompt").filter(|_| given(scene))?;
    Some(Objection::new("/systemPrompt", "the agent did not advertise sessionCapabilities.systemPrompt; leave it out"))
}

/// Every agent that takes system prompts appends them; another way is listed under its name.
pub(super) fn other_mode(scene: &Scene<'_>) -> Option<Objection> {
    let mode = given(scene).then(|| scene.message.text("/systemPrompt/mode"))??;
    let name = mode.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if mode == "append" || (name && scene.advertises(Role::Agent, &format!("{CAPABILITY}/mode/{mode}"))) {
        return None;
    }
    Some(Objection::new(
        "/systemPrompt/mode",
        "the agent did not list this mode in sessionCapabilities.systemPrompt.mode; append is always there",
    ))
}

pub(super) fn not_text(scene: &Scene<'_>) -> Option<Objection> {
    if !given(scene) {
        return None;
    }
    let blocks = scene.message.items("/systemPrompt/content");
    if blocks.is_empty() {
        return Some(Objection::new("/systemPrompt/content", "no block; leave the system prompt out"));
    }
    let is_text = |block: &&str| json::pointer(block, "/type").and_then(json::unescape).is_some_and(|it| it == "text");
    let at = blocks.iter().position(|block| !is_text(block))?;
    Some(Objection::new(format!("/systemPrompt/content/{at}/type"), "a system prompt is text; no capability says more"))
}
