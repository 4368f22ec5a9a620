//! The state machine of a client, the requests and the socket that it has asked for, and the messages that wait.
//!
//! Whoever wants something calls [`Shared::with`], which tells the time, does it, and does what has come of it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fmt;
use std::future::{poll_fn, Future};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{ready, Context, Poll, Waker};
use std::time::Duration;

use libacp::http::{close_reason, Action, Client, ClientSendError, ClosedWhy, Frame, Header, Lost};
use libacp::{json, ErrorCode, Id};
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{timeout, Instant};

use super::address::Address;
use super::answers::{error, refusal};
use super::stream::Dialer;
use super::{exchange, socket, Hook, Remote, Renew};
use crate::http::clock;
use crate::http::count::Count;

/// Bytes of messages that wait for the host; then streams and sockets are not read.
const WAITING: usize = 1 << 20;
/// Bytes of frames that wait for a socket; then the host has to wait.
const FRAMES: usize = 1 << 20;
/// How often a stream that is not read says that it is alive.
const ALIVE: Duration = Duration::from_secs(10);
/// How long the last request may take.
const LAST: Duration = Duration::from_secs(2);

/// Why a connection is over that this side has not closed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ended {
    /// Why.
    pub why: ClosedWhy,
    /// What the network or the server said last, if that was a problem.
    pub problem: Option<String>,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.why {
            ClosedWhy::NotInitialized => f.write_str("the agent refused the connection")?,
            ClosedWhy::NotServed { status } => write!(f, "no agent is served there this way (status {status})")?,
            ClosedWhy::Refused { status } => write!(f, "the server refused the connection (status {status})")?,
            ClosedWhy::Protocol => f.write_str("the server does not speak the protocol")?,
            _ => f.write_str("the server cannot be reached")?,
        }
        match &self.problem {
            Some(problem) if self.why == ClosedWhy::Unreachable => write!(f, ": {problem}"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Ended {}

pub(super) struct Shared {
    state: Mutex<State>,
    pub(super) address: Address,
    pub(super) dialer: Dialer,
    /// Bytes of one message.
    pub(super) limit: usize,
    first: u64,
    replays: bool,
    hook: Option<Hook>,
    renew: Option<Renew>,
    begun: Instant,
    sooner: Arc<Notify>,
    /// How many exchanges are open.
    running: Count,
}

pub(super) struct State {
    pub(super) client: Client,
    /// What the network or the server said last, if that was a problem.
    pub(super) problem: Option<String>,
    inbox: VecDeque<String>,
    bytes: usize,
    running: HashMap<u64, AbortHandle>,
    socket: Option<Socket>,
    /// Sessions that are opened again.
    reopening: HashSet<String>,
    connected: bool,
    /// Until when the first connection has to be open, since something is to be sent.
    first: Option<u64>,
    /// Calls that were made before there was a connection, and that end with the reason why there is none.
    early: Vec<Id>,
    ended: Option<ClosedWhy>,
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// Streams that wait for the host to read.
    waiting: Vec<Waker>,
    wakes: Option<u64>,
}

/// What waits for a socket.
#[derive(Default)]
struct Socket {
    exchange: u64,
    frames: VecDeque<Frame>,
    bytes: usize,
    waker: Option<Waker>,
}

/// What is done when the lock is free.
#[derive(Default)]
struct After {
    wakers: Vec<Waker>,
    events: Vec<Action>,
}

impl Shared {
    pub(super) fn new(remote: &Remote) -> io::Result<Arc<Self>> {
        let mut seed = [0; 8];
        // It spreads attempts and is no secret, so any number does.
        let _ = getrandom::fill(&mut seed);
        let mut client = Client::new(remote.options.clone(), u64::from_ne_bytes(seed));
        for (name, value) in &remote.headers {
            if !client.set_header(name, value) {
                let problem = format!("`{}` is no header, or its value is none", libacp::printable(name));
                return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
            }
        }
        let state = State {
            client,
            problem: None,
            inbox: VecDeque::new(),
            bytes: 0,
            running: HashMap::new(),
            socket: None,
            reopening: HashSet::new(),
            connected: false,
            first: None,
            early: Vec::new(),
            ended: None,
            reader: None,
            writer: None,
            waiting: Vec::new(),
            wakes: Some(u64::MAX),
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            address: remote.address.clone(),
            dialer: Dialer::new(remote)?,
            limit: remote.options.limits.message,
            first: u64::try_from(remote.first.as_millis()).unwrap_or(u64::MAX),
            replays: remote.replays,
            hook: remote.hook.clone(),
            renew: remote.renew.clone(),
            begun: Instant::now(),
            sooner: Arc::default(),
            running: Count::new(),
        });
        let weak = Arc::downgrade(&shared);
        tokio::spawn(clock::run(shared.begun, Arc::clone(&shared.sooner), move || {
            weak.upgrade()?.with(|state| {
                let next = state.next();
                state.wakes = Some(next);
                Some(next)
            })
        }));
        Ok(shared)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the state machine, and then what comes of it.
    pub(super) fn with<R>(self: &Arc<Self>, act: impl FnOnce(&mut State) -> R) -> R {
        let mut after = After::default();
        let result = {
            let mut state = self.state();
            let now = clock::since(self.begun);
            state.client.handle_timeout(now);
            let result = act(&mut state);
            if state.first.is_some_and(|until| until <= now) {
                state.problem.get_or_insert_with(|| "it has not answered in time".to_owned());
                state.client.close();
                state.end(ClosedWhy::Unreachable, &mut after);
            }
            while let Some(action) = state.client.poll_action() {
                self.act(&mut state, action, &mut after);
            }
            if state.has_room() {
                after.wakers.extend(state.writer.take());
            }
            let next = state.next();
            if state.wakes.is_some_and(|wakes| next < wakes) {
                state.wakes = Some(next);
                self.sooner.notify_one();
            }
            result
        };
        after.wakers.into_iter().for_each(Waker::wake);
        if let Some(hook) = &self.hook {
            after.events.iter().for_each(|event| hook(event));
        }
        result
    }

    fn act(self: &Arc<Self>, state: &mut State, action: Action, after: &mut After) {
        match action {
            Action::Request(outgoing) => {
                self.start(state, outgoing.exchange, exchange::request(Arc::clone(self), outgoing));
            }
            Action::Connect { exchange, headers } => {
                state.socket = Some(Socket { exchange, ..Socket::default() });
                self.start(state, exchange, socket::run(Arc::clone(self), exchange, headers));
            }
            Action::Frame { exchange, frame } => state.push_frame(exchange, frame),
            Action::Abort { exchange } => {
                state.running.remove(&exchange).into_iter().for_each(|running| running.abort());
            }
            Action::Message { json, replayed } => {
                if state.first.is_some() && json::pointer(&json, "/method").is_none() {
                    // Whoever answers is there.
                    state.first = None;
                }
                if !(replayed && !self.replays && state.is_reopening(&json)) {
                    state.deliver(json, after);
                }
            }
            event => self.happened(state, event, after),
        }
    }

    /// What the host hears of.
    fn happened(self: &Arc<Self>, state: &mut State, event: Action, after: &mut After) {
        match &event {
            Action::Connected { .. } => (state.connected, state.first) = (true, None),
            Action::Lost(lost) => state.lost(lost, after),
            Action::Attached { session, .. } | Action::Detached { session } => {
                state.reopening.remove(session);
            }
            Action::Retrying { at } if state.first.is_some_and(|until| *at > until) => {
                state.client.close();
                state.end(ClosedWhy::Unreachable, after);
            }
            Action::Unauthorized { status, challenge } => self.renew(state, *status, challenge.clone(), after),
            Action::Closed(why) => state.end(*why, after),
            _ => {}
        }
        after.events.push(event);
    }

    /// Runs an exchange until it is over or given up.
    fn start(self: &Arc<Self>, state: &mut State, exchange: u64, running: impl Future<Output = ()> + Send + 'static) {
        let counted = self.running.one();
        let weak = Arc::downgrade(self);
        let task = tokio::spawn(async move {
            let _counted = counted;
            running.await;
            if let Some(shared) = weak.upgrade() {
                shared.state().running.remove(&exchange);
            }
        });
        state.running.insert(exchange, task.abort_handle());
    }

    /// Asks for other credentials, or ends the connection.
    fn renew(self: &Arc<Self>, state: &mut State, status: u16, challenge: Option<String>, after: &mut After) {
        let Some(renew) = self.renew.clone() else {
            state.client.close();
            return state.end(ClosedWhy::Refused { status }, after);
        };
        let weak = Arc::downgrade(self);
        tokio::spawn(async move {
            let value = renew(status, challenge).await;
            let Some(shared) = weak.upgrade() else { return };
            shared.with(|state| match value {
                Some(value) if state.client.set_header("authorization", &value) => state.client.retry(),
                _ => {
                    state.ended.get_or_insert(ClosedWhy::Refused { status });
                    state.client.close();
                }
            });
        });
    }

    pub(super) fn poll_receive(self: &Arc<Self>, cx: &Context<'_>) -> Poll<io::Result<Option<String>>> {
        let mut state = self.state();
        if let Some(json) = state.inbox.pop_front() {
            state.bytes -= json.len();
            let waiting = if state.bytes < WAITING { std::mem::take(&mut state.waiting) } else { Vec::new() };
            drop(state);
            waiting.into_iter().for_each(Waker::wake);
            return Poll::Ready(Ok(Some(json)));
        }
        match state.ended() {
            None if state.ended.is_some() => Poll::Ready(Ok(None)),
            Some(ended) => Poll::Ready(Err(io::Error::other(ended))),
            None => {
                state.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }

    pub(super) fn poll_send(self: &Arc<Self>, cx: &Context<'_>, json: &str) -> Poll<io::Result<()>> {
        let sent = self.with(|state| {
            let full = state.socket.as_ref().is_some_and(|socket| socket.bytes >= FRAMES);
            let sent = if full { Err(ClientSendError::Full) } else { state.client.send(json) };
            if sent == Err(ClientSendError::Full) {
                state.writer = Some(cx.waker().clone());
                // What is full may be the number of calls, which no room in the outbox ends.
                return if full || !state.client.is_hungry() { Poll::Pending } else { Poll::Ready(Err(None)) };
            }
            if sent.is_ok() && !state.connected {
                state.first.get_or_insert(clock::since(self.begun).saturating_add(self.first));
            }
            Poll::Ready(sent.map_err(Some))
        });
        match ready!(sent) {
            Ok(()) => Poll::Ready(Ok(())),
            Err(Some(ClientSendError::Closed)) => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            Err(error) => {
                if let Some(answer) = refusal(json, error.as_ref()) {
                    self.with(|state| state.inbox_push(answer)).into_iter().for_each(Waker::wake);
                }
                Poll::Ready(Ok(()))
            }
        }
    }

    /// Waits until the host has read enough, if it has to, which it returns. Meanwhile, `alive` is called now and then.
    pub(super) async fn room(self: &Arc<Self>, alive: impl Fn(&mut State)) -> bool {
        if self.state().bytes < WAITING {
            return false;
        }
        let reads = poll_fn(|cx| {
            let mut state = self.state();
            if state.bytes < WAITING || state.ended.is_some() {
                return Poll::Ready(());
            }
            state.waiting.push(cx.waker().clone());
            Poll::Pending
        });
        let mut reads = std::pin::pin!(reads);
        while timeout(ALIVE, reads.as_mut()).await.is_err() {
            self.with(&alive);
        }
        true
    }

    /// The next frame; `None` if the socket is not the current one any more.
    pub(super) fn poll_frame(&self, exchange: u64, cx: &Context<'_>) -> Poll<Option<Frame>> {
        let mut state = self.state();
        let Some(socket) = state.socket.as_mut().filter(|socket| socket.exchange == exchange) else {
            return Poll::Ready(None);
        };
        let Some(frame) = socket.frames.pop_front() else {
            if !socket.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                socket.waker = Some(cx.waker().clone());
            }
            return Poll::Pending;
        };
        if let Frame::Text(text) = &frame {
            socket.bytes -= text.len();
        }
        let writer = state.has_room().then(|| state.writer.take()).flatten();
        drop(state);
        writer.into_iter().for_each(Waker::wake);
        Poll::Ready(Some(frame))
    }

    /// Ends the connection.
    pub(super) fn close(self: &Arc<Self>) {
        self.with(|state| state.client.close());
    }

    /// Waits until no exchange is open, or it has taken too long.
    pub(super) async fn done(&self) {
        drop(timeout(LAST, self.running.none()).await);
    }

    pub(super) fn ended(&self) -> Option<Ended> {
        self.state().ended()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The clock sees that this is gone.
        self.sooner.notify_one();
    }
}

impl State {
    /// The head of a response, or of a handshake.
    pub(super) fn response(&mut self, exchange: u64, status: u16, headers: &[Header<'_>]) {
        // What is said to the end of the connection is no reason for it.
        if self.ended.is_none() {
            self.problem = (status >= 300).then(|| format!("it answers with status {status}"));
        }
        self.client.response(exchange, status, headers);
    }

    /// The close frame of a socket.
    pub(super) fn closed(&mut self, exchange: u64, code: u16) {
        if self.ended.is_none() {
            self.problem = Some(format!("it closes the WebSocket: {} ({code})", close_reason(code)));
        }
        self.client.closed(exchange, code);
    }

    /// When the time is to be told next.
    fn next(&self) -> u64 {
        self.client.poll_timeout().unwrap_or(u64::MAX).min(self.first.unwrap_or(u64::MAX))
    }

    fn ended(&self) -> Option<Ended> {
        let why = self.ended.filter(|why| *why != ClosedWhy::Host)?;
        Some(Ended { why, problem: self.problem.clone() })
    }

    fn end(&mut self, why: ClosedWhy, after: &mut After) {
        self.ended.get_or_insert(why);
        self.first = None;
        self.answer_early(after);
        after.wakers.extend(self.reader.take());
        after.wakers.extend(self.writer.take());
        after.wakers.append(&mut self.waiting);
    }

    /// Says why there is no connection, once that is known.
    fn answer_early(&mut self, after: &mut After) {
        let Some(ended) = self.ended() else { return };
        for id in std::mem::take(&mut self.early) {
            self.deliver(error(&id, ErrorCode::INTERNAL_ERROR, &ended.to_string()), after);
        }
    }

    fn deliver(&mut self, json: String, after: &mut After) {
        after.wakers.extend(self.inbox_push(json));
    }

    fn inbox_push(&mut self, json: String) -> Option<Waker> {
        self.bytes += json.len();
        self.inbox.push_back(json);
        self.reader.take()
    }

    fn push_frame(&mut self, exchange: u64, frame: Frame) {
        let Some(socket) = self.socket.as_mut().filter(|socket| socket.exchange == exchange) else { return };
        if let Frame::Text(text) = &frame {
            socket.bytes += text.len();
        }
        socket.frames.push_back(frame);
        socket.waker.take().into_iter().for_each(Waker::wake);
    }

    /// Asks the server whether it is there, unless it was asked already.
    pub(super) fn ping(&mut self, exchange: u64) {
        if self.socket.as_ref().is_some_and(|socket| !socket.frames.contains(&Frame::Ping)) {
            self.push_frame(exchange, Frame::Ping);
        }
    }

    /// What was lost ends for the host: its calls with an error, the agent's questions by being cancelled.
    fn lost(&mut self, lost: &Lost, after: &mut After) {
        if self.connected {
            lost.calls.iter().for_each(|id| self.deliver(Lost::answer(id), after));
        } else {
            self.early.extend(lost.calls.iter().cloned());
            self.answer_early(after);
        }
        for id in &lost.questions {
            let params = format!(r#"{{"requestId":{}}}"#, id.to_json());
            let cancel = format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{params}}}"#);
            self.deliver(cancel, after);
        }
        self.reopening.extend(lost.sessions.iter().cloned());
    }

    /// Whether the host can send something.
    fn has_room(&self) -> bool {
        self.client.is_hungry() && self.socket.as_ref().is_none_or(|socket| socket.bytes < FRAMES)
    }

    fn is_reopening(&self, json: &str) -> bool {
        let session = json::pointer(json, "/params/sessionId").and_then(json::unescape);
        session.is_some_and(|session| self.reopening.contains(&*session))
    }
}
