//! An agent that repeats what it is told.

use libacp::aio::Agent;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let agent = Agent::new("echo", "1.0").prompt(async |turn| {
        turn.message(format!("You said: {}", turn.text())).await?;
        Ok(())
    });
    agent.serve(libacp_tokio::stdio()?).await
}
