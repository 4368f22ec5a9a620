//! A table of sessions by id.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::Arc;

use super::session::Session;

/// Sessions by id, and the place of the one that was looked up last: a message looks its session up several times, and
/// the next message is most often about the same one.
#[derive(Debug, Default)]
pub(crate) struct SessionTable {
    places: HashMap<Arc<str>, usize>,
    /// `None` for a session that has ended.
    slots: Vec<Option<(Arc<str>, Box<Session>)>>,
    free: Vec<usize>,
    last: Cell<usize>,
}

impl SessionTable {
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    pub(crate) fn get(&self, id: &str) -> Option<&Session> {
        self.get_key_value(id).map(|(_, session)| session)
    }

    #[inline]
    pub(crate) fn get_key_value(&self, id: &str) -> Option<(&Arc<str>, &Session)> {
        let found = match self.slots.get(self.last.get()) {
            Some(Some(last)) if std::ptr::eq(&raw const *last.0, id) => last,
            _ => self.slots[self.search(id)?].as_ref()?,
        };
        Some((&found.0, &found.1))
    }

    pub(crate) fn get_mut(&mut self, id: &str) -> Option<&mut Session> {
        let place = self.place(id)?;
        self.slots[place].as_mut().map(|(_, session)| &mut **session)
    }

    pub(crate) fn contains_key(&self, id: &str) -> bool {
        self.place(id).is_some()
    }

    /// The session of this id, created if there is none.
    pub(crate) fn enter(&mut self, id: Arc<str>, new: impl FnOnce() -> Session) -> &mut Session {
        let place = self.place(&id).unwrap_or_else(|| {
            let place = self.free.pop().unwrap_or(self.slots.len());
            if place == self.slots.len() {
                self.slots.push(None);
            }
            self.places.insert(Arc::clone(&id), place);
            place
        });
        &mut self.slots[place].get_or_insert_with(|| (id, Box::new(new()))).1
    }

    pub(crate) fn remove(&mut self, id: &str) -> Option<Session> {
        let place = self.places.remove(id)?;
        self.free.push(place);
        self.slots[place].take().map(|(_, session)| *session)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Session)> {
        self.slots.iter().flatten().map(|(id, session)| (id, &**session))
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Session> {
        self.slots.iter_mut().flatten().map(|(_, session)| &mut **session)
    }

    /// A message looks its session up five times, most often with the same text, so inlining this comparison pays off.
    #[inline]
    fn place(&self, id: &str) -> Option<usize> {
        let last = self.last.get();
        match self.slots.get(last) {
            Some(Some((known, _))) if std::ptr::eq(&raw const **known, id) => Some(last),
            _ => self.search(id),
        }
    }

    /// Out of line, so that the comparison above stays small enough to be inlined.
    #[inline(never)]
    fn search(&self, id: &str) -> Option<usize> {
        let last = self.last.get();
        if let Some(Some((known, _))) = self.slots.get(last) {
            if **known == *id {
                return Some(last);
            }
        }
        let place = *self.places.get(id)?;
        self.last.set(place);
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::SessionState;

    #[test]
    fn sessions_come_and_go_and_their_places_are_used_again() {
        let mut known = SessionTable::default();
        for round in 0..3u64 {
            for id in ["a", "b", "c"] {
                assert!(known.get(id).is_none());
                known.enter(id.into(), || Session { generation: round, ..Session::new(SessionState::Ready) });
                known.enter(id.into(), || Session::new(SessionState::Loading));
                assert_eq!(known.get(id).map(|session| session.generation), Some(round));
            }
            assert_eq!(known.remove("b").map(|session| session.generation), Some(round));
            assert!(known.remove("b").is_none() && !known.contains_key("b"));
            known.values_mut().for_each(|session| session.generation = 9);
            let mut ids: Vec<_> = known.iter().map(|(id, session)| (&**id, session.generation)).collect();
            ids.sort_unstable();
            assert_eq!(ids, [("a", 9), ("c", 9)]);
            assert_eq!(known.get_mut("c").map(|session| session.generation), Some(9));
            assert_eq!((known.len(), known.is_empty()), (2, false));
            known.remove("a");
            known.remove("c");
        }
        assert!(known.is_empty());
        assert_eq!(known.slots.len(), 3);
    }
}
