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

use super::error::Error;
use super::kept::Kept;
use super::message::Message;
use super::name::{about, Name};
use super::transport::Clock;
use super::viewers::{news, Viewers};
use crate::connection::{CallOptions, Notification, Phase, Response, Violation};
use crate::host::{Budget, Host};
use crate::numbered::Numbered;
use crate::schema::v1;
use crate::{Connection, Misuse};

pub(super) struct Shared(Mutex<State>);

pub(super) struct State {
    /// The connection, which speaks the words of version 1 in all versions.
    pub(super) host: Host,
    /// The peer's part of `initialize`, in the words of version 1.
    pub(super) hello: Option<String>,
    /// The host's requests by serial number, until their responses were taken.
    pub(super) calls: Numbered<u64, Slot>,
    /// The peer's requests that are being served, by serial number, and the host's work without a prompt, by its own.
    pub(super) jobs: Numbered<u64, Job>,
    /// The memory of their answers.
    pub(super) budget: Budget,
    /// Notifications that wait for their handlers.
    pub(super) notices: VecDeque<Notice>,
    /// What is stored with open sessions.
    pub(super) kept: HashMap<Arc<str>, Kept>,
    /// Sessions that have ended and were not reported yet.
    pub(super) over: VecDeque<(Arc<str>, Kept)>,
    /// The last violation, until the response after it.
    pub(super) broken: Option<Box<Violation>>,
    /// How many notifications have arrived.
    pub(super) came: u64,
    /// Whether the text of errors is sent to the peer.
    pub(super) expose: bool,
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
    /// Updates that have arrived, with their numbers; `None` once no stream takes them.
    pub(super) updates: Option<VecDeque<(Notification, u64)>>,
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
    /// It waits for its share of the memory of answers.
    pub(super) turn: Option<Waker>,
    pub(super) watchers: Vec<Waker>,
}

impl Shared {
    pub(super) fn new(mut host: Host, most: usize, expose: bool) -> Arc<Self> {
        host.pace().start(most);
        Arc::new(Shared(Mutex::new(State {
            host,
            hello: None,
            calls: Numbered::default(),
            jobs: Numbered::default(),
            budget: Budget::default(),
            notices: VecDeque::new(),
            kept: HashMap::new(),
            over: VecDeque::new(),
            broken: None,
            came: 0,
            expose,
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
        if self.end.is_some() || self.host.has_room() {
            Poll::Ready(())
        } else {
            self.park(cx)
        }
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

    /// Sends a notification. Once the transport is gone, nobody would write it.
    pub(super) fn tell(&mut self, method: &str, params: &str) -> Result<(), Error> {
        if self.end == Some(Ending::Host) {
            return Err(Error::closed(method.to_owned()));
        }
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
            self.host.give_back(&answer);
        } else {
            slot.abandoned = true;
            self.tell_time();
            self.host.abandon(serial);
        }
        // They are counted already. The handler of updates that no stream takes gets them.
        for (update, number) in unread {
            self.notices.push_back(Notice { message: Message::Left(update), number });
        }
        self.kick();
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

    /// Waits until there is memory for the answer to a request.
    pub(super) fn admitted(&mut self, serial: u64, cx: &Context<'_>) -> Poll<()> {
        let Some(job) = self.jobs.get_mut(&serial) else { return Poll::Ready(()) };
        if !self.budget.is_waiting(serial) {
            return Poll::Ready(());
        }
        job.turn = Some(cx.waker().clone());
        Poll::Pending
    }

    /// Sets how many bytes the response to a request takes until it is written; 0 when it was.
    pub(super) fn charge(&mut self, serial: u64, bytes: usize) {
        self.budget.set(serial, bytes);
        while let Some(next) = self.budget.poll() {
            let turn = self.jobs.get_mut(&next).and_then(|job| job.turn.take());
            self.wake(turn);
        }
    }

    /// A request was served, and its response is written.
    pub(super) fn served(&mut self, serial: u64) {
        self.charge(serial, 0);
        self.jobs.remove(&serial);
        let _ = self.host.pace().end(serial);
        self.unpark();
        self.kick();
    }

    /// Wakes those who wait for the change of a view.
    pub(super) fn wake_viewers(&mut self) {
        let (connection, over) = (self.host.connection(), self.end.is_some());
        let told = self.viewers.told(|session, since| news(connection.view(session), over, since).is_ready());
        self.wake(told);
    }

    /// Called when a notification was taken; `is_last` says that nothing is left where it waited.
    pub(super) fn free(&mut self, taken: &Notification, is_last: bool) {
        self.wake.append(&mut self.behind);
        if self.host.pace().take(taken.params().len(), is_last) {
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
