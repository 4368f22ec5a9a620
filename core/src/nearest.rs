//! Suggestions for misspelt words.

/// Longer words are unlikely to be typing mistakes, and slow to compare.
const LONGEST: usize = 64;

/// The word of a list that is closest to a word that is not in it, if any is close enough.
pub(crate) fn nearest<'w>(word: &str, words: impl IntoIterator<Item = &'w str>) -> Option<&'w str> {
    if word.len() > LONGEST {
        return None;
    }
    let folded = fold(word);
    let near = words.into_iter().map(|known| (distance(&folded, &fold(known)), known));
    let (distance, known) = near.min_by_key(|(distance, _)| *distance)?;
    // Any word of three letters differs from many others in just one.
    (distance <= (folded.len() / 4).clamp(usize::from(folded.len() > 2), 3)).then_some(known)
}

/// Removes what differs more often than letters do: case, underscores and hyphens.
fn fold(word: &str) -> Vec<u8> {
    word.bytes().filter(|byte| !b"_-".contains(byte)).map(|byte| byte.to_ascii_lowercase()).collect()
}

/// How many letters must be inserted, deleted, replaced or swapped with their neighbour.
fn distance(one: &[u8], other: &[u8]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let mut least = (above[j] + usize::from(a != b)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[other.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn the_nearest_word_is_found_and_no_far_one() {
        let words = ["sessionId", "prompt", "_meta", "read", "text", "cwd"];
        for (word, meant) in [
            ("session_id", Some("sessionId")),
            ("SessionID", Some("sessionId")),
            ("promt", Some("prompt")),
            ("porm", None),
            ("pormpt", Some("prompt")),
            ("txt", Some("text")),
            ("reed", Some("read")),
            ("priority", None),
            ("", None),
            ("x", None),
            ("cd", None),
        ] {
            assert_eq!(nearest(word, words), meant, "{word}");
        }
        assert_eq!(nearest(&"prompt".repeat(20), words), None);
        assert_eq!(nearest("prompt", []), None);
    }
}
