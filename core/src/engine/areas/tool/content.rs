//! The content of tool calls: terminals and sessions must exist, and patches must agree with the listed changes.

use std::borrow::Cow;

use super::patch::{self, Patch};
use super::{session, Shown};
use crate::engine::{Finding, RuleContext};
use crate::json;
use crate::text::printable;

fn text<'a>(item: &'a str, pointer: &str) -> Option<Cow<'a, str>> {
    json::unescape(json::pointer(item, pointer)?)
}

/// The content items of a type, each with its pointer. An update has a list, a chunk a single item.
fn items<'a>(context: &RuleContext<'a>, kind: &str) -> Vec<(String, &'a str)> {
    // Most tool calls have none, and parsing their content again would cost as much as the message itself.
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

/// The pointer to a member of the first item of a type for which this holds.
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

/// The id of a terminal of the agent that a message announces. The specification has no such terminals, but agents and
/// editors share a convention: `terminal_info` in `_meta` names a terminal that the agent runs, and its output comes in
/// `_meta` as well.
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
        // An update replaces the whole list, so a released terminal may be in it again; TERM-14 checks that.
        let open = session.terminals.contains_key(id) || session.released.has(id);
        !open && session.tools.own_terminals.is_new(id) && own.as_deref() != Some(id)
    };
    Some(Finding::new(
        place_of(context, "terminal", "/terminalId", gone)?,
        "no terminal with this id is open in the session; show it before it is released",
    ))
}

/// The git patches in the content, each with its pointer and its diff.
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

/// The listed changes take precedence over the patch, but the patch must not contain other files.
pub(super) fn other_files(context: &RuleContext<'_>) -> Option<Finding> {
    patches(context).find_map(|(place, patch, diff)| {
        let Patch { paths } = patch::read(&patch).ok()?;
        let changes = json::columns(json::pointer(diff, "/changes")?, ["operation", "path", "oldPath"]);
        let string = |json: Option<&'_ str>| json.and_then(json::unescape).map(Cow::into_owned);
        // The paths of an unknown operation are not known.
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
        let mut quoted = String::new();
        json::quote(&mut quoted, &shown);
        let shown = printable(&quoted);
        Some(Finding::new(place, format!("the patch is about {shown}, which the changes do not list")))
    })
}
