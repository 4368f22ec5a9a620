//! EXT: extension methods and metadata.
//!
//! Names that begin with an underscore are passed to the host and sent for it (`unknown_method`, `admitted`); members
//! that the model does not have are the validation's (`walk`): a peer may be newer than the model, so that its own are
//! kept without a word, while the host's are refused.

use crate::engine::{Action, Area, Check, MisuseKind, Objection, On, Scene};
use crate::json;

/// What W3C trace context keeps at the root of `_meta`.
const TRACE: &[&str] = &["/_meta/traceparent", "/_meta/tracestate", "/_meta/baggage"];

pub(super) static AREA: Area = Area {
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

fn no_trace(scene: &Scene<'_>) -> Option<Objection> {
    // Reading a whole message again costs as much as checking it, and few have any.
    if !json::mentions(scene.message.body?.as_bytes(), b"\"_meta\"") {
        return None;
    }
    let text = |value: &str| value.starts_with('"');
    let wrong =
        TRACE.iter().find(|key| json::pointer(scene.message.body.unwrap_or("{}"), key).is_some_and(|v| !text(v)))?;
    Some(Objection::new(*wrong, "expected a string in the format of W3C trace context"))
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
