//! Error codes and error answers.

use std::fmt;

/// The code of an error answer (RPC-24).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ErrorCode(pub i32);

impl ErrorCode {
    /// Not JSON.
    pub const PARSE_ERROR: Self = ErrorCode(-32700);
    /// JSON, but not a message, or not now.
    pub const INVALID_REQUEST: Self = ErrorCode(-32600);
    /// Nobody here serves this method.
    pub const METHOD_NOT_FOUND: Self = ErrorCode(-32601);
    /// The params do not fit the method.
    pub const INVALID_PARAMS: Self = ErrorCode(-32602);
    /// Something else went wrong.
    pub const INTERNAL_ERROR: Self = ErrorCode(-32603);
    /// The request was cancelled.
    pub const REQUEST_CANCELLED: Self = ErrorCode(-32800);
    /// Log in first.
    pub const AUTH_REQUIRED: Self = ErrorCode(-32000);
    /// A file or session that does not exist.
    pub const RESOURCE_NOT_FOUND: Self = ErrorCode(-32002);
    /// No common protocol version (v2).
    pub const UNSUPPORTED_PROTOCOL_VERSION: Self = ErrorCode(-32022);

    /// The usual short message for a code.
    pub const fn message(self) -> &'static str {
        match self.0 {
            -32700 => "Parse error",
            -32600 => "Invalid request",
            -32601 => "Method not found",
            -32602 => "Invalid params",
            -32800 => "Request cancelled",
            -32000 => "Authentication required",
            -32002 => "Resource not found",
            -32022 => "Unsupported protocol version",
            _ => "Internal error",
        }
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// An error answer of the peer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
#[non_exhaustive]
pub struct PeerError {
    /// Its code; unknown ones are kept.
    pub code: ErrorCode,
    /// Its message.
    pub message: String,
    /// Its data, as JSON text.
    pub data: Option<String>,
}
