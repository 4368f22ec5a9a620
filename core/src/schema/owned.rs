//! Detaching a value from the text that it borrows from.

use super::{Map, Patch, Raw, Str};
use crate::jsonrpc::Id;

/// A value that can be detached from the text that it was read from. Every type of the schema can.
pub trait IntoOwned {
    /// The same type without borrowed parts.
    type Owned: 'static;

    /// Copies the borrowed parts and moves the rest.
    fn into_owned(self) -> Self::Owned;
}

/// For types that never borrow.
macro_rules! never_borrow {
    ($($name:ty),* $(,)?) => {
        $(impl $crate::schema::IntoOwned for $name {
            type Owned = $name;

            fn into_owned(self) -> $name {
                self
            }
        })*
    };
}
pub(crate) use never_borrow;

never_borrow!(bool, i32, i64, u16, u32, u64, f64, Id);

impl IntoOwned for Str<'_> {
    type Owned = Str<'static>;

    fn into_owned(self) -> Str<'static> {
        self.into_string().into()
    }
}

impl IntoOwned for Raw<'_> {
    type Owned = Raw<'static>;

    fn into_owned(self) -> Raw<'static> {
        self.detach()
    }
}

impl<T: IntoOwned> IntoOwned for Option<T> {
    type Owned = Option<T::Owned>;

    fn into_owned(self) -> Self::Owned {
        self.map(T::into_owned)
    }
}

impl<T: IntoOwned> IntoOwned for Patch<T> {
    type Owned = Patch<T::Owned>;

    fn into_owned(self) -> Self::Owned {
        self.map(T::into_owned)
    }
}

impl<T: IntoOwned> IntoOwned for Vec<T> {
    type Owned = Vec<T::Owned>;

    fn into_owned(self) -> Self::Owned {
        self.into_iter().map(T::into_owned).collect()
    }
}

impl<T: IntoOwned> IntoOwned for Map<'_, T> {
    type Owned = Map<'static, T::Owned>;

    fn into_owned(self) -> Self::Owned {
        self.0.into_iter().map(|(key, value)| (key.into_owned(), value.into_owned())).collect()
    }
}
