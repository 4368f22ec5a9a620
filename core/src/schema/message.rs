//! What all types of the schema have in common, and how untrusted JSON becomes one of them.

use serde::{Deserialize, Serialize};

use super::IntoOwned;
use crate::validation::table::{From as Sender, Tables, TypeId};
use crate::validation::{check, DraftSet, Mode, Part, Problem, Rejected};

/// A type of the protocol.
pub trait Message<'a>: Serialize + Deserialize<'a> + IntoOwned {
    /// Its name in the specification.
    const NAME: &'static str;
    /// The protocol version it belongs to.
    const TABLES: &'static Tables;
    /// Its place in [`Self::TABLES`].
    const TYPE: TypeId;
    /// Whether `null` in its place is read as `{}`.
    const NULL_IS_EMPTY: bool;

    /// Reads a text that does not live long enough to borrow from.
    fn detached(json: &str) -> Result<Self, serde_json::Error>;
}

/// Params of a request.
pub trait Request<'a>: Message<'a> {
    /// The method's name on the wire.
    const METHOD: &'static str;
    /// Who sends it.
    const FROM: Sender;
    /// What answers it.
    type Result<'r>: Message<'r>;
}

/// Params of a notification.
pub trait Notification<'a>: Message<'a> {
    /// The method's name on the wire.
    const METHOD: &'static str;
    /// Who sends it.
    const FROM: Sender;
}

/// How [`decode`] reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// What happens to what does not fit.
    pub mode: Mode,
    /// What the value is part of.
    pub part: Part,
    /// The drafts that are switched on.
    pub drafts: DraftSet,
}

/// A value, and what was repaired or let through on the way to it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded<T> {
    /// The value.
    pub value: T,
    /// What did not fit.
    pub problems: Vec<Problem>,
}

/// Why JSON did not become a type.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// It does not fit the model.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// It fits the model, but not the type: a fault of this crate's, as both come from the same place.
    #[error("the value cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

/// Checks JSON against the model, repairs what the policy lets it repair, and reads the rest.
///
/// The value borrows from `json` as long as nothing had to be repaired.
///
/// # Errors
/// [`DecodeError`] with the place and what was expected there.
pub fn decode<'a, T: Message<'a>>(json: &'a str, policy: Policy) -> Result<Decoded<T>, DecodeError> {
    let json = if T::NULL_IS_EMPTY && json.trim() == "null" { "{}" } else { json };
    let checked = check(T::TABLES, policy.drafts, T::TYPE, json, policy.mode, policy.part)?;
    let value = match checked.json {
        std::borrow::Cow::Borrowed(json) => serde_json::from_str(json)?,
        std::borrow::Cow::Owned(json) => T::detached(&json)?,
    };
    Ok(Decoded { value, problems: checked.problems })
}

/// Lists types as messages of a protocol version.
macro_rules! messages {
    ($tables:ident; $($name:ident $(<$a:lifetime>)? = $id:ident, $null:literal;)+) => {
        $(impl<'a> $crate::schema::Message<'a> for $name $(<$a>)? {
            const NAME: &'static str = stringify!($name);
            const TABLES: &'static $crate::validation::table::Tables = &$crate::schema::tables::$tables::TABLES;
            const TYPE: $crate::validation::table::TypeId = $crate::schema::tables::$tables::ids::$id;
            const NULL_IS_EMPTY: bool = $null;

            fn detached(json: &str) -> Result<Self, ::serde_json::Error> {
                ::serde_json::from_str::<$name>(json).map($crate::schema::IntoOwned::into_owned)
            }
        })+
    };
}

/// Lists params types as requests, with what answers them.
macro_rules! requests {
    ($($params:ident = $method:literal, $from:ident, $result:ident $(<$r:lifetime>)?;)*) => {
        $(impl<'a> $crate::schema::Request<'a> for $params<'a> {
            const METHOD: &'static str = $method;
            const FROM: $crate::validation::table::From = $crate::validation::table::From::$from;
            type Result<'r> = $result $(<$r>)?;
        })*
    };
}

/// Lists params types as notifications.
macro_rules! notifications {
    ($($params:ident = $method:literal, $from:ident;)*) => {
        $(impl<'a> $crate::schema::Notification<'a> for $params<'a> {
            const METHOD: &'static str = $method;
            const FROM: $crate::validation::table::From = $crate::validation::table::From::$from;
        })*
    };
}

pub(crate) use {messages, notifications, requests};
