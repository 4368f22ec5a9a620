//! What fuzzing has collected for the C interface, once more, without the fuzzer.
//!
//! The interface is no Rust library, so its modules are compiled in.
#![allow(dead_code, missing_docs, non_camel_case_types, unreachable_pub, clippy::pedantic)]

#[path = "../../ffi/src/border.rs"]
mod border;
#[path = "../../ffi/src/calls.rs"]
mod calls;
#[path = "../../ffi/src/config.rs"]
mod config;
#[path = "../../ffi/src/connection.rs"]
mod connection;
#[path = "support/corpus.rs"]
mod corpus;
#[path = "../../ffi/src/event.rs"]
mod event;
#[path = "../../ffi/src/flow.rs"]
mod flow;
#[path = "../../ffi/src/hosted.rs"]
mod hosted;
#[cfg(feature = "http")]
#[path = "../../ffi/src/http.rs"]
mod http;
#[cfg(feature = "http")]
#[path = "../../ffi/src/http_agents.rs"]
mod http_agents;
#[cfg(feature = "http")]
#[path = "../../ffi/src/http_client.rs"]
mod http_client;
#[cfg(feature = "http")]
#[path = "../../ffi/src/http_server.rs"]
mod http_server;
#[path = "../../ffi/src/known.rs"]
mod known;
#[path = "../../ffi/src/lists.rs"]
mod lists;
#[path = "../../ffi/src/numbers.rs"]
mod numbers;
#[path = "../../ffi/src/reader.rs"]
mod reader;
#[cfg(feature = "http")]
#[path = "../fuzz/targets/c_http.rs"]
mod remote;
#[path = "../fuzz/targets/c.rs"]
mod target;
#[cfg(feature = "http")]
#[path = "../../ffi/src/values.rs"]
mod values;
#[cfg(feature = "http")]
#[path = "../../ffi/src/writer.rs"]
mod writer;

#[test]
fn c_inputs() {
    corpus::replay("c", target::run);
}

#[cfg(feature = "http")]
#[test]
fn remote_inputs() {
    corpus::replay("c_http", remote::run);
}
