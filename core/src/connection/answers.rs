//! The peer's answers. Each ends the one request of the host that its id names, or is reported and dropped.

use super::body::{revalidate, Checked};
use super::event::{Json, Outcome, ResultText};
use super::judge::{Form, Verdict};
use super::outgoing::CANCELLED_TURN;
use super::parse::Message;
use super::report::{Breach, Subject};
use super::{Connection, Consequence};
use crate::engine::questions::question;
use crate::engine::{key_of, MessageKind, OpenRequest, RuleMessage};
use crate::json;
use crate::jsonrpc::{ErrorCode, Id, IdMember, PeerError, Version};
use crate::rules::{RuleId, Way};
use crate::validation::table::{self, Field, Type};
use crate::validation::Part;

impl Connection {
    pub(super) fn answer(&mut self, text: String, message: &mut Message, subject: &Subject) {
        let id = match &message.id {
            IdMember::Id(id) if *id != Id::Null => id.clone(),
            // What the peer could not read has no id that it could name (RPC-14).
            _ => return self.answer_to_nothing(&text, message, subject),
        };
        let Some(mut request) = self.state.outbound.remove(&id).or_else(|| self.take_late(&id)) else {
            let (rule, message) = if self.sending.has_used(&id) {
                (id!("RPC-16"), "a second answer")
            } else {
                (id!("RPC-13"), "an answer that matches no open request")
            };
            return self.drop_message(subject, Breach::new(rule, message));
        };
        self.state.answered = self.state.answered.max(request.serial);
        let (method, session) = (Some(request.method.clone()), request.session.clone());
        let subject = &Subject { method, session, ..subject.clone() };
        if message.version != Version::Right {
            let breach = Breach::new(id!("RPC-01"), "no jsonrpc member that is \"2.0\"");
            self.report(subject, breach, Consequence::Delivered);
        }
        let bad = if let Some(name) = message.twice.filter(|_| id!("RPC-02").is_on(Way::Receive)) {
            Some(Breach::new(id!("RPC-02"), format!("the member {name} twice")))
        } else if message.result.is_some() && message.error.is_some() && id!("RPC-03").is_on(Way::Receive) {
            Some(Breach::new(id!("RPC-03"), "both a result and an error"))
        } else {
            None
        };
        if let Some(breach) = bad {
            return self.unusable(request, subject, breach);
        }
        if let Some(place) = message.error.clone() {
            let mut checked = std::mem::take(&mut message.checked);
            self.report_all(subject, &checked.problems);
            let error = checked.json(text, place);
            return match read_error(error.as_str()) {
                Ok(told) => self.failed(request, subject, told, error.as_str()),
                Err(breach) => self.unusable(request, subject, breach),
            };
        }
        let Some(range) = message.result.clone() else { return };
        if request.row.is_some_and(|row| row.phase == table::Phase::Start) {
            if !self.lifecycle.is_ready() {
                return self.on_initialize_response(&text[range], request, subject);
            }
            // Another `initialize`, which was answered late or sent after that time-out, has opened the connection.
            request.row = self.state.method(&request.method);
        }
        self.result(text, std::mem::take(&mut message.checked), request, subject, range);
    }

    fn result(
        &mut self,
        text: String,
        mut checked: Checked,
        request: OpenRequest,
        subject: &Subject,
        range: std::ops::Range<usize>,
    ) {
        if let Some(row) = request.row {
            let empty = matches!(self.state.tables.types[usize::from(row.result)], Type::Object { fields } if fields.iter().all(|f| !f.has(Field::REQUIRED)));
            let empty = row.null_result || empty;
            if &text[range.clone()] == "null" && empty && id!("RPC-31").is_on(Way::Track) {
                // Official decoders read null as an empty result, and agents send it (RPC-31).
                let outcome = Outcome::Result(ResultText(Json::whole("{}".into())));
                return self.end_request(request, outcome);
            }
            // `result` may have come before `id`.
            if !checked.walked {
                match revalidate(&self.state, &text, &range, row.result, Part::Response) {
                    Ok(again) => checked = again,
                    Err(error) => {
                        return self.unusable(request, subject, Breach::new(id!("RPC-21"), error.to_string()))
                    }
                }
            }
        }
        if let Some(problem) = checked.invalid.take() {
            return self.unusable(request, subject, problem.as_ref().into());
        }
        let problems = std::mem::take(&mut checked.problems);
        let mut result = checked.json(text, range);
        let field_index = Some((result.around(), &checked.field_index));
        let said = RuleMessage {
            field_index,
            ..RuleMessage::end(MessageKind::Answer, &request, &self.state, Some(result.as_str()))
        };
        match self.judge_incoming(Form::Answer, &said, subject) {
            Verdict::Stop => return self.end_request(request, Outcome::Invalid),
            Verdict::Deliver => {}
            Verdict::Without(places) => result = result.without(&places),
        }
        self.report_all(subject, &problems);
        let keyed = Some(request.clone()).filter(|request| key_of(request).is_some());
        self.end_request(request, Outcome::Result(ResultText(result)));
        if let Some(answered) = keyed {
            self.settle_earlier(&answered);
        }
    }

    /// The peer answered with an error. One that only says that the work was cancelled becomes the result that says the same,
    /// so that hosts have one case to handle.
    fn failed(&mut self, request: OpenRequest, subject: &Subject, error: PeerError, text: &str) {
        let said = RuleMessage::end(MessageKind::Error, &request, &self.state, Some(text));
        self.judge_incoming(Form::Error, &said, subject);
        self.track_error(&request, Some(text));
        let cancelled = error.code == ErrorCode::REQUEST_CANCELLED;
        let cancelled_prompt =
            cancelled && id!("CANCEL-18").is_on(Way::Track) && self.state.tables.dialect.answer_ends_turn();
        let session = self.state.sessions.of(&request).and_then(|id| self.state.sessions.get(id));
        let stopped = request.cancelled || session.is_some_and(|session| session.has_cancelled(&request));
        let result = match &*request.method {
            "session/prompt" if cancelled_prompt && stopped => CANCELLED_TURN,
            // Closed already, which is all that was asked for.
            "session/close" if error.code == ErrorCode::RESOURCE_NOT_FOUND && self.follows(id!("SESS-81")) => "{}",
            method => match question(method).filter(|question| cancelled && question.given_up.is_on(Way::Track)) {
                Some(question) => {
                    if let Some(rule) = question.no_error {
                        let breach = Breach::new(rule, "an error; use a result to say that nothing was chosen");
                        self.report(subject, breach, Consequence::Delivered);
                    }
                    question.auto_answer
                }
                None => return self.end_request(request, Outcome::Error(error)),
            },
        };
        self.end_request(request, Outcome::Result(ResultText(Json::whole(result.into()))));
    }

    /// Whether a rule is of the agreed version and followed.
    pub(super) fn follows(&self, rule: RuleId) -> bool {
        rule.rule().versions.contains(self.state.tables.version) && rule.is_on(Way::Track)
    }

    /// The request ends all the same, so that nobody waits for ever.
    pub(super) fn unusable(&mut self, request: OpenRequest, subject: &Subject, breach: Breach) {
        self.drop_message(subject, breach);
        self.end_request(request, Outcome::Invalid);
    }

    fn answer_to_nothing(&mut self, text: &str, message: &Message, subject: &Subject) {
        let error = message.error.clone().map(|place| read_error(&text[place]));
        let breach = match (error, &message.id) {
            (Some(Ok(error)), _) => {
                Breach::new(id!("RPC-14"), format!("the peer reports that it could not read a message: {}", error.code))
            }
            // Only what has no id could be answered like that: a notification.
            (None, IdMember::Absent | IdMember::Id(_)) => Breach::new(id!("RPC-12"), "a result that names no request"),
            _ => Breach::new(id!("RPC-13"), "an answer without the id of a request"),
        };
        self.drop_message(subject, breach);
    }
}

fn read_error(text: &str) -> Result<PeerError, Breach> {
    let form = || Breach::new(id!("RPC-04"), "an error without an integer code and a string message");
    let members = json::members(text);
    // What is checked here is what is delivered, but the peer may have meant the other one.
    let once = |name: &'static str| {
        let mut found = members.iter().filter(|(known, _)| known == name).map(|(_, value)| *value);
        let first = found.next();
        let differs = found.any(|value| Some(value) != first);
        if differs {
            return Err(Breach::new(id!("RPC-04"), format!("an error with the member {name} twice")));
        }
        Ok(first)
    };
    let data =
        |text: Option<&str>| text.filter(|data| *data != "null" && id!("RPC-35").is_on(Way::Track)).map(str::to_owned);
    if !id!("RPC-04").is_on(Way::Receive) || !id!("RPC-24").is_on(Way::Receive) {
        let code = json::pointer(text, "/code").and_then(|code| code.parse().ok()).unwrap_or_default();
        let message = json::pointer(text, "/message").and_then(json::unescape).unwrap_or_default().into_owned();
        return Ok(PeerError { code: ErrorCode(code), message, data: data(json::pointer(text, "/data")) });
    }
    let code = once("code")?.ok_or_else(form)?;
    let message = once("message")?.and_then(json::unescape).ok_or_else(form)?.into_owned();
    let whole = code.trim_start_matches('-').bytes().all(|b| b.is_ascii_digit());
    let code = code.parse().map_err(|_| {
        let wide = Breach::new(id!("RPC-24"), "an error code of more than 32 bits");
        if whole {
            wide
        } else {
            form()
        }
    })?;
    let data = data(once("data")?);
    Ok(PeerError { code: ErrorCode(code), message, data })
}
