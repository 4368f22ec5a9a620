//! The hosts of version 2.
//!
//! `client` is one side. The other is `agent` (what it is asked), `prompts` (how work begins and ends), `updates`,
//! `tools` and `questions` (what it tells and asks), on what `work` knows of a session.

mod agent;
mod client;
mod content;
mod prompts;
mod questions;
mod tools;
mod updates;
mod work;

pub(crate) use agent::Agent;
pub(crate) use client::Client;

/// Unions of which each variant is to be sent: the type, the member that has it, and the tag.
pub(crate) const UNIONS: &[(&str, &str, &str)] = &[
    ("SessionUpdate", "update", "sessionUpdate"),
    ("StateUpdate", "update", "state"),
    ("IdleStateUpdate", "update", "stopReason"),
    ("BackgroundWork", "background", "type"),
    ("ContentBlock", "content", "type"),
    ("ContentBlock", "prompt", "type"),
    ("ToolCallContent", "content", "type"),
    ("DiffChange", "changes", "operation"),
    ("PlanUpdateContent", "plan", "type"),
    ("SessionConfigOption", "configOptions", "type"),
    ("AvailableCommand", "availableCommands", "type"),
    ("SetSessionConfigOptionRequest", "params", "type"),
    ("McpServer", "mcpServers", "type"),
    ("ReplayFrom", "replayFrom", "type"),
    ("AuthMethod", "authMethods", "type"),
    ("RequestPermissionSubject", "subject", "type"),
    ("RequestPermissionOutcome", "outcome", "outcome"),
    ("CreateElicitationRequest", "params", "mode"),
    ("CreateElicitationResponse", "result", "action"),
];

/// What both hosts know of what is not stable.
pub(crate) const DRAFTS: &[&str] = &[
    "auth_status",
    "end_turn_token_usage",
    "plan_operations",
    "session_archive",
    "session_fork",
    "session_set_title",
    "session_status",
];
