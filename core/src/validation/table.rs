//! The shape of the generated tables: types, members and methods as static data.
//!
//! `cargo xtask codegen` fills them from `core/protocol/`. Read [`super`] next for how they are used.

use crate::role::Role;
use crate::rules::RuleId;

/// An index into [`Tables::types`].
pub type TypeId = u16;

/// Everything that the core knows about one protocol version.
#[derive(Debug)]
pub struct Tables {
    /// The protocol version, as `initialize` states it.
    pub version: u16,
    /// All types, indexed by [`TypeId`].
    pub types: &'static [Type],
    /// The types that have a name, sorted by name, for look-ups. Empty without the feature `words`.
    pub names: &'static [(&'static str, TypeId)],
    /// All methods, sorted by name.
    pub methods: &'static [Method],
    /// Parts of messages that need a capability of their own.
    pub parts: &'static [Part],
    /// The rules that wrong values break, if the model names one: type, index of the member (255 for the type itself,
    /// with an unknown tag or value; 254 for its missing tag), rule. Sorted.
    pub rules: &'static [(TypeId, u8, RuleId)],
    /// Names that tolerant receivers accept in place of a member's: type, index of the member, name. With the index
    /// 254, the name is a tag that means the same as no tag. Sorted.
    pub aliases: &'static [(TypeId, u8, &'static str)],
    /// Types of values that are forwarded as they came. A host may send members that these types do not have. Sorted.
    pub forwarded: &'static [TypeId],
    /// Everything else that differs between versions.
    pub dialect: Dialect,
}

/// What code needs to know about a version beyond its types and methods, so that no code compares version numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "versions differ in as many independent ways")]
pub struct Dialect {
    /// The names of members in a client's `initialize` request.
    pub client: HelloNames,
    /// The names of members in an agent's `initialize` response.
    pub agent: HelloNames,
    /// What ends a turn.
    pub turn_end: TurnEnd,
    /// The member that holds the id of a config option.
    pub config_option_id: &'static str,
    /// Methods that an agent implements if, and only if, it lists login methods.
    pub listed_logins: &'static [&'static str],
    /// A JSON pointer to the tool call that a permission request may be about.
    pub permission_tool_call: &'static str,
    /// Whether a frame may be a list of messages.
    pub batches: bool,
    /// Whether the id of a request may be null (RPC-07).
    pub null_ids: bool,
    /// Whether an error about a session that does not exist names the session (SESS-01).
    pub names_missing_session: bool,
    /// Whether a client may send `initialize` again before its first other request.
    pub initialize_again: bool,
    /// Whether an agent answers with an error if the client asks for a version below all that the agent supports.
    pub version_error: bool,
    /// Whether a tolerant receiver delivers and reports a relative path outside a request's params that should be
    /// absolute. In the params of a request it is refused.
    pub relative_paths: bool,
}

impl Dialect {
    /// The names of one side's members of `initialize`.
    pub(crate) const fn hello(&self, side: Role) -> &HelloNames {
        match side {
            Role::Client => &self.client,
            Role::Agent => &self.agent,
        }
    }

    /// Whether the answer to a prompt ends its turn.
    pub(crate) fn answer_ends_turn(&self) -> bool {
        self.turn_end == TurnEnd::Answer
    }
}

/// The names of members of `initialize`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HelloNames {
    /// The member with the capabilities of a side.
    pub capabilities: &'static str,
    /// The member with the name and version of a side's program.
    pub info: &'static str,
}

/// What ends a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEnd {
    /// The answer to the prompt.
    Answer,
    /// A state update.
    StateUpdate,
}

/// A member, a value or a variant in the messages of some methods that needs a capability of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// The name that follows a method and a colon, as in `session/prompt:image`.
    pub name: &'static str,
    /// The methods.
    pub methods: &'static [&'static str],
    /// The side that advertises the capability.
    pub of: From,
    /// A JSON pointer to the capability in the capabilities of that side.
    pub pointer: &'static str,
    /// The rule that a message breaks if it has the part without the capability.
    pub rule: RuleId,
    /// The number of the draft that the part belongs to; 0 for none.
    pub draft: u8,
}

impl Part {
    /// The capability as people write it, as in `session.prompt.image`.
    pub(crate) fn capability(&self) -> String {
        self.pointer.trim_start_matches('/').replace('/', ".")
    }
}

/// What a JSON value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Any JSON value.
    Any,
    /// A boolean.
    Boolean,
    /// An integer between two bounds, exact.
    Integer {
        /// Smallest legal value.
        min: i64,
        /// Largest legal value.
        max: u64,
    },
    /// A line number counted from 1. The schemas allow 0, which is read as 1 and reported.
    Line,
    /// Any JSON number.
    Number {
        /// The bounds as whole numbers, where there are any (both ends included).
        bounds: Option<(i32, i32)>,
    },
    /// A string.
    String(StringKind),
    /// One of several strings.
    Enum {
        /// The known values.
        values: &'static [&'static str],
        /// Whether other values are legal.
        open: bool,
    },
    /// A list.
    Array {
        /// Type of each item.
        item: TypeId,
        /// Fewest items.
        min: u8,
    },
    /// An object with arbitrary keys.
    Map {
        /// Type of each value.
        value: TypeId,
    },
    /// An object with known members. Others are ignored.
    Object {
        /// Known members.
        fields: &'static [Field],
    },
    /// An object whose type depends on a string member, the tag.
    Union {
        /// Name of that member.
        tag: &'static str,
        /// Its known values.
        variants: &'static [Variant],
        /// What any other value means.
        other: Other,
        /// The type that is meant when the tag is absent.
        untagged: Option<TypeId>,
    },
    /// The first alternative that fits.
    AnyOf {
        /// The alternatives, in order.
        of: &'static [TypeId],
    },
}

/// What a string means beyond being one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StringKind {
    /// Any string.
    Plain,
    /// An id, a name or a title: must not be empty (ENUM-14).
    Name,
    /// An absolute path: POSIX, with a drive letter, or UNC.
    AbsolutePath,
    /// A URI with a scheme.
    Uri,
    /// RFC 4648 base64.
    Base64,
    /// An ISO 8601 date and time.
    DateTime,
    /// A three-letter ISO 4217 code.
    Currency,
    /// An `https:` or `data:` URI.
    Icon,
}

/// What an unknown tag of a union means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Other {
    /// It is not allowed.
    Closed,
    /// It is allowed if the value fits this type: `Any`, or an object with the members that every variant must have.
    Open(TypeId),
    /// It is allowed, except for these tags, which peers are known to send by mistake.
    Except(&'static [&'static str]),
}

/// A variant of a union.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// The value of the tag.
    pub tag: &'static str,
    /// The type of the whole object; the tag is not one of its fields.
    pub ty: TypeId,
    /// The number of the draft that it belongs to; 0 for none.
    pub draft: u8,
}

/// A member of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The name in JSON.
    pub name: &'static str,
    /// The type.
    pub ty: TypeId,
    /// The sum of `Field::…` flags.
    pub flags: u8,
    /// The number of the draft that it belongs to; 0 for none. If the draft is disabled, the member is unknown.
    pub draft: u8,
}

impl Field {
    /// The member is required.
    pub const REQUIRED: u8 = 1;
    /// The member may be null.
    pub const NULL: u8 = 2;
    /// A value that does not fit is read as absent.
    pub const ON_ERROR: u8 = 4;
    /// Null is read as absent.
    pub const ON_NULL: u8 = 8;
    /// Items of a list that do not fit are left out.
    pub const SKIP_ITEMS: u8 = 16;

    /// A required list, or object of strings, that is missing is read as empty, and reported.
    pub const EMPTY: u8 = 32;
    /// A required member that is missing or does not fit is left out, and reported.
    pub const ABSENT: u8 = 64;

    /// Whether one of these flags is set.
    pub const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// The sender of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// The client.
    Client,
    /// The agent.
    Agent,
    /// Either side.
    Both,
}

/// Whether a method is a request or a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A request, which is answered.
    Request,
    /// A notification, which is not answered.
    Notification,
    /// Both forms exist.
    Both,
}

/// When a method is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// It opens the connection.
    Start,
    /// After `initialize` has been answered.
    Ready,
    /// At any time.
    Any,
}

/// The capability that a method needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gate {
    /// The names of members, from the capabilities object down.
    pub path: &'static [&'static str],
    /// `true` if the value must be `true`; `false` if it must be present and not null.
    pub boolean: bool,
    /// The rule that a call without the capability breaks.
    pub rule: RuleId,
}

/// How the params of a method relate to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// They name no session.
    Connection,
    /// They name a session that is known.
    Session,
    /// They name any session: the method opens it, or does not need it to be open.
    AnySession,
    /// They name a session that is completely set up (TURN-20).
    ReadySession,
    /// They name a session of another kind (NES-03).
    OtherSession,
}

/// What a successful call does to the session that it, or its answer, names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing that matters to other calls.
    None,
    /// The answer names a new session.
    Makes,
    /// It opens a session whose id the client knows.
    Attaches,
    /// It ends the work of a session, which is no longer open once the call is answered.
    Ends,
    /// Like `Ends`, and the session is no longer listed.
    Deletes,
}

impl Effect {
    /// The name by which rows of checks and trackers refer to all methods with this effect.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Effect::None => "",
            Effect::Makes => "@makes",
            Effect::Attaches => "@attaches",
            Effect::Ends => "@ends",
            Effect::Deletes => "@deletes",
        }
    }
}

/// Whether a request may be sent again when its outcome is unknown because it timed out or the connection was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Retry {
    /// Yes: carrying it out twice has the same effect as once.
    Safe,
    /// Yes, with the same `idempotencyKey` as the first time.
    Key,
    /// No: it might be carried out twice.
    Never,
}

impl Retry {
    /// The name of the class, the same in all languages.
    pub const fn name(self) -> &'static str {
        match self {
            Retry::Safe => "safe",
            Retry::Key => "key",
            Retry::Never => "never",
        }
    }
}

/// A method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    /// The name on the wire.
    pub name: &'static str,
    /// The sender.
    pub from: From,
    /// Request, notification or both.
    pub kind: Kind,
    /// The type of the params.
    pub params: TypeId,
    /// The type of the result; `Any` (0) for notifications.
    pub result: TypeId,
    /// How the params relate to a session.
    pub session: Scope,
    /// What a successful call does to a session.
    pub effect: Effect,
    /// Whether a request may be sent again when its outcome is unknown.
    pub retry: Retry,
    /// When the method is allowed.
    pub phase: Phase,
    /// The capability that the receiver must have advertised, if any.
    pub gate: Option<Gate>,
    /// The number of the draft that it belongs to; 0 for none.
    pub draft: u8,
    /// Whether null params are allowed. They are read as `{}`.
    pub null_params: bool,
    /// Whether a null result is allowed. It is read as `{}`.
    pub null_result: bool,
}
