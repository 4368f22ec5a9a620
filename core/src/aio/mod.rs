//! Agents and clients as futures, on any executor: the connection, and everything around it that every host would
//! otherwise have to write. Each connection is a single future.
//!
//! An agent, on the streams of any runtime:
//!
//! ```
//! use libacp::aio::{streams, Agent};
//! use libacp::schema::v1::ToolKind;
//!
//! # async fn run(input: impl futures::AsyncRead + Unpin, output: impl futures::AsyncWrite + Unpin) -> std::io::Result<()> {
//! let agent = Agent::new("shouter", "1.0").prompt(async |turn| {
//!     let mut call = turn.tool_call("Think about it", ToolKind::Think).await?;
//!     call.text(&turn.text().to_uppercase()).await?;
//!     call.complete().await?;
//!     turn.message(turn.text().to_uppercase()).await?;
//!     Ok(())
//! });
//! agent.serve(streams(input, output)).await
//! # }
//! ```
//!
//! A complete program, with an agent and a client on one thread and only the crate `futures`:
//!
//! ```
//! use futures::executor::block_on;
//! use libacp::aio::{messages, Agent, Client};
//! # use futures::StreamExt;
//!
//! let (to_agent, from_client) = futures::channel::mpsc::channel::<String>(8);
//! let (to_client, from_agent) = futures::channel::mpsc::channel::<String>(8);
//! let from_client = from_client.map(Ok::<_, std::io::Error>);
//! let from_agent = from_agent.map(Ok::<_, std::io::Error>);
//!
//! let agent = Agent::new("echo", "1.0").prompt(async |turn| {
//!     turn.message(format!("You said: {}", turn.text())).await?;
//!     Ok(())
//! });
//! let client = Client::new("docs", "1.0");
//! let said = client.run(messages(from_agent, to_agent), async |agent| {
//!     let session = agent.new_session("/work").await?;
//!     let mut turn = session.prompt("Hello");
//!     let mut said = String::new();
//!     while let Some(update) = turn.update().await? {
//!         if let Some(text) = update.text() {
//!             said += text;
//!         }
//!     }
//!     println!("{:?}", turn.stop_reason());
//!     Ok(said)
//! });
//! let (served, said) = block_on(futures::future::join(agent.serve(messages(from_client, to_client)), said));
//! served?;
//! assert_eq!(said.unwrap(), "You said: Hello");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Versions
//!
//! Agents and clients speak version 1 of the protocol, unless [`Agent::versions`] or [`Client::versions`] says otherwise;
//! of several versions, `initialize` finds the one that both sides have. An agent's handlers and a client's calls are the
//! same in all versions: they are those of version 1, and a [`Host`](crate::host::Host) says them in the version that was
//! agreed. So a turn of version 2 ends with the work that it started, a mode is the config option that version 2 has in its
//! place, and loading is resuming with a replay. The [updates](Update) that a client receives are those of the version; a
//! [view](ClientSession::view) shows all of them in one form. What a version does not have is refused before it is sent:
//! in version 2, agents neither read files nor run terminals through the client. [`Peer::version`] says which one it is.
//!
//! # What runs where
//!
//! [`Agent::serve`], [`Client::run`] and the second half of [`Client::connect`] are futures that read, write and run
//! the handlers. Nothing is spawned and no thread is started: what is not polled does not run. Dropping the future ends
//! the connection, and pending calls end with [`Error::Closed`]. These futures are `Send` exactly if the transport and
//! the handlers are, so `tokio::spawn` accepts them, while handlers that contain an `Rc` can run on a `LocalPool` or in
//! a browser. The compiler has to see the handlers for that: of a `Client<impl Handlers>` that a function returns, it does
//! not know whether the future is `Send`. Handlers must not block.
//!
//! # Types
//!
//! The handlers of an agent are a list in its type, so nothing is boxed and the compiler knows what is `Send`. An agent
//! with handlers is an `Agent<impl Handlers>`, and a struct that contains one is generic: `App<H: Handlers>` with a
//! field `agent: Agent<H>`. [`Agent::local`] erases the list: the type `Agent<Local>` can be written down, handlers can
//! be chosen at run time, and the agent is confined to its thread. A long list can exceed the compiler's limit for
//! nested types, which it reports as an overflow or as `recursion_limit`; a `local()` in the middle of the list solves
//! that as well.
//!
//! # Order
//!
//! Messages are handed over in the order in which they were received. The handlers of requests start in that order and
//! run concurrently; notifications are handled one after the other. The updates of a turn are handed over before its
//! end, and before the handler of a later permission request starts.
//!
//! # Cancelling
//!
//! Dropping a call asks the peer to cancel it (`$/cancel_request`); dropping a [`PromptTurn`] cancels the turn
//! (`session/cancel`). To limit the time of a call, use the runtime's own time-out:
//! `tokio::time::timeout(limit, call)`. When the peer cancels a request, its handler is dropped at its current await
//! point and the request is answered as cancelled; an open [`ToolCall`] is then reported as failed, and a [`Terminal`]
//! is released. A handler that calls [`Turn::cancelled`] is not dropped, and ends by itself.
//!
//! # Back-pressure
//!
//! Calls wait while 64 KiB wait for the transport. When reading stops is what [`host::Pace`](crate::host::Pace) says: while
//! 256 notifications or 1 MiB wait in streams of updates and for handlers (eight times as much while a call is pending, so
//! that a loop over updates can make calls), and while [`Agent::at_most`] requests are being served. Handlers that read
//! a file or the output of a terminal for the agent are started in order, as long as their responses fit into 16 MiB; a
//! response counts as 10 MB until its size is known, and a larger one goes alone.
//!
//! # Errors
//!
//! Calls end with [`Error`], which names the method. Handlers can return any error as [`Failure`]. A [`RequestError`]
//! is sent to the peer. Of any other error, the peer learns only that there was an internal error and, if a call of the
//! handler was refused, the rule; the error itself goes to the host's `on_error` or, without one, to the standard error
//! stream. Rules that the peer breaks go to `on_violation`. Handlers and options that cannot work are refused before
//! anything is read; see [`Agent::serve`].
//!
//! Read `drive` first (the future), then `shared` and `inbound` (its state), `call` (how others wait for it) and
//! `handlers` (how it finds what to run). `agent`, `client` and the rest are what hosts use.

mod agent;
mod agent_session;
mod answer;
mod builder;
mod call;
mod client;
mod client_session;
mod content;
mod display;
mod drive;
mod ends;
mod error;
mod exchange;
mod handlers;
mod inbound;
mod kept;
mod local;
mod message;
mod name;
mod opening;
mod peer;
mod permission;
mod plans;
mod prompts;
mod received;
mod setup;
mod shared;
mod terminal;
mod told;
mod tool_call;
mod trace;
mod transport;
mod turn;
mod unserved;
mod update;
mod viewed;
mod viewers;
mod wire;
mod working;

pub use agent::Agent;
pub use agent_session::AgentSession;
pub use call::{Call, Tell};
pub use client::{Client, Connecting};
pub use client_session::{ClientSession, ConfigValue};
pub use content::Prompt;
pub use display::DisplayTerminal;
pub use error::{Error, Failure, RequestError};
pub use exchange::{LoadingSession, PromptTurn};
pub use handlers::Handlers;
pub use local::Local;
pub use peer::{AgentPeer, ClientPeer, Peer};
pub use permission::{Choice, PermissionRequest};
pub use plans::SessionPlan;
pub use prompts::Ending;
pub use received::{Received, Reply};
pub use terminal::Terminal;
pub use tool_call::{Permission, ToolCall};
pub use trace::Traced;
pub use transport::{messages, streams, timed, Clock, Messages, Streams, Transport};
pub use turn::Turn;
pub use update::Update;
