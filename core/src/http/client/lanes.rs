//! What goes out, in which order. Each session has a lane, and so has the connection: its messages are posted one after the
//! other, as HTTP may deliver two requests in any order. Answers to the agent's questions wait in no lane.

use std::borrow::Cow;
use std::collections::VecDeque;

use super::memory::Sent;
use super::{Action, Client, Doing, Lost, Name, Phase};
use crate::http::route::{may_repeat, Form, Summary};
use crate::http::ws::Frame;
use crate::json;
use crate::jsonrpc::write_error;
use crate::{ErrorCode, Id};

/// A message on its way out.
#[derive(Debug, Clone)]
pub(super) struct Post {
    pub(super) json: String,
    /// Of a request.
    pub(super) id: Option<Id>,
    /// Of the question that an answer is to, as the agent knows it.
    pub(super) answers: Option<Id>,
    /// Empty for an answer.
    pub(super) method: String,
    pub(super) session: Name,
    /// It opens a session; its stream is opened before, or as soon as the server has the message.
    pub(super) attaches: bool,
    pub(super) tries: u32,
    /// Nobody knows whether it arrived before.
    pub(super) repeated: bool,
    /// Something of its session came while it was on its way, so the server is likely to have it.
    pub(super) told: bool,
}

impl Post {
    pub(super) fn new(json: &str, summary: &Summary<'_>, session: Name) -> Self {
        Post {
            json: json.trim_end_matches(['\r', '\n']).to_owned(),
            id: summary.id.clone().filter(|_| summary.form == Form::Request),
            answers: summary.id.clone().filter(|_| summary.is_answer()),
            method: summary.method.as_ref().to_owned(),
            session,
            attaches: summary.effect == crate::http::route::Effect::Attaches,
            tries: 0,
            repeated: false,
            told: false,
        }
    }

    /// Whether it may be sent once more if nobody knows whether it arrived: a second answer answers nothing, as long as nothing
    /// else is asked with its id.
    fn may_repeat(&self) -> bool {
        self.method.is_empty() || may_repeat(&self.method)
    }
}

#[derive(Debug, Default)]
pub(super) struct Lane {
    posts: VecDeque<Post>,
    /// Of the posts.
    bytes: usize,
    /// One is on its way.
    pub(super) busy: Option<u64>,
    /// Nothing goes out before this time.
    pub(super) until: u64,
    /// The session is being opened again; only this call goes out.
    pub(super) reopens: Option<Id>,
}

impl Lane {
    /// What waits, in its order.
    pub(super) fn posts(&self) -> impl Iterator<Item = &Post> {
        self.posts.iter()
    }

    fn push(&mut self, post: Post) {
        self.bytes += post.json.len();
        self.posts.push_back(post);
    }

    /// Puts a message before all others but the call that opens the session again, for which they wait.
    fn push_first(&mut self, post: Post) {
        self.bytes += post.json.len();
        let reopens = self.reopens.is_some() && self.posts.front().is_some_and(|first| first.id == self.reopens);
        self.posts.insert(usize::from(reopens), post);
    }

    /// Takes the first message out if this holds for it.
    pub(super) fn pop_if(&mut self, fits: impl FnOnce(&Post) -> bool) -> Option<Post> {
        self.posts.front().filter(|first| fits(first))?;
        let post = self.posts.pop_front()?;
        self.bytes -= post.json.len();
        Some(post)
    }

    pub(super) fn retain(&mut self, keeps: impl FnMut(&Post) -> bool) {
        self.posts.retain(keeps);
        self.bytes = self.posts.iter().map(|post| post.json.len()).sum();
    }
}

impl Client {
    /// Bytes that wait in lanes.
    pub(super) fn queued(&self) -> usize {
        self.lanes.values().map(|lane| lane.bytes).sum()
    }

    pub(super) fn enqueue(&mut self, name: Name, post: Post) {
        self.lanes.entry(name).or_default().push(post);
    }

    pub(super) fn enqueue_first(&mut self, name: Name, post: Post) {
        self.lanes.entry(name).or_default().push_first(post);
    }

    /// The session of a lane is over: nobody answers what waits there.
    pub(super) fn drop_lane(&mut self, name: &Name) {
        let waiting = self.lanes.remove(name).unwrap_or_default().posts;
        self.lose_calls(waiting.into_iter().filter_map(|post| post.id).collect());
    }

    /// Sends what may go out now.
    pub(super) fn pump(&mut self) {
        while let Some(name) = self.free_lane() {
            let Some(lane) = self.lanes.get_mut(&name) else { return };
            let Some(post) = lane.pop_if(|_| true) else { return };
            if let Some(call) = post.id.as_ref().and_then(|id| self.memory.calls.get_mut(id)) {
                call.sent = Sent::Gone;
            }
            if let Some(exchange) = self.socket {
                self.actions.push_back(Action::Frame { exchange, frame: Frame::Text(post.json) });
                continue;
            }
            let exchange = self.post(Some(name.clone()), post);
            if let Some(lane) = self.lanes.get_mut(&name) {
                lane.busy = Some(exchange);
            }
        }
        self.lanes.retain(|_, lane| lane.busy.is_some() || !lane.posts.is_empty() || lane.reopens.is_some());
    }

    /// A lane whose first message may go out.
    fn free_lane(&self) -> Option<Name> {
        if self.phase != Phase::Ready || self.barred {
            return None;
        }
        let free = self.lanes.iter().find(|(name, lane)| {
            let Some(first) = lane.posts.front() else { return false };
            let may = lane.reopens.is_none() || lane.reopens == first.id;
            let gated = self.streams.get(*name).is_some_and(|stream| stream.gate > self.now);
            lane.busy.is_none() && may && !gated && lane.until <= self.now
        });
        free.map(|(name, _)| name.clone())
    }

    /// Sends an answer at once: what the agent asks may be what everything else waits for.
    pub(super) fn answer(&mut self, post: Post) {
        match self.socket {
            Some(exchange) => self.actions.push_back(Action::Frame { exchange, frame: Frame::Text(post.json) }),
            None if self.phase == Phase::Ready && !self.barred => {
                self.post(None, post);
            }
            None => self.enqueue_first(post.session.clone(), post),
        }
    }

    fn post(&mut self, lane: Option<Name>, post: Post) -> u64 {
        let (session, body) = (post.session.clone(), post.json.clone());
        self.request("POST", session.as_deref(), Doing::Post { lane, post }, body)
    }

    /// The server has taken a message.
    pub(super) fn accepted(&mut self, lane: Option<&Name>, post: &Post) {
        self.release_lane(lane, 0);
        if let Some(call) = post.id.as_ref().and_then(|id| self.memory.calls.get_mut(id)) {
            call.accepted = Some(self.now);
        }
        if post.attaches {
            self.retry_early_stream(&post.session);
        }
        self.pump();
    }

    /// The server has not taken a message, and may take it later.
    pub(super) fn postponed(&mut self, lane: Option<Name>, post: Post, wait: Option<u64>) {
        self.put_back(lane, post, wait);
        self.pump();
    }

    /// Lets a message that was not taken wait where it was.
    pub(super) fn put_back(&mut self, lane: Option<Name>, mut post: Post, wait: Option<u64>) {
        post.tries += 1;
        post.told = false;
        let wait = wait.unwrap_or_else(|| self.pause(post.tries));
        let until = self.now.saturating_add(wait);
        self.release_lane(lane.as_ref(), 0);
        if let Some(id) = &post.id {
            // A call that was answered or lost meanwhile has arrived, whatever was said of its request.
            let Some(call) = self.memory.calls.get_mut(id) else { return };
            call.sent = Sent::Before;
        }
        // The agent has asked something else with that id since, so it has had the answer.
        if post.answers.as_ref().is_some_and(|id| self.memory.questions.is_open(id)) {
            return;
        }
        // An answer gets into the lane of its session only now, and then goes first.
        let lane = self.lanes.entry(lane.unwrap_or_else(|| post.session.clone())).or_default();
        lane.push_first(post);
        lane.until = lane.until.max(until);
    }

    /// The agent asks with an id, so it needs no answer to another question with it.
    pub(super) fn drop_answers(&mut self, id: &Id) {
        for lane in self.lanes.values_mut().filter(|lane| lane.posts().any(|post| post.answers.as_ref() == Some(id))) {
            lane.retain(|post| post.answers.as_ref() != Some(id));
        }
    }

    /// Nobody knows whether the server has a message.
    pub(super) fn uncertain(&mut self, lane: Option<Name>, mut post: Post) {
        // A history that has begun is not to begin once more, and one that waits for its stream is to be heard of before.
        let replays = self.replays(&post);
        if post.may_repeat() && !(replays && post.told) {
            post.repeated = true;
            return self.postponed(lane, post, Some(self.options.times.open).filter(|_| replays));
        }
        self.release_lane(lane.as_ref(), 0);
        match post.id {
            Some(id) if post.told => self.doubt(Some(&id)),
            Some(id) => self.lose_calls(vec![id]),
            None => self.actions.push_back(Action::Refused { status: 0, method: post.method, message: None }),
        }
        self.pump();
    }

    /// Whether the answer to a call comes behind the history of its session.
    fn replays(&self, post: &Post) -> bool {
        post.id.as_ref().and_then(|id| self.memory.calls.get(id)).is_some_and(|call| call.replays)
    }

    /// A message has come on a session's stream.
    pub(super) fn heard_of(&mut self, session: &Name) {
        let first = self.lanes.get(session).and_then(|lane| lane.posts().next());
        if first.is_some_and(|post| post.repeated && self.replays(post)) {
            // It has arrived before.
            let post = self.lanes.get_mut(session).and_then(|lane| lane.pop_if(|_| true));
            self.doubt(post.and_then(|post| post.id).as_ref());
        }
        let on_its_way = self.lanes.get(session).and_then(|lane| lane.busy).filter(|_| session.is_some());
        if let Some(Doing::Post { post, .. }) =
            on_its_way.and_then(|exchange| self.exchanges.get_mut(&exchange)).map(|it| &mut it.doing)
        {
            post.told = true;
        }
    }

    /// The server refuses a message for good, and has said this about it.
    pub(super) fn refused(&mut self, lane: Option<&Name>, post: Post, status: u16, body: Vec<u8>) {
        self.release_lane(lane, 0);
        if status == 400 && post.repeated {
            // It may have arrived before, and its id is in use.
            self.doubt(post.id.as_ref());
            return self.pump();
        }
        self.tell_refused(post, status, body);
        self.pump();
    }

    pub(super) fn tell_refused(&mut self, post: Post, status: u16, body: Vec<u8>) {
        let body = json::text(body).unwrap_or_default();
        let said = Summary::read(&body).ok().filter(|said| said.form == Form::Error);
        let error = said.and_then(|_| json::pointer(&body, "/error"));
        let Some(id) = post.id else {
            let message = error.and_then(|error| json::pointer(error, "/message")).and_then(json::unescape);
            let message = message.map(Cow::into_owned);
            return self.actions.push_back(Action::Refused { status, method: post.method, message });
        };
        let text = format!("The server refused the message with status {status}");
        let error = error.map(|error| format!(",\"error\":{error}")).unwrap_or_default();
        let data = format!("{{\"status\":{status}{error}}}");
        let json = write_error(&id, ErrorCode::INTERNAL_ERROR, &text, Some(&data));
        self.finish_answer(&id, json, None, false);
    }

    /// The answer to a call may come, or may not.
    fn doubt(&mut self, id: Option<&Id>) {
        let Some(call) = id.and_then(|id| self.memory.calls.get_mut(id)) else { return };
        call.sent = Sent::Doubtful;
        let name = call.stream().map(str::to_owned);
        if let Some(stream) = self.streams.get_mut(&name) {
            stream.doubt = Some(self.now);
        }
    }

    /// Tells the host of calls that nobody will answer.
    pub(super) fn lose_calls(&mut self, calls: Vec<Id>) {
        let mut lost = Lost::default();
        for id in calls {
            let Some(call) = self.memory.calls.remove(&id) else { continue };
            if call.owner == super::memory::Owner::Host {
                lost.calls.push(id);
            } else if let Some(session) = call.session {
                self.reopened(session, false);
            }
        }
        if !lost.calls.is_empty() {
            lost.calls.sort();
            self.actions.push_back(Action::Lost(lost));
        }
    }

    fn release_lane(&mut self, lane: Option<&Name>, until: u64) {
        if let Some(lane) = lane.and_then(|name| self.lanes.get_mut(name)) {
            lane.busy = None;
            lane.until = lane.until.max(until);
        }
    }
}
