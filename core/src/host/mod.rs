//! What hosts decide alike in every language, without I/O: policy above a [`Connection`](crate::Connection) that a peer
//! loop would otherwise have to write itself.
//!
//! [`Host`] is a connection as handlers and calls see it, the same in both versions of the protocol. [`offers`] says which
//! capabilities its handlers show. [`PermissionPolicy`]
//! decides requests for permission by kind, tool and path.

mod agent;
mod client;
mod hosted;
mod offers;
mod paths;
mod permissions;
mod policy_text;
mod stop;

pub use hosted::Host;
pub use offers::{offers, OfferError};
pub use permissions::{Action, Decision, PermissionPolicy};
pub use policy_text::PolicyError;
