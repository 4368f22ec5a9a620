//! Violations: the event, and the answer that goes with it.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::sync::Arc;

use super::{Connection, Consequence, Event, Policy, Violation};
use crate::json;
use crate::jsonrpc::{ErrorCode, Id};
use crate::rules::{RuleId, Way};
use crate::validation::Problem;

/// Bytes of a frame that a violation shows.
const EXCERPT: usize = 256;
/// A name longer than this is not repeated in an answer.
pub(super) const MAX_ECHOED_BYTES: usize = 128;
/// Methods whose messages may hold secrets, so that nothing of them is shown (AUTH-27, PROV-10).
const SECRET: &[&str] = &["authenticate", "auth/login", "providers/set", "providers/list"];

/// What is known of a message while it is read.
#[derive(Debug, Clone, Default)]
pub(super) struct Subject {
    pub(super) method: Option<Cow<'static, str>>,
    pub(super) id: Option<Id>,
    pub(super) session: Option<Arc<str>>,
}

/// One broken rule.
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

/// What an error of the connection's own says in its data: the rule, and what else its receiver can use.
#[derive(Debug, Clone, Copy)]
pub(super) struct Details<'a> {
    pub(super) rule: RuleId,
    /// The method that is not served.
    pub(super) method: Option<&'a str>,
    /// Where it is wrong.
    pub(super) pointer: Option<&'a str>,
    /// What was expected there.
    pub(super) expected: Option<&'a str>,
    /// The session that there is not.
    pub(super) session: Option<&'a str>,
}

impl Details<'_> {
    pub(super) const fn of(rule: RuleId) -> Self {
        Details { rule, method: None, pointer: None, expected: None, session: None }
    }

    /// The object. Long names are left out: the peer knows what it sent.
    pub(super) fn json(self) -> String {
        let members = [
            ("method", self.method.filter(|name| name.len() <= MAX_ECHOED_BYTES)),
            ("pointer", self.pointer),
            ("expected", self.expected),
            ("sessionId", self.session.filter(|name| name.len() <= MAX_ECHOED_BYTES)),
        ];
        let mut data = format!("{{\"rule\":\"{}\"", self.rule);
        for (member, text) in members {
            if let Some(text) = text {
                let _ = write!(data, ",\"{member}\":");
                json::quote(&mut data, text);
            }
        }
        data.push('}');
        data
    }
}

/// The head of a frame, as text.
fn excerpt(head: &[u8], cut: bool) -> String {
    match std::str::from_utf8(head) {
        Ok(text) => text.to_owned(),
        // The cut went through a character.
        Err(error) if cut && error.error_len().is_none() => {
            String::from_utf8_lossy(&head[..error.valid_up_to()]).into_owned()
        }
        Err(_) => String::from_utf8_lossy(head).into_owned(),
    }
}

impl Connection {
    /// Begins a frame: what reports about it will show of it.
    pub(super) fn begin_frame(&mut self, frame: &[u8]) {
        self.head.clear();
        self.head.extend_from_slice(&frame[..EXCERPT.min(frame.len())]);
        self.head_is_cut = frame.len() > EXCERPT;
    }

    /// What names a method whose messages may hold secrets is not shown, be it a message or not.
    pub(super) fn hide_secrets(&mut self, frame: &[u8]) {
        if SECRET.iter().any(|method| json::mentions(frame, format!("\"{method}\"").as_bytes())) {
            self.head.clear();
        }
    }

    /// Tells the host, unless its policy for the rule is not to be told of what goes through.
    pub(super) fn report(&mut self, subject: &Subject, breach: Breach, consequence: Consequence) {
        let quiet = self.state.config.policy_for(breach.rule) == Policy::Off;
        if !breach.rule.is_on(Way::Receive) || (quiet && consequence == Consequence::Delivered) {
            return;
        }
        let secret = subject.method.as_ref().is_some_and(|method| SECRET.contains(&&**method));
        self.events.push(Event::Violation(Violation {
            rule: breach.rule,
            message: breach.message,
            pointer: breach.pointer,
            method: subject.method.clone(),
            id: subject.id.clone(),
            session: subject.session.clone(),
            frame: self.frames,
            excerpt: if secret { String::new() } else { excerpt(&self.head, self.head_is_cut) },
            consequence,
        }));
    }

    /// Tells the host of problems that were repaired or let through.
    pub(super) fn report_all(&mut self, subject: &Subject, problems: &[Problem]) {
        for problem in problems {
            self.report(subject, problem.into(), Consequence::Delivered);
        }
    }

    /// Tells the host, and answers the peer with the id of its request.
    pub(super) fn refuse(&mut self, subject: &Subject, code: ErrorCode, breach: Breach) {
        let method = subject.method.as_deref().filter(|_| code == ErrorCode::METHOD_NOT_FOUND);
        let data = Details { method, ..Details::of(breach.rule) }.json();
        self.refuse_with(subject, code, breach, &data);
    }

    /// As [`refuse`](Self::refuse), for params that do not fit.
    pub(super) fn refuse_params(&mut self, subject: &Subject, problem: &Problem) {
        let pointer = problem.public_pointer();
        let (pointer, expected) = (Some(&*pointer), Some(&*problem.expected));
        let data = Details { pointer, expected, ..Details::of(problem.rule) }.json();
        self.refuse_with(subject, ErrorCode::INVALID_PARAMS, problem.into(), &data);
    }

    /// Sends an answer of the connection's own.
    pub(super) fn reply(&mut self, answer: &str) {
        if self.observes {
            return;
        }
        let waiting = self.outbox.len();
        self.outbox.push(answer);
        self.replies.waiting += self.outbox.len() - waiting;
    }

    pub(super) fn refuse_with(&mut self, subject: &Subject, code: ErrorCode, breach: Breach, data: &str) {
        // What nobody objects to and nobody can deliver either is lost.
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

    /// A message that is no request: nothing to answer.
    pub(super) fn drop_message(&mut self, subject: &Subject, breach: Breach) {
        self.report(subject, breach, Consequence::Dropped);
    }
}
