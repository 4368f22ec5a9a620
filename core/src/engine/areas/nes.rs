//! NES: sessions of next edit suggestions, and the documents that a client reports in them (draft `nes`).
//!
//! Gates and types are in the model, for both versions. For version 2, this tracks which sessions are open, their open
//! documents with the version of each, and their suggestions. These sessions are unrelated to those of conversations
//! (NES-03), so they have a table of their own.

use std::borrow::Cow;

use crate::engine::{
    Action, Area, Check, Finding, MessageKind, MisuseKind, Role, RuleContext, RuleMessage, State, Tracker,
};
use crate::json;
use crate::jsonrpc::{ErrorCode, MAX_NAME_BYTES};
use crate::map::{Map, Set, StringMap};

const INITIALIZE: &[&str] = &["initialize"];
const START: &[&str] = &["nes/start"];
const SUGGEST: &[&str] = &["nes/suggest"];
const CLOSE: &[&str] = &["nes/close"];
const JUDGED: &[&str] = &["nes/accept", "nes/reject"];
const OPENED: &[&str] = &["document/didOpen"];
const CHANGED: &[&str] = &["document/didChange"];
const SHUT: &[&str] = &["document/didClose"];
/// Notifications about open documents.
const AFTERWARDS: &[&str] = &["document/didChange", "document/didClose", "document/didSave", "document/didFocus"];
const LOOKED_AT: &[&str] = &["document/didFocus", "nes/suggest"];
/// All messages that name a session.
const IN_SESSION: &[&str] = &[
    "nes/suggest",
    "nes/accept",
    "nes/reject",
    "nes/close",
    "document/didOpen",
    "document/didChange",
    "document/didClose",
    "document/didSave",
    "document/didFocus",
];
/// The kinds of context, and whether the agent can limit the number of items.
const CONTEXT: [(&str, bool); 6] = [
    ("recentFiles", true),
    ("relatedSnippets", false),
    ("editHistory", true),
    ("userActions", true),
    ("openFiles", false),
    ("diagnostics", false),
];

/// The open sessions for suggestions.
#[derive(Debug, Default)]
pub(crate) struct Suggesting {
    sessions: Map<Box<str>, Followed>,
    /// The number of documents and of suggestions that are kept, in all sessions together.
    kept: [usize; 2],
    /// There were more sessions than the limit, so an unknown id is not an error.
    overflowed: bool,
}

/// A session for suggestions.
#[derive(Debug, Default)]
struct Followed {
    /// The open documents by URI, with the last reported version of each.
    documents: Map<Box<str>, i64>,
    /// The ids of all suggestions.
    suggestions: Set<Box<str>>,
    /// `nes/close` has been sent.
    closing: bool,
    /// There were more documents, or more suggestions, than the limit.
    overflowed: [bool; 2],
}

/// Indexes of `kept` and `overflowed`.
const DOCUMENTS: usize = 0;
const SUGGESTIONS: usize = 1;

impl Suggesting {
    /// The session of this id, if another document or suggestion of this name may be kept.
    fn room(&mut self, id: &str, name: &str, of: usize, limit: usize) -> Option<&mut Followed> {
        let session = self.sessions.get_mut(id)?;
        let room = self.kept[of] < limit && name.len() <= MAX_NAME_BYTES;
        session.overflowed[of] |= !room;
        self.kept[of] += usize::from(room);
        room.then_some(session)
    }
}

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("NES-09"), MessageKind::Answer, INITIALIZE, not_offered).receive(Action::Strip).only(2),
        Check::new(id!("NES-02"), MessageKind::Call, IN_SESSION, no_session)
            .receive(Action::Refuse(ErrorCode::RESOURCE_NOT_FOUND))
            .kind(MisuseKind::Session),
        Check::new(id!("NES-12"), MessageKind::Call, IN_SESSION, is_closing)
            .receive(Action::Refuse(ErrorCode::RESOURCE_NOT_FOUND))
            .kind(MisuseKind::Session),
        Check::new(id!("NES-15"), MessageKind::Answer, START, is_open).receive(Action::Report).kind(MisuseKind::Id),
        Check::new(id!("NES-11"), MessageKind::Call, OPENED, opened_twice)
            .send(Action::Report)
            .receive(Action::Report)
            .only(2),
        Check::new(id!("NES-11"), MessageKind::Call, AFTERWARDS, not_open)
            .send(Action::Report)
            .receive(Action::Report)
            .only(2),
        Check::new(id!("NES-11"), MessageKind::Call, CHANGED, |context| behind(context, 1))
            .send(Action::Report)
            .receive(Action::Report)
            .only(2),
        Check::new(id!("NES-11"), MessageKind::Call, LOOKED_AT, |context| behind(context, 0))
            .send(Action::Report)
            .receive(Action::Report)
            .only(2),
        Check::new(id!("NES-05"), MessageKind::Call, CHANGED, other_form).receive(Action::Report).only(2),
        Check::new(id!("NES-06"), MessageKind::Call, SUGGEST, unwanted_context)
            .receive(Action::Report)
            .kind(MisuseKind::Capability)
            .only(2),
        Check::new(id!("NES-06"), MessageKind::Call, SUGGEST, too_much_context).receive(Action::Report).only(2),
        Check::new(id!("NES-07"), MessageKind::Answer, SUGGEST, unwanted_kind)
            .receive(Action::Strip)
            .kind(MisuseKind::Capability)
            .only(2),
        Check::new(id!("NES-08"), MessageKind::Answer, SUGGEST, used_id)
            .receive(Action::Report)
            .kind(MisuseKind::Id)
            .only(2),
        Check::new(id!("NES-08"), MessageKind::Call, JUDGED, never_made)
            .receive(Action::Report)
            .kind(MisuseKind::Id)
            .only(2),
        Check::new(id!("NES-12"), MessageKind::Answer, SUGGEST, is_closed)
            .receive(Action::Report)
            .kind(MisuseKind::Session),
    ],
    trackers: &[
        Tracker { rules: &[id!("NES-02")], on: MessageKind::Answer, messages: START, track: started },
        Tracker { rules: &[id!("NES-12")], on: MessageKind::Call, messages: CLOSE, track: closing },
        Tracker { rules: &[id!("NES-12")], on: MessageKind::Answer, messages: CLOSE, track: closed },
        Tracker { rules: &[id!("NES-11")], on: MessageKind::Call, messages: OPENED, track: told },
        Tracker { rules: &[id!("NES-11")], on: MessageKind::Call, messages: CHANGED, track: told },
        Tracker { rules: &[id!("NES-11")], on: MessageKind::Call, messages: LOOKED_AT, track: seen },
        Tracker { rules: &[id!("NES-11")], on: MessageKind::Call, messages: SHUT, track: shut },
        Tracker {
            rules: &[],
            on: MessageKind::Call,
            messages: SUGGEST,
            track: |_, call| call.get("/sessionId").map(Into::into),
        },
        Tracker { rules: &[id!("NES-08")], on: MessageKind::Answer, messages: SUGGEST, track: suggested },
    ],
};

/// The session that a call names.
fn followed<'a>(context: &RuleContext<'a>) -> Option<&'a Followed> {
    context.state.nes.sessions.get(&*context.message.text("/sessionId")?)
}

/// The session id in the note of an answer.
fn noted<'a>(answer: &RuleMessage<'a>) -> Option<Cow<'a, str>> {
    json::unescape(answer.note()?)
}

fn wants(context: &RuleContext<'_>, event: &str) -> bool {
    context.advertises(Role::Agent, &format!("/nes/events/document/{event}"))
}

/// A value in the agent's capabilities.
fn of_agent<'a>(context: &RuleContext<'a>, pointer: &str) -> Option<&'a str> {
    json::pointer(&context.state.side(Role::Agent).capabilities, pointer)
}

fn not_offered(context: &RuleContext<'_>) -> Option<Finding> {
    context.state.method("nes/start")?;
    let chosen = context.message.text("/capabilities/positionEncoding")?;
    let client = &context.state.side(Role::Client).capabilities;
    let offered = json::pointer(client, "/positionEncodings").map(json::items).unwrap_or_default();
    let offered = chosen == "utf-16" || offered.into_iter().filter_map(json::unescape).any(|known| known == chosen);
    (!offered).then(|| {
        Finding::new(
            "/capabilities/positionEncoding",
            "the client did not offer this encoding; choose one of its positionEncodings, or utf-16",
        )
    })
}

fn no_session(context: &RuleContext<'_>) -> Option<Finding> {
    let known = context.state.nes.overflowed || followed(context).is_some();
    (!known).then(|| Finding::new("/sessionId", "no suggestion session with this id is open; nes/start opens one"))
}

fn is_closing(context: &RuleContext<'_>) -> Option<Finding> {
    followed(context)?.closing.then(|| Finding::new("/sessionId", "the session is being closed; start another one"))
}

fn is_open(context: &RuleContext<'_>) -> Option<Finding> {
    let open = followed(context).is_some();
    open.then(|| {
        Finding::new("/sessionId", "a session with this id is open, and its parameters do not change; use another id")
    })
}

fn opened_twice(context: &RuleContext<'_>) -> Option<Finding> {
    followed(context)?.documents.get(&*context.message.text("/uri")?).filter(|_| wants(context, "didClose"))?;
    Some(Finding::new("/uri", "this document is already open; close it first"))
}

fn not_open(context: &RuleContext<'_>) -> Option<Finding> {
    let session = followed(context)?;
    let known = session.overflowed[DOCUMENTS] || session.documents.contains_key(&*context.message.text("/uri")?);
    (!known && wants(context, "didOpen"))
        .then(|| Finding::new("/uri", "this document is not open; send document/didOpen first"))
}

/// A finding if the version is not at least `by` higher than the last one.
fn behind(context: &RuleContext<'_>, by: i64) -> Option<Finding> {
    let last = *followed(context)?.documents.get(&*context.message.text("/uri")?)?;
    let version: i64 = context.message.get("/version")?.parse().ok()?;
    (version < last.saturating_add(by))
        .then(|| Finding::new("/version", format!("the last version was {last}, and versions increase")))
}

fn other_form(context: &RuleContext<'_>) -> Option<Finding> {
    let kind = json::unescape(of_agent(context, "/nes/events/document/didChange/syncKind")?)?;
    let (ranges, message) = match &*kind {
        "full" => (false, "the agent asked for complete texts; leave the range out"),
        "incremental" => (true, "the agent asked for changed ranges; give the range that the text replaces"),
        _ => return None,
    };
    let has_range = |change: &str| json::pointer(change, "/range").is_some_and(|range| range != "null");
    let changes = context.message.items("/contentChanges").into_iter().enumerate();
    let wrong = changes.filter(|(_, change)| has_range(change) != ranges);
    Finding::at_all(wrong.map(|(at, _)| format!("/contentChanges/{at}/range")).collect(), message)
}

fn unwanted_context(context: &RuleContext<'_>) -> Option<Finding> {
    let given = CONTEXT.iter().filter(|(kind, _)| context.message.get(&format!("/context/{kind}")).is_some());
    let unwanted = given.filter(|(kind, _)| !context.advertises(Role::Agent, &format!("/nes/context/{kind}")));
    Finding::at_all(
        unwanted.map(|(kind, _)| format!("/context/{kind}")).collect(),
        "the agent did not ask for this kind of context; see nes.context among its capabilities",
    )
}

fn too_much_context(context: &RuleContext<'_>) -> Option<Finding> {
    let most = |kind: &str| of_agent(context, &format!("/nes/context/{kind}/maxCount"))?.parse().ok();
    CONTEXT.iter().filter(|(_, counted)| *counted).find_map(|(kind, _)| {
        let (place, most): (_, usize) = (format!("/context/{kind}"), most(kind)?);
        let message = || format!("the agent asked for at most {most} of these; send the newest");
        (context.message.items(&place).len() > most).then(|| Finding::new(place, message()))
    })
}

fn unwanted_kind(context: &RuleContext<'_>) -> Option<Finding> {
    let wanted = |kind: &str| {
        kind == "edit" || kind.starts_with('_') || context.advertises(Role::Client, &format!("/nes/{kind}"))
    };
    let kind = |suggestion: &str| json::pointer(suggestion, "/kind").and_then(json::unescape).map(Cow::into_owned);
    let kinds = context.message.items("/suggestions").into_iter().map(kind).enumerate();
    let unwanted = kinds.filter(|(_, kind)| kind.as_deref().is_some_and(|kind| !wanted(kind)));
    Finding::at_all(
        unwanted.map(|(at, _)| format!("/suggestions/{at}")).collect(),
        "the client did not advertise suggestions of this kind; suggest an edit, or nothing",
    )
}

/// The suggestions of an answer, each with its id.
fn suggestions<'a>(answer: &RuleMessage<'a>) -> impl Iterator<Item = (usize, Cow<'a, str>)> {
    let id = |suggestion: &'a str| json::pointer(suggestion, "/suggestionId").and_then(json::unescape);
    answer.items("/suggestions").into_iter().enumerate().filter_map(move |(at, item)| Some((at, id(item)?)))
}

fn used_id(context: &RuleContext<'_>) -> Option<Finding> {
    let before = context.state.nes.sessions.get(&*noted(&context.message)?).map(|session| &session.suggestions);
    let mut here = StringMap::default();
    let used = suggestions(&context.message)
        .filter(|(_, id)| before.is_some_and(|before| before.contains_key(&**id)) || !here.add(id.clone()));
    Finding::at_all(
        used.map(|(at, _)| format!("/suggestions/{at}/suggestionId")).collect(),
        "another suggestion of the session has this id, so an answer to it would be ambiguous",
    )
}

fn never_made(context: &RuleContext<'_>) -> Option<Finding> {
    // The client cannot know the id of a suggestion whose request was cancelled.
    if context.message.text("/reason").is_some_and(|reason| reason == "cancelled") {
        return None;
    }
    let session = followed(context)?;
    let made =
        session.overflowed[SUGGESTIONS] || session.suggestions.contains_key(&*context.message.text("/suggestionId")?);
    (!made).then(|| Finding::new("/suggestionId", "no suggestion of this session has this id"))
}

fn is_closed(context: &RuleContext<'_>) -> Option<Finding> {
    let nes = &context.state.nes;
    let open = nes.overflowed || nes.sessions.contains_key(&*noted(&context.message)?);
    (!open && !context.message.items("/suggestions").is_empty())
        .then(|| Finding::new("/suggestions", "the session has ended; answer with an error"))
}

fn started(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let id = answer.text("/sessionId")?;
    let nes = &mut state.nes;
    if nes.sessions.len() < state.config.limits.remembered && id.len() <= MAX_NAME_BYTES {
        nes.sessions.get_or_insert_with(id.into(), Followed::default);
    } else {
        nes.overflowed = true;
    }
    None
}

fn closing(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let id = call.get("/sessionId")?;
    if let Some(session) = state.nes.sessions.get_mut(&*json::unescape(id)?) {
        session.closing = true;
    }
    Some(id.into())
}

fn closed(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let id = noted(answer)?;
    if answer.body.is_none() {
        state.nes.sessions.get_mut(&*id)?.closing = false;
        return None;
    }
    let gone = state.nes.sessions.remove(&*id)?;
    state.nes.kept[DOCUMENTS] -= gone.documents.len();
    state.nes.kept[SUGGESTIONS] -= gone.suggestions.len();
    None
}

fn told(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let (id, uri) = (call.text("/sessionId")?, call.text("/uri")?);
    let version = call.get("/version")?.parse().ok()?;
    if let Some(last) = state.nes.sessions.get_mut(&*id)?.documents.get_mut(&*uri) {
        *last = version;
        return None;
    }
    let session = state.nes.room(&id, &uri, DOCUMENTS, state.config.limits.remembered)?;
    session.documents.insert(uri.into(), version);
    None
}

/// A version in a request counts if it is the newest.
fn seen(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let version: i64 = call.get("/version")?.parse().ok()?;
    let session = state.nes.sessions.get_mut(&*call.text("/sessionId")?)?;
    let last = session.documents.get_mut(&*call.text("/uri")?)?;
    *last = version.max(*last);
    None
}

fn shut(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let session = state.nes.sessions.get_mut(&*call.text("/sessionId")?)?;
    session.documents.remove(&*call.text("/uri")?)?;
    state.nes.kept[DOCUMENTS] -= 1;
    None
}

fn suggested(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let (session, limit) = (noted(answer)?, state.config.limits.remembered);
    for (_, id) in suggestions(answer) {
        if state.nes.sessions.get(&*session)?.suggestions.contains_key(&*id) {
            continue;
        }
        if let Some(followed) = state.nes.room(&session, &id, SUGGESTIONS, limit) {
            followed.suggestions.insert(id.into(), ());
        }
    }
    None
}
