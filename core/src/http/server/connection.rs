//! One connection: its streams or its socket, its open calls, and what waits for its agent.

use std::collections::{BTreeMap, VecDeque};

use super::event::Closed;
use super::stream::Stream;
use crate::http::route::Effect;
use crate::http::ws::Frame;
use crate::Id;

/// The stream of a connection, or that of one of its sessions.
pub(super) type StreamName = Option<Box<str>>;

/// How far a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// A socket without its first message.
    Silent,
    /// The agent has not answered `initialize`.
    Initializing,
    Live,
}

/// An open call of the client.
#[derive(Debug)]
pub(super) struct Call {
    /// The session that it names.
    pub(super) session: StreamName,
    pub(super) effect: Effect,
    /// It is `initialize`.
    pub(super) initializes: bool,
    /// The exchange that waits for the answer, of `initialize`.
    pub(super) exchange: Option<u64>,
}

/// A session.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) stream: Stream,
    pub(super) standing: Standing,
    /// Its stream was opened, and no call has asked for the session.
    pub(super) unasked: bool,
}

/// What is known of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Standing {
    /// The agent has not confirmed it; clients open such streams before they load a session.
    #[default]
    Early,
    Known,
    Ended,
}

/// A message for the stream of the connection that follows what another stream has to say first (HTTP-12).
#[derive(Debug)]
pub(super) struct Held {
    pub(super) session: Box<str>,
    /// Where that stream has to be.
    pub(super) position: u64,
    /// How long it waits.
    pub(super) until: u64,
    pub(super) json: String,
}

/// What waits for the agent.
#[derive(Debug, Default)]
pub(super) struct Inbox {
    pub(super) messages: VecDeque<String>,
    pub(super) bytes: usize,
    /// The host wants no more of it now.
    pub(super) paused: bool,
    /// The connection is in the list of those that have something.
    pub(super) listed: bool,
    pub(super) closed: Option<Closed>,
}

impl Inbox {
    pub(super) fn push(&mut self, json: String) {
        self.bytes += json.len();
        self.messages.push_back(json);
    }

    pub(super) fn pop_unless_paused(&mut self) -> Option<String> {
        if self.paused {
            return None;
        }
        let json = self.messages.pop_front()?;
        self.bytes -= json.len();
        Some(json)
    }
}

/// A WebSocket.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) exchange: u64,
    pub(super) frames: VecDeque<Frame>,
    /// Of the texts in `frames`.
    pub(super) bytes: usize,
    pub(super) announced: bool,
    /// When something came.
    pub(super) heard: u64,
    /// Since when the agent waits for room, or when a frame was taken after that.
    pub(super) full_since: Option<u64>,
    /// Binary frames were reported.
    pub(super) told_binary: bool,
}

#[derive(Debug)]
pub(super) struct Connection {
    pub(super) id: String,
    pub(super) phase: Phase,
    pub(super) socket: Option<Socket>,
    /// The stream of the connection.
    pub(super) main: Stream,
    /// Boxed, as a node of the map has room for eleven, and most connections have one.
    pub(super) sessions: BTreeMap<Box<str>, Box<Session>>,
    pub(super) calls: BTreeMap<Id, Call>,
    /// Open requests of the agent, with the sessions that they belong to.
    pub(super) questions: BTreeMap<Id, StreamName>,
    pub(super) held: Vec<Held>,
    pub(super) inbox: Inbox,
    /// When it began, or when a request came last.
    pub(super) used: u64,
    /// When [`handle_timeout`](super::Server::handle_timeout) looks at it next.
    pub(super) wakes: u64,
    /// The host was told that there is no room.
    pub(super) full: bool,
    /// The host was told of an id that cannot stand in a header.
    pub(super) told_id: bool,
}

impl Connection {
    pub(super) fn new(id: String, phase: Phase, now: u64) -> Self {
        Connection {
            id,
            phase,
            socket: None,
            main: Stream::default(),
            sessions: BTreeMap::new(),
            calls: BTreeMap::new(),
            questions: BTreeMap::new(),
            held: Vec::new(),
            inbox: Inbox::default(),
            used: now,
            wakes: u64::MAX,
            full: false,
            told_id: false,
        }
    }

    pub(super) fn stream(&mut self, name: Option<&str>) -> Option<&mut Stream> {
        match name {
            None => Some(&mut self.main),
            Some(session) => self.sessions.get_mut(session).map(|session| &mut session.stream),
        }
    }

    pub(super) fn streams(&mut self) -> impl Iterator<Item = (Option<&str>, &mut Stream)> {
        let sessions = self.sessions.iter_mut().map(|(name, session)| (Some(&**name), &mut session.stream));
        std::iter::once((None, &mut self.main)).chain(sessions)
    }

    /// The streams in which the agent waits for room, and since when.
    pub(super) fn full_streams(&self) -> Vec<(StreamName, u64)> {
        let sessions = self.sessions.iter().map(|(name, session)| (Some(name), &session.stream));
        let streams = std::iter::once((None, &self.main)).chain(sessions);
        streams.filter_map(|(name, stream)| Some((name.cloned(), stream.full_since?))).collect()
    }

    /// Whether others wait behind the full stream of a session: a call that is not of this session, or a session that has said
    /// something since a time, as it may have more to say. They count if what they wait for would be read at once.
    pub(super) fn is_blocked_by(&self, session: &str, since: u64) -> bool {
        let stream = |name: &str| self.sessions.get(name).map_or(&self.main, |session| &session.stream);
        let mut calls = self.calls.values().map(|call| call.session.as_deref()).filter(|name| *name != Some(session));
        calls.any(|name| name.map_or(&self.main, stream).is_waited_for())
            || self.sessions.iter().any(|(name, other)| {
                **name != *session && other.stream.is_waited_for() && other.stream.spoke.is_some_and(|at| at >= since)
            })
    }

    /// Sessions that the agent has not confirmed and was not asked for.
    pub(super) fn early(&self) -> usize {
        let early = self.sessions.iter().filter(|(_, session)| session.standing == Standing::Early);
        early.filter(|(name, _)| !self.is_asked_for(name)).count()
    }

    /// Whether a call that opens this session is with the agent.
    pub(super) fn is_asked_for(&self, session: &str) -> bool {
        self.calls.values().any(|call| call.effect.opens() && call.session.as_deref() == Some(session))
    }

    /// Forgets sessions that have ended and that nobody reads, once there are this many.
    pub(super) fn make_room(&mut self, most: usize) {
        if self.sessions.len() >= most {
            self.sessions.retain(|_, session| session.standing != Standing::Ended || session.stream.is_open());
        }
    }

    /// Bytes that wait for the stream of the connection.
    pub(super) fn main_pending(&self) -> usize {
        self.main.pending() + self.held.iter().map(|held| held.json.len()).sum::<usize>()
    }

    /// What happens to a session once a call has succeeded.
    pub(super) fn settle(&mut self, effect: Effect, named: Option<&str>, made: Option<&str>) {
        match effect {
            Effect::Makes | Effect::Attaches => {
                let session = if effect == Effect::Makes { made } else { named };
                if let Some(session) = session {
                    let session = self.sessions.entry(session.into()).or_default();
                    (session.standing, session.unasked) = (Standing::Known, false);
                }
            }
            Effect::Ends => {
                // Its stream stays while somebody reads it: clients take the end of a stream for the end of everything.
                if let Some(session) = named.and_then(|named| self.sessions.get_mut(named)) {
                    session.standing = Standing::Ended;
                }
            }
            Effect::None => {}
        }
    }
}
