//! JSON that is kept as it was sent.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// One JSON value as text: what the model does not describe, and what a newer peer sends.
///
/// It borrows from the message and is written back byte for byte. Two values are equal if their texts are. Types that
/// contain one can be deserialized from text (`serde_json::from_str`, `from_slice`), but not from readers or a
/// `serde_json::Value`.
#[derive(Debug, Clone)]
pub struct Raw<'a>(Cow<'a, RawValue>);

impl<'a> Raw<'a> {
    /// Borrows JSON text.
    ///
    /// # Errors
    /// If the text is not one JSON value.
    pub fn new(json: &'a str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json)
    }

    /// Takes ownership of JSON text.
    ///
    /// # Errors
    /// If the text is not one JSON value.
    pub fn from_string(json: String) -> Result<Raw<'static>, serde_json::Error> {
        RawValue::from_string(json).map(|raw| Raw(Cow::Owned(raw)))
    }

    /// Serializes a value.
    ///
    /// # Errors
    /// If the value cannot be serialized.
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<Raw<'static>, serde_json::Error> {
        serde_json::value::to_raw_value(value).map(|raw| Raw(Cow::Owned(raw)))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// Deserializes the text. The result borrows from this value.
    ///
    /// # Errors
    /// If the text does not fit the type.
    pub fn parse<'r, T: Deserialize<'r>>(&'r self) -> Result<T, serde_json::Error> {
        serde_json::from_str(self.as_str())
    }

    /// Whether it borrows from a message.
    pub const fn is_borrowed(&self) -> bool {
        matches!(self.0, Cow::Borrowed(_))
    }

    /// A copy that does not borrow from the message.
    pub(super) fn detach(self) -> Raw<'static> {
        Raw(Cow::Owned(self.0.into_owned()))
    }
}

impl PartialEq for Raw<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for Raw<'_> {}

impl<'a> From<&'a RawValue> for Raw<'a> {
    fn from(raw: &'a RawValue) -> Self {
        Raw(Cow::Borrowed(raw))
    }
}

impl From<Box<RawValue>> for Raw<'_> {
    fn from(raw: Box<RawValue>) -> Self {
        Raw(Cow::Owned(raw))
    }
}

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Raw<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&'de RawValue>::deserialize(deserializer).map(Raw::from)
    }
}
