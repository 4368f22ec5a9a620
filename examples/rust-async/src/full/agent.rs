//! The agent.

use std::cell::{Cell, RefCell};

use libacp::aio::{streams, Agent, AgentSession, ClientPeer, Ending, Failure, Received, Reply, RequestError, Turn};
use libacp::schema::{v1, Answers, Message, Raw};
use libacp::typed::AgentSide;
use libacp::ErrorCode;
use serde_json::{json, Value};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

use super::store::{self, Conversation, Store};
use super::{tour, NAME, TITLE};

type Got<M> = Received<AgentSide, M>;
type Answer<M> = Result<Reply<M>, Failure>;

/// What the handlers share: there is one client.
struct Full {
    needs_login: bool,
    logged_in: Cell<bool>,
    store: RefCell<Store>,
}

/// Serves one client on the standard streams; only when it has logged in where `needs_login` says so.
///
/// # Errors
/// That of the streams.
pub async fn serve(needs_login: bool) -> std::io::Result<()> {
    let full = Full { needs_login, logged_in: Cell::new(!needs_login), store: RefCell::default() };
    let agent = Agent::new(NAME, env!("CARGO_PKG_VERSION"))
        .title(TITLE)
        .capabilities(capabilities())
        .initialize(async |got| full.initialize(&got))
        .on::<fn(v1::AuthenticateRequest), _>(async |got| full.authenticate(&got))
        .on::<fn(v1::LogoutRequest), _>(async |_| {
            full.logged_in.set(false);
            Ok(Reply::default())
        })
        .new_session(async |got| full.new_session(&got).await)
        .load_session(async |got| full.load_session(&got).await)
        .resume_session(async |got| full.resume_session(&got).await)
        .on::<fn(v1::ListSessionsRequest), _>(async |got| {
            full.check()?;
            answer(&full.store.borrow().page(got.cwd.as_deref(), got.cursor.as_deref()))
        })
        .on::<fn(v1::DeleteSessionRequest), _>(async |got| {
            full.store.borrow_mut().remove(&got.session_id.0);
            Ok(Reply::default())
        })
        .on::<fn(v1::CloseSessionRequest), _>(async |got| {
            full.with(&got.session_id.0, Conversation::touch)?;
            Ok(Reply::default())
        })
        .on::<fn(v1::SetSessionModeRequest), _>(async |got| full.set_mode(&got).await)
        .on::<fn(v1::SetSessionConfigOptionRequest), _>(async |got| full.set_option(&got).await)
        .prompt(async |turn| full.prompt(turn).await)
        .on_extension("_libacp.dev/echo", async |got| Ok(got.into_params().into()))
        .on_extension_notification("_libacp.dev/note", async |got| note(&got).await);
    agent.serve(streams(tokio::io::stdin().compat(), tokio::io::stdout().compat_write())).await
}

fn capabilities() -> v1::AgentCapabilities<'static> {
    let mut can = v1::AgentCapabilities::new();
    can.prompt_capabilities.image = true;
    can.prompt_capabilities.audio = true;
    can.prompt_capabilities.embedded_context = true;
    can.mcp_capabilities.http = true;
    can.mcp_capabilities.sse = true;
    can.session_capabilities.additional_directories = Some(v1::SessionAdditionalDirectoriesCapabilities::new());
    can
}

impl Full {
    fn initialize(&self, got: &Got<fn(v1::InitializeRequest)>) -> Answer<fn(v1::InitializeRequest)> {
        if !self.needs_login {
            return Ok(Reply::default());
        }
        let mut methods = vec![json!({"id": "key", "name": "Key", "description": "The key of this machine"})];
        if got.client_capabilities.auth.terminal {
            methods.push(json!({"type": "terminal", "id": "shell", "name": "Log in by hand", "args": ["--log-in"]}));
        }
        answer(&json!({"protocolVersion": 1, "authMethods": methods}))
    }

    fn authenticate(&self, got: &Got<fn(v1::AuthenticateRequest)>) -> Answer<fn(v1::AuthenticateRequest)> {
        if got.method_id.0 != "key" {
            return Err(RequestError::new(ErrorCode::INVALID_PARAMS, "There is no such way to log in").into());
        }
        self.logged_in.set(true);
        Ok(Reply::default())
    }

    fn check(&self) -> Result<(), Failure> {
        if self.logged_in.get() {
            return Ok(());
        }
        Err(RequestError::new(ErrorCode::AUTH_REQUIRED, "Log in first").into())
    }

    /// Does something with a conversation that is kept.
    fn with<T>(&self, id: &str, work: impl FnOnce(&mut Conversation) -> T) -> Result<T, Failure> {
        let mut store = self.store.borrow_mut();
        let missing = || RequestError::new(ErrorCode::RESOURCE_NOT_FOUND, "There is no such session");
        Ok(work(store.find(id).ok_or_else(missing)?))
    }

    async fn new_session(&self, got: &Got<fn(v1::NewSessionRequest)>) -> Answer<fn(v1::NewSessionRequest)> {
        self.check()?;
        let session = got.session().ok_or_else(|| Failure::new("no session"))?;
        self.store.borrow_mut().add(Conversation::new(session.id(), session.roots()));
        let mut state = self.opened(&session).await?;
        state["sessionId"] = json!(session.id());
        answer(&state)
    }

    async fn load_session(&self, got: &Got<fn(v1::LoadSessionRequest)>) -> Answer<fn(v1::LoadSessionRequest)> {
        self.check()?;
        let session = got.session().ok_or_else(|| Failure::new("no session"))?;
        let history = self.with(session.id(), |conversation| conversation.history.clone())?;
        for update in history {
            say(&session, update).await?;
        }
        answer(&self.opened(&session).await?)
    }

    async fn resume_session(&self, got: &Got<fn(v1::ResumeSessionRequest)>) -> Answer<fn(v1::ResumeSessionRequest)> {
        self.check()?;
        let session = got.session().ok_or_else(|| Failure::new("no session"))?;
        answer(&self.opened(&session).await?)
    }

    /// What every answer that opens a session has; the commands follow it.
    async fn opened(&self, session: &AgentSession) -> Result<Value, Failure> {
        let booleans = takes_booleans(session.client());
        let state = self.with(session.id(), |conversation| conversation.state(booleans))?;
        let commands = json!([
            {"name": "wait", "description": "Wait to be cancelled"},
            {"name": "tour", "description": "Show everything", "input": {"hint": "anything"}},
        ]);
        say(session, json!({"sessionUpdate": "available_commands_update", "availableCommands": commands})).await?;
        Ok(state)
    }

    async fn set_mode(&self, got: &Got<fn(v1::SetSessionModeRequest)>) -> Answer<fn(v1::SetSessionModeRequest)> {
        let mode = got.mode_id.0.to_string();
        if !store::MODES.iter().any(|(id, _)| *id == mode) {
            return Err(RequestError::new(ErrorCode::INVALID_PARAMS, "There is no such mode").into());
        }
        self.with(&got.session_id.0, |conversation| conversation.mode.clone_from(&mode))?;
        if let Some(session) = got.session() {
            say(&session, json!({"sessionUpdate": "current_mode_update", "currentModeId": mode})).await?;
        }
        Ok(Reply::default())
    }

    async fn set_option(
        &self,
        got: &Got<fn(v1::SetSessionConfigOptionRequest)>,
    ) -> Answer<fn(v1::SetSessionConfigOptionRequest)> {
        // As JSON, so that a value is one, of whatever type.
        let params = serde_json::to_value(&**got)?;
        let session = got.session().ok_or_else(|| Failure::new("no session"))?;
        let set = self.with(session.id(), |conversation| {
            let done = conversation.set(params["configId"].as_str().unwrap_or_default(), &params["value"]);
            done.then(|| conversation.config_options(takes_booleans(session.client())))
        })?;
        let wrong = || RequestError::new(ErrorCode::INVALID_PARAMS, "There is no such option or value");
        let options = set.ok_or_else(wrong)?;
        say(&session, json!({"sessionUpdate": "config_option_update", "configOptions": options})).await?;
        answer(&json!({"configOptions": options}))
    }

    async fn prompt(&self, turn: Turn) -> Result<Ending, Failure> {
        // What is refused is no part of the conversation.
        if turn.text() == "refuse" {
            return Ok(v1::StopReason::Refusal.into());
        }
        let session = turn.session().clone();
        let asked = serde_json::to_value(turn.blocks())?;
        self.with(session.id(), |conversation| conversation.add("user_message_chunk", &asked))?;
        if turn.text() == "wait" {
            tour::wait(&turn).await?;
        }
        let (title, updated) = self.with(session.id(), |conversation| conversation.named(&turn.text()))?;
        tour::run(&turn, &title, &updated).await?;
        let end = json!([{"type": "text", "text": "That was all."}]);
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": end[0], "messageId": "end"});
        say(&session, update).await?;
        self.with(session.id(), |conversation| conversation.add("agent_message_chunk", &end))?;
        Ok(().into())
    }
}

/// What the params of an extension mean is not known to the library, so the session is looked up here.
async fn note(got: &Got<fn(Raw)>) -> Result<(), Failure> {
    let params: Value = got.parse()?;
    if let Some(session) = params["sessionId"].as_str().and_then(|id| got.client().session(id)) {
        let text = format!("noted: {}", params["note"].as_str().unwrap_or_default());
        let content = json!({"type": "text", "text": text});
        say(&session, json!({"sessionUpdate": "agent_message_chunk", "content": content})).await?;
    }
    Ok(())
}

fn takes_booleans(client: &ClientPeer) -> bool {
    let can = client.capabilities();
    can.session.and_then(|session| session.config_options).is_some_and(|options| options.boolean.is_some())
}

/// Sends an update that is written as JSON; where it is wrong, the library says so.
pub(crate) async fn say(session: &AgentSession, update: Value) -> Result<(), Failure> {
    Ok(session.notify("session/update", &json!({"update": update})).await?)
}

/// A result that is written as JSON, read as what the method is answered with.
fn answer<M>(result: &Value) -> Answer<M>
where
    M: Answered,
{
    Ok(M::Result::detached(&result.to_string())?.into())
}

/// The type that a method is answered with.
trait Answered: Sized {
    type Result: Message<'static> + Answers<Self>;
}

macro_rules! answered {
    ($($request:ident with $result:ident),+ $(,)?) => {
        $(impl Answered for fn(v1::$request) {
            type Result = v1::$result<'static>;
        })+
    };
}

answered! {
    InitializeRequest with InitializeResponse,
    NewSessionRequest with NewSessionResponse,
    LoadSessionRequest with LoadSessionResponse,
    ResumeSessionRequest with ResumeSessionResponse,
    ListSessionsRequest with ListSessionsResponse,
    SetSessionConfigOptionRequest with SetSessionConfigOptionResponse,
}
