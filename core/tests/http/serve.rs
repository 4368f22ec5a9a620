//! Replaying a scenario of a server.

use std::collections::HashMap;

use libacp::http::tolerance::{Choice, Tolerance};
use libacp::http::{
    CloseCode, Closed, ConnectionKey, Event, Frame, Header, Report, Request, Response, SendError, Server,
    ServerOptions, Step, Token,
};
use serde_json::{json, Map, Value};

use crate::remote::{only, same, text_of, value_of, Outcome, Scenario};

/// The names of the choices in the vectors.
const CHOICES: [(&str, Choice); 7] = [
    ("early-stream", Choice::EarlyStream),
    ("initialized", Choice::Initialized),
    ("opens-without-header", Choice::OpensWithoutHeader),
    ("needless-header", Choice::NeedlessHeader),
    ("answer-without-header", Choice::AnswerWithoutHeader),
    ("stale-reader", Choice::StaleReader),
    ("initialize-again", Choice::InitializeAgain),
];

struct Run {
    server: Server,
    size: usize,
    /// Connections in the order in which they were opened.
    keys: Vec<ConnectionKey>,
    numbers: HashMap<ConnectionKey, usize>,
}

pub(crate) fn run(scenario: &Scenario, size: usize) -> Outcome {
    let mut server = Server::new(options(&scenario.options)?);
    for block in 1..=60_u8 {
        server.add_entropy(&[block; 16]);
    }
    let mut run = Run { server, size, keys: Vec::new(), numbers: HashMap::new() };
    for (at, step) in scenario.steps.iter().enumerate() {
        run.step(step).map_err(|why| format!("step {}: {why}", at + 1))?;
    }
    let left = run.events()?;
    if left.is_empty() {
        Ok(())
    } else {
        Err(format!("left over: {}", Value::Array(left)))
    }
}

fn options(value: &Value) -> Result<ServerOptions, String> {
    let mut options = ServerOptions::default();
    only(value, &["path", "token", "prefix", "hosts", "origins", "strict", "tolerates", "limits", "times"])?;
    let texts = |name: &str| value[name].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    if let Some(path) = value["path"].as_str() {
        options.path = path.into();
    }
    options.prefix = text(&value["prefix"]);
    options.token = value["token"].as_str().and_then(Token::new);
    for host in texts("hosts") {
        assert!(options.allowed.host(&text(&host)));
    }
    for origin in texts("origins") {
        assert!(options.allowed.origin(&text(&origin)));
    }
    if value["strict"] == true {
        options.tolerance = Tolerance::strict();
    }
    for name in texts("tolerates") {
        let choice = CHOICES.iter().find(|(known, _)| *known == text(&name)).ok_or("no such choice")?;
        options.tolerance = options.tolerance.with(choice.1, true);
    }
    for (name, value) in value["limits"].as_object().into_iter().flatten() {
        let limits = &mut options.limits;
        let place = match name.as_str() {
            "body" => &mut limits.body,
            "bodies" => &mut limits.bodies,
            "headers" => &mut limits.headers,
            "header_bytes" => &mut limits.header_bytes,
            "connections" => &mut limits.connections,
            "sessions" => &mut limits.sessions,
            "early_streams" => &mut limits.early_streams,
            "calls" => &mut limits.calls,
            "stream" => &mut limits.stream,
            "unread" => &mut limits.unread,
            "inbox" => &mut limits.inbox,
            "remembered" => &mut limits.remembered,
            _ => return Err(format!("no limit {name}")),
        };
        *place = usize::try_from(value.as_u64().ok_or("no number")?).map_err(|error| error.to_string())?;
    }
    for (name, value) in value["times"].as_object().into_iter().flatten() {
        let times = &mut options.times;
        let place = match name.as_str() {
            "keep_alive" => &mut times.keep_alive,
            "idle" => &mut times.idle,
            "body" => &mut times.body,
            "initialize" => &mut times.initialize,
            "stall" => &mut times.stall,
            "replay" => &mut times.replay,
            "remember" => &mut times.remember,
            _ => return Err(format!("no time {name}")),
        };
        *place = value.as_u64().ok_or("no number")?;
    }
    Ok(options)
}

fn response(response: &Response) -> Value {
    let headers: Map<String, Value> =
        response.headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone().into())).collect();
    let body = if response.body.is_empty() { Value::Null } else { value_of(&response.body) };
    json!({"status": response.status, "headers": headers, "body": body, "rule": body["error"]["data"]["rule"]})
}

fn closed(why: Closed) -> &'static str {
    match why {
        Closed::Client => "client",
        Closed::Host => "host",
        Closed::NotInitialized => "not-initialized",
        Closed::Idle => "idle",
        Closed::Stalled => "stalled",
        Closed::Protocol => "protocol",
        _ => "other",
    }
}

impl Run {
    fn key(&self, number: &Value) -> Result<ConnectionKey, String> {
        let at = number.as_u64().and_then(|number| usize::try_from(number).ok()).and_then(|at| at.checked_sub(1));
        at.and_then(|at| self.keys.get(at)).copied().ok_or_else(|| format!("no connection {number}"))
    }

    fn report(&self, event: &str, report: &Report) -> Value {
        let connection = report.connection.and_then(|key| self.numbers.get(&key));
        json!({"event": event, "rule": report.rule.as_str(), "status": report.status, "connection": connection})
    }

    fn event(&mut self, event: Event) -> Result<Value, String> {
        Ok(match event {
            Event::Opened { connection } => {
                self.keys.push(connection);
                self.numbers.insert(connection, self.keys.len());
                json!({"event": "opened", "connection": self.keys.len()})
            }
            Event::Message { connection, json } => {
                json!({"event": "message", "connection": self.numbers[&connection], "json": value_of(&json)})
            }
            Event::Closed { connection, why } => {
                json!({"event": "closed", "connection": self.numbers[&connection], "why": closed(why)})
            }
            Event::Respond { exchange, response: sent } => {
                let mut value = response(&sent);
                value["event"] = "respond".into();
                value["exchange"] = exchange.into();
                value
            }
            Event::Ready { exchange } => json!({"event": "ready", "exchange": exchange}),
            Event::Finish { exchange } => json!({"event": "finish", "exchange": exchange}),
            Event::Drained { connection } => json!({"event": "drained", "connection": self.numbers[&connection]}),
            Event::Violation(report) => self.report("violation", &report),
            Event::Advice(report) => self.report("advice", &report),
            _ => return Err("an unknown event".into()),
        })
    }

    fn events(&mut self) -> Result<Vec<Value>, String> {
        let mut all = Vec::new();
        while let Some(event) = self.server.poll_event() {
            all.push(self.event(event)?);
        }
        Ok(all)
    }

    fn step(&mut self, step: &Value) -> Outcome {
        let members = step.as_object().ok_or("a step is an object")?;
        let has = |name: &str| members.contains_key(name);
        let number = |name: &str| step[name].as_u64().ok_or_else(|| format!("{name} is no number"));
        if has("request") {
            self.request(step)
        } else if has("expect") {
            only(step, &["expect"])?;
            let (found, expected) = (self.events()?, step["expect"].as_array().ok_or("no list")?);
            if found.len() != expected.len() {
                return Err(format!("the events are {}, expected {}", Value::Array(found), step["expect"]));
            }
            found.iter().zip(expected).try_for_each(|(found, expected)| same("an event", found, expected))
        } else if has("send") {
            only(step, &["send", "to", "gives", "misuse"])?;
            let key = self.key(&step["to"])?;
            let found = match self.server.send(key, &text_of(&step["send"])) {
                Ok(()) => Value::Null,
                Err(SendError::Full) => "full".into(),
                Err(SendError::Closed) => "closed".into(),
                Err(SendError::Misuse { rule, .. }) => {
                    return same("the misuse", &json!({"rule": rule.as_str()}), &step["misuse"])
                }
                Err(_) => "other".into(),
            };
            same("the misuse", &Value::Null, &step["misuse"])?;
            same("what send returns", &found, &step["gives"])
        } else if has("stream") {
            only(step, &["stream", "messages", "bytes", "take"])?;
            self.stream(number("stream")?, step)
        } else if has("text") {
            only(step, &["text", "on"])?;
            self.server.text(number("on")?, &text_of(&step["text"]));
            Ok(())
        } else if has("frames") {
            only(step, &["frames", "are"])?;
            let exchange = number("frames")?;
            let frames = std::iter::from_fn(|| self.server.frame(exchange)).map(|frame| match frame {
                Frame::Text(text) => value_of(&text),
                Frame::Ping => "ping".into(),
                Frame::Close(code, _) => json!({"close": CloseCode::number(code)}),
            });
            let frames: Vec<Value> = frames.collect();
            let errors =
                |value: &Value| json!({"error": value["error"]["code"], "rule": value["error"]["data"]["rule"]});
            let wanted = step["are"].as_array().ok_or("no list")?;
            let shown =
                frames.iter().zip(wanted).map(
                    |(frame, wanted)| {
                        if wanted["rule"].is_string() {
                            errors(frame)
                        } else {
                            frame.clone()
                        }
                    },
                );
            let shown: Vec<Value> = shown.chain(frames.iter().skip(wanted.len()).cloned()).collect();
            same("the list of frames", &Value::Array(shown), &step["are"])
        } else {
            self.small_step(step, &number)
        }
    }

    fn small_step(&mut self, step: &Value, number: &dyn Fn(&str) -> Result<u64, String>) -> Outcome {
        only(
            step,
            &["closed", "close", "binary", "pong", "pause", "paused", "time", "wakes", "hungry", "is", "entropy"],
        )?;
        let (name, value) = step.as_object().and_then(|all| all.iter().next()).ok_or("an empty step")?;
        match name.as_str() {
            "closed" => self.server.closed(number("closed")?),
            "close" => {
                let key = self.key(value)?;
                self.server.close(key);
            }
            "binary" => self.server.binary(number("binary")?),
            "pong" => self.server.pong(number("pong")?),
            "pause" | "paused" => {
                let key = self.key(&step["pause"])?;
                self.server.pause(key, step["paused"].as_bool().ok_or("paused is no boolean")?);
            }
            "time" => self.server.handle_timeout(number("time")?),
            "wakes" => return same("the next time", &json!(self.server.poll_timeout()), value),
            "hungry" | "is" => {
                return same("hunger", &self.server.is_hungry(number("hungry")?).into(), &step["is"]);
            }
            // An option to have none left.
            "entropy" => {
                let options = self.server.options().clone();
                self.server = Server::new(options);
            }
            _ => return Err(format!("no step {name}")),
        }
        Ok(())
    }

    fn request(&mut self, step: &Value) -> Outcome {
        only(step, &["request", "method", "target", "headers", "body", "body_text", "bare", "open", "gives"])?;
        let exchange = step["request"].as_u64().ok_or("no number")?;
        let method = step["method"].as_str().unwrap_or("POST");
        let mut list: Vec<(String, String)> = Vec::new();
        if step["bare"] != true {
            list.push(("host".into(), "localhost:7332".into()));
            let usual = match method {
                "POST" => Some(("content-type", "application/json")),
                "GET" => Some(("accept", "text/event-stream")),
                _ => None,
            };
            list.extend(usual.map(|(name, value)| (name.to_owned(), value.to_owned())));
        }
        for (name, value) in step["headers"].as_object().into_iter().flatten() {
            list.retain(|(known, _)| known != name);
            let values = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
            list.extend(values.iter().filter_map(Value::as_str).map(|value| (name.clone(), value.to_owned())));
        }
        let headers: Vec<Header> = list.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        let target = step["target"].as_str().unwrap_or("/acp");
        let mut found = self.server.request(exchange, &Request::new(method, target, &headers));
        if matches!(found, Step::Body { .. }) && step["open"] != true {
            let body = step["body_text"].as_str().map_or_else(|| text_of(&step["body"]), str::to_owned);
            let mut rest = body.as_bytes();
            while let Step::Body { .. } = found {
                let (piece, after) = rest.split_at(self.size.min(rest.len()));
                found = self.server.body(exchange, piece, after.is_empty());
                rest = after;
            }
        }
        let found = match found {
            Step::Respond(sent) => response(&sent),
            Step::Body { .. } => "body".into(),
            Step::Wait => "wait".into(),
            Step::Stream(sent) => json!({"stream": sent.status, "headers": response(&sent)["headers"]}),
            Step::Upgrade(sent) => json!({"upgrade": sent.status, "headers": response(&sent)["headers"]}),
        };
        same("the response", &found, &step["gives"])
    }

    /// Reads a stream in pieces, or a part of it.
    fn stream(&mut self, exchange: u64, step: &Value) -> Outcome {
        let most = step["take"].as_u64().map_or(usize::MAX, |take| usize::try_from(take).unwrap_or(usize::MAX));
        let mut bytes = Vec::new();
        while bytes.len() < most && !self.server.transmit(exchange).is_empty() {
            let waits = self.server.transmit(exchange);
            let piece = self.size.min(waits.len()).min(most - bytes.len());
            bytes.extend_from_slice(&waits[..piece]);
            self.server.consume(exchange, piece);
        }
        let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
        if let Some(expected) = step["bytes"].as_str() {
            return same("the stream", &text.into(), &expected.into());
        }
        let events = text.split_terminator("\n\n").map(|event| match event.strip_prefix("data: ") {
            Some(json) => value_of(json),
            None => event.into(),
        });
        same("the list of messages", &events.collect(), &step["messages"])
    }
}
