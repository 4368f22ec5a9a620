//! A WebSocket: its handshake, and its frames in both directions at the same time.

use std::borrow::Cow;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures::stream::SplitStream;
use futures::{SinkExt, StreamExt};
use http::{HeaderName, HeaderValue};
use libacp::http::{Frame, Header};
use tokio::time::{sleep_until, timeout, Instant};
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::handshake::client::{Request, Response};
use tokio_tungstenite::tungstenite::{Error, Message};
use tokio_tungstenite::{client_async_with_config, WebSocketStream};

use super::exchange::chain;
use super::shared::Shared;
use super::stream::Stream;
use crate::http::frames::{self, Frames};

/// How long the last frame may take.
const LAST: Duration = Duration::from_secs(2);
/// After so long without a frame the server is asked whether it is there.
const SILENCE: Duration = Duration::from_secs(25);
/// So many silences are one too many.
const SILENCES: u32 = 3;

type Socket = WebSocketStream<Box<dyn Stream>>;
type Headers = Vec<(Cow<'static, str>, String)>;

/// Opens a socket, and passes in what comes of it.
pub(super) async fn run(shared: Arc<Shared>, exchange: u64, headers: Headers) {
    let socket = match open(&shared, headers).await {
        Ok((socket, response)) => {
            respond(&shared, exchange, &response);
            socket
        }
        Err(Error::Http(response)) => return respond(&shared, exchange, &*response),
        Err(problem) => {
            return shared.with(|state| {
                state.problem = Some(chain(&problem));
                state.client.failed(exchange, true);
            });
        }
    };
    let (mut output, mut input) = socket.split();
    let current = Current(&shared, exchange);
    tokio::select! {
        _ = frames::write(&current, &mut output) => {}
        () = read(&shared, exchange, &mut input) => {}
    }
    drop(timeout(LAST, output.close()).await);
    shared.with(|state| state.client.end(exchange));
}

async fn open(shared: &Shared, headers: Headers) -> Result<(Socket, Response), Error> {
    let uri = shared.address.to(shared.address.target()).map_err(Error::from)?;
    let mut request: Request = uri.into_client_request()?;
    for (name, value) in headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(&*name), HeaderValue::try_from(value)) {
            request.headers_mut().insert(name, value);
        }
    }
    let stream = shared.dialer.dial(&shared.address).await?;
    client_async_with_config(request, stream, Some(frames::config(shared.limit))).await
}

fn respond<B>(shared: &Arc<Shared>, exchange: u64, response: &http::Response<B>) {
    let headers: Vec<Header<'_>> =
        response.headers().iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    shared.with(|state| state.response(exchange, response.status().as_u16(), &headers));
}

/// One socket of a client: the current one, or one that is over.
struct Current<'a>(&'a Arc<Shared>, u64);

impl Frames for Current<'_> {
    fn poll_frame(&self, cx: &Context<'_>) -> Poll<Option<Frame>> {
        self.0.poll_frame(self.1, cx)
    }
}

async fn read(shared: &Arc<Shared>, exchange: u64, input: &mut SplitStream<Socket>) {
    let mut silences = 0;
    let mut heard = Instant::now();
    // One timer, which is looked at when it has passed: most frames come long before.
    let mut silence = pin!(sleep_until(heard + SILENCE));
    loop {
        // While nothing is read, the server's pings have no answers, so it is told otherwise that this side is alive.
        if shared.room(|state| state.ping(exchange)).await {
            heard = Instant::now();
        }
        let came = tokio::select! {
            biased;
            came = input.next() => came,
            () = &mut silence => {
                if heard + SILENCE <= silence.deadline() {
                    silences += 1;
                    if silences == SILENCES {
                        return;
                    }
                    shared.with(|state| state.ping(exchange));
                    heard = Instant::now();
                }
                silence.as_mut().reset(heard + SILENCE);
                continue;
            }
        };
        silences = 0;
        heard = Instant::now();
        match came {
            Some(Ok(Message::Text(text))) => shared.with(|state| state.client.text(exchange, &text)),
            Some(Ok(Message::Binary(_))) => shared.with(|state| state.client.binary(exchange)),
            Some(Ok(Message::Close(Some(frame)))) => {
                return shared.with(|state| state.closed(exchange, frame.code.into()));
            }
            Some(Ok(Message::Close(None)) | Err(_)) | None => return,
            Some(Ok(_)) => {}
        }
    }
}
