//! Building an agent: its name, its capabilities, its handlers, and serving clients.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use super::agent_session::AgentSession;
use super::builder::builder;
use super::drive::drive;
use super::error::Failure;
use super::handlers::{
    Advices, AgentSessions, Failures, Handler, Handlers, Incoming, LateResponses, Report, Traces, Violations, Watching,
};
use super::local::Local;
use super::opening::open;
use super::prompts::{Ending, Prompts, PromptsWith};
use super::received::{Extension, OnNotification, OnRequest, Received, Reply, Typed};
use super::setup::{Setup, FIRST};
use super::told::{merged, said, unversioned};
use super::trace::Traced;
use super::transport::Transport;
use super::turn::Turn;
use super::unserved;
use super::working::stepping;
use crate::connection::{Advice, Response, Versions, Violation};
use crate::schema::{v1, v2, Family, IntoOwned, Notification, Raw, Request, SentBy};
use crate::typed::{AgentSide, ClientSide};
use crate::Config;

type Initialize = fn(v1::InitializeRequest);
type NewSession = fn(v1::NewSessionRequest);
type LoadSession = fn(v1::LoadSessionRequest);
type ResumeSession = fn(v1::ResumeSessionRequest);
type CancelToolCall = fn(v2::CancelToolCallRequest);
type CancelTerminal = fn(v2::CancelTerminalRequest);

/// An agent: handlers for the requests of clients.
///
/// One agent can serve any number of clients at the same time, each with any number of sessions. Its handlers determine
/// the capabilities that it advertises (a handler for `session/load` advertises `loadSession`);
/// [`capabilities`](Self::capabilities) adds those that no handler implies.
///
/// Handlers are asynchronous closures and may borrow, because nothing is spawned. `H` is the list of their types, which
/// only the compiler can write out: functions take `&Agent<impl Handlers>`; a struct is generic or has an
/// [`Agent<Local>`](Self::local).
pub struct Agent<H = ()> {
    setup: Setup,
    capabilities: v1::AgentCapabilities<'static>,
    auth_methods: Vec<v1::AuthMethod<'static>>,
    handlers: H,
}

impl Agent {
    /// An agent without handlers, with its name and version for `agentInfo`.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Agent {
            setup: Setup::new(name.into(), version.into(), Config::agent()),
            capabilities: v1::AgentCapabilities::new(),
            auth_methods: Vec::new(),
            handlers: (),
        }
    }
}

builder! {
    Agent of AgentSide beside ClientSide;
    /// Sets how many requests are served at the same time before reading stops, in place of
    /// [`Limits::pending`](crate::connection::Limits::pending). While reading is stopped, no cancellations are read
    /// either.
    at_most
    /// Sets the handler for another request, by the type of its params without a lifetime:
    /// `.on::<fn(v1::SetSessionModeRequest), _>(async |received| Ok(Reply::default()))`.
    on
    AgentSession through AgentSessions
}

impl<H: Handlers> Agent<H> {
    /// Adds capabilities that no handler implies, such as images in prompts. A capability for a request needs a handler
    /// for that request.
    #[must_use]
    pub fn capabilities(mut self, capabilities: v1::AgentCapabilities<'static>) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Sets the authentication methods. They need a handler for [`v1::AuthenticateRequest`].
    #[must_use]
    pub fn auth_methods(mut self, methods: Vec<v1::AuthMethod<'static>>) -> Self {
        self.auth_methods = methods;
        self
    }

    /// Sets the handler for prompts. The turn ends when it returns: normally with `Ok(())`, or with the
    /// [`StopReason`](v1::StopReason) that it returns.
    ///
    /// When the client cancels the turn or disconnects, the handler is dropped at its current await point, and the
    /// prompt is answered with `cancelled`. A handler that has to clean up awaits [`Turn::cancelled`] and returns by
    /// itself.
    pub fn prompt<F, A>(self, handler: F) -> Agent<Handler<H, Prompts<A>, F>>
    where
        F: AsyncFn(Turn) -> Result<A, Failure>,
        A: Into<Ending>,
    {
        self.with(|rest| Handler::new(rest, Prompts::NEW, handler))
    }

    /// Like [`prompt`](Self::prompt), with a complete response: the stop reason, the usage and so on.
    pub fn prompt_with<F>(self, handler: F) -> Agent<Handler<H, PromptsWith, F>>
    where
        F: AsyncFn(Turn) -> Result<Reply<fn(v1::PromptRequest)>, Failure>,
    {
        self.with(|rest| Handler::new(rest, Prompts::NEW, handler))
    }

    /// Sets a handler for `initialize`. It gets the client's info and capabilities, and can add to the response: what
    /// it returns is merged over what the handlers imply, except that `false` and empty lists change nothing.
    /// `Reply::default()` adds nothing.
    pub fn initialize<F>(self, handler: F) -> Agent<OnRequest<H, AgentSide, Initialize, F>>
    where
        F: AsyncFn(Received<AgentSide, Initialize>) -> Result<Reply<Initialize>, Failure>,
    {
        self.on(handler)
    }

    /// Sets the handler for new sessions. A non-empty session id in its response replaces the generated one. What it
    /// sends with [`AgentSession::update`](super::AgentSession::update) follows the response.
    pub fn new_session<F>(self, handler: F) -> Agent<OnRequest<H, AgentSide, NewSession, F>>
    where
        F: AsyncFn(Received<AgentSide, NewSession>) -> Result<Reply<NewSession>, Failure>,
    {
        self.on(handler)
    }

    /// Sets the handler for loading sessions. It replays the conversation with
    /// [`AgentSession::update`](super::AgentSession::update) before it returns.
    pub fn load_session<F>(self, handler: F) -> Agent<OnRequest<H, AgentSide, LoadSession, F>>
    where
        F: AsyncFn(Received<AgentSide, LoadSession>) -> Result<Reply<LoadSession>, Failure>,
    {
        self.on(handler)
    }

    /// Sets the handler for resuming sessions without a replay. What it sends about the session follows the response.
    pub fn resume_session<F>(self, handler: F) -> Agent<OnRequest<H, AgentSide, ResumeSession, F>>
    where
        F: AsyncFn(Received<AgentSide, ResumeSession>) -> Result<Reply<ResumeSession>, Failure>,
    {
        self.on(handler)
    }

    /// Merges chunks of messages and thoughts while the client is slow to read: their text is joined, so that the client has
    /// fewer messages to handle, and nothing else changes. Chunks that differ in more than their text are not merged.
    #[must_use]
    pub fn merge_chunks(mut self) -> Self {
        self.setup.merges = true;
        self
    }

    /// Sets the handler for cancelling one tool call, which version 2 has: each tool call then shows the client that it can
    /// be cancelled, until it ends. The handler says that the tool is being stopped, and the call ends with an update of its
    /// own, such as [`ToolCall::cancelled`](super::ToolCall::cancelled). A call that has ended is not cancelled, and the
    /// handler not called (TOOL-38).
    pub fn on_cancel_tool<F>(self, handler: F) -> Agent<OnRequest<H, AgentSide, CancelToolCall, F>>
    where
        F: AsyncFn(Received<AgentSide, CancelToolCall>) -> Result<Reply<CancelToolCall>, Failure>,
    {
        self.on(handler)
    }

    /// The same for the command in a terminal of the agent's, which ends with
    /// [`DisplayTerminal::exit`](super::DisplayTerminal::exit).
    pub fn on_cancel_terminal<F>(self, handler: F) -> Agent<OnRequest<H, AgentSide, CancelTerminal, F>>
    where
        F: AsyncFn(Received<AgentSide, CancelTerminal>) -> Result<Reply<CancelTerminal>, Failure>,
    {
        self.on(handler)
    }

    /// Serves one client until it closes its side and the handlers have finished. The returned future does everything:
    /// polling it runs the handlers, and dropping it ends the connection.
    ///
    /// # Errors
    /// The error of the transport if reading from it fails. [`InvalidInput`](io::ErrorKind::InvalidInput), before
    /// anything is read, if the agent has a handler or an option that cannot work: two handlers for one method, a
    /// handler for a disabled draft or for something that needs more [`capabilities`](Self::capabilities), a capability
    /// that no handler serves, or a time-out on a transport without a clock.
    pub async fn serve(&self, mut transport: impl Transport) -> io::Result<()> {
        let offered = unserved::check(&self.setup, &self.handlers, &mut transport, &self.capabilities)?;
        let shared = self.setup.connection(&self.handlers, &transport);
        drive(&shared, &Serving { agent: self, offered }, transport).await
    }

    fn with<N: Handlers>(self, add: impl FnOnce(H) -> N) -> Agent<N> {
        Agent {
            setup: self.setup,
            capabilities: self.capabilities,
            auth_methods: self.auth_methods,
            handlers: add(self.handlers),
        }
    }

    /// The same agent with a type that can be written down, confined to one thread; see [`Local`]. More handlers can be
    /// added to it. If that is decided at run time, each branch ends with this:
    ///
    /// ```
    /// # use libacp::aio::{Agent, Local, Reply};
    /// # fn agent(keeps_sessions: bool) -> Agent<Local> {
    /// let agent = Agent::new("shouter", "1.0").prompt(async |turn| Ok(turn.message(turn.text()).await?)).local();
    /// if keeps_sessions {
    ///     agent.load_session(async |_| Ok(Reply::default())).local()
    /// } else {
    ///     agent
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn local(self) -> Agent<Local>
    where
        H: 'static,
    {
        self.with(Local::new)
    }

    fn hello(&self, offered: &str) -> v1::InitializeResponse<'static> {
        let mut hello = v1::InitializeResponse::new(FIRST);
        hello.agent_info = Some(self.setup.info.clone());
        hello.auth_methods.clone_from(&self.auth_methods);
        let offered = crate::schema::read::<v1::AgentCapabilities<'_>>(offered).ok().map(IntoOwned::into_owned);
        hello.agent_capabilities = offered.unwrap_or_else(|| self.capabilities.clone());
        hello
    }
}

/// An agent's handlers, and in front of them what every agent does the same way.
struct Serving<'a, H> {
    agent: &'a Agent<H>,
    /// Its capabilities.
    offered: String,
}

impl<H: Handlers> Handlers for Serving<'_, H> {
    fn has(&self, method: &str, request: bool) -> bool {
        self.agent.handlers.has(method, request)
    }

    fn each(&self, visit: &mut dyn FnMut(&str, bool)) {
        self.agent.handlers.each(visit);
    }

    async fn call(&self, incoming: Incoming) -> Result<String, Failure> {
        let handlers = &self.agent.handlers;
        match incoming.method() {
            "initialize" => {
                let hello = unversioned(&said(&crate::schema::write(&self.agent.hello(&self.offered))?));
                if !handlers.has(incoming.method(), true) {
                    return Ok(hello);
                }
                // Its type has a version; which one it is was agreed on.
                Ok(merged(&hello, &unversioned(&said(&handlers.call(incoming).await?))))
            }
            "session/new" | "session/load" | "session/resume" | "session/fork" => open(handlers, incoming).await,
            "session/prompt" => {
                let (shared, serial) = (Arc::clone(&incoming.shared), incoming.serial());
                stepping(&shared, serial, handlers.call(incoming)).await
            }
            "session/close" => {
                // Its prompts were cancelled with the request.
                incoming.shared.idle(incoming.session().map_or("", |session| session)).await;
                if handlers.has(incoming.method(), true) {
                    handlers.call(incoming).await
                } else {
                    Ok("{}".to_owned())
                }
            }
            _ => handlers.call(incoming).await,
        }
    }

    fn report(&self, report: &Report<'_>) -> bool {
        self.agent.handlers.report(report)
    }

    fn traces(&self) -> bool {
        self.agent.handlers.traces()
    }
}
