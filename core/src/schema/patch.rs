//! Members of updates for which absence, null and a value mean three different things.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A change of something that the reader already has: keep it, clear it, or set it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Patch<T> {
    /// The member is absent: keep the old value.
    #[default]
    Absent,
    /// The member is null: clear the value.
    Null,
    /// The member has a value: set it.
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

    /// Makes the change.
    pub fn apply(self, to: &mut Option<T>) {
        match self {
            Patch::Absent => {}
            Patch::Null => *to = None,
            Patch::Value(value) => *to = Some(value),
        }
    }

    /// Converts the value.
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
