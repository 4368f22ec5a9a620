//! The agent's questions to the user in version 2: requests for permission in its shape, and the state `requires_action`
//! while the work waits for them (LIFE-06).

use std::collections::VecDeque;
use std::sync::Arc;

use super::newer::{tell_state, Newer};
use super::object::{is_object, quoted, text, Object};
use super::tools;
use crate::connection::{CallOptions, Misuse, Outcome, Response, ResultText};
use crate::{json, Connection, Event, Id};

const PERMISSION: &str = "session/request_permission";
const ELICITATION: &str = "elicitation/create";
/// The title of a request about a tool call without one.
const TITLE: &str = "Allow this tool call?";
const CANCELLED: &str = r#"{"outcome":{"outcome":"cancelled"}}"#;
const ACTIONS: &[&str] = &["accept", "decline", "cancel"];

/// An open question.
#[derive(Debug, Default)]
pub(super) struct Question {
    /// The prompt whose work waits for it.
    turn: Option<u64>,
    /// The tool call that it is about.
    tool_call: Option<String>,
    /// The id of the option that rejects this once, if it is offered.
    reject: Option<String>,
    /// Nobody needs the answer any more.
    withdrawn: bool,
}

impl Newer {
    /// Sends a request that is one of version 1.
    pub(super) fn ask(
        &mut self,
        connection: &mut Connection,
        method: &str,
        params: &str,
        options: CallOptions,
        ready: &mut VecDeque<Event>,
    ) -> Result<Id, Misuse> {
        if !matches!(method, PERMISSION | ELICITATION) {
            return connection.request_with(method, params, options);
        }
        let session = text(params, "/sessionId").and_then(|id| self.sessions.get_key_value(&*id));
        let session = session.map(|(id, _)| Arc::clone(id));
        if let Some(turn) = session.as_ref().and_then(|session| self.sessions.get(session)?.turn) {
            // It is part of the first step of a handler that does not hold its prompt.
            self.stepped(connection, turn, ready)?;
        }
        let asked = if method == PERMISSION { self.permission(session.as_deref(), params) } else { None };
        let id = connection.request_with(method, asked.as_deref().unwrap_or(params), options)?;
        let Some(serial) = connection.pending_by_id(&id).map(|open| open.serial) else { return Ok(id) };
        let mut question = Question {
            tool_call: text(params, "/toolCall/toolCallId").or_else(|| text(params, "/toolCallId")).map(Into::into),
            reject: rejection(params),
            ..Question::default()
        };
        let keep = connection.config().limits.remembered;
        let background = question.is_background(connection, session.as_deref());
        if let Some((session, known)) = session.and_then(|id| Some((Arc::clone(&id), self.sessions.get_mut(&id)?))) {
            if let Some(call) = json::pointer(params, "/toolCall") {
                known.tools.shown(call, keep);
            }
            question.turn = known.turn.filter(|_| !background && !known.cancelled);
            if question.turn.is_some() && !known.is_blocked {
                known.is_blocked = tell_state(connection, &session, "requires_action", Object::default()).is_ok();
            }
        }
        self.questions.insert(serial, question);
        Ok(id)
    }

    /// A request for permission of version 1 in the shape of version 2 (PERM-10); `None` if it has that shape.
    fn permission(&self, session: Option<&str>, params: &str) -> Option<String> {
        let mut asked = Object::of(params);
        if !is_object(params) || asked.has("title") {
            return None;
        }
        let call = asked.take("toolCall")?;
        let id = text(&call, "/toolCallId");
        let known = session.and_then(|id| self.sessions.get(id)).zip(id).and_then(|(known, id)| known.tools.title(&id));
        let told = text(&call, "/title").filter(|title| !title.trim().is_empty());
        asked.set("title", quoted(told.as_deref().or(known).unwrap_or(TITLE)));
        asked.set("subject", format!("{{\"type\":\"tool_call\",\"toolCall\":{}}}", tools::update(&call)));
        Some(asked.write())
    }

    /// An answer, as in version 1. What waited for it goes on.
    pub(super) fn answered(&mut self, connection: &mut Connection, response: &mut Response) {
        let Some(question) = self.questions.remove(&response.serial) else { return };
        let session = response.session.clone();
        let known = session.as_ref().and_then(|id| self.sessions.get_mut(id));
        let cancelled = known.as_ref().is_some_and(|known| known.cancelled);
        if let Some(result) = response.outcome.result() {
            let instead = match &*response.method {
                PERMISSION => question.outcome(result, cancelled),
                _ => action(result),
            };
            if let Some(instead) = instead {
                response.outcome = Outcome::Result(ResultText::of(instead));
            }
        }
        let Some((session, known)) = session.zip(known).filter(|(_, known)| known.is_blocked) else { return };
        let waits = self.questions.values().any(|other| other.turn.is_some() && other.turn == known.turn);
        if question.turn.is_some() && question.turn == known.turn && !waits {
            known.is_blocked = false;
            // Work that is cancelled does not go on.
            if !known.cancelled {
                // It fails once the connection is over.
                let _ = tell_state(connection, &session, "running", Object::default());
            }
        }
    }

    /// The host does not wait for an answer any more.
    pub(super) fn withdrawn(&mut self, serial: u64) {
        if let Some(question) = self.questions.get_mut(&serial) {
            question.withdrawn = true;
        }
    }

    /// Whether a question belongs to work that goes on when a session is cancelled (CANCEL-24).
    pub(super) fn is_background(&self, connection: &Connection, serial: u64) -> bool {
        let session = connection.pending_by_serial(serial).and_then(|open| open.session.as_deref());
        self.questions.get(&serial).is_some_and(|question| question.is_background(connection, session))
    }
}

impl Question {
    fn is_background(&self, connection: &Connection, session: Option<&str>) -> bool {
        let list = session.and_then(|id| connection.session(id)?.background()).unwrap_or("[]");
        self.tool_call.is_some()
            && json::items(list)
                .into_iter()
                .any(|work| text(work, "/toolCallId").as_deref() == self.tool_call.as_deref())
    }

    /// The result of version 1, if it is another one. There, `cancelled` says that the turn is.
    fn outcome(&self, result: &str, cancelled: bool) -> Option<String> {
        match text(result, "/outcome/outcome").as_deref() {
            Some("selected") => None,
            Some("cancelled") if cancelled || self.withdrawn => None,
            Some("cancelled") => {
                let id = quoted(self.reject.as_deref()?);
                Some(format!("{{\"outcome\":{{\"outcome\":\"selected\",\"optionId\":{id}}}}}"))
            }
            // An outcome that is not understood allows nothing (PERM-15).
            _ => Some(CANCELLED.to_owned()),
        }
    }
}

fn rejection(params: &str) -> Option<String> {
    let options = json::pointer(params, "/options").map(json::items).unwrap_or_default();
    let found = options.into_iter().find(|option| text(option, "/kind").is_some_and(|kind| kind == "reject_once"))?;
    text(found, "/optionId").map(Into::into)
}

/// An action that is not known counts as `cancel`.
fn action(result: &str) -> Option<String> {
    let known = text(result, "/action").is_some_and(|action| ACTIONS.contains(&&*action));
    (!known).then(|| r#"{"action":"cancel"}"#.to_owned())
}
