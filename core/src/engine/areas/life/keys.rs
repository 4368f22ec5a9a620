//! Idempotency keys: the message that each prompt with a key has become, so that none is inserted twice.
//!
//! A client sends a prompt again with the same key. The first request with a key that is answered with an id decides:
//! later ones are answered with the same id and start no work. After an error, the message was not inserted (LIFE-24),
//! and the next prompt with the key is a new one once no other is open.

use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::super::recent::Recent;
use super::echo::mark;
use crate::engine::{Finding, OpenRequest, RuleContext, RuleMessage, Session, State};
use crate::json::{self, Writer};
use crate::rules::Way;

/// The number of keys that are kept per session. A prompt with a forgotten key counts as new, so an agent that needs to
/// remember more keys has to keep them itself.
const KEPT: usize = 256;
/// A longer message id, in bytes, is not kept, and a repetition of its prompt counts as new.
const LONGEST_ID: usize = 4096;
/// The maximum length of a key in characters.
const LONGEST: usize = 255;

/// The keys of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Keys {
    submissions: Recent<Submission>,
    /// Keys may have been used on another connection.
    pub(super) elsewhere: bool,
}

/// The prompts with one key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Submission {
    content: u64,
    /// Requests with this key that have no answer.
    open: usize,
    message: Option<Box<str>>,
}

/// What a prompt with a known key repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Submitted<'a> {
    /// A prompt that has no answer yet.
    Open,
    /// The prompt that has become the message of this id.
    Message(&'a str),
}

impl Session {
    /// What a prompt with this key repeats, if it is not new.
    pub(crate) fn submitted(&self, key: &str) -> Option<Submitted<'_>> {
        let known = self.work.keys.submissions.get(key)?;
        let open = (known.open > 0).then_some(Submitted::Open);
        known.message.as_deref().map(Submitted::Message).or(open)
    }

    /// The id of the message that was inserted for an earlier request with the same key.
    fn message_of(&self, request: &OpenRequest) -> Option<&str> {
        match self.submitted(&key_of(request)?)? {
            Submitted::Message(id) => Some(id),
            Submitted::Open => None,
        }
    }

    /// Whether this prompt's message was inserted for an earlier request.
    pub(super) fn repeats(&self, prompt: &OpenRequest) -> bool {
        self.message_of(prompt).is_some()
    }
}

/// The key of an open prompt.
pub(crate) fn key_of(request: &OpenRequest) -> Option<Cow<'_, str>> {
    json::unescape(json::pointer(request.note.as_deref()?, "/key")?)
}

/// A digest of the blocks of a prompt, independent of how their JSON is written.
fn content(prompt: &RuleMessage<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    prompt.items("/prompt").into_iter().map(mark).collect::<Vec<_>>().hash(&mut hasher);
    hasher.finish()
}

pub(super) fn length(context: &RuleContext<'_>) -> Option<Finding> {
    let key = context.message.text("/idempotencyKey")?;
    let length = key.chars().take(LONGEST + 1).count();
    let fits = (1..=LONGEST).contains(&length);
    (!fits).then(|| Finding::new("/idempotencyKey", format!("expected a key of 1 to {LONGEST} characters")))
}

pub(super) fn other_content(context: &RuleContext<'_>) -> Option<Finding> {
    let key = context.message.text("/idempotencyKey")?;
    let session = context.session()?;
    session.submitted(&key)?;
    if session.work.keys.submissions.get(&key)?.content == content(&context.message) {
        return None;
    }
    let message = "this key names a prompt with other content; a new message has a new key";
    Some(Finding::new("/idempotencyKey", message))
}

pub(super) fn other_message(context: &RuleContext<'_>) -> Option<Finding> {
    let first = context.session()?.message_of(context.message.request?)?;
    let differs = *context.message.text("/messageId")? != *first;
    differs.then(|| {
        let message = "not the id with which the first prompt with this key was answered";
        Finding::new("/messageId", message)
    })
}

pub(super) fn refused(context: &RuleContext<'_>) -> Option<Finding> {
    context.session()?.message_of(context.message.request?)?;
    let message = "an error, although an earlier prompt with this key was answered with the id of its message";
    Some(Finding::new("", message))
}

pub(super) fn prompted(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let key = call.text("/idempotencyKey").filter(|key| key.chars().take(LONGEST + 1).count() <= LONGEST)?;
    let session = state.sessions.get_mut(call.session)?;
    let new = session.submitted(&key).is_none();
    let known = session.work.keys.submissions.entry(&key, KEPT, Submission::default);
    // A check has compared the content of a repetition.
    if new {
        known.content = content(call);
    }
    known.open += 1;
    let mut note = Writer::new();
    note.begin_object().key("key").string(&key).end_object();
    note.finish().ok().map(Into::into)
}

pub(super) fn answered(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let key = key_of(answer.request?)?;
    let session = state.sessions.get_mut(answer.session)?;
    let known = session.work.keys.submissions.get_mut(&key)?;
    known.open = known.open.saturating_sub(1);
    if known.message.is_none() {
        let id = answer.text("/messageId").filter(|id| answer.body.is_some() && id.len() <= LONGEST_ID);
        known.message = id.map(|id| (*id).into());
    }
    None
}

/// The prompts of an earlier connection may be repeated on this one.
pub(super) fn resumed(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    state.sessions.get_mut(call.session)?.work.keys.elsewhere = true;
    None
}

/// Whether an answer may name a message that was inserted before the prompt was sent.
pub(super) fn may_be_old(session: &Session, prompt: &OpenRequest) -> bool {
    session.work.keys.elsewhere && key_of(prompt).is_some() && id!("LIFE-38").is_on(Way::Track)
}
