//! EXT: extension methods and metadata.
//!
//! Names that begin with an underscore are passed to the host and sent for it (`unknown_method`, `admitted`); members
//! that the model does not have are the validation's (`walk`): a peer may be newer than the model, so that its own are
//! kept without a word, while the host's are refused.

use crate::engine::{Action, Area, Check, Finding, MessageKind, MisuseKind, RuleContext};
use crate::json;

/// What W3C trace context keeps at the root of `_meta`.
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
    // Reading a whole message again costs as much as checking it, and few have any.
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
