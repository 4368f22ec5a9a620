//! Agents and clients of the Agent Client Protocol (ACP) on tokio: [`libacp::aio`] with standard streams, child
//! processes, files and terminals.
//!
//! An agent that an editor starts and talks to over its standard streams:
//!
//! ```no_run
//! use libacp::aio::Agent;
//! use libacp_tokio::stdio;
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> std::io::Result<()> {
//!     let agent = Agent::new("echo", "1.0").prompt(async |turn| {
//!         turn.message(format!("You said: {}", turn.text())).await?;
//!         Ok(())
//!     });
//!     agent.serve(stdio()?).await
//! }
//! ```
//!
//! A client that starts an agent, lets it use files and run commands in the folder of its session, and sends one
//! prompt:
//!
//! ```no_run
//! use libacp::aio::{Client, Failure};
//! use libacp_tokio::{spawn, ClientExt, Files, Terminals};
//!
//! #[tokio::main(flavor = "current_thread")]
//! async fn main() -> Result<(), Failure> {
//!     let client = Client::new("example", "1.0")
//!         .files(Files::new())
//!         .terminals(Terminals::new())
//!         .permission(async |request| Ok(request.allow()));
//!     spawn("my-agent")
//!         .arg("--acp")
//!         .run(&client, async |agent| {
//!             let session = agent.new_session("/work").await?;
//!             let mut turn = session.prompt("Hello");
//!             while let Some(update) = turn.update().await? {
//!                 if let Some(text) = update.text() {
//!                     print!("{text}");
//!                 }
//!             }
//!             Ok(())
//!         })
//!         .await
//! }
//! ```
//!
//! If the agent ends too early, the error is an [`AgentEnded`] with its exit code and its last output. Use
//! [`Spawn::connect`] for a client that lives in more than one function, and [`run`] with [`streams`] for an agent
//! behind a socket.
//!
//! # What ends when
//!
//! An agent ends when its connection is closed: its input ends, and if it does not exit by itself, it is terminated
//! (SIGTERM) and then killed, together with the processes that it started, such as the program behind `npx` or `sh -c`.
//! Commands in terminals end when they are released, and with their session or connection. All of them also end with
//! the client's process, even if that ends by an unhandled signal, `exit` or SIGKILL. On Unix, a shell (`/bin/sh`) that
//! runs as long as the client ensures that; on Windows, job objects do. This crate handles no signals; the program may.
//!
//! A process that leaves its process group, as a daemon does, is not ended. A program that starts at the moment when
//! its client is killed can survive; an agent then sees the end of its input.
//!
//! # Reading
//!
//! `connection` is what handlers and processes share, `watch` how it learns about sessions. `spawn`, `files` and
//! `terminals` are what hosts use. `process` and `warden` start and end processes.

#![forbid(unsafe_code)]

mod agent_process;
mod command;
mod connection;
mod ended;
mod files;
#[cfg(feature = "http")]
pub mod http;
mod output;
mod process;
mod spawn;
mod stderr;
mod stdio;
mod streams;
mod terminals;
mod timer;
mod trace;
#[cfg(unix)]
mod warden;
mod watch;

use libacp::aio::{Client, Handlers};

pub use agent_process::{AgentProcess, Starting};
pub use connection::{connect, run};
pub use ended::AgentEnded;
pub use files::{Files, ReadOnlyFiles};
#[doc(inline)]
pub use libacp_files::{guarded, Asked};
pub use process::Exit;
pub use spawn::{spawn, Spawn};
pub use stdio::{stdio, Stdio};
pub use streams::{streams, Streams};
pub use terminals::{Printed, Terminals};
pub use trace::trace_to;

/// Adds files and terminals to a client.
///
/// Connections of the resulting clients run where they are polled: in `main`, in `block_on`, in a `LocalSet`. For
/// connections that are passed to `tokio::spawn`, use the macros [`files!`], [`read_only_files!`] and [`terminals!`]
/// instead.
pub trait ClientExt {
    /// Lets agents read and write files.
    fn files(self, files: Files) -> Client<impl Handlers>;

    /// Lets agents read files.
    fn read_only_files(self, files: ReadOnlyFiles) -> Client<impl Handlers>;

    /// Lets agents run commands.
    fn terminals(self, terminals: Terminals) -> Client<impl Handlers>;
}

impl<H: Handlers> ClientExt for Client<H> {
    fn files(self, files: Files) -> Client<impl Handlers> {
        files!(self, files)
    }

    fn read_only_files(self, files: ReadOnlyFiles) -> Client<impl Handlers> {
        read_only_files!(self, files)
    }

    fn terminals(self, terminals: Terminals) -> Client<impl Handlers> {
        terminals!(self, terminals)
    }
}

/// For the macros only.
#[doc(hidden)]
pub mod private {
    use libacp::aio::Received;
    use libacp::typed::ClientSide;

    pub use crate::files::Serving;
    pub use crate::terminals::{create, kill, output, release, wait};

    pub type Read = Received<ClientSide, crate::files::Read>;
    pub type Write = Received<ClientSide, crate::files::Write>;
    pub type Create = Received<ClientSide, crate::terminals::Create>;
}

/// The README's Rust examples, compiled and run with the documentation tests. Some need this crate.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;

/// This crate's own.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct CratesReadme;
