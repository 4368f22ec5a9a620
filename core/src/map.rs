//! A map and a set as sorted lists, and a table of names for what a single message lists.
//!
//! What the connection keeps under an id is bounded and mostly small, so a list that is searched by halves does what a
//! tree or a hash table would. Its code is shared by all types of values, which makes the WebAssembly module a third
//! smaller. A long list is cut into pieces, so that an insertion moves no more than one piece, however much a host has
//! raised its limits.

use std::borrow::{Borrow, Cow};
use std::collections::HashMap;
use std::ops::Index;

/// The longest piece of a list.
const LONGEST: usize = 512;

/// Values by key, in the order of the keys.
#[derive(Debug, Clone)]
pub struct Map<K, V> {
    /// None of them is empty, and two neighbours have more than half of [`LONGEST`] together.
    pieces: Vec<Piece<K, V>>,
    len: usize,
}

#[derive(Debug, Clone)]
struct Piece<K, V> {
    keys: Vec<K>,
    values: Vec<V>,
}

/// Keys in order.
pub(crate) type Set<K> = Map<K, ()>;

impl<K, V> Default for Map<K, V> {
    fn default() -> Self {
        Map { pieces: Vec::new(), len: 0 }
    }
}

impl<K: PartialEq, V: PartialEq> PartialEq for Map<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<K: Eq, V: Eq> Eq for Map<K, V> {}

impl<K, V> Map<K, V> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &K> {
        self.iter().map(|(key, _)| key)
    }

    /// The values in the order of the keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }

    /// All of them in the order of the keys.
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter { pieces: &self.pieces, at: 0 }
    }

    pub(crate) fn clear(&mut self) {
        *self = Map::default();
    }

    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
        let pieces = std::mem::take(&mut self.pieces);
        self.len = 0;
        for (key, value) in pieces.into_iter().flat_map(|piece| piece.keys.into_iter().zip(piece.values)) {
            if keep(&key, &value) {
                self.push(key, value);
            }
        }
    }

    /// Adds what comes after all others.
    fn push(&mut self, key: K, value: V) {
        self.len += 1;
        match self.pieces.last_mut() {
            Some(piece) if piece.keys.len() < LONGEST => {
                piece.keys.push(key);
                piece.values.push(value);
            }
            _ => self.pieces.push(Piece { keys: vec![key], values: vec![value] }),
        }
    }

    /// Cuts a piece that is full in two, and says where a place in it is then.
    fn cut(&mut self, piece: usize, at: usize) -> (usize, usize) {
        let full = &mut self.pieces[piece];
        if full.keys.len() < LONGEST {
            return (piece, at);
        }
        let half = LONGEST / 2;
        let rest = Piece { keys: full.keys.split_off(half), values: full.values.split_off(half) };
        self.pieces.insert(piece + 1, rest);
        if at > half {
            (piece + 1, at - half)
        } else {
            (piece, at)
        }
    }

    /// Joins two neighbours that have become short.
    fn join(&mut self, first: usize) {
        let Some(second) = self.pieces.get(first + 1) else { return };
        if self.pieces[first].keys.len() + second.keys.len() <= LONGEST / 2 {
            let Piece { keys, values } = self.pieces.remove(first + 1);
            let joined = &mut self.pieces[first];
            joined.keys.extend(keys);
            joined.values.extend(values);
        }
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

    /// Whether there is such a key.
    pub fn contains_key<Q: Ord + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.place(key).is_ok()
    }

    pub(crate) fn get_key_value<Q: Ord + ?Sized>(&self, key: &Q) -> Option<(&K, &V)>
    where
        K: Borrow<Q>,
    {
        let (piece, at) = self.place(key).ok()?;
        let Piece { keys, values } = &self.pieces[piece];
        Some((&keys[at], &values[at]))
    }

    pub(crate) fn get_mut<Q: Ord + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        let (piece, at) = self.place(key).ok()?;
        Some(&mut self.pieces[piece].values[at])
    }

    /// The value of a key, made if there is none.
    pub(crate) fn get_or_insert_with(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        let (piece, at) = match self.place(&key) {
            Ok(place) => place,
            Err(place) => self.put(place, key, new()),
        };
        &mut self.pieces[piece].values[at]
    }

    /// Puts a value in the place of the one before; whether there was none.
    pub(crate) fn insert(&mut self, key: K, value: V) -> bool {
        match self.place(&key) {
            Ok((piece, at)) => {
                self.pieces[piece].values[at] = value;
                false
            }
            Err(place) => {
                self.put(place, key, value);
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
        let (piece, at) = self.place(key).ok()?;
        let Piece { keys, values } = &mut self.pieces[piece];
        let entry = (keys.remove(at), values.remove(at));
        self.len -= 1;
        if keys.is_empty() {
            self.pieces.remove(piece);
        } else {
            self.join(piece);
        }
        self.join(piece.saturating_sub(1));
        Some(entry)
    }

    /// Those from a key on, in order.
    pub(crate) fn from<Q: Ord + ?Sized>(&self, key: &Q) -> Iter<'_, K, V>
    where
        K: Borrow<Q>,
    {
        let (Ok((piece, at)) | Err((piece, at))) = self.place(key);
        Iter { pieces: self.pieces.get(piece..).unwrap_or_default(), at }
    }

    /// Where a key is, or belongs: the piece, and the place in it.
    fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<(usize, usize), (usize, usize)>
    where
        K: Borrow<Q>,
    {
        // The last piece that does not begin behind it.
        let piece = self.pieces.partition_point(|piece| piece.keys[0].borrow() <= key).saturating_sub(1);
        let keys = self.pieces.get(piece).map_or(&[][..], |piece| &piece.keys);
        let at = keys.binary_search_by(|known| known.borrow().cmp(key));
        at.map(|at| (piece, at)).map_err(|at| (piece, at))
    }

    /// Puts a new key where it belongs, and says where it is then.
    fn put(&mut self, (piece, at): (usize, usize), key: K, value: V) -> (usize, usize) {
        if self.pieces.is_empty() {
            self.push(key, value);
            return (0, 0);
        }
        let (piece, at) = self.cut(piece, at);
        let Piece { keys, values } = &mut self.pieces[piece];
        keys.insert(at, key);
        values.insert(at, value);
        self.len += 1;
        (piece, at)
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

/// Keys and values in order.
#[derive(Debug, Clone)]
pub struct Iter<'a, K, V> {
    pieces: &'a [Piece<K, V>],
    at: usize,
}

impl<'a, K, V> Iterator for Iter<'a, K, V> {
    type Item = (&'a K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (piece, rest) = self.pieces.split_first()?;
            if let Some(entry) = piece.keys.get(self.at).zip(piece.values.get(self.at)) {
                self.at += 1;
                return Some(entry);
            }
            (self.pieces, self.at) = (rest, 0);
        }
    }
}

impl<'a, K, V> IntoIterator for &'a Map<K, V> {
    type Item = (&'a K, &'a V);
    type IntoIter = Iter<'a, K, V>;

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

    /// Keeps a text under a name.
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

    /// The promises of [`Map::pieces`].
    fn whole(map: &Map<u32, u32>) {
        let sizes: Vec<usize> = map.pieces.iter().map(|piece| piece.keys.len()).collect();
        assert!(sizes.iter().all(|size| (1..=LONGEST).contains(size)), "{sizes:?}");
        assert!(sizes.windows(2).all(|pair| pair[0] + pair[1] > LONGEST / 2), "{sizes:?}");
        assert_eq!(sizes.iter().sum::<usize>(), map.len());
        assert!(map.pieces.iter().all(|piece| piece.keys.len() == piece.values.len()));
    }

    #[test]
    fn long_lists_are_kept_in_pieces_that_stay_neither_long_nor_many() {
        const ALL: u32 = 20 * LONGEST as u32;
        // Upwards, downwards, and in no order.
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
            assert!(map.iter().eq(tree.iter()) && map.pieces.len() < 3);
            for key in (0..ALL).rev().filter(|key| key % 97 == 0) {
                assert_eq!(map.remove_entry(&key), tree.remove_entry(&key));
            }
            assert!(map.is_empty() && map.pieces.is_empty());
        }
    }
}
