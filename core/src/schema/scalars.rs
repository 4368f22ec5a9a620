//! The macros by which the generated files define strings and integers.

/// A string enum: its values, and `Unrecognized` for any other string, which is kept.
macro_rules! string_enum {
    ($(#[$doc:meta])* $name:ident { $($(#[$value_doc:meta])* $value:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name<'a> {
            $($(#[$value_doc])* $value,)+
            /// Another value, as it was sent.
            Unrecognized($crate::schema::Str<'a>),
        }

        impl<'a> $name<'a> {
            /// The values that the specification names.
            pub const KNOWN: &'static [&'static str] = &[$($text),+];

            /// The value as it is sent.
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$value => $text,)+
                    Self::Unrecognized(text) => text,
                }
            }
        }

        impl<'a> From<$crate::schema::Str<'a>> for $name<'a> {
            fn from(text: $crate::schema::Str<'a>) -> Self {
                match text.as_str() {
                    $($text => Self::$value,)+
                    _ => Self::Unrecognized(text),
                }
            }
        }

        impl $crate::schema::IntoOwned for $name<'_> {
            type Owned = $name<'static>;

            fn into_owned(self) -> $name<'static> {
                match self {
                    $(Self::$value => $name::$value,)+
                    Self::Unrecognized(text) => $name::Unrecognized($crate::schema::IntoOwned::into_owned(text)),
                }
            }
        }

        $crate::schema::scalars::text_traits!($name);
    };
}

/// A named string, such as an id.
macro_rules! string_type {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name<'a>(pub $crate::schema::Str<'a>);

        impl<'a> $name<'a> {
            /// The string.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl<'a> From<$crate::schema::Str<'a>> for $name<'a> {
            fn from(text: $crate::schema::Str<'a>) -> Self {
                Self(text)
            }
        }

        impl $crate::schema::IntoOwned for $name<'_> {
            type Owned = $name<'static>;

            fn into_owned(self) -> $name<'static> {
                $name($crate::schema::IntoOwned::into_owned(self.0))
            }
        }

        $crate::schema::scalars::text_traits!($name);
    };
}

/// The traits that all string types have. Needs `as_str` and `From<Str>`.
macro_rules! text_traits {
    ($name:ident) => {
        impl<'a> From<&'a str> for $name<'a> {
            fn from(text: &'a str) -> Self {
                $crate::schema::Str::from(text).into()
            }
        }

        impl From<String> for $name<'_> {
            fn from(text: String) -> Self {
                $crate::schema::Str::from(text).into()
            }
        }

        impl AsRef<str> for $name<'_> {
            fn as_ref(&self) -> &str {
                self.as_str()
            }
        }

        impl PartialEq<str> for $name<'_> {
            fn eq(&self, other: &str) -> bool {
                self.as_str() == other
            }
        }

        impl PartialEq<&str> for $name<'_> {
            fn eq(&self, other: &&str) -> bool {
                self.as_str() == *other
            }
        }

        impl ::std::fmt::Display for $name<'_> {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.as_str())
            }
        }

        impl ::serde::Serialize for $name<'_> {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de: 'a, 'a> ::serde::Deserialize<'de> for $name<'a> {
            fn deserialize<D: ::serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <$crate::schema::Str<'de> as ::serde::Deserialize<'de>>::deserialize(deserializer).map(Self::from)
            }
        }
    };
}

/// A named integer, with names for some values if there are any.
macro_rules! integer_type {
    ($(#[$doc:meta])* $name:ident: $int:ty { $($(#[$value_doc:meta])* $value:ident = $number:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub $int);

        impl $name {
            $($(#[$value_doc])* pub const $value: Self = Self($number);)*
        }

        impl From<$int> for $name {
            fn from(number: $int) -> Self {
                Self(number)
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                ::std::fmt::Display::fmt(&self.0, f)
            }
        }

        $crate::schema::owned::never_borrow!($name);
    };
}

pub(crate) use {integer_type, string_enum, string_type, text_traits};
