//! A client of the remote transports: whatever the server says, each call of the host ends once, each question of the agent is
//! asked once, and what waits is bounded.
//!
//! An input is lines. The first byte of each says what happens, the second to which exchange, the rest is text: a message, or
//! the headers of a response between `|`.

use std::collections::BTreeSet;

use libacp::http::{Action, Client, ClientOptions, Header, Transport};
use serde_json::Value;

/// Lines of one input that are looked at.
const MOST: usize = 200;

#[derive(Default)]
struct Seen {
    calls: BTreeSet<String>,
    questions: BTreeSet<String>,
    exchanges: Vec<u64>,
    closed: bool,
}

/// The id of a message as JSON, and whether it is an answer.
fn id(json: &str) -> Option<(String, bool)> {
    let value: Value = serde_json::from_str(json).ok()?;
    let id = value.get("id")?;
    Some((id.to_string(), value.get("method").is_none()))
}

impl Seen {
    fn poll(&mut self, client: &mut Client) {
        while let Some(action) = client.poll_action() {
            match action {
                Action::Request(request) => {
                    assert!(!self.closed || request.method == "DELETE", "{request:?}");
                    for (name, value) in &request.headers {
                        assert!(value.bytes().all(|byte| (0x20..0x7f).contains(&byte)), "{name}: {value}");
                    }
                    self.exchanges.push(request.exchange);
                }
                Action::Connect { exchange, .. } => self.exchanges.push(exchange),
                Action::Message { json, .. } => match id(&json) {
                    Some((id, true)) if id != "null" => assert!(self.calls.remove(&id), "a second answer: {json}"),
                    Some((id, false)) => assert!(self.questions.insert(id), "asked twice: {json}"),
                    _ => {}
                },
                Action::Lost(lost) => {
                    for id in lost.calls {
                        assert!(self.calls.remove(&id.to_json()), "{id} is lost and has ended");
                    }
                    for id in lost.questions {
                        assert!(self.questions.remove(&id.to_json()), "{id} is no question");
                    }
                }
                Action::Closed(_) => {
                    assert!(!self.closed);
                    self.closed = true;
                }
                _ => {}
            }
        }
    }
}

fn client(first: u8) -> Client {
    let mut options = ClientOptions::default();
    if first & 1 != 0 {
        options.tolerance = libacp::http::tolerance::Tolerance::strict();
    }
    if first & 2 != 0 {
        options.transport = Transport::WebSocket;
    }
    options.host = if first & 4 != 0 { "localhost".into() } else { String::new() };
    options.resumable = first & 8 != 0;
    options.reconnect = first & 16 == 0;
    (options.limits.message, options.limits.outbox) = (2000, 2000);
    (options.limits.calls, options.limits.sessions, options.limits.streams) = (8, 4, 4);
    Client::new(options, u64::from(first))
}

pub(crate) fn run(data: &[u8]) {
    let Some((&first, data)) = data.split_first() else { return };
    let mut client = client(first);
    let (mut seen, mut now) = (Seen::default(), 0);
    for line in data.split(|byte| *byte == b'\n').take(MOST) {
        let [what, which, rest @ ..] = line else { continue };
        // The last one is 0, the one before it 1 and so on.
        let back = usize::from(*which) % 16;
        let exchange = seen.exchanges.iter().rev().nth(back).copied().unwrap_or_default();
        let text = String::from_utf8_lossy(rest);
        match what {
            b's' if client.send(&text).is_ok() => match id(&text) {
                Some((id, true)) => drop(seen.questions.remove(&id)),
                Some((id, false)) => drop(seen.calls.insert(id)),
                None => {}
            },
            b'R' => {
                let mut parts = text.split('|');
                let status = parts.next().and_then(|status| status.parse().ok()).unwrap_or(200);
                let headers: Vec<Header> = parts
                    .map(|part| part.split_once(':').unwrap_or((part, "")))
                    .map(|(name, value)| {
                        let name = match name {
                            "c" => "acp-connection-id",
                            "t" => "content-type",
                            other => other,
                        };
                        (name, value.as_bytes())
                    })
                    .collect();
                client.response(exchange, status, &headers);
            }
            b'd' => client.data(exchange, rest),
            b'v' => client.data(exchange, format!("data: {text}\n\n").as_bytes()),
            b'e' => client.end(exchange),
            b'f' => client.failed(exchange, rest.is_empty()),
            b't' => client.text(exchange, &text),
            b'n' => client.binary(exchange),
            b'k' => {
                now += u64::from(*which) * 100;
                client.handle_timeout(now);
                seen.poll(&mut client);
                assert!(client.poll_timeout().is_none_or(|at| at > now || seen.closed), "{:?}", client.poll_timeout());
            }
            b'h' => drop(client.set_header("authorization", &text)),
            b'y' => client.retry(),
            b'o' => client.closed(exchange, 1000 + u16::from(*which)),
            b'x' => client.close(),
            _ => {}
        }
        seen.poll(&mut client);
    }
    client.close();
    seen.poll(&mut client);
    assert!(seen.closed);
    assert!(seen.calls.is_empty(), "calls without an end: {:?}", seen.calls);
    // The last request may still have no response.
    client.handle_timeout(now + 1_000_000);
    seen.poll(&mut client);
    assert_eq!(client.poll_timeout(), None);
}
