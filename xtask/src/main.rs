//! The project's commands, run as `cargo xtask NAME`.
fn main() {}
