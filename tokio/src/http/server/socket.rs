//! One WebSocket: frames in, frames out, at the same time, so that neither side waits for the other.

use std::time::Duration;

use futures::stream::SplitStream;
use futures::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::time::{sleep, timeout};
use tokio_tungstenite::tungstenite::error::ProtocolError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role};
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
    /// What came is refused (RFC 6455, section 7.4.1).
    Refused(CloseCode, &'static str),
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
    if let Ended::Refused(code, why) = ended {
        let last = Message::Close(Some(CloseFrame { code, reason: why.into() }));
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
    let mut hungry = false;
    loop {
        if !hungry {
            exchange.hungry().await;
        }
        hungry = false;
        match input.next().await {
            Some(Ok(Message::Text(text))) => hungry = exchange.text(&text),
            Some(Ok(Message::Binary(_))) => exchange.binary(),
            Some(Ok(Message::Ping(_) | Message::Pong(_))) => exchange.pong(),
            Some(Err(problem)) => return refused(&problem),
            Some(Ok(Message::Close(_))) | None => return Ended::Gone,
            Some(Ok(Message::Frame(_))) => {}
        }
    }
}

/// What ends a socket on which something came that is no frame, or broke.
fn refused(problem: &Error) -> Ended {
    match problem {
        Error::Capacity(_) => Ended::Refused(CloseCode::Size, "a message is over the limit"),
        Error::Utf8(_) => Ended::Refused(CloseCode::Invalid, "a message is not UTF-8"),
        Error::Protocol(ProtocolError::ResetWithoutClosingHandshake) => Ended::Gone,
        Error::Protocol(_) => Ended::Refused(CloseCode::Protocol, "that is no frame"),
        _ => Ended::Gone,
    }
}
