//! What the client may cancel while it offers that: a tool call (TOOL-37), the command of a terminal (DTERM-14).

use crate::engine::RuleContext;
use crate::json;

/// Whether something offers to be cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Offer {
    stands: bool,
    /// The serial number of the newest request when the offer was taken back, or what made it ended: until a later one is
    /// answered, the client need not have heard of it.
    withdrawn: Option<u64>,
}

impl Offer {
    pub(super) fn stands(self) -> bool {
        self.stands
    }

    /// A message says whether it stands.
    pub(super) fn tell(&mut self, stands: bool, newest: u64) {
        if !stands {
            self.end(newest);
        }
        self.stands = stands;
    }

    /// What has made it ended, which may not have taken it back.
    pub(super) fn end(&mut self, newest: u64) {
        if self.stands {
            self.withdrawn = Some(newest);
        }
    }

    /// Whether the client need not have heard of its end. Then its cancel is delivered, and it is the host that refuses it.
    pub(super) fn may_be_crossed(self, context: &RuleContext<'_>) -> bool {
        let received = context.sender != context.state.config.role;
        received && self.withdrawn.is_some_and(|newest| context.state.answered <= newest)
    }
}

/// Whether these capabilities say that it may be cancelled; null and an empty object say that it may not.
pub(super) fn told(capabilities: &str) -> bool {
    json::member(capabilities, "cancel").is_some_and(|cancel| cancel != "null")
}
