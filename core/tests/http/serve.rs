//! Replaying a scenario of a server.

use std::collections::HashMap;

use libacp::http::{CloseCode, ConnectionKey, Event, Frame, Header, Request, SendError, Server, ServerOptions, Step};
use serde_json::{json, Map, Value};

use crate::remote::{only, pairs, same, text_of, value_of, Outcome, Scenario};

struct Run {
    server: Server,
    size: usize,
    /// Connections in the order in which they were opened.
    keys: Vec<ConnectionKey>,
    numbers: HashMap<u64, usize>,
}

pub(crate) fn run(scenario: &Scenario, size: usize) -> Outcome {
    let mut server =
        Server::new(ServerOptions::from_json(&scenario.options.to_string()).map_err(|error| error.to_string())?);
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

/// A response as the vectors have it: headers by name, the body as JSON, and the rule that an error names.
fn response(sent: &Value) -> Value {
    let headers: Map<String, Value> = pairs(&sent["headers"]);
    let body = sent["body"].as_str().filter(|body| !body.is_empty()).map_or(Value::Null, value_of);
    json!({"status": sent["status"], "headers": headers, "body": body, "rule": body["error"]["data"]["rule"]})
}

impl Run {
    fn key(&self, number: &Value) -> Result<ConnectionKey, String> {
        let at = number.as_u64().and_then(|number| usize::try_from(number).ok()).and_then(|at| at.checked_sub(1));
        at.and_then(|at| self.keys.get(at)).copied().ok_or_else(|| format!("no connection {number}"))
    }

    /// An event as the vectors have it.
    fn event(&mut self, event: &Event) -> Result<Value, String> {
        if let Event::Opened { connection } = event {
            self.keys.push(*connection);
            self.numbers.insert(connection.number(), self.keys.len());
        }
        let mut value = serde_json::to_value(event).map_err(|error| error.to_string())?;
        if let Some(connection) = value["connection"].as_u64() {
            value["connection"] = json!(self.numbers[&connection]);
        }
        if let Some(json) = value["json"].as_str() {
            value["json"] = value_of(json);
        }
        if value["event"] == "respond" {
            let (exchange, sent) = (value["exchange"].take(), response(&value["response"]));
            value = sent;
            value["event"] = "respond".into();
            value["exchange"] = exchange;
        }
        Ok(value)
    }

    fn events(&mut self) -> Result<Vec<Value>, String> {
        let mut all = Vec::new();
        while let Some(event) = self.server.poll_event() {
            all.push(self.event(&event)?);
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
            &[
                "closed", "close", "binary", "pong", "pause", "paused", "time", "wakes", "hungry", "is", "entropy",
                "fail", "why",
            ],
        )?;
        let (name, value) = step.as_object().and_then(|all| all.iter().next()).ok_or("an empty step")?;
        match name.as_str() {
            "closed" => self.server.closed(number("closed")?),
            "close" => {
                let key = self.key(value)?;
                self.server.close(key);
            }
            "fail" | "why" => {
                let key = self.key(&step["fail"])?;
                self.server.fail(key, step["why"].as_str().ok_or("why is no text")?);
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
        let told = serde_json::to_value(&found).map_err(|error| error.to_string())?;
        let found = match found {
            Step::Respond(_) => response(&told),
            Step::Body { .. } => "body".into(),
            Step::Wait => "wait".into(),
            Step::Stream(_) | Step::Upgrade(_) => {
                let step = told["step"].as_str().unwrap_or_default();
                Value::Object(
                    [
                        (step.to_owned(), told["status"].clone()),
                        ("headers".into(), Value::Object(pairs(&told["headers"]))),
                    ]
                    .into_iter()
                    .collect(),
                )
            }
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
