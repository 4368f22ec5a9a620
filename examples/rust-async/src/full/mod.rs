//! An agent and a client that offer and use everything that version 1 has, and what they have in common.

mod agent;
mod client;
mod show;
mod store;
mod talk;
mod tour;

pub use agent::serve as agent;
pub use client::run as client;

/// What both say of themselves.
const NAME: &str = "full-rust";
const TITLE: &str = "Everything, in Rust";
/// What a client says in the `_meta` of its capabilities if it serves the extension of these examples.
const EXTENSION: &str = "libacp.dev/full";
