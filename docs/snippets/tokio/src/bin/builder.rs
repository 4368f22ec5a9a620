//! An agent that builds in the background, and follows up on it.

use libacp::aio::{Agent, DisplayTerminal, Failure, Reply, RequestError, ToolCall, Turn};
use libacp::connection::Versions;
use libacp::schema::v1::{self, ToolKind};
use libacp::ErrorCode;

// ANCHOR: verbs
/// Refuses what it does not build. The rest becomes a message of the conversation, and the build goes on behind the turn.
async fn prompted(turn: Turn) -> Result<(), Failure> {
    turn.hold()?;
    if !is_target(&turn.text()).await {
        return Err(RequestError::new(ErrorCode::INVALID_PARAMS, "no such target").into());
    }
    turn.insert().await?;
    turn.session().plan("build").set(["Build", "Report"]).await?;
    let terminal = turn.display_terminal("make").await?;
    let mut call = turn.tool_call("Build", ToolKind::Execute).await?;
    call.show(&terminal).await?;
    turn.session().background(&terminal).await?;
    turn.message("I am building, and will tell you.").await?;
    tokio::spawn(build(turn, call, terminal));
    Ok(())
}

/// What runs beside the foreground, also when that is cancelled; then work that no prompt has asked for.
async fn build(turn: Turn, mut call: ToolCall, terminal: DisplayTerminal) -> Result<(), Failure> {
    terminal.write("ok\n").await?;
    terminal.exit(0).await?;
    call.append(v1::ToolCallContent::from(v1::Content::new("1 file".into()))).await?;
    call.complete().await?;
    let session = turn.session();
    session.plan("build").remove().await?;
    // This is refused while another prompt is served.
    session.work(async |work| Ok(work.message("It is built.").await?)).await?;
    Ok(())
}
// ANCHOR_END: verbs

async fn is_target(text: &str) -> bool {
    text == "all"
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let agent = Agent::new("builder", "1.0")
        .versions(Versions::ALL)
        .prompt(async |turn| prompted(turn).await)
        .on_cancel_terminal(async |_| Ok(Reply::default()));
    agent.serve(libacp_tokio::stdio()?).await
}
