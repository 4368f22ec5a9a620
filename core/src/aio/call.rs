//! Calls as futures: a request that ends with its response, and a notification that ends when it was handed to the
//! transport.
//!
//! Nothing is sent before the first poll. Dropping a request that was sent asks the peer to cancel it.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{ready, Context, Poll};

use super::error::Error;
use super::message::Message as Received;
use super::name::{extended, Name};
use super::shared::{Notice, Shared};
use crate::connection::{Notification, Outcome, Response, Violation};
use crate::schema::{Message, Raw, Request};

/// The state of a request.
enum At {
    Unsent,
    Sent(u64),
    Over,
}

/// A request, independent of the type of its result.
pub(super) struct Asking {
    pub(super) shared: Arc<Shared>,
    method: Cow<'static, str>,
    params: Result<String, Option<serde_json::Error>>,
    /// The session of an exchange: a request that is accompanied by updates.
    exchange: Option<Arc<str>>,
    at: At,
    /// What is wrong with the response.
    violation: Option<Box<Violation>>,
}

impl Asking {
    pub(super) fn new<'a, R: Request<'a>>(shared: &Arc<Shared>, params: &R) -> Self {
        Self::of(shared, R::METHOD.into(), params, None)
    }

    pub(super) fn of<P: serde::Serialize + ?Sized>(
        shared: &Arc<Shared>,
        method: Cow<'static, str>,
        params: &P,
        exchange: Option<Arc<str>>,
    ) -> Self {
        Self::written(shared, method, serde_json::to_string(params), exchange)
    }

    pub(super) fn written(
        shared: &Arc<Shared>,
        method: Cow<'static, str>,
        params: Result<String, serde_json::Error>,
        exchange: Option<Arc<str>>,
    ) -> Self {
        let params = params.map_err(Some);
        Asking { shared: Arc::clone(shared), method, params, exchange, at: At::Unsent, violation: None }
    }

    /// Adds `_meta` to the params.
    pub(super) fn meta(&mut self, meta: &Raw<'_>) {
        if let Ok(params) = &self.params {
            self.params = with_meta(params, meta).map_err(Some);
        }
    }

    /// Sends the request, once there is room and a cancelled turn before it has ended.
    pub(super) fn poll_sent(&mut self, cx: &Context<'_>) -> Poll<Result<(), Error>> {
        if !matches!(self.at, At::Unsent) {
            return Poll::Ready(Ok(()));
        }
        let params = match &mut self.params {
            Ok(params) => &*params,
            Err(error) => {
                self.at = At::Over;
                return Poll::Ready(Err(unreadable(self.method.clone(), error.take())));
            }
        };
        let sent = self.shared.with(|state| {
            ready!(state.room(cx));
            let held = |session: &Arc<str>| &*self.method == "session/prompt" && state.host.holds_back(session);
            if self.exchange.as_ref().is_some_and(held) {
                return state.park(cx);
            }
            Poll::Ready(state.ask(&self.method, params, self.exchange.as_ref()))
        });
        Poll::Ready(match ready!(sent) {
            Ok(serial) => {
                self.at = At::Sent(serial);
                Ok(())
            }
            Err(error) => {
                self.at = At::Over;
                Err(error)
            }
        })
    }

    /// The response, once. Updates that were not taken are discarded.
    pub(super) fn poll_answer(&mut self, cx: &Context<'_>) -> Poll<Result<Response, Error>> {
        ready!(self.poll_sent(cx))?;
        let At::Sent(serial) = self.at else { return Poll::Ready(Err(Error::closed(self.method.clone()))) };
        let answer = self.shared.with(|state| {
            let Some(slot) = state.calls.get_mut(&serial) else { return Poll::Ready(None) };
            let Some(answer) = slot.answer.take() else {
                slot.waker = Some(cx.waker().clone());
                return Poll::Pending;
            };
            let unread = slot.updates.take().unwrap_or_default();
            self.violation = slot.violation.take();
            state.calls.remove(&serial);
            for (update, _) in &unread {
                state.free(update, true);
            }
            Poll::Ready(Some(answer))
        });
        let answer = ready!(answer);
        self.at = At::Over;
        Poll::Ready(answer.ok_or_else(|| Error::closed(self.method.clone())))
    }

    /// The next update before the response; `None` if the response is next.
    pub(super) fn poll_update(&mut self, cx: &Context<'_>) -> Poll<Result<Option<Notification>, Error>> {
        ready!(self.poll_sent(cx))?;
        let At::Sent(serial) = self.at else { return Poll::Ready(Ok(None)) };
        self.shared.with(|state| {
            let Some(slot) = state.calls.get_mut(&serial) else { return Poll::Ready(Ok(None)) };
            if let Some((update, is_last)) = slot.updates.as_mut().and_then(|updates| {
                let (update, _) = updates.pop_front()?;
                Some((update, updates.is_empty()))
            }) {
                state.free(&update, is_last);
                return Poll::Ready(Ok(Some(update)));
            }
            if slot.answer.is_some() {
                return Poll::Ready(Ok(None));
            }
            slot.waker = Some(cx.waker().clone());
            Poll::Pending
        })
    }

    /// Leaves the updates, including those that have already arrived, to the handler of updates that no stream takes.
    pub(super) fn pass_updates_on(&self) {
        let At::Sent(serial) = self.at else { return };
        self.shared.with(|state| {
            let Some(slot) = state.calls.get_mut(&serial) else { return };
            // They are counted already.
            for (update, number) in slot.updates.take().unwrap_or_default() {
                state.notices.push_back(Notice { message: Received::Left(update), number });
            }
            state.unpark();
            state.kick();
        });
    }

    /// Ends a request that was not sent; it never is.
    pub(super) fn forgo(&mut self) {
        if !self.is_sent() {
            self.at = At::Over;
        }
    }

    /// Converts the result.
    pub(super) fn read<T>(&self, response: &Response, read: Read<T>) -> Result<T, Error> {
        read(&self.shared, response).map_err(|error| match error {
            Error::Invalid { method, .. } => Error::Invalid { method, violation: self.violation.clone() },
            other => other,
        })
    }

    pub(super) fn method(&self) -> Cow<'static, str> {
        self.method.clone()
    }

    pub(super) fn is_sent(&self) -> bool {
        !matches!(self.at, At::Unsent)
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.at, At::Over)
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        if let At::Sent(serial) = self.at {
            self.shared.with(|state| state.abandon(serial));
        }
    }
}

/// Params with `_meta`, which only objects can have.
fn with_meta(params: &str, meta: &Raw<'_>) -> Result<String, serde_json::Error> {
    if params != "null" && !params.starts_with('{') {
        return Err(serde::de::Error::custom("params with _meta have to be an object"));
    }
    Ok(extended(params, "_meta", |writer| writer.json(meta.as_str())))
}

/// The error for params that cannot be written. The reason is given only once.
fn unreadable(method: Cow<'static, str>, error: Option<serde_json::Error>) -> Error {
    match error {
        Some(error) => Error::Unreadable { method, error },
        None => Error::closed(method),
    }
}

/// Why there is no result; `None` if there is one.
fn failed(response: &Response) -> Option<Error> {
    let method = response.method.clone();
    match &response.outcome {
        Outcome::Result(_) => None,
        Outcome::Error(error) => Some(Error::Peer { method, error: error.clone() }),
        Outcome::Invalid => Some(Error::Invalid { method, violation: None }),
        Outcome::Timeout => Some(Error::Timeout { method }),
        Outcome::Cancelled => Some(Error::Cancelled { method }),
        Outcome::Closed => Some(Error::Closed { method }),
    }
}

/// The result as a type. `null` is accepted for types without required members.
pub(super) fn result<T: Message<'static>>(_: &Arc<Shared>, response: &Response) -> Result<T, Error> {
    if let Some(error) = failed(response) {
        return Err(error);
    }
    let json = response.outcome.result().unwrap_or("{}");
    let value = T::detached(if T::NULL_IS_EMPTY && json == "null" { "{}" } else { json });
    value.map_err(|error| Error::Unreadable { method: response.method.clone(), error })
}

/// The result as JSON text.
pub(super) fn raw(_: &Arc<Shared>, response: &Response) -> Result<Raw<'static>, Error> {
    if let Some(error) = failed(response) {
        return Err(error);
    }
    let value = Raw::from_string(response.outcome.result().unwrap_or("{}").to_owned());
    value.map_err(|error| Error::Unreadable { method: response.method.clone(), error })
}

/// Converts a response into a result.
pub(super) type Read<T> = fn(&Arc<Shared>, &Response) -> Result<T, Error>;

/// A request to the peer: a future of its result.
///
/// Nothing is sent before it is polled. It waits for room on the transport before it is sent. If it is dropped before
/// the response, the peer is asked to cancel the request (`$/cancel_request`).
#[must_use = "nothing is sent before it is awaited"]
pub struct Call<T> {
    asking: Asking,
    read: Read<T>,
}

impl<T> Call<T> {
    pub(super) fn new(asking: Asking, read: Read<T>) -> Self {
        Call { asking, read }
    }

    /// Sets `_meta` in the params, replacing what they have.
    #[expect(clippy::needless_pass_by_value, reason = "the setters of the schema's types take it like this")]
    pub fn meta(mut self, meta: Raw<'_>) -> Self {
        self.asking.meta(&meta);
        self
    }

    /// Replaces the conversion of the result.
    pub(super) fn read_as<U>(self, read: Read<U>) -> Call<U> {
        Call { asking: self.asking, read }
    }

    /// Discards the result.
    pub(super) fn done(self) -> Call<()>
    where
        T: Message<'static>,
    {
        self.read_as(|shared, response| result::<T>(shared, response).map(drop))
    }

    pub(super) fn is_sent(&self) -> bool {
        self.asking.is_sent()
    }
}

impl<T> Future for Call<T> {
    type Output = Result<T, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = ready!(self.asking.poll_answer(cx));
        Poll::Ready(answer.and_then(|response| self.asking.read(&response, self.read)))
    }
}

impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").field("method", &self.asking.method).finish_non_exhaustive()
    }
}

/// The message of a [`Tell`].
pub(super) enum Said {
    OfPeer { method: Cow<'static, str>, params: String },
    OfSession { session: Arc<Name>, method: Cow<'static, str>, params: String },
}

impl Said {
    fn parts(&mut self) -> (&Cow<'static, str>, &mut String) {
        let (Said::OfPeer { method, params } | Said::OfSession { method, params, .. }) = self;
        (method, params)
    }
}

/// A notification to the peer: a future that ends when the notification was handed to the transport.
///
/// Nothing is sent before it is polled. It waits for room on the transport.
#[must_use = "nothing is sent before it is awaited"]
pub struct Tell {
    shared: Arc<Shared>,
    said: Result<Said, (Cow<'static, str>, Option<serde_json::Error>)>,
}

impl Tell {
    pub(super) fn new(
        shared: &Arc<Shared>,
        method: Cow<'static, str>,
        params: Result<String, serde_json::Error>,
        session: Option<&Arc<Name>>,
    ) -> Self {
        let said = match (params, session) {
            (Err(error), _) => Err((method, Some(error))),
            (Ok(params), None) => Ok(Said::OfPeer { method, params }),
            (Ok(params), Some(session)) => Ok(Said::OfSession { session: Arc::clone(session), method, params }),
        };
        Tell { shared: Arc::clone(shared), said }
    }

    /// Sets `_meta` in the params, replacing what they have.
    #[expect(clippy::needless_pass_by_value, reason = "the setters of the schema's types take it like this")]
    pub fn meta(mut self, meta: Raw<'_>) -> Self {
        if let Ok(said) = &mut self.said {
            let (method, params) = said.parts();
            match with_meta(params, &meta) {
                Ok(extended) => *params = extended,
                Err(error) => self.said = Err((method.clone(), Some(error))),
            }
        }
        self
    }
}

impl Future for Tell {
    type Output = Result<(), Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Tell { shared, said } = &mut *self;
        let sent = match said {
            Err((method, error)) => Err(unreadable(method.clone(), error.take())),
            Ok(said) => ready!(shared.with(|state| {
                ready!(state.room(cx));
                Poll::Ready(match said {
                    Said::OfPeer { method, params } => state.tell(method, params),
                    Said::OfSession { session, method, params } => state.tell_of(session, method, params),
                })
            })),
        };
        if let Ok(over) = said {
            // If it is polled again, nothing is sent a second time.
            *said = Err((over.parts().0.clone(), None));
        }
        Poll::Ready(sent)
    }
}

impl fmt::Debug for Tell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tell").finish_non_exhaustive()
    }
}
