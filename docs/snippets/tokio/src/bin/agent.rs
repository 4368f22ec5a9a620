//! An agent with a login, modes, an option, and sessions that last: what the recipes show, in one program.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Mutex;
use std::{env, fs, io};

use libacp::aio::{Agent, AgentSession, Failure, RequestError, Turn};
use libacp::schema::v1;
use libacp::ErrorCode;
use serde::{Deserialize, Serialize};

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let folder = env::var_os("RECIPES_STORE").unwrap_or("sessions".into());
    let app = &App { store: Store(folder.into()), logged_in: Cell::new(false) };
    // ANCHOR: methods
    let token = v1::AuthMethodAgent::new("token", "Token").description("The token in RECIPES_TOKEN");
    let agent = Agent::new("recipes", "1.0").auth_methods(vec![token.into()]);
    // ANCHOR_END: methods
    // ANCHOR: handlers
    let agent = agent
        .on::<fn(v1::AuthenticateRequest), _>(async |_| Ok(app.authenticate()?.into()))
        .on::<fn(v1::SetSessionModeRequest), _>(async |got| Ok(app.set_mode(got.session(), &got)?.into()))
        .on::<fn(v1::SetSessionConfigOptionRequest), _>(async |got| Ok(app.set_option(got.session(), &got)?.into()))
        .new_session(async |got| Ok(app.begin(got.session())?.into()))
        .load_session(async |got| Ok(app.load(got.session()).await?.into()))
        .resume_session(async |got| Ok(app.resume(got.session())?.into()))
        .on::<fn(v1::ListSessionsRequest), _>(async |got| Ok(app.list(got.cwd.as_deref())?.into()))
        .prompt(async |turn| app.answer(&turn).await);
    // ANCHOR_END: handlers
    agent.serve(libacp_tokio::stdio()?).await
}

// ANCHOR: store
/// What is left of a session when its connection ends.
#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    cwd: String,
    mode: String,
    model: String,
    said: Vec<(Who, String)>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Who {
    User,
    Agent,
}

struct Store(PathBuf);

impl Store {
    fn save(&self, id: &str, kept: &Kept) -> Result<(), Failure> {
        fs::create_dir_all(&self.0)?;
        let half = self.0.join(format!("{id}.new"));
        fs::write(&half, serde_json::to_vec(kept)?)?;
        // Whoever reads it finds the old text or the new one.
        Ok(fs::rename(half, self.0.join(format!("{id}.json")))?)
    }

    fn read(&self, id: &str) -> Result<Kept, Failure> {
        // An id is the client's text: it must not lead out of the folder, nor to another file.
        let is_name = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        let text = is_name.then(|| fs::read(self.0.join(format!("{id}.json"))));
        match text {
            Some(Ok(text)) => Ok(serde_json::from_slice(&text)?),
            _ => Err(RequestError::new(ErrorCode::RESOURCE_NOT_FOUND, "No such session").into()),
        }
    }

    fn ids(&self) -> Vec<String> {
        let files = fs::read_dir(&self.0).into_iter().flatten().flatten().map(|file| file.path());
        let kept = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
        kept.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned())).collect()
    }
}
// ANCHOR_END: store

struct App {
    store: Store,
    logged_in: Cell<bool>,
}

// ANCHOR: login
impl App {
    fn authenticate(&self) -> Result<v1::AuthenticateResponse<'static>, Failure> {
        if env::var_os("RECIPES_TOKEN").is_none() {
            return Err(RequestError::new(ErrorCode::AUTH_REQUIRED, "RECIPES_TOKEN is not set").into());
        }
        self.logged_in.set(true);
        Ok(v1::AuthenticateResponse::default())
    }

    fn need_login(&self) -> Result<(), Failure> {
        if self.logged_in.get() {
            return Ok(());
        }
        Err(RequestError::new(ErrorCode::AUTH_REQUIRED, "Log in first").into())
    }
}
// ANCHOR_END: login

// ANCHOR: options
/// What a session can be set to, as it is now.
fn modes(kept: &Kept) -> v1::SessionModeState<'static> {
    let modes = [("ask", "Ask"), ("code", "Code")];
    v1::SessionModeState::new(kept.mode.clone(), modes.map(|(id, name)| v1::SessionMode::new(id, name)).into())
}

fn options(kept: &Kept) -> Vec<v1::SessionConfigOption<'static>> {
    let models = [("small", "Small"), ("large", "Large")];
    let models = models.map(|(id, name)| v1::SessionConfigSelectOption::new(id, name)).into();
    let models = v1::SessionConfigSelectOptions::Options(models);
    let model = v1::SessionConfigSelect::new(kept.model.clone(), models);
    let model = v1::SessionConfigOption::new("model", "Model", model.into());
    vec![model.category(v1::SessionConfigOptionCategory::Model)]
}

impl App {
    fn set_mode(
        &self,
        session: Option<AgentSession>,
        asked: &v1::SetSessionModeRequest<'_>,
    ) -> Result<v1::SetSessionModeResponse<'static>, Failure> {
        // One of those above: others are refused before this is called.
        self.change(session, |kept| kept.mode = asked.mode_id.to_string())?;
        Ok(v1::SetSessionModeResponse::default())
    }

    fn set_option(
        &self,
        session: Option<AgentSession>,
        asked: &v1::SetSessionConfigOptionRequest<'_>,
    ) -> Result<v1::SetSessionConfigOptionResponse<'static>, Failure> {
        let v1::SetSessionConfigOptionRequestKind::Untagged(chosen) = &asked.kind else {
            return Err(RequestError::of(ErrorCode::INVALID_PARAMS).into());
        };
        let kept = self.change(session, |kept| kept.model = chosen.value.to_string())?;
        Ok(v1::SetSessionConfigOptionResponse::new(options(&kept)))
    }

    /// Changes what is kept with a session, and saves it.
    fn change(&self, session: Option<AgentSession>, change: impl FnOnce(&mut Kept)) -> Result<Kept, Failure> {
        let session = session.ok_or_else(|| Failure::new("no session"))?;
        let data = session.data::<Mutex<Kept>>().ok_or_else(|| Failure::new("nothing is kept with the session"))?;
        let mut kept = data.lock().map_err(|_| Failure::new("a handler has panicked"))?;
        change(&mut kept);
        self.store.save(session.id(), &kept)?;
        Ok(kept.clone())
    }
}
// ANCHOR_END: options

// ANCHOR: sessions
impl App {
    fn begin(&self, session: Option<AgentSession>) -> Result<v1::NewSessionResponse<'static>, Failure> {
        self.need_login()?;
        let session = session.ok_or_else(|| Failure::new("no session"))?;
        let cwd = session.cwd().unwrap_or_default();
        let kept = Kept { cwd, mode: "ask".into(), model: "small".into(), said: Vec::new() };
        // The id was made up for it: 32 digits and a number.
        let opened = v1::NewSessionResponse::new(session.id().to_owned());
        let opened = opened.modes(modes(&kept)).config_options(options(&kept));
        session.set_data(Mutex::new(kept));
        Ok(opened)
    }

    async fn load(&self, session: Option<AgentSession>) -> Result<v1::LoadSessionResponse<'static>, Failure> {
        let (session, kept) = self.again(session)?;
        for (who, text) in &kept.said {
            let piece = v1::ContentChunk::new(text.as_str().into());
            session
                .update(&match who {
                    Who::User => v1::SessionUpdate::UserMessageChunk(piece),
                    Who::Agent => v1::SessionUpdate::AgentMessageChunk(piece),
                })
                .await?;
        }
        Ok(v1::LoadSessionResponse::default().modes(modes(&kept)).config_options(options(&kept)))
    }

    /// The client has the past still: nothing is replayed.
    fn resume(&self, session: Option<AgentSession>) -> Result<v1::ResumeSessionResponse<'static>, Failure> {
        let (_, kept) = self.again(session)?;
        Ok(v1::ResumeSessionResponse::default().modes(modes(&kept)).config_options(options(&kept)))
    }

    fn again(&self, session: Option<AgentSession>) -> Result<(AgentSession, Kept), Failure> {
        self.need_login()?;
        let session = session.ok_or_else(|| Failure::new("no session"))?;
        let kept = self.store.read(session.id())?;
        session.set_data(Mutex::new(kept.clone()));
        Ok((session, kept))
    }

    fn list(&self, cwd: Option<&str>) -> Result<v1::ListSessionsResponse<'static>, Failure> {
        self.need_login()?;
        let mut sessions = Vec::new();
        for id in self.store.ids() {
            let kept = self.store.read(&id)?;
            if cwd.is_none_or(|cwd| cwd == kept.cwd) {
                sessions.push(v1::SessionInfo::new(id, kept.cwd));
            }
        }
        Ok(v1::ListSessionsResponse::new(sessions))
    }
}
// ANCHOR_END: sessions

impl App {
    async fn answer(&self, turn: &Turn) -> Result<(), Failure> {
        let asked = turn.text();
        let mut text = String::new();
        self.change(Some(turn.session().clone()), |kept| {
            text = format!("{}, {}: {asked}", kept.mode, kept.model);
            kept.said.extend([(Who::User, asked), (Who::Agent, text.clone())]);
        })?;
        turn.message(text).await?;
        Ok(())
    }
}
