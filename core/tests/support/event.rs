//! Events as JSON, in the words of `tests/vectors/README.md`.

use libacp::connection::{Consequence, Event, Outcome};
use libacp::Id;
use serde_json::{json, Map, Value};

/// Every member that the vectors' format has for an event of this kind; `null` where there is none.
pub(crate) fn to_json(event: &Event) -> Value {
    let mut out = match event {
        Event::Request(request) => with_text(
            "params",
            request.params(),
            json!({"id": id(&request.id), "method": request.method, "session": request.session.as_deref()}),
        ),
        Event::Notification(told) => with_text(
            "params",
            told.params(),
            json!({
                "method": told.method,
                "session": told.session.as_deref(),
                "update": told.update,
                "timing": told.timing.name(),
            }),
        ),
        Event::Response(response) => {
            let mut out = json!({
                "id": id(&response.id),
                "method": response.method,
                "session": response.session.as_deref(),
                "outcome": response.outcome.name(),
            });
            if let Outcome::Error(error) = &response.outcome {
                out["code"] = json!(error.code.0);
                out["message"] = json!(error.message);
                out["data"] = error.data.as_deref().map_or(Value::Null, parse);
            }
            match response.outcome.result() {
                Some(text) => with_text("result", text, out),
                None => out,
            }
        }
        Event::Cancel(cancel) => {
            json!({"id": id(&cancel.id), "method": cancel.method, "session": cancel.session.as_deref()})
        }
        Event::Answered(answered) => json!({
            "id": id(&answered.id),
            "method": answered.method,
            "session": answered.session.as_deref(),
            "rule": answered.rule,
        }),
        Event::Violation(violation) => json!({
            "rule": violation.rule,
            "pointer": violation.pointer,
            "method": violation.method,
            "id": violation.id.as_ref().map(id),
            "consequence": violation.consequence.name(),
            "code": if let Consequence::Refused(code) = violation.consequence { Some(code.0) } else { None },
            "frame": violation.frame,
            "excerpt": violation.excerpt,
        }),
        Event::Advice(advice) => json!({
            "rule": advice.rule,
            "message": advice.message,
            "pointer": advice.pointer,
            "method": advice.method,
            "id": advice.id.as_ref().map(id),
        }),
        Event::Closed(closed) => json!({
            "reason": closed.reason.name(),
            "unanswered": closed.unanswered.iter().map(id).collect::<Vec<_>>(),
            "terminals": terminals(&closed.terminals),
        }),
        other => panic!("an event that the format does not know: {other:?}"),
    };
    out["event"] = json!(event.name());
    out
}

pub(crate) fn terminals(all: &[libacp::connection::TerminalRef]) -> Value {
    all.iter().map(|one| json!({"session": &*one.session, "terminal": &*one.terminal})).collect()
}

pub(crate) fn id(id: &Id) -> Value {
    json!(id.to_json())
}

fn with_text(name: &str, text: &str, mut out: Value) -> Value {
    out[name] = parse(text);
    out[format!("{name}_text")] = json!(text);
    out
}

/// What the core hands out is always JSON.
fn parse(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// The first member of `expected` that `actual` does not have; members that `expected` leaves out do not matter.
pub(crate) fn difference(expected: &Value, actual: &Value) -> Option<String> {
    let empty = Map::new();
    let expected = expected.as_object().unwrap_or(&empty);
    let differs = |(name, value): &(&String, &Value)| actual.get(name.as_str()).unwrap_or(&Value::Null) != *value;
    let (name, value) = expected.iter().find(differs)?;
    Some(format!("{name}: expected {value}, found {}", actual.get(name).unwrap_or(&Value::Null)))
}
