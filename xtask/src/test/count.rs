//! Counts in the logs of test runners.

use std::ops::Add;

/// How many tests did what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Count {
    pub(super) passed: u64,
    pub(super) failed: u64,
}

impl Add for Count {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Count { passed: self.passed + other.passed, failed: self.failed + other.failed }
    }
}

/// Sums the closing lines of a log: cargo's `test result: ok. 3 passed; 0 failed; …`, and `3 passed, 0 failed` of all
/// other runners.
pub(super) fn read(log: &str) -> Count {
    log.lines().filter_map(closing_line).fold(Count::default(), Add::add)
}

fn closing_line(line: &str) -> Option<Count> {
    let words: Vec<&str> = line.split_whitespace().collect();
    words.windows(4).find_map(|window| match window {
        [passed, "passed;" | "passed,", failed, word] if word.trim_end_matches([';', ',']) == "failed" => {
            Some(Count { passed: passed.parse().ok()?, failed: failed.parse().ok()? })
        }
        _ => None,
    })
}

/// Lines that a suite wants shown: figures to be read by people.
pub(super) fn notes(log: &str) -> impl Iterator<Item = &str> {
    log.lines().filter_map(|line| line.strip_prefix("note: ")).filter(|note| !note.contains("RUST_BACKTRACE"))
}

/// Where tests of Rust panicked, and with what: with many binaries that is far above the end of the log.
pub(super) fn panics(log: &str) -> impl Iterator<Item = &str> {
    let lines = log.lines().zip(log.lines().skip(1));
    lines
        .filter(|(line, _)| line.starts_with("thread '") && line.contains(" panicked at "))
        .flat_map(|(line, next)| [line, next])
}

/// How many scenarios a language says it has replayed.
pub(super) fn replayed(log: &str) -> impl Iterator<Item = (String, u64)> + '_ {
    notes(log).filter_map(|note| {
        let (language, count) = note.strip_prefix("vectors replayed in ")?.split_once(": ")?;
        Some((language.to_owned(), count.parse().ok()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replayed_vectors_are_counted_by_language() {
        let log = "note: vectors replayed in C: 12\nnote: wheel 1.2 MB\nvectors replayed in C: 3\n";
        assert_eq!(replayed(log).collect::<Vec<_>>(), [("C".to_owned(), 12)]);
    }

    #[test]
    fn closing_lines_are_summed() {
        let log = "running 2 tests\ntest result: ok. 2 passed; 0 failed; 1 ignored; 0 measured\n\
                   vectors: 200 passed, 3 failed\n5 passed, 0 failed\n1 passed but odd\npassed, failed\n";
        assert_eq!(read(log), Count { passed: 207, failed: 3 });
        assert_eq!(read(""), Count::default());
    }

    #[test]
    fn panics_are_found_with_what_they_say() {
        let log = "running 1 test\nthread 'each' (7) panicked at a.rs:1:2:\nit did not come to this\nnote: x\n";
        let found: Vec<_> = panics(log).collect();
        assert_eq!(found, ["thread 'each' (7) panicked at a.rs:1:2:", "it did not come to this"]);
    }

    #[test]
    fn notes_are_figures_only() {
        let log = "note: wheel 1.2 MB\nnote: run with `RUST_BACKTRACE=1`\nother\n";
        assert_eq!(notes(log).collect::<Vec<_>>(), ["wheel 1.2 MB"]);
    }
}
