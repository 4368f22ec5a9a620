//! Prompts of version 2: each is answered once it is a message, and an idle state ends the work on it (LIFE-01 to LIFE-05).
//!
//! It becomes one before its handler sees it or, where prompts are held (`Newer::holds`), when its handler is under way.
//! Until then an error or a cancel answers its request (LIFE-18, LIFE-21), and nothing of it is in the conversation. `begin`
//! and `insert` are the two halves. [`waiting`](super::waiting) has the prompts whose turn has not come,
//! [`works`](super::works) what begins without a prompt.

use std::collections::VecDeque;
use std::sync::Arc;

use super::newer::{params, state, tell_state, Newer, Prompt, Stage, UPDATE};
use super::object::{is_object, quoted, Object};
use super::opening::advice;
use super::waiting::{refuse, CANCELLED, OVER};
use super::{found, questions, works, PROMPT};
use crate::connection::{Cancel, Misuse, MisuseKind, Request, RequestKey};
use crate::{json, Connection, ErrorCode, Event};

/// Kinds of updates that come from the work on a prompt, which begins with its message.
const OUTPUT: &[&str] = &[
    "agent_message_chunk",
    "agent_thought_chunk",
    "agent_message",
    "agent_thought",
    "tool_call",
    "tool_call_update",
    "tool_call_content_chunk",
    "terminal_update",
    "terminal_output_chunk",
    "plan",
    "plan_update",
    "plan_removed",
];

impl Newer {
    /// A prompt of the client: it begins a turn, or waits for the end of the one that runs.
    pub(super) fn prompted(&mut self, connection: &mut Connection, request: Request, ready: &mut VecDeque<Event>) {
        let Some(session) = request.session.clone() else { return ready.push_back(Event::Request(request)) };
        let known = self.sessions.entry(session).or_default();
        if known.turn.is_none() {
            self.begin(connection, request, ready);
        } else {
            known.waiting.push(connection, request);
        }
    }

    /// The host sees the prompt. It becomes a message before, or is held.
    fn begin(&mut self, connection: &mut Connection, request: Request, ready: &mut VecDeque<Event>) {
        let Some(session) = request.session.clone() else { return };
        let content = json::pointer(request.params(), "/prompt").unwrap_or("[]").into();
        let stage = Stage::Held { content, by_handler: false };
        let prompt = Prompt { id: request.id.clone(), session: Arc::clone(&session), stage };
        self.prompts.insert(request.serial, prompt);
        let known = self.sessions.entry(Arc::clone(&session)).or_default();
        known.rest();
        known.turn = Some(request.serial);
        if !self.holds {
            if let Err(misuse) = self.insert(connection, request.serial, ready) {
                self.prompts.remove(&request.serial);
                self.sessions.entry(Arc::clone(&session)).or_default().rest();
                return ready.push_back(advice(misuse, PROMPT.to_owned(), Some(&session)));
            }
        }
        ready.push_back(Event::Request(request));
    }

    /// The message of a prompt is in the conversation from now on. Nothing is done where it was before.
    pub(super) fn insert(
        &mut self,
        connection: &mut Connection,
        prompt: u64,
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        let Some(held) = self.prompts.get_mut(&prompt) else { return Err(no_prompt(prompt)) };
        let content = match &held.stage {
            Stage::Held { content, .. } => content,
            Stage::Inserted => return Ok(()),
            Stage::Refused => return Err(cancelled()),
        };
        let session = Arc::clone(&held.session);
        let known = self.sessions.entry(Arc::clone(&session)).or_default();
        if known.cancelled || connection.session(&session).is_none() {
            return Err(cancelled());
        }
        let id = quoted(&self.ids.next());
        let echo = format!("{{\"sessionUpdate\":\"user_message\",\"messageId\":{id},\"content\":{content}}}");
        connection.respond(prompt, &format!("{{\"messageId\":{id}}}"))?;
        held.stage = Stage::Inserted;
        known.message = None;
        let echoed = connection.notify(UPDATE, &params(&session, &echo));
        // Work that has asked the user before goes on to wait.
        let told =
            if known.is_blocked { Ok(()) } else { tell_state(connection, &session, "running", Object::default()) };
        for misuse in [echoed, told].into_iter().filter_map(Result::err) {
            ready.push_back(advice(misuse, UPDATE.to_owned(), Some(&session)));
        }
        Ok(())
    }

    /// The handler of a prompt says itself when it becomes a message.
    pub(super) fn hold(&mut self, prompt: u64) -> Result<(), Misuse> {
        match self.prompts.get_mut(&prompt).map(|prompt| &mut prompt.stage) {
            Some(Stage::Held { by_handler, .. }) => {
                *by_handler = true;
                Ok(())
            }
            Some(Stage::Inserted) => {
                let message = "the prompt is a message of the conversation already; hold it before anything else";
                Err(Misuse::new(MisuseKind::Phase, id!("LIFE-24"), message))
            }
            Some(Stage::Refused) => Err(cancelled()),
            None => Err(no_prompt(prompt)),
        }
    }

    /// The handler of a prompt has made its first step.
    pub(super) fn stepped(
        &mut self,
        connection: &mut Connection,
        prompt: u64,
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        let by_itself = |prompt: &Prompt| matches!(prompt.stage, Stage::Held { by_handler: false, .. });
        if self.prompts.get(&prompt).is_some_and(by_itself) && !self.is_stopped(prompt) {
            return self.insert(connection, prompt, ready);
        }
        Ok(())
    }

    /// The prompt that becomes a message before this update is sent. If its handler holds it, that is the first of the work
    /// on it; otherwise whatever is said of its session is part of its first step.
    pub(super) fn begins_with(&self, connection: &Connection, session: &str, kind: &str, update: &str) -> Option<u64> {
        let prompt = self.sessions.get(session).filter(|known| !known.cancelled)?.turn?;
        let Stage::Held { by_handler, .. } = self.prompts.get(&prompt)?.stage else { return None };
        // What runs beside the foreground goes on whatever becomes of a prompt.
        let is_work = || OUTPUT.contains(&kind) && !works::is_background(connection, session, update);
        (!by_handler || is_work()).then_some(prompt)
    }

    /// Whether the client has cancelled a prompt that is served.
    fn is_stopped(&self, prompt: u64) -> bool {
        let known = self.prompts.get(&prompt).and_then(|prompt| self.sessions.get(&prompt.session));
        known.is_none_or(|known| known.cancelled && known.turn == Some(prompt))
    }

    /// The prompt that a key names, if a handler serves it.
    pub(super) fn prompt(&self, connection: &Connection, key: RequestKey<'_>) -> Option<u64> {
        match (key.serial, key.id) {
            (Some(serial), _) => self.prompts.contains_key(&serial).then_some(serial),
            // Another request may have the same id by now.
            (None, Some(id)) if found(connection, key).is_none() => {
                let mut same = self.prompts.iter().filter(|(_, prompt)| prompt.id == *id);
                same.next().map(|(serial, _)| *serial)
            }
            _ => None,
        }
    }

    /// A handler has ended its turn with a result of version 1, which inserts its prompt if nothing has before.
    pub(super) fn ended(
        &mut self,
        connection: &mut Connection,
        prompt: u64,
        result: &str,
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        let members = reason(result)?;
        let Some(session) = self.prompts.get(&prompt).map(|prompt| Arc::clone(&prompt.session)) else { return Ok(()) };
        if matches!(self.prompts[&prompt].stage, Stage::Held { .. }) {
            if self.is_stopped(prompt) {
                return self.refuse(connection, prompt, (ErrorCode::REQUEST_CANCELLED, CANCELLED, None), ready);
            }
            // Nothing is inserted for a result that cannot be told.
            let idle = state(connection, &session, "idle", members.clone());
            connection.check_notification(UPDATE, &params(&session, &idle)).map_err(of_result)?;
            self.insert(connection, prompt, ready)?;
        }
        self.end(connection, prompt, &session, members, ready)
    }

    /// A handler has failed. An error answers the request of a prompt that is no message; where it is one, the work on it
    /// ends with the error (LIFE-24).
    pub(super) fn failed(
        &mut self,
        connection: &mut Connection,
        prompt: u64,
        error: (ErrorCode, &str, Option<&str>),
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        let Some(session) = self.prompts.get(&prompt).map(|prompt| Arc::clone(&prompt.session)) else { return Ok(()) };
        if matches!(self.prompts[&prompt].stage, Stage::Held { .. }) {
            let error = if self.is_stopped(prompt) { (ErrorCode::REQUEST_CANCELLED, CANCELLED, None) } else { error };
            return self.refuse(connection, prompt, error, ready);
        }
        self.end(connection, prompt, &session, failure(error)?, ready)
    }

    /// Answers the request of a held prompt with an error. It leaves no message (LIFE-18); work that was told of before it
    /// ends here.
    fn refuse(
        &mut self,
        connection: &mut Connection,
        prompt: u64,
        error: (ErrorCode, &str, Option<&str>),
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        let members = failure(error)?;
        let Some(held) = self.prompts.get_mut(&prompt) else { return Ok(()) };
        let session = Arc::clone(&held.session);
        connection.respond_error(prompt, error.0, error.1, error.2)?;
        held.stage = Stage::Refused;
        self.end(connection, prompt, &session, members, ready)
    }

    /// The work of a turn has ended, on a prompt or without one.
    pub(super) fn end(
        &mut self,
        connection: &mut Connection,
        turn: u64,
        session: &Arc<str>,
        mut members: Object<'_>,
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        let is_refused = self.prompts.get(&turn).is_some_and(|prompt| prompt.stage == Stage::Refused);
        let open = connection.session(session);
        // Of the work on a refused prompt, only what was told of has an end.
        let is_told = open.is_some_and(|open| !is_refused || open.is_under_way());
        let known = self.sessions.get_mut(session).filter(|known| open.is_some() && known.turn == Some(turn));
        // Its session may have ended before.
        if let Some(known) = known {
            if known.cancelled {
                members.take("error");
                members.set("stopReason", "\"cancelled\"");
            }
            if is_told {
                tell_state(connection, session, "idle", members).map_err(of_result)?;
            }
            known.rest();
            self.prompts.remove(&turn);
            self.begin_next(connection, session, ready);
        }
        self.prompts.remove(&turn);
        Ok(())
    }

    fn begin_next(&mut self, connection: &mut Connection, session: &Arc<str>, ready: &mut VecDeque<Event>) {
        while let Some(known) = self.sessions.get_mut(session).filter(|known| known.turn.is_none()) {
            let Some(next) = known.waiting.pop() else { return };
            self.begin(connection, next, ready);
        }
    }

    /// The client has cancelled the work of a session, or ends the session, and `all` of its work with it.
    pub(super) fn stop(
        &mut self,
        connection: &mut Connection,
        session: &Arc<str>,
        all: bool,
        ready: &mut VecDeque<Event>,
    ) {
        if let Some(known) = self.sessions.get_mut(session) {
            if let Some(turn) = known.turn.filter(|_| !known.cancelled) {
                known.cancelled = true;
                ready.push_back(match self.prompts.get(&turn) {
                    Some(prompt) => Event::Cancel(Cancel {
                        id: prompt.id.clone(),
                        serial: turn,
                        method: PROMPT.into(),
                        session: Some(Arc::clone(session)),
                    }),
                    None => works::cancel(turn, session),
                });
            }
            known.waiting.refuse(connection, CANCELLED);
        }
        for serial in questions(connection, session) {
            if all || !self.is_background(connection, serial) {
                self.withdrawn(serial);
                // It fails once the connection is over, which ends the questions as well.
                let _ = connection.cancel(serial);
            }
        }
    }

    /// The client has cancelled the request of a prompt. `false` if the host has not seen the prompt: it waits, and is
    /// answered (LIFE-21).
    pub(super) fn stop_one(&mut self, connection: &mut Connection, session: &str, serial: u64) -> bool {
        let Some(known) = self.sessions.get_mut(session) else { return true };
        if known.waiting.cancel(connection, serial) {
            return false;
        }
        known.cancelled |= known.turn == Some(serial);
        true
    }

    /// The session of prompts has ended, or all have: none that is held or waits will become a message.
    pub(super) fn refuse_held(&mut self, connection: &mut Connection, of: Option<&str>, message: &str) {
        let is_held = |prompt: &Prompt| {
            matches!(prompt.stage, Stage::Held { .. }) && of.is_none_or(|session| *session == *prompt.session)
        };
        for (serial, prompt) in self.prompts.iter_mut().filter(|(_, prompt)| is_held(prompt)) {
            refuse(connection, *serial, ErrorCode::REQUEST_CANCELLED, message);
            prompt.stage = Stage::Refused;
        }
    }

    /// The connection is over: no prompt that is held or waits will become a message.
    pub(super) fn closed(&mut self, connection: &mut Connection) {
        for known in self.sessions.values_mut() {
            known.waiting.refuse(connection, OVER);
        }
        self.refuse_held(connection, None, OVER);
    }
}

/// What a turn ends with, of a result of version 1.
pub(super) fn reason(result: &str) -> Result<Object<'_>, Misuse> {
    let members = Object::of(result);
    if !is_object(result) || members.text("stopReason").is_none() {
        let message = "expected an object with the reason why the turn has ended";
        return Err(Misuse::new(MisuseKind::Params, id!("TURN-01"), message).at("/stopReason"));
    }
    Ok(members)
}

/// What a turn ends with that has failed.
pub(super) fn failure((code, message, data): (ErrorCode, &str, Option<&str>)) -> Result<Object<'static>, Misuse> {
    let mut error = Object::default();
    error.set("code", code.to_string());
    error.set_text("message", message);
    if let Some(data) = data {
        let data = data.trim();
        if json::pointer(data, "").is_none_or(|value| value.len() != data.len()) {
            return Err(Misuse::new(MisuseKind::Params, id!("RPC-21"), "the data of an error is JSON"));
        }
        error.set("data", data);
    }
    let mut members = Object::default();
    // Even if the error says that it was cancelled: what the client has cancelled ends as that in any case.
    members.set("stopReason", "\"error\"");
    members.set("error", error.write());
    Ok(members)
}

fn no_prompt(prompt: u64) -> Misuse {
    let message = format!("no prompt with the number {prompt} is being served");
    Misuse::new(MisuseKind::Id, id!("RPC-15"), message)
}

fn cancelled() -> Misuse {
    Misuse::new(MisuseKind::Phase, id!("LIFE-21"), "the prompt was cancelled before it became a message")
}

/// What is wrong with an update, as the host passed it: as a result.
fn of_result(mut misuse: Misuse) -> Misuse {
    if let Some(rest) = misuse.pointer.strip_prefix("/update") {
        misuse.pointer = rest.to_owned();
    }
    misuse
}
