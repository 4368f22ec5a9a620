//! INIT: the handshake.
//!
//! It is in `connection/handshake`: versions, what may be sent when, and the names of members, which the model knows but
//! another version's peer may have wrong. Those are reported and not read (INIT-13): what a peer did not say in the
//! words of the version it speaks, it may not mean.

use crate::engine::{Action, Area, Check, MisuseKind, Objection, On, Role, Scene};
use crate::jsonrpc::ErrorCode;

const INITIALIZE: &[&str] = &["initialize"];

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("INIT-06"), On::Error, INITIALIZE, no_version).receive(Action::Pass).kind(MisuseKind::Phase),
        Check::new(id!("INIT-22"), On::Error, INITIALIZE, nameless_error).send(Action::Pass).receive(Action::Tell),
        Check::new(id!("INIT-11"), On::Call, INITIALIZE, nameless).send(Action::Hint).receive(Action::Pass),
        Check::new(id!("INIT-11"), On::Answer, INITIALIZE, nameless).send(Action::Hint).receive(Action::Pass),
    ],
    trackers: &[],
};

/// The agreed version is in the result; there is none that could not be agreed on.
fn no_version(scene: &Scene<'_>) -> Option<Objection> {
    let code = scene.message.get("/code")?.parse().ok()?;
    let objects = ErrorCode(code) == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION;
    objects.then(|| Objection::new("/code", "a version has been agreed on; answer with a result that names it"))
}

fn nameless_error(scene: &Scene<'_>) -> Option<Objection> {
    let code = scene.message.get("/code")?.parse().ok()?;
    if ErrorCode(code) != ErrorCode::UNSUPPORTED_PROTOCOL_VERSION {
        return None;
    }
    let number = |json: &str| json.parse::<u16>().is_ok();
    let supported = scene.message.items("/data/supported");
    let wrong = if !scene.message.get("/data/requested").is_some_and(number) {
        ("/data/requested", "the requested version is missing")
    } else if supported.is_empty() || !supported.into_iter().all(number) {
        ("/data/supported", "the versions that the agent supports are missing, so the client cannot request one")
    } else {
        return None;
    };
    Some(Objection::new(wrong.0, wrong.1))
}

fn nameless(scene: &Scene<'_>) -> Option<Objection> {
    let names = match (scene.state.config.role, scene.message.get("/protocolVersion")?) {
        (Role::Client, "1") => "/clientInfo",
        (Role::Agent, "1") => "/agentInfo",
        _ => return None,
    };
    let missing = scene.message.get(names).is_none();
    missing.then(|| Objection::new(names, "expected the name and version of the software, for logs and for display"))
}
