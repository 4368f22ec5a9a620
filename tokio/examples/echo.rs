//! An agent that prints, and starts a program that prints and reads, while it has the standard streams; and before, and
//! after.

#![forbid(unsafe_code)]

use libacp::aio::Agent;
use libacp_tokio::stdio;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    println!("before");
    let streams = stdio()?;
    assert!(stdio().is_err(), "there is one already");
    println!("printed");
    let child = std::process::Command::new("sh").args(["-c", "echo child: $(wc -c) bytes"]).status()?;
    assert!(child.success());
    Agent::new("echo", "1.0").serve(streams).await?;
    println!("after");
    Ok(())
}
