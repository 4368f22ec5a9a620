//! JSON as it is written: numbers keep their digits, and objects all of their members, also those of equal names.

use std::fmt;

use serde::de::{Deserializer as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::Deserializer;

/// The members of an object, in their order; `None` when the text is no object.
pub(crate) fn members(text: &str) -> Option<Vec<(String, &str)>> {
    struct Members;
    impl<'de> Visitor<'de> for Members {
        type Value = Vec<(String, &'de str)>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut all = Vec::new();
            while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                all.push((name, value.get()));
            }
            Ok(all)
        }
    }
    let mut reader = Deserializer::from_str(text);
    let all = reader.deserialize_map(Members).ok()?;
    reader.end().ok()?;
    Some(all)
}

/// The items of a list; `None` when the text is no list.
pub(crate) fn items(text: &str) -> Option<Vec<&str>> {
    let raw: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(raw.into_iter().map(RawValue::get).collect())
}

/// A string without its escapes; `None` when the text is no string.
pub(crate) fn string(text: &str) -> Option<String> {
    serde_json::from_str(text).ok()
}

/// The member of that name of an object; `None` where there is none, or more than one.
pub(crate) fn member<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let mut found = members(text)?.into_iter().filter(|(key, _)| key == name);
    let (_, value) = found.next()?;
    found.next().is_none().then_some(value)
}

/// Whether two texts are the same value. The order of members does not matter; the digits of numbers do. An object that
/// has a name twice equals none.
pub(crate) fn same(left: &str, right: &str) -> bool {
    if let (Some(left), Some(right)) = (members(left), members(right)) {
        let find = |name: &str| {
            let mut found = right.iter().filter(|(key, _)| key == name);
            found.next().filter(|_| found.next().is_none())
        };
        let distinct = left.iter().enumerate().all(|(at, (name, _))| left[..at].iter().all(|(key, _)| key != name));
        return distinct
            && left.len() == right.len()
            && left.iter().all(|(name, value)| find(name).is_some_and(|(_, other)| same(value, other)));
    }
    if let (Some(left), Some(right)) = (items(left), items(right)) {
        return left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right));
    }
    match (string(left), string(right)) {
        (Some(left), Some(right)) => left == right,
        _ => left.trim() == right.trim(),
    }
}

#[test]
fn nothing_is_lost_in_reading() {
    assert!(same(r#"{"a":1,"b":[1.0,"\u0041"]}"#, r#" { "b" : [ 1.0, "A" ], "a" : 1 } "#));
    for (left, right) in [
        ("9007199254740993", "9007199254740992"),
        ("1", "1.0"),
        ("1e2", "100"),
        ("\"1\"", "1"),
        ("{}", "[]"),
        ("[1]", "[1,1]"),
        (r#"{"a":1}"#, r#"{"a":1,"b":null}"#),
        (r#"{"a":1,"a":1}"#, r#"{"a":1,"b":1}"#),
        (r#"{"a":1,"b":1}"#, r#"{"a":1,"a":1}"#),
    ] {
        assert!(!same(left, right) && same(left, left) != left.contains(r#","a""#), "{left} and {right}");
    }
    assert_eq!(member(r#"{"a":1,"b":2,"a":1}"#, "a"), None);
    assert_eq!(member(r#"{"a":1,"b": 2 }"#, "b"), Some("2"));
}
