//! CANCEL: `session/cancel` and `$/cancel_request`.
//!
//! The connection has the rest: automatic answers to permission requests (`connection/auto_answer`), cancelling single
//! requests (`cancel`, `cancel_requested`), and errors of the peer that only report a cancellation (`failed`).

use crate::engine::{Action, Area, Check, Finding, MessageKind, Role, RuleContext, RuleMessage, State, Tracker, Turn};
use crate::jsonrpc::ErrorCode;
use crate::rules::Way;

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("CANCEL-01"), MessageKind::Call, &["session/cancel"], nothing_runs)
            .send(Action::Report)
            .receive(Action::Pass),
        Check::new(id!("CANCEL-06"), MessageKind::Answer, &["session/prompt"], not_cancelled)
            .send(Action::Pass)
            .receive(Action::ReportAlways),
        Check::new(id!("CANCEL-15"), MessageKind::Error, &["*"], given_up).send(Action::Report).receive(Action::Pass),
    ],
    trackers: &[Tracker {
        rules: &[id!("CANCEL-01"), id!("CANCEL-06")],
        on: MessageKind::Call,
        messages: &["session/cancel"],
        track: cancelled,
    }],
};

fn nothing_runs(context: &RuleContext<'_>) -> Option<Finding> {
    let session = context.session()?;
    // A child session may be working before its parent has reported that.
    let idle = session.turn == Turn::Idle && session.parent().is_none();
    idle.then(|| Finding::new("/sessionId", "nothing is running in this session, so there is nothing to cancel"))
}

/// The answer may have crossed the cancel on the wire. The agent has certainly read the cancel if it has answered a
/// request that was sent after it.
fn not_cancelled(context: &RuleContext<'_>) -> Option<Finding> {
    let session = context.session()?;
    let stopped =
        session.has_cancelled(context.message.request?) && session.turns.cancel_was_read(context.state.answered);
    if !stopped || context.message.text("/stopReason")? == "cancelled" {
        return None;
    }
    Some(Finding::new("/stopReason", "the turn had been cancelled, so the stop reason cancelled was expected"))
}

fn given_up(context: &RuleContext<'_>) -> Option<Finding> {
    let inner = context.message.get("/code")?.parse() == Ok(ErrorCode::INTERNAL_ERROR.0);
    let says = inner && {
        let message = context.message.text("/message")?;
        message.as_bytes().windows(6).any(|word| word.eq_ignore_ascii_case(b"cancel"))
    };
    says.then(|| Finding::new("", format!("the code for aborted work is {}", ErrorCode::REQUEST_CANCELLED)))
}

/// CANCEL-22, CANCEL-23: a cancel affects the running turn only; without one it changes nothing. CANCEL-02: only the
/// client assumes that its tool calls are cancelled; the agent knows their real status.
fn cancelled(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let client = state.config.role() == Role::Client;
    let newest = state.newest;
    let session = state.sessions.get_mut(call.session)?;
    let idle = session.turn == Turn::Idle && id!("CANCEL-23").is_on(Way::Track);
    if !idle {
        session.stop_turn(newest);
        if client && id!("CANCEL-02").is_on(Way::Track) {
            let background = &session.work.background;
            session.tools.cancel(|id| background.has_tool_call(id));
        }
    }
    None
}
