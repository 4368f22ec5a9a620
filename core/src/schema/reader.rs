//! Deserializing the types of the schema directly from text, in one pass.
//!
//! `serde_json` would read a union of this crate twice, once to find its end and once to find its type, and nested
//! unions once more per level. Here the tag is looked up in place and the variant is read from the same position.
//! Whatever is rare in the schema is left to `serde_json`. Read `unions` next.

use std::borrow::Cow;

use serde::de::value::{StringDeserializer, UnitDeserializer};
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess, Visitor};
use serde::{forward_to_deserialize_any, Deserialize};
use serde_json::Error;

use crate::json::{Checkpoint, Kind, Scanner, SyntaxError, Text};

/// The prefix by which the name of a type tells the reader that it is a union; the tag follows.
pub(super) const UNION: &str = "$union ";

/// The depth to which `serde_json` reads, because types are read by recursion.
const DEPTH: u32 = 127;

/// Deserializes a text.
pub(crate) fn read<'de, T: Deserialize<'de>>(json: &'de str) -> Result<T, Error> {
    let mut reader = Reader { scanner: Scanner::new(json, DEPTH), room: Vec::new() };
    let value = T::deserialize(&mut reader).and_then(|value| reader.scanner.end().map(|()| value).map_err(refused));
    value.map_err(|error| placed(&error, &json[..reader.scanner.offset().min(json.len())]))
}

/// Adds the position to an error: the end of the text that was read.
#[cold]
fn placed(error: &Error, read: &str) -> Error {
    let message = error.to_string();
    // A position within a piece means nothing to a caller who passed the whole text.
    let inner = format!(" at line {} column {}", error.line(), error.column());
    let message = message.strip_suffix(&inner).unwrap_or(&message);
    let line = read.matches('\n').count() + 1;
    let column = read.len() - read.rfind('\n').map_or(0, |end| end + 1);
    Error::custom(format_args!("{message} at line {line} column {column}"))
}

#[cold]
fn refused(error: SyntaxError) -> Error {
    Error::custom(error)
}

struct Reader<'de> {
    scanner: Scanner<'de>,
    /// A buffer for strings with escapes.
    room: Vec<u8>,
}

impl<'de> Reader<'de> {
    fn kind(&mut self) -> Result<Kind, Error> {
        self.scanner.peek().map_err(refused)
    }

    /// Hands the next value to `serde_json`.
    fn aside(&mut self) -> Result<serde_json::Deserializer<serde_json::de::StrRead<'de>>, Error> {
        let place = self.scanner.skip().map_err(refused)?;
        Ok(serde_json::Deserializer::from_str(self.scanner.slice(place)))
    }

    fn text<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let start = self.scanner.offset();
        let (text, value) = self.scanner.string_in(&mut self.room).map_err(refused)?;
        if !text.escaped {
            return visitor.visit_borrowed_str(text.raw);
        }
        if let Some(value) = value {
            return visitor.visit_string(value.to_owned());
        }
        // The list may also have entries from an earlier look-ahead.
        if self.scanner.lone_surrogates().iter().any(|at| *at >= start && *at < self.scanner.offset()) {
            return Err(Error::custom("half a surrogate pair"));
        }
        visitor.visit_string(text.value().into_owned())
    }

    fn object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let more = self.scanner.enter(Kind::Object).map_err(refused)?;
        self.members(more, visitor)
    }

    /// Reads the remaining members of an object.
    fn members<V: Visitor<'de>>(&mut self, more: bool, visitor: V) -> Result<V::Value, Error> {
        let mut inside = Inside { reader: self, more, kind: Kind::Object };
        let value = visitor.visit_map(&mut inside)?;
        inside.end().map(|()| value)
    }

    fn list<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, Error> {
        let more = self.scanner.enter(Kind::Array).map_err(refused)?;
        let mut inside = Inside { reader: self, more, kind: Kind::Array };
        let value = visitor.visit_seq(&mut inside)?;
        inside.end().map(|()| value)
    }

    /// Moves to the value of an object's tag, if it has one; whether it is its first member.
    fn seek(&mut self, tag: &str) -> Result<Option<bool>, SyntaxError> {
        let mut more = self.scanner.enter(Kind::Object)?;
        let mut first = true;
        while more {
            if self.scanner.key()?.is(tag) {
                return Ok(Some(first));
            }
            first = false;
            self.scanner.skip()?;
            more = self.scanner.more(Kind::Object)?;
        }
        Ok(None)
    }
}

/// Methods that `serde_json` does, on the text of the value alone: those of numbers and flags, and what is named.
macro_rules! aside {
    ($($method:ident($($argument:ident: $ty:ty),*);)*) => {
        aside! {
            @each
            deserialize_bool();
            deserialize_i8();
            deserialize_i16();
            deserialize_i32();
            deserialize_i64();
            deserialize_i128();
            deserialize_u8();
            deserialize_u16();
            deserialize_u32();
            deserialize_u64();
            deserialize_u128();
            deserialize_f32();
            deserialize_f64();
            $($method($($argument: $ty),*);)*
        }
    };
    (@each $($method:ident($($argument:ident: $ty:ty),*);)*) => {
        $(fn $method<V: Visitor<'de>>(self, $($argument: $ty,)* visitor: V) -> Result<V::Value, Error> {
            self.aside()?.$method($($argument,)* visitor)
        })*
    };
}

/// The name of a member. Where Rust wants a number or the like, its text is read as one.
struct Key<'de>(Text<'de>);

impl<'de> Key<'de> {
    #[allow(clippy::unnecessary_wraps, reason = "the macro asks for what the reader's has")]
    fn aside(&self) -> Result<serde_json::Deserializer<serde_json::de::StrRead<'de>>, Error> {
        Ok(serde_json::Deserializer::from_str(self.0.raw))
    }
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Error;

    aside!();

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0.value() {
            Cow::Borrowed(name) => visitor.visit_borrowed_str(name),
            Cow::Owned(name) => visitor.visit_string(name),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_enum(StringDeserializer::new(self.0.value().into_owned()))
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

impl<'de> Deserializer<'de> for &mut Reader<'de> {
    type Error = Error;

    aside! {
        deserialize_char();
        deserialize_bytes();
        deserialize_byte_buf();
        deserialize_unit();
        deserialize_unit_struct(name: &'static str);
        deserialize_tuple(len: usize);
        deserialize_tuple_struct(name: &'static str, len: usize);
        deserialize_enum(name: &'static str, variants: &'static [&'static str]);
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.aside()?.deserialize_any(visitor)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.kind()? {
            Kind::String => self.text(visitor),
            _ => self.aside()?.deserialize_str(visitor),
        }
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.deserialize_str(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.kind()? {
            Kind::Null => self.scanner.literal().map_err(refused).and_then(|_| visitor.visit_none()),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.kind()? {
            Kind::Array => self.list(visitor),
            _ => self.aside()?.deserialize_seq(visitor),
        }
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.kind()? {
            Kind::Object => self.object(visitor),
            _ => self.aside()?.deserialize_map(visitor),
        }
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.kind()? {
            Kind::Object => self.object(visitor),
            _ => self.aside()?.deserialize_struct(name, fields, visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        if let Some(tag) = name.strip_prefix(UNION) {
            let kind = self.kind()?;
            if kind != Kind::Object {
                return Err(Error::custom(format_args!("invalid type: {}, expected an object", kind.name())));
            }
            return visitor.visit_enum(Tagged { reader: self, tag });
        }
        // This is the name by which `serde_json` marks text that is kept as it is. No Rust type can have it.
        if name.starts_with('$') {
            return self.aside()?.deserialize_newtype_struct(name, visitor);
        }
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.scanner.skip().map_err(refused)?;
        visitor.visit_unit()
    }
}

/// A list or an object that is being read.
struct Inside<'r, 'de> {
    reader: &'r mut Reader<'de>,
    more: bool,
    kind: Kind,
}

impl<'de> Inside<'_, 'de> {
    fn value<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        let value = seed.deserialize(&mut *self.reader)?;
        self.more = self.reader.scanner.more(self.kind).map_err(refused)?;
        Ok(value)
    }

    fn end(&self) -> Result<(), Error> {
        if self.more {
            return Err(Error::custom("more items than belong there"));
        }
        Ok(())
    }
}

impl<'de> MapAccess<'de> for &mut Inside<'_, 'de> {
    type Error = Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Error> {
        if !self.more {
            return Ok(None);
        }
        let key = self.reader.scanner.key().map_err(refused)?;
        seed.deserialize(Key(key)).map(Some)
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Error> {
        self.value(seed)
    }
}

impl<'de> SeqAccess<'de> for &mut Inside<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Error> {
        if !self.more {
            return Ok(None);
        }
        self.value(seed).map(Some)
    }
}

/// A union: its tag, then the object as one of its variants.
struct Tagged<'r, 'de> {
    reader: &'r mut Reader<'de>,
    tag: &'static str,
}

impl<'r, 'de> EnumAccess<'de> for Tagged<'r, 'de> {
    type Error = Error;
    type Variant = Variant<'r, 'de>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self::Variant), Error> {
        let Tagged { reader, tag } = self;
        let start = reader.scanner.checkpoint();
        let first = reader.seek(tag).map_err(refused)?;
        let value = match first {
            Some(_) => seed.deserialize(&mut *reader)?,
            None => seed.deserialize(UnitDeserializer::new())?,
        };
        Ok((value, Variant { reader, start, behind: first == Some(true) }))
    }
}

/// An object whose tag has been read.
struct Variant<'r, 'de> {
    reader: &'r mut Reader<'de>,
    start: Checkpoint,
    /// The tag was the first member, and the reader stands behind it.
    behind: bool,
}

impl<'r, 'de> Variant<'r, 'de> {
    fn whole(self) -> &'r mut Reader<'de> {
        self.reader.scanner.rewind(self.start);
        self.reader
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        self.whole().scanner.skip().map(drop).map_err(refused)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Error> {
        self.whole().deserialize_tuple(len, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, fields: &'static [&'static str], visitor: V) -> Result<V::Value, Error> {
        self.deserialize_struct("", fields, visitor)
    }
}

impl<'de> Deserializer<'de> for Variant<'_, 'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.whole().deserialize_any(visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        if !self.behind {
            return self.whole().deserialize_struct(name, fields, visitor);
        }
        let more = self.reader.scanner.more(Kind::Object).map_err(refused)?;
        self.reader.members(more, visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, Error> {
        self.whole().deserialize_newtype_struct(name, visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(all(test, feature = "types"))]
mod tests;
