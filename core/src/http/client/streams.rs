//! What is read: the stream of the connection and those of its sessions. One that breaks is opened again, and costs nothing
//! else.

use super::memory::Sent;
use super::{Action, Client, Doing, Lost, Name};
use crate::http::sse::{Item, Reader};

/// How often a stream that the server refuses is asked for again before what it belongs to is given up.
const TRIES: u32 = 4;
/// The pauses between attempts grow so often: to 8 seconds at most, so that a server that was away is found while it still has
/// the connection.
const GROWS: u32 = 6;
/// A stream or a connection that was open for so long, in milliseconds, counts as one that works.
pub(super) const WORKS: u64 = 5_000;

/// How far a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// Asked for.
    Opening,
    Open,
    /// Asked for again at this time.
    Waiting(u64),
    /// The server does not know the session yet; asked for again once it has the call that opens it.
    Early,
}

/// What has come on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Carried {
    /// Neither an event nor a comment.
    Nothing,
    /// The same, and the host was told.
    NothingTold,
    Something,
    Messages,
}

/// Why a stream is not open any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Broke {
    /// The server may have written to it, also if nothing of that has come: what it has written it does not write again.
    Served,
    /// Nobody was there: the network is away, or a proxy that is started again. The server keeps the connection meanwhile.
    Away,
    /// The server, or a proxy, cannot serve it now.
    Busy,
    /// The server refuses it.
    Refused,
}

#[derive(Debug)]
pub(super) struct Reading {
    pub(super) state: State,
    pub(super) exchange: Option<u64>,
    /// When it was asked for last.
    pub(super) asked: u64,
    pub(super) reader: Reader,
    /// Until then messages of its session wait for it.
    pub(super) gate: u64,
    /// When something came last.
    pub(super) heard: u64,
    /// When a message came last.
    pub(super) told: u64,
    /// The server sends comments, so a long silence says something.
    pub(super) comments: bool,
    /// What has come since it was asked for.
    pub(super) carried: Carried,
    /// It was open before, and something may be missing.
    pub(super) broken: bool,
    /// How often it was asked for since it worked.
    pub(super) tries: u32,
    /// Since when it does not work.
    failing: Option<u64>,
    /// Since when answers may be lost.
    pub(super) doubt: Option<u64>,
    /// No call has opened its session yet.
    pub(super) early: bool,
    pub(super) opened: u64,
}

impl Client {
    /// Opens a stream, unless there is one. `early` for the stream of a session that is about to be opened.
    pub(super) fn open_stream(&mut self, name: &Name, early: bool) {
        if self.streams.contains_key(name) {
            return;
        }
        let (now, limits) = (self.now, self.options.limits);
        let reading = Reading {
            state: State::Waiting(now),
            exchange: None,
            asked: now,
            reader: Reader::new(limits.message),
            gate: now.saturating_add(self.options.times.open),
            heard: now,
            told: now,
            comments: false,
            carried: Carried::Nothing,
            broken: false,
            tries: 0,
            failing: None,
            doubt: None,
            early,
            opened: now,
        };
        self.streams.insert(name.clone(), reading);
        self.ask_for(name);
    }

    /// Asks for a stream that is not open.
    pub(super) fn ask_for(&mut self, name: &Name) {
        if self.barred || self.id.is_none() {
            return;
        }
        let exchange = self.request("GET", name.as_deref(), Doing::Read { name: name.clone() }, String::new());
        if let Some(stream) = self.streams.get_mut(name) {
            stream.exchange = Some(exchange);
            stream.state = State::Opening;
            stream.asked = self.now;
            stream.carried = Carried::Nothing;
            stream.reader.restart();
        }
    }

    /// A stream is open.
    pub(super) fn stream_opened(&mut self, name: &Name) {
        let now = self.now;
        let Some(stream) = self.streams.get_mut(name) else { return };
        let gap = std::mem::take(&mut stream.broken) && !(self.options.resumable && stream.reader.last_id().is_some());
        stream.state = State::Open;
        stream.gate = 0;
        stream.heard = now;
        stream.opened = now;
        if gap {
            stream.doubt = Some(now);
            for call in self.memory.calls.values_mut() {
                if call.is_gone() && call.stream() == name.as_deref() {
                    call.sent = Sent::Doubtful;
                }
            }
            self.actions.push_back(Action::Gap { session: name.clone() });
        }
        self.pump();
    }

    /// Bytes of a stream.
    pub(super) fn stream_data(&mut self, exchange: u64, name: &Name, mut bytes: &[u8]) {
        let now = self.now;
        // A message may end the stream that it came on.
        while let Some(stream) = self.streams.get_mut(name).filter(|stream| stream.exchange == Some(exchange)) {
            stream.heard = now;
            let Some(item) = stream.reader.read(&mut bytes) else { return };
            stream.carried = stream.carried.max(Carried::Something);
            match item {
                Item::Data(json) => {
                    stream.told = now;
                    stream.carried = Carried::Messages;
                    self.heard_of(name);
                    self.message(name, &json);
                }
                Item::Other => stream.comments = true,
                Item::Position | Item::Retry(_) => {}
                Item::TooLong => {
                    self.report(id!("HTTP-27"), "an event is over the limit and was skipped", name.clone());
                }
                Item::NotUtf8 => self.report(id!("RPC-21"), "an event is not UTF-8 and was skipped", name.clone()),
            }
        }
    }

    /// A stream has ended, or could not be opened. It is looked for, and what it belongs to is given up, once it has not
    /// worked for as long as a silent stream is believed. `wait` is what the server asks for.
    pub(super) fn stream_broke(&mut self, name: &Name, broke: Broke, wait: Option<u64>) {
        let now = self.now;
        let Some(stream) = self.streams.get_mut(name) else { return };
        let was_open = stream.state == State::Open;
        if was_open && now.saturating_sub(stream.opened) >= WORKS {
            stream.tries = 0;
            stream.failing = None;
        } else if was_open && stream.carried == Carried::Messages {
            // It gets on, though not at once the next time.
            stream.tries = stream.tries.min(1);
            stream.failing = None;
        }
        stream.exchange = None;
        stream.broken |= broke == Broke::Served;
        stream.tries += 1;
        let tries = stream.tries;
        let since = *stream.failing.get_or_insert(now);
        let times = self.options.times;
        let over = now.saturating_sub(since) >= times.silence.min(times.give_up);
        if over || broke == Broke::Refused && tries > TRIES {
            match name {
                Some(_) if broke != Broke::Away && self.is_in_doubt() => {}
                Some(session) if broke != Broke::Away => return self.session_lost(&session.clone()),
                _ if broke != Broke::Away => return self.lose(true, now),
                // A new connection could not have been opened either.
                _ => return self.lose(false, since),
            }
        }
        let wait = wait.unwrap_or_else(|| if tries == 1 && was_open { 0 } else { self.pause(tries.min(GROWS)) });
        let at = now.saturating_add(wait);
        if let Some(stream) = self.streams.get_mut(name) {
            stream.state = State::Waiting(at);
        }
        if name.is_none() && broke == Broke::Away {
            self.actions.push_back(Action::Retrying { at });
        }
        if wait == 0 && broke != Broke::Away {
            self.ask_for(name);
        }
    }

    /// Whether the connection may be gone: its stream broke and is not back. What becomes of that is known soon, and until then
    /// nothing is concluded for a session.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.streams.get(&None).is_some_and(|stream| match stream.state {
            State::Waiting(_) => true,
            State::Opening => stream.tries > 0 && self.now.saturating_sub(stream.asked) < self.options.times.response,
            State::Open | State::Early => false,
        })
    }

    /// The server refuses a stream: because of another reader, of whose end it may not have heard yet, or because it cannot
    /// go on where this one was. Then what is missing is missing.
    pub(super) fn stream_taken(&mut self, name: &Name) {
        if let Some(stream) = self.streams.get_mut(name).filter(|stream| stream.tries > 1) {
            stream.reader.forget_id();
        }
    }

    /// The server does not know a session.
    pub(super) fn stream_unknown(&mut self, name: &Name) {
        match self.streams.get_mut(name) {
            Some(stream) if stream.early => {
                stream.state = State::Early;
                stream.exchange = None;
                stream.gate = 0;
                self.pump();
            }
            Some(_) => self.stream_broke(name, Broke::Refused, None),
            None => {}
        }
    }

    /// The call that opens a session is with the server, so its stream can be asked for again.
    pub(super) fn retry_early_stream(&mut self, name: &Name) {
        if self.streams.get(name).is_some_and(|stream| stream.state == State::Early) {
            self.ask_for(name);
        }
    }

    /// Gives a stream up, and what is asked for it.
    pub(super) fn drop_stream(&mut self, name: &Name) {
        let exchange = self.streams.remove(name).and_then(|stream| stream.exchange);
        // Nothing more comes that an answer could have to wait for.
        self.release_held(name);
        if let Some(exchange) = exchange.filter(|exchange| self.exchanges.remove(exchange).is_some()) {
            self.actions.push_back(Action::Abort { exchange });
        }
    }

    /// The messages of a session were lost, and the connection is not: it is opened again.
    pub(super) fn session_lost(&mut self, session: &str) {
        let of = |known: &Name| known.as_deref() == Some(session);
        let calls =
            self.memory.calls.iter().filter(|(_, call)| call.is_gone() && of(&call.session) && !call.effect.opens());
        let mut lost = Lost { calls: calls.map(|(id, _)| id.clone()).collect(), ..Lost::default() };
        lost.questions = self.memory.questions.lose(self.options.limits.calls, of);
        lost.calls.iter().for_each(|id| drop(self.memory.calls.remove(id)));
        lost.calls.sort();
        lost.sessions.push(session.to_owned());
        self.drop_stream(&Some(session.to_owned()));
        self.actions.push_back(Action::Lost(lost));
        self.reopen(session);
    }
}
