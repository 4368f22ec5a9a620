//! A host that lives through bad messages, does something now and then, and holds the connection to its promises.

use std::collections::{BTreeMap, HashSet};

use libacp::connection::{Connection, Consequence, Event, Outcome, Role};
use libacp::framing::Framing;
use libacp::json::pointer;
use libacp::{Config, ErrorCode, Id};
use serde_json::Value;

use crate::rng::Rng;

/// What each side calls; also what does not fit or is not allowed now.
const CLIENT: &[(&str, &str)] = &[
    ("session/new", r#"{"cwd":"/w","mcpServers":[]}"#),
    ("session/load", r#"{"sessionId":"s-2","cwd":"/w","mcpServers":[]}"#),
    ("session/prompt", r#"{"sessionId":"s-1","prompt":[{"type":"text","text":"hi"}]}"#),
    ("session/prompt", r#"{"sessionId":"nowhere","prompt":[]}"#),
    ("_x/y", "{}"),
    ("_x/y", "{"),
    ("initialize", r#"{"info":{"name":"c","version":"1"},"capabilities":{}}"#),
    ("session/resume", r#"{"sessionId":"s-2","cwd":"/w","replayFrom":{"type":"start"}}"#),
    ("session/close", r#"{"sessionId":"s-1"}"#),
    ("tool_call/cancel", r#"{"sessionId":"s-1","toolCallId":"t"}"#),
    ("terminal/cancel", r#"{"sessionId":"s-1","terminalId":"t-1"}"#),
    ("auth/login", r#"{"methodId":"key"}"#),
];
const AGENT: &[(&str, &str)] = &[
    ("fs/read_text_file", r#"{"sessionId":"s-1","path":"/x"}"#),
    ("terminal/create", r#"{"sessionId":"s-1","command":"ls"}"#),
    ("terminal/release", r#"{"sessionId":"s-1","terminalId":"t-1"}"#),
    (
        "session/request_permission",
        r#"{"sessionId":"s-1","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}"#,
    ),
    ("_x/y", "{}"),
    ("fs/read_text_file", "[]"),
    (
        "session/request_permission",
        r#"{"sessionId":"s-1","title":"May I?","subject":{"type":"tool_call","toolCall":{"toolCallId":"t"}},"options":[{"optionId":"y","name":"Yes","kind":"allow_once"}]}"#,
    ),
    ("elicitation/create", r#"{"sessionId":"s-1","message":"?","mode":"url","elicitationId":"e","url":"https://x.y"}"#),
];
/// What both sides say of themselves when a conversation begins, by the version.
const BEGINNINGS: [[&str; 2]; 2] = [
    [
        r#""clientCapabilities":{"fs":{"readTextFile":true},"terminal":true}"#,
        r#""agentCapabilities":{"loadSession":true}"#,
    ],
    [
        r#""info":{"name":"c","version":"1"},"capabilities":{"elicitation":{"form":{},"url":{}}}"#,
        r#""info":{"name":"a","version":"1"},"capabilities":{"session":{}}"#,
    ],
];
/// Results; the connection says whether one fits.
const RESULTS: &[&str] = &[
    "{}",
    r#"{"sessionId":"s-1"}"#,
    r#"{"stopReason":"end_turn"}"#,
    r#"{"terminalId":"t-1"}"#,
    r#"{"content":"x"}"#,
    r#"{"outcome":{"outcome":"cancelled"}}"#,
    r#"{"protocolVersion":1}"#,
    r#"{"info":{"name":"a","version":"1"},"capabilities":{"session":{"delete":{}}},"authMethods":[{"type":"agent","methodId":"key","name":"Key"}]}"#,
    r#"{"messageId":"m"}"#,
    r#"{"action":"accept"}"#,
    r#"{"exitCode":0}"#,
    "null",
    "[1]",
];

#[derive(Debug)]
pub(crate) struct Host {
    connection: Connection,
    now: u64,
    /// Requests of the peer's that were delivered and not answered.
    open: HashSet<Id>,
    /// Own requests that have not ended.
    waiting: HashSet<Id>,
    /// Those that ended without an answer, which may still come.
    late: HashSet<Id>,
    /// Answers that may be in the outbox: refusals, the core's own, the host's.
    answers: usize,
    over: bool,
    /// How many events of each kind there were.
    counts: BTreeMap<&'static str, usize>,
}

impl Host {
    pub(crate) fn new(config: Config, begins: bool) -> Self {
        let (role, versions) = (config.role, config.versions);
        let connection = Connection::new(config);
        let (open, waiting, late) = (HashSet::new(), HashSet::new(), HashSet::new());
        let mut host =
            Host { connection, now: 0, open, waiting, late, answers: 0, over: false, counts: BTreeMap::new() };
        let [hello, welcome] = BEGINNINGS[usize::from(versions.oldest() == 2)];
        let new = r#"{"cwd":"/w","mcpServers":[]}"#;
        let version = versions.oldest();
        if begins && role == Role::Client {
            let params = format!(r#"{{"protocolVersion":{version},{hello}}}"#);
            host.waiting.insert(host.connection.request("initialize", &params).unwrap());
            host.feed(
                format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":{version},{welcome}}}}}"#).as_bytes(),
            );
            host.waiting.insert(host.connection.request("session/new", new).unwrap());
            host.feed(br#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}}"#);
        } else if begins {
            let call = |id: i64, method: &str, params: &str| {
                format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
            };
            let params = format!(r#"{{"protocolVersion":{version},{hello}}}"#);
            host.feed(call(0, "initialize", &params).as_bytes());
            host.respond(&Id::Number(0), &format!("{{{welcome}}}"));
            host.feed(call(1, "session/new", new).as_bytes());
            host.respond(&Id::Number(1), r#"{"sessionId":"s-1"}"#);
        }
        if begins {
            assert!(host.connection.session("s-1").is_some(), "it has not begun");
        }
        // What the beginning sent is not for the first message's account.
        host.check("\u{0}");
        host
    }

    /// One message of the peer's, and perhaps something that the host does.
    pub(crate) fn live(&mut self, rng: &mut Rng, text: &[u8], canary: &str) {
        if rng.one_in(20) {
            let ids: Vec<Id> = self.connection.unanswered().map(|open| open.id.clone()).collect();
            let id = if ids.is_empty() { Id::Number(1) } else { rng.pick(&ids).clone() };
            let call = format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#);
            self.feed(call.as_bytes());
        }
        if rng.one_in(6) {
            let ids: Vec<Id> = self.connection.pending().map(|open| open.id.clone()).collect();
            if !ids.is_empty() {
                let answer =
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{}}}", rng.pick(&ids), rng.pick(RESULTS));
                self.feed(answer.as_bytes());
            }
        }
        self.feed(text);
        self.check(canary);
        if !rng.one_in(4) {
            self.act(rng);
            self.check(canary);
        }
    }

    /// Bytes as the framing wants them, in one or two pieces.
    fn feed(&mut self, text: &[u8]) {
        let framing = self.connection.config().framing;
        let mut bytes = Vec::with_capacity(text.len() + 32);
        if framing == Framing::ContentLength {
            bytes.extend_from_slice(format!("Content-Length: {}\r\n\r\n", text.len()).as_bytes());
        }
        bytes.extend_from_slice(text);
        if framing == Framing::Lines {
            bytes.push(b'\n');
        }
        let cut = if framing == Framing::Messages { bytes.len() } else { bytes.len() / 2 };
        for piece in [&bytes[..cut], &bytes[cut..]] {
            if !piece.is_empty() {
                self.connection.receive(piece);
                self.drain();
            }
        }
        let limit = self.connection.config().limits.frame;
        assert!(self.connection.buffered() <= limit + 2, "{} bytes wait", self.connection.buffered());
    }

    fn drain(&mut self) {
        let mut events = 0;
        while let Some(event) = self.connection.poll_event() {
            events += 1;
            assert!(events < 50_000, "no end of events");
            assert!(!self.over, "an event after the last: {event:?}");
            *self.counts.entry(event.name()).or_default() += 1;
            match event {
                Event::Request(request) => {
                    let fresh = self.open.insert(request.id.clone());
                    assert!(fresh, "an open id was delivered again: {}", request.id);
                    json(request.params());
                }
                Event::Notification(told) => {
                    json(told.params());
                }
                Event::Response(response) => {
                    assert!(self.waiting.remove(&response.id), "ended twice: {}", response.id);
                    if matches!(response.outcome, Outcome::Timeout | Outcome::Cancelled) {
                        self.late.insert(response.id.clone());
                    }
                    if let Some(result) = response.outcome.result() {
                        json(result);
                    }
                }
                Event::LateResponse(response) => {
                    assert!(self.late.remove(&response.id), "late, but not before: {}", response.id);
                    if let Some(result) = response.outcome.result() {
                        json(result);
                    }
                }
                Event::Cancel(cancel) => assert!(self.open.contains(&cancel.id), "cancels what is not open"),
                Event::Answered(answered) => {
                    // A prompt that repeats an open one is not delivered (LIFE-38).
                    let known = self.open.remove(&answered.id);
                    assert!(known || answered.rule == "LIFE-38", "answers what is not open: {answered:?}");
                    self.answers += 1;
                }
                Event::Violation(violation) => {
                    self.answers += usize::from(matches!(violation.consequence, Consequence::Refused(_)));
                    assert!(violation.excerpt.len() <= 3 * 256);
                }
                Event::Advice(advice) => assert!(!advice.message.is_empty()),
                Event::Closed(_) => self.over = true,
                other => panic!("{other:?}"),
            }
        }
    }

    /// What waits for the peer: whole messages, no answer too many, nothing of the peer's text.
    fn check(&mut self, canary: &str) {
        let framing = self.connection.config().framing;
        let mut answers = 0;
        let mut text = Vec::new();
        while !self.connection.transmit().is_empty() {
            let piece = self.connection.transmit().to_vec();
            self.connection.consume(piece.len());
            text.extend_from_slice(&piece);
            if framing == Framing::Messages {
                text.push(b'\n');
            }
        }
        let text = String::from_utf8(text).expect("UTF-8 is sent");
        let lines: Vec<&str> = match framing {
            Framing::ContentLength => bodies(&text),
            _ => text.lines().collect(),
        };
        let parse = |line: &&str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
        // The answers to a batch are a list, which is sent when it is complete.
        let messages = lines.iter().map(parse).flat_map(|message: Value| match message {
            Value::Array(answers) => answers,
            other => vec![other],
        });
        for mut message in messages {
            let line = &message.to_string();
            assert!(message.is_object() && message["jsonrpc"] == "2.0", "{line}");
            let is_answer = message.get("method").is_none();
            assert!(!without_names(&mut message).contains(canary), "the peer's text comes back: {line}");
            if is_answer {
                answers += 1;
                let id = pointer(line, "/id").and_then(Id::from_json).expect("an id");
                // A refusal of something that has no id of its own says null, which may be open as well.
                assert!(id == Id::Null || !self.open.contains(&id), "an open request was answered: {line}");
            }
        }
        assert!(answers <= self.answers, "too many answers in {text}");
        self.answers -= answers;
        assert!(self.answers == 0 || self.connection.version() == Some(2), "an answer is missing in {text}");
    }

    fn act(&mut self, rng: &mut Rng) {
        let waiting = self.connection.transmit().len();
        let calls = if self.connection.role() == Role::Client { CLIENT } else { AGENT };
        let &(method, params) = rng.pick(calls);
        let unanswered: Vec<Id> = self.connection.unanswered().map(|open| open.id.clone()).collect();
        let accepted = match rng.below(8) {
            0..=1 => match self.connection.request(method, params) {
                Ok(id) => {
                    assert!(self.waiting.insert(id), "an id that is in use");
                    true
                }
                Err(_) => false,
            },
            2..=4 if !unanswered.is_empty() => {
                let (id, first) = (rng.pick(&unanswered).clone(), rng.below(RESULTS.len()));
                // The first that the connection takes, so that not too many requests stay open.
                (0..RESULTS.len()).any(|more| self.respond(&id, RESULTS[(first + more) % RESULTS.len()]))
            }
            5 if !unanswered.is_empty() => {
                let id = rng.pick(&unanswered).clone();
                let done = self.connection.respond_error(&id, ErrorCode::INTERNAL_ERROR, "no", Some("[1]")).is_ok();
                self.answered(&id, done)
            }
            6 => self.connection.notify("session/cancel", r#"{"sessionId":"s-1"}"#).is_ok(),
            _ => {
                self.now += 10;
                self.connection.handle_timeout(self.now);
                return self.drain();
            }
        };
        let sent = self.connection.transmit().len() > waiting;
        // In version 2 an answer may wait for the others of its batch.
        let grows = self.connection.config().framing != Framing::Messages && self.connection.version() != Some(2);
        assert!(accepted || !sent, "a refused call has sent something");
        assert!(!accepted || sent || !grows, "an accepted call has sent nothing");
        self.drain();
    }

    fn respond(&mut self, id: &Id, result: &str) -> bool {
        let done = self.connection.respond(id, result).is_ok();
        self.answered(id, done)
    }

    fn answered(&mut self, id: &Id, done: bool) -> bool {
        if done {
            assert!(self.open.remove(id), "answered what was not open");
            self.answers += 1;
            assert!(self.connection.respond(id, "{}").is_err(), "answered twice");
        }
        done
    }

    /// The peer goes: everything that waits ends, once.
    pub(crate) fn end(mut self) -> BTreeMap<&'static str, usize> {
        self.connection.receive_eof();
        self.drain();
        self.check("\u{0}");
        assert!(self.over && self.waiting.is_empty(), "never ended: {:?}", self.waiting);
        assert_eq!(self.connection.pending().count(), 0);
        self.counts
    }
}

/// A message without the three members that repeat something of the peer's: its id, and the names of a method or of a
/// session that there is not.
fn without_names(message: &mut Value) -> String {
    message["id"] = Value::Null;
    if let Some(data) = message.pointer_mut("/error/data").and_then(Value::as_object_mut) {
        data.remove("method");
        data.remove("sessionId");
    }
    message.to_string()
}

/// JSON by its grammar; 1e400 is, though no number type holds it.
fn json(text: &str) {
    let checked: Result<serde::de::IgnoredAny, _> = serde_json::from_str(text);
    assert!(checked.is_ok(), "not JSON is handed out: {checked:?} in {text}");
}

/// The messages behind their headers, each as long as its header says.
fn bodies(mut text: &str) -> Vec<&str> {
    let mut all = Vec::new();
    while let Some(framed) = text.strip_prefix("Content-Length: ") {
        let (length, rest) = framed.split_once("\r\n\r\n").expect("a header's end");
        let (body, next) = rest.split_at(length.parse().expect("a length"));
        all.push(body);
        text = next;
    }
    assert!(text.is_empty(), "no header: {text}");
    all
}
