//! What is known of a connection, as JSON text: what the shapes of getters take that the core has no JSON for.

use std::sync::Arc;

use libacp::connection::{OpenRequest, Session, TerminalRef};
use libacp::json::{list, Writer};

/// An object from session id to session.
pub(crate) fn sessions<'a>(sessions: impl Iterator<Item = (&'a Arc<str>, &'a Session)>) -> String {
    let mut out = Writer::new();
    out.begin_object();
    for (id, session) in sessions {
        out.key(id);
        write_session(&mut out, session);
    }
    out.end_object();
    out.finish().unwrap_or_default()
}

/// One session.
pub(crate) fn session(session: &Session) -> String {
    let mut out = Writer::new();
    write_session(&mut out, session);
    out.finish().unwrap_or_default()
}

fn write_session(out: &mut Writer, session: &Session) {
    out.begin_object();
    out.key("state").string(session.state.name());
    out.key("turn").string(session.turn.name());
    out.key("terminals").begin_object();
    for (id, ended) in &session.terminals {
        out.key(id).boolean(*ended);
    }
    out.end_object().end_object();
}

/// A list of open requests.
pub(crate) fn requests<'a>(requests: impl Iterator<Item = &'a OpenRequest>) -> String {
    list(requests, write_request)
}

/// An open request.
pub(crate) fn request(request: &OpenRequest) -> String {
    let mut out = Writer::new();
    write_request(&mut out, request);
    out.finish().unwrap_or_default()
}

fn write_request(out: &mut Writer, request: &OpenRequest) {
    out.begin_object();
    out.key("id").json(&request.id.to_json());
    out.key("serial").unsigned(request.serial);
    out.key("method").string(&request.method);
    if let Some(session) = &request.session {
        out.key("session").string(session);
    }
    out.key("cancelled").boolean(request.cancelled);
    if let Some(deadline) = request.deadline {
        out.key("deadline").unsigned(deadline);
    }
    out.end_object();
}

/// A list of terminals.
pub(crate) fn terminals(terminals: &[TerminalRef]) -> String {
    list(terminals.iter(), |out, terminal| {
        out.begin_object()
            .key("session")
            .string(&terminal.session)
            .key("terminal")
            .string(&terminal.terminal)
            .end_object();
    })
}
