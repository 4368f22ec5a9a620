//! What is asked of the head of a request, in this order: its size, its path, its host, its origin, its token; then what
//! its method needs.

use super::connection::{Phase, Session};
use super::{refusals, Closed, ConnectionKey, Exchange, Refusal, Server, Step};
use crate::http::head::{self, Single, CONNECTION_ID, EVENT_STREAM, JSON, SESSION_ID};
use crate::http::origin::Accepted;
use crate::http::route::NAME;
use crate::http::tolerance::Choice;
use crate::http::ws::{handshake, Handshake};
use crate::http::{Request, Response};
use crate::rules::Way;

/// What a page of another origin may send, and read of a response.
const METHODS: &str = "GET, POST, DELETE";
const HEADERS: &str =
    "accept, authorization, content-type, acp-connection-id, acp-session-id, acp-protocol-version, last-event-id";

type Admitted<T> = Result<T, &'static Refusal>;

impl Server {
    /// The head of a request, or of the handshake of a WebSocket, under a number of the host's choice that no other open
    /// exchange has.
    pub fn request(&mut self, exchange: u64, request: &Request<'_>) -> Step {
        // What is left of an earlier exchange with this number is none of this one's business.
        self.closed(exchange);
        let origin = match self.admitted(request) {
            Ok(origin) => origin,
            Err(refusal) => return self.refuse(refusal, exchange, None),
        };
        let step = match request.method {
            _ if !self.has_token(request, origin.is_some()) => self.refuse(&refusals::NO_TOKEN, exchange, None),
            "POST" => self.post(exchange, request),
            "GET" => self.get(exchange, request),
            "DELETE" => self.delete(exchange, request),
            "OPTIONS" if origin.is_some() => Step::Respond(
                Response::new(204)
                    .header("access-control-allow-methods", METHODS)
                    .header("access-control-allow-headers", HEADERS)
                    .header("access-control-max-age", "600"),
            ),
            _ => self.refuse(&refusals::OTHER_METHOD, exchange, None),
        };
        if let Some(origin) = origin {
            self.pages.insert(exchange, origin);
        }
        match step {
            Step::Respond(response) => Step::Respond(self.dress(exchange, response)),
            Step::Stream(response) => Step::Stream(self.dress(exchange, response)),
            other => other,
        }
    }

    /// The origin of the page that asks, if browsers need to be told that it may.
    fn admitted(&self, request: &Request<'_>) -> Admitted<Option<String>> {
        let (limits, headers) = (&self.options.limits, request.headers);
        let (count, bytes) = headers.size();
        if count > limits.headers || bytes > limits.header_bytes {
            return Err(&refusals::LARGE_HEAD);
        }
        if !self.options.path.is_empty() && self.options.path != request.path() {
            return Err(&refusals::OTHER_PATH);
        }
        let host = headers.single("host").value().filter(|host| self.options.allowed.accepts_host(host));
        let host = host.ok_or(&refusals::OTHER_HOST)?;
        let origin = match headers.single("origin") {
            Single::Absent => None,
            Single::Malformed => return Err(&refusals::FOREIGN_ORIGIN),
            Single::Is(origin) => match self.options.allowed.accepts_origin(origin, host) {
                Accepted::No => return Err(&refusals::FOREIGN_ORIGIN),
                Accepted::Own => None,
                Accepted::Foreign(listed) => Some(listed.to_owned()),
            },
        };
        Ok(origin)
    }

    /// Whether a request carries the token, if one is needed. A browser asks whether it may send it without sending it.
    fn has_token(&self, request: &Request<'_>, foreign: bool) -> bool {
        let asks = request.method == "OPTIONS" && foreign;
        let given = request.headers.single("authorization").value();
        asks || self.options.token.as_ref().is_none_or(|token| given.is_some_and(|it| token.is_in(it)))
    }

    /// The connection that a request names; `None` if it names none.
    fn named(&mut self, exchange: u64, request: &Request<'_>) -> Result<Option<ConnectionKey>, Step> {
        let id = match request.headers.single(CONNECTION_ID) {
            Single::Absent => return Ok(None),
            Single::Malformed => return Err(self.refuse(&refusals::NO_CONNECTION, exchange, None)),
            Single::Is(id) => id,
        };
        let key = self.by_id.get(id).copied();
        let key = key.filter(|key| self.connections.get(key).is_some_and(|it| it.socket.is_none()));
        if let Some(connection) = key.and_then(|key| self.connections.get_mut(&key)) {
            connection.used = self.now;
            return Ok(key);
        }
        let why = self.tombstones.find(id).map(Closed::text);
        Err(self.refuse_as(&refusals::UNKNOWN_CONNECTION, why, exchange, None))
    }

    /// The session that a request names.
    fn session<'a>(request: &Request<'a>) -> Admitted<Option<&'a str>> {
        match request.headers.single(SESSION_ID) {
            Single::Absent => Ok(None),
            Single::Is(id) if head::fits_header(id, NAME) => Ok(Some(id)),
            _ => Err(&refusals::BAD_SESSION),
        }
    }

    fn post(&mut self, exchange: u64, request: &Request<'_>) -> Step {
        let limit = self.options.limits.body;
        if !request.headers.content_is(JSON) {
            return self.refuse(&refusals::NOT_JSON, exchange, None);
        }
        if request.headers.content_length().is_some_and(|length| length > limit) {
            return self.refuse(&refusals::LARGE_BODY, exchange, None);
        }
        let connection = match self.named(exchange, request) {
            Ok(connection) => connection,
            Err(step) => return step,
        };
        let session = match Self::session(request) {
            Ok(session) => session.map(Into::into),
            Err(refusal) => return self.refuse(refusal, exchange, connection),
        };
        let until = self.now.saturating_add(self.options.times.body);
        self.timers.set(until, super::Timer::Exchange(exchange));
        self.exchanges.insert(exchange, Exchange::Body { connection, session, bytes: Vec::new(), until });
        Step::Body { limit }
    }

    fn get(&mut self, exchange: u64, request: &Request<'_>) -> Step {
        match handshake(request) {
            Handshake::Yes => return self.upgrade(exchange),
            Handshake::OtherVersion => return self.refuse(&refusals::OTHER_WEBSOCKET, exchange, None),
            Handshake::No => {}
        }
        if !request.headers.accepts(EVENT_STREAM) {
            return self.refuse(&refusals::NOT_A_STREAM, exchange, None);
        }
        let key = match self.named(exchange, request) {
            Ok(Some(key)) => key,
            Ok(None) => return self.refuse(&refusals::NO_CONNECTION, exchange, None),
            Err(step) => return step,
        };
        let opened = Self::session(request).and_then(|session| {
            let last = request.headers.single("last-event-id").value();
            self.read(exchange, key, session, last)
        });
        match opened {
            Ok(response) => Step::Stream(response),
            Err(refusal) => self.refuse(refusal, exchange, Some(key)),
        }
    }

    /// Opens a stream (HTTP-09).
    fn read(
        &mut self,
        exchange: u64,
        key: ConnectionKey,
        session: Option<&str>,
        last: Option<&str>,
    ) -> Admitted<Response> {
        let (now, keep_alive, limits) = (self.now, self.options.times.keep_alive, self.options.limits);
        let tolerates = |choice| self.options.tolerance.has(choice);
        let (early, takes_over) = (tolerates(Choice::EarlyStream), tolerates(Choice::StaleReader));
        let Some(connection) = self.connections.get_mut(&key) else { return Err(&refusals::UNKNOWN_CONNECTION) };
        let mut unknown = false;
        if let Some(name) = session.filter(|name| !connection.sessions.contains_key(*name)) {
            unknown = true;
            connection.make_room(limits.sessions);
            if !early || !id!("HTTP-09").is_on(Way::Track) {
                return Err(&refusals::UNKNOWN_SESSION);
            }
            let many = connection.early() >= limits.early_streams && !connection.is_asked_for(name);
            if many || connection.sessions.len() >= limits.sessions {
                return Err(&refusals::MANY_SESSIONS);
            }
            let unasked = !connection.is_asked_for(name);
            connection.sessions.insert(name.into(), Box::new(Session { unasked, ..Session::default() }));
        }
        let Some(stream) = connection.stream(session) else { return Err(&refusals::UNKNOWN_SESSION) };
        if stream.lost {
            return Err(&refusals::LOST_STREAM);
        }
        let dead = takes_over && now.saturating_sub(stream.moved) > 2 * keep_alive && stream.pending() > 0;
        let replaced = stream.exchange;
        if replaced.is_some() && !dead {
            return Err(&refusals::SECOND_READER);
        }
        let resumable = limits.resumable();
        if let Some(last) = last.filter(|_| resumable) {
            // No stream has that many events.
            if !stream.resume(last.parse().unwrap_or(u64::MAX)) {
                if let Some(name) = session.filter(|_| unknown) {
                    connection.sessions.remove(name);
                }
                return Err(&refusals::LOST_EVENTS);
            }
        }
        if replaced.is_some() {
            stream.detach();
        }
        let ready = stream.attach(exchange, now, resumable);
        stream.full_since = None;
        if std::mem::take(&mut connection.full) {
            self.events.push_back(super::Event::Drained { connection: key });
        }
        if let Some(replaced) = replaced {
            self.finish(replaced, Vec::new());
        }
        self.events.extend(ready.map(|exchange| super::Event::Ready { exchange }));
        self.exchanges.insert(exchange, Exchange::Reads { connection: key, stream: session.map(Into::into) });
        self.wake(key, now.saturating_add(keep_alive));
        self.release(key, session);
        let response = Response::new(200).header("content-type", EVENT_STREAM);
        // Proxies keep what they think is a page; nginx has to be told.
        Ok(response.header("cache-control", "no-cache, no-transform").header("x-accel-buffering", "no"))
    }

    fn upgrade(&mut self, exchange: u64) -> Step {
        let opened = if self.connections.len() >= self.options.limits.connections {
            Err(&refusals::MANY_CONNECTIONS)
        } else {
            self.open(Phase::Silent).ok_or(&refusals::NO_ENTROPY)
        };
        match opened {
            Ok(key) => {
                self.exchanges.insert(exchange, Exchange::Socket { connection: key });
                let id = self.socket_opened(key, exchange);
                let response = Response::new(101);
                Step::Upgrade(if id!("WS-01").is_on(Way::Track) {
                    response.header(CONNECTION_ID, id)
                } else {
                    response
                })
            }
            Err(refusal) => self.refuse(refusal, exchange, None),
        }
    }

    fn delete(&mut self, exchange: u64, request: &Request<'_>) -> Step {
        match self.named(exchange, request) {
            Ok(Some(key)) => {
                if id!("HTTP-14").is_on(Way::Track) {
                    self.end(key, Closed::Client);
                }
                Step::Respond(Response::new(202))
            }
            Ok(None) => self.refuse(&refusals::NO_CONNECTION, exchange, None),
            Err(step) => step,
        }
    }
}
