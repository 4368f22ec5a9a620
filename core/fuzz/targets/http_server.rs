//! A server of the remote transports: whatever comes, each request has one response with a status of ours, nothing of the
//! request is in it, what waits is bounded, and the agent gets no message that is none.
//!
//! An input is lines. The first byte of each says what happens, the second to which exchange or connection, the rest is
//! text: a body, a frame, headers between `|`. `^` stands for the id of that connection.

use std::collections::{BTreeMap, BTreeSet};

use libacp::http::{ConnectionKey, Event, Header, Request, Response, Server, ServerOptions, Step, Token};

/// What no response may repeat.
const PLANTED: &str = "PLANTED";
/// All statuses that a server sends.
const STATUSES: [u16; 23] =
    [101, 200, 202, 204, 400, 401, 403, 404, 405, 406, 408, 409, 410, 413, 415, 421, 426, 429, 431, 501, 502, 503, 504];
/// Lines of one input that are looked at.
const MOST: usize = 200;
/// Bytes that may wait.
const LIMIT: usize = 400;

#[derive(Default)]
struct Seen {
    connections: Vec<ConnectionKey>,
    open: BTreeSet<ConnectionKey>,
    /// Exchanges that wait for a response.
    waiting: BTreeSet<u64>,
    streams: BTreeMap<u64, bool>,
    ids: BTreeMap<ConnectionKey, String>,
}

impl Seen {
    fn response(&mut self, exchange: u64, response: &Response) {
        assert!(STATUSES.contains(&response.status), "{response:?}");
        self.waiting.remove(&exchange);
        let agents = response.status == 200 || response.body.contains("\"result\"");
        assert!(agents || !response.body.contains(PLANTED), "{response:?}");
        for (_, value) in &response.headers {
            assert!(value.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{response:?}");
        }
    }

    fn step(&mut self, exchange: u64, step: &Step) {
        match step {
            Step::Respond(response) => self.response(exchange, response),
            Step::Body { .. } | Step::Wait => drop(self.waiting.insert(exchange)),
            Step::Stream(response) => {
                self.response(exchange, response);
                self.streams.insert(exchange, true);
            }
            Step::Upgrade(response) => {
                self.response(exchange, response);
            }
        }
    }

    fn poll(&mut self, server: &mut Server) {
        while let Some(event) = server.poll_event() {
            match event {
                Event::Opened { connection } => {
                    self.connections.push(connection);
                    self.open.insert(connection);
                    let id = server.connection_id(connection).unwrap_or_default().to_owned();
                    self.ids.insert(connection, id);
                }
                Event::Message { connection, json } => {
                    assert!(self.open.contains(&connection));
                    assert!(serde_json::from_str::<&serde_json::value::RawValue>(&json).is_ok(), "{json}");
                }
                Event::Closed { connection, .. } => assert!(self.open.remove(&connection), "closed twice"),
                Event::Respond { exchange, response } => {
                    assert!(self.waiting.contains(&exchange), "two responses for {exchange}");
                    self.response(exchange, &response);
                }
                Event::Finish { exchange } => drop(self.streams.insert(exchange, false)),
                Event::Violation(report) | Event::Advice(report) => assert!(!report.message.contains(PLANTED)),
                _ => {}
            }
        }
    }
}

fn server(first: u8) -> Server {
    let mut options = ServerOptions::default();
    if first & 1 != 0 {
        options.tolerance = libacp::http::tolerance::Tolerance::strict();
    }
    options.token = Token::new("secret").filter(|_| first & 2 != 0);
    let limits = &mut options.limits;
    (limits.body, limits.bodies, limits.header_bytes, limits.headers) = (2000, 3000, 2000, 12);
    (limits.connections, limits.sessions, limits.early_streams, limits.calls) = (3, 4, 2, 4);
    (limits.stream, limits.unread, limits.inbox, limits.remembered) = (LIMIT, 200, 1000, 2);
    limits.retained = if first & 4 != 0 { LIMIT } else { 0 };
    Server::new(options)
}

pub(crate) fn run(data: &[u8]) {
    let Some((&first, data)) = data.split_first() else { return };
    let mut server = server(first);
    let (mut seen, mut now) = (Seen::default(), 0);
    for line in data.split(|byte| *byte == b'\n').take(MOST) {
        let [what, which, rest @ ..] = line else { continue };
        let wanted = server.wants_entropy();
        // Each connection has an id of its own.
        let fill: Vec<u8> =
            (0..wanted).map(|at| (at as u8) ^ (seen.connections.len() as u8).wrapping_mul(31)).collect();
        server.add_entropy(&fill);
        let exchange = u64::from(which % 16);
        let key = seen.connections.get(usize::from(*which) % seen.connections.len().max(1)).copied();
        let id = key.and_then(|key| seen.ids.get(&key)).cloned().unwrap_or_default();
        let text = String::from_utf8_lossy(rest).replace('^', &id);
        match what {
            b'P' | b'G' | b'D' | b'W' => {
                seen.waiting.remove(&exchange);
                seen.streams.remove(&exchange);
                request(&mut server, &mut seen, *what, exchange, &text);
            }
            b'b' | b'e' if seen.waiting.contains(&exchange) => {
                let step = server.body(exchange, rest, *what == b'e');
                seen.step(exchange, &step);
            }
            b't' => server.text(exchange, &text),
            b'n' => server.binary(exchange),
            b'o' => server.pong(exchange),
            b's' => {
                let _ = key.map(|key| server.send(key, &text));
            }
            b'x' => key.into_iter().for_each(|key| server.close(key)),
            b'c' => {
                server.closed(exchange);
                seen.waiting.remove(&exchange);
                seen.streams.remove(&exchange);
            }
            b'r' => server.consume(exchange, rest.len()),
            b'p' => key.into_iter().for_each(|key| server.pause(key, rest.is_empty())),
            b'f' => drop(server.frame(exchange)),
            b'k' => {
                now += u64::from(*which) * 500;
                server.handle_timeout(now);
                assert!(server.poll_timeout().is_none_or(|at| at > now));
            }
            _ => {}
        }
        seen.poll(&mut server);
        assert!(server.connections() <= 3 + 1);
        for exchange in seen.streams.keys() {
            let waits = server.transmit(*exchange).len();
            assert!(waits <= 3 * LIMIT + 4000, "{waits} bytes wait");
        }
    }
    // Whoever waits hears of the end.
    for key in seen.connections.clone() {
        server.pause(key, false);
        server.close(key);
    }
    seen.poll(&mut server);
    assert!(seen.open.is_empty(), "{:?}", seen.open);
    server.handle_timeout(now + 10_000_000);
    seen.poll(&mut server);
    assert!(seen.waiting.is_empty(), "no response for {:?}", seen.waiting);
    assert_eq!((server.connections(), server.poll_timeout()), (0, None));
}

fn request(server: &mut Server, seen: &mut Seen, what: u8, exchange: u64, text: &str) {
    let mut parts = text.split('|');
    let method = match what {
        b'P' => "POST",
        b'D' => "DELETE",
        _ => "GET",
    };
    let mut headers: Vec<Header> = vec![("host", b"localhost"), ("authorization", b"Bearer secret")];
    match what {
        b'P' => headers.push(("content-type", b"application/json")),
        b'G' => headers.push(("accept", b"text/event-stream")),
        b'W' => headers.extend([
            ("upgrade", &b"websocket"[..]),
            ("connection", b"Upgrade"),
            ("sec-websocket-version", b"13"),
        ]),
        _ => {}
    }
    let body = parts.next().unwrap_or_default();
    for part in parts {
        let (name, value) = part.split_once(':').unwrap_or((part, ""));
        let name = match name {
            "c" => "acp-connection-id",
            "s" => "acp-session-id",
            "l" => "last-event-id",
            other => other,
        };
        headers.retain(|(known, _)| *known != name || name.starts_with("acp"));
        headers.push((name, value.as_bytes()));
    }
    let mut step = server.request(exchange, &Request::new(method, "/acp", &headers));
    // A body that is not empty comes at once.
    if matches!(step, Step::Body { .. }) && !body.is_empty() {
        step = server.body(exchange, body.as_bytes(), true);
    }
    seen.step(exchange, &step);
}
