//! Time: keep-alives, connections that nobody uses, bodies and agents that take too long, readers that take nothing.
//!
//! Each connection has one timer, for the first thing that may be due. Something that is due later than that sets none, so
//! most messages cost no timer at all.

use std::collections::BTreeSet;

use super::connection::{Connection, Phase};
use super::{refusals, Closed, ConnectionKey, Event, Exchange, Server, ServerTimes};
use crate::rules::Way;

/// Milliseconds after which streams are looked at again that may be given up at any time.
const RECHECK: u64 = 1000;

/// What a timer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    Connection(ConnectionKey),
    Exchange(u64),
    Tombstones,
}

/// Timers in the order of their times.
#[derive(Debug, Default)]
pub(super) struct Timers(BTreeSet<(u64, Timer)>);

impl Timers {
    pub(super) fn set(&mut self, at: u64, timer: Timer) {
        self.0.insert((at, timer));
    }

    pub(super) fn cancel(&mut self, at: u64, timer: Timer) {
        self.0.remove(&(at, timer));
    }

    fn due(&mut self, now: u64) -> Option<Timer> {
        let first = *self.0.first().filter(|(at, _)| *at <= now)?;
        self.0.remove(&first);
        Some(first.1)
    }
}

impl Server {
    /// Sets the time: milliseconds on a monotonic clock of the host's choice. A time before the last one is ignored.
    pub fn handle_timeout(&mut self, now: u64) {
        self.now = self.now.max(now);
        while let Some(timer) = self.timers.due(self.now) {
            match timer {
                Timer::Connection(key) => {
                    if let Some(connection) = self.connections.get_mut(&key) {
                        connection.wakes = u64::MAX;
                    }
                    let next = self.tend(key);
                    // What is due now has been done.
                    self.wake(key, next.max(self.now.saturating_add(1)));
                }
                Timer::Exchange(exchange) => self.slow_body(exchange),
                Timer::Tombstones => {
                    self.tombstones.expire(self.now);
                    if let Some(at) = self.tombstones.next() {
                        self.timers.set(at, Timer::Tombstones);
                    }
                }
            }
        }
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next; `None` when nothing is waited for.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<u64> {
        self.timers.0.first().map(|(at, _)| *at)
    }

    /// A body whose time is up.
    fn slow_body(&mut self, exchange: u64) {
        let Some(Exchange::Body { until, .. }) = self.exchanges.get(&exchange) else { return };
        if *until <= self.now && id!("HTTP-28").is_on(Way::Track) {
            self.give_up_body(exchange);
            self.respond(exchange, refusals::SLOW_BODY.response(None));
        }
    }

    /// Does what is due for a connection, and returns when something may be due again.
    fn tend(&mut self, key: ConnectionKey) -> u64 {
        let (now, times) = (self.now, self.options.times);
        let Some(connection) = self.connections.get_mut(&key).filter(|it| it.inbox.closed.is_none()) else {
            return u64::MAX;
        };
        if connection.socket.is_some() {
            return self.tend_socket(key);
        }
        if connection.phase == Phase::Initializing {
            let until = connection.used.saturating_add(times.initialize);
            if until > now {
                return until;
            }
            if id!("HTTP-28").is_on(Way::Track) {
                self.end(key, Closed::NotInitialized);
            }
            return u64::MAX;
        }
        if connection.held.iter().any(|held| held.until <= now) {
            // Only those whose time is up: no stream is named that any of them waits for.
            self.release(key, Some(""));
        }
        let next = self.tend_streams(key);
        let Some(connection) = self.connections.get_mut(&key).filter(|it| it.inbox.closed.is_none()) else {
            return u64::MAX;
        };
        if connection.streams().any(|(_, stream)| stream.is_open()) {
            return next;
        }
        let until = connection.used.saturating_add(times.idle);
        if until > now {
            return next.min(until);
        }
        if id!("HTTP-21").is_on(Way::Track) {
            self.end(key, Closed::Idle);
        }
        u64::MAX
    }

    /// Keep-alives, and readers that take nothing.
    fn tend_streams(&mut self, key: ConnectionKey) -> u64 {
        let (now, times) = (self.now, self.options.times);
        let Some(connection) = self.connections.get_mut(&key) else { return u64::MAX };
        let mut next = connection.held.iter().map(|held| held.until).min().unwrap_or(u64::MAX);
        let (mut stalled, mut ready) = (Vec::new(), Vec::new());
        for (name, since) in connection.full_streams() {
            match has_time(connection, name.as_deref(), since, times, now) {
                Some(until) => next = next.min(until),
                None => stalled.push(name),
            }
        }
        for (name, stream) in connection.streams() {
            if stream.is_open() && !stalled.iter().any(|stalled| stalled.as_deref() == name) {
                let until = stream.moved.saturating_add(times.keep_alive);
                if until <= now && stream.pending() == 0 && id!("HTTP-21").is_on(Way::Track) {
                    ready.extend(stream.keep_alive(now));
                    next = next.min(now.saturating_add(times.keep_alive));
                } else {
                    next = next.min(until.max(now.saturating_add(RECHECK)));
                }
            }
        }
        self.events.extend(ready.into_iter().map(|exchange| Event::Ready { exchange }));
        for name in stalled {
            self.give_up(key, name.as_deref());
        }
        next
    }

    /// Nobody has read a stream for too long while messages for it waited (HTTP-28).
    fn give_up(&mut self, key: ConnectionKey, name: Option<&str>) {
        if !id!("HTTP-28").is_on(Way::Track) {
            return;
        }
        // Without its own stream a connection hears no answers any more.
        let Some(name) = name else { return self.end(key, Closed::Stalled) };
        let Some(connection) = self.connections.get_mut(&key) else { return };
        let Connection { sessions, questions, inbox, full, .. } = connection;
        let Some(session) = sessions.get_mut(name) else { return };
        let reader = session.stream.exchange.take();
        session.stream.lose();
        // A client that has seen a question may still answer; what it says then answers nothing.
        questions.retain(|id, asked| {
            let gone = asked.as_deref() == Some(name);
            if gone {
                inbox.push(super::close::unread(id));
            }
            !gone
        });
        if std::mem::take(full) {
            self.events.push_back(Event::Drained { connection: key });
        }
        if let Some(exchange) = reader {
            self.finish(exchange, Vec::new());
        }
        self.release(key, Some(name));
        self.fill(key);
    }
}

/// When to look again at a stream that is full since a time; `None` if its reader has had its time.
fn has_time(connection: &Connection, name: Option<&str>, since: u64, times: ServerTimes, now: u64) -> Option<u64> {
    let last = since.saturating_add(times.stall);
    let early = since.saturating_add(times.blocking);
    if last <= now {
        return None;
    }
    // Without its own stream a connection ends, and with it what the others wait for.
    let Some(name) = name.filter(|_| early < last) else { return Some(last) };
    if early > now {
        return Some(early);
    }
    let blocked = connection.is_blocked_by(name, since.saturating_sub(times.blocking));
    // Others may begin to wait at any time.
    (!blocked).then(|| last.min(now.saturating_add(RECHECK)))
}
