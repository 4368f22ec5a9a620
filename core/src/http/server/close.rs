//! The end of a connection, and what is told about it afterwards.

use std::collections::{HashMap, VecDeque};

use super::connection::Phase;
use super::{refusals, Closed, ConnectionKey, Exchange, Server};
use crate::http::ws::{CloseCode, Frame};
use crate::{ErrorCode, Id};

/// Connections that are gone, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Tombstones {
    by_id: HashMap<String, Closed>,
    order: VecDeque<(u64, String)>,
}

impl Tombstones {
    /// Why the connection with this id is gone.
    pub(super) fn find(&self, id: &str) -> Option<Closed> {
        self.by_id.get(id).copied()
    }

    fn add(&mut self, id: String, why: Closed, until: u64, most: usize) {
        while !self.order.is_empty() && self.order.len() >= most {
            self.forget();
        }
        if most > 0 {
            self.by_id.insert(id.clone(), why);
            self.order.push_back((until, id));
        }
    }

    /// Forgets those whose time is up.
    pub(super) fn expire(&mut self, now: u64) {
        while self.order.front().is_some_and(|(until, _)| *until <= now) {
            self.forget();
        }
    }

    /// When the oldest is forgotten.
    pub(super) fn next(&self) -> Option<u64> {
        self.order.front().map(|(until, _)| *until)
    }

    fn forget(&mut self) {
        if let Some((_, id)) = self.order.pop_front() {
            self.by_id.remove(&id);
        }
    }
}

impl Server {
    /// Ends a connection, because its agent has ended or the server stops. Readers get what waits for them; then their
    /// streams end.
    pub fn close(&mut self, connection: ConnectionKey) {
        self.close_socket(connection, Closed::Host, CloseCode::GoingAway, Closed::Host.text());
        self.end(connection, Closed::Host);
    }

    /// Ends a connection as [`close`](Self::close) does, because its agent has failed: the client's open calls are first
    /// answered with an error that says why, as far as the client reads. `initialize` is answered like that with status 200
    /// and without the id of a connection (HTTP-03), as an agent that refuses it does; the outcome of other calls is unknown.
    pub fn fail(&mut self, connection: ConnectionKey, why: &str) {
        let Some(failed) = self.connections.get_mut(&connection) else { return };
        // The failure ends the connection, and not what is answered because of it.
        failed.phase = Phase::Live;
        let open: Vec<(Id, bool)> = failed.calls.iter().map(|(id, call)| (id.clone(), call.initializes)).collect();
        for (id, initializes) in open {
            let data = (!initializes).then_some(r#"{"outcome":"unknown"}"#);
            let error = crate::jsonrpc::write_error(&id, ErrorCode::INTERNAL_ERROR, why, data);
            // Who does not read learns it by the end of the streams.
            let _ = self.send(connection, &error);
        }
        self.close(connection);
    }

    /// Ends the connection of a socket, if it has one, with a last frame.
    pub(super) fn close_socket(&mut self, key: ConnectionKey, why: Closed, code: CloseCode, reason: &'static str) {
        let socket = self.connections.get(&key).filter(|it| it.inbox.closed.is_none());
        if socket.is_some_and(|connection| connection.socket.is_some()) {
            self.push_frame(key, Frame::Close(code, reason));
            self.end(key, why);
        }
    }

    /// Ends a connection. Its messages that wait for the agent go first, then [`Event::Closed`].
    pub(super) fn end(&mut self, key: ConnectionKey, why: Closed) {
        let until = self.now.saturating_add(self.options.times.remember);
        let Some(connection) = self.connections.get_mut(&key).filter(|it| it.inbox.closed.is_none()) else { return };
        connection.inbox.closed = Some(why);
        connection.inbox.paused = false;
        let id = std::mem::take(&mut connection.id);
        let waiting: Vec<u64> = connection.calls.values().filter_map(|call| call.exchange).collect();
        connection.calls.clear();
        connection.questions.clear();
        for held in std::mem::take(&mut connection.held) {
            connection.main.write(&held.json, self.now, self.options.limits.resumable());
        }
        let unasked = connection.sessions.values().filter(|session| session.unasked);
        let unasked: Vec<u64> = unasked.filter_map(|session| session.stream.exchange).collect();
        let mut readers = Vec::new();
        for (_, stream) in connection.streams() {
            if let Some(exchange) = stream.exchange.take() {
                readers.push((exchange, stream.rest()));
            }
        }
        connection.sessions.clear();
        if let Some(socket) = connection.socket.take() {
            // Unless it was the socket that ended the connection.
            if let Some(exchange) = self.exchanges.get_mut(&socket.exchange) {
                *exchange = Exchange::Frames(socket.frames);
            }
        }
        self.timers.cancel(connection.wakes, super::Timer::Connection(key));
        connection.wakes = u64::MAX;
        for (exchange, bytes) in readers {
            self.finish(exchange, bytes);
        }
        for exchange in unasked {
            self.report_unasked(exchange, key);
        }
        let late = why == Closed::NotInitialized;
        for exchange in waiting {
            self.exchanges.remove(&exchange);
            let refusal = if late { &refusals::SLOW_AGENT } else { &refusals::LOST_AGENT };
            self.respond(exchange, refusal.response(None));
        }
        self.by_id.remove(&id);
        self.tombstones.add(id, why, until, self.options.limits.remembered);
        if let Some(at) = self.tombstones.next() {
            self.timers.set(at, super::Timer::Tombstones);
        }
        self.fill(key);
    }
}

/// The answer to a request of an agent that no client will read.
pub(super) fn unread(id: &Id) -> String {
    crate::jsonrpc::write_error(id, ErrorCode::INTERNAL_ERROR, "The client does not read this session", None)
}
