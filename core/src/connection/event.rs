//! What the core tells the host. Events own their text, so that they can be kept, sent on and answered later.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::engine::{RequestKey, TerminalRef, Timing};
use crate::jsonrpc::{ErrorCode, Id, PeerError};
use crate::rules::RuleId;

/// Something that the host must know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The peer asks; answer with `respond` or `respond_error`.
    Request(Request),
    /// The peer tells.
    Notification(Notification),
    /// A request of the host's has ended. Exactly one for each.
    Response(Response),
    /// The peer has answered a request of the host's that had ended with [`Outcome::Timeout`] or
    /// [`Outcome::Cancelled`]. The answer was checked like any other, and its outcome is `Result`, `Error` or `Invalid`.
    /// What it opened is open: close the session or release the terminal if nobody wants it any more.
    LateResponse(Response),
    /// The peer no longer wants the answer to a request (`$/cancel_request`). It must be answered all the same
    /// (CANCEL-10). A question of an agent's that version 2 lets it take back like this is [`Answered`](Self::Answered)
    /// (PERM-21, ELIC-32).
    Cancel(Cancel),
    /// The core has answered a request of the peer's in the host's place.
    Answered(Answered),
    /// The peer broke a rule.
    Violation(Violation),
    /// The host's own message went out, but it is odd; or an answer of the host's is overdue.
    Advice(Advice),
    /// The connection is over; the last event.
    Closed(Closed),
}

impl Event {
    /// A name for the kind of event, the same in every language.
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

/// JSON text that an event carries: the frame as it came, or a repaired copy, and the part that matters.
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

    /// The same as a text of its own, which is taken away.
    fn take(&mut self) -> String {
        let mut text = std::mem::take(&mut self.text);
        let range = std::mem::take(&mut self.range);
        text.truncate(range.end);
        text.drain(..range.start);
        text
    }

    /// The text that it is a part of.
    pub(crate) fn around(&self) -> &str {
        &self.text
    }

    /// The same without what stands at these JSON pointers.
    pub(crate) fn without(&self, places: &[String]) -> Self {
        Json::whole(crate::json::without(self.as_str(), places))
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A request of the peer's.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// Its id, exactly as sent.
    pub id: Id,
    /// A number for it that is unique on this connection, where an id is unwieldy.
    pub serial: u64,
    /// The method.
    pub method: Cow<'static, str>,
    /// The session it is about.
    pub session: Option<Arc<str>>,
    pub(crate) params: Json,
}

impl<'a> From<&'a Request> for RequestKey<'a> {
    fn from(request: &'a Request) -> Self {
        (&request.id, request.serial).into()
    }
}

impl Request {
    /// The params as JSON text; `{}` where there were none. They fit the model, except for extension methods.
    pub fn params(&self) -> &str {
        self.params.as_str()
    }

    /// The params as JSON text of the caller's own, without a copy; afterwards, [`params`](Self::params) is empty.
    pub fn take_params(&mut self) -> String {
        self.params.take()
    }

    /// The params as a Rust type.
    ///
    /// # Errors
    /// When they do not fit the type.
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

/// A notification of the peer's.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Notification {
    /// The method.
    pub method: Cow<'static, str>,
    /// The session it is about.
    pub session: Option<Arc<str>>,
    /// The kind of a `session/update`, where the model knows it.
    pub update: Option<&'static str>,
    /// Where it stands in the life of its session.
    pub timing: Timing,
    pub(crate) params: Json,
}

impl Notification {
    /// The params as JSON text; `{}` where there were none. They fit the model, except for extension methods.
    pub fn params(&self) -> &str {
        self.params.as_str()
    }

    /// The params as JSON text of the caller's own, without a copy; afterwards, [`params`](Self::params) is empty.
    pub fn take_params(&mut self) -> String {
        self.params.take()
    }

    /// The params as a Rust type.
    ///
    /// # Errors
    /// When they do not fit the type.
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

/// The end of a request of the host's, or an answer that came after it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Response {
    /// The id that `request` returned.
    pub id: Id,
    /// The request's own number; see [`Request::serial`].
    pub serial: u64,
    /// The method that was called.
    pub method: Cow<'static, str>,
    /// The session it was about.
    pub session: Option<Arc<str>>,
    /// How it ended.
    pub outcome: Outcome,
}

/// How a request of the host's ended.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// With a result; see [`Outcome::result`].
    Result(ResultText),
    /// With an error of the peer's.
    Error(PeerError),
    /// With an answer that cannot be used; a violation event before this one says why.
    Invalid,
    /// Without an answer in time. One may still come, as an [`Event::LateResponse`].
    Timeout,
    /// Without an answer, so many milliseconds after the host had cancelled it as
    /// [`Config::cancel_grace`](super::Config::cancel_grace) says. One may still come, as an [`Event::LateResponse`].
    Cancelled,
    /// Without an answer before the connection was over.
    Closed,
}

/// A result as JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultText(pub(crate) Json);

impl Outcome {
    /// The result as JSON text, if there is one.
    pub fn result(&self) -> Option<&str> {
        match self {
            Outcome::Result(text) => Some(text.0.as_str()),
            _ => None,
        }
    }

    /// The result as JSON text of the caller's own, without a copy; afterwards, [`result`](Self::result) is empty.
    pub fn take_result(&mut self) -> Option<String> {
        match self {
            Outcome::Result(text) => Some(text.0.take()),
            _ => None,
        }
    }

    /// The result as a Rust type, if there is one.
    ///
    /// # Errors
    /// When it does not fit the type.
    pub fn result_as<'a, T: serde::Deserialize<'a>>(&'a self) -> Result<Option<T>, serde_json::Error> {
        self.result().map(crate::schema::read).transpose()
    }

    /// A name for it, the same in every language.
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

/// The peer no longer wants an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cancel {
    /// The id of the peer's request.
    pub id: Id,
    /// The request's own number; see [`Request::serial`].
    pub serial: u64,
    /// The method that was called.
    pub method: Cow<'static, str>,
    /// The session it is about.
    pub session: Option<Arc<str>>,
}

impl<'a> From<&'a Cancel> for RequestKey<'a> {
    fn from(cancel: &'a Cancel) -> Self {
        (&cancel.id, cancel.serial).into()
    }
}

/// The core has answered in the host's place: close the dialog, an answer of the host's would be a second one. A prompt that
/// repeats another one by its `idempotencyKey` is answered like this without having been told of (LIFE-38).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answered {
    /// The id of the peer's request.
    pub id: Id,
    /// The request's own number; see [`Request::serial`].
    pub serial: u64,
    /// The method that was called.
    pub method: Cow<'static, str>,
    /// The session it is about.
    pub session: Option<Arc<str>>,
    /// The rule that asks for it.
    pub rule: RuleId,
}

/// What became of a message that broke a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Consequence {
    /// It was delivered, if need be repaired.
    Delivered,
    /// It was not delivered.
    Dropped,
    /// It was answered with an error.
    Refused(ErrorCode),
}

impl Consequence {
    /// A name for it, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            Consequence::Delivered => "delivered",
            Consequence::Dropped => "dropped",
            Consequence::Refused(_) => "refused",
        }
    }
}

/// The peer broke a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The rule, as listed in the rule catalogue.
    pub rule: RuleId,
    /// What is wrong, in one sentence.
    pub message: String,
    /// JSON pointer into the params or result; empty when it is about the message as a whole.
    pub pointer: String,
    /// The method, where one could be read.
    pub method: Option<Cow<'static, str>>,
    /// The id, where one could be read.
    pub id: Option<Id>,
    /// The session it is about, where one could be read before what is wrong.
    pub session: Option<Arc<str>>,
    /// The number of the frame on this connection, from 1.
    pub frame: u64,
    /// Its first bytes, at most 256, with U+FFFD for what is not UTF-8; empty where secrets may stand in it (AUTH-27).
    pub excerpt: String,
    /// What became of the message.
    pub consequence: Consequence,
}

/// The host's own message went out, but a rule that does not bind says that it should not look like this. Or it has not
/// gone out at all: a request of the peer's has waited for its answer as long as
/// [`Config::reminder`](super::Config::reminder) says (RPC-15).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Advice {
    /// The rule, as listed in the rule catalogue.
    pub rule: RuleId,
    /// What is odd, in one sentence.
    pub message: String,
    /// JSON pointer into the params or result.
    pub pointer: String,
    /// The method; of an answer, the method that was called.
    pub method: String,
    /// The id of the peer's request that it is about: of an answer, and of a reminder that there is none yet (RPC-15).
    pub id: Option<Id>,
    /// The session it is about.
    pub session: Option<Arc<str>>,
}

/// Why a connection is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CloseReason {
    /// The peer closed its side.
    EndOfStream,
    /// The host closed it.
    Host,
    /// No common protocol version (INIT-07).
    Version,
}

impl CloseReason {
    /// A name for it, the same in every language.
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
    /// Why.
    pub reason: CloseReason,
    /// Requests of the peer's that the host never answered, oldest first.
    pub unanswered: Vec<Id>,
    /// Terminals that were never released (TERM-04).
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
