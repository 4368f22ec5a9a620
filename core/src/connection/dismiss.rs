//! Requests of the peer's that nobody will answer any more: the connection answers them itself.
//!
//! The specification says of each of [`QUESTIONS`] how it ends when its user is no longer asked. A further method of that
//! kind is a further row.

use std::borrow::Cow;
use std::sync::Arc;

use super::outgoing::CANCELLED_TURN;
use super::pending::OpenRequest;
use super::{Advice, Answered, Connection, Event, Turn};
use crate::json::{self, Writer};
use crate::jsonrpc::{write_result, ErrorCode, Id};
use crate::rules::{RuleId, Way};

/// A method that asks the client's user.
#[derive(Debug)]
pub(super) struct Question {
    method: &'static str,
    /// The result that says that the user was not asked to the end.
    pub(super) dismissed: &'static str,
    /// The rule of the answer, by [`Occasion`].
    rules: [RuleId; 5],
    /// The rule that the error for cancelled work breaks in place of that result, if it breaks one.
    pub(super) no_error: Option<RuleId>,
    /// The rule by which that error means that result.
    pub(super) given_up: RuleId,
}

/// Why nobody will answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occasion {
    /// The session's work is being cancelled.
    Cancel,
    /// It was asked after that.
    Late,
    /// The prompt that the session works on is being cancelled by its request.
    Prompt,
    /// The session is being closed.
    SessionEnd,
    /// The connection is being closed.
    End,
}

const QUESTIONS: &[Question] = &[
    Question {
        method: "session/request_permission",
        dismissed: r#"{"outcome":{"outcome":"cancelled"}}"#,
        rules: [id!("CANCEL-03"), id!("CANCEL-04"), id!("PERM-05"), id!("SESS-22"), id!("PERM-19")],
        no_error: Some(id!("CANCEL-17")),
        given_up: id!("PERM-05"),
    },
    Question {
        method: "elicitation/create",
        dismissed: r#"{"action":"cancel"}"#,
        rules: [id!("ELIC-29"), id!("ELIC-29"), id!("ELIC-29"), id!("ELIC-28"), id!("ELIC-28")],
        no_error: None,
        given_up: id!("ELIC-19"),
    },
];

/// The row of a method, if it asks the user.
pub(super) fn question(method: &str) -> Option<&'static Question> {
    QUESTIONS.iter().find(|question| question.method == method)
}

impl Connection {
    /// Why nobody will answer what the session asks now, if nobody will.
    pub(super) fn stops(&self, session: &Arc<str>) -> Option<Occasion> {
        if self.state.sessions.get(session)?.turn == Turn::Cancelling {
            return Some(Occasion::Late);
        }
        let mine =
            |request: &&OpenRequest| request.method == "session/prompt" && request.session.as_ref() == Some(session);
        let mut prompts = self.state.outbound.iter().filter(mine).peekable();
        // In version 2, a prompt is answered before the work on it begins, and its request cannot stop that (CANCEL-19).
        let stopped = self.state.tables.version == 1 && prompts.peek().is_some();
        (stopped && prompts.all(|prompt| prompt.cancelled)).then_some(Occasion::Prompt)
    }

    /// Whether this is a prompt that the client has cancelled by `session/cancel` or by ending its session.
    fn stopped_prompt(&self, request: &OpenRequest) -> bool {
        // A session that was closed meanwhile has cancelled its prompts.
        let session = self.state.sessions.of(request).and_then(|id| self.state.sessions.get(id));
        let stopped = || session.map_or(request.cancelled, |session| session.has_cancelled(request));
        request.method == "session/prompt" && self.state.tables.version == 1 && stopped()
    }

    /// What is sent in place of an error, where the specification has a result that says that work was cancelled.
    pub(super) fn cancelled_result(&self, request: &OpenRequest, code: ErrorCode) -> Option<&'static str> {
        if id!("TURN-15").is_on(Way::Track) && self.stopped_prompt(request) {
            return Some(CANCELLED_TURN);
        }
        let question = question(&request.method).filter(|question| question.given_up.is_on(Way::Track));
        question.filter(|_| code == ErrorCode::REQUEST_CANCELLED).map(|question| question.dismissed)
    }

    /// CANCEL-06: the result of a prompt that the client has cancelled, with the one stop reason that it can have, and the
    /// advice that tells the host. The host need not have read of the cancel when it ends the turn, so it is no misuse.
    pub(super) fn stopped_result<'a>(
        &self,
        request: &OpenRequest,
        result: Cow<'a, str>,
    ) -> (Cow<'a, str>, Option<Advice>) {
        let reason = json::pointer(&result, "/stopReason").and_then(json::unescape);
        let fits = reason.is_none_or(|reason| reason == "cancelled") || !id!("CANCEL-06").is_on(Way::Track);
        if fits || !self.stopped_prompt(request) {
            return (result, None);
        }
        let mut writer = Writer::new();
        writer.begin_object();
        for (name, value) in json::members(&result) {
            match &*name {
                "stopReason" => writer.key(&name).string("cancelled"),
                _ => writer.key(&name).json(value),
            };
        }
        writer.end_object();
        let advice = Advice {
            rule: id!("CANCEL-06"),
            message: "the client has cancelled this turn, so the stop reason cancelled was sent instead".into(),
            pointer: "/stopReason".into(),
            method: request.method.to_string(),
            id: Some(request.id.clone()),
            session: request.session.clone(),
        };
        (writer.finish().map_or(result, Cow::Owned), Some(advice))
    }

    /// Answers the open questions of one session and its children (SESS-76), or of all (CANCEL-03).
    pub(super) fn dismiss(&mut self, session: Option<&Arc<str>>, occasion: Occasion) {
        let asks = |request: &&OpenRequest| question(&request.method).is_some();
        let ids: Vec<Id> = match session.filter(|_| id!("CANCEL-22").is_on(Way::Track)) {
            Some(session) => {
                let children = Some(session).filter(|_| id!("SESS-76").is_on(Way::Track));
                let mut sessions = children.map(|of| self.state.sessions.below(of)).unwrap_or_default();
                sessions.push(Arc::clone(session));
                if let [only] = &*sessions {
                    self.state.inbound.of_session(only).filter(asks).map(|request| request.id.clone()).collect()
                } else {
                    let theirs =
                        |request: &&OpenRequest| request.session.as_ref().is_some_and(|of| sessions.contains(of));
                    let open = self.state.inbound.iter().filter(asks).filter(theirs);
                    open.map(|request| request.id.clone()).collect()
                }
            }
            None => self.state.inbound.iter().filter(asks).map(|request| request.id.clone()).collect(),
        };
        for id in ids {
            self.dismiss_one(&id, occasion);
        }
    }

    /// Answers one request, if it is a question.
    pub(super) fn dismiss_one(&mut self, id: &Id, occasion: Occasion) {
        let Some(question) = self.state.inbound.get(id).and_then(|request| question(&request.method)) else { return };
        let rule = question.rules[occasion as usize];
        if !rule.is_on(Way::Track) {
            return;
        }
        let Some(request) = self.state.inbound.remove(id) else { return };
        self.reply(&write_result(id, Cow::Borrowed(question.dismissed)));
        self.track_answer(&request, Some(question.dismissed));
        self.events.push(Event::Answered(Answered {
            id: request.id,
            serial: request.serial,
            method: request.method,
            session: request.session,
            rule,
        }));
    }
}
