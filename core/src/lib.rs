//! libacp: the Agent Client Protocol as a state machine without I/O.
#![forbid(unsafe_code)]

pub mod connection;
pub mod framing;
pub mod json;
pub mod jsonrpc;
pub mod schema;
pub mod validation;

pub use connection::{Config, Connection, Event, Misuse, Role};
pub use jsonrpc::{ErrorCode, Id};
