//! The floor of W7 and W8: the same texts through the same libraries, with no JSON made or read and no protocol around.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Instant;

use bytes::Bytes;
use futures::channel::mpsc::{unbounded, UnboundedReceiver, UnboundedSender};
use futures::{SinkExt, StreamExt};
use http::{Method, Request, Response, StatusCode};
use http_body_util::{BodyExt, Either, Empty, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use libacp_bench_measure::{Inputs, Pass};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Mutex;
use tokio_tungstenite::tungstenite::Message;

/// What is said so many times: one after the other, or each after the answer to the one before.
#[derive(Clone)]
struct Talk {
    count: usize,
    said: String,
    reply: Option<String>,
}

/// What W7 says.
fn chunks(inputs: &Inputs) -> Talk {
    let text = serde_json::json!({"type": "text", "text": inputs.text("chunk.txt")});
    let update = serde_json::json!({"sessionUpdate": "agent_message_chunk", "content": text});
    let params = serde_json::json!({"sessionId": "s", "update": update});
    let said = serde_json::json!({"jsonrpc": "2.0", "method": "session/update", "params": params});
    Talk { count: super::CHUNKS, said: said.to_string(), reply: None }
}

/// What W8 says.
fn files(inputs: &Inputs) -> Talk {
    let params = serde_json::json!({"sessionId": "s", "path": "/work/main.rs"});
    let said = serde_json::json!({"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": params});
    let reply = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {"content": inputs.text("file.txt")}});
    Talk { count: super::FILES, said: said.to_string(), reply: Some(reply.to_string()) }
}

pub(super) fn chunks_http(inputs: &Inputs) -> Pass {
    super::run(stream(chunks(inputs)))
}

pub(super) fn chunks_ws(inputs: &Inputs) -> Pass {
    super::run(socket(chunks(inputs)))
}

pub(super) fn files_http(inputs: &Inputs) -> Pass {
    super::run(stream(files(inputs)))
}

pub(super) fn files_ws(inputs: &Inputs) -> Pass {
    super::run(socket(files(inputs)))
}

/// Two ends of a connection.
async fn ends() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let (client, server) = tokio::join!(TcpStream::connect(address), listener.accept());
    let (client, server) = (client.expect("a client"), server.expect("a server").0);
    client.set_nodelay(true).expect("an option");
    server.set_nodelay(true).expect("an option");
    (client, server)
}

async fn socket(talk: Talk) -> Pass {
    let (client, server) = ends().await;
    let accepted = tokio::spawn(tokio_tungstenite::accept_async(server));
    let mut client = tokio_tungstenite::client_async("ws://localhost/acp", client).await.expect("a handshake").0;
    let mut server = accepted.await.expect("a task").expect("a handshake");
    let Talk { count, said, reply } = talk.clone();
    let begun = Instant::now();
    tokio::spawn(async move {
        for told in 0..talk.count {
            if told == 0 || talk.reply.is_some() {
                server.next().await.expect("an answer").expect("a frame");
            }
            server.send(Message::text(talk.said.clone())).await.expect("a frame");
        }
        // Until the client leaves.
        server.next().await;
    });
    client.send(Message::text("begin")).await.expect("a frame");
    for told in 1..=count {
        let heard = client.next().await.expect("a text").expect("a frame");
        assert_eq!(heard.len(), said.len());
        if let Some(reply) = reply.as_ref().filter(|_| told < count) {
            client.send(Message::text(reply.clone())).await.expect("a frame");
        }
    }
    (begun.elapsed(), count)
}

/// What a request brings, and who waits for it.
struct Answers {
    come: UnboundedSender<()>,
    waiting: Mutex<Option<UnboundedReceiver<()>>>,
}

async fn stream(talk: Talk) -> Pass {
    let (come, waiting) = unbounded();
    let answers = Arc::new(Answers { come, waiting: Mutex::new(Some(waiting)) });
    let (mut events, mut posts) = (sender(&talk, &answers).await, sender(&talk, &answers).await);
    let request = Request::get("/acp").header("host", "localhost").body(Full::default()).expect("a request");
    let mut events = events.send_request(request).await.expect("a response").into_body();
    let size = event(&talk.said).len();
    let begun = Instant::now();
    post(&mut posts, "begin").await;
    let (mut seen, mut told) = (0, 0);
    while let Some(frame) = events.frame().await {
        seen += frame.expect("a frame").into_data().map_or(0, |data| data.len());
        while let Some(reply) = talk.reply.as_ref().filter(|_| told < (seen / size).min(talk.count - 1)) {
            told += 1;
            post(&mut posts, reply).await;
        }
        if seen == talk.count * size {
            break;
        }
    }
    let spent = begun.elapsed();
    assert_eq!(seen, talk.count * size);
    (spent, talk.count)
}

type Sender = hyper::client::conn::http1::SendRequest<Full<Bytes>>;

/// A connection of a client, and a server behind it.
async fn sender(talk: &Talk, answers: &Arc<Answers>) -> Sender {
    let (client, server) = ends().await;
    let (talk, answers) = (talk.clone(), Arc::clone(answers));
    tokio::spawn(async move {
        let service = service_fn(move |request| answer(request, talk.clone(), Arc::clone(&answers)));
        hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(server), service).await
    });
    let (sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(client)).await.expect("a handshake");
    tokio::spawn(connection);
    sender
}

async fn post(sender: &mut Sender, body: &str) {
    sender.ready().await.expect("a connection");
    let request = Request::post("/acp").header("host", "localhost").header("content-type", "application/json");
    let request = request.body(Full::from(body.to_owned())).expect("a request");
    assert_eq!(sender.send_request(request).await.expect("a response").status(), StatusCode::ACCEPTED);
}

fn event(said: &str) -> Bytes {
    format!("data: {said}\n\n").into()
}

type Body = Either<Empty<Bytes>, StreamBody<UnboundedReceiver<Result<Frame<Bytes>, Infallible>>>>;

async fn answer(request: Request<Incoming>, talk: Talk, answers: Arc<Answers>) -> Result<Response<Body>, hyper::Error> {
    if request.method() != Method::GET {
        request.into_body().collect().await?;
        // Nobody waits for the last ones.
        let _ = answers.come.unbounded_send(());
        let mut response = Response::new(Either::Left(Empty::new()));
        *response.status_mut() = StatusCode::ACCEPTED;
        return Ok(response);
    }
    let mut come = answers.waiting.lock().await.take().expect("one stream");
    let (sender, events) = unbounded();
    tokio::spawn(async move {
        for told in 0..talk.count {
            if told == 0 || talk.reply.is_some() {
                come.next().await;
            } else if told % 64 == 0 {
                tokio::task::yield_now().await;
            }
            if sender.unbounded_send(Ok(Frame::data(event(&talk.said)))).is_err() {
                return;
            }
        }
    });
    Ok(Response::new(Either::Right(StreamBody::new(events))))
}
