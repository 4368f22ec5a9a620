//! The peer's messages that have handlers.

use std::sync::Arc;

use crate::connection::{Notification, Request};

#[derive(Debug, Clone)]
pub(super) enum Message {
    Request(Request),
    Notification(Notification),
    /// An update that no stream of updates takes.
    Left(Notification),
}

/// The name used in place of a method for the handler of updates that no stream takes.
pub(super) const LEFT: &str = "session/update that no stream takes";

impl Message {
    pub(super) fn session(&self) -> Option<&Arc<str>> {
        match self {
            Message::Request(request) => request.session.as_ref(),
            Message::Notification(notification) | Message::Left(notification) => notification.session.as_ref(),
        }
    }
}
