//! The C interface. `include/acp.h` is made from this crate; its top says what callers promise and may rely on.
//!
//! Every exported function is one line of border and one line of core: `border` turns pointers into references, catches
//! panics and writes outputs; what happens behind is libacp's. The only unsafe code is here, and all of it rests on the
//! promises at the top of the header.
//!
//! Read in this order: `border`, `version`, `numbers` (constants and their names), `config`, `connection` (bytes, time, events),
//! `calls` (what the host asks for), `flow` and `known` (what can be asked of a connection now, both generated from
//! `core/protocol/getters.json`), `lists`, `event`, `observer` (both sides seen from outside), `rules` (the catalogue), `reader` and
//! `writer`, `values` (JSON for hosts that have no library for it), `messages` (the commonest ones in one call), `terminal`. `wasm` adds what hosts of the plain WebAssembly module need.

pub mod border;

pub mod numbers;
pub mod version;

pub mod config;

pub mod connection;

pub mod flow;

pub mod calls;

pub mod known;

pub mod lists;

pub mod event;

pub mod observer;

pub mod rules;

pub mod reader;

pub mod writer;

pub mod values;

pub mod messages;

pub mod terminal;

#[cfg(target_arch = "wasm32")]
pub mod wasm;
