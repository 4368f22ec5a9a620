//! Whether the constants in `include/acp_constants.h` are those of the catalogue.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;

use libacp::rules::{Rule, AREAS};

const HEADER: &str = "include/acp_constants.h";

fn rules() -> impl Iterator<Item = &'static Rule> {
    AREAS.iter().flat_map(|area| area.rules)
}

/// Where the lists of ids differ: the catalogue's, and that of the C header. Bindings ask the catalogue itself, and the
/// page is written from it.
pub(crate) fn complaints() -> Result<Vec<String>, Box<dyn Error>> {
    let header = fs::read_to_string(HEADER).map_err(|error| format!("{HEADER}: {error}"))?;
    let words = header.lines().filter_map(|line| line.strip_prefix("#define ACP_RULE_")?.split_once(' '));
    let mut theirs: BTreeMap<&str, &str> = words.map(|(name, value)| (value.trim_matches('"'), name)).collect();
    let missing = rules().filter(|rule| theirs.remove(rule.id) != Some(&*rule.id.replace('-', "_")));
    let mut wrong: Vec<String> =
        missing.map(|rule| format!("{HEADER} lacks {}; run `cargo xtask codegen`", rule.id)).collect();
    wrong.extend(theirs.keys().map(|id| format!("{HEADER} has {id}, which is no rule; run `cargo xtask codegen`")));
    Ok(wrong)
}
