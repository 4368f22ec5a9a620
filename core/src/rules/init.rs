//! INIT: the handshake.
//!
//! It is in `connection/handshake`: versions, what may be sent when, and the names of members, which the model knows but
//! another version's peer may have wrong. Those are reported and not read (INIT-13): what a peer did not say in the
//! words of the version it speaks, it may not mean.

use super::catalogue::{rule, E, R, T};
use super::scene::{Action, Check, Objection, On, Scene};
use super::{Area, Level, Severity};
use crate::connection::{MisuseKind, Role};
use crate::jsonrpc::ErrorCode;
use Level::{Must, MustNot, Should};
use Severity::{Error, Note, Warning};

const INITIALIZE: &[&str] = &["initialize"];

pub(super) static AREA: Area = Area {
    name: "INIT",
    title: "Initialize and version negotiation",
    rules: RULES,
    checks: &[
        Check::new(id!("INIT-06"), On::Error, INITIALIZE, no_version).receive(Action::Pass).kind(MisuseKind::Phase),
        Check::new(id!("INIT-11"), On::Call, INITIALIZE, nameless).send(Action::Hint).receive(Action::Pass),
        Check::new(id!("INIT-11"), On::Answer, INITIALIZE, nameless).send(Action::Hint).receive(Action::Pass),
    ],
    trackers: &[],
};

pub(super) static RULES: &[super::Rule] = &[
    rule("INIT-01", Must, Error, E | R, "A client sends initialize first, and nothing else before it is answered."),
    rule("INIT-02", Must, Error, E | R, "An agent sends nothing before it has answered initialize."),
    rule("INIT-03", Must, Error, E | R, "A client asks for the newest version that it speaks; a host may ask for an older one that it speaks."),
    rule("INIT-04", Must, Error, R, "A version is one whole number of 16 bits; its digits in a string are read, and reported, unless the policy is strict."),
    rule("INIT-05", Must, Error, E, "A version that the agent speaks is agreed on."),
    rule("INIT-06", Must, Error, E, "For any other version the agent answers with the newest that it speaks, and with no error."),
    rule("INIT-07", Should, Error, R, "A client closes the connection when the agent answers with a version that it does not speak."),
    rule("INIT-08", Must, Note, T, "Methods and types are those of the agreed version, and of no other."),
    rule("INIT-09", Must, Error, E | R, "A connection is initialized once; only what has failed is tried again."),
    rule("INIT-10", Must, Error, R | T, "The answer to initialize has the agreed version; without it, initialize has failed."),
    rule("INIT-11", Should, Note, E, "Both sides give name and version of their software; a host whose policy for notes is strict is told where its own is missing."),
    rule("INIT-12", Must, Error, E | R, "In version 2, name and version are always given."),
    rule("INIT-13", Must, Warning, E | R, "Members are named as the version and the side have it; others are reported and not read."),
    rule("INIT-14", MustNot, Error, E, "Nothing secret stands in initialize."),
    rule("INIT-15", Must, Error, R, "Version 0 is no version: asked for it, an agent answers with its newest; answered with it, a client closes.").reported_as(&["INIT-07"]),
    rule("INIT-16", Must, Note, T, "After falling back to version 1, only what was said in its words counts."),
    rule("INIT-17", Must, Error, R, "A version above the one that was asked for is taken only by a client that speaks it.").reported_as(&["INIT-07"]),
];

/// The agreed version is in the result; there is none that could not be agreed on.
fn no_version(scene: &Scene<'_>) -> Option<Objection> {
    let code = scene.message.get("/code")?.parse().ok()?;
    let objects = ErrorCode(code) == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION;
    objects.then(|| Objection::new("/code", "a version has been agreed on; answer with a result, which names it"))
}

fn nameless(scene: &Scene<'_>) -> Option<Objection> {
    let names = match (scene.state.config.role, scene.message.get("/protocolVersion")?) {
        (Role::Client, "1") => "/clientInfo",
        (Role::Agent, "1") => "/agentInfo",
        _ => return None,
    };
    let missing = scene.message.get(names).is_none();
    missing.then(|| Objection::new(names, "name and version of the software are expected, for logs and for display"))
}
