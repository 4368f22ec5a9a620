//! Updates of sessions as clients receive them, in either version.

use std::borrow::Cow;
use std::collections::VecDeque;

use serde::{Serialize, Serializer};

use crate::connection::Notification;
use crate::json;
use crate::schema::{v1, v2, Message, Patch, Raw};

/// An update of a session, as the agent sent it: in the types of the version that was agreed on.
///
/// What most clients want of it is the same in all versions: the [text](Self::text) that the agent says. A
/// [view](super::ClientSession::view) has everything else in a form that is the same in all versions, too.
///
/// Serialized, it is the update as on the wire.
#[derive(Debug, Clone, PartialEq)]
pub struct Update {
    wire: Typed,
    kind: Cow<'static, str>,
    meta: Option<Raw<'static>>,
    /// The text of a message that is sent whole, or the part of it that no chunk had.
    whole: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
enum Typed {
    V1(v1::SessionUpdate<'static>),
    V2(v2::SessionUpdate<'static>),
}

impl Update {
    /// Reads a `session/update` of this version.
    pub(super) fn read(version: Option<u16>, notification: &Notification) -> Result<Self, serde_json::Error> {
        Self::of(version, notification.update, notification.params())
    }

    fn of(version: Option<u16>, kind: Option<&'static str>, params: &str) -> Result<Self, serde_json::Error> {
        let tag = || json::pointer(params, "/update/sessionUpdate").and_then(json::unescape).map(Cow::into_owned);
        let kind = kind.map_or_else(|| tag().unwrap_or_default().into(), Cow::Borrowed);
        let (wire, meta) = if version == Some(v2::UpdateSessionNotification::TABLES.version) {
            let read = v2::UpdateSessionNotification::detached(params)?;
            (Typed::V2(read.update), read.meta)
        } else {
            let read = v1::SessionNotification::detached(params)?;
            (Typed::V1(read.update), read.meta)
        };
        let whole = match &wire {
            Typed::V2(v2::SessionUpdate::AgentMessage(v2::AgentMessage { content: Patch::Value(blocks), .. })) => {
                Some(blocks.iter().filter_map(text_of_2).collect())
            }
            _ => None,
        };
        Ok(Update { wire, kind, meta, whole })
    }

    /// The text of the agent's message that the update adds: that of a chunk or, in version 2, of a whole message. In the
    /// stream of a turn, a message that is sent whole after chunks of it has only the text that these did not have.
    pub fn text(&self) -> Option<&str> {
        match &self.wire {
            Typed::V1(v1::SessionUpdate::AgentMessageChunk(chunk)) => match &chunk.content {
                v1::ContentBlock::Text(text) => Some(&text.text),
                _ => None,
            },
            Typed::V2(v2::SessionUpdate::AgentMessageChunk(chunk)) => text_of_2(&chunk.content),
            _ => self.whole.as_deref().filter(|whole| !whole.is_empty()),
        }
    }

    /// The kind of the update: its `sessionUpdate`.
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The update as a type of version 1; `None` in version 2.
    pub fn v1(&self) -> Option<&v1::SessionUpdate<'static>> {
        match &self.wire {
            Typed::V1(update) => Some(update),
            Typed::V2(_) => None,
        }
    }

    /// The update as a type of version 2; `None` in version 1.
    pub fn v2(&self) -> Option<&v2::SessionUpdate<'static>> {
        match &self.wire {
            Typed::V2(update) => Some(update),
            Typed::V1(_) => None,
        }
    }

    /// The `_meta` beside the update.
    pub fn meta(&self) -> Option<&Raw<'static>> {
        self.meta.as_ref()
    }

    /// The update as JSON text.
    pub fn json(&self) -> String {
        // Types of the schema contain nothing that JSON cannot represent.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl Serialize for Update {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.wire.serialize(serializer)
    }
}

fn text_of_2<'b>(block: &'b v2::ContentBlock<'_>) -> Option<&'b str> {
    match block {
        v2::ContentBlock::Text(text) => Some(&text.text),
        _ => None,
    }
}

/// How many messages of a stream are remembered.
const MOST: usize = 64;

/// How much text of which message a stream has given: agents may send a message in chunks and then whole.
#[derive(Default)]
pub(super) struct Given(VecDeque<(String, usize)>);

impl Given {
    /// Leaves out of a whole message what was given before.
    pub(super) fn give(&mut self, update: &mut Update) {
        match &update.wire {
            Typed::V2(v2::SessionUpdate::AgentMessageChunk(chunk)) => {
                *self.of(chunk.message_id.as_str()) += text_of_2(&chunk.content).map_or(0, str::len);
            }
            Typed::V2(v2::SessionUpdate::AgentMessage(message)) => {
                let given = self.of(message.message_id.as_str());
                if let Some(whole) = &mut update.whole {
                    let rest = whole.get(*given..).unwrap_or_default().to_owned();
                    *given = whole.len();
                    *whole = rest;
                } else if message.content == Patch::Null {
                    *given = 0;
                }
            }
            _ => {}
        }
    }

    fn of(&mut self, id: &str) -> &mut usize {
        // Nearly always the last one.
        let place = self.0.iter().rposition(|(of, _)| of == id).unwrap_or_else(|| {
            if self.0.len() == MOST {
                self.0.pop_front();
            }
            self.0.push_back((id.to_owned(), 0));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(version: u16, update: &str) -> Update {
        let params = format!(r#"{{"sessionId":"s","update":{update},"_meta":{{"n":1}}}}"#);
        Update::of(Some(version), None, &params).unwrap()
    }

    fn whole(content: &str) -> Update {
        of(2, &format!(r#"{{"sessionUpdate":"agent_message","messageId":"m","content":{content}}}"#))
    }

    const CHUNK: &str =
        r#"{"sessionUpdate":"agent_message_chunk","messageId":"m","content":{"type":"text","text":"Hi"}}"#;

    #[test]
    fn text_is_what_the_agent_says_in_each_version() {
        for version in [1, 2] {
            let update = of(version, CHUNK);
            assert_eq!((update.text(), update.kind()), (Some("Hi"), "agent_message_chunk"));
            assert_eq!(serde_json::from_str::<serde_json::Value>(&update.json()).unwrap()["content"]["text"], "Hi");
            assert_eq!(update.meta().map(Raw::as_str), Some(r#"{"n":1}"#));
            assert_eq!((update.v1().is_some(), update.v2().is_some()), (version == 1, version == 2));
            assert_eq!(of(version, &CHUNK.replace("message_chunk", "thought_chunk")).text(), None);
            let unknown = of(version, r#"{"sessionUpdate":"_mine","x":1}"#);
            assert_eq!((unknown.text(), unknown.kind()), (None, "_mine"));
            assert_eq!(unknown.json(), r#"{"sessionUpdate":"_mine","x":1}"#);
        }
        let blocks = r#"[{"type":"text","text":"a"},{"type":"resource_link","name":"f","uri":"file:///f"},{"type":"text","text":"b"}]"#;
        assert_eq!(whole(blocks).text(), Some("ab"));
    }

    #[test]
    fn a_whole_message_after_its_chunks_has_the_text_that_these_had_not() {
        let mut given = Given::default();
        let mut give = |mut update: Update| {
            given.give(&mut update);
            update.text().map(str::to_owned)
        };
        let text = |text: &str| whole(&format!(r#"[{{"type":"text","text":"{text}"}}]"#));
        assert_eq!(give(of(2, CHUNK)).as_deref(), Some("Hi"));
        assert_eq!(give(text("Hi")), None);
        assert_eq!(give(text("Hi there")).as_deref(), Some(" there"));
        assert_eq!(give(text("H")), None, "what was said cannot be taken back");
        assert_eq!(give(whole("null")), None);
        assert_eq!(give(text("again")).as_deref(), Some("again"));
        assert_eq!(give(of(2, &CHUNK.replace("\"m\"", "\"n\""))).as_deref(), Some("Hi"), "another message");
    }
}
