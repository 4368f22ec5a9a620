//! The protocol's messages, typed, and the tables that untrusted JSON is checked with.
//!
//! [`v1`] and [`v2`] hold one type per type of the specification, generated from the model in `core/protocol/`. They
//! borrow from the text they are read from ([`Str`], [`Raw`], [`Map`]), keep what they do not know (`Unrecognized`
//! variants), and tell leaving out from null where the protocol does ([`Patch`]). Every one has a constructor `new` with
//! what must be there, is a [`Message`], and becomes independent of its text by [`IntoOwned`].
//!
//! Untrusted JSON goes through [`decode`], which checks it first. The types alone are strict: they refuse what does not
//! fit and repair nothing.
//!
//! Read `message` first, then the small types, then `unions`, which is how the generated unions are read.

pub mod drafts;
mod id;
mod map;
mod message;
mod owned;
mod patch;
mod raw;
mod scalars;
pub mod tables;
mod text;
mod unions;
pub mod v1;
pub mod v2;

pub use map::Map;
pub use message::{decode, DecodeError, Decoded, Message, Notification, Policy, Request};
pub use owned::IntoOwned;
pub use patch::Patch;
pub use raw::Raw;
pub use text::Str;
