//! What an agent's host keeps in version 2.

use std::collections::hash_map::RandomState;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

use super::object::{quoted, Object};
use super::options::Options;
use super::questions::Question;
use super::requests::Asked;
use super::tools::Tools;
use super::waiting::{Waiting, ENDED};
use crate::connection::{Misuse, Turn};
use crate::{Connection, Id};

pub(super) const UPDATE: &str = "session/update";

/// The sessions, prompts and questions of a conversation in version 2.
#[derive(Debug)]
pub(super) struct Newer {
    /// The methods that have handlers.
    pub(super) handlers: Vec<String>,
    pub(super) sessions: HashMap<Arc<str>, Session>,
    /// The prompts that handlers serve, by serial.
    pub(super) prompts: HashMap<u64, Prompt>,
    /// The host's open questions to the user.
    pub(super) questions: HashMap<u64, Question>,
    /// The peer's open requests whose answers change their shape.
    pub(super) asked: HashMap<u64, Asked>,
    pub(super) ids: MessageIds,
    /// Whether handlers see prompts before these are messages.
    pub(super) holds: bool,
}

/// A session that is open, or is being loaded.
#[derive(Debug, Default)]
pub(super) struct Session {
    /// In which order sessions were opened, from 1; 0 while it is being opened for the first time.
    pub(super) number: u64,
    /// The working directory and the additional directories, as JSON text.
    pub(super) cwd: String,
    pub(super) roots: String,
    /// As JSON text, if it was told.
    pub(super) title: Option<String>,
    pub(super) options: Options,
    pub(super) tools: Tools,
    /// The prompt that is being served, or the work without a prompt that goes on.
    pub(super) turn: Option<u64>,
    /// That one was cancelled.
    pub(super) cancelled: bool,
    /// The state `requires_action` was told.
    pub(super) is_blocked: bool,
    /// Prompts that wait for the end of the turn.
    pub(super) waiting: Waiting,
    /// The kind and the id of the message whose chunks carry no id, while nothing else was said.
    pub(super) message: Option<(&'static str, String)>,
    /// What the host has put into the background and has not ended, as JSON text.
    pub(super) background: Vec<String>,
}

/// A prompt that a handler serves.
#[derive(Debug)]
pub(super) struct Prompt {
    pub(super) id: Id,
    pub(super) session: Arc<str>,
    pub(super) stage: Stage,
}

/// How far a prompt is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// It is no message yet, and its request is open. What the message will be, as JSON text, and whether the handler said
    /// that it inserts it itself.
    Held { content: Box<str>, by_handler: bool },
    /// It is a message, and its request was answered.
    Inserted,
    /// An error has answered its request.
    Refused,
}

impl Newer {
    pub(super) fn new(handlers: Vec<String>) -> Self {
        Newer {
            handlers,
            sessions: HashMap::new(),
            prompts: HashMap::new(),
            questions: HashMap::new(),
            asked: HashMap::new(),
            ids: MessageIds::new(),
            holds: false,
        }
    }

    /// How much is kept: sessions, prompts, questions, requests.
    #[cfg(test)]
    pub(super) fn kept(&self) -> [usize; 4] {
        [self.sessions.len(), self.prompts.len(), self.questions.len(), self.asked.len()]
    }

    pub(super) fn serves(&self, method: &str) -> bool {
        self.handlers.iter().any(|known| known == method)
    }

    /// Forgets a session that is not open any more, and what waits in it.
    pub(super) fn forget_closed(&mut self, connection: &mut Connection, session: &str) {
        if connection.session(session).is_none() {
            self.sessions.remove(session).unwrap_or_default().waiting.refuse(connection, ENDED);
            self.refuse_held(connection, Some(session), ENDED);
        }
    }

    /// Whether a request is a prompt that waits, which the host has not seen.
    pub(super) fn waits(&self, id: &Id) -> bool {
        self.sessions.values().any(|known| known.waiting.has(id))
    }
}

impl Session {
    /// The turn is over.
    pub(super) fn rest(&mut self) {
        (self.turn, self.cancelled, self.is_blocked, self.message) = (None, false, false, None);
    }
}

/// Ids of messages, which no other connection to the same session gives either if the platform has randomness.
#[derive(Debug)]
pub(super) struct MessageIds {
    prefix: u64,
    next: u64,
}

impl MessageIds {
    pub(super) fn new() -> Self {
        MessageIds { prefix: RandomState::new().build_hasher().finish(), next: 1 }
    }

    pub(super) fn next(&mut self) -> String {
        let id = format!("{:016x}-{}", self.prefix, self.next);
        self.next += 1;
        id
    }
}

/// Params of an update.
pub(super) fn params(session: &str, update: &str) -> String {
    format!("{{\"sessionId\":{},\"update\":{update}}}", quoted(session))
}

/// The update that tells a state with these members. An agent that has reported background work goes on to do so (LIFE-31).
pub(super) fn state(connection: &Connection, session: &str, state: &str, mut members: Object<'_>) -> String {
    members.set("sessionUpdate", "\"state_update\"");
    members.set_text("state", state);
    if let Some(background) = connection.session(session).and_then(|session| session.background()) {
        members.set_absent("background", background.to_owned());
    }
    members.write()
}

/// Tells a state with these members.
pub(super) fn tell_state(
    connection: &mut Connection,
    session: &str,
    name: &str,
    members: Object<'_>,
) -> Result<(), Misuse> {
    let update = state(connection, session, name, members);
    connection.notify(UPDATE, &params(session, &update))
}

/// The state of a session as it is told to a client that knows it or resumes it (SESS-77). A prompt that is no message yet
/// says nothing of the work on it.
pub(super) fn current_state(connection: &Connection, session: &str, known: Option<&Session>) -> &'static str {
    let open = connection.session(session);
    let told = open.map_or(Turn::Idle, |open| open.turn);
    match (
        told,
        open.is_some_and(crate::connection::Session::is_under_way),
        known.is_some_and(|known| known.is_blocked),
    ) {
        (Turn::RequiresAction, ..) | (_, _, true) => "requires_action",
        (_, true, _) => "running",
        _ => "idle",
    }
}
