//! CONT: content blocks, and which of them a prompt may contain.
//!
//! The types of blocks are in the model; an unknown type breaks the rule that `ContentBlock` names there. Blocks from
//! the agent are not gated (CONT-05), and blocks are delivered unchanged (CONT-14).

use super::life::MESSAGES;
use crate::engine::{Action, Area, Check, Finding, MessageKind, MisuseKind, RuleContext};
use crate::json;

const PROMPT: &[&str] = &["session/prompt"];

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("CONT-02"), MessageKind::Call, PROMPT, image).kind(MisuseKind::Capability),
        Check::new(id!("CONT-03"), MessageKind::Call, PROMPT, audio).kind(MisuseKind::Capability),
        Check::new(id!("CONT-04"), MessageKind::Call, PROMPT, resource).kind(MisuseKind::Capability),
        Check::new(id!("CONT-17"), MessageKind::Call, PROMPT, |context| size(context, "/prompt"))
            .send(Action::Report)
            .receive(Action::Pass),
        Check::new(id!("CONT-17"), MessageKind::Call, MESSAGES, |context| size(context, "/update/content"))
            .send(Action::Report)
            .receive(Action::Pass),
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

/// The first icon in these blocks, or in this one, with a size that no client reads.
fn size(context: &RuleContext<'_>, place: &str) -> Option<Finding> {
    let blocks = context.message.get(place)?;
    let at = if blocks.starts_with('[') {
        let mut each = json::items(blocks).into_iter().enumerate();
        each.find_map(|(at, block)| Some(format!("/{at}{}", wrong_size(block)?)))
    } else {
        wrong_size(blocks)
    };
    Some(Finding::new(format!("{place}{}", at?), "expected a size such as 48x48, or any"))
}

fn wrong_size(block: &str) -> Option<String> {
    let icons = json::items(json::pointer(block, "/icons")?);
    icons.into_iter().enumerate().find_map(|(icon, text)| {
        let sizes = json::items(json::pointer(text, "/sizes")?);
        let at = sizes.into_iter().position(|size| json::unescape(size).is_some_and(|size| !is_size(&size)))?;
        Some(format!("/icons/{icon}/sizes/{at}"))
    })
}

fn is_size(size: &str) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    size == "any" || size.split_once('x').is_some_and(|(width, height)| number(width) && number(height))
}
