//! Finding handlers and options that cannot work, before anything is read.

use std::io;

use serde::Serialize;

use super::handlers::Handlers;
use super::message::LEFT;
use super::setup::Setup;
use super::told::said;
use super::transport::Transport;
use crate::connection::{MisuseKind, Phase};
use crate::nearest::nearest;
use crate::schema::tables::{self, v1::TABLES};
use crate::validation::table::Kind;
use crate::{Config, Connection, Role};

/// Checks the handlers, and the configuration with this transport. `hello` is this side's `initialize` message;
/// `stated` has the capabilities that the host set explicitly.
pub(super) fn check<H: Handlers, T: Transport>(
    setup: &Setup,
    handlers: &H,
    transport: &mut T,
    hello: &impl Serialize,
    stated: &impl Serialize,
) -> io::Result<()> {
    let config = &setup.config;
    let timed = [("timeout", config.timeout), ("reminder", config.reminder)];
    if let Some((name, _)) = timed.iter().find(|(_, limit)| limit.is_some()) {
        if transport.clock().is_none() {
            return refused(format!("{name}: the transport has no clock; `timed` gives it one"));
        }
    }
    let mut methods = Vec::new();
    handlers.each(&mut |method, request| methods.push((method.to_owned(), request)));
    let twice = methods.iter().enumerate().find(|(index, method)| methods[..*index].contains(method));
    if let Some((_, (method, _))) = twice {
        let method = if method == LEFT { "on_update" } else { method };
        return refused(format!("{method}: there are two handlers of it, and only one can be called"));
    }
    terminals(handlers, &methods)?;
    let judge = judge(config, &crate::schema::write(hello)?);
    for (method, _) in &methods {
        if let Some(reason) = why_never(method, config, &judge, handlers) {
            return refused(reason);
        }
    }
    served(config, handlers, &said(&crate::schema::write(stated)?))
}

/// Checks that handlers serve the capabilities that the host has set.
fn served<H: Handlers>(config: &Config, handlers: &H, stated: &str) -> io::Result<()> {
    if stated == "{}" {
        return Ok(());
    }
    let name = if config.role == Role::Agent { "agentCapabilities" } else { "clientCapabilities" };
    let judge = judge(config, &format!("{{\"protocolVersion\":1,\"{name}\":{stated}}}"));
    let requests = TABLES.methods.iter().filter(|row| row.kind != Kind::Notification && !ALWAYS.contains(&row.name));
    for row in requests {
        let Some(gate) = row.gate.filter(|_| !handlers.has(row.name, true) && judge.can(row.name)) else { continue };
        return refused(format!(
            "capabilities: {} says that {} is served, and no handler serves it; give its handler, or leave the capability \
             out",
            gate.path.join("."),
            row.name
        ));
    }
    Ok(())
}

/// Methods that need a capability and are served without a handler.
const ALWAYS: [&str; 1] = ["session/close"];

fn refused<T>(reason: String) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}

/// Checks that terminals have either all of their handlers or none.
fn terminals<H: Handlers>(handlers: &H, methods: &[(String, bool)]) -> io::Result<()> {
    let Some((one, _)) = methods.iter().find(|(method, request)| *request && method.starts_with("terminal/")) else {
        return Ok(());
    };
    let missing: Vec<_> = TERMINALS.iter().copied().filter(|method| !handlers.has(method, true)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.join(", ");
    refused(format!("{one}: terminals need handlers of all their methods, and there is none of {missing}"))
}

/// The methods of terminals.
pub(super) const TERMINALS: [&str; 5] =
    ["terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"];

/// The other side of a connection that begins with this `initialize`: it knows which methods it may call.
fn judge(config: &Config, hello: &str) -> Connection {
    let role = config.role.other();
    let mut other = Config::new(role);
    other.drafts = config.drafts;
    let mut judge = Connection::new(other);
    // If `initialize` is refused here, it is refused with the reason when it is sent.
    if role == Role::Client {
        let able = r#"{"protocolVersion":1,"clientCapabilities":{"auth":{"terminal":true}}}"#;
        if let Ok(id) = judge.request("initialize", able) {
            judge.receive(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{hello}}}\n").as_bytes());
        }
    } else {
        let asked = format!("{{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{hello}}}\n");
        judge.receive(asked.as_bytes());
    }
    while let Some(event) = judge.poll_event() {
        if let crate::Event::Request(request) = event {
            let _ = judge.respond(&request.id, "{}");
        }
    }
    judge
}

/// Why a handler would never be called.
fn why_never<H: Handlers>(method: &str, config: &Config, judge: &Connection, handlers: &H) -> Option<String> {
    let row = TABLES.methods.iter().find(|row| row.name == method);
    let Some(row) = row else {
        if config.versions.iter().filter_map(tables::version).any(|of| of.methods.iter().any(|row| row.name == method))
        {
            return None;
        }
        let own = method == LEFT || method.starts_with('_') || config.is_foreign(method);
        return (!own).then(|| {
            let near = nearest(method, TABLES.methods.iter().map(|row| row.name));
            let meant = near.map_or_else(String::new, |name| format!(" (did you mean {name}?)"));
            format!("{method}: the specification has no such method{meant}; own ones begin with an underscore")
        });
    };
    if method == "$/cancel_request" {
        return Some(format!("{method}: handlers are dropped where they wait, and no handler is called for it"));
    }
    let draft = row.draft.checked_sub(1).and_then(|index| crate::schema::drafts::DRAFTS.get(usize::from(index)));
    if let Some(draft) = draft.filter(|_| config.drafts & (1 << row.draft) == 0) {
        return Some(format!("{method}: it belongs to the draft {draft}, which is off"));
    }
    let misuse = judge.why_not(method).filter(|_| judge.phase() == Phase::Ready)?;
    match misuse.kind {
        // With a handler for `initialize`, the capabilities may depend on the client.
        MisuseKind::Capability if !handlers.has("initialize", true) => Some(format!(
            "{method}: its handler is never called, as the capabilities do not say that it is served ({}); give them \
             with `capabilities`",
            misuse.rule
        )),
        MisuseKind::Method => {
            let (own, other) = if config.role == Role::Agent { ("agents", "clients") } else { ("clients", "agents") };
            Some(format!("{method}: {own} send it, and only {other} are called with it"))
        }
        _ => None,
    }
}
