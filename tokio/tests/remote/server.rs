//! The server of the remote script in Rust, until standard input ends, as `tests/interop/README.md` describes it:
//! `acp-remote-server PORT WAY`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use libacp::aio::{Agent, Failure, Turn};
use libacp::schema::v1;
use libacp_tokio::http::{serve, AgentService, Notice, ServerOptions};
use serde_json::json;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

/// What was said to each session.
type Told = HashMap<String, Vec<String>>;

#[derive(Clone, Default)]
struct History(Arc<Mutex<Told>>);

impl History {
    fn with<R>(&self, work: impl FnOnce(&mut Told) -> R) -> R {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn tell_violation(rule: &str, message: &str) {
    println!("{}", json!({"violation": rule, "message": message}));
}

async fn answer(turn: Turn, history: History) -> Result<(), Failure> {
    let text = turn.text();
    if let Some(id) = text.strip_prefix("has ") {
        let has = history.with(|all| all.contains_key(id));
        turn.message(if has { "yes" } else { "no" }).await?;
        return Ok(());
    }
    history.with(|all| all.entry(turn.session().id().to_owned()).or_default().push(text.clone()));
    match text.as_str() {
        "ask" => {
            let mut call = turn.tool_call("Look", v1::ToolKind::Read).await?;
            let allowed = call.ask_permission().await?.allowed;
            call.complete().await?;
            turn.message(if allowed { "allowed" } else { "refused" }).await?;
        }
        "wait" => {
            turn.message("waiting").await?;
            std::future::pending::<()>().await;
        }
        _ => turn.message(text).await?,
    }
    Ok(())
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port: u16 = std::env::args().nth(1).and_then(|port| port.parse().ok()).expect("acp-remote-server PORT WAY");
    let history = History::default();
    let start = move |pipe| {
        let (loads, deletes, prompts) = (history.clone(), history.clone(), history.clone());
        async move {
            let agent = Agent::new("agent", "1")
                .load_session(async move |received| {
                    let session = received.session().ok_or_else(|| Failure::new("no session"))?;
                    let told = loads.with(|all| all.get(session.id()).cloned());
                    for text in told.ok_or_else(|| Failure::new("there is no such session"))? {
                        let chunk = v1::ContentChunk::new(text.as_str().into());
                        session.update(&v1::SessionUpdate::UserMessageChunk(chunk)).await?;
                    }
                    Ok(v1::LoadSessionResponse::new().into())
                })
                .on::<fn(v1::DeleteSessionRequest), _>(async move |received| {
                    deletes.with(|all| all.remove(received.into_params().session_id.0.as_ref()));
                    Ok(v1::DeleteSessionResponse::new().into())
                })
                .prompt(async move |turn| answer(turn, prompts.clone()).await)
                .on_violation(|violation| tell_violation(violation.rule.as_str(), &violation.message));
            agent.serve(pipe).await
        }
    };
    let service = AgentService::with(ServerOptions::default(), start, |notice| {
        if let Notice::Violation(report) = notice {
            tell_violation(report.rule.as_str(), &report.message);
        }
    });
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    tokio::select! {
        ended = serve(listener, service) => ended,
        ended = async { tokio::io::stdin().read_to_end(&mut Vec::new()).await.map(drop) } => ended,
    }
}
