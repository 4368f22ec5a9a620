//! Agents over HTTP and WebSocket (feature `http`): a server and a client on hyper and tungstenite, around the state
//! machines of [`libacp::http`].
//!
//! An agent for each client that connects:
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use libacp::aio::Agent;
//! use libacp_tokio::http::{listen, serve, AgentService, ServerOptions};
//!
//! #[tokio::main]
//! async fn main() -> std::io::Result<()> {
//!     let agent = Arc::new(Agent::new("echo", "1.0").prompt(async |turn| {
//!         turn.message(format!("You said: {}", turn.text())).await?;
//!         Ok(())
//!     }));
//!     let service = AgentService::new(ServerOptions::default(), move |pipe| {
//!         let agent = Arc::clone(&agent);
//!         async move { agent.serve(pipe).await }
//!     });
//!     serve(listen(([127, 0, 0, 1], 7332).into())?, service).await
//! }
//! ```
//!
//! The address is then `http://127.0.0.1:7332/acp`, or `ws://127.0.0.1:7332/acp`. By default a server answers to names of
//! this machine alone and to no web page; see [`ServerOptions`].
//!
//! `server` is what serves, `client` what connects.

mod client;
mod clock;
mod count;
mod frames;
mod server;

pub use client::{connect, BadTarget, Ended, Remote, RemotePipe, Target};
pub use libacp::http::{
    Action, ClientLimits, ClientOptions, ClientTimes, Closed, ClosedWhy, Lost, Report, ServerLimits, ServerOptions,
    ServerTimes, Token,
};
pub use server::{listen, serve, AgentService, Notice, Pipe, ResponseBody};
