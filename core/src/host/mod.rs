//! What hosts decide alike in every language, without I/O: policy above a [`Connection`](crate::Connection) that a peer
//! loop would otherwise have to write itself.
//!
//! [`PermissionPolicy`] decides requests for permission by kind, tool and path.

mod paths;
mod permissions;
mod policy_text;

pub use permissions::{Action, Decision, PermissionPolicy};
pub use policy_text::PolicyError;
