//! An agent without a language model that shows all that a client has to draw: Markdown in pieces, thoughts, tool calls
//! with diffs, a plan, permission, modes, options, commands, usage, and sessions that outlive the process.
//!
//! [`agent`] keeps the connection and the clock, [`scene`] says what a prompt brings, [`store`] remembers sessions.

pub mod agent;
pub mod scene;
pub mod store;
