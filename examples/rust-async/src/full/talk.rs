//! What the client does with the agent.

use std::collections::HashMap;
use std::future::Future;
use std::path::Path;

use futures::TryStreamExt;
use libacp::aio::{AgentPeer, ClientSession, Error, Failure, PromptTurn};
use libacp::schema::v1::{self, AuthMethod, ContentBlock, McpServer};
use serde_json::{json, Value};

use super::show::{joined, options, say, shown};

pub(crate) async fn run(agent: &AgentPeer, folder: &str) -> Result<(), Failure> {
    let further = format!("{folder}/further");
    std::fs::create_dir(&further)?;
    let needs_login = !agent.auth_methods().is_empty();
    if needs_login {
        log_in(agent, folder).await?;
    }
    let request = v1::NewSessionRequest::new(folder, servers()).additional_directories(vec![(&further).into()]);
    let session = agent.new_session_with(&request).await?;
    settings(&session).await?;
    follow(session.prompt(blocks())).await?;
    let written = std::fs::read_to_string(Path::new(folder).join("full.txt"))?;
    say(format!("written: {}", joined(written.split_whitespace())));
    follow_and(session.prompt("wait"), async |turn| turn.cancel().await).await?;
    follow(session.prompt("refuse")).await?;
    extension(agent, &session).await?;
    known(&session)?;
    keep(agent, folder, &session).await?;
    if needs_login {
        agent.logout().await?;
        refused("a session after", agent.new_session(folder)).await?;
    }
    Ok(())
}

fn servers() -> Vec<McpServer<'static>> {
    let header = vec![v1::HttpHeader::new("X", "y")];
    let environment = vec![v1::EnvVariable::new("A", "b")];
    vec![
        v1::McpServerStdio::new("files", "/bin/true", vec!["-v".into()], environment).into(),
        v1::McpServerHttp::new("web", "https://example.com/mcp", header).into(),
        v1::McpServerSse::new("old", "https://example.com/sse", vec![]).into(),
    ]
}

fn blocks() -> Vec<ContentBlock<'static>> {
    let text = v1::EmbeddedResourceResource::Text(v1::TextResourceContents::new("a", "file:///a"));
    vec![
        "tour".into(),
        v1::ImageContent::new("aGk=", "image/png").into(),
        v1::AudioContent::new("aGk=", "audio/wav").into(),
        v1::ResourceLink::new("a", "file:///a").into(),
        v1::EmbeddedResource::new(text).into(),
    ]
}

async fn refused<T>(what: &str, call: impl Future<Output = Result<T, Error>>) -> Result<(), Error> {
    match call.await {
        Ok(_) => say(format!("{what}: not refused")),
        Err(Error::Peer { error, .. }) => say(format!("{what}: refused with {}", error.code)),
        Err(other) => return Err(other),
    }
    Ok(())
}

/// Prints a turn.
async fn follow(turn: PromptTurn) -> Result<(), Error> {
    follow_and(turn, async |_| Ok(())).await
}

/// Prints a turn, and does something when a tool is called.
async fn follow_and(
    mut turn: PromptTurn,
    when_called: impl AsyncFn(&PromptTurn) -> Result<(), Error>,
) -> Result<(), Error> {
    while let Some(update) = turn.update().await? {
        say(shown(&update));
        if update.kind() == "tool_call" {
            when_called(&turn).await?;
        }
    }
    if let Some(reason) = turn.stop_reason() {
        say(format!("the end: {reason}"));
    }
    Ok(())
}

async fn log_in(agent: &AgentPeer, folder: &str) -> Result<(), Error> {
    let methods = agent.auth_methods().into_iter().filter_map(|method| match method {
        AuthMethod::Agent(method) => Some(format!("{} (agent)", method.id)),
        AuthMethod::Terminal(method) => Some(format!("{} (terminal)", method.id)),
        _ => None,
    });
    say(format!("ways to log in: {}", joined(methods)));
    refused("a session before", agent.new_session(folder)).await?;
    agent.authenticate("key").await
}

/// The mode and the options that the answer has which opened a session.
fn opened(session: &ClientSession) -> (String, String) {
    let opened = session.opened();
    let modes = opened.and_then(|opened| opened.modes.as_ref());
    let found = opened.and_then(|opened| opened.config_options.as_deref()).unwrap_or_default();
    (modes.map_or_else(String::new, |modes| modes.current_mode_id.to_string()), options(found))
}

async fn settings(session: &ClientSession) -> Result<(), Error> {
    let (mode, set) = opened(session);
    let modes = session.opened().and_then(|opened| opened.modes.as_ref());
    let available = modes.map_or(&[][..], |modes| &modes.available_modes);
    say(format!("modes: {mode} of {}", joined(available.iter().map(|mode| &mode.id))));
    say(format!("options: {set}"));
    session.set_mode("code").await?;
    say(format!("options: {}", options(&session.set_config_option("model", "huge").await?)));
    say(format!("options: {}", options(&session.set_config_option("web", true).await?)));
    Ok(())
}

async fn extension(agent: &AgentPeer, session: &ClientSession) -> Result<(), Failure> {
    let answer = agent.request("_libacp.dev/echo", &json!({"value": [1, null]})).await?;
    say(format!("echo: {}", answer.parse::<Value>()?["value"]));
    session.notify("_libacp.dev/note", &json!({"note": "hello"})).await?;
    Ok(refused("an extension that is not there", agent.request("_libacp.dev/none", &json!({}))).await?)
}

/// What the library knows of a session by now.
fn known(session: &ClientSession) -> Result<(), Failure> {
    let snapshot: Value = serde_json::from_str(&session.snapshot().unwrap_or_default())?;
    let each = |list: &str, member: &str| {
        let items = snapshot[list].as_array().into_iter().flatten();
        joined(items.map(|item| item[member].as_str().unwrap_or_default()))
    };
    let mode = snapshot["modes"]["currentModeId"].as_str().unwrap_or_default();
    let (commands, calls) = (each("commands", "name"), each("toolCalls", "status"));
    say(format!("known: mode {mode}; commands {commands}; tool calls {calls}"));
    Ok(())
}

/// What becomes of sessions.
async fn keep(agent: &AgentPeer, folder: &str, first: &ClientSession) -> Result<(), Error> {
    let further = format!("{folder}/further");
    let second = agent.new_session(folder).await?;
    let third = agent.new_session(&further).await?;
    let names = HashMap::from([(first.id(), "first"), (second.id(), "second"), (third.id(), "third")]);
    let list = async |request: v1::ListSessionsRequest<'static>| {
        let sessions: Vec<_> = agent.list_sessions_with(request).try_collect().await?;
        let listed = sessions.iter().map(|each| names.get(each.session_id.as_str()).copied().unwrap_or("unknown"));
        Ok::<_, Error>(joined(listed))
    };
    let all = v1::ListSessionsRequest::new;
    say(format!("sessions: {}", list(all()).await?));
    say(format!("in a directory: {}", list(all().cwd(further.clone())).await?));
    follow_and(second.prompt("wait"), async |_| second.close().await).await?;
    let resumed = agent.resume_session(second.id(), folder).await?;
    let (mode, set) = opened(&resumed);
    say(format!("resumed: {mode}; {set}"));
    resumed.close().await?;
    agent.delete_session(resumed.id()).await?;
    agent.delete_session(third.id()).await?;
    say(format!("sessions: {}", list(all()).await?));
    first.close().await?;
    let request = v1::LoadSessionRequest::new(servers(), folder, first.id());
    let mut loading = agent.load_session_with(&request.additional_directories(vec![(&further).into()]));
    while let Some(update) = loading.update().await? {
        say(format!("replay: {}", shown(&update)));
    }
    let (mode, set) = opened(&loading.session().await?);
    say(format!("loaded: {mode}; {set}"));
    Ok(())
}
