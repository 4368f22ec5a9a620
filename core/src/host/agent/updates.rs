//! Updates of version 1 in the shapes of version 2. One that has such a shape already goes out as it is.

use std::borrow::Cow;
use std::sync::Arc;

use super::newer::{Newer, Session, UPDATE};
use super::object::{each, is_object, text, Object};
use super::options::Options;
use super::tools;
use crate::connection::Misuse;
use crate::{json, Connection};

/// Kinds of chunks of messages, which need an id (LIFE-09).
const CHUNKS: &[&str] = &["agent_message_chunk", "agent_thought_chunk", "user_message_chunk"];
/// Kinds that stand between two messages: what is said after them is another one (TURN-09).
const ENTRIES: &[&str] = &[
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
/// The id of the plan of version 1, which is the only one of its session.
const PLAN: &str = "main";

/// What an update becomes, and the options of its session after it if they change.
type Changed = (Option<String>, Option<Options>);

type Change = fn(&Session, &str) -> Changed;

/// What each kind becomes that is another one in version 2.
const KINDS: &[(&str, Change)] = &[
    ("tool_call", |known, call| (Some(tools::start(call, is_known(known, call))), None)),
    ("tool_call_update", |_, call| (Some(tools::update(call)), None)),
    ("plan", |_, update| (Some(plan(update)), None)),
    ("available_commands_update", |_, update| (Some(commands(update)), None)),
    ("current_mode_update", mode),
    ("config_option_update", options),
    ("usage_update", |_, update| (Some(usage(update)), None)),
];

impl Newer {
    /// Sends a notification that is one of version 1.
    pub(super) fn notify(&mut self, connection: &mut Connection, method: &str, params: &str) -> Result<(), Misuse> {
        let update = json::member(params, "update").filter(|_| method == UPDATE);
        let id = update.and_then(|_| json::unescape(json::member(params, "sessionId")?));
        let kind = update.and_then(|update| json::unescape(json::member(update, "sessionUpdate")?));
        let (Some(update), Some(id), Some(kind)) = (update, id, kind) else {
            return connection.notify(method, params);
        };
        if !self.sessions.contains_key(&*id) && connection.session(&id).is_some() {
            self.sessions.insert(Arc::from(&*id), Session::default());
        }
        let Some(known) = self.sessions.get_mut(&*id) else { return connection.notify(method, params) };
        if let Some(kind) = CHUNKS.iter().find(|known| **known == kind) {
            let chunk = chunk(params, update);
            let Some((before, after)) = chunk else {
                known.message = None;
                return connection.notify(method, params);
            };
            let message = known.message.take().filter(|(of, _)| of == kind);
            let (_, message) = known.message.insert(message.unwrap_or_else(|| (kind, self.ids.next())));
            // The id needs no quoting.
            return connection.notify(method, &format!("{before}\"messageId\":\"{message}\",{after}"));
        }
        let row = KINDS.iter().find(|(known, _)| *known == kind);
        let (instead, options) =
            row.filter(|_| is_object(params)).map_or((None, None), |(_, change)| change(known, update));
        let sent = instead.map_or(Cow::Borrowed(params), |update| {
            let mut params = Object::of(params);
            params.set("update", update);
            params.write().into()
        });
        connection.notify(method, &sent)?;
        known.options = options.unwrap_or_else(|| std::mem::take(&mut known.options));
        if kind.starts_with("tool_call") {
            known.tools.shown(update, connection.config().limits.remembered);
        } else if kind == "session_info_update" {
            known.title = json::pointer(update, "/title").map(Into::into).or(known.title.take());
        }
        if ENTRIES.contains(&&*kind) {
            known.message = None;
        }
        Ok(())
    }
}

/// The text before and after the place for the id of a chunk that has none.
fn chunk<'p>(params: &'p str, update: &'p str) -> Option<(&'p str, Cow<'p, str>)> {
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

fn is_known(known: &Session, call: &str) -> bool {
    text(call, "/toolCallId").is_some_and(|id| known.tools.has(&id))
}

fn plan(update: &str) -> String {
    let mut update = Object::of(update);
    let entries = update.take("entries").unwrap_or("[]".into());
    update.set("sessionUpdate", "\"plan_update\"");
    update.set("plan", format!(r#"{{"type":"items","planId":"{PLAN}","entries":{entries}}}"#));
    update.write()
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
fn mode(known: &Session, update: &str) -> Changed {
    let mut options = known.options.clone();
    let Some(true) = text(update, "/currentModeId").map(|mode| options.set_mode(&mode)) else { return (None, None) };
    let mut update = Object::of(update);
    update.take("currentModeId");
    update.set("sessionUpdate", "\"config_option_update\"");
    update.set("configOptions", options.full());
    (Some(update.write()), Some(options))
}

fn options(known: &Session, update: &str) -> Changed {
    let mut options = known.options.clone();
    let mut update = Object::of(update);
    let Some(list) = update.take("configOptions") else { return (None, None) };
    options.replace(&list);
    update.set("configOptions", options.full());
    (Some(update.write()), Some(options))
}
