//! An agent on tokio, on the standard streams.

#![forbid(unsafe_code)]

/// There are no processes and no sockets in WebAssembly.
#[cfg(target_arch = "wasm32")]
fn main() {}

#[cfg(not(target_arch = "wasm32"))]
#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    use libacp::aio::{streams, Agent};
    use libacp_examples_async::{shout, shown};
    use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

    let agent = Agent::new("tokio-shouter", "1.0")
        .prompt(shout)
        .on_violation(|violation| eprintln!("{}", shown(&format!("{}: {}", violation.rule, violation.message))))
        .on_error(|method, failure| eprintln!("{}", shown(&format!("{method}: {failure}"))));
    agent.serve(streams(tokio::io::stdin().compat(), tokio::io::stdout().compat_write())).await
}
