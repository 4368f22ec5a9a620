//! The agent that a program makes: its name, what it can do, its handlers, and where it is served.

use std::borrow::Cow;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use super::builder::builder;
use super::drive::drive;
use super::error::{Failure, RequestError};
use super::handlers::{
    Advices, Failures, Handler, Handlers, Incoming, Kind, LateResponses, Report, Violations, Watching,
};
use super::host::{offer, Host};
use super::received::{Extension, OnNotification, OnRequest, Received, Reply, Typed};
use super::shared::{Held, Shared};
use super::transport::Transport;
use super::turn::Turn;
use crate::connection::{Advice, Response, Violation};
use crate::jsonrpc::ErrorCode;
use crate::schema::{v1, Family, Notification, Raw, Request, SentBy};
use crate::typed::{AgentSide, ClientSide};
use crate::Config;

type NewSession = fn(v1::NewSessionRequest);
type LoadSession = fn(v1::LoadSessionRequest);
type ResumeSession = fn(v1::ResumeSessionRequest);

/// An agent: handlers for what clients ask, and a place to serve them.
///
/// One agent can serve any number of clients at the same time, and each client any number of sessions. What it can do is
/// told to clients by its handlers (one for `session/load` says that sessions can be loaded);
/// [`capabilities`](Self::capabilities) adds what no handler shows. Of two handlers of one method, the later counts.
///
/// Handlers are asynchronous closures, and may borrow what they need: nothing is spawned.
pub struct Agent<H = ()> {
    host: Host,
    capabilities: v1::AgentCapabilities<'static>,
    auth_methods: Vec<v1::AuthMethod<'static>>,
    handlers: H,
}

impl Agent {
    /// An agent without handlers: the name and the version that clients are told.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Agent {
            host: Host::new(name.into(), version.into(), Config::agent()),
            capabilities: v1::AgentCapabilities::new(),
            auth_methods: Vec::new(),
            handlers: (),
        }
    }
}

builder! {
    Agent of AgentSide beside ClientSide;
    /// Requests that are served at the same time before reading stops, in place of
    /// [`Limits::pending`](crate::connection::Limits::pending). Notice that nothing is read then: no cancellation either.
    at_most
    /// The handler of another request, by the type of its params without a lifetime:
    /// `.on::<fn(v1::SetSessionModeRequest), _>(async |received| Ok(Reply::default()))`.
    on
}

impl<H: Handlers> Agent<H> {
    /// What the agent can do beyond what its handlers show, as images in prompts.
    #[must_use]
    pub fn capabilities(mut self, capabilities: v1::AgentCapabilities<'static>) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Ways to log in. They need a handler of [`v1::AuthenticateRequest`].
    #[must_use]
    pub fn auth_methods(mut self, methods: Vec<v1::AuthMethod<'static>>) -> Self {
        self.auth_methods = methods;
        self
    }

    /// The handler of prompts. The turn ends when it returns.
    ///
    /// When the client cancels the turn, or is gone, the handler is dropped where it waits, and the answer is
    /// `cancelled`. One that has to do something more asks for [`Turn::cancelled`], and ends by itself.
    pub fn prompt<F>(self, handler: F) -> Agent<Handler<H, Prompts<()>, F>>
    where
        F: AsyncFn(Turn) -> Result<(), Failure>,
    {
        self.with(|rest| Handler::new(rest, Prompts::NEW, handler))
    }

    /// The same with all that can be said at the end of a turn: why it ended, and what it has used.
    pub fn prompt_with<F>(self, handler: F) -> Agent<Handler<H, PromptsWith, F>>
    where
        F: AsyncFn(Turn) -> Result<Reply<fn(v1::PromptRequest)>, Failure>,
    {
        self.with(|rest| Handler::new(rest, Prompts::NEW, handler))
    }

    /// The handler of new sessions. A session id in its answer that is not empty replaces the one that was made up. What
    /// it says of the session, with [`AgentSession::update`](super::AgentSession::update), follows the answer.
    pub fn new_session<F>(self, handler: F) -> Agent<OnRequest<H, AgentSide, NewSession, F>>
    where
        F: AsyncFn(Received<AgentSide, NewSession>) -> Result<Reply<NewSession>, Failure>,
    {
        self.on(handler)
    }

    /// The handler of sessions that are to be loaded. It replays the conversation with
    /// [`AgentSession::update`](super::AgentSession::update) before it returns.
    pub fn load_session<F>(self, handler: F) -> Agent<OnRequest<H, AgentSide, LoadSession, F>>
    where
        F: AsyncFn(Received<AgentSide, LoadSession>) -> Result<Reply<LoadSession>, Failure>,
    {
        self.on(handler)
    }

    /// The handler of sessions that are to be opened again without a replay. What it says of the session follows the
    /// answer.
    pub fn resume_session<F>(self, handler: F) -> Agent<OnRequest<H, AgentSide, ResumeSession, F>>
    where
        F: AsyncFn(Received<AgentSide, ResumeSession>) -> Result<Reply<ResumeSession>, Failure>,
    {
        self.on(handler)
    }

    /// Serves one client until it closes its side and the handlers have ended. This future is all there is: what polls
    /// it runs the handlers, and dropping it ends the connection.
    ///
    /// # Errors
    /// That of the transport, when reading from it failed.
    pub async fn serve(&self, transport: impl Transport) -> io::Result<()> {
        let shared = self.host.connection(&transport);
        drive(&shared, &Serving(self), transport).await
    }

    fn with<N: Handlers>(self, add: impl FnOnce(H) -> N) -> Agent<N> {
        Agent {
            host: self.host,
            capabilities: self.capabilities,
            auth_methods: self.auth_methods,
            handlers: add(self.handlers),
        }
    }

    fn has(&self, method: &str) -> bool {
        self.handlers.has(method, true)
    }

    fn hello(&self) -> v1::InitializeResponse<'static> {
        let mut hello = v1::InitializeResponse::new(v1::ProtocolVersion(1));
        hello.agent_info = Some(self.host.info.clone());
        hello.auth_methods.clone_from(&self.auth_methods);
        let mut can = self.capabilities.clone();
        can.load_session |= self.has("session/load");
        let session = &mut can.session_capabilities;
        offer(&mut session.close, true);
        offer(&mut session.resume, self.has("session/resume"));
        offer(&mut session.list, self.has("session/list"));
        offer(&mut session.delete, self.has("session/delete"));
        offer(&mut session.fork, self.has("session/fork"));
        offer(&mut can.auth.logout, self.has("logout"));
        hello.agent_capabilities = can;
        hello
    }
}

/// An agent's handlers, and in front of them what every agent does the same way.
struct Serving<'a, H>(&'a Agent<H>);

impl<H: Handlers> Handlers for Serving<'_, H> {
    fn has(&self, method: &str, request: bool) -> bool {
        self.0.handlers.has(method, request)
    }

    async fn call(&self, incoming: Incoming) -> Result<String, Failure> {
        let handlers = &self.0.handlers;
        match incoming.method() {
            "initialize" => Ok(crate::schema::write(&self.0.hello())?),
            "session/new" | "session/load" | "session/resume" => open(handlers, incoming).await,
            "session/close" => {
                let session = incoming.session().cloned().unwrap_or_default();
                close(&incoming.shared, &session).await;
                if handlers.has(incoming.method(), true) {
                    handlers.call(incoming).await
                } else {
                    Ok("{}".to_owned())
                }
            }
            _ => handlers.call(incoming).await,
        }
    }

    fn report(&self, report: &Report<'_>) {
        self.0.handlers.report(report);
    }
}

/// All ways to open a session: they differ in who names it, and in what may come before the answer.
async fn open<H: Handlers>(handlers: &H, mut incoming: Incoming) -> Result<String, Failure> {
    let new = incoming.method() == "session/new";
    let id = incoming.session().cloned().unwrap_or_else(new_id);
    if !handlers.has(incoming.method(), true) {
        if new {
            return Ok(crate::schema::write(&v1::NewSessionResponse::new(&*id))?);
        }
        return Err(RequestError::of(ErrorCode::METHOD_NOT_FOUND).into());
    }
    if incoming.method() != "session/load" {
        let held = Held { serial: incoming.serial(), updates: Vec::new() };
        incoming.shared.with(|state| state.held.insert(Arc::clone(&id), held));
    }
    incoming.opening = Some(id);
    handlers.call(incoming).await
}

/// Ends the prompts of a session that is to be closed.
async fn close(shared: &Shared, session: &str) {
    let of_session = |serves: Option<&str>| serves == Some(session);
    shared.with(|state| state.stop(|_, job| &*job.method == "session/prompt" && of_session(job.session.as_deref())));
    shared.idle(session).await;
}

/// An id that no other session of this program has, nor of another program where there is randomness.
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

/// Prompts, and what their handlers return.
pub struct Prompts<A>(PhantomData<fn() -> A>);

type PromptsWith = Prompts<Reply<fn(v1::PromptRequest)>>;

impl<A> Prompts<A> {
    const NEW: Self = Prompts(PhantomData);
}

impl<A: Into<Ending>> Kind for Prompts<A> {
    type Argument = Turn;
    type Answer = A;

    fn method(&self) -> &'static str {
        "session/prompt"
    }

    fn argument(&self, incoming: &Incoming) -> Result<Turn, Failure> {
        Turn::new(incoming)
    }

    fn result(&self, incoming: &Incoming, answer: A) -> Result<String, Failure> {
        let Ending(json) = answer.into();
        let serial = incoming.serial();
        if !incoming.shared.with(|state| state.jobs.get(&serial).is_none_or(|job| job.cancelled)) {
            return Ok(json);
        }
        // However it has ended, a turn that was cancelled is cancelled.
        let mut response: v1::PromptResponse<'_> = crate::schema::read(&json)?;
        response.stop_reason = v1::StopReason::Cancelled;
        Ok(crate::schema::write(&response)?)
    }
}

/// The end of a turn, as JSON text.
pub struct Ending(String);

impl From<()> for Ending {
    fn from((): ()) -> Self {
        Reply::from(v1::PromptResponse::new(v1::StopReason::EndTurn)).into()
    }
}

impl From<Reply<fn(v1::PromptRequest)>> for Ending {
    fn from(reply: Reply<fn(v1::PromptRequest)>) -> Self {
        Ending(reply.into_json())
    }
}
