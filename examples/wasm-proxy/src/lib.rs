//! A proxy between a client and an agent: towards the client it plays the agent, towards the agent the client.
//!
//! Compiled for `wasm32-unknown-unknown` it imports nothing: it has no files, no network, no clock and no processes, and
//! its host decides how long it may run and how much memory it may take. What it does to the conversation is in
//! `policy`; that everything else passes through, with each request answered once, is the business of `libacp::relay`, which
//! `proxy` holds beside the policy; `exports` is what a host calls.
#![deny(unsafe_code)]

pub mod exports;
mod policy;
mod proxy;
mod redact;

pub use policy::{Policy, Rules};
pub use proxy::{Answer, Proxy};
