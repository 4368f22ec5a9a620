//! Where the entries of a kind are found by their ids.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use super::story::NONE;

/// Hashes what is a hash already.
#[derive(Debug, Clone, Default)]
pub(super) struct Passed(u64);

impl Hasher for Passed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Never called for a number; every byte has a say nevertheless.
        self.0 = bytes.iter().fold(self.0, |all, byte| all.rotate_left(8) ^ u64::from(*byte));
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// Indexes by the hashes of ids. The ids are those of the entries: so they are kept once, and a table that grows looks at
/// none of them.
#[derive(Debug, Clone)]
pub(super) struct Shelf {
    places: HashMap<u64, u64, BuildHasherDefault<Passed>>,
    /// Those whose hash another id has. The hashes are keyed by chance, so that nobody can make many.
    clashing: Vec<u64>,
    /// The one that changed last: most often it is the next one that is looked for.
    pub(super) recent: u64,
}

impl Default for Shelf {
    fn default() -> Self {
        Shelf { places: HashMap::default(), clashing: Vec::new(), recent: NONE }
    }
}

impl Shelf {
    /// The index of the entry with this hash that is the one.
    pub(super) fn find(&self, hash: u64, is: impl Fn(u64) -> bool) -> Option<u64> {
        let place = self.places.get(&hash).copied();
        place.into_iter().chain(self.clashing.iter().copied()).find(|index| is(*index))
    }

    /// Puts an index, in the place of the one that has the same id.
    pub(super) fn put(&mut self, hash: u64, index: u64, is: impl Fn(u64) -> bool) {
        if let Some(same) = self.clashing.iter_mut().find(|index| is(**index)) {
            *same = index;
            return;
        }
        let place = self.places.entry(hash).or_insert(index);
        if is(*place) {
            *place = index;
        } else if *place != index {
            self.clashing.push(index);
        }
    }

    /// Takes an index away, if it is still there.
    pub(super) fn remove(&mut self, hash: u64, index: u64) {
        if self.places.get(&hash) == Some(&index) {
            self.places.remove(&hash);
        } else {
            self.clashing.retain(|clashing| *clashing != index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_one_hash_are_told_apart() {
        let ids = ["a", "b", "a", "c", "b"];
        let mut shelf = Shelf::default();
        let find = |shelf: &Shelf, id: &str| shelf.find(7, |index| ids[index as usize] == id);
        for (index, id) in ids.iter().enumerate() {
            shelf.put(7, index as u64, |known| known != index as u64 && ids[known as usize] == *id);
            assert_eq!(find(&shelf, id), Some(index as u64));
        }
        // Those in whose place another one is are not there.
        shelf.remove(7, 0);
        shelf.remove(7, 1);
        assert_eq!(["a", "b", "c", "d"].map(|id| find(&shelf, id)), [Some(2), Some(4), Some(3), None]);
        shelf.remove(7, 2);
        assert_eq!(["a", "b", "c"].map(|id| find(&shelf, id)), [None, Some(4), Some(3)]);
        shelf.remove(7, 4);
        shelf.remove(7, 3);
        assert_eq!(["a", "b", "c"].map(|id| find(&shelf, id)), [None; 3]);
        assert!(shelf.places.is_empty() && shelf.clashing.is_empty());
    }
}
