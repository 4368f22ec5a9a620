//! What an agent does without a prompt: work in the foreground that it begins by itself (LIFE-25), and what runs beside the
//! foreground (LIFE-31 to LIFE-36).
//!
//! In both versions one thing at a time goes on in the foreground of a session, so that work is refused while a prompt is
//! served, and prompts wait for the end of work. Version 2 tells of it by states; version 1 has no words for it.

use std::collections::HashMap;
use std::sync::Arc;

use super::newer::{current_state, tell_state, Newer};
use super::object::{text, Object};
use super::prompts::{failure, reason};
use crate::connection::{Cancel, Misuse, MisuseKind, Phase, SessionState};
use crate::{json, Connection, ErrorCode, Event, Id};

/// The number of the first work. No request has a serial like this, and a JavaScript number holds it.
const FIRST: u64 = 1 << 52;
/// Maximum number of things in the background of a session to which the host adds another one.
const BACKGROUND: usize = 256;
/// Maximum length of their list, in bytes.
const LONGEST: usize = 64 * 1024;
/// What may run in the background: the member with its id, and its update and the member of this that tells its end.
const KINDS: &[(&str, &str, &str)] = &[("tool_call", "toolCallId", "status"), ("terminal", "terminalId", "exitStatus")];
/// Final statuses of tool calls.
pub(super) const FINAL: &[&str] = &["completed", "failed", "cancelled"];

/// The work of all sessions that goes on without a prompt, by its number.
#[derive(Debug, Default)]
pub(super) struct Works {
    open: HashMap<u64, Arc<str>>,
    begun: u64,
}

impl Works {
    /// The number that the next work will have.
    pub(super) fn next(&self) -> u64 {
        FIRST + self.begun
    }

    pub(super) fn begin(&mut self, session: Arc<str>) {
        self.open.insert(self.next(), session);
        self.begun += 1;
    }

    /// The session of work that has not ended.
    pub(super) fn session(&self, work: u64) -> Result<Arc<str>, Misuse> {
        self.open.get(&work).map(Arc::clone).ok_or_else(|| {
            let message = format!("no work with the number {work} goes on");
            Misuse::new(MisuseKind::Id, id!("LIFE-25"), message)
        })
    }

    pub(super) fn end(&mut self, work: u64) {
        self.open.remove(&work);
    }

    #[cfg(test)]
    pub(super) fn count(&self) -> usize {
        self.open.len()
    }
}

/// How work ends.
#[derive(Debug, Clone, Copy)]
pub(in crate::host) enum Ending<'a> {
    /// With a result as prompts have it.
    Result(&'a str),
    /// With an error.
    Error(ErrorCode, &'a str, Option<&'a str>),
}

impl<'a> Ending<'a> {
    /// The members of the state that ends it.
    pub(super) fn members(self) -> Result<Object<'a>, Misuse> {
        match self {
            Ending::Result(result) => reason(result),
            Ending::Error(code, message, data) => failure((code, message, data)),
        }
    }
}

/// The open session in which work may begin.
pub(super) fn place(connection: &Connection, session: &str) -> Result<Arc<str>, Misuse> {
    if connection.phase() == Phase::Closed {
        return Err(Misuse::new(MisuseKind::Phase, id!("RPC-33"), "the connection is over"));
    }
    let open = connection.sessions().find(|(id, _)| ***id == *session);
    match open {
        Some((id, open)) if open.state == SessionState::Ready => Ok(Arc::clone(id)),
        Some(_) => {
            let message = "the session is being loaded or resumed; begin once that is answered";
            Err(Misuse::new(MisuseKind::Phase, id!("TURN-20"), message))
        }
        None => {
            let message = "no session of this id is open on this connection";
            Err(Misuse::new(MisuseKind::Session, id!("SESS-01"), message))
        }
    }
}

pub(super) fn busy() -> Misuse {
    let message = "the session works already: end that first, or report what is done as part of it";
    Misuse::new(MisuseKind::Phase, id!("LIFE-25"), message)
}

/// The client has cancelled work: no request is about it.
pub(super) fn cancel(work: u64, session: &Arc<str>) -> Event {
    let session = Some(Arc::clone(session));
    Event::Cancel(Cancel { id: Id::Null, serial: work, method: "".into(), session })
}

/// The kind and the id of something in the background, as a list or an update names it.
fn named(item: &str) -> Option<(usize, String)> {
    let of_kind = text(item, "/type").and_then(|kind| KINDS.iter().position(|(known, ..)| *known == kind));
    let kind = of_kind.or_else(|| KINDS.iter().position(|(_, id, _)| json::member(item, id).is_some()))?;
    Some((kind, json::unescape(json::member(item, KINDS[kind].1)?)?.into_owned()))
}

/// Whether an update is about something that runs in the background.
pub(super) fn is_background(connection: &Connection, session: &str, update: &str) -> bool {
    let list = connection.session(session).and_then(|session| session.background()).unwrap_or("[]");
    named(update).is_some_and(|of| json::items(list).into_iter().any(|item| named(item).as_ref() == Some(&of)))
}

impl Newer {
    pub(super) fn begin_work(
        &mut self,
        connection: &mut Connection,
        session: &Arc<str>,
        work: u64,
    ) -> Result<(), Misuse> {
        if self.sessions.get(session).is_some_and(|known| known.turn.is_some()) {
            return Err(busy());
        }
        tell_state(connection, session, "running", Object::default())?;
        let known = self.sessions.entry(Arc::clone(session)).or_default();
        known.rest();
        known.turn = Some(work);
        Ok(())
    }

    /// Puts a tool call or a terminal into the background, until an update tells its end.
    pub(super) fn background(&mut self, connection: &mut Connection, session: &str, item: &str) -> Result<(), Misuse> {
        let Some(of) = named(item) else {
            let message = "expected an object with the type and the id of a tool call or a terminal";
            return Err(Misuse::new(MisuseKind::Params, id!("LIFE-36"), message));
        };
        let session = place(connection, session)?;
        if is_background(connection, &session, item) {
            return Ok(());
        }
        let (kind, member, _) = KINDS[of.0];
        let mut item = Object::default();
        item.set_text("type", kind);
        item.set_text(member, &of.1);
        let item = item.write();
        let mut list = listed(connection, &session);
        list.push(&item);
        let (count, list) = (list.len(), format!("[{}]", list.join(",")));
        if count > BACKGROUND.min(connection.config().limits.remembered) || list.len() > LONGEST {
            let message = "too many tool calls and terminals run in the background";
            return Err(Misuse::new(MisuseKind::Limit, id!("LIMIT-03"), message));
        }
        tell_background(self, connection, &session, &list)?;
        self.sessions.entry(session).or_default().background.push(item);
        Ok(())
    }

    /// What the host has put into the background has ended with this update, and is on no list any more (LIFE-33).
    pub(super) fn left_background(&mut self, connection: &mut Connection, session: &Arc<str>, update: &str) {
        let Some(known) = self.sessions.get_mut(session).filter(|known| !known.background.is_empty()) else { return };
        let Some(of) = named(update) else { return };
        let end = json::member(update, KINDS[of.0].2).filter(|end| *end != "null");
        let is_final = |status: &str| KINDS[of.0].0 != "tool_call" || FINAL.contains(&status);
        let ended = end.is_some_and(|end| is_final(&json::unescape(end).unwrap_or_default()));
        let Some(at) = known.background.iter().position(|item| ended && named(item).as_ref() == Some(&of)) else {
            return;
        };
        known.background.remove(at);
        let rest = listed(connection, session).into_iter().filter(|item| named(item).as_ref() != Some(&of));
        let list = format!("[{}]", rest.collect::<Vec<_>>().join(","));
        // It fails once the connection is over, and nobody keeps the list then.
        let _ = tell_background(self, connection, session, &list);
    }
}

/// The list that was told last.
fn listed<'c>(connection: &'c Connection, session: &str) -> Vec<&'c str> {
    json::items(connection.session(session).and_then(|session| session.background()).unwrap_or("[]"))
}

/// Tells the list with the state that the foreground has, which does not change by this.
fn tell_background(newer: &Newer, connection: &mut Connection, session: &str, list: &str) -> Result<(), Misuse> {
    let state = current_state(connection, session, newer.sessions.get(session));
    let mut members = Object::default();
    members.set("background", list);
    tell_state(connection, session, state, members)
}
