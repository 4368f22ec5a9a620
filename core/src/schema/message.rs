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

/// The params of one method, whatever they borrow from, as a type that has no lifetime itself: `fn(SetSessionModeRequest)`
/// for those of `session/set_mode`.
pub trait Family {
    /// The params.
    type Params<'a>;
}

/// What may answer the requests of a family.
pub trait Answers<F>: Serialize {}

/// Marks the client's side; see [`typed::Client`](crate::typed::Client).
#[derive(Debug, Clone, Copy)]
pub enum ClientSide {}

/// Marks the agent's side; see [`typed::Agent`](crate::typed::Agent).
#[derive(Debug, Clone, Copy)]
pub enum AgentSide {}

/// Params that a side may send; see [`crate::typed`].
#[diagnostic::on_unimplemented(message = "`{Self}` is not sent by this side of a connection")]
pub trait SentBy<Side> {}

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
        std::borrow::Cow::Borrowed(json) => super::read(json)?,
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
                $crate::schema::read::<$name>(json).map($crate::schema::IntoOwned::into_owned)
            }
        })+
    };
}

/// Marks params with the sides that send them.
macro_rules! sent_by {
    ($params:ident, Client) => {
        impl $crate::schema::SentBy<$crate::schema::ClientSide> for $params<'_> {}
    };
    ($params:ident, Agent) => {
        impl $crate::schema::SentBy<$crate::schema::AgentSide> for $params<'_> {}
    };
    ($params:ident, Both) => {
        $crate::schema::message::sent_by!($params, Client);
        $crate::schema::message::sent_by!($params, Agent);
    };
}

/// Makes params a family.
macro_rules! family {
    ($params:ident) => {
        impl $crate::schema::Family for for<'f> fn($params<'f>) {
            type Params<'a> = $params<'a>;
        }
    };
}

/// Lists params types as requests, with what answers them.
macro_rules! requests {
    ($($params:ident = $method:literal, $from:ident, $result:ident $(<$r:lifetime>)?;)*) => {
        $(impl<'a> $crate::schema::Request<'a> for $params<'a> {
            const METHOD: &'static str = $method;
            const FROM: $crate::validation::table::From = $crate::validation::table::From::$from;
            type Result<'r> = $result $(<$r>)?;
        }
        $crate::schema::message::family!($params);
        impl $(<$r>)? $crate::schema::Answers<for<'f> fn($params<'f>)> for $result $(<$r>)? {}
        $crate::schema::message::sent_by!($params, $from);)*
    };
}

/// Lists params types as notifications.
macro_rules! notifications {
    ($($params:ident = $method:literal, $from:ident;)*) => {
        $(impl<'a> $crate::schema::Notification<'a> for $params<'a> {
            const METHOD: &'static str = $method;
            const FROM: $crate::validation::table::From = $crate::validation::table::From::$from;
        }
        $crate::schema::message::family!($params);
        $crate::schema::message::sent_by!($params, $from);)*
    };
}

/// All calls of one kind that one side makes, as an enum.
macro_rules! calls {
    ($(#[$doc:meta])* $name:ident of $event:ident; $($params:ident = $variant:ident, $method:literal;)*) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq)]
        #[non_exhaustive]
        pub enum $name<'a> {
            $(#[doc = concat!("`", $method, "`.")] $variant($params<'a>),)*
            /// A method of an extension: its name, and its params as they came.
            Extension(&'a str, &'a str),
        }

        impl<'a> $name<'a> {
            /// Reads the params of a message as the type of its method.
            ///
            /// # Errors
            /// When they do not fit the type, as only the params of a repaired or unchecked message may not.
            pub fn read(message: &'a impl $crate::schema::incoming::$event) -> Result<Self, ::serde_json::Error> {
                let params = message.params();
                match message.method() {
                    $($method => $crate::schema::read(params).map($name::$variant),)*
                    method => Ok($name::Extension(method, params)),
                }
            }
        }
    };
}

pub(crate) use {calls, family, messages, notifications, requests, sent_by};
