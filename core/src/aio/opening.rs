//! Opening sessions on the agent's side: what is sent about a session waits for the response that names it, and what is
//! stored with it takes effect with that answer.

use std::any::Any;
use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::error::{Error, Failure, RequestError};
use super::handlers::{Handlers, Incoming};
use super::shared::State;
use super::titles::Titles;
use crate::json;
use crate::schema::v1;

/// The value that a host stores with a session.
pub(super) type Data = Arc<dyn Any + Send + Sync>;

/// What is stored with an open session, in addition to what the connection tracks.
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

/// A deferred notification about a session that is not open yet: the method, and the params without the session.
pub(super) struct Told {
    pub(super) method: String,
    pub(super) params: String,
}

impl Name {
    pub(super) fn of(id: Arc<str>) -> Arc<Self> {
        Arc::new(Name { first: id, settled: OnceLock::new(), opening: None })
    }

    fn opened_by(incoming: &Incoming, id: Arc<str>) -> Arc<Self> {
        let text = |value: &str| json::unescape(value).map(Cow::into_owned);
        let params = incoming.json();
        let more = json::pointer(params, "/additionalDirectories").map_or_else(Vec::new, json::items);
        let cwd = json::pointer(params, "/cwd");
        let servers = json::pointer(params, "/mcpServers");
        let servers = servers.and_then(|servers| crate::schema::read::<Vec<v1::McpServer<'_>>>(servers).ok());
        let opening = Opening {
            serial: incoming.serial(),
            roots: cwd.into_iter().chain(more).filter_map(text).collect(),
            mcp_servers: crate::schema::IntoOwned::into_owned(servers.unwrap_or_default()).into(),
            data: Mutex::new(None),
        };
        Arc::new(Name { first: id, settled: OnceLock::new(), opening: Some(opening) })
    }

    pub(super) fn id(&self) -> &Arc<str> {
        self.settled.get().unwrap_or(&self.first)
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

/// Handles all requests that open a session. They differ in which side chooses the id, and in what may be sent before
/// the response.
pub(super) async fn open<H: Handlers>(handlers: &H, mut incoming: Incoming) -> Result<String, Failure> {
    let method = incoming.method().to_owned();
    let named_by_agent = matches!(&*method, "session/new" | "session/fork");
    let there = handlers.has(&method, true);
    if !there && method != "session/new" {
        return Err(RequestError::not_found(&method).into());
    }
    let asked = incoming.session().filter(|_| !named_by_agent).cloned();
    let name = Name::opened_by(&incoming, asked.unwrap_or_else(new_id));
    incoming.shared.with(|state| {
        if let Some(job) = state.jobs.get_mut(&incoming.serial()) {
            job.opening = Some(Arc::clone(&name));
            job.held = (method != "session/load").then(Vec::new);
        }
    });
    let id = Arc::clone(&name.first);
    let answer = if there {
        incoming.opening = Some(name);
        handlers.call(incoming).await?
    } else {
        "{}".to_owned()
    };
    Ok(if named_by_agent { named(answer, &id) } else { answer })
}

impl State {
    /// Called when the response that opens a session was sent: sends the deferred notifications.
    pub(super) fn opened(&mut self, name: &Arc<Name>, held: &[Told], answer: &str) -> Result<(), Error> {
        let Some(opening) = &name.opening else { return Ok(()) };
        let id = json::pointer(answer, "/sessionId").and_then(json::unescape);
        let id: Arc<str> = id.map_or_else(|| Arc::clone(&name.first), |id| (&*id).into());
        let kept = Kept { data: opening.data(), name: Some(Arc::clone(name)), ..Kept::default() };
        self.kept.insert(Arc::clone(&id), kept);
        // This is the only place that sets it, so it cannot fail.
        let _ = name.settled.set(Arc::clone(&id));
        held.iter().try_for_each(|told| self.tell(&told.method, &about(&id, &told.params)))
    }

    /// Changes what is stored with an open session.
    pub(super) fn keep(&mut self, session: &Arc<str>, change: impl FnOnce(&mut Kept)) {
        if self.connection.session(session).is_some() {
            change(self.kept.entry(Arc::clone(session)).or_default());
        }
    }

    /// Sends a notification about a session: at once, or after it was opened.
    pub(super) fn tell_of(&mut self, name: &Name, method: &str, params: &str) -> Result<(), Error> {
        let job = name.pending().and_then(|opening| self.jobs.get_mut(&opening.serial));
        if let Some(held) = job.and_then(|job| job.held.as_mut()) {
            held.push(Told { method: method.to_owned(), params: params.to_owned() });
            return Ok(());
        }
        let params = about(name.id(), params);
        self.tell(method, &params)
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

/// The response that opens a session, with the generated id if the handler did not set one.
fn named(answer: String, id: &str) -> String {
    let given = json::pointer(&answer, "/sessionId").is_some_and(|given| given != "\"\"");
    // A response that is not an object is left as it is, to be refused.
    if given || !answer.starts_with('{') {
        answer
    } else {
        about(id, &answer)
    }
}

/// An id that no other session of this program has, nor one of another program if the platform has randomness.
fn new_id() -> Arc<str> {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let half = || {
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u64(number);
        hasher.finish()
    };
    format!("{:016x}{:016x}-{number}", half(), half()).into()
}
