#![no_main]
#![allow(dead_code, non_camel_case_types)]
// The C interface is no Rust library, so its modules are compiled in.
#[path = "../../../ffi/src/border.rs"]
mod border;
#[path = "../../../ffi/src/http.rs"]
mod http;
#[path = "../../../ffi/src/http_agents.rs"]
mod http_agents;
#[path = "../../../ffi/src/http_client.rs"]
mod http_client;
#[path = "../../../ffi/src/http_server.rs"]
mod http_server;
#[path = "../../../ffi/src/lists.rs"]
mod lists;
#[path = "../../../ffi/src/numbers.rs"]
mod numbers;
#[path = "../../../ffi/src/reader.rs"]
mod reader;
#[path = "../targets/c_http.rs"]
mod target;
#[path = "../../../ffi/src/values.rs"]
mod values;
#[path = "../../../ffi/src/writer.rs"]
mod writer;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
