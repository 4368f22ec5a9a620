//! Traits for the messages that the generated enums of calls read, such as
//! [`v1::ClientRequest::read`](super::v1::ClientRequest::read).
//!
//! The events of a connection implement them. They are traits because the events are in a layer above the types.

/// A request that arrived.
pub trait Request {
    /// The method's name.
    fn method(&self) -> &str;
    /// The params as JSON text, `{}` if there were none.
    fn params(&self) -> &str;
}

/// A notification that arrived.
pub trait Notification {
    /// The method's name.
    fn method(&self) -> &str;
    /// The params as JSON text, `{}` if there were none.
    fn params(&self) -> &str;
}
