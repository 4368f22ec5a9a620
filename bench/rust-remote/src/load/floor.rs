//! A server of the same libraries that knows the load's few messages and keeps nothing: what idle sockets cost by themselves.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use anyhow::Result;
use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use hyper::body::{Body, Frame, Incoming};
use hyper::header::HeaderValue;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::io::AsyncReadExt;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::WebSocketStream;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}"#;
const OPENED: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s-1"}}"#;

/// Serves until the input ends.
pub(crate) async fn serve() -> Result<()> {
    let listener = crate::served::listen()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                drop(stream.set_nodelay(true));
                let builder = Builder::new(TokioExecutor::new());
                let service = service_fn(|request| std::future::ready(Ok::<_, Infallible>(answer(request))));
                drop(builder.serve_connection_with_upgrades(TokioIo::new(stream), service).await);
            });
        }
    });
    tokio::io::stdin().read_to_end(&mut Vec::new()).await?;
    Ok(())
}

fn answer(mut request: http::Request<Incoming>) -> http::Response<Piece> {
    let (status, piece) = match request.headers().get("acp-session-id") {
        _ if request.headers().contains_key("upgrade") => return upgraded(&mut request),
        None if request.method() == "POST" && !request.headers().contains_key("acp-connection-id") => {
            (200, Piece::Whole(HELLO))
        }
        _ if request.method() == "POST" => (202, Piece::Whole("")),
        None => (200, Piece::First),
        Some(_) => (200, Piece::Endless),
    };
    let mut response = http::Response::new(piece);
    *response.status_mut() = http::StatusCode::from_u16(status).unwrap_or_default();
    response.headers_mut().insert("acp-connection-id", HeaderValue::from_static("floor"));
    response
}

fn upgraded(request: &mut http::Request<Incoming>) -> http::Response<Piece> {
    let upgrade = hyper::upgrade::on(&mut *request);
    let key = request.headers().get("sec-websocket-key").map_or(&b""[..], HeaderValue::as_bytes);
    let accept = HeaderValue::try_from(derive_accept_key(key)).unwrap_or(HeaderValue::from_static(""));
    tokio::spawn(async move {
        let Ok(io) = upgrade.await else { return };
        let config = WebSocketConfig::default().read_buffer_size(4096).write_buffer_size(0);
        let mut socket = WebSocketStream::from_raw_socket(TokioIo::new(io), Role::Server, Some(config)).await;
        while let Some(Ok(message)) = socket.next().await {
            let Message::Text(text) = message else { continue };
            let answer = if text.contains("initialize") { HELLO } else { OPENED };
            drop(socket.send(Message::text(answer)).await);
        }
    });
    let mut response = http::Response::new(Piece::Whole(""));
    *response.status_mut() = http::StatusCode::SWITCHING_PROTOCOLS;
    response.headers_mut().insert("sec-websocket-accept", accept);
    response.headers_mut().insert("connection", HeaderValue::from_static("upgrade"));
    response.headers_mut().insert("upgrade", HeaderValue::from_static("websocket"));
    response
}

/// A body.
enum Piece {
    Whole(&'static str),
    /// The answer that opens a session, and then nothing for ever.
    First,
    Endless,
}

impl Body for Piece {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match *self {
            Piece::Whole("") => Poll::Ready(None),
            Piece::Whole(text) => {
                *self = Piece::Whole("");
                Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(text.as_bytes())))))
            }
            Piece::First => {
                *self = Piece::Endless;
                Poll::Ready(Some(Ok(Frame::data(Bytes::from(format!("data: {OPENED}\n\n"))))))
            }
            Piece::Endless => Poll::Pending,
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Piece::Whole(""))
    }
}
