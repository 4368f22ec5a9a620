//! A connection as handlers and calls see it: in the methods and shapes of version 1, whichever version was agreed.
//!
//! Theory of operation. A [`Host`] owns a [`Connection`] and stands between it and a loop that runs handlers. In version 1
//! messages go through as they are. In version 2 each side turns what the host says into that version's messages and what
//! the peer says into those of version 1, so that a handler that was written once serves both: `agent` for agents,
//! `client` for clients. Updates that a client receives are left as they are; a [view](crate::view) shows both versions
//! alike. What both sides need in both versions stands here too: which open call an update belongs to, what is said of a
//! session before the answer that names it, and what a cancel stops.
//!
//! Read next: `agent`, then `client`; `updates`, `params` and `hello` are the shapes.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::agent::{self, AgentHost};
use super::client::{self, ClientHost};
use super::opened::Opened;
use super::pace::Pace;
use super::stop;
use crate::connection::{CallOptions, Misuse, RequestKey, Response, Turn};
use crate::{Config, Connection, ErrorCode, Event, Id, Role};

/// How many bytes may wait for the transport before calls wait as well.
const ROOM: usize = 64 * 1024;

/// A connection for a host with handlers, which speaks the words of version 1 in both versions.
///
/// Drain it like a [`Connection`]: its methods have the names and the meaning of the connection's, and
/// [`connection_mut`](Self::connection_mut) takes bytes. The time is told to the host.
#[derive(Debug)]
pub struct Host {
    connection: Connection,
    side: Side,
    /// Events that were made and not polled yet.
    ready: VecDeque<Event>,
    /// The call that the last update belongs to.
    exchange: Option<u64>,
    opened: Opened,
    pace: Pace,
}

/// There are agents. A build for clients alone has no such value, so that the compiler knows that no side is one.
#[cfg(not(clients_only))]
#[derive(Debug)]
struct Agents;
#[cfg(clients_only)]
#[derive(Debug)]
enum Agents {}

const AGENTS: Option<Agents> = {
    #[cfg(not(clients_only))]
    let agents = Some(Agents);
    #[cfg(clients_only)]
    let agents = None;
    agents
};

/// What a side does with events and calls.
#[derive(Debug)]
enum Side {
    /// Everything goes through as it is.
    Plain,
    Agent(Box<AgentHost>, Agents),
    Client(Box<ClientHost>),
}

impl Host {
    /// A host with handlers for these methods, which are named as in version 1.
    pub fn new(config: Config, handlers: impl IntoIterator<Item = String>) -> Self {
        let side = match (config.role(), AGENTS) {
            (Role::Agent, Some(agents)) => {
                Side::Agent(Box::new(AgentHost::new(handlers.into_iter().collect())), agents)
            }
            _ => Side::Client(Box::default()),
        };
        Self::with(config, side)
    }

    /// A connection that stays as it is: every message is that of the agreed version.
    pub fn plain(config: Config) -> Self {
        Self::with(config, Side::Plain)
    }

    fn with(config: Config, side: Side) -> Self {
        let (connection, ready) = (Connection::new(config), VecDeque::new());
        Host { connection, side, ready, exchange: None, opened: Opened::default(), pace: Pace::default() }
    }

    #[cfg(test)]
    pub(super) fn agent(&self) -> &AgentHost {
        match &self.side {
            Side::Agent(agent, _) => agent,
            _ => panic!("not an agent"),
        }
    }

    /// The agent, its connection, and the events that are to be polled; `None` if this is none, or a plain connection.
    pub(super) fn agent_mut(&mut self) -> Option<(&mut AgentHost, &mut Connection, &mut VecDeque<Event>)> {
        match &mut self.side {
            Side::Agent(agent, _) => Some((agent, &mut self.connection, &mut self.ready)),
            Side::Plain | Side::Client(_) => None,
        }
    }

    /// The connection, to ask for its state.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The connection, to give it bytes and to take what is to be written. Messages that are sent past the host are those of
    /// the agreed version.
    pub fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// Merges chunks of the agent's messages and thoughts while they wait for the transport: text is joined, order stays, and
    /// what differs in anything but its text is not merged. The peer sees fewer chunks, of at most 16 KiB. With
    /// [`Framing::ContentLength`](crate::framing::Framing::ContentLength) nothing is merged.
    ///
    /// What [`transmit`](Connection::transmit) has shown must be consumed before anything else is done with the host.
    pub fn merge_chunks(&mut self, merges: bool) {
        self.connection.merge_chunks(merges);
    }

    /// What was polled and waits for its handler. While it is too much, no event comes.
    pub fn pace(&mut self) -> &mut Pace {
        &mut self.pace
    }

    /// Whether a call can be sent at once, or has to wait until the transport has taken more.
    pub fn has_room(&self) -> bool {
        self.connection.unsent() < ROOM
    }

    /// The next event; see [`Connection::poll_event`]. None comes while the [`pace`](Self::pace) has it so.
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        let (connection, side) = (&self.connection, &self.side);
        if self.pace.pauses(connection.auto_reply_bytes(), || is_owed(connection, side)) {
            return None;
        }
        loop {
            if let Some(event) = self.ready.pop_front() {
                // An update, if there is one, is the first of what an event has become.
                self.exchange = self.exchange.filter(|_| matches!(event, Event::Notification(_)));
                match &event {
                    Event::Request(request) => self.pace.begin(request),
                    Event::Response(response) => self.opened.answered(&self.connection, response),
                    // Nobody waits for it.
                    Event::LateResponse(response) if !matches!(self.side, Side::Plain) => {
                        self.opened.give_back(&mut self.connection, response);
                    }
                    _ => {}
                }
                return Some(event);
            }
            let event = self.connection.poll_event()?;
            self.exchange = None;
            match &mut self.side {
                Side::Plain => self.ready.push_back(event),
                Side::Agent(agent, _) => agent.event(&mut self.connection, event, &mut self.ready),
                Side::Client(client) => {
                    self.exchange = client.exchange(&self.connection, &event);
                    client.event(&mut self.connection, event, &mut self.ready);
                }
            }
        }
    }

    /// Cheap check: `true` means that [`poll_event`](Self::poll_event) would return `None`; see [`Connection::is_starved`].
    #[must_use]
    pub fn is_starved(&mut self) -> bool {
        self.ready.is_empty() && self.connection.is_starved()
    }

    /// Closes the connection; see [`Connection::close`]. What is left to poll is not held back any more.
    pub fn close(&mut self) {
        self.pace.stop();
        self.connection.close();
    }

    /// Forgets the view of a session; see [`Connection::forget_view`].
    pub fn forget_view(&mut self, session: &str) -> bool {
        self.connection.forget_view(session)
    }

    /// The serial of the host's open call that the notification polled last belongs to: the prompt whose work it reports,
    /// or the call whose replay it is; `None` for any other event.
    pub fn exchange(&self) -> Option<u64> {
        self.exchange
    }

    /// Sends a request; see [`Connection::request_with`].
    ///
    /// # Errors
    /// As [`Connection::request_with`].
    pub fn request_with(&mut self, method: &str, params: &str, options: CallOptions) -> Result<Id, Misuse> {
        match &mut self.side {
            Side::Plain => self.connection.request_with(method, params, options),
            Side::Agent(agent, _) => agent.request(&mut self.connection, method, params, options, &mut self.ready),
            Side::Client(client) => client.request(&mut self.connection, method, params, options, &mut self.ready),
        }
    }

    /// Sends a notification; see [`Connection::notify`].
    ///
    /// # Errors
    /// As [`Connection::notify`].
    pub fn notify(&mut self, method: &str, params: &str) -> Result<(), Misuse> {
        match &mut self.side {
            Side::Plain => self.connection.notify(method, params),
            Side::Agent(agent, _) => agent.notify(&mut self.connection, method, params, &mut self.ready),
            Side::Client(client) => client.notify(&mut self.connection, method, params),
        }
    }

    /// Sends a notification about the session that a request of the peer opens, named by its serial, without the member
    /// `sessionId`. It is sent at once if the session may be named before the answer, as while it is loaded; otherwise
    /// right after the answer, with the id that the answer gives the session, and never if the request fails.
    ///
    /// # Errors
    /// As [`Connection::notify`], if it is sent at once. What cannot be sent later is an [`Advice`](crate::connection::Advice).
    pub fn notify_opened(&mut self, opening: u64, method: &str, params: &str) -> Result<(), Misuse> {
        match &mut self.side {
            Side::Agent(agent, _) => {
                agent.notify_opened(&mut self.connection, opening, method, params, &mut self.ready)
            }
            Side::Plain | Side::Client(_) => self.connection.notify(method, params),
        }
    }

    /// Answers a request of the peer; see [`Connection::respond`].
    ///
    /// # Errors
    /// As [`Connection::respond`].
    pub fn respond<'k>(&mut self, request: impl Into<RequestKey<'k>>, result: &str) -> Result<(), Misuse> {
        self.respond_with(request.into(), result.into())
    }

    /// As [`respond`](Self::respond). An owned result of a client becomes the message in place, so that one of many
    /// megabytes is not held in memory twice.
    pub(crate) fn respond_with(&mut self, key: RequestKey<'_>, result: Cow<'_, str>) -> Result<(), Misuse> {
        match &mut self.side {
            Side::Plain | Side::Client(_) => self.connection.respond_with(key, result),
            Side::Agent(agent, _) => agent.respond(&mut self.connection, key, &result, &mut self.ready),
        }
    }

    /// Answers a request of the peer with an error; see [`Connection::respond_error`].
    ///
    /// # Errors
    /// As [`Connection::respond_error`].
    pub fn respond_error<'k>(
        &mut self,
        request: impl Into<RequestKey<'k>>,
        code: ErrorCode,
        message: &str,
        data: Option<&str>,
    ) -> Result<(), Misuse> {
        let key = request.into();
        match &mut self.side {
            Side::Plain | Side::Client(_) => self.connection.respond_error(key, code, message, data),
            Side::Agent(agent, _) => {
                agent.respond_error(&mut self.connection, key, code, message, data, &mut self.ready)
            }
        }
    }

    /// Asks the peer to cancel a call; see [`Connection::cancel`]. In version 2 a prompt that was inserted is cancelled by
    /// `session/cancel` (CANCEL-19).
    ///
    /// # Errors
    /// As [`Connection::cancel`].
    pub fn cancel<'k>(&mut self, request: impl Into<RequestKey<'k>>) -> Result<(), Misuse> {
        let key = request.into();
        match &mut self.side {
            Side::Plain => self.connection.cancel(key),
            Side::Agent(agent, _) => agent.cancel(&mut self.connection, key),
            Side::Client(client) => client.cancel(&mut self.connection, key),
        }
    }

    /// Gives up a call of the host that nobody waits for any more, named by its serial, in the way of its method: the turn
    /// of a prompt is cancelled by `session/cancel`, once; `terminal/release` is left alone, as a terminal that was not
    /// released is lost; anything else is cancelled by `$/cancel_request`. The call still ends with its response. Without
    /// such a call, or when the connection is over, nothing is done.
    pub fn abandon(&mut self, serial: u64) {
        match &mut self.side {
            Side::Client(client) => client.abandon(&mut self.connection, serial),
            _ => stop::give_up(&mut self.connection, serial),
        }
    }

    /// Ends what an answer has opened that its caller does not want any more: a terminal is released, and a session that is
    /// new is closed if the agent can do that. Late answers are given back without being asked for.
    pub fn give_back(&mut self, response: &Response) {
        self.opened.give_back(&mut self.connection, response);
    }

    /// Whether the next prompt of a session has to wait: its turn was cancelled and goes on, which in version 1 has to end
    /// first (TURN-03). In version 2 agents hold prompts back themselves.
    pub fn holds_back(&self, session: &str) -> bool {
        let cancelling = self.connection.session(session).is_some_and(|session| session.turn == Turn::Cancelling);
        cancelling && (matches!(self.side, Side::Plain) || self.connection.version() == Some(1))
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next; see [`Connection::poll_timeout`]. It includes the time
    /// limits of prompts that go on after their answer.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<u64> {
        let own = match &self.side {
            Side::Client(client) => client.poll_timeout(),
            _ => None,
        };
        self.connection.poll_timeout().into_iter().chain(own).min()
    }

    /// Sets the time; see [`Connection::handle_timeout`].
    pub fn handle_timeout(&mut self, now: u64) {
        self.connection.handle_timeout(now);
        if let Side::Client(client) = &mut self.side {
            client.handle_timeout(&mut self.connection, now, &mut self.ready);
        }
    }

    /// Whether the host may send a method now; see [`Connection::can`].
    pub fn can(&self, method: &str) -> bool {
        self.why_not(method).is_none()
    }

    /// Why the host may not send a method now; see [`Connection::why_not`].
    pub fn why_not(&self, method: &str) -> Option<Misuse> {
        match &self.side {
            Side::Plain => self.connection.why_not(method),
            Side::Agent(..) => agent::why_not(&self.connection, method),
            Side::Client(_) => client::why_not(&self.connection, method),
        }
    }
}

/// Whether the peer owes an answer that may be behind what waits. Updates are before the answer to their own call by nature.
fn is_owed(connection: &Connection, side: &Side) -> bool {
    connection.pending().any(|open| match (&*open.method, side) {
        ("session/prompt" | "session/load", _) => false,
        (_, Side::Client(client)) => !client.is_load(open.serial),
        _ => true,
    })
}
