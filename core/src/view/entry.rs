//! One entry of a conversation: a message, a tool call, a terminal, a plan and so on.

use std::borrow::Cow;

use super::body::{Body, Most, Place};
use super::content::{Block, Content};
use super::kind::EntryKind;
use super::output::Output;
use super::told::{Told, SHORT};
use crate::engine::operations::Speaker;
use crate::json::{self, Writer};

/// States after which a tool call or a compaction does not go on.
const FINAL: &[&str] = &["\"completed\"", "\"failed\"", "\"cancelled\""];
/// What an entry takes beside its bytes.
const ENTRY: usize = 384;

/// One entry of a conversation. [`to_json`](Entry::to_json) says what it has.
#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is true or not whatever the others are")]
pub struct Entry {
    pub(super) index: u64,
    pub(super) revision: u64,
    pub(super) rewritten: u64,
    /// The position where its content begins. It is behind all positions of the contents that it had before.
    pub(super) start: u64,
    pub(super) turn: u64,
    /// What it takes, as it was counted last.
    pub(super) counted: usize,
    pub(super) id: Option<Box<str>>,
    pub(super) body: Body,
    /// What was told beside the content. Boxed, as of most entries nothing was.
    told: Option<Box<Told>>,
    /// Those that changed before and after it, as the story writes it.
    pub(super) older: u32,
    pub(super) newer: u32,
    pub(super) kind: EntryKind,
    kept: Kept,
    pub(super) own: Own,
    pub(super) pending: bool,
    /// It stands for the agent's message of the same content, which has not come yet.
    pub(super) awaits_echo: bool,
    pub(super) discarded: bool,
    pub(super) truncated: bool,
}

/// How much of an entry there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Whole,
    Stub,
    /// It is not there any more.
    Gone,
}

/// Whether it is a terminal of version 1, which the client runs itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Own {
    No,
    Held,
    /// The agent has released it.
    Released,
}

impl Entry {
    pub(super) fn new(index: u64, kind: EntryKind, id: Option<Box<str>>, turn: u64) -> Self {
        Entry {
            index,
            revision: 0,
            rewritten: 0,
            start: 0,
            turn,
            counted: 0,
            id,
            body: Body::of(kind),
            told: None,
            older: 0,
            newer: 0,
            kind,
            kept: Kept::Whole,
            own: Own::No,
            pending: false,
            awaits_echo: false,
            discarded: false,
            truncated: false,
        }
    }

    /// Its place in the conversation. It stays the same until the conversation is replayed, and others are never put in
    /// between; places of what is gone stay empty.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The revision of the view in which it changed last.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The revision in which its content changed other than by growing at its end: whoever has the content of a later
    /// revision needs only what follows that.
    pub fn rewritten(&self) -> u64 {
        self.rewritten
    }

    /// What it is.
    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    /// The id that the agent gave it; `None` for a message of version 1 without one, and for what has none.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The number of the turn that it belongs to, from 1; 0 before the first.
    pub fn turn(&self) -> u64 {
        self.turn
    }

    /// Whose message it is.
    pub fn speaker(&self) -> Option<Speaker> {
        match self.kind {
            EntryKind::Message(speaker) => Some(speaker),
            _ => None,
        }
    }

    /// The text of a message, or of the summary of a compaction: all of its text, one behind the other. It is borrowed,
    /// however long it is.
    pub fn text(&self) -> &str {
        match &self.body {
            Body::Blocks(content) => content.text(),
            _ => "",
        }
    }

    /// The blocks of a message, or of the summary of a compaction.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'_>> {
        let content = if let Body::Blocks(content) = &self.body { Some(content) } else { None };
        content.into_iter().flat_map(Content::blocks)
    }

    /// What a tool call shows, each item as JSON text.
    pub fn items(&self) -> impl Iterator<Item = &str> {
        self.body.items()
    }

    /// The last bytes that a terminal has printed: at most [`Limits::view_output`](crate::connection::Limits::view_output).
    pub fn bytes(&self) -> &[u8] {
        self.output().map_or(&[], Output::bytes)
    }

    /// How many bytes a terminal had printed before [`bytes`](Self::bytes).
    pub fn bytes_before(&self) -> u64 {
        self.output().map_or(0, Output::before)
    }

    /// What a terminal has printed, as text: bytes that are no UTF-8 are U+FFFD, and a character whose end has not come yet
    /// is left out.
    pub fn output_text(&self) -> Cow<'_, str> {
        self.output().map_or(Cow::Borrowed(""), Output::text)
    }

    fn output(&self) -> Option<&Output> {
        match &self.body {
            Body::Output(output) => Some(output),
            _ => None,
        }
    }

    /// A member of [`to_json`](Self::to_json) that is told as such (`title`, `status`, `rawInput`), as JSON text; `None`
    /// where it has no such member or was not told it.
    pub fn get(&self, name: &str) -> Option<&str> {
        let at = self.kind.members().iter().position(|(known, _)| *known == name)?;
        self.told.as_ref()?.get(at)
    }

    /// The same of a member that is a string; what stands for one that was not told counts as told (a tool call is
    /// `pending` then).
    pub fn string(&self, name: &str) -> Option<Cow<'_, str>> {
        let otherwise = || self.kind.members().iter().find(|(known, _)| *known == name).map(|(_, default)| *default);
        json::unescape(self.get(name).or_else(otherwise)?)
    }

    /// A member of `_meta`, as JSON text. That of an update is merged name by name; that of a chunk belongs to the chunk,
    /// and is not kept.
    pub fn meta(&self, name: &str) -> Option<&str> {
        self.told.as_ref()?.meta.get(name)
    }

    /// Whether it is a prompt of this connection's that the agent has not taken up yet.
    pub fn is_pending(&self) -> bool {
        self.pending
    }

    /// Whether the agent knows nothing of it any more: it has refused it, or the turn that it belongs to (TURN-14). Show it
    /// all the same.
    pub fn is_discarded(&self) -> bool {
        self.discarded
    }

    /// Whether it is a stub: what it held was given up to stay within the limits.
    pub fn is_trimmed(&self) -> bool {
        self.kept != Kept::Whole
    }

    /// Whether it is not there any more.
    pub(super) fn is_gone(&self) -> bool {
        self.kept == Kept::Gone
    }

    /// Whether a part of it was given up, or not taken, to stay within the limits: the beginning of a text or an output,
    /// the first items of a tool call, a member that is too long.
    pub fn is_truncated(&self) -> bool {
        self.truncated || self.output().is_some_and(|output| output.before() > 0)
    }

    /// The serial number of the open request for permission that is about it.
    pub fn permission(&self) -> Option<u64> {
        self.told.as_ref()?.permission
    }

    /// An open request for permission is about it, or none.
    pub(super) fn ask(&mut self, serial: Option<u64>) {
        if serial.is_some() || self.told.is_some() {
            self.told.get_or_insert_default().permission = serial;
        }
    }

    /// The entry as JSON text: an object with these members, always all of its type.
    ///
    /// | type | members |
    /// | --- | --- |
    /// | all | `type`, `index`, `revision`, `rewritten`, `turn`, `id` (string or null), `meta` (an object), `discarded`, `trimmed`, `truncated`, `end` ([`end`](Self::end)) |
    /// | `message` | `role` (`user`, `agent`, `thought`, `session`), `blocks` (a list of content blocks, adjacent text merged), `pending`; of role `session` also `senderSessionId`, `recipientSessionId`, `senderMessageId`, `recipientMessageId` |
    /// | `tool_call` | `name`, `title`, `kind`, `status`, `content` (a list), `locations`, `rawInput`, `rawOutput`, `capabilities`, `permission` (the serial number of the open request, or null) |
    /// | `terminal` | `command`, `cwd`, `size`, `exitStatus`, `capabilities`, `output` (text), `before` (bytes that came before it) |
    /// | `plan` | `plan`: `{"type": "items", "planId", "entries"}`, or of another type as it came |
    /// | `compaction` | `status`, `summary` (a list of content blocks), `error` |
    /// | `subagent` | `title`, `description`, `capabilities`, `state`, `cwd`, `additionalDirectories`; its `id` is the session's |
    /// | `notice` | `severity`, `title`, `description` |
    /// | `update` | `sessionUpdate` (its kind) and `update` as it came |
    ///
    /// What was not told is null; of a tool call the kind is then `other` and the status `pending`, lists are empty.
    /// A status `cancelled` in version 1 is the client's own: the turn was cancelled, and the call had not ended
    /// (CANCEL-02). The command of a terminal of version 1 has its arguments behind it, and its output is what the client
    /// answered last.
    pub fn to_json(&self) -> String {
        let mut out = Writer::new();
        self.write(&mut out, true);
        out.finish().unwrap_or_default()
    }

    /// Writes it, with its content or without.
    pub(super) fn write(&self, out: &mut Writer, whole: bool) {
        out.begin_object().key("type").string(self.kind.name());
        out.key("index").unsigned(self.index).key("revision").unsigned(self.revision);
        out.key("rewritten").unsigned(self.rewritten).key("turn").unsigned(self.turn).key("id");
        match &self.id {
            Some(id) => out.string(id),
            None => out.null(),
        };
        if let EntryKind::Message(speaker) = self.kind {
            out.key("role").string(speaker.name()).key("pending").boolean(self.pending);
        }
        let told = self.told.as_deref();
        for (at, (name, default)) in self.kind.members().iter().enumerate() {
            out.key(name).json(told.and_then(|told| told.get(at)).unwrap_or(default));
        }
        out.key("end").unsigned(self.end());
        if whole {
            self.body.write(self.kind, Place::default(), out);
        }
        if self.kind == EntryKind::ToolCall {
            match self.permission() {
                Some(serial) => out.key("permission").unsigned(serial),
                None => out.key("permission").null(),
            };
        }
        out.key("meta");
        match told {
            Some(told) => told.meta.write(out),
            None => _ = out.begin_object().end_object(),
        }
        out.key("discarded").boolean(self.discarded);
        out.key("trimmed").boolean(self.is_trimmed()).key("truncated").boolean(self.is_truncated()).end_object();
    }

    /// What it takes.
    pub(super) fn cost(&self) -> usize {
        let told = self.told.as_ref().map_or(0, |told| told.bytes());
        ENTRY + self.id.as_ref().map_or(0, |id| 2 * id.len()) + told + self.body.bytes()
    }

    /// Whether it will hardly change any more.
    pub(super) fn is_finished(&self) -> bool {
        match self.kind {
            EntryKind::ToolCall | EntryKind::Compaction => {
                self.get("status").is_some_and(|status| FINAL.contains(&status))
            }
            EntryKind::Terminal => self.own == Own::Released || self.get("exitStatus").is_some(),
            _ => true,
        }
    }

    /// Forgets all that was told.
    pub(super) fn reset(&mut self) {
        let permission = self.permission();
        self.told = None;
        self.ask(permission);
        self.body = Body::of(self.kind);
    }

    /// Keeps what a list shows that it was, and nothing that is long.
    pub(super) fn trim(&mut self) {
        if let Some(told) = &mut self.told {
            told.trim();
        }
        self.body = Body::of(self.kind);
        self.kept = Kept::Stub;
    }

    /// Keeps nothing: its place stays empty.
    pub(super) fn leave(&mut self) {
        self.trim();
        self.kept = Kept::Gone;
    }

    /// Sets a member, or clears it; whether that changes anything.
    pub(super) fn set(&mut self, name: &str, value: Option<&str>, most: Most) -> bool {
        let Some(at) = self.kind.members().iter().position(|(known, _)| *known == name) else { return false };
        let longest = if self.is_trimmed() { SHORT } else { most.content };
        let kept = value.filter(|value| value.len() <= longest);
        self.truncated |= kept.is_none() && value.is_some();
        if kept.is_none() && self.told.is_none() {
            return false;
        }
        self.told.get_or_insert_default().set(at, kept)
    }

    /// Merges the members of a `_meta`; `None` clears all.
    pub(super) fn set_meta(&mut self, value: Option<&str>, most: Most) -> bool {
        let Some(value) = value else {
            let Some(told) = &mut self.told else { return false };
            return told.change_meta(|meta| !std::mem::take(meta).is_empty());
        };
        if self.is_trimmed() || value.len() > most.content {
            self.truncated |= !self.is_trimmed();
            return false;
        }
        let told = self.told.get_or_insert_default();
        let (changed, truncated) = told.change_meta(|meta| meta.merge(value, most));
        self.truncated |= truncated;
        changed
    }

    /// Adds a block, an item or bytes; whether something was given up for it. What is added to a stub is not kept.
    pub(super) fn append(&mut self, item: &str, most: Most) -> bool {
        if self.is_trimmed() {
            return false;
        }
        let cut = self.body.append(item, most);
        self.truncated |= cut;
        cut
    }

    /// Puts a text in the place of what a terminal has printed; whether that changes anything.
    pub(super) fn print(&mut self, text: &str, truncated: bool, most: Most) -> bool {
        let is_stub = self.is_trimmed();
        let Body::Output(output) = &mut self.body else { return false };
        if is_stub || output.is(text) && self.truncated == truncated {
            return false;
        }
        **output = Output::of(text, most.output);
        self.truncated = truncated;
        true
    }

    /// Puts a list, or the bytes of a snapshot, in the place of what it holds; whether that changes anything.
    pub(super) fn replace(&mut self, value: Option<&str>, most: Most) -> bool {
        if self.is_trimmed() || value.is_some_and(|value| self.body.is_list(value)) {
            return false;
        }
        self.body = Body::of(self.kind);
        self.truncated = value.is_some_and(|value| self.body.fill(value, most));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_small() {
        // Two lines of a processor's memory, with what an allocator takes.
        assert_eq!(size_of::<Entry>(), 120);
    }
}
