//! JSON-RPC 2.0: ids, errors and envelopes.
//!
//! `envelope` reads the members of a message; [`Id`] and [`ErrorCode`] are what hosts see of it.

mod envelope;
mod error;
mod id;
mod write;

pub(crate) use envelope::{Body, Envelope, IdMember, Member, Version};
pub use error::{ErrorCode, PeerError};
pub use id::Id;
pub(crate) use id::MAX_NAME_BYTES;
pub(crate) use write::{write_error, write_notification, write_request, write_result};
