//! Time: gates that open, attempts that are due, answers that have waited, streams that are too quiet.

use super::memory::{Owner, Sent};
use super::streams::{Broke, State};
use super::{Action, Client, Doing, Name, Phase};
use crate::rules::Way;

impl Client {
    /// Sets the time: milliseconds on a monotonic clock of the host's choice. A time before the last one is ignored.
    pub fn handle_timeout(&mut self, now: u64) {
        self.now = self.now.max(now);
        let now = self.now;
        if let Phase::Waiting(at) = self.phase {
            if at <= now && !self.barred {
                self.connect_again();
            }
        }
        self.late_responses();
        let due: Vec<Name> =
            self.streams.iter().filter(|(_, stream)| is_due(stream.state, now)).map(|(name, _)| name.clone()).collect();
        for name in due {
            self.ask_for(&name);
        }
        let silence = self.options.times.silence;
        let dead = self.streams.iter().filter(|(_, stream)| {
            let silent = now.saturating_sub(stream.heard) >= silence;
            stream.state == State::Open && stream.comments && silent && id!("HTTP-21").is_on(Way::Track)
        });
        let dead: Vec<(Name, Option<u64>)> = dead.map(|(name, stream)| (name.clone(), stream.exchange)).collect();
        for (name, exchange) in dead {
            self.abort(exchange.into_iter().collect());
            self.stream_broke(&name, Broke::Served, None);
        }
        self.tell_silences();
        self.end_doubts();
        let over: Vec<Name> =
            self.held.iter().filter(|held| self.ripe(held) <= now).map(|held| Some(held.session.clone())).collect();
        for name in over {
            self.release_held(&name);
        }
        self.pump();
    }

    /// When to call [`handle_timeout`](Self::handle_timeout) next; `None` when nothing is waited for.
    #[must_use]
    pub fn poll_timeout(&self) -> Option<u64> {
        let waiting = match self.phase {
            Phase::Waiting(at) if !self.barred => Some(at),
            _ => None,
        };
        let streams = self.streams.iter().flat_map(|(name, stream)| {
            let again = if let State::Waiting(at) = stream.state { Some(at).filter(|_| !self.barred) } else { None };
            let dead = stream.heard.saturating_add(self.options.times.silence);
            let dead = (stream.state == State::Open && stream.comments).then_some(dead);
            let doubt = stream.doubt.map(|since| since.max(stream.told).saturating_add(self.options.times.doubt));
            let asked = stream.doubt.filter(|_| self.doubtful_reopenings(name).next().is_some());
            let asked = asked.map(|since| since.saturating_add(self.options.times.response));
            [again, dead, doubt, asked, Some(stream.gate).filter(|gate| *gate > self.now)]
        });
        let lanes = self.lanes.values().map(|lane| Some(lane.until).filter(|until| *until > self.now));
        let late =
            self.exchanges.values().filter(|it| !matches!(it.doing, Doing::Read { .. })).map(|it| Some(it.until));
        let held = self.held.iter().map(|held| Some(self.ripe(held)));
        let all =
            [waiting, self.next_silence()].into_iter().chain(streams).chain(lanes).chain(late).chain(held).flatten();
        all.filter(|at| *at != u64::MAX).min()
    }

    /// When an answer that is held has waited long enough.
    fn ripe(&self, held: &super::Held) -> u64 {
        let most = held.since.saturating_add(self.options.times.replay);
        let Some(stream) = self.streams.get(&Some(held.session.clone())) else { return held.since };
        if stream.state != State::Open && stream.tries > 0 {
            // What was on its way may come once it is open again.
            return most;
        }
        most.min(stream.told.max(stream.opened).max(held.since).saturating_add(self.options.times.quiet))
    }

    /// Sessions whose calls to open them again have answers that may be lost with this stream.
    fn doubtful_reopenings<'a>(&'a self, name: &'a Name) -> impl Iterator<Item = &'a String> {
        let calls =
            self.memory.calls.values().filter(|call| call.owner == Owner::Reopen && call.sent == Sent::Doubtful);
        calls.filter(|call| call.stream() == name.as_deref()).filter_map(|call| call.session.as_ref())
    }

    /// Gives up answers that were on a stream when it broke, once that stream has been silent for long. What the client has
    /// asked by itself, to open a session again, it asks once more before that.
    fn end_doubts(&mut self) {
        let (now, doubt, response) = (self.now, self.options.times.doubt, self.options.times.response);
        let waited = |since: u64| now.saturating_sub(since) >= response;
        let doubted = self.streams.iter().filter(|(_, stream)| stream.doubt.is_some_and(waited));
        let again: Vec<String> = doubted.flat_map(|(name, _)| self.doubtful_reopenings(name).cloned()).collect();
        for session in again {
            self.reopen(&session);
        }
        let mut lost = Vec::new();
        for (name, stream) in &mut self.streams {
            if stream.doubt.is_none_or(|since| now.saturating_sub(since.max(stream.told)) < doubt) {
                continue;
            }
            stream.doubt = None;
            let calls = self.memory.calls.iter();
            let doubtful = calls.filter(|(_, call)| call.sent == Sent::Doubtful && call.stream() == name.as_deref());
            lost.extend(doubtful.map(|(id, _)| id.clone()));
        }
        self.lose_calls(lost);
    }

    /// Requests whose responses do not begin. A stream may begin with its first event.
    fn late_responses(&mut self) {
        let late =
            self.exchanges.iter().filter(|(_, it)| it.until <= self.now && !matches!(it.doing, Doing::Read { .. }));
        let mut late: Vec<u64> = late.map(|(exchange, _)| *exchange).collect();
        late.sort_unstable();
        for exchange in late {
            self.actions.push_back(Action::Abort { exchange });
            self.failed(exchange, true);
        }
    }
}

fn is_due(state: State, now: u64) -> bool {
    matches!(state, State::Waiting(at) if at <= now)
}
