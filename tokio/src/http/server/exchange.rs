//! One request: its head and its body go to the state machine, and what that says becomes the response.

use std::convert::Infallible;
use std::fmt;
use std::future::poll_fn;
use std::pin::{pin, Pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Buf, Bytes};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use http_body::{Body, Frame, SizeHint};
use hyper::ext::Protocol;
use hyper::upgrade::OnUpgrade;
use libacp::http::{Frame as SocketFrame, Header, Request, Response, Step};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::shared::Shared;
use super::{socket, BoxError};
use crate::http::frames::Frames;

/// Bytes of a stream that are written at once.
const PIECE: usize = 64 * 1024;
/// The headers that an extended CONNECT stands for (RFC 8441).
const HANDSHAKE: [Header<'static>; 3] =
    [("connection", b"upgrade"), ("upgrade", b"websocket"), ("sec-websocket-version", b"13")];

/// The number of an exchange, which the state machine forgets with it.
pub(super) struct Exchange {
    shared: Arc<Shared>,
    number: u64,
}

impl Exchange {
    fn new(shared: Arc<Shared>) -> Self {
        shared.tick();
        let number = shared.with(super::shared::State::open);
        Exchange { shared, number }
    }

    async fn response(&self) -> Response {
        poll_fn(|cx| self.poll_response(cx)).await
    }

    fn poll_response(&self, cx: &Context<'_>) -> Poll<Response> {
        self.shared.with(|state| state.poll_response(self.number, cx))
    }

    /// The next bytes of a stream; `None` at its end.
    fn poll_stream(&self, cx: &Context<'_>) -> Poll<Option<Bytes>> {
        self.shared.with(|state| {
            let waits = state.server.transmit(self.number);
            if waits.is_empty() {
                return state.poll_over(self.number, cx).map(|()| None);
            }
            let piece = Bytes::copy_from_slice(&waits[..waits.len().min(PIECE)]);
            state.server.consume(self.number, piece.len());
            Poll::Ready(Some(piece))
        })
    }

    /// Waits until the connection of a socket is over.
    pub(super) async fn over(&self) {
        poll_fn(|cx| self.shared.aside(|state| state.poll_gone(self.number, cx))).await;
    }

    pub(super) async fn hungry(&self) {
        poll_fn(|cx| self.shared.with(|state| state.poll_hungry(self.number, cx))).await;
    }

    /// Passes a message in; whether there is room for another.
    pub(super) fn text(&self, text: &str) -> bool {
        self.shared.with(|state| {
            state.server.text(self.number, text);
            state.server.is_hungry(self.number)
        })
    }

    pub(super) fn binary(&self) {
        self.shared.with(|state| state.server.binary(self.number));
    }

    pub(super) fn pong(&self) {
        self.shared.with(|state| state.server.pong(self.number));
    }
}

impl Frames for Exchange {
    fn poll_frame(&self, cx: &Context<'_>) -> Poll<Option<SocketFrame>> {
        if self.shared.waits(self.number, cx) {
            return Poll::Pending;
        }
        self.shared.with(|state| match state.server.frame(self.number) {
            None => state.poll_over(self.number, cx).map(|()| None),
            frame => Poll::Ready(frame),
        })
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.shared.with(|state| state.forget(self.number));
    }
}

/// Answers a request.
pub(super) async fn answer<B>(shared: Arc<Shared>, mut request: http::Request<B>) -> http::Response<ResponseBody>
where
    B: Body,
    B::Data: Buf,
    B::Error: Into<BoxError>,
{
    let upgrade = hyper::upgrade::on(&mut request);
    let (parts, body) = request.into_parts();
    let exchange = Exchange::new(shared);
    let mut step = ask(&exchange, &parts);
    if let Step::Body { .. } = step {
        step = match read(&exchange, body).await {
            Ok(step) => step,
            // The client is gone, or what it sends is no body.
            Err(_) => return status(StatusCode::BAD_REQUEST),
        };
    }
    match step {
        Step::Respond(response) => whole(response),
        Step::Wait => whole(exchange.response().await),
        Step::Stream(response) => head(&response, Kind::Stream(exchange)),
        Step::Upgrade(response) => upgraded(exchange, &parts, &response, upgrade),
        Step::Body { .. } => status(StatusCode::INTERNAL_SERVER_ERROR),
    }
}

/// Passes in a head.
fn ask(exchange: &Exchange, parts: &Parts) -> Step {
    let mut headers: Vec<Header<'_>> =
        parts.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    if let Some(authority) = parts.uri.authority().map(|authority| authority.as_str().as_bytes()) {
        // One that differs is a second host, which is refused.
        if !parts.headers.get_all(http::header::HOST).iter().any(|host| host.as_bytes() == authority) {
            headers.push(("host", authority));
        }
    }
    let mut method = parts.method.as_str();
    if extended(parts) {
        method = "GET";
        headers.retain(|(name, _)| HANDSHAKE.iter().all(|(other, _)| name != other));
        headers.extend(HANDSHAKE);
    }
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str());
    exchange.shared.with(|state| {
        state.asking(Some(exchange.number));
        let step = state.server.request(exchange.number, &Request::new(method, target, &headers));
        if !matches!(step, Step::Upgrade(_)) {
            state.asking(None);
        }
        step
    })
}

/// Whether a request opens a WebSocket over HTTP/2.
fn extended(parts: &Parts) -> bool {
    let protocol = parts.extensions.get::<Protocol>();
    parts.method == Method::CONNECT && protocol.is_some_and(|it| it.as_str().eq_ignore_ascii_case("websocket"))
}

/// What happens first while a body comes.
enum Came<F> {
    Frame(F),
    Response(Response),
}

/// Passes in a body.
async fn read<B>(exchange: &Exchange, body: B) -> Result<Step, BoxError>
where
    B: Body,
    B::Data: Buf,
    B::Error: Into<BoxError>,
{
    let mut body = pin!(body);
    loop {
        let came = poll_fn(|cx| {
            if let Poll::Ready(frame) = body.as_mut().poll_frame(cx) {
                return Poll::Ready(Came::Frame(frame));
            }
            // Its time may be up.
            exchange.poll_response(cx).map(Came::Response)
        });
        let frame = match came.await {
            Came::Frame(frame) => frame.transpose().map_err(Into::into)?,
            Came::Response(response) => return Ok(Step::Respond(response)),
        };
        let last = frame.is_none() || body.is_end_stream();
        let mut data = frame.and_then(|frame| frame.into_data().ok());
        let bytes = data.as_mut().map(|data| data.copy_to_bytes(data.remaining())).unwrap_or_default();
        let step = exchange.shared.with(|state| state.server.body(exchange.number, &bytes, last));
        if last || !matches!(step, Step::Body { .. }) {
            return Ok(step);
        }
    }
}

/// Accepts a WebSocket.
fn upgraded(
    exchange: Exchange,
    parts: &Parts,
    response: &Response,
    upgrade: OnUpgrade,
) -> http::Response<ResponseBody> {
    let mut head = head(response, Kind::Whole(None));
    if extended(parts) {
        *head.status_mut() = StatusCode::OK;
    } else {
        let Some(key) = parts.headers.get("sec-websocket-key").filter(|key| is_nonce(key.as_bytes())) else {
            return status(StatusCode::BAD_REQUEST);
        };
        let accept = HeaderValue::try_from(derive_accept_key(key.as_bytes()));
        let accept = accept.unwrap_or_else(|_| HeaderValue::from_static(""));
        head.headers_mut().insert("sec-websocket-accept", accept);
        head.headers_mut().insert("connection", HeaderValue::from_static("upgrade"));
        head.headers_mut().insert("upgrade", HeaderValue::from_static("websocket"));
    }
    tokio::spawn(async move {
        if let Ok(io) = upgrade.await {
            socket::serve(&exchange, io).await;
        }
    });
    head
}

/// Whether these are 16 bytes in Base64, as the key of a handshake is (RFC 6455, section 4.1).
fn is_nonce(key: &[u8]) -> bool {
    let digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    key.len() == 24 && key.ends_with(b"==") && key[..22].iter().all(digit)
}

impl Exchange {
    /// Bytes of one message from a client.
    pub(super) fn limit(&self) -> usize {
        self.shared.with(|state| state.server.options().limits.body)
    }
}

fn head(response: &Response, kind: Kind) -> http::Response<ResponseBody> {
    let mut head = status(StatusCode::from_u16(response.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR));
    for (name, value) in &response.headers {
        if let Ok(value) = HeaderValue::try_from(value) {
            head.headers_mut().append(HeaderName::from_static(name), value);
        }
    }
    *head.body_mut() = ResponseBody(kind);
    head
}

fn whole(response: Response) -> http::Response<ResponseBody> {
    let mut head = head(&response, Kind::Whole(None));
    *head.body_mut() = ResponseBody(Kind::Whole(Some(response.body.into()).filter(|body: &Bytes| !body.is_empty())));
    head
}

fn status(status: StatusCode) -> http::Response<ResponseBody> {
    let mut response = http::Response::new(ResponseBody(Kind::Whole(None)));
    *response.status_mut() = status;
    response
}

/// The body of a response of an [`AgentService`](super::AgentService): nothing, a message, or a stream of events.
pub struct ResponseBody(Kind);

enum Kind {
    Whole(Option<Bytes>),
    Stream(Exchange),
}

impl fmt::Debug for ResponseBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseBody").finish_non_exhaustive()
    }
}

impl Body for ResponseBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = match &mut self.0 {
            Kind::Whole(bytes) => Poll::Ready(bytes.take()),
            Kind::Stream(exchange) => exchange.poll_stream(cx),
        };
        piece.map(|piece| piece.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        matches!(self.0, Kind::Whole(None))
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.as_ref().map_or(0, Bytes::len) as u64),
            Kind::Stream(_) => SizeHint::default(),
        }
    }
}
