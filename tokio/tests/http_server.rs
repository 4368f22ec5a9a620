//! The server on real sockets, asked by HTTP and WebSocket libraries and nothing of ours: HTTP/1.1, HTTP/2, WebSocket; in
//! axum; foreign pages and names; readers that stop; agents that end.
#![cfg(unix)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use libacp_tokio::http::{serve, AgentService, Pipe, ServerOptions};
use libacp_tokio::spawn;
use serde_json::{json, Value};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::{Error, Message};

/// More than anything here takes.
const LIMIT: Duration = Duration::from_secs(30);

/// An agent that answers by the name of the method, and knows nothing else.
async fn agent(pipe: Pipe) -> std::io::Result<()> {
    while let Some(json) = pipe.receive().await {
        let message: Value = serde_json::from_str(&json).unwrap();
        let session = message["params"]["sessionId"].clone();
        let result = match message["method"].as_str() {
            Some("initialize") => json!({"protocolVersion": 1}),
            Some("session/new") => json!({"sessionId": "s-1"}),
            Some("session/prompt") => {
                let params = json!({"sessionId": session, "update": {"sessionUpdate": "agent_message_chunk"}});
                let update = json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
                pipe.send(&update.to_string()).await?;
                json!({"stopReason": "end_turn"})
            }
            _ => continue,
        };
        pipe.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": result}).to_string()).await?;
    }
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "it is written where it is passed")]
fn call(id: u32, method: &str, params: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
}

fn hello() -> Value {
    call(0, "initialize", json!({"protocolVersion": 1}))
}

async fn served(service: AgentService) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(serve(listener, service));
    address
}

fn local() -> AgentService {
    AgentService::new(ServerOptions::default(), agent)
}

/// A client of HTTP.
struct Http {
    client: Client<HttpConnector, Full<Bytes>>,
    address: String,
    connection: Option<String>,
}

impl Http {
    fn new(address: &str, http2: bool) -> Self {
        let client = Client::builder(TokioExecutor::new()).http2_only(http2).build_http();
        Http { client, address: address.to_owned(), connection: None }
    }

    async fn ask(&self, method: &str, headers: &[(&str, &str)], body: &str) -> http::Response<Incoming> {
        let mut request = http::Request::builder().method(method).uri(format!("http://{}/acp", self.address));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(connection) = &self.connection {
            request = request.header("acp-connection-id", connection);
        }
        let request = request.body(Full::from(body.to_owned())).unwrap();
        timeout(LIMIT, self.client.request(request)).await.expect("a response in time").unwrap()
    }

    async fn post(&self, session: Option<&str>, message: &Value) -> http::Response<Incoming> {
        let mut headers = vec![("content-type", "application/json")];
        headers.extend(session.map(|session| ("acp-session-id", session)));
        self.ask("POST", &headers, &message.to_string()).await
    }

    async fn open(&mut self) -> Value {
        let response = self.post(None, &hello()).await;
        assert_eq!(response.status(), 200);
        self.connection = Some(response.headers()["acp-connection-id"].to_str().unwrap().to_owned());
        serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap()
    }

    async fn read(&self, session: Option<&str>) -> Events {
        let mut headers = vec![("accept", "text/event-stream")];
        headers.extend(session.map(|session| ("acp-session-id", session)));
        let response = self.ask("GET", &headers, "").await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Events { body: response.into_body(), text: String::new() }
    }
}

struct Events {
    body: Incoming,
    text: String,
}

impl Events {
    /// The next message; `None` at the end of the stream.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let message = event.strip_prefix("data: ").map(|data| serde_json::from_str(data).unwrap());
                self.text.replace_range(..self.text.len() - rest.len(), "");
                if message.is_some() {
                    return message;
                }
                continue;
            }
            let frame = timeout(LIMIT, self.body.frame()).await.expect("an event in time")?;
            self.text += std::str::from_utf8(&frame.unwrap().into_data().unwrap()).unwrap();
        }
    }
}

#[tokio::test]
async fn http_1_and_2() {
    let address = served(local()).await;
    for http2 in [false, true] {
        let mut client = Http::new(&address, http2);
        assert_eq!(client.open().await["result"]["protocolVersion"], 1);
        let mut main = client.read(None).await;
        let accepted = client.post(None, &call(1, "session/new", json!({"cwd": "/", "mcpServers": []}))).await;
        assert_eq!(accepted.status(), 202);
        let version = if http2 { http::Version::HTTP_2 } else { http::Version::HTTP_11 };
        assert_eq!(accepted.version(), version);
        assert!(accepted.into_body().collect().await.unwrap().to_bytes().is_empty());
        assert_eq!(main.next().await.unwrap()["result"]["sessionId"], "s-1");
        let mut session = client.read(Some("s-1")).await;
        let prompt = call(2, "session/prompt", json!({"sessionId": "s-1", "prompt": []}));
        assert_eq!(client.post(Some("s-1"), &prompt).await.status(), 202);
        assert_eq!(session.next().await.unwrap()["method"], "session/update");
        assert_eq!(session.next().await.unwrap()["id"], 2);
        assert_eq!(client.post(None, &prompt).await.status(), 400, "the header is missing");
        assert_eq!(client.ask("DELETE", &[], "").await.status(), 202);
        assert_eq!((main.next().await, session.next().await), (None, None));
        assert_eq!(client.ask("DELETE", &[], "").await.status(), 404);
    }
}

#[tokio::test]
async fn in_axum() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let app = Router::new().route_service("/acp", local());
    tokio::spawn(async move { axum::serve(listener, app).await });
    let mut client = Http::new(&address, false);
    client.open().await;
    let mut main = client.read(None).await;
    client.post(None, &call(1, "session/new", json!({"cwd": "/", "mcpServers": []}))).await;
    assert_eq!(main.next().await.unwrap()["id"], 1);
    socket(&address, &[]).await.expect("a WebSocket");
}

type Socket = tokio_tungstenite::WebSocketStream<TcpStream>;

async fn socket(address: &str, headers: &[(&'static str, &str)]) -> Result<(Socket, http::HeaderMap), Error> {
    let mut request = format!("ws://{address}/acp").into_client_request().unwrap();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    let stream = TcpStream::connect(address).await.unwrap();
    let (socket, response) = tokio_tungstenite::client_async(request, stream).await?;
    Ok((socket, response.headers().clone()))
}

async fn next(socket: &mut Socket) -> Value {
    let message = timeout(LIMIT, socket.next()).await.expect("a message in time").unwrap().unwrap();
    serde_json::from_str(message.to_text().unwrap()).unwrap()
}

#[tokio::test]
async fn websocket() {
    let service = local();
    let address = served(service.clone()).await;
    let (mut socket, headers) = socket(&address, &[]).await.unwrap();
    assert_eq!(headers["acp-connection-id"].len(), 32);
    socket.send(Message::Binary(Bytes::from_static(b"ignored"))).await.unwrap();
    socket.send(Message::text(hello().to_string())).await.unwrap();
    assert_eq!(next(&mut socket).await["result"]["protocolVersion"], 1);
    let prompt = call(2, "session/prompt", json!({"sessionId": "s-1", "prompt": []}));
    socket.send(Message::text(prompt.to_string())).await.unwrap();
    assert_eq!(next(&mut socket).await["method"], "session/update");
    assert_eq!(next(&mut socket).await["id"], 2);
    assert_eq!(service.connections(), 1);
    socket.close(None).await.unwrap();
    let ended = async {
        while service.connections() > 0 {
            sleep(Duration::from_millis(5)).await;
        }
    };
    timeout(LIMIT, ended).await.expect("the end of the connection");
}

#[tokio::test]
async fn what_is_no_frame_closes_its_socket_with_a_code() {
    let address = served(local()).await;
    let cases: [(&[u8], u16); 4] = [
        (&[0x81, 0x02, b'{', b'}'], 1002),
        (&[0x83, 0x80, 0, 0, 0, 0], 1002),
        (&[0x80, 0x81, 0, 0, 0, 0, b'x'], 1002),
        (&[0x81, 0x81, 0, 0, 0, 0, 0xff], 1007),
    ];
    for (bytes, code) in cases {
        let (mut socket, _) = socket(&address, &[]).await.unwrap();
        socket.get_mut().write_all(bytes).await.unwrap();
        let closed = timeout(LIMIT, socket.next()).await.unwrap().unwrap().unwrap();
        let Message::Close(Some(frame)) = closed else { panic!("{bytes:?}: {closed:?}") };
        assert_eq!(u16::from(frame.code), code, "{bytes:?}");
    }
    for key in ["", "abc", "dGhlIHNhbXBsZSBub25jZQ", "dGhlIHNhbXBsZSBub25jZSE="] {
        let refused = socket(&address, &[("sec-websocket-key", key)]).await.unwrap_err();
        assert!(matches!(&refused, Error::Http(response) if response.status() == 400), "{refused}");
    }
}

#[tokio::test]
async fn a_frame_over_the_limit_closes_its_socket() {
    let mut options = ServerOptions::default();
    options.limits.body = 1000;
    let address = served(AgentService::new(options, agent)).await;
    let (mut socket, _) = socket(&address, &[]).await.unwrap();
    socket.send(Message::text("x".repeat(5000))).await.unwrap();
    let closed = timeout(LIMIT, socket.next()).await.unwrap().unwrap().unwrap();
    let Message::Close(Some(frame)) = closed else { panic!("{closed:?}") };
    assert_eq!(u16::from(frame.code), 1009);
    let mut client = Http::new(&address, false);
    client.open().await;
    let large = call(1, "session/new", json!({"cwd": "x".repeat(5000)}));
    assert_eq!(client.post(None, &large).await.status(), 413);
}

#[tokio::test]
async fn foreign_pages_and_names_are_refused() {
    let address = served(local()).await;
    let started = Http::new(&address, false);
    let kind = ("content-type", "application/json");
    for (headers, status) in [
        (&[("origin", "http://evil.example")][..], 403),
        (&[("origin", "null")], 403),
        (&[("host", "evil.example")], 421),
        (&[("host", "localhost:1")], 200),
        (&[("origin", &*format!("http://{address}"))], 200),
    ] {
        let all: Vec<(&str, &str)> = headers.iter().copied().chain([kind]).collect();
        assert_eq!(started.ask("POST", &all, &hello().to_string()).await.status(), status, "{headers:?}");
        let refused = match socket(&address, headers).await {
            Ok(_) => 200,
            Err(Error::Http(response)) => response.status().as_u16(),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(refused, status, "{headers:?}");
    }
}

#[tokio::test]
async fn a_reader_that_stops_holds_back_its_agent_alone() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&sent);
    let service = AgentService::new(ServerOptions::default(), move |pipe: Pipe| {
        let sent = Arc::clone(&counted);
        async move {
            let text = "x".repeat(10_000);
            while let Some(json) = pipe.receive().await {
                let message: Value = serde_json::from_str(&json).unwrap();
                let flood = message["method"] == "_flood";
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"protocolVersion": 1}});
                pipe.send(&answer.to_string()).await?;
                if !flood {
                    continue;
                }
                loop {
                    let update = json!({"jsonrpc": "2.0", "method": "_more", "params": {"text": text}});
                    pipe.send(&update.to_string()).await?;
                    sent.fetch_add(text.len(), Ordering::Relaxed);
                }
            }
            Ok::<(), std::io::Error>(())
        }
    });
    let address = served(service).await;
    let mut slow = Http::new(&address, false);
    slow.open().await;
    let mut stopped = slow.read(None).await;
    assert_eq!(slow.post(None, &call(1, "_flood", json!({}))).await.status(), 202);
    let (mut socket, _) = socket(&address, &[]).await.unwrap();
    socket.send(Message::text(hello().to_string())).await.unwrap();
    next(&mut socket).await;
    socket.send(Message::text(call(1, "_flood", json!({})).to_string())).await.unwrap();

    // What the system keeps for two sockets, and what the server does.
    let (mut before, mut still) = (0, 0);
    while still < 5 {
        sleep(Duration::from_millis(100)).await;
        let now = sent.load(Ordering::Relaxed);
        still = if now == before { still + 1 } else { 0 };
        before = now;
        assert!(now < 64 << 20, "{now} bytes were taken from the agents");
    }
    let mut other = Http::new(&address, true);
    other.open().await;

    // They go on once they are read.
    assert_eq!(stopped.next().await.unwrap()["id"], 1);
    for _ in 0..2000 {
        assert_eq!(stopped.next().await.unwrap()["method"], "_more");
    }
    assert_eq!(next(&mut socket).await["id"], 1);
    assert!(sent.load(Ordering::Relaxed) > before);
}

#[tokio::test]
async fn programs_serve_and_their_last_words_are_told() {
    let answer = r#"read line; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}'"#;
    let script = format!("{answer}; echo 'no message'; read line; echo 'it is broken' >&2; exit 3");
    let address = served(AgentService::spawn(ServerOptions::default(), spawn("sh").args(["-c", &script]))).await;
    let mut client = Http::new(&address, false);
    client.open().await;
    let mut main = client.read(None).await;
    // Of several lines: for a program, it is one.
    let message = "{\n\"jsonrpc\": \"2.0\",\r\n\"id\": 1, \"method\": \"session/new\", \"params\": {}}";
    let accepted = client.ask("POST", &[("content-type", "application/json")], message).await;
    assert_eq!(accepted.status(), 202);
    let failed = main.next().await.unwrap();
    let text = failed["error"]["message"].as_str().unwrap();
    assert!(failed["id"] == 1 && text.contains("exit code 3") && text.contains("it is broken"), "{text}");
    assert_eq!(main.next().await, None);

    let address = served(AgentService::spawn(ServerOptions::default(), spawn("/nowhere/agent"))).await;
    let failed = Http::new(&address, false).post(None, &hello()).await;
    let failed = String::from_utf8(failed.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap();
    assert!(failed.contains("cannot start `/nowhere/agent`"), "{failed}");
}

#[tokio::test]
async fn closing_ends_agents_and_the_server() {
    let service =
        AgentService::spawn(ServerOptions::default(), spawn("sh").args(["-c", "while read line; do :; done"]));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let serving = tokio::spawn(serve(listener, service.clone()));
    let (mut socket, _) = socket(&address, &[]).await.unwrap();
    socket.send(Message::text(hello().to_string())).await.unwrap();
    while service.connections() == 0 {
        sleep(Duration::from_millis(5)).await;
    }
    timeout(LIMIT, service.close()).await.expect("the end of the agents");
    let said = timeout(LIMIT, socket.next()).await.unwrap();
    assert!(said.is_some(), "an error or a close");
    timeout(LIMIT, serving).await.expect("the end of the server").unwrap().unwrap();
    assert!(TcpStream::connect(&address).await.is_err());
}
