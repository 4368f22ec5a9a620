//! Two connections back to back. What one side says is said to the other, unless the policy says otherwise.

use std::collections::HashMap;

use libacp::connection::{Cancel, Notification, Outcome, Request, Response};
use libacp::rules::Severity;
use libacp::{Config, Connection, ErrorCode, Event, Id, Misuse};
use serde_json::{json, Value};

use crate::policy::Policy;

/// One of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The editor.
    Client,
    /// The agent.
    Agent,
}

impl Side {
    /// The one opposite.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Side::Client => Side::Agent,
            Side::Agent => Side::Client,
        }
    }
}

/// What the policy makes of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// The other side answers it, asked with these params.
    Ask(String),
    /// The proxy does, with this result.
    Result(String),
    /// The proxy does, with an error.
    Refuse(&'static str),
}

/// One end's connection, and whose requests it carries.
#[derive(Debug)]
struct End {
    connection: Connection,
    /// Own requests on this connection to the requests on the other that they stand for.
    asked: HashMap<Id, Id>,
}

/// The proxy: bytes in, bytes out, for two sides.
#[derive(Debug)]
pub struct Proxy {
    client: End,
    agent: End,
    policy: Policy,
}

impl Proxy {
    // ANCHOR: new
    /// A proxy between two sides that have said nothing yet.
    pub fn new(policy: Policy) -> Self {
        let end = |mut config: Config| {
            // Members that the specification does not have, or not yet, are the two sides' business (EXT-01).
            config.policies[Severity::Note as usize] = Some(libacp::connection::Policy::Off);
            End { connection: Connection::new(config), asked: HashMap::new() }
        };
        Proxy { client: end(Config::agent()), agent: end(Config::client()), policy }
    }
    // ANCHOR_END: new

    /// Takes bytes from one side and passes on what they say; then both sides may have bytes waiting.
    pub fn receive(&mut self, from: Side, bytes: &[u8]) {
        self.end(from).connection.receive(bytes);
        self.pass(from);
    }

    /// One side has ended. What the other still waits for is answered with an error.
    pub fn receive_eof(&mut self, from: Side) {
        self.end(from).connection.receive_eof();
        self.pass(from);
    }

    /// Bytes for one side.
    #[must_use]
    pub fn transmit(&self, to: Side) -> &[u8] {
        match to {
            Side::Client => self.client.connection.transmit(),
            Side::Agent => self.agent.connection.transmit(),
        }
    }

    /// Takes bytes as written.
    pub fn consume(&mut self, to: Side, count: usize) {
        self.end(to).connection.consume(count);
    }

    /// The policy, with what it has counted.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    fn end(&mut self, side: Side) -> &mut End {
        match side {
            Side::Client => &mut self.client,
            Side::Agent => &mut self.agent,
        }
    }

    fn pass(&mut self, from: Side) {
        while let Some(event) = self.end(from).connection.poll_event() {
            match event {
                Event::Request(request) => self.request(from, &request),
                Event::Notification(notification) => self.notification(from, &notification),
                Event::Response(response) => self.response(from, response),
                Event::Cancel(cancel) => self.cancel(from, &cancel),
                // The connection has answered for the other side, whose own answer is not needed any more.
                Event::Answered(answered) => {
                    self.end(from.other()).asked.retain(|_, asker| *asker != answered.id);
                }
                // Refused or repaired by the connection already; there is nobody here to tell.
                _ => {}
            }
        }
    }

    fn request(&mut self, from: Side, request: &Request) {
        self.tell_held(from, request.session.as_deref());
        let params = match self.policy.request(from, request) {
            Answer::Ask(params) => params,
            Answer::Result(result) => {
                let answered = self.end(from).connection.respond(&request.id, &result);
                return self.or_error(from, &request.id, answered);
            }
            Answer::Refuse(why) => return self.refuse(from, &request.id, ErrorCode::INVALID_PARAMS, why),
        };
        // Each side agrees on a version with the proxy, which names its own.
        let params = if request.method == "initialize" { without(&params, "protocolVersion") } else { params };
        let to = self.end(from.other());
        match to.connection.request(&request.method, &params) {
            Ok(id) => {
                to.asked.insert(id, request.id.clone());
            }
            Err(misuse) => self.or_error(from, &request.id, Err(misuse)),
        }
    }

    fn tell_held(&mut self, from: Side, session: Option<&str>) {
        if let Some(params) = self.policy.held_back(from, session) {
            // What the other side may not be told was odd here too, and has been reported.
            let _ = self.end(from.other()).connection.notify("session/update", &params);
        }
    }

    fn notification(&mut self, from: Side, notification: &Notification) {
        for params in self.policy.notification(from, notification) {
            let _ = self.end(from.other()).connection.notify(&notification.method, &params);
        }
    }

    fn response(&mut self, from: Side, response: Response) {
        let Some(asker) = self.end(from).asked.remove(&response.id) else { return };
        let to = from.other();
        self.tell_held(from, response.session.as_deref());
        match response.outcome {
            Outcome::Error(error) => {
                let data = error.data.as_deref();
                let answered = self.end(to).connection.respond_error(&asker, error.code, &error.message, data);
                self.or_error(to, &asker, answered);
            }
            outcome => match outcome.result() {
                Some(result) => {
                    let starts = response.method == "initialize";
                    let result = if starts { without(result, "protocolVersion") } else { result.to_owned() };
                    let answered = self.end(to).connection.respond(&asker, &result);
                    self.or_error(to, &asker, answered);
                }
                None => {
                    self.refuse(to, &asker, ErrorCode::INTERNAL_ERROR, "No answer from the other side of the proxy");
                }
            },
        }
    }

    fn cancel(&mut self, from: Side, cancel: &Cancel) {
        let to = self.end(from.other());
        let own = to.asked.iter().find(|(_, asker)| **asker == cancel.id).map(|(own, _)| own.clone());
        if let Some(own) = own {
            // It may have been answered meanwhile, and then there is nothing to cancel.
            let _ = to.connection.cancel(&own);
        }
    }

    /// What could not be passed on is answered with the rule that forbids it, and no words of either side.
    fn or_error(&mut self, to: Side, id: &Id, done: Result<(), Misuse>) {
        if let Err(misuse) = done {
            let data = json!({"rule": misuse.rule, "pointer": misuse.pointer}).to_string();
            let message = "The proxy cannot pass this on";
            let code = ErrorCode::INTERNAL_ERROR;
            // An id that is not open any more has been answered.
            let _ = self.end(to).connection.respond_error(id, code, message, Some(&data));
        }
    }

    fn refuse(&mut self, to: Side, id: &Id, code: ErrorCode, why: &str) {
        let answered = self.end(to).connection.respond_error(id, code, why, None);
        debug_assert!(answered.is_ok() || to == Side::Client, "{answered:?}");
    }
}

fn without(object: &str, member: &str) -> String {
    match serde_json::from_str(object) {
        Ok(Value::Object(mut members)) => {
            members.remove(member);
            Value::Object(members).to_string()
        }
        _ => object.to_owned(),
    }
}
