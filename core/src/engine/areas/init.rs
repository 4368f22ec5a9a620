//! INIT: the handshake.
//!
//! `connection/handshake` has most of it: versions, what may be sent when, and members with the name of another
//! version. Those are reported and not read (INIT-13), because they may mean something else.

use crate::engine::{Action, Area, Check, Finding, MessageKind, MisuseKind, RuleContext};
use crate::jsonrpc::ErrorCode;

const INITIALIZE: &[&str] = &["initialize"];

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("INIT-06"), MessageKind::Error, INITIALIZE, no_version)
            .receive(Action::Pass)
            .kind(MisuseKind::Phase),
        Check::new(id!("INIT-22"), MessageKind::Error, INITIALIZE, nameless_error)
            .send(Action::Pass)
            .receive(Action::ReportAlways),
        Check::new(id!("INIT-11"), MessageKind::Call, INITIALIZE, nameless)
            .send(Action::AdviseIfStrict)
            .receive(Action::Pass),
        Check::new(id!("INIT-11"), MessageKind::Answer, INITIALIZE, nameless)
            .send(Action::AdviseIfStrict)
            .receive(Action::Pass),
    ],
    trackers: &[],
};

/// A refused version is an error only if there is no common version; otherwise the result names the agreed one.
fn no_version(context: &RuleContext<'_>) -> Option<Finding> {
    let code = context.message.get("/code")?.parse().ok()?;
    let objects = ErrorCode(code) == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION;
    objects.then(|| Finding::new("/code", "a version has been agreed on; answer with a result that names it"))
}

fn nameless_error(context: &RuleContext<'_>) -> Option<Finding> {
    let code = context.message.get("/code")?.parse().ok()?;
    if ErrorCode(code) != ErrorCode::UNSUPPORTED_PROTOCOL_VERSION {
        return None;
    }
    let number = |json: &str| json.parse::<u16>().is_ok();
    let supported = context.message.items("/data/supported");
    let wrong = if !context.message.get("/data/requested").is_some_and(number) {
        ("/data/requested", "the requested version is missing")
    } else if supported.is_empty() || !supported.into_iter().all(number) {
        ("/data/supported", "the versions that the agent supports are missing, so the client cannot request one")
    } else {
        return None;
    };
    Some(Finding::new(wrong.0, wrong.1))
}

fn nameless(context: &RuleContext<'_>) -> Option<Finding> {
    let info = format!("/{}", super::cap::names(context)?.info);
    let missing = context.message.get(&info).is_none();
    missing.then(|| Finding::new(info, "expected the name and version of the software, for logs and for display"))
}
