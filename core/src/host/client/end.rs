//! How work has ended, and the answer of version 1 that says so.

use super::shapes::{given, object, text};
use super::work::result;
use crate::connection::{Outcome, Session};
use crate::json;
use crate::jsonrpc::{ErrorCode, PeerError};

/// The stop reasons that version 1 has (TURN-01).
const REASONS: [&str; 5] = ["end_turn", "max_tokens", "max_turn_requests", "refusal", CANCELLED];
const CANCELLED: &str = "cancelled";
/// The reason of work that has failed, which version 1 answers with an error.
const FAILED: &str = "error";

/// What an idle says of the work that it ends.
#[derive(Debug, Clone, Default)]
pub(super) struct End {
    reason: Option<String>,
    error: Option<String>,
    usage: Option<String>,
    meta: Option<String>,
}

impl End {
    /// Work that the client has cancelled.
    pub(super) fn cancelled() -> Self {
        End { reason: Some(CANCELLED.into()), ..End::default() }
    }

    /// What an idle `state_update` says.
    pub(super) fn of(params: &str) -> Self {
        let member = |name: &str| given(params, &format!("/update/{name}")).map(str::to_owned);
        let reason = text(params, "/update/stopReason").map(Into::into);
        End { reason, error: member("error"), usage: member("usage"), meta: member("_meta") }
    }

    /// What the session's last idle has said.
    pub(super) fn known(session: &Session) -> Self {
        let owned = |text: Option<&str>| text.map(str::to_owned);
        End { reason: owned(session.stop_reason()), error: owned(session.stop_error()), ..End::default() }
    }

    /// Why the work has ended, if that was told.
    pub(super) fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.reason() == Some(CANCELLED)
    }

    /// The end of a prompt whose message has this id. Reasons that version 1 does not have are ordinary ends there.
    pub(super) fn outcome(&self, message: Option<&str>, cancelled: bool) -> Outcome {
        let reason = match self.reason() {
            Some(FAILED) => return Outcome::Error(self.failure()),
            Some(reason) if REASONS.contains(&reason) => reason,
            None if cancelled => CANCELLED,
            _ => REASONS[0],
        };
        result(object("{}", |writer| {
            writer.key("stopReason").string(reason);
            if let Some(message) = message {
                writer.key("messageId").string(message);
            }
            for (name, value) in [("usage", &self.usage), ("_meta", &self.meta)] {
                if let Some(value) = value {
                    writer.key(name).json(value);
                }
            }
        }))
    }

    fn failure(&self) -> PeerError {
        let error = self.error.as_deref().unwrap_or("{}");
        let code = json::pointer(error, "/code").and_then(|code| code.parse().ok());
        let code = code.map_or(ErrorCode::INTERNAL_ERROR, ErrorCode);
        let message = text(error, "/message").unwrap_or_else(|| code.message().into());
        PeerError { code, message: message.into(), data: given(error, "/data").map(str::to_owned) }
    }
}
