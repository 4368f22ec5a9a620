//! The state machine, and everything that waits for it: exchanges, agents, the clock.
//!
//! Whoever wants something calls [`Shared::with`], which tells the time, does it, and hands out what has come of it. Tasks are
//! woken and hooks are called once the lock is free.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use libacp::http::{Closed, ConnectionKey, Event, Response, Server, ServerOptions};
use tokio::sync::{watch, Notify};
use tokio::time::Instant;

use super::notice::Notice;
use super::pipe::Pipe;
use crate::http::clock;
use crate::http::count::Count;

/// Bytes that wait for an agent here, beside those that wait in the state machine; then it keeps the rest.
const WAITING: usize = 64 * 1024;

pub(super) type Begin = Box<dyn Fn(Pipe) -> Pin<Box<dyn Future<Output = ()> + Send>> + Send + Sync>;
pub(super) type Hook = Box<dyn Fn(&Notice) + Send + Sync>;

/// What keeps connections open: they end with it.
pub(super) struct Owner(pub(super) Arc<Shared>);

impl Drop for Owner {
    fn drop(&mut self) {
        self.0.close_all();
    }
}

pub(super) struct Shared {
    state: Mutex<State>,
    begin: Begin,
    hook: Hook,
    begun: Instant,
    /// Wakes the clock for a time that is earlier than what it waits for.
    sooner: Arc<Notify>,
    /// How many agents run.
    running: Count,
    closing: watch::Sender<bool>,
}

pub(super) struct State {
    pub(super) server: Server,
    next: u64,
    exchanges: BTreeMap<u64, Waiting>,
    agents: BTreeMap<ConnectionKey, Agent>,
    /// The exchange whose head is looked at.
    asking: Option<u64>,
    /// What the clock waits for; `None` before it runs.
    wakes: Option<u64>,
    closing: bool,
}

/// An exchange, and who waits for something of it.
#[derive(Default)]
struct Waiting {
    response: Option<Response>,
    over: bool,
    writer: Option<Waker>,
    reader: Option<Waker>,
}

/// An agent, and what it has not read yet.
#[derive(Default)]
struct Agent {
    inbox: VecDeque<String>,
    bytes: usize,
    paused: bool,
    closed: bool,
    full: bool,
    socket: Option<u64>,
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// Who waits for the end of the connection.
    end: Option<Waker>,
}

/// What is done when the lock is free.
#[derive(Default)]
struct After {
    wakers: Vec<Waker>,
    opened: Vec<ConnectionKey>,
    notices: Vec<Notice>,
}

impl Shared {
    pub(super) fn new(options: ServerOptions, begin: Begin, hook: Hook) -> Arc<Self> {
        let state = State {
            server: Server::new(options),
            next: 1,
            exchanges: BTreeMap::new(),
            agents: BTreeMap::new(),
            asking: None,
            wakes: None,
            closing: false,
        };
        Arc::new(Shared {
            state: Mutex::new(state),
            begin,
            hook,
            begun: Instant::now(),
            sooner: Arc::default(),
            running: Count::new(),
            closing: watch::Sender::new(false),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does something with the state machine, and then what comes of it.
    pub(super) fn with<R>(self: &Arc<Self>, act: impl FnOnce(&mut State) -> R) -> R {
        let mut after = After::default();
        let result = {
            let mut state = self.state();
            state.server.handle_timeout(clock::since(self.begun));
            state.add_entropy();
            let result = act(&mut state);
            state.pump(&mut after);
            let next = state.server.poll_timeout().unwrap_or(u64::MAX);
            if state.wakes.is_some_and(|wakes| next < wakes) {
                state.wakes = Some(next);
                self.sooner.notify_one();
            }
            result
        };
        after.wakers.into_iter().for_each(Waker::wake);
        after.notices.iter().for_each(|notice| (self.hook)(notice));
        after.opened.into_iter().for_each(|connection| self.begin(connection));
        result
    }

    /// Does something that is no matter of the state machine.
    pub(super) fn aside<R>(&self, act: impl FnOnce(&mut State) -> R) -> R {
        act(&mut self.state())
    }

    /// The next message for an agent; `None` once its connection is over.
    pub(super) fn poll_receive(self: &Arc<Self>, connection: ConnectionKey, cx: &Context<'_>) -> Poll<Option<String>> {
        let message = self.aside(|state| state.poll_receive(connection, cx));
        if matches!(message, Poll::Ready(Some(_))) && self.aside(|state| state.has_room(connection)) {
            self.with(|state| state.resume(connection));
        }
        message
    }

    /// Whether this task waits for something to write already, and nothing has come since.
    pub(super) fn waits(&self, exchange: u64, cx: &Context<'_>) -> bool {
        let state = self.state();
        let waiting = state.exchanges.get(&exchange).and_then(|it| it.writer.as_ref());
        waiting.is_some_and(|waker| waker.will_wake(cx.waker()))
    }

    /// Starts the agent of a connection.
    fn begin(self: &Arc<Self>, connection: ConnectionKey) {
        let running = self.running.one();
        let pipe = Pipe::new(Arc::clone(self), connection);
        let agent = (self.begin)(pipe);
        tokio::spawn(async move {
            let _running = running;
            agent.await;
        });
    }

    pub(super) fn tell(&self, notice: &Notice) {
        (self.hook)(notice);
    }

    /// Starts the clock, if it does not run.
    pub(super) fn tick(self: &Arc<Self>) {
        let mut state = self.state();
        if state.wakes.is_some() {
            return;
        }
        state.wakes = Some(u64::MAX);
        drop(state);
        let (weak, sooner, begun) = (Arc::downgrade(self), Arc::clone(&self.sooner), self.begun);
        tokio::spawn(clock::run(begun, sooner, move || {
            // What is due is done by any call.
            weak.upgrade()?.with(|state| {
                let next = state.server.poll_timeout().unwrap_or(u64::MAX);
                state.wakes = Some(next);
                Some(next)
            })
        }));
    }

    /// Ends all connections, and those that are opened from now on.
    pub(super) fn close_all(self: &Arc<Self>) {
        self.with(|state| {
            state.closing = true;
            let keys: Vec<ConnectionKey> = state.agents.keys().copied().collect();
            for key in keys {
                state.server.close(key);
            }
        });
        self.closing.send_replace(true);
        self.sooner.notify_one();
    }

    /// Waits for [`close_all`](Self::close_all).
    pub(super) async fn closing(&self) {
        drop(self.closing.subscribe().wait_for(|closing| *closing).await);
    }

    /// Waits until no agent runs.
    pub(super) async fn ended(&self) {
        self.running.none().await;
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // The clock sees that this is gone.
        self.sooner.notify_one();
    }
}

impl State {
    fn add_entropy(&mut self) {
        let wanted = self.server.wants_entropy();
        if wanted > 0 {
            let mut bytes = vec![0; wanted];
            // Without randomness the server opens no connections, and says so.
            if getrandom::fill(&mut bytes).is_ok() {
                self.server.add_entropy(&bytes);
            }
        }
    }

    /// Hands out what the state machine has to say.
    fn pump(&mut self, after: &mut After) {
        while let Some(event) = self.server.poll_event() {
            match event {
                Event::Opened { connection } => {
                    self.agents.insert(connection, Agent { socket: self.asking.take(), ..Agent::default() });
                    after.notices.push(Notice::Opened { connection: connection.number() });
                    after.opened.push(connection);
                    if self.closing {
                        self.server.close(connection);
                    }
                }
                Event::Message { connection, json } => self.message(connection, json, after),
                Event::Closed { connection, why } => self.closed(connection, why, after),
                Event::Respond { exchange, response } => {
                    if let Some(waiting) = self.exchanges.get_mut(&exchange) {
                        waiting.response = Some(response);
                        after.wakers.extend(waiting.writer.take());
                    }
                }
                Event::Ready { exchange } => {
                    after.wakers.extend(self.exchanges.get_mut(&exchange).and_then(|it| it.writer.take()));
                }
                Event::Finish { exchange } => self.over(exchange, after),
                Event::Drained { connection } => {
                    if let Some(agent) = self.agents.get_mut(&connection) {
                        agent.full = false;
                        after.wakers.extend(agent.writer.take());
                    }
                }
                Event::Violation(report) => after.notices.push(Notice::Violation(report)),
                Event::Advice(report) => after.notices.push(Notice::Advice(report)),
                _ => {}
            }
        }
    }

    fn message(&mut self, connection: ConnectionKey, json: String, after: &mut After) {
        let Some(agent) = self.agents.get_mut(&connection) else { return };
        agent.bytes += json.len();
        agent.inbox.push_back(json);
        after.wakers.extend(agent.reader.take());
        if agent.bytes >= WAITING && !agent.paused {
            agent.paused = true;
            self.server.pause(connection, true);
        }
    }

    fn closed(&mut self, connection: ConnectionKey, why: Closed, after: &mut After) {
        after.notices.push(Notice::Closed { connection: connection.number(), why });
        let Some(agent) = self.agents.get_mut(&connection) else { return };
        agent.closed = true;
        after.wakers.extend(agent.reader.take());
        after.wakers.extend(agent.writer.take());
        after.wakers.extend(agent.end.take());
        if let Some(socket) = agent.socket {
            self.over(socket, after);
        }
    }

    fn over(&mut self, exchange: u64, after: &mut After) {
        if let Some(waiting) = self.exchanges.get_mut(&exchange) {
            waiting.over = true;
            after.wakers.extend(waiting.writer.take());
            after.wakers.extend(waiting.reader.take());
        }
    }

    /// A new exchange.
    pub(super) fn open(&mut self) -> u64 {
        let exchange = self.next;
        self.next += 1;
        self.exchanges.insert(exchange, Waiting::default());
        exchange
    }

    pub(super) fn forget(&mut self, exchange: u64) {
        self.exchanges.remove(&exchange);
        self.server.closed(exchange);
    }

    /// Notes whose socket a connection is that opens now.
    pub(super) fn asking(&mut self, exchange: Option<u64>) {
        self.asking = exchange;
    }

    /// The response to an exchange that waits for it.
    pub(super) fn poll_response(&mut self, exchange: u64, cx: &Context<'_>) -> Poll<Response> {
        let Some(waiting) = self.exchanges.get_mut(&exchange) else { return Poll::Pending };
        if let Some(response) = waiting.response.take() {
            return Poll::Ready(response);
        }
        waiting.writer = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Waits for something to write, after there was nothing. Ready if the exchange is over.
    pub(super) fn poll_over(&mut self, exchange: u64, cx: &Context<'_>) -> Poll<()> {
        match self.exchanges.get_mut(&exchange) {
            Some(waiting) if !waiting.over => waiting.writer = Some(cx.waker().clone()),
            _ => return Poll::Ready(()),
        }
        Poll::Pending
    }

    /// Waits until an agent has room for what its socket has to say, or the socket is over.
    pub(super) fn poll_hungry(&mut self, exchange: u64, cx: &Context<'_>) -> Poll<()> {
        match self.exchanges.get_mut(&exchange) {
            Some(waiting) if !waiting.over && !self.server.is_hungry(exchange) => {
                waiting.reader = Some(cx.waker().clone());
                Poll::Pending
            }
            _ => Poll::Ready(()),
        }
    }

    /// Waits until the connection of a socket is over.
    pub(super) fn poll_gone(&mut self, exchange: u64, cx: &Context<'_>) -> Poll<()> {
        match self.exchanges.get_mut(&exchange) {
            // The socket is one task, so it does not matter which of its wakers this is.
            Some(waiting) if !waiting.over => waiting.reader = Some(cx.waker().clone()),
            _ => return Poll::Ready(()),
        }
        Poll::Pending
    }

    fn poll_receive(&mut self, connection: ConnectionKey, cx: &Context<'_>) -> Poll<Option<String>> {
        let Some(agent) = self.agents.get_mut(&connection) else { return Poll::Ready(None) };
        if let Some(json) = agent.inbox.pop_front() {
            agent.bytes -= json.len();
            return Poll::Ready(Some(json));
        }
        if agent.closed {
            return Poll::Ready(None);
        }
        agent.reader = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Whether an agent that was too far behind has room again.
    fn has_room(&self, connection: ConnectionKey) -> bool {
        self.agents.get(&connection).is_some_and(|agent| agent.paused && agent.bytes <= WAITING / 2)
    }

    /// Lets messages come to an agent again.
    fn resume(&mut self, connection: ConnectionKey) {
        let Some(agent) = self.agents.get_mut(&connection) else { return };
        agent.paused = false;
        let reader = agent.socket.and_then(|socket| self.exchanges.get_mut(&socket)?.reader.take());
        self.server.pause(connection, false);
        reader.into_iter().for_each(Waker::wake);
    }

    /// Waits until the connection of an agent is over.
    pub(super) fn poll_closed(&mut self, connection: ConnectionKey, cx: &Context<'_>) -> Poll<()> {
        match self.agents.get_mut(&connection) {
            Some(agent) if !agent.closed => agent.end = Some(cx.waker().clone()),
            _ => return Poll::Ready(()),
        }
        Poll::Pending
    }

    /// Waits until there is room for messages of an agent.
    pub(super) fn poll_room(&mut self, connection: ConnectionKey, cx: &Context<'_>) -> Poll<()> {
        match self.agents.get_mut(&connection) {
            Some(agent) if agent.full && !agent.closed => agent.writer = Some(cx.waker().clone()),
            _ => return Poll::Ready(()),
        }
        Poll::Pending
    }

    /// Notes that there is no room for messages of an agent.
    pub(super) fn full(&mut self, connection: ConnectionKey) {
        if let Some(agent) = self.agents.get_mut(&connection) {
            agent.full = true;
        }
    }

    /// The agent of a connection is gone.
    pub(super) fn leave(&mut self, connection: ConnectionKey) {
        self.server.close(connection);
        // What waits for it is nobody's.
        if let Some(agent) = self.agents.get_mut(&connection) {
            agent.inbox.clear();
            if std::mem::take(&mut agent.paused) {
                self.server.pause(connection, false);
            }
        }
    }

    /// Forgets an agent.
    pub(super) fn bury(&mut self, connection: ConnectionKey) {
        self.agents.remove(&connection);
    }
}
