//! What all types of the schema have in common, and how untrusted JSON becomes one of them.

use serde::{Deserialize, Serialize};

use super::IntoOwned;
use crate::validation::table::{From as Sender, Tables, TypeId};
use crate::validation::{check, DraftSet, Mode, Part, Problem, Rejected};

/// A type of the protocol.
pub trait Message<'a>: Serialize + Deserialize<'a> + IntoOwned {
    /// The name of the type in the specification.
    const NAME: &'static str;
    /// The tables of the protocol version that the type belongs to.
    const TABLES: &'static Tables;
    /// The index of the type in [`Self::TABLES`].
    const TYPE: TypeId;
    /// Whether `null` is read as `{}`.
    const NULL_IS_EMPTY: bool;

    /// Reads a text without borrowing from it.
    ///
    /// # Errors
    /// If the text does not fit the type.
    fn detached(json: &str) -> Result<Self, serde_json::Error>;
}

/// The params of a request.
pub trait Request<'a>: Message<'a> {
    /// The method's name on the wire.
    const METHOD: &'static str;
    /// The side that sends it.
    const FROM: Sender;
    /// The result that answers it.
    type Result<'r>: Message<'r>;
}

/// The params of a notification.
pub trait Notification<'a>: Message<'a> {
    /// The method's name on the wire.
    const METHOD: &'static str;
    /// The side that sends it.
    const FROM: Sender;
}

/// The params of one method with any lifetime, as a type without one: `fn(SetSessionModeRequest)` stands for the params
/// of `session/set_mode`.
pub trait Family {
    /// The params with a lifetime.
    type Params<'a>;
}

/// A result that may answer the requests of a family.
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

/// How [`decode`] treats what does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// How strictly the value is checked.
    pub mode: Mode,
    /// What the value is part of.
    pub part: Part,
    /// The drafts that are enabled.
    pub drafts: DraftSet,
}

/// A value, and what was repaired or accepted while decoding it.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded<T> {
    /// The value.
    pub value: T,
    /// What did not fit.
    pub problems: Vec<Problem>,
}

/// Why JSON could not be decoded.
#[derive(Debug, thiserror::Error)]
pub enum DecodeError {
    /// The JSON does not fit the model.
    #[error(transparent)]
    Rejected(#[from] Rejected),
    /// The JSON fits the model but not the type. This is a defect of this crate, because both are generated from the
    /// same model.
    #[error("the value cannot be read: {0}")]
    Unreadable(#[from] serde_json::Error),
}

/// Checks JSON against the model, repairs what the policy allows to be repaired, and reads the result.
///
/// The value borrows from `json` unless something was repaired.
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

/// Implements [`Message`](crate::schema::Message) for the types of a protocol version.
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

/// Implements [`SentBy`](crate::schema::SentBy) for params.
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

/// Implements [`Family`](crate::schema::Family) for params.
macro_rules! family {
    ($params:ident) => {
        impl $crate::schema::Family for for<'f> fn($params<'f>) {
            type Params<'a> = $params<'a>;
        }
    };
}

/// Implements [`Request`](crate::schema::Request) for params, with their results.
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

/// Implements [`Notification`](crate::schema::Notification) for params.
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

/// Defines an enum of all calls of one kind that one side makes.
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
