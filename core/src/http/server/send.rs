//! Messages of an agent: which stream they go to (HTTP-10), and which wait for another stream first (HTTP-12).

use super::connection::{Connection, Held, Phase, Session, Standing, StreamName};
use super::post::welcome;
use super::stream::Stream;
use super::{Closed, ConnectionKey, Event, Exchange, Report, SendError, Server};
use crate::http::head;
use crate::http::route::{Effect, Form, Summary, Unreadable, NAME};
use crate::rules::Way;
use crate::Id;

/// Where a message goes.
enum Goes {
    /// It is the response to a request that waits.
    Response(u64),
    Stream(StreamName),
    /// To the stream of the connection, behind what this session has to say first.
    After(Box<str>),
}

impl Server {
    /// Sends a message of an agent to its client.
    ///
    /// # Errors
    /// [`SendError::Full`] if the client does not read fast enough: send the message again after [`Event::Drained`].
    pub fn send(&mut self, key: ConnectionKey, json: &str) -> Result<(), SendError> {
        let limits = self.options.limits;
        let connection =
            self.connections.get_mut(&key).filter(|it| it.inbox.closed.is_none()).ok_or(SendError::Closed)?;
        let summary = Summary::read(json).map_err(unsendable)?;
        let id = summary.id.clone().unwrap_or(Id::Null);
        if summary.is_answer() && id != Id::Null && !connection.calls.contains_key(&id) {
            return Err(SendError::Misuse { rule: id!("HTTP-11"), message: "the client has no such open call" });
        }
        if summary.form == Form::Request && connection.questions.len() >= limits.calls {
            connection.full = true;
            return Err(SendError::Full);
        }
        if connection.socket.is_some() {
            self.send_text(key, json)?;
        } else {
            let goes = goes(connection, &summary, limits.sessions);
            let room = match &goes {
                Goes::Response(_) => true,
                Goes::After(_) | Goes::Stream(None) => {
                    connection.main_pending() < bound(&connection.main, limits.stream, limits.unread)
                }
                Goes::Stream(Some(name)) => connection.sessions.get(name).is_none_or(|session| {
                    session.stream.pending() < bound(&session.stream, limits.stream, limits.unread)
                }),
            };
            if !room {
                let (now, times) = (self.now, self.options.times);
                let until = now.saturating_add(times.stall.min(times.blocking));
                connection.full = true;
                let name = if let Goes::Stream(name) = &goes { name.as_deref() } else { None };
                if let Some(stream) = connection.stream(name) {
                    stream.full_since.get_or_insert(now);
                }
                self.wake(key, until);
                return Err(SendError::Full);
            }
            self.put(key, goes, json, &summary);
        }
        self.sent(key, &summary, &id);
        Ok(())
    }

    /// Puts a message where it goes.
    fn put(&mut self, key: ConnectionKey, goes: Goes, json: &str, summary: &Summary<'_>) {
        let (now, replay) = (self.now, self.options.times.replay);
        let Some(connection) = self.connections.get_mut(&key) else { return };
        match goes {
            Goes::Response(exchange) => {
                let response = welcome(connection, json, summary.form == Form::Result);
                self.exchanges.remove(&exchange);
                self.respond(exchange, response);
            }
            Goes::Stream(name) => {
                if let Some(session) = name.as_deref().filter(|session| !connection.sessions.contains_key(*session)) {
                    connection.sessions.insert(session.into(), Box::default());
                }
                self.write(key, name.as_deref(), json, summary);
            }
            Goes::After(session) => {
                let position = connection.sessions.get(&session).map_or(0, |session| session.stream.written());
                let until = now.saturating_add(replay);
                connection.held.push(Held { session: session.clone(), position, until, json: json.to_owned() });
                self.wake(key, until);
                self.release(key, Some(&session));
            }
        }
    }

    /// Writes to a stream. What goes to one that was lost is lost, too: a request is answered, so that the agent does not
    /// wait for an answer that cannot come.
    fn write(&mut self, key: ConnectionKey, name: Option<&str>, json: &str, summary: &Summary<'_>) {
        let (now, resumable) = (self.now, self.options.limits.resumable());
        let Some(connection) = self.connections.get_mut(&key) else { return };
        let Some(stream) = connection.stream(name) else { return };
        if stream.lost && summary.form == Form::Request {
            if let Some(id) = &summary.id {
                connection.inbox.push(super::close::unread(id));
                self.fill(key);
            }
            return;
        }
        let ready = stream.write(json, now, resumable);
        self.events.extend(ready.map(|exchange| Event::Ready { exchange }));
    }

    /// What a message that was sent changes.
    fn sent(&mut self, key: ConnectionKey, summary: &Summary<'_>, id: &Id) {
        let Some(connection) = self.connections.get_mut(&key) else { return };
        let mut minted = None;
        match summary.form {
            Form::Request => {
                let session: StreamName = summary.session.as_deref().map(Into::into);
                let lost = connection.stream(session.as_deref()).is_some_and(|stream| stream.lost);
                if !lost {
                    connection.questions.insert(id.clone(), session);
                }
            }
            Form::Notification => {}
            Form::Result | Form::Error => {
                let Some(call) = connection.calls.remove(id) else { return };
                if connection.calls.is_empty() {
                    // An empty map keeps a node of 720 bytes, and most connections are idle.
                    connection.calls.clear();
                }
                if summary.form == Form::Result {
                    connection.settle(call.effect, call.session.as_deref(), summary.made.as_deref());
                    minted = summary.made.as_deref().filter(|_| call.effect == Effect::Makes);
                }
                // A client on a socket may ask for more before it is told that the connection is open.
                if call.initializes && connection.phase == Phase::Initializing {
                    let other = connection.calls.values().any(|call| call.initializes);
                    if summary.form == Form::Result {
                        connection.phase = Phase::Live;
                        let keep_alive = self.now.saturating_add(self.options.times.keep_alive);
                        let idle = self.now.saturating_add(self.options.times.idle);
                        self.wake(key, keep_alive.min(idle));
                    } else if connection.socket.is_some() {
                        connection.phase = if other { Phase::Initializing } else { Phase::Silent };
                    } else {
                        self.end(key, Closed::NotInitialized);
                    }
                }
            }
        }
        if let Some(session) = minted {
            self.advise(key, session);
        }
    }

    /// Tells the host once if clients over HTTP cannot use a session that the agent has made (HTTP-22).
    fn advise(&mut self, key: ConnectionKey, session: &str) {
        let Some(connection) = self.connections.get_mut(&key) else { return };
        let wrong = connection.socket.is_none() && !head::fits_header(session, NAME) && !connection.told_id;
        if wrong && id!("HTTP-22").is_on(Way::Send) {
            connection.told_id = true;
            self.reports += 1;
            self.events.push_back(Event::Advice(Report {
                rule: id!("HTTP-22"),
                message:
                    "the agent made an id of a session that cannot stand in a header; clients need WebSocket for it"
                        .into(),
                status: None,
                exchange: None,
                connection: Some(key),
            }));
        }
    }

    /// A reader has taken bytes of a stream.
    pub(super) fn consumed(&mut self, key: ConnectionKey, name: Option<&str>, count: usize) {
        let (now, limits) = (self.now, self.options.limits);
        let Some(connection) = self.connections.get_mut(&key) else { return };
        let Some(stream) = connection.stream(name) else { return };
        stream.consume(count, now, limits.retained);
        // The agent waits until there is room for some more, and so long the reader's time runs.
        let was_full = stream.full_since;
        stream.full_since = was_full.filter(|_| stream.pending() > limits.stream / 2);
        if count > 0 {
            stream.full_since = stream.full_since.map(|_| now);
        }
        let drained = was_full.is_some() && stream.full_since.is_none();
        if connection.full && (drained || connection.full_streams().is_empty()) {
            connection.full = false;
            self.events.push_back(Event::Drained { connection: key });
        }
        self.release(key, name);
    }

    /// Sends what waited for a stream that has got so far, or that nobody waits for any longer.
    pub(super) fn release(&mut self, key: ConnectionKey, name: Option<&str>) {
        let (now, resumable) = (self.now, self.options.limits.resumable());
        let Some(connection) = self.connections.get_mut(&key) else { return };
        if connection.held.is_empty() {
            return;
        }
        let mut free = Vec::new();
        let Connection { held, sessions, .. } = connection;
        let mut at = 0;
        while let Some(waits) = held.get(at) {
            let session = sessions.get(&waits.session);
            let read = session.is_none_or(|it| it.stream.lost || it.stream.taken() >= waits.position);
            // Order among those that wait for the same session stays, as positions and times only grow.
            if (read && name.is_none_or(|name| *name == *waits.session)) || waits.until <= now {
                free.push(held.remove(at).json);
            } else {
                at += 1;
            }
        }
        for json in free {
            let ready = connection.main.write(&json, now, resumable);
            self.events.extend(ready.map(|exchange| Event::Ready { exchange }));
        }
    }

    /// The reader of a stream is gone.
    pub(super) fn reader_gone(&mut self, key: ConnectionKey, name: Option<&str>, exchange: u64) {
        let now = self.now;
        let idle = now.saturating_add(self.options.times.idle);
        let Some(connection) = self.connections.get_mut(&key) else { return };
        connection.used = now;
        if let Some(stream) = connection.stream(name) {
            stream.detach();
        }
        let session = name.and_then(|name| connection.sessions.get_mut(name));
        let unasked = session.is_some_and(|session| std::mem::take(&mut session.unasked));
        if let Some(name) = name {
            // A session that ended, or never began, goes with its reader.
            let over = |it: &Session| it.standing != Standing::Known && it.stream.pending() == 0 && !it.stream.lost;
            if connection.sessions.get(name).is_some_and(|it| over(it)) {
                connection.sessions.remove(name);
            }
        }
        if unasked {
            self.report_unasked(exchange, key);
        }
        self.wake(key, idle);
    }

    /// The exchange of a stream ends; what is left of it is still there to be written.
    pub(super) fn finish(&mut self, exchange: u64, bytes: Vec<u8>) {
        self.exchanges.insert(exchange, Exchange::Rest { bytes, read: 0 });
        self.events.push_back(Event::Finish { exchange });
    }
}

/// Which stream a message goes to.
fn goes(connection: &Connection, summary: &Summary<'_>, sessions: usize) -> Goes {
    let behind = |session: &str| {
        let waits = connection.sessions.get(session).is_some_and(|it| it.stream.pending() > 0 && !it.stream.lost);
        (waits && id!("HTTP-12").is_on(Way::Track)).then(|| Goes::After(session.into()))
    };
    if !id!("HTTP-10").is_on(Way::Track) {
        return Goes::Stream(None);
    }
    if summary.is_answer() {
        let Some(call) = summary.id.as_ref().and_then(|id| connection.calls.get(id)) else { return Goes::Stream(None) };
        if let Some(exchange) = call.exchange {
            return Goes::Response(exchange);
        }
        let session = call.session.as_deref().filter(|session| connection.sessions.contains_key(*session));
        return match session {
            Some(session) if call.effect.opens() => behind(session).unwrap_or(Goes::Stream(None)),
            // Nobody reads the stream of a session that the connection does not know.
            session => Goes::Stream(session.filter(|_| !call.effect.opens()).map(Into::into)),
        };
    }
    if let Some(asked) = summary.cancels.as_ref().and_then(|id| connection.questions.get(id)) {
        // Whoever is told to stop has been told to begin.
        return asked.as_deref().and_then(behind).unwrap_or(Goes::Stream(None));
    }
    let fits = |name: &str| connection.sessions.contains_key(name) || connection.sessions.len() < sessions;
    Goes::Stream(summary.session.as_deref().filter(|name| fits(name)).map(Into::into))
}

/// How much may wait for the reader of a stream.
fn bound(stream: &Stream, open: usize, unread: usize) -> usize {
    if stream.lost {
        usize::MAX
    } else if stream.is_open() {
        open
    } else {
        unread
    }
}

fn unsendable(why: Unreadable) -> SendError {
    let (rule, message) = why.misuse();
    SendError::Misuse { rule, message }
}
