//! Prompts of version 2: each is answered once it is a message, and an idle state ends the work on it (LIFE-01 to LIFE-05).

use std::collections::VecDeque;
use std::mem;
use std::sync::Arc;

use super::newer::{params, tell_state, Newer, Prompt, UPDATE};
use super::object::{is_object, quoted, Object};
use super::opening::advice;
use super::{found, QUESTIONS};
use crate::connection::{Cancel, Misuse, MisuseKind, Request, RequestKey};
use crate::{json, Connection, ErrorCode, Event};

const PROMPT: &str = "session/prompt";
/// Maximum number of prompts of a session that wait for the end of its turn.
const WAITING: usize = 64;

impl Newer {
    /// A prompt of the client: it begins a turn, or waits for the end of the one that runs.
    pub(super) fn prompted(&mut self, connection: &mut Connection, request: Request, ready: &mut VecDeque<Event>) {
        let Some(session) = request.session.clone() else { return ready.push_back(Event::Request(request)) };
        let known = self.sessions.entry(session).or_default();
        if known.turn.is_none() {
            self.begin(connection, request, ready);
        } else if known.waiting.len() < WAITING {
            known.waiting.push_back(request);
        } else {
            let message = "too many prompts of this session wait";
            refuse(connection, request.serial, ErrorCode::INVALID_REQUEST, message);
        }
    }

    /// The prompt becomes a message, and the host sees it.
    fn begin(&mut self, connection: &mut Connection, request: Request, ready: &mut VecDeque<Event>) {
        let Some(session) = request.session.clone() else { return };
        let id = quoted(&self.ids.next());
        let content = json::pointer(request.params(), "/prompt").unwrap_or("[]");
        let echo = format!("{{\"sessionUpdate\":\"user_message\",\"messageId\":{id},\"content\":{content}}}");
        if let Err(misuse) = connection.respond(request.serial, &format!("{{\"messageId\":{id}}}")) {
            return ready.push_back(advice(misuse, PROMPT.to_owned(), Some(&session)));
        }
        let prompt = Prompt { id: request.id.clone(), session: Arc::clone(&session) };
        self.prompts.insert(request.serial, prompt);
        let known = self.sessions.entry(Arc::clone(&session)).or_default();
        known.rest();
        known.turn = Some(request.serial);
        let echoed = connection.notify(UPDATE, &params(&session, &echo));
        let told = tell_state(connection, &session, "running", Object::default());
        for misuse in [echoed, told].into_iter().filter_map(Result::err) {
            ready.push_back(advice(misuse, UPDATE.to_owned(), Some(&session)));
        }
        ready.push_back(Event::Request(request));
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

    /// A handler has ended its turn with a result of version 1.
    pub(super) fn ended(
        &mut self,
        connection: &mut Connection,
        prompt: u64,
        result: &str,
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        let members = Object::of(result);
        if !is_object(result) || members.text("stopReason").is_none() {
            let message = "expected an object with the reason why the turn has ended";
            return Err(Misuse::new(MisuseKind::Params, id!("TURN-01"), message).at("/stopReason"));
        }
        self.end(connection, prompt, members, ready)
    }

    /// A handler has failed. The message is in the conversation, so that no error answers it (LIFE-24).
    pub(super) fn failed(
        &mut self,
        connection: &mut Connection,
        prompt: u64,
        (code, message, data): (ErrorCode, &str, Option<&str>),
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
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
        let error = error.write();
        let mut members = Object::default();
        if code == ErrorCode::REQUEST_CANCELLED {
            members.set("stopReason", "\"cancelled\"");
        } else {
            members.set("stopReason", "\"error\"");
            members.set("error", &*error);
        }
        self.end(connection, prompt, members, ready)
    }

    fn end(
        &mut self,
        connection: &mut Connection,
        prompt: u64,
        mut members: Object<'_>,
        ready: &mut VecDeque<Event>,
    ) -> Result<(), Misuse> {
        let Some(session) = self.prompts.get(&prompt).map(|prompt| Arc::clone(&prompt.session)) else { return Ok(()) };
        let open = connection.session(&session).is_some();
        let known = self.sessions.get_mut(&session).filter(|known| open && known.turn == Some(prompt));
        // Its session may have ended before.
        if let Some(known) = known {
            if known.cancelled {
                members.take("error");
                members.set("stopReason", "\"cancelled\"");
            }
            tell_state(connection, &session, "idle", members).map_err(of_result)?;
            known.rest();
            self.prompts.remove(&prompt);
            self.begin_next(connection, &session, ready);
        }
        self.prompts.remove(&prompt);
        Ok(())
    }

    fn begin_next(&mut self, connection: &mut Connection, session: &Arc<str>, ready: &mut VecDeque<Event>) {
        while let Some(known) = self.sessions.get_mut(session).filter(|known| known.turn.is_none()) {
            let Some(next) = known.waiting.pop_front() else { return };
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
            let served = known.turn.and_then(|serial| Some((serial, self.prompts.get(&serial)?)));
            if let Some((serial, prompt)) = served {
                known.cancelled = true;
                let (id, session) = (prompt.id.clone(), Some(Arc::clone(session)));
                ready.push_back(Event::Cancel(Cancel { id, serial, method: PROMPT.into(), session }));
            }
            refuse_all(connection, mem::take(&mut known.waiting), "the prompt was cancelled");
        }
        let of_it = connection
            .pending()
            .filter(|open| QUESTIONS.contains(&&*open.method) && open.session.as_ref() == Some(session));
        let asked: Vec<u64> = of_it.map(|open| open.serial).collect();
        for serial in asked {
            if all || !self.is_background(connection, serial) {
                self.withdrawn(serial);
                // It fails once the connection is over, which ends the questions as well.
                let _ = connection.cancel(serial);
            }
        }
    }

    /// A prompt that waits is cancelled by its request (LIFE-21). `false` if none of that number waits.
    pub(super) fn stop_waiting(&mut self, connection: &mut Connection, session: &str, serial: u64) -> bool {
        let Some(known) = self.sessions.get_mut(session) else { return false };
        let Some(at) = known.waiting.iter().position(|waiting| waiting.serial == serial) else { return false };
        known.waiting.remove(at);
        refuse(connection, serial, ErrorCode::REQUEST_CANCELLED, "the prompt was cancelled");
        true
    }

    /// The connection is over: no prompt that waits will become a message.
    pub(super) fn closed(&mut self, connection: &mut Connection) {
        for known in self.sessions.values_mut() {
            refuse_all(connection, mem::take(&mut known.waiting), "the connection is over");
        }
    }
}

/// Refuses a request; nobody waits for that where it fails.
pub(super) fn refuse(connection: &mut Connection, serial: u64, code: ErrorCode, message: &str) {
    let _ = connection.respond_error(serial, code, message, None);
}

/// Refuses prompts that will not become messages (LIFE-21).
pub(super) fn refuse_all(connection: &mut Connection, waiting: impl IntoIterator<Item = Request>, message: &str) {
    for prompt in waiting {
        refuse(connection, prompt.serial, ErrorCode::REQUEST_CANCELLED, message);
    }
}

/// What is wrong with an update, as the host passed it: as a result.
fn of_result(mut misuse: Misuse) -> Misuse {
    if let Some(rest) = misuse.pointer.strip_prefix("/update") {
        misuse.pointer = rest.to_owned();
    }
    misuse
}
