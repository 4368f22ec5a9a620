//! A session as a conversation: what a client shows, kept while the messages come and go.
//!
//! A [`View`] has the messages with their text in one piece, the tool calls with all that was said of them, plans,
//! terminals, and what the session has one of: its state, its title, its options. Connections and observers keep one of
//! each session when [`Config::view`](crate::Config::view) says so; it speaks no version, whichever the peers do.
//!
//! Who draws it asks what has changed since the revision that was drawn last:
//!
//! ```
//! # use libacp::{Config, Connection};
//! let mut config = Config::client();
//! config.view = true;
//! let mut client = Connection::new(config);
//! # client.request("initialize", "{}").unwrap();
//! # client.receive(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1}}\n");
//! # while client.poll_event().is_some() {}
//! # client.request("session/new", r#"{"cwd":"/work","mcpServers":[]}"#).unwrap();
//! # client.receive(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"sessionId\":\"s\"}}\n");
//! # while client.poll_event().is_some() {}
//! client.request("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"Hello?"}]}"#).unwrap();
//! for word in ["Good ", "morning."] {
//!     let update = format!(r#"{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"{word}"}}}}"#);
//!     let params = format!(r#"{{"sessionId":"s","update":{update}}}"#);
//!     client.receive(format!("{{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{params}}}\n").as_bytes());
//! }
//! let mut drawn = 0;
//! while client.poll_event().is_some() {}
//! let view = client.view("s").unwrap();
//! let texts: Vec<&str> = view.since(drawn).entries().map(|entry| entry.text()).collect();
//! assert_eq!(texts, ["Hello?", "Good morning."]);
//! drawn = view.revision();
//! assert!(view.since(drawn).is_empty());
//! ```
//!
//! Theory of operation. The connection shows each message that went through to `views`, after the engine has followed it.
//! What an update does is an operation of the engine's (`engine::operations`); `fold` applies it to the `story`, the
//! list of entries. `prompts` has what the client asks, which is in the conversation once the agent has taken it up, and
//! `questions` what the agent asks; `replay` what happens when a conversation is told again; `facts` what there is one of;
//! `tail` is how a content is read while it grows. Read `entry` first for what is kept, then `story`, then `fold`.

mod body;
mod changes;
mod content;
mod entry;
mod facts;
mod fold;
mod kind;
mod meta;
mod modes;
mod options;
pub(crate) mod output;
mod prompts;
mod questions;
mod replay;
mod shelf;
mod story;
mod tail;
mod terminals;
mod told;
mod views;

use std::borrow::Cow;

pub use changes::Changes;
pub use content::Block;
pub use entry::Entry;
pub use kind::EntryKind;
pub use modes::{Mode, Modes};
pub use prompts::OpenPrompt;
pub use questions::Question;
pub use tail::Tail;
pub(crate) use views::Views;

pub use crate::engine::operations::Speaker;

use crate::engine::Limits;
use crate::json::{self, Writer};
use body::Most;
use facts::{Facts, Name};
use replay::Replay;
use story::{Bounds, Story};
use terminals::Wanted;

/// A session as a conversation. [`to_json`](View::to_json) says what it has.
///
/// What it keeps is bounded by [`Limits::view_entries`] and its neighbours: the oldest entries that have ended become
/// stubs, which keep their ids and what is short ([`Entry::is_trimmed`]), and of as many stubs again the oldest are dropped.
#[derive(Debug, Clone)]
pub struct View {
    bounds: Bounds,
    most: Most,
    /// What is shown.
    story: Story,
    /// How many stories were begun beside the first one.
    stories: u64,
    /// What is replayed and not shown yet.
    next: Option<Box<Story>>,
    replay: Option<Replay>,
    revision: u64,
    epoch: u64,
    /// The revision in which the epoch began.
    since: u64,
    facts: Facts,
    prompts: Vec<OpenPrompt>,
    /// Those that the agent has taken up without an id; the message of the same content is theirs.
    unnamed: Vec<OpenPrompt>,
    questions: Vec<Question>,
    wanted: Vec<Wanted>,
}

/// Where a view begins.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Origin {
    revision: u64,
    epoch: u64,
}

impl Origin {
    /// One that is behind this view as well.
    fn behind(self, view: &View) -> Self {
        Origin { revision: self.revision.max(view.revision), epoch: self.epoch.max(view.epoch + 1) }
    }
}

/// The story that updates go to.
fn target<'s>(story: &'s mut Story, next: &'s mut Option<Box<Story>>) -> &'s mut Story {
    match next {
        Some(next) => next,
        None => story,
    }
}

impl View {
    pub(crate) fn new(limits: &Limits, origin: Origin) -> Self {
        View {
            bounds: Bounds { entries: limits.view_entries.min(Bounds::MOST), bytes: limits.view_bytes },
            most: Most { content: limits.view_content, output: limits.view_output },
            story: Story::new(0),
            stories: 0,
            next: None,
            replay: None,
            // Who has drawn nothing has drawn 0.
            revision: origin.revision + 1,
            epoch: origin.epoch,
            since: origin.revision + 1,
            facts: Facts::default(),
            prompts: Vec::new(),
            unnamed: Vec::new(),
            questions: Vec::new(),
            wanted: Vec::new(),
        }
    }

    /// A number that grows with each change. It does so while the connection lives, also where a view was forgotten and the
    /// session has another one now.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// A number that grows when the conversation is replaced by another one: by what a replay told, or because the view was
    /// forgotten. Indexes of entries mean something within an epoch.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// What has changed since a revision. It costs as much as there is of it, however long the conversation.
    pub fn since(&self, revision: u64) -> Changes<'_> {
        Changes::new(self, revision)
    }

    /// The entries in order: messages, tool calls, plans, compactions, subagents, notices, and updates that nobody knows.
    /// Terminals stand beside them.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.story.iter().filter(|entry| entry.kind != EntryKind::Terminal)
    }

    /// The entry of this index.
    pub fn entry(&self, index: u64) -> Option<&Entry> {
        self.story.get(index).filter(|entry| !entry.is_gone())
    }

    /// The terminals, in the order in which they were first told of: those that the agent runs (version 2), and those that
    /// the client runs for it (version 1).
    pub fn terminals(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.story.iter().filter(|entry| entry.kind == EntryKind::Terminal)
    }

    fn find(&self, kind: EntryKind, id: &str) -> Option<&Entry> {
        self.entry(self.story.find(kind, id)?)
    }

    /// The message of this id: the agent's or the user's; one id may stand for a thought as well, which comes last.
    pub fn message(&self, id: &str) -> Option<&Entry> {
        let speakers = [Speaker::Agent, Speaker::User, Speaker::Session, Speaker::Thought];
        speakers.into_iter().find_map(|speaker| self.find(EntryKind::Message(speaker), id))
    }

    /// The tool call of this id.
    pub fn tool(&self, id: &str) -> Option<&Entry> {
        self.find(EntryKind::ToolCall, id)
    }

    /// The terminal of this id.
    pub fn terminal(&self, id: &str) -> Option<&Entry> {
        self.find(EntryKind::Terminal, id)
    }

    /// The plan of this id. The one plan of a session of version 1 is called `main`.
    pub fn plan(&self, id: &str) -> Option<&Entry> {
        self.find(EntryKind::Plan, id)
    }

    /// What the agent does in the foreground: `idle`, `running`, `requires_action`, `unknown`, or a state of its own. In
    /// version 1 it is running while a prompt is open.
    pub fn state(&self) -> Cow<'_, str> {
        json::unescape(self.facts.or_default(Name::State)).unwrap_or_default()
    }

    /// Whether the agent works: its state says so, or a prompt is open.
    pub fn is_busy(&self) -> bool {
        !self.prompts.is_empty() || !matches!(&*self.state(), "idle" | "unknown")
    }

    /// Why the work ended last; `None` while it goes on, and where nothing was said.
    pub fn stop_reason(&self) -> Option<Cow<'_, str>> {
        json::unescape(self.facts.get(Name::StopReason)?)
    }

    /// The error that the work ended with, as JSON text of a JSON-RPC error object: in version 1 that of the prompt.
    pub fn error(&self) -> Option<&str> {
        self.facts.get(Name::Error)
    }

    /// How much of the context is used and what it has cost, as JSON text: `{"used", "size", "cost"}`.
    pub fn usage(&self) -> Option<&str> {
        self.facts.get(Name::Usage)
    }

    /// The tokens of the last turn as JSON text, as the agent told them at its end.
    pub fn turn_usage(&self) -> Option<&str> {
        self.facts.get(Name::TurnUsage)
    }

    /// The title of the session.
    pub fn title(&self) -> Option<Cow<'_, str>> {
        json::unescape(self.facts.get(Name::Title)?)
    }

    /// The config options as JSON text, a list with the names of version 2 (`configId`, `groupId`).
    pub fn config_options(&self) -> Option<Cow<'_, str>> {
        self.facts.options()
    }

    /// The mode in force, and those that are offered. Where a config option of the category `mode` stands for them, they are
    /// made of it.
    pub fn modes(&self) -> Option<Modes> {
        self.facts.modes().map(Modes)
    }

    /// The commands as JSON text, a list.
    pub fn commands(&self) -> Option<&str> {
        self.facts.get(Name::Commands)
    }

    /// What runs beside the foreground work, as JSON text, a list (version 2).
    pub fn background(&self) -> Option<&str> {
        self.facts.get(Name::Background)
    }

    /// The agent's questions that have no answer yet, oldest first.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// The client's prompts that have no answer yet, oldest first.
    pub fn prompts(&self) -> &[OpenPrompt] {
        &self.prompts
    }

    /// How many turns there were.
    pub fn turn(&self) -> u64 {
        self.story.turn
    }

    /// Whether a conversation is being replayed: the entries grow, or stay what they were until the replay has succeeded.
    pub fn is_replaying(&self) -> bool {
        self.replay.is_some()
    }

    /// Whether the session is over, so that the view changes no more.
    pub fn is_frozen(&self) -> bool {
        self.facts.get(Name::Frozen).is_some()
    }

    /// Bytes that it keeps, roughly.
    pub fn bytes(&self) -> usize {
        let asked = self.questions.iter().map(Question::bytes).sum::<usize>();
        let asked = asked + self.wanted.iter().map(Wanted::bytes).sum::<usize>();
        self.story.bytes + self.next.as_ref().map_or(0, |next| next.bytes) + self.facts.bytes() + asked
    }

    /// How many entries have become stubs so far.
    pub fn trimmed(&self) -> u64 {
        self.story.trimmed
    }

    /// How many entries were dropped altogether so far.
    pub fn dropped(&self) -> u64 {
        self.story.dropped
    }

    /// All of it as JSON text: an object with these members, always all of them.
    ///
    /// | member | value | from |
    /// | --- | --- | --- |
    /// | `revision`, `epoch` | numbers | [`revision`](View::revision), [`epoch`](View::epoch) |
    /// | `state`, `stopReason`, `error` | strings, an object; or null | [`state`](View::state) and what follows |
    /// | `usage`, `turnUsage` | objects or null | [`usage`](View::usage), [`turn_usage`](View::turn_usage) |
    /// | `title`, `updatedAt` | strings or null | [`title`](View::title) |
    /// | `configOptions`, `modes`, `commands`, `background` | lists and an object, or null | [`config_options`](View::config_options) and what follows |
    /// | `questions` | a list of `{"serial", "id", "method", "toolCallId", "params"}`, the id as JSON text | [`questions`](View::questions) |
    /// | `prompts` | a list of `{"serial", "id", "index", "messageId"}` | [`prompts`](View::prompts) |
    /// | `replaying`, `frozen` | booleans | [`is_replaying`](View::is_replaying), [`is_frozen`](View::is_frozen) |
    /// | `turn`, `trimmed`, `dropped` | numbers | [`turn`](View::turn), [`trimmed`](View::trimmed), [`dropped`](View::dropped) |
    /// | `entries`, `terminals` | lists of entries | [`Entry::to_json`] |
    ///
    /// It costs as much as it is long; [`Changes::to_json`] has what is new.
    pub fn to_json(&self) -> String {
        let mut out = Writer::new();
        out.begin_object().key("revision").unsigned(self.revision).key("epoch").unsigned(self.epoch);
        self.facts.write(&mut out);
        out.key("entries").begin_array();
        self.entries().for_each(|entry| entry.write(&mut out, true));
        out.end_array().key("terminals").begin_array();
        self.terminals().for_each(|entry| entry.write(&mut out, true));
        out.end_array().end_object();
        out.finish().unwrap_or_default()
    }

    /// Sets a fact, or clears it.
    fn say(&mut self, name: Name, value: Option<&str>) {
        self.facts.set(name, value, &mut self.revision);
    }

    /// The session is over, or begins again.
    pub(crate) fn freeze(&mut self, frozen: bool) {
        if frozen {
            self.fail_replay();
            self.over();
        }
        self.say(Name::Frozen, frozen.then_some("true"));
    }
}
