//! A bounded map for ids that the peer chooses; the oldest entries are forgotten first.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::map::Map;

/// A longer list of a session, in bytes, is not kept, and messages are not checked against it.
pub(crate) const KEPT: usize = 256 * 1024;

/// The newest entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recent<V> {
    entries: Map<Arc<str>, V>,
    order: VecDeque<Arc<str>>,
    /// An entry has been forgotten, so an unknown id may be an old one.
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

    /// Whether this id was certainly never inserted.
    pub(super) fn is_new(&self, id: &str) -> bool {
        !self.overflowed && !self.entries.contains_key(id)
    }

    /// The entry of an id, created if there is none.
    pub(super) fn entry(&mut self, id: &str, limit: usize, new: impl FnOnce() -> V) -> &mut V {
        self.entry_for(id, limit, new).1
    }

    /// Like [`entry`](Self::entry). Also returns the shared copy of the id, and the id that was forgotten for it.
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
