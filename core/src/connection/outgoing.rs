//! The host's calls. Each either does everything it says and writes one whole message, or returns [`Misuse`] and
//! changes nothing.

use std::borrow::Cow;
use std::sync::Arc;

use super::calls::JSON_RPC;
use super::misuse::{shown, Misuse};
use super::notify::PreparedParams;
use super::repeats::Ended;
use super::{CloseReason, Connection, Phase};
use crate::engine::questions::AutoAnswerReason;
use crate::engine::{
    rows, too_early, unknown, withheld, Message, MisuseKind, On, OpenRequest, Policy, RequestKey, Standing,
};
use crate::json::{self, SyntaxKind};
use crate::jsonrpc::{write_error, write_notification, write_request, write_result, ErrorCode, Id};
use crate::nearest::nearest;
use crate::rules::Way;
use crate::validation::table::{self, Effect, Method, TypeId};
use crate::validation::{validate, Mode, Part, Problem, Rejected, Validated, Validator, OF_A_DRAFT};

/// The answer to a prompt that the client has cancelled.
pub(super) const CANCELLED_TURN: &str = r#"{"stopReason":"cancelled"}"#;

const NOT_SET_UP: &str =
    "the session is being loaded or resumed; wait for the answer to that, or send session/cancel or session/close";

/// The notification that asks for a request back.
pub(super) const CANCEL: &str = "$/cancel_request";

/// What a request may ask for beyond its params.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CallOptions {
    /// Its id; `None` lets the connection choose the next number.
    pub id: Option<Id>,
    /// When it fails for want of an answer.
    pub timeout: Timeout,
}

impl CallOptions {
    /// The same with this id.
    #[must_use]
    pub fn id(mut self, id: impl Into<Option<Id>>) -> Self {
        self.id = id.into();
        self
    }

    /// The same with this limit of time.
    #[must_use]
    pub fn timeout(mut self, timeout: Timeout) -> Self {
        self.timeout = timeout;
        self
    }
}

/// When a request of the host's fails for want of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Timeout {
    /// When the configuration says.
    #[default]
    Configured,
    /// Never, whatever the configuration says.
    Never,
    /// So many milliseconds after the time last told.
    After(u64),
}

impl Timeout {
    fn deadline(self, configured: Option<u64>, now: u64) -> Option<u64> {
        let after = match self {
            Timeout::Configured => configured,
            Timeout::Never => None,
            Timeout::After(milliseconds) => Some(milliseconds),
        };
        after.map(|milliseconds| now.saturating_add(milliseconds))
    }
}

/// JSON of the host's that fits its type.
pub(super) struct ValidatedJson<'a> {
    pub(super) text: Cow<'a, str>,
    /// What may not be in it, or should not: see [`Connection::judge_outgoing`].
    pub(super) own: Vec<Problem>,
}

impl Connection {
    /// Sends a request and returns its id; the answer comes as one [`Event::Response`](super::Event::Response).
    ///
    /// `params` is JSON text, an object; a method that is not the specification's may have a list as well. For `initialize`, `protocolVersion` is filled in when it is left out.
    ///
    /// # Errors
    /// [`Misuse`] when the specification forbids the call now or the params do not fit; nothing was sent.
    pub fn request(&mut self, method: &str, params: &str) -> Result<Id, Misuse> {
        self.request_with(method, params, CallOptions::default())
    }

    /// As [`request`](Self::request), with an id or a time-out of the host's choice.
    ///
    /// # Errors
    /// [`Misuse`], as above.
    pub fn request_with(&mut self, method: &str, params: &str, options: CallOptions) -> Result<Id, Misuse> {
        let row = self.admitted(method, true)?;
        let params = self.structured(row, params)?;
        let starts = row.is_some_and(|row| row.phase == table::Phase::Start);
        let (PreparedParams { text: params, own, session, field_index, .. }, tables) = if starts {
            let (ValidatedJson { text, own }, tables) = self.initialize_params(params)?;
            (PreparedParams { text, own, ..PreparedParams::default() }, Some(tables))
        } else {
            (self.prepare_params(row, params, Part::Request)?, None)
        };
        if self.state.outbound.len() >= self.state.config.limits.pending && id!("LIMIT-03").is_on(Way::Send) {
            let limit = self.state.config.limits.pending;
            return Err(Misuse::new(MisuseKind::Limit, id!("LIMIT-03"), format!("{limit} requests are open already")));
        }
        let full = row.and_then(|row| self.state.sessions.full(row, session.as_deref(), &self.state.config.limits));
        if let Some(limit) = full.filter(|limit| limit.rule.is_on(Way::Send)) {
            return Err(Misuse::new(MisuseKind::Limit, limit.rule, limit.message()));
        }
        let allocated = options.id.is_none();
        let id = match options.id {
            Some(Id::Null) if id!("RPC-07").is_on(Way::Send) => {
                return Err(Misuse::new(MisuseKind::Id, id!("RPC-07"), "the id of a request is not null"))
            }
            Some(id) if self.is_taken(&id) && id!("RPC-10").is_on(Way::Send) => {
                return Err(Misuse::new(
                    MisuseKind::Id,
                    id!("RPC-10"),
                    format!("the id {id} names a request that the peer has not answered"),
                ));
            }
            Some(id) => id,
            None => self.free_id(),
        };
        let message = self.fits_frame(params.len(), || write_request(&id, method, &params))?;
        let rows = match tables {
            Some(tables) => rows(tables.version, On::Call, method, None),
            None => self.state.rows_of(row, method, true, None),
        };
        let index_of = row.filter(|_| !starts).map(|_| (&*params, &field_index));
        let said = Message {
            method,
            session: session.as_ref(),
            body: Some(&params),
            field_index: index_of,
            rows,
            request: None,
        };
        let advice = self.judge_outgoing(&said, own)?;
        if let (true, Id::Number(number)) = (allocated, &id) {
            self.next_id = number + 1;
        }
        let serial = self.next_serial();
        let note = self.track(&said);
        let life = self.state.sessions.life(session.as_ref());
        self.outbox.push_whole(message);
        self.state.outbound.insert(OpenRequest {
            id: id.clone(),
            serial,
            method: name(row, method),
            session: session.clone(),
            cancelled: false,
            deadline: options.timeout.deadline(self.state.config.timeout, self.now),
            row,
            life,
            note,
            grace: None,
            late: None,
        });
        if let Some(session) = session.as_ref().filter(|_| row.is_some_and(|row| row.effect == Effect::Ends)) {
            self.auto_answer(Some(session), AutoAnswerReason::SessionEnd);
        }
        match tables {
            Some(tables) => self.initialize_sent(tables, params.into_owned()),
            None => self.settle(self.state.config.role),
        }
        self.advise(advice);
        Ok(id)
    }

    /// Answers a request of the peer's with a result (JSON text); its event, its id or its number names it. For `initialize`, `protocolVersion` is filled in when
    /// it is left out. A prompt that the client has cancelled ends with the stop reason `cancelled`, whatever the result
    /// says (CANCEL-06); [advice](super::Advice) tells of it.
    ///
    /// # Errors
    /// [`Misuse`] when no such request is open (RPC-15) or the result does not fit; nothing was sent.
    pub fn respond<'k>(&mut self, request: impl Into<RequestKey<'k>>, result: &str) -> Result<(), Misuse> {
        self.respond_with(request.into(), Cow::Borrowed(result))
    }

    /// As [`respond`](Self::respond). The message is written in the place of a result that is given away: one of many
    /// megabytes is not held twice.
    pub(crate) fn respond_with(&mut self, key: RequestKey<'_>, result: Cow<'_, str>) -> Result<(), Misuse> {
        let request = match (self.answerable(key), key.id) {
            // Nobody waits for it.
            (Err(misuse), Some(id)) if misuse.rule == id!("RPC-15") && !misuse.rule.is_on(Way::Send) => {
                self.outbox.push(&write_result(id, result));
                return Ok(());
            }
            (request, _) => request?,
        };
        let id = &request.id.clone();
        let row = request.row;
        let starts = row.is_some_and(|row| row.phase == table::Phase::Start);
        let nothing = result.trim() == "null" && id!("RPC-31").is_on(Way::Send);
        if nothing && row.is_some_and(|row| row.result != 0) {
            let message = "null instead of an object; the result of a method that has nothing to say is {}";
            return Err(Misuse::new(MisuseKind::Params, id!("RPC-31"), message));
        }
        let given = if starts { Cow::Owned(self.initialize_result(&result)?) } else { result };
        let ValidatedJson { text: result, own } =
            self.outgoing_value(None, row.map(|row| row.result), &given, Part::Response)?;
        let (result, instead) = self.stopped_result(request, result);
        let result = match result {
            Cow::Owned(result) => Cow::Owned(result),
            Cow::Borrowed(result) if result.len() < given.len() => Cow::Owned(result.to_owned()),
            Cow::Borrowed(_) => given,
        };
        let length = result.len();
        let message = self.fitting_answer(id, length, || write_result(id, result))?;
        let result = &message[message.len() - length - 1..message.len() - 1];
        let said = Message::end(On::Answer, request, &self.state, Some(result));
        let mut advice = self.judge_outgoing(&said, own)?;
        advice.extend(instead);
        if let Some(request) = self.state.inbound.remove(id) {
            self.track_answer(&request, Some(result));
        }
        let kept = (starts || self.repeats.len() > 0).then(|| result.to_owned());
        let welcome = kept.clone().filter(|_| starts);
        self.send_answer(id, message);
        self.advise(advice);
        if let Some(result) = kept {
            self.end_repetitions(id, Ended::Result(&result));
        }
        if let Some(welcome) = welcome {
            self.initialize_answered(welcome);
        }
        Ok(())
    }

    /// Answers a request of the peer's with an error; `data` is JSON text.
    ///
    /// The error of a prompt that the client has cancelled is sent as the stop reason `cancelled` (TURN-15), and
    /// [`ErrorCode::REQUEST_CANCELLED`] on a permission request as the outcome `cancelled` (PERM-05), on an elicitation as
    /// the action `cancel` (ELIC-28). In version 2, [`ErrorCode::RESOURCE_NOT_FOUND`] without data on a call about a session
    /// that is not open here names the session in `data.sessionId` (SESS-01).
    ///
    /// # Errors
    /// [`Misuse`] when no such request is open (RPC-15) or `data` is not JSON; nothing was sent.
    pub fn respond_error<'k>(
        &mut self,
        request: impl Into<RequestKey<'k>>,
        code: ErrorCode,
        message: &str,
        data: Option<&str>,
    ) -> Result<(), Misuse> {
        let request = self.answerable(request.into())?;
        let id = &request.id.clone();
        let starts = request.row.is_some_and(|row| row.phase == table::Phase::Start);
        let instead = self.cancelled_result(request, code);
        let data = match data {
            Some(data) => Some(self.outgoing_value(None, None, data, Part::Response)?.text),
            None => None,
        };
        let length = message.len() + data.as_deref().map_or(0, str::len);
        let (text, advice) = if let Some(result) = instead {
            (write_result(id, Cow::Borrowed(result)), Vec::new())
        } else {
            let named = self.named_session(request, code).filter(|_| data.is_none());
            let data = named.as_deref().or(data.as_deref());
            let text = self.fitting_answer(id, length, || write_error(id, code, message, data));
            // What is only added for the peer is no reason to refuse.
            let text = text.or_else(|misuse| match named {
                Some(_) => self.fitting_answer(id, length, || write_error(id, code, message, None)),
                None => Err(misuse),
            })?;
            let error = json::pointer(&text, "/error");
            let said = Message::end(On::Error, request, &self.state, error);
            let advice = self.judge_outgoing(&said, Vec::new())?;
            (text, advice)
        };
        if let Some(request) = self.state.inbound.remove(id) {
            self.track_error(&request, json::pointer(&text, "/error"));
            self.track_answer(&request, instead);
        }
        self.send_answer(id, text);
        self.advise(advice);
        self.end_repetitions(id, Ended::Error(code, message, data.as_deref()));
        if starts {
            self.initialize_failed();
        }
        Ok(())
    }

    /// Asks the peer to cancel a request of the host's own (`$/cancel_request`). Its answer still comes, whatever it is
    /// (CANCEL-14); without one the request ends after the [grace time](super::Config::cancel_grace). Asking twice sends
    /// nothing more. Where it is the prompt, or the last of a session's prompts, the open permission requests of the
    /// session are answered with `cancelled` (PERM-05) and its elicitations with `cancel`.
    ///
    /// # Errors
    /// [`Misuse`] when no such own request is open (CANCEL-08), or the id is null (CANCEL-20). A prompt of version 2
    /// is answered when the work on it begins: from then on `session/cancel` stops it (CANCEL-19).
    pub fn cancel<'k>(&mut self, request: impl Into<RequestKey<'k>>) -> Result<(), Misuse> {
        self.open()?;
        let key = request.into();
        let found = self.state.outbound.find(key).map(|request| request.id.clone());
        let Some(id) = &found.or_else(|| key.id.cloned()) else {
            return Err(not_open(key));
        };
        if *id == Id::Null && id!("CANCEL-20").is_on(Way::Send) {
            let misuse = Misuse::new(MisuseKind::Params, id!("CANCEL-20"), "expected the id of a request");
            return Err(misuse.at("/requestId"));
        }
        if self.state.outbound.get(id).is_none() && id!("CANCEL-08").is_on(Way::Send) {
            if !self.inserted.has(id) {
                return Err(not_open(key));
            }
            let message =
                format!("the prompt with the id {id} has become a message; session/cancel stops the work on it");
            return Err(Misuse::new(MisuseKind::Id, id!("CANCEL-08"), message));
        }
        if let Some(request) = self.state.outbound.mark_cancelled(id, self.grace()) {
            let session = request.session.clone();
            let params = format!("{{\"requestId\":{id}}}");
            self.outbox.push_whole(write_notification(CANCEL, &params));
            if let Some(session) =
                session.filter(|session| self.auto_answer_reason(session) == Some(AutoAnswerReason::Prompt))
            {
                self.auto_answer(Some(&session), AutoAnswerReason::Prompt);
            }
        }
        Ok(())
    }

    /// Whether a method could be sent now as far as version, side, phase and capabilities go (CAP-02).
    ///
    /// A parameter or value that needs a capability of its own stands behind a colon: `session/prompt:image`, `:audio`
    /// and `:resource`; `session/new:http` (or another call that opens a session), `:sse`, `:acp`,
    /// `:additionalDirectories`, `:systemPrompt`, `:systemPromptOverride` and `:configOptions`; `elicitation/create:form`
    /// and `:url`; `session/update:` and the kind of an update, or `session` for a tool call's link to one.
    /// `tool_call/cancel` and `terminal/cancel` can be sent while something in a session offers it; the id of a tool call
    /// or terminal behind the colon asks for that one (TOOL-37, DTERM-14).
    pub fn can(&self, method: &str) -> bool {
        self.why_not(method).is_none()
    }

    /// Why a method could not be sent now; `None` when it could.
    pub fn why_not(&self, method: &str) -> Option<Misuse> {
        let (method, part) = method.split_once(':').map_or((method, None), |(method, part)| (method, Some(part)));
        let form = self.state.method(method).map(|row| row.kind != table::Kind::Notification);
        let refused = self.admitted(method, form.unwrap_or(true)).err();
        refused.or_else(|| {
            let (rule, message) = withheld(&self.state, method, part)?;
            Some(Misuse::new(MisuseKind::Capability, rule, message))
        })
    }

    pub(super) fn open(&self) -> Result<(), Misuse> {
        if self.phase == Phase::Closed && id!("RPC-33").is_on(Way::Send) {
            return Err(Misuse::new(MisuseKind::Phase, id!("RPC-33"), "the connection is over"));
        }
        Ok(())
    }

    /// The row of a method that may be sent now; `None` for an extension.
    pub(super) fn admitted(&self, method: &str, is_request: bool) -> Result<Option<&'static Method>, Misuse> {
        // Requests, and asking back for them, end with the stream; a peer that only stopped writing can still be told.
        if is_request || method == CANCEL {
            self.open()?;
        } else {
            self.writable()?;
        }
        let row = self.state.method(method);
        let Some(row) = row else {
            let early = Some(too_early(self.state.config.role)).filter(|_| !self.ready());
            if let Some(refusal) = early.filter(|refusal| refusal.rule.is_on(Way::Send)) {
                return Err(refusal.into());
            }
            let own = method.starts_with('_') || self.state.config.is_foreign(method);
            if own || !id!("EXT-07").is_on(Way::Send) {
                return Ok(None);
            }
            if method.starts_with(JSON_RPC) && id!("RPC-26").is_on(Way::Send) {
                let message = "names that begin with rpc. belong to JSON-RPC; own methods start with an underscore";
                return Err(Misuse::new(MisuseKind::Method, id!("RPC-26"), message));
            }
            return Err(Misuse::new(MisuseKind::Method, id!("EXT-07"), self.no_such_method(method)));
        };
        match self.admit(row, self.state.config.role, is_request) {
            None => Ok(Some(row)),
            Some(refusal) if refusal.kind == MisuseKind::Capability => {
                let message = format!("{}; check before: can(\"{method}\")", refusal.message);
                Err(Misuse::new(refusal.kind, refusal.rule, message))
            }
            Some(refusal) => Err(refusal.into()),
        }
    }

    fn no_such_method(&self, method: &str) -> String {
        let near = nearest(method, self.state.tables.methods.iter().map(|row| row.name));
        format!(
            "no method {} in version {}{}; {} methods start with an underscore, and others have to be configured as \
             foreign methods",
            shown(method),
            self.state.tables.version,
            if self.state.config.drafts == 0 { " (drafts are off)" } else { "" },
            near.map_or_else(|| "own".to_owned(), |near| format!("did you mean \"{near}\"? Own"))
        )
    }

    /// JSON of the host's that fits its type and stands on one line.
    pub(super) fn outgoing_value<'a>(
        &self,
        tables: Option<&'static table::Tables>,
        ty: Option<TypeId>,
        json: &'a str,
        part: Part,
    ) -> Result<ValidatedJson<'a>, Misuse> {
        let tables = tables.unwrap_or(self.state.tables);
        let validator = Validator::new(tables, self.state.config.drafts, Mode::Send, part);
        self.validate_outgoing(validator, ty.unwrap_or(0), json.trim()).map(|(fitting, _)| fitting)
    }

    /// The same, with all that was seen on the way.
    pub(super) fn validate_outgoing<'a>(
        &self,
        validator: Validator,
        ty: TypeId,
        text: &'a str,
    ) -> Result<(ValidatedJson<'a>, Validated<'a>), Misuse> {
        let mut validated = validate(validator, ty, text).map_err(|rejected| match rejected {
            Rejected::Invalid(problem) => Misuse::problem(&problem, text),
            Rejected::Syntax(error) => {
                let rule = if error.kind == SyntaxKind::Surrogate { id!("FRAME-01") } else { id!("RPC-21") };
                Misuse::new(MisuseKind::Params, rule, format!("not JSON: {error}"))
            }
        })?;
        let mut own = std::mem::take(&mut validated.checked.problems);
        own.retain(|problem| match problem.rule.as_str() {
            // What a side says that it can do may be somebody else's, whom it passes on.
            "EXT-01" if problem.found == OF_A_DRAFT && !self.ready() => false,
            "EXT-01" => self.state.config.policy_for(problem.rule) != Policy::Off,
            "PROV-11" => !self.state.providers.lists(text),
            _ => true,
        });
        // Line breaks can only stand between tokens here, where a blank says the same (FRAME-02).
        let lines = memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some();
        let text = if lines && id!("FRAME-02").is_on(Way::Send) {
            Cow::Owned(text.replace(['\n', '\r'], " "))
        } else {
            Cow::Borrowed(text)
        };
        Ok((ValidatedJson { text, own }, validated))
    }

    /// The session of this id, if the method may name it now: misuse if it is not open here (SESS-01) or not set up yet
    /// (TURN-20).
    pub(super) fn own_session(&self, row: &Method, id: &str) -> Result<Arc<str>, Misuse> {
        match self.state.sessions.standing(row, id, Way::Send) {
            Standing::Fits => Ok(self.state.sessions.intern(id)),
            Standing::Unknown => {
                let message = format!("the session {} is not open on this connection", shown(id));
                Err(Misuse::new(MisuseKind::Session, unknown(row, Way::Send), message).at("/sessionId"))
            }
            Standing::NotSetUp => Err(Misuse::new(MisuseKind::Phase, id!("TURN-20"), NOT_SET_UP).at("/sessionId")),
        }
    }

    /// A peer that only stopped writing can still be told and answered.
    fn writable(&self) -> Result<(), Misuse> {
        if self.ended == Some(CloseReason::EndOfStream) {
            return Ok(());
        }
        self.open()
    }

    /// LIMIT-01 holds for what is sent too: a peer with the same limit could not read it.
    pub(super) fn fits_frame(&self, length: usize, write: impl FnOnce() -> String) -> Result<String, Misuse> {
        if !self.outbox.has_memory(length) {
            let message = format!("no memory for a message of {length} bytes; write what waits in transmit first");
            return Err(Misuse::new(MisuseKind::Limit, id!("LIMIT-01"), message));
        }
        let message = write();
        let limit = self.state.config.limits.frame;
        if message.len() > limit && id!("LIMIT-01").is_on(Way::Send) {
            let message = format!("a message of {} bytes where {limit} are the limit", message.len());
            return Err(Misuse::new(MisuseKind::Limit, id!("LIMIT-01"), message));
        }
        Ok(message)
    }

    fn answerable(&self, key: RequestKey<'_>) -> Result<&OpenRequest, Misuse> {
        self.writable()?;
        self.state.inbound.find(key).ok_or_else(|| {
            Misuse::new(MisuseKind::Id, id!("RPC-15"), format!("no request with {key} waits for an answer"))
        })
    }

    fn free_id(&self) -> Id {
        let mut number = self.next_id;
        while self.is_taken(&Id::Number(number)) {
            number += 1;
        }
        Id::Number(number)
    }

    /// Whether the peer may still answer a request with this id.
    fn is_taken(&self, id: &Id) -> bool {
        self.state.outbound.get(id).is_some() || self.state.late.get(id).is_some()
    }
}

fn not_open(key: RequestKey<'_>) -> Misuse {
    Misuse::new(MisuseKind::Id, id!("CANCEL-08"), format!("no own request with {key} is open"))
}

fn name(row: Option<&'static Method>, method: &str) -> Cow<'static, str> {
    row.map_or_else(|| Cow::Owned(method.to_owned()), |row| Cow::Borrowed(row.name))
}
