#![no_main]
#![allow(dead_code, non_camel_case_types)]
// The C interface is no Rust library, so its modules are compiled in.
#[path = "../../../ffi/src/border.rs"]
mod border;
#[path = "../../../ffi/src/calls.rs"]
mod calls;
#[path = "../../../ffi/src/config.rs"]
mod config;
#[path = "../../../ffi/src/connection.rs"]
mod connection;
#[path = "../../../ffi/src/event.rs"]
mod event;
#[path = "../../../ffi/src/flow.rs"]
mod flow;
#[path = "../../../ffi/src/hosted.rs"]
mod hosted;
#[path = "../../../ffi/src/known.rs"]
mod known;
#[path = "../../../ffi/src/lists.rs"]
mod lists;
#[path = "../../../ffi/src/numbers.rs"]
mod numbers;
#[path = "../../../ffi/src/reader.rs"]
mod reader;
#[path = "../targets/c.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
