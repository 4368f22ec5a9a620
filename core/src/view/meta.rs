//! The members of `_meta` of an entry.

use std::borrow::Cow;

use super::body::Most;
use crate::json::{self, Writer};

/// What a member takes beside its bytes.
const MEMBER: usize = 32;
/// So many members are kept.
const MEMBERS: usize = 64;
/// What is no longer than this cannot have more members than are kept.
const SHORT: usize = 256;

/// The members, each as JSON text.
#[derive(Debug, Clone)]
pub(super) enum Meta {
    /// All at once and nothing since, as most are told: a short object as it came.
    Told(Box<str>),
    Merged(Vec<(Box<str>, Box<str>)>),
}

impl Default for Meta {
    fn default() -> Self {
        Meta::Merged(Vec::new())
    }
}

/// The members of an object, of which the last counts where a name occurs twice.
fn read(object: &str) -> Vec<(Cow<'_, str>, &str)> {
    let mut all: Vec<(Cow<'_, str>, &str)> = Vec::new();
    for (name, value) in json::members(object) {
        match all.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => all.push((name, value)),
        }
    }
    all
}

impl Meta {
    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Meta::Merged(list) if list.is_empty())
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        match self {
            Meta::Told(object) => read(object).into_iter().find(|(known, _)| known == name).map(|(_, value)| value),
            Meta::Merged(list) => list.iter().find(|(known, _)| **known == *name).map(|(_, value)| &**value),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        match self {
            Meta::Told(object) => object.len() + MEMBER,
            Meta::Merged(list) => list.iter().map(|(name, value)| name.len() + value.len() + MEMBER).sum(),
        }
    }

    /// Merges an object, name by name; whether that changes anything, and whether some of it was given up.
    pub(super) fn merge(&mut self, object: &str, most: Most) -> (bool, bool) {
        if self.is_empty() && object.len() <= SHORT {
            // Without a quote there is no name in it.
            let any = object.contains('"');
            if any {
                *self = Meta::Told(object.into());
            }
            return (any, false);
        }
        if let Meta::Told(told) = self {
            *self = Meta::Merged(read(told).into_iter().map(|(name, value)| (name.into(), value.into())).collect());
        }
        let Meta::Merged(list) = self else { return (false, false) };
        let (mut changed, mut truncated) = (false, false);
        for (name, value) in json::members(object) {
            let is_full = list.len() == MEMBERS;
            match list.iter_mut().find(|(known, _)| **known == *name) {
                Some((_, known)) if **known == *value => {}
                Some((_, known)) => (*known, changed) = (value.into(), true),
                None if is_full => truncated = true,
                None => {
                    list.push((name.into(), value.into()));
                    changed = true;
                }
            }
        }
        while list.iter().map(|(_, value)| value.len()).sum::<usize>() > most.content {
            list.remove(0);
            truncated = true;
        }
        (changed, truncated)
    }

    pub(super) fn write(&self, out: &mut Writer) {
        out.begin_object();
        match self {
            Meta::Told(object) => read(object).iter().for_each(|(name, value)| _ = out.key(name).json(value)),
            Meta::Merged(list) => list.iter().for_each(|(name, value)| _ = out.key(name).json(value)),
        }
        out.end_object();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Most = Most { content: 1000, output: 0 };

    fn shown(meta: &Meta) -> String {
        let mut out = Writer::new();
        meta.write(&mut out);
        out.finish().unwrap()
    }

    #[test]
    fn what_is_told_at_once_is_what_would_be_merged() {
        let told = r#" {"a": [1, 2], "b\u0062":"x", "a":3} "#;
        let (mut whole, mut merged) = (Meta::default(), Meta::default());
        assert_eq!(whole.merge(told, MOST), (true, false));
        for part in [r#"{"a":[1,2]}"#, r#"{"bb":"x"}"#, r#"{"a":3}"#] {
            assert_eq!(merged.merge(part, MOST), (true, false));
        }
        assert!(matches!((&whole, &merged), (Meta::Told(_), Meta::Merged(_))));
        assert_eq!((shown(&whole), shown(&merged)), (r#"{"a":3,"bb":"x"}"#.into(), r#"{"a":3,"bb":"x"}"#.into()));
        assert_eq!((whole.get("bb"), whole.get("a"), whole.get("b")), (Some("\"x\""), Some("3"), None));
        for meta in [&mut whole, &mut merged] {
            assert_eq!(meta.merge(r#"{"a":3}"#, MOST), (false, false));
            assert_eq!(meta.merge(r#"{"a":4,"c":null}"#, MOST), (true, false));
            assert_eq!(shown(meta), r#"{"a":4,"bb":"x","c":null}"#);
            assert_eq!(meta.get("c"), Some("null"));
        }
    }

    #[test]
    fn nothing_told_is_nothing_kept() {
        let mut meta = Meta::default();
        assert_eq!(meta.merge(" { } ", MOST), (false, false));
        assert!(meta.is_empty() && meta.bytes() == 0 && shown(&meta) == "{}");
    }

    #[test]
    fn neither_many_nor_long_members_are_kept() {
        let object = |from: usize, to: usize| {
            let all: Vec<String> = (from..to).map(|number| format!(r#""{number}":0"#)).collect();
            format!("{{{}}}", all.join(","))
        };
        assert!(object(0, MEMBERS + 1).len() > SHORT);
        let mut meta = Meta::default();
        assert_eq!(meta.merge(&object(0, 10), MOST), (true, false));
        assert_eq!(meta.merge(&object(10, MEMBERS), MOST), (true, false));
        assert_eq!(meta.merge(&object(0, MEMBERS + 1), MOST), (false, true));
        assert!(meta.get("63").is_some() && meta.get("64").is_none());
        let long = format!(r#"{{"long":"{}"}}"#, "x".repeat(MOST.content - 10));
        assert_eq!(meta.merge(&long, MOST), (false, true));
        meta = Meta::Merged(Vec::new());
        assert_eq!(meta.merge(r#"{"a":0}"#, MOST), (true, false));
        assert_eq!(meta.merge(&format!(r#"{{"long":"{}"}}"#, "x".repeat(MOST.content - 2)), MOST), (true, true));
        assert!(meta.get("a").is_none() && meta.get("long").is_some());
    }
}
