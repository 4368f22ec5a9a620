//! What is said of a session while the request that opens it is being answered.

use std::collections::HashMap;
use std::sync::Arc;

use crate::connection::{Advice, Misuse, MisuseKind};
use crate::json::{self, Writer};
use crate::{Connection, Event};

/// Maximum number of notifications that wait for one answer.
const HELD: usize = 4096;
/// Whose updates are history, which comes before the answer (SESS-16).
const LOAD: &str = "session/load";

/// A method, and its params without the session.
type Held = (String, String);

/// Notifications that wait for the answer that names their session, by the serial of its request.
#[derive(Debug, Default)]
pub(super) struct Openings(HashMap<u64, Vec<Held>>);

impl Openings {
    pub(super) fn hold(&mut self, opening: u64, method: &str, params: &str) -> Result<(), Misuse> {
        let held = self.0.entry(opening).or_default();
        if held.len() == HELD {
            let message = format!("{HELD} notifications wait for the answer already");
            return Err(Misuse::new(MisuseKind::Limit, id!("LIMIT-03"), message));
        }
        held.push((method.to_owned(), params.to_owned()));
        Ok(())
    }

    /// A request was answered: its session, and what waited for that.
    pub(super) fn opened(
        &mut self,
        opening: u64,
        session: Option<Arc<str>>,
        result: &str,
    ) -> Option<(Arc<str>, Vec<Held>)> {
        let held = self.0.remove(&opening)?;
        // A fork is about one session, and opens another.
        let named = json::pointer(result, "/sessionId").and_then(json::unescape).map(|id| Arc::from(&*id));
        Some((named.or(session)?, held))
    }

    pub(super) fn failed(&mut self, opening: u64) {
        self.0.remove(&opening);
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// The session that may be named already, as while its history is replayed; `None` while what is said has to wait.
pub(super) fn place(connection: &Connection, opening: u64, replays: bool) -> Result<Option<Arc<str>>, Misuse> {
    let open = connection.unanswered_by_serial(opening).ok_or_else(|| {
        let message = format!("no request of the peer with the number {opening} is open; name the session instead");
        Misuse::new(MisuseKind::Id, id!("RPC-15"), message)
    })?;
    Ok(open.session.clone().filter(|_| replays || open.method == LOAD))
}

/// Params with the session that they are about.
pub(super) fn about(session: &str, params: &str) -> String {
    let mut writer = Writer::new();
    writer.begin_object().key("sessionId").string(session);
    for (name, value) in json::members(params).into_iter().filter(|(name, _)| name != "sessionId") {
        writer.key(&name).json(value);
    }
    writer.end_object();
    // What is no object is refused as it is.
    writer.finish().ok().filter(|_| params.trim_start().starts_with('{')).unwrap_or_else(|| params.to_owned())
}

/// What comes of a notification that could not be sent when its time had come.
pub(super) fn advice(misuse: Misuse, method: String, session: Option<&Arc<str>>) -> Event {
    let Misuse { rule, pointer, message, .. } = misuse;
    let session = session.cloned();
    Event::Advice(Advice { rule, message: message.into_owned(), pointer, method, id: None, session })
}
