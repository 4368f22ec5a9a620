//! C: the protocol's words and numbers as macros, so that hosts compare and send them without typing them.
//!
//! Macros rather than constants: they join with other literals, and `sizeof` knows their length. A word that several
//! versions have is there once; a remark says where it is not in all, or only in a draft.

use std::fmt::Write as _;

use anyhow::{ensure, Result};
use indexmap::IndexMap;

use super::about::wrap;
use super::{rules, MARK};
use crate::model::{Flat, Kind, Model, Sender, Shape, DRAFTS};

/// Types whose tags or values become constants: what their names start with, the type, and what they are.
const WORDS: [(&str, &[&str], &str); 20] = [
    ("UPDATE", &["SessionUpdate"], "Kinds of session updates (`sessionUpdate`)"),
    ("STOP", &["StopReason", "IdleStateUpdate"], "Why a turn ended (`stopReason`)"),
    ("STATE", &["StateUpdate"], "What a session is doing (`state`)"),
    ("CONTENT", &["ContentBlock"], "Types of content blocks"),
    ("TOOL_KIND", &["ToolKind"], "Kinds of tool calls"),
    ("TOOL_STATUS", &["ToolCallStatus"], "States of tool calls"),
    ("TOOL_CONTENT", &["ToolCallContent"], "Types of tool call content"),
    ("PERMISSION", &["PermissionOptionKind"], "Kinds of permission options"),
    ("PERMISSION_SUBJECT", &["RequestPermissionSubject"], "Subjects of permission requests"),
    ("OUTCOME", &["RequestPermissionOutcome"], "Outcomes of permission requests"),
    ("PLAN_PRIORITY", &["PlanEntryPriority"], "Priorities of a plan's entries"),
    ("PLAN_STATUS", &["PlanEntryStatus"], "States of a plan's entries"),
    ("PLAN_CONTENT", &["PlanUpdateContent"], "Forms of plans"),
    ("ROLE", &["Role"], "Roles"),
    ("MCP_SERVER", &["McpServer"], "Transports of MCP servers"),
    ("AUTH_METHOD", &["AuthMethod"], "Types of authentication methods"),
    ("CONFIG_OPTION", &["SessionConfigOption"], "Types of configuration options"),
    ("CONFIG_CATEGORY", &["SessionConfigOptionCategory"], "Categories of configuration options"),
    ("ELICITATION_MODE", &["CreateElicitationRequest"], "Modes of elicitation"),
    ("ELICITATION_ACTION", &["CreateElicitationResponse"], "Answers to elicitation"),
];

/// A constant: its value, its sentence, the versions that have it, and its draft.
#[derive(Default)]
struct Word {
    value: String,
    doc: Option<String>,
    versions: Vec<u16>,
    draft: Option<String>,
}

/// Constants by name.
type Words = IndexMap<String, Word>;

/// `include/acp_constants.h`.
pub(super) fn file(model: &Model) -> Result<String> {
    let mut out = format!(
        "/* {MARK} */\n\n\
         /* The strings and numbers of the Agent Client Protocol. Each string is a literal, so its length is\n   \
            `sizeof NAME - 1`. They can be compared with the values in messages, and written into messages. */\n\n\
         #ifndef ACP_CONSTANTS_H\n#define ACP_CONSTANTS_H\n\n/* Versions of the protocol */\n\n"
    );
    for version in &model.versions {
        let _ = writeln!(out, "#define ACP_PROTOCOL_V{0} {0}", version.number);
    }
    let all: Vec<u16> = model.versions.iter().map(|version| version.number).collect();
    section(&mut out, "Methods", &methods(model)?, &all);
    for (prefix, types, title) in WORDS {
        let words = words(model, prefix, types)?;
        ensure!(!words.is_empty(), "no version has any of the types {types:?}, of which C takes constants");
        section(&mut out, title, &words, &all);
    }
    out.push_str("\n/* Names of the drafts, for acp_config_set_draft */\n\n");
    for draft in DRAFTS {
        let _ = writeln!(out, "#define ACP_DRAFT_{} \"{draft}\"", upper(draft));
    }
    section(&mut out, "Ids of rules, as events and refused calls carry them", &rules(&all)?, &all);
    out.push_str(
        "\n/* Error codes of the protocol and of JSON-RPC. Peers may also use others. */\nenum acp_error_code {\n",
    );
    let codes = codes(model)?;
    for (i, (name, word)) in codes.iter().enumerate() {
        remark(&mut out, "    ", word, &all);
        let comma = if i + 1 == codes.len() { "" } else { "," };
        let _ = writeln!(out, "    {name} = {}{comma}", word.value);
    }
    out.push_str("};\n\n#endif /* ACP_CONSTANTS_H */\n");
    Ok(out)
}

/// The ids of the catalogue's rules. `cargo xtask rules` writes the list, because only the compiled core knows it.
fn rules(all: &[u16]) -> Result<Words> {
    let mut words = Words::new();
    for rule in rules::read(all)?.into_iter().flat_map(|area| area.rules) {
        let versions = if rule.versions.is_empty() { all.to_vec() } else { rule.versions };
        let name = format!("ACP_RULE_{}", upper(&rule.id));
        words.insert(name, Word { value: rule.id, doc: Some(rule.text), versions, draft: None });
    }
    Ok(words)
}

fn methods(model: &Model) -> Result<Words> {
    let mut words = Words::new();
    for version in &model.versions {
        for (name, method) in &version.methods {
            let kind = match method.kind {
                Kind::Request => "request",
                Kind::Notification => "notification",
                Kind::Both => "request or notification",
            };
            let from = match method.from {
                Sender::Client => "From the client",
                Sender::Agent => "From the agent",
                Sender::Both => "From either side",
            };
            let from = format!("{from}, {kind}.");
            let doc = method.doc.as_ref().map_or_else(|| from.clone(), |doc| format!("{doc} {from}"));
            let name = (format!("ACP_METHOD_{}", upper(name)), name.as_str());
            add(&mut words, name, Some(doc), version.number, method.draft.as_ref())?;
        }
    }
    Ok(words)
}

fn words(model: &Model, prefix: &str, types: &[&str]) -> Result<Words> {
    let mut words = Words::new();
    for version in &model.versions {
        for def in types.iter().filter_map(|name| version.types.get(*name)) {
            match &def.shape {
                Shape::Enum { values, .. } => {
                    for (value, word) in values {
                        let doc = Some(word.doc.clone()).filter(|doc| !doc.is_empty());
                        let name = (format!("ACP_{prefix}_{}", upper(value)), value.as_str());
                        add(&mut words, name, doc, version.number, def.draft.as_ref())?;
                    }
                }
                Shape::Union(union) | Shape::Object { flat: Some(Flat::Union(union)), .. } => {
                    for (tag, variant) in &union.variants {
                        let draft = variant.draft.as_ref().or(def.draft.as_ref());
                        let name = (format!("ACP_{prefix}_{}", upper(tag)), tag.as_str());
                        add(&mut words, name, variant.doc.clone(), version.number, draft)?;
                    }
                }
                _ => {}
            }
        }
    }
    Ok(words)
}

fn codes(model: &Model) -> Result<Words> {
    let mut words = Words::new();
    for version in &model.versions {
        let codes = version.types.values().filter_map(|def| match &def.shape {
            Shape::Codes(codes) => Some(codes),
            _ => None,
        });
        for (number, code) in codes.flatten() {
            let name = (format!("ACP_CODE_{}", upper(&code.name)), number.as_str());
            add(&mut words, name, code.doc.clone(), version.number, None)?;
        }
    }
    Ok(words)
}

/// Adds a word, or the version to the word that is there. A draft in one version only is not one.
fn add(
    words: &mut Words,
    (name, value): (String, &str),
    doc: Option<String>,
    version: u16,
    draft: Option<&String>,
) -> Result<()> {
    let new = !words.contains_key(&name);
    let word = words.entry(name.clone()).or_default();
    ensure!(new || word.value == value, "{name} would be both {} and {value}", word.value);
    value.clone_into(&mut word.value);
    word.doc = word.doc.take().or(doc);
    if !word.versions.contains(&version) {
        word.versions.push(version);
    }
    word.draft = if new { draft.cloned() } else { word.draft.take().filter(|_| draft.is_some()) };
    Ok(())
}

fn section(out: &mut String, title: &str, words: &Words, all: &[u16]) {
    let _ = write!(out, "\n/* {title} */\n\n");
    for (name, word) in words {
        remark(out, "", word, all);
        let _ = writeln!(out, "#define {name} \"{}\"", word.value);
    }
}

/// Writes what is to be said about a word above it.
fn remark(out: &mut String, indent: &str, word: &Word, all: &[u16]) {
    let mut text = word.doc.clone().unwrap_or_default();
    if word.versions != all {
        let versions: Vec<String> = word.versions.iter().map(|version| format!("v{version}")).collect();
        let _ = write!(text, " Only in {}.", versions.join(", "));
    }
    if let Some(draft) = &word.draft {
        let _ = write!(text, " Draft {draft}.");
    }
    let text = text.trim().replace("*/", "* /").replace("/*", "/ *");
    if !text.is_empty() {
        let lines = wrap(&text, 106);
        let _ = writeln!(out, "{indent}/* {} */", lines.join(&format!("\n{indent}   ")));
    }
}

/// `UPPER_CASE` of a word as the protocol writes it.
fn upper(text: &str) -> String {
    let mut out = String::new();
    let mut low = false;
    for c in text.chars() {
        let word = !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && low);
        if word && !out.is_empty() && !out.ends_with('_') {
            out.push('_');
        }
        if c.is_ascii_alphanumeric() {
            out.push(c.to_ascii_uppercase());
        }
        low = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_constants() {
        assert_eq!(upper("session/set_config_option"), "SESSION_SET_CONFIG_OPTION");
        assert_eq!(upper("$/cancel_request"), "CANCEL_REQUEST");
        assert_eq!(upper("document/didOpen"), "DOCUMENT_DID_OPEN");
    }

    #[test]
    fn keeps_the_draft_of_a_word_only_where_every_version_says_so() {
        let draft = "plan_operations".to_owned();
        let mut words = Words::new();
        add(&mut words, ("A".to_owned(), "a"), None, 1, Some(&draft)).unwrap();
        add(&mut words, ("A".to_owned(), "a"), None, 2, None).unwrap();
        assert_eq!((words["A"].draft.as_ref(), words["A"].versions.as_slice()), (None, [1, 2].as_slice()));
        assert!(add(&mut words, ("A".to_owned(), "b"), None, 2, None).is_err());
    }
}
