//! Sending notifications, which are most of what an agent sends; and preparing params, which requests need too.

use std::borrow::Cow;
use std::sync::Arc;

use super::merging;
use super::misuse::Misuse;
use super::outgoing::{ValidatedJson, CANCEL};
use super::template_cache::{CacheHit, ParsedCall, Scratch};
use super::Connection;
use crate::engine::operations::Operation;
use crate::engine::questions::AutoAnswerReason;
use crate::engine::{MisuseKind, RuleMessage, RuleSet};
use crate::json;
use crate::jsonrpc::{write_notification, Id};
use crate::rules::Way;
use crate::validation::table::{Method, Scope};
use crate::validation::{FieldIndex, Mode, Part, Problem, Validator};

/// Params that are valid and name a session that may be named.
#[derive(Default)]
pub(super) struct PreparedParams<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) own: Vec<Problem>,
    pub(super) session: Option<Arc<str>>,
    pub(super) update: Option<&'static str>,
    pub(super) field_index: FieldIndex,
}

impl Connection {
    /// Sends a notification; `params` is JSON text as for [`request`](Self::request).
    ///
    /// `session/cancel` also answers the session's open permission requests with `cancelled` (CANCEL-03), except for those
    /// of background work (CANCEL-24), and in version 1 its open elicitations with `cancel` (ELIC-29); in version 2 the agent
    /// withdraws those that it no longer needs (ELIC-32). `$/cancel_request` is sent by [`cancel`](Self::cancel). An idle
    /// `state_update` that ends work which the client has cancelled gets the stop reason `cancelled`, whatever it says
    /// (LIFE-15); an [`Advice`](super::Advice) event reports the change.
    ///
    /// # Errors
    /// [`Misuse`] when the specification does not allow the method now, the params are not valid, a rule forbids the
    /// message, or it is too long (LIMIT-01). Nothing was sent.
    pub fn notify(&mut self, method: &str, params: &str) -> Result<(), Misuse> {
        if method == CANCEL {
            let id = json::pointer(params, "/requestId")
                .and_then(Id::from_json)
                .filter(|id| *id != Id::Null || !id!("CANCEL-20").is_on(Way::Send));
            let id = id.ok_or_else(|| {
                Misuse::new(MisuseKind::Params, id!("CANCEL-20"), "expected the id of a request").at("/requestId")
            })?;
            return self.cancel(&id);
        }
        let row = self.admitted(method, false)?;
        let params = self.structured(row, params)?;
        let mut prepared = self.prepare_params(row, params, Part::Notification)?;
        let (stopped, instead) = self.stopped_update(&prepared).unzip();
        if let Some(stopped) = &stopped {
            prepared = self.prepare_params(row, stopped, Part::Notification)?;
        }
        let PreparedParams { text: params, own, session, update, field_index } = prepared;
        let message = self.fits_frame(params.len(), || write_notification(method, &params))?;
        let rows = self.state.rows_of(row, method, false, update);
        let index_of = row.map(|_| (&*params, &field_index));
        let said = RuleMessage {
            method,
            session: session.as_ref(),
            body: Some(&params),
            field_index: index_of,
            rows,
            operation: None,
            request: None,
        };
        let mut advice = self.judge_outgoing(&said, own)?;
        advice.extend(instead);
        if self.sending.merges && merging::is_chunk(update) {
            self.sending.write_chunk(message);
        } else {
            self.sending.write(message);
        }
        self.state.sessions.foresee(method, session.as_ref());
        let operation = Operation::of(&said, self.state.tables);
        let said = RuleMessage { operation: operation.as_ref(), ..said };
        self.track(&said);
        self.show_told(&said);
        if let (Some(session), "session/cancel") = (&session, method) {
            self.auto_answer(Some(session), AutoAnswerReason::Cancel);
        }
        self.advise(advice);
        self.sending.templates.recycle_index(field_index);
        Ok(())
    }

    /// The misuse that sending a notification would be whatever was said before: by its version, its phase and its params.
    pub(crate) fn check_notification(&mut self, method: &str, params: &str) -> Result<(), Misuse> {
        let row = self.admitted(method, false)?;
        let params = self.structured(row, params)?;
        let PreparedParams { text, own, field_index, .. } = self.prepare_params(row, params, Part::Notification)?;
        self.fits_frame(text.len(), || write_notification(method, &text))?;
        let said = RuleMessage {
            method,
            session: None,
            body: Some(&text),
            field_index: None,
            rows: RuleSet::default(),
            operation: None,
            request: None,
        };
        self.judge_outgoing(&said, own)?;
        self.sending.templates.recycle_index(field_index);
        Ok(())
    }

    /// RPC-19: params are an object; those of a method that is not the specification's may be a list, as JSON-RPC allows.
    pub(super) fn structured<'a>(&self, row: Option<&Method>, params: &'a str) -> Result<&'a str, Misuse> {
        let params = params.trim();
        let expected = match (params.as_bytes().first(), row) {
            (Some(b'{'), _) | (Some(b'['), None) => return Ok(params),
            (_, Some(_)) => "expected an object",
            (_, None) => "expected an object, or a list",
        };
        if !id!("RPC-19").is_on(Way::Send) {
            return Ok(params);
        }
        // What is no JSON at all is another mistake.
        self.outgoing_value(None, None, params, Part::Request)?;
        Err(Misuse::new(MisuseKind::Params, id!("RPC-19"), expected))
    }

    /// Validates params against the schema, and that their session may be named.
    pub(super) fn prepare_params<'a>(
        &mut self,
        row: Option<&'static Method>,
        params: &'a str,
        part: Part,
    ) -> Result<PreparedParams<'a>, Misuse> {
        let hit = self.sending.templates.lookup(params, self.state.tables);
        if let Some(CacheHit { row, session, update, field_index, .. }) =
            hit.filter(|hit| row.is_some_and(|row| std::ptr::eq(row, hit.row)))
        {
            let session = Some(self.own_session(row, &session)?);
            return Ok(PreparedParams { text: Cow::Borrowed(params), own: Vec::new(), session, update, field_index });
        }
        let Scratch { field_index, slots } = self.sending.templates.take_scratch();
        let mut validator = Validator::with(field_index, self.state.tables, self.state.config.drafts, Mode::Send, part);
        validator.slots = Some(slots);
        let (ValidatedJson { text, own }, validated) =
            self.validate_outgoing(validator, row.map_or(0, |row| row.params), params)?;
        let place = validated.session.filter(|_| row.is_some_and(|row| row.session != Scope::Connection));
        let id = place.clone().and_then(|place| json::unescape(&params[place]));
        let session = match row.zip(id) {
            Some((row, id)) => Some(self.own_session(row, &id)?),
            None => None,
        };
        let mut slots = validated.slots.unwrap_or_default();
        if let Some(place) = &place {
            // A template is for one session, which is looked up by its id.
            slots.exclude(place);
        }
        if let (Some(row), Some(session), true, Cow::Borrowed(_)) = (row, &session, own.is_empty(), &text) {
            let (update, field_index) = (validated.variant, &validated.field_index);
            let parsed = ParsedCall { row, update, session, field_index, params: 0..params.len() };
            self.sending.templates.insert(params, &parsed, &slots);
        }
        self.sending.templates.recycle_slots(slots);
        Ok(PreparedParams { text, own, session, update: validated.variant, field_index: validated.field_index })
    }
}
