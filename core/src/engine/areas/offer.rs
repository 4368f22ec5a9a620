//! Items with the capability to be cancelled by the client: tool calls (TOOL-37), commands of terminals (DTERM-14).

use crate::engine::RuleContext;
use crate::json;

/// Whether an item can be cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Offer {
    stands: bool,
    /// The highest serial when the capability was removed or the item ended. Until a later request is answered, the
    /// client may not know of that.
    withdrawn: Option<u64>,
}

impl Offer {
    pub(super) fn stands(self) -> bool {
        self.stands
    }

    /// Sets whether the item can be cancelled.
    pub(super) fn tell(&mut self, stands: bool, newest: u64) {
        if !stands {
            self.end(newest);
        }
        self.stands = stands;
    }

    /// The item has ended, with or without an update of its capabilities.
    pub(super) fn end(&mut self, newest: u64) {
        if self.stands {
            self.withdrawn = Some(newest);
        }
    }

    /// Whether the client may not know of the end yet. Then its cancel is delivered, and the host has to refuse it.
    pub(super) fn may_be_crossed(self, context: &RuleContext<'_>) -> bool {
        let received = context.sender != context.state.config.role();
        received && self.withdrawn.is_some_and(|newest| context.state.answered <= newest)
    }
}

/// Whether these capabilities of an item allow to cancel it. Null and an empty object do not allow it.
pub(super) fn told(capabilities: &str) -> bool {
    json::member(capabilities, "cancel").is_some_and(|cancel| cancel != "null")
}
