//! Updates of version 1 in the shapes of version 2. One that has such a shape already goes out as it is.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use super::down::PLAN;
use super::newer::{Newer, Session, UPDATE};
use super::object::{each, is_object, quoted, text, Object};
use super::options::Options;
use super::tools;
use super::works::FINAL;
use crate::connection::Misuse;
use crate::{json, Connection, Event};

/// Kinds of chunks of messages, which need an id (LIFE-09).
pub(super) const CHUNKS: &[&str] = &["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"];
/// Kinds that stand between two messages: what is said after them is another one (TURN-09).
pub(super) const ENTRIES: &[&str] = &[
    "tool_call",
    "tool_call_update",
    "tool_call_content_chunk",
    "plan",
    "plan_update",
    "user_message",
    "agent_message",
    "agent_thought",
    "compaction_update",
];
/// What an update becomes, and the options of its session after it if they change.
type Changed = (Option<String>, Option<Options>);

type Change = fn(&Known<'_>, &str) -> Changed;

/// What is known of the session of an update.
struct Known<'k> {
    session: &'k Session,
    connection: &'k Connection,
    id: &'k str,
    handlers: &'k [String],
}

/// What each kind becomes that is another one in version 2.
const KINDS: &[(&str, Change)] = &[
    ("tool_call", |known, call| (Some(tools::start(&known.tool_call(call), known.has(call))), None)),
    ("tool_call_update", |known, call| (Some(tools::update(&known.tool_call(call))), None)),
    ("tool_call_content_chunk", |_, chunk| (Some(tools::chunk(chunk)), None)),
    ("terminal_update", |known, update| (known.terminal(update), None)),
    ("plan", |_, update| (Some(plan(update)), None)),
    ("plan_removed", |known, update| (known.no_plan(update), None)),
    ("available_commands_update", |_, update| (Some(commands(update)), None)),
    ("current_mode_update", mode),
    ("config_option_update", options),
    ("usage_update", |_, update| (Some(usage(update)), None)),
];

impl Newer {
    /// Sends a notification that is one of version 1. A held prompt becomes a message before the first of the work on it.
    pub(super) fn notify(
        &mut self,
        connection: &mut Connection,
        method: &str,
        params: &str,
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        let update = json::member(params, "update").filter(|_| method == UPDATE);
        let id = update.and_then(|_| json::unescape(json::member(params, "sessionId")?));
        let kind = update.and_then(|update| json::unescape(json::member(update, "sessionUpdate")?));
        let (Some(update), Some(id), Some(kind)) = (update, id, kind) else {
            return connection.notify(method, params);
        };
        if !self.sessions.contains_key(&*id) && connection.session(&id).is_some() {
            self.sessions.insert(Arc::from(&*id), Session::default());
        }
        let Some((session, known)) = self.sessions.get_key_value(&*id) else {
            return connection.notify(method, params);
        };
        let session = Arc::clone(session);
        let chunk_of = CHUNKS.iter().find(|known| **known == kind).copied();
        let mut options = None;
        let mut sent = Cow::Borrowed(params);
        let mut message = None;
        if let Some(kind) = chunk_of {
            if let Some((before, after)) = chunk(params, update) {
                let same = known.message.as_ref().filter(|(of, _)| *of == kind);
                let (_, id) = message.insert(same.cloned().unwrap_or_else(|| (kind, self.ids.next())));
                // The id needs no quoting.
                sent = format!("{before}\"messageId\":\"{id}\",{after}").into();
            }
        } else if let Some((_, change)) = KINDS.iter().find(|(known, _)| *known == kind).filter(|_| is_object(params)) {
            let known = Known { session: known, connection, id: &id, handlers: &self.handlers };
            let (instead, changed) = change(&known, update);
            options = changed;
            if let Some(update) = instead {
                let mut params = Object::of(params);
                params.set("update", update);
                sent = params.write().into();
            }
        }
        if let Some(prompt) = self.begins_with(connection, &id, &kind, update) {
            connection.check_notification(method, &sent)?;
            self.insert(connection, prompt, ready)?;
        }
        connection.notify(method, &sent)?;
        let Some(known) = self.sessions.get_mut(&session) else { return Ok(()) };
        if chunk_of.is_some() || ENTRIES.contains(&&*kind) {
            known.message = message;
        }
        known.options = options.unwrap_or_else(|| std::mem::take(&mut known.options));
        if kind.starts_with("tool_call") {
            known.tools.shown(update, connection.config().limits.remembered);
            self.left_background(connection, &session, update);
        } else if kind == "terminal_update" {
            self.left_background(connection, &session, update);
        } else if kind == "session_info_update" {
            known.title = json::pointer(update, "/title").map(Into::into).or(known.title.take());
        }
        Ok(())
    }
}

impl Known<'_> {
    /// Whether a tool call was reported.
    fn has(&self, call: &str) -> bool {
        text(call, "/toolCallId").is_some_and(|id| self.session.tools.has(&id))
    }

    fn serves(&self, method: &str) -> bool {
        self.handlers.iter().any(|known| known == method)
    }

    /// A tool call with what the client may do with it: it may be cancelled from its first report until its end, if the
    /// host has a handler for that (TOOL-37, TOOL-39).
    fn tool_call<'c>(&self, call: &'c str) -> Cow<'c, str> {
        if !self.serves("tool_call/cancel") {
            return call.into();
        }
        let is_over = text(call, "/status").is_some_and(|status| FINAL.contains(&&*status));
        let id = text(call, "/toolCallId").unwrap_or_default();
        let is_offered = || {
            self.connection
                .session(self.id)
                .is_some_and(|open| open.cancellable_tool_calls().any(|known| *known == *id))
        };
        let begins = json::pointer(call, "/sessionUpdate") == Some("\"tool_call\"") || !self.has(call);
        offered(call, is_over, begins, is_offered)
    }

    /// The same of a terminal, and its command (DTERM-14, DTERM-17). `None` if that changes nothing.
    fn terminal(&self, update: &str) -> Option<String> {
        let open = self.connection.session(self.id).filter(|_| self.serves("terminal/cancel"))?;
        let id = text(update, "/terminalId").unwrap_or_default();
        let is_over = json::pointer(update, "/exitStatus").is_some_and(|status| status != "null");
        let is_offered = || open.cancellable_terminals().any(|known| *known == *id);
        let begins =
            json::pointer(update, "/command").is_some() && open.display_terminals().all(|(known, _)| *known != *id);
        match offered(update, is_over, begins, is_offered) {
            Cow::Owned(update) => Some(update),
            Cow::Borrowed(_) => None,
        }
    }

    /// A plan that is removed, where that is no part of the version: one without entries.
    fn no_plan(&self, update: &str) -> Option<String> {
        let id = text(update, "/planId").filter(|_| !self.connection.can("session/update:plan_removed"))?;
        let mut update = Object::of(update);
        update.take("planId");
        update.set("sessionUpdate", "\"plan_update\"");
        update.set("plan", items(&id, "[]"));
        Some(update.write())
    }
}

/// An update of something that can be cancelled, with the capability for that, unless the update has some.
fn offered(update: &str, is_over: bool, begins: bool, is_offered: impl FnOnce() -> bool) -> Cow<'_, str> {
    let capabilities = match is_over {
        true if is_offered() => "null",
        false if begins => r#"{"cancel":{}}"#,
        _ => return update.into(),
    };
    let mut update = Object::of(update);
    if update.get("capabilities").is_none() {
        update.set("capabilities", capabilities);
    }
    update.write().into()
}

/// The text before and after the place for the id of a chunk that has none.
pub(super) fn chunk<'p>(params: &'p str, update: &'p str) -> Option<(&'p str, Cow<'p, str>)> {
    let at = update.as_ptr() as usize - params.as_ptr() as usize + 1;
    let (before, after) = params.split_at(at);
    match json::member(update, "messageId") {
        None => Some((before, after.into())),
        Some("null") => {
            let without = json::without(params, &["/update/messageId".to_owned()]);
            let after = without.get(at..)?.to_owned();
            Some((before, after.into()))
        }
        Some(_) => None,
    }
}

fn plan(update: &str) -> String {
    let mut update = Object::of(update);
    let entries = update.take("entries").unwrap_or("[]".into());
    update.set("sessionUpdate", "\"plan_update\"");
    update.set("plan", items(PLAN, &entries));
    update.write()
}

fn items(id: &str, entries: &str) -> String {
    format!(r#"{{"type":"items","planId":{},"entries":{entries}}}"#, quoted(id))
}

fn commands(update: &str) -> String {
    let mut update = Object::of(update);
    update.change("availableCommands", |commands| {
        each(commands, |command| {
            let mut command = Object::of(command);
            command.set_absent("type", "\"command\"");
            command.change("input", |input| {
                let mut input = Object::of(input);
                input.set_absent("type", "\"text\"");
                input.write()
            });
            command.write()
        })
    });
    update.write()
}

fn usage(update: &str) -> String {
    let mut update = Object::of(update);
    // In version 2, null takes the cost back.
    update.retain(|name, value| name != "cost" || value != "null");
    update.write()
}

/// A change of the mode, as all options. It stays as it is where there is no option for it.
fn mode(known: &Known<'_>, update: &str) -> Changed {
    let mut options = known.session.options.clone();
    let Some(true) = text(update, "/currentModeId").map(|mode| options.set_mode(&mode)) else { return (None, None) };
    let mut update = Object::of(update);
    update.take("currentModeId");
    update.set("sessionUpdate", "\"config_option_update\"");
    update.set("configOptions", options.full());
    (Some(update.write()), Some(options))
}

fn options(known: &Known<'_>, update: &str) -> Changed {
    let mut options = known.session.options.clone();
    let mut update = Object::of(update);
    let Some(list) = update.take("configOptions") else { return (None, None) };
    options.replace(&list);
    update.set("configOptions", options.full());
    (Some(update.write()), Some(options))
}
