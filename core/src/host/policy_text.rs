//! The JSON text of a permission policy, and what is wrong with one.

use std::borrow::Cow;
use std::fmt;

use super::paths::Pattern;
use super::permissions::{Action, PermissionPolicy, Rule};
use crate::json::{self, Kind, Scanner, MAX_DEPTH};
use crate::nearest::nearest;

/// The kinds of tools that the specification has.
const KINDS: &[&str] =
    &["read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"];
const ACTIONS: &[&str] = &["allow", "deny", "ask"];
const MEMBERS: &[&str] = &["rules", "otherwise"];
const RULE: &[&str] = &["action", "kind", "tool", "path", "inRoots"];

/// What is wrong with the text of a policy: where, and what was expected there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyError {
    /// The place as a JSON pointer.
    pub pointer: String,
    /// What was expected.
    pub message: String,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.pointer.is_empty() { "the policy" } else { &self.pointer };
        write!(f, "{place}: {}", self.message)
    }
}

impl std::error::Error for PolicyError {}

fn wrong(pointer: impl Into<String>, message: impl Into<String>) -> PolicyError {
    PolicyError { pointer: pointer.into(), message: message.into() }
}

/// What was expected in the place of a word. `more` says what else there may be.
fn one_of(word: &str, known: &[&str], more: &str) -> String {
    let expected = format!("expected one of {}{more}", known.join(", "));
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("{expected}; did you mean {near}?"),
        None => expected,
    }
}

/// The members of an object, each of which must be known and stand there once.
fn members<'t>(text: &'t str, at: &str, known: &[&str]) -> Result<Vec<(Cow<'t, str>, &'t str)>, PolicyError> {
    if !text.trim_start().starts_with('{') {
        return Err(wrong(at, "expected an object"));
    }
    let found = json::members(text);
    for (number, (name, _)) in found.iter().enumerate() {
        let place = format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
        if !known.contains(&&**name) {
            return Err(wrong(place, format!("there is no such member; {}", one_of(name, known, ""))));
        }
        if found[..number].iter().any(|(other, _)| other == name) {
            return Err(wrong(place, "the member stands there twice"));
        }
    }
    Ok(found)
}

/// A text, or a list of texts: at least one.
fn words<'t>(text: &'t str, at: &str) -> Result<Vec<(String, Cow<'t, str>)>, PolicyError> {
    let expected = || wrong(at, "expected a text or a list of texts");
    if let Some(word) = json::unescape(text) {
        return Ok(vec![(at.to_owned(), word)]);
    }
    let list = Some(json::items(text)).filter(|list| !list.is_empty()).ok_or_else(expected)?;
    let word = |(number, item): (usize, &'t str)| {
        let place = format!("{at}/{number}");
        let word = json::unescape(item).ok_or_else(|| wrong(&*place, "expected a text"))?;
        Ok((place, word))
    };
    list.into_iter().enumerate().map(word).collect()
}

fn action(text: &str, at: &str) -> Result<Action, PolicyError> {
    let word = json::unescape(text).ok_or_else(|| wrong(at, one_of("", ACTIONS, "")))?;
    match &*word {
        "allow" => Ok(Action::Allow),
        "deny" => Ok(Action::Deny),
        "ask" => Ok(Action::Ask),
        other => Err(wrong(at, one_of(other, ACTIONS, ""))),
    }
}

fn rule(text: &str, at: &str) -> Result<Rule, PolicyError> {
    let mut rule = Rule::new(Action::Ask);
    let mut told = false;
    for (name, value) in members(text, at, RULE)? {
        let at = format!("{at}/{name}");
        match &*name {
            "action" => (rule.action, told) = (action(value, &at)?, true),
            "kind" => {
                for (place, kind) in words(value, &at)? {
                    if !KINDS.contains(&&*kind) && !kind.starts_with('_') {
                        return Err(wrong(place, one_of(&kind, KINDS, ", or a name that begins with _")));
                    }
                    rule.kinds.push(kind.into());
                }
            }
            "tool" => rule.tools = words(value, &at)?.into_iter().map(|(_, tool)| tool.into()).collect(),
            "path" => {
                for (place, path) in words(value, &at)? {
                    let expected = || wrong(place, "expected an absolute path, or a pattern that begins with **/");
                    rule.paths.push(Pattern::of(&path).ok_or_else(expected)?);
                }
            }
            _ => {
                rule.in_roots = match value {
                    "true" => Some(true),
                    "false" => Some(false),
                    _ => return Err(wrong(at, "expected true or false")),
                }
            }
        }
    }
    if told {
        Ok(rule)
    } else {
        Err(wrong(format!("{at}/action"), one_of("", ACTIONS, "")))
    }
}

pub(super) fn read(text: &str) -> Result<PermissionPolicy, PolicyError> {
    let mut scanner = Scanner::new(text, MAX_DEPTH);
    let read = scanner.skip().and_then(|_| scanner.end());
    read.map_err(|error| wrong("", format!("not JSON: {error}")))?;
    let mut policy = PermissionPolicy::default();
    for (name, value) in members(text, "", MEMBERS)? {
        if name == "otherwise" {
            policy.otherwise = action(value, "/otherwise")?;
            continue;
        }
        if Scanner::new(value, MAX_DEPTH).peek() != Ok(Kind::Array) {
            return Err(wrong("/rules", "expected a list"));
        }
        for (number, text) in json::items(value).into_iter().enumerate() {
            policy.rules.push(rule(text, &format!("/rules/{number}"))?);
        }
    }
    Ok(policy)
}
