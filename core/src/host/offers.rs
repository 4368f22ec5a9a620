//! What a host offers: the capabilities that its handlers show, and handlers and capabilities that cannot work.
//!
//! The gates of the model say which capability stands for a method. An empty object or a boolean says no more than that
//! the method is served, so a handler shows it; a capability with members of its own says more, and is stated by the host.

use std::fmt;

use super::client::shapes::with;
use crate::json;
use crate::nearest::nearest;
use crate::schema::drafts::DRAFTS;
use crate::schema::tables::v1::TABLES;
use crate::text::joined;
use crate::validation::table::{Field, From, Gate, Kind, Method, Type};
use crate::{Config, Role};

/// A handler that could never be called, or a capability that promises what no handler does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferError {
    /// The method that it is about.
    pub method: String,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for OfferError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OfferError {}

/// An agent answers `session/close` without a handler, too: the work of the session has been cancelled by then (SESS-23).
const ALWAYS: &str = "session/close";
const INITIALIZE: &str = "initialize";
const CANCEL: &str = "$/cancel_request";
/// What clients ask an agent in a later version, and not in version 1.
const LATER: &[&str] = &["tool_call/cancel", "terminal/cancel"];

/// Whether a handler of a method could be called, whatever other handlers there are; `stated` as for [`offers`]. For hosts
/// whose handlers are given one by one, so that a wrong one is refused in its place.
///
/// # Errors
/// [`OfferError`] for a handler that [`offers`] would refuse by itself.
pub fn may_handle(config: &Config, method: &str, stated: &str) -> Result<(), OfferError> {
    let Some(gate) = row_of(config, method)?.and_then(|row| row.gate) else { return Ok(()) };
    // An agent may still get a handler of `initialize`, which states the rest.
    if config.role() == Role::Agent || is_shown(config.role(), &gate) || is_open(stated, &gate) {
        return Ok(());
    }
    unstated(method, &gate)
}

/// The capabilities of a host, in the shape of version 1: those that the handlers of these methods show, added to what
/// the host states itself, which is a JSON object.
///
/// With a handler of `initialize`, capabilities may depend on the client, so that any handler may be called.
///
/// # Errors
/// [`OfferError`] for a handler of a method that this side is never called with: one that does not exist, that the other
/// side serves, that belongs to a disabled draft, or whose capability says more than that it is served and is not stated.
/// Also when only some methods of terminals have handlers (TERM-01), and when a stated capability speaks of a request
/// that has none (CAP-07).
pub fn offers(config: &Config, handlers: &[&str], stated: &str) -> Result<String, OfferError> {
    let stated = Some(stated.trim()).filter(|stated| stated.starts_with('{')).unwrap_or("{}");
    let mut all = stated.to_owned();
    for method in handlers {
        if let Some(gate) =
            row_of(config, method)?.and_then(|row| row.gate).filter(|gate| is_shown(config.role(), gate))
        {
            all = shown(&all, gate.path, gate.boolean);
        }
    }
    if config.role() == Role::Agent {
        for gate in rows(config).filter(|row| row.name == ALWAYS).filter_map(|row| row.gate) {
            all = shown(&all, gate.path, gate.boolean);
        }
    }
    let depends = handlers.contains(&INITIALIZE);
    for row in rows(config) {
        let Some(gate) = row.gate else { continue };
        let path = joined(gate.path, ".");
        let served = handlers.contains(&row.name);
        if served && !depends && !is_open(&all, &gate) {
            return unstated(row.name, &gate);
        }
        if served {
            continue;
        }
        // One capability for several methods, which are of no use without each other.
        let of_it = || rows(config).filter(|other| other.gate == row.gate);
        if gate.boolean && of_it().any(|other| handlers.contains(&other.name)) {
            let missing = of_it().map(|other| other.name).filter(|name| !handlers.contains(name));
            let missing = joined(&missing.collect::<Vec<_>>(), ", ");
            let message =
                format!("the capability {path} needs handlers of all its methods, and there is none of {missing}");
            return refused(row.name, message);
        }
        if is_open(stated, &gate) && row.kind != Kind::Notification && row.name != ALWAYS {
            let message = format!(
                "capabilities: {path} says that {} is served, and no handler serves it; give its handler, or leave the \
                 capability out",
                row.name
            );
            return refused(row.name, message);
        }
    }
    Ok(all)
}

fn refused<T>(method: &str, message: String) -> Result<T, OfferError> {
    Err(OfferError { method: method.to_owned(), message })
}

fn unstated<T>(method: &str, gate: &Gate) -> Result<T, OfferError> {
    let path = joined(gate.path, ".");
    let message = format!(
        "{method} needs the capability {path}, which says more than a handler shows; state it in `capabilities`"
    );
    refused(method, message)
}

fn serves(role: Role, row: &Method) -> bool {
    match row.from {
        From::Both => true,
        From::Client => role == Role::Agent,
        From::Agent => role == Role::Client,
    }
}

fn is_on(config: &Config, row: &Method) -> bool {
    row.draft == 0 || config.drafts & (1 << row.draft) != 0
}

/// The methods that this side can be called with.
fn rows(config: &Config) -> impl Iterator<Item = &'static Method> + '_ {
    TABLES.methods.iter().filter(|row| serves(config.role(), row) && is_on(config, row))
}

/// The row of a method that may have a handler; `None` for one of an extension.
fn row_of(config: &Config, method: &str) -> Result<Option<&'static Method>, OfferError> {
    if method.starts_with('_') || config.is_foreign(method) {
        return Ok(None);
    }
    if method == CANCEL {
        return refused(method, format!("{method} has no handler: it cancels the handler that serves the request"));
    }
    if config.role() == Role::Agent && LATER.contains(&method) {
        if config.versions.contains(2) {
            return Ok(None);
        }
        return refused(method, format!("{method} is of version 2, which is not among the `versions`"));
    }
    let known = || TABLES.methods.iter().filter(|row| serves(config.role(), row));
    let Some(row) = known().find(|row| row.name == method) else {
        if TABLES.methods.iter().any(|row| row.name == method) {
            let (own, other) = (config.role().name(), config.role().other().name());
            return refused(method, format!("{method} is sent by {own}s: its handler belongs to the {other}"));
        }
        let near = nearest(method, known().map(|row| row.name));
        let meant = near
            .map_or("names of extensions begin with an underscore".to_owned(), |name| format!("did you mean {name}?"));
        return refused(method, format!("there is no method {method}; {meant}"));
    };
    if !is_on(config, row) {
        let draft = DRAFTS.get(usize::from(row.draft) - 1).copied().unwrap_or_default();
        return refused(method, format!("{method} belongs to the draft {draft}, which is off; add it to the `drafts`"));
    }
    Ok(Some(row))
}

/// Whether a handler alone shows a capability: it is a boolean, or an object without members of its own, and no part of
/// one that has to be stated.
fn is_shown(role: Role, gate: &Gate) -> bool {
    let is_stated = |other: &Gate| gate.path.starts_with(other.path) && !other.boolean && has_members(role, other);
    !TABLES.methods.iter().filter_map(|row| row.gate).any(|other| is_stated(&other))
}

fn has_members(role: Role, gate: &Gate) -> bool {
    let mut fields = capabilities_of(role);
    for (depth, step) in gate.path.iter().enumerate() {
        let Some(field) = fields.iter().find(|field| field.name == *step) else { return depth > 0 };
        fields = members(TABLES.types.get(usize::from(field.ty)));
    }
    fields.iter().any(|field| field.name != "_meta")
}

fn members(ty: Option<&'static Type>) -> &'static [Field] {
    match ty {
        Some(Type::Object { fields }) => fields,
        _ => &[],
    }
}

/// The members of the capabilities that a side states in `initialize`.
fn capabilities_of(role: Role) -> &'static [Field] {
    let Some(row) = TABLES.methods.iter().find(|row| row.name == INITIALIZE) else { return &[] };
    let (hello, name) = match role {
        Role::Client => (row.params, TABLES.dialect.client.capabilities),
        Role::Agent => (row.result, TABLES.dialect.agent.capabilities),
    };
    let fields = members(TABLES.types.get(usize::from(hello)));
    let field = fields.iter().find(|field| field.name == name);
    field.map_or(&[], |field| members(TABLES.types.get(usize::from(field.ty))))
}

/// Whether capabilities say that what a gate stands for is served (CAP-01, CAP-04).
fn is_open(capabilities: &str, gate: &Gate) -> bool {
    match json::pointer(capabilities, &format!("/{}", joined(gate.path, "/"))) {
        Some("true") => true,
        Some(value) => value.starts_with('{') && !gate.boolean,
        None => false,
    }
}

/// The capabilities with one more, unless something stands in its place.
fn shown(capabilities: &str, path: &[&str], boolean: bool) -> String {
    let Some((step, rest)) = path.split_first() else {
        let now = match (capabilities, boolean) {
            ("null" | "false", true) => "true",
            ("null" | "false", false) => "{}",
            (stated, _) => stated,
        };
        return now.to_owned();
    };
    let capabilities = if capabilities == "null" { "{}" } else { capabilities };
    if !capabilities.starts_with('{') {
        return capabilities.to_owned();
    }
    let below = json::pointer(capabilities, &format!("/{step}")).unwrap_or("null");
    with(capabilities, step, &shown(below, rest, boolean))
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    fn told(config: &Config, handlers: &[&str], stated: &str) -> Value {
        serde_json::from_str(&offers(config, handlers, stated).unwrap()).unwrap()
    }

    fn why(config: &Config, handlers: &[&str], stated: &str) -> String {
        offers(config, handlers, stated).unwrap_err().to_string()
    }

    #[test]
    fn handlers_show_what_they_serve() {
        let agent = Config::agent();
        assert_eq!(told(&agent, &[], "{}"), serde_json::json!({"sessionCapabilities": {"close": {}}}));
        let more = told(
            &agent,
            &["session/load", "session/list", "logout", "_own"],
            r#"{"promptCapabilities":{"image":true}}"#,
        );
        let expected = serde_json::json!({
            "loadSession": true, "sessionCapabilities": {"close": {}, "list": {}}, "auth": {"logout": {}},
            "promptCapabilities": {"image": true}
        });
        assert_eq!(more, expected);
        let client = Config::client();
        assert_eq!(told(&client, &["fs/read_text_file"], "{}"), serde_json::json!({"fs": {"readTextFile": true}}));
        // What was stated stays as it is.
        let stated = r#"{"sessionCapabilities":{"list":{"_meta":{"a":1}}},"loadSession":false}"#;
        let merged = told(&agent, &["session/list", "session/load"], stated);
        assert_eq!(merged["sessionCapabilities"]["list"], serde_json::json!({"_meta": {"a": 1}}));
        assert_eq!(merged["loadSession"], Value::Bool(true));
    }

    #[test]
    fn terminals_have_all_handlers_or_none() {
        let client = Config::client();
        let all = ["terminal/create", "terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"];
        assert_eq!(told(&client, &all, "{}"), serde_json::json!({"terminal": true}));
        let text = why(&client, &all[1..], "{}");
        assert!(text.contains("terminal/create") && text.contains("terminal"), "{text}");
        assert_eq!(told(&client, &["fs/write_text_file"], "{}"), serde_json::json!({"fs": {"writeTextFile": true}}));
    }

    #[test]
    fn what_says_more_than_a_handler_is_stated() {
        let mut client = Config::client();
        for handlers in [&["elicitation/create"][..], &["elicitation/complete"]] {
            assert!(why(&client, handlers, "{}").contains("elicitation"), "{handlers:?}");
        }
        let stated = r#"{"elicitation":{"url":{}}}"#;
        let both = ["elicitation/create", "elicitation/complete"];
        assert_eq!(told(&client, &both, stated), serde_json::from_str::<Value>(stated).unwrap());
        client.draft("nes").unwrap();
        let mut agent = Config::agent();
        agent.draft("nes").unwrap();
        assert!(why(&agent, &["nes/start"], "{}").contains("nes"));
        assert!(why(&agent, &["document/didOpen"], "{}").contains("nes.events.document.didOpen"));
        assert!(offers(&agent, &["nes/start", "initialize"], "{}").is_ok());
    }

    #[test]
    fn one_handler_is_refused_for_what_no_other_changes() {
        let (agent, client) = (Config::agent(), Config::client());
        let why = |config: &Config, method: &str, stated: &str| may_handle(config, method, stated).unwrap_err().message;
        assert!(why(&agent, "session/setmode", "{}").contains("session/set_mode"));
        assert!(why(&client, "elicitation/create", "{}").contains("elicitation"));
        assert_eq!(may_handle(&client, "elicitation/create", r#"{"elicitation":{"form":{}}}"#), Ok(()));
        // Alone it is not enough, which is said once all are there.
        assert_eq!(may_handle(&client, "terminal/create", "{}"), Ok(()));
        let mut drafts = Config::agent();
        drafts.draft("nes").unwrap();
        assert_eq!(may_handle(&drafts, "nes/start", "{}"), Ok(()));
        assert!(offers(&drafts, &["nes/start"], "{}").is_err());
    }

    #[test]
    fn what_a_later_version_asks_is_served_where_it_is_spoken() {
        let mut agent = Config::agent();
        for method in ["tool_call/cancel", "terminal/cancel"] {
            assert!(why(&agent, &[method], "{}").contains("version 2"), "{method}");
            assert!(why(&Config::client(), &[method], "{}").contains(method));
        }
        agent.versions = crate::connection::Versions::of([1, 2]).unwrap();
        assert_eq!(told(&agent, &["tool_call/cancel"], "{}"), told(&agent, &[], "{}"));
        // It has another name for handlers.
        assert!(why(&agent, &["auth/login"], "{}").contains("auth/login"));
    }

    #[test]
    fn what_cannot_work_is_refused() {
        let agent = Config::agent();
        let cases = [
            ("session/setmode", "session/set_mode"),
            ("weather/today", "underscore"),
            ("fs/read_text_file", "client"),
            ("session/update", "client"),
            ("$/cancel_request", "$/cancel_request"),
            ("session/fork", "session_fork"),
            ("mcp/message", "mcp_over_acp"),
        ];
        for (method, word) in cases {
            let text = why(&agent, &[method], "{}");
            assert!(text.contains(method) && text.contains(word), "{text}");
        }
        for (stated, method) in [
            (r#"{"loadSession":true}"#, "session/load"),
            (r#"{"sessionCapabilities":{"list":{}}}"#, "session/list"),
            (r#"{"auth":{"logout":{}}}"#, "logout"),
        ] {
            let text = why(&agent, &[], stated);
            assert!(text.contains(method) && text.contains("capabilities"), "{text}");
        }
        assert!(offers(&agent, &[], r#"{"sessionCapabilities":{"close":{}}}"#).is_ok());
    }
}
