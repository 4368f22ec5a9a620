//! Events: what the connection reports to the host. Each owns its text, so that it can be kept, sent on and answered later.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::engine::{RequestKey, TerminalRef, Timing};
use crate::jsonrpc::{ErrorCode, Id, PeerError};
use crate::rules::RuleId;

/// Something that happened on the connection, from [`poll_event`](super::Connection::poll_event).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The peer sent a request. Answer it once, with [`respond`](super::Connection::respond) or
    /// [`respond_error`](super::Connection::respond_error) (RPC-15).
    Request(Request),
    /// The peer sent a notification.
    Notification(Notification),
    /// A request that the host sent has ended. There is exactly one such event for each request.
    Response(Response),
    /// The peer has answered a request that had ended with [`Outcome::Timeout`] or [`Outcome::Cancelled`] before. The
    /// answer was checked like any other; its outcome is `Result`, `Error` or `Invalid`. A session or a terminal that it
    /// opened is open: close or release it if nobody needs it any more.
    LateResponse(Response),
    /// The peer has asked to cancel one of its requests (`$/cancel_request`). The request still needs its answer
    /// (CANCEL-10). Version 2 lets agents withdraw questions to the user like this; those end with
    /// [`Answered`](Self::Answered) instead (PERM-21, ELIC-32).
    Cancel(Cancel),
    /// The connection has answered a request of the peer on the host's behalf; do not answer it again.
    Answered(Answered),
    /// The peer broke a rule of the specification.
    Violation(Violation),
    /// The host's own message was sent but should look different, or one of its answers is overdue.
    Advice(Advice),
    /// The connection is over. This is the last event.
    Closed(Closed),
}

impl Event {
    /// The name of this kind of event, the same in every language: `request`, `late_response` and so on.
    pub const fn name(&self) -> &'static str {
        match self {
            Event::Request(_) => "request",
            Event::Notification(_) => "notification",
            Event::Response(_) => "response",
            Event::LateResponse(_) => "late_response",
            Event::Cancel(_) => "cancel",
            Event::Answered(_) => "answered",
            Event::Violation(_) => "violation",
            Event::Advice(_) => "advice",
            Event::Closed(_) => "closed",
        }
    }
}

/// JSON text that an event carries: the frame as it was received, or a repaired copy, and the range that matters.
///
/// The frame is kept whole and given away whole, so that large params are never copied.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Json {
    text: String,
    range: Range<usize>,
}

impl Json {
    pub(crate) fn new(text: String, range: Range<usize>) -> Self {
        Json { text, range }
    }

    pub(crate) fn whole(text: String) -> Self {
        Json { range: 0..text.len(), text }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text[self.range.clone()]
    }

    /// Removes the text and returns it without what stands around the range.
    fn take(&mut self) -> String {
        let mut text = std::mem::take(&mut self.text);
        let range = std::mem::take(&mut self.range);
        text.truncate(range.end);
        text.drain(..range.start);
        text
    }

    /// The text around the range.
    pub(crate) fn around(&self) -> &str {
        &self.text
    }

    /// A copy without the values at these JSON pointers.
    pub(crate) fn without(&self, places: &[String]) -> Self {
        Json::whole(crate::json::without(self.as_str(), places))
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A request that the peer sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// The JSON-RPC id, exactly as the peer sent it.
    pub id: Id,
    /// A number that the connection gave to the request. It is never used for another request of this connection, unlike
    /// an id, and names the request wherever a [`RequestKey`] is expected.
    pub serial: u64,
    /// The method.
    pub method: Cow<'static, str>,
    /// The session that the message is about; `None` when it is about none.
    pub session: Option<Arc<str>>,
    pub(crate) params: Json,
}

impl<'a> From<&'a Request> for RequestKey<'a> {
    fn from(request: &'a Request) -> Self {
        (&request.id, request.serial).into()
    }
}

impl Request {
    /// The params as JSON text, `{}` where the message had none. They are valid for the method in the agreed version;
    /// params of extension methods are any object or list.
    pub fn params(&self) -> &str {
        self.params.as_str()
    }

    /// Takes the params as JSON text, without a copy. Afterwards [`params`](Self::params) is empty.
    pub fn take_params(&mut self) -> String {
        self.params.take()
    }

    /// Puts other params in place of these.
    pub(crate) fn set_params(&mut self, params: String) {
        self.params = Json::whole(params);
    }

    /// The params as a Rust type.
    ///
    /// # Errors
    /// When the params do not fit the type.
    pub fn params_as<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        crate::schema::read(self.params())
    }
}

#[cfg(feature = "types")]
impl crate::schema::incoming::Request for Request {
    fn method(&self) -> &str {
        &self.method
    }

    fn params(&self) -> &str {
        self.params()
    }
}

/// A notification that the peer sent.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notification {
    /// The method.
    pub method: Cow<'static, str>,
    /// The session that the message is about; `None` when it is about none.
    pub session: Option<Arc<str>>,
    /// The kind of a `session/update`, such as `agent_message_chunk`; `None` for kinds that the agreed version does not
    /// have, and for other methods.
    pub update: Option<&'static str>,
    /// When it came in the life of its session: during a turn, a replay, or neither.
    pub timing: Timing,
    pub(crate) params: Json,
}

impl Notification {
    /// The params as JSON text, `{}` where the message had none. They are valid for the method in the agreed version;
    /// params of extension methods are any object or list.
    pub fn params(&self) -> &str {
        self.params.as_str()
    }

    /// Takes the params as JSON text, without a copy. Afterwards [`params`](Self::params) is empty.
    pub fn take_params(&mut self) -> String {
        self.params.take()
    }

    /// The params as a Rust type.
    ///
    /// # Errors
    /// When the params do not fit the type.
    pub fn params_as<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<T, serde_json::Error> {
        crate::schema::read(self.params())
    }
}

#[cfg(feature = "types")]
impl crate::schema::incoming::Notification for Notification {
    fn method(&self) -> &str {
        &self.method
    }

    fn params(&self) -> &str {
        self.params()
    }
}

/// The end of a request that the host sent, or an answer that came after that.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Response {
    /// The id that [`request`](super::Connection::request) returned.
    pub id: Id,
    /// The serial of the request; see [`Request::serial`].
    pub serial: u64,
    /// The method of the request.
    pub method: Cow<'static, str>,
    /// The session that the request is about; `None` when it is about none.
    pub session: Option<Arc<str>>,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a request that the host sent ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The peer answered with a result; [`Outcome::result`] has its text.
    Result(ResultText),
    /// The peer answered with an error.
    Error(PeerError),
    /// The peer's answer cannot be used. An [`Event::Violation`] before this event says why.
    Invalid,
    /// No answer came within the request's time limit. One may still come, as an [`Event::LateResponse`].
    Timeout,
    /// The host cancelled the request, and no answer came within [`Config::cancel_grace`](super::Config::cancel_grace).
    /// One may still come, as an [`Event::LateResponse`].
    Cancelled,
    /// The connection was over before an answer came.
    Closed,
}

/// A result as JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultText(pub(crate) Json);

impl ResultText {
    /// A text that was not received as it is.
    pub(crate) fn of(text: String) -> Self {
        ResultText(Json::whole(text))
    }
}

impl Outcome {
    /// The result as JSON text; `None` for every outcome but [`Outcome::Result`].
    pub fn result(&self) -> Option<&str> {
        match self {
            Outcome::Result(text) => Some(text.0.as_str()),
            _ => None,
        }
    }

    /// Takes the result as JSON text, without a copy. Afterwards [`result`](Self::result) is empty.
    pub fn take_result(&mut self) -> Option<String> {
        match self {
            Outcome::Result(text) => Some(text.0.take()),
            _ => None,
        }
    }

    /// The result as a Rust type; `None` for every outcome but [`Outcome::Result`].
    ///
    /// # Errors
    /// When the result does not fit the type.
    pub fn result_as<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<Option<T>, serde_json::Error> {
        self.result().map(crate::schema::read).transpose()
    }

    /// The name of this value, the same in every language.
    pub const fn name(&self) -> &'static str {
        match self {
            Outcome::Result(_) => "result",
            Outcome::Error(_) => "error",
            Outcome::Invalid => "invalid",
            Outcome::Timeout => "timeout",
            Outcome::Cancelled => "cancelled",
            Outcome::Closed => "closed",
        }
    }
}

/// The peer has asked to cancel one of its requests.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cancel {
    /// The id of the peer's request.
    pub id: Id,
    /// The serial of the request; see [`Request::serial`].
    pub serial: u64,
    /// The method of the request.
    pub method: Cow<'static, str>,
    /// The session that the message is about; `None` when it is about none.
    pub session: Option<Arc<str>>,
}

impl<'a> From<&'a Cancel> for RequestKey<'a> {
    fn from(cancel: &'a Cancel) -> Self {
        (&cancel.id, cancel.serial).into()
    }
}

/// The connection has answered a request on the host's behalf.
///
/// The host was asked by [`Event::Request`] before: close the dialog, and do not answer, as that would be a second answer
/// (RPC-15). Only a prompt that repeats another one by its `idempotencyKey` is answered without such an event (LIFE-38).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answered {
    /// The id of the peer's request.
    pub id: Id,
    /// The serial of the request; see [`Request::serial`].
    pub serial: u64,
    /// The method of the request.
    pub method: Cow<'static, str>,
    /// The session that the message is about; `None` when it is about none.
    pub session: Option<Arc<str>>,
    /// The rule that says what the answer is.
    pub rule: RuleId,
}

/// What became of a message that broke a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Consequence {
    /// It was delivered, after repairs where it needed some.
    Delivered,
    /// It was not delivered. Notifications and responses have no answer, so the peer does not learn of it.
    Dropped,
    /// It was not delivered, and was answered with an error of this code.
    Refused(ErrorCode),
}

impl Consequence {
    /// The name of this value, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            Consequence::Delivered => "delivered",
            Consequence::Dropped => "dropped",
            Consequence::Refused(_) => "refused",
        }
    }
}

/// The peer broke a rule of the specification.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The rule, from the rule catalogue.
    pub rule: RuleId,
    /// What is wrong, in one sentence for logs. It does not repeat what the peer sent.
    pub message: String,
    /// JSON pointer into the params or the result; empty when the message as a whole is wrong.
    pub pointer: String,
    /// The method; `None` where none could be read.
    pub method: Option<Cow<'static, str>>,
    /// The id of the request; `None` where none could be read, and for notifications.
    pub id: Option<Id>,
    /// The session that the message is about; `None` where none could be read before the fault was found.
    pub session: Option<Arc<str>>,
    /// The number of the frame that the peer sent, counted from 1.
    pub frame: u64,
    /// The first bytes of the frame, at most 256, with U+FFFD in place of what is not UTF-8. Empty where the frame may
    /// hold secrets (AUTH-27).
    pub excerpt: String,
    /// What became of the message.
    pub consequence: Consequence,
}

/// The host should do something differently.
///
/// Either it sent a message that breaks a rule which is only a recommendation; the message was sent all the same. Or a
/// request of the peer has waited for an answer for [`Config::reminder`](super::Config::reminder) milliseconds (RPC-15).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Advice {
    /// The rule, from the rule catalogue.
    pub rule: RuleId,
    /// What should be different, in one sentence.
    pub message: String,
    /// JSON pointer into the params or the result; empty when it is about the message as a whole.
    pub pointer: String,
    /// The method; for an answer, the method of the request.
    pub method: String,
    /// The id of the peer's request, when the advice is about an answer to it or about the lack of one; otherwise `None`.
    pub id: Option<Id>,
    /// The session that the message is about; `None` when it is about none.
    pub session: Option<Arc<str>>,
}

/// Why a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CloseReason {
    /// The peer closed its side of the stream.
    EndOfStream,
    /// The host called [`close`](super::Connection::close).
    Host,
    /// The agent answered `initialize` with a version that the client does not speak (INIT-07).
    Version,
}

impl CloseReason {
    /// The name of this value, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            CloseReason::EndOfStream => "end_of_stream",
            CloseReason::Host => "host",
            CloseReason::Version => "version",
        }
    }
}

/// The connection is over.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Closed {
    /// Why the connection ended.
    pub reason: CloseReason,
    /// The ids of the peer's requests that the host has not answered, oldest first. After
    /// [`CloseReason::EndOfStream`] they can still be answered.
    pub unanswered: Vec<Id>,
    /// Terminals that were not released (TERM-04), by session.
    pub terminals: Vec<TerminalRef>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_taken_is_the_part_that_matters() {
        let text = r#"{"method":"_é","params":{"é":1}}"#;
        let begins = text.find(r#"{"é"#).unwrap();
        let mut json = Json::new(text.into(), begins..text.len() - 1);
        assert_eq!((json.take(), json.as_str()), (r#"{"é":1}"#.into(), ""));
    }
}
