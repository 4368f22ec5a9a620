//! What the generated unions read and write with.
//!
//! A union is read from its own text: a shallow look for the tag, then the variant from the same text. serde's own
//! ways (internally tagged, untagged, flattened) build a tree in between, which copies every string and breaks [`Raw`].

use std::fmt;

use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

use super::{Map, Raw, Str};

/// The tag's value in an object; `None` when it is absent or null.
pub(crate) fn tag<'de, E: Error>(object: &'de RawValue, name: &str) -> Result<Option<Str<'de>>, E> {
    struct Finder<'n, 'o, 'de> {
        name: &'n str,
        found: &'o mut Option<Str<'de>>,
        seen: &'o mut bool,
    }

    impl<'de> Visitor<'de> for Finder<'_, '_, 'de> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
            while let Some(key) = members.next_key::<Str<'de>>()? {
                if key == self.name {
                    *self.found = members.next_value()?;
                    *self.seen = true;
                    return Ok(());
                }
                members.next_value::<IgnoredAny>()?;
            }
            Ok(())
        }
    }

    let (mut found, mut seen) = (None, false);
    let mut reader = serde_json::Deserializer::from_str(object.get());
    let looked = reader.deserialize_map(Finder { name, found: &mut found, seen: &mut seen });
    match looked {
        // The look ends at the tag, which the reader takes for an object without an end.
        Err(error) if !seen => Err(E::custom(error)),
        _ => Ok(found),
    }
}

/// Reads a text again, as one of the types it may be.
pub(crate) fn part<'de, T: Deserialize<'de>, E: Error>(json: &'de RawValue) -> Result<T, E> {
    serde_json::from_str(json.get()).map_err(E::custom)
}

/// The type that a text fits, or nothing.
pub(crate) fn fits<'de, T: Deserialize<'de>>(json: &'de RawValue) -> Option<T> {
    serde_json::from_str(json.get()).ok()
}

/// Writes the members of a variant that nobody here knows, into an object that has written its own already.
pub(crate) fn rest<S: Serializer>(json: &Raw<'_>, own: &[&str], serializer: S) -> Result<S::Ok, S::Error> {
    let members: Map<'_, Raw<'_>> = json.parse().map_err(serde::ser::Error::custom)?;
    let mut object = serializer.serialize_map(None)?;
    for (name, value) in members.iter().filter(|(name, _)| !own.contains(&name.as_str())) {
        object.serialize_entry(name, value)?;
    }
    object.end()
}

/// Writes a variant that nobody here knows as it was sent.
pub(crate) fn as_sent<S: Serializer>(_tag: &Str<'_>, json: &Raw<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    json.serialize(serializer)
}

/// A member where null is another way to leave it out.
pub(crate) fn null_as_default<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A member of a draft: what does not fit is read as absent, as it is not the draft's member where the draft is off.
pub(crate) fn draft<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: Deserialize<'de> + Default,
    D: Deserializer<'de>,
{
    let json = <&'de RawValue>::deserialize(deserializer)?;
    Ok(fits(json).unwrap_or_default())
}
