//! A map and a set as sorted lists, and a table of names for what a single message lists.
//!
//! Everything that the connection keeps under an id is small and bounded, so a list that is searched by halves does
//! what a tree or a hash table would. Its code is shared by all types of values, which makes the WebAssembly module a
//! third smaller. What is large should be boxed: an insertion moves what comes after it.

use std::borrow::{Borrow, Cow};
use std::collections::HashMap;
use std::ops::Index;

/// Values by key, in the order of the keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Map<K, V> {
    keys: Vec<K>,
    values: Vec<V>,
}

/// Keys in order.
pub(crate) type Set<K> = Map<K, ()>;

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Map { keys: Vec::new(), values: Vec::new() }
    }
}

impl<K, V> Map<K, V> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The keys in order.
    pub fn keys(&self) -> std::slice::Iter<'_, K> {
        self.keys.iter()
    }

    /// The values in the order of the keys.
    pub fn values(&self) -> std::slice::Iter<'_, V> {
        self.values.iter()
    }

    /// All of them in the order of the keys.
    pub fn iter(&self) -> std::iter::Zip<std::slice::Iter<'_, K>, std::slice::Iter<'_, V>> {
        self.keys.iter().zip(&self.values)
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut V> {
        self.values.iter_mut()
    }

    pub(crate) fn clear(&mut self) {
        self.keys.clear();
        self.values.clear();
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        for at in (0..self.len()).rev() {
            if !keep(&self.keys[at], &self.values[at]) {
                self.keys.remove(at);
                self.values.remove(at);
            }
        }
    }
}

impl<K: Ord, V> Map<K, V> {
    /// The value of a key.
    pub fn get<Q: Ord + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        place(&self.keys, key).ok().map(|at| &self.values[at])
    }

    /// Whether there is such a key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        place(&self.keys, key).is_ok()
    }

    pub(crate) fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        place(&self.keys, key).ok().map(|at| (&self.keys[at], &self.values[at]))
    }

    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        place(&self.keys, key).ok().map(|at| &mut self.values[at])
    }

    /// The value of a key, made if there is none.
    pub(crate) fn get_or_insert_with(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        let at = place(&self.keys, &key).unwrap_or_else(|at| {
            self.keys.insert(at, key);
            self.values.insert(at, new());
            at
        });
        &mut self.values[at]
    }

    /// Puts a value in the place of the one before; whether there was none.
    pub(crate) fn insert(&mut self, key: K, value: V) -> bool {
        match place(&self.keys, &key) {
            Ok(at) => {
                self.values[at] = value;
                false
            }
            Err(at) => {
                self.keys.insert(at, key);
                self.values.insert(at, value);
                true
            }
        }
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
        place(&self.keys, key).ok().map(|at| (self.keys.remove(at), self.values.remove(at)))
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

/// Where a key is, or belongs.
fn place<K: Borrow<Q>, Q: Ord + ?Sized>(keys: &[K], key: &Q) -> Result<usize, usize> {
    keys.binary_search_by(|known| known.borrow().cmp(key))
}

impl<Q: Ord + ?Sized, K: Ord + Borrow<Q>, V> Index<&Q> for Map<K, V> {
    type Output = V;

    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("no such key")
    }
}

impl<'a, K, V> IntoIterator for &'a Map<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = std::iter::Zip<std::slice::Iter<'a, K>, std::slice::Iter<'a, V>>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

/// Texts by name while one message is read, which may list a million of them: finding one takes the same time in any
/// order. One type for all who ask, as each more would cost the WebAssembly module a kilobyte.
#[derive(Debug, Default)]
pub(crate) struct Names<'a>(HashMap<Cow<'a, str>, &'a str>);

impl<'a> Names<'a> {
    /// Whether the name is new.
    pub(crate) fn add(&mut self, name: Cow<'a, str>) -> bool {
        self.0.insert(name, "").is_none()
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

impl<'a> FromIterator<(Cow<'a, str>, &'a str)> for Names<'a> {
    fn from_iter<I: IntoIterator<Item = (Cow<'a, str>, &'a str)>>(entries: I) -> Self {
        let mut names = Names::default();
        for (name, text) in entries {
            names.0.insert(name, text);
        }
        names
    }
}

impl<'a> FromIterator<Cow<'a, str>> for Names<'a> {
    fn from_iter<I: IntoIterator<Item = Cow<'a, str>>>(names: I) -> Self {
        names.into_iter().map(|name| (name, "")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_in_is_found_until_it_is_taken_out() {
        let mut map = Map::default();
        let mut tree = std::collections::BTreeMap::new();
        // A walk over all keys below 97, there and back again, in an order that is none.
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
}
