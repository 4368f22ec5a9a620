//! One side's bytes are fed, the other side's messages say what the host calls, and every message is accounted for.

use std::path::Path;

use libacp::connection::{CallOptions, Connection, Consequence, Event, Role, Versions, Violation};
use libacp::json::{pointer, unescape};
use libacp::{Config, ErrorCode, Id};
use serde_json::Value;

use crate::recording::records;

/// What became of a recording.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    /// Messages that were fed.
    pub(crate) messages: usize,
    /// Each violation: frame, rule, pointer, consequence, and the start of the message behind `#`.
    pub(crate) report: Vec<String>,
    /// Messages that were lost, changed, delivered twice or too early.
    pub(crate) unaccounted: Vec<String>,
    /// Messages of the other side's that cannot be sent from here.
    pub(crate) refused: Vec<String>,
}

/// Feeds what one side sent to a connection of the other role.
pub(crate) fn replay(path: &Path, side: Role) -> Replay {
    let fed = if side == Role::Agent { '<' } else { '>' };
    let records = records(path);
    let mut config = Config::new(side.other());
    // A client that asks for version 1 speaks that, whatever the agent has beside it.
    if records.first().is_some_and(|(_, hello)| asks_for_two(hello)) {
        config.versions = Versions::ALL;
    }
    let mut connection = Connection::new(config);
    let mut replay = Replay::default();
    for (direction, bytes) in records {
        if direction == fed {
            connection.receive(&bytes);
            account(&bytes, &mut connection, &mut replay);
        } else if direction != '#' {
            // What was wrong on purpose cannot be sent; the answers to it then have no request.
            if call(&bytes, &mut connection).is_none() {
                replay.refused.push(start(&bytes));
            }
            connection.consume(usize::MAX);
            replay.check_own(&mut connection);
        }
    }
    connection.receive_eof();
    let last = std::iter::from_fn(|| connection.poll_event()).last();
    if !matches!(last, Some(Event::Closed(_))) {
        replay.unaccounted.push(format!("ends with {last:?}"));
    }
    replay
}

fn asks_for_two(hello: &[u8]) -> bool {
    std::str::from_utf8(hello).is_ok_and(|text| pointer(text, "/params/protocolVersion") == Some("2"))
}

fn start(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().chars().take(160).collect()
}

/// Does what the host did that sent this message.
fn call(bytes: &[u8], connection: &mut Connection) -> Option<()> {
    let text = std::str::from_utf8(bytes).ok()?.trim();
    serde_json::from_str::<Value>(text).ok().filter(Value::is_object)?;
    let id = pointer(text, "/id").and_then(Id::from_json);
    let params = pointer(text, "/params").unwrap_or("{}");
    match (pointer(text, "/method").and_then(unescape), id) {
        (Some(method), Some(id)) => {
            let options = CallOptions::default().id(id);
            connection.request_with(&method, params, options).ok().map(drop)
        }
        (Some(method), None) => connection.notify(&method, params).ok(),
        // What the core has answered by itself needs no other answer.
        (None, Some(id)) if connection.unanswered_by_id(&id).is_none() => Some(()),
        (None, Some(id)) => {
            if let Some(result) = pointer(text, "/result") {
                return connection.respond(&id, result).ok();
            }
            let code = pointer(text, "/error/code")?.parse().ok()?;
            let message = pointer(text, "/error/message").and_then(unescape)?;
            connection.respond_error(&id, ErrorCode(code), &message, pointer(text, "/error/data")).ok()
        }
        (None, None) => None,
    }
}

impl Replay {
    /// A call of the host's can make the core answer for it or advise it, and nothing else.
    fn check_own(&mut self, connection: &mut Connection) {
        while let Some(event) = connection.poll_event() {
            if !matches!(event, Event::Answered(_) | Event::Advice(_)) {
                self.unaccounted.push(format!("a call brought {event:?}"));
            }
        }
    }

    fn note(&mut self, violation: &Violation) {
        let pointer = if violation.pointer.is_empty() { "-" } else { &violation.pointer };
        let consequence = match violation.consequence {
            Consequence::Refused(code) => format!("refused {code}"),
            other => other.name().to_owned(),
        };
        let start: String = violation.excerpt.chars().take(150).filter(|c| !c.is_control()).collect();
        self.report.push(format!("{}\t{}\t{pointer}\t{consequence}\t# {start}", violation.frame, violation.rule));
    }
}

/// Calls that the peer's questions end with, so that the host is told of them.
const WITHDRAW: &[&str] = &["$/cancel_request", "session/cancel", "session/close"];

/// What one fed line must bring: one delivery or one refusal, with any number of reports of repairs before it.
fn account(bytes: &[u8], connection: &mut Connection, replay: &mut Replay) {
    let mut delivered = 0;
    let mut ended = 0;
    let shown = start(bytes);
    let blank = bytes.iter().all(u8::is_ascii_whitespace);
    replay.messages += usize::from(!blank);
    while let Some(event) = connection.poll_event() {
        let right = match &event {
            Event::Violation(violation) => {
                replay.note(violation);
                let lost = violation.consequence != Consequence::Delivered;
                delivered += usize::from(lost);
                ended += usize::from(lost);
                violation.frame as usize == replay.messages
                    && bytes.starts_with(&violation.excerpt.as_bytes()[..1.min(violation.excerpt.len())])
            }
            Event::Request(request) => {
                delivered += 1;
                is(bytes, Some(&request.method), Some(&request.id))
            }
            Event::Notification(told) => {
                delivered += 1;
                is(bytes, Some(&told.method), None)
            }
            Event::Response(response) => {
                // An answer that cannot be used is reported and ends its request as well.
                delivered += usize::from(ended == 0);
                is(bytes, None, Some(&response.id))
            }
            Event::Cancel(_) => {
                let alone = is(bytes, Some(WITHDRAW[0]), None);
                delivered += usize::from(alone);
                alone || method(bytes).is_some_and(|method| WITHDRAW.contains(&method.as_str()))
            }
            Event::Answered(_) => delivered == 1,
            other => panic!("{other:?}"),
        };
        if !right {
            replay.unaccounted.push(format!("line {}: {event:?} for {shown}", replay.messages));
        }
        // Answers of the core's own: they are in the vectors.
        connection.consume(usize::MAX);
    }
    let ignored = is(bytes, Some(WITHDRAW[0]), None);
    if delivered != usize::from(!blank) && !(ignored && delivered == 0) {
        replay.unaccounted.push(format!("line {}: {delivered} deliveries of {shown}", replay.messages));
    }
}

fn method(bytes: &[u8]) -> Option<String> {
    pointer(std::str::from_utf8(bytes).ok()?, "/method").and_then(unescape).map(Into::into)
}

/// Whether a line is a message with this method (or none) and id (or none).
fn is(bytes: &[u8], method: Option<&str>, id: Option<&Id>) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else { return false };
    self::method(bytes).as_deref() == method && pointer(text, "/id").and_then(Id::from_json).as_ref() == id
}
