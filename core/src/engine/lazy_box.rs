//! State that most sessions and connections never have: a pointer until it is changed for the first time.

use std::ops::{Deref, DerefMut};

/// What a [`LazyBox`] is before it is changed.
pub(crate) trait Untouched: Default + 'static {
    /// The default value, which all of them share.
    fn untouched() -> &'static Self;
}

/// A value on the heap, which takes no memory of its own while it is the default one.
#[derive(Debug, Clone, Default)]
pub(crate) struct LazyBox<T>(Option<Box<T>>);

impl<T> LazyBox<T> {
    pub(crate) fn new(value: T) -> Self {
        LazyBox(Some(Box::new(value)))
    }
}

impl<T: Untouched> Deref for LazyBox<T> {
    type Target = T;

    fn deref(&self) -> &T {
        match &self.0 {
            Some(value) => value,
            None => T::untouched(),
        }
    }
}

impl<T: Untouched> DerefMut for LazyBox<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.0.get_or_insert_default()
    }
}

impl<T: Untouched + PartialEq> PartialEq for LazyBox<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Untouched + Eq> Eq for LazyBox<T> {}

/// Makes types [`Untouched`].
macro_rules! untouched {
    ($($type:ty),*) => {$(
        impl $crate::engine::lazy_box::Untouched for $type {
            fn untouched() -> &'static Self {
                static UNTOUCHED: std::sync::LazyLock<$type> = std::sync::LazyLock::new(Default::default);
                &UNTOUCHED
            }
        }
    )*};
}
pub(crate) use untouched;
