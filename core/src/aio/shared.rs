//! What the future that drives a connection shares with everything that uses it: the connection, the pending calls, and
//! the requests that are being served.
//!
//! It is locked only briefly, never while something is awaited or a handler runs, and wakers are called only after it
//! was unlocked. `inbound` is its other half, which handles events.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{ready, Context, Poll, Waker};

use super::budget::{Budget, UNKNOWN};
use super::error::Error;
use super::kept::Kept;
use super::message::Message;
use super::name::{about, Name};
use super::transport::Clock;
use super::viewers::{news, Viewers};
use crate::connection::{CallOptions, Notification, Phase, Response, Violation};
use crate::framing::Framing;
use crate::host::Host;
use crate::json;
use crate::schema::v1;
use crate::{Connection, Misuse};

/// How many bytes may wait for the transport before calls wait as well.
const ROOM: usize = 64 * 1024;

pub(super) struct Shared(Mutex<State>);

pub(super) struct State {
    /// The connection, which speaks the words of version 1 in all versions.
    pub(super) host: Host,
    /// The peer's part of `initialize`, in the words of version 1.
    pub(super) hello: Option<String>,
    /// The host's requests by serial number, until their responses were taken.
    pub(super) calls: HashMap<u64, Slot>,
    /// The peer's requests that are being served, by serial number, and the host's work without a prompt, by its own.
    pub(super) jobs: HashMap<u64, Job>,
    /// How many of them are such work.
    pub(super) works: usize,
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
    /// The session of a request that may be accompanied by updates: a prompt, or loading a session.
    pub(super) exchange: Option<Arc<str>>,
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
    /// What its response takes from the budget.
    pub(super) cost: usize,
    pub(super) watchers: Vec<Waker>,
}

impl Shared {
    pub(super) fn new(host: Host, most: usize, expose: bool) -> Arc<Self> {
        Arc::new(Shared(Mutex::new(State {
            host,
            hello: None,
            calls: HashMap::new(),
            jobs: HashMap::new(),
            works: 0,
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

    /// Waits until no prompt of a session is being served, and no work goes on without one.
    pub(super) async fn idle(&self, session: &str) {
        let served = |job: &Job| job.is_turn() && job.session.as_deref() == Some(session);
        std::future::poll_fn(|cx| {
            self.with(|state| if state.jobs.values().any(served) { state.park(cx) } else { Poll::Ready(()) })
        })
        .await;
    }
}

impl State {
    /// The connection, to ask for its state.
    pub(super) fn connection(&self) -> &Connection {
        self.host.connection()
    }

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
        let unsent = self.connection().transmit().len();
        // With whole messages, `transmit` shows only the first one.
        unsent == 0 || (unsent < ROOM && self.connection().config().framing != Framing::Messages)
    }

    /// Passes the time to the connection, in milliseconds on the host's clock.
    pub(super) fn tell_time(&mut self) {
        let Some(clock) = &self.clock else { return };
        let now = clock().as_millis() as u64;
        if self.host.poll_timeout().is_some_and(|due| due <= now) {
            // A turn may end because of it.
            self.unpark();
        }
        self.host.handle_timeout(now);
    }

    /// Sends a request and returns its serial number. `exchange` is the session whose updates may accompany it.
    pub(super) fn ask(&mut self, method: &str, params: &str, exchange: Option<&Arc<str>>) -> Result<u64, Error> {
        self.tell_time();
        let asked = self.host.request_with(method, params, CallOptions::default());
        let id = asked.map_err(|misuse| self.refused(method, misuse))?;
        let serial = self.connection().pending_by_id(&id).map_or(0, |open| open.serial);
        if exchange.is_none() {
            self.asking += 1;
        }
        let updates = exchange.map(|_| VecDeque::new());
        self.calls.insert(serial, Slot { exchange: exchange.cloned(), updates, ..Slot::default() });
        self.kick();
        Ok(serial)
    }

    /// Sends a request whose response nobody waits for. It is refused when the connection has ended, and what it is to
    /// end has ended with it.
    fn ask_unheard(&mut self, method: &str, params: &impl serde::Serialize) {
        let params = crate::schema::write(params).unwrap_or_default();
        let _ = self.host.request_with(method, &params, CallOptions::default());
        self.kick();
    }

    /// Sends a notification.
    pub(super) fn tell(&mut self, method: &str, params: &str) -> Result<(), Error> {
        self.host.notify(method, params).map_err(|misuse| self.refused(method, misuse))?;
        self.kick();
        Ok(())
    }

    /// Sends a notification about a session: at once, or after it was opened.
    pub(super) fn tell_of(&mut self, name: &Name, method: &str, params: &str) -> Result<(), Error> {
        let Some(opening) = name.pending() else { return self.tell(method, &about(name.id(), params)) };
        let told = self.host.notify_opened(opening.serial, method, params);
        told.map_err(|misuse| self.refused(method, misuse))?;
        self.kick();
        Ok(())
    }

    pub(super) fn refused(&self, method: &str, misuse: Misuse) -> Error {
        match self.connection().phase() {
            Phase::Closed => Error::closed(method.to_owned()),
            _ => Error::Misuse(misuse),
        }
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
            self.tell_time();
            self.host.abandon(serial);
        }
        // They are counted already. The handler of updates that no stream takes gets them.
        for (update, number, size) in unread {
            self.notices.push_back(Notice { message: Message::Left(update), number, size });
        }
        self.kick();
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
            ("session/new" | "session/fork", _) if self.host.can("session/close") => {
                let another = |session: &str| self.kept.get(session).is_some_and(|kept| kept.serial != answer.serial);
                // A session that was open before must stay open.
                if let Some(session) = id("/sessionId").filter(|session| !another(session)) {
                    self.kept.remove(&*session);
                    self.ask_unheard("session/close", &v1::CloseSessionRequest::new(&*session));
                }
            }
            _ => {}
        }
    }

    /// Releases a terminal without waiting for the response.
    pub(super) fn release_terminal(&mut self, session: &str, terminal: &str) {
        self.ask_unheard("terminal/release", &v1::ReleaseTerminalRequest::new(session, terminal));
    }

    /// Changes what is stored with an open session.
    pub(super) fn keep(&mut self, session: &Arc<str>, change: impl FnOnce(&mut Kept)) {
        if self.connection().session(session).is_some() {
            change(self.kept.entry(Arc::clone(session)).or_default());
        }
    }

    /// Waits until a request may be served; see [`Budget`].
    pub(super) fn admitted(&mut self, serial: u64, cx: &Context<'_>) -> Poll<()> {
        let charged = ready!(self.budget.admitted(serial, cx));
        if charged {
            self.charge(serial, UNKNOWN);
        }
        Poll::Ready(())
    }

    /// Sets how many bytes the response to a request takes until it is written; 0 when it was.
    pub(super) fn charge(&mut self, serial: u64, bytes: usize) {
        let job = self.jobs.get_mut(&serial);
        let (before, bytes) = job.map_or((0, 0), |job| (mem::replace(&mut job.cost, bytes), bytes));
        let next = self.budget.charge(serial, before, bytes);
        self.wake(next);
    }

    /// Wakes those who wait for the change of a view.
    pub(super) fn wake_viewers(&mut self) {
        let (connection, over) = (self.host.connection(), self.end.is_some());
        let told = self.viewers.told(|session, since| news(connection.view(session), over, since).is_ready());
        self.wake(told);
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
