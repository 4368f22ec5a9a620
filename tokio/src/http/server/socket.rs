//! One WebSocket: frames in, frames out, at the same time, so that neither side waits for the other.

use std::time::Duration;

use futures::stream::SplitStream;
use futures::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use libacp::http::{CloseCode, Frame};
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::protocol::Role;
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::WebSocketStream;

use super::exchange::Exchange;
use crate::http::frames;

/// How long the last frames may take to be written, and the client to close its side.
const LAST: Duration = Duration::from_secs(2);

type Socket = WebSocketStream<TokioIo<Upgraded>>;

/// What ended a socket.
enum Ended {
    /// What was to be written was written.
    Written,
    /// The client has closed it, or it broke.
    Gone,
    /// A frame was over the limit.
    TooBig,
}

pub(super) async fn serve(exchange: &Exchange, io: Upgraded) {
    let config = frames::config(exchange.limit());
    let socket = Socket::from_raw_socket(TokioIo::new(io), Role::Server, Some(config)).await;
    let (mut output, mut input) = socket.split();
    let ended = tokio::select! {
        wrote = frames::write(exchange, &mut output) => wrote.map_or(Ended::Gone, |()| Ended::Written),
        ended = read(exchange, &mut input) => ended,
        // Nobody reads what is to be written last.
        () = async { exchange.over().await; sleep(LAST).await } => Ended::Gone,
    };
    if let Ended::TooBig = ended {
        let last = frames::message(Frame::Close(CloseCode::TooBig, "a message is over the limit"));
        drop(timeout(LAST, output.send(last)).await);
    }
    // The other side closes the connection, or answers its own close.
    let rest = async {
        drop(output.close().await);
        while let Some(Ok(_)) = input.next().await {}
    };
    drop(timeout(LAST, rest).await);
}

async fn read(exchange: &Exchange, input: &mut SplitStream<Socket>) -> Ended {
    loop {
        exchange.hungry().await;
        match input.next().await {
            Some(Ok(Message::Text(text))) => exchange.text(&text),
            Some(Ok(Message::Binary(_))) => exchange.binary(),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => exchange.pong(),
            Some(Err(Error::Capacity(_))) => return Ended::TooBig,
            Some(Ok(Message::Close(_)) | Err(_)) | None => return Ended::Gone,
            Some(Ok(Message::Frame(_))) => {}
        }
    }
}
