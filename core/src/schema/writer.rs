//! Serializing the types of the schema as text.
//!
//! Most of a message is inside strings. `serde_json` examines them byte by byte, this module eight bytes at a time.
//! Whatever is rare in the schema is left to `serde_json`.

use serde::ser::{
    Error as _, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use serde_json::Error;

use crate::json::{quote, unescape};

/// Serializes a value as JSON text.
pub(crate) fn write<T: Serialize + ?Sized>(value: &T) -> Result<String, Error> {
    let mut out = String::with_capacity(256);
    value.serialize(Writer(&mut out)).map(|()| out)
}

struct Writer<'o>(&'o mut String);

/// Methods that are left to `serde_json`.
macro_rules! aside {
    ($($method:ident: $ty:ty;)*) => {
        $(fn $method(self, value: $ty) -> Result<(), Error> {
            self.0.push_str(&serde_json::to_string(&value)?);
            Ok(())
        })*
    };
}

impl<'o> Writer<'o> {
    fn open(self, open: char, close: &'static str) -> Inside<'o> {
        self.0.push(open);
        Inside { out: self.0, close, any: false, text: false }
    }

    /// A variant with content, in serde's default form.
    fn variant(self, name: &str, open: char, close: &'static str) -> Inside<'o> {
        self.0.push('{');
        quote(self.0, name);
        self.0.push(':');
        self.open(open, close)
    }
}

impl<'o> Serializer for Writer<'o> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Inside<'o>;
    type SerializeTuple = Inside<'o>;
    type SerializeTupleStruct = Inside<'o>;
    type SerializeTupleVariant = Inside<'o>;
    type SerializeMap = Inside<'o>;
    type SerializeStruct = Inside<'o>;
    type SerializeStructVariant = Inside<'o>;

    aside! {
        serialize_i8: i8;
        serialize_i16: i16;
        serialize_i32: i32;
        serialize_i64: i64;
        serialize_i128: i128;
        serialize_u8: u8;
        serialize_u16: u16;
        serialize_u32: u32;
        serialize_u64: u64;
        serialize_u128: u128;
        serialize_f32: f32;
        serialize_f64: f64;
        serialize_char: char;
        serialize_bytes: &[u8];
    }

    fn serialize_bool(self, value: bool) -> Result<(), Error> {
        self.0.push_str(if value { "true" } else { "false" });
        Ok(())
    }

    fn serialize_str(self, value: &str) -> Result<(), Error> {
        quote(self.0, value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Error> {
        self.0.push_str("null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Error> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Error> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        let mut object = self.open('{', "}");
        object.entry(variant, value)?;
        object.finish();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Inside<'o>, Error> {
        Ok(self.open('[', "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Inside<'o>, Error> {
        Ok(self.open('[', "]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Inside<'o>, Error> {
        Ok(self.open('[', "]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Inside<'o>, Error> {
        Ok(self.variant(variant, '[', "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Inside<'o>, Error> {
        Ok(self.open('{', "}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Inside<'o>, Error> {
        // This is the name by which `serde_json` marks text that is kept as it is. No Rust struct can have it.
        if name.starts_with('$') {
            return Ok(Inside { out: self.0, close: "", any: false, text: true });
        }
        Ok(self.open('{', "}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Inside<'o>, Error> {
        Ok(self.variant(variant, '{', "}}"))
    }
}

/// A list or an object that is being written.
struct Inside<'o> {
    out: &'o mut String,
    close: &'static str,
    any: bool,
    /// The one string in it is JSON, and nothing is written around it.
    text: bool,
}

impl Inside<'_> {
    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        if std::mem::replace(&mut self.any, true) {
            self.out.push(',');
        }
        value.serialize(Writer(self.out))
    }

    fn entry<T: Serialize + ?Sized>(&mut self, name: &str, value: &T) -> Result<(), Error> {
        if self.text {
            let text = write(value)?;
            self.out.push_str(&unescape(&text).unwrap_or_default());
            return Ok(());
        }
        self.item(name)?;
        self.out.push(':');
        value.serialize(Writer(self.out))
    }

    fn finish(self) {
        self.out.push_str(self.close);
    }
}

impl SerializeMap for Inside<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        // The keys of all maps in the schema are strings.
        let text = write(key)?;
        if !text.starts_with('"') {
            return Err(Error::custom("key must be a string"));
        }
        if std::mem::replace(&mut self.any, true) {
            self.out.push(',');
        }
        self.out.push_str(&text);
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        self.out.push(':');
        value.serialize(Writer(self.out))
    }

    fn end(self) -> Result<(), Error> {
        self.finish();
        Ok(())
    }
}

/// What only differs in the names of its methods.
macro_rules! compound {
    ($($of:ident: $method:ident($($name:ident)?) by $with:ident;)*) => {
        $(impl $of for Inside<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, $($name: &'static str,)? value: &T) -> Result<(), Error> {
                self.$with($($name,)? value)
            }

            fn end(self) -> Result<(), Error> {
                self.finish();
                Ok(())
            }
        })*
    };
}

compound! {
    SerializeSeq: serialize_element() by item;
    SerializeTuple: serialize_element() by item;
    SerializeTupleStruct: serialize_field() by item;
    SerializeTupleVariant: serialize_field() by item;
    SerializeStruct: serialize_field(name) by entry;
    SerializeStructVariant: serialize_field(name) by entry;
}
