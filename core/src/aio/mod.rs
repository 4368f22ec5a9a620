//! Agents and clients with asynchronous Rust, on any executor: the connection with everything around it that every host
//! would write, as one future for each connection.
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
//! And the whole of it, an agent and a client in one program and on one thread, with nothing but the crate `futures`:
//!
//! ```
//! use futures::executor::block_on;
//! use libacp::aio::{messages, Agent, Client};
//! use libacp::schema::v1::{ContentBlock, SessionUpdate};
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
//!         if let SessionUpdate::AgentMessageChunk(chunk) = update {
//!             if let ContentBlock::Text(text) = chunk.content {
//!                 said += &text.text;
//!             }
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
//! # What runs where
//!
//! [`Agent::serve`], [`Client::run`] and the second half of [`Client::connect`] are futures that read, write and run
//! the handlers. Nothing is spawned and no thread is started: what is not polled does not run, and dropping the future
//! ends the connection; calls that wait for it end with [`Error::Closed`]. They can be sent to another thread exactly
//! when the transport and the handlers can, so that `tokio::spawn` takes them, and handlers with an `Rc` in them run on
//! a `LocalPool` or in a browser. What handlers do must not block.
//!
//! # Types
//!
//! The handlers of an agent are a list in its type, so that nothing is boxed and the compiler knows what can be sent: an
//! agent with handlers is an `Agent<impl Handlers>`, and a struct that has one is generic, as `App<H: Handlers>` with a
//! member `agent: Agent<H>`. [`Agent::local`] forgets the list: `Agent<Local>` can be written down, holds whatever was
//! decided at run time, and stays on its thread. Long lists meet the compiler's limit for nested types, which it reports as
//! an overflow or as `recursion_limit`; a `local()` in the middle of the list ends that as well.
//!
//! # Order
//!
//! Messages are handed over in the order in which they came. Requests are served at the same time, each begun in its
//! turn; notifications one after the other. The updates of a turn are there before its end is, and before the handler of a
//! request for permission begins that came after them.
//!
//! # Cancelling
//!
//! Dropping a call asks the peer to cancel it (`$/cancel_request`); dropping a [`PromptTurn`] cancels the turn
//! (`session/cancel`). A time limit is therefore the runtime's own, as `tokio::time::timeout(limit, call)`. The other
//! way round, a handler whose request is cancelled is dropped where it waits, and the answer says so; a tool call that
//! was open then is reported as failed and a terminal released. See [`Turn::cancelled`] for the other way.
//!
//! # Back-pressure
//!
//! What is sent waits while 64 KiB wait for the transport. Reading stops while 256 messages or 1 MiB wait in streams of
//! updates and for handlers of notifications (eight times as much while a call waits, so that a loop over updates may
//! ask the agent something), and while as many requests are served as [`Agent::at_most`] allows. Handlers that read a
//! file or a terminal's output for the agent are begun in order, while their answers, of 10 MB each until they are there,
//! fit into 16 MiB; one that is larger goes alone.
//!
//! # Errors
//!
//! Calls end with [`Error`], which names the method. Handlers return any error as [`Failure`], or a [`RequestError`] of
//! their choice. Of other errors the peer learns that there was an internal error and, where the rules forbade a call, the
//! rule; the host's `on_error` learns the rest, or the standard error stream where there is no such hook. Rules that the
//! peer breaks go to `on_violation`. Handlers and options that cannot work are refused before anything is read, see
//! [`Agent::serve`].
//!
//! Read `drive` first, the future, then `shared` and `inbound`, what it works on; `call` is how others wait for it,
//! `handlers` how it finds what to run. `agent`, `client` and the rest are what hosts see.

mod agent;
mod agent_session;
mod answer;
mod budget;
mod builder;
mod call;
mod client;
mod client_session;
mod content;
mod drive;
mod ends;
mod error;
mod exchange;
mod handlers;
mod host;
mod inbound;
mod local;
mod opening;
mod peer;
mod permission;
mod prompts;
mod received;
mod shared;
mod terminal;
mod titles;
mod told;
mod tool_call;
mod trace;
mod transport;
mod turn;
mod unserved;
mod wire;

pub use agent::Agent;
pub use agent_session::AgentSession;
pub use call::{Call, Tell};
pub use client::{Client, Connecting};
pub use client_session::{ClientSession, ConfigValue};
pub use content::Prompt;
pub use error::{Error, Failure, RequestError};
pub use exchange::{LoadingSession, PromptTurn};
pub use handlers::Handlers;
pub use local::Local;
pub use peer::{AgentPeer, ClientPeer, Peer};
pub use permission::{Choice, PermissionRequest};
pub use prompts::Ending;
pub use received::{Received, Reply};
pub use terminal::Terminal;
pub use tool_call::{Permission, ToolCall};
pub use trace::Traced;
pub use transport::{messages, streams, timed, Clock, Messages, Streams, Transport};
pub use turn::Turn;
