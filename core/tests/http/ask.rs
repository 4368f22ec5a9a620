//! Replaying a scenario of a client.

use libacp::http::{Action, Client, ClientOptions, ClientSendError, CloseCode, Frame, Header};
use serde_json::{json, Value};

use crate::remote::{only, pairs, same, text_of, value_of, Outcome, Scenario};

struct Run {
    client: Client,
    size: usize,
}

pub(crate) fn run(scenario: &Scenario, size: usize) -> Outcome {
    let options = ClientOptions::from_json(&scenario.options.to_string()).map_err(|error| error.to_string())?;
    let mut run = Run { client: Client::new(options, 1), size };
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

/// An action as the vectors have it.
fn action(action: &Action) -> Value {
    let mut value = serde_json::to_value(action).expect("an action is JSON");
    if value["headers"].is_array() {
        value["headers"] = Value::Object(pairs(&value["headers"]));
    }
    for name in ["body", "json"] {
        if let Some(text) = value[name].as_str() {
            value[name] = if text.is_empty() { Value::Null } else { value_of(text) };
        }
    }
    if let Action::Frame { frame, .. } = action {
        value["frame"] = match frame {
            Frame::Text(text) => value_of(text),
            Frame::Ping => "ping".into(),
            Frame::Close(code, _) => json!({"close": CloseCode::number(*code)}),
        };
    }
    value
}

/// The members that steps have besides `expect` and `send`.
const STEPS: [&str; 20] = [
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
    "closed",
    "code",
    "time",
    "wakes",
    "close",
    "retry",
    "set_header",
];

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
        only(step, &STEPS)?;
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
        } else if has("closed") {
            let code = u16::try_from(number("code")?).map_err(|error| error.to_string())?;
            self.client.closed(number("closed")?, code);
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
