//! Objects with arbitrary keys.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Str;

/// An object with arbitrary keys, in the order in which they were sent. The order matters: forms show their fields in
/// it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map<'a, V>(pub Vec<(Str<'a>, V)>);

impl<'a, V> Map<'a, V> {
    /// An object without members.
    pub const fn new() -> Self {
        Map(Vec::new())
    }

    /// Whether there are no members.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The number of members.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// The value of a key; the last one, if the sender repeats a key.
    pub fn get(&self, key: &str) -> Option<&V> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The members in order.
    pub fn iter(&self) -> std::slice::Iter<'_, (Str<'a>, V)> {
        self.0.iter()
    }
}

impl<V> Default for Map<'_, V> {
    fn default() -> Self {
        Map::new()
    }
}

impl<'a, K: Into<Str<'a>>, V> FromIterator<(K, V)> for Map<'a, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        Map(members.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }
}

impl<'m, 'a, V> IntoIterator for &'m Map<'a, V> {
    type Item = &'m (Str<'a>, V);
    type IntoIter = std::slice::Iter<'m, (Str<'a>, V)>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<V: Serialize> Serialize for Map<'_, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de: 'a, 'a, V: Deserialize<'de>> Deserialize<'de> for Map<'a, V> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members<V>(PhantomData<V>);

        impl<'de, V: Deserialize<'de>> Visitor<'de> for Members<V> {
            type Value = Map<'de, V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
                let mut out = Vec::new();
                while let Some(member) = members.next_entry()? {
                    out.push(member);
                }
                Ok(Map(out))
            }
        }

        deserializer.deserialize_map(Members(PhantomData))
    }
}
