//! What is stored with an open session, in addition to what the connection tracks.

use std::collections::VecDeque;
use std::sync::Arc;

use super::name::{Data, Name};
use crate::json;
use crate::schema::v1;

/// How many titles are kept per session.
const MOST: usize = 256;
/// The maximum length of a title that is kept. A tool call without a title is shown by its id.
const BYTES: usize = 1024;

#[derive(Default)]
pub(super) struct Kept {
    pub(super) data: Option<Data>,
    /// On the agent's side: what opened it.
    pub(super) name: Option<Arc<Name>>,
    /// On the client's side: the response that opened it.
    pub(super) opened: Option<Arc<v1::NewSessionResponse<'static>>>,
    /// On the client's side: the serial number of the request that first opened it.
    pub(super) serial: u64,
    pub(super) titles: Titles,
}

/// The titles of the tool calls that have not ended, oldest first, for permission requests without one.
#[derive(Default)]
pub(super) struct Titles(VecDeque<(String, String)>);

impl Titles {
    pub(super) fn of(&self, id: &str) -> Option<&str> {
        self.0.iter().rev().find(|(of, _)| of == id).map(|(_, title)| &**title)
    }

    /// Takes the title from the params of an update about a tool call.
    pub(super) fn take(&mut self, update: &str) {
        let member = |name: &str| json::pointer(update, name).and_then(json::unescape);
        let Some(id) = member("/update/toolCallId") else { return };
        let title = member("/update/title").filter(|title| !title.is_empty() && title.len() <= BYTES);
        let over = member("/update/status");
        let over = over.is_some_and(|status| matches!(&*status, "completed" | "failed" | "cancelled"));
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
