//! What an agent's host keeps in version 1, whose messages go through as they are: work without a prompt, the prompts that
//! wait for its end, and what updates of version 2 become there ([`shown`](super::shown), [`down`](super::down)).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use super::newer::MessageIds;
use super::shown::Shown;
use super::updates::{self, CHUNKS, ENTRIES};
use super::waiting::{Waiting, CANCELLED, ENDED, OVER};
use super::{works, PROMPT};
use crate::connection::{Misuse, Request};
use crate::{json, Connection, Event, Id};

/// The sessions of a conversation in version 1 of which something is kept.
#[derive(Debug)]
pub(super) struct Older {
    sessions: HashMap<Arc<str>, Session>,
    ids: MessageIds,
}

#[derive(Debug, Default)]
struct Session {
    /// Work without a prompt, and whether the client has cancelled it.
    work: Option<(u64, bool)>,
    /// Prompts that wait for its end.
    waiting: Waiting,
    /// The kind and the id of the message that the work says, while it has said nothing else.
    message: Option<(&'static str, String)>,
    shown: Shown,
}

impl Older {
    pub(super) fn new() -> Self {
        Older { sessions: HashMap::new(), ids: MessageIds::new() }
    }

    /// A chunk of a message of work without a prompt, with an id: without one it would go on with what the last turn said
    /// (TURN-05, TURN-09). `None` where it goes out as it is.
    pub(super) fn chunk(&mut self, kind: &str, params: &str, update: &str) -> Option<String> {
        let session = json::unescape(json::member(params, "sessionId")?)?;
        let known = self.sessions.get_mut(&*session).filter(|known| known.work.is_some())?;
        let chunk_of = CHUNKS.iter().find(|known| **known == kind).copied();
        let Some((kind, (before, after))) = chunk_of.zip(updates::chunk(params, update)) else {
            if chunk_of.is_some() || ENTRIES.contains(&kind) {
                known.message = None;
            }
            return None;
        };
        let same = known.message.take().filter(|(of, _)| *of == kind);
        let (_, id) = known.message.insert(same.unwrap_or_else(|| (kind, self.ids.next())));
        Some(format!("{before}\"messageId\":\"{id}\",{after}"))
    }

    /// What the updates of an open session have shown.
    pub(super) fn shown(&mut self, connection: &Connection, session: &str) -> Option<&mut Shown> {
        if !self.sessions.contains_key(session) {
            connection.session(session)?;
            self.sessions.insert(session.into(), Session::default());
        }
        self.sessions.get_mut(session).map(|known| &mut known.shown)
    }

    /// A prompt of the client: the host sees it, unless it waits.
    pub(super) fn prompted(&mut self, connection: &mut Connection, request: Request, ready: &mut VecDeque<Event>) {
        let known = request.session.as_ref().and_then(|session| self.sessions.get_mut(session));
        match known.filter(|known| known.work.is_some()) {
            None => ready.push_back(Event::Request(request)),
            Some(known) => known.waiting.push(connection, request),
        }
    }

    pub(super) fn begin_work(&mut self, connection: &Connection, session: &Arc<str>, work: u64) -> Result<(), Misuse> {
        let known = self.sessions.get(session).is_some_and(|known| known.work.is_some());
        let mut prompts = connection.unanswered().filter(|open| open.method == PROMPT);
        if known || prompts.any(|open| open.session.as_ref() == Some(session)) {
            return Err(works::busy());
        }
        let known = self.sessions.entry(Arc::clone(session)).or_default();
        (known.work, known.message) = (Some((work, false)), None);
        Ok(())
    }

    pub(super) fn end_work(&mut self, session: &str, work: u64, ready: &mut VecDeque<Event>) {
        let of_it = |known: &&mut Session| known.work.is_some_and(|(number, _)| number == work);
        if let Some(known) = self.sessions.get_mut(session).filter(of_it) {
            known.work = None;
            ready.extend(std::iter::from_fn(|| known.waiting.pop()).map(Event::Request));
        }
    }

    /// The client has cancelled the work of a session, or ends the session. Of what waits and of work that needs no answer
    /// only the host knows.
    pub(super) fn stop(&mut self, connection: &mut Connection, session: &Arc<str>, ready: &mut VecDeque<Event>) {
        let Some(known) = self.sessions.get_mut(session) else { return };
        known.waiting.refuse(connection, CANCELLED);
        if let Some((work, cancelled)) = known.work.as_mut().filter(|(_, cancelled)| !cancelled) {
            *cancelled = true;
            ready.push_back(works::cancel(*work, session));
        }
    }

    /// The client has cancelled the request of a prompt. `false` if the host has not seen the prompt.
    pub(super) fn stop_one(&mut self, connection: &mut Connection, serial: u64) -> bool {
        !self.sessions.values_mut().any(|known| known.waiting.cancel(connection, serial))
    }

    /// Whether a request is a prompt that waits, which the host has not seen.
    pub(super) fn waits(&self, id: &Id) -> bool {
        self.sessions.values().any(|known| known.waiting.has(id))
    }

    /// Forgets a session that is not open any more.
    pub(super) fn forget_closed(&mut self, connection: &mut Connection, session: &str) {
        if connection.session(session).is_none() {
            self.sessions.remove(session).unwrap_or_default().waiting.refuse(connection, ENDED);
        }
    }

    pub(super) fn closed(&mut self, connection: &mut Connection) {
        for (_, mut known) in self.sessions.drain() {
            known.waiting.refuse(connection, OVER);
        }
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.sessions.len()
    }
}
