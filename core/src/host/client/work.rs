//! Prompts of version 2, each as one call until the work on it ends.
//!
//! The answer to a prompt only says that its message is in the conversation. It is kept, and the call ends with the idle that
//! ends the work. Whether a session works is the engine's to say; kept here is what it does not need: which prompts wait for
//! it, and how work has ended whose message was echoed and whose prompt is not answered yet.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::end::End;
use super::shapes::text;
use crate::connection::{Json, Notification, Outcome, RequestKey, Response, ResultText};
use crate::{Connection, ErrorCode, Event, Id};

/// Maximum number of echoed messages of a session that wait for the answers to their prompts.
const ECHOES: usize = 64;

/// The prompts that have not ended, by session.
#[derive(Debug, Default)]
pub(super) struct Works(HashMap<Arc<str>, Work>);

#[derive(Debug, Default)]
struct Work {
    /// Oldest first.
    prompts: Vec<Prompt>,
    /// Messages of the user that were echoed while a prompt had no answer, and how the work on them has ended.
    echoes: VecDeque<(String, Option<End>)>,
    /// The state that was told last says that the agent works.
    under_way: bool,
    /// The stop reason that was told last, since the agent has worked. A snapshot may repeat it.
    reason: Option<String>,
}

#[derive(Debug)]
struct Prompt {
    id: Id,
    serial: u64,
    /// When the call ends whatever happens, in milliseconds on the host's clock.
    deadline: Option<u64>,
    /// When and how it ends if no work on it is told of: it was cancelled before, or an idle came that may be a snapshot, or
    /// before the answer, which gives the time.
    grace: Option<(u64, End)>,
    /// Work began before it had an answer, and may be its own.
    began: bool,
    /// The client has cancelled it.
    cancelled: bool,
    /// The answer, once its message is in the conversation.
    inserted: Option<Response>,
}

impl Prompt {
    fn is(&self, key: RequestKey<'_>) -> bool {
        key.serial.is_none_or(|serial| serial == self.serial) && key.id.is_none_or(|id| *id == self.id)
    }

    /// The outcome of its call when the work on it ends like this.
    fn outcome(&self, end: &End) -> Outcome {
        let answer = self.inserted.as_ref().and_then(|response| response.outcome.result());
        end.outcome(answer.and_then(|answer| text(answer, "/messageId")).as_deref(), self.cancelled)
    }
}

impl Work {
    fn has_unanswered(&self) -> bool {
        self.prompts.iter().any(|prompt| prompt.inserted.is_none())
    }

    /// Ends those inserted prompts that `which` names.
    fn end(
        &mut self,
        which: impl Fn(&Prompt) -> bool,
        outcome: impl Fn(&Prompt) -> Outcome,
        ready: &mut VecDeque<Event>,
    ) {
        self.prompts.retain_mut(|prompt| {
            if prompt.inserted.is_none() || !which(prompt) {
                return true;
            }
            let outcome = outcome(prompt);
            ready.extend(prompt.inserted.take().map(|response| Event::Response(Response { outcome, ..response })));
            false
        });
    }

    /// The agent works.
    fn begin(&mut self) {
        let began = !std::mem::replace(&mut self.under_way, true);
        self.reason = None;
        for prompt in &mut self.prompts {
            prompt.grace = None;
            prompt.began |= began;
        }
    }

    /// The agent is idle, which ends what is under way. Where nothing is, a new reason ends work that was not told of. Without
    /// one it is a snapshot from before the work on a message, which ends nothing, or the agent tells too little; so the
    /// prompts wait a while for work.
    fn rest(&mut self, connection: &Connection, end: &End, ready: &mut VecDeque<Event>) {
        let reason = end.reason().map(str::to_owned);
        let ends = std::mem::take(&mut self.under_way) || reason.is_some() && reason != self.reason;
        self.reason = reason.or_else(|| self.reason.take());
        if ends {
            self.echoes.iter_mut().for_each(|(_, ended)| *ended = ended.take().or_else(|| Some(end.clone())));
        }
        let grace = connection.grace();
        let over = |prompt: &Prompt| ends || grace.is_none() || prompt.cancelled && end.is_cancelled();
        self.end(over, |prompt| prompt.outcome(end), ready);
        for prompt in self.prompts.iter_mut().filter(|prompt| prompt.grace.is_none()) {
            if prompt.inserted.is_some() {
                prompt.grace = grace.map(|at| (at, end.clone()));
            } else if ends && prompt.began {
                prompt.grace = Some((0, end.clone()));
            }
        }
    }
}

/// The outcome of work that the client has cancelled, and that nothing was told of since.
fn stopped(prompt: &Prompt) -> Outcome {
    prompt.outcome(&End::cancelled())
}

impl Works {
    /// A prompt was sent. What was cancelled before and never told of is over with it (CANCEL-23).
    pub(super) fn sent(&mut self, connection: &Connection, id: &Id, ready: &mut VecDeque<Event>) {
        let Some(open) = connection.pending_by_id(id) else { return };
        let Some((id_of, known)) = open.session.as_ref().and_then(|id| Some((id, connection.session(id)?))) else {
            return;
        };
        let work = self.0.entry(Arc::clone(id_of)).or_default();
        if work.prompts.is_empty() {
            work.under_way = known.is_under_way();
            work.reason = known.stop_reason().map(str::to_owned);
        }
        if !known.is_working() {
            work.end(|prompt| prompt.cancelled, stopped, ready);
        }
        work.prompts.push(Prompt {
            id: id.clone(),
            serial: open.serial,
            deadline: open.deadline,
            grace: None,
            began: false,
            cancelled: false,
            inserted: None,
        });
    }

    /// The newest prompt of a session.
    pub(super) fn newest(&self, session: &str) -> Option<u64> {
        self.0.get(session)?.prompts.last().map(|prompt| prompt.serial)
    }

    /// The prompt whose work updates report: the newest one that is inserted. One that is not waits for this work to end.
    pub(super) fn reported(&self, session: &str) -> Option<u64> {
        let prompts = &self.0.get(session)?.prompts;
        let inserted = prompts.iter().rev().find(|prompt| prompt.inserted.is_some());
        inserted.or(prompts.last()).map(|prompt| prompt.serial)
    }

    /// The session of an inserted prompt that was not cancelled.
    pub(super) fn inserted(&self, key: RequestKey<'_>) -> Option<(&Arc<str>, bool)> {
        let is = |prompt: &&Prompt| prompt.inserted.is_some() && prompt.is(key);
        self.0.iter().find_map(|(session, work)| Some((session, work.prompts.iter().find(is)?.cancelled)))
    }

    /// Whether a prompt was cancelled.
    pub(super) fn is_cancelled(&self, serial: u64) -> bool {
        self.0.values().flat_map(|work| &work.prompts).any(|prompt| prompt.serial == serial && prompt.cancelled)
    }

    /// A prompt without an answer is being cancelled.
    pub(super) fn cancelling(&mut self, key: RequestKey<'_>) {
        let all = self.0.values_mut().flat_map(|work| &mut work.prompts);
        all.filter(|prompt| prompt.is(key)).for_each(|prompt| prompt.cancelled = true);
    }

    /// `session/cancel` was sent.
    pub(super) fn cancelled(&mut self, connection: &Connection, session: &str) {
        let Some(work) = self.0.get_mut(session) else { return };
        let grace = connection.grace().filter(|_| !work.under_way);
        for prompt in &mut work.prompts {
            prompt.cancelled = true;
            prompt.grace = grace.filter(|_| prompt.inserted.is_some()).map(|at| (at, End::cancelled()));
        }
    }

    /// An update has come.
    pub(super) fn told(&mut self, connection: &Connection, update: &Notification, ready: &mut VecDeque<Event>) {
        let Some(kind @ ("state_update" | "user_message" | "user_message_chunk")) = update.update else { return };
        let Some(session) = &update.session else { return };
        let Some(work) = self.0.get_mut(session) else { return };
        if kind == "state_update" {
            match text(update.params(), "/update/state").as_deref() {
                Some("idle") => work.rest(connection, &End::of(update.params()), ready),
                // Nobody knows what is under way.
                Some("unknown") | None => {}
                Some(_) => work.begin(),
            }
            self.forget(session);
        } else if work.has_unanswered() {
            let Some(id) = text(update.params(), "/update/messageId") else { return };
            if work.echoes.iter().all(|(known, _)| *known != id) {
                work.echoes.truncate(ECHOES - 1);
                work.echoes.push_front((id.into_owned(), None));
            }
        }
    }

    /// A prompt has an answer. Returns whether the client has cancelled it before, and the work has to be.
    pub(super) fn answered(
        &mut self,
        connection: &Connection,
        mut response: Response,
        ready: &mut VecDeque<Event>,
    ) -> bool {
        let session = response.session.clone().unwrap_or_else(|| "".into());
        let found = self.0.get_mut(&session).and_then(|work| {
            let at = work.prompts.iter().position(|prompt| prompt.serial == response.serial)?;
            Some((work, at))
        });
        let Some((work, at)) = found else {
            ready.push_back(Event::Response(response));
            return false;
        };
        let mut stop = false;
        if let Some(result) = response.outcome.result() {
            let id = text(result, "/messageId");
            let echo = work.echoes.iter().find(|(known, _)| id.as_ref().is_some_and(|id| *id == **known));
            let known = connection.session(&session);
            let end = match (echo, known) {
                (Some((_, Some(end))), _) => Some(end.clone()),
                (_, None) => Some(End::cancelled()),
                (_, Some(known)) if !known.is_working() => Some(End::known(known)),
                _ => None,
            };
            let unheard = echo.is_none();
            let prompt = &mut work.prompts[at];
            let serial = prompt.serial;
            prompt.inserted = Some(response);
            match end {
                Some(end) => {
                    let of_it = |prompt: &Prompt| prompt.serial == serial;
                    work.end(of_it, |prompt| prompt.outcome(&end), ready);
                }
                None if prompt.cancelled => {
                    let grace = connection.grace().filter(|_| !work.under_way);
                    prompt.grace = grace.map(|at| (at, End::cancelled()));
                    stop = known.is_some_and(|known| known.turn != crate::connection::Turn::Cancelling);
                }
                // The work that has ended may have been on it, if no message was echoed (LIFE-03).
                None => {
                    let ended = prompt.grace.take().filter(|_| unheard);
                    prompt.grace = ended.map(|(_, end)| (connection.grace().unwrap_or(0), end));
                }
            }
        } else {
            work.prompts.remove(at);
            if matches!(&response.outcome, Outcome::Error(error) if error.code == ErrorCode::REQUEST_CANCELLED) {
                response.outcome = End::cancelled().outcome(None, true);
            }
            ready.push_back(Event::Response(response));
        }
        self.forget(&session);
        stop
    }

    /// A call has ended. Sessions may have, with it.
    pub(super) fn settle(&mut self, connection: &Connection, ready: &mut VecDeque<Event>) {
        for (session, work) in &mut self.0 {
            if connection.session(session).is_none() {
                work.end(|_| true, stopped, ready);
            }
        }
        self.0.retain(|_, work| !work.prompts.is_empty());
    }

    /// The connection is over.
    pub(super) fn closed(&mut self, ready: &mut VecDeque<Event>) {
        for (_, mut work) in self.0.drain() {
            work.end(|_| true, |_| Outcome::Closed, ready);
        }
    }

    /// The next time at which an inserted prompt ends by itself.
    pub(super) fn next(&self) -> Option<u64> {
        let inserted = self.0.values().flat_map(|work| &work.prompts).filter(|prompt| prompt.inserted.is_some());
        let times = |prompt: &Prompt| [prompt.deadline, prompt.grace.as_ref().map(|(at, _)| *at)];
        inserted.flat_map(times).flatten().min()
    }

    /// Ends what ends by itself at this time. Returns the sessions whose work nobody waits for any more.
    pub(super) fn elapsed(&mut self, now: u64, ready: &mut VecDeque<Event>) -> Vec<Arc<str>> {
        let mut left = Vec::new();
        for (session, work) in &mut self.0 {
            let is_late = |prompt: &Prompt| prompt.deadline.is_some_and(|at| at <= now);
            let late = |prompt: &Prompt| prompt.inserted.is_some() && is_late(prompt);
            if work.prompts.iter().any(|prompt| late(prompt) && !prompt.cancelled) {
                left.push(Arc::clone(session));
            }
            work.end(is_late, |_| Outcome::Timeout, ready);
            let due = |prompt: &Prompt| {
                prompt.grace.as_ref().filter(|(at, _)| *at <= now).map(|(_, end)| prompt.outcome(end))
            };
            work.end(|prompt| due(prompt).is_some(), |prompt| due(prompt).unwrap_or(Outcome::Cancelled), ready);
        }
        self.0.retain(|_, work| !work.prompts.is_empty());
        left
    }

    /// Drops what is kept of a session that is not needed any more.
    fn forget(&mut self, session: &str) {
        let Some(work) = self.0.get_mut(session) else { return };
        if !work.has_unanswered() {
            work.echoes.clear();
        }
        if work.prompts.is_empty() {
            self.0.remove(session);
        }
    }
}

/// A result that is made here.
pub(super) fn result(text: String) -> Outcome {
    Outcome::Result(ResultText(Json::whole(text)))
}
