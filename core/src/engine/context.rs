//! The input of checks and trackers: one message, and the state before it.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::sync::Arc;

use super::operations::Operation;
use super::pending::OpenRequest;
use super::rows::{rows, MessageKind, RuleSet};
use super::session::Session;
use super::state::State;
use crate::json;
use crate::role::Role;
use crate::rules::Way;
use crate::validation::table::{Effect, Kind, Method, Part};
use crate::validation::FieldIndex;

/// Calls whose answers open a session.
pub(crate) const OPENING: &[&str] = &["@makes", "@attaches"];

/// Calls that open a session of a known id.
pub(crate) const ATTACHING: &[&str] = &["@attaches"];

/// Calls that end the work of a session, and close it with their answer.
pub(crate) const ENDING: &[&str] = &["@ends"];

/// Calls whose answers close a session.
pub(crate) const CLOSING: &[&str] = &["@ends", "@deletes"];

/// The second part of a message's name: the kind of an update or, for a method that is both a request and a
/// notification, which of the two it is.
pub(crate) fn kind_of<'k>(method: &Method, is_request: bool, update: Option<&'k str>) -> Option<&'k str> {
    match (method.kind, is_request) {
        (Kind::Both, true) => Some("request"),
        (Kind::Both, false) => Some("notification"),
        _ => update,
    }
}

/// One message: a call, or an answer together with the call that it ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RuleMessage<'a> {
    /// The method; for an answer, that of its request.
    pub(crate) method: &'a str,
    /// The session it is about.
    pub(crate) session: Option<&'a Arc<str>>,
    /// Params of a call, result of an answer, or the error object in checks of errors; `None` when an error is tracked.
    /// It was validated against the model.
    pub(crate) body: Option<&'a str>,
    /// The index of the body's members, and the text that it refers to.
    pub(crate) field_index: Option<(&'a str, &'a FieldIndex)>,
    pub(crate) rows: RuleSet,
    /// What it does to the conversation, for trackers and views, once it has gone through.
    pub(crate) operation: Option<&'a Operation<'a>>,
    /// The request of an answer, or of a call that is a request.
    pub(crate) request: Option<&'a OpenRequest>,
}

impl<'a> RuleMessage<'a> {
    /// The end of a request: a result or an error.
    pub(crate) fn end(on: MessageKind, request: &'a OpenRequest, state: &State, body: Option<&'a str>) -> Self {
        let session = state.sessions.of(request);
        let rows = rows(state.tables.version, on, &request.method, None);
        RuleMessage {
            method: &request.method,
            session,
            body,
            field_index: None,
            rows,
            operation: None,
            request: Some(request),
        }
    }

    /// What the trackers of the request returned, if this is an answer.
    pub(crate) fn note(&self) -> Option<&'a str> {
        self.request?.note.as_deref()
    }

    /// The id of the session that an answer opens; for any other message, its session.
    pub(crate) fn opens(&self) -> Option<Cow<'a, str>> {
        match self.request.and_then(|request| request.row).map(|row| row.effect) {
            Some(Effect::Makes) => self.text("/sessionId"),
            _ => self.session.map(|id| Cow::Borrowed(&**id)),
        }
    }

    /// The JSON at a pointer into the body; null counts as absent.
    pub(crate) fn get(&self, pointer: &str) -> Option<&'a str> {
        self.given(pointer).filter(|value| *value != "null")
    }

    /// Like [`get`](Self::get), with null distinct from absence, for patches (ENUM-11).
    pub(crate) fn given(&self, pointer: &str) -> Option<&'a str> {
        #[cfg(test)]
        json::watch::look_up(self.body.unwrap_or_default(), pointer);
        let seen = self.field_index.map_or(Err(()), |(text, field_index)| field_index.find(text, pointer));
        seen.unwrap_or_else(|()| json::pointer(self.body?, pointer))
    }

    /// The string at a pointer into the body.
    pub(crate) fn text(&self, pointer: &str) -> Option<Cow<'a, str>> {
        json::unescape(self.get(pointer)?)
    }

    /// Whether the body may contain a variant with this tag. May be `true` although there is none.
    pub(crate) fn may_have(&self, tag: &str) -> bool {
        self.field_index.is_none_or(|(_, field_index)| field_index.may_have(tag))
    }

    /// What an update tells or, of any other message, the member of this name.
    pub(crate) fn fact(&self, pointer: &str) -> Option<&'a str> {
        match self.rows.does {
            Some(_) => Some(self.operation?.body),
            None => self.get(pointer),
        }
    }

    /// The items of the list at a pointer into the body.
    pub(crate) fn items(&self, pointer: &str) -> Vec<&'a str> {
        self.get(pointer).map(json::items).unwrap_or_default()
    }
}

/// A message and the state before it.
#[derive(Debug)]
pub(crate) struct RuleContext<'a> {
    pub(crate) message: RuleMessage<'a>,
    /// Who sends it.
    pub(crate) sender: Role,
    pub(crate) state: &'a State,
    session: Option<&'a Session>,
    options: OnceCell<Vec<[Option<&'a str>; 4]>>,
}

impl<'a> RuleContext<'a> {
    #[inline]
    pub(crate) fn new(message: RuleMessage<'a>, sender: Role, state: &'a State) -> Self {
        let session = message.session.and_then(|id| state.sessions.told(message.method, id));
        RuleContext { message, sender, state, session, options: OnceCell::new() }
    }

    /// These members of each config option in the list at a pointer. Several rules need them, so the list is read once.
    pub(crate) fn options(&self, pointer: &str, members: [&str; 4]) -> &[[Option<&'a str>; 4]] {
        self.options.get_or_init(|| json::columns(self.message.get(pointer).unwrap_or("[]"), members))
    }

    /// Whether the host sends the message, or the peer.
    pub(crate) fn way(&self) -> Way {
        Way::of(self.sender == self.state.config.role())
    }

    /// The state of the session that the message is about.
    pub(crate) fn session(&self) -> Option<&'a Session> {
        self.session
    }

    /// The state of any session that the message names: its own, an open one, or one that updates named before the
    /// answer that opens it.
    pub(crate) fn session_of(&self, id: &str) -> Option<&'a Session> {
        let own = self.session.filter(|_| self.message.session.is_some_and(|own| **own == *id));
        own.or_else(|| self.state.sessions.met(id))
    }

    /// The session that the client opened: that of the message, or the one above it if that is a child.
    pub(crate) fn root(&self) -> Option<&'a Session> {
        let mut root = self.session?;
        while let Some(parent) = root.parent().and_then(|parent| self.session_of(parent)) {
            root = parent;
        }
        Some(root)
    }

    /// The value of one extension in `_meta` of the peer's capabilities (EXT-10).
    pub(crate) fn peer_extension(&self, name: &str) -> Option<&'a str> {
        self.state.peer.extension(name)
    }

    /// The part of this name, if its capability was not advertised. `None` if the version has no such part, or its
    /// draft is off.
    pub(crate) fn lacks(&self, name: &str) -> Option<&'static Part> {
        let part = self.state.part(self.message.method, name)?;
        (part.draft == 0 || self.state.config.drafts & (1 << part.draft) != 0).then_some(())?;
        (!self.state.has(part)).then_some(part)
    }

    /// Whether a side has advertised the capability at a pointer into its capabilities.
    pub(crate) fn advertises(&self, side: Role, pointer: &str) -> bool {
        self.state.advertises(side, pointer)
    }
}
