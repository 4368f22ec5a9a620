//! The ordered keys of a map, each with the number of its value's place. This larger half of a map does not depend on
//! the type of the values, so a program has its code once for each type of keys.

use std::borrow::Borrow;

/// The largest number of keys in a piece.
pub(super) const LONGEST: usize = 512;

/// A piece and an index into it.
pub(crate) type At = (usize, usize);

type Piece<K> = Vec<(K, u32)>;

#[derive(Debug, Clone)]
pub(super) struct Keys<K> {
    /// No piece is empty, and two neighbours together have more than half of [`LONGEST`] keys.
    pub(super) pieces: Vec<Piece<K>>,
    len: usize,
    /// The places of values that were removed, for reuse.
    pub(super) free: Vec<u32>,
    /// The number of places, used and free.
    places: u32,
}

impl<K> Default for Keys<K> {
    fn default() -> Self {
        Keys { pieces: Vec::new(), len: 0, free: Vec::new(), places: 0 }
    }
}

impl<K> Keys<K> {
    pub(super) fn len(&self) -> usize {
        self.len
    }

    pub(super) fn iter(&self) -> Iter<'_, K> {
        Iter { pieces: &self.pieces, at: 0 }
    }

    pub(super) fn value_at(&self, (piece, at): At) -> u32 {
        self.pieces[piece][at].1
    }

    pub(super) fn key_at(&self, (piece, at): At) -> &K {
        &self.pieces[piece][at].0
    }

    #[inline(never)]
    pub(super) fn retain(&mut self, keep: &mut dyn FnMut(&K, u32) -> bool) {
        let pieces = std::mem::take(&mut self.pieces);
        self.len = 0;
        for (key, value) in pieces.into_iter().flatten() {
            if keep(&key, value) {
                self.push(key, value);
            } else {
                self.free.push(value);
            }
        }
    }

    /// Appends a key that comes after all others.
    fn push(&mut self, key: K, value: u32) {
        self.len += 1;
        match self.pieces.last_mut() {
            Some(piece) if piece.len() < LONGEST => piece.push((key, value)),
            _ => self.pieces.push(vec![(key, value)]),
        }
    }

    /// Inserts a new key at its place.
    fn insert(&mut self, (mut piece, mut at): At, key: K, value: u32) {
        if self.pieces.is_empty() {
            return self.push(key, value);
        }
        if self.pieces[piece].len() == LONGEST {
            let half = LONGEST / 2;
            let rest = self.pieces[piece].split_off(half);
            self.pieces.insert(piece + 1, rest);
            if at > half {
                (piece, at) = (piece + 1, at - half);
            }
        }
        self.pieces[piece].insert(at, (key, value));
        self.len += 1;
    }

    #[inline(never)]
    pub(super) fn remove(&mut self, (piece, at): At) -> (K, u32) {
        let entry = self.pieces[piece].remove(at);
        self.free.push(entry.1);
        self.len -= 1;
        if self.pieces[piece].is_empty() {
            self.pieces.remove(piece);
        } else {
            self.join(piece);
        }
        self.join(piece.saturating_sub(1));
        entry
    }

    /// Joins two neighbouring pieces that have become short.
    fn join(&mut self, first: usize) {
        let Some(second) = self.pieces.get(first + 1) else { return };
        if self.pieces[first].len() + second.len() <= LONGEST / 2 {
            let mut second = self.pieces.remove(first + 1);
            self.pieces[first].append(&mut second);
        }
    }

    /// The place of a key's value, and whether the key is new.
    #[inline(never)]
    pub(super) fn enter(&mut self, key: K) -> (usize, bool)
    where
        K: Ord,
    {
        let at = match self.place(&key) {
            Ok(at) => return (self.value_at(at) as usize, false),
            Err(at) => at,
        };
        let place = self.free.pop().unwrap_or_else(|| {
            self.places += 1;
            self.places - 1
        });
        self.insert(at, key, place);
        (place as usize, true)
    }

    /// Where a key is (`Ok`), or where it would be inserted (`Err`).
    #[inline(never)]
    pub(super) fn place<Q: Ord + ?Sized>(&self, key: &Q) -> Result<At, At>
    where
        K: Borrow<Q>,
    {
        // The last piece that does not begin behind it. Most maps have one.
        let piece = match self.pieces.len() {
            0 | 1 => 0,
            _ => self.pieces.partition_point(|piece| piece[0].0.borrow() <= key).saturating_sub(1),
        };
        let keys = self.pieces.get(piece).map_or(&[][..], Vec::as_slice);
        let at = keys.binary_search_by(|(known, _)| known.borrow().cmp(key));
        at.map(|at| (piece, at)).map_err(|at| (piece, at))
    }

    /// The keys from a key on, in order.
    pub(super) fn from<Q: Ord + ?Sized>(&self, key: &Q) -> Iter<'_, K>
    where
        K: Borrow<Q>,
    {
        let (Ok((piece, at)) | Err((piece, at))) = self.place(key);
        Iter { pieces: self.pieces.get(piece..).unwrap_or_default(), at }
    }
}

/// The keys in order, with the places of their values.
#[derive(Debug, Clone)]
pub(super) struct Iter<'a, K> {
    pieces: &'a [Piece<K>],
    at: usize,
}

impl<'a, K> Iterator for Iter<'a, K> {
    type Item = (&'a K, u32);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (piece, rest) = self.pieces.split_first()?;
            if let Some((key, value)) = piece.get(self.at) {
                self.at += 1;
                return Some((key, *value));
            }
            (self.pieces, self.at) = (rest, 0);
        }
    }
}
