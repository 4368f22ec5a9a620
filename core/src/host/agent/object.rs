//! JSON objects whose members are renamed, replaced and left out. What stays keeps its order and its text.

use std::borrow::Cow;

use crate::json;

pub(super) use crate::host::text;

/// The members of an object: names, and values as JSON text.
#[derive(Debug, Clone, Default)]
pub(super) struct Object<'a>(Vec<(Cow<'a, str>, Cow<'a, str>)>);

impl<'a> Object<'a> {
    /// Without members for any other text.
    pub(super) fn of(text: &'a str) -> Self {
        Object(json::members(text).into_iter().map(|(name, value)| (name, value.into())).collect())
    }

    /// The value of a member, as JSON text; null is a value.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| &**value)
    }

    /// The value of a member that is a string.
    pub(super) fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        json::unescape(self.get(name)?)
    }

    /// Whether there is such a member, and it is not null.
    pub(super) fn has(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| value != "null")
    }

    /// Takes a member out. Null is taken out as well, and is none.
    pub(super) fn take(&mut self, name: &str) -> Option<Cow<'a, str>> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        let (_, value) = self.0.remove(at);
        Some(value).filter(|value| value != "null")
    }

    /// Replaces a member, or adds it at the end.
    pub(super) fn set(&mut self, name: &'a str, value: impl Into<Cow<'a, str>>) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value.into(),
            None => self.0.push((name.into(), value.into())),
        }
    }

    pub(super) fn set_text(&mut self, name: &'a str, value: &str) {
        self.set(name, quoted(value));
    }

    /// Sets a member that is absent or null.
    pub(super) fn set_absent(&mut self, name: &'a str, value: impl Into<Cow<'a, str>>) {
        if !self.has(name) {
            self.set(name, value);
        }
    }

    /// Gives a member another name, unless there is one of that name.
    pub(super) fn rename(&mut self, from: &str, to: &'a str) {
        if self.get(to).is_none() {
            if let Some((name, _)) = self.0.iter_mut().find(|(known, _)| known == from) {
                *name = to.into();
            }
        }
    }

    /// Changes the value of a member that is there and not null.
    pub(super) fn change(&mut self, name: &str, change: impl FnOnce(&str) -> String) {
        if let Some((_, value)) = self.0.iter_mut().find(|(known, value)| known == name && value != "null") {
            *value = change(value).into();
        }
    }

    /// Keeps the members for which this holds.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(&str, &str) -> bool) {
        self.0.retain(|(name, value)| keep(name, value));
    }

    pub(super) fn write(&self) -> String {
        let mut out = String::from("{");
        for (name, value) in &self.0 {
            if out.len() > 1 {
                out.push(',');
            }
            json::quote(&mut out, name);
            out.push(':');
            out.push_str(value);
        }
        out.push('}');
        out
    }
}

pub(super) fn quoted(text: &str) -> String {
    let mut out = String::new();
    json::quote(&mut out, text);
    out
}

/// Whether a text is an object as a whole, so that changing it loses nothing.
pub(super) fn is_object(of: &str) -> bool {
    let of = of.trim();
    of.starts_with('{') && json::pointer(of, "").is_some_and(|value| value.len() == of.len())
}

/// A list with each item changed; any other text stays as it is.
pub(super) fn each(list: &str, change: impl FnMut(&str) -> String) -> String {
    if list.starts_with('[') {
        format!("[{}]", json::items(list).into_iter().map(change).collect::<Vec<_>>().join(","))
    } else {
        list.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_touched_stays_as_it_is() {
        let mut object = Object::of(r#"{"a":1e400,"b\u0062":[ 1 ],"c":null,"d":{"e":"\ud83d\ude42"}}"#);
        object.rename("a", "x");
        object.rename("d", "x");
        object.set("c", "{}");
        object.set_absent("f", "2");
        assert_eq!(object.write(), r#"{"x":1e400,"bb":[ 1 ],"c":{},"d":{"e":"\ud83d\ude42"},"f":2}"#);
        assert_eq!(each("[1,[2]]", |item| format!("{item}0")), "[10,[2]0]");
        assert!(is_object(" {} ") && !is_object("{}{") && !is_object("[]") && !is_object("{"));
    }
}
