//! Two connections back to back, for proxies: messages of one side are passed on to the other.
//!
//! Towards the client a relay plays the agent, towards the agent the client. A request has one id on each side; the
//! relay translates answers and cancellations. Messages that break the rules are refused or repaired where they arrive
//! and never reach the other side.
//!
//! The relay does no I/O and decides nothing. It hands over what has arrived event by event, and the program passes an
//! event on, passes on something else, answers it itself, or ignores it.
//!
//! ```
//! use libacp::relay::{Relay, Side};
//! use libacp::{ErrorCode, Event};
//!
//! /// Takes what one side has sent. Afterwards, both sides may have bytes waiting in `transmit`.
//! fn take(relay: &mut Relay, from: Side, bytes: &[u8]) {
//!     relay.receive(from, bytes);
//!     while let Some(event) = relay.poll_event(from) {
//!         match &event {
//!             Event::Request(request) if request.method == "terminal/create" => {
//!                 let asked = relay.connection_mut(from);
//!                 // This fails if the request was answered meanwhile because it was cancelled.
//!                 let _ = asked.respond_error(&request.id, ErrorCode::INVALID_PARAMS, "No commands here", None);
//!             }
//!             // A request that may not be passed on is answered with an error.
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

/// Bytes waiting for a side above which no more should be read that could add to them.
const ROOM: usize = 1024 * 1024;
/// The rules by which a connection answers an agent's question after the agent has cancelled it.
const WITHDRAWN: [RuleId; 2] = [id!("PERM-21"), id!("ELIC-32")];

/// One of the two ends of a relay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The client.
    Client,
    /// The agent.
    Agent,
}

impl Side {
    /// The opposite end.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Side::Client => Side::Agent,
            Side::Agent => Side::Client,
        }
    }
}

/// The connection with one end.
#[derive(Debug)]
struct End {
    connection: Connection,
    /// The relay's requests on this connection, mapped to the requests on the other that they stand for.
    askers: HashMap<Id, Id>,
    /// The reverse of `askers`.
    asked: HashMap<Id, Id>,
}

impl End {
    fn new(config: Config) -> Self {
        End { connection: Connection::new(config), askers: HashMap::new(), asked: HashMap::new() }
    }

    /// Removes and returns the request that one of the relay's requests stands for.
    fn settle(&mut self, own: &Id) -> Option<Id> {
        let asker = self.askers.remove(own)?;
        self.asked.remove(&asker);
        Some(asker)
    }
}

/// Two connections back to back; see the [module](self). Its memory is bounded by the limits of the connections: two
/// ids for each open request.
#[derive(Debug)]
pub struct Relay {
    client: End,
    agent: End,
}

impl Relay {
    /// A relay at the start of a conversation. Both connections use the default configuration, except that the policy
    /// for notes is `Off`: members that the specification does not have are passed on.
    #[must_use]
    pub fn new() -> Self {
        let quiet = |mut config: Config| {
            config.policies[Severity::Note as usize] = Some(crate::connection::Policy::Off);
            config
        };
        Self::with(quiet(Config::agent()), quiet(Config::client()))
    }

    /// A relay with the given configurations: `with_client` for the connection with the client, on which the relay
    /// plays the agent, and `with_agent` for the connection with the agent. The roles in them are overwritten. Each
    /// side agrees on a version with the relay.
    #[must_use]
    pub fn with(mut with_client: Config, mut with_agent: Config) -> Self {
        (with_client.role, with_agent.role) = (crate::Role::Agent, crate::Role::Client);
        Relay { client: End::new(with_client), agent: End::new(with_agent) }
    }

    /// Passes in bytes from one side.
    pub fn receive(&mut self, from: Side, bytes: &[u8]) {
        self.end(from).connection.receive(bytes);
    }

    /// Reports that one side has closed its stream. Requests of the other side that it had not answered are answered
    /// with an error once the resulting events were passed on.
    pub fn receive_eof(&mut self, from: Side) {
        self.end(from).connection.receive_eof();
    }

    /// Takes the next event from the connection with one side.
    pub fn poll_event(&mut self, from: Side) -> Option<Event> {
        self.end(from).connection.poll_event()
    }

    /// Whether to read more from a side. False while 1 MiB or more waits to be written to either side, because a side
    /// that does not read could otherwise make the relay buffer without limit.
    #[must_use]
    pub fn is_hungry(&self, from: Side) -> bool {
        [from, from.other()].iter().all(|side| self.connection(*side).unsent() < ROOM)
    }

    /// The bytes to write to one side.
    #[must_use]
    pub fn transmit(&self, to: Side) -> &[u8] {
        self.connection(to).transmit()
    }

    /// Removes bytes from the front of [`transmit`](Self::transmit) after they were written.
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

    /// The connection with one side, for the relay's own messages: an answer in place of the other side's, a
    /// notification, or a request. The response to the relay's own request is an event that [`pass`](Self::pass)
    /// ignores.
    pub fn connection_mut(&mut self, side: Side) -> &mut Connection {
        &mut self.end(side).connection
    }

    /// Passes an event on to the other side: a request, a notification, a response, the cancellation of a request.
    /// Other events change nothing on the other side.
    ///
    /// # Errors
    /// [`Misuse`] if the message may not be sent to the other side. If it was a request, its sender has been answered
    /// with an error; if it was a response, an error was sent in its place. The error names the rule and contains no
    /// text from either side.
    pub fn pass(&mut self, from: Side, event: &Event) -> Result<(), Misuse> {
        let text = match event {
            Event::Request(request) => request.params(),
            Event::Notification(notification) => notification.params(),
            Event::Response(response) => return self.answer(from, response, response.outcome.result()),
            Event::Cancel(cancel) => {
                let to = self.end(from.other());
                if let Some(own) = to.asked.get(&cancel.id).cloned() {
                    // This fails if it was answered meanwhile, and then there is nothing to cancel.
                    drop(to.connection.cancel(&own));
                }
                return Ok(());
            }
            Event::Answered(answered) => {
                // This side's connection has answered the request, so the other side's answer is no longer needed.
                let to = self.end(from.other());
                if let Some(own) = to.asked.remove(&answered.id) {
                    to.askers.remove(&own);
                    if WITHDRAWN.contains(&answered.rule) {
                        // The agent cancelled it, which the client does not know yet.
                        drop(to.connection.cancel(&own));
                    }
                }
                return Ok(());
            }
            _ => return Ok(()),
        };
        self.pass_with(from, event, text)
    }

    /// Like [`pass`](Self::pass), with other params for a request or a notification, or with a result in place of any
    /// response.
    ///
    /// # Errors
    /// As for [`pass`](Self::pass).
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

    /// Answers a message that cannot be passed on with the rule that forbids it.
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
        // This fails if the request was answered meanwhile.
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

/// Params or a result of `initialize` without the version, so that the connection fills in the relay's.
fn own_version<'j>(method: &str, json: &'j str) -> Cow<'j, str> {
    if method == "initialize" {
        Cow::Owned(json::without(json, &["/protocolVersion".to_owned()]))
    } else {
        Cow::Borrowed(json)
    }
}
