//! What a client remembers of a conversation: its open calls, and how its sessions are opened again.
//! The questions of the agent are in `questions`.

use std::collections::BTreeMap;

use super::questions::Questions;
use crate::http::route::{opens_again, Effect, Summary};
use crate::json::{self, Writer};
use crate::Id;

/// The members with which a session is opened again.
const OPENED_WITH: [&str; 3] = ["cwd", "additionalDirectories", "mcpServers"];

/// Whose call it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Owner {
    Host,
    /// The client initializes a new connection.
    Initialize,
    /// The client opens a session again.
    Reopen,
}

/// An open call.
#[derive(Debug, Clone)]
pub(super) struct Call {
    pub(super) session: Option<String>,
    pub(super) effect: Effect,
    /// What a session is opened with.
    opened_with: Option<String>,
    pub(super) owner: Owner,
    /// The history of the session comes before the answer.
    pub(super) replays: bool,
    pub(super) sent: Sent,
    /// When the server took it.
    pub(super) accepted: Option<u64>,
}

/// How far a call is on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sent {
    /// It waits in a lane.
    No,
    /// It was handed over, and waits to be once more.
    Before,
    /// It was handed over: nobody knows what becomes of it without an answer.
    Gone,
    /// The same, and the stream on which its answer comes broke.
    Doubtful,
}

impl Call {
    /// Whether only an answer tells what becomes of it.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self.sent, Sent::Gone | Sent::Doubtful)
    }

    /// The stream on which its answer comes.
    pub(super) fn stream(&self) -> Option<&str> {
        self.session.as_deref().filter(|_| !self.effect.opens())
    }

    fn of_nothing() -> Self {
        let (owner, effect) = (Owner::Host, Effect::None);
        Call { session: None, effect, opened_with: None, owner, replays: false, sent: Sent::No, accepted: None }
    }
}

#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) initialize: Option<String>,
    pub(super) initialize_id: Option<Id>,
    /// The negotiated version, as JSON.
    pub(super) version: Option<String>,
    /// How the agent opens a session again.
    pub(super) way: Option<&'static str>,
    pub(super) calls: BTreeMap<Id, Call>,
    pub(super) questions: Questions,
    /// With what each session is opened again.
    pub(super) sessions: BTreeMap<String, String>,
    own: u64,
}

impl Memory {
    /// Remembers a call of the host.
    pub(super) fn call(&mut self, summary: &Summary<'_>, json: &str) {
        let Some(id) = summary.id.clone() else { return };
        if summary.is_initialize() {
            self.initialize = Some(json.to_owned());
            self.initialize_id = Some(id.clone());
        }
        let opened_with = summary.effect.opens().then(|| opened_with(json));
        self.calls.insert(
            id,
            Call {
                session: summary.session.as_deref().map(str::to_owned),
                effect: summary.effect,
                opened_with,
                owner: Owner::Host,
                replays: summary.effect == Effect::Attaches && replays(&summary.method, json),
                sent: Sent::No,
                accepted: None,
            },
        );
    }

    /// What the answer to `initialize` says. `false` if it is another version than before.
    pub(super) fn welcome(&mut self, json: &str) -> bool {
        let result = json::pointer(json, "/result").unwrap_or_default();
        let version = json::pointer(result, "/protocolVersion").unwrap_or_default();
        self.way = opens_again(result);
        let same = self.version.as_deref().is_none_or(|known| known == version);
        self.version = Some(version.to_owned());
        same
    }

    /// A session that a call has opened, and what it was opened with.
    pub(super) fn settle(&mut self, call: &Call, made: Option<&str>) -> Settled {
        let session = match call.effect {
            Effect::Makes => made,
            Effect::Attaches | Effect::Ends => call.session.as_deref(),
            Effect::None => None,
        };
        let Some(session) = session else { return Settled::Nothing };
        if call.effect == Effect::Ends {
            self.sessions.remove(session);
            return Settled::Ended(session.to_owned());
        }
        if let Some(opened_with) = call.opened_with.clone() {
            self.sessions.insert(session.to_owned(), opened_with);
        }
        Settled::Opened(session.to_owned())
    }

    /// The call that opens a session again; `None` if the agent cannot.
    pub(super) fn reopen(&mut self, session: &str) -> Option<(Id, String)> {
        let (way, with) = (self.way?, self.sessions.get(session)?);
        let mut params = Writer::new();
        params.begin_object().key("sessionId").string(session);
        for (name, value) in json::members(with) {
            params.key(&name).json(value);
        }
        params.end_object();
        let params = params.finish().ok()?;
        let id = self.own_id();
        let call = Call {
            session: Some(session.to_owned()),
            effect: Effect::Attaches,
            opened_with: None,
            owner: Owner::Reopen,
            replays: self.replays(),
            sent: Sent::No,
            accepted: None,
        };
        let json = crate::jsonrpc::write_request(&id, way, &params);
        self.calls.insert(id.clone(), call);
        Some((id, json))
    }

    /// Whether opening a session again repeats its history.
    pub(super) fn replays(&self) -> bool {
        self.way.is_some_and(|way| replays(way, "{}"))
    }

    /// `initialize` once more, with an id of the client's own.
    pub(super) fn initialize_again(&mut self) -> Option<(Id, String)> {
        let params = json::pointer(self.initialize.as_deref()?, "/params").unwrap_or("{}").to_owned();
        let id = self.own_id();
        let call = Call { owner: Owner::Initialize, ..Call::of_nothing() };
        self.calls.insert(id.clone(), call);
        Some((id.clone(), crate::jsonrpc::write_request(&id, "initialize", &params)))
    }

    /// An id that no open call has.
    fn own_id(&mut self) -> Id {
        loop {
            self.own += 1;
            let id = Id::String(format!("libacp-{}", self.own).into());
            if !self.calls.contains_key(&id) {
                return id;
            }
        }
    }
}

/// Whether a call that opens a session repeats its history: by its method, or because it asks for that.
fn replays(method: &str, json: &str) -> bool {
    method == "session/load" || json::pointer(json, "/params/replayFrom").is_some_and(|from| from != "null")
}

/// What a call has done.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Settled {
    Nothing,
    Opened(String),
    Ended(String),
}

/// What a session was opened with, as an object.
fn opened_with(json: &str) -> String {
    let mut with = Writer::new();
    with.begin_object();
    for (name, value) in json::pointer(json, "/params").map(json::members).unwrap_or_default() {
        if OPENED_WITH.contains(&&*name) {
            with.key(&name).json(value);
        }
    }
    with.end_object();
    with.finish().unwrap_or_else(|_| "{}".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_opened_again_with_what_it_was_opened_with() {
        let mut memory = Memory::default();
        let new =
            r#"{"id":1,"method":"session/new","params":{"mcpServers":[ 1 ],"cwd":"/w","_meta":{"x":1},"other":2}}"#;
        memory.call(&Summary::read(new).unwrap(), new);
        let call = memory.calls.remove(&Id::Number(1)).unwrap();
        assert_eq!(memory.settle(&call, Some("s\"1")), Settled::Opened("s\"1".into()));
        assert_eq!(memory.reopen("s\"1"), None, "the agent cannot");
        let welcome = r#"{"result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}}"#;
        assert!(memory.welcome(welcome));
        let (id, json) = memory.reopen("s\"1").unwrap();
        assert_eq!(id, "libacp-1".into());
        assert_eq!(
            json,
            r#"{"jsonrpc":"2.0","id":"libacp-1","method":"session/load","params":{"sessionId":"s\"1","mcpServers":[ 1 ],"cwd":"/w"}}"#
        );
        assert_eq!(memory.reopen("other"), None);
        assert!(memory.replays() && memory.welcome(welcome));
        assert!(!memory.welcome(r#"{"result":{"protocolVersion":2}}"#));
    }

    #[test]
    fn initialize_is_repeated_with_another_id() {
        let mut memory = Memory::default();
        let hello = r#"{"jsonrpc":"2.0","id":"libacp-1","method":"initialize","params":{"protocolVersion":1}}"#;
        memory.call(&Summary::read(hello).unwrap(), hello);
        let (id, json) = memory.initialize_again().unwrap();
        assert_eq!(id, "libacp-2".into());
        assert_eq!(json, hello.replace("libacp-1", "libacp-2"));
        assert_eq!(memory.calls[&id].owner, Owner::Initialize);
    }
}
