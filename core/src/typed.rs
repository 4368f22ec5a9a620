//! A connection with the protocol's types: calls take structs, results are structs, and calling a method of the other
//! side is a compile error.
//!
//! ```
//! use libacp::schema::v1::{InitializeRequest, NewSessionRequest, ProtocolVersion};
//! use libacp::typed::Client;
//! use libacp::Event;
//!
//! # fn agent(_: &[u8]) -> &'static [u8] { b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1}}\n" }
//! let mut client = Client::default();
//! let hello = client.call(&InitializeRequest::new(ProtocolVersion(1)))?;
//! let answer = agent(client.transmit()); // over any transport
//! let written = client.transmit().len();
//! client.consume(written);
//! client.receive(answer);
//! while let Some(event) = client.poll_event() {
//!     if let Event::Response(response) = event {
//!         if hello.is_answered_by(&response) {
//!             let agent = hello.result(&response)?;
//!             println!("sessions can be loaded: {:?}", agent.agent_capabilities.load_session);
//!         }
//!     }
//! }
//! let session = client.call(&NewSessionRequest::new("/work", vec![]))?;
//! # let _ = session;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A client cannot send an agent's request:
//!
//! ```compile_fail
//! use libacp::schema::v1::ReadTextFileRequest;
//! libacp::typed::Client::default().call(&ReadTextFileRequest::new("s-1", "/work/a"));
//! ```
//!
//! For everything else, [`Typed`] dereferences to [`Connection`]. To read what the peer sends, use the enums in
//! [`crate::schema::v1`]: `ClientRequest`, `ClientNotification`, `AgentRequest`, `AgentNotification`.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use crate::connection::{MisuseKind, Outcome, Response};
use crate::jsonrpc::PeerError;
use crate::schema::{Message, Notification, Request, SentBy};
use crate::{Config, Connection, Id, Misuse, Role};

pub use crate::schema::{AgentSide, ClientSide};

/// A side of a connection, as a type.
pub trait Side: sealed::Sealed {
    /// The role of this side.
    const ROLE: Role;
}

impl Side for ClientSide {
    const ROLE: Role = Role::Client;
}

impl Side for AgentSide {
    const ROLE: Role = Role::Agent;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::ClientSide {}
    impl Sealed for super::AgentSide {}
}

/// A connection on which the host plays the client.
pub type Client = Typed<ClientSide>;

/// A connection on which the host plays the agent.
pub type Agent = Typed<AgentSide>;

/// A [`Connection`] whose role is known at compile time.
pub struct Typed<S> {
    connection: Connection,
    side: PhantomData<S>,
}

impl<S: Side> Typed<S> {
    /// A connection at its start. The role in the configuration is overwritten.
    pub fn new(mut config: Config) -> Self {
        config.role = S::ROLE;
        Typed { connection: Connection::new(config), side: PhantomData }
    }

    /// The connection without its types.
    pub fn into_inner(self) -> Connection {
        self.connection
    }

    /// Sends a request. For `initialize`, the version in the params is the one that is proposed.
    ///
    /// # Errors
    /// [`Misuse`] if the protocol does not allow the call now, or a value does not fit in a way that types cannot rule
    /// out: a relative path, an unknown session and so on.
    pub fn call<'a, R>(&mut self, params: &R) -> Result<Ticket<R::Owned>, Misuse>
    where
        R: Request<'a> + SentBy<S>,
        R::Owned: Request<'static>,
    {
        self.speaks(R::METHOD, R::TABLES.version)?;
        let id = self.connection.request(R::METHOD, &text(params)?)?;
        let serial = self.connection.pending_by_id(&id).map_or(0, |request| request.serial);
        Ok(Ticket { id, serial, request: PhantomData })
    }

    /// Sends a notification.
    ///
    /// # Errors
    /// As for [`call`](Self::call).
    pub fn tell<'a, N: Notification<'a> + SentBy<S>>(&mut self, params: &N) -> Result<(), Misuse> {
        self.speaks(N::METHOD, N::TABLES.version)?;
        self.connection.notify(N::METHOD, &text(params)?)
    }

    /// Answers one of the peer's requests, as in `agent.answer::<PromptRequest>(&request.id,
    /// &PromptResponse::new(reason))`.
    ///
    /// # Errors
    /// [`Misuse`] if no request of this method with this id is open, or the result does not fit.
    pub fn answer<'a, R: Request<'a>>(&mut self, id: &Id, result: &R::Result<'_>) -> Result<(), Misuse> {
        let asked = self.connection.unanswered_by_id(id).map(|request| &*request.method);
        if let Some(method) = asked.filter(|method| *method != R::METHOD) {
            let message = format!("the request {id} is {method:?}, which is not answered like {}", R::METHOD);
            return Err(Misuse::new(MisuseKind::Id, id!("RPC-15"), message));
        }
        self.connection.respond(id, &text(result)?)
    }

    /// INIT-08: refuses types of a version other than the agreed one.
    fn speaks(&self, method: &str, version: u16) -> Result<(), Misuse> {
        let agreed = self.connection.version().filter(|agreed| *agreed != version && method != "initialize");
        agreed.map_or(Ok(()), |agreed| {
            let message =
                format!("these params of {method} are version {version}'s, and version {agreed} was agreed on");
            Err(Misuse::new(MisuseKind::Method, id!("INIT-08"), message))
        })
    }
}

impl<S: Side> Default for Typed<S> {
    fn default() -> Self {
        Typed::new(Config::new(S::ROLE))
    }
}

impl<S> Deref for Typed<S> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl<S> DerefMut for Typed<S> {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

impl<S> fmt::Debug for Typed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.connection.fmt(f)
    }
}

/// A request that was sent. It recognizes its answer among the events and knows the type of the result.
pub struct Ticket<R> {
    id: Id,
    serial: u64,
    request: PhantomData<fn() -> R>,
}

impl<R: Request<'static>> Ticket<R> {
    /// The id of the request.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// The serial number of the request, unique on the connection.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// Whether a response is the end of this request.
    pub fn is_answered_by(&self, response: &Response) -> bool {
        self.serial == response.serial
    }

    /// The result, borrowed from the event.
    ///
    /// # Errors
    /// [`CallError`] if the request did not end with a result, or the response belongs to another request.
    pub fn result<'r>(&self, response: &'r Response) -> Result<R::Result<'r>, CallError> {
        if !self.is_answered_by(response) {
            return Err(CallError::Another);
        }
        match &response.outcome {
            Outcome::Result(_) => {}
            Outcome::Error(error) => return Err(CallError::Peer(error.clone())),
            Outcome::Invalid => return Err(CallError::Invalid),
            Outcome::Timeout => return Err(CallError::Timeout),
            Outcome::Cancelled => return Err(CallError::Cancelled),
            Outcome::Closed => return Err(CallError::Closed),
        }
        let json = response.outcome.result().unwrap_or("{}");
        let empty = <R::Result<'r> as Message<'r>>::NULL_IS_EMPTY && json == "null";
        Ok(crate::schema::read(if empty { "{}" } else { json })?)
    }
}

impl<R> fmt::Debug for Ticket<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket").field("id", &self.id).field("serial", &self.serial).finish()
    }
}

/// Why a request has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The peer answered with an error.
    #[error("the peer answered with error {}: {}", .0.code.0, .0.message)]
    Peer(PeerError),
    /// The peer's answer cannot be used. A violation event says why.
    #[error("the peer's answer cannot be used")]
    Invalid,
    /// The peer did not answer in time.
    #[error("no answer in time")]
    Timeout,
    /// The request was cancelled and not answered within the [grace period](crate::Config::cancel_grace).
    #[error("cancelled, and not answered in time")]
    Cancelled,
    /// The connection ended before the answer.
    #[error("the connection was over before the answer")]
    Closed,
    /// The response belongs to another request.
    #[error("this is the answer to another request")]
    Another,
    /// The result does not fit its type. This can happen only with a policy that delivers such results.
    #[error("the result cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

fn text<'a, M: Message<'a>>(value: &M) -> Result<String, Misuse> {
    crate::schema::write(value)
        .map_err(|error| Misuse::new(MisuseKind::Params, id!("RPC-21"), format!("not JSON: {error}")))
}
