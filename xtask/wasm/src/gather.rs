//! Puts constants that resemble each other next to each other, as `order` does with functions.
//!
//! The compiler leaves texts, and tables of texts, in the order in which the program mentions them, and texts in between tables
//! say nothing about what comes next. So texts stand before everything else, sorted, and tables are sorted by what is zero in
//! their first bytes, which is alike in rows of one type.

use std::ops::Range;

/// The bytes that tell what a table is one of.
const HEAD: usize = 16;
/// Alignments above are none that the compiler has need of.
const ALIGNED: usize = 16;

/// Constants of a segment: where they were, and where they begin now.
pub(crate) type Moves = Vec<(Range<usize>, usize)>;

/// Moves constants that stand in these places of a segment; the rest of it is dropped. What had an alignment keeps it.
pub(crate) fn moves(segment: &[u8], base: usize, mut used: Vec<Range<usize>>) -> Moves {
    used.retain(|range| !range.is_empty());
    used.sort_by_key(|range| (range.start, range.end));
    // What overlaps stays together.
    let mut parts: Vec<Range<usize>> = Vec::new();
    for range in used {
        match parts.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => parts.push(range),
        }
    }
    parts.sort_by_cached_key(|part| rank(&segment[part.clone()]));
    let mut next = 0;
    let place = |part: Range<usize>| {
        let alignment = lowest(base + part.start).min(lowest(part.len())).min(ALIGNED);
        let begin = (base + next).next_multiple_of(alignment) - base;
        next = begin + part.len();
        (part, begin)
    };
    parts.into_iter().map(place).collect()
}

/// By what a constant is sorted.
fn rank(constant: &[u8]) -> (bool, bool, Vec<u8>) {
    let visible = constant.iter().filter(|byte| matches!(byte, b' '..=b'~')).count();
    if 10 * visible >= 9 * constant.len() {
        (false, constant.contains(&b' '), constant.to_vec())
    } else {
        (true, false, constant.iter().take(HEAD).map(|byte| u8::from(*byte == 0)).collect())
    }
}

/// The lowest bit that is set.
fn lowest(number: usize) -> usize {
    1 << number.trailing_zeros().min(30)
}

/// Where a place is now; it stays if nothing has moved it.
pub(crate) fn moved(moves: &Moves, place: usize) -> usize {
    let of = moves.iter().find(|(part, _)| part.contains(&place));
    of.map_or(place, |(part, begin)| begin + place - part.start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_resembles_stands_together() {
        let segment = b"\x01\0\0\0zwei\0\0\0\x02\0\0\0einsab";
        let used = vec![0..4, 4..8, 11..15, 15..19, 18..20, 20..21, 21..21];
        let moves = moves(segment, 100, used);
        // What overlaps is one text; the number at 11 was not aligned, and that at 0 stays so.
        assert_eq!(moves, [(20..21, 0), (15..20, 1), (4..8, 8), (0..4, 12), (11..15, 16)]);
        assert_eq!([0, 6, 16, 8].map(|place| moved(&moves, place)), [12, 10, 2, 8]);
    }
}
