//! Building a client: its name, its capabilities, its handlers, and connecting to agents.

use std::borrow::Cow;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use super::builder::builder;
use super::call::{Asking, Call};
use super::client_session::ClientSession;
use super::drive::drive;
use super::error::{Error, Failure};
use super::handlers::{
    Advices, ClientSessions, Decisions, Failures, Handler, Handlers, Incoming, Kind, LateResponses, Report, Traces,
    Violations, Watching,
};
use super::inbound::End;
use super::local::Local;
use super::peer::AgentPeer;
use super::permission::{Choice, PermissionRequest, Permissions};
use super::received::{Extension, OnNotification, OnRequest, Received, Reply, Typed, Untaken};
use super::setup::{Setup, FIRST};
use super::shared::Shared;
use super::told::{said, unversioned};
use super::trace::Traced;
use super::transport::Transport;
use super::unserved;
use super::update::Update;
use crate::connection::{Advice, Response, Versions, Violation};
use crate::host::{Action, Decision, PermissionPolicy};
use crate::schema::{v1, Family, IntoOwned, Notification, Raw, Request, SentBy};
use crate::typed::{AgentSide, ClientSide};
use crate::Config;
use futures::future::{select, Either};

/// A client: handlers for the requests of agents. Without any, it has no capabilities, and permission requests are
/// rejected.
///
/// Its handlers determine the capabilities that it advertises: one for [`v1::ReadTextFileRequest`] advertises reading
/// files, and those for all five methods of terminals advertise terminals. [`capabilities`](Self::capabilities) adds
/// the others.
///
/// Handlers are asynchronous closures and may borrow, because nothing is spawned. `H` is the list of their types, which
/// only the compiler can write out: functions take `&Client<impl Handlers>`; a struct is generic or has a
/// [`Client<Local>`](Self::local).
pub struct Client<H = ()> {
    setup: Setup,
    capabilities: v1::ClientCapabilities<'static>,
    meta: Option<Raw<'static>>,
    policy: Option<Arc<Mutex<PermissionPolicy>>>,
    handlers: H,
}

impl Client {
    /// A client without handlers, with its name and version for `clientInfo`.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Client {
            setup: Setup::new(name.into(), version.into(), Config::client()),
            capabilities: v1::ClientCapabilities::new(),
            meta: None,
            policy: None,
            handlers: (),
        }
    }
}

builder! {
    Client of ClientSide beside AgentSide;
    /// Sets how many requests are served at the same time before reading stops, in place of
    /// [`Limits::pending`](crate::connection::Limits::pending).
    at_most
    /// Sets the handler for another request, by the type of its params without a lifetime:
    /// `.on::<fn(v1::ReadTextFileRequest), _>(async |received| Ok(v1::ReadTextFileResponse::new("…").into()))`.
    on
    ClientSession through ClientSessions
}

impl<H: Handlers> Client<H> {
    /// Adds capabilities that no handler implies. A capability for a request needs a handler for that request.
    #[must_use]
    pub fn capabilities(mut self, capabilities: v1::ClientCapabilities<'static>) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Sets the `_meta` of `initialize`.
    #[must_use]
    pub fn meta(mut self, meta: Raw<'static>) -> Self {
        self.meta = Some(meta);
        self
    }

    /// Keeps each session as a conversation, which [`ClientSession::view`] shows.
    #[must_use]
    pub fn views(mut self) -> Self {
        self.setup.config.view = true;
        self
    }

    /// Sets the policy for permission requests: it answers those that a rule of it allows or denies, and the handler of
    /// [`permission`](Self::permission) gets the others. Keeps [`views`](Self::views), which say what a request is about.
    #[must_use]
    pub fn permission_policy(mut self, policy: PermissionPolicy) -> Self {
        self.policy = Some(Arc::new(Mutex::new(policy)));
        self.views()
    }

    /// Sets a function that is called with each decision of the [`permission_policy`](Self::permission_policy), also with
    /// those that leave a request to the handler.
    pub fn on_decision<F: Fn(&Decision)>(self, hook: F) -> Client<Watching<H, Decisions<F>>> {
        self.with(|rest| Watching::new(rest, Decisions(hook)))
    }

    /// Sets the handler for permission requests. It returns the id of an option, `None` for no choice, or a complete
    /// [response](v1::RequestPermissionResponse). It starts when the updates before the request were taken from the
    /// stream of the turn. When the turn is cancelled, the request is answered automatically and the handler is dropped
    /// at its current await point.
    pub fn permission<F, A>(self, handler: F) -> Client<Handler<H, Permissions<A>, F>>
    where
        F: AsyncFn(PermissionRequest) -> Result<A, Failure>,
        A: Into<Choice>,
    {
        self.with(|rest| Handler::new(rest, Permissions::NEW, handler))
    }

    /// Sets the handler for updates that no stream takes: those between turns, and those of turns that are only [waited
    /// for](super::PromptTurn::finish). It gets them as [`Update`]. To see every update, set a handler for the notification,
    /// with the params of the version: `.on_notification::<fn(v1::SessionNotification), _>(…)`.
    pub fn on_update<F>(self, handler: F) -> Client<Handler<H, Untaken, F>>
    where
        F: AsyncFn(Received<ClientSide, fn(Update)>) -> Result<(), Failure>,
    {
        self.with(|rest| Handler::new(rest, Untaken, handler))
    }

    /// The same client with a type that can be written down, confined to one thread; see [`Local`] and
    /// [`Agent::local`](super::Agent::local). More handlers can be added to it.
    #[must_use]
    pub fn local(self) -> Client<Local>
    where
        H: 'static,
    {
        self.with(Local::new)
    }

    /// Connects to an agent, runs `work` with it, and closes the connection. The returned future does everything: it
    /// drives the connection while `work` runs, and dropping it ends both.
    ///
    /// # Errors
    /// The error of `work` or of `initialize`. An [`io::Error`] with [`InvalidInput`](io::ErrorKind::InvalidInput),
    /// before anything is sent, if the client has a handler or an option that cannot work; see
    /// [`Agent::serve`](super::Agent::serve).
    pub async fn run<F, R>(&self, mut transport: impl Transport, work: F) -> Result<R, Failure>
    where
        F: AsyncFnOnce(AgentPeer) -> Result<R, Failure>,
    {
        let offered = unserved::check(&self.setup, &self.handlers, &mut transport, &self.capabilities)?;
        let shared = self.setup.connection(&self.handlers, &transport);
        let connecting = Connecting { shared: Arc::clone(&shared), hello: self.hello(&offered) };
        let serving = self.serving();
        let driving = pin!(drive(&shared, &serving, transport));
        let work = pin!(async { work(connecting.open().await?).await });
        match select(driving, work).await {
            Either::Left((_, work)) => work.await,
            Either::Right((result, driving)) => {
                shared.with(|state| {
                    state.host.close();
                    state.kick();
                });
                // The work is done, so an error of the transport no longer matters.
                let _ = driving.await;
                result
            }
        }
    }

    /// Connects to an agent. Returns a handle to open the connection with, and the future that drives the connection,
    /// which has to be polled concurrently or spawned. The future ends when the agent has closed its side and the
    /// handlers have finished, or after [`AgentPeer::close`]. It ends at once, with the reason, if the client has a
    /// handler or an option that cannot work.
    pub fn connect<T: Transport>(self, mut transport: T) -> (Connecting, impl Future<Output = io::Result<()>>) {
        let shared = self.setup.connection(&self.handlers, &transport);
        let checked = unserved::check(&self.setup, &self.handlers, &mut transport, &self.capabilities);
        let offered = checked.as_deref().unwrap_or_default();
        let connecting = Connecting { shared: Arc::clone(&shared), hello: self.hello(offered) };
        (connecting, async move {
            if let Err(refused) = checked {
                // Wakes whoever waits for the connection to open.
                drop(End(&shared));
                return Err(refused);
            }
            drive(&shared, &self.serving(), transport).await
        })
    }

    fn with<N: Handlers>(self, add: impl FnOnce(H) -> N) -> Client<N> {
        let Client { setup, capabilities, meta, policy, handlers } = self;
        Client { setup, capabilities, meta, policy, handlers: add(handlers) }
    }

    fn serving(&self) -> Serving<'_, H> {
        Serving { handlers: &self.handlers, policy: self.policy.as_deref() }
    }

    fn hello(&self, offered: &str) -> v1::InitializeRequest<'static> {
        let mut hello = v1::InitializeRequest::new(FIRST);
        hello.client_info = Some(self.setup.info.clone());
        let offered = crate::schema::read::<v1::ClientCapabilities<'_>>(offered).ok().map(IntoOwned::into_owned);
        hello.client_capabilities = offered.unwrap_or_else(|| self.capabilities.clone());
        hello.meta.clone_from(&self.meta);
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
    /// Opens the connection with `initialize`. The future of [`Client::connect`] has to be polled meanwhile.
    ///
    /// # Errors
    /// [`Error`] if `initialize` fails.
    pub async fn open(self) -> Result<AgentPeer, Error> {
        let agent = AgentPeer::new(&self.shared);
        let hello = crate::schema::write(&self.hello).map(|hello| unversioned(&said(&hello)));
        let asking = Asking::written(&self.shared, "initialize".into(), hello, None);
        Call::new(asking, super::call::result::<v1::InitializeResponse<'static>>).await?;
        Ok(agent)
    }
}

/// A client's handlers, and what answers requests for permission before them and without them.
struct Serving<'a, H> {
    handlers: &'a H,
    policy: Option<&'a Mutex<PermissionPolicy>>,
}

impl<H: Handlers> Serving<'_, H> {
    /// The choice of the policy; `None` where it leaves that to the user.
    fn decided(&self, incoming: &Incoming) -> Option<Choice> {
        let mut policy = self.policy?.lock().unwrap_or_else(PoisonError::into_inner);
        let decision = incoming.shared.with(|state| policy.decide(state.connection(), incoming.json()));
        drop(policy);
        self.handlers.report(&Report::Decision(&decision));
        (decision.action != Action::Ask).then(|| decision.option.into())
    }
}

impl<H: Handlers> Handlers for Serving<'_, H> {
    fn has(&self, method: &str, request: bool) -> bool {
        self.handlers.has(method, request)
    }

    fn each(&self, visit: &mut dyn FnMut(&str, bool)) {
        self.handlers.each(visit);
    }

    async fn call(&self, incoming: Incoming) -> Result<String, Failure> {
        if incoming.method() == "session/request_permission" {
            if let Some(choice) = self.decided(&incoming) {
                return Permissions::NEW.result(&incoming, choice);
            }
            if !self.handlers.has(incoming.method(), true) {
                let rejected = Permissions::<Choice>::NEW.argument(&incoming)?.reject();
                return Permissions::NEW.result(&incoming, rejected);
            }
        }
        self.handlers.call(incoming).await
    }

    fn report(&self, report: &Report<'_>) -> bool {
        self.handlers.report(report)
    }

    fn traces(&self) -> bool {
        self.handlers.traces()
    }
}
