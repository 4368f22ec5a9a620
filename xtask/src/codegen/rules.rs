//! The rule catalogue: `core/protocol/rules.json` as rows of the core, and as constants of C.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use anyhow::{ensure, Context, Result};
use serde::Deserialize;

const PATH: &str = "core/protocol/rules.json";

/// One area of the catalogue.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Area {
    #[serde(rename = "area")]
    name: String,
    title: String,
    pub(super) rules: Vec<Rule>,
}

/// One rule.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Rule {
    pub(super) id: String,
    level: Level,
    severity: Severity,
    /// Whose messages are held to it, and whether the connection does what it says.
    held: Vec<Held>,
    /// The versions that have it; all of them where none is named.
    #[serde(default)]
    pub(super) versions: Vec<u16>,
    /// The directions that not all of these versions have, each with those that do.
    #[serde(default)]
    only: BTreeMap<Held, Vec<u16>>,
    /// The rules whose ids events carry in its place.
    #[serde(default)]
    reported_as: Vec<String>,
    pub(super) text: String,
    /// Where the specification says so, of a rule whose number is our own.
    #[serde(default)]
    source: Option<String>,
}

#[derive(Deserialize, Debug)]
enum Level {
    #[serde(rename = "MUST")]
    Must,
    #[serde(rename = "MUST NOT")]
    MustNot,
    #[serde(rename = "SHOULD")]
    Should,
    #[serde(rename = "SHOULD NOT")]
    ShouldNot,
    #[serde(rename = "MAY")]
    May,
}

#[derive(Deserialize, Debug)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Note,
    Warning,
    Error,
}

#[derive(Deserialize, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "lowercase")]
enum Held {
    Send,
    Receive,
    Track,
}

/// All areas, with what is wrong with them refused.
pub(super) fn read(known: &[u16]) -> Result<Vec<Area>> {
    let text = std::fs::read_to_string(PATH).context(PATH)?;
    let areas: Vec<Area> = serde_json::from_str(&text).context(PATH)?;
    let ids: Vec<&str> = areas.iter().flat_map(|area| &area.rules).map(|rule| &*rule.id).collect();
    let mut seen = BTreeSet::new();
    for area in &areas {
        for rule in &area.rules {
            let id = &rule.id;
            ensure!(
                id.strip_prefix(&*area.name).is_some_and(|rest| rest.starts_with('-')),
                "{PATH}: {id} in {}",
                area.name
            );
            ensure!(seen.insert(id), "{PATH}: {id} twice");
            ensure!(rule.versions.iter().all(|version| known.contains(version)), "{PATH}: {id}: an unknown version");
            ensure!(
                !rule.held.is_empty() && rule.held.is_sorted(),
                "{PATH}: {id}: send, receive, track, in this order"
            );
            for (held, versions) in &rule.only {
                let of: &[u16] = if rule.versions.is_empty() { known } else { &rule.versions };
                ensure!(
                    rule.held.contains(held) && !versions.is_empty() && versions.iter().all(|one| of.contains(one)),
                    "{PATH}: {id}: {held:?} in versions that do not have it"
                );
                ensure!(versions.len() < of.len(), "{PATH}: {id}: {held:?} in all versions needs no word");
            }
            ensure!(rule.text.ends_with('.'), "{PATH}: {id}: expected a sentence");
            ensure!(rule.source.as_ref().is_none_or(|source| !source.is_empty()), "{PATH}: {id}: an empty source");
            for other in &rule.reported_as {
                ensure!(ids.contains(&&**other), "{PATH}: {id} is reported as {other}, which is no rule");
            }
        }
    }
    Ok(areas)
}

/// The versions of a rule as Rust; none stands for all of them.
fn versions_of(versions: &[u16], known: &[u16]) -> String {
    match versions {
        [first, rest @ ..] if versions != known => {
            rest.iter().fold(format!("Versions::only({first})"), |set, version| format!("{set}.with({version})"))
        }
        _ => "Versions::ALL".to_owned(),
    }
}

/// `core/src/rules/table.rs`.
pub(super) fn file(known: &[u16]) -> Result<String> {
    let mut out = format!(
        "//! {}\n//!\n//! The rows of the catalogue.\n\n\
         use super::catalogue::{{rule, words, Area, Level, Severity, RECEIVE, SEND, TRACK}};\n\
         use super::switch::Way;\nuse crate::versions::Versions;\n\
         use Level::{{May, Must, MustNot, Should, ShouldNot}};\nuse Severity::{{Error, Note, Warning}};\n\n\
         /// Every area, in the order of the catalogue.\npub static AREAS: &[Area] = &[\n",
        super::MARK
    );
    for area in read(known)? {
        writeln!(out, "Area {{ name: {:?}, title: words({:?}), rules: &[", area.name, area.title)?;
        for rule in &area.rules {
            let held: Vec<String> = rule.held.iter().map(|held| format!("{held:?}").to_uppercase()).collect();
            let versions = versions_of(&rule.versions, known);
            let (level, severity) = (&rule.level, &rule.severity);
            write!(
                out,
                "rule({:?}, {level:?}, {severity:?}, {}, {versions}, {:?})",
                rule.id,
                held.join(" | "),
                rule.text
            )?;
            if !rule.only.is_empty() {
                let only = |(held, of): (&Held, &Vec<u16>)| format!("(Way::{held:?}, {})", versions_of(of, known));
                write!(out, ".only(&[{}])", rule.only.iter().map(only).collect::<Vec<_>>().join(", "))?;
            }
            if !rule.reported_as.is_empty() {
                write!(out, ".reported_as(&{:?})", rule.reported_as)?;
            }
            out.push_str(",\n");
        }
        out.push_str("] },\n");
    }
    out.push_str("];\n");
    Ok(out)
}
