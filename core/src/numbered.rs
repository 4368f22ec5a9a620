//! Maps whose keys this side counts up, which nobody else chooses.
//!
//! The standard library's hasher withstands keys that are chosen to collide, and takes longer for it than all the rest of a
//! lookup. A message over a socket makes some thirty of them.

use std::collections::HashMap;
#[cfg(not(target_family = "wasm"))]
use std::hash::BuildHasherDefault;
use std::hash::Hasher;

/// A map by a number of this side. Browsers download one hasher, which they need for other keys.
#[cfg(not(target_family = "wasm"))]
pub(crate) type Numbered<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;
#[cfg(target_family = "wasm")]
pub(crate) type Numbered<K, V> = HashMap<K, V>;

/// Spreads one number over all bits of the hash.
#[cfg_attr(target_family = "wasm", allow(dead_code))]
#[derive(Debug, Default)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write_u64(&mut self, number: u64) {
        // Odd, so that no two numbers share a hash; two to the 64th divided by the golden ratio, so that neighbours are far
        // apart in the high bits as well.
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::{BuildHasher, BuildHasherDefault};

    use super::*;

    #[test]
    fn neighbours_differ_in_the_bits_that_a_map_looks_at() {
        let hash = |number: u64| BuildHasherDefault::<NumberHasher>::default().hash_one(number);
        for first in [0, 1 << 32, u64::MAX - 127] {
            let low: HashSet<_> = (0..128).map(|more| hash(first + more) & 127).collect();
            let high: HashSet<_> = (0..128).map(|more| hash(first + more) >> 57).collect();
            assert_eq!(low.len(), 128);
            assert!(high.len() > 64, "{}", high.len());
        }
    }

    #[test]
    fn all_bytes_of_another_key_count() {
        let hash = |key: &str| BuildHasherDefault::<NumberHasher>::default().hash_one(key);
        assert_ne!(hash("ab"), hash("ba"));
    }
}
