//! Requests that are accompanied by updates: prompts, and loading sessions.

use std::borrow::Cow;
use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::task::{ready, Context, Poll};

use futures::stream::Stream;

use super::call::{result, Asking};
use super::client_session::ClientSession;
use super::content::Prompt;
use super::error::Error;
use super::peer::AgentPeer;
use super::update::{Given, Update};
use crate::connection::Response;
use crate::json;
use crate::schema::{v1, Message, Raw, Request};

/// A request that is accompanied by updates until its response.
struct Exchange {
    asking: Asking,
    /// The response, once it has arrived.
    answer: Option<Response>,
    given: Given,
}

impl Exchange {
    fn new<'a, R: Request<'a>>(agent: &AgentPeer, request: &R, session: &Arc<str>) -> Self {
        let asking = Asking::of(&agent.shared, R::METHOD.into(), request, Some(Arc::clone(session)));
        Exchange { asking, answer: None, given: Given::default() }
    }

    fn meta(mut self, meta: &Raw<'_>) -> Self {
        self.asking.meta(meta);
        self
    }

    /// The next update; `None` once the response has arrived.
    fn poll_update(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Update>, Error>> {
        if self.asking.is_over() {
            return Poll::Ready(Ok(None));
        }
        if let Some(update) = ready!(self.asking.poll_update(cx))? {
            let version = self.asking.shared.with(|state| state.connection().version());
            let update = Update::read(version, &update).map(|mut update| {
                self.given.give(&mut update);
                Some(update)
            });
            return Poll::Ready(update.map_err(|error| Error::Unreadable { method: "session/update".into(), error }));
        }
        self.answer = Some(ready!(self.asking.poll_answer(cx))?);
        Poll::Ready(Ok(None))
    }

    /// Waits for the result and leaves the updates to `on_update`.
    async fn last<T: Message<'static>>(&mut self) -> Result<T, Error> {
        if self.answer.is_none() {
            poll_fn(|cx| self.asking.poll_sent(cx)).await?;
            self.asking.pass_updates_on();
            self.answer = Some(poll_fn(|cx| self.asking.poll_answer(cx)).await?);
        }
        self.result()
    }

    /// A text of the response, which its type does not have in version 1.
    fn member(&self, pointer: &str) -> Option<String> {
        let result = self.answer.as_ref()?.outcome.result()?;
        json::pointer(result, pointer).and_then(json::unescape).map(Cow::into_owned)
    }

    fn result<T: Message<'static>>(&self) -> Result<T, Error> {
        let closed = || Err(Error::closed(self.asking.method()));
        self.answer.as_ref().map_or_else(closed, |answer| self.asking.read(answer, result))
    }
}

impl ClientSession {
    /// A prompt: text, a content block, or several of them. Nothing is sent before the returned [`PromptTurn`] is
    /// polled.
    pub fn prompt<'a>(&self, what: impl Into<Prompt<'a>>) -> PromptTurn {
        PromptTurn::new(self, &v1::PromptRequest::new(self.id(), what.into().0))
    }
}

impl AgentPeer {
    /// Loads an earlier session, if the agent supports that; see [`LoadingSession`].
    pub fn load_session(&self, id: &str, cwd: &str) -> LoadingSession {
        self.load_session_with(&v1::LoadSessionRequest::new(vec![], cwd, id))
    }

    /// Like [`load_session`](Self::load_session), with all params.
    pub fn load_session_with(&self, request: &v1::LoadSessionRequest<'_>) -> LoadingSession {
        LoadingSession::new(self, request)
    }
}

/// A prompt and its turn: a stream of [updates](Update) that ends with the turn. After that, the [stop reason](Self::stop_reason)
/// is known.
///
/// In version 2, the turn is all of the work that the prompt has started, and the prompts that were sent meanwhile end
/// together with it.
///
/// The prompt is sent on the first poll or, if an earlier turn is being cancelled, once that turn has ended. If its
/// updates are not taken, reading from the agent stops when the queues are full. Dropping it before its end cancels the
/// turn (`session/cancel`).
#[must_use = "nothing is sent before it is polled"]
pub struct PromptTurn {
    exchange: Exchange,
    session: ClientSession,
    result: Option<v1::PromptResponse<'static>>,
    message_id: Option<String>,
    /// It was cancelled. If it was not sent yet, it never is.
    cancelled: AtomicBool,
}

impl PromptTurn {
    pub(super) fn new(session: &ClientSession, request: &v1::PromptRequest<'_>) -> Self {
        let exchange = Exchange::new(session.agent(), request, &session.id().into());
        let (session, cancelled) = (session.clone(), AtomicBool::new(false));
        PromptTurn { exchange, session, result: None, message_id: None, cancelled }
    }

    /// Sets `_meta` in the prompt.
    #[expect(clippy::needless_pass_by_value, reason = "the setters of the schema's types take it like this")]
    pub fn meta(mut self, meta: Raw<'_>) -> Self {
        self.exchange = self.exchange.meta(&meta);
        self
    }

    /// The text of the agent's messages from here to the end of the turn. Other updates are discarded.
    ///
    /// # Errors
    /// If the prompt fails.
    pub async fn read_text(&mut self) -> Result<String, Error> {
        let mut said = String::new();
        while let Some(update) = self.update().await? {
            said.push_str(update.text().unwrap_or_default());
        }
        Ok(said)
    }

    /// The next update; `None` at the end of the turn.
    ///
    /// # Errors
    /// If the prompt fails, at its end.
    pub async fn update(&mut self) -> Result<Option<Update>, Error> {
        poll_fn(|cx| self.poll_update(cx)).await
    }

    /// Waits for the end of the turn. Updates go to the client's [`on_update`](super::Client::on_update).
    ///
    /// # Errors
    /// If the prompt fails.
    pub async fn finish(mut self) -> Result<v1::PromptResponse<'static>, Error> {
        if self.result.is_none() {
            poll_fn(|cx| self.poll_sent(cx)).await?;
        }
        match self.result.take() {
            Some(result) => Ok(result),
            None => self.exchange.last().await,
        }
    }

    /// Why the turn ended; `None` before its end.
    pub fn stop_reason(&self) -> Option<&v1::StopReason<'static>> {
        self.result.as_ref().map(|result| &result.stop_reason)
    }

    /// The response; `None` before the end of the turn.
    pub fn result(&self) -> Option<&v1::PromptResponse<'static>> {
        self.result.as_ref()
    }

    /// In version 2, the id of the prompt's message, which the updates about it have; `None` before the end of the turn.
    pub fn message_id(&self) -> Option<&str> {
        self.message_id.as_deref()
    }

    /// Cancels the turn, which continues until the agent ends it. A prompt that was not sent yet is never sent, and
    /// ends as cancelled. After the end of the turn, this has no effect.
    ///
    /// # Errors
    /// If the cancellation cannot be sent.
    pub async fn cancel(&self) -> Result<(), Error> {
        if self.exchange.asking.is_over() {
            return Ok(());
        }
        if self.exchange.asking.is_sent() {
            return self.session.cancel().await;
        }
        self.cancelled.store(true, Ordering::Relaxed);
        self.session.agent().shared.with(super::shared::State::unpark);
        Ok(())
    }

    /// Sends the prompt unless it was cancelled before.
    fn poll_sent(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let asking = &mut self.exchange.asking;
        if self.cancelled.load(Ordering::Relaxed) && !asking.is_sent() {
            asking.forgo();
            self.result = Some(v1::PromptResponse::new(v1::StopReason::Cancelled));
            return Poll::Ready(Ok(()));
        }
        asking.poll_sent(cx)
    }

    fn poll_update(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Update>, Error>> {
        if self.exchange.asking.is_over() {
            return Poll::Ready(Ok(None));
        }
        ready!(self.poll_sent(cx))?;
        let update = ready!(self.exchange.poll_update(cx))?;
        if update.is_none() && self.result.is_none() {
            self.result = Some(self.exchange.result()?);
            self.message_id = self.exchange.member("/messageId");
        }
        Poll::Ready(Ok(update))
    }
}

impl Stream for PromptTurn {
    type Item = Result<Update, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_update(cx).map(Result::transpose)
    }
}

impl fmt::Debug for PromptTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptTurn").field("session", &self.session).finish_non_exhaustive()
    }
}

/// A session that is being loaded: a stream of the [updates](Update) that the agent replays, and then the
/// [session](Self::session). Dropping it before its end asks the agent to cancel the request.
#[must_use = "nothing is sent before it is polled"]
pub struct LoadingSession {
    exchange: Exchange,
    agent: AgentPeer,
    id: Arc<str>,
    /// The stream has returned the error.
    failed: bool,
}

impl LoadingSession {
    pub(super) fn new(agent: &AgentPeer, request: &v1::LoadSessionRequest<'_>) -> Self {
        let id: Arc<str> = request.session_id.as_str().into();
        LoadingSession { exchange: Exchange::new(agent, request, &id), agent: agent.clone(), id, failed: false }
    }

    /// Sets `_meta` in the request.
    #[expect(clippy::needless_pass_by_value, reason = "the setters of the schema's types take it like this")]
    pub fn meta(mut self, meta: Raw<'_>) -> Self {
        self.exchange = self.exchange.meta(&meta);
        self
    }

    /// The next update of the replay; `None` at its end.
    ///
    /// # Errors
    /// If the session cannot be loaded, at the end.
    pub async fn update(&mut self) -> Result<Option<Update>, Error> {
        poll_fn(|cx| self.poll_update(cx)).await
    }

    /// The session, once it is open. Updates of the replay that were not taken go to the client's
    /// [`on_update`](super::Client::on_update).
    ///
    /// # Errors
    /// If the session cannot be loaded.
    pub async fn session(mut self) -> Result<ClientSession, Error> {
        let loaded: v1::LoadSessionResponse<'static> = self.exchange.last().await?;
        let mut opened = v1::NewSessionResponse::new(self.id.to_string());
        (opened.modes, opened.config_options, opened.meta) = (loaded.modes, loaded.config_options, loaded.meta);
        Ok(ClientSession::new(self.agent.clone(), opened))
    }

    fn poll_update(&mut self, cx: &mut Context<'_>) -> Poll<Result<Option<Update>, Error>> {
        let update = ready!(self.exchange.poll_update(cx));
        if let (Ok(None), Some(_), false) = (&update, &self.exchange.answer, self.failed) {
            if let Err(error) = self.exchange.result::<v1::LoadSessionResponse<'static>>() {
                self.failed = true;
                return Poll::Ready(Err(error));
            }
        }
        Poll::Ready(update)
    }
}

impl Stream for LoadingSession {
    type Item = Result<Update, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.poll_update(cx).map(Result::transpose)
    }
}

impl fmt::Debug for LoadingSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoadingSession").field("id", &self.id).finish_non_exhaustive()
    }
}
