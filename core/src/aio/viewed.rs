//! Sessions as conversations: looking at a view, and waiting until it has changed.

use std::collections::HashMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use super::client_session::ClientSession;
use super::shared::{Shared, State};
use crate::view::View;

impl ClientSession {
    /// Looks at the session as a conversation: everything that a client draws, of both versions. `None` unless
    /// [`Client::views`](super::Client::views) was called. The view of a session that has ended stays as it was, until
    /// [`forget_view`](Self::forget_view).
    ///
    /// The connection is locked meanwhile, so `look` must not use this session or its agent.
    pub fn view<T>(&self, look: impl FnOnce(&View) -> T) -> Option<T> {
        self.agent().shared.with(|state| state.connection.view(self.id()).map(look))
    }

    /// Waits until the [view](Self::view) has a revision other than `since`, and returns it. However many changes there
    /// were meanwhile, they are one: draw what [`View::since`] says. `None` once the view changes no more: the session or
    /// the connection has ended and `since` is the last revision; and without a view.
    ///
    /// ```
    /// # use libacp::aio::ClientSession;
    /// # async fn draw(session: ClientSession) {
    /// let mut drawn = 0;
    /// while let Some(revision) = session.changed(drawn).await {
    ///     session.view(|view| view.since(drawn).entries().for_each(|entry| println!("{}", entry.text())));
    ///     drawn = revision;
    /// }
    /// # }
    /// ```
    pub async fn changed(&self, since: u64) -> Option<u64> {
        let shared = &self.agent().shared;
        let viewing = Viewing { shared, number: shared.with(State::next_viewer) };
        poll_fn(|cx| shared.with(|state| state.poll_changed(viewing.number, self.id(), since, cx))).await
    }

    /// Forgets the view of a session that has ended. Returns whether there was one.
    pub fn forget_view(&self) -> bool {
        self.agent().shared.with(|state| state.connection.forget_view(self.id()))
    }
}

/// A call of [`ClientSession::changed`], which may be dropped before its end.
struct Viewing<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Drop for Viewing<'_> {
    fn drop(&mut self) {
        self.shared.with(|state| state.viewers.waiting.remove(&self.number));
    }
}

/// Those that wait until a view has changed.
#[derive(Default)]
pub(super) struct Viewers {
    waiting: HashMap<u64, Viewer>,
    /// How many there were.
    count: u64,
}

struct Viewer {
    session: Arc<str>,
    since: u64,
    waker: Waker,
}

impl State {
    fn next_viewer(&mut self) -> u64 {
        self.viewers.count += 1;
        self.viewers.count
    }

    /// What there is to tell of a view: its revision if it is another one, `None` if there will be no other.
    fn news(&self, session: &str, since: u64) -> Poll<Option<u64>> {
        match self.connection.view(session) {
            Some(view) if view.revision() != since => Poll::Ready(Some(view.revision())),
            Some(view) if !view.is_frozen() && self.end.is_none() => Poll::Pending,
            _ => Poll::Ready(None),
        }
    }

    fn poll_changed(&mut self, viewer: u64, session: &str, since: u64, cx: &Context<'_>) -> Poll<Option<u64>> {
        let news = self.news(session, since);
        if news.is_pending() {
            let waiting = Viewer { session: session.into(), since, waker: cx.waker().clone() };
            self.viewers.waiting.insert(viewer, waiting);
        }
        news
    }

    /// Wakes those for whom there is something.
    pub(super) fn wake_viewers(&mut self) {
        if self.viewers.waiting.is_empty() {
            return;
        }
        let mut waiting = std::mem::take(&mut self.viewers.waiting);
        waiting.retain(|_, viewer| {
            let waits = self.news(&viewer.session, viewer.since).is_pending();
            if !waits {
                self.wake([viewer.waker.clone()]);
            }
            waits
        });
        self.viewers.waiting = waiting;
    }
}
