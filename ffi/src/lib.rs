//! The C interface. `include/acp.h` is generated from this crate; the conventions at its top say what callers must
//! guarantee and what they may rely on.
//!
//! Every exported function is a thin wrapper: `border` turns pointers into references, catches panics and writes
//! outputs, and the core does the work. This crate has the only unsafe code, and all of it rests on the conventions of
//! the header.
//!
//! Read in this order: `border`, `version`, `numbers` (constants and their names), `config`, `hosted` (the words of version 1 in both versions), `connection` (bytes, time,
//! events), `calls` (the host's messages), `flow` and `known` (what can be asked of a connection, both generated from
//! `core/protocol/getters.json`), `lists`, `event`, `observer` (both sides seen from outside), `viewed` (the views that a connection
//! or an observer keeps, generated), `rules` (the catalogue),
//! `reader` and `writer`, `values` (JSON for hosts without a JSON library), `messages` (the most common messages in one
//! call each), `refusals` (errors for what is not served), `permission` (policies), `terminal`, `http`, `http_server`, `http_agents`
//! and `http_client` (the remote transports). `wasm` adds what hosts of the plain WebAssembly module need.

pub mod border;

pub mod numbers;
pub mod version;

pub mod config;

pub mod hosted;

pub mod connection;

pub mod flow;

pub mod calls;

pub mod known;

pub mod lists;

pub mod event;

pub mod observer;

pub mod viewed;

pub mod rules;

pub mod reader;

pub mod writer;

pub mod values;

pub mod messages;

pub mod refusals;

pub mod permission;

pub mod terminal;

#[cfg(feature = "http")]
pub mod http;

#[cfg(feature = "http")]
pub mod http_server;

#[cfg(feature = "http")]
pub mod http_agents;

#[cfg(feature = "http")]
pub mod http_client;

#[cfg(target_arch = "wasm32")]
pub mod wasm;
