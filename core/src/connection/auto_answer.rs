//! Automatic answers: requests of the peer that the connection answers on the host's behalf.
//!
//! When work is cancelled or a session ends, its open questions to the user have no point any more. The specification says
//! for each kind of question how it ends then (`engine::questions`).

use std::borrow::Cow;
use std::sync::Arc;

use super::notify::PreparedParams;
use super::outgoing::CANCELLED_TURN;
use super::{Advice, Answered, Connection, Event, Turn};
use crate::engine::questions::{question, AutoAnswerReason};
use crate::engine::OpenRequest;
use crate::json::{self, Writer};
use crate::jsonrpc::{write_result, ErrorCode, Id};
use crate::rules::{RuleId, Way};

impl Connection {
    /// Why nobody will answer what the session asks now, if nobody will.
    pub(super) fn auto_answer_reason(&self, session: &Arc<str>) -> Option<AutoAnswerReason> {
        if self.state.sessions.get(session)?.turn == Turn::Cancelling {
            return Some(AutoAnswerReason::Late);
        }
        let mine =
            |request: &&OpenRequest| request.method == "session/prompt" && request.session.as_ref() == Some(session);
        let mut prompts = self.state.outbound.iter().filter(mine).peekable();
        // Where a prompt is answered before the work on it begins, its request cannot stop that (CANCEL-19).
        let stopped = self.state.tables.dialect.answer_ends_turn() && prompts.peek().is_some();
        (stopped && prompts.all(|prompt| prompt.cancelled)).then_some(AutoAnswerReason::Prompt)
    }

    /// Whether this is a prompt that the client has cancelled by `session/cancel` or by ending its session.
    fn stopped_prompt(&self, request: &OpenRequest) -> bool {
        // A session that was closed meanwhile has cancelled its prompts.
        let session = self.state.sessions.of(request).and_then(|id| self.state.sessions.get(id));
        let stopped = || session.map_or(request.cancelled, |session| session.has_cancelled(request));
        request.method == "session/prompt" && self.state.tables.dialect.answer_ends_turn() && stopped()
    }

    /// What is sent in place of an error, where the specification has a result that says that work was cancelled.
    pub(super) fn cancelled_result(&self, request: &OpenRequest, code: ErrorCode) -> Option<&'static str> {
        if id!("TURN-15").is_on(Way::Track) && self.stopped_prompt(request) {
            return Some(CANCELLED_TURN);
        }
        let question = question(&request.method).filter(|question| question.given_up.is_on(Way::Track));
        question.filter(|_| code == ErrorCode::REQUEST_CANCELLED).map(|question| question.auto_answer)
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

    /// LIFE-15: the params of an idle with the one stop reason that it can have, where the client has cancelled the work
    /// that ends, and the advice that tells the host. As with a prompt's answer, the host need not have read of the cancel.
    pub(super) fn stopped_update(&self, prepared: &PreparedParams<'_>) -> Option<(String, Advice)> {
        let id = prepared.session.as_ref().filter(|_| prepared.update == Some("state_update"))?;
        let session = self.state.sessions.get(id).filter(|session| session.turn == Turn::Cancelling)?;
        let session = Some(session).filter(|session| session.work.is_stopped())?;
        let update = json::pointer(&prepared.text, "/update")?;
        let text = |pointer| json::pointer(update, pointer).and_then(json::unescape);
        let reason = text("/stopReason");
        let ends = text("/state")? == "idle" && session.work.would_end(reason.is_some());
        if !ends || reason.as_deref() == Some("cancelled") || !id!("LIFE-15").is_on(Way::Track) {
            return None;
        }
        let mut writer = Writer::new();
        writer.begin_object();
        for (name, value) in json::members(&prepared.text) {
            writer.key(&name);
            if name != "update" {
                writer.json(value);
                continue;
            }
            writer.begin_object();
            for (name, value) in json::members(value) {
                if name != "stopReason" && name != "error" {
                    writer.key(&name).json(value);
                }
            }
            writer.key("stopReason").string("cancelled").end_object();
        }
        writer.end_object();
        let advice = Advice {
            rule: id!("LIFE-15"),
            message: "the client has cancelled this work, so the stop reason cancelled was sent instead".into(),
            pointer: "/update/stopReason".into(),
            method: "session/update".into(),
            id: None,
            session: Some(Arc::clone(id)),
        };
        Some((writer.finish().ok()?, advice))
    }

    /// Answers the open questions of one session and its children (SESS-76), or of all (CANCEL-03).
    pub(super) fn auto_answer(&mut self, session: Option<&Arc<str>>, reason: AutoAnswerReason) {
        let asks = |request: &&OpenRequest| question(&request.method).is_some();
        let ids: Vec<Id> = match session.filter(|_| id!("CANCEL-22").is_on(Way::Track)) {
            Some(session) => {
                let children = Some(session).filter(|_| id!("SESS-76").is_on(Way::Track));
                let known = &self.state.sessions;
                let all = reason.is_an_end();
                let below = |of: &Arc<str>| if all { known.below(of) } else { known.below_in_foreground(of) };
                let mut sessions = children.map(below).unwrap_or_default();
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
            self.auto_answer_one(&id, reason);
        }
    }

    /// Answers one request, if it is a question; whether it has. A cancel is about the foreground: what goes on in the
    /// background goes on asking (CANCEL-24).
    pub(super) fn auto_answer_one(&mut self, id: &Id, reason: AutoAnswerReason) -> bool {
        if self.observes {
            return false;
        }
        let Some(request) = self.state.inbound.get(id) else { return false };
        let question = question(&request.method);
        let session = self.state.sessions.of(request).and_then(|id| self.state.sessions.get(id));
        let goes_on = session.is_some_and(|session| session.work.background.asks(request));
        if goes_on && !reason.is_an_end() && reason != AutoAnswerReason::Withdrawn {
            return false;
        }
        let follows = |rule: RuleId| self.state.has_rule(rule) && rule.is_on(Way::Track);
        let Some(question) = question.filter(|question| follows(question.rules[reason as usize])) else {
            return false;
        };
        let Some(request) = self.state.inbound.remove(id) else { return false };
        self.reply_to(id, &write_result(id, Cow::Borrowed(question.auto_answer)));
        self.track_answer(&request, Some(question.auto_answer));
        self.events.push(Event::Answered(Answered {
            id: request.id,
            serial: request.serial,
            method: request.method,
            session: request.session,
            rule: question.rules[reason as usize],
        }));
        true
    }
}
