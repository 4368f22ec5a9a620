//! The rules of the specification, by number: each has a row in the catalogue, or one word for why it has none.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;

use libacp::rules;
use serde::Deserialize;

const PATH: &str = "xtask/rules/specification.jsonl";

/// The words, and what each says.
pub(crate) const WORDS: [(&str, &str); 3] = [
    ("host", "it is the host's affair, which no connection sees"),
    ("later", "not enforced yet"),
    ("settled", "nothing to enforce: it follows from how messages are read and sent, or another rule speaks for it"),
];

/// One rule of the specification.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Entry {
    pub(crate) id: String,
    /// The versions that have it; `draft` where it is of a draft.
    pub(crate) version: String,
    /// Why the catalogue has no row for it.
    pub(crate) word: Option<String>,
    /// The same in a sentence.
    pub(crate) why: Option<String>,
}

/// All of them, in the order of their numbers.
pub(crate) fn read() -> Result<Vec<Entry>, Box<dyn Error>> {
    let text = fs::read_to_string(PATH).map_err(|error| format!("{PATH}: {error}"))?;
    let entry = |line: &str| serde_json::from_str(line).map_err(|error| format!("{PATH}: {error}: {line}").into());
    text.lines().filter(|line| !line.is_empty()).map(entry).collect()
}

/// What is wrong with the entries.
pub(crate) fn complaints(entries: &[Entry]) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut seen = BTreeSet::new();
    for Entry { id, word, why, .. } in entries {
        if !seen.insert(id) {
            wrong.push(format!("{id} is twice in {PATH}"));
        }
        let known = word.as_ref().is_some_and(|word| WORDS.iter().any(|(known, _)| known == word));
        let reason = known && why.as_ref().is_some_and(|why| !why.is_empty());
        match rules::rule(id) {
            Some(_) if word.is_some() || why.is_some() => {
                wrong.push(format!("{id} has a row, and a word for having none"));
            }
            None if !reason => wrong.push(format!("{id} has no row in the catalogue, and no word for why")),
            _ => {}
        }
    }
    wrong
}

/// How many there are, how many of them have a row, and how many have each word.
pub(crate) fn summary(entries: &[Entry]) -> String {
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in entries {
        *words.entry(entry.word.as_deref().unwrap_or("in the catalogue")).or_default() += 1;
    }
    let own =
        rules::AREAS.iter().flat_map(|area| area.rules).filter(|rule| entries.iter().all(|entry| entry.id != rule.id));
    let counts: Vec<String> = words.iter().map(|(word, count)| format!("{count} {word}")).collect();
    format!(
        "{} rules of the specification: {}; {} of the catalogue's own",
        entries.len(),
        counts.join(", "),
        own.count()
    )
}
