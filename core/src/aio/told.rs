//! Removing empty members from the params and the result of `initialize`, and merging them.

use crate::json::{members, Writer};

/// Members that the types always write: an empty object means nothing there. Elsewhere it advertises a capability.
const ALWAYS: [&str; 2] = ["auth", "fs"];

/// Params or result of `initialize` without members that mean nothing: `false`, empty lists, and objects that contain
/// nothing else.
pub(super) fn said(hello: &str) -> String {
    with_members(hello, |name, value| {
        if value.starts_with('{') && name != "_meta" {
            Some(with_members(value, says))
        } else {
            Some(value.to_owned()).filter(|value| !is_nothing(value))
        }
    })
}

/// The same without the version, which the connection fills in.
pub(super) fn unversioned(hello: &str) -> String {
    with_members(hello, |name, value| (name != "protocolVersion").then(|| value.to_owned()))
}

/// An object with each member changed or removed.
fn with_members(object: &str, change: impl Fn(&str, &str) -> Option<String>) -> String {
    let mut writer = Writer::new();
    writer.begin_object();
    for (name, value) in members(object) {
        if let Some(value) = change(&name, value) {
            writer.key(&name).json(&value);
        }
    }
    writer.end_object();
    writer.finish().unwrap_or_else(|_| object.to_owned())
}

fn says(name: &str, value: &str) -> Option<String> {
    if !value.starts_with('{') || name == "_meta" {
        return Some(value.to_owned()).filter(|value| !is_nothing(value));
    }
    let (object, less) = (value, with_members(value, says));
    let was_empty = members(object).is_empty();
    let empty = members(&less).is_empty();
    let left_out = empty && (!was_empty || ALWAYS.contains(&name));
    (!left_out).then_some(less)
}

fn is_nothing(value: &str) -> bool {
    matches!(value, "false" | "null" | "[]")
}

/// Merges one object over another. The second one takes precedence.
pub(super) fn merged(under: &str, over: &str) -> String {
    let (old, new) = (members(under), members(over));
    let mut writer = Writer::new();
    writer.begin_object();
    for (name, value) in &old {
        match new.iter().find(|(other, _)| other == name) {
            None => writer.key(name).json(value),
            Some((_, more)) if value.starts_with('{') && more.starts_with('{') => {
                writer.key(name).json(&merged(value, more))
            }
            Some((_, more)) => writer.key(name).json(more),
        };
    }
    for (name, value) in new.iter().filter(|(name, _)| !old.iter().any(|(other, _)| other == name)) {
        writer.key(name).json(value);
    }
    writer.end_object();
    writer.finish().unwrap_or_else(|_| under.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{merged, said};

    #[test]
    fn what_says_nothing_is_left_out() {
        let hello = r#"{"can":{"b":false,"c":{"d":[]},"auth":{},"close":{},"n":0},"_meta":{"kept":false},"list":[]}"#;
        assert_eq!(said(hello), r#"{"can":{"close":{},"n":0},"_meta":{"kept":false}}"#);
    }

    #[test]
    fn objects_are_merged_and_the_rest_replaced() {
        assert_eq!(
            merged(r#"{"a":{"b":1,"c":[1]},"d":1}"#, r#"{"a":{"c":[2]},"e":2}"#),
            r#"{"a":{"b":1,"c":[2]},"d":1,"e":2}"#
        );
    }
}
