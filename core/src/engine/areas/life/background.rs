//! Background work: the list in state updates, and the tool calls, terminals and child sessions that it names.

use std::borrow::Cow;

use super::super::recent::{Recent, KEPT};
use crate::engine::{Finding, OpenRequest, RuleContext, RuleMessage, Session, SessionState, State};
use crate::json::{self, Writer};
use crate::map::Set;
use crate::rules::Way;

/// The kinds of background work, and the member with the id of each.
const KINDS: &[(&str, &str)] = &[("tool_call", "/toolCallId"), ("terminal", "/terminalId"), ("subagent", "/sessionId")];
/// Where messages name a tool call or a terminal: updates first, then permission requests.
const NAMED: &[(&str, &str)] = &[
    ("tool_call", "/update/toolCallId"),
    ("terminal", "/update/terminalId"),
    ("tool_call", "/subject/toolCall/toolCallId"),
    ("tool_call", "/subject/toolCallId"),
    ("terminal", "/subject/terminalId"),
    ("tool_call", "/toolCallId"),
];
/// Final statuses of tool calls.
const FINAL: &[&str] = &["completed", "failed", "cancelled"];

/// The background work of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Background {
    /// The last reported list, as JSON text.
    list: Option<Box<str>>,
    /// The items of a known kind in the list; see [`key`].
    items: Set<Box<str>>,
    /// Announced tool calls and terminals, and whether each has ended.
    known: Recent<bool>,
    /// Some may have been announced on another connection.
    pub(super) elsewhere: bool,
}

impl Background {
    pub(super) fn list(&self) -> Option<&str> {
        self.list.as_deref()
    }

    /// Whether a tool call continues when the foreground work is cancelled.
    pub(crate) fn has_tool_call(&self, id: &str) -> bool {
        self.has(&key("tool_call", id))
    }

    /// Whether a child session continues when the foreground work is cancelled.
    pub(crate) fn has_child(&self, id: &str) -> bool {
        self.has(&key("subagent", id))
    }

    pub(super) fn of_child(parent: &Background) -> Background {
        Background { elsewhere: parent.elsewhere, ..Background::default() }
    }

    /// Replaces the list. A value that is not a list changes nothing.
    pub(super) fn replace(&mut self, list: &str, keep: usize) {
        if !list.starts_with('[') {
            return;
        }
        let items = json::items(list);
        let list = Some(list).filter(|list| items.len() <= keep && list.len() <= KEPT);
        self.items = Set::default();
        for key in items.into_iter().filter(|_| list.is_some()).filter_map(item_key) {
            self.items.insert(key.into(), ());
        }
        self.list = list.map(Into::into);
    }

    fn has(&self, key: &str) -> bool {
        self.items.contains_key(key) && id!("CANCEL-24").is_on(Way::Track)
    }

    /// Whether a permission request or an elicitation belongs to background work. One that names neither a tool call
    /// nor a terminal belongs to the foreground.
    pub(crate) fn asks(&self, question: &OpenRequest) -> bool {
        let of = question.note.as_deref().and_then(|note| json::pointer(note, "/of")).map(json::items);
        of.unwrap_or_default().into_iter().filter_map(json::unescape).any(|key| self.has(&key))
    }
}

fn key(kind: &str, id: &str) -> String {
    format!("{kind} {id}")
}

/// The key of an item of the list, if its kind is known.
fn item_key(item: &str) -> Option<String> {
    let kind = json::unescape(json::pointer(item, "/type")?)?;
    let (_, member) = KINDS.iter().find(|(known, _)| *known == kind)?;
    Some(key(&kind, &json::unescape(json::pointer(item, member)?)?))
}

fn items<'a>(update: &RuleMessage<'a>) -> Option<Vec<&'a str>> {
    update.get("/update/background").filter(|list| list.starts_with('[')).map(json::items)
}

/// The keys of the tool calls and terminals that a message names. A permission request may name one of each.
fn named(message: &RuleMessage<'_>) -> Vec<String> {
    let text = |(kind, place): &(&str, &str)| Some(key(kind, &message.text(place).filter(|id| id.len() <= KEPT)?));
    if message.method == "session/update" {
        NAMED[..2].iter().filter_map(text).collect()
    } else {
        NAMED[2..].iter().filter_map(text).collect()
    }
}

/// The terminals in the content of a tool call.
fn shown<'a>(message: &RuleMessage<'a>) -> Vec<Cow<'a, str>> {
    let places = ["/update/content", "/subject/toolCall/content"];
    let content = places.iter().find_map(|place| message.get(place)).unwrap_or("[]");
    let items = if content.starts_with('[') { json::items(content) } else { vec![content] };
    let id = |item| json::unescape(json::pointer(item, "/terminalId")?).filter(|id| id.len() <= KEPT);
    items.into_iter().filter_map(id).collect()
}

/// Remembers announced tool calls and terminals, and their ends. An update without a status does not change that.
pub(super) fn met(state: &mut State, message: &RuleMessage<'_>) -> Option<Box<str>> {
    let keep = state.config.limits.remembered;
    let session = state.sessions.get_mut(message.session)?;
    let status = ["/update/status", "/subject/toolCall/status"].iter().find_map(|place| message.text(place));
    let ended = match status {
        Some(status) => Some(FINAL.contains(&&*status)),
        None => message.get("/update/exitStatus").map(|_| true),
    };
    // A tool call may show a terminal before the terminal's first update.
    for id in message.may_have("terminal").then(|| shown(message)).into_iter().flatten() {
        session.work.background.known.entry(&key("terminal", &id), keep, || false);
    }
    for key in named(message) {
        let known = session.work.background.known.entry(&key, keep, || false);
        *known = ended.unwrap_or(*known);
    }
    None
}

pub(super) fn listed(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let keep = state.config.limits.remembered;
    let list = update.operation?.get("background")?;
    state.sessions.get_mut(update.session)?.work.background.replace(list, keep);
    None
}

/// Notes what a permission request or an elicitation names, for [`Background::asks`].
pub(super) fn asked(_: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let named = named(call);
    if named.is_empty() {
        return None;
    }
    let mut out = Writer::new();
    out.begin_object().key("of").begin_array();
    for key in &named {
        out.string(key);
    }
    out.end_array().end_object();
    out.finish().ok().map(Into::into)
}

/// Its work may have been announced on another connection.
pub(super) fn resumed(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    state.sessions.get_mut(call.session)?.work.background.elsewhere = true;
    None
}

/// A fork may list work that its source announced.
pub(super) fn forked(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let id = answer.text("/sessionId")?;
    state.sessions.told_mut(&id)?.work.background.elsewhere = true;
    None
}

fn session<'a>(context: &RuleContext<'a>) -> Option<&'a Session> {
    context.session().filter(|session| session.state == SessionState::Ready)
}

pub(super) fn left_out(context: &RuleContext<'_>) -> Option<Finding> {
    let reported = session(context)?.work.background.list.is_some();
    let missing = reported && context.message.get("/update/background").is_none();
    missing.then(|| {
        let message =
            "an agent that has reported background work includes the list in every state_update, even if it is empty";
        Finding::new("/update/background", message)
    })
}

/// The pointer to the first item for which this holds.
fn first(context: &RuleContext<'_>, mut holds: impl FnMut(&str) -> bool) -> Option<String> {
    let at = items(&context.message)?.into_iter().position(|item| item_key(item).is_some_and(|key| holds(&key)))?;
    Some(format!("/update/background/{at}"))
}

pub(super) fn not_announced(context: &RuleContext<'_>) -> Option<Finding> {
    let background = &session(context)?.work.background;
    let this = context.message.session?;
    // A child has to be announced on each connection: nothing else names its parent.
    let is_child = |id: &str| context.session_of(id).and_then(Session::parent) == Some(&**this);
    let place = first(context, |key| match key.strip_prefix("subagent ") {
        Some(id) => !is_child(id),
        None => !background.elsewhere && background.known.is_new(key),
    })?;
    Some(Finding::new(
        place,
        "this tool call, terminal or child session has not been announced; send its own update first",
    ))
}

pub(super) fn not_ended(context: &RuleContext<'_>) -> Option<Finding> {
    let background = &session(context)?.work.background;
    let now: Vec<String> = items(&context.message)?.into_iter().filter_map(item_key).collect();
    let gone = background.items.keys().filter(|key| !now.iter().any(|listed| **listed == ***key));
    let open = gone.filter(|key| background.known.get(key) == Some(&false)).count();
    (open > 0).then(|| {
        let message =
            "background work was removed from the list before it ended; send its final status or exitStatus first";
        Finding::new("/update/background", message)
    })
}

pub(super) fn twice(context: &RuleContext<'_>) -> Option<Finding> {
    let mut seen = Set::default();
    let place = first(context, |key| !seen.insert(Box::<str>::from(key), ()))?;
    Some(Finding::new(place, "the list already has this item"))
}
