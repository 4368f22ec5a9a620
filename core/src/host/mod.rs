//! What hosts decide alike in every language, without I/O: policy above a [`Connection`] that a peer
//! loop would otherwise have to write itself.
//!
//! [`Host`] is a connection as handlers and calls see it, the same in both versions of the protocol. Its [`Pace`] says when
//! it takes no more from the peer, and a [`Budget`] which large answers may be made. [`offers`] says which capabilities its
//! handlers show. [`PermissionPolicy`] decides requests for permission by kind, tool and path.

mod agent;
mod budget;
mod client;
mod hosted;
mod offers;
mod opened;
mod pace;
mod paths;
mod permissions;
mod policy_text;
mod stop;
mod verbs;

use std::borrow::Cow;

use crate::schema::tables;
use crate::{json, Connection};

#[cfg(feature = "futures")]
pub(crate) use agent::LEFT_OUT;
pub use budget::Budget;
pub use hosted::Host;
pub use offers::{may_handle, offers, OfferError};
pub use pace::Pace;
pub use permissions::{Action, Decision, PermissionPolicy};
pub use policy_text::PolicyError;

/// Whether the agreed version is one whose prompts end with a state, so that what the host says needs other words.
fn is_newer(connection: &Connection) -> bool {
    let tables = connection.version().and_then(tables::version);
    tables.is_some_and(|tables| !tables.dialect.answer_ends_turn())
}

/// A string at a place.
fn text<'j>(json: &'j str, pointer: &str) -> Option<Cow<'j, str>> {
    json::unescape(json::pointer(json, pointer)?)
}
