//! The peer's requests and notifications: admitted, checked, tracked, delivered.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::body::{revalidate, Checked};
use super::error_data::ErrorData;
use super::event::Json;
use super::judge::{Form, Verdict};
use super::outgoing::CANCEL;
use super::parse::Message;
use super::report::{Breach, Subject};
use super::{Cancel, Connection, Consequence, Event, Notification, Policy, Request};
use crate::engine::operations::Operation;
use crate::engine::questions::{question, AutoAnswerReason};
use crate::engine::{
    kind_of, rows, too_early, unknown, Attempt, MessageKind, MisuseKind, OpenRequest, Refusal, Role, RuleMessage,
    RuleSet, Standing, Timing, Turn,
};
use crate::json::{self, Kind};
use crate::jsonrpc::{ErrorCode, Id, IdMember, Member};
use crate::rules::Way;
use crate::validation::table::{self, Effect, Method};
use crate::validation::{FieldIndex, Part, Problem};

/// Methods that begin with this are JSON-RPC's own, and it has none.
pub(super) const JSON_RPC: &str = "rpc.";
/// What `$/cancel_request` is called by the Kotlin SDK before 0.30.0.
const OLD_CANCEL: &str = "$/cancelRequest";

impl Connection {
    /// Checks a call whose envelope is right, follows it and delivers it.
    ///
    /// Admission comes first: what the peer may not send now is refused before its params are looked at. Then limits, so that
    /// refusing costs less than serving. Params are validated before anything reads them, and their session is looked up
    /// before the rules, which are about one that is open. The state changes only once nothing objects, and before the event,
    /// so that a host that asks for the state on an event finds it in it.
    pub(super) fn call(&mut self, text: String, message: &mut Message, mut subject: Subject) {
        let Member::Is(method) = &message.method else { return };
        let is_request = message.id != IdMember::Absent;
        let find = || self.state.method(method);
        let Some(row) = message.checked.row.or_else(find) else { return self.unknown_method(text, message, subject) };
        let starts = row.phase == table::Phase::Start;
        if is_request && !starts {
            self.lifecycle.other_request(self.state.config.role().other());
        }
        if starts && is_request && self.state.config.role() == Role::Agent && self.may_initialize() {
            if !self.may_be_batched(&subject, None, &Json::whole(String::new()), true) {
                return;
            }
            if self.check_pending_limit(message, &subject) {
                self.on_initialize_request(row.name, &text, message, &subject);
            }
            return;
        }
        if let Some(refusal) = self.admit(row, self.state.config.role().other(), is_request) {
            if !(self.observes && refusal.kind == MisuseKind::Capability) {
                return self.not_admitted(row, message, &subject, refusal);
            }
            // It may be served all the same.
            self.report(&subject, Breach::new(refusal.rule, refusal.message), Consequence::Delivered);
        }
        if is_request && !self.check_pending_limit(message, &subject) {
            return;
        }
        let Some(range) = self.checked_params(&text, message, &subject, row, is_request) else { return };
        let checked = &mut message.checked;
        let problems = std::mem::take(&mut checked.problems);
        let session = checked.session.take();
        subject.session.clone_from(&session);
        if !self.session_fits(row, session.as_ref(), &subject, is_request) {
            return;
        }
        let full = self.state.sessions.full(row, session.as_deref(), &self.state.config.limits);
        if let Some(limit) = full.filter(|limit| limit.rule.is_on(Way::Receive)) {
            return self.refuse(&subject, ErrorCode::INTERNAL_ERROR, Breach::new(limit.rule, limit.message()));
        }
        let update = checked.update;
        let mut params = checked.json(text, range);
        let form = if is_request { Form::Request } else { Form::Notification };
        let field_index = std::mem::take(&mut checked.field_index);
        let rows = self.state.rows(row, kind_of(row, is_request, update));
        let mut seen = Seen { field_index: Some(&field_index), rows };
        match self.judge_incoming(form, &seen.message(row.name, session.as_ref(), &params), &subject) {
            Verdict::Stop => return,
            Verdict::Deliver => {}
            Verdict::Without(places) => {
                params = params.without(&places);
                // Its members stand elsewhere now.
                seen.field_index = None;
            }
        }
        if !self.may_be_batched(&subject, update, &params, is_request) {
            return;
        }
        self.report_all(&subject, &problems);
        if is_request && self.takes_as_repeated(&subject, session.as_ref(), &params) {
            // The host has this prompt already.
        } else if is_request {
            self.deliver_request(Some(row), subject, session, params, seen);
        } else {
            self.deliver_notification(subject, session, update, params, seen);
        }
        self.receiving.templates.recycle_index(field_index);
    }

    /// What the rules say to a call, in either direction.
    pub(super) fn admit(&self, row: &'static Method, sender: Role, is_request: bool) -> Option<Refusal> {
        let receiver = self.state.side(sender.other());
        let form = if is_request { table::Kind::Request } else { table::Kind::Notification };
        let begun = !self.may_initialize();
        let way = Way::of(sender == self.state.config.role());
        let unlisted = self.state.tables.dialect.listed_logins.contains(&row.name) && self.state.auth.is_without();
        let ready = self.lifecycle.was_ready() || (way == Way::Receive && self.may_cross());
        Attempt { method: row, sender, way, form, ready, begun, unlisted, gates: &receiver.gates }.refusal()
    }

    fn not_admitted(&mut self, row: &'static Method, message: &mut Message, subject: &Subject, refusal: Refusal) {
        let breach = Breach::new(refusal.rule, refusal.message);
        if message.id == IdMember::Absent {
            return self.drop_message(subject, breach);
        }
        self.refuse(subject, refusal.code, breach);
        // A cancel must not be lost because it came in the wrong form (RPC-29).
        if refusal.rule == id!("RPC-29") && row.name == "session/cancel" && self.lifecycle.is_ready() {
            let session = message.checked.session.take().filter(|id| self.state.sessions.is_known(id));
            if let (Some(session), None) = (session, &message.checked.invalid) {
                let params = Json::whole(session_params(&session));
                let seen = Seen {
                    field_index: None,
                    rows: rows(self.state.tables.version, MessageKind::Call, row.name, None),
                };
                self.deliver_notification(subject.clone(), Some(session), None, params, seen);
            }
        }
    }

    fn unknown_method(&mut self, text: String, message: &mut Message, subject: Subject) {
        let Member::Is(method) = &message.method else { return };
        let is_request = message.id != IdMember::Absent;
        let own = if is_request { id!("EXT-08") } else { id!("EXT-09") };
        let named = method.starts_with('_') || self.state.config.is_foreign(method);
        let extension = named && own.is_on(Way::Track);
        let refusal = too_early(self.state.config.role().other());
        if is_request {
            self.lifecycle.other_request(self.state.config.role().other());
        }
        if !self.lifecycle.is_ready() && !self.may_cross() && refusal.rule.is_on(Way::Receive) {
            let breach = Breach::new(refusal.rule, refusal.message);
            return if is_request {
                self.refuse(&subject, refusal.code, breach);
            } else if !may_be_ignored(method) {
                self.drop_message(&subject, breach);
            };
        }
        if !is_request && method == OLD_CANCEL {
            return self.old_cancel(&text, message, &subject);
        }
        if !extension {
            // EXT-07, CANCEL-21: other names are the specification's.
            let rule = match (is_request, method.starts_with(JSON_RPC)) {
                (true, true) => id!("RPC-26"),
                (true, false) => id!("RPC-17"),
                (false, _) => id!("RPC-18"),
            };
            let breach = Breach::new(rule, "no such method");
            if rule.is_on(Way::Receive) {
                return if is_request {
                    self.refuse(&subject, ErrorCode::METHOD_NOT_FOUND, breach);
                } else if !may_be_ignored(method) {
                    self.drop_message(&subject, breach);
                };
            }
        }
        if is_request && !self.check_pending_limit(message, &subject) {
            return;
        }
        let (kind, range) = message.params.clone().unwrap_or((Kind::Null, 0..0));
        let mut checked = std::mem::take(&mut message.checked);
        let params = match kind {
            Kind::Null => Json::whole("{}".into()),
            Kind::Object | Kind::Array => {
                let problems = std::mem::take(&mut checked.problems);
                self.report_all(&subject, &problems);
                checked.json(text, range)
            }
            _ => return self.refuse_scalar_params(&subject, kind, is_request),
        };
        let seen = Seen { field_index: None, rows: RuleSet::default() };
        if is_request {
            self.deliver_request(None, subject, None, params, seen);
        } else {
            self.deliver_notification(subject, None, None, params, seen);
        }
    }

    /// Whether a further request may be open; it is refused if not.
    fn check_pending_limit(&mut self, message: &Message, subject: &Subject) -> bool {
        let IdMember::Id(id) = &message.id else { return false };
        if self.state.inbound.len() + self.repeats.len() >= self.state.config.limits.pending
            && id!("LIMIT-03").is_on(Way::Receive)
        {
            let breach =
                Breach::new(id!("LIMIT-03"), format!("more than {} open requests", self.state.config.limits.pending));
            self.refuse(subject, ErrorCode::INTERNAL_ERROR, breach);
            return false;
        }
        if *id == Id::Null {
            self.report(subject, Breach::new(id!("RPC-07"), "a request with the id null"), Consequence::Delivered);
        }
        true
    }

    pub(super) fn refuse_scalar_params(&mut self, subject: &Subject, kind: Kind, is_request: bool) {
        let breach = Breach::new(id!("RPC-19"), format!("params are {} instead of an object", kind.name()));
        if is_request {
            self.refuse_params(subject, &Problem::new(id!("RPC-19"), "an object", kind.name()));
        } else {
            self.drop_message(subject, breach);
        }
    }

    /// The place of params that are valid for the method; `None` when the call was refused or dropped.
    fn checked_params(
        &mut self,
        text: &str,
        message: &mut Message,
        subject: &Subject,
        row: &'static Method,
        is_request: bool,
    ) -> Option<Range<usize>> {
        let part = if is_request { Part::Request } else { Part::Notification };
        let (kind, range) = message.params.take().unwrap_or((Kind::Null, 0..0));
        let checked = &mut message.checked;
        let mut place = range;
        match kind {
            Kind::Object if !checked.walked => match revalidate(&self.state, text, &place, row.params, part) {
                Ok(again) => *checked = again,
                Err(_) => return None,
            },
            Kind::Object => {}
            kind if kind == Kind::Null || !id!("RPC-19").is_on(Way::Receive) => {
                // Absent and null params are `{}`, and that is then checked (RPC-19).
                let empty = revalidate(&self.state, "{}", &(0..2), row.params, part).ok()?;
                *checked = Checked { edits: Some(json::Edits::replace_all("{}")), ..empty };
                place = 0..0;
            }
            _ => {
                self.refuse_scalar_params(subject, kind, is_request);
                return None;
            }
        }
        match checked.invalid.take() {
            None => Some(place),
            Some(problem) if is_request => {
                self.refuse_params(subject, &problem);
                None
            }
            Some(problem) => {
                self.drop_message(subject, problem.as_ref().into());
                None
            }
        }
    }

    /// SESS-01, SESS-52, TURN-20: the session is one that the message may name.
    fn session_fits(
        &mut self,
        row: &'static Method,
        session: Option<&Arc<str>>,
        subject: &Subject,
        is_request: bool,
    ) -> bool {
        let Some(session) = session else { return true };
        let standing = self.state.sessions.standing(row, session, Way::Receive);
        if standing == Standing::Fits {
            return true;
        }
        let pointer = String::from("/sessionId");
        if standing == Standing::NotSetUp {
            let message = "the session is still being loaded or resumed".into();
            let breach = Breach { rule: id!("TURN-20"), message, pointer };
            self.refuse(subject, ErrorCode::INVALID_REQUEST, breach);
            return false;
        }
        let breach =
            Breach { rule: unknown(row, Way::Receive), message: "no such session on this connection".into(), pointer };
        if is_request {
            let data = ErrorData { session: Some(session), ..ErrorData::of(breach.rule) }.json();
            self.refuse_with(subject, ErrorCode::RESOURCE_NOT_FOUND, breach, &data);
            return false;
        }
        // What a session shows is never lost to a tolerant host; it says so and the host decides.
        let deliver = breach.rule == id!("SESS-52") && self.state.config.policy_for(breach.rule) != Policy::Strict;
        self.report(subject, breach, if deliver { Consequence::Delivered } else { Consequence::Dropped });
        deliver
    }

    fn deliver_request(
        &mut self,
        row: Option<&'static Method>,
        subject: Subject,
        session: Option<Arc<str>>,
        params: Json,
        seen: Seen<'_>,
    ) {
        let serial = self.next_serial();
        let method = subject.method.unwrap_or(Cow::Borrowed(""));
        let id = subject.id.unwrap_or(Id::Null);
        if let Some(session) = session.as_ref().filter(|_| row.is_some_and(|row| row.effect == Effect::Ends)) {
            self.cancel_prompts(session);
        }
        let mut said = seen.message(&method, session.as_ref(), &params);
        let operation = Operation::of(&said, self.state.tables);
        said.operation = operation.as_ref();
        let note = self.track(&said);
        self.show_asked(&said, &id);
        let generation = self.state.sessions.generation(session.as_ref());
        let open = OpenRequest {
            id: id.clone(),
            serial,
            method: method.clone(),
            session: session.clone(),
            cancelled: false,
            deadline: self.clock.after(self.state.config.reminder),
            row,
            generation,
            note,
            grace: None,
            late: None,
        };
        self.take_on(open);
        let asks = question(&method).is_some();
        let reason = session.as_ref().filter(|_| asks).and_then(|id| self.auto_answer_reason(id));
        self.events.push(Event::Request(Request { id: id.clone(), serial, method: method.clone(), session, params }));
        if let Some(reason) = reason {
            self.auto_answer_one(&id, reason);
        }
    }

    /// Opens a request of the peer.
    pub(super) fn take_on(&mut self, request: OpenRequest) {
        self.batches.asked(&request.id);
        self.state.inbound.insert(request);
    }

    fn deliver_notification(
        &mut self,
        subject: Subject,
        session: Option<Arc<str>>,
        update: Option<&'static str>,
        params: Json,
        seen: Seen<'_>,
    ) {
        let method = subject.method.unwrap_or(Cow::Borrowed(""));
        if method == CANCEL {
            return self.cancel_requested(params.as_str());
        }
        let timing = session.as_ref().map_or(Timing::None, |id| self.state.sessions.timing(id));
        self.state.sessions.foresee(&method, session.as_ref());
        let mut said = seen.message(&method, session.as_ref(), &params);
        let operation = Operation::of(&said, self.state.tables);
        said.operation = operation.as_ref();
        self.track(&said);
        self.show_told(&said);
        self.events.push(Event::Notification(Notification { method, session, update, timing, params }));
    }

    /// `$/cancel_request`: only what is open can be cancelled, anything else is ignored (CANCEL-11, CANCEL-12).
    fn cancel_requested(&mut self, params: &str) {
        let id = json::pointer(params, "/requestId").and_then(Id::from_json);
        if let Some(id) = id.filter(|_| id!("CANCEL-12").is_on(Way::Track)) {
            self.cancel_one(&id);
        }
    }

    /// In version 2 an agent takes its questions back like this, and a prompt that has become a message can no longer be
    /// stopped by its request (CANCEL-19). A cancel that has crossed the answer is ignored as any other.
    fn cancel_one(&mut self, id: &Id) {
        if self.auto_answer_one(id, AutoAnswerReason::Withdrawn) {
            return;
        }
        // A client's own prompts are remembered, too, by ids that the agent's requests may have as well.
        let is_agent = self.state.config.role() == Role::Agent;
        if is_agent && self.state.inbound.get(id).is_none() && self.inserted.was_read(id, self.state.answered) {
            let message =
                "the prompt has become a message, so cancelling its request stops nothing; use session/cancel";
            let subject = Subject { method: Some(CANCEL.into()), ..Subject::default() };
            let mut breach = Breach::new(id!("CANCEL-19"), message);
            breach.pointer = "/requestId".into();
            return self.drop_message(&subject, breach);
        }
        self.cancel_event(id);
    }

    /// CANCEL-21: peers built before the notification had its name send it under that of LSP. Lost, it would leave the
    /// request open and its sender waiting.
    fn old_cancel(&mut self, text: &str, message: &Message, subject: &Subject) {
        let Some((Kind::Object, range)) = message.params.clone() else { return };
        let Some(id) = json::agreed(&text[range], "/requestId").and_then(Id::from_json) else { return };
        // Reported and followed under every policy: dropping it would leave both sides waiting.
        let breach = Breach::new(id!("CANCEL-21"), "a cancel with an obsolete name; use $/cancel_request");
        self.report(subject, breach, Consequence::Delivered);
        self.cancel_one(&id);
    }

    fn cancel_event(&mut self, id: &Id) {
        if let Some(request) = self.state.inbound.mark_cancelled(id, None).cloned() {
            self.events.push(Event::Cancel(Cancel {
                id: request.id,
                serial: request.serial,
                method: request.method,
                session: request.session,
            }));
        }
    }

    /// SESS-22: a session that is to be closed stops its work first, unless a cancel has asked for that before.
    fn cancel_prompts(&mut self, session: &Arc<str>) {
        let runs =
            self.state.sessions.get(session).is_some_and(|known| !matches!(known.turn, Turn::Idle | Turn::Cancelling));
        if !runs || self.observes || !id!("SESS-22").is_on(Way::Track) {
            return;
        }
        let open = self.state.inbound.of_session(session).filter(|request| request.method == "session/prompt");
        let prompts: Vec<Id> = open.map(|request| request.id.clone()).collect();
        for id in prompts {
            self.cancel_event(&id);
        }
    }
}

/// What validation has found out about a call, for rules and trackers.
#[derive(Debug, Clone, Copy)]
struct Seen<'a> {
    field_index: Option<&'a FieldIndex>,
    rows: RuleSet,
}

impl<'a> Seen<'a> {
    fn message(self, method: &'a str, session: Option<&'a Arc<str>>, params: &'a Json) -> RuleMessage<'a> {
        let field_index = self.field_index.map(|field_index| (params.around(), field_index));
        RuleMessage {
            method,
            session,
            body: Some(params.as_str()),
            field_index,
            rows: self.rows,
            operation: None,
            request: None,
        }
    }
}

/// CANCEL-21: notifications that are a convention of JSON-RPC's and nothing to tell of.
fn may_be_ignored(method: &str) -> bool {
    method.starts_with("$/") && id!("CANCEL-21").is_on(Way::Receive)
}

fn session_params(session: &str) -> String {
    let mut writer = json::Writer::new();
    writer.begin_object().key("sessionId").string(session).end_object();
    writer.finish().unwrap_or_default()
}
