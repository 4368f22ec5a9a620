//! Sessions that are not open here: their directories, deleted ones, and the cursors of lists.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::roots::SessionDirs;
use crate::engine::{Finding, RuleContext, RuleMessage, State};
use crate::json;
use crate::jsonrpc::ErrorCode;
use crate::map::{Map, Set};

/// Sessions that were listed, closed or deleted. Each part stops growing at the limit for sessions.
#[derive(Debug, Default)]
pub(crate) struct ClosedSessions {
    places: Map<Box<str>, SessionDirs>,
    /// Digests of the ids of deleted sessions, each with the serial number of the newest request at that time.
    deleted: Map<u64, u64>,
    /// Digests of the cursors that the agent has sent.
    cursors: Set<u64>,
    /// There were more cursors than the limit, so an unknown one is not an error.
    more_cursors: bool,
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

impl ClosedSessions {
    /// Keeps the directories of a session that is no longer open.
    pub(super) fn put(&mut self, id: &str, place: SessionDirs, limit: usize) {
        if self.places.len() < limit || self.places.contains_key(id) {
            self.places.insert(id.into(), place);
        }
    }

    pub(super) fn delete(&mut self, id: &str, limit: usize, newest: u64) {
        self.places.remove(id);
        if self.deleted.len() < limit {
            self.deleted.insert(digest(id), newest);
        }
    }

    /// A session was opened again, which may be a deleted one (SESS-48).
    pub(super) fn reopened(&mut self, id: &str) {
        self.places.remove(id);
        self.deleted.remove(&digest(id));
    }
}

/// The last known directories of the session of a call.
fn known<'a>(context: &RuleContext<'a>) -> Option<&'a SessionDirs> {
    let id = context.message.session?;
    let open = context.state.sessions.get(id).and_then(|session| session.place.as_ref());
    open.or_else(|| context.state.sessions.closed.places.get(&**id))
}

pub(super) fn roots_left_out(context: &RuleContext<'_>) -> Option<Finding> {
    let missing = context.message.get("/additionalDirectories").is_none();
    if !missing || known(context)?.roots.is_empty() {
        return None;
    }
    Some(Finding::new(
        "/additionalDirectories",
        "the session had additional directories and will lose them; give the complete list, or an empty one",
    ))
}

pub(super) fn moved(context: &RuleContext<'_>) -> Option<Finding> {
    let known = known(context)?;
    let cwd = context.message.text("/cwd")?;
    let roots = context.message.items("/additionalDirectories");
    let same_roots = roots.iter().filter_map(|root| json::unescape(root)).eq(known.roots.iter().map(|root| &**root));
    if *cwd == *known.cwd || roots.is_empty() || same_roots {
        return None;
    }
    Some(Finding::new("/cwd", "the directories change, but the working directory is not the session's own"))
}

pub(super) fn foreign_cursor(context: &RuleContext<'_>) -> Option<Finding> {
    let closed = &context.state.sessions.closed;
    let cursor = digest(&context.message.text("/cursor")?);
    if closed.more_cursors || closed.cursors.contains_key(&cursor) {
        return None;
    }
    Some(Finding::new(
        "/cursor",
        "no page on this connection returned this cursor; leave it out for the first page, then pass nextCursor on",
    ))
}

fn ids<'a>(answer: &RuleMessage<'a>) -> impl Iterator<Item = (&'a str, std::borrow::Cow<'a, str>)> {
    let id = |item| json::pointer(item, "/sessionId").and_then(json::unescape).map(|id| (item, id));
    answer.items("/sessions").into_iter().filter_map(id)
}

pub(super) fn deleted(context: &RuleContext<'_>) -> Option<Finding> {
    let deleted = &context.state.sessions.closed.deleted;
    if deleted.is_empty() {
        return None;
    }
    // A list that was requested before may have been put together before.
    let asked = context.message.request?.serial;
    let gone = |id: &str| deleted.get(&digest(id)).is_some_and(|newest| asked > *newest);
    let at = ids(&context.message).position(|(_, id)| gone(&id))?;
    Some(Finding::new(format!("/sessions/{at}"), "this session was deleted on this connection"))
}

pub(super) fn deletes_nothing(context: &RuleContext<'_>) -> Option<Finding> {
    let unknown = context.message.get("/code")?.parse() == Ok(ErrorCode::RESOURCE_NOT_FOUND.0);
    unknown.then(|| Finding::new("/code", "deleting an unknown session succeeds; answer with {}"))
}

/// Notes the working directory that a list is filtered by.
pub(super) fn filtered(_: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    call.get("/cwd").map(Into::into)
}

/// A directory in the form for comparisons: without a separator at its end, and in lower case if it has a drive. There, letters
/// beyond ASCII are all the same, which takes no table of their cases. Agents may compare more loosely, for example by the
/// targets of links.
fn directory(path: &str) -> String {
    let separators: &[char] = if path.contains(':') { &['/', '\\'] } else { &['/'] };
    let trimmed = path.trim_end_matches(separators);
    if path.contains(':') {
        let plain = |letter: char| if letter.is_ascii() { letter.to_ascii_lowercase() } else { '?' };
        trimmed.replace('\\', "/").chars().map(plain).collect()
    } else {
        trimmed.into()
    }
}

pub(super) fn elsewhere(context: &RuleContext<'_>) -> Option<Finding> {
    let wanted = directory(&json::unescape(context.message.note()?)?);
    let cwd = |item| json::pointer(item, "/cwd").and_then(json::unescape);
    let sessions = context.message.items("/sessions").into_iter().enumerate();
    // The target of a link often ends like the link.
    let same = |cwd: &str| cwd.ends_with(&wanted) || wanted.ends_with(cwd);
    let others = sessions.filter(|(_, item)| cwd(item).is_some_and(|cwd| !same(&directory(&cwd))));
    Finding::at_all(
        others.map(|(at, _)| format!("/sessions/{at}/cwd")).collect(),
        "the list was requested for another working directory; leave this session out",
    )
}

/// SESS-43: the directories in a list replace the known ones.
pub(super) fn listed(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let limit = state.config.limits.sessions;
    let closed = &mut state.sessions.closed;
    for (item, id) in ids(answer) {
        if let Some(place) = SessionDirs::read(item).filter(|_| !state.sessions.known.contains_key(&id)) {
            closed.put(&id, place, limit);
        }
    }
    if let Some(cursor) = answer.text("/nextCursor") {
        if closed.cursors.len() < limit {
            closed.cursors.insert(digest(&cursor), ());
        } else {
            closed.more_cursors = true;
        }
    }
    None
}
