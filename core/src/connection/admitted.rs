//! What the host may send now, whatever is in the message: by phase, side, version and capabilities.

use super::calls::JSON_RPC;
use super::misuse::{shown, Misuse};
use super::outgoing::{too_long, CANCEL};
use super::{CloseReason, Connection};
use crate::engine::{too_early, withheld, MisuseKind};
use crate::jsonrpc::MAX_NAME_BYTES;
use crate::nearest::nearest;
use crate::rules::Way;
use crate::validation::table::{self, Method};

impl Connection {
    /// Whether a method could be sent now, as far as version, side, phase and capabilities decide that (CAP-02).
    ///
    /// A parameter or a value that needs a capability of its own is named behind a colon: `session/prompt:image`, `:audio`
    /// and `:resource`; `session/new:http` (or another call that opens a session), `:sse`, `:acp`,
    /// `:additionalDirectories`, `:systemPrompt`, `:systemPromptOverride` and `:configOptions`; `elicitation/create:form`
    /// and `:url`; `session/update:` and the kind of an update, or `session` for a tool call's link to one. What only the
    /// other version has, such as `:sse` in version 2, cannot be sent; what neither has is not judged.
    /// `tool_call/cancel` and `terminal/cancel` can be sent while a tool call or a terminal of some session can be cancelled;
    /// with an id behind the colon, the answer is about that one (TOOL-37, DTERM-14).
    pub fn can(&self, method: &str) -> bool {
        self.why_not(method).is_none()
    }

    /// The misuse that sending a method now would be, named as for [`can`](Self::can); `None` when it could be sent.
    pub fn why_not(&self, method: &str) -> Option<Misuse> {
        let (method, part) = method.split_once(':').map_or((method, None), |(method, part)| (method, Some(part)));
        let form = self.state.method(method).map(|row| row.kind != table::Kind::Notification);
        let refused = self.admitted(method, form.unwrap_or(true)).err();
        refused.or_else(|| {
            let (rule, message) = withheld(&self.state, method, part)?;
            Some(Misuse::new(MisuseKind::Capability, rule, message))
        })
    }

    pub(super) fn open(&self) -> Result<(), Misuse> {
        if self.lifecycle.is_closed() && id!("RPC-33").is_on(Way::Send) {
            return Err(Misuse::new(MisuseKind::Phase, id!("RPC-33"), "the connection is over"));
        }
        Ok(())
    }

    /// The row of a method that may be sent now; `None` for an extension method.
    pub(super) fn admitted(&self, method: &str, is_request: bool) -> Result<Option<&'static Method>, Misuse> {
        // Requests, and cancelling them, end with the stream. A peer that only stopped writing can still read a notification.
        if is_request || method == CANCEL {
            self.open()?;
        } else {
            self.writable()?;
        }
        let row = self.state.method(method);
        let Some(row) = row else {
            let early = Some(too_early(self.state.config.role())).filter(|_| !self.lifecycle.was_ready());
            if let Some(refusal) = early.filter(|refusal| refusal.rule.is_on(Way::Send)) {
                return Err(refusal.into());
            }
            let own = method.starts_with('_') || self.state.config.is_foreign(method);
            if own && method.len() > MAX_NAME_BYTES && id!("LIMIT-07").is_on(Way::Send) {
                return Err(too_long());
            }
            if own || !id!("EXT-07").is_on(Way::Send) {
                return Ok(None);
            }
            if method.starts_with(JSON_RPC) && id!("RPC-26").is_on(Way::Send) {
                let message = "names that begin with rpc. belong to JSON-RPC; custom methods begin with an underscore";
                return Err(Misuse::new(MisuseKind::Method, id!("RPC-26"), message));
            }
            return Err(Misuse::new(MisuseKind::Method, id!("EXT-07"), self.no_such_method(method)));
        };
        match self.admit(row, self.state.config.role(), is_request) {
            None => Ok(Some(row)),
            Some(refusal) if refusal.kind == MisuseKind::Capability => {
                let message = format!("{}; check before: can(\"{method}\")", refusal.message);
                Err(Misuse::new(refusal.kind, refusal.rule, message))
            }
            Some(refusal) => Err(refusal.into()),
        }
    }

    fn no_such_method(&self, method: &str) -> String {
        let near = nearest(method, self.state.tables.methods.iter().map(|row| row.name));
        format!(
            "no method {} in version {}{}; {} methods start with an underscore, and others have to be configured as \
             foreign methods",
            shown(method),
            self.state.tables.version,
            if self.state.config.drafts == 0 { " (drafts are off)" } else { "" },
            near.map_or_else(|| "own".to_owned(), |near| format!("did you mean \"{near}\"? Own"))
        )
    }

    /// Whether something can be written: also to a peer that only stopped writing.
    pub(super) fn writable(&self) -> Result<(), Misuse> {
        if self.lifecycle.close_reason() == Some(CloseReason::EndOfStream) {
            return Ok(());
        }
        self.open()
    }
}
