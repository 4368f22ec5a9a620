//! How many scenarios of the vectors each language has replayed: the same in all, or a runner has lost some.

use std::collections::BTreeMap;

use super::count;

/// The suites that replay the vectors, and in which language.
const LANGUAGES: &[(&str, &str)] = &[("rust", "Rust"), ("c", "C"), ("python", "Python"), ("node", "JavaScript")];

/// What the suites' logs say, by suite and language: a suite may replay them more than once.
#[derive(Default)]
pub(super) struct Replayed(BTreeMap<(&'static str, String), Vec<u64>>);

impl Replayed {
    /// Takes the counts from the log of a suite.
    pub(super) fn add(&mut self, suite: &'static str, log: &str) {
        for (language, count) in count::replayed(log) {
            self.0.entry((suite, language)).or_default().push(count);
        }
    }

    /// The counts in one line and whether they agree, where any of these suites replays vectors.
    pub(super) fn summary(&self, suites: &[&'static str]) -> Option<(String, bool)> {
        let wanted: Vec<_> = LANGUAGES.iter().filter(|(suite, _)| suites.contains(suite)).collect();
        let counts = |&&(suite, language): &&(&'static str, &str)| {
            let counts = self.0.get(&(suite, language.to_owned())).map(Vec::as_slice).unwrap_or_default();
            let all: Vec<String> = counts.iter().map(u64::to_string).collect();
            format!("{language} {}", if all.is_empty() { "none".to_owned() } else { all.join(" and ") })
        };
        let cells: Vec<String> = wanted.iter().map(counts).collect();
        let mut all = self.0.values().flatten();
        let first = all.next();
        let complete = wanted.iter().all(|(suite, language)| self.0.contains_key(&(*suite, (*language).to_owned())));
        let agree = complete && all.all(|count| Some(count) == first);
        (!cells.is_empty()).then(|| (format!("vectors replayed: {}", cells.join(", ")), agree))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(logs: &[(&'static str, &str)], suites: &[&'static str]) -> Option<(String, bool)> {
        let mut replayed = Replayed::default();
        for (suite, log) in logs {
            replayed.add(suite, log);
        }
        replayed.summary(suites)
    }

    #[test]
    fn counts_agree_or_fail() {
        let (rust, c) = (("rust", "note: vectors replayed in Rust: 7\n"), ("c", "note: vectors replayed in C: 7\n"));
        let right = ("vectors replayed: Rust 7, C 7".to_owned(), true);
        assert_eq!(summary(&[rust, c], &["rust", "c", "readme"]), Some(right));
        let less = ("c", "note: vectors replayed in C: 6\n");
        assert_eq!(summary(&[rust, less], &["rust", "c"]), Some(("vectors replayed: Rust 7, C 6".to_owned(), false)));
        let lacking = ("vectors replayed: Rust 7, C none".to_owned(), false);
        assert_eq!(summary(&[rust], &["rust", "c"]), Some(lacking));
        let again = ("c-sanitized", "note: vectors replayed in C: 6\n");
        assert!(!summary(&[rust, c, again], &["rust", "c", "c-sanitized"]).unwrap().1);
        assert_eq!(summary(&[], &["readme"]), None);
    }
}
