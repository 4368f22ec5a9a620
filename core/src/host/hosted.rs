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

use std::collections::VecDeque;

use super::agent::AgentHost;
use super::client::ClientHost;
use crate::connection::{CallOptions, Misuse, RequestKey};
use crate::{Config, Connection, ErrorCode, Event, Id, Role};

/// A connection for a host with handlers, which speaks the words of version 1 in both versions.
///
/// Drain it like a [`Connection`]: its methods have the names and the meaning of the connection's, and
/// [`connection_mut`](Self::connection_mut) takes bytes and the time.
#[derive(Debug)]
pub struct Host {
    connection: Connection,
    side: Side,
    /// Events that were made and not polled yet.
    ready: VecDeque<Event>,
    /// The call that the last update belongs to.
    exchange: Option<u64>,
}

/// What a side does with events and calls.
#[derive(Debug)]
enum Side {
    /// Everything goes through as it is.
    Plain,
    Agent(Box<AgentHost>),
    Client(Box<ClientHost>),
}

impl Host {
    /// A host with handlers for these methods, which are named as in version 1.
    pub fn new(config: Config, handlers: impl IntoIterator<Item = String>) -> Self {
        let handlers = handlers.into_iter().collect();
        let side = match config.role {
            Role::Agent => Side::Agent(Box::new(AgentHost::new(handlers))),
            Role::Client => Side::Client(Box::new(ClientHost::new(handlers))),
        };
        Host { connection: Connection::new(config), side, ready: VecDeque::new(), exchange: None }
    }

    /// A connection that stays as it is: every message is that of the agreed version.
    pub fn plain(config: Config) -> Self {
        Host { connection: Connection::new(config), side: Side::Plain, ready: VecDeque::new(), exchange: None }
    }

    /// The connection, to ask for its state.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// The connection, to give it bytes and the time, and to take what is to be written. Messages that are sent past the
    /// host are those of the agreed version.
    pub fn connection_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }

    /// The next event; see [`Connection::poll_event`].
    #[must_use]
    pub fn poll_event(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            let event = self.connection.poll_event()?;
            self.exchange = None;
            match &mut self.side {
                Side::Plain => return Some(event),
                Side::Agent(agent) => agent.event(&mut self.connection, event, &mut self.ready),
                Side::Client(client) => {
                    self.exchange = client.exchange(&event);
                    client.event(&mut self.connection, event, &mut self.ready);
                }
            }
        }
    }

    /// Whether [`poll_event`](Self::poll_event) would certainly find no event; see [`Connection::is_starved`].
    pub fn is_starved(&mut self) -> bool {
        self.ready.is_empty() && self.connection.is_starved()
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
            Side::Agent(agent) => agent.request(&mut self.connection, method, params, options),
            Side::Client(client) => client.request(&mut self.connection, method, params, options),
        }
    }

    /// Sends a notification; see [`Connection::notify`].
    ///
    /// # Errors
    /// As [`Connection::notify`].
    pub fn notify(&mut self, method: &str, params: &str) -> Result<(), Misuse> {
        match &mut self.side {
            Side::Plain => self.connection.notify(method, params),
            Side::Agent(agent) => agent.notify(&mut self.connection, method, params),
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
            Side::Agent(agent) => agent.notify_opened(&mut self.connection, opening, method, params),
            Side::Plain | Side::Client(_) => self.connection.notify(method, params),
        }
    }

    /// Answers a request of the peer; see [`Connection::respond`].
    ///
    /// # Errors
    /// As [`Connection::respond`].
    pub fn respond<'k>(&mut self, request: impl Into<RequestKey<'k>>, result: &str) -> Result<(), Misuse> {
        let key = request.into();
        match &mut self.side {
            Side::Plain => self.connection.respond(key, result),
            Side::Agent(agent) => agent.respond(&mut self.connection, key, result, &mut self.ready),
            Side::Client(client) => client.respond(&mut self.connection, key, result),
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
            Side::Plain => self.connection.respond_error(key, code, message, data),
            Side::Agent(agent) => agent.respond_error(&mut self.connection, key, code, message, data, &mut self.ready),
            Side::Client(client) => client.respond_error(&mut self.connection, key, code, message, data),
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
            Side::Client(client) => client.cancel(&mut self.connection, key),
            _ => self.connection.cancel(key),
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
            Side::Agent(agent) => agent.why_not(&self.connection, method),
            Side::Client(client) => client.why_not(&self.connection, method),
        }
    }
}
