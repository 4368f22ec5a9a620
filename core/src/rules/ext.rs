//! EXT: extension methods and metadata.
//!
//! Names that begin with an underscore are passed to the host and sent for it (`unknown_method`, `admitted`); members
//! that the model does not have are the validation's (`walk`): a peer may be newer than the model, so that its own are
//! kept without a word, while the host's are refused.

use super::catalogue::{rule, E, R, T};
use super::scene::{Action, Check, Objection, On, Scene};
use super::{Area, Level, Severity};
use crate::connection::MisuseKind;
use crate::json;
use Level::{Must, MustNot, Should};
use Severity::{Error, Note, Warning};

/// What W3C trace context keeps at the root of `_meta`.
const TRACE: &[&str] = &["/_meta/traceparent", "/_meta/tracestate", "/_meta/baggage"];

pub(super) static AREA: Area = Area {
    name: "EXT",
    title: "Extensibility, _meta, underscore names",
    rules: RULES,
    checks: &[
        Check::new(id!("EXT-05"), On::Call, &["*"], no_trace).send(Action::Report).receive(Action::Pass),
        Check::new(id!("EXT-05"), On::Answer, &["*"], no_trace).send(Action::Report).receive(Action::Pass),
        Check::new(id!("EXT-10"), On::Call, &["*"], not_advertised)
            .send(Action::Hint)
            .receive(Action::Pass)
            .kind(MisuseKind::Capability),
    ],
    trackers: &[],
};

pub(super) static RULES: &[super::Rule] = &[
    rule("EXT-01", MustNot, Note, E, "Members that the specification does not have go into _meta; a peer's are ignored, and kept."),
    rule("EXT-02", Must, Warning, E | R, "_meta is an object or null, wherever it stands."),
    rule("EXT-05", Should, Note, E, "traceparent, tracestate and baggage in _meta are strings of W3C trace context, and are passed on."),
    rule("EXT-07", Must, Error, E | R, "Methods that the specification does not have begin with an underscore, save those that the host names.").reported_as(&["RPC-17", "RPC-18"]),
    rule("EXT-08", Must, Note, T, "A request of an extension is delivered, and stays listed until the host has answered it."),
    rule("EXT-09", Should, Note, T, "A notification of an extension is delivered; who does not know it ignores it."),
    rule("EXT-10", Should, Note, E | T, "Extensions are advertised in _meta of the capabilities, where they can be looked up; a host whose policy for notes is strict is told when it calls one that is not."),
];

fn no_trace(scene: &Scene<'_>) -> Option<Objection> {
    // Reading a whole message again costs as much as checking it, and few have any.
    if !json::mentions(scene.message.body?.as_bytes(), b"\"_meta\"") {
        return None;
    }
    let text = |value: &str| value.starts_with('"');
    let wrong =
        TRACE.iter().find(|key| json::pointer(scene.message.body.unwrap_or("{}"), key).is_some_and(|v| !text(v)))?;
    Some(Objection::new(*wrong, "a string is expected, as W3C trace context writes it"))
}

fn not_advertised(scene: &Scene<'_>) -> Option<Objection> {
    let name = scene.message.method.strip_prefix('_')?;
    let name = name.split_once('/').map_or(name, |(vendor, _)| vendor);
    if scene.peer_extension(name).is_some() {
        return None;
    }
    Some(Objection::new(
        "",
        format!("the peer's capabilities have no \"{name}\" in _meta, where extensions are advertised"),
    ))
}
