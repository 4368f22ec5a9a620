//! An event as JSON text: its members, and the text that it carries, which is worth reading only on demand. Notifications
//! have a way of their own (`shared`).

use libacp::connection::{Consequence, Event, Outcome, Violation};
use libacp::json::Writer;
use libacp::Id;

/// The members of an event, and the JSON text of its params, result, or error's data.
pub(crate) fn parts(event: &Event) -> (String, Option<&str>) {
    let mut out = Writer::new();
    out.begin_object().key("type").string(event.name());
    let text = match event {
        Event::Request(request) => {
            call(&mut out, &request.id, request.serial, &request.method, request.session.as_deref());
            Some(request.params())
        }
        Event::Response(response) | Event::LateResponse(response) => {
            call(&mut out, &response.id, response.serial, &response.method, response.session.as_deref());
            outcome(&mut out, &response.outcome)
        }
        Event::Cancel(cancel) => {
            call(&mut out, &cancel.id, cancel.serial, &cancel.method, cancel.session.as_deref());
            None
        }
        Event::Answered(answered) => {
            call(&mut out, &answered.id, answered.serial, &answered.method, answered.session.as_deref());
            out.key("rule").string(answered.rule.as_str());
            None
        }
        Event::Violation(violation) => {
            write_violation(&mut out, violation);
            None
        }
        Event::Advice(advice) => {
            out.key("rule").string(advice.rule.as_str());
            out.key("message").string(&advice.message);
            out.key("pointer").string(&advice.pointer);
            out.key("method").string(&advice.method);
            if let Some(id) = &advice.id {
                out.key("id").json(&id.to_json());
            }
            optional(&mut out, "session", advice.session.as_deref());
            None
        }
        Event::Closed(closed) => {
            out.key("reason").string(closed.reason.name());
            out.key("unanswered").begin_array();
            for id in &closed.unanswered {
                out.json(&id.to_json());
            }
            out.end_array().key("terminals").json(&crate::state::terminals(&closed.terminals));
            None
        }
        // An event that this package does not know yet has its name.
        _ => None,
    };
    out.end_object();
    (out.finish().unwrap_or_default(), text)
}

fn call(out: &mut Writer, id: &Id, serial: u64, method: &str, session: Option<&str>) {
    out.key("id").json(&id.to_json());
    out.key("serial").unsigned(serial);
    out.key("method").string(method);
    optional(out, "session", session);
}

fn optional(out: &mut Writer, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        out.key(name).string(value);
    }
}

fn outcome<'a>(out: &mut Writer, outcome: &'a Outcome) -> Option<&'a str> {
    out.key("outcome").string(outcome.name());
    let Outcome::Error(error) = outcome else { return outcome.result() };
    out.key("error").begin_object();
    out.key("code").integer(error.code.0.into());
    out.key("message").string(&error.message);
    out.end_object();
    error.data.as_deref()
}

fn write_violation(out: &mut Writer, violation: &Violation) {
    out.key("rule").string(violation.rule.as_str());
    let severity = violation.rule.rule().severity;
    out.key("severity").string(severity.name());
    out.key("message").string(&violation.message);
    out.key("pointer").string(&violation.pointer);
    optional(out, "method", violation.method.as_deref());
    if let Some(id) = &violation.id {
        out.key("id").json(&id.to_json());
    }
    optional(out, "session", violation.session.as_deref());
    out.key("frame").unsigned(violation.frame);
    out.key("excerpt").string(&violation.excerpt);
    out.key("consequence").string(violation.consequence.name());
    if let Consequence::Refused(code) = violation.consequence {
        out.key("code").integer(code.0.into());
    }
}
