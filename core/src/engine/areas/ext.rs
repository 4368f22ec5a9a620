//! EXT: extension methods and metadata.
//!
//! The connection delivers and sends methods that begin with an underscore (`unknown_method`, `admitted`). The
//! validation handles members that are not in the model: those of a peer, which may be newer, are kept; those of the
//! host are refused.

use crate::engine::{Action, Area, Check, Finding, MessageKind, MisuseKind, RuleContext};
use crate::json;

/// The members of W3C trace context at the root of `_meta`.
const TRACE: &[&str] = &["/_meta/traceparent", "/_meta/tracestate", "/_meta/baggage"];

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("EXT-05"), MessageKind::Call, &["*"], no_trace).send(Action::Report).receive(Action::Pass),
        Check::new(id!("EXT-05"), MessageKind::Answer, &["*"], no_trace).send(Action::Report).receive(Action::Pass),
        Check::new(id!("EXT-10"), MessageKind::Call, &["*"], not_advertised)
            .send(Action::AdviseIfStrict)
            .receive(Action::Pass)
            .kind(MisuseKind::Capability),
    ],
    trackers: &[],
};

fn no_trace(context: &RuleContext<'_>) -> Option<Finding> {
    // Parsing a message again costs as much as checking it, and few messages have `_meta`.
    if !json::mentions(context.message.body?.as_bytes(), b"\"_meta\"") {
        return None;
    }
    let text = |value: &str| value.starts_with('"');
    let wrong =
        TRACE.iter().find(|key| json::pointer(context.message.body.unwrap_or("{}"), key).is_some_and(|v| !text(v)))?;
    Some(Finding::new(*wrong, "expected a string in the format of W3C trace context"))
}

fn not_advertised(context: &RuleContext<'_>) -> Option<Finding> {
    let name = context.message.method.strip_prefix('_')?;
    let name = name.split_once('/').map_or(name, |(vendor, _)| vendor);
    if context.peer_extension(name).is_some() {
        return None;
    }
    Some(Finding::new(
        "",
        format!("the peer's capabilities have no \"{name}\" in _meta, where extensions are advertised"),
    ))
}
