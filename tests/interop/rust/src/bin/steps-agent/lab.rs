//! The agent's answers, and what it keeps of its sessions.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent_client_protocol::{Client, ConnectionTo, Error, JsonRpcRequest, JsonRpcResponse, Protocol, Raw, Responder};
use async_io::Timer;
use futures::future::{abortable, AbortHandle};
use libacp_interop_rust::steps::checks::{list, text};
use libacp_interop_rust::steps::{tell, Answer, Noted};
use serde::Serialize;
use serde_json::{json, Value};

use crate::turn::Turn;
use crate::words::{Kept, Words};

pub(crate) struct Lab {
    pub(crate) words: Words,
    login: bool,
    state: Mutex<State>,
}

#[derive(Default)]
pub(crate) struct State {
    logged_in: bool,
    pub(crate) client: String,
    kept: BTreeMap<String, Kept>,
    /// How many ids were made, and how many requests were given up.
    ids: u32,
    given_up: u32,
}

/// Serves a request beside the loop that reads.
pub(crate) fn serve<R, P>(
    lab: &Arc<Lab>,
    request: &R,
    responder: Responder<R::Response, P>,
    client: &ConnectionTo<Client>,
) -> Result<(), Error>
where
    R: JsonRpcRequest<Response: JsonRpcResponse> + Serialize,
    P: Protocol,
{
    let (method, params) = (request.method().to_owned(), serde_json::to_value(request)?);
    let (lab, responder, here) = (Arc::clone(lab), responder.erase_to_json().into_raw(), client.clone());
    client.spawn(async move {
        if lab.words.are_2() && method == "session/prompt" {
            return lab.work(&here, &params, responder).await;
        }
        responder.respond_with_result(lab.answer(&here, &method, params).await)
    })
}

/// Waits until the client has given a request up.
pub(crate) fn wait<P: Protocol>(
    lab: &Arc<Lab>,
    responder: Responder<Value, P>,
    client: &ConnectionTo<Client>,
) -> Result<(), Error> {
    tell::<Noted, _>(client, json!({"note": "waiting"}))?;
    let lab = Arc::clone(lab);
    client.spawn(async move {
        responder.cancellation().cancelled().await;
        lab.state().given_up += 1;
        responder.respond_with_error(Error::new(-32800, "Given up"))
    })
}

impl Lab {
    pub(crate) fn new(words: Words, login: bool) -> Lab {
        Lab { words, login, state: Mutex::default() }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn with<T>(&self, id: &str, work: impl FnOnce(&mut Kept) -> T) -> Result<T, Error> {
        let missing = || Error::new(-32002, "There is no such session");
        self.state().kept.get_mut(id).map(work).ok_or_else(missing)
    }

    fn id(&self, what: &str) -> String {
        let mut state = self.state();
        state.ids += 1;
        format!("{what}-{}", state.ids)
    }

    pub(crate) fn say(&self, client: &ConnectionTo<Client>, id: &str, update: &Value) -> Result<(), Error> {
        let params = json!({"sessionId": id, "update": update});
        if self.words.are_2() {
            return tell::<agent_client_protocol::v2::schema::UpdateSessionNotification, _>(client, params);
        }
        tell::<agent_client_protocol::v1::schema::SessionNotification, _>(client, params)
    }

    async fn answer(&self, client: &ConnectionTo<Client>, method: &str, params: Value) -> Answer {
        let id = text(&params["sessionId"]).to_owned();
        match method {
            "initialize" => {
                let info = if self.words.are_2() { &params["info"] } else { &params["clientInfo"] };
                text(&info["name"]).clone_into(&mut self.state().client);
                Ok(self.words.initialized(self.login))
            }
            "authenticate" | "auth/login" | "logout" | "auth/logout" => {
                self.state().logged_in = !method.ends_with("logout");
                Ok(json!({}))
            }
            "session/new" => self.new_session(&params),
            "session/load" => self.open(client, &id, true),
            "session/resume" => self.open(client, &id, params["replayFrom"].is_object()),
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
                let update = self.with(&id, |kept| {
                    text(&params["modeId"]).clone_into(&mut kept.mode);
                    self.words.mode(kept)
                })?;
                self.say(client, &id, &update)?;
                Ok(json!({}))
            }
            "session/set_config_option" => self.with(&id, |kept| {
                match text(&params["configId"]) {
                    "mode" => text(&params["value"]).clone_into(&mut kept.mode),
                    option => drop(kept.options.insert(option.to_owned(), params["value"].clone())),
                }
                json!({"configOptions": self.words.options(kept)})
            }),
            "session/prompt" => {
                self.remember(&id, &params)?;
                self.run(client, &id, &params).await.map(|reason| json!({"stopReason": reason}))
            }
            "_libacp.dev/given-up" => Ok(json!({"count": self.state().given_up})),
            _ => Ok(params),
        }
    }

    fn new_session(&self, params: &Value) -> Answer {
        if self.login && !self.state().logged_in {
            return Err(Error::auth_required());
        }
        let options = [("model", json!("small")), ("style", json!("novel")), ("web", json!(false))];
        let options = options.map(|(id, value)| (id.to_owned(), value)).into();
        let further = list(&params["additionalDirectories"]).cloned().collect();
        let (cwd, mode) = (text(&params["cwd"]).to_owned(), "ask".to_owned());
        let kept = Kept { cwd, further, mode, options, history: Vec::new(), turn: None };
        let (id, mut answer) = (self.id("session"), self.words.opened(&kept));
        answer["sessionId"] = json!(id);
        self.state().kept.insert(id, kept);
        Ok(answer)
    }

    fn open(&self, client: &ConnectionTo<Client>, id: &str, replayed: bool) -> Answer {
        let history = self.with(id, |kept| kept.history.clone())?;
        history.iter().filter(|_| replayed).try_for_each(|update| self.say(client, id, update))?;
        if self.words.are_2() {
            self.say(client, id, &json!({"sessionUpdate": "state_update", "state": "idle"}))?;
        }
        self.with(id, |kept| self.words.opened(kept))
    }

    /// A prompt of version 2: it is inserted and answered, and the end of its work is an update.
    async fn work(
        &self,
        client: &ConnectionTo<Client>,
        params: &Value,
        responder: Responder<Value, Raw>,
    ) -> Result<(), Error> {
        let (id, message) = (text(&params["sessionId"]), self.id("message"));
        if let Err(error) = self.remember(id, params) {
            return responder.respond_with_error(error);
        }
        let inserted = json!({"sessionUpdate": "user_message", "messageId": message, "content": params["prompt"]});
        self.say(client, id, &inserted)?;
        self.say(client, id, &json!({"sessionUpdate": "state_update", "state": "running"}))?;
        responder.respond(json!({"messageId": message}))?;
        let mut idle = json!({"sessionUpdate": "state_update", "state": "idle"});
        match self.run(client, id, params).await {
            Ok(reason) => idle["stopReason"] = json!(reason),
            Err(error) => {
                idle["stopReason"] = json!("error");
                idle["error"] = serde_json::to_value(error)?;
            }
        }
        self.say(client, id, &idle)
    }

    fn remember(&self, id: &str, params: &Value) -> Result<(), Error> {
        let texts = list(&params["prompt"]).filter(|block| block["type"] == "text");
        let told: Vec<Value> =
            texts.map(|block| self.words.remembered("user_message", block, &self.id("before"))).collect();
        self.with(id, |kept| kept.history.extend(told))
    }

    /// Plays the turn of a prompt; its stop reason.
    async fn run(&self, client: &ConnectionTo<Client>, id: &str, params: &Value) -> Result<String, Error> {
        let cwd = self.with(id, |kept| kept.cwd.clone())?;
        let messages = self.id("turn");
        let turn = Turn { lab: self, client, id, cwd, messages, params };
        let (turn, stop) = abortable(turn.play());
        self.with(id, |kept| kept.turn = Some(stop))?;
        let ended = turn.await.unwrap_or(Ok("cancelled".to_owned()));
        self.with(id, |kept| kept.turn = None)?;
        ended
    }

    /// Keeps what the agent has said.
    pub(crate) fn keep(&self, id: &str, said: &str) -> Result<(), Error> {
        let update = self.words.remembered("agent_message", &json!({"type": "text", "text": said}), &self.id("before"));
        self.with(id, |kept| kept.history.push(update))
    }
}
