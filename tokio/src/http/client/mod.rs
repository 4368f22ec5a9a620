//! The client: one `connect` for programs and addresses, and the pipe of a remote agent around [`libacp::http::Client`].
//!
//! `address` reads what an agent is reached by; `shared` is the state machine with what it asks for, `answers` what is said in
//! the agent's place; `exchange` makes one request, `socket` is a WebSocket, `stream` the bytes below with their TLS, and
//! `pipe` what hosts see.

mod address;
mod answers;
mod exchange;
mod pipe;
mod shared;
mod socket;
mod stream;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use libacp::aio::{AgentPeer, Client, Error, Failure, Handlers};
use libacp::http::{Action, ClientOptions, Transport};

use address::Address;
pub use address::BadTarget;
pub use pipe::RemotePipe;
pub use shared::Ended;
use shared::Shared;

use crate::{spawn, Spawn};

type Hook = Arc<dyn Fn(&Action) + Send + Sync>;
type Renewed = Pin<Box<dyn Future<Output = Option<String>> + Send>>;
type Renew = Arc<dyn Fn(u16, Option<String>) -> Renewed + Send + Sync>;

/// How long the first connection may take to be open, with all attempts.
const FIRST: Duration = Duration::from_secs(30);

/// Reads what an agent is reached by: an address that begins with `http://`, `https://`, `ws://` or `wss://`, or else a
/// command, of which words are cut as in a shell.
///
/// ```no_run
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), libacp::aio::Failure> {
/// let client = libacp::aio::Client::new("example", "1.0");
/// for target in ["my-agent --acp", "http://localhost:7332/acp", "wss://agents.example.com/acp"] {
///     libacp_tokio::http::connect(target)?.run(&client, async |agent| {
///         let session = agent.new_session("/work").await?;
///         session.prompt("Hello").finish().await?;
///         Ok(())
///     }).await?;
/// }
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`BadTarget`] if it is neither.
pub fn connect(target: &str) -> Result<Target, BadTarget> {
    if target.contains("://") && !target.trim_start().contains(char::is_whitespace) {
        return Remote::new(target).map(Box::new).map(Target::Remote);
    }
    let mut words = shell_words::split(target).map_err(|_| BadTarget("a quote is not closed"))?.into_iter();
    let program = words.next().ok_or(BadTarget("it is empty"))?;
    Ok(Target::Program(spawn(program).args(words)))
}

/// An agent that is a program, or one that is elsewhere.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Target {
    /// A program, which is started.
    Program(Spawn),
    /// An address.
    Remote(Box<Remote>),
}

impl Target {
    /// Connects to the agent, runs `work` with it, and ends the connection; see [`Spawn::run`] and [`Remote::run`].
    ///
    /// # Errors
    /// Those of either.
    pub async fn run<H, F, R>(&self, client: &Client<H>, work: F) -> Result<R, Failure>
    where
        H: Handlers,
        F: AsyncFnOnce(AgentPeer) -> Result<R, Failure>,
    {
        match self {
            Target::Program(spawn) => spawn.run(client, work).await,
            Target::Remote(remote) => remote.run(client, work).await,
        }
    }
}

/// An agent behind an address. A connection that is lost is opened again, with its sessions; see
/// [`on_event`](Self::on_event).
#[derive(Clone)]
#[must_use = "nothing is connected before `run` or `open`"]
pub struct Remote {
    address: Address,
    options: ClientOptions,
    headers: Vec<(String, String)>,
    http2: bool,
    first: Duration,
    replays: bool,
    hook: Option<Hook>,
    renew: Option<Renew>,
    #[cfg(feature = "tls")]
    tls: Option<Arc<tokio_rustls::rustls::ClientConfig>>,
}

impl Remote {
    /// The agent at an address such as `https://agents.example.com/acp`.
    ///
    /// # Errors
    /// [`BadTarget`] if it is no address, or has a scheme that is not served.
    pub fn new(address: &str) -> Result<Self, BadTarget> {
        let address = Address::read(address)?;
        let mut options = ClientOptions::default();
        address.target().clone_into(&mut options.target);
        address.host().clone_into(&mut options.host);
        options.secure = address.secure;
        options.transport = if address.websocket { Transport::WebSocket } else { Transport::Http };
        Ok(Remote {
            address,
            options,
            headers: Vec::new(),
            http2: false,
            first: FIRST,
            replays: false,
            hook: None,
            renew: None,
            #[cfg(feature = "tls")]
            tls: None,
        })
    }

    /// Adds a header to all requests. One whose name or value cannot be those of a header is an error of
    /// [`open`](Self::open).
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Sends a token with all requests: `Authorization: Bearer …`.
    pub fn token(self, token: &str) -> Self {
        self.header("authorization", format!("Bearer {token}"))
    }

    /// Changes settings: limits, times, what is tolerated. Where the agent is and what carries messages is the address's.
    pub fn options(mut self, change: impl FnOnce(&mut ClientOptions)) -> Self {
        change(&mut self.options);
        self
    }

    /// Speaks HTTP/2 without TLS, to servers that are known to understand it. With TLS, both sides agree on the version.
    pub fn http2(mut self) -> Self {
        self.http2 = true;
        self
    }

    /// Sets how long the first connection may take, with all attempts; 30 seconds by default. How long a connection that
    /// was lost is tried to be opened again is a setting of the [options](Self::options): 5 minutes.
    pub fn first(mut self, limit: Duration) -> Self {
        self.first = limit;
        self
    }

    /// Also hands over the history that an agent tells again when a session is opened again after its connection was lost.
    /// By default it is left out, because it was told before.
    pub fn replays(mut self) -> Self {
        self.replays = true;
        self
    }

    /// Sets a function that is called with what happens to the connection: [`Action::Connected`], [`Action::Lost`],
    /// [`Action::Retrying`], [`Action::Attached`], [`Action::Silent`] and the others that are nothing to be done.
    pub fn on_event(mut self, hook: impl Fn(&Action) + Send + Sync + 'static) -> Self {
        self.hook = Some(Arc::new(hook));
        self
    }

    /// Sets what is asked for another value of `Authorization` when the server wants one: it gets the status and
    /// `WWW-Authenticate`. Without it, or if it returns nothing, the connection ends.
    pub fn renew<F>(mut self, renew: impl Fn(u16, Option<String>) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Option<String>> + Send + 'static,
    {
        self.renew = Some(Arc::new(move |status, challenge| Box::pin(renew(status, challenge))));
        self
    }

    /// Sets what decides whom to trust, and by which certificate this side is known, in place of the system's roots.
    /// ALPN is set by the client.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, config: tokio_rustls::rustls::ClientConfig) -> Self {
        self.tls = Some(Arc::new(config));
        self
    }

    /// The pipe to the agent, as a transport for [`libacp_tokio::run`](crate::run) and [`libacp_tokio::connect`](crate::connect),
    /// or for messages that are written by hand. The connection is opened by the first message, which is `initialize`. Has
    /// to be called in a runtime of tokio.
    ///
    /// # Errors
    /// A header that is none; an address with TLS without the feature `tls`; roots that cannot be read.
    pub fn open(&self) -> std::io::Result<RemotePipe> {
        Ok(RemotePipe::new(Shared::new(self)?))
    }

    /// Connects to the agent, runs `work` with it, and ends the connection.
    ///
    /// # Errors
    /// The error of `initialize` or of `work`; [`Ended`] if `work` failed because the connection had ended.
    pub async fn run<H, F, R>(&self, client: &Client<H>, work: F) -> Result<R, Failure>
    where
        H: Handlers,
        F: AsyncFnOnce(AgentPeer) -> Result<R, Failure>,
    {
        let pipe = self.open()?;
        let shared = Arc::clone(pipe.shared());
        let result = crate::connection::run(client, pipe, work).await;
        shared.done().await;
        result.map_err(|failure| {
            let closed = matches!(failure.downcast_ref::<Error>(), Some(Error::Closed { .. }));
            shared.ended().filter(|_| closed).map_or(failure, Into::into)
        })
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers and queries may be secrets.
        f.debug_struct("Remote").field("host", &self.address.host()).finish_non_exhaustive()
    }
}
