//! An agent on smol, on the standard streams.

#![forbid(unsafe_code)]

/// There are no processes and no sockets in WebAssembly.
#[cfg(target_arch = "wasm32")]
fn main() {}

#[cfg(not(target_arch = "wasm32"))]
fn main() -> std::io::Result<()> {
    use libacp::aio::{streams, Agent};
    use libacp_examples_async::{shout, shown};
    use smol::Unblock;

    let agent = Agent::new("smol-shouter", "1.0")
        .prompt(shout)
        .on_violation(|violation| eprintln!("{}", shown(&format!("{}: {}", violation.rule, violation.message))))
        .on_error(|method, failure| eprintln!("{}", shown(&format!("{method}: {failure}"))));
    smol::block_on(agent.serve(streams(Unblock::new(std::io::stdin()), Unblock::new(std::io::stdout()))))
}
