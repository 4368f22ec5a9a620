//! The client of the remote script on the official Rust SDK: `client ADDRESS WAY`.

#![forbid(unsafe_code)]

use std::future::Future;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::{Agent, Client, Error, Responder, UntypedMessage, V1};
use agent_client_protocol_http::HttpClient;
use serde_json::{json, Value};
use tokio::sync::Notify;
use tokio::time::timeout;

/// More than a step takes; a peer that does not answer costs no more than this.
const LIMIT: Duration = Duration::from_secs(6);

/// What was said, and by whom.
#[derive(Clone, Default)]
struct Heard {
    said: Arc<Mutex<Vec<(String, String)>>>,
    came: Arc<Notify>,
}

impl Heard {
    fn take(&self, kind: &str) -> Vec<String> {
        let said = std::mem::take(&mut *self.said.lock().unwrap());
        said.into_iter().filter(|(each, _)| each == kind).map(|(_, text)| text).collect()
    }
}

#[derive(Clone)]
struct Peer {
    agent: ConnectionTo<Agent>,
    heard: Heard,
}

impl Peer {
    async fn call(&self, method: &str, params: Value) -> Result<Value, Error> {
        self.agent.send_request(UntypedMessage::new(method, params)?).block_task().await
    }

    async fn new_session(&self) -> Result<String, Error> {
        let answer = self.call("session/new", json!({"cwd": "/tmp", "mcpServers": []})).await?;
        Ok(answer["sessionId"].as_str().unwrap_or_default().to_owned())
    }

    async fn prompt(&self, session: &str, text: &str) -> Result<Value, Error> {
        let prompt = json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]});
        Ok(self.call("session/prompt", prompt).await?["stopReason"].clone())
    }

    async fn say(&self, session: &str, text: &str) -> Result<(String, Value), Error> {
        self.heard.take("");
        let stop = self.prompt(session, text).await?;
        Ok((self.heard.take("agent_message_chunk").concat(), stop))
    }

    async fn cancelled(&self, session: &str) -> Result<Value, Error> {
        self.heard.take("");
        let told = async {
            while !self.heard.said.lock().unwrap().iter().any(|(_, text)| text == "waiting") {
                self.heard.came.notified().await;
            }
            self.agent.send_notification(UntypedMessage::new("session/cancel", json!({"sessionId": session}))?)
        };
        let (stop, told) = tokio::join!(self.prompt(session, "wait"), told);
        told.and(stop)
    }

    async fn load(&self, session: &str) -> Result<Value, Error> {
        self.call("session/load", json!({"sessionId": session, "cwd": "/tmp", "mcpServers": []})).await?;
        // The SDK has no order between the answer and what comes on the stream of the session.
        tokio::time::sleep(Duration::from_millis(200)).await;
        let mut told = self.heard.take("user_message_chunk");
        told.push(self.say(session, "more").await?.0);
        Ok(json!(told))
    }

    async fn delete(&self, session: &str, second: &str) -> Result<Value, Error> {
        let has = format!("has {second}");
        let (had, _) = self.say(session, &has).await?;
        self.call("session/delete", json!({"sessionId": second})).await?;
        Ok(json!([had, self.say(session, &has).await?.0]))
    }
}

async fn connected<R>(
    address: &str,
    work: impl AsyncFnOnce(Peer, Value) -> Result<R, Error>,
) -> Result<R, Error> {
    let heard = Heard::default();
    let hearing = heard.clone();
    let transport = HttpClient::with_endpoint(address).map_err(Error::into_internal_error)?;
    Client
        .v1()
        .on_receive_notification(
            async move |notification: UntypedMessage, _agent: ConnectionTo<Agent>| {
                let update = &notification.params()["update"];
                if let (Some(kind), Some(text)) = (update["sessionUpdate"].as_str(), update["content"]["text"].as_str()) {
                    hearing.said.lock().unwrap().push((kind.to_owned(), text.to_owned()));
                    hearing.came.notify_one();
                }
                Ok(())
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: UntypedMessage, responder: Responder<Value, V1>, _agent: ConnectionTo<Agent>| {
                let option = request.params()["options"][0]["optionId"].clone();
                responder.respond(json!({"outcome": {"outcome": "selected", "optionId": option}}))
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(transport, async move |agent: ConnectionTo<Agent>| {
            let peer = Peer { agent, heard };
            let hello = json!({"protocolVersion": 1, "clientCapabilities": {}});
            let version = peer.call("initialize", hello).await?["protocolVersion"].clone();
            work(peer, version).await
        })
        .await
}

/// Does a step and tells what came of it; what it has beside that.
async fn step<T: Default>(name: &str, work: impl Future<Output = Result<(Value, T), Error>>) -> T {
    let (told, more) = match timeout(LIMIT, Box::pin(work)).await {
        Ok(Ok((found, more))) => (json!({"step": name, "found": found}), more),
        Ok(Err(error)) => (json!({"step": name, "cannot": error.to_string()}), T::default()),
        Err(_) => (json!({"step": name, "cannot": format!("no end within {} s", LIMIT.as_secs())}), T::default()),
    };
    println!("{told}");
    more
}

async fn play(address: &str, peer: Peer, version: Value) -> Result<(), Error> {
    step("initialize", async { Ok((version, ())) }).await;
    let session = step("new", async {
        let session = peer.new_session().await?;
        Ok((json!(!session.is_empty()), session))
    })
    .await;
    for (name, text) in [("prompt", "hello"), ("permission", "ask")] {
        step(name, async { Ok((json!(peer.say(&session, text).await?), ())) }).await;
    }
    step("cancel", async { Ok((peer.cancelled(&session).await?, ())) }).await;
    step("load", async {
        Ok((connected(address, async |other, _| other.load(&session).await).await?, ()))
    })
    .await;
    let second = step("second", async {
        let second = peer.new_session().await?;
        let (said, _) = peer.say(&second, "again").await?;
        Ok((json!([second != session, said]), second))
    })
    .await;
    step("delete", async { Ok((peer.delete(&session, &second).await?, ())) }).await;
    Ok(())
}

#[tokio::main]
async fn main() {
    let address = std::env::args().nth(1).expect("client ADDRESS WAY");
    let played = connected(&address, async |peer, version| play(&address, peer, version).await);
    match timeout(LIMIT * 8, played).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => eprintln!("client: {error}"),
        Err(_) => eprintln!("client: no end"),
    }
}
