//! Type expressions, and the words that the model's files choose from.

use std::fmt;

/// What a field or a list holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum TypeExpr {
    /// Any JSON.
    Any,
    /// `true` or `false`.
    Boolean,
    /// Text.
    String,
    /// A number.
    Double,
    /// A whole number.
    Integer(Int),
    /// A named type.
    Named(String),
    /// A list.
    List(Box<TypeExpr>),
    /// An object with free keys.
    Map(Box<TypeExpr>),
}

impl TypeExpr {
    /// The named type that it is, or is a list or map of.
    pub(crate) fn named(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::List(inner) | Self::Map(inner) => inner.named(),
            _ => None,
        }
    }

    /// Reads one as the model's files write it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let inner = |open, close| text.strip_prefix(open)?.strip_suffix(close);
        if let Some(item) = inner('[', ']') {
            return Some(Self::List(Box::new(Self::parse(item)?)));
        }
        if let Some(value) = inner('{', '}') {
            return Some(Self::Map(Box::new(Self::parse(value)?)));
        }
        Some(match text {
            "any" => Self::Any,
            "boolean" => Self::Boolean,
            "string" => Self::String,
            "double" => Self::Double,
            _ => match Int::parse(text) {
                Some(int) => Self::Integer(int),
                None if is_type_name(text) => Self::Named(text.to_owned()),
                None => return None,
            },
        })
    }
}

impl fmt::Display for TypeExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any"),
            Self::Boolean => f.write_str("boolean"),
            Self::String => f.write_str("string"),
            Self::Double => f.write_str("double"),
            Self::Integer(int) => f.write_str(int.name()),
            Self::Named(name) => f.write_str(name),
            Self::List(item) => write!(f, "[{item}]"),
            Self::Map(value) => write!(f, "{{{value}}}"),
        }
    }
}

/// Whether a text can name a type: `PascalCase`.
pub(crate) fn is_type_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_uppercase()) && text.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Defines an enum whose values have names in the model's files.
macro_rules! named {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $text:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub(crate) enum $name { $($(#[$value_doc])* $value),+ }

        impl $name {
            /// All names, for messages.
            pub(crate) const NAMES: &'static [&'static str] = &[$($text),+];

            /// As the model's files write it.
            pub(crate) fn name(self) -> &'static str {
                match self { $(Self::$value => $text),+ }
            }

            /// From what the model's files write.
            pub(crate) fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$value),)+ _ => None }
            }
        }
    };
}

named! {
    /// The widths of whole numbers.
    Int { I32 = "int32", I64 = "int64", U16 = "uint16", U32 = "uint32", U64 = "uint64" }
}

named! {
    /// What a string or integer means beyond being one.
    Is {
        AbsolutePath = "absolute-path",
        /// Counted from 1.
        Line = "line",
        /// An id, a name or a title, which is not empty.
        Name = "name",
        Uri = "uri",
        Base64 = "base64",
        DateTime = "date-time",
        Currency = "currency",
        /// Where a picture is that a client may fetch.
        Icon = "icon",
    }
}

named! {
    /// Who sends a message.
    Sender { Client = "client", Agent = "agent", Both = "both" }
}

named! {
    /// Whether a method is called or told.
    Kind { Request = "request", Notification = "notification", Both = "both" }
}

named! {
    /// What a method concerns.
    Scope {
        Connection = "connection",
        Session = "session",
        AnySession = "any-session",
        ReadySession = "ready-session",
        OtherSession = "other-session",
    }
}

named! {
    /// What a successful call does to the session that it names, or that its answer names.
    Effect { Makes = "makes", Attaches = "attaches", Ends = "ends", Deletes = "deletes" }
}

named! {
    /// Whether a request may be sent once more when nobody knows what became of it.
    Retry { Safe = "safe", Key = "key", Never = "never" }
}

named! {
    /// When a method is legal.
    Phase { Start = "start", Ready = "ready", Any = "any" }
}

named! {
    /// How a capability says yes.
    GateForm {
        /// By being there, and not null.
        Presence = "presence",
        /// By being `true`.
        Boolean = "boolean",
    }
}

named! {
    /// What kind of page a source is.
    Origin {
        /// It is decided: a schema will say so.
        Announcement = "announcement",
        /// It is proposed, and may change.
        Proposal = "proposal",
    }
}
