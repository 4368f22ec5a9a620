//! The protocol's message types, and the tables by which untrusted JSON is checked.
//!
//! [`v1`] and [`v2`] have one type for each type of the specification, generated from the model in `core/protocol/`.
//! The types borrow from the text that they are read from ([`Str`], [`Raw`], [`Map`]), keep what they do not know
//! (`Unrecognized` variants), and distinguish an absent member from null where the protocol does ([`Patch`]). Every
//! type has a constructor `new` with the required fields and builder methods for the optional ones, is a [`Message`],
//! and can be detached from its text by [`IntoOwned`].
//!
//! Untrusted JSON goes through [`decode`], which checks it first. Deserializing a type directly is strict: it refuses
//! what does not fit and repairs nothing.
//!
//! Everything here except the tables needs the feature `types`, which is enabled by default.
//!
//! Read `message` first, then the small types, then `unions`, by which the generated unions are read.

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
