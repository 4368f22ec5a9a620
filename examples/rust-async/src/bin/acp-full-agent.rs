//! `acp-full-agent [--login]`: an agent that offers and uses everything that version 1 has, on the standard streams. Any
//! prompt gets a tour of all that its client offers; `wait` waits to be cancelled, `refuse` is refused. With `--login` it
//! serves nobody who has not logged in.

#![forbid(unsafe_code)]

/// There are no standard streams in WebAssembly.
#[cfg(target_arch = "wasm32")]
fn main() {}

#[cfg(not(target_arch = "wasm32"))]
#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    libacp_examples_async::full::agent(std::env::args().any(|argument| argument == "--login")).await
}
