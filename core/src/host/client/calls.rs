//! The calls of a client whose method, params or result are others in version 2.

use std::borrow::Cow;

use super::options::{listed, mode_option, opened};
use super::shapes::{copy, object, text, with};
use crate::connection::{Misuse, MisuseKind};
use crate::json;
use crate::Connection;

/// One of these calls.
#[derive(Debug)]
pub(super) struct Call {
    /// Its method in version 1.
    pub(super) method: &'static str,
    /// Its method in version 2.
    pub(super) new: &'static str,
    pub(super) params: Params,
    /// Its result in version 1.
    pub(super) result: fn(&str) -> String,
}

/// What its params are in version 2.
#[derive(Debug)]
pub(super) enum Params {
    Same,
    Shaped(fn(&str) -> String),
    /// It depends on the session.
    OfSession(fn(&Connection, &str) -> Result<String, Misuse>),
}

static CALLS: &[Call] = &[
    Call { method: "session/new", new: "session/new", params: Params::Shaped(served), result: opened },
    Call { method: "session/load", new: "session/resume", params: Params::Shaped(replayed), result: opened },
    Call { method: "session/resume", new: "session/resume", params: Params::Shaped(served), result: opened },
    Call { method: "session/fork", new: "session/fork", params: Params::Shaped(served), result: opened },
    Call {
        method: "session/set_mode",
        new: "session/set_config_option",
        params: Params::OfSession(mode),
        result: nothing,
    },
    Call {
        method: "session/set_config_option",
        new: "session/set_config_option",
        params: Params::Shaped(typed),
        result: listed,
    },
    Call { method: "authenticate", new: "auth/login", params: Params::Same, result: unchanged },
    Call { method: "logout", new: "auth/logout", params: Params::Same, result: unchanged },
];

impl Call {
    /// Its params in version 2. What is not an object is left for the connection to refuse.
    pub(super) fn params<'p>(&self, connection: &Connection, params: &'p str) -> Result<Cow<'p, str>, Misuse> {
        match self.params {
            _ if !params.trim_start().starts_with('{') => Ok(params.into()),
            Params::Same => Ok(params.into()),
            Params::Shaped(shape) => Ok(shape(params).into()),
            Params::OfSession(shape) => shape(connection, params).map(Cow::Owned),
        }
    }
}

pub(super) fn of(method: &str) -> Option<&'static Call> {
    CALLS.iter().find(|call| call.method == method)
}

fn unchanged(result: &str) -> String {
    result.to_owned()
}

fn nothing(_: &str) -> String {
    "{}".into()
}

/// A server without a type is a program in version 1, and says so in version 2.
fn served(params: &str) -> String {
    let Some(servers) = json::pointer(params, "/mcpServers").filter(|servers| servers.starts_with('[')) else {
        return params.to_owned();
    };
    let servers = json::items(servers).into_iter().map(|server| {
        let program = server.starts_with('{') && json::pointer(server, "/type").is_none();
        if program {
            Cow::Owned(with(server, "type", "\"stdio\""))
        } else {
            Cow::Borrowed(server)
        }
    });
    let list = json::list(servers, |writer, server| {
        writer.json(&server);
    });
    with(params, "mcpServers", &list)
}

fn replayed(params: &str) -> String {
    with(&served(params), "replayFrom", r#"{"type":"start"}"#)
}

/// The option that stands for the modes is set.
fn mode(connection: &Connection, params: &str) -> Result<String, Misuse> {
    let session = text(params, "/sessionId");
    let session = session.as_deref().and_then(|id| connection.session(id));
    let option = session.and_then(|session| mode_option(session.config_options()?));
    let id = match (session, option.and_then(|option| json::pointer(option, "/configId"))) {
        (_, Some(id)) => id,
        (Some(_), None) => {
            let message = "the session has no config option of the category mode, so it has no modes";
            return Err(Misuse::new(MisuseKind::Capability, id!("MODE-02"), message));
        }
        // The connection says what is wrong with the session.
        (None, None) => "\"mode\"",
    };
    Ok(object(params, |writer| {
        copy(writer, params, &["modeId"]);
        writer.key("configId").json(id).key("type").string("id");
        if let Some(mode) = json::pointer(params, "/modeId") {
            writer.key("value").json(mode);
        }
    }))
}

/// CONF-10: a change says of which type it is.
fn typed(params: &str) -> String {
    let kind = match json::pointer(params, "/value") {
        Some("true" | "false") => "\"boolean\"",
        _ => "\"id\"",
    };
    if json::pointer(params, "/type").is_some() {
        params.to_owned()
    } else {
        with(params, "type", kind)
    }
}
