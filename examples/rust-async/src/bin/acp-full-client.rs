//! `acp-full-client PROGRAM [ARGUMENT ...]`: a client that offers and uses everything that version 1 has. It takes a full
//! agent through all that it can do, in a folder of its own, and prints a line for whatever comes.

#![forbid(unsafe_code)]

/// There are no processes in WebAssembly.
#[cfg(target_arch = "wasm32")]
fn main() {}

#[cfg(not(target_arch = "wasm32"))]
#[tokio::main(flavor = "current_thread")]
async fn main() -> std::process::ExitCode {
    libacp_examples_async::ended(&libacp_examples_async::full::client().await)
}
