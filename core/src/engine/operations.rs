//! What each update does to a conversation, in words that all versions share.
//!
//! [`ROWS`] says it of each kind of update of each version: a message gets another block, a tool call other members, a
//! terminal more bytes. Trackers and the view read operations and no versions; a bridge between versions
//! would read those of one and write those of the other. What a row leaves open is in [`Thing`]: which member is the id,
//! and which the content.

use std::borrow::Cow;

use super::context::RuleMessage;
use crate::json;
use crate::validation::table::Tables;
use crate::validation::FieldIndex;
use crate::versions::Versions;

/// Whose message it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Speaker {
    /// The user's, of this client or another one.
    User,
    /// The agent's.
    Agent,
    /// A thought of the agent's.
    Thought,
    /// From one session to another.
    Session,
}

impl Speaker {
    /// A name for it, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            Speaker::User => "user",
            Speaker::Agent => "agent",
            Speaker::Thought => "thought",
            Speaker::Session => "session",
        }
    }
}

/// What a conversation is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Thing {
    Message(Speaker),
    ToolCall,
    Terminal,
    Plan,
    Compaction,
    /// A session that belongs to this one.
    Child,
}

impl Thing {
    /// The member of an update that names it, and the one with all of its content.
    pub(crate) const fn members(self) -> (&'static str, &'static str) {
        match self {
            Thing::Message(_) => ("messageId", "content"),
            Thing::ToolCall => ("toolCallId", "content"),
            Thing::Terminal => ("terminalId", "output"),
            Thing::Plan => ("planId", "entries"),
            Thing::Compaction => ("compactionId", "summary"),
            Thing::Child => ("sessionId", ""),
        }
    }
}

/// The member of `session/update` that is the update, and where it stands.
const UPDATE: &str = "update";
const WHOLE: &str = "/update";
/// The call that is about one, and the one that asks about a tool call.
const TOLD: &str = "session/update";
const ASKED: &str = "session/request_permission";

/// Something that a session has one of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fact {
    Commands,
    Options,
    /// The mode in force.
    Mode,
    /// Title and time.
    Info,
    Usage,
    /// What the foreground does.
    State,
}

/// What an update does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Does {
    /// It says all of a thing, whatever there was.
    Start(Thing),
    /// It says some members of a thing, which begins if there is none.
    Patch(Thing),
    /// It adds one item to what a thing holds.
    Append(Thing),
    /// The thing is gone.
    Remove(Thing),
    Tell(Fact),
    /// What was replayed ends here.
    EndReplay,
    /// It is shown to the user, and is no part of the conversation.
    Notice,
    /// Nobody knows; it is kept as it came.
    Other,
}

impl Does {
    /// Whether it says something in the conversation, and not beside it.
    pub(crate) fn is_shown(self) -> bool {
        !matches!(self, Tell(_) | Does::EndReplay)
    }
}

/// One kind of update.
#[derive(Debug)]
pub(super) struct Row {
    kind: &'static str,
    versions: Versions,
    does: Does,
    /// Whether null clears a member, or says nothing.
    clears: bool,
    /// The member with those of the thing, or the fact; empty where it is the update itself.
    at: &'static str,
}

const fn row(kind: &'static str, does: Does) -> Row {
    Row { kind, versions: Versions::ALL, does, clears: false, at: "" }
}

impl Row {
    const fn only(self, version: u16) -> Row {
        Row { versions: Versions::only(version), ..self }
    }

    const fn clears(self) -> Row {
        Row { clears: true, ..self }
    }

    const fn at(self, at: &'static str) -> Row {
        Row { at, ..self }
    }
}

use Does::{Append, Patch, Remove, Start, Tell};
use Speaker::{Agent, Session, Thought, User};
use Thing::{Child, Compaction, Plan, Terminal, ToolCall};

/// Most frequent first. What is not here does [`Does::Other`].
static ROWS: &[Row] = &[
    row("agent_message_chunk", Append(Thing::Message(Agent))),
    row("agent_thought_chunk", Append(Thing::Message(Thought))),
    row("tool_call_update", Patch(ToolCall)).only(1),
    row("tool_call_update", Patch(ToolCall)).only(2).clears(),
    row("terminal_output_chunk", Append(Terminal)).only(2),
    row("tool_call_content_chunk", Append(ToolCall)).only(2),
    row("tool_call", Start(ToolCall)).only(1),
    row("plan", Start(Plan)).only(1),
    row("user_message_chunk", Append(Thing::Message(User))),
    row("user_message", Patch(Thing::Message(User))).only(2).clears(),
    row("agent_message", Patch(Thing::Message(Agent))).only(2).clears(),
    row("agent_thought", Patch(Thing::Message(Thought))).only(2).clears(),
    row("state_update", Tell(Fact::State)).only(2),
    row("usage_update", Tell(Fact::Usage)).only(1),
    row("usage_update", Tell(Fact::Usage)).only(2).clears(),
    row("terminal_update", Patch(Terminal)).only(2).clears(),
    row("plan_update", Start(Plan)).at("plan"),
    row("plan_removed", Remove(Plan)),
    row("available_commands_update", Tell(Fact::Commands)).at("availableCommands"),
    row("config_option_update", Tell(Fact::Options)).at("configOptions"),
    row("current_mode_update", Tell(Fact::Mode)).only(1).at("currentModeId"),
    row("session_info_update", Tell(Fact::Info)).clears(),
    row("notice", Does::Notice),
    row("compaction_update", Patch(Compaction)).clears(),
    row("compaction_summary_chunk", Append(Compaction)),
    row("subagent_update", Patch(Child)).clears(),
    row("session_message", Patch(Thing::Message(Session))).clears(),
    row("session_message_chunk", Append(Thing::Message(Session))),
    row("replay_complete", Does::EndReplay).only(2),
    row("prompt_suggestions_update", Does::Other).only(1),
];

static OTHERS: Row = row("", Does::Other);

fn find(kind: &str, version: u16) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.kind == kind && row.versions.contains(version))
}

/// What calls of a method do, by the kind of the update; of one whose kind the version does not know, the text says more.
pub(super) fn row_of(version: u16, method: &str, kind: Option<&str>) -> Option<&'static Row> {
    match method {
        TOLD => Some(kind.and_then(|kind| find(kind, version)).unwrap_or(&OTHERS)),
        ASKED => find("tool_call_update", version),
        _ => None,
    }
}

/// What one message does.
#[derive(Debug, Clone)]
pub(crate) struct Operation<'a> {
    pub(crate) does: Does,
    /// Whether null clears a member, or says nothing.
    clears: bool,
    /// The id of the thing as JSON text, where it is given.
    pub(crate) id: Option<&'a str>,
    /// The object with the members that it is about; what is added, which may be missing; the fact.
    pub(crate) body: &'a str,
    /// Where the members of the body were seen: the text, and what was seen of it.
    seen: Option<(&'a str, &'a FieldIndex)>,
}

fn given(value: Option<&str>) -> Option<&str> {
    value.filter(|value| *value != "null")
}

impl<'a> Operation<'a> {
    /// What a call does, if it does anything to a conversation.
    #[inline]
    pub(crate) fn of(message: &RuleMessage<'a>, tables: &Tables) -> Option<Self> {
        let row = message.rows.does?;
        match row.does {
            _ if message.method == ASKED => Operation::of_permission(message, row, tables),
            // Most updates are such.
            Append(Thing::Message(_)) => {
                Operation::of_chunk(message, row, [const { Thing::Message(Agent).members().0 }, "content"])
            }
            Append(Terminal) => Operation::of_chunk(message, row, [Terminal.members().0, "data"]),
            Append(thing) => Operation::of_chunk(message, row, [thing.members().0, "content"]),
            _ => Operation::of_update(message, row, tables),
        }
    }

    #[inline]
    fn of_chunk(message: &RuleMessage<'a>, row: &Row, names: [&'static str; 2]) -> Option<Self> {
        let seen = message.field_index.and_then(|(text, index)| index.pick(text, UPDATE, names));
        let [id, item] = if let Some(members) = seen {
            members
        } else {
            let whole = message.get(WHOLE)?;
            names.map(|name| json::member(whole, name))
        };
        let body = given(item).unwrap_or_default();
        Some(Operation { does: row.does, clears: row.clears, id: given(id), body, seen: None })
    }

    #[inline(never)]
    fn of_update(message: &RuleMessage<'a>, mut row: &Row, tables: &Tables) -> Option<Self> {
        if row.kind.is_empty() {
            row = find(&message.text("/update/sessionUpdate")?, tables.version).unwrap_or(&OTHERS);
        }
        let Row { does, clears, at, .. } = *row;
        let whole = message.get(WHOLE)?;
        let mut told = Operation { does, clears, id: None, body: whole, seen: message.field_index };
        match does {
            Start(thing) | Patch(thing) | Remove(thing) if at.is_empty() => {
                told.id = given(told.member(thing.members().0));
            }
            _ if at.is_empty() => {}
            _ => (told.body, told.seen) = (given(told.member(at))?, None),
        }
        if let (Start(Plan), false) = (does, at.is_empty()) {
            told.id = given(told.member("planId").or_else(|| told.member("id")));
        }
        Some(told)
    }

    /// What a request for permission says of a tool call.
    fn of_permission(message: &RuleMessage<'a>, row: &Row, tables: &Tables) -> Option<Self> {
        let place = tables.dialect.permission_tool_call;
        let subject = &place[..place.rfind('/')?];
        // What an unknown subject has under this name is its own.
        if !subject.is_empty() && message.text(&format!("{subject}/type"))? != "tool_call" {
            return None;
        }
        let body = message.get(place)?;
        let id = given(json::member(body, "toolCallId"));
        Some(Operation { does: row.does, clears: row.clears, id, body, seen: None })
    }

    /// The tool call that a request for permission is about: the one whose state it tells, or the one that runs the command.
    pub(crate) fn asked_about(message: &RuleMessage<'a>) -> Option<Cow<'a, str>> {
        if let Some(told) = message.operation {
            return told.id();
        }
        let is_command = message.method == ASKED && message.text("/subject/type")? == "command";
        message.text("/subject/toolCallId").filter(|_| is_command)
    }

    /// The id of the thing.
    #[inline]
    pub(crate) fn id(&self) -> Option<Cow<'a, str>> {
        json::unescape(self.id?)
    }

    /// Whose message it is about.
    pub(crate) fn speaker(&self) -> Option<Speaker> {
        match self.does {
            Start(Thing::Message(of)) | Patch(Thing::Message(of)) | Append(Thing::Message(of)) => Some(of),
            _ => None,
        }
    }

    /// A member of the body that is not null.
    pub(crate) fn get(&self, name: &'static str) -> Option<&'a str> {
        given(self.member(name))
    }

    /// A member of the body that is a string.
    pub(crate) fn text(&self, name: &'static str) -> Option<Cow<'a, str>> {
        json::unescape(self.member(name)?)
    }

    /// A member of the body, where that is an object; null is told apart from absence.
    pub(crate) fn member(&self, name: &'static str) -> Option<&'a str> {
        match self.seen.and_then(|(text, index)| index.pick(text, UPDATE, [name])) {
            Some([value]) => value,
            None => json::member(self.body, name),
        }
    }

    /// Each member of the body: `None` clears it. Null is left out where it clears nothing.
    pub(crate) fn each(&self, mut change: impl FnMut(&str, Option<&'a str>)) {
        let mut change = |name: &str, value: &'a str| match value {
            "null" if self.clears => change(name, None),
            "null" => {}
            value => change(name, Some(value)),
        };
        match self.seen.and_then(|(text, index)| index.members_of(text, UPDATE)) {
            Some(members) => members.for_each(|(name, value)| change(name, value)),
            None => json::members(self.body).into_iter().for_each(|(name, value)| change(&name, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::schema::tables;

    fn model(version: u16, file: &str) -> Value {
        let path = format!("{}/protocol/v{version}/{file}.json", env!("CARGO_MANIFEST_DIR"));
        serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
    }

    /// The kinds of updates that a version has, drafts and all.
    fn kinds(version: u16) -> Vec<(String, String)> {
        let updates = model(version, "updates");
        let variants = updates["SessionUpdate"]["union"]["variants"].as_object().unwrap();
        let name =
            |variant: &Value| variant["type"].as_str().or_else(|| variant.as_str()).unwrap_or_default().to_owned();
        variants.iter().map(|(kind, variant)| (kind.clone(), name(variant))).collect()
    }

    #[test]
    fn each_kind_of_update_has_one_row() {
        for tables in tables::all() {
            let here = |row: &&Row| row.versions.contains(tables.version);
            let of_it = |kind: &str| ROWS.iter().filter(here).filter(|row| row.kind == kind).count();
            let kinds = kinds(tables.version);
            for (kind, _) in &kinds {
                assert_eq!(of_it(kind), 1, "{kind} of version {}", tables.version);
            }
            for row in ROWS.iter().filter(here) {
                assert!(kinds.iter().any(|(kind, _)| kind == row.kind), "{} is not of {}", row.kind, tables.version);
            }
        }
    }

    #[test]
    fn null_clears_where_the_model_says_so() {
        let files = ["updates", "tools", "plans", "terminals", "config", "commands", "state"];
        for tables in tables::all() {
            let models = files.map(|file| model(tables.version, file));
            for (kind, name) in kinds(tables.version) {
                let row = find(&kind, tables.version).unwrap();
                let Some(object) = models.iter().find_map(|model| model[&name]["object"].as_object()) else { continue };
                let patch = |field: &Value| field["patch"] == true;
                let patches = matches!(row.does, Patch(_) | Tell(Fact::Info | Fact::Usage));
                assert!(!patches || row.clears == object.values().any(patch), "{kind} of version {}", tables.version);
                if let (Patch(thing) | Append(thing), false) = (row.does, kind == "usage_update") {
                    assert!(object.contains_key(thing.members().0), "{kind}: {thing:?}");
                }
            }
        }
    }
}
