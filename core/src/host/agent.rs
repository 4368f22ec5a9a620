//! The agent's side of a host.
//!
//! In both versions: `session/cancel` and `session/close` cancel the prompts that the host serves and withdraw its open
//! questions, and what is said of a session before it has a name waits for the answer that names it ([`opening`]).

mod opening;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;

use self::opening::Openings;
use crate::connection::{CallOptions, Cancel, Misuse, OpenRequest, RequestKey};
use crate::{Connection, ErrorCode, Event, Id};

const PROMPT: &str = "session/prompt";
const CANCEL: &str = "session/cancel";
const CLOSE: &str = "session/close";
/// Requests to the user, which end with the work that they belong to.
const QUESTIONS: &[&str] = &["session/request_permission", "elicitation/create"];

/// What an agent does with events and calls.
#[derive(Debug)]
pub(super) struct AgentHost {
    /// The methods that have handlers.
    handlers: Vec<String>,
    openings: Openings,
}

impl AgentHost {
    pub(super) fn new(handlers: Vec<String>) -> Self {
        AgentHost { handlers, openings: Openings::default() }
    }

    /// Takes an event of the connection, and says what the host sees of it.
    pub(super) fn event(&mut self, connection: &mut Connection, event: Event, ready: &mut VecDeque<Event>) {
        match &event {
            Event::Notification(told) if told.method == CANCEL => {
                if let Some(session) = &told.session {
                    stop_prompts(connection, session, ready);
                    withdraw(connection, session);
                }
            }
            // The connection itself cancels the prompts of a session that is closed (SESS-22).
            Event::Request(request) if request.method == CLOSE => {
                if let Some(session) = &request.session {
                    withdraw(connection, session);
                }
            }
            Event::Answered(answered) => self.openings.failed(answered.serial),
            Event::Closed(_) => self.openings.clear(),
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
    ) -> Result<Id, Misuse> {
        connection.request_with(method, params, options)
    }

    pub(super) fn notify(&mut self, connection: &mut Connection, method: &str, params: &str) -> Result<(), Misuse> {
        connection.notify(method, params)
    }

    pub(super) fn notify_opened(
        &mut self,
        connection: &mut Connection,
        opening: u64,
        method: &str,
        params: &str,
    ) -> Result<(), Misuse> {
        match self.openings.place(connection, opening)? {
            Some(session) => self.notify(connection, method, &opening::about(&session, params)),
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
        let open = found(connection, request).map(|open| (open.serial, open.session.clone()));
        connection.respond(request, result)?;
        if let Some((serial, session)) = open {
            self.opened(connection, serial, session, result, ready);
        }
        Ok(())
    }

    /// Sends what was held until a request was answered.
    fn opened(
        &mut self,
        connection: &mut Connection,
        serial: u64,
        session: Option<Arc<str>>,
        result: &str,
        ready: &mut VecDeque<Event>,
    ) {
        let Some((session, held)) = self.openings.opened(serial, session, result) else { return };
        for (method, params) in held {
            if let Err(misuse) = self.notify(connection, &method, &opening::about(&session, &params)) {
                ready.push_back(opening::advice(misuse, method, &session));
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
        _ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        let serial = found(connection, request).map(|open| open.serial);
        connection.respond_error(request, code, message, data)?;
        if let Some(serial) = serial {
            self.openings.failed(serial);
        }
        Ok(())
    }

    pub(super) fn why_not(&self, connection: &Connection, method: &str) -> Option<Misuse> {
        let _ = &self.handlers;
        connection.why_not(method)
    }
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
    let asked = |open: &&OpenRequest| QUESTIONS.contains(&&*open.method) && open.session.as_ref() == Some(session);
    let open: Vec<u64> = connection.pending().filter(asked).map(|open| open.serial).collect();
    for serial in open {
        // It fails once the connection is over, which ends the questions as well.
        let _ = connection.cancel(serial);
    }
}
