//! Bodies, and what becomes of a message from a client.

use super::connection::{Call, Connection, Phase, StreamName};
use super::{refusals, ConnectionKey, Event, Exchange, Refusal, Server, Step, Timer};
use crate::http::head::CONNECTION_ID;
use crate::http::route::{Effect, Form, Summary, Unreadable};
use crate::http::tolerance::Choice;
use crate::http::Response;
use crate::rules::Way;
use crate::Id;

/// What is accepted although the draft says otherwise: how a strict server refuses it, and how a tolerant one reports it.
type Tolerated = Option<(&'static Refusal, &'static str)>;

impl Server {
    /// Bytes of a body, after [`Step::Body`]; `end` with the last of them. Returns [`Step::Body`] until then.
    pub fn body(&mut self, exchange: u64, bytes: &[u8], end: bool) -> Step {
        match self.add_body(exchange, bytes, end) {
            Step::Respond(response) => Step::Respond(self.dress(exchange, response)),
            other => other,
        }
    }

    fn add_body(&mut self, exchange: u64, bytes: &[u8], end: bool) -> Step {
        let limits = self.options.limits;
        // Otherwise its time was up, and the host knows the response.
        let Some(Exchange::Body { bytes: known, .. }) = self.exchanges.get_mut(&exchange) else { return Step::Wait };
        let large = bytes.len() > limits.body - known.len();
        if large || bytes.len() > limits.bodies.saturating_sub(self.bodies) {
            self.give_up_body(exchange);
            return self.refuse(if large { &refusals::LARGE_BODY } else { &refusals::BUSY }, exchange, None);
        }
        self.bodies += bytes.len();
        known.extend_from_slice(bytes);
        if !end {
            return Step::Body { limit: limits.body - known.len() };
        }
        let Some(Exchange::Body { connection, session, bytes, until }) = self.exchanges.remove(&exchange) else {
            return Step::Wait;
        };
        self.body_over(exchange, bytes.len(), until);
        let Ok(json) = crate::json::text(bytes) else { return self.refuse(&refusals::SYNTAX, exchange, connection) };
        let summary = match Summary::read(&json) {
            Ok(summary) => summary,
            Err(why) => {
                let refusal = match why {
                    Unreadable::Syntax => &refusals::SYNTAX,
                    Unreadable::Batch => &refusals::BATCH,
                    Unreadable::Message => &refusals::NO_MESSAGE,
                };
                return self.refuse(refusal, exchange, connection);
            }
        };
        let Some(key) = connection else { return self.first(exchange, &summary, &json) };
        match self.accept(exchange, key, session.as_deref(), &summary, &json) {
            Ok(step) => step,
            Err(refusal) => self.refuse(refusal, exchange, connection),
        }
    }

    /// Forgets a body that is not complete; its request still gets a response.
    pub(super) fn give_up_body(&mut self, exchange: u64) {
        if let Some(Exchange::Body { bytes, until, .. }) = self.exchanges.remove(&exchange) {
            self.body_over(exchange, bytes.len(), until);
        }
    }

    /// A body is complete, or given up.
    pub(super) fn body_over(&mut self, exchange: u64, bytes: usize, until: u64) {
        self.bodies -= bytes;
        self.timers.cancel(until, Timer::Exchange(exchange));
    }

    /// A message without a connection, which has to be `initialize` (HTTP-03).
    fn first(&mut self, exchange: u64, summary: &Summary<'_>, json: &str) -> Step {
        if !summary.is_initialize() {
            return self.refuse(&refusals::NO_CONNECTION, exchange, None);
        }
        if self.connections.len() >= self.options.limits.connections {
            return self.refuse(&refusals::MANY_CONNECTIONS, exchange, None);
        }
        let Some(key) = self.open(Phase::Initializing) else {
            return self.refuse(&refusals::NO_ENTROPY, exchange, None);
        };
        self.exchanges.insert(exchange, Exchange::Waits { connection: key });
        self.deliver(key, summary, json, Some(exchange));
        Step::Wait
    }

    /// Hands a message to the agent, whose answer is the response to an exchange if that waits for it.
    pub(super) fn deliver(&mut self, key: ConnectionKey, summary: &Summary<'_>, json: &str, waits: Option<u64>) {
        let Some(connection) = self.connections.get_mut(&key) else { return };
        track(connection, summary, waits);
        connection.inbox.push(json.to_owned());
        if summary.is_answer() && std::mem::take(&mut connection.full) {
            self.events.push_back(Event::Drained { connection: key });
        }
        self.fill(key);
    }

    /// A message on a connection.
    fn accept(
        &mut self,
        exchange: u64,
        key: ConnectionKey,
        header: Option<&str>,
        summary: &Summary<'_>,
        json: &str,
    ) -> Result<Step, &'static Refusal> {
        let (limits, tolerance) = (self.options.limits, self.options.tolerance);
        // The connection may have ended while the body came.
        let Some(connection) = self.connections.get_mut(&key).filter(|it| it.inbox.closed.is_none()) else {
            return Err(&refusals::UNKNOWN_CONNECTION);
        };
        let accepted = Response::new(if id!("HTTP-04").is_on(Way::Track) { 202 } else { 200 });
        let repeats = summary.is_initialize();
        if repeats && !tolerance.has(Choice::InitializeAgain) {
            return Err(&refusals::INITIALIZED);
        }
        let dropped = dropped(connection, summary, tolerance.has(Choice::Initialized));
        let tolerated = headers_fit(connection, header, summary)?;
        if let Some((refusal, _)) = tolerated.filter(|(_, message)| !tolerance.has(choice(message))) {
            return Err(refusal);
        }
        may_call(connection, summary, limits.calls)?;
        if summary.form == Form::Request {
            let more = connection.calls.values().filter(|call| call.effect.opens()).count();
            if summary.effect.opens() {
                connection.make_room(limits.sessions.saturating_sub(more));
            }
            if summary.effect.opens() && connection.sessions.len() + more >= limits.sessions {
                return Err(&refusals::MANY_SESSIONS);
            }
        }
        if connection.inbox.bytes >= limits.inbox {
            return Err(&refusals::BUSY);
        }
        if dropped.is_none() {
            self.deliver(key, summary, json, repeats.then_some(exchange));
        }
        for (refusal, message) in tolerated.into_iter().chain(dropped) {
            self.tolerate(refusal, message, exchange, key);
        }
        if repeats {
            self.exchanges.insert(exchange, Exchange::Waits { connection: key });
            return Ok(Step::Wait);
        }
        Ok(Step::Respond(accepted))
    }
}

const EARLY_INITIALIZED: &str = "a notification `initialized` was dropped, which the protocol does not have";
const NO_CALL: &str = "an answer to no open request of the agent was dropped";
const NO_HEADER: &str = "a call that opens a session came without Acp-Session-Id";
const BARE_ANSWER: &str = "an answer came without Acp-Session-Id";
const NEEDLESS: &str = "a message that belongs to no session came with Acp-Session-Id";

/// The choice that a report is about.
fn choice(message: &str) -> Choice {
    match message {
        NO_HEADER => Choice::OpensWithoutHeader,
        BARE_ANSWER => Choice::AnswerWithoutHeader,
        _ => Choice::NeedlessHeader,
    }
}

/// Whether there is room for a call, and its id is free.
pub(super) fn may_call(connection: &Connection, summary: &Summary<'_>, most: usize) -> Result<(), &'static Refusal> {
    let is_used = |id: &Id| *id == Id::Null || connection.calls.contains_key(id);
    match summary.form {
        Form::Request if summary.id.as_ref().is_some_and(is_used) => Err(&refusals::SAME_ID),
        Form::Request if connection.calls.len() >= most => Err(&refusals::MANY_CALLS),
        _ => Ok(()),
    }
}

/// Whether a message goes no further, and what is said about that.
pub(super) fn dropped(connection: &Connection, summary: &Summary<'_>, initialized: bool) -> Tolerated {
    let answers = |id: &Id| connection.questions.contains_key(id);
    match summary.form {
        Form::Notification
            if initialized && matches!(&*summary.method, "initialized" | "notifications/initialized") =>
        {
            Some((&refusals::NOT_A_METHOD, EARLY_INITIALIZED))
        }
        Form::Result | Form::Error if summary.id != Some(Id::Null) && !summary.id.as_ref().is_some_and(answers) => {
            Some((&refusals::NO_QUESTION, NO_CALL))
        }
        _ => None,
    }
}

/// Whether the session in the header fits the message (HTTP-08, HTTP-13).
fn headers_fit(
    connection: &Connection,
    header: Option<&str>,
    summary: &Summary<'_>,
) -> Result<Tolerated, &'static Refusal> {
    let asked = summary.id.as_ref().filter(|_| summary.is_answer()).and_then(|id| connection.questions.get(id));
    let session: Option<&str> = asked.map_or(summary.session.as_deref(), Option::as_deref);
    match (session, header) {
        (Some(body), Some(header)) if body != header => Err(&refusals::OTHER_SESSION),
        (Some(_), None) if summary.is_answer() => Ok(Some((&refusals::NO_SESSION, BARE_ANSWER))),
        (Some(_), None) if summary.effect.opens() => Ok(Some((&refusals::NO_SESSION, NO_HEADER))),
        (Some(_), None) => Err(&refusals::NO_SESSION),
        // An answer to nothing is dropped, whatever its header says.
        (None, Some(_)) if !summary.is_answer() || asked.is_some() => Ok(Some((&refusals::NEEDLESS_SESSION, NEEDLESS))),
        _ => Ok(None),
    }
}

/// Remembers a call, or that a question was answered.
fn track(connection: &mut Connection, summary: &Summary<'_>, exchange: Option<u64>) {
    let Some(id) = summary.id.clone() else { return };
    match summary.form {
        Form::Request => {
            let session: StreamName = summary.session.as_deref().map(Into::into);
            if let Some(name) = session.as_deref().filter(|_| summary.effect == Effect::Attaches) {
                if let Some(session) = connection.sessions.get_mut(name) {
                    session.unasked = false;
                    // What was lost is in the history that comes now.
                    if session.stream.lost {
                        connection.sessions.remove(name);
                    }
                }
            }
            let (effect, initializes) = (summary.effect, summary.is_initialize());
            connection.calls.insert(id, Call { session, effect, initializes, exchange });
        }
        Form::Result | Form::Error => {
            connection.questions.remove(&id);
        }
        Form::Notification => {}
    }
}

/// The response to `initialize` (HTTP-03). Only one that succeeded has the id of the connection.
pub(super) fn welcome(connection: &Connection, json: &str, succeeded: bool) -> Response {
    let response = Response::new(200).json(json.to_owned());
    if succeeded && id!("HTTP-03").is_on(Way::Track) {
        response.header(CONNECTION_ID, connection.id.clone())
    } else {
        response
    }
}
