//! CONT: content blocks, and which of them a prompt may hold.
//!
//! The shapes of blocks are in the model; a type that does not exist breaks the rule that `ContentBlock` names there.
//! What an agent says is not gated (CONT-05), and blocks are passed on as they came (CONT-14).

use super::catalogue::{rule, E, R, T};
use super::scene::{Check, Objection, On, Scene};
use super::{Area, Level, Severity};
use crate::connection::{MisuseKind, Role};
use crate::json;
use Level::Must;
use Severity::{Error, Note, Warning};

const PROMPT: &[&str] = &["session/prompt"];

pub(super) static AREA: Area = Area {
    name: "CONT",
    title: "Content blocks and prompt capabilities",
    rules: RULES,
    checks: &[
        Check::new(id!("CONT-02"), On::Call, PROMPT, image).kind(MisuseKind::Capability),
        Check::new(id!("CONT-03"), On::Call, PROMPT, audio).kind(MisuseKind::Capability),
        Check::new(id!("CONT-04"), On::Call, PROMPT, resource).kind(MisuseKind::Capability),
    ],
    trackers: &[],
};

pub(super) static RULES: &[super::Rule] = &[
    rule("CONT-02", Must, Error, E | R, "Images go into prompts for agents that advertise them."),
    rule("CONT-03", Must, Error, E | R, "Sound goes into prompts for agents that advertise it."),
    rule("CONT-04", Must, Error, E | R, "Embedded resources go into prompts for agents that advertise them."),
    rule("CONT-06", Must, Error, E | R, "Each block has the members that its type requires."),
    rule("CONT-07", Must, Warning, E | R, "Bytes in a block are base64."),
    rule(
        "CONT-08",
        Must,
        Warning,
        E | R,
        "Version 1 has five types of block; others are refused in prompts, and reported in updates.",
    ),
    rule(
        "CONT-10",
        Must,
        Warning,
        E | R,
        "Addresses are URIs, a priority lies between 0 and 1, and times are RFC 3339 (v2).",
    ),
    rule("CONT-13", Must, Error, E | R, "A chunk of a message holds one block."),
    rule(
        "CONT-14",
        Must,
        Note,
        T,
        "What an MCP server said is forwarded with all its members, also those that the specification does not name.",
    ),
];

/// The first block of a type that the agent has not advertised.
fn gated(scene: &Scene<'_>, kind: &str, capability: &str, instead: &str) -> Option<Objection> {
    let folder = if scene.state.tables.version > 1 { "/session/prompt" } else { "/promptCapabilities" };
    if scene.advertises(Role::Agent, &format!("{folder}/{capability}")) {
        return None;
    }
    let is_kind = |block: &str| json::pointer(block, "/type").and_then(json::unescape).is_some_and(|it| it == kind);
    let at = scene.message.items("/prompt").into_iter().position(is_kind)?;
    let name = folder[1..].replace('/', ".");
    let message = format!("a block of type {kind}, but the agent did not advertise {name}.{capability}; {instead}");
    Some(Objection::new(format!("/prompt/{at}/type"), message))
}

fn image(scene: &Scene<'_>) -> Option<Objection> {
    gated(scene, "image", "image", "send a resource_link")
}

fn audio(scene: &Scene<'_>) -> Option<Objection> {
    gated(scene, "audio", "audio", "send a resource_link")
}

fn resource(scene: &Scene<'_>) -> Option<Objection> {
    gated(scene, "resource", "embeddedContext", "send a resource_link with the same uri")
}
