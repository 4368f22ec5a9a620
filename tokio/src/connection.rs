//! One connection of a client, and what belongs to its sessions: open roots and running commands.
//!
//! A handler of `libacp::aio` sees a session but not its connection, and two agents may use the same session id. So the
//! future that drives a connection runs in a scope that identifies the connection, and only that future runs handlers.

use std::collections::HashMap;
use std::future::Future;
use std::io;
use std::path::Path;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use libacp::aio::{AgentPeer, Client, ClientSession, Connecting, Failure, Handlers, Received, RequestError, Transport};
use libacp::schema::Family;
use libacp::typed::ClientSide;
use libacp::ErrorCode;
use libacp_files::Root;

use crate::command::Command;
use crate::watch::{Effect, Watched};

tokio::task_local! {
    static CURRENT: Arc<Connection>;
}

/// The maximum number of responses that the connection has not processed. If there are more, it must have refused some.
const UNSETTLED: usize = 64;

/// A request that opens or ends a session.
pub(crate) struct Change {
    pub(crate) effect: Effect,
    pub(crate) session: Option<String>,
    /// The working directory and the additional directories.
    pub(crate) roots: Vec<String>,
}

/// The response to a request that opens or ends a session.
pub(crate) struct Answer {
    pub(crate) failed: bool,
    /// The session that it names.
    pub(crate) opened: Option<String>,
}

/// A request that opens or ends a session, until its effect is complete.
struct Pending {
    id: u64,
    change: Change,
    roots: Arc<Roots>,
    /// Nothing is stored yet for the session that it names.
    fresh: bool,
    answer: Option<Answer>,
}

/// The directories of a session, opened when the host requested it. No files are accessible in a missing one.
pub(crate) struct Roots {
    given: Vec<String>,
    opened: Vec<Root>,
    missing: Vec<String>,
}

/// The files of a session, for each of the hosts' [`Files`](crate::Files) that serves it.
type Served = (usize, libacp_files::Files);

#[derive(Default)]
pub(crate) struct Session {
    roots: Option<Arc<Roots>>,
    files: Vec<Served>,
    commands: HashMap<String, Arc<Command>>,
}

#[derive(Default)]
pub(crate) struct Connection {
    agent: OnceLock<AgentPeer>,
    files: AtomicBool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pending: Vec<Pending>,
    sessions: HashMap<String, Session>,
}

/// The session of a request. The requests for files and terminals all name one.
pub(crate) fn session<M: Family>(received: &Received<ClientSide, M>) -> Result<ClientSession, Failure> {
    received.session().ok_or_else(|| RequestError::of(ErrorCode::INVALID_PARAMS).into())
}

impl Connection {
    /// The connection whose handler is running.
    pub(crate) fn current() -> Result<Arc<Connection>, Failure> {
        let nowhere = "Files and Terminals need a connection that libacp_tokio drives: spawn(…), or libacp_tokio::run";
        CURRENT.try_with(Arc::clone).map_err(|_| Failure::new(nowhere))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the agent of this connection.
    pub(crate) fn meet(&self, agent: &AgentPeer) {
        drop(self.agent.set(agent.clone()));
    }

    /// Sets whether the client has a capability for files. Without one, no roots are opened.
    pub(crate) fn offers_files(&self, offers: bool) {
        self.files.store(offers, Ordering::Relaxed);
    }

    /// Called before a request is sent that opens or ends a session.
    pub(crate) fn asked(&self, id: u64, change: Change) {
        let opens = change.effect != Effect::Ends && self.files.load(Ordering::Relaxed);
        let roots = Arc::new(Roots::open(if opens { change.roots.clone() } else { Vec::new() }));
        let mut state = self.state();
        let fresh = change.session.as_ref().is_some_and(|session| !state.sessions.contains_key(session));
        state.pending.push(Pending { id, change, roots, fresh, answer: None });
    }

    /// Called with the response to such a request.
    pub(crate) fn answered(&self, id: u64, answer: Answer) {
        let mut state = self.state();
        if let Some(pending) = state.pending.iter_mut().find(|pending| pending.id == id) {
            pending.answer = Some(answer);
        }
        let answered = state.pending.iter().filter(|pending| pending.answer.is_some()).count();
        if answered > UNSETTLED {
            if let Some(oldest) = state.pending.iter().position(|pending| pending.answer.is_some()) {
                state.pending.remove(oldest);
            }
        }
    }

    /// Applies the responses that the connection has processed: opens and ends sessions.
    fn settle(&self) {
        let Some(agent) = self.agent.get() else { return };
        let is_open = |id: &str| agent.session(id).is_some();
        let mut ended = Vec::new();
        let mut state = self.state();
        if state.pending.iter().all(|pending| pending.answer.is_none()) {
            return;
        }
        let State { pending, sessions } = &mut *state;
        pending.retain_mut(|pending| {
            let Some(answer) = &mut pending.answer else { return true };
            let (effect, named) = (pending.change.effect, pending.change.session.take());
            let Some(id) = (if effect == Effect::Opens { answer.opened.take() } else { named }) else { return false };
            let settled = match (effect, answer.failed) {
                (Effect::Opens, _) if is_open(&id) => {
                    // A session that was open before keeps its roots.
                    sessions.entry(id.clone()).or_default().roots.get_or_insert_with(|| Arc::clone(&pending.roots));
                    true
                }
                (Effect::Reopens, false) if is_open(&id) => {
                    let session = sessions.entry(id.clone()).or_default();
                    session.roots = Some(Arc::clone(&pending.roots));
                    session.files.clear();
                    true
                }
                (Effect::Ends, false) | (Effect::Reopens, true) if !is_open(&id) => {
                    ended.extend(sessions.remove(&id));
                    true
                }
                (Effect::Reopens, true) => !pending.fresh,
                (_, failed) => failed,
            };
            if !settled {
                if effect == Effect::Opens {
                    answer.opened = Some(id);
                } else {
                    pending.change.session = Some(id);
                }
            }
            !settled
        });
        drop(state);
        ended.iter().for_each(Session::end);
    }

    /// Reads or changes what is stored with a session, if the session is open or being opened.
    fn of<R>(&self, session: &ClientSession, then: impl FnOnce(&mut Session, bool) -> R) -> Result<R, RequestError> {
        self.meet(session.agent());
        self.settle();
        let id = session.id();
        let mut state = self.state();
        let about = |effect: Effect| {
            let mut pending = state.pending.iter().rev();
            pending.find(|pending| pending.change.effect == effect && pending.change.session.as_deref() == Some(id))
        };
        let (opening, closing) = (about(Effect::Reopens), about(Effect::Ends).is_some());
        let opening = opening.map(|pending| Arc::clone(&pending.roots));
        let open = session.agent().session(id).is_some() || opening.is_some();
        if !open || session.agent().is_closed() {
            return Err(RequestError::new(ErrorCode::RESOURCE_NOT_FOUND, "The session is over"));
        }
        let session = state.sessions.entry(id.to_owned()).or_default();
        if session.roots.is_none() {
            session.roots = opening;
        }
        Ok(then(session, closing))
    }

    /// The files of a session. `make` creates them from its roots, once for each `key`.
    pub(crate) fn files(
        &self,
        session: &ClientSession,
        key: usize,
        make: impl FnOnce(Vec<Root>) -> libacp_files::Files,
    ) -> Result<libacp_files::Files, RequestError> {
        let given = session.roots();
        self.of(session, |session, _| {
            // The roots that the connection knows take precedence. They differ if the request was not seen here.
            if session.roots.as_ref().is_none_or(|roots| roots.given != given) {
                session.roots = Some(Arc::new(Roots::open(given)));
                session.files.clear();
            }
            if let Some((_, files)) = session.files.iter().find(|(served, _)| *served == key) {
                return files.clone();
            }
            let opened = session.roots.as_ref().map_or(&[][..], |roots| &roots.opened);
            let files = make(opened.iter().filter_map(|root| root.try_clone().ok()).collect());
            session.files.push((key, files.clone()));
            files
        })
    }

    /// Whether a path is inside a root that did not exist when the session was opened.
    pub(crate) fn is_in_missing_root(&self, session: &str, path: &str) -> bool {
        let state = self.state();
        let roots = state.sessions.get(session).and_then(|session| session.roots.as_ref());
        roots.is_some_and(|roots| roots.missing.iter().any(|root| Path::new(path).starts_with(root)))
    }

    /// Starts a command in a session that is open and not being closed.
    pub(crate) fn start(
        &self,
        session: &ClientSession,
        start: impl FnOnce() -> Result<Arc<Command>, RequestError>,
    ) -> Result<(), RequestError> {
        self.of(session, |session, closing| {
            if closing {
                return Err(RequestError::new(ErrorCode::RESOURCE_NOT_FOUND, "The session is being closed"));
            }
            let command = start()?;
            session.commands.insert(command.id().to_owned(), command);
            Ok(())
        })?
    }

    /// A command of a session.
    pub(crate) fn command(&self, session: &ClientSession, id: &str) -> Result<Arc<Command>, RequestError> {
        let found = self.of(session, |session, _| session.commands.get(id).cloned())?;
        found.ok_or_else(|| RequestError::new(ErrorCode::RESOURCE_NOT_FOUND, "There is no such terminal"))
    }

    /// Removes a command that has ended.
    pub(crate) fn forget(&self, session: &ClientSession, id: &str) {
        if let Some(session) = self.state().sessions.get_mut(session.id()) {
            session.commands.remove(id);
        }
    }

    /// Ends the commands of all sessions.
    fn end(&self) {
        let sessions = std::mem::take(&mut self.state().sessions);
        sessions.values().for_each(Session::end);
    }
}

impl Session {
    fn end(&self) {
        self.commands.values().for_each(|command| command.end());
    }
}

impl Roots {
    fn open(given: Vec<String>) -> Roots {
        let (mut opened, mut missing) = (Vec::new(), Vec::new());
        for path in &given {
            match Root::open(path.as_ref()) {
                Ok(root) => opened.push(root),
                Err(_) => missing.push(path.clone()),
            }
        }
        Roots { given, opened, missing }
    }
}

/// Ends all commands when the connection is no longer driven.
struct Ends(Arc<Connection>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Drives a connection: makes it available to handlers, and processes answers.
pub(crate) async fn driven<F: Future>(connection: Arc<Connection>, driving: F) -> F::Output {
    let ends = Ends(Arc::clone(&connection));
    let mut driving = pin!(driving);
    let settling = std::future::poll_fn(|cx| {
        let result = driving.as_mut().poll(cx);
        ends.0.settle();
        if ends.0.agent.get().is_some_and(AgentPeer::is_closed) {
            // The host's work may continue without the agent.
            ends.0.end();
        }
        result
    });
    CURRENT.scope(connection, settling).await
}

/// [`Client::run`] for a client with [`Files`](crate::Files) or [`Terminals`](crate::Terminals), on any transport: for
/// a socket, `streams(reader, writer)` (see [`streams`](crate::streams)). For an agent in a child process, use
/// [`spawn`](crate::spawn()).
///
/// # Errors
/// The error of `work` or of `initialize`.
pub async fn run<H, T, F, R>(client: &Client<H>, transport: T, work: F) -> Result<R, Failure>
where
    H: Handlers,
    T: Transport,
    F: AsyncFnOnce(AgentPeer) -> Result<R, Failure>,
{
    let connection = Arc::new(Connection::default());
    let transport = Watched::new(transport, &connection);
    let met = Arc::clone(&connection);
    let running = client.run(transport, async move |agent| {
        met.meet(&agent);
        work(agent).await
    });
    driven(connection, running).await
}

/// [`Client::connect`] for a client with [`Files`](crate::Files) or [`Terminals`](crate::Terminals); see [`run`].
pub fn connect<H: Handlers, T: Transport>(
    client: Client<H>,
    transport: T,
) -> (Connecting, impl Future<Output = io::Result<()>>) {
    let connection = Arc::new(Connection::default());
    let (connecting, driving) = client.connect(Watched::new(transport, &connection));
    (connecting, driven(connection, driving))
}
