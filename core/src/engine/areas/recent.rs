//! What is remembered of one session under ids that the peer chooses: bounded, the oldest forgotten first.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::map::Map;

/// A list of a session's that is longer than this many bytes is not kept, and nothing is held against it.
pub(crate) const KEPT: usize = 256 * 1024;

/// The newest entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recent<V> {
    entries: Map<Arc<str>, V>,
    order: VecDeque<Arc<str>>,
    /// Something has been forgotten, so that an unknown id says nothing.
    overflowed: bool,
}

impl<V> Default for Recent<V> {
    fn default() -> Self {
        Recent { entries: Map::default(), order: VecDeque::new(), overflowed: false }
    }
}

impl<V> Recent<V> {
    pub(super) fn get(&self, id: &str) -> Option<&V> {
        self.entries.get(id)
    }

    /// Whether this id has certainly not been seen.
    pub(super) fn is_new(&self, id: &str) -> bool {
        !self.overflowed && !self.entries.contains_key(id)
    }

    /// The entry of an id, made if there is none.
    pub(super) fn entry(&mut self, id: &str, limit: usize, new: impl FnOnce() -> V) -> &mut V {
        self.entry_for(id, limit, new).1
    }

    /// The same, with the shared copy of the id, and the one that was forgotten for it.
    pub(super) fn entry_for(
        &mut self,
        id: &str,
        limit: usize,
        new: impl FnOnce() -> V,
    ) -> (Arc<str>, &mut V, Option<Arc<str>>) {
        if let Some(at) = self.entries.find(id) {
            let (id, value) = self.entries.entry_at(at, new);
            return (Arc::clone(id), value, None);
        }
        let id: Arc<str> = id.into();
        self.order.push_back(Arc::clone(&id));
        let mut forgotten = None;
        if self.order.len() > limit.max(1) {
            self.overflowed = true;
            forgotten = self.order.pop_front();
            forgotten.as_ref().and_then(|oldest| self.entries.remove(oldest));
        }
        (Arc::clone(&id), self.entries.get_or_insert_with(id, new), forgotten)
    }

    /// Oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.order.iter().filter_map(|id| Some((&**id, self.entries.get(id)?)))
    }

    pub(super) fn get_mut(&mut self, id: &str) -> Option<&mut V> {
        self.entries.get_mut(id)
    }
}
