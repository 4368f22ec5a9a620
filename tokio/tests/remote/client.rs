//! The client of the remote script in Rust, as `tests/interop/README.md` describes it: `acp-remote-client ADDRESS WAY`.

use std::future::Future;
use std::time::Duration;

use libacp::aio::{AgentPeer, Client, ClientSession, Failure};
use libacp::schema::v1;
use libacp_tokio::http::{Action, Remote};
use serde_json::{json, Value};
use tokio::time::timeout;

/// More than a step takes; a peer that does not answer costs no more than this.
const LIMIT: Duration = Duration::from_secs(6);

type Done<T> = Result<(Value, T), Failure>;

/// Does a step and tells what came of it; what it has beside that.
async fn step<T>(name: &str, work: impl Future<Output = Done<T>>) -> Option<T> {
    match timeout(LIMIT, Box::pin(work)).await {
        Ok(Ok((found, more))) => {
            println!("{}", json!({"step": name, "found": found}));
            Some(more)
        }
        Ok(Err(failure)) => {
            println!("{}", json!({"step": name, "cannot": failure.to_string()}));
            None
        }
        Err(_) => {
            println!("{}", json!({"step": name, "cannot": format!("no end within {} s", LIMIT.as_secs())}));
            None
        }
    }
}

fn tell_violation(rule: &str, message: &str) {
    println!("{}", json!({"violation": rule, "message": message}));
}

fn remote(address: &str, way: &str) -> Remote {
    let remote = Remote::new(address).expect("an address");
    let remote = if way == "http2" { remote.http2() } else { remote };
    remote.options(|options| options.reconnect = false).on_event(|action| {
        if let Action::Violation(report) = action {
            tell_violation(report.rule.as_str(), &report.message);
        }
    })
}

/// The session that a step before it should have opened.
fn known(session: Option<&ClientSession>) -> Result<&ClientSession, Failure> {
    session.ok_or_else(|| Failure::new("there is no session"))
}

async fn prompted(session: Option<&ClientSession>, text: &str) -> Done<()> {
    let mut turn = known(session)?.prompt(text);
    let said = turn.read_text().await?;
    Ok((json!([said, turn.finish().await?.stop_reason.to_string()]), ()))
}

async fn cancelled(session: Option<&ClientSession>) -> Done<()> {
    let mut turn = known(session)?.prompt("wait");
    while let Some(update) = turn.update().await? {
        if update.text() == Some("waiting") {
            turn.cancel().await?;
        }
    }
    Ok((json!(turn.finish().await?.stop_reason.to_string()), ()))
}

async fn loaded(agent: AgentPeer, session: Option<&ClientSession>) -> Result<Value, Failure> {
    let mut loading = agent.load_session(known(session)?.id(), "/tmp");
    let mut told = Vec::new();
    while let Some(update) = loading.update().await? {
        if let Some(v1::SessionUpdate::UserMessageChunk(v1::ContentChunk {
            content: v1::ContentBlock::Text(text),
            ..
        })) = update.v1()
        {
            told.push(text.text.to_string());
        }
    }
    told.push(loading.session().await?.prompt("more").read_text().await?);
    Ok(json!(told))
}

async fn deleted(agent: &AgentPeer, session: Option<&ClientSession>, second: Option<&ClientSession>) -> Done<()> {
    let (session, second) = (known(session)?, known(second)?);
    let has = format!("has {}", second.id());
    let had = session.prompt(has.as_str()).read_text().await?;
    agent.delete_session(second.id()).await?;
    Ok((json!([had, session.prompt(has.as_str()).read_text().await?]), ()))
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let (Some(address), Some(way)) = (arguments.next(), arguments.next()) else {
        panic!("acp-remote-client ADDRESS WAY");
    };
    let client = Client::new("client", "1")
        .permission(async |request| Ok(request.allow()))
        .on_violation(|violation| tell_violation(violation.rule.as_str(), &violation.message));
    let server = remote(&address, &way);
    let playing = server.run(&client, async |agent| {
        step("initialize", async { Ok((json!(agent.version()), ())) }).await;
        let session = step("new", async {
            let session = agent.new_session("/tmp").await?;
            Ok((json!(!session.id().is_empty()), session))
        });
        let session = session.await;
        let session = session.as_ref();
        step("prompt", prompted(session, "hello")).await;
        step("permission", prompted(session, "ask")).await;
        step("cancel", cancelled(session)).await;
        step("load", async {
            let other = remote(&address, &way);
            Ok((other.run(&client, async |agent| loaded(agent, session).await).await?, ()))
        })
        .await;
        let second = step("second", async {
            let second = agent.new_session("/tmp").await?;
            let said = second.prompt("again").read_text().await?;
            let other = Some(second.id()) != session.map(ClientSession::id);
            Ok((json!([other, said]), second))
        });
        let second = second.await;
        step("delete", deleted(&agent, session, second.as_ref())).await;
        Ok(())
    });
    if let Err(failure) = Box::pin(playing).await {
        eprintln!("acp-remote-client: {failure}");
    }
}
