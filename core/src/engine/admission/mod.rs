//! The rules that decide whether a call is admitted, the same for what the host sends and for what the peer sends.
//!
//! The functions in [`CHECKS`] run in order, and the first refusal decides. `rows` has them all.

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
    /// Whether the host or the peer makes the call.
    pub(crate) way: Way,
    /// Request or notification.
    pub(crate) form: Kind,
    /// `initialize` has been answered.
    pub(crate) ready: bool,
    /// `initialize` has been sent, and may not be sent again.
    pub(crate) begun: bool,
    /// The method is for logging in or out, and the agent has listed no authentication methods.
    pub(crate) unlisted: bool,
    /// What the receiver has advertised.
    pub(crate) gates: &'a Gates,
}

/// Why a call is not admitted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusal {
    pub(crate) rule: RuleId,
    /// The error code of the response to a peer's request.
    pub(crate) code: ErrorCode,
    /// The kind of misuse when it is the host's call.
    pub(crate) kind: MisuseKind,
    pub(crate) message: String,
}

type Check = fn(&Attempt<'_>) -> Option<Refusal>;

/// The rules, in the order in which they are tried.
const CHECKS: &[Check] = &[rows::phase, rows::side, rows::once, rows::form, rows::gate, rows::login];

impl Attempt<'_> {
    /// Why this call is refused, if it is.
    pub(crate) fn refusal(&self) -> Option<Refusal> {
        CHECKS.iter().filter_map(|check| check(self)).find(|refusal| refusal.rule.is_on(self.way))
    }
}
