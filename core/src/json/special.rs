//! The search for what ends a string: most of the bytes of a message are inside of strings.

/// Where the first byte is that ends a string or is not itself in it: a quote, a backslash, a control character. Eight
/// bytes at a time, as most of a message is inside of strings.
pub(super) fn special(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    // The high bit of each byte below a bound of at most 128; above the first one that is, there may be wrong ones.
    let below = |word: u64, bound: u64| word.wrapping_sub(ONES * bound) & !word & HIGH;
    let chunks = bytes.chunks_exact(8);
    let tail = chunks.remainder();
    for (index, chunk) in chunks.enumerate() {
        let word = chunk.try_into().map_or(0, u64::from_le_bytes);
        let quote = word ^ (ONES * u64::from(b'"'));
        let backslash = word ^ (ONES * u64::from(b'\\'));
        let found = below(word, 0x20) | below(quote, 1) | below(backslash, 1);
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let found = tail.iter().position(|&b| b < 0x20 || b == b'"' || b == b'\\')?;
    Some(bytes.len() - tail.len() + found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_where_each_byte_says() {
        let slow = |bytes: &[u8]| bytes.iter().position(|&b| b < 0x20 || b == b'"' || b == b'\\');
        for byte in 0..=255u8 {
            for at in 0..20 {
                let mut bytes = [b'x'; 20];
                bytes[at] = byte;
                // A second one behind it, whose bits may spill.
                for (next, other) in [(at + 1, b'"'), (at + 1, 0x80), (at + 2, 0x1f)] {
                    let mut two = bytes;
                    two.get_mut(next).into_iter().for_each(|place| *place = other);
                    assert_eq!(special(&two), slow(&two), "{two:?}");
                }
                assert_eq!(special(&bytes[..at]), None);
            }
        }
    }
}
