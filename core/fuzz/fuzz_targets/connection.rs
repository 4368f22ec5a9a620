#![no_main]
#[path = "../../tests/support/host.rs"]
mod host;
#[path = "../../tests/support/rng.rs"]
#[allow(dead_code)]
mod rng;
#[path = "../targets/connection.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(data));
