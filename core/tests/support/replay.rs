//! Replays one scenario on a connection of its own.

#[path = "getters.rs"]
mod getters;
#[path = "viewed.rs"]
mod viewed;

use std::collections::BTreeMap;

use libacp::connection::{CallOptions, Connection, Misuse, Session, Timeout};
use libacp::framing::Framing;
use libacp::{Config, ErrorCode, Id};
use serde_json::{json, Value};

use crate::config;
use crate::event;
use crate::expected::{self, format, only};
use crate::frames::Frames;
use crate::scenario::{fed, Scenario};

/// Two-piece splits are tried where a scenario feeds no more than this by itself.
const SHORT: usize = 500;
/// Longer pieces are not fed byte by byte.
const LONG: usize = 100_000;

/// How the bytes of a scenario are cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Split {
    Whole,
    EveryByte,
    /// After this many bytes of what the scenario feeds by itself (its includes not counted).
    At(usize),
}

/// What a scenario expects at one place, and what is there instead.
#[derive(Debug)]
pub(crate) struct Seen<'a> {
    /// The step, counted from 0 with the includes put in.
    #[allow(dead_code, reason = "for those who falsify events")]
    pub(crate) step: usize,
    /// The event among those of the step; `None` for a misuse.
    pub(crate) event: Option<usize>,
    pub(crate) expected: &'a Value,
    pub(crate) actual: &'a Value,
    pub(crate) frames: &'a Frames,
}

impl Seen<'_> {
    /// The first member that is not as it is expected, or of which nothing is.
    pub(crate) fn difference(&self) -> Option<String> {
        match self.event {
            Some(_) => expected::difference(self.expected, self.actual, self.frames),
            None => expected::misuse_difference(self.expected, self.actual),
        }
    }
}

/// Judges what is seen.
pub(crate) type Judge<'a> = dyn FnMut(&Seen<'_>) -> Result<(), String> + 'a;

impl Scenario {
    /// The ways to cut this scenario's bytes.
    pub(crate) fn splits(&self) -> Vec<Split> {
        let mut splits = vec![Split::Whole];
        if self.config["framing"] == "messages" {
            return splits;
        }
        let own: usize = self
            .steps
            .iter()
            .filter(|(_, included)| !included)
            .filter_map(|(step, _)| fed(step))
            .map(|bytes| bytes.len())
            .sum();
        splits.push(Split::EveryByte);
        if own <= SHORT {
            splits.extend((1..own).map(Split::At));
        }
        splits
    }

    /// Replays it; the error says at which step what was different.
    pub(crate) fn run(&self, split: Split) -> Result<(), String> {
        self.judged(split, &mut |seen| seen.difference().map_or(Ok(()), Err))
    }

    /// Replays it with another judge of its events and misuses.
    pub(crate) fn judged(&self, split: Split, judge: &mut Judge<'_>) -> Result<(), String> {
        only("config", &self.config, &format()["config"])?;
        for part in ["policies", "limits"] {
            only(part, &self.config[part], &format()[part])?;
        }
        let mut replay = Replay {
            connection: Connection::new(config::read(&self.config)),
            split,
            fed: 0,
            events: Vec::new(),
            frames: Frames::new(self.config["framing"].as_str()),
            copies: BTreeMap::new(),
            at: 0,
            judge,
        };
        for (index, (step, included)) in self.steps.iter().enumerate() {
            // What the host is told early would change what its next call means, so only `expect` may follow.
            let next =
                self.steps[index + 1..].iter().find(|(next, _)| fed(next).is_none() && next.get("eof").is_none());
            let eager = next.is_some_and(|(next, _)| next.get("expect").is_some() || next.get("view").is_some());
            replay.at = index;
            replay.step(step, *included, eager).map_err(|why| format!("step {}: {why}", index + 1))?;
        }
        replay.drain();
        match replay.events.first() {
            Some(event) => return Err(format!("an event is left over: {event}")),
            None if !replay.connection.transmit().is_empty() => {}
            None => return Ok(()),
        }
        Err(format!("bytes are left over: {}", String::from_utf8_lossy(replay.connection.transmit())))
    }
}

impl Scenario {
    /// The version that its messages are of: the agreed one, or the newest that is allowed where none is agreed on.
    #[allow(dead_code, reason = "for the proof of the rules")]
    pub(crate) fn version(&self) -> u16 {
        let config = config::read(&self.config);
        let newest = config.versions.newest();
        let mut judge = |_: &Seen<'_>| Ok(());
        let mut replay = self.replay(config, &mut judge);
        let mut agreed = None;
        for (step, included) in &self.steps {
            // What goes wrong here is for the test of the scenario itself to say.
            _ = replay.step(step, *included, false);
            replay.drain();
            replay.events.clear();
            agreed = replay.connection.version().or(agreed);
        }
        agreed.unwrap_or(newest)
    }

    fn replay<'a>(&self, config: Config, judge: &'a mut Judge<'a>) -> Replay<'a> {
        Replay {
            connection: Connection::new(config),
            split: Split::Whole,
            fed: 0,
            events: Vec::new(),
            frames: Frames::new(self.config["framing"].as_str()),
            copies: BTreeMap::new(),
            at: 0,
            judge,
        }
    }

    #[allow(dead_code, reason = "for those who compare configurations")]
    /// All that comes of it in another configuration, told or sent; what it expects is not looked at.
    pub(crate) fn trace(&self, change: impl FnOnce(&mut Config)) -> Vec<Value> {
        let mut config = config::read(&self.config);
        change(&mut config);
        let mut judge = |_: &Seen<'_>| Ok(());
        let mut replay = self.replay(config, &mut judge);
        let mut trace = Vec::new();
        for (step, included) in &self.steps {
            let has = |name: &&str| step.get(name).is_some();
            if !["expect", "transmit", "state", "view", "can", "get", "cut_output"].iter().any(has) {
                let calls = ["request", "notify", "respond", "respond_error", "cancel"].iter().any(has);
                let outcome = if calls {
                    replay
                        .called(step)
                        .map(|done| json!(done.map_or_else(|misuse| misuse.to_string(), |id| format!("{id:?}"))))
                } else {
                    replay.step(step, *included, false).map(|()| Value::Null)
                };
                trace.push(outcome.unwrap_or_else(Value::from));
            }
            replay.drain();
            trace.append(&mut replay.events);
            trace.extend(replay.take().into_iter().map(Value::from));
        }
        trace
    }
}

struct Replay<'a> {
    connection: Connection,
    split: Split,
    fed: usize,
    events: Vec<Value>,
    frames: Frames,
    /// What is kept of each view.
    copies: BTreeMap<String, viewed::Copy>,
    at: usize,
    judge: &'a mut Judge<'a>,
}

impl Replay<'_> {
    fn step(&mut self, step: &Value, included: bool, eager: bool) -> Result<(), String> {
        expected::known_step(step)?;
        if let Some(bytes) = fed(step) {
            self.frames.feed(&bytes);
            return self.feed(&bytes, included, eager);
        }
        if let Some(expected) = step.get("expect") {
            self.drain();
            return self.same_events(expected.as_array().unwrap());
        }
        if let Some(expected) = step.get("transmit") {
            let sent = Value::from(self.take());
            return if *expected == sent {
                Ok(())
            } else {
                Err(format!("sent\n  expected {expected}\n  found    {sent}"))
            };
        }
        if let Some(expected) = step.get("state") {
            let mut found = state(&self.connection);
            narrow(&mut found["connection"], &expected["connection"]);
            for (id, session) in found["sessions"].as_object_mut().expect("sessions") {
                narrow(session, &expected["sessions"][id]);
            }
            return partial_difference(expected, &found).map_or(Ok(()), Err);
        }
        if step.get("view").is_some() {
            // What was told and is to be sent meanwhile is for other scenarios.
            self.drain();
            self.events.clear();
            self.take();
            return viewed::same(&mut self.connection, step, &mut self.copies);
        }
        if let Some(name) = step.get("get") {
            let name = name.as_str().ok_or("a getter has a name")?;
            let with = step.get("with").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            return gives(step, &getters::get(&mut self.connection, name, with)?);
        }
        if let Some(call) = step.get("cut_output") {
            let output = call["output"].as_str().ok_or("no output")?;
            let (output, truncated) = libacp::terminal::cut_output(output, call["limit"].as_u64().ok_or("no limit")?);
            return gives(call, &json!({"output": output, "truncated": truncated}));
        }
        if let Some(expected) = step.get("can") {
            return self.can(expected);
        }
        if step.get("eof").is_some() {
            self.frames.end();
            self.connection.receive_eof();
            return Ok(());
        }
        if let Some(now) = step.get("time") {
            self.connection.handle_timeout(now.as_u64().unwrap());
            return Ok(());
        }
        if step.get("close").is_some() {
            self.connection.close();
            return Ok(());
        }
        self.call(step)
    }

    fn feed(&mut self, bytes: &[u8], included: bool, eager: bool) -> Result<(), String> {
        let cut = match self.split {
            Split::EveryByte if bytes.len() <= LONG => {
                return bytes.chunks(1).try_for_each(|byte| self.piece(byte, eager));
            }
            Split::At(at) if !included => at.saturating_sub(self.fed).min(bytes.len()),
            _ => bytes.len(),
        };
        for piece in [&bytes[..cut], &bytes[cut..]] {
            if !piece.is_empty() || bytes.is_empty() {
                self.piece(piece, eager)?;
            }
        }
        if !included {
            self.fed += bytes.len();
        }
        Ok(())
    }

    fn piece(&mut self, bytes: &[u8], eager: bool) -> Result<(), String> {
        self.connection.receive(bytes);
        if eager && self.split != Split::Whole {
            self.drain();
            for (session, copy) in &mut self.copies {
                copy.follow(&mut self.connection, session)?;
            }
        }
        Ok(())
    }

    fn drain(&mut self) {
        while let Some(event) = self.connection.poll_event() {
            self.events.push(event::to_json(&event));
        }
    }

    /// The messages that wait, without line ends and headers.
    fn take(&mut self) -> Vec<String> {
        let framing = self.connection.config().framing;
        let (mut messages, mut bytes) = (Vec::new(), Vec::new());
        while !self.connection.transmit().is_empty() {
            let waiting = self.connection.transmit().to_vec();
            if framing == Framing::Messages {
                messages.push(String::from_utf8(waiting.clone()).unwrap());
                self.connection.consume(waiting.len());
            } else {
                // Partial writes are normal.
                let count = if self.split == Split::EveryByte { 1 } else { waiting.len() };
                bytes.extend_from_slice(&waiting[..count]);
                self.connection.consume(count);
            }
        }
        let mut text = String::from_utf8(bytes).unwrap();
        while !text.is_empty() {
            let (start, end) = if framing == Framing::Lines {
                (0, text.find('\n').expect("a line end"))
            } else {
                let head = text.find("\r\n\r\n").expect("a header") + 4;
                let length: usize = text["Content-Length: ".len()..head - 4].parse().expect("a length");
                (head, head + length)
            };
            messages.push(text[start..end].to_owned());
            text.drain(..(end + usize::from(framing == Framing::Lines)));
        }
        messages
    }

    fn can(&self, expected: &Value) -> Result<(), String> {
        for (method, rule) in expected.as_object().unwrap() {
            let why = self.connection.why_not(method).map(|misuse| misuse.rule.as_str());
            if why != rule.as_str() || self.connection.can(method) != why.is_none() {
                return Err(format!("{method}: expected {rule}, found {why:?}"));
            }
        }
        Ok(())
    }

    fn call(&mut self, step: &Value) -> Result<(), String> {
        let waiting = self.connection.transmit().len();
        let outcome = self.called(step)?;
        match (outcome, step.get("misuse")) {
            (Ok(returned), None) => match step.get("returns") {
                Some(expected) if returned.as_ref().map(event::id).as_ref() != Some(expected) => {
                    Err(format!("returned {returned:?} instead of {expected}"))
                }
                _ => Ok(()),
            },
            (Ok(_), Some(expected)) => Err(format!("accepted, expected the misuse {expected}")),
            (Err(misuse), None) => Err(format!("refused: {misuse}")),
            (Err(misuse), Some(expected)) => {
                let actual = json!({"kind": misuse.kind.name(), "rule": misuse.rule, "pointer": misuse.pointer});
                if self.connection.transmit().len() != waiting {
                    return Err("a refused call has sent something".into());
                }
                let seen = Seen { step: self.at, event: None, expected, actual: &actual, frames: &self.frames };
                (self.judge)(&seen).map_err(|why| format!("misuse {why} ({misuse})"))
            }
        }
    }

    fn same_events(&mut self, expected: &[Value]) -> Result<(), String> {
        let actual = std::mem::take(&mut self.events);
        let all = || actual.iter().map(Value::to_string).collect::<Vec<_>>().join("\n    ");
        if expected.len() != actual.len() {
            return Err(format!("{} events instead of {}:\n    {}", actual.len(), expected.len(), all()));
        }
        for (index, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
            let seen = Seen { step: self.at, event: Some(index), expected, actual, frames: &self.frames };
            (self.judge)(&seen).map_err(|why| format!("event {}: {why}; all events:\n    {}", index + 1, all()))?;
        }
        Ok(())
    }

    /// The host's call of a step; the outer error is one of the scenario itself.
    fn called(&mut self, step: &Value) -> Result<Result<Option<Id>, Misuse>, String> {
        let connection = &mut self.connection;
        let method = |call: &Value| call["method"].as_str().expect("a method").to_owned();
        if let Some(call) = step.get("request") {
            let id = call["id"].as_str().map(|text| Id::from_json(text).expect("an id"));
            let timeout = match call.get("timeout") {
                None => Timeout::Configured,
                Some(Value::Null) => Timeout::Never,
                Some(after) => Timeout::After(after.as_u64().expect("milliseconds")),
            };
            let options = CallOptions::default().id(id).timeout(timeout);
            return Ok(connection.request_with(&method(call), &text(call, "params"), options).map(Some));
        }
        let call = if let Some(call) = step.get("notify") {
            connection.notify(&method(call), &text(call, "params"))
        } else if let Some(call) = step.get("respond") {
            connection.respond(&named(call), &text(call, "result"))
        } else if let Some(call) = step.get("respond_error") {
            let code = ErrorCode(i32::try_from(call["code"].as_i64().unwrap()).unwrap());
            let data = ["data", "data_text"].iter().any(|name| call.get(name).is_some()).then(|| text(call, "data"));
            connection.respond_error(&named(call), code, call["message"].as_str().unwrap(), data.as_deref())
        } else if let Some(call) = step.get("cancel") {
            connection.cancel(&named(call))
        } else {
            return Err(format!("a step of no known kind: {step}"));
        };
        Ok(call.map(|()| None))
    }
}

/// Whether what is found is what a step says.
fn gives(step: &Value, found: &Value) -> Result<(), String> {
    match step.get("gives") {
        Some(expected) if expected == found => Ok(()),
        Some(expected) => Err(format!("expected {expected}, found {found}")),
        None => Err(format!("what it gives is not stated; it is {found}")),
    }
}

fn named(call: &Value) -> Id {
    Id::from_json(call["id"].as_str().expect("an id")).expect("an id")
}

fn text(call: &Value, name: &str) -> String {
    call[format!("{name}_text")].as_str().map_or_else(|| call[name].to_string(), str::to_owned)
}

/// The first member of `expected` that is different; members that `expected` leaves out do not matter.
fn partial_difference(expected: &Value, actual: &Value) -> Option<String> {
    let differs = |(name, value): &(&String, &Value)| actual.get(name.as_str()) != Some(*value);
    let (name, value) = expected.as_object()?.iter().find(differs)?;
    Some(format!("{name}: expected {value}, found {}", actual.get(name).unwrap_or(&Value::Null)))
}

fn state(connection: &Connection) -> Value {
    let session = |(id, session): (&std::sync::Arc<str>, &Session)| {
        (id.to_string(), serde_json::from_str::<Value>(&session.snapshot()).expect("a snapshot is JSON"))
    };
    json!({
        "connection": serde_json::from_str::<Value>(&connection.snapshot()).expect("a snapshot is JSON"),
        "phase": connection.phase().name(),
        "version": connection.version(),
        "sessions": connection.sessions().map(session).collect::<serde_json::Map<_, _>>(),
        "pending": connection.pending().map(|open| event::id(&open.id)).collect::<Vec<_>>(),
        "unanswered": connection.unanswered().map(|open| event::id(&open.id)).collect::<Vec<_>>(),
        "timeout": connection.poll_timeout(),
        "capabilities": serde_json::from_str::<Value>(connection.capabilities()).unwrap(),
        "terminals": event::terminals(&connection.open_terminals()),
    })
}

/// Leaves of each session the members that are expected of it.
fn narrow(found: &mut Value, expected: &Value) {
    if let (Some(found), Some(expected)) = (found.as_object_mut(), expected.as_object()) {
        found.retain(|name, _| expected.contains_key(name));
    }
}
