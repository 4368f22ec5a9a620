//! What the calls of one side can be read from, as [`v1::ClientRequest::read`](super::v1::ClientRequest::read) does.
//!
//! The connection's events are such messages. They are traits, because what they are made of stands above the types.

/// A request as it came: its method, and its params as JSON text.
pub trait Request {
    /// The method.
    fn method(&self) -> &str;
    /// The params as JSON text, `{}` where there were none.
    fn params(&self) -> &str;
}

/// A notification as it came: its method, and its params as JSON text.
pub trait Notification {
    /// The method.
    fn method(&self) -> &str;
    /// The params as JSON text, `{}` where there were none.
    fn params(&self) -> &str;
}
