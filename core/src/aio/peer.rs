//! The other side of a connection: calls to it, and its name and capabilities.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;

use super::call::{raw, result, Asking, Call, Tell};
use super::kept::Kept;
use super::shared::Shared;
use crate::schema::{self, v1, Message, Raw, SentBy};
use crate::typed::{AgentSide, ClientSide};
use crate::Misuse;

/// The other side of a connection, as side `S` sees it. Clones are the same peer, and can be moved to other tasks and
/// threads.
pub struct Peer<S> {
    pub(super) shared: Arc<Shared>,
    side: PhantomData<fn() -> S>,
}

/// The client, as its agent sees it.
pub type ClientPeer = Peer<AgentSide>;

/// The agent, as its client sees it.
pub type AgentPeer = Peer<ClientSide>;

/// The result of a request.
type Answer<R> = <<R as schema::IntoOwned>::Owned as schema::Request<'static>>::Result<'static>;

impl<S> Peer<S> {
    pub(super) fn new(shared: &Arc<Shared>) -> Self {
        Peer { shared: Arc::clone(shared), side: PhantomData }
    }

    /// Sends a request. Requests that only the other side sends do not compile.
    pub fn call<'a, R>(&self, request: &R) -> Call<Answer<R>>
    where
        R: schema::Request<'a> + SentBy<S>,
        R::Owned: schema::Request<'static>,
    {
        Call::new(Asking::new(&self.shared, request), result)
    }

    /// Sends a notification.
    pub fn tell<'a, N: schema::Notification<'a> + SentBy<S>>(&self, notification: &N) -> Tell {
        self.notify(N::METHOD, notification)
    }

    /// Sends a request with params of any type, for methods of extensions.
    pub fn request(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: &(impl Serialize + ?Sized),
    ) -> Call<Raw<'static>> {
        Call::new(Asking::of(&self.shared, method.into(), params, None), raw)
    }

    /// Sends a notification with params of any type, for methods of extensions.
    pub fn notify(&self, method: impl Into<Cow<'static, str>>, params: &(impl Serialize + ?Sized)) -> Tell {
        Tell::new(&self.shared, method.into(), serde_json::to_string(params), None)
    }

    /// The version of the protocol that was agreed on; `None` before `initialize`.
    pub fn version(&self) -> Option<u16> {
        self.shared.with(|state| state.connection().version())
    }

    /// Whether a method can be sent now, as far as the version, the phase and the capabilities go. It is named as in version
    /// 1 in all versions; see [`Host::can`](crate::host::Host::can).
    pub fn can(&self, method: &str) -> bool {
        self.why_not(method).is_none()
    }

    /// Why a method cannot be sent now; `None` if it can.
    pub fn why_not(&self, method: &str) -> Option<Misuse> {
        self.shared.with(|state| state.host.why_not(method))
    }

    /// What the peer advertises for one extension in its capabilities, as JSON text.
    pub fn extension(&self, name: &str) -> Option<String> {
        self.shared.with(|state| state.connection().peer_extension(name).map(str::to_owned))
    }

    /// Whether the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.shared.with(|state| state.end.is_some())
    }

    /// The state of a session as JSON text; see [`Session::snapshot`](crate::connection::Session::snapshot).
    pub(super) fn snapshot(&self, session: &str) -> Option<String> {
        self.shared.with(|state| state.connection().session(session).map(crate::connection::Session::snapshot))
    }

    /// Whether a session is open.
    pub(super) fn knows(&self, session: &str) -> bool {
        self.shared.with(|state| state.end.is_none() && state.connection().session(session).is_some())
    }

    /// Reads what is stored with a session.
    pub(super) fn kept<T>(&self, session: &str, look: impl FnOnce(&Kept) -> T) -> Option<T> {
        self.shared.with(|state| state.kept.get(session).map(look))
    }

    pub(super) fn keep(&self, session: &Arc<str>, change: impl FnOnce(&mut Kept)) {
        self.shared.with(|state| state.keep(session, change));
    }

    pub(super) fn roots(&self, session: &str) -> Vec<String> {
        self.shared.with(|state| {
            let session = state.connection().session(session);
            session.map_or_else(Vec::new, |session| session.roots().map(str::to_owned).collect())
        })
    }

    fn hello<T: Message<'static>>(&self) -> Option<T> {
        // It was checked when it arrived.
        self.shared.with(|state| T::detached(state.hello.as_deref()?).ok())
    }
}

impl ClientPeer {
    /// The capabilities that the client advertised.
    pub fn capabilities(&self) -> v1::ClientCapabilities<'static> {
        self.greeting().map(|hello| hello.client_capabilities).unwrap_or_default()
    }

    /// The name and version of the client, if it gave them.
    pub fn info(&self) -> Option<v1::Implementation<'static>> {
        self.greeting()?.client_info
    }

    /// The client's `initialize` request, once it has arrived, in the words of version 1.
    pub fn greeting(&self) -> Option<v1::InitializeRequest<'static>> {
        self.hello()
    }
}

impl AgentPeer {
    /// The capabilities that the agent advertised.
    pub fn capabilities(&self) -> v1::AgentCapabilities<'static> {
        self.greeting().map(|hello| hello.agent_capabilities).unwrap_or_default()
    }

    /// The name and version of the agent, if it gave them.
    pub fn info(&self) -> Option<v1::Implementation<'static>> {
        self.greeting()?.agent_info
    }

    /// The agent's response to `initialize`, in the words of version 1.
    pub fn greeting(&self) -> Option<v1::InitializeResponse<'static>> {
        self.hello()
    }

    /// The agent's authentication methods.
    pub fn auth_methods(&self) -> Vec<v1::AuthMethod<'static>> {
        self.greeting().map_or_else(Vec::new, |hello| hello.auth_methods)
    }

    /// Logs in with one of the [`auth_methods`](Self::auth_methods).
    pub fn authenticate(&self, method_id: &str) -> Call<()> {
        self.call(&v1::AuthenticateRequest::new(method_id)).done()
    }

    /// Logs out, if the agent supports that.
    pub fn logout(&self) -> Call<()> {
        self.call(&v1::LogoutRequest::default()).done()
    }

    /// Deletes a session of the agent, if it supports that.
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
