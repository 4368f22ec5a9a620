//! The rules of the specification, by number: each has a row in the catalogue, or one word for why it has none.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;

use libacp::connection::Versions;
use libacp::rules::{self, AREAS};
use serde::Deserialize;

const PATH: &str = "xtask/rules/specification.jsonl";

/// The words, and what each says.
pub(crate) const WORDS: [(&str, &str); 6] = [
    ("host", "it concerns the host, and a connection cannot see it"),
    ("transport", "it concerns HTTP or WebSocket, which carry messages outside of the connection"),
    ("proxies", "it concerns proxy chains, which consist of several connections"),
    ("bridge", "it concerns bridges between connections of different versions"),
    ("registry", "it concerns the agent registry, whose entries are not messages"),
    ("settled", "nothing to enforce: it follows from how messages are read and sent, or another rule covers it"),
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

/// How they add up: how many are enforced, and how many are left to each word; all of them, then those of each version
/// and those of drafts, which are enforced in one version or in both.
pub(crate) fn summary(entries: &[Entry]) -> Vec<String> {
    let mut lines = vec![sum("the specification", &entries.iter().collect::<Vec<_>>(), None)];
    for version in versions() {
        let word = format!("v{version}");
        let mine: Vec<_> = entries.iter().filter(|entry| entry.version == word || entry.version == "both").collect();
        lines.push(sum(&format!("version {version}"), &mine, Some(version)));
    }
    let drafts: Vec<_> = entries.iter().filter(|entry| entry.version == "draft").collect();
    for version in versions() {
        lines.push(sum(&format!("drafts, in version {version}"), &drafts, Some(version)));
    }
    let own: Vec<_> = AREAS
        .iter()
        .flat_map(|area| area.rules)
        .filter(|rule| entries.iter().all(|entry| entry.id != rule.id))
        .collect();
    let of = |version: u16| own.iter().filter(|rule| rule.versions.contains(version)).count();
    let by_version: Vec<String> = versions().map(|version| format!("{} of version {version}", of(version))).collect();
    lines.push(format!("{} more rules that the catalogue has by itself: {}", own.len(), by_version.join(", ")));
    lines
}

/// One line: so many rules, of which so many are enforced in a version, or in any.
fn sum(of: &str, entries: &[&Entry], version: Option<u16>) -> String {
    let mut words: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut enforced, mut elsewhere) = (0, 0);
    for entry in entries {
        match (rules::rule(&entry.id), version) {
            (Some(rule), Some(version)) if !rule.versions.contains(version) => elsewhere += 1,
            (Some(_), _) => enforced += 1,
            (None, _) => *words.entry(entry.word.as_deref().unwrap_or("without a word")).or_default() += 1,
        }
    }
    let order = |word: &&str| WORDS.iter().position(|(known, _)| known == word);
    let mut left: Vec<(&str, usize)> = words.into_iter().collect();
    left.sort_by_key(|(word, _)| order(word));
    let mut parts = vec![format!("{enforced} enforced")];
    parts.extend((elsewhere > 0).then(|| format!("{elsewhere} enforced in another version alone")));
    parts.extend(left.iter().map(|(word, count)| format!("{count} {word}")));
    format!("{} rules of {of}: {}", entries.len(), parts.join(", "))
}

/// The versions that the library speaks, oldest first.
fn versions() -> impl Iterator<Item = u16> {
    (1..=Versions::ALL.newest()).filter(|version| Versions::ALL.contains(*version))
}
