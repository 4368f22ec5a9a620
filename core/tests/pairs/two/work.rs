//! What an agent knows of one of its sessions.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Stage {
    /// The answer with its id is still on its way (SESS-52).
    Early,
    /// The past is told again.
    Replaying,
    Resuming,
    #[default]
    Open,
}

#[derive(Debug, Clone)]
#[allow(clippy::struct_excessive_bools, reason = "each is true or not whatever the others are")]
pub(super) struct Work {
    pub(super) stage: Stage,
    /// The state that was told last.
    pub(super) state: &'static str,
    /// Why the last work ended, if that was told and none has begun since.
    pub(super) reason: Option<&'static str>,
    /// A message is in the conversation on which no work was told of yet.
    pub(super) due: bool,
    /// An idle was told since such a message came: nobody waits for its work any more.
    pub(super) rested: bool,
    /// The client has cancelled such messages. That this ends their work may be told, and need not be.
    pub(super) unseen: bool,
    /// The client has cancelled once, so that a reason may have gone out as `cancelled` (LIFE-15) and is not repeated.
    pub(super) stopped: bool,
    /// The client has cancelled what goes on.
    pub(super) cancelled: bool,
    /// The state was told since the session was resumed, and nothing of the past since then.
    pub(super) synced: bool,
    /// Open calls that have asked for a replay: what is told is the past until each of them has its mark.
    pub(super) replays: usize,
    /// Messages of prompts that were answered and not echoed yet.
    pub(super) unshown: Vec<(String, Value)>,
    /// The ids of messages that may go on, each with its kind.
    pub(super) messages: Vec<(&'static str, String)>,
    /// What was listed last, where background work is reported.
    pub(super) background: Option<Vec<Value>>,
    pub(super) tools: BTreeMap<String, Tool>,
    pub(super) terminals: BTreeMap<String, Terminal>,
    pub(super) compactions: BTreeSet<String>,
    pub(super) options: Vec<Value>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Tool {
    pub(super) ended: bool,
    pub(super) offers: bool,
    /// Told in full, so that the next update may be a part.
    pub(super) told: bool,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Terminal {
    pub(super) ended: bool,
    pub(super) offers: bool,
    pub(super) told: bool,
}

impl Work {
    pub(super) fn new(stage: Stage) -> Self {
        Work {
            stage,
            state: "idle",
            reason: None,
            due: false,
            rested: false,
            unseen: false,
            stopped: false,
            cancelled: false,
            synced: false,
            replays: 0,
            unshown: Vec::new(),
            messages: Vec::new(),
            background: None,
            tools: BTreeMap::new(),
            terminals: BTreeMap::new(),
            compactions: BTreeSet::new(),
            options: Vec::new(),
        }
    }

    pub(super) fn is_working(&self) -> bool {
        self.state != "idle"
    }

    pub(super) fn tool_ids(&self) -> Vec<String> {
        self.tools.keys().cloned().collect()
    }

    /// Stops what goes on.
    pub(super) fn cancel(&mut self) {
        self.stopped = true;
        self.cancelled |= self.is_working();
        self.unseen |= !self.is_working() && std::mem::take(&mut self.due) && !self.rested;
    }
}
