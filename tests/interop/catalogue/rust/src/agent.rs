//! The agent: sessions, options, logins and extensions. Its turns are in `turns`.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::pending;

use libacp::aio::{Agent, AgentSession, Failure, Received, Reply, RequestError};
use libacp::connection::Versions;
use libacp::schema::{v1, Message, Raw};
use libacp::typed::AgentSide;
use libacp::ErrorCode;
use libacp_tokio::stdio;
use serde_json::{json, Value};

type Got<M> = Received<AgentSide, M>;
type Answer<M> = Result<Reply<M>, Failure>;

/// A session, whether it is open or not.
pub(crate) struct Kept {
    cwd: String,
    pub(crate) mode: String,
    pub(crate) options: BTreeMap<String, Value>,
    pub(crate) history: Vec<Value>,
}

impl Kept {
    /// What every answer that opens a session has.
    fn opened(&self) -> Value {
        let modes = ["ask", "code"].map(|id| json!({"id": id, "name": id}));
        json!({"modes": {"currentModeId": self.mode, "availableModes": modes}, "configOptions": self.listed()})
    }

    pub(crate) fn listed(&self) -> Value {
        let choices = |values: [&str; 2]| values.map(|value| json!({"value": value, "name": value}));
        let [model, style, web] = ["model", "style", "web"].map(|id| &self.options[id]);
        let models = choices(["small", "large"]);
        let styles = json!([
            {"group": "prose", "name": "prose", "options": choices(["novel", "essay"])},
            {"group": "verse", "name": "verse", "options": choices(["haiku", "sonnet"])},
        ]);
        json!([
            {"type": "select", "id": "model", "name": "Model", "currentValue": model, "options": models},
            {"type": "select", "id": "style", "name": "Style", "currentValue": style, "options": styles},
            {"type": "boolean", "id": "web", "name": "Search the web", "currentValue": web},
        ])
    }
}

/// What the handlers share: there is one client.
pub(crate) struct Lab {
    pub(crate) kept: RefCell<BTreeMap<String, Kept>>,
    logged_in: Cell<bool>,
    given_up: Cell<u32>,
}

/// Serves one client on the standard streams; with `login`, only when it has logged in.
pub(crate) async fn serve(version: u16, login: bool) -> std::io::Result<()> {
    let lab = Lab { kept: RefCell::default(), logged_in: Cell::new(!login), given_up: Cell::new(0) };
    let ways = if login { vec![v1::AuthMethodAgent::new("key", "Key").into()] } else { Vec::new() };
    let agent = Agent::new("catalogue", "1.0")
        .versions(Versions::only(version))
        .auth_methods(ways)
        .capabilities(capabilities())
        .on::<fn(v1::AuthenticateRequest), _>(async |_| {
            lab.logged_in.set(true);
            Ok(Reply::default())
        })
        .on::<fn(v1::LogoutRequest), _>(async |_| {
            lab.logged_in.set(false);
            Ok(Reply::default())
        })
        .new_session(async |got| lab.new_session(&got))
        .load_session(async |got| lab.load_session(&got).await)
        .resume_session(async |got| lab.resume_session(&got))
        .on::<fn(v1::ListSessionsRequest), _>(async |got| lab.list(got.cwd.as_deref()))
        .on::<fn(v1::DeleteSessionRequest), _>(async |got| {
            lab.kept.borrow_mut().remove(&*got.session_id.0);
            Ok(Reply::default())
        })
        .on::<fn(v1::SetSessionModeRequest), _>(async |got| lab.set_mode(&got).await)
        .on::<fn(v1::SetSessionConfigOptionRequest), _>(async |got| lab.set_option(&got))
        .prompt(async |turn| lab.turn(&turn).await)
        .on_extension("_libacp.dev/echo", async |got| Ok(got.into_params().into()))
        .on_extension("_libacp.dev/wait", async |got| lab.wait(&got).await)
        .on_extension("_libacp.dev/given-up", async |_| Ok(Raw::of(&json!({"count": lab.given_up.get()}))?.into()))
        .on_extension_notification("_libacp.dev/note", async |got| {
            Ok(got.client().notify("_libacp.dev/noted", &*got).await?)
        })
        .on_violation(|violation| eprintln!("{}: {}", violation.rule, violation.message));
    agent.serve(stdio()?).await
}

fn capabilities() -> v1::AgentCapabilities<'static> {
    let mut can = v1::AgentCapabilities::new();
    can.prompt_capabilities.image = true;
    can.prompt_capabilities.embedded_context = true;
    can.session_capabilities.additional_directories = Some(v1::SessionAdditionalDirectoriesCapabilities::new());
    can
}

impl Lab {
    /// Does something with a session that is kept.
    pub(crate) fn with<T>(&self, id: &str, work: impl FnOnce(&mut Kept) -> T) -> Result<T, Failure> {
        let mut kept = self.kept.borrow_mut();
        let missing = || RequestError::new(ErrorCode::RESOURCE_NOT_FOUND, "There is no such session");
        Ok(work(kept.get_mut(id).ok_or_else(missing)?))
    }

    fn new_session(&self, got: &Got<fn(v1::NewSessionRequest)>) -> Answer<fn(v1::NewSessionRequest)> {
        if !self.logged_in.get() {
            return Err(RequestError::new(ErrorCode::AUTH_REQUIRED, "Log in first").into());
        }
        let session = opening(got.session())?;
        let options = [("model", json!("small")), ("style", json!("novel")), ("web", json!(false))];
        let options = options.map(|(id, value)| (id.to_owned(), value)).into();
        let cwd = session.cwd().unwrap_or_default();
        let kept = Kept { cwd, mode: "ask".to_owned(), options, history: Vec::new() };
        let mut answer = kept.opened();
        answer["sessionId"] = json!(session.id());
        self.kept.borrow_mut().insert(session.id().to_owned(), kept);
        Ok(v1::NewSessionResponse::detached(&answer.to_string())?.into())
    }

    async fn load_session(&self, got: &Got<fn(v1::LoadSessionRequest)>) -> Answer<fn(v1::LoadSessionRequest)> {
        let session = opening(got.session())?;
        let history = self.with(session.id(), |kept| kept.history.clone())?;
        for update in history {
            say(&session, update).await?;
        }
        let answer = self.with(session.id(), |kept| kept.opened())?;
        Ok(v1::LoadSessionResponse::detached(&answer.to_string())?.into())
    }

    fn resume_session(&self, got: &Got<fn(v1::ResumeSessionRequest)>) -> Answer<fn(v1::ResumeSessionRequest)> {
        let answer = self.with(opening(got.session())?.id(), |kept| kept.opened())?;
        Ok(v1::ResumeSessionResponse::detached(&answer.to_string())?.into())
    }

    fn list(&self, cwd: Option<&str>) -> Answer<fn(v1::ListSessionsRequest)> {
        let kept = self.kept.borrow();
        let wanted = kept.iter().filter(|(_, kept)| cwd.is_none_or(|cwd| cwd == kept.cwd));
        let sessions: Vec<Value> = wanted.map(|(id, kept)| json!({"sessionId": id, "cwd": kept.cwd})).collect();
        Ok(v1::ListSessionsResponse::detached(&json!({"sessions": sessions}).to_string())?.into())
    }

    async fn set_mode(&self, got: &Got<fn(v1::SetSessionModeRequest)>) -> Answer<fn(v1::SetSessionModeRequest)> {
        let session = opening(got.session())?;
        let mode = got.mode_id.0.to_string();
        self.with(session.id(), |kept| kept.mode.clone_from(&mode))?;
        say(&session, json!({"sessionUpdate": "current_mode_update", "currentModeId": mode})).await?;
        Ok(Reply::default())
    }

    fn set_option(
        &self,
        got: &Got<fn(v1::SetSessionConfigOptionRequest)>,
    ) -> Answer<fn(v1::SetSessionConfigOptionRequest)> {
        // As JSON, so that a value is one, of whatever type.
        let params = serde_json::to_value(&**got)?;
        let id = params["configId"].as_str().unwrap_or_default();
        let options = self.with(&got.session_id.0, |kept| {
            kept.options.insert(id.to_owned(), params["value"].clone());
            kept.listed()
        })?;
        Ok(v1::SetSessionConfigOptionResponse::detached(&json!({"configOptions": options}).to_string())?.into())
    }

    /// Waits until the client gives this up: then the handler is dropped.
    async fn wait(&self, got: &Got<fn(Raw)>) -> Answer<fn(Raw)> {
        let _given_up = GivenUp(&self.given_up);
        got.client().notify("_libacp.dev/noted", &json!({"note": "waiting"})).await?;
        pending().await
    }
}

struct GivenUp<'l>(&'l Cell<u32>);

impl Drop for GivenUp<'_> {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

fn opening(session: Option<AgentSession>) -> Result<AgentSession, Failure> {
    session.ok_or_else(|| Failure::new("a request without its session"))
}

/// Sends an update that is written as JSON; where it is wrong, the library says so.
pub(crate) async fn say(session: &AgentSession, update: Value) -> Result<(), Failure> {
    Ok(session.notify("session/update", &json!({"update": update})).await?)
}
