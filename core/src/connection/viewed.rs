//! Where the connection shows the [views](crate::view) what went through.

use std::sync::Arc;

use super::{Connection, Observer};
use crate::engine::{OpenRequest, RuleMessage};
use crate::jsonrpc::Id;
use crate::view::View;

impl Connection {
    /// A session as a conversation: `None` where [`Config::view`](super::Config::view) is off, or there is no such session.
    /// It stays when the session is closed, until [`forget_view`](Self::forget_view), or until many others are closed.
    pub fn view(&self, session: &str) -> Option<&View> {
        self.views.as_ref()?.get(session)
    }

    /// All views with their sessions, in the order of these.
    pub fn views(&self) -> impl Iterator<Item = (&Arc<str>, &View)> {
        self.views.iter().flat_map(|views| views.iter())
    }

    /// The sessions that have a view, in their order.
    pub fn viewed(&self) -> impl Iterator<Item = &str> {
        self.views().map(|(session, _)| &**session)
    }

    /// Forgets the view of a session that is over; whether there was one.
    pub fn forget_view(&mut self, session: &str) -> bool {
        self.views.as_mut().is_some_and(|views| views.forget(session))
    }

    /// A notification went through, in either direction.
    #[inline]
    pub(super) fn show_told(&mut self, message: &RuleMessage<'_>) {
        if let Some(views) = &mut self.views {
            views.told(message, &self.state);
        }
    }

    /// A request went through, in either direction; its number is the newest.
    #[inline]
    pub(super) fn show_asked(&mut self, message: &RuleMessage<'_>, id: &Id) {
        if let Some(views) = &mut self.views {
            views.asked(message, id, self.state.newest, &self.state);
        }
    }

    /// A request has ended; `None` for an error, or for want of an answer.
    #[inline]
    pub(super) fn show_answered(&mut self, request: &OpenRequest, result: Option<&str>) {
        if let Some(views) = &mut self.views {
            views.answered(request, result, &self.state);
        }
    }

    /// The connection is over, and nobody will tell how what is under way ends.
    pub(super) fn show_over(&mut self) {
        if let Some(views) = &mut self.views {
            views.over();
        }
    }

    /// A request has ended with this error.
    #[inline]
    pub(super) fn show_failed(&mut self, request: &OpenRequest, error: Option<&str>) {
        if let Some(views) = &mut self.views {
            views.failed(request, error, &self.state);
        }
    }
}

impl Observer {
    /// A session as a conversation, as [`Connection::view`] has it.
    pub fn view(&self, session: &str) -> Option<&View> {
        self.connection.view(session)
    }

    /// All views with their sessions, as [`Connection::views`] has them.
    pub fn views(&self) -> impl Iterator<Item = (&Arc<str>, &View)> {
        self.connection.views()
    }

    /// The sessions that have a view, as [`Connection::viewed`] has them.
    pub fn viewed(&self) -> impl Iterator<Item = &str> {
        self.connection.viewed()
    }

    /// Forgets the view of a session that is over, as [`Connection::forget_view`] does.
    pub fn forget_view(&mut self, session: &str) -> bool {
        self.connection.forget_view(session)
    }
}
