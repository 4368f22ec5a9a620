//! The protocol's messages, typed, and the tables that untrusted JSON is checked with.
//!
//! [`v1`] and [`v2`] hold one type per type of the specification, generated from the model in `core/protocol/`. They
//! borrow from the text they are read from ([`Str`], [`Raw`], [`Map`]), keep what they do not know (`Unrecognized`
//! variants), and tell leaving out from null where the protocol does ([`Patch`]). Every one has a constructor `new` with
//! what must be there, is a [`Message`], and becomes independent of its text by [`IntoOwned`]; those of version 1 have
//! methods that set the rest.
//!
//! Untrusted JSON goes through [`decode`], which checks it first. The types alone are strict: they refuse what does not
//! fit and repair nothing.
//!
//! All of this but the tables is behind the feature `types`, which is on by default.
//!
//! Read `message` first, then the small types, then `unions`, which is how the generated unions are read.

pub mod drafts;
#[cfg(feature = "types")]
mod id;
#[cfg(feature = "types")]
pub mod incoming;
#[cfg(feature = "types")]
mod map;
#[cfg(feature = "types")]
mod message;
#[cfg(feature = "types")]
mod owned;
#[cfg(feature = "types")]
mod patch;
#[cfg(feature = "types")]
mod raw;
mod reader;
#[cfg(feature = "types")]
mod scalars;
#[cfg(feature = "types")]
mod setters;
pub mod tables;
#[cfg(feature = "types")]
mod text;
#[cfg(feature = "types")]
mod unions;
#[cfg(feature = "types")]
pub mod v1;
#[cfg(feature = "types")]
pub mod v2;
#[cfg(feature = "types")]
mod writer;

#[cfg(feature = "types")]
pub use map::Map;
#[cfg(feature = "types")]
pub use message::{
    decode, AgentSide, Answers, ClientSide, DecodeError, Decoded, Family, Message, Notification, Policy, Request,
    SentBy,
};
#[cfg(feature = "types")]
pub use owned::IntoOwned;
#[cfg(feature = "types")]
pub use patch::Patch;
#[cfg(feature = "types")]
pub use raw::Raw;
pub(crate) use reader::read;
#[cfg(feature = "types")]
pub use text::Str;
#[cfg(feature = "types")]
pub(crate) use writer::write;
