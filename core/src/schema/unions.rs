//! What the generated unions are read and written with.
//!
//! A union is read by looking for its tag first and then reading the variant from the same text. serde's own
//! representations (internally tagged, untagged, flattened) would build a tree in between, which copies every string
//! and does not work with [`Raw`]. The crate's own `reader` does this in place. With `serde_json`, a union takes its
//! text and is then read by that reader.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{EnumAccess, Error, VariantAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::reader::read;
use super::{Map, Raw, Str};

/// An enum whose variants are distinguished by a string member, the tag.
pub(crate) trait Union<'de>: Sized {
    /// [`UNION`](super::reader::UNION) and the name of the tag.
    const NAME: &'static str;

    /// The variant with this tag, which is `None` if it is absent or null.
    fn variant<A: VariantAccess<'de>>(tag: Option<Str<'de>>, object: A) -> Result<Self, A::Error>;
}

/// Reads a union.
pub(crate) fn union<'de, T: Union<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    struct Either<T>(PhantomData<T>);

    impl<'de, T: Union<'de>> Visitor<'de> for Either<T> {
        type Value = T;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_enum<A: EnumAccess<'de>>(self, object: A) -> Result<T, A::Error> {
            let (tag, object) = object.variant()?;
            T::variant(tag, object)
        }

        fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<T, D::Error> {
            struct Whole<T>(T);

            impl<'de, T: Union<'de>> Deserialize<'de> for Whole<T> {
                fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                    deserializer.deserialize_newtype_struct(T::NAME, Either(PhantomData)).map(Whole)
                }
            }

            let json = <&'de RawValue>::deserialize(deserializer)?;
            part::<Whole<T>, _>(json).map(|whole| whole.0)
        }
    }

    deserializer.deserialize_newtype_struct(T::NAME, Either(PhantomData))
}

/// Reads a variant of a draft. If the draft is disabled, nothing has checked the value, since another extension may use
/// the tag; what does not fit is kept as it was sent.
pub(crate) fn of_draft<'de, T, U, A>(
    object: A,
    known: fn(T) -> U,
    other: impl FnOnce(Raw<'de>) -> U,
) -> Result<U, A::Error>
where
    T: Deserialize<'de>,
    A: VariantAccess<'de>,
{
    let json = object.newtype_variant::<&'de RawValue>()?;
    Ok(fits(json).map_or_else(|| other(json.into()), known))
}

/// Reads a text again as one of the types that it may have.
pub(crate) fn part<'de, T: Deserialize<'de>, E: Error>(json: &'de RawValue) -> Result<T, E> {
    read(json.get()).map_err(E::custom)
}

/// Reads a text as a type, if it fits.
pub(crate) fn fits<'de, T: Deserialize<'de>>(json: &'de RawValue) -> Option<T> {
    read(json.get()).ok()
}

/// Writes the members of an unknown variant into an object that has already written its own.
pub(crate) fn rest<S: Serializer>(json: &Raw<'_>, own: &[&str], serializer: S) -> Result<S::Ok, S::Error> {
    let members: Map<'_, Raw<'_>> = json.parse().map_err(serde::ser::Error::custom)?;
    let mut object = serializer.serialize_map(None)?;
    for (name, value) in members.iter().filter(|(name, _)| !own.contains(&name.as_str())) {
        object.serialize_entry(name, value)?;
    }
    object.end()
}

/// Writes an unknown variant as it was sent.
pub(crate) fn as_sent<S: Serializer>(_tag: &Str<'_>, json: &Raw<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    json.serialize(serializer)
}

/// Reads a member for which null means the same as absence.
pub(crate) fn null_as_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// Whether a member of a draft has its default value.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Reads a member of a draft. What does not fit is read as absent: if the draft is disabled, another extension may use
/// the name.
pub(crate) fn draft<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    let json = <&'de RawValue>::deserialize(deserializer)?;
    Ok(fits(json).unwrap_or_default())
}
