//! An ordered map and set as sorted lists, and a hash table of names for use within a single message.
//!
//! What a connection keeps by id is bounded and mostly small, so a sorted list with binary search does the work of a
//! tree or a hash table. Most of its code does not depend on the type of the values, which makes the WebAssembly module
//! smaller by a third. A long list is split into pieces, so that an insertion moves no more than one piece, however far
//! a host has raised its limits. Read [`keys`] next.

mod keys;

use std::borrow::{Borrow, Cow};
use std::collections::HashMap;
use std::ops::Index;

pub(crate) use keys::At;
use keys::Keys;

/// A map ordered by key.
#[derive(Debug, Clone)]
pub struct Map<K, V> {
    keys: Keys<K>,
    /// The values, at the places that `keys` names; `None` where a place is free.
    values: Vec<Option<V>>,
}

/// An ordered set.
pub(crate) type Set<K> = Map<K, ()>;

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Map { keys: Keys::default(), values: Vec::new() }
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for Map<K, V> {}

impl<K, V> Map<K, V> {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.keys.iter().map(|(key, _)| key)
    }

    /// The values in the order of their keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// The entries in the order of their keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter { keys: self.keys.iter(), values: &self.values }
    }

    /// The values in any order.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.values.iter_mut().flatten()
    }

    pub(crate) fn clear(&mut self) {
        *self = Map::default();
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        let Map { keys, values } = self;
        keys.retain(&mut |key, place| {
            let value = &mut values[place as usize];
            let kept = value.as_ref().is_some_and(|value| keep(key, value));
            if !kept {
                *value = None;
            }
            kept
        });
    }
}

impl<K: Ord, V> Map<K, V> {
    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.get_key_value(key).map(|(_, value)| value)
    }

    /// Whether there is an entry with this key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.keys.place(key).is_ok()
    }

    pub(crate) fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        let at = self.keys.place(key).ok()?;
        Some((self.keys.key_at(at), self.values[self.keys.value_at(at) as usize].as_ref()?))
    }

    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let at = self.keys.place(key).ok()?;
        self.values[self.keys.value_at(at) as usize].as_mut()
    }

    /// The place of a key, valid until the next change.
    pub(crate) fn find<Q: Ord + ?Sized>(&self, key: &Q) -> Option<At>
    where
        K: Borrow<Q>,
    {
        self.keys.place(key).ok()
    }

    /// The number of a key's value, valid until a key is removed.
    pub(crate) fn number<Q: Ord + ?Sized>(&self, key: &Q) -> Option<u32>
    where
        K: Borrow<Q>,
    {
        self.keys.place(key).ok().map(|at| self.keys.value_at(at))
    }

    /// The value of this number.
    #[inline]
    pub(crate) fn numbered_mut(&mut self, number: u32) -> Option<&mut V> {
        self.values.get_mut(number as usize)?.as_mut()
    }

    /// The key and the value at a place that [`find`](Self::find) returned.
    pub(crate) fn entry_at(&mut self, at: At, new: impl FnOnce() -> V) -> (&K, &mut V) {
        let value = &mut self.values[self.keys.value_at(at) as usize];
        (self.keys.key_at(at), value.get_or_insert_with(new))
    }

    /// The value of a key, inserted if there is none.
    pub(crate) fn get_or_insert_with(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        self.enter(key).0.get_or_insert_with(new)
    }

    /// Inserts or replaces a value. Returns whether the key is new.
    pub(crate) fn insert(&mut self, key: K, value: V) -> bool {
        let (place, is_new) = self.enter(key);
        *place = Some(value);
        is_new
    }

    pub(crate) fn remove<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.remove_entry(key).map(|(_, value)| value)
    }

    pub(crate) fn remove_entry<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<(K, V)>
    where
        K: Borrow<Q>,
    {
        let at = self.keys.place(key).ok()?;
        let (key, place) = self.keys.remove(at);
        let value = self.values[place as usize].take()?;
        if self.is_empty() {
            self.clear();
        }
        Some((key, value))
    }

    /// The entries from a key on, in order.
    pub(crate) fn from<Q: Ord + ?Sized>(&self, key: &Q) -> Iter<'_, K, V>
    where
        K: Borrow<Q>,
    {
        Iter { keys: self.keys.from(key), values: &self.values }
    }

    /// The place for the value of a key, and whether the key is new.
    fn enter(&mut self, key: K) -> (&mut Option<V>, bool) {
        let (place, is_new) = self.keys.enter(key);
        if place == self.values.len() {
            self.values.push(None);
        }
        (&mut self.values[place], is_new)
    }
}

impl<K: Ord, V> FromIterator<(K, V)> for Map<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        let mut map = Map::default();
        for (key, value) in entries {
            map.insert(key, value);
        }
        map
    }
}

impl<Q: Ord + ?Sized, K: Ord + Borrow<Q>, V> Index<&Q> for Map<K, V> {
    type Output = V;

    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("no such key")
    }
}

/// The entries of a [`Map`] in the order of their keys.
#[derive(Debug, Clone)]
pub struct Iter<'a, K, V> {
    keys: keys::Iter<'a, K>,
    values: &'a [Option<V>],
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, place) = self.keys.next()?;
        Some((key, self.values[place as usize].as_ref()?))
    }
}

impl<'a, K, V> IntoIterator for &'a Map<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Texts by name while one message is read. A hostile message can list a million names, so look-ups must not depend on
/// their order. There is one type for all uses because each further one would add a kilobyte to the WebAssembly module.
#[derive(Debug, Default)]
pub(crate) struct StringMap<'a>(HashMap<Cow<'a, str>, &'a str>);

impl<'a> StringMap<'a> {
    /// Adds a name. Returns whether it is new.
    pub(crate) fn add(&mut self, name: Cow<'a, str>) -> bool {
        self.0.insert(name, "").is_none()
    }

    /// Stores a text under a name.
    pub(crate) fn put(&mut self, name: Cow<'a, str>, text: &'a str) {
        self.0.insert(name, text);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        self.0.get(name).copied()
    }
}

impl<'a> FromIterator<(Cow<'a, str>, &'a str)> for StringMap<'a> {
    fn from_iter<I: IntoIterator<Item = (Cow<'a, str>, &'a str)>>(entries: I) -> Self {
        let mut names = StringMap::default();
        for (name, text) in entries {
            names.0.insert(name, text);
        }
        names
    }
}

impl<'a> FromIterator<Cow<'a, str>> for StringMap<'a> {
    fn from_iter<I: IntoIterator<Item = Cow<'a, str>>>(names: I) -> Self {
        names.into_iter().map(|name| (name, "")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::keys::LONGEST;
    use super::*;

    #[test]
    fn what_is_put_in_is_found_until_it_is_taken_out() {
        let mut map = Map::default();
        let mut tree = std::collections::BTreeMap::new();
        // A walk over all keys below 97, there and back again, in pseudo-random order.
        for step in 0..97u32 {
            let key = step * 31 % 97;
            assert_eq!(map.insert(key, step), tree.insert(key, step).is_none());
            *map.get_or_insert_with(step, || 0) += 1;
            *tree.entry(step).or_insert(0) += 1;
            map.remove(&(step / 2));
            tree.remove(&(step / 2));
            assert!(map.iter().eq(tree.iter()), "{step}");
            assert_eq!(map.iter().next(), tree.first_key_value());
            for key in 0..97 {
                assert_eq!((map.get(&key), map.contains_key(&key)), (tree.get(&key), tree.contains_key(&key)));
            }
        }
        assert_eq!(map.len(), tree.len());
        assert!(!map.is_empty());
        map.retain(|key, _| key % 3 == 0);
        tree.retain(|key, _| key % 3 == 0);
        assert!(map.iter().eq(&tree) && map == tree.into_iter().rev().collect());
        map.clear();
        assert!(map.is_empty() && map.values().next().is_none());
    }

    /// The promises of [`Keys::pieces`].
    fn whole(map: &Map<u32, u32>) {
        let sizes: Vec<usize> = map.keys.pieces.iter().map(Vec::len).collect();
        assert!(sizes.iter().all(|size| (1..=LONGEST).contains(size)), "{sizes:?}");
        assert!(sizes.windows(2).all(|pair| pair[0] + pair[1] > LONGEST / 2), "{sizes:?}");
        assert_eq!(sizes.iter().sum::<usize>(), map.len());
        assert_eq!(map.values.iter().flatten().count(), map.len());
        assert_eq!(map.values.len() - map.keys.free.len(), map.len());
    }

    #[test]
    fn long_lists_are_kept_in_pieces_that_stay_neither_long_nor_many() {
        const ALL: u32 = 20 * LONGEST as u32;
        // Ascending, descending, and in pseudo-random order.
        for order in [1, ALL - 1, 7919] {
            let mut map = Map::default();
            let mut tree = std::collections::BTreeMap::new();
            for step in 0..ALL {
                let key = step.wrapping_mul(order) % ALL;
                assert!(map.insert(key, step) && tree.insert(key, step).is_none());
            }
            whole(&map);
            assert!(map.iter().eq(tree.iter()));
            for key in [0, 1, 511, 512, 5000, ALL - 1, ALL] {
                assert!(map.from(&key).eq(tree.range(key..)), "{key}");
            }
            // What is left is spread over all pieces.
            for key in (0..ALL).filter(|key| key % 97 != 0) {
                assert_eq!(map.remove(&key), tree.remove(&key));
                if key % 1000 == 0 {
                    whole(&map);
                }
            }
            whole(&map);
            assert!(map.iter().eq(tree.iter()) && map.keys.pieces.len() < 3);
            for key in (0..ALL).rev().filter(|key| key % 97 == 0) {
                assert_eq!(map.remove_entry(&key), tree.remove_entry(&key));
            }
            assert!(map.is_empty() && map.keys.pieces.is_empty());
        }
    }
}
