//! The search for the end of a string. Most bytes of a message are inside strings.

/// The position of the first byte from `at` on that ends a string or is escaped in it: a quote, a backslash, a control
/// character. The end of the text if there is none. Examines eight bytes at a time.
#[inline]
pub(super) fn find_string_end(bytes: &[u8], at: usize) -> usize {
    let mut rest = bytes.get(at..).unwrap_or_default();
    while let Some((chunk, behind)) = rest.split_first_chunk() {
        let found = marks(u64::from_le_bytes(*chunk));
        if found != 0 {
            return bytes.len() - rest.len() + found.trailing_zeros() as usize / 8;
        }
        rest = behind;
    }
    let left = rest.len();
    match bytes.last_chunk() {
        Some(_) if left == 0 => bytes.len(),
        // The last eight bytes without those already examined. The zeros after them stop the search at the end.
        Some(chunk) => {
            let word = u64::from_le_bytes(*chunk) >> (8 * (8 - left));
            bytes.len() - left + marks(word).trailing_zeros() as usize / 8
        }
        None => {
            let stop = rest.iter().position(|&b| b < 0x20 || b == b'"' || b == b'\\');
            bytes.len() - left + stop.unwrap_or(left)
        }
    }
}

/// The high bit of each such byte. Above the first one there may be false ones.
#[inline]
const fn marks(word: u64) -> u64 {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    let control = word.wrapping_sub(ONES * 0x20);
    let quote = (word ^ (ONES * b'"' as u64)).wrapping_sub(ONES);
    let backslash = (word ^ (ONES * b'\\' as u64)).wrapping_sub(ONES);
    (control | quote | backslash) & !word & HIGH
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_where_each_byte_says() {
        let slow = |bytes: &[u8], at: usize| {
            let found = bytes[at..].iter().position(|&b| b < 0x20 || b == b'"' || b == b'\\');
            found.map_or(bytes.len(), |found| at + found)
        };
        for byte in 0..=255u8 {
            for at in 0..20 {
                let mut bytes = [b'x'; 20];
                bytes[at] = byte;
                // A second one behind it, whose bits may spill.
                for (next, other) in [(at + 1, b'"'), (at + 1, 0x80), (at + 2, 0x1f)] {
                    let mut two = bytes;
                    two.get_mut(next).into_iter().for_each(|place| *place = other);
                    for from in 0..=20 {
                        assert_eq!(find_string_end(&two, from), slow(&two, from), "{two:?} {from}");
                    }
                }
                for from in 0..=at {
                    assert_eq!(find_string_end(&bytes[from..at], 0), at - from);
                }
            }
        }
    }
}
