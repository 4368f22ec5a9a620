//! The client's side of a host.
//!
//! | file | what it does in version 2 |
//! | --- | --- |
//! | `hello` | `initialize`, for both versions |
//! | `calls`, `options` | calls with other methods, params and results |
//! | `work`, `end` | prompts, each a call until the work on it ends |
//! | `asked` | requests for permission |
//! | `shapes` | changes to JSON |

mod asked;
mod calls;
mod end;
mod hello;
mod options;
pub(super) mod shapes;
#[cfg(test)]
mod tests;
mod work;

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use self::calls::Call;
use self::work::Works;
use super::{is_newer, stop};
use crate::connection::{CallOptions, Json, Misuse, Outcome, Request, RequestKey, Response, ResultText, Session, Turn};
use crate::{Connection, Event, Id};

const CANCEL: &str = "session/cancel";
const INITIALIZE: &str = "initialize";
const LOAD: &str = "session/load";
const PERMISSION: &str = "session/request_permission";
const PROMPT: &str = "session/prompt";
/// The version that is asked for where the host allows it.
const NEW: u16 = 2;

/// What a client does with events and calls.
#[derive(Debug, Default)]
pub(super) struct ClientHost {
    /// Open calls that version 2 has in another form, by serial.
    calls: HashMap<u64, &'static Call>,
    /// Those that have ended without an answer, oldest first.
    late: VecDeque<(u64, &'static Call)>,
    works: Works,
}

impl ClientHost {
    /// Takes an event of the connection, and says what the host sees of it.
    pub(super) fn event(&mut self, connection: &mut Connection, event: Event, ready: &mut VecDeque<Event>) {
        match event {
            Event::Closed(_) => {
                self.works.closed(ready);
                ready.push_back(event);
            }
            _ if !is_newer(connection) => {
                let timed_out = timed_out(&event).map(str::to_owned);
                ready.push_back(event);
                if let Some(session) = timed_out {
                    self.cancel_turn(connection, &session);
                }
            }
            Event::Notification(update) => {
                let mut ended = VecDeque::new();
                self.works.told(connection, &update, &mut ended);
                ready.push_back(Event::Notification(update));
                ready.append(&mut ended);
            }
            Event::Request(request) if request.method == PERMISSION => asked(connection, request, ready),
            Event::Response(response) => self.answered(connection, response, ready),
            Event::LateResponse(response) => {
                ready.push_back(Event::LateResponse(self.answered_late(connection, response)));
            }
            _ => ready.push_back(event),
        }
    }

    fn answered(&mut self, connection: &mut Connection, mut response: Response, ready: &mut VecDeque<Event>) {
        if response.method == PROMPT {
            let session = response.session.clone();
            let stop = self.works.answered(connection, response, ready);
            if let Some(session) = session.filter(|_| stop) {
                self.cancel_turn(connection, &session);
            }
            return;
        }
        let call = self.calls.remove(&response.serial);
        if let Some(call) = call.filter(|_| matches!(response.outcome, Outcome::Timeout | Outcome::Cancelled)) {
            if self.late.len() >= connection.config().limits.pending {
                self.late.pop_front();
            }
            self.late.push_back((response.serial, call));
        }
        translate(&mut response, call);
        self.works.settle(connection, ready);
        ready.push_back(Event::Response(response));
    }

    /// Nobody waits for a prompt that is inserted now, and so nobody wants the work on it.
    fn answered_late(&mut self, connection: &mut Connection, mut response: Response) -> Response {
        if response.method == PROMPT {
            if let (Some(result), Some(session)) = (response.outcome.result(), response.session.clone()) {
                let message = shapes::text(result, "/messageId");
                response.outcome = end::End::cancelled().outcome(message.as_deref(), true);
                let works = connection.session(&session).is_some_and(Session::is_working);
                let left = works && self.works.newest(&session).is_none();
                if left {
                    self.cancel_turn(connection, &session);
                }
            }
            return response;
        }
        let at = self.late.iter().position(|(serial, _)| *serial == response.serial);
        let call = at.and_then(|at| self.late.remove(at)).map(|(_, call)| call);
        translate(&mut response, call);
        response
    }

    pub(super) fn request(
        &mut self,
        connection: &mut Connection,
        method: &str,
        params: &str,
        options: CallOptions,
        ready: &mut VecDeque<Event>,
    ) -> Result<Id, Misuse> {
        if method == INITIALIZE {
            let versions = connection.config().versions;
            let asked = crate::json::pointer(params, "/protocolVersion");
            let new = versions.contains(NEW) && asked.is_none_or(|version| version == NEW.to_string());
            let params = if new { hello::params(params, versions).into() } else { Cow::Borrowed(params) };
            return connection.request_with(method, &params, options);
        }
        if !is_newer(connection) {
            return connection.request_with(method, params, options);
        }
        let Some(call) = calls::of(method) else {
            let id = connection.request_with(method, params, options)?;
            if method == PROMPT {
                self.works.sent(connection, &id, ready);
            }
            self.works.settle(connection, ready);
            return Ok(id);
        };
        let params = call.params(connection, params)?;
        let id = connection.request_with(call.new, &params, options)?;
        let serial = connection.pending_by_id(&id).map(|open| open.serial);
        self.calls.extend(serial.map(|serial| (serial, call)));
        Ok(id)
    }

    pub(super) fn notify(&mut self, connection: &mut Connection, method: &str, params: &str) -> Result<(), Misuse> {
        connection.notify(method, params)?;
        if method == CANCEL {
            if let Some(session) = shapes::text(params, "/sessionId") {
                self.works.cancelled(connection, &session);
            }
        }
        Ok(())
    }

    /// Cancels what goes on in a session, unless it is being cancelled, or nothing does (CANCEL-01).
    fn cancel_turn(&mut self, connection: &mut Connection, session: &str) {
        let turn = connection.session(session).map_or(Turn::Idle, |session| session.turn);
        if !matches!(turn, Turn::Idle | Turn::Cancelling) {
            stop::cancel_turn(connection, session);
        }
        self.works.cancelled(connection, session);
    }

    pub(super) fn cancel(&mut self, connection: &mut Connection, request: RequestKey<'_>) -> Result<(), Misuse> {
        let Some((session, cancelled)) = self.works.inserted(request) else {
            connection.cancel(request)?;
            self.works.cancelling(request);
            return Ok(());
        };
        if !cancelled {
            let session = session.clone();
            self.cancel_turn(connection, &session);
        }
        Ok(())
    }

    pub(super) fn abandon(&mut self, connection: &mut Connection, serial: u64) {
        let open = connection.pending_by_serial(serial).map(|open| open.method == PROMPT);
        match open {
            Some(false) => stop::give_up(connection, serial),
            Some(true) if !is_newer(connection) => stop::give_up(connection, serial),
            _ if self.works.is_cancelled(serial) => {}
            // This fails if the call has ended: nothing to do then.
            _ => drop(self.cancel(connection, serial.into())),
        }
    }

    pub(super) fn poll_timeout(&self) -> Option<u64> {
        self.works.next()
    }

    pub(super) fn handle_timeout(&mut self, connection: &mut Connection, now: u64, ready: &mut VecDeque<Event>) {
        for session in self.works.elapsed(now, ready) {
            self.cancel_turn(connection, &session);
        }
    }

    /// The open call that an event belongs to, if it is an update: a load whose replay it is, or the prompt whose work it reports.
    pub(super) fn exchange(&self, connection: &Connection, event: &Event) -> Option<u64> {
        let Event::Notification(update) = event else { return None };
        let session = update.session.as_ref().filter(|_| update.method == "session/update")?;
        let mut prompt = None;
        for open in connection.pending_of(session) {
            match &*open.method {
                LOAD => return Some(open.serial),
                _ if self.is_load(open.serial) => return Some(open.serial),
                PROMPT => prompt = Some(open.serial),
                _ => {}
            }
        }
        self.works.reported(session).or(prompt)
    }

    /// Whether an open call is a load, which has another name in version 2.
    pub(super) fn is_load(&self, serial: u64) -> bool {
        self.calls.get(&serial).is_some_and(|call| call.method == LOAD)
    }
}

/// The session of a prompt whose time is up. Not every agent knows that a request can be cancelled; each knows that a turn can.
fn timed_out(event: &Event) -> Option<&str> {
    let Event::Response(response) = event else { return None };
    let prompt = response.method == PROMPT && matches!(response.outcome, Outcome::Timeout);
    response.session.as_deref().filter(|_| prompt)
}

pub(super) fn why_not(connection: &Connection, method: &str) -> Option<Misuse> {
    let (name, part) = method.split_once(':').map_or((method, None), |(name, part)| (name, Some(part)));
    let call = calls::of(name).filter(|_| is_newer(connection));
    match (call, part) {
        (None, _) => connection.why_not(method),
        (Some(call), None) => connection.why_not(call.new),
        (Some(call), Some(part)) => connection.why_not(&format!("{}:{part}", call.new)),
    }
}

/// A response as version 1 has it.
fn translate(response: &mut Response, call: Option<&Call>) {
    let shape = match call {
        Some(call) => {
            response.method = call.method.into();
            call.result
        }
        None if response.method == INITIALIZE => hello::result,
        None => return,
    };
    if let Some(result) = response.outcome.result() {
        response.outcome = Outcome::Result(ResultText(Json::whole(shape(result))));
    }
}

/// A request for permission has come. Without an option that the user could choose, nothing is chosen.
fn asked(connection: &mut Connection, mut request: Request, ready: &mut VecDeque<Event>) {
    match asked::permission(request.params(), request.serial) {
        Some(params) => {
            request.params = Json::whole(params);
            ready.push_back(Event::Request(request));
        }
        // This fails if the question has been answered already, as it was withdrawn.
        None => drop(connection.respond(&request, asked::NOT_CHOSEN)),
    }
}
