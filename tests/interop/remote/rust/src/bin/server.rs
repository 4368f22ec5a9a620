//! The server of the remote script on the official Rust SDK, until standard input ends: `server PORT WAY`.

#![forbid(unsafe_code)]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::{Agent, Client, ConnectTo, Error, Responder, UntypedMessage, V1};
use agent_client_protocol_http::AcpHttpServer;
use serde_json::{json, Value};
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::sync::Notify;

/// What was said to each session, and what cancels its turn.
#[derive(Clone, Default)]
struct History(Arc<Mutex<HashMap<String, (Vec<String>, Arc<Notify>)>>>);

impl History {
    fn with<R>(&self, work: impl FnOnce(&mut HashMap<String, (Vec<String>, Arc<Notify>)>) -> R) -> R {
        work(&mut self.0.lock().unwrap())
    }

    fn new_session(&self) -> String {
        self.with(|all| {
            let id = format!("sdk-{}", all.len() + 1);
            all.insert(id.clone(), Default::default());
            id
        })
    }
}

fn update(client: &ConnectionTo<Client>, session: &str, update: Value) -> Result<(), Error> {
    client.send_notification(UntypedMessage::new("session/update", json!({"sessionId": session, "update": update}))?)
}

fn chunk(kind: &str, text: &str) -> Value {
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
}

async fn answer(client: &ConnectionTo<Client>, session: &str, text: &str, history: &History) -> Result<Value, Error> {
    let say = |said: &str| update(client, session, chunk("agent_message_chunk", said));
    if let Some(id) = text.strip_prefix("has ") {
        say(if history.with(|all| all.contains_key(id)) { "yes" } else { "no" })?;
        return Ok(json!({"stopReason": "end_turn"}));
    }
    let cancelled = history.with(|all| {
        let (told, cancelled) = all.entry(session.to_owned()).or_default();
        told.push(text.to_owned());
        Arc::clone(cancelled)
    });
    match text {
        "ask" => {
            let call = json!({"sessionUpdate": "tool_call", "toolCallId": "call", "title": "Look", "kind": "read",
                "status": "pending"});
            update(client, session, call)?;
            let options = json!([{"optionId": "yes", "name": "Yes", "kind": "allow_once"}]);
            let question = json!({"sessionId": session, "toolCall": {"toolCallId": "call"}, "options": options});
            let asked = client.send_request(UntypedMessage::new("session/request_permission", question)?);
            let allowed = asked.block_task().await?["outcome"]["outcome"] == "selected";
            update(client, session, json!({"sessionUpdate": "tool_call_update", "toolCallId": "call", "status": "completed"}))?;
            say(if allowed { "allowed" } else { "refused" })?;
        }
        "wait" => {
            say("waiting")?;
            cancelled.notified().await;
            return Ok(json!({"stopReason": "cancelled"}));
        }
        _ => say(text)?,
    }
    Ok(json!({"stopReason": "end_turn"}))
}

fn load(client: &ConnectionTo<Client>, session: &str, history: &History) -> Result<Value, Error> {
    let told = history.with(|all| all.get(session).map(|(told, _)| told.clone()));
    for text in told.ok_or_else(Error::invalid_params)? {
        update(client, session, chunk("user_message_chunk", &text))?;
    }
    Ok(json!({}))
}

fn agent(history: History) -> impl ConnectTo<Client> {
    let cancels = history.clone();
    Agent
        .v1()
        .on_receive_request(
            async move |request: UntypedMessage, responder: Responder<Value, V1>, client: ConnectionTo<Client>| {
                let params = request.params().clone();
                let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
                let result = match request.method() {
                    "initialize" => Ok(json!({
                        "protocolVersion": 1,
                        "agentInfo": {"name": "sdk", "version": "1"},
                        "agentCapabilities": {"loadSession": true, "sessionCapabilities": {"delete": {}}},
                    })),
                    "session/new" => Ok(json!({"sessionId": history.new_session()})),
                    "session/load" => load(&client, &session, &history),
                    "session/delete" => {
                        history.with(|all| all.remove(&session));
                        Ok(json!({}))
                    }
                    "session/prompt" => {
                        let (history, answering) = (history.clone(), client.clone());
                        // What waits in a handler keeps all other messages waiting.
                        return client.spawn(async move {
                            let text = params["prompt"][0]["text"].as_str().unwrap_or_default();
                            responder.respond_with_result(answer(&answering, &session, text, &history).await)
                        });
                    }
                    _ => Err(Error::method_not_found()),
                };
                responder.respond_with_result(result)
            },
            agent_client_protocol::on_receive_request!(),
        )
        .on_receive_notification(
            async move |notification: UntypedMessage, _client: ConnectionTo<Client>| {
                if notification.method() == "session/cancel" {
                    let session = notification.params()["sessionId"].as_str().unwrap_or_default();
                    cancels.with(|all| all.get(session).map(|(_, cancelled)| cancelled.notify_one()));
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let port: u16 = std::env::args().nth(1).and_then(|port| port.parse().ok()).expect("server PORT WAY");
    let history = History::default();
    let router = AcpHttpServer::new(move || agent(history.clone())).into_router();
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    tokio::select! {
        ended = async { axum::serve(listener, router).await } => ended,
        ended = async { tokio::io::stdin().read_to_end(&mut Vec::new()).await.map(drop) } => ended,
    }
}
