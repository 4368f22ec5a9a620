#![no_main]
#[path = "../targets/model.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| target::run(&libacp::schema::tables::v1::TABLES, data));
