//! The other side of a connection, whichever it is: what can be asked of it, and what is known of it.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;

use super::call::{raw, result, Asking, Call, Tell};
use super::opening::Kept;
use super::shared::Shared;
use crate::schema::{self, v1, Message, Raw, SentBy};
use crate::typed::{AgentSide, ClientSide};
use crate::Misuse;

/// The other side of the connection of a side. Copies of it are the same peer, and may go to other tasks and threads.
pub struct Peer<S> {
    pub(super) shared: Arc<Shared>,
    side: PhantomData<fn() -> S>,
}

/// The client, as its agent sees it.
pub type ClientPeer = Peer<AgentSide>;

/// The agent, as its client sees it.
pub type AgentPeer = Peer<ClientSide>;

/// What a request is answered with.
type Answer<R> = <<R as schema::IntoOwned>::Owned as schema::Request<'static>>::Result<'static>;

impl<S> Peer<S> {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Peer { shared: Arc::clone(shared), side: PhantomData }
    }

    /// Asks the peer. What the wrong side would ask does not compile.
    pub fn call<'a, R>(&self, request: &R) -> Call<Answer<R>>
    where
        R: schema::Request<'a> + SentBy<S>,
        R::Owned: schema::Request<'static>,
    {
        Call::new(Asking::new(&self.shared, request), result)
    }

    /// Tells the peer something.
    pub fn tell<'a, N: schema::Notification<'a> + SentBy<S>>(&self, notification: &N) -> Tell {
        self.notify(N::METHOD, notification)
    }

    /// Asks the peer with params of any type, as for a method of an extension.
    pub fn request(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &(impl Serialize + ?Sized),
    ) -> Call<Raw<'static>> {
        Call::new(Asking::of(&self.shared, method.into(), params, None), raw)
    }

    /// Tells the peer something with params of any type, as for a method of an extension.
    pub fn notify(&self, method: impl Into<Cow<'static, str>>, params: &(impl Serialize + ?Sized)) -> Tell {
        Tell::new(&self.shared, method.into(), serde_json::to_string(params), None)
    }

    /// Whether a method can be sent now, as far as version, phase and capabilities go; see
    /// [`Connection::can`](crate::Connection::can).
    pub fn can(&self, method: &str) -> bool {
        self.why_not(method).is_none()
    }

    /// Why a method cannot be sent now; `None` when it can.
    pub fn why_not(&self, method: &str) -> Option<Misuse> {
        self.shared.with(|state| state.connection.why_not(method))
    }

    /// What the peer says about one extension in its capabilities, as JSON text.
    pub fn extension(&self, name: &str) -> Option<String> {
        self.shared.with(|state| state.connection.peer_extension(name).map(str::to_owned))
    }

    /// Whether the connection is over.
    pub fn is_closed(&self) -> bool {
        self.shared.with(|state| state.end.is_some())
    }

    /// What a session has told, as JSON text; see [`Session::snapshot`](crate::connection::Session::snapshot).
    pub(super) fn snapshot(&self, session: &str) -> Option<String> {
        self.shared.with(|state| state.connection.session(session).map(crate::connection::Session::snapshot))
    }

    /// Whether a session is open.
    pub(super) fn knows(&self, session: &str) -> bool {
        self.shared.with(|state| state.end.is_none() && state.connection.session(session).is_some())
    }

    /// What is kept with a session.
    pub(super) fn kept<T>(&self, session: &str, look: impl FnOnce(&Kept) -> T) -> Option<T> {
        self.shared.with(|state| state.kept.get(session).map(look))
    }

    pub(super) fn keep(&self, session: &Arc<str>, change: impl FnOnce(&mut Kept)) {
        self.shared.with(|state| state.keep(session, change));
    }

    pub(super) fn roots(&self, session: &str) -> Vec<String> {
        self.shared.with(|state| {
            let session = state.connection.session(session);
            session.map_or_else(Vec::new, |session| session.roots().map(str::to_owned).collect())
        })
    }

    pub(super) fn read_capabilities<T: Message<'static> + Default>(&self) -> T {
        // They have been checked when they came.
        self.shared.with(|state| T::detached(state.connection.capabilities())).unwrap_or_default()
    }

    fn hello<T: Message<'static>>(&self) -> Option<T> {
        self.shared.with(|state| T::detached(state.connection.peer_info())).ok()
    }
}

impl ClientPeer {
    /// What the client said it can do.
    pub fn capabilities(&self) -> v1::ClientCapabilities<'static> {
        self.read_capabilities()
    }

    /// Name and version of the client, as far as it told.
    pub fn info(&self) -> Option<v1::Implementation<'static>> {
        self.greeting()?.client_info
    }

    /// All that the client said of itself in `initialize`, once it has.
    pub fn greeting(&self) -> Option<v1::InitializeRequest<'static>> {
        self.hello()
    }
}

impl AgentPeer {
    /// What the agent said it can do.
    pub fn capabilities(&self) -> v1::AgentCapabilities<'static> {
        self.read_capabilities()
    }

    /// Name and version of the agent, as far as it told.
    pub fn info(&self) -> Option<v1::Implementation<'static>> {
        self.greeting()?.agent_info
    }

    /// All that the agent said of itself in its answer to `initialize`.
    pub fn greeting(&self) -> Option<v1::InitializeResponse<'static>> {
        self.hello()
    }

    /// The ways to log in that the agent offers.
    pub fn auth_methods(&self) -> Vec<v1::AuthMethod<'static>> {
        self.greeting().map_or_else(Vec::new, |hello| hello.auth_methods)
    }

    /// Logs in, in one of the ways of [`auth_methods`](Self::auth_methods).
    pub fn authenticate(&self, method_id: &str) -> Call<()> {
        self.call(&v1::AuthenticateRequest::new(method_id)).done()
    }

    /// Ends the login, for agents that can.
    pub fn logout(&self) -> Call<()> {
        self.call(&v1::LogoutRequest::default()).done()
    }

    /// Has the agent delete a session, for agents that can.
    pub fn delete_session(&self, id: &str) -> Call<()> {
        self.call(&v1::DeleteSessionRequest::new(id)).done()
    }
}

impl<S> Clone for Peer<S> {
    fn clone(&self) -> Self {
        Self::new(&self.shared)
    }
}

impl<S> fmt::Debug for Peer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").finish_non_exhaustive()
    }
}
