//! What the code of a rule sees: one message, and the state when it comes.

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

/// Calls that end the work of a session, which is not open once they are answered.
pub(crate) const ENDING: &[&str] = &["@ends"];

/// Calls after whose answers a session is not open.
pub(crate) const CLOSING: &[&str] = &["@ends", "@deletes"];

/// The kind by which a message is named beside its method: that of an update or, where a method is both a request and a
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
    /// The method, of an answer the method that was called.
    pub(crate) method: &'a str,
    /// The session it is about.
    pub(crate) session: Option<&'a Arc<str>>,
    /// Params of a call, result of an answer, an error that is to be judged; `None` where an error is tracked. They fit
    /// the model.
    pub(crate) body: Option<&'a str>,
    /// What was seen of the body when it was read, and the text that it stands in.
    pub(crate) field_index: Option<(&'a str, &'a FieldIndex)>,
    pub(crate) rows: RuleSet,
    /// What it does to the conversation: told to trackers and views, once it has gone through.
    pub(crate) operation: Option<&'a Operation<'a>>,
    /// The call that an answer ends, or the request that a call is.
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

    /// What the trackers noted when the call went through that this answer ends.
    pub(crate) fn note(&self) -> Option<&'a str> {
        self.request?.note.as_deref()
    }

    /// The id of the session that an answer opens or, of any other message, the session that it is about.
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

    /// As [`get`](Self::get), with null distinct from absence, for patches (ENUM-11).
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

    /// Whether there may be a variant of this name somewhere in the body.
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

/// A message and the state when it comes.
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

    /// The config options in the list at a pointer, each with these members. Several rules are about them, so the list
    /// is read once, by the first that asks.
    pub(crate) fn options(&self, pointer: &str, members: [&str; 4]) -> &[[Option<&'a str>; 4]] {
        self.options.get_or_init(|| json::columns(self.message.get(pointer).unwrap_or("[]"), members))
    }

    /// Whether the host sends the message, or the peer.
    pub(crate) fn way(&self) -> Way {
        Way::of(self.sender == self.state.config.role)
    }

    /// What is known of the session that the message is about.
    pub(crate) fn session(&self) -> Option<&'a Session> {
        self.session
    }

    /// What is known of any session that the message names: its own, one that is open here, or one that was told of before
    /// its answer.
    pub(crate) fn session_of(&self, id: &str) -> Option<&'a Session> {
        let own = self.session.filter(|_| self.message.session.is_some_and(|own| **own == *id));
        own.or_else(|| self.state.sessions.met(id))
    }

    /// What the peer's capabilities say under `_meta` of one extension (EXT-10).
    pub(crate) fn peer_extension(&self, name: &str) -> Option<&'a str> {
        self.state.peer.extension(name)
    }

    /// The part of this name that the message may not have: its capability was not advertised. `None` where there is no
    /// such part in this version, or its draft is off.
    pub(crate) fn lacks(&self, name: &str) -> Option<&'static Part> {
        let part = self.state.part(self.message.method, name)?;
        (part.draft == 0 || self.state.config.drafts & (1 << part.draft) != 0).then_some(())?;
        (!self.state.has(part)).then_some(part)
    }

    /// Whether a side has advertised what stands at a pointer into its capabilities.
    pub(crate) fn advertises(&self, side: Role, pointer: &str) -> bool {
        self.state.advertises(side, pointer)
    }
}
