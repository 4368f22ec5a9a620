//! The rules that decide whether a call is admitted, the same for what the host sends and for what the peer sends.
//!
//! A rule is a row of [`CHECKS`]: they are tried in order and the first that objects decides. `rows` has the
//! rules on method, side, form, phase and capability. The rules of each further area get a file of their own here.

mod rows;

use super::{MisuseKind, Role};
use crate::jsonrpc::ErrorCode;
use crate::rules::{RuleId, Way};
use crate::validation::table::{Kind, Method};

pub(crate) use rows::{too_early, Gates};

/// A call that one side makes and the other is to serve.
pub(crate) struct Attempt<'a> {
    pub(crate) method: &'static Method,
    pub(crate) sender: Role,
    /// Whether the host makes it, or the peer.
    pub(crate) way: Way,
    /// Request or notification.
    pub(crate) form: Kind,
    /// `initialize` has been answered.
    pub(crate) ready: bool,
    /// `initialize` has been sent, and may not be sent again.
    pub(crate) begun: bool,
    /// The method is for logging in or out, and the agent has listed no way to.
    pub(crate) unlisted: bool,
    /// What the receiver has advertised.
    pub(crate) gates: &'a Gates,
}

/// Why a call is not admitted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) rule: RuleId,
    /// The answer to a peer's request.
    pub(crate) code: ErrorCode,
    /// The kind of misuse when it is the host's call.
    pub(crate) kind: MisuseKind,
    pub(crate) message: String,
}

type Check = fn(&Attempt<'_>) -> Option<Refusal>;

/// The rules, in the order in which they are tried.
const CHECKS: &[Check] = &[rows::phase, rows::side, rows::once, rows::form, rows::gate, rows::login];

impl Attempt<'_> {
    /// The first objection to this call.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        CHECKS.iter().filter_map(|check| check(self)).find(|refusal| refusal.rule.is_on(self.way))
    }
}
