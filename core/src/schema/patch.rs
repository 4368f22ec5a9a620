//! Members of updates, where leaving out, null and a value say three different things.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A change to something the reader has already: keep it, clear it, or set it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Patch<T> {
    /// The member is left out: what was there stays.
    #[default]
    Absent,
    /// The member is null: what was there goes.
    Null,
    /// The new value.
    Value(T),
}

impl<T> Patch<T> {
    /// Whether nothing changes.
    pub const fn is_absent(&self) -> bool {
        matches!(self, Patch::Absent)
    }

    /// The new value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Patch::Value(value) => Some(value),
            Patch::Absent | Patch::Null => None,
        }
    }

    /// Carries the change out.
    pub fn apply(self, to: &mut Option<T>) {
        match self {
            Patch::Absent => {}
            Patch::Null => *to = None,
            Patch::Value(value) => *to = Some(value),
        }
    }

    /// Turns the value into another.
    pub fn map<U>(self, with: impl FnOnce(T) -> U) -> Patch<U> {
        match self {
            Patch::Absent => Patch::Absent,
            Patch::Null => Patch::Null,
            Patch::Value(value) => Patch::Value(with(value)),
        }
    }
}

impl<T> From<T> for Patch<T> {
    fn from(value: T) -> Self {
        Patch::Value(value)
    }
}

/// `Absent` is written as null: members leave it out by `skip_serializing_if = "Patch::is_absent"`.
impl<T: Serialize> Serialize for Patch<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Patch<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Patch::Null, Patch::Value))
    }
}
