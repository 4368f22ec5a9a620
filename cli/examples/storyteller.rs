//! The agent of the tests on its standard streams.

#![forbid(unsafe_code)]

#[path = "../../tokio/tests/support/storyteller.rs"]
mod storyteller;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    storyteller::storyteller!().serve(libacp_tokio::stdio()?).await
}
