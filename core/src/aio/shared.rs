//! What the future that drives a connection shares with everything that uses it: the connection, the pending calls, and
//! the requests that are being served.
//!
//! It is locked only briefly, never while something is awaited or a handler runs, and wakers are called only after it
//! was unlocked. `inbound` is its other half, which handles events.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use super::budget::Budget;
use super::error::Error;
use super::handlers::Message;
use super::opening::{Kept, Name, Told};
use super::transport::Clock;
use super::viewed::Viewers;
use crate::connection::{Notification, Phase, Response, Turn, Violation};
use crate::framing::Framing;
use crate::json;
use crate::schema::v1;
use crate::{Config, Connection, Id, Misuse};

/// How many bytes may wait for the transport before calls wait as well.
const ROOM: usize = 64 * 1024;

pub(super) struct Shared(Mutex<State>);

pub(super) struct State {
    pub(super) connection: Connection,
    /// The host's requests by serial number, until their responses were taken.
    pub(super) calls: HashMap<u64, Slot>,
    /// The call that takes the updates of a session.
    pub(super) taking: HashMap<Arc<str>, u64>,
    /// The peer's requests that are being served, by serial number.
    pub(super) jobs: HashMap<u64, Job>,
    /// Notifications that wait for their handlers.
    pub(super) notices: VecDeque<Notice>,
    /// What is stored with open sessions.
    pub(super) kept: HashMap<Arc<str>, Kept>,
    /// Sessions that have ended and were not reported yet.
    pub(super) over: VecDeque<(Arc<str>, Kept)>,
    /// The memory that answers to the peer may take.
    pub(super) budget: Budget,
    /// The last violation, until the response after it.
    pub(super) broken: Option<Box<Violation>>,
    /// How many of the peer's requests are served at the same time.
    pub(super) most: usize,
    /// The number of the host's requests without a response, not counting those that are accompanied by updates.
    pub(super) asking: usize,
    /// How many notifications have arrived.
    pub(super) came: u64,
    /// Whether the text of errors is sent to the peer.
    pub(super) expose: bool,
    /// It was reported to the host that a part of a response was left out for this peer.
    pub(super) told_left_out: bool,
    /// How many notifications wait in `calls` and `notices`.
    pub(super) waiting: usize,
    /// How many bytes they have.
    pub(super) bytes: usize,
    /// How many automatic responses the connection has made since everything was written.
    pub(super) replies: usize,
    /// Reading is paused because queues are full.
    pub(super) stalled: bool,
    /// The notification whose handler is running: its number, and its session.
    pub(super) noticing: Option<(u64, Option<Arc<str>>)>,
    pub(super) end: Option<Ending>,
    pub(super) clock: Option<Clock>,
    pub(super) driver: Option<Waker>,
    /// Tasks that wait for any change.
    parked: Vec<Waker>,
    pub(super) viewers: Viewers,
    /// Handlers that wait for what came before their request.
    behind: Vec<Waker>,
    wake: Vec<Waker>,
}

/// A notification that waits for its handler.
pub(super) struct Notice {
    pub(super) message: Message,
    /// Its number among all notifications.
    pub(super) number: u64,
    /// Its size in bytes.
    pub(super) size: usize,
}

/// How a connection has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// The peer closed its side. Handlers may finish.
    Peer,
    /// Handlers that are still running are dropped.
    Host,
}

/// One of the host's requests.
#[derive(Default)]
pub(super) struct Slot {
    /// It may be accompanied by updates: a prompt, or loading a session.
    pub(super) exchange: bool,
    /// Updates that have arrived, with their numbers and sizes; `None` once no stream takes them.
    pub(super) updates: Option<VecDeque<(Notification, u64, usize)>>,
    pub(super) answer: Option<Response>,
    /// What is wrong with the response.
    pub(super) violation: Option<Box<Violation>>,
    pub(super) abandoned: bool,
    pub(super) waker: Option<Waker>,
}

/// One of the peer's requests.
pub(super) struct Job {
    pub(super) method: Cow<'static, str>,
    pub(super) session: Option<Arc<str>>,
    /// The peer no longer wants the result.
    pub(super) cancelled: bool,
    /// The handler ends by itself when the request is cancelled.
    pub(super) kept: bool,
    /// It was answered.
    pub(super) answered: bool,
    /// The number of notifications that came before it.
    pub(super) after: u64,
    /// The session that it opens.
    pub(super) opening: Option<Arc<Name>>,
    /// Notifications about that session, until it is open; `None` if they need not wait.
    pub(super) held: Option<Vec<Told>>,
    /// What its response takes from the budget.
    pub(super) cost: usize,
    pub(super) watchers: Vec<Waker>,
}

impl Shared {
    pub(super) fn new(config: Config, most: usize, expose: bool) -> Arc<Self> {
        Arc::new(Shared(Mutex::new(State {
            connection: Connection::new(config),
            calls: HashMap::new(),
            taking: HashMap::new(),
            jobs: HashMap::new(),
            notices: VecDeque::new(),
            kept: HashMap::new(),
            over: VecDeque::new(),
            budget: Budget::default(),
            broken: None,
            most,
            asking: 0,
            came: 0,
            expose,
            told_left_out: false,
            waiting: 0,
            bytes: 0,
            replies: 0,
            stalled: false,
            noticing: None,
            end: None,
            clock: None,
            driver: None,
            parked: Vec::new(),
            viewers: Viewers::default(),
            behind: Vec::new(),
            wake: Vec::new(),
        })))
    }

    /// Reads or changes the state.
    pub(super) fn with<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let result = change(&mut state);
        let wake = mem::take(&mut state.wake);
        drop(state);
        wake.into_iter().for_each(Waker::wake);
        result
    }

    /// Waits until no prompt of a session is being served.
    pub(super) async fn idle(&self, session: &str) {
        let served = |job: &Job| &*job.method == "session/prompt" && job.session.as_deref() == Some(session);
        std::future::poll_fn(|cx| {
            self.with(|state| if state.jobs.values().any(served) { state.park(cx) } else { Poll::Ready(()) })
        })
        .await;
    }
}

impl State {
    /// Wakes the driver.
    pub(super) fn kick(&mut self) {
        self.wake.extend(self.driver.take());
    }

    /// Waits for any change.
    pub(super) fn park<T>(&mut self, cx: &Context<'_>) -> Poll<T> {
        add(&mut self.parked, cx);
        Poll::Pending
    }

    /// Waits until something that came before was taken.
    pub(super) fn fall_behind<T>(&mut self, cx: &Context<'_>) -> Poll<T> {
        add(&mut self.behind, cx);
        Poll::Pending
    }

    /// Wakes everything that waits for a change.
    pub(super) fn unpark(&mut self) {
        self.wake.append(&mut self.parked);
        self.wake.append(&mut self.behind);
    }

    pub(super) fn wake(&mut self, waker: impl IntoIterator<Item = Waker>) {
        self.wake.extend(waker);
    }

    /// Waits until the transport has taken enough bytes.
    pub(super) fn room(&mut self, cx: &Context<'_>) -> Poll<()> {
        if self.end.is_some() || self.has_room() {
            Poll::Ready(())
        } else {
            self.park(cx)
        }
    }

    pub(super) fn has_room(&self) -> bool {
        let unsent = self.connection.transmit().len();
        // With whole messages, `transmit` shows only the first one.
        unsent == 0 || (unsent < ROOM && self.connection.config().framing != Framing::Messages)
    }

    /// Passes the time to the connection, in milliseconds on the host's clock.
    pub(super) fn tell_time(&mut self) {
        let Some(clock) = &self.clock else { return };
        let now = clock().as_millis() as u64;
        if self.connection.poll_timeout().is_some_and(|due| due <= now) {
            // A turn may end because of it.
            self.unpark();
        }
        self.connection.handle_timeout(now);
    }

    /// Sends a request and returns its serial number.
    pub(super) fn ask(&mut self, method: &str, params: &str, exchange: bool) -> Result<u64, Error> {
        self.tell_time();
        let id = self.connection.request(method, params).map_err(|misuse| self.refused(method, misuse))?;
        let open = self.connection.pending_by_id(&id);
        let (serial, session) = open.map_or((0, None), |open| (open.serial, open.session.clone()));
        if exchange {
            self.taking.extend(session.map(|session| (session, serial)));
        } else {
            self.asking += 1;
        }
        let updates = exchange.then(VecDeque::new);
        self.calls.insert(serial, Slot { exchange, updates, ..Slot::default() });
        self.kick();
        Ok(serial)
    }

    /// Sends a notification.
    pub(super) fn tell(&mut self, method: &str, params: &str) -> Result<(), Error> {
        self.connection.notify(method, params).map_err(|misuse| self.refused(method, misuse))?;
        self.kick();
        Ok(())
    }

    fn refused(&self, method: &str, misuse: Misuse) -> Error {
        match self.connection.phase() {
            Phase::Closed => Error::closed(method.to_owned()),
            _ => Error::Misuse(misuse),
        }
    }

    pub(super) fn turn(&self, session: Option<&str>) -> Option<Turn> {
        self.connection.session(session?).map(|session| session.turn)
    }

    /// Called when the caller no longer waits for a response: cancels the request as its method requires.
    pub(super) fn abandon(&mut self, serial: u64) {
        let Some(slot) = self.calls.get_mut(&serial) else { return };
        let unread = slot.updates.take().unwrap_or_default();
        if let Some(answer) = slot.answer.take() {
            self.calls.remove(&serial);
            self.give_back(&answer);
        } else {
            slot.abandoned = true;
            self.give_up(serial);
        }
        // They are counted already. The handler of updates that no stream takes gets them.
        for (update, number, size) in unread {
            self.notices.push_back(Notice { message: Message::Left(update), number, size });
        }
        self.kick();
    }

    fn give_up(&mut self, serial: u64) {
        self.taking.retain(|_, taking| *taking != serial);
        let Some(open) = self.connection.pending_by_serial(serial) else { return };
        let (id, session) = (open.id.clone(), open.session.clone());
        let turn = self.turn(session.as_deref());
        match (&*open.method, session) {
            ("session/prompt", Some(session)) if turn == Some(Turn::Running) => self.cancel_turn(&session),
            // A turn is cancelled only once, and a release must not be cancelled.
            ("session/prompt" | "terminal/release", _) => {}
            _ => self.cancel(&id),
        }
    }

    fn cancel(&mut self, id: &Id) {
        self.tell_time();
        // This fails if the connection has ended or the request was cancelled already: nothing to do then.
        let _ = self.connection.cancel(id);
    }

    /// Cancels the open permission requests and elicitations of a session whose turn is cancelled (CANCEL-16).
    pub(super) fn cancel_questions(&mut self, session: &str) {
        let question = |method: &str| matches!(method, "session/request_permission" | "elicitation/create");
        let open = self.connection.pending();
        let asked = open.filter(|open| question(&open.method) && open.session.as_deref() == Some(session));
        for id in asked.map(|open| open.id.clone()).collect::<Vec<_>>() {
            self.cancel(&id);
        }
        self.kick();
    }

    pub(super) fn cancel_turn(&mut self, session: &str) {
        let params = crate::schema::write(&v1::CancelNotification::new(session)).unwrap_or_default();
        // This fails if the session or the connection has ended: nothing to do then.
        let _ = self.tell("session/cancel", &params);
    }

    /// Releases what an unwanted response has opened: a terminal, or a new session.
    pub(super) fn give_back(&mut self, answer: &Response) {
        let Some(result) = answer.outcome.result() else { return };
        let id = |pointer| json::pointer(result, pointer).and_then(json::unescape);
        match (&*answer.method, &answer.session) {
            ("terminal/create", Some(session)) => {
                if let Some(terminal) = id("/terminalId") {
                    self.release_terminal(session, &terminal);
                }
            }
            ("session/new" | "session/fork", _) if self.connection.can("session/close") => {
                let another = |session: &str| self.kept.get(session).is_some_and(|kept| kept.serial != answer.serial);
                // A session that was open before must stay open.
                if let Some(session) = id("/sessionId").filter(|session| !another(session)) {
                    self.kept.remove(&*session);
                    let params = crate::schema::write(&v1::CloseSessionRequest::new(&*session)).unwrap_or_default();
                    // This fails if the connection has ended, and the session with it.
                    let _ = self.connection.request("session/close", &params);
                    self.kick();
                }
            }
            _ => {}
        }
    }

    /// Releases a terminal without waiting for the response.
    pub(super) fn release_terminal(&mut self, session: &str, terminal: &str) {
        let params = v1::ReleaseTerminalRequest::new(session, terminal);
        // This fails if the session or the connection has ended, and the terminal with it.
        let _ = self.connection.request("terminal/release", &crate::schema::write(&params).unwrap_or_default());
        self.kick();
    }

    /// Called when something that waited was taken.
    pub(super) fn free(&mut self, size: usize) {
        self.waiting -= 1;
        self.bytes -= size;
        self.wake.append(&mut self.behind);
        if self.stalled {
            self.kick();
        }
    }
}

/// Registers a waker once.
pub(super) fn add(wakers: &mut Vec<Waker>, cx: &Context<'_>) {
    if !wakers.iter().any(|waker| waker.will_wake(cx.waker())) {
        wakers.push(cx.waker().clone());
    }
}
