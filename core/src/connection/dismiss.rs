//! Requests of the peer's that nobody will answer any more: the connection answers them itself.
//!
//! The specification says of each of [`QUESTIONS`] how it ends when its user is no longer asked. A further method of that
//! kind is a further row.

use std::sync::Arc;

use super::pending::OpenRequest;
use super::{Answered, Connection, Event};
use crate::jsonrpc::{write_result, Id};
use crate::rules::{RuleId, Way};

/// A method that asks the client's user.
#[derive(Debug)]
pub(super) struct Question {
    method: &'static str,
    /// The result that says that the user was not asked to the end.
    pub(super) dismissed: &'static str,
    /// The rule of the answer, by [`Occasion`].
    rules: [RuleId; 4],
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
    /// The session is being closed.
    SessionEnd,
    /// The connection is being closed.
    End,
}

const QUESTIONS: &[Question] = &[
    Question {
        method: "session/request_permission",
        dismissed: r#"{"outcome":{"outcome":"cancelled"}}"#,
        rules: [id!("CANCEL-03"), id!("CANCEL-04"), id!("SESS-22"), id!("PERM-19")],
        no_error: Some(id!("CANCEL-17")),
        given_up: id!("PERM-05"),
    },
    Question {
        method: "elicitation/create",
        dismissed: r#"{"action":"cancel"}"#,
        rules: [id!("ELIC-29"), id!("ELIC-29"), id!("ELIC-28"), id!("ELIC-28")],
        no_error: None,
        given_up: id!("ELIC-19"),
    },
];

/// The row of a method, if it asks the user.
pub(super) fn question(method: &str) -> Option<&'static Question> {
    QUESTIONS.iter().find(|question| question.method == method)
}

impl Connection {
    /// Answers the open questions of one session and its children (SESS-76), or of all (CANCEL-03).
    pub(super) fn dismiss(&mut self, session: Option<&Arc<str>>, occasion: Occasion) {
        let asks = |request: &&OpenRequest| question(&request.method).is_some();
        let ids: Vec<Id> = match session.filter(|_| id!("CANCEL-22").is_on(Way::Track)) {
            Some(session) => {
                let children = Some(session).filter(|_| id!("SESS-76").is_on(Way::Track));
                let mut sessions = children.map(|of| self.state.sessions.below(of)).unwrap_or_default();
                sessions.push(Arc::clone(session));
                let open = sessions.iter().flat_map(|session| self.state.inbound.of_session(session)).filter(asks);
                let mut open: Vec<&OpenRequest> = open.collect();
                open.sort_unstable_by_key(|request| request.serial);
                open.into_iter().map(|request| request.id.clone()).collect()
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
        self.reply(&write_result(id, question.dismissed));
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
