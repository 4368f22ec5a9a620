//! Goes on where the last conversation in this folder ended: `client PROGRAM ARGUMENT...`.

use std::env;

use futures::TryStreamExt;
use libacp::aio::{AgentPeer, Client, ClientSession, Error, Failure};
use libacp::schema::v1::{self, ContentBlock, SessionUpdate};
use libacp::{printable, ErrorCode};

// ANCHOR: login
/// The session, after a login where one is needed.
async fn logged_in(agent: &AgentPeer, cwd: &str) -> Result<ClientSession, Error> {
    let methods = agent.auth_methods();
    match (opened(agent, cwd).await, methods.first()) {
        // A client with a user asks which; this one takes the first.
        (Err(Error::Peer { error, .. }), Some(v1::AuthMethod::Agent(method)))
            if error.code == ErrorCode::AUTH_REQUIRED =>
        {
            agent.authenticate(&method.id.0).await?;
            opened(agent, cwd).await
        }
        (result, _) => result,
    }
}
// ANCHOR_END: login

// ANCHOR: open
/// The last session in a folder, or a new one.
async fn opened(agent: &AgentPeer, cwd: &str) -> Result<ClientSession, Error> {
    if agent.can("session/list") && agent.can("session/load") {
        let here = v1::ListSessionsRequest::default().cwd(cwd.to_owned());
        let mut sessions = agent.list_sessions_with(here);
        if let Some(kept) = sessions.try_next().await? {
            let mut loading = agent.load_session(&kept.session_id.0, cwd);
            while let Some(update) = loading.update().await? {
                let Some(SessionUpdate::UserMessageChunk(chunk) | SessionUpdate::AgentMessageChunk(chunk)) =
                    update.v1()
                else {
                    continue;
                };
                if let ContentBlock::Text(text) = &chunk.content {
                    println!("before: {}", printable(&text.text));
                }
            }
            return loading.session().await;
        }
    }
    agent.new_session(cwd).await
}
// ANCHOR_END: open

// ANCHOR: settings
/// Switches the mode and the model, where there are any to choose from.
async fn set_up(session: &ClientSession) -> Result<(), Error> {
    let Some(opened) = session.opened() else { return Ok(()) };
    if opened.modes.iter().flat_map(|modes| &modes.available_modes).any(|mode| mode.id.0 == "code") {
        session.set_mode("code").await?;
    }
    for option in opened.config_options.iter().flatten() {
        let v1::SessionConfigOptionKind::Select(select) = &option.kind else { continue };
        if option.category != Some(v1::SessionConfigOptionCategory::Model) {
            continue;
        }
        let last = match &select.options {
            v1::SessionConfigSelectOptions::Options(choices) => choices.last(),
            v1::SessionConfigSelectOptions::Groups(groups) => groups.last().and_then(|group| group.options.last()),
            _ => None,
        };
        if let Some(choice) = last {
            session.set_config_option(&option.id.0, choice.value.as_str()).await?;
        }
    }
    Ok(())
}
// ANCHOR_END: settings

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let mut command = env::args().skip(1);
    let program = command.next().ok_or_else(|| Failure::new("expected PROGRAM ARGUMENT..."))?;
    let folder = env::current_dir()?.to_string_lossy().into_owned();
    let agent = libacp_tokio::spawn(program).args(command);
    agent
        .run(&Client::new("recipes", "1.0"), async |agent| {
            let session = logged_in(&agent, &folder).await?;
            set_up(&session).await?;
            println!("now: {}", printable(&session.prompt("Hello").read_text().await?));
            Ok(())
        })
        .await
}
