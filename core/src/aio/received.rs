//! Arguments and results of handlers for typed messages.

use std::borrow::Cow;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use super::agent_session::AgentSession;
use super::client_session::ClientSession;
use super::error::Failure;
use super::handlers::{Handler, Incoming, Kind};
use super::message::{Message, LEFT};
use super::peer::{AgentPeer, ClientPeer, Peer};
use super::update::Update;
use crate::schema::{self, Answers, Family, Raw};
use crate::typed::{AgentSide, ClientSide};
use crate::Id;

/// A message of the peer: its params, to which this dereferences, and its sender.
///
/// `M` names the method by the type of its params without a lifetime, as in `fn(SetSessionModeRequest)`. `fn(Raw)`
/// stands for the messages of extensions, and `fn(Update)` for [updates](Update) that no stream takes.
pub struct Received<S, M: Family> {
    peer: Peer<S>,
    incoming: Incoming,
    params: M::Params<'static>,
}

impl<M: Family> Received<AgentSide, M> {
    /// The client that sent it.
    pub fn client(&self) -> &ClientPeer {
        &self.peer
    }

    /// The session that it is about or opens; `None` if it is not about a session. In a request to close or delete a
    /// session, the session need not be open.
    pub fn session(&self) -> Option<AgentSession> {
        let client = self.peer.clone();
        match &self.incoming.opening {
            Some(name) => Some(AgentSession::named(client, Arc::clone(name))),
            None => Some(AgentSession::new(client, self.incoming.session()?.clone())),
        }
    }
}

impl<M: Family> Received<ClientSide, M> {
    /// The agent that sent it.
    pub fn agent(&self) -> &AgentPeer {
        &self.peer
    }

    /// The session that it is about; `None` if it is not about a session.
    pub fn session(&self) -> Option<ClientSession> {
        ClientSession::of(&self.incoming.shared, self.incoming.session())
    }
}

impl<S, M: Family> Received<S, M> {
    /// The id of the request; `None` for a notification. Elicitations about the request refer to it.
    pub fn id(&self) -> Option<&Id> {
        self.incoming.id()
    }

    /// The params.
    pub fn into_params(self) -> M::Params<'static> {
        self.params
    }
}

impl<S, M: Family> Deref for Received<S, M> {
    type Target = M::Params<'static>;

    fn deref(&self) -> &Self::Target {
        &self.params
    }
}

/// The result of a request. Created from the type of the result, as in
/// `Ok(v1::ReadTextFileResponse::new(text).into())`, or with `Reply::default()` if it has no required fields.
pub struct Reply<M> {
    json: String,
    method: PhantomData<fn() -> M>,
}

impl<M> Reply<M> {
    pub(super) fn into_json(self) -> String {
        self.json
    }
}

impl<M> Default for Reply<M> {
    fn default() -> Self {
        Reply { json: "{}".to_owned(), method: PhantomData }
    }
}

impl<M, A: Answers<M>> From<A> for Reply<M> {
    fn from(answer: A) -> Self {
        // Types of the schema contain nothing that JSON cannot represent.
        Reply { json: crate::schema::write(&answer).unwrap_or_default(), method: PhantomData }
    }
}

impl Family for fn(Raw) {
    type Params<'a> = Raw<'a>;
}

impl Answers<fn(Raw)> for Raw<'_> {}

impl Family for fn(Update) {
    type Params<'a> = Update;
}

/// A handler for requests, followed by others.
pub(super) type OnRequest<H, S, M, F> = Handler<H, Typed<S, M, true>, F>;

/// A handler for notifications, followed by others.
pub(super) type OnNotification<H, S, M, F> = Handler<H, Typed<S, M, false>, F>;

/// Requests, or notifications, by the type of their params.
pub struct Typed<S, M, const REQUEST: bool>(PhantomData<fn() -> (S, M)>);

impl<S, M, const REQUEST: bool> Typed<S, M, REQUEST> {
    pub(super) const NEW: Self = Typed(PhantomData);
}

impl<S, M: Family> Kind for Typed<S, M, true>
where
    M::Params<'static>: schema::Request<'static>,
{
    type Argument = Received<S, M>;
    type Answer = Reply<M>;

    fn method(&self) -> &str {
        <M::Params<'static> as schema::Request<'static>>::METHOD
    }

    fn argument(&self, incoming: &Incoming) -> Result<Received<S, M>, Failure> {
        Ok(incoming.received(incoming.params()?))
    }

    fn result(&self, _: &Incoming, reply: Reply<M>) -> Result<String, Failure> {
        Ok(reply.json)
    }
}

impl<S, M: Family> Kind for Typed<S, M, false>
where
    M::Params<'static>: schema::Notification<'static>,
{
    type Argument = Received<S, M>;
    type Answer = ();

    const REQUEST: bool = false;

    fn method(&self) -> &str {
        <M::Params<'static> as schema::Notification<'static>>::METHOD
    }

    fn argument(&self, incoming: &Incoming) -> Result<Received<S, M>, Failure> {
        Ok(incoming.received(incoming.params()?))
    }

    fn result(&self, _: &Incoming, (): ()) -> Result<String, Failure> {
        Ok(String::new())
    }
}

/// Updates that no stream takes.
pub struct Untaken;

impl Kind for Untaken {
    type Argument = Received<ClientSide, fn(Update)>;
    type Answer = ();

    const REQUEST: bool = false;

    fn method(&self) -> &'static str {
        LEFT
    }

    fn argument(&self, incoming: &Incoming) -> Result<Self::Argument, Failure> {
        let Message::Left(update) = &incoming.message else { return Err(Failure::new("no update that was left")) };
        let version = incoming.shared.with(|state| state.connection().version());
        Ok(incoming.received(Update::read(version, update)?))
    }

    fn result(&self, _: &Incoming, (): ()) -> Result<String, Failure> {
        Ok(String::new())
    }
}

/// Requests, or notifications, of an extension.
pub struct Extension<S, const REQUEST: bool> {
    method: Cow<'static, str>,
    side: PhantomData<fn() -> S>,
}

impl<S, const REQUEST: bool> Extension<S, REQUEST> {
    pub(super) fn new(method: Cow<'static, str>) -> Self {
        Extension { method, side: PhantomData }
    }
}

impl<S> Kind for Extension<S, true> {
    type Argument = Received<S, fn(Raw)>;
    type Answer = Reply<fn(Raw)>;

    fn method(&self) -> &str {
        &self.method
    }

    fn argument(&self, incoming: &Incoming) -> Result<Self::Argument, Failure> {
        Ok(incoming.received(incoming.raw()?))
    }

    fn result(&self, _: &Incoming, reply: Self::Answer) -> Result<String, Failure> {
        Ok(reply.json)
    }
}

impl<S> Kind for Extension<S, false> {
    type Argument = Received<S, fn(Raw)>;
    type Answer = ();

    const REQUEST: bool = false;

    fn method(&self) -> &str {
        &self.method
    }

    fn argument(&self, incoming: &Incoming) -> Result<Self::Argument, Failure> {
        Ok(incoming.received(incoming.raw()?))
    }

    fn result(&self, _: &Incoming, (): ()) -> Result<String, Failure> {
        Ok(String::new())
    }
}

impl Incoming {
    fn received<S, M: Family>(&self, params: M::Params<'static>) -> Received<S, M> {
        Received { peer: Peer::new(&self.shared), incoming: self.clone(), params }
    }

    pub(super) fn params<P: schema::Message<'static>>(&self) -> Result<P, Failure> {
        Ok(P::detached(self.json())?)
    }

    fn raw(&self) -> Result<Raw<'static>, Failure> {
        Ok(Raw::from_string(self.json().to_owned())?)
    }
}
