//! CANCEL: `session/cancel` and `$/cancel_request`.
//!
//! What the connection does by itself is there: answers to permission requests (`dismiss`), cancelling single
//! requests (`cancel`, `cancel_requested`), and the peer's errors that only say that work was cancelled (`failed`).

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
    // Of a child that works, its parent may have said nothing yet.
    let idle = session.turn == Turn::Idle && session.parent().is_none();
    idle.then(|| Finding::new("/sessionId", "nothing is running in this session, so there is nothing to cancel"))
}

/// The answer may have crossed the cancel. That the agent had read the cancel shows where it has answered what was asked
/// after it.
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

/// CANCEL-22, CANCEL-23: a cancel is bound to the turn that runs; where none runs it changes nothing. CANCEL-02: only
/// the agent knows how far its tools really are.
fn cancelled(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let client = state.config.role == Role::Client;
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
