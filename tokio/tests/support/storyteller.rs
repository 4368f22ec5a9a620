//! An agent that does what it is told, one word at a time: it asks, waits, counts, and has told something before.

use std::time::Duration;

use libacp::aio::{Failure, Turn};
use libacp::schema::v1;

/// The agent. Of what a function returns, the compiler does not know that its futures can be sent.
macro_rules! storyteller {
    () => {{
        use libacp::schema::v1;
        libacp::aio::Agent::new("storyteller", "1.0")
            .load_session(async |received| {
                let session = received.session().ok_or_else(|| libacp::aio::Failure::new("no session"))?;
                for text in ["Once", " upon", " a time"] {
                    let chunk = v1::ContentChunk::new(text.into());
                    session.update(&v1::SessionUpdate::AgentMessageChunk(chunk)).await?;
                }
                Ok(v1::LoadSessionResponse::new().into())
            })
            .on::<fn(v1::DeleteSessionRequest), _>(async |_| Ok(v1::DeleteSessionResponse::new().into()))
            .prompt(storyteller::answer)
            .on_violation(|violation| eprintln!("{}: {}", violation.rule, violation.message))
    }};
}
pub(crate) use storyteller;

pub(crate) async fn answer(turn: Turn) -> Result<(), Failure> {
    let text = turn.text();
    match text.split_once(' ') {
        None if text == "ask" => {
            let mut call = turn.tool_call("Edit", v1::ToolKind::Edit).await?;
            let allowed = call.ask_permission().await?.allowed;
            call.complete().await?;
            turn.message(if allowed { "allowed" } else { "rejected" }).await?;
        }
        None if text == "wait" => {
            turn.message("waiting").await?;
            std::future::pending::<()>().await;
        }
        Some(("count", number)) => {
            for number in 0..number.parse::<u32>()? {
                turn.message(format!("{number} ")).await?;
            }
        }
        Some(("flood", number)) => {
            for _ in 0..number.parse::<u32>()? {
                turn.message("x".repeat(64 * 1024)).await?;
            }
        }
        Some(("slowly", number)) => {
            for number in 0..number.parse::<u32>()? {
                turn.message(format!("{number} ")).await?;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        _ => turn.message(format!("You said: {text}")).await?,
    }
    Ok(())
}
