//! The agent of the ten tasks: it wants a login, has modes, and keeps its sessions in the folder `TASKS_STORE`.

use std::cell::Cell;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;
use std::{env, io};

use libacp::aio::{Agent, AgentSession, Failure, RequestError, Turn};
use libacp::schema::v1;
use libacp::ErrorCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let logged_in = &Cell::new(false);
    let agent = Agent::new("tasks", "1.0")
        .auth_methods(vec![v1::AuthMethodAgent::new("key", "Key").into()])
        .on::<fn(v1::AuthenticateRequest), _>(async |_| {
            logged_in.set(true);
            Ok(v1::AuthenticateResponse::default().into())
        })
        .new_session(async |got| {
            if !logged_in.get() {
                return Err(RequestError::new(ErrorCode::AUTH_REQUIRED, "Log in first").into());
            }
            let session = opening(got.session())?;
            Ok(v1::NewSessionResponse::new(session.id().to_owned()).modes(modes(&session)).into())
        })
        .load_session(async |got| {
            let session = opening(got.session())?;
            for line in fs::read_to_string(file(session.id()))?.lines() {
                let chunk = v1::ContentChunk::new(line.into());
                session.update(&v1::SessionUpdate::UserMessageChunk(chunk)).await?;
            }
            Ok(v1::LoadSessionResponse::default().modes(modes(&session)).into())
        })
        .on::<fn(v1::ListSessionsRequest), _>(async |got| {
            let mut sessions = Vec::new();
            for kept in fs::read_dir(store())? {
                let (kept, cwd) = (kept?, env::current_dir()?.to_string_lossy().into_owned());
                let title = fs::read_to_string(kept.path())?.trim().to_owned();
                let id = kept.file_name().to_string_lossy().into_owned();
                if got.cwd.as_deref().is_none_or(|wanted| wanted == cwd) {
                    sessions.push(v1::SessionInfo::new(id, cwd).title(title));
                }
            }
            Ok(v1::ListSessionsResponse::new(sessions).into())
        })
        .on::<fn(v1::SetSessionModeRequest), _>(async |got| Ok(set_mode(&opening(got.session())?, &got).into()))
        .prompt(async |turn| answer(&turn).await);
    agent.serve(libacp_tokio::stdio()?).await
}

fn opening(session: Option<AgentSession>) -> Result<AgentSession, Failure> {
    session.ok_or_else(|| Failure::new("no session"))
}

fn store() -> PathBuf {
    env::var_os("TASKS_STORE").unwrap_or_default().into()
}

fn file(id: &str) -> PathBuf {
    // An id is the client's text: it must not lead out of the folder.
    store().join(id.replace('/', "-"))
}

// ANCHOR: mode
fn modes(session: &AgentSession) -> v1::SessionModeState<'static> {
    session.set_data(Mutex::new("ask".to_owned()));
    let modes = [("ask", "Ask"), ("code", "Code")].map(|(id, name)| v1::SessionMode::new(id, name));
    v1::SessionModeState::new("ask", modes.into())
}

fn set_mode(session: &AgentSession, asked: &v1::SetSessionModeRequest<'_>) -> v1::SetSessionModeResponse<'static> {
    if let Some(mut mode) = session.data::<Mutex<String>>().as_ref().and_then(|mode| mode.lock().ok()) {
        *mode = asked.mode_id.to_string();
    }
    v1::SetSessionModeResponse::default()
}
// ANCHOR_END: mode

// ANCHOR: tool
async fn edit(turn: &Turn) -> Result<(), Failure> {
    let path = Path::new(&turn.session().cwd().unwrap_or_default()).join("tasks.txt");
    let name = path.to_string_lossy();
    let call = v1::ToolCall::new("edit", "Edit tasks.txt").kind(v1::ToolKind::Edit);
    let mut call = turn.tool_call_with(call.locations(vec![v1::ToolCallLocation::new(name.clone())])).await?;
    call.diff(&name, "new\n", Some("old\n")).await?;
    if !call.ask_permission().await?.allowed {
        return Ok(call.fail("Not allowed.").await?);
    }
    fs::write(&path, "new\n")?;
    Ok(call.complete().await?)
}
// ANCHOR_END: tool

// ANCHOR: plan
async fn plan(turn: &Turn) -> Result<(), Failure> {
    turn.plan(["Look", "Answer"]).await?;
    let look = v1::PlanEntry::new("Look", v1::PlanEntryPriority::Medium, v1::PlanEntryStatus::Completed);
    Ok(turn.plan([look, "Answer".into()]).await?)
}
// ANCHOR_END: plan

async fn answer(turn: &Turn) -> Result<(), Failure> {
    let (text, file) = (turn.text(), file(turn.session().id()));
    writeln!(OpenOptions::new().create(true).append(true).open(&file)?, "{text}")?;
    match text.as_str() {
        "edit" => edit(turn).await?,
        "plan" => plan(turn).await?,
        "wait" => {
            turn.message("Waiting.").await?;
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
        "die" if fs::read_to_string(&file)? == "die\n" => std::process::exit(1),
        _ => {}
    }
    let mode = turn.session().data::<Mutex<String>>().and_then(|mode| Some(mode.lock().ok()?.clone()));
    for part in ["You ".to_owned(), "said ".to_owned(), format!("{text} as {}", mode.unwrap_or_default())] {
        turn.message(part).await?;
    }
    Ok(())
}
