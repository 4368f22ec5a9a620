//! The agent's side of a host.
//!
//! In both versions: `session/cancel` and `session/close` cancel the prompts that the host serves and withdraw its open
//! questions, what is said of a session before it has a name waits for the answer that names it ([`opening`]), and what the
//! client does not take is left out ([`fitting`]).
//!
//! [`works`] has what the agent does without a prompt, and [`waiting`] the prompts that come meanwhile. In version 1, [`older`]
//! keeps what is needed for that, and [`down`] says updates of version 2 in the words of version 1.
//!
//! In version 2, [`newer`] has what is kept of the conversation. What the client asks becomes requests of version 1 and the
//! answers become those of version 2 in [`requests`] and [`hello`]. A prompt is answered once it is a message, and the result
//! of its handler is told as a state: [`prompts`]. What the agent says changes its shape in [`updates`], and what it asks in
//! [`questions`]; [`tools`], [`diff`] and [`options`] are the shapes.

mod diff;
mod down;
mod fitting;
mod hello;
mod newer;
mod object;
mod older;
mod opening;
mod options;
mod prompts;
mod questions;
mod requests;
mod shown;
#[cfg(test)]
mod tests;
mod tools;
mod updates;
mod waiting;
mod works;

#[cfg(feature = "futures")]
pub(crate) use self::fitting::LEFT_OUT;

use std::collections::VecDeque;
use std::sync::Arc;

use self::fitting::Fitting;
use self::newer::Newer;
use self::older::Older;
use self::opening::Openings;
pub(super) use self::works::Ending;
use self::works::Works;
use super::{is_newer, text};
use crate::connection::{CallOptions, Cancel, Misuse, OpenRequest, RequestKey};
use crate::{Connection, ErrorCode, Event, Id};

const PROMPT: &str = "session/prompt";
const CANCEL: &str = "session/cancel";
const CLOSE: &str = "session/close";
/// What is asked of a connection by the names of version 1, and is another kind of update in version 2.
const KINDS: &[(&str, &str)] = &[
    ("session/update:tool_call", "session/update:tool_call_update"),
    ("session/update:plan", "session/update:plan_update"),
    ("session/update:current_mode_update", "session/update:config_option_update"),
];
/// Requests to the user, which end with the work that they belong to.
const QUESTIONS: &[&str] = &["session/request_permission", "elicitation/create"];

/// What an agent does with events and calls.
#[derive(Debug)]
pub(super) struct AgentHost {
    openings: Openings,
    works: Works,
    older: Older,
    fitting: Fitting,
    newer: Newer,
}

impl AgentHost {
    pub(super) fn new(handlers: Vec<String>) -> Self {
        AgentHost {
            openings: Openings::default(),
            works: Works::default(),
            older: Older::new(),
            fitting: Fitting::default(),
            newer: Newer::new(handlers),
        }
    }

    /// Takes an event of the connection, and says what the host sees of it.
    pub(super) fn event(&mut self, connection: &mut Connection, event: Event, ready: &mut VecDeque<Event>) {
        if is_newer(connection) {
            return self.newer_event(connection, event, ready);
        }
        self.older_event(connection, event, ready);
    }

    fn older_event(&mut self, connection: &mut Connection, mut event: Event, ready: &mut VecDeque<Event>) {
        match &mut event {
            Event::Notification(told) if told.method == CANCEL => {
                if let Some(session) = &told.session {
                    self.older.stop(connection, session, ready);
                    stop_prompts(connection, session, ready);
                    withdraw(connection, session);
                }
            }
            Event::Request(request) if request.method == PROMPT => {
                if let Event::Request(request) = event {
                    self.older.prompted(connection, request, ready);
                }
                return;
            }
            // The connection itself cancels the prompts of a session that is closed (SESS-22).
            Event::Request(request) if request.method == CLOSE => {
                if let Some(session) = &request.session {
                    self.older.stop(connection, session, ready);
                    withdraw(connection, session);
                }
            }
            Event::Cancel(cancel) if !self.older.stop_one(connection, cancel.serial) => return,
            Event::Advice(advice) if advice.id.as_ref().is_some_and(|id| self.older.waits(id)) => return,
            Event::Closed(closed) => {
                closed.unanswered.retain(|id| !self.older.waits(id));
                self.openings.clear();
                self.older.closed(connection);
            }
            _ => {}
        }
        ready.push_back(event);
    }

    fn newer_event(&mut self, connection: &mut Connection, mut event: Event, ready: &mut VecDeque<Event>) {
        match &mut event {
            Event::Request(_) => {
                if let Event::Request(request) = event {
                    self.newer.request(connection, request, ready);
                }
                return;
            }
            Event::Notification(told) if told.method == CANCEL => {
                if let Some(session) = &told.session {
                    self.newer.stop(connection, session, false, ready);
                }
            }
            Event::Response(response) | Event::LateResponse(response) => self.newer.answered(connection, response),
            Event::Cancel(cancel) => {
                let session = cancel.session.as_deref().unwrap_or_default();
                if !self.newer.stop_one(connection, session, cancel.serial) {
                    return;
                }
            }
            // The host is not told of a prompt that it has not seen.
            Event::Advice(advice) if advice.id.as_ref().is_some_and(|id| self.newer.waits(id)) => return,
            Event::Closed(closed) => {
                closed.unanswered.retain(|id| !self.newer.waits(id));
                self.openings.clear();
                self.newer.closed(connection);
            }
            _ => {}
        }
        ready.push_back(event);
    }

    pub(super) fn request(
        &mut self,
        connection: &mut Connection,
        method: &str,
        params: &str,
        options: CallOptions,
        ready: &mut VecDeque<Event>,
    ) -> Result<Id, Misuse> {
        if is_newer(connection) {
            return self.newer.ask(connection, method, params, options, ready);
        }
        connection.request_with(method, params, options)
    }

    pub(super) fn cancel(&mut self, connection: &mut Connection, request: RequestKey<'_>) -> Result<(), Misuse> {
        let serial = request.serial.or_else(|| connection.pending_by_id(request.id?).map(|open| open.serial));
        connection.cancel(request)?;
        self.newer.withdrawn(serial.unwrap_or_default());
        Ok(())
    }

    pub(super) fn notify(
        &mut self,
        connection: &mut Connection,
        method: &str,
        params: &str,
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        let Err(misuse) = self.notify_all(connection, method, params, ready) else { return Ok(()) };
        let Some(rest) = Fitting::without(&misuse, params) else { return Err(misuse) };
        self.notify_all(connection, method, &rest, ready)?;
        let session = text(params, "/sessionId").map(|session| Arc::from(&*session));
        ready.extend(self.fitting.tell(misuse, method, session.as_ref()));
        Ok(())
    }

    fn notify_all(
        &mut self,
        connection: &mut Connection,
        method: &str,
        params: &str,
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        if is_newer(connection) {
            return self.newer.notify(connection, method, params, ready);
        }
        self.older.notify(connection, method, params)
    }

    pub(super) fn notify_opened(
        &mut self,
        connection: &mut Connection,
        opening: u64,
        method: &str,
        params: &str,
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        match opening::place(connection, opening, self.newer.is_replay(opening))? {
            Some(session) => self.notify(connection, method, &opening::about(&session, params), ready),
            None => self.openings.hold(opening, method, params),
        }
    }

    pub(super) fn respond(
        &mut self,
        connection: &mut Connection,
        request: RequestKey<'_>,
        result: &str,
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        if let Some(prompt) = self.newer.prompt(connection, request) {
            return self.newer.ended(connection, prompt, result, ready);
        }
        let open = found(connection, request).map(|open| (open.serial, open.session.clone()));
        let Err(misuse) = self.respond_all(connection, request, result) else {
            self.answered(connection, open, result, ready);
            return Ok(());
        };
        let Some(rest) = Fitting::without(&misuse, result) else { return Err(misuse) };
        let method = found(connection, request).map_or_else(String::new, |open| open.method.clone().into_owned());
        self.respond_all(connection, request, &rest)?;
        ready.extend(self.fitting.tell(misuse, &method, open.as_ref().and_then(|(_, session)| session.as_ref())));
        self.answered(connection, open, &rest, ready);
        Ok(())
    }

    fn respond_all(
        &mut self,
        connection: &mut Connection,
        request: RequestKey<'_>,
        result: &str,
    ) -> Result<(), Misuse> {
        match found(connection, request).map(|open| open.serial) {
            Some(serial) if is_newer(connection) => self.newer.respond(connection, request, serial, result),
            _ => connection.respond(request, result),
        }
    }

    /// Sends what was held until a request was answered.
    fn answered(
        &mut self,
        connection: &mut Connection,
        open: Option<(u64, Option<Arc<str>>)>,
        result: &str,
        ready: &mut VecDeque<Event>,
    ) {
        let Some((serial, session)) = open else { return };
        if let Some(session) = &session {
            self.older.forget_closed(connection, session);
        }
        let Some((session, held)) = self.openings.opened(serial, session, result) else { return };
        for (method, params) in held {
            if let Err(misuse) = self.notify(connection, &method, &opening::about(&session, &params), ready) {
                ready.push_back(opening::advice(misuse, method, Some(&session)));
            }
        }
    }

    pub(super) fn respond_error(
        &mut self,
        connection: &mut Connection,
        request: RequestKey<'_>,
        code: ErrorCode,
        message: &str,
        data: Option<&str>,
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        if let Some(prompt) = self.newer.prompt(connection, request) {
            return self.newer.failed(connection, prompt, (code, message, data), ready);
        }
        let open = found(connection, request).map(|open| (open.serial, open.session.clone()));
        connection.respond_error(request, code, message, data)?;
        if let Some((serial, session)) = open {
            self.openings.failed(serial);
            self.newer.refused(connection, serial, session.as_deref());
        }
        Ok(())
    }

    pub(super) fn hold_prompts(&mut self) {
        self.newer.holds = true;
    }

    pub(super) fn hold(&mut self, connection: &Connection, prompt: u64) -> Result<(), Misuse> {
        if is_newer(connection) {
            return self.newer.hold(prompt);
        }
        Ok(())
    }

    pub(super) fn stepped(
        &mut self,
        connection: &mut Connection,
        prompt: u64,
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        self.newer.stepped(connection, prompt, ready)
    }

    pub(super) fn insert(
        &mut self,
        connection: &mut Connection,
        prompt: u64,
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        if is_newer(connection) {
            return self.newer.insert(connection, prompt, ready);
        }
        Ok(())
    }

    pub(super) fn begin_work(&mut self, connection: &mut Connection, session: &str) -> Result<u64, Misuse> {
        let session = works::place(connection, session)?;
        let work = self.works.next();
        if is_newer(connection) {
            self.newer.begin_work(connection, &session, work)?;
        } else {
            self.older.begin_work(connection, &session, work)?;
        }
        self.works.begin(session);
        Ok(work)
    }

    pub(super) fn end_work(
        &mut self,
        connection: &mut Connection,
        work: u64,
        ending: Ending<'_>,
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        let session = self.works.session(work)?;
        let members = ending.members()?;
        if is_newer(connection) {
            self.newer.end(connection, work, &session, members, ready)?;
        } else {
            self.older.end_work(&session, work, ready);
        }
        self.works.end(work);
        Ok(())
    }

    pub(super) fn background(&mut self, connection: &mut Connection, session: &str, item: &str) -> Result<(), Misuse> {
        if is_newer(connection) {
            return self.newer.background(connection, session, item);
        }
        Ok(())
    }
}

/// Methods are named as in version 1, kinds of updates as in either version.
pub(super) fn why_not(connection: &Connection, method: &str) -> Option<Misuse> {
    let kinds = if is_newer(connection) { KINDS } else { down::PLANS };
    let instead = kinds.iter().find(|(known, _)| *known == method);
    connection.why_not(instead.map_or(method, |(_, instead)| instead))
}

/// The peer's open request that a key names.
fn found<'c>(connection: &'c Connection, key: RequestKey<'_>) -> Option<&'c OpenRequest> {
    match key.serial {
        Some(serial) => connection.unanswered_by_serial(serial),
        None => connection.unanswered_by_id(key.id?),
    }
}

/// Says that each prompt of a session that the host serves is cancelled.
fn stop_prompts(connection: &Connection, session: &Arc<str>, ready: &mut VecDeque<Event>) {
    let of_it = |open: &&OpenRequest| open.method == PROMPT && open.session.as_ref() == Some(session);
    for OpenRequest { id, serial, method, session, .. } in connection.unanswered().filter(of_it) {
        let (id, method, session) = (id.clone(), method.clone(), session.clone());
        ready.push_back(Event::Cancel(Cancel { id, serial: *serial, method, session }));
    }
}

/// Takes back the questions of a session that its user need not answer any more (CANCEL-16, ELIC-29).
fn withdraw(connection: &mut Connection, session: &Arc<str>) {
    for serial in questions(connection, session) {
        // It fails once the connection is over, which ends the questions as well.
        let _ = connection.cancel(serial);
    }
}

/// The open questions of a session to its user, by their serials.
fn questions(connection: &Connection, session: &Arc<str>) -> Vec<u64> {
    let asked = |open: &&OpenRequest| QUESTIONS.contains(&&*open.method) && open.session.as_ref() == Some(session);
    connection.pending().filter(asked).map(|open| open.serial).collect()
}
