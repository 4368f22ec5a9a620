//! What comes of a request: its response, its bytes, its end, or nothing.

use super::lanes::Post;
use super::streams::Broke;
use super::{Action, Client, ClosedWhy, Doing, Name, Phase};
use crate::http::head::{Headers, CONNECTION_ID, EVENT_STREAM, JSON};
use crate::http::route::{Form, Summary};
use crate::http::tolerance::Choice;
use crate::http::Header;
use crate::json;
use crate::rules::Way;

/// The longest time that a server may ask to wait: one hour.
const LONGEST_WAIT: u64 = 3_600_000;
/// How much of a refusal's body is read, in bytes.
const LONGEST_REASON: usize = 4096;

impl Client {
    /// The head of the response to a request, or of the handshake of a socket.
    pub fn response(&mut self, exchange: u64, status: u16, headers: &[Header<'_>]) {
        let until = self.now.saturating_add(self.options.times.response);
        let Some(known) = self.exchanges.get_mut(&exchange) else { return };
        known.until = match known.doing {
            // Before it has answered `initialize`, nobody knows whether an agent is there.
            Doing::Initialize { .. } => known.until,
            Doing::Socket => until,
            _ => u64::MAX,
        };
        let headers = Headers::from(headers);
        if let Some(jar) = &mut self.jar {
            for cookie in headers.all("set-cookie") {
                jar.set(cookie, &self.options.target, self.now);
            }
        }
        // What was refused had its response already.
        let refused = matches!(status, 401 | 403) && !matches!(known.doing, Doing::Delete | Doing::Refused { .. });
        if refused {
            let challenge = headers.single("www-authenticate").value().map(str::to_owned);
            return self.unauthorized(exchange, status, challenge);
        }
        match &known.doing {
            Doing::Initialize { .. } => self.initialize_response(exchange, status, headers),
            Doing::Post { .. } => self.post_response(exchange, status, headers),
            Doing::Read { name } => {
                let name = name.clone();
                self.read_response(exchange, &name, status, headers);
            }
            Doing::Delete => drop(self.exchanges.remove(&exchange)),
            Doing::Refused { .. } => {}
            Doing::Socket if status == 101 => {
                let id = headers.single(CONNECTION_ID).value().map(str::to_owned);
                self.socket_opened(exchange, id);
            }
            Doing::Socket => {
                self.exchanges.remove(&exchange);
                self.not_connected(status, wait(headers));
            }
        }
    }

    /// Bytes of the body of a response.
    pub fn data(&mut self, exchange: u64, bytes: &[u8]) {
        let limit = self.options.limits.message;
        match self.exchanges.get_mut(&exchange).map(|it| &mut it.doing) {
            Some(Doing::Read { name }) => {
                let name = name.clone();
                self.stream_data(exchange, &name, bytes);
            }
            Some(Doing::Initialize { body, .. }) if body.len() + bytes.len() <= limit => body.extend_from_slice(bytes),
            Some(Doing::Initialize { .. }) => {
                self.report(id!("HTTP-27"), "the answer to initialize is over the limit", None);
                self.stop(ClosedWhy::Protocol);
            }
            // What is cut off is no JSON.
            Some(Doing::Refused { body, .. }) => {
                let room = LONGEST_REASON - body.len();
                body.extend_from_slice(&bytes[..bytes.len().min(room)]);
            }
            _ => {}
        }
    }

    /// The end of a response, or of a socket.
    pub fn end(&mut self, exchange: u64) {
        match self.exchanges.remove(&exchange).map(|it| it.doing) {
            Some(Doing::Initialize { post, body, begun: true }) => self.initialize_answered(&post, body),
            Some(Doing::Initialize { .. } | Doing::Socket) => self.connection_failed(),
            Some(Doing::Post { lane, post }) => self.uncertain(lane, post),
            Some(Doing::Refused { lane, post, status, body }) => self.refused(lane.as_ref(), post, status, body),
            Some(Doing::Read { name }) => self.stream_broke(&name, Broke::Served, None),
            Some(Doing::Delete) | None => {}
        }
    }

    /// A request came to nothing: there was no connection, or it broke. `sent` is false if the server cannot have any of it.
    pub fn failed(&mut self, exchange: u64, sent: bool) {
        match self.exchanges.remove(&exchange).map(|it| it.doing) {
            Some(Doing::Initialize { .. } | Doing::Socket) => self.connection_failed(),
            Some(Doing::Post { lane, post }) if sent => self.uncertain(lane, post),
            Some(Doing::Post { lane, post }) => self.postponed(lane, post, None),
            Some(Doing::Refused { lane, post, status, .. }) => self.refused(lane.as_ref(), post, status, Vec::new()),
            Some(Doing::Read { name }) if sent => self.stream_broke(&name, Broke::Served, None),
            Some(Doing::Read { name }) => self.stream_broke(&name, Broke::Away, None),
            Some(Doing::Delete) | None => {}
        }
    }

    /// A text frame from the server.
    pub fn text(&mut self, exchange: u64, text: &str) {
        if self.socket != Some(exchange) {
            return;
        }
        if text.len() > self.options.limits.message {
            return self.report(id!("HTTP-27"), "a message is over the limit and was dropped", None);
        }
        self.message(&None, text);
    }

    /// A binary frame from the server, which is ignored (WS-04).
    pub fn binary(&mut self, exchange: u64) {
        if self.socket == Some(exchange) {
            self.report(id!("WS-04"), "binary frames are ignored", None);
        }
    }

    /// The server closed the socket with this code (RFC 6455, 7.4), which [`Lost`](super::Lost) then names. The end of the
    /// socket is told by [`end`](Self::end) all the same. Numbers that stand for a frame without a code (1005) and for no
    /// frame (1006, 1015) are ignored.
    pub fn closed(&mut self, exchange: u64, code: u16) {
        if self.socket == Some(exchange) {
            self.close_code = Some(code).filter(|code| !matches!(code, 1005 | 1006 | 1015));
        }
    }

    /// The connection could not be opened, or its socket is gone.
    fn connection_failed(&mut self) {
        if self.socket.take().is_some() {
            if self.phase == Phase::Ready {
                return self.lose(true, self.now);
            }
            self.id = None;
            self.lose_questions();
        }
        self.reset_first();
        self.wait_for_connection(None);
    }

    /// What was put aside for a socket that was not opened is made anew with the next attempt.
    fn reset_first(&mut self) {
        if !self.is_websocket() {
            return;
        }
        if let Some(lane) = self.lanes.get_mut(&None) {
            lane.pop_if(|post| post.method == "initialize");
        }
    }

    fn initialize_response(&mut self, exchange: u64, status: u16, headers: Headers<'_>) {
        if status != 200 {
            self.exchanges.remove(&exchange);
            return self.not_connected(status, wait(headers));
        }
        if !headers.content_is(JSON) {
            self.report(id!("HTTP-03"), "the answer to initialize is not application/json", None);
        }
        self.id = headers.single(CONNECTION_ID).value().map(str::to_owned);
        if let Some(Doing::Initialize { begun, .. }) = self.exchanges.get_mut(&exchange).map(|it| &mut it.doing) {
            *begun = true;
        }
    }

    /// The body that answers `initialize` is there.
    fn initialize_answered(&mut self, post: &Post, body: Vec<u8>) {
        let Ok(json) = json::text(body) else {
            self.report(id!("RPC-21"), "the answer to initialize is not UTF-8", None);
            return self.stop(ClosedWhy::Protocol);
        };
        let summary = Summary::read(&json).ok().filter(|summary| summary.is_answer() && summary.id == post.id);
        let Some((id, summary)) = post.id.clone().zip(summary) else {
            self.report(id!("HTTP-03"), "the answer to initialize is none", None);
            return self.stop(ClosedWhy::Protocol);
        };
        let succeeded = summary.form == Form::Result;
        if succeeded && self.id.is_none() {
            self.report(id!("HTTP-03"), "the answer to initialize has no Acp-Connection-Id", None);
            let inside = json::pointer(&json, "/result/connectionId").and_then(json::unescape);
            self.id = inside.filter(|_| self.options.tolerance.has(Choice::IdInBody)).map(std::borrow::Cow::into_owned);
            if self.id.is_none() {
                return self.stop(ClosedWhy::Protocol);
            }
        }
        let own = self.memory.calls.get(&id).is_some_and(|call| call.owner != super::memory::Owner::Host);
        if own {
            return self.finish_answer(&id, json, None, succeeded);
        }
        if succeeded {
            self.initialized(&json, true);
        } else {
            self.id = None;
            self.phase = Phase::New;
            (self.lost_since, self.tries) = (None, 0);
        }
        self.finish_answer(&id, json, None, succeeded);
    }

    /// A connection was refused.
    fn not_connected(&mut self, status: u16, wait: Option<u64>) {
        self.reset_first();
        match status {
            // A page, or something else that is no agent.
            200..=299 | 404 | 405 | 406 | 415 | 426 | 501 | 505 => self.stop(ClosedWhy::NotServed { status }),
            408 | 425 | 429 | 500 | 502..=504 => self.wait_for_connection(wait),
            _ => self.stop(ClosedWhy::Refused { status }),
        }
    }

    fn post_response(&mut self, exchange: u64, status: u16, headers: Headers<'_>) {
        let Some(Doing::Post { lane, post }) = self.exchanges.remove(&exchange).map(|it| it.doing) else { return };
        match status {
            202 => self.accepted(lane.as_ref(), &post),
            200..=299 => {
                self.report(
                    id!("HTTP-04"),
                    "a message was accepted with another status than 202",
                    post.session.clone(),
                );
                if self.options.tolerance.has(Choice::AnyStatus) {
                    self.accepted(lane.as_ref(), &post);
                } else {
                    self.refused(lane.as_ref(), post, status, Vec::new());
                }
            }
            // Some servers know no session that another connection has made. Whether this one is gone, its stream says.
            404 if post.attaches && self.is_in_doubt() => self.postponed(lane, post, wait(headers)),
            // The server has not looked at the message.
            404 if !post.attaches => {
                self.put_back(lane, post, Some(0));
                self.lose(false, self.now);
            }
            408 | 425 | 429 | 503 => self.postponed(lane, post, wait(headers)),
            500 | 502 | 504 => self.uncertain(lane, post),
            _ => self.refuse(exchange, lane, post, status, headers),
        }
    }

    /// The server refuses a message, and says why if its response is JSON.
    fn refuse(&mut self, exchange: u64, lane: Option<Name>, post: Post, status: u16, headers: Headers<'_>) {
        if !headers.content_is(JSON) {
            return self.refused(lane.as_ref(), post, status, Vec::new());
        }
        let until = self.now.saturating_add(self.options.times.response);
        let doing = Doing::Refused { lane, post, status, body: Vec::new() };
        self.exchanges.insert(exchange, super::Exchange { doing, until });
    }

    fn read_response(&mut self, exchange: u64, name: &Name, status: u16, headers: Headers<'_>) {
        if status == 200 {
            if headers.content_is(EVENT_STREAM) || !id!("HTTP-06").is_on(Way::Receive) {
                return self.stream_opened(name);
            }
            self.report(id!("HTTP-06"), "a stream is not text/event-stream", name.clone());
        }
        self.exchanges.remove(&exchange);
        if status == 200 {
            self.actions.push_back(Action::Abort { exchange });
        }
        match (status, name) {
            (404 | 410, None) => self.lose(false, self.now),
            (404, Some(_)) => self.stream_unknown(name),
            // It stays lost until the call that opens the session is there.
            (410, Some(_)) if self.streams.get(name).is_some_and(|stream| stream.early) => self.stream_unknown(name),
            (410, Some(session)) => self.session_lost(session),
            (409, _) => {
                self.stream_taken(name);
                self.stream_broke(name, Broke::Busy, wait(headers));
            }
            (405 | 406 | 501, None) => self.stop(ClosedWhy::NotServed { status }),
            (408 | 425 | 429 | 500 | 502..=504, _) => self.stream_broke(name, Broke::Busy, wait(headers)),
            _ => self.stream_broke(name, Broke::Refused, wait(headers)),
        }
    }

    /// The server wants other credentials.
    fn unauthorized(&mut self, exchange: u64, status: u16, challenge: Option<String>) {
        let told = std::mem::replace(&mut self.barred, true);
        match self.exchanges.remove(&exchange).map(|it| it.doing) {
            Some(Doing::Initialize { .. } | Doing::Socket) => {
                self.reset_first();
                self.phase = Phase::Waiting(u64::MAX);
            }
            Some(Doing::Post { lane, post }) => self.postponed(lane, post, Some(0)),
            Some(Doing::Read { name }) => {
                if let Some(stream) = self.streams.get_mut(&name) {
                    stream.exchange = None;
                    stream.state = super::streams::State::Waiting(u64::MAX);
                }
            }
            Some(Doing::Delete | Doing::Refused { .. }) | None => {}
        }
        if !told {
            self.actions.push_back(Action::Unauthorized { status, challenge });
        }
    }
}

/// How long the server asks to wait, in milliseconds. Only seconds are read: the other form is a date.
fn wait(headers: Headers<'_>) -> Option<u64> {
    let seconds: u64 = headers.single("retry-after").value()?.parse().ok()?;
    Some(seconds.saturating_mul(1000).min(LONGEST_WAIT))
}
