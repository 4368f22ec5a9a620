//! How a connection begins, breaks, and begins again (HTTP-18).

use super::lanes::{Lane, Post};
use super::memory::{Owner, Sent};
use super::streams::WORKS;
use super::{Action, Client, ClosedWhy, Doing, Lost, Name, Phase};
use crate::http::ws::{CloseCode, Frame};
use crate::rules::Way;

impl Client {
    /// Sends `initialize` without a connection (HTTP-03), or opens a socket for it (WS-01).
    pub(super) fn initialize(&mut self, post: Post) {
        self.phase = Phase::Initializing;
        let body = post.json.clone();
        if let Some(call) = post.id.as_ref().and_then(|id| self.memory.calls.get_mut(id)) {
            call.sent = Sent::Gone;
        }
        if self.is_websocket() {
            let headers = self.common_headers();
            let exchange = self.begin(Doing::Socket);
            self.enqueue_first(None, post);
            self.actions.push_back(Action::Connect { exchange, headers });
        } else {
            self.request("POST", None, Doing::Initialize { post, body: Vec::new(), begun: false }, body);
        }
    }

    /// The socket is open.
    pub(super) fn socket_opened(&mut self, exchange: u64, id: Option<String>) {
        if id.is_none() {
            self.report(id!("WS-01"), "the handshake of the server has no Acp-Connection-Id", None);
        }
        self.id = id.or_else(|| Some(String::new()));
        (self.socket, self.close_code) = (Some(exchange), None);
        let first = self.lanes.get_mut(&None).and_then(|lane| lane.pop_if(|_| true));
        if let Some(post) = first {
            self.actions.push_back(Action::Frame { exchange, frame: Frame::Text(post.json) });
        }
    }

    pub(super) fn drop_socket(&mut self) {
        if let Some(exchange) = self.socket.take() {
            self.exchanges.remove(&exchange);
            self.id = None;
            self.actions.push_back(Action::Frame { exchange, frame: Frame::Close(CloseCode::Normal, "") });
        }
    }

    /// The answer to `initialize` of a new connection.
    pub(super) fn initialized(&mut self, json: &str, succeeded: bool) {
        if !succeeded || !self.memory.welcome(json) {
            let why = if succeeded { ClosedWhy::Protocol } else { ClosedWhy::NotInitialized };
            return self.stop(why);
        }
        self.phase = Phase::Ready;
        self.began = self.now;
        if let Some(socket) = self.socket.and_then(|exchange| self.exchanges.get_mut(&exchange)) {
            socket.until = u64::MAX;
        }
        self.actions.push_back(Action::Connected { id: self.id.clone().unwrap_or_default() });
        if self.socket.is_none() {
            self.open_stream(&None, false);
            let waiting = self.lanes.values().flat_map(Lane::posts).filter(|post| post.attaches);
            let opened: Vec<Name> = waiting.map(|post| post.session.clone()).collect();
            for name in opened {
                self.open_stream(&name, true);
            }
        }
        let sessions: Vec<String> = self.memory.sessions.keys().cloned().collect();
        for session in sessions {
            self.reopen(&session);
        }
        self.pump();
    }

    /// Opens a session again, if the agent can.
    pub(super) fn reopen(&mut self, session: &str) {
        let name: Name = Some(session.to_owned());
        self.forget_reopening(&name);
        let Some((id, json)) = self.memory.reopen(session).filter(|_| id!("HTTP-18").is_on(Way::Track)) else {
            return self.reopened(session.to_owned(), false);
        };
        if self.socket.is_none() {
            self.open_stream(&name, true);
        }
        let post = Post {
            json,
            id: Some(id.clone()),
            answers: None,
            method: self.memory.way.unwrap_or_default().to_owned(),
            session: name.clone(),
            attaches: true,
            tries: 0,
            repeated: false,
            told: false,
        };
        self.enqueue_first(name.clone(), post);
        if let Some(lane) = self.lanes.get_mut(&name) {
            lane.reopens = Some(id);
        }
    }

    /// Forgets an attempt to open a session again, for another one.
    fn forget_reopening(&mut self, name: &Name) {
        let of = |call: &super::memory::Call| call.owner == Owner::Reopen && call.session == *name;
        self.memory.calls.retain(|_, call| !of(call));
        if let Some(lane) = self.lanes.get_mut(name) {
            if let Some(id) = lane.reopens.take() {
                lane.retain(|post| post.id.as_ref() != Some(&id));
            }
        }
    }

    /// A session is open again, or cannot be opened.
    pub(super) fn reopened(&mut self, session: String, succeeded: bool) {
        let name = Some(session.clone());
        if let Some(lane) = self.lanes.get_mut(&name) {
            lane.reopens = None;
        }
        if succeeded {
            if let Some(stream) = self.streams.get_mut(&name) {
                stream.early = false;
            }
            self.retry_early_stream(&name);
            let replayed = self.memory.replays();
            self.actions.push_back(Action::Attached { session, replayed });
        } else {
            self.memory.sessions.remove(&session);
            self.drop_stream(&name);
            self.drop_lane(&name);
            self.actions.push_back(Action::Detached { session });
        }
        self.pump();
    }

    /// The connection is lost, and has not worked since a time. `known` says that the server may still have it: then it is
    /// told to end it, so that the agent does not serve the same session twice.
    pub(super) fn lose(&mut self, known: bool, since: u64) {
        if matches!(self.phase, Phase::Closed | Phase::Waiting(_) | Phase::New) {
            return;
        }
        // What has come is not lost.
        for held in std::mem::take(&mut self.held) {
            self.finish_answer(&held.id, held.json, None, true);
        }
        // Nothing more is sent on this connection.
        self.phase = Phase::Waiting(self.now);
        let busy: Vec<(Option<Name>, Post)> = self.take_posts();
        self.streams.clear();
        if known && self.id.is_some() && !self.is_websocket() {
            self.request("DELETE", None, Doing::Delete, String::new());
        }
        self.socket = None;
        self.id = None;
        self.memory.calls.retain(|_, call| call.owner == Owner::Host);
        for lane in self.lanes.values_mut() {
            (lane.busy, lane.reopens, lane.until) = (None, None, 0);
            // Every call that waits is open, but for those that were the client's own. Answers are to questions of nobody.
            let waits =
                |post: &Post| post.id.as_ref().map_or(!post.method.is_empty(), |id| self.memory.calls.contains_key(id));
            lane.retain(waits);
        }
        let questions = self.memory.questions.lose(self.options.limits.calls, |_| true);
        let mut lost = Lost { questions, code: self.close_code.take(), ..Lost::default() };
        let gone = self.memory.calls.iter().filter(|(_, call)| call.is_gone());
        lost.calls = gone.map(|(id, _)| id.clone()).collect();
        for id in &lost.calls {
            self.memory.calls.remove(id);
        }
        // A notification that may have arrived is repeated only if that does no harm.
        for (lane, post) in busy {
            if post.id.is_none() && !post.method.is_empty() && crate::http::route::may_repeat(&post.method) {
                self.enqueue_first(lane.flatten(), post);
            }
        }
        lost.calls.sort();
        lost.sessions = self.memory.sessions.keys().cloned().collect();
        lost.sessions.sort();
        // One that is lost at once each time, because its agent fails or another server has its streams, is not opened again
        // as fast as the server can answer, and not for ever.
        if self.now.saturating_sub(self.began) >= WORKS {
            self.tries = 0;
            self.lost_since = None;
        }
        self.lost_since.get_or_insert(since);
        self.actions.push_back(Action::Lost(lost));
        if self.options.reconnect {
            self.wait_for_connection(None);
        } else {
            self.stop(ClosedWhy::Unreachable);
        }
    }

    /// A socket ended before the agent had answered `initialize`, and may have asked.
    pub(super) fn lose_questions(&mut self) {
        let questions = self.memory.questions.lose(self.options.limits.calls, |_| true);
        if !questions.is_empty() {
            self.actions.push_back(Action::Lost(Lost { questions, ..Lost::default() }));
        }
    }

    /// Waits before the next attempt to open a connection, or gives up.
    pub(super) fn wait_for_connection(&mut self, wait: Option<u64>) {
        let since = *self.lost_since.get_or_insert(self.now);
        if self.now.saturating_sub(since) >= self.options.times.give_up {
            return self.stop(ClosedWhy::Unreachable);
        }
        self.tries += 1;
        let wait = wait.unwrap_or_else(|| if self.tries == 1 { 0 } else { self.pause(self.tries - 1) });
        let at = self.now.saturating_add(wait);
        self.phase = Phase::Waiting(at);
        self.actions.push_back(Action::Retrying { at });
        if wait == 0 {
            self.connect_again();
        }
    }

    /// Opens a connection once more: with the host's own `initialize` if that has no answer yet.
    pub(super) fn connect_again(&mut self) {
        let first = self.memory.initialize_id.clone().filter(|id| self.memory.calls.contains_key(id));
        let again = match first {
            Some(id) => self.memory.initialize.clone().map(|json| (id, json)),
            None => self.memory.initialize_again(),
        };
        let Some((id, json)) = again else { return self.stop(ClosedWhy::Protocol) };
        let method = "initialize".to_owned();
        self.initialize(Post {
            json,
            id: Some(id),
            answers: None,
            method,
            session: None,
            attaches: false,
            tries: 0,
            repeated: false,
            told: false,
        });
    }

    /// Ends the conversation: `DELETE` (HTTP-14), or the end of the socket.
    pub fn close(&mut self) {
        if self.socket.is_some() {
            self.drop_socket();
        } else if self.id.is_some() {
            self.request("DELETE", None, Doing::Delete, String::new());
        }
        self.stop(ClosedWhy::Host);
    }

    /// Goes on after [`Action::Unauthorized`], with the headers that were set meanwhile.
    pub fn retry(&mut self) {
        if !std::mem::take(&mut self.barred) {
            return;
        }
        if let Phase::Waiting(_) = self.phase {
            return self.connect_again();
        }
        let names: Vec<Name> = self.streams.keys().cloned().collect();
        for name in names {
            if self.streams.get(&name).is_some_and(|stream| stream.exchange.is_none()) {
                self.ask_for(&name);
            }
        }
        self.pump();
    }

    /// Forgets all exchanges, and returns the messages that were on their way.
    fn take_posts(&mut self) -> Vec<(Option<Name>, Post)> {
        let mut posts = Vec::new();
        let mut aborted = Vec::new();
        for (exchange, it) in std::mem::take(&mut self.exchanges) {
            aborted.push(exchange);
            match it.doing {
                Doing::Post { lane, post } => posts.push((lane, post)),
                Doing::Refused { post, status, body, .. } => self.tell_refused(post, status, body),
                _ => {}
            }
        }
        self.actions.extend(aborted.into_iter().map(|exchange| Action::Abort { exchange }));
        posts
    }

    pub(super) fn abort(&mut self, mut exchanges: Vec<u64>) {
        exchanges.sort_unstable();
        for exchange in exchanges {
            self.exchanges.remove(&exchange);
            self.actions.push_back(Action::Abort { exchange });
        }
    }
}
