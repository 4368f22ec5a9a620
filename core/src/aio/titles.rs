//! The titles of a session's tool calls, for permission requests without one.

use std::collections::VecDeque;

use super::shared::State;
use crate::connection::Notification;
use crate::json;

/// How many titles are kept per session.
const MOST: usize = 256;
/// The maximum length of a title that is kept. A tool call without a title is shown by its id.
const BYTES: usize = 1024;

/// The tool calls that have not ended, oldest first.
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
    /// Remembers the title of a tool call from an update.
    pub(super) fn titled(&mut self, update: &Notification) {
        // Most updates are chunks of messages; parsing those again would be a waste.
        if matches!(update.update, Some("tool_call" | "tool_call_update")) {
            if let Some(kept) = update.session.as_ref().and_then(|session| self.kept.get_mut(session)) {
                kept.titles.take(update.params());
            }
        }
    }
}
