//! The modes of a session. They are read from their JSON when they are asked for.

use std::borrow::Cow;

use crate::json;

/// The mode in force, and the modes that the session may be in; see [`View::modes`](super::View::modes).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modes(pub(super) String);

impl Modes {
    /// The id of the mode in force.
    pub fn current(&self) -> Cow<'_, str> {
        json::pointer(&self.0, "/currentModeId").and_then(json::unescape).unwrap_or_default()
    }

    /// The modes that were offered, in order; none where only the one in force was told.
    pub fn available(&self) -> impl Iterator<Item = Mode<'_>> {
        json::items(json::pointer(&self.0, "/availableModes").unwrap_or_default()).into_iter().map(Mode)
    }

    /// All of them as JSON text, with what their agent says beside: `{"currentModeId", "availableModes"}`, the latter a list
    /// or null.
    pub fn to_json(&self) -> &str {
        &self.0
    }
}

/// One of the [modes](Modes::available) of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mode<'m>(&'m str);

impl<'m> Mode<'m> {
    fn text(self, name: &str) -> Option<Cow<'m, str>> {
        json::member(self.0, name).and_then(json::unescape)
    }

    /// Its id, by which a session is put into it.
    pub fn id(&self) -> Cow<'m, str> {
        self.text("id").unwrap_or_default()
    }

    /// What it is called.
    pub fn name(&self) -> Cow<'m, str> {
        self.text("name").unwrap_or_default()
    }

    /// What it is for, where its agent says so.
    pub fn description(&self) -> Option<Cow<'m, str>> {
        self.text("description")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_read_from_their_json() {
        let list = r#"[{"id":"a","name":"\u0041sk","description":"Asks"},{"id":"b","name":"Code","description":null}]"#;
        let modes = Modes(format!(r#"{{"currentModeId":"b","availableModes":{list}}}"#));
        let all: Vec<_> = modes.available().map(|mode| (mode.id(), mode.name(), mode.description())).collect();
        assert_eq!(all, [("a".into(), "Ask".into(), Some("Asks".into())), ("b".into(), "Code".into(), None)]);
        assert_eq!(modes.current(), "b");
        let alone = Modes(r#"{"currentModeId":"x","availableModes":null}"#.to_owned());
        assert_eq!((alone.current(), alone.available().count()), ("x".into(), 0));
    }
}
