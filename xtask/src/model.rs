//! The model of the protocol in memory: what `core/protocol/` says, typed.
//!
//! The format and its meaning are in `core/protocol/README.md`. Read [`load`] next for how files become this, and
//! [`write`] for how this becomes files; loading what was written gives the same model, and the same bytes again.

use std::collections::BTreeMap;

use anyhow::Result;
use indexmap::IndexMap;
use serde_json::Value;

mod check;
mod dialect;
mod expr;
pub(crate) mod getters;
pub(crate) mod load;
mod node;
mod source;
#[cfg(test)]
mod tests;
pub(crate) mod write;

pub(crate) use dialect::{Dialect, Names};
pub(crate) use expr::{is_type_name, Effect, GateForm, Int, Is, Kind, Origin, Phase, Retry, Scope, Sender, TypeExpr};
pub(crate) use source::{each_mark, Source};

/// Where the model lives, from the workspace's root.
pub(crate) const FOLDER: &str = "core/protocol";

/// The protocol versions that the model has, oldest first.
pub(crate) const VERSIONS: [u16; 2] = [1, 2];

/// The drafts, in the order in which they are numbered.
pub(crate) const DRAFTS: [&str; 14] = [
    "auth_status",
    "end_turn_token_usage",
    "llm_providers",
    "mcp_over_acp",
    "plan_operations",
    "proxy_chains",
    "session_archive",
    "session_fork",
    "session_status",
    "session_set_title",
    "nes",
    "mcp_connections",
    "session_options",
    "prompt_suggestions",
];

/// All versions of the protocol.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Model {
    /// One entry per protocol version, oldest first.
    pub(crate) versions: Vec<Version>,
    /// By name: what facts are taken from that no schema has yet.
    pub(crate) sources: IndexMap<String, Source>,
}

impl Model {
    /// Checks that every type, draft and source that is named exists, and that every source is named.
    pub(crate) fn check(&self) -> Result<()> {
        self.versions.iter().try_for_each(check::version)?;
        self.versions.iter().try_for_each(dialect::check)?;
        source::check(self)
    }

    /// The protocol versions, oldest first.
    pub(crate) fn numbers(&self) -> Vec<u16> {
        self.versions.iter().map(|version| version.number).collect()
    }
}

/// One version of the protocol.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Version {
    /// The number that `initialize` negotiates.
    pub(crate) number: u16,
    /// The files, sorted by name.
    pub(crate) areas: Vec<Area>,
    /// Every type, in the order of the files and within them.
    pub(crate) types: IndexMap<String, TypeDef>,
    /// Every method, in the order of `methods.json`.
    pub(crate) methods: IndexMap<String, Method>,
    /// What needs a capability of its own in a call, in the order of `parts.json`.
    pub(crate) parts: Vec<Part>,
    /// What else differs between versions; `None` while a version is without the file.
    pub(crate) dialect: Option<Dialect>,
}

/// A member, a value or a variant in some methods that needs a capability of its own.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Part {
    /// What it is called behind a method's name and a colon.
    pub(crate) name: String,
    pub(crate) methods: Vec<String>,
    /// The side that advertises the capability that it needs, and where that stands in its capabilities. What needs none
    /// comes with its draft or, without one, never in this version.
    pub(crate) needs: Option<(Sender, String)>,
    /// The rule that a call with it breaks where it may not be used.
    pub(crate) rule: String,
    /// The draft it belongs to.
    pub(crate) draft: Option<String>,
}

/// One file of types.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Area {
    /// The file's name without `.json`.
    pub(crate) name: String,
    /// The names of its types, in order.
    pub(crate) types: Vec<String>,
}

/// A named type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TypeDef {
    /// One sentence.
    pub(crate) doc: Option<String>,
    /// Page of the specification.
    pub(crate) page: Option<String>,
    /// The draft it belongs to.
    pub(crate) draft: Option<String>,
    /// What says so, where the schemas do not.
    pub(crate) source: Option<String>,
    /// As a whole payload, `null` is read as `{}`.
    pub(crate) null_default: bool,
    /// An object has a `_meta` member.
    pub(crate) meta: bool,
    /// The rule that an unknown tag or value breaks.
    pub(crate) rule: Option<String>,
    /// The rule that a missing tag breaks.
    pub(crate) tag_rule: Option<String>,
    /// The tag that says the same as none.
    pub(crate) untagged_tag: Option<String>,
    /// Its values may come from elsewhere, and are forwarded with members that are not its own.
    pub(crate) forwarded: bool,
    /// What it is.
    pub(crate) shape: Shape,
}

/// The forms of a type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    /// Members, and perhaps those of one of several variants beside them.
    Object { fields: Fields, flat: Option<Flat> },
    /// A named string.
    String { is: Option<Is> },
    /// A named integer.
    Integer(Int),
    /// Strings; `open` where others are legal.
    Enum { values: IndexMap<String, Word>, open: bool },
    /// Integers with names; others are legal.
    Codes(IndexMap<String, Code>),
    /// Told apart by a string member.
    Union(Union),
    /// The first that fits. `min_items` holds for those that are lists.
    AnyOf { of: Vec<TypeExpr>, min_items: Option<u8> },
    /// Another name.
    Alias(TypeExpr),
}

/// Members by name, in order; without `_meta`.
pub(crate) type Fields = IndexMap<String, Field>;

/// What an object carries beside its own members.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::large_enum_variant, reason = "there are few of them, and they are matched on")]
pub(crate) enum Flat {
    /// The members of the variant that a tag names.
    Union(Union),
    /// The members of the first type that fits.
    AnyOf(Vec<TypeExpr>),
}

/// A value of [`Shape::Enum`]; its key is the text.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Word {
    /// One sentence, or nothing.
    pub(crate) doc: String,
    /// What says so, where the schemas do not.
    pub(crate) source: Option<String>,
}

/// A value of [`Shape::Codes`]; its key is the number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Code {
    /// In `snake_case`.
    pub(crate) name: String,
    /// What says so, where the schemas do not.
    pub(crate) source: Option<String>,
    /// One sentence.
    pub(crate) doc: Option<String>,
}

/// Variants told apart by a string member.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Union {
    /// The member that tells.
    pub(crate) tag: String,
    /// By the tag's value.
    pub(crate) variants: IndexMap<String, Variant>,
    /// What other values mean.
    pub(crate) open: Open,
    /// Values that are a mistake although others are legal.
    pub(crate) closed_to: Vec<String>,
    /// What is meant when the tag is absent or null.
    pub(crate) untagged: Option<Body>,
}

/// One variant of a union.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Variant {
    /// Its members.
    pub(crate) body: Body,
    /// The draft it belongs to.
    pub(crate) draft: Option<String>,
    /// What says so, where the schemas do not.
    pub(crate) source: Option<String>,
    /// One sentence, for members without a named type.
    pub(crate) doc: Option<String>,
}

/// The members of a variant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    /// Those of a named type.
    Named(String),
    /// These; without any for a tag alone.
    Fields(Fields),
}

/// Whether a union takes tags it does not know.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Open {
    /// No.
    No,
    /// Yes, if these members are there.
    With(Fields),
}

/// A member of an object.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "the format has as many independent marks")]
pub(crate) struct Field {
    /// What it holds.
    pub(crate) ty: TypeExpr,
    /// Must be there.
    pub(crate) required: bool,
    /// May be null.
    pub(crate) null: bool,
    /// What absence stands for.
    pub(crate) default: Option<Value>,
    /// The one legal value.
    pub(crate) constant: Option<Value>,
    /// A value that does not fit is read as absent.
    pub(crate) on_error: bool,
    /// Null is read as absent.
    pub(crate) on_null: bool,
    /// What a required member is read as where it is missing.
    pub(crate) on_missing: Option<OnMissing>,
    /// List items that do not fit are left out.
    pub(crate) skip_items: bool,
    /// Fewest items.
    pub(crate) min_items: Option<u8>,
    /// Smallest value.
    pub(crate) minimum: Option<i64>,
    /// Largest value.
    pub(crate) maximum: Option<i64>,
    /// Absent, null and a value say three different things.
    pub(crate) patch: bool,
    /// What a string or integer means.
    pub(crate) is: Option<Is>,
    /// The rule that a wrong value breaks.
    pub(crate) rule: Option<String>,
    /// Another name that peers are known to use.
    pub(crate) alias: Option<String>,
    /// The draft it belongs to.
    pub(crate) draft: Option<String>,
    /// What says so, where the schemas do not.
    pub(crate) source: Option<String>,
    /// One sentence.
    pub(crate) doc: Option<String>,
}

/// What receivers read in the place of a required member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnMissing {
    /// An empty list, or an object of empty strings, for one that is missing.
    Empty,
    /// Nothing, for one that is missing or does not fit.
    Absent,
}

impl OnMissing {
    pub(crate) const NAMES: &'static [&'static str] = &["empty", "absent"];

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "empty" => Self::Empty,
            "absent" => Self::Absent,
            _ => return None,
        })
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty",
            Self::Absent => "absent",
        }
    }
}

impl Field {
    /// Whether it stands in every value that is delivered.
    pub(crate) fn is_always_there(&self) -> bool {
        self.required && self.on_missing != Some(OnMissing::Absent)
    }

    /// An optional member of a type, with nothing else said.
    pub(crate) fn new(ty: TypeExpr) -> Self {
        Self {
            ty,
            required: false,
            null: false,
            default: None,
            constant: None,
            on_error: false,
            on_null: false,
            on_missing: None,
            skip_items: false,
            min_items: None,
            minimum: None,
            maximum: None,
            patch: false,
            is: None,
            rule: None,
            alias: None,
            draft: None,
            source: None,
            doc: None,
        }
    }
}

/// A method.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Method {
    /// One sentence.
    pub(crate) doc: Option<String>,
    /// Page of the specification.
    pub(crate) page: Option<String>,
    /// The draft it belongs to.
    pub(crate) draft: Option<String>,
    /// What says so, where the schemas do not.
    pub(crate) source: Option<String>,
    /// Who sends it.
    pub(crate) from: Sender,
    /// Request, notification or both.
    pub(crate) kind: Kind,
    /// Name of the type of its params.
    pub(crate) params: String,
    /// Name of the type of the params of its notification form, where that differs.
    pub(crate) notification_params: Option<String>,
    /// Name of the type of its result.
    pub(crate) result: Option<String>,
    /// Connection or session.
    pub(crate) scope: Scope,
    /// When it is legal.
    pub(crate) phase: Phase,
    /// What it does to a session.
    pub(crate) effect: Option<Effect>,
    /// Whether it may be sent once more; of requests.
    pub(crate) retry: Option<Retry>,
    /// What the receiver must have advertised.
    pub(crate) gate: Option<Gate>,
    /// The rule that a call without the capability breaks.
    pub(crate) gate_rule: Option<String>,
}

/// A capability that a method needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Gate {
    /// Whose capability it is.
    pub(crate) of: Sender,
    /// Member names from the capabilities object down, joined by dots.
    pub(crate) path: String,
    /// How it says yes.
    pub(crate) form: GateForm,
    /// What says so, where the schemas do not.
    pub(crate) source: Option<String>,
}

impl Version {
    /// The folder's name.
    pub(crate) fn folder(&self) -> String {
        format!("v{}", self.number)
    }

    /// The file of each type, by the type's name.
    pub(crate) fn area_of(&self) -> BTreeMap<&str, &str> {
        let pairs =
            self.areas.iter().flat_map(|area| area.types.iter().map(|name| (name.as_str(), area.name.as_str())));
        pairs.collect()
    }
}
