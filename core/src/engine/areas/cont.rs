//! CONT: content blocks, and which of them a prompt may contain.
//!
//! The types of blocks are in the model; an unknown type breaks the rule that `ContentBlock` names there. Blocks from
//! the agent are not gated (CONT-05), and blocks are delivered unchanged (CONT-14).

use crate::engine::{Area, Check, Finding, MessageKind, MisuseKind, RuleContext};
use crate::json;

const PROMPT: &[&str] = &["session/prompt"];

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("CONT-02"), MessageKind::Call, PROMPT, image).kind(MisuseKind::Capability),
        Check::new(id!("CONT-03"), MessageKind::Call, PROMPT, audio).kind(MisuseKind::Capability),
        Check::new(id!("CONT-04"), MessageKind::Call, PROMPT, resource).kind(MisuseKind::Capability),
    ],
    trackers: &[],
};

/// The first block of a type that the agent has not advertised.
fn gated(context: &RuleContext<'_>, kind: &str, instead: &str) -> Option<Finding> {
    let part = context.lacks(kind)?;
    let is_kind = |block: &str| json::pointer(block, "/type").and_then(json::unescape).is_some_and(|it| it == kind);
    let at = context.message.items("/prompt").into_iter().position(is_kind)?;
    let message = format!("a block of type {kind}, but the agent did not advertise {}; {instead}", part.capability());
    Some(Finding::new(format!("/prompt/{at}/type"), message))
}

fn image(context: &RuleContext<'_>) -> Option<Finding> {
    gated(context, "image", "send a resource_link")
}

fn audio(context: &RuleContext<'_>) -> Option<Finding> {
    gated(context, "audio", "send a resource_link")
}

fn resource(context: &RuleContext<'_>) -> Option<Finding> {
    gated(context, "resource", "send a resource_link with the same uri")
}
