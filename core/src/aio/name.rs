//! The names of sessions on the agent's side, and what the requests say that open them.

use std::any::Any;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::json;
use crate::schema::v1;

/// The value that a host stores with a session.
pub(super) type Data = Arc<dyn Any + Send + Sync>;

/// A session by its id, or by the id that it will have unless the response that opens it has another one.
pub(super) struct Name {
    first: Arc<str>,
    /// Its final id, once it was opened.
    settled: OnceLock<Arc<str>>,
    pub(super) opening: Option<Opening>,
}

/// The contents of a request that opens a session.
pub(super) struct Opening {
    pub(super) serial: u64,
    pub(super) roots: Vec<String>,
    pub(super) mcp_servers: Arc<[v1::McpServer<'static>]>,
    data: Mutex<Option<Data>>,
}

impl Name {
    pub(super) fn of(id: Arc<str>) -> Arc<Self> {
        Arc::new(Name { first: id, settled: OnceLock::new(), opening: None })
    }

    /// The name of the session that a request opens.
    pub(super) fn opened_by(serial: u64, params: &str, id: Arc<str>) -> Arc<Self> {
        let text = |value: &str| json::unescape(value).map(Cow::into_owned);
        let more = json::pointer(params, "/additionalDirectories").map_or_else(Vec::new, json::items);
        let cwd = json::pointer(params, "/cwd");
        let servers = json::pointer(params, "/mcpServers");
        let servers = servers.and_then(|servers| crate::schema::read::<Vec<v1::McpServer<'_>>>(servers).ok());
        let opening = Opening {
            serial,
            roots: cwd.into_iter().chain(more).filter_map(text).collect(),
            mcp_servers: crate::schema::IntoOwned::into_owned(servers.unwrap_or_default()).into(),
            data: Mutex::new(None),
        };
        Arc::new(Name { first: id, settled: OnceLock::new(), opening: Some(opening) })
    }

    pub(super) fn id(&self) -> &Arc<str> {
        self.settled.get().unwrap_or(&self.first)
    }

    /// The session is open now, with the id that the answer gives it.
    pub(super) fn settle(&self, answer: &str) -> &Arc<str> {
        let given = || json::pointer(answer, "/sessionId").and_then(json::unescape).map(|id| (&*id).into());
        self.settled.get_or_init(|| given().unwrap_or_else(|| Arc::clone(&self.first)))
    }

    /// The request, if it has not opened the session yet.
    pub(super) fn pending(&self) -> Option<&Opening> {
        self.opening.as_ref().filter(|_| self.settled.get().is_none())
    }
}

impl Opening {
    pub(super) fn data(&self) -> Option<Data> {
        self.data.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn set_data(&self, data: Data) {
        *self.data.lock().unwrap_or_else(PoisonError::into_inner) = Some(data);
    }
}

/// Adds `sessionId` to params.
pub(super) fn about(session: &str, params: &str) -> String {
    extended(params, "sessionId", |writer| writer.string(session))
}

/// An object with a member added at the front, or replaced.
pub(super) fn extended(object: &str, name: &str, write: impl FnOnce(&mut json::Writer) -> &mut json::Writer) -> String {
    let mut writer = json::Writer::new();
    write(writer.begin_object().key(name));
    for (other, value) in json::members(object).into_iter().filter(|(other, _)| other != name) {
        writer.key(&other).json(value);
    }
    writer.end_object();
    writer.finish().unwrap_or_else(|_| object.to_owned())
}
