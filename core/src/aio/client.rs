//! The client that a program makes: its name, what it lets agents do, and the agents that it connects to.

use std::borrow::Cow;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;

use super::builder::builder;
use super::client_session::ClientSession;
use super::drive::drive;
use super::error::{Error, Failure};
use super::handlers::{
    Advices, Failures, Handler, Handlers, Incoming, Kind, LateResponses, Report, Violations, Watching,
};
use super::host::Host;
use super::peer::AgentPeer;
use super::received::{Extension, OnNotification, OnRequest, Received, Reply, Typed};
use super::shared::Shared;
use super::transport::Transport;
use crate::connection::{Advice, Response, Violation};
use crate::schema::{v1, Family, Notification, Raw, Request, SentBy};
use crate::typed::{AgentSide, ClientSide};
use crate::Config;
use futures::future::{select, Either};

type Update = fn(v1::SessionNotification);

/// A client: what it lets agents do, and how it decides. Without handlers that is nothing at all: permission is refused.
///
/// What it can do is told to agents by its handlers: one of [`v1::ReadTextFileRequest`] says that files can be read, one
/// of [`v1::CreateTerminalRequest`] that there are terminals; [`capabilities`](Self::capabilities) adds the rest. Of two
/// handlers of one method, the later counts.
///
/// Handlers are asynchronous closures, and may borrow what they need: nothing is spawned.
pub struct Client<H = ()> {
    host: Host,
    capabilities: v1::ClientCapabilities<'static>,
    handlers: H,
}

impl Client {
    /// A client without handlers: the name and the version that agents are told.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Client {
            host: Host::new(name.into(), version.into(), Config::client()),
            capabilities: v1::ClientCapabilities::new(),
            handlers: (),
        }
    }
}

builder! {
    Client of ClientSide beside AgentSide;
    /// Requests that are served at the same time before reading stops, in place of
    /// [`Limits::pending`](crate::connection::Limits::pending).
    at_most
    /// The handler of another request, by the type of its params without a lifetime:
    /// `.on::<fn(v1::ReadTextFileRequest), _>(async |received| Ok(v1::ReadTextFileResponse::new("…").into()))`.
    on
}

impl<H: Handlers> Client<H> {
    /// What the client can do beyond what its handlers show.
    #[must_use]
    pub fn capabilities(mut self, capabilities: v1::ClientCapabilities<'static>) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Decides on tool calls: returns the id of an option, or `None` for no choice. When the turn is cancelled, the
    /// handler is dropped where it waits, and the answer has been given already.
    pub fn permission<F>(self, handler: F) -> Client<Handler<H, Permissions, F>>
    where
        F: AsyncFn(PermissionRequest) -> Result<Option<String>, Failure>,
    {
        self.with(|rest| Handler::new(rest, Permissions, handler))
    }

    /// Gets the updates that nobody else takes: those between turns, and those of turns that are only
    /// [waited for](super::PromptTurn::finish).
    pub fn on_update<F>(self, handler: F) -> Client<OnNotification<H, ClientSide, Update, F>>
    where
        F: AsyncFn(Received<ClientSide, Update>) -> Result<(), Failure>,
    {
        self.on_notification(handler)
    }

    /// Connects to an agent, does some work with it, and closes the connection. All of it is this future: the
    /// connection is driven while the work goes on, and dropping it ends both.
    ///
    /// # Errors
    /// That of the work, or of `initialize`.
    pub async fn run<F, R>(&self, transport: impl Transport, work: F) -> Result<R, Failure>
    where
        F: AsyncFnOnce(AgentPeer) -> Result<R, Failure>,
    {
        let shared = self.host.connection(&transport);
        let connecting = Connecting { shared: Arc::clone(&shared), hello: self.hello() };
        let serving = Serving(&self.handlers);
        let driving = pin!(drive(&shared, &serving, transport));
        let work = pin!(async { work(connecting.open().await?).await });
        match select(driving, work).await {
            Either::Left((_, work)) => work.await,
            Either::Right((result, driving)) => {
                shared.with(|state| {
                    state.connection.close();
                    state.kick();
                });
                // The work is done; how the transport ends changes nothing about it.
                let _ = driving.await;
                result
            }
        }
    }

    /// Connects to an agent: a handle to begin with, and the future that drives the connection, which has to be polled
    /// beside whatever uses the handle, or spawned. It ends when the agent has closed its side and the handlers have
    /// ended, or after [`AgentPeer::close`].
    pub fn connect<T: Transport>(self, transport: T) -> (Connecting, impl Future<Output = io::Result<()>>) {
        let shared = self.host.connection(&transport);
        let connecting = Connecting { shared: Arc::clone(&shared), hello: self.hello() };
        (connecting, async move { drive(&shared, &Serving(&self.handlers), transport).await })
    }

    fn with<N: Handlers>(self, add: impl FnOnce(H) -> N) -> Client<N> {
        Client { host: self.host, capabilities: self.capabilities, handlers: add(self.handlers) }
    }

    fn hello(&self) -> v1::InitializeRequest<'static> {
        let mut hello = v1::InitializeRequest::new(v1::ProtocolVersion(1));
        hello.client_info = Some(self.host.info.clone());
        let mut can = self.capabilities.clone();
        can.fs.read_text_file |= self.handlers.has("fs/read_text_file", true);
        can.fs.write_text_file |= self.handlers.has("fs/write_text_file", true);
        can.terminal |= self.handlers.has("terminal/create", true);
        hello.client_capabilities = can;
        hello
    }
}

/// A connection that is not open yet.
#[must_use = "the connection is opened by `open`"]
pub struct Connecting {
    shared: Arc<Shared>,
    hello: v1::InitializeRequest<'static>,
}

impl Connecting {
    /// Opens the connection with `initialize`, while something drives it.
    pub async fn open(self) -> Result<AgentPeer, Error> {
        let agent = AgentPeer::new(&self.shared);
        agent.call(&self.hello).await?;
        Ok(agent)
    }
}

/// A client's handlers, and behind them what every client does that was told nothing else.
struct Serving<'a, H>(&'a H);

impl<H: Handlers> Handlers for Serving<'_, H> {
    fn has(&self, method: &str, request: bool) -> bool {
        self.0.has(method, request)
    }

    async fn call(&self, incoming: Incoming) -> Result<String, Failure> {
        if incoming.method() == Permissions.method() && !self.0.has(incoming.method(), true) {
            let rejected = Permissions.argument(&incoming)?.reject();
            return Permissions.result(&incoming, rejected);
        }
        self.0.call(incoming).await
    }

    fn report(&self, report: &Report<'_>) {
        self.0.report(report);
    }
}

/// What an agent asks the user to allow.
#[derive(Debug, Clone)]
pub struct PermissionRequest {
    /// The session in which it asks.
    pub session: ClientSession,
    /// The tool call that waits for the answer.
    pub tool_call: v1::ToolCallUpdate<'static>,
    /// The answers to choose from.
    pub options: Vec<v1::PermissionOption<'static>>,
}

impl PermissionRequest {
    /// The id of the option that allows it: for this time if there is one, else for good.
    pub fn allow(&self) -> Option<String> {
        self.pick(&[v1::PermissionOptionKind::AllowOnce, v1::PermissionOptionKind::AllowAlways])
    }

    /// The id of the option that refuses it: for this time if there is one, else for good.
    pub fn reject(&self) -> Option<String> {
        self.pick(&[v1::PermissionOptionKind::RejectOnce, v1::PermissionOptionKind::RejectAlways])
    }

    fn pick(&self, kinds: &[v1::PermissionOptionKind<'_>]) -> Option<String> {
        let of_kind = |kind: &v1::PermissionOptionKind<'_>| self.options.iter().find(|option| option.kind == *kind);
        kinds.iter().find_map(of_kind).map(|option| option.option_id.to_string())
    }
}

/// Requests for permission.
pub struct Permissions;

impl Kind for Permissions {
    type Argument = PermissionRequest;
    type Answer = Option<String>;

    fn method(&self) -> &'static str {
        "session/request_permission"
    }

    fn argument(&self, incoming: &Incoming) -> Result<PermissionRequest, Failure> {
        let params: v1::RequestPermissionRequest<'static> = incoming.params()?;
        let session = ClientSession::of(incoming);
        Ok(PermissionRequest { session, tool_call: params.tool_call, options: params.options })
    }

    fn result(&self, _: &Incoming, chosen: Option<String>) -> Result<String, Failure> {
        use v1::RequestPermissionOutcome::{Cancelled, Selected};
        let outcome = chosen.map_or(Cancelled, |id| Selected(v1::SelectedPermissionOutcome::new(id)));
        Ok(crate::schema::write(&v1::RequestPermissionResponse::new(outcome))?)
    }
}
