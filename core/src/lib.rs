//! The Agent Client Protocol (ACP) as a state machine that does no I/O: bytes in, events out, and every rule of the
//! protocol that is visible on the wire enforced in both directions.
//!
//! A complete agent, with futures on any executor (feature `futures`, see
//! [`aio`](https://docs.rs/libacp/latest/libacp/aio)):
//!
#![cfg_attr(feature = "futures", doc = "```")]
#![cfg_attr(not(feature = "futures"), doc = "```ignore")]
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
//! An agent on the connection itself, over the standard streams, with only the standard library:
//!
//! ```no_run
//! use libacp::{Config, Connection, ErrorCode, Event};
//! use std::io::{Read, Write};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let (mut stdin, mut stdout) = (std::io::stdin().lock(), std::io::stdout().lock());
//!     let mut agent = Connection::new(Config::agent());
//!     let mut buffer = [0; 16 * 1024];
//!     let mut sessions = 0;
//!     loop {
//!         match stdin.read(&mut buffer)? {
//!             0 => agent.receive_eof(),
//!             count => agent.receive(&buffer[..count]),
//!         }
//!         while let Some(event) = agent.poll_event() {
//!             match event {
//!                 Event::Request(request) => match &*request.method {
//!                     "initialize" => agent.respond(&request.id, "{}")?,
//!                     "session/new" => {
//!                         sessions += 1;
//!                         agent.respond(&request.id, &format!(r#"{{"sessionId":"s-{sessions}"}}"#))?;
//!                     }
//!                     "session/prompt" => {
//!                         let session = request.session.as_deref().unwrap_or_default();
//!                         let hello = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello."}}"#;
//!                         agent.notify("session/update", &format!(r#"{{"sessionId":"{session}","update":{hello}}}"#))?;
//!                         agent.respond(&request.id, r#"{"stopReason":"end_turn"}"#)?;
//!                     }
//!                     _ => agent.respond_error(&request.id, ErrorCode::METHOD_NOT_FOUND, "Not served", None)?,
//!                 },
//!                 Event::Violation(violation) => eprintln!("{}: {}", violation.rule, violation.message),
//!                 Event::Closed(_) => return Ok(()),
//!                 _ => {}
//!             }
//!         }
//!         stdout.write_all(agent.transmit())?;
//!         stdout.flush()?;
//!         agent.consume(agent.transmit().len());
//!     }
//! }
//! ```
//!
//! # Layers
//!
//! Each layer can be used alone: [`framing`] splits bytes into frames, [`json`] reads text without building a tree,
//! [`jsonrpc`] has ids and errors, [`validation`] checks values against the model of the protocol, and [`connection`]
//! combines them into one [`Connection`] per peer. [`schema`] is generated from the model: tables and message types.
//! [`typed`] is a connection with those types. [`view`] keeps each session as a conversation that a client can show, and [`host`]
//! has what hosts decide alike, such as permissions. `aio` adds reading, writing and waiting, as futures. [`terminal`] is
//! for clients that run commands for an agent, and [`relay`] for proxies.
//!
//! # Features
//!
//! | feature | default | adds |
//! | --- | --- | --- |
//! | `words` | on | [`rules::Rule::text`], and the names of types in [`validation::table::Tables`] |
//! | `futures` | off | agents and clients as futures on any executor (`aio`); depends on the crate `futures`, and enables `types` |
//! | `http` | off | the remote transports, Streamable HTTP and WebSocket, as state machines without I/O (`http`); a draft |
//! | `types` | on | the message types of [`schema`] and the connection with them ([`typed`]); without them JSON stays text, and the crate builds in seconds |
//!
//! Targets on which they build and run:
//!
//! | features | targets |
//! | --- | --- |
//! | none, `words`, `types`, `http` | every target with `std`, including wasm32-unknown-unknown without imports |
//! | `futures` | the same; on wasm32 the ids that agents generate for sessions are unique only within one run of the program |
//!
//! # Two kinds of errors
//!
//! [`Misuse`] is the error of a call that the specification does not allow now: nothing was sent and nothing has changed. A
//! [violation](connection::Violation) is an event about a message of the peer that breaks a rule: it names the rule and the
//! place, and says what happened to the message. Rule ids such as `SESS-04` are part of the API.
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// Such a build has neither agents nor drafts nor observers: see `engine/settings.rs`.
#![cfg_attr(clients_only, allow(dead_code))]

// First, because the other modules use its macro.
#[macro_use]
pub mod rules;

#[cfg(feature = "futures")]
#[cfg_attr(docsrs, doc(cfg(feature = "futures")))]
pub mod aio;
pub mod connection;
mod engine;
pub mod framing;
pub mod host;
#[cfg(feature = "http")]
#[cfg_attr(docsrs, doc(cfg(feature = "http")))]
pub mod http;
pub mod json;
pub mod jsonrpc;
mod map;
mod nearest;
#[cfg(any(feature = "futures", feature = "http"))]
mod numbered;
mod path;
pub mod relay;
mod role;
mod room;
pub mod schema;
pub mod terminal;
mod text;
#[cfg(feature = "types")]
#[cfg_attr(docsrs, doc(cfg(feature = "types")))]
pub mod typed;
pub mod validation;
mod versions;
pub mod view;

pub use connection::{Config, Connection, Event, Misuse, Role};
pub use jsonrpc::{ErrorCode, Id};
pub use map::Map;
pub use text::printable;
pub use versions::Versions;

/// The examples of the crate's README, compiled and run with the documentation tests.
#[cfg(all(doctest, feature = "futures"))]
#[doc = include_str!("../README.md")]
struct Readme;
