//! WebSocket: each socket is a connection of its own (WS-01), and ends it (WS-05).

use std::collections::VecDeque;

use super::connection::{Connection, Phase, Socket};
use super::post::{dropped, may_call};
use super::{refusals, Closed, ConnectionKey, Event, Exchange, Report, SendError, Server};
use crate::http::route::{Form, Summary, Unreadable};
use crate::http::tolerance::Choice;
use crate::http::ws::{CloseCode, Frame};
use crate::rules::Way;
use crate::Id;

/// Silent intervals after which a socket that was pinged is given up.
const SILENT: u64 = 3;

impl Server {
    /// A text frame from a client, with one message.
    pub fn text(&mut self, exchange: u64, text: &str) {
        let Some(key) = self.heard(exchange) else { return };
        if text.len() > self.options.limits.body {
            return self.refuse_frame(exchange, key, &refusals::LARGE_BODY, &Id::Null, Some(CloseCode::TooBig));
        }
        let summary = match Summary::read(text) {
            Ok(summary) => summary,
            Err(why) => {
                let refusal = match why {
                    Unreadable::Syntax => &refusals::SYNTAX,
                    Unreadable::Batch => &refusals::SOCKET_BATCH,
                    Unreadable::Message => &refusals::NO_MESSAGE,
                };
                return self.refuse_frame(exchange, key, refusal, &Id::Null, None);
            }
        };
        let (limits, tolerance) = (self.options.limits, self.options.tolerance);
        let Some(connection) = self.connections.get_mut(&key) else { return };
        // A call that is refused has to end. If its id is that of another one, an answer would end that one.
        let call = summary.id.as_ref().filter(|_| summary.form == Form::Request);
        let id = call.filter(|id| !connection.calls.contains_key(id)).unwrap_or(&Id::Null);
        let repeats = connection.phase != Phase::Silent && summary.is_initialize();
        if connection.phase == Phase::Silent {
            if !summary.is_initialize() {
                return self.refuse_frame(exchange, key, &refusals::FIRST_MESSAGE, id, None);
            }
            connection.phase = Phase::Initializing;
        }
        if repeats && !tolerance.has(Choice::InitializeAgain) {
            return self.refuse_frame(exchange, key, &refusals::INITIALIZED, id, None);
        }
        if let Err(refusal) = may_call(connection, &summary, limits.calls) {
            return self.refuse_frame(exchange, key, refusal, id, None);
        }
        if let Some((refusal, message)) = dropped(connection, &summary, tolerance.has(Choice::Initialized)) {
            return self.tolerate(refusal, message, exchange, key);
        }
        // A host that reads on although the server is not hungry is one that does not look.
        if connection.inbox.bytes >= limits.inbox.saturating_add(limits.body) {
            return self.close_socket(
                key,
                Closed::Protocol,
                CloseCode::TryAgainLater,
                "the agent has too much to read",
            );
        }
        self.deliver(key, &summary, text, None);
    }

    /// A binary frame from a client, which is ignored (WS-04).
    pub fn binary(&mut self, exchange: u64) {
        let Some(key) = self.heard(exchange) else { return };
        let socket = self.connections.get_mut(&key).and_then(|connection| connection.socket.as_mut());
        let Some(socket) = socket.filter(|socket| !socket.told_binary && id!("WS-04").is_on(Way::Receive)) else {
            return;
        };
        socket.told_binary = true;
        self.report(Report {
            rule: id!("WS-04"),
            message: "binary frames are ignored".into(),
            status: None,
            exchange: Some(exchange),
            connection: Some(key),
        });
    }

    /// A pong, or a ping, came: the client is alive. Libraries that answer pings by themselves tell of it as well.
    pub fn pong(&mut self, exchange: u64) {
        self.heard(exchange);
    }

    /// The next frame to send on a socket.
    pub fn frame(&mut self, exchange: u64) -> Option<Frame> {
        let key = match self.exchanges.get_mut(&exchange)? {
            Exchange::Socket { connection } => *connection,
            Exchange::Frames(rest) => return rest.pop_front(),
            _ => return None,
        };
        let (now, limits) = (self.now, self.options.limits);
        let connection = self.connections.get_mut(&key)?;
        let socket = connection.socket.as_mut()?;
        let frame = socket.frames.pop_front();
        if let Some(Frame::Text(text)) = &frame {
            socket.bytes -= text.len();
        }
        socket.announced &= !socket.frames.is_empty();
        // The agent waits until there is room for some more, and so long the reader's time runs.
        if socket.bytes > limits.stream / 2 {
            socket.full_since = socket.full_since.map(|since| if frame.is_some() { now } else { since });
        } else {
            socket.full_since = None;
            let drained = std::mem::take(&mut connection.full).then_some(Event::Drained { connection: key });
            self.events.extend(drained);
        }
        frame
    }

    /// Returns the id of the new connection.
    pub(super) fn socket_opened(&mut self, key: ConnectionKey, exchange: u64) -> String {
        let now = self.now;
        self.wake(key, now.saturating_add(self.options.times.keep_alive.min(self.options.times.initialize)));
        let Some(connection) = self.connections.get_mut(&key) else { return String::new() };
        connection.socket = Some(Socket {
            exchange,
            frames: VecDeque::new(),
            bytes: 0,
            announced: false,
            heard: now,
            full_since: None,
            told_binary: false,
        });
        connection.id.clone()
    }

    pub(super) fn socket_closed(&mut self, key: ConnectionKey) {
        if id!("WS-05").is_on(Way::Track) {
            self.end(key, Closed::Client);
        }
    }

    /// Queues a message of an agent.
    pub(super) fn send_text(&mut self, key: ConnectionKey, json: &str) -> Result<(), SendError> {
        let (now, limit) = (self.now, self.options.limits.stream);
        let stall = now.saturating_add(self.options.times.stall);
        let connection = self.connections.get_mut(&key).ok_or(SendError::Closed)?;
        let socket = connection.socket.as_mut().ok_or(SendError::Closed)?;
        if socket.bytes >= limit {
            connection.full = true;
            socket.full_since.get_or_insert(now);
            self.wake(key, stall);
            return Err(SendError::Full);
        }
        // A frame is one line, as the message is on any other transport.
        self.push_frame(key, Frame::Text(json.trim_end_matches(['\r', '\n']).to_owned()));
        Ok(())
    }

    pub(super) fn push_frame(&mut self, key: ConnectionKey, frame: Frame) {
        let socket = self.connections.get_mut(&key).and_then(|connection| connection.socket.as_mut());
        let Some(socket) = socket else { return };
        if let Frame::Text(text) = &frame {
            socket.bytes += text.len();
        }
        socket.frames.push_back(frame);
        if !socket.announced {
            socket.announced = true;
            self.events.push_back(Event::Ready { exchange: socket.exchange });
        }
    }

    /// What a socket says when it is time: a ping after a silence, and its end after a long one (HTTP-21).
    pub(super) fn tend_socket(&mut self, key: ConnectionKey) -> u64 {
        let (now, times) = (self.now, self.options.times);
        let connection = self.connections.get(&key);
        let Some(Connection { socket: Some(socket), phase, used, .. }) = connection else { return u64::MAX };
        let silent = now.saturating_sub(socket.heard);
        let stalled = socket.full_since.is_some_and(|since| now.saturating_sub(since) >= times.stall);
        let late = *phase != Phase::Live && now.saturating_sub(*used) >= times.initialize;
        if stalled || silent >= times.keep_alive.saturating_mul(SILENT) {
            self.close_socket(key, Closed::Stalled, CloseCode::Policy, "nothing was read or heard for too long");
            return u64::MAX;
        }
        if late {
            self.close_socket(key, Closed::NotInitialized, CloseCode::Policy, "initialize took too long");
            return u64::MAX;
        }
        let full = socket.full_since.map_or(u64::MAX, |since| since.saturating_add(times.stall));
        let first = if *phase == Phase::Live { u64::MAX } else { used.saturating_add(times.initialize) };
        let (waits, heard) = (socket.frames.is_empty(), socket.heard);
        if silent >= times.keep_alive {
            if waits && id!("HTTP-21").is_on(Way::Track) {
                self.push_frame(key, Frame::Ping);
            }
            return full.min(first).min(now.saturating_add(times.keep_alive));
        }
        full.min(first).min(heard.saturating_add(times.keep_alive))
    }

    /// The connection of a socket from which something came.
    fn heard(&mut self, exchange: u64) -> Option<ConnectionKey> {
        let Some(Exchange::Socket { connection: key }) = self.exchanges.get(&exchange) else { return None };
        let key = *key;
        let now = self.now;
        let connection = self.connections.get_mut(&key).filter(|it| it.inbox.closed.is_none())?;
        connection.socket.as_mut()?.heard = now;
        Some(key)
    }

    /// Answers a frame that is refused with an error, or closes the socket with a code, if there is one.
    fn refuse_frame(
        &mut self,
        exchange: u64,
        key: ConnectionKey,
        refusal: &super::Refusal,
        id: &Id,
        code: Option<CloseCode>,
    ) {
        if !refusal.rule.is_on(Way::Receive) {
            return;
        }
        self.report(Report {
            rule: refusal.rule,
            message: refusal.message.into(),
            status: None,
            exchange: Some(exchange),
            connection: Some(key),
        });
        if let Some(code) = code {
            return self.close_socket(key, Closed::Protocol, code, refusal.message);
        }
        let waits = self.connections.get(&key).and_then(|it| it.socket.as_ref()).map_or(0, |socket| socket.bytes);
        if waits >= self.options.limits.stream.saturating_mul(2) {
            // Who asks without reading the answers gets none.
            return self.close_socket(key, Closed::Stalled, CloseCode::Policy, "nothing was read for too long");
        }
        self.push_frame(key, Frame::Text(refusal.answer(id)));
    }
}
