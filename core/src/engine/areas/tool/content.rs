//! What tool calls show: terminals and sessions that must be there, and patches that must agree with their changes.

use std::borrow::Cow;

use super::patch::{self, Patch};
use super::{session, Shown};
use crate::engine::{Finding, RuleContext};
use crate::json;

fn text<'a>(item: &'a str, pointer: &str) -> Option<Cow<'a, str>> {
    json::unescape(json::pointer(item, pointer)?)
}

/// The items of a type among what a message shows, each with its place: a list in an update, a single one in a chunk.
fn items<'a>(context: &RuleContext<'a>, kind: &str) -> Vec<(String, &'a str)> {
    // Most tool calls show none, and reading all their contents again would cost as much as the message itself.
    if !context.message.may_have(kind) {
        return Vec::new();
    }
    let Some(shown) = Shown::of(&context.message, context.state) else { return Vec::new() };
    let place = shown.places.content;
    let listed = shown.message.get(place).unwrap_or("[]");
    let of_kind = |item: &str| text(item, "/type").is_some_and(|it| it == kind);
    if listed.starts_with('{') {
        return if of_kind(listed) { vec![(place.to_owned(), listed)] } else { Vec::new() };
    }
    let all = json::items(listed).into_iter().enumerate();
    all.filter(|(_, item)| of_kind(item)).map(|(at, item)| (format!("{place}/{at}"), item)).collect()
}

/// The place of a member of the first item of a type for which this holds.
fn place_of(context: &RuleContext<'_>, kind: &str, member: &str, is: impl Fn(&str) -> bool) -> Option<String> {
    let found = |item: &str| text(item, member).is_some_and(|value| is(&value));
    let (place, _) = items(context, kind).into_iter().find(|(_, item)| found(item))?;
    Some(format!("{place}{member}"))
}

pub(super) fn link_not_advertised(context: &RuleContext<'_>) -> Option<Finding> {
    context.lacks("session")?;
    let pointer = place_of(context, "session", "/sessionId", |_| true)?;
    Some(Finding::new(pointer, "a link to a session, but the client did not advertise subagents"))
}

pub(super) fn no_session(context: &RuleContext<'_>) -> Option<Finding> {
    let pointer = place_of(context, "session", "/sessionId", |id| context.session_of(id).is_none())?;
    Some(Finding::new(
        pointer,
        "no such session on this connection; announce a child session with subagent_update first",
    ))
}

/// The terminal of the agent's own that a message announces. The specification has none, but agents and editors share a
/// habit: `terminal_info` in `_meta` names a terminal that the agent runs, and its output comes in `_meta` as well.
pub(super) fn own_terminal(meta: &str) -> Option<Cow<'_, str>> {
    let told =
        json::mentions(meta.as_bytes(), b"\"terminal_info\"").then(|| json::agreed(meta, "/terminal_info/terminal_id"));
    json::unescape(told??)
}

pub(super) fn no_terminal(context: &RuleContext<'_>) -> Option<Finding> {
    let session = session(context)?;
    let shown = Shown::of(&context.message, context.state)?;
    let own = shown.message.get(shown.places.meta).and_then(own_terminal);
    let gone = |id: &str| {
        // An update replaces the whole list, so what was shown before its release may stay; TERM-14 has the rest.
        let open = session.terminals.contains_key(id) || session.released.has(id);
        !open && session.tools.own_terminals.is_new(id) && own.as_deref() != Some(id)
    };
    Some(Finding::new(
        place_of(context, "terminal", "/terminalId", gone)?,
        "no terminal with this id is open in the session; show it before it is released",
    ))
}

/// The patches of git among what a message shows, each with its place and the diff that it is of.
fn patches<'a>(context: &RuleContext<'a>) -> impl Iterator<Item = (String, Cow<'a, str>, &'a str)> {
    items(context, "diff").into_iter().filter_map(|(place, diff)| {
        let is_git = text(diff, "/patch/format")? == "git_patch";
        is_git.then_some((format!("{place}/patch/text"), text(diff, "/patch/text")?, diff))
    })
}

pub(super) fn odd_patch(context: &RuleContext<'_>) -> Option<Finding> {
    patches(context).find_map(|(place, text, _)| {
        let patch::Wrong { line, why } = patch::read(&text).err()?;
        Some(Finding::new(place, format!("line {line} of the patch: {why}")))
    })
}

/// The changes decide, whatever the patch says; but it is to say nothing else.
pub(super) fn other_files(context: &RuleContext<'_>) -> Option<Finding> {
    patches(context).find_map(|(place, patch, diff)| {
        let Patch { paths } = patch::read(&patch).ok()?;
        let changes = json::columns(json::pointer(diff, "/changes")?, ["operation", "path", "oldPath"]);
        let string = |json: Option<&'_ str>| json.and_then(json::unescape).map(Cow::into_owned);
        // What an unknown operation is about, nobody knows.
        let known = |operation: Option<String>| {
            operation.is_some_and(|name| matches!(&*name, "add" | "delete" | "modify" | "move" | "copy"))
        };
        if !changes.iter().all(|[operation, ..]| known(string(*operation))) {
            return None;
        }
        let listed: Vec<String> =
            changes.iter().flat_map(|[_, path, old]| [string(*path), string(*old)]).flatten().collect();
        let other = paths.iter().find(|path| !listed.contains(path))?;
        let shown: String = other.chars().take(256).collect();
        Some(Finding::new(place, format!("the patch is about {shown:?}, which the changes do not list")))
    })
}
