//! The agent of the catalogue (`../../../../catalogue`) on the official Rust SDK, in version 1: `steps-agent --version 1 [--login]`.
//!
//! A prompt whose first text is `step: ID` plays the turn of that step; `steps.json` there says what its client has to see.
//! The SDK's typed messages are turned into JSON and back, as in the script's agent.

#![forbid(unsafe_code)]

mod turn;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent_client_protocol::v1::schema::{
    AuthenticateRequest, CancelNotification, CloseSessionRequest, DeleteSessionRequest, InitializeRequest,
    ListSessionsRequest, LoadSessionRequest, LogoutRequest, NewSessionRequest, PromptRequest, ResumeSessionRequest,
    SessionNotification, SetSessionConfigOptionRequest, SetSessionModeRequest,
};
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{Agent, Client, Error, JsonRpcNotification, JsonRpcRequest, JsonRpcResponse, Stdio};
use async_io::Timer;
use futures::future::{abortable, AbortHandle};
use libacp_interop_rust::Echo;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{json, Map, Value};
use turn::Turn;

type Answer = Result<Value, Error>;

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcNotification)]
#[notification(method = "_libacp.dev/note")]
#[serde(transparent)]
struct Note(Map<String, Value>);

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcNotification)]
#[notification(method = "_libacp.dev/noted")]
#[serde(transparent)]
struct Noted(Map<String, Value>);

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_libacp.dev/wait", response = Value)]
#[serde(transparent)]
struct Wait(Map<String, Value>);

#[derive(Debug, Clone, Serialize, Deserialize, JsonRpcRequest)]
#[request(method = "_libacp.dev/given-up", response = Value)]
#[serde(transparent)]
struct GivenUp(Map<String, Value>);

/// A session, whether it is open or not.
struct Kept {
    cwd: String,
    further: Vec<Value>,
    mode: String,
    options: BTreeMap<String, Value>,
    history: Vec<Value>,
    turn: Option<AbortHandle>,
}

impl Kept {
    fn listed(&self) -> Value {
        let models = ["small", "large"].map(|value| json!({"value": value, "name": value}));
        let (model, web) = (&self.options["model"], &self.options["web"]);
        json!([
            {"type": "select", "id": "model", "name": "Model", "currentValue": model, "options": models},
            {"type": "boolean", "id": "web", "name": "Search the web", "currentValue": web},
        ])
    }

    fn opened(&self) -> Value {
        let modes = ["ask", "code"].map(|id| json!({"id": id, "name": id}));
        json!({"modes": {"currentModeId": self.mode, "availableModes": modes}, "configOptions": self.listed()})
    }
}

struct Lab {
    login: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    logged_in: bool,
    client: String,
    kept: BTreeMap<String, Kept>,
    /// How many sessions there were, and how many requests were given up.
    opened: u32,
    given_up: u32,
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

impl Lab {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with<T>(&self, id: &str, work: impl FnOnce(&mut Kept) -> T) -> Result<T, Error> {
        let missing = || Error::new(-32002, "There is no such session");
        self.state().kept.get_mut(id).map(work).ok_or_else(missing)
    }

    async fn answer(&self, client: &ConnectionTo<Client>, method: &str, params: Value) -> Answer {
        let id = text(&params["sessionId"]).to_owned();
        match method {
            "initialize" => {
                text(&params["clientInfo"]["name"]).clone_into(&mut self.state().client);
                let sessions =
                    json!({"list": {}, "resume": {}, "close": {}, "delete": {}, "additionalDirectories": {}});
                let prompts = json!({"image": true, "embeddedContext": true});
                let can = json!({"loadSession": true, "promptCapabilities": prompts, "sessionCapabilities": sessions,
                    "auth": {"logout": {}}});
                let ways = if self.login { json!([{"id": "key", "name": "Key"}]) } else { json!([]) };
                let info = json!({"name": "catalogue", "version": "1.0"});
                Ok(json!({"protocolVersion": 1, "agentInfo": info, "agentCapabilities": can, "authMethods": ways}))
            }
            "authenticate" | "logout" => {
                self.state().logged_in = method == "authenticate";
                Ok(json!({}))
            }
            "session/new" => {
                let mut state = self.state();
                if self.login && !state.logged_in {
                    return Err(Error::auth_required());
                }
                state.opened += 1;
                let id = format!("session-{}", state.opened);
                let options = BTreeMap::from([("model".to_owned(), json!("small")), ("web".to_owned(), json!(false))]);
                let further = params["additionalDirectories"].as_array().cloned().unwrap_or_default();
                let (cwd, mode) = (text(&params["cwd"]).to_owned(), "ask".to_owned());
                let kept = Kept { cwd, further, mode, options, history: Vec::new(), turn: None };
                let mut answer = kept.opened();
                answer["sessionId"] = json!(id);
                state.kept.insert(id, kept);
                Ok(answer)
            }
            "session/load" => {
                for update in self.with(&id, |kept| kept.history.clone())? {
                    say(client, &id, &update)?;
                }
                self.with(&id, |kept| kept.opened())
            }
            "session/resume" => self.with(&id, |kept| kept.opened()),
            "session/list" => {
                let state = self.state();
                let found = state.kept.iter().filter(|(_, kept)| params["cwd"].is_null() || params["cwd"] == kept.cwd);
                let sessions: Vec<Value> = found.map(|(id, kept)| json!({"sessionId": id, "cwd": kept.cwd})).collect();
                Ok(json!({"sessions": sessions}))
            }
            "session/delete" => {
                self.state().kept.remove(&id);
                Ok(json!({}))
            }
            "session/close" => {
                self.with(&id, |kept| kept.turn.as_ref().map(AbortHandle::abort))?;
                while self.with(&id, |kept| kept.turn.is_some())? {
                    Timer::after(Duration::from_millis(1)).await;
                }
                Ok(json!({}))
            }
            "session/set_mode" => {
                self.with(&id, |kept| text(&params["modeId"]).clone_into(&mut kept.mode))?;
                say(client, &id, &json!({"sessionUpdate": "current_mode_update", "currentModeId": params["modeId"]}))?;
                Ok(json!({}))
            }
            "session/set_config_option" => self.with(&id, |kept| {
                kept.options.insert(text(&params["configId"]).to_owned(), params["value"].clone());
                json!({"configOptions": kept.listed()})
            }),
            "session/prompt" => {
                let (turn, stop) = abortable(self.turn(client, &id, &params));
                self.with(&id, |kept| kept.turn = Some(stop))?;
                let ended = turn.await.unwrap_or(Ok("cancelled"));
                self.with(&id, |kept| kept.turn = None)?;
                ended.map(|reason| json!({"stopReason": reason}))
            }
            "_libacp.dev/given-up" => Ok(json!({"count": self.state().given_up})),
            _ => Ok(params),
        }
    }

    async fn turn(&self, client: &ConnectionTo<Client>, id: &str, params: &Value) -> Result<&'static str, Error> {
        let blocks = &params["prompt"];
        let texts = blocks.as_array().into_iter().flatten().filter(|block| block["type"] == "text");
        let told = texts.map(|block| json!({"sessionUpdate": "user_message_chunk", "content": block}));
        self.with(id, |kept| kept.history.extend(told))?;
        let step = text(&blocks[0]["text"]).trim_start_matches("step: ");
        let cwd = self.with(id, |kept| kept.cwd.clone())?;
        let turn = Turn { lab: self, client, id, cwd };
        match step {
            "stop.max_tokens" => return Ok("max_tokens"),
            "stop.max_turn_requests" => return Ok("max_turn_requests"),
            "stop.refusal" => return Ok("refusal"),
            "stop.end_turn" => {}
            "error.handler" => return Err(Error::new(-32042, "No such thing").data(json!({"thing": "x"}))),
            _ if step.starts_with("update.") => turn.update(step)?,
            _ if step.starts_with("fs.") || step.starts_with("term.") => turn.use_client(step).await?,
            _ => turn.others(step, params).await?,
        }
        Ok("end_turn")
    }
}

fn say(client: &ConnectionTo<Client>, id: &str, update: &Value) -> Result<(), Error> {
    let told: SessionNotification = serde_json::from_value(json!({"sessionId": id, "update": update}))?;
    client.send_notification(told)
}

async fn ask<R>(client: &ConnectionTo<Client>, params: Value) -> Answer
where
    R: JsonRpcRequest<Response: Serialize> + DeserializeOwned,
{
    let request: R = serde_json::from_value(params)?;
    Ok(serde_json::to_value(client.send_request(request).block_task().await?)?)
}

/// Serves a request beside the loop that reads.
fn take<R>(
    lab: &Arc<Lab>,
    request: &R,
    responder: Responder<R::Response>,
    client: &ConnectionTo<Client>,
) -> Result<(), Error>
where
    R: JsonRpcRequest<Response: JsonRpcResponse> + Serialize,
{
    let (method, params) = (request.method().to_owned(), serde_json::to_value(request)?);
    let (lab, responder, here) = (Arc::clone(lab), responder.erase_to_json(), client.clone());
    client.spawn(async move {
        match lab.answer(&here, &method, params).await {
            Ok(result) => responder.respond(result),
            Err(error) => responder.respond_with_error(error),
        }
    })
}

macro_rules! serves {
    ($builder:expr, $lab:expr, $($request:ty),+ $(,)?) => {{
        let builder = $builder;
        $(
            let lab = Arc::clone(&$lab);
            let builder = builder.on_receive_request(
                async move |request: $request, responder, client: ConnectionTo<Client>| {
                    take(&lab, &request, responder, &client)
                },
                agent_client_protocol::on_receive_request!(),
            );
        )+
        builder
    }};
}

async fn run() -> Result<(), Error> {
    let login = std::env::args().any(|argument| argument == "--login");
    let lab = Arc::new(Lab { login, state: Mutex::default() });
    let builder = serves!(
        Agent.v1().name("catalogue"),
        lab,
        InitializeRequest,
        AuthenticateRequest,
        LogoutRequest,
        NewSessionRequest,
        LoadSessionRequest,
        ResumeSessionRequest,
        ListSessionsRequest,
        DeleteSessionRequest,
        CloseSessionRequest,
        SetSessionModeRequest,
        SetSessionConfigOptionRequest,
        PromptRequest,
        Echo,
        GivenUp
    );
    let waiting = Arc::clone(&lab);
    let builder = builder.on_receive_request(
        async move |_: Wait, responder: Responder<Value>, client: ConnectionTo<Client>| {
            let note = json!({"note": "waiting"});
            client.send_notification(Noted(serde_json::from_value(note)?))?;
            let lab = Arc::clone(&waiting);
            client.spawn(async move {
                responder.cancellation().cancelled().await;
                lab.state().given_up += 1;
                responder.respond_with_error(Error::new(-32800, "Given up"))
            })
        },
        agent_client_protocol::on_receive_request!(),
    );
    let builder = builder.on_receive_notification(
        async move |cancel: CancelNotification, _client: ConnectionTo<Client>| {
            lab.with(&cancel.session_id.0, |kept| kept.turn.as_ref().map(AbortHandle::abort)).map(drop)
        },
        agent_client_protocol::on_receive_notification!(),
    );
    let builder = builder.on_receive_notification(
        async move |note: Note, client: ConnectionTo<Client>| client.send_notification(Noted(note.0)),
        agent_client_protocol::on_receive_notification!(),
    );
    builder
        .connect_with(Stdio::new(), async move |client: ConnectionTo<Client>| {
            client.incoming_closed().await;
            Ok(())
        })
        .await
}

fn main() -> ExitCode {
    match futures::executor::block_on(run()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("rust agent: {error}");
            ExitCode::FAILURE
        }
    }
}
