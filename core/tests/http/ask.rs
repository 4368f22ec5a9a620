//! Replaying a scenario of a client.

use libacp::http::tolerance::{Choice, Tolerance};
use libacp::http::{
    Action, Client, ClientOptions, ClientSendError, CloseCode, ClosedWhy, Frame, Header, Outgoing, Transport,
};
use libacp::Id;
use serde_json::{json, Map, Value};

use crate::remote::{only, same, text_of, value_of, Outcome, Scenario};

/// The names of the choices in the vectors.
const CHOICES: [(&str, Choice); 3] =
    [("load-answer", Choice::LoadAnswer), ("id-in-body", Choice::IdInBody), ("any-status", Choice::AnyStatus)];

struct Run {
    client: Client,
    size: usize,
}

pub(crate) fn run(scenario: &Scenario, size: usize) -> Outcome {
    let mut run = Run { client: Client::new(options(&scenario.options)?, 1), size };
    for (at, step) in scenario.steps.iter().enumerate() {
        run.step(step).map_err(|why| format!("step {}: {why}", at + 1))?;
    }
    let left = run.actions();
    if left.is_empty() {
        Ok(())
    } else {
        Err(format!("left over: {}", Value::Array(left)))
    }
}

fn options(value: &Value) -> Result<ClientOptions, String> {
    let mut options = ClientOptions::default();
    let known =
        ["target", "host", "secure", "websocket", "reconnect", "resumable", "strict", "tolerates", "limits", "times"];
    only(value, &known)?;
    let flag = |name: &str, default: bool| value[name].as_bool().unwrap_or(default);
    if let Some(target) = value["target"].as_str() {
        options.target = target.into();
    }
    options.host = value["host"].as_str().unwrap_or_default().into();
    options.secure = flag("secure", false);
    if flag("websocket", false) {
        options.transport = Transport::WebSocket;
    }
    options.reconnect = flag("reconnect", true);
    options.resumable = flag("resumable", false);
    if flag("strict", false) {
        options.tolerance = Tolerance::strict();
    }
    for name in value["tolerates"].as_array().into_iter().flatten() {
        let choice = CHOICES.iter().find(|(known, _)| name == known).ok_or("no such choice")?;
        options.tolerance = options.tolerance.with(choice.1, true);
    }
    for (name, value) in value["limits"].as_object().into_iter().flatten() {
        let limits = &mut options.limits;
        let place = match name.as_str() {
            "message" => &mut limits.message,
            "outbox" => &mut limits.outbox,
            "calls" => &mut limits.calls,
            "sessions" => &mut limits.sessions,
            "streams" => &mut limits.streams,
            _ => return Err(format!("no limit {name}")),
        };
        *place = usize::try_from(value.as_u64().ok_or("no number")?).map_err(|error| error.to_string())?;
    }
    for (name, value) in value["times"].as_object().into_iter().flatten() {
        let times = &mut options.times;
        let place = match name.as_str() {
            "quiet" => &mut times.quiet,
            "replay" => &mut times.replay,
            "open" => &mut times.open,
            "response" => &mut times.response,
            "silence" => &mut times.silence,
            "doubt" => &mut times.doubt,
            "retry" => &mut times.retry,
            "longest_retry" => &mut times.longest_retry,
            "give_up" => &mut times.give_up,
            _ => return Err(format!("no time {name}")),
        };
        *place = value.as_u64().ok_or("no number")?;
    }
    Ok(options)
}

fn headers(list: &[(std::borrow::Cow<'static, str>, String)]) -> Value {
    Value::Object(list.iter().map(|(name, value)| (name.to_string(), value.clone().into())).collect::<Map<_, _>>())
}

fn ids(list: &[Id]) -> Value {
    list.iter().map(|id| value_of(&id.to_json())).collect()
}

fn request(request: &Outgoing) -> Value {
    let body = if request.body.is_empty() { Value::Null } else { value_of(&request.body) };
    json!({"event": "request", "exchange": request.exchange, "method": request.method, "target": request.target,
        "headers": headers(&request.headers), "body": body})
}

fn action(action: &Action) -> Value {
    match action {
        Action::Request(outgoing) => request(outgoing),
        Action::Connect { exchange, headers: list } => {
            json!({"event": "connect", "exchange": exchange, "headers": headers(list)})
        }
        Action::Frame { exchange, frame } => {
            let frame = match frame {
                Frame::Text(text) => value_of(text),
                Frame::Ping => "ping".into(),
                Frame::Close(code, _) => json!({"close": CloseCode::number(*code)}),
            };
            json!({"event": "frame", "exchange": exchange, "frame": frame})
        }
        Action::Abort { exchange } => json!({"event": "abort", "exchange": exchange}),
        Action::Message { json, replayed } => {
            json!({"event": "message", "json": value_of(json), "replayed": replayed})
        }
        Action::Connected { id } => json!({"event": "connected", "id": id}),
        Action::Lost(lost) => json!({"event": "lost", "calls": ids(&lost.calls), "questions": ids(&lost.questions),
            "sessions": lost.sessions}),
        Action::Retrying { at } => json!({"event": "retrying", "at": at}),
        Action::Attached { session, replayed } => {
            json!({"event": "attached", "session": session, "replayed": replayed})
        }
        Action::Detached { session } => json!({"event": "detached", "session": session}),
        Action::Gap { session } => json!({"event": "gap", "session": session}),
        Action::Unauthorized { status, challenge } => {
            json!({"event": "unauthorized", "status": status, "challenge": challenge})
        }
        Action::Refused { status, method } => json!({"event": "refused", "status": status, "method": method}),
        Action::Violation(report) => {
            json!({"event": "violation", "rule": report.rule.as_str(), "session": report.session})
        }
        Action::Closed(why) => {
            let (why, status) = match why {
                ClosedWhy::Host => ("host", None),
                ClosedWhy::NotInitialized => ("not-initialized", None),
                ClosedWhy::NotServed { status } => ("not-served", Some(status)),
                ClosedWhy::Refused { status } => ("refused", Some(status)),
                ClosedWhy::Unreachable => ("unreachable", None),
                ClosedWhy::Protocol => ("protocol", None),
                _ => ("other", None),
            };
            json!({"event": "closed", "why": why, "status": status})
        }
        _ => "unknown".into(),
    }
}

impl Run {
    fn actions(&mut self) -> Vec<Value> {
        std::iter::from_fn(|| self.client.poll_action()).map(|it| action(&it)).collect()
    }

    fn step(&mut self, step: &Value) -> Outcome {
        let members = step.as_object().ok_or("a step is an object")?;
        let has = |name: &str| members.contains_key(name);
        let number = |name: &str| step[name].as_u64().ok_or_else(|| format!("{name} is no number"));
        if has("expect") {
            only(step, &["expect"])?;
            let found = self.actions();
            if step["expect"] == "any" {
                return Ok(());
            }
            let expected = step["expect"].as_array().ok_or("no list")?;
            if found.len() != expected.len() {
                return Err(format!("the actions are {}, expected {}", Value::Array(found), step["expect"]));
            }
            return found.iter().zip(expected).try_for_each(|(found, expected)| same("an action", found, expected));
        }
        if has("send") {
            only(step, &["send", "gives", "misuse"])?;
            let found = match self.client.send(&text_of(&step["send"])) {
                Ok(()) => Value::Null,
                Err(ClientSendError::Full) => "full".into(),
                Err(ClientSendError::Closed) => "closed".into(),
                Err(ClientSendError::Misuse { rule, .. }) => {
                    return same("the misuse", &json!({"rule": rule.as_str()}), &step["misuse"]);
                }
                Err(_) => "other".into(),
            };
            same("the misuse", &Value::Null, &step["misuse"])?;
            return same("what send returns", &found, &step["gives"]);
        }
        only(
            step,
            &[
                "response",
                "status",
                "headers",
                "data",
                "events",
                "json",
                "raw",
                "end",
                "failed",
                "sent",
                "text",
                "on",
                "binary",
                "time",
                "wakes",
                "close",
                "retry",
                "set_header",
            ],
        )?;
        if has("response") {
            let mut list: Vec<(String, String)> = Vec::new();
            for (name, value) in step["headers"].as_object().into_iter().flatten() {
                let values = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
                list.extend(values.iter().filter_map(Value::as_str).map(|value| (name.clone(), value.to_owned())));
            }
            let headers: Vec<Header> = list.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
            let status = u16::try_from(number("status")?).map_err(|error| error.to_string())?;
            self.client.response(number("response")?, status, &headers);
        } else if has("data") {
            let mut text = step["raw"].as_str().unwrap_or_default().to_owned();
            for event in step["events"].as_array().into_iter().flatten() {
                text.extend(["data: ", &text_of(event), "\n\n"]);
            }
            if has("json") {
                text += &text_of(&step["json"]);
            }
            for piece in text.as_bytes().chunks(self.size.min(text.len()).max(1)) {
                self.client.data(number("data")?, piece);
            }
        } else if has("end") {
            self.client.end(number("end")?);
        } else if has("failed") {
            self.client.failed(number("failed")?, step["sent"].as_bool().ok_or("sent is no boolean")?);
        } else if has("text") {
            self.client.text(number("on")?, &text_of(&step["text"]));
        } else if has("binary") {
            self.client.binary(number("binary")?);
        } else if has("time") {
            self.client.handle_timeout(number("time")?);
        } else if has("wakes") {
            return same("the next time", &json!(self.client.poll_timeout()), &step["wakes"]);
        } else if has("close") {
            self.client.close();
        } else if has("retry") {
            self.client.retry();
        } else if has("set_header") {
            for (name, value) in step["set_header"].as_object().into_iter().flatten() {
                if !self.client.set_header(name, value.as_str().unwrap_or_default()) {
                    return Err("no such header".into());
                }
            }
        } else {
            return Err(format!("no such step: {step}"));
        }
        Ok(())
    }
}
