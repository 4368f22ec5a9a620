//! The user's messages: which prompt each of them echoes.
//!
//! The id in the answer to a prompt names the message that the prompt became, which an update echoes before or after
//! that answer. Other clients of the session may send prompts, too. So a message that arrives while a prompt is open is
//! taken for that prompt's echo only if it begins with the same content.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::super::recent::{Recent, KEPT};
use super::keys;
use crate::engine::operations::{Does, Operation};
use crate::engine::{Finding, OpenRequest, Role, RuleContext, RuleMessage, SessionState, State, Turn};
use crate::json;
use crate::map::Map;

/// The user messages of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Echoes {
    messages: Recent<Said>,
    /// The number of their updates.
    count: u64,
    /// The number of updates when work last ended.
    ended: u64,
    /// Message ids of answered prompts that were not echoed yet. `true` if the echo must come before the current work
    /// ends; a prompt that was sent during work may be left for the next work.
    awaited: Map<Box<str>, bool>,
    /// The digest of the first block of the last prompt, if it was refused.
    refused: Option<u64>,
}

/// A message of the user.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Said {
    /// The digest of its first block; `None` while it is empty.
    begins: Option<u64>,
    /// The number of updates before it.
    at: u64,
    /// A prompt was answered with its id.
    answered: bool,
}

/// The note of a prompt until its answer.
struct Prompt {
    begins: Option<u64>,
    at: u64,
    /// It was sent while the agent was idle.
    first: bool,
}

impl Prompt {
    fn note(&self) -> Option<Box<str>> {
        let mut out = json::Writer::new();
        out.begin_object();
        if let Some(begins) = self.begins {
            out.key("begins").unsigned(begins);
        }
        out.key("at").unsigned(self.at).key("first").boolean(self.first).end_object();
        out.finish().ok().map(Into::into)
    }

    fn of(request: &OpenRequest) -> Option<Self> {
        let note = request.note.as_deref()?;
        let number = |pointer| json::pointer(note, pointer)?.parse().ok();
        let first = json::pointer(note, "/first")? == "true";
        Some(Prompt { begins: number("/begins"), at: number("/at")?, first })
    }
}

impl Echoes {
    pub(super) fn prompted(&mut self, call: &RuleMessage<'_>, turn: Turn) -> Option<Box<str>> {
        self.refused = None;
        let begins = call.items("/prompt").first().and_then(|block| mark(block));
        Prompt { begins, at: self.count, first: turn == Turn::Idle }.note()
    }

    pub(super) fn work_ended(&mut self) {
        self.ended = self.count;
    }

    /// The number of messages that may be the echo of a prompt and belong to no other.
    fn fitting(&self, prompt: &Prompt) -> usize {
        let fits = |said: &Said| !said.answered && said.at >= prompt.at && said.begins == prompt.begins;
        self.messages.iter().filter(|(_, said)| fits(said)).count()
    }
}

/// A digest of a content block: of its text, its URI or its data.
pub(super) fn mark(block: &str) -> Option<u64> {
    let places = ["/text", "/uri", "/resource/uri", "/data"];
    let value = places.iter().find_map(|place| json::unescape(json::pointer(block, place)?))?;
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    Some(hasher.finish())
}

/// The digest of the first block of a user message update.
fn begins(update: &Operation<'_>) -> Option<u64> {
    match update.does {
        Does::Append(_) => mark(update.body),
        _ => json::items(update.get("content")?).first().and_then(|block| mark(block)),
    }
}

/// The prompts of the session that have no answer.
fn open<'s>(state: &'s State, session: &'s Arc<str>) -> impl Iterator<Item = &'s OpenRequest> {
    let pending = if state.config.role() == Role::Client { &state.outbound } else { &state.inbound };
    pending.of_session(session).filter(|request| request.method == "session/prompt")
}

/// Whether the message of a prompt has been echoed. Prompts with the same content are echoed in their order.
fn was_told(state: &State, request: &OpenRequest) -> bool {
    let told = || {
        let id = state.sessions.of(request)?;
        let prompt = Prompt::of(request).filter(|prompt| prompt.begins.is_some())?;
        let same = |other: &&OpenRequest| {
            other.serial < request.serial && Prompt::of(other).is_some_and(|other| other.begins == prompt.begins)
        };
        let before = open(state, id).filter(same).count();
        Some(state.sessions.get(id)?.work.echoes.fitting(&prompt) > before)
    };
    told().unwrap_or(false)
}

/// Processes the answer to a prompt. Returns whether the work on it has ended already; `None` if the answer has no id.
pub(super) fn answered(state: &mut State, answer: &RuleMessage<'_>) -> Option<bool> {
    let request = answer.request?;
    let keep = state.config.limits.remembered;
    let told = answer.body.is_none() && was_told(state, request);
    let prompt = Prompt::of(request)?;
    let session = state.sessions.get_mut(answer.session)?;
    let may_be_old = keys::may_be_old(session, request);
    let echoes = &mut session.work.echoes;
    if answer.body.is_none() {
        echoes.refused = prompt.begins.filter(|_| !told);
        return None;
    }
    let id = answer.text("/messageId").filter(|id| id.len() <= KEPT)?;
    if let Some(said) = echoes.messages.get_mut(&id) {
        said.answered = true;
        let old = may_be_old && said.at < prompt.at;
        return Some(old || said.at >= prompt.at && said.at < echoes.ended);
    }
    if !may_be_old && echoes.awaited.len() < keep {
        echoes.awaited.insert((*id).into(), prompt.first);
    }
    Some(false)
}

pub(super) fn told(state: &mut State, message: &RuleMessage<'_>) -> Option<Box<str>> {
    let keep = state.config.limits.remembered;
    let session = state.sessions.get_mut(message.session)?;
    let update = message.operation?;
    let id = update.id().filter(|id| id.len() <= KEPT)?;
    let (echoes, live) = (&mut session.work.echoes, session.state == SessionState::Ready);
    let answered = echoes.awaited.remove(&*id).is_some() || !live;
    let (at, begins) = (echoes.count, begins(update));
    let said = echoes.messages.entry(&id, keep, || Said { begins: None, at, answered });
    said.begins = said.begins.or(begins);
    said.answered |= answered;
    echoes.count += 1;
    None
}

/// Awaited echoes belong to the work that ends, or to the next work.
pub(super) fn work_ended(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    update.operation?.get("stopReason")?;
    let session = state.sessions.get_mut(update.session)?;
    if session.work.is_under_way() {
        let awaited = std::mem::take(&mut session.work.echoes.awaited);
        let left = awaited.iter().filter(|(_, first)| !**first);
        left.for_each(|(id, _)| _ = session.work.echoes.awaited.insert(id.clone(), true));
    }
    None
}

pub(super) fn missing(context: &RuleContext<'_>) -> Option<Finding> {
    context.message.get("/update/stopReason")?;
    let session = context.session().filter(|session| session.state == SessionState::Ready)?;
    let work = &session.work;
    let missing = work.is_under_way() && work.echoes.awaited.values().any(|first| *first);
    missing.then(|| {
        let message =
            "a prompt was answered with the id of a message, and no update has shown that message before the \
                       work ended";
        Finding::new("/update/state", message)
    })
}

pub(super) fn inserted(context: &RuleContext<'_>) -> Option<Finding> {
    was_told(context.state, context.message.request?).then(|| {
        let message =
            "the prompt's message is in the conversation already, so that its answer is the id of the message; \
                       work that fails ends with the stop reason error";
        Finding::new("", message)
    })
}

pub(super) fn of_a_refused(context: &RuleContext<'_>) -> Option<Finding> {
    let session = context.session().filter(|session| session.state == SessionState::Ready)?;
    let echoes = &session.work.echoes;
    let refused = echoes.refused.filter(|_| session.prompts == 0)?;
    let id = context.message.text("/update/messageId")?;
    let own = echoes.messages.get(&id).is_some() || echoes.awaited.contains_key(&*id);
    if own || begins(&Operation::of(&context.message, context.state.tables)?) != Some(refused) {
        return None;
    }
    Some(Finding::new("/update/messageId", "the prompt of this message was refused, so it is not in the conversation"))
}
