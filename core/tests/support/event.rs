//! Events as JSON, in the words of `tests/vectors/README.md`.

use libacp::connection::{Consequence, Event, Outcome};
use libacp::Id;
use serde_json::{json, Value};

/// Every member that the vectors' format has for an event of this kind; `null` where there is none. JSON of the peer's
/// stands there as its text alone, so that nothing is lost in reading it.
pub(crate) fn to_json(event: &Event) -> Value {
    let mut out = match event {
        Event::Request(request) => json!({
            "id": id(&request.id),
            "method": request.method,
            "session": request.session.as_deref(),
            "params_text": request.params(),
        }),
        Event::Notification(told) => json!({
            "method": told.method,
            "session": told.session.as_deref(),
            "update": told.update,
            "timing": told.timing.name(),
            "params_text": told.params(),
        }),
        Event::Response(response) | Event::LateResponse(response) => {
            let mut out = json!({
                "id": id(&response.id),
                "method": response.method,
                "session": response.session.as_deref(),
                "outcome": response.outcome.name(),
                "result_text": response.outcome.result(),
            });
            if let Outcome::Error(error) = &response.outcome {
                out["code"] = json!(error.code.0);
                out["message"] = json!(error.message);
                out["data_text"] = json!(error.data.as_deref());
            }
            out
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
            "session": violation.session.as_deref(),
            "consequence": violation.consequence.name(),
            "code": if let Consequence::Refused(code) = violation.consequence { Some(code.0) } else { None },
            "frame": violation.frame,
            "excerpt": violation.excerpt,
            "message": violation.message,
        }),
        Event::Advice(advice) => json!({
            "rule": advice.rule,
            "message": advice.message,
            "pointer": advice.pointer,
            "method": advice.method,
            "id": advice.id.as_ref().map(id),
            "session": advice.session.as_deref(),
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
