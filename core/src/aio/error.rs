//! Errors of calls, and errors of handlers.

use std::borrow::Cow;
use std::fmt;

use crate::connection::Violation;
use crate::json::{pointer, unescape};
use crate::jsonrpc::{ErrorCode, PeerError};
use crate::schema::Raw;
use crate::{printable, Misuse};

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The protocol does not allow the call now. Nothing was sent. The misuse names the rule and the place.
    #[error(transparent)]
    Misuse(#[from] Misuse),
    /// The peer answered with an error. The text includes the error's message, and the cause if the error's data has one
    /// as a string, both shortened and without control characters.
    #[error("{method}: the peer answered with an error: {} ({}){}", shown(&error.message), error.code, cause(error))]
    #[non_exhaustive]
    Peer {
        /// The method that was called.
        method: Cow<'static, str>,
        /// The peer's error.
        error: PeerError,
    },
    /// The peer's response cannot be used. The text includes the rule that the response breaks and the place.
    #[error("{method}: the peer's answer cannot be used{}", why(violation.as_deref()))]
    #[non_exhaustive]
    Invalid {
        /// The method that was called.
        method: Cow<'static, str>,
        /// What is wrong with the response, as passed to `on_violation`; `None` under a policy that reports nothing.
        violation: Option<Box<Violation>>,
    },
    /// No answer within [`Config::timeout`](crate::Config::timeout).
    #[error("{method}: no answer in time")]
    #[non_exhaustive]
    Timeout {
        /// The method that was called.
        method: Cow<'static, str>,
    },
    /// The request was cancelled and not answered within [`Config::cancel_grace`](crate::Config::cancel_grace).
    #[error("{method}: cancelled, and not answered in time")]
    #[non_exhaustive]
    Cancelled {
        /// The method that was called.
        method: Cow<'static, str>,
    },
    /// The connection has ended, or is no longer driven.
    #[error("{method}: the connection is over")]
    #[non_exhaustive]
    Closed {
        /// The method that was called.
        method: Cow<'static, str>,
    },
    /// The params cannot be written as JSON; or the peer's response does not fit its type, which can happen only with a
    /// policy that delivers such responses.
    #[error("{method}: {error}")]
    #[non_exhaustive]
    Unreadable {
        /// The method of the message.
        method: Cow<'static, str>,
        /// The JSON error.
        #[source]
        error: serde_json::Error,
    },
}

impl Error {
    pub(super) fn closed(method: impl Into<Cow<'static, str>>) -> Self {
        Error::Closed { method: method.into() }
    }
}

fn why(violation: Option<&Violation>) -> String {
    let Some(Violation { rule, pointer, message, .. }) = violation else { return String::new() };
    let place = if pointer.is_empty() { String::new() } else { format!("{}: ", printable(pointer)) };
    format!(": {rule}: {place}{message}")
}

/// Where the data of an error may have the cause as a string.
const CAUSES: &[&str] = &["", "/details", "/detail", "/message", "/reason", "/error", "/error/message"];
/// How many characters of the message and of the cause are shown.
const SHOWN: usize = 2000;

/// A peer's text on one line of a terminal.
fn shown(text: &str) -> String {
    let cut = text.char_indices().nth(SHOWN).map_or(text.len(), |(end, _)| end);
    printable(&text[..cut]).replace('\n', "\\n")
}

fn cause(error: &PeerError) -> String {
    let data = error.data.as_deref().unwrap_or("null");
    let mut found = CAUSES.iter().filter_map(|at| unescape(pointer(data, at)?));
    let Some(text) = found.find(|text| !text.trim().is_empty() && *text != error.message) else { return String::new() };
    format!(": {}", shown(&text))
}

/// An error with which a handler answers its request.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
#[non_exhaustive]
pub struct RequestError {
    /// A code of the specification, or one of your own.
    pub code: ErrorCode,
    /// A short sentence for the peer.
    pub message: Cow<'static, str>,
    /// More information, if any.
    pub data: Option<Raw<'static>>,
}

impl RequestError {
    /// An error without data.
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        RequestError { code, message: message.into(), data: None }
    }

    /// An error with the standard message for its code.
    pub fn of(code: ErrorCode) -> Self {
        Self::new(code, code.message())
    }

    /// Adds data to the error.
    #[must_use]
    pub fn data(mut self, data: Raw<'static>) -> Self {
        self.data = Some(data);
        self
    }

    pub(super) fn not_found(method: &str) -> Self {
        Self::of(ErrorCode::METHOD_NOT_FOUND).about("method", method)
    }

    /// Sets the data to an object with one member.
    pub(super) fn about(mut self, name: &str, value: &str) -> Self {
        let mut data = crate::json::Writer::new();
        data.begin_object().key(name).string(value).end_object();
        self.data = data.finish().ok().and_then(|data| Raw::from_string(data).ok());
        self
    }
}

/// Why a handler failed. The `?` operator converts any error into this.
///
/// A [`RequestError`] is sent to the peer. For any other error, the peer learns only that there was an internal error,
/// and the host's `on_error` gets the error itself.
pub struct Failure(Box<dyn std::error::Error + Send + Sync>);

impl Failure {
    /// A failure with a message.
    pub fn new(message: impl Into<String>) -> Self {
        Failure(message.into().into())
    }

    /// The error that it was created from.
    pub fn into_inner(self) -> Box<dyn std::error::Error + Send + Sync> {
        self.0
    }

    /// The error that it was created from, if it has this type.
    pub fn downcast_ref<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl<E: std::error::Error + Send + Sync + 'static> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure(Box::new(error))
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What `main` prints when it returns one.
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(data: Option<&str>) -> String {
        says("Internal error", data)
    }

    fn says(message: &str, data: Option<&str>) -> String {
        let (code, message, data) = (ErrorCode(-32603), message.to_owned(), data.map(str::to_owned));
        Error::Peer { method: "session/new".into(), error: PeerError { code, message, data } }.to_string()
    }

    #[test]
    fn an_error_says_what_its_data_says() {
        let bare = "session/new: the peer answered with an error: Internal error (-32603)";
        for data in [None, Some("null"), Some("[1]"), Some(r#"{"details":" "}"#), Some(r#""Internal error""#)] {
            assert_eq!(text(data), bare, "{data:?}");
        }
        for data in [r#""It's \"shut\"""#, r#"{"details":"It's \"shut\""}"#, r#"{"error":{"message":"It's \"shut\""}}"#]
        {
            assert_eq!(text(Some(data)), format!("{bare}: It's \"shut\""), "{data}");
        }
        assert_eq!(text(Some(r#""a\u001b[2Jb""#)), format!("{bare}: a\\x1b[2Jb"));
        assert!(text(Some(&format!("\"{}\"", "x".repeat(9999)))).len() < 2200);
    }

    #[test]
    fn the_message_of_an_error_is_safe_to_print() {
        let at = "session/new: the peer answered with an error: ";
        assert_eq!(says("a\u{1b}[2Jb\nc\u{202e}", None), format!("{at}a\\x1b[2Jb\\nc\\u202e (-32603)"));
        assert!(says(&"x".repeat(9999), None).len() < 2200);
    }
}
