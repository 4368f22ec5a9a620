//! Two connections back to back, as every proxy has them: what one side says is said to the other.
//!
//! Towards the client a relay plays the agent, towards the agent the client. Each side's requests have ids of their own on
//! the other, and are answered and cancelled under those that their sender knows. What breaks the rules is refused or
//! repaired where it comes in and never reaches the other side.
//!
//! The relay does no I/O and decides nothing: what has come is handed over event by event, and whoever has the relay passes
//! it on, passes on something else, answers by itself, or says nothing about it.
//!
//! ```
//! use libacp::relay::{Relay, Side};
//! use libacp::{ErrorCode, Event};
//!
//! /// Takes what one side has sent; then both sides may have bytes waiting in `transmit`.
//! fn take(relay: &mut Relay, from: Side, bytes: &[u8]) {
//!     relay.receive(from, bytes);
//!     while let Some(event) = relay.poll_event(from) {
//!         match &event {
//!             Event::Request(request) if request.method == "terminal/create" => {
//!                 let asked = relay.connection_mut(from);
//!                 // One that has been cancelled meanwhile is answered.
//!                 let _ = asked.respond_error(&request.id, ErrorCode::INVALID_PARAMS, "No commands here", None);
//!             }
//!             // What the other side may not be told is answered with an error.
//!             _ => drop(relay.pass(from, &event)),
//!         }
//!     }
//! }
//! # take(&mut Relay::new(), Side::Client, b"{}\n");
//! ```

use std::borrow::Cow;
use std::collections::HashMap;

use crate::connection::{Outcome, Response};
use crate::json::{self, Writer};
use crate::rules::{RuleId, Severity};
use crate::{Config, Connection, ErrorCode, Event, Id, Misuse};

/// Bytes that may wait for a side before no more is to be read that would add to them.
const ROOM: usize = 1024 * 1024;
/// Rules by which a connection answers an agent's question that the agent itself has taken back.
const WITHDRAWN: [RuleId; 2] = [id!("PERM-21"), id!("ELIC-32")];

/// One of the two ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The editor, page or bot.
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

/// One end's connection, and whose requests it carries.
#[derive(Debug)]
struct End {
    connection: Connection,
    /// Own requests on this connection to the requests on the other that they stand for, and the other way round.
    askers: HashMap<Id, Id>,
    asked: HashMap<Id, Id>,
}

impl End {
    fn new(config: Config) -> Self {
        End { connection: Connection::new(config), askers: HashMap::new(), asked: HashMap::new() }
    }

    /// The request that one of these stands for, once.
    fn settle(&mut self, own: &Id) -> Option<Id> {
        let asker = self.askers.remove(own)?;
        self.asked.remove(&asker);
        Some(asker)
    }
}

/// See the [module](self). What it remembers is bounded by the limits of its connections: of each request that is open, two
/// ids.
#[derive(Debug)]
pub struct Relay {
    client: End,
    agent: End,
}

impl Relay {
    /// A relay between two sides that have said nothing yet. What only notes are about, as members that the specification
    /// does not have, is the two sides' business.
    #[must_use]
    pub fn new() -> Self {
        let quiet = |mut config: Config| {
            config.policies[Severity::Note as usize] = Some(crate::connection::Policy::Off);
            config
        };
        Self::with(quiet(Config::agent()), quiet(Config::client()))
    }

    /// The same with configurations of the host's choice: of the connection with the client, on which this is the agent, and
    /// of that with the agent. Each side agrees on a version with the relay.
    #[must_use]
    pub fn with(mut with_client: Config, mut with_agent: Config) -> Self {
        (with_client.role, with_agent.role) = (crate::Role::Agent, crate::Role::Client);
        Relay { client: End::new(with_client), agent: End::new(with_agent) }
    }

    /// Takes bytes from one side.
    pub fn receive(&mut self, from: Side, bytes: &[u8]) {
        self.end(from).connection.receive(bytes);
    }

    /// One side has ended. What the other still waits for is answered with an error once the events of this have been passed
    /// on.
    pub fn receive_eof(&mut self, from: Side) {
        self.end(from).connection.receive_eof();
    }

    /// The next thing that a side has said, or that has become of it.
    pub fn poll_event(&mut self, from: Side) -> Option<Event> {
        self.end(from).connection.poll_event()
    }

    /// Whether to read more from a side: not while 1 MiB waits for either of them, as nobody bounds what a side says that
    /// does not listen, or that the other does not.
    #[must_use]
    pub fn is_hungry(&self, from: Side) -> bool {
        [from, from.other()].iter().all(|side| self.connection(*side).unsent() < ROOM)
    }

    /// Bytes for one side.
    #[must_use]
    pub fn transmit(&self, to: Side) -> &[u8] {
        self.connection(to).transmit()
    }

    /// Takes bytes as written.
    pub fn consume(&mut self, to: Side, count: usize) {
        self.end(to).connection.consume(count);
    }

    /// The connection with one side.
    #[must_use]
    pub fn connection(&self, side: Side) -> &Connection {
        match side {
            Side::Client => &self.client.connection,
            Side::Agent => &self.agent.connection,
        }
    }

    /// The same to say something of one's own: an answer to a request in place of the other side's, a notification, a
    /// request, whose answer is an event that is not to be passed on.
    pub fn connection_mut(&mut self, side: Side) -> &mut Connection {
        &mut self.end(side).connection
    }

    /// Says to the other side what an event says: a request, a notification, an answer, that a request is cancelled. All
    /// other events are nobody else's business, and this does nothing.
    ///
    /// # Errors
    /// [`Misuse`] when the other side may not be told. A request has been answered with an error then, and of an answer an
    /// error was made, which name the rule and say no words of either side.
    pub fn pass(&mut self, from: Side, event: &Event) -> Result<(), Misuse> {
        let text = match event {
            Event::Request(request) => request.params(),
            Event::Notification(notification) => notification.params(),
            Event::Response(response) => return self.answer(from, response, response.outcome.result()),
            Event::Cancel(cancel) => {
                let to = self.end(from.other());
                if let Some(own) = to.asked.get(&cancel.id).cloned() {
                    // It may have been answered meanwhile, and then there is nothing to cancel.
                    drop(to.connection.cancel(&own));
                }
                return Ok(());
            }
            Event::Answered(answered) => {
                // This side's connection has answered for the other, whose own answer is not needed any more.
                let to = self.end(from.other());
                if let Some(own) = to.asked.remove(&answered.id) {
                    to.askers.remove(&own);
                    if WITHDRAWN.contains(&answered.rule) {
                        // The agent does not want it any more, which the client has not heard.
                        drop(to.connection.cancel(&own));
                    }
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.pass_with(from, event, text)
    }

    /// The same with other params of a request or a notification, and with another result in place of any answer.
    ///
    /// # Errors
    /// As above.
    pub fn pass_with(&mut self, from: Side, event: &Event, json: &str) -> Result<(), Misuse> {
        match event {
            Event::Request(request) => {
                // Each side agrees on a version with the relay, which names its own.
                let params = own_version(&request.method, json);
                let to = self.end(from.other());
                match to.connection.request(&request.method, &params) {
                    Ok(own) => {
                        to.askers.insert(own.clone(), request.id.clone());
                        to.asked.insert(request.id.clone(), own);
                        Ok(())
                    }
                    Err(misuse) => self.refuse(from, &request.id, misuse),
                }
            }
            Event::Notification(notification) => self.end(from.other()).connection.notify(&notification.method, json),
            Event::Response(response) => self.answer(from, response, Some(json)),
            _ => self.pass(from, event),
        }
    }

    fn answer(&mut self, from: Side, response: &Response, result: Option<&str>) -> Result<(), Misuse> {
        let Some(asker) = self.end(from).settle(&response.id) else { return Ok(()) };
        let to = &mut self.end(from.other()).connection;
        let answered = match (result, &response.outcome) {
            (Some(result), _) => to.respond(&asker, &own_version(&response.method, result)),
            (None, Outcome::Error(error)) => {
                to.respond_error(&asker, error.code, &error.message, error.data.as_deref())
            }
            (None, _) => {
                to.respond_error(&asker, ErrorCode::INTERNAL_ERROR, "No answer from the other side of the proxy", None)
            }
        };
        answered.or_else(|misuse| self.refuse(from.other(), &asker, misuse))
    }

    /// What cannot be passed on is answered with the rule that forbids it.
    fn refuse(&mut self, to: Side, id: &Id, misuse: Misuse) -> Result<(), Misuse> {
        let mut data = Writer::new();
        data.begin_object()
            .key("rule")
            .string(misuse.rule.as_str())
            .key("pointer")
            .string(&misuse.pointer)
            .end_object();
        let (data, message) = (data.finish().ok(), "The proxy cannot pass this on");
        let end = self.end(to);
        // An id that is not open any more has been answered.
        drop(end.connection.respond_error(id, ErrorCode::INTERNAL_ERROR, message, data.as_deref()));
        Err(misuse)
    }

    fn end(&mut self, side: Side) -> &mut End {
        match side {
            Side::Client => &mut self.client,
            Side::Agent => &mut self.agent,
        }
    }
}

impl Default for Relay {
    fn default() -> Self {
        Self::new()
    }
}

/// Params or a result without the version that their sender names.
fn own_version<'j>(method: &str, json: &'j str) -> Cow<'j, str> {
    if method == "initialize" {
        Cow::Owned(json::without(json, &["/protocolVersion".to_owned()]))
    } else {
        Cow::Borrowed(json)
    }
}
