//! The tool calls of a session: the status of each, and whether the client may cancel it.

use std::sync::Arc;

use crate::engine::areas::offer::Offer;
use crate::engine::areas::recent::Recent;
use crate::engine::Session;
use crate::jsonrpc::MAX_NAME_BYTES;
use crate::map::Set;
use crate::rules::Way;

/// The tool calls of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Tools {
    pub(super) calls: Recent<Call>,
    /// The open ones of this turn, so that its end and its cancellation need not search all.
    pub(super) open: Set<Arc<str>>,
    /// Turns that have ended.
    pub(super) turns: u64,
    /// The terminals that the agent runs itself and has announced.
    pub(super) own_terminals: Recent<()>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) status: Status,
    /// Whether the message that starts a tool call has been sent. A permission request, an update of version 1 or a
    /// chunk of version 2 may come before it.
    pub(super) reported: bool,
    /// The number of the turn in which it first appeared, if any.
    pub(super) turn: Option<u64>,
    /// Whether the client may cancel it (TOOL-37).
    pub(super) offer: Offer,
}

/// The status of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Status {
    Pending,
    InProgress,
    Paused,
    Completed,
    Failed,
    /// The agent has cancelled it (version 2).
    Cancelled,
    /// The client has cancelled the turn (CANCEL-02). Not a status on the wire.
    GivenUp,
    /// A custom or unknown status, which is not final.
    Other(Box<str>),
}

impl Status {
    pub(super) fn parse(name: &str) -> Self {
        match name {
            "pending" => Status::Pending,
            "in_progress" => Status::InProgress,
            "paused" => Status::Paused,
            "completed" => Status::Completed,
            "failed" => Status::Failed,
            "cancelled" => Status::Cancelled,
            other => {
                let end = other.len().min(MAX_NAME_BYTES);
                let end = (0..=end).rev().find(|&at| other.is_char_boundary(at)).unwrap_or(0);
                Status::Other(other[..end].into())
            }
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Status::Pending => "pending",
            Status::InProgress => "in_progress",
            Status::Paused => "paused",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Cancelled | Status::GivenUp => "cancelled",
            Status::Other(name) => name,
        }
    }

    /// [`GivenUp`](Self::GivenUp) is not final: the agent may still report another end (CANCEL-07).
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Status::Completed | Status::Failed | Status::Cancelled)
    }

    fn is_open(&self) -> bool {
        !self.is_final() && *self != Status::GivenUp
    }
}

impl Call {
    /// Whether the client may cancel it, which needs an unfinished call (TOOL-39).
    pub(super) fn may_be_cancelled(&self) -> bool {
        self.offer.stands() && !(self.status.is_final() && id!("TOOL-39").is_on(Way::Track))
    }
}

impl Tools {
    /// The open calls of a cancelled turn count as cancelled, except those that continue in the background.
    pub(in crate::engine::areas) fn cancel(&mut self, goes_on: impl Fn(&str) -> bool) {
        for id in std::mem::take(&mut self.open).keys().filter(|id| !goes_on(id)) {
            if let Some(call) = self.calls.get_mut(id) {
                call.status = Status::GivenUp;
            }
        }
    }

    /// Whether an update of this call is too late, because its turn was the last one that ended (TURN-05). An open call
    /// may continue in the background (TURN-06), unless the turn was cancelled.
    pub(in crate::engine::areas) fn is_late(&self, id: &str, cancelled: bool) -> bool {
        self.calls.get(id).map_or(cancelled, |call| {
            let of_the_last = call.turn.is_some_and(|turn| turn + 1 == self.turns);
            of_the_last && (cancelled || call.status.is_final())
        })
    }

    pub(super) fn is_new(&self, id: &str) -> bool {
        self.calls.is_new(id)
    }

    /// Changes a call, which is created if there is none.
    pub(super) fn change(&mut self, id: &str, running: bool, limit: usize, change: impl FnOnce(&mut Call)) {
        let turns = self.turns;
        let turn = running.then_some(turns);
        let is_listed = |call: &Call| call.turn == Some(turns) && call.status.is_open();
        let mut is_new = false;
        let new = || {
            is_new = true;
            Call { status: Status::Pending, reported: false, turn, offer: Offer::default() }
        };
        let (id, call, forgotten) = self.calls.entry_for(id, limit, new);
        let was_listed = !is_new && is_listed(call);
        change(call);
        match (was_listed, is_listed(call)) {
            (false, true) => _ = self.open.insert(id, ()),
            (true, false) => _ = self.open.remove(&id),
            _ => {}
        }
        if let Some(forgotten) = forgotten {
            self.open.remove(&forgotten);
        }
    }

    /// A turn has ended.
    pub(in crate::engine::areas) fn leave_over(&mut self) {
        self.turns += 1;
        self.open.clear();
    }
}

impl Session {
    /// The ids of the session's tool calls and the status of each, oldest first (TOOL-05, TOOL-06, TOOL-18, TOOL-19;
    /// protocol page "Tool Calls"): `pending`, `in_progress`, `completed`, `failed`, in version 2 also `paused`,
    /// `cancelled` and custom statuses, cut to 4,096 bytes. `cancelled` also if this side is the client and has
    /// cancelled the turn (CANCEL-02). At most the newest
    /// [`Limits::remembered`](crate::connection::Limits::remembered).
    pub fn tool_calls(&self) -> impl Iterator<Item = (&str, &str)> {
        self.tools.calls.iter().map(|(id, call)| (id, call.status.name()))
    }

    /// The ids of the tool calls that the client may cancel now with `tool_call/cancel`, oldest first (TOOL-37; version
    /// 2).
    pub fn cancellable_tool_calls(&self) -> impl Iterator<Item = &str> {
        self.tools.calls.iter().filter(|(_, call)| call.may_be_cancelled()).map(|(id, _)| id)
    }
}
