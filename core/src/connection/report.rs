//! Violations: the event, and the answer that goes with it.
//!
//! Who finds a fault calls one of three: [`refuse`](Connection::refuse) and its variants answer a request with an error and
//! report it, [`drop_message`](Connection::drop_message) reports what has no answer, and [`report`](Connection::report) reports
//! what is delivered all the same. The `data` of every error is made by [`ErrorData`].

use std::borrow::Cow;
use std::sync::Arc;

use super::error_data::ErrorData;
use super::{Connection, Consequence, Event, Policy, Violation};
use crate::jsonrpc::{ErrorCode, Id};
use crate::rules::{RuleId, Way};
use crate::validation::Problem;

/// The message that a report is about, as far as it has been read.
#[derive(Debug, Clone, Default)]
pub(super) struct Subject {
    pub(super) method: Option<Cow<'static, str>>,
    pub(super) id: Option<Id>,
    pub(super) session: Option<Arc<str>>,
}

/// One broken rule: which, how, and where.
#[derive(Debug)]
pub(super) struct Breach {
    pub(super) rule: RuleId,
    pub(super) message: String,
    pub(super) pointer: String,
}

impl Breach {
    pub(super) fn new(rule: RuleId, message: impl Into<String>) -> Self {
        Breach { rule, message: message.into(), pointer: String::new() }
    }
}

impl From<&Problem> for Breach {
    fn from(problem: &Problem) -> Self {
        Breach { rule: problem.rule, message: problem.sentence(None), pointer: problem.pointer() }
    }
}

impl Connection {
    /// Reports a violation. A delivered message is not reported where the policy for the rule is [`Policy::Off`].
    pub(super) fn report(&mut self, subject: &Subject, breach: Breach, consequence: Consequence) {
        let quiet = self.state.config.policy_for(breach.rule) == Policy::Off;
        if !breach.rule.is_on(Way::Receive) || (quiet && consequence == Consequence::Delivered) {
            return;
        }
        self.events.push(Event::Violation(Violation {
            rule: breach.rule,
            message: breach.message,
            pointer: breach.pointer,
            method: subject.method.clone(),
            id: subject.id.clone(),
            session: subject.session.clone(),
            frame: self.receiving.frame_number(),
            excerpt: self.receiving.excerpt(subject.method.as_deref()),
            consequence,
        }));
    }

    /// Reports problems that were repaired or let through.
    pub(super) fn report_all(&mut self, subject: &Subject, problems: &[Problem]) {
        for problem in problems {
            self.report(subject, problem.into(), Consequence::Delivered);
        }
    }

    /// Answers a request with an error, and reports it. Without an id, the answer has the id null (RPC-14).
    pub(super) fn refuse(&mut self, subject: &Subject, code: ErrorCode, breach: Breach) {
        let method = subject.method.as_deref().filter(|_| code == ErrorCode::METHOD_NOT_FOUND);
        let data = ErrorData { method, ..ErrorData::of(breach.rule) }.json();
        self.refuse_with(subject, code, breach, &data);
    }

    /// As [`refuse`](Self::refuse), for params that are not valid; says where, and what was expected.
    pub(super) fn refuse_params(&mut self, subject: &Subject, problem: &Problem) {
        let pointer = problem.public_pointer();
        let (pointer, expected) = (Some(&*pointer), Some(&*problem.expected));
        let data = ErrorData { pointer, expected, ..ErrorData::of(problem.rule) }.json();
        self.refuse_with(subject, ErrorCode::INVALID_PARAMS, problem.into(), &data);
    }

    /// Writes an automatic answer.
    pub(super) fn reply(&mut self, answer: &str) {
        if self.observes {
            return;
        }
        self.sending.write_auto_reply(answer);
    }

    /// As [`refuse`](Self::refuse), with the data of the error.
    pub(super) fn refuse_with(&mut self, subject: &Subject, code: ErrorCode, breach: Breach, data: &str) {
        // The rule is off. What nobody objects to but nobody can deliver is lost.
        if !breach.rule.is_on(Way::Receive) {
            return;
        }
        let id = subject.id.as_ref().unwrap_or(&Id::Null);
        self.reply_error(id, code, data);
        self.report(subject, breach, Consequence::Refused(code));
        if self.observes {
            self.keep_refused(subject);
        }
    }

    /// Reports a message that is not delivered and has no answer.
    pub(super) fn drop_message(&mut self, subject: &Subject, breach: Breach) {
        self.report(subject, breach, Consequence::Dropped);
    }
}
