//! The host's notifications, which are most of what an agent sends, and how the params of its calls are read.

use std::borrow::Cow;
use std::sync::Arc;

use super::misuse::Misuse;
use super::mould::{Cast, Holes, Read};
use super::outgoing::{Fitting, CANCEL};
use super::Connection;
use crate::engine::questions::Occasion;
use crate::engine::{Message, MisuseKind};
use crate::json;
use crate::jsonrpc::{write_notification, Id};
use crate::rules::Way;
use crate::validation::table::{Method, Scope};
use crate::validation::{Facts, Mode, Part, Problem, Walker};

/// Params that may be sent.
#[derive(Default)]
pub(super) struct Told<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) own: Vec<Problem>,
    pub(super) session: Option<Arc<str>>,
    pub(super) update: Option<&'static str>,
    pub(super) facts: Facts,
}

impl Connection {
    /// Sends a notification. `session/cancel` also answers the session's open permission requests with `cancelled`
    /// (CANCEL-03), but for those of background work (CANCEL-24), and in version 1 its open elicitations with `cancel`
    /// (ELIC-29); in version 2 the agent takes back those that it no longer needs (ELIC-32). An idle `state_update` that ends work which the client has cancelled has the stop reason `cancelled`, whatever it says
    /// (LIFE-15); [advice](super::Advice) tells of it.
    ///
    /// # Errors
    /// [`Misuse`] when the specification forbids it now or the params do not fit; nothing was sent.
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
        let mut told = self.told(row, params, Part::Notification)?;
        let (stopped, instead) = self.stopped_update(&told).unzip();
        if let Some(stopped) = &stopped {
            told = self.told(row, stopped, Part::Notification)?;
        }
        let Told { text: params, own, session, update, facts } = told;
        let message = self.fits_frame(params.len(), || write_notification(method, &params))?;
        let rows = self.state.rows_of(row, method, false, update);
        let facts_of = row.map(|_| (&*params, &facts));
        let said =
            Message { method, session: session.as_ref(), body: Some(&params), facts: facts_of, rows, request: None };
        let mut advice = self.judge_host(&said, own)?;
        advice.extend(instead);
        self.outbox.push_whole(message);
        self.state.sessions.foresee(method, session.as_ref());
        self.track(&said);
        self.show_told(&said, update);
        if let (Some(session), "session/cancel") = (&session, method) {
            self.dismiss(Some(session), Occasion::Cancel);
        }
        self.advise(advice);
        self.spare = facts.cleared();
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

    /// Holds params against the model and the sessions.
    pub(super) fn told<'a>(
        &mut self,
        row: Option<&'static Method>,
        params: &'a str,
        part: Part,
    ) -> Result<Told<'a>, Misuse> {
        let cast = self.own_moulds.cast(params, self.state.tables, &mut self.spare);
        if let Some(Cast { row, session, update, facts, .. }) =
            cast.filter(|cast| row.is_some_and(|row| std::ptr::eq(row, cast.row)))
        {
            let session = Some(self.own_session(row, &session)?);
            return Ok(Told { text: Cow::Borrowed(params), own: Vec::new(), session, update, facts });
        }
        let spare = std::mem::take(&mut self.spare);
        let mut walker = Walker::with(spare, self.state.tables, self.state.config.drafts, Mode::Send, part);
        let mut holes = std::mem::take(&mut self.holes);
        holes.clear();
        walker.holes = Some(holes);
        let (Fitting { text, own }, looked) = self.outgoing_look(walker, row.map_or(0, |row| row.params), params)?;
        let place = looked.session.filter(|_| row.is_some_and(|row| row.session != Scope::Connection));
        let id = place.clone().and_then(|place| json::unescape(&params[place]));
        let session = match row.zip(id) {
            Some((row, id)) => Some(self.own_session(row, &id)?),
            None => None,
        };
        let mut holes: Holes = looked.holes.unwrap_or_default();
        holes.retain(|(hole, _)| Some(hole) != place.as_ref());
        if let (Some(row), Some(session), true, Cow::Borrowed(_)) = (row, &session, own.is_empty(), &text) {
            let (update, facts) = (looked.variant, &looked.facts);
            self.own_moulds.learn(params, &Read { row, update, session, facts, params: 0..params.len() }, &holes);
        }
        self.holes = holes;
        Ok(Told { text, own, session, update: looked.variant, facts: looked.facts })
    }
}
