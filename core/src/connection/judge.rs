//! Where rules meet messages: checks run before a message goes through, trackers after it did.

use super::error_data::{ErrorData, MAX_ECHOED_BYTES};
use super::misuse::Misuse;
use super::report::{Breach, Subject};
use super::{Advice, Connection, Consequence, Event, SessionState};
use crate::engine::{
    Action, Check, Finding, MessageKind, OpenRequest, Policy, Role, RuleContext, RuleMessage, KEPT, REFUSE,
};
use crate::jsonrpc::ErrorCode;
use crate::rules::{RuleId, Severity, Way};
use crate::validation::Problem;

/// The form of the peer's message, which decides how it can be refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Request,
    Notification,
    Answer,
    Error,
}

/// What to do with a message after its checks ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    Deliver,
    /// Deliver it without the values at these JSON pointers, which have been reported.
    Without(Vec<String>),
    /// Do not deliver it. It has been reported, and answered if it was a request.
    Stop,
}

impl Connection {
    /// The findings of all checks that do something in this direction.
    fn findings(
        &self,
        message: &RuleMessage<'_>,
        sender: Role,
        action: impl Fn(&Check) -> Action,
    ) -> Vec<(&'static Check, Finding)> {
        let context = RuleContext::new(*message, sender, &self.state);
        let way = context.way();
        let wanted =
            message.rows.checks().filter(|check| self.matters(check.rule, action(check), way) && check.rule.is_on(way));
        wanted.filter_map(|check| (check.test)(&context).map(|finding| (check, finding))).collect()
    }

    fn matters(&self, rule: RuleId, action: Action, way: Way) -> bool {
        let config = &self.state.config;
        match (action, way) {
            (Action::Pass, _) => false,
            // How much a host is held to itself is said for notes alone, and for no rule else.
            (Action::AdviseIfStrict, Way::Send) => config.policies[Severity::Note as usize] == Some(Policy::Strict),
            (Action::AdviseIfStrict, _) => config.policy_for(rule) == Policy::Strict,
            _ => true,
        }
    }

    /// Runs the checks on a message of the peer.
    pub(super) fn judge_incoming(&mut self, form: Form, message: &RuleMessage<'_>, subject: &Subject) -> Verdict {
        let sender = self.state.config.role().other();
        let mut strip = Vec::new();
        for (check, finding) in self.findings(message, sender, |check| check.receive) {
            let action = match self.state.config.policy_for(check.rule) {
                Policy::Off if check.receive != Action::Strip => Action::Pass,
                Policy::Strict if matches!(check.receive, Action::Report | Action::Strip) => REFUSE,
                Policy::Off | Policy::Strict | Policy::Tolerant => check.receive,
            };
            let breach = Breach {
                rule: check.rule,
                message: finding.message.into_owned(),
                pointer: finding.pointer.clone().into_owned(),
            };
            match (action, form) {
                (Action::Pass, _) => {}
                // A request that ended in an error has ended, whatever the error says.
                (Action::Report | Action::ReportAlways | Action::AdviseIfStrict, _)
                | (Action::Refuse(_) | Action::Drop, Form::Error) => {
                    self.report(subject, breach, Consequence::Delivered);
                }
                (Action::Strip | Action::LeaveOut, _) => {
                    strip.push(finding.pointer.into_owned());
                    strip.extend(finding.also);
                    self.report(subject, breach, Consequence::Delivered);
                }
                // An observer sees what the receiver does with it.
                (Action::Refuse(_) | Action::Drop, _) if self.observes => {
                    self.report(subject, breach, Consequence::Delivered);
                }
                (Action::Refuse(code), Form::Request) => {
                    self.refuse_rule(subject, code, breach, finding.made_up, message);
                    return Verdict::Stop;
                }
                (Action::Drop, Form::Request) => {
                    self.refuse_rule(subject, ErrorCode::INVALID_PARAMS, breach, finding.made_up, message);
                    return Verdict::Stop;
                }
                (Action::Refuse(_) | Action::Drop, _) => {
                    self.drop_message(subject, breach);
                    return Verdict::Stop;
                }
            }
        }
        if strip.is_empty() {
            Verdict::Deliver
        } else {
            Verdict::Without(strip)
        }
    }

    /// Answers with the rule and the place, in which `*` stands for a name that the peer made up; a session that does not
    /// exist is named, as version 2 wants it.
    fn refuse_rule(
        &mut self,
        subject: &Subject,
        code: ErrorCode,
        breach: Breach,
        made_up: bool,
        message: &RuleMessage<'_>,
    ) {
        let session = message.session.map(|id| &**id).filter(|_| code == ErrorCode::RESOURCE_NOT_FOUND);
        let hidden = breach.pointer.rsplit_once('/').filter(|_| made_up).map(|(place, _)| format!("{place}/*"));
        let pointer = Some(hidden.as_deref().unwrap_or(&breach.pointer));
        let data = ErrorData { pointer, session, ..ErrorData::of(breach.rule) }.json();
        self.refuse_with(subject, code, breach, &data);
    }

    /// The data of an error by which the host says only that a session does not exist: version 2 wants the session named.
    pub(super) fn named_session(&self, request: &OpenRequest, code: ErrorCode) -> Option<String> {
        let wanted = self.state.tables.dialect.names_missing_session
            && code == ErrorCode::RESOURCE_NOT_FOUND
            && id!("SESS-01").is_on(Way::Track);
        let session = request.session.as_ref().filter(|id| wanted && id.len() <= MAX_ECHOED_BYTES)?;
        if self.state.sessions.get(session).is_some_and(|known| known.state == SessionState::Ready) {
            // Something else was not found.
            return None;
        }
        Some(ErrorData { session: Some(session), ..ErrorData::default() }.json())
    }

    /// Runs the checks on a message of the host. Returns the advice to give once the message is sent, or the misuse.
    ///
    /// `own` is what validation objects to. The rules come first, as they know more about the message; of what is left,
    /// empty names (ENUM-14) and what is too much to list (LIMIT-06) are advice, and the rest is misuse.
    pub(super) fn judge_outgoing(&self, message: &RuleMessage<'_>, own: Vec<Problem>) -> Result<Vec<Advice>, Misuse> {
        let mut advice = Vec::new();
        for (check, finding) in self.findings(message, self.state.config.role(), |check| check.send) {
            if check.send == Action::Pass {
                continue;
            }
            let misuse = Misuse::finding(check, finding, message.body.unwrap_or_default());
            if !matches!(check.send, Action::Report | Action::ReportAlways | Action::AdviseIfStrict) {
                return Err(misuse);
            }
            advice.push(advised(misuse, message));
        }
        for problem in own {
            let misuse = Misuse::problem(&problem, message.body.unwrap_or_default());
            if ![id!("ENUM-14"), id!("LIMIT-06")].contains(&misuse.rule) {
                return Err(misuse);
            }
            advice.push(advised(misuse, message));
        }
        Ok(advice)
    }

    pub(super) fn advise(&mut self, advice: Vec<Advice>) {
        self.events.extend(advice.into_iter().map(Event::Advice));
    }

    /// Lets the trackers follow an answer; `None` for an error, or for no answer at all.
    pub(super) fn track_answer(&mut self, request: &OpenRequest, result: Option<&str>) {
        if !self.state.tables.dialect.answer_ends_turn() {
            let is_prompt = result.is_some() && request.method == "session/prompt";
            self.inserted.answered(&request.id, is_prompt, self.state.newest);
        }
        let message = RuleMessage::end(MessageKind::Answer, request, &self.state, result);
        self.track(&message);
        self.show_answered(request, result);
    }

    /// Lets the trackers follow an error, in addition to the end of its request.
    pub(super) fn track_error(&mut self, request: &OpenRequest, error: Option<&str>) {
        let message = RuleMessage::end(MessageKind::Error, request, &self.state, error);
        self.track(&message);
        self.show_failed(request, error);
    }

    /// Lets the trackers follow a message. Returns the notes of a call, which are kept with it until its answer.
    pub(super) fn track(&mut self, message: &RuleMessage<'_>) -> Option<Box<str>> {
        let mut note = None;
        for tracker in message.rows.trackers().filter(|tracker| tracker.is_on()) {
            note = join(note, (tracker.track)(&mut self.state, message));
        }
        // Notes stay open as long as their request, so they are bounded: a list, and an id or two.
        note.filter(|note| note.len() <= 2 * KEPT)
    }
}

/// What a host could do better, of a message that is sent all the same.
fn advised(misuse: Misuse, message: &RuleMessage<'_>) -> Advice {
    Advice {
        rule: misuse.rule,
        message: misuse.message.into_owned(),
        pointer: misuse.pointer,
        method: message.method.to_owned(),
        id: message.request.map(|request| request.id.clone()),
        session: message.session.cloned(),
    }
}

/// The notes of two trackers as one: the members of both, where both are objects.
fn join(old: Option<Box<str>>, new: Option<Box<str>>) -> Option<Box<str>> {
    match (old, new) {
        (Some(old), Some(new)) if old.len() > 2 && new.len() > 2 && old.starts_with('{') && new.starts_with('{') => {
            Some(format!("{},{}", &old[..old.len() - 1], &new[1..]).into())
        }
        (old, new) => new.or(old),
    }
}
