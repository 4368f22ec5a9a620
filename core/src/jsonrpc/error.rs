//! Error codes, and errors from the peer.

use std::fmt;

/// The code of a JSON-RPC error (RPC-24).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ErrorCode(pub i32);

impl ErrorCode {
    /// The text is not JSON.
    pub const PARSE_ERROR: Self = ErrorCode(-32700);
    /// The JSON is not a message, or the message is not allowed now.
    pub const INVALID_REQUEST: Self = ErrorCode(-32600);
    /// The receiver does not implement the method.
    pub const METHOD_NOT_FOUND: Self = ErrorCode(-32601);
    /// The params do not fit the method.
    pub const INVALID_PARAMS: Self = ErrorCode(-32602);
    /// Any other failure.
    pub const INTERNAL_ERROR: Self = ErrorCode(-32603);
    /// The request was cancelled.
    pub const REQUEST_CANCELLED: Self = ErrorCode(-32800);
    /// A login is required first.
    pub const AUTH_REQUIRED: Self = ErrorCode(-32000);
    /// A file or a session does not exist.
    pub const RESOURCE_NOT_FOUND: Self = ErrorCode(-32002);
    /// No common protocol version (version 2).
    pub const UNSUPPORTED_PROTOCOL_VERSION: Self = ErrorCode(-32022);

    /// The usual short message for the code.
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

/// An error with which the peer answered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} ({code})")]
#[non_exhaustive]
pub struct PeerError {
    /// The code, which need not be one of the constants.
    pub code: ErrorCode,
    /// The message.
    pub message: String,
    /// The data, as JSON text.
    pub data: Option<String>,
}
