//! What the tool calls of a session are called, for requests for permission that do not say it.

use std::collections::VecDeque;

use super::shared::State;
use crate::connection::Notification;
use crate::json;

/// Titles that are kept of one session, and bytes of the longest. A request whose tool call has none has its id.
const MOST: usize = 256;
const BYTES: usize = 1024;

/// The tool calls that are not over, the oldest first.
#[derive(Default)]
pub(super) struct Titles(VecDeque<(String, String)>);

impl Titles {
    pub(super) fn of(&self, id: &str) -> Option<&str> {
        self.0.iter().rev().find(|(of, _)| of == id).map(|(_, title)| &**title)
    }

    fn take(&mut self, update: &str) {
        let member = |name: &str| json::pointer(update, name).and_then(json::unescape);
        let Some(id) = member("/update/toolCallId") else { return };
        let title = member("/update/title").filter(|title| !title.is_empty() && title.len() <= BYTES);
        let over = member("/update/status").is_some_and(|status| matches!(&*status, "completed" | "failed"));
        if over || title.is_some() {
            self.0.retain(|(of, _)| *of != id);
        }
        if let Some(title) = title.filter(|_| !over && id.len() <= BYTES) {
            if self.0.len() == MOST {
                self.0.pop_front();
            }
            self.0.push_back((id.into_owned(), title.into_owned()));
        }
    }
}

impl State {
    /// Remembers what an update says of a tool call.
    pub(super) fn titled(&mut self, update: &Notification) {
        // Most updates are pieces of messages, and are not to be read once more.
        if matches!(update.update, Some("tool_call" | "tool_call_update")) {
            if let Some(kept) = update.session.as_ref().and_then(|session| self.kept.get_mut(session)) {
                kept.titles.take(update.params());
            }
        }
    }
}
