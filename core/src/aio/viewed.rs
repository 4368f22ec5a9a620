//! Sessions as conversations: looking at a view, and waiting until it has changed.

use std::future::poll_fn;
use std::task::{Context, Poll};

use super::client_session::ClientSession;
use super::shared::{Shared, State};
use super::viewers::news;
use crate::view::View;

impl ClientSession {
    /// Looks at the session as a conversation: everything that a client draws, of both versions. `None` unless
    /// [`Client::views`](super::Client::views) was called. The view of a session that has ended stays as it was, until
    /// [`forget_view`](Self::forget_view).
    ///
    /// The connection is locked meanwhile, so `look` must not use this session or its agent.
    pub fn view<T>(&self, look: impl FnOnce(&View) -> T) -> Option<T> {
        self.agent().shared.with(|state| state.connection().view(self.id()).map(look))
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
        let viewing = Viewing { shared, number: shared.with(|state| state.viewers.next()) };
        poll_fn(|cx| shared.with(|state| state.poll_changed(viewing.number, self.id(), since, cx))).await
    }

    /// Forgets the view of a session that has ended. Returns whether there was one.
    pub fn forget_view(&self) -> bool {
        self.agent().shared.with(|state| state.host.connection_mut().forget_view(self.id()))
    }
}

/// A call of [`ClientSession::changed`], which may be dropped before its end.
struct Viewing<'a> {
    shared: &'a Shared,
    number: u64,
}

impl Drop for Viewing<'_> {
    fn drop(&mut self) {
        self.shared.with(|state| state.viewers.forget(self.number));
    }
}

impl State {
    fn poll_changed(&mut self, viewer: u64, session: &str, since: u64, cx: &Context<'_>) -> Poll<Option<u64>> {
        let news = news(self.connection().view(session), self.end.is_some(), since);
        if news.is_pending() {
            self.viewers.wait(viewer, session, since, cx.waker().clone());
        }
        news
    }
}
