//! Sending requests and answers. Each call writes one whole message and changes the state with it, or returns [`Misuse`]
//! and changes nothing.

use std::borrow::Cow;
use std::sync::Arc;

use super::misuse::{shown, Misuse};
use super::notify::PreparedParams;
use super::options::CallOptions;
use super::repeats::Ended;
use super::Connection;
use crate::engine::operations::Operation;
use crate::engine::questions::AutoAnswerReason;
use crate::engine::{rows, unknown, MessageKind, MisuseKind, OpenRequest, Policy, RequestKey, RuleMessage, Standing};
use crate::json::{self, SyntaxKind};
use crate::jsonrpc::{write_error, write_notification, write_request, write_result, ErrorCode, Id, MAX_NAME_BYTES};
use crate::rules::Way;
use crate::validation::table::{self, Effect, Method, TypeId};
use crate::validation::{validate, Mode, Part, Problem, Rejected, Validated, Validator, OF_A_DRAFT};

/// The answer to a prompt that the client has cancelled.
pub(super) const CANCELLED_TURN: &str = r#"{"stopReason":"cancelled"}"#;

const NOT_SET_UP: &str =
    "the session is being loaded or resumed; wait for the answer to that, or send session/cancel or session/close";

/// The notification that asks for a request back.
pub(super) const CANCEL: &str = "$/cancel_request";

/// A name of an own method, or the id of a request, is so long that no peer has to read it.
pub(super) fn too_long() -> Misuse {
    Misuse::new(MisuseKind::Limit, id!("LIMIT-07"), "a method or an id has more than 4,096 bytes")
}

/// JSON of the host that is valid for its type.
pub(super) struct ValidatedJson<'a> {
    pub(super) text: Cow<'a, str>,
    /// What may not be in it, or should not: see [`Connection::judge_outgoing`].
    pub(super) own: Vec<Problem>,
}

impl Connection {
    /// Sends a request and returns its id. The answer comes as one [`Event::Response`](super::Event::Response).
    ///
    /// `params` is JSON text: an object, or for a method that the specification does not have, an object or a list
    /// (RPC-19). The params of `initialize` get a `protocolVersion` when they have none (INIT-03).
    ///
    /// # Errors
    /// [`Misuse`] when the specification does not allow the method now, the params are not valid, a rule forbids the
    /// message, or a [limit](super::Limits) is reached (LIMIT-01, LIMIT-03, LIMIT-04, LIMIT-05). Nothing was sent.
    pub fn request(&mut self, method: &str, params: &str) -> Result<Id, Misuse> {
        self.request_with(method, params, CallOptions::default())
    }

    /// As [`request`](Self::request), with an id or a time limit of the host's choice.
    ///
    /// # Errors
    /// As [`request`](Self::request); also when the id is null (RPC-07) or names a request that is still open (RPC-10).
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
            return Err(Misuse::new(MisuseKind::Limit, id!("LIMIT-03"), format!("{limit} requests are already open")));
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
            Some(Id::String(id)) if id.len() > MAX_NAME_BYTES && id!("LIMIT-07").is_on(Way::Send) => {
                return Err(too_long())
            }
            Some(id) if self.is_taken(&id) && id!("RPC-10").is_on(Way::Send) => {
                return Err(Misuse::new(
                    MisuseKind::Id,
                    id!("RPC-10"),
                    format!("the id {id} names a request that the peer has not answered"),
                ));
            }
            Some(id) => id,
            None => self.sending.free_id(|id| self.is_taken(id)),
        };
        let message = self.fits_frame(params.len(), || write_request(&id, method, &params))?;
        let rows = match tables {
            Some(tables) => rows(tables.version, MessageKind::Call, method, None),
            None => self.state.rows_of(row, method, true, None),
        };
        let index_of = row.filter(|_| !starts).map(|_| (&*params, &field_index));
        let said = RuleMessage {
            method,
            session: session.as_ref(),
            body: Some(&params),
            field_index: index_of,
            rows,
            operation: None,
            request: None,
        };
        let advice = self.judge_outgoing(&said, own)?;
        if allocated {
            self.sending.use_id(&id);
        }
        let serial = self.next_serial();
        let operation = Operation::of(&said, self.state.tables);
        let said = RuleMessage { operation: operation.as_ref(), ..said };
        let note = self.track(&said);
        self.show_asked(&said, &id);
        let generation = self.state.sessions.generation(session.as_ref());
        self.sending.write(message);
        self.state.outbound.insert(OpenRequest {
            id: id.clone(),
            serial,
            method: name(row, method),
            session: session.clone(),
            cancelled: false,
            deadline: self.clock.after(options.timeout.milliseconds(self.state.config.timeout)),
            row,
            generation,
            note,
            grace: None,
            late: None,
        });
        if let Some(session) = session.as_ref().filter(|_| row.is_some_and(|row| row.effect == Effect::Ends)) {
            self.auto_answer(Some(session), AutoAnswerReason::SessionEnd);
        }
        match tables {
            Some(tables) => self.initialize_sent(tables, params.into_owned()),
            None => self.lifecycle.other_request(self.state.config.role()),
        }
        self.advise(advice);
        Ok(id)
    }

    /// Answers a request of the peer with a result. The request is named by its event, its id or its serial; `result` is
    /// JSON text.
    ///
    /// The result of `initialize` gets the agreed `protocolVersion` when it has none (INIT-10). A prompt that the client has
    /// cancelled ends with the stop reason `cancelled`, whatever the result says (CANCEL-06); an
    /// [`Advice`](super::Advice) event reports the change.
    ///
    /// # Errors
    /// [`Misuse`] when no such request is open (RPC-15), the result is not valid, a rule forbids it, or the answer is too
    /// long (LIMIT-01). Nothing was sent, and the request is still open.
    pub fn respond<'k>(&mut self, request: impl Into<RequestKey<'k>>, result: &str) -> Result<(), Misuse> {
        self.respond_with(request.into(), Cow::Borrowed(result))
    }

    /// As [`respond`](Self::respond). An owned result becomes the message in place, so that one of many megabytes is not
    /// held in memory twice.
    pub(crate) fn respond_with(&mut self, key: RequestKey<'_>, result: Cow<'_, str>) -> Result<(), Misuse> {
        let request = match (self.answerable(key), key.id) {
            // Nobody waits for it.
            (Err(misuse), Some(id)) if misuse.rule == id!("RPC-15") && !misuse.rule.is_on(Way::Send) => {
                self.sending.write(write_result(id, result));
                return Ok(());
            }
            (request, _) => request?,
        };
        let id = &request.id.clone();
        let row = request.row;
        let starts = row.is_some_and(|row| row.phase == table::Phase::Start);
        let nothing = result.trim() == "null" && id!("RPC-31").is_on(Way::Send);
        if nothing && row.is_some_and(|row| row.result != 0) {
            let message = "null instead of an object; an empty result is {}";
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
        let said = RuleMessage::end(MessageKind::Answer, request, &self.state, Some(result));
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

    /// Answers a request of the peer with an error: a code, a message for people, and optionally `data` as JSON text.
    ///
    /// Some errors are sent as the result that the specification has for the case. For a prompt that the client has
    /// cancelled, any error is sent as the stop reason `cancelled` (TURN-15). [`ErrorCode::REQUEST_CANCELLED`] is sent as
    /// the outcome `cancelled` on a permission request (PERM-05) and as the action `cancel` on an elicitation (ELIC-28).
    /// In version 2, [`ErrorCode::RESOURCE_NOT_FOUND`] without data on a request about a session that is not open here gets
    /// the session as `data.sessionId` (SESS-01).
    ///
    /// # Errors
    /// [`Misuse`] when no such request is open (RPC-15), `data` is not JSON (RPC-21), or the answer is too long (LIMIT-01).
    /// Nothing was sent, and the request is still open.
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
            let said = RuleMessage::end(MessageKind::Error, request, &self.state, error);
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

    /// Asks the peer to cancel a request that the host sent (`$/cancel_request`).
    ///
    /// The request still ends with its answer, whatever that is (CANCEL-14), or without one after
    /// [`Config::cancel_grace`](super::Config::cancel_grace). Cancelling a request again sends nothing. When the request
    /// is the last prompt of its session that is not cancelled yet, the session's open permission requests are answered
    /// with `cancelled` (PERM-05) and its elicitations with `cancel` (ELIC-29).
    ///
    /// # Errors
    /// [`Misuse`] when the host has no such request open (CANCEL-08), the id is null (CANCEL-20), or the connection is over
    /// (RPC-33). A prompt of version 2 is answered when work on it begins; from then on only `session/cancel` stops it
    /// (CANCEL-19).
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
                format!("the prompt with the id {id} has become a message; use session/cancel to stop the work");
            return Err(Misuse::new(MisuseKind::Id, id!("CANCEL-08"), message));
        }
        if let Some(request) = self.state.outbound.mark_cancelled(id, self.grace()) {
            let session = request.session.clone();
            let params = format!("{{\"requestId\":{id}}}");
            self.sending.write(write_notification(CANCEL, &params));
            if let Some(session) =
                session.filter(|session| self.auto_answer_reason(session) == Some(AutoAnswerReason::Prompt))
            {
                self.auto_answer(Some(&session), AutoAnswerReason::Prompt);
            }
        }
        Ok(())
    }

    /// Validates JSON of the host against its type, and puts it on one line.
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

    /// As [`outgoing_value`](Self::outgoing_value), with all that validation found out.
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
            "EXT-01" if problem.found == OF_A_DRAFT && !self.lifecycle.was_ready() => false,
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

    /// The message, if it is no longer than a frame (LIMIT-01): a peer with the same limit could not read a longer one.
    pub(super) fn fits_frame(&self, length: usize, write: impl FnOnce() -> String) -> Result<String, Misuse> {
        if !self.sending.has_memory(length) {
            let message = format!("no memory for a message of {length} bytes; write what is queued in transmit first");
            return Err(Misuse::new(MisuseKind::Limit, id!("LIMIT-01"), message));
        }
        let message = write();
        let limit = self.state.config.limits.frame;
        if message.len() > limit && id!("LIMIT-01").is_on(Way::Send) {
            let message = format!("a message of {} bytes, but the limit is {limit}", message.len());
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

    /// Whether the peer may still answer a request with this id.
    fn is_taken(&self, id: &Id) -> bool {
        self.state.outbound.get(id).is_some() || self.state.late.get(id).is_some()
    }
}

fn not_open(key: RequestKey<'_>) -> Misuse {
    Misuse::new(MisuseKind::Id, id!("CANCEL-08"), format!("no request of this side with {key} is open"))
}

fn name(row: Option<&'static Method>, method: &str) -> Cow<'static, str> {
    row.map_or_else(|| Cow::Owned(method.to_owned()), |row| Cow::Borrowed(row.name))
}
