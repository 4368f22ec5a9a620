//! Streams on which nothing comes although an answer is due: what a proxy that buffers responses looks like from here.
//!
//! An agent that thinks looks the same where a server sends no comments, so nothing is concluded but that the host may want
//! to know. One stream that has carried something shows that the way lets events through, and all are believed.

use super::memory::{Call, Sent};
use super::streams::{Carried, State};
use super::{Action, Client, Name, Silence};
use crate::rules::Way;

const UNHEARD: &str =
    "nothing has come on a stream on which an answer is due: the agent is slow, or a proxy in between buffers \
    responses; it has to pass event streams on at once (nginx: proxy_buffering off)";
const HEADLESS: &str =
    "the response that is a stream has not begun, and an answer is due on it: the agent is slow, or a proxy in \
    between buffers responses; it has to pass event streams on at once (nginx: proxy_buffering off)";

impl Client {
    /// The streams that are silent although an answer is due, since when, and whether their heads have come.
    pub(super) fn silences(&self) -> impl Iterator<Item = (&Name, u64, bool)> {
        let passes =
            self.streams.values().any(|stream| stream.state == State::Open && stream.carried >= Carried::Something);
        let told = passes || self.options.times.first == 0 || !id!("HTTP-21").is_on(Way::Track);
        let calls = self.memory.calls.values().filter(move |call| !told && call.sent == Sent::Gone);
        calls.filter_map(|call| self.silence(call))
    }

    fn silence<'a>(&'a self, call: &'a Call) -> Option<(&'a Name, u64, bool)> {
        let name = if call.effect.opens() { &None } else { &call.session };
        let (accepted, stream) = (call.accepted?, self.streams.get(name)?);
        let open = stream.state == State::Open;
        let waits = stream.carried == Carried::Nothing && (open || stream.state == State::Opening);
        // What was due on a stream that broke may be lost with it.
        let due = waits && (!stream.broken || accepted >= stream.asked);
        due.then_some((name, accepted.max(stream.asked).max(stream.heard), open))
    }

    /// When the next silence has to be told.
    pub(super) fn next_silence(&self) -> Option<u64> {
        self.silences().map(|(_, since, _)| since.saturating_add(self.options.times.first)).min()
    }

    /// Tells of each silent stream, once for each time that it was asked for.
    pub(super) fn tell_silences(&mut self) {
        let (now, first) = (self.now, self.options.times.first);
        let long = self.silences().filter(|(_, since, _)| now.saturating_sub(*since) >= first);
        let long: Vec<(Name, u64, bool)> = long.map(|(name, since, head)| (name.clone(), since, head)).collect();
        for (name, since, head) in long {
            let Some(stream) = self.streams.get_mut(&name).filter(|stream| stream.carried == Carried::Nothing) else {
                continue;
            };
            stream.carried = Carried::NothingTold;
            let message = if head { UNHEARD } else { HEADLESS };
            let silence = Silence { session: name, waited: now.saturating_sub(since), head, message: message.into() };
            self.actions.push_back(Action::Silent(silence));
        }
    }
}
