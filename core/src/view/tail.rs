//! The content of an entry from where it was read last, so that reading a content while it grows costs as much as the
//! content, however often it is read.

use std::borrow::Cow;

use super::body::{Body, Place};
use super::{Block, Entry, EntryKind, View};
use crate::json::Writer;

/// The content of an entry from a position on; see [`Entry::content_from`].
#[derive(Debug, Clone)]
pub struct Tail<'e> {
    entry: &'e Entry,
    from: u64,
    place: Place,
}

impl Entry {
    /// How far its content reaches: a position that only says where [`content_from`](Self::content_from) goes on. It grows
    /// while the content grows, and is another one after any other change of the content. 0 for what has no content.
    pub fn end(&self) -> u64 {
        match &self.body {
            Body::Nothing => 0,
            body => self.start + body.reach() as u64,
        }
    }

    /// The content from a position on that [`end`](Self::end) was at; 0 is the start. Where the content was changed other
    /// than by growing at its end since then, it is all of it. Who reads a content in this way reads all of it once:
    ///
    /// ```
    /// # use libacp::{Config, Connection};
    /// # let mut config = Config::client();
    /// # config.view = true;
    /// # let mut client = Connection::new(config);
    /// # client.request("initialize", "{}").unwrap();
    /// # client.receive(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1}}\n");
    /// # while client.poll_event().is_some() {}
    /// # client.request("session/new", r#"{"cwd":"/work","mcpServers":[]}"#).unwrap();
    /// # client.receive(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":\"s\"}}\n");
    /// # while client.poll_event().is_some() {}
    /// # client.request("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"Hello?"}]}"#).unwrap();
    /// # let mut chunk = |word: &str| {
    /// #     let update = format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{word}"}}}}"#);
    /// #     let params = format!(r#"{{"sessionId":"s","update":{update}}}"#);
    /// #     let message = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{params}}}\n");
    /// #     client.receive(message.as_bytes());
    /// #     while client.poll_event().is_some() {}
    /// #     client.view("s").unwrap().clone()
    /// # };
    /// let (mut shown, mut position) = (String::new(), 0);
    /// for word in ["Good ", "mor", "ning."] {
    ///     let view = chunk(word);
    ///     let entry = view.entry(1).unwrap();
    ///     let tail = entry.content_from(position);
    ///     if tail.from() == 0 {
    ///         shown.clear();
    ///     }
    ///     shown.push_str(&tail.text());
    ///     position = tail.end();
    /// }
    /// assert_eq!(shown, "Good morning.");
    /// ```
    pub fn content_from(&self, position: u64) -> Tail<'_> {
        let at = position.checked_sub(self.start).and_then(|at| usize::try_from(at).ok());
        match at.and_then(|at| self.body.place(at)) {
            Some(place) => Tail { entry: self, from: position, place },
            None => Tail { entry: self, from: 0, place: Place::default() },
        }
    }

    /// The entry as JSON text as [`to_json`](Self::to_json) has it, but for the members that its content is: `blocks`,
    /// `summary`, `content`, or `output` and `before`.
    pub fn head_to_json(&self) -> String {
        let mut out = Writer::new();
        self.write(&mut out, false);
        out.finish().unwrap_or_default()
    }
}

impl<'e> Tail<'e> {
    /// The position that it is from: the one that was asked for, or 0 where this is all of the content.
    pub fn from(&self) -> u64 {
        self.from
    }

    /// The position that it reaches to: [`Entry::end`].
    pub fn end(&self) -> u64 {
        self.entry.end()
    }

    /// Whether its first block goes on with the last one before the position: both are one run of text. Of a terminal,
    /// whether its text goes on with what was printed before.
    pub fn continues(&self) -> bool {
        self.place.inside > 0
    }

    /// The blocks of a message, or of the summary of a compaction.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'e>> + use<'e> {
        let content = if let Body::Blocks(content) = &self.entry.body { Some(content) } else { None };
        let place = self.place;
        content.into_iter().flat_map(move |content| content.blocks_from(place))
    }

    /// What a tool call shows, each item as JSON text.
    pub fn items(&self) -> impl Iterator<Item = &'e str> + use<'e> {
        self.entry.body.items_from(self.place)
    }

    /// The text of its blocks, one behind the other; of a terminal what it has printed, as
    /// [`output_text`](Entry::output_text) has it: a character comes whole, once its end has come.
    pub fn text(&self) -> Cow<'e, str> {
        match &self.entry.body {
            Body::Blocks(content) => Cow::Borrowed(content.text_from(self.place)),
            Body::Output(output) => output.text_from(self.place.skipped),
            _ => Cow::Borrowed(""),
        }
    }

    /// All of it as JSON text: an object with `from`, `end`, `continues`, and the members that the content is, with what
    /// they have from there on: `blocks`, `summary` or `content`, each a list, or `output` (text) and `before`.
    pub fn to_json(&self) -> String {
        let mut out = Writer::new();
        out.begin_object().key("from").unsigned(self.from).key("end").unsigned(self.end());
        out.key("continues").boolean(self.continues());
        self.entry.body.write(self.entry.kind, self.place, &mut out);
        out.end_object();
        out.finish().unwrap_or_default()
    }
}

/// What bindings ask by index.
impl View {
    /// [`Changes::heads_to_json`](super::Changes::heads_to_json) since a revision.
    pub fn heads_since(&self, revision: u64) -> String {
        self.since(revision).heads_to_json()
    }

    /// [`Entry::content_from`] of the entry of this index, as JSON text.
    pub fn content_from(&self, index: u64, position: u64) -> Option<String> {
        Some(self.entry(index)?.content_from(position).to_json())
    }

    /// [`Entry::text`] of the entry of this index, if it is a message or a compaction.
    pub fn text_of(&self, index: u64) -> Option<&str> {
        self.entry(index).filter(|entry| matches!(entry.body, Body::Blocks(_))).map(Entry::text)
    }

    /// [`Entry::bytes`] of the terminal of this index.
    pub fn output_of(&self, index: u64) -> Option<&[u8]> {
        self.entry(index).filter(|entry| entry.kind == EntryKind::Terminal).map(Entry::bytes)
    }
}
