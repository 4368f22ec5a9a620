//! Clients of HTTP and WebSocket that know the messages of the load and nothing else.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure, Context, Result};
use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use serde_json::{json, Value};
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{client_async, WebSocketStream};

/// More than any answer takes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Http,
    Http2,
    WebSocket,
}

impl Way {
    pub(crate) fn named(name: &str) -> Option<Self> {
        [("http", Way::Http), ("http2", Way::Http2), ("ws", Way::WebSocket)]
            .into_iter()
            .find(|it| it.0 == name)
            .map(|it| it.1)
    }
}

pub(crate) fn call(id: u64, method: &str, params: &Value) -> String {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string()
}

pub(crate) fn hello() -> String {
    call(0, "initialize", &json!({"protocolVersion": 1, "clientCapabilities": {}}))
}

pub(crate) fn opening(id: u64) -> String {
    call(id, "session/new", &json!({"cwd": "/work", "mcpServers": []}))
}

pub(crate) fn prompt(id: u64, session: &str, text: &str) -> String {
    call(id, "session/prompt", &json!({"sessionId": session, "prompt": [{"type": "text", "text": text}]}))
}

/// Something that requests go out on: a connection of TCP.
#[derive(Clone)]
pub(crate) enum Link {
    Http1(Arc<Mutex<http1::SendRequest<Full<Bytes>>>>),
    Http2(http2::SendRequest<Full<Bytes>>),
}

impl Link {
    pub(crate) async fn open(address: &str, way: Way) -> Result<Self> {
        if way != Way::Http2 {
            return Ok(Link::Http1(Arc::new(Mutex::new(first(address).await?))));
        }
        let (link, running) = http2::handshake(TokioExecutor::new(), connect(address).await?).await?;
        tokio::spawn(running);
        Ok(Link::Http2(link))
    }

    async fn ask(
        &self,
        address: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> Result<http::Response<Incoming>> {
        let is_first = matches!(self, Link::Http1(_));
        let target = if is_first { "/acp".to_owned() } else { format!("http://{address}/acp") };
        let mut request = http::Request::builder().uri(target).method(if body.is_some() { "POST" } else { "GET" });
        if is_first {
            request = request.header("host", address);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::from(body.unwrap_or_default()))?;
        let response = match self {
            Link::Http1(link) => {
                let mut link = link.lock().await;
                // The server ends a connection on which nothing is asked for a while.
                if link.ready().await.is_err() {
                    *link = first(address).await?;
                }
                link.send_request(request).await?
            }
            Link::Http2(link) => {
                let mut link = link.clone();
                link.ready().await?;
                link.send_request(request).await?
            }
        };
        Ok(response)
    }
}

async fn connect(address: &str) -> Result<TokioIo<TcpStream>> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    Ok(TokioIo::new(stream))
}

/// A connection of HTTP/1.1.
async fn first(address: &str) -> Result<http1::SendRequest<Full<Bytes>>> {
    let (link, running) = http1::handshake(connect(address).await?).await?;
    tokio::spawn(running);
    Ok(link)
}

/// A stream of events, of which messages are taken.
pub(crate) struct Events {
    body: Incoming,
    text: String,
}

impl Events {
    /// The next message.
    pub(crate) async fn next(&mut self) -> Result<Value> {
        loop {
            while let Some(end) = self.text.find("\n\n") {
                let event: String = self.text.drain(..end + 2).collect();
                let data = event.lines().find_map(|line| line.strip_prefix("data:"));
                if let Some(data) = data {
                    return Ok(serde_json::from_str(data.trim())?);
                }
            }
            let frame = self.body.frame().await.context("the stream has ended")??;
            if let Ok(data) = frame.into_data() {
                self.text.push_str(std::str::from_utf8(&data)?);
            }
        }
    }
}

/// A client over HTTP: its streams, and what its messages go out on.
pub(crate) struct HttpPeer {
    address: String,
    posts: Link,
    connection: String,
    pub(crate) main: Events,
}

impl HttpPeer {
    /// Opens a connection; `streams` is what its stream is asked for on.
    pub(crate) async fn open(address: &str, posts: &Link, streams: &Link) -> Result<Self> {
        let headers = [("content-type", "application/json")];
        let response = posts.ask(address, &headers, Some(hello())).await?;
        ensure!(response.status() == 200, "initialize: {}", response.status());
        let id = response.headers().get("acp-connection-id").context("no connection")?.to_str()?.to_owned();
        response.into_body().collect().await?;
        let main = stream(address, streams, &id, None).await?;
        Ok(HttpPeer { address: address.to_owned(), posts: posts.clone(), connection: id, main })
    }

    pub(crate) async fn post(&self, session: Option<&str>, json: String) -> Result<()> {
        let mut headers = vec![("content-type", "application/json"), ("acp-connection-id", self.connection.as_str())];
        headers.extend(session.map(|session| ("acp-session-id", session)));
        let response = self.posts.ask(&self.address, &headers, Some(json)).await?;
        ensure!(response.status() == 202, "a message: {}", response.status());
        response.into_body().collect().await?;
        Ok(())
    }

    /// Whether the stream of a session ends, and is gone for whoever asks for it again.
    pub(crate) async fn is_lost(&self, session: &str, events: &mut Events, streams: &Link) -> Result<bool> {
        let reading = async { while events.next().await.is_ok() {} };
        if timeout(PATIENCE, reading).await.is_err() {
            return Ok(false);
        }
        let response = ask_stream(&self.address, streams, &self.connection, Some(session)).await?;
        Ok(response.status() == 410)
    }

    /// Opens a session and its stream.
    pub(crate) async fn session(&mut self, id: u64, streams: &Link) -> Result<(String, Events)> {
        self.post(None, opening(id)).await?;
        let answer = timeout(PATIENCE, self.main.next()).await??;
        let session = answer["result"]["sessionId"].as_str().context("no session")?.to_owned();
        let events = stream(&self.address, streams, &self.connection, Some(&session)).await?;
        Ok((session, events))
    }
}

async fn stream(address: &str, link: &Link, connection: &str, session: Option<&str>) -> Result<Events> {
    let response = ask_stream(address, link, connection, session).await?;
    ensure!(response.status() == 200, "a stream: {}", response.status());
    Ok(Events { body: response.into_body(), text: String::new() })
}

async fn ask_stream(
    address: &str,
    link: &Link,
    connection: &str,
    session: Option<&str>,
) -> Result<http::Response<Incoming>> {
    let mut headers = vec![("accept", "text/event-stream"), ("acp-connection-id", connection)];
    headers.extend(session.map(|session| ("acp-session-id", session)));
    link.ask(address, &headers, None).await
}

pub(crate) type Socket = WebSocketStream<TcpStream>;

/// Opens a WebSocket with one session; its name.
pub(crate) async fn socket(address: &str) -> Result<(Socket, String)> {
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let (mut socket, _) = client_async(format!("ws://{address}/acp"), stream).await?;
    say(&mut socket, hello()).await?;
    hear(&mut socket).await?;
    say(&mut socket, opening(1)).await?;
    let answer = hear(&mut socket).await?;
    let session = answer["result"]["sessionId"].as_str().context("no session")?.to_owned();
    Ok((socket, session))
}

pub(crate) async fn say(socket: &mut Socket, json: String) -> Result<()> {
    Ok(socket.send(Message::text(json)).await?)
}

/// The next message; pings are answered.
pub(crate) async fn hear(socket: &mut Socket) -> Result<Value> {
    loop {
        match timeout(PATIENCE, socket.next()).await? {
            Some(Ok(Message::Text(text))) => return Ok(serde_json::from_str(&text)?),
            Some(Ok(Message::Close(_))) | None => bail!("the socket was closed"),
            Some(Ok(_)) => {}
            Some(Err(problem)) => return Err(problem.into()),
        }
    }
}

/// A client with one session, whichever way.
pub(crate) enum Peer {
    Http(Box<HttpPeer>, String, Events),
    Socket(Box<Socket>, String),
}

impl Peer {
    /// How long a turn takes: a prompt, an update, the end.
    pub(crate) async fn turn(&mut self, id: u64) -> Result<Duration> {
        let begun = Instant::now();
        let turn = async {
            match self {
                Peer::Http(peer, session, events) => {
                    peer.post(Some(session), prompt(id, session, "hello")).await?;
                    while events.next().await?["id"] != id {}
                }
                Peer::Socket(socket, session) => {
                    say(socket, prompt(id, session, "hello")).await?;
                    while hear(socket).await?["id"] != id {}
                }
            }
            anyhow::Ok(())
        };
        timeout(PATIENCE, turn).await.context("no answer")??;
        Ok(begun.elapsed())
    }

    /// Reads what comes while nothing is asked, for so long.
    pub(crate) async fn idle(&mut self, time: Duration) -> Result<()> {
        let reading = async {
            match self {
                Peer::Http(peer, _, events) => tokio::select! {
                    one = peer.main.next() => one,
                    two = events.next() => two,
                },
                Peer::Socket(socket, _) => loop {
                    match socket.next().await {
                        Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                        other => break Err(anyhow::anyhow!("the socket had {other:?}")),
                    }
                },
            }
        };
        match timeout(time, reading).await {
            Err(_) => Ok(()),
            Ok(came) => bail!("something came that nobody asked for: {came:?}"),
        }
    }
}

/// The middle, the 99th percentile and the longest of times, in milliseconds.
#[allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "small numbers"
)]
pub(crate) fn spread(mut times: Vec<Duration>) -> Result<[f64; 3]> {
    ensure!(!times.is_empty(), "nothing was measured");
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part).round() as usize].as_secs_f64() * 1000.0;
    Ok([at(0.5), at(0.99), at(1.0)])
}
