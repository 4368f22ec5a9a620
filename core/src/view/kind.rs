//! The kinds of entries, and the members of each.

use crate::engine::operations::{Speaker, Thing};

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EntryKind {
    /// A message or a thought.
    Message(Speaker),
    /// A tool call.
    ToolCall,
    /// A terminal: it stands beside the entries.
    Terminal,
    /// A plan.
    Plan,
    /// A condensing of the agent's context.
    Compaction,
    /// A session that belongs to this one.
    Subagent,
    /// Something that the user is told in passing.
    Notice,
    /// An update that this version of the library does not know, as it came.
    Update,
}

impl EntryKind {
    /// A name for it, the same in every language: `type` in [`Entry::to_json`](super::Entry::to_json).
    pub const fn name(self) -> &'static str {
        match self {
            EntryKind::Message(_) => "message",
            EntryKind::ToolCall => "tool_call",
            EntryKind::Terminal => "terminal",
            EntryKind::Plan => "plan",
            EntryKind::Compaction => "compaction",
            EntryKind::Subagent => "subagent",
            EntryKind::Notice => "notice",
            EntryKind::Update => "update",
        }
    }

    /// Its members beside the content, each with the JSON that stands for one that was not told.
    pub(super) const fn members(self) -> &'static [(&'static str, &'static str)] {
        match self {
            EntryKind::Message(Speaker::Session) => &[
                ("senderSessionId", "null"),
                ("recipientSessionId", "null"),
                ("senderMessageId", "null"),
                ("recipientMessageId", "null"),
            ],
            EntryKind::Message(_) => &[],
            // TOOL-05, TOOL-18.
            EntryKind::ToolCall => &[
                ("name", "null"),
                ("title", "null"),
                ("kind", "\"other\""),
                ("status", "\"pending\""),
                ("locations", "[]"),
                ("rawInput", "null"),
                ("rawOutput", "null"),
                ("capabilities", "null"),
            ],
            EntryKind::Terminal => &[
                ("command", "null"),
                ("cwd", "null"),
                ("size", "null"),
                ("exitStatus", "null"),
                ("capabilities", "null"),
            ],
            EntryKind::Plan => &[("plan", "null")],
            EntryKind::Compaction => &[("status", "\"in_progress\""), ("error", "null")],
            EntryKind::Subagent => &[
                ("title", "null"),
                ("description", "null"),
                ("capabilities", "null"),
                ("state", "null"),
                ("cwd", "null"),
                ("additionalDirectories", "[]"),
            ],
            EntryKind::Notice => &[("severity", "\"info\""), ("title", "null"), ("description", "null")],
            EntryKind::Update => &[("sessionUpdate", "null"), ("update", "null")],
        }
    }
}

impl From<Thing> for EntryKind {
    fn from(thing: Thing) -> Self {
        match thing {
            Thing::Message(speaker) => EntryKind::Message(speaker),
            Thing::ToolCall => EntryKind::ToolCall,
            Thing::Terminal => EntryKind::Terminal,
            Thing::Plan => EntryKind::Plan,
            Thing::Compaction => EntryKind::Compaction,
            Thing::Child => EntryKind::Subagent,
        }
    }
}
