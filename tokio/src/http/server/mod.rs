//! The server: a tower service around [`libacp::http::Server`], and what runs it on a listener.
//!
//! Each connection of a client has an agent, which sees a [`Pipe`]. `shared` is the state machine with all that waits for
//! it; `exchange` answers one request, `socket` serves one WebSocket, `child` is an agent that is a program, `listen` takes
//! connections from a listener.

mod child;
mod exchange;
mod listen;
mod notice;
mod pipe;
mod shared;
mod socket;

use std::convert::Infallible;
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Buf;
use http_body::Body;
use libacp::http::ServerOptions;
use tower_service::Service;

pub use exchange::ResponseBody;
pub use listen::{listen, serve};
pub use notice::Notice;
pub use pipe::Pipe;
use shared::{Owner, Shared};

use crate::Spawn;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Serves agents over HTTP and WebSocket: a [`tower_service::Service`] for requests with any body. [`serve`] runs it on a
/// listener. In axum it is a route:
///
/// ```ignore
/// let app = axum::Router::new().route_service("/acp", service);
/// axum::serve(listener, app).await?;
/// ```
///
/// All clones serve the same connections. When the last one is dropped, these end.
#[derive(Clone)]
pub struct AgentService {
    owner: Arc<Owner>,
}

impl AgentService {
    /// A service that calls `start` for each connection of a client. The future that it returns is the agent's; it is
    /// spawned, and its end is the end of the connection. Has to be used in a runtime of tokio.
    pub fn new<F, A>(options: ServerOptions, start: F) -> Self
    where
        F: Fn(Pipe) -> A + Send + Sync + 'static,
        A: Future<Output = io::Result<()>> + Send + 'static,
    {
        Self::with(options, start, |_| {})
    }

    /// A service that starts a program for each connection and passes messages through, one per line. If the program ends
    /// too early, calls that are open are answered with an error that has its exit code and what it said last.
    pub fn spawn(options: ServerOptions, agent: Spawn) -> Self {
        Self::spawn_with(options, agent, |_| {})
    }

    /// As [`new`](Self::new), with a function that is told what happens.
    pub fn with<F, A>(options: ServerOptions, start: F, hook: impl Fn(&Notice) + Send + Sync + 'static) -> Self
    where
        F: Fn(Pipe) -> A + Send + Sync + 'static,
        A: Future<Output = io::Result<()>> + Send + 'static,
    {
        let begin = move |pipe: Pipe| {
            let agent = start(pipe);
            // How a transport has failed is nothing that the connection does not know.
            let agent: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move { drop(agent.await) });
            agent
        };
        AgentService { owner: Arc::new(Owner(Shared::new(options, Box::new(begin), Box::new(hook)))) }
    }

    /// As [`spawn`](Self::spawn), with a function that is told what happens.
    pub fn spawn_with(options: ServerOptions, agent: Spawn, hook: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        let agent = Arc::new(agent);
        let start = move |pipe| {
            let agent = Arc::clone(&agent);
            async move {
                child::relay(&agent, &pipe).await;
                Ok(())
            }
        };
        Self::with(options, start, hook)
    }

    /// The number of open connections.
    pub fn connections(&self) -> usize {
        self.shared().with(|state| state.server.connections())
    }

    /// Ends all connections, refuses new ones, and waits until the agents have ended. [`serve`] ends as well.
    pub async fn close(&self) {
        self.shared().close_all();
        self.shared().ended().await;
    }

    fn shared(&self) -> &Arc<Shared> {
        &self.owner.0
    }
}

impl fmt::Debug for AgentService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AgentService").field("connections", &self.connections()).finish_non_exhaustive()
    }
}

impl<B> Service<http::Request<B>> for AgentService
where
    B: Body + Send + 'static,
    B::Data: Buf + Send,
    B::Error: Into<BoxError>,
{
    type Response = http::Response<ResponseBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let shared = Arc::clone(self.shared());
        Box::pin(async move { Ok(exchange::answer(shared, request).await) })
    }
}
