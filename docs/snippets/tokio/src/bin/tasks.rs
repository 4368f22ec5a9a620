//! Ten tasks of clients and agents: `tasks PROGRAM ARGUMENT...`.

use std::env;
use std::io::{stdout, Write};

use futures::future::try_join;
use futures::TryStreamExt;
use libacp::aio::{AgentPeer, Client, ClientSession, Error, Failure, Handlers, PermissionRequest};
use libacp::schema::v1;
use libacp::ErrorCode;
use libacp_tokio::spawn;
use serde_json::Value;

// ANCHOR: login
/// A session, after a login where it needs one.
async fn login(agent: &AgentPeer, cwd: &str) -> Result<ClientSession, Error> {
    match (agent.new_session(cwd).await, agent.auth_methods().first()) {
        (Err(Error::Peer { error, .. }), Some(v1::AuthMethod::Agent(method)))
            if error.code == ErrorCode::AUTH_REQUIRED =>
        {
            agent.authenticate(&method.id.0).await?;
            agent.new_session(cwd).await
        }
        (result, _) => result,
    }
}
// ANCHOR_END: login

// ANCHOR: stream
async fn stream(session: &ClientSession) -> Result<(), Error> {
    let mut turn = session.prompt("Hello");
    while let Some(update) = turn.update().await? {
        print!("{}", update.text().unwrap_or_default());
        let _ = stdout().flush();
    }
    println!();
    Ok(())
}
// ANCHOR_END: stream

// ANCHOR: tool
async fn permit(request: PermissionRequest) -> Result<Option<String>, Failure> {
    let deletes = request.tool_call.kind == Some(v1::ToolKind::Delete);
    Ok(if deletes { request.reject() } else { request.allow() })
}
// ANCHOR_END: tool

// ANCHOR: mode
async fn switch(session: &ClientSession) -> Result<(), Error> {
    session.set_mode("code").await?;
    let modes = session.view(|view| view.modes()).flatten();
    println!("mode: {}", modes.map(|modes| modes.current().into_owned()).unwrap_or_default());
    Ok(())
}
// ANCHOR_END: mode

// ANCHOR: cancel
async fn cancel(session: &ClientSession) -> Result<(), Error> {
    let mut turn = session.prompt("wait");
    while turn.update().await?.is_some() {
        turn.cancel().await?;
    }
    println!("stopped: {}", turn.stop_reason().map(ToString::to_string).unwrap_or_default());
    Ok(())
}
// ANCHOR_END: cancel

// ANCHOR: list
async fn list(agent: &AgentPeer, cwd: &str) -> Result<(), Error> {
    let mut sessions = agent.list_sessions_with(v1::ListSessionsRequest::default().cwd(cwd.to_owned()));
    while let Some(kept) = sessions.try_next().await? {
        println!("kept: {}", kept.title.as_deref().unwrap_or_default());
    }
    Ok(())
}
// ANCHOR_END: list

// ANCHOR: load
async fn load(agent: &AgentPeer, id: &str, cwd: &str) -> Result<ClientSession, Error> {
    let session = agent.load_session(id, cwd).session().await?;
    session.view(|view| view.entries().for_each(|entry| println!("before: {}", entry.text())));
    Ok(session)
}
// ANCHOR_END: load

// ANCHOR: two
async fn two(agent: &AgentPeer, cwd: &str) -> Result<(), Error> {
    let sessions = [agent.new_session(cwd).await?, agent.new_session(cwd).await?];
    let answers = try_join(sessions[0].prompt("one").read_text(), sessions[1].prompt("two").read_text()).await?;
    println!("both: {} {}", answers.0, answers.1);
    Ok(())
}
// ANCHOR_END: two

// ANCHOR: reconnect
/// The answer to a prompt; of another agent, where the first one ends meanwhile.
async fn reconnect(
    command: &[String],
    client: &Client<impl Handlers>,
    session: &ClientSession,
    cwd: &str,
) -> Result<String, Failure> {
    match session.prompt("die").read_text().await {
        Err(Error::Closed { .. }) => {}
        result => return Ok(result?),
    }
    let agent = spawn(&command[0]).args(&command[1..]);
    agent
        .run(client, async |agent| {
            let again = agent.load_session(session.id(), cwd).session().await?;
            Ok(again.prompt("die").read_text().await?)
        })
        .await
}
// ANCHOR_END: reconnect

/// What the view has at a place of the first entry of a kind.
fn shown(session: &ClientSession, kind: &str, place: &str) -> Result<String, Failure> {
    let view: Value = serde_json::from_str(&session.view(|view| view.to_json()).unwrap_or_default())?;
    let entry = view["entries"].as_array().into_iter().flatten().find(|entry| entry["type"] == kind);
    Ok(entry.and_then(|entry| entry.pointer(place)?.as_str()).unwrap_or_default().to_owned())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let command: Vec<String> = env::args().skip(1).collect();
    let cwd = &env::current_dir()?.to_string_lossy().into_owned();
    let client = &Client::new("tasks", "1.0").views().permission(permit);
    let agent = spawn(&command[0]).args(&command[1..]);
    agent
        .run(client, async |agent| {
            let session = login(&agent, cwd).await?;
            stream(&session).await?;
            list(&agent, cwd).await?;
            let again = load(&agent, session.id(), cwd).await?;
            again.prompt("edit").finish().await?;
            println!("tool: {}", shown(&again, "tool_call", "/status")?);
            again.prompt("plan").finish().await?;
            let first = shown(&again, "plan", "/plan/entries/0/status")?;
            println!("plan: {first} {}", shown(&again, "plan", "/plan/entries/1/status")?);
            switch(&again).await?;
            cancel(&again).await?;
            two(&agent, cwd).await?;
            println!("again: {}", reconnect(&command, client, &agent.new_session(cwd).await?, cwd).await?);
            Ok(())
        })
        .await
}
