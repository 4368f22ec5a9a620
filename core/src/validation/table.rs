//! The shape of the generated tables: types, fields and methods as static data.
//!
//! `cargo xtask codegen` fills them from `core/protocol/`. Read [`super`] next for how they are walked.

use crate::role::Role;
use crate::rules::RuleId;

/// Index of a type in [`Tables::types`].
pub type TypeId = u16;

/// Everything the core knows about one protocol version.
#[derive(Debug)]
pub struct Tables {
    /// The protocol version, as `initialize` names it.
    pub version: u16,
    /// All types; a [`TypeId`] is an index into this.
    pub types: &'static [Type],
    /// The names of the types that have one, sorted, for look-ups by name; empty without the feature `words`.
    pub names: &'static [(&'static str, TypeId)],
    /// All methods, sorted by name.
    pub methods: &'static [Method],
    /// What needs a capability of its own in the messages of some methods.
    pub parts: &'static [Part],
    /// The rule that a wrong value breaks, where the model names one: type, index of the field (255: the type itself,
    /// whose tag or value is unknown; 254: its missing tag), rule id. Sorted.
    pub rules: &'static [(TypeId, u8, RuleId)],
    /// Names that tolerant receivers take for a member's: type, index of the field, name; with 254 for the index, the tag
    /// that says the same as none. Sorted.
    pub aliases: &'static [(TypeId, u8, &'static str)],
    /// Types of what is forwarded as it came: a host may send members that they do not have. Sorted.
    pub forwarded: &'static [TypeId],
    /// What else differs between versions.
    pub dialect: Dialect,
}

/// What code has to know of a version beside its types and methods, so that none asks for its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "versions differ in as many independent ways")]
pub struct Dialect {
    /// The members of a client's `initialize`.
    pub client: HelloNames,
    /// Those of an agent's answer to it.
    pub agent: HelloNames,
    /// What ends a turn.
    pub turn_end: TurnEnd,
    /// The member of a config option that is its id.
    pub config_option_id: &'static str,
    /// Calls that an agent serves where it lists ways to log in, and only there.
    pub listed_logins: &'static [&'static str],
    /// JSON pointer to the tool call that a request for permission may be about.
    pub permission_tool_call: &'static str,
    /// Whether a frame may be a list of messages.
    pub batches: bool,
    /// Whether the id of a request may be null (RPC-07).
    pub null_ids: bool,
    /// Whether an error that says that there is no such session names the session (SESS-01).
    pub names_missing_session: bool,
    /// Whether a client may send `initialize` again until its first other request.
    pub initialize_again: bool,
    /// Whether an agent that speaks it has an error for clients that ask for a version below all of its own.
    pub version_error: bool,
    /// Whether a tolerant receiver delivers, and reports, a relative path that should be absolute and stands outside of
    /// a request's params. In those it is refused.
    pub relative_paths: bool,
}

impl Dialect {
    /// What one side's members of `initialize` are called.
    pub(crate) const fn hello(&self, side: Role) -> &HelloNames {
        match side {
            Role::Client => &self.client,
            Role::Agent => &self.agent,
        }
    }

    /// Whether a prompt's answer ends its turn.
    pub(crate) fn answer_ends_turn(&self) -> bool {
        self.turn_end == TurnEnd::Answer
    }
}

/// What the members of `initialize` are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HelloNames {
    /// The member with what the side can do.
    pub capabilities: &'static str,
    /// The member with name and version of its software.
    pub info: &'static str,
}

/// What ends a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TurnEnd {
    /// The answer to its prompt.
    Answer,
    /// A state update.
    StateUpdate,
}

/// A member, a value or a variant in the messages of some methods that needs a capability of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// What it is called behind a method's name and a colon, as in `session/prompt:image`.
    pub name: &'static str,
    /// The methods.
    pub methods: &'static [&'static str],
    /// The side that advertises the capability that it needs, and a JSON pointer to that in the side's capabilities.
    /// What needs none comes with its draft or, without one, never in this version.
    pub needs: Option<(From, &'static str)>,
    /// The rule that a message with it breaks where it may not be used.
    pub rule: RuleId,
    /// 0, or the number of the draft that it belongs to.
    pub draft: u8,
}

impl Part {
    /// The capability that it needs as people write it, as in `session.prompt.image`.
    pub(crate) fn capability(&self) -> String {
        self.needs.map(|(_, pointer)| pointer.trim_start_matches('/').replace('/', ".")).unwrap_or_default()
    }
}

/// What a JSON value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// Any JSON value.
    Any,
    /// `true` or `false`.
    Boolean,
    /// A whole number within these bounds, exact.
    Integer {
        /// Smallest legal value.
        min: i64,
        /// Largest legal value.
        max: u64,
    },
    /// A 1-based line number; the schemas allow 0, which is read as 1 and reported.
    Line,
    /// Any JSON number.
    Number {
        /// The bounds as whole numbers, where there are any (both ends included).
        bounds: Option<(i32, i32)>,
    },
    /// A string of some kind.
    String(StringKind),
    /// One of these strings.
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
    /// An object with free keys.
    Map {
        /// Type of each value.
        value: TypeId,
    },
    /// An object with these members; others are ignored.
    Object {
        /// Known members.
        fields: &'static [Field],
    },
    /// An object told apart by a string member.
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
    /// The first of these that fits.
    AnyOf {
        /// The alternatives, in order.
        of: &'static [TypeId],
    },
}

/// What a string means beyond being one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StringKind {
    /// Nothing more.
    Plain,
    /// An id, a name or a title: not empty (ENUM-14).
    Name,
    /// An absolute path: POSIX, drive letter or UNC.
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

/// A union's answer to a tag it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Other {
    /// The specification closes the union.
    Closed,
    /// Legal, if the value fits this type (`Any`, or an object with what every variant must have).
    Open(TypeId),
    /// Legal, except for these tags: peers are known to send them by mistake.
    Except(&'static [&'static str]),
}

/// One variant of a union.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variant {
    /// Value of the tag.
    pub tag: &'static str,
    /// Type of the whole object (the tag itself is not among its fields).
    pub ty: TypeId,
    /// The draft it belongs to; 0 is stable.
    pub draft: u8,
}

/// One member of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// Its name in JSON.
    pub name: &'static str,
    /// Its type.
    pub ty: TypeId,
    /// Sum of the `Field::…` flags.
    pub flags: u8,
    /// The draft it belongs to; 0 is stable. Without the draft the member is unknown.
    pub draft: u8,
}

impl Field {
    /// Must be there.
    pub const REQUIRED: u8 = 1;
    /// May be null.
    pub const NULL: u8 = 2;
    /// A value that does not fit is read as absent.
    pub const ON_ERROR: u8 = 4;
    /// Null is read as absent.
    pub const ON_NULL: u8 = 8;
    /// Items of a list that do not fit are left out.
    pub const SKIP_ITEMS: u8 = 16;

    /// A required list, or object of strings, that is missing is read as an empty one, and reported.
    pub const EMPTY: u8 = 32;
    /// One that must be there and is missing, or does not fit, is left out, and reported.
    pub const ABSENT: u8 = 64;

    /// Whether one of these flags is set.
    pub const fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

/// Who sends a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// Clients.
    Client,
    /// Agents.
    Agent,
    /// Either side.
    Both,
}

/// Whether a method is called or told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Has an answer.
    Request,
    /// Has none.
    Notification,
    /// Both forms exist.
    Both,
}

/// When a method is legal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Opens the connection.
    Start,
    /// After `initialize` has been answered.
    Ready,
    /// At any time.
    Any,
}

/// The capability that a method needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gate {
    /// Member names from the capabilities object down.
    pub path: &'static [&'static str],
    /// `true`: the value must be `true`; `false`: it must be there and not null.
    pub boolean: bool,
    /// The rule that a call without it breaks.
    pub rule: RuleId,
}

/// What a method's params say of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Nothing.
    Connection,
    /// They name one that is known.
    Session,
    /// They name any: the method opens it, or need not.
    AnySession,
    /// They name one whose set-up is complete (TURN-20).
    ReadySession,
    /// They name a session of another kind (NES-03).
    OtherSession,
}

/// What a successful call does to the session that it names, or that its answer names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Effect {
    /// Nothing that matters to others.
    None,
    /// The answer names a new session.
    Makes,
    /// It opens a session whose id the client knows.
    Attaches,
    /// It ends the work of a session, which is not open once it is answered.
    Ends,
    /// The same, and the session is not listed any more.
    Deletes,
}

impl Effect {
    /// The name by which the rows of checks and trackers speak of all methods that have it.
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

/// Whether a request may be sent once more when nobody knows what became of it: its time was up, or the connection is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Retry {
    /// Yes: done twice it is as if it were done once.
    Safe,
    /// Yes, with the same `idempotencyKey` as before.
    Key,
    /// No: it might be done twice.
    Never,
}

impl Retry {
    /// A name for it, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            Retry::Safe => "safe",
            Retry::Key => "key",
            Retry::Never => "never",
        }
    }
}

/// One method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    /// Its name on the wire.
    pub name: &'static str,
    /// Who sends it.
    pub from: From,
    /// Request, notification or both.
    pub kind: Kind,
    /// Type of its params.
    pub params: TypeId,
    /// Type of its result; `Any` (0) for notifications.
    pub result: TypeId,
    /// What its params say of a session.
    pub session: Scope,
    /// What it does to a session.
    pub effect: Effect,
    /// Whether it may be sent once more when nobody knows what became of it.
    pub retry: Retry,
    /// When it is legal.
    pub phase: Phase,
    /// What the receiver must have advertised.
    pub gate: Option<Gate>,
    /// The draft it belongs to; 0 is stable.
    pub draft: u8,
    /// `null` is a legal whole params (read as `{}`).
    pub null_params: bool,
    /// `null` is a legal whole result (read as `{}`).
    pub null_result: bool,
}
