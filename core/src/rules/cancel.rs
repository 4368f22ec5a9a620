//! CANCEL: `session/cancel` and `$/cancel_request`.
//!
//! What the connection does by itself is there: answers to permission requests (`dismiss`), cancelling single
//! requests (`cancel`, `cancel_requested`), and the peer's errors that only say that work was cancelled (`failed`).

use super::catalogue::{rule, E, R, T};
use super::scene::{Action, Check, Message, Objection, On, Scene, Tracker};
use super::{Area, Level, Severity, Way};
use crate::connection::{Role, State, Turn};
use crate::jsonrpc::ErrorCode;
use Level::{May, Must, Should};
use Severity::{Error, Note, Warning};

pub(super) static AREA: Area = Area {
    name: "CANCEL",
    title: "Cancellation",
    rules: RULES,
    checks: &[
        Check::new(id!("CANCEL-01"), On::Call, &["session/cancel"], nothing_runs)
            .send(Action::Report)
            .receive(Action::Pass),
        Check::new(id!("CANCEL-06"), On::Answer, &["session/prompt"], not_cancelled)
            .send(Action::Pass)
            .receive(Action::Tell),
        Check::new(id!("CANCEL-15"), On::Error, &["*"], given_up).send(Action::Report).receive(Action::Pass),
    ],
    trackers: &[Tracker {
        rules: &[id!("CANCEL-01"), id!("CANCEL-06")],
        on: On::Call,
        messages: &["session/cancel"],
        track: cancelled,
    }],
};

pub(super) static RULES: &[super::Rule] = &[
    rule(
        "CANCEL-01",
        May,
        Note,
        E | T,
        "A session may be cancelled at any time; where nothing runs it changes nothing.",
    ),
    rule(
        "CANCEL-02",
        Should,
        Note,
        T,
        "A client that cancels counts the unfinished tool calls of the turn as cancelled, until it hears otherwise.",
    ),
    rule("CANCEL-03", Must, Error, T, "Cancelling a session answers its open permission requests with cancelled."),
    rule(
        "CANCEL-04",
        Must,
        Error,
        T,
        "Permission requests that come after the cancel are answered with cancelled too.",
    ),
    rule(
        "CANCEL-06",
        Must,
        Note,
        R | T,
        "A prompt that was cancelled is answered with cancelled, and listed until then.",
    ),
    rule("CANCEL-08", May, Error, E, "Each side may cancel its own open requests, and no others."),
    rule("CANCEL-12", Must, Error, R | T, "A cancel names a request of its own sender, by the exact id."),
    rule("CANCEL-15", Should, Note, E, "Work that was given up for inner reasons has the error code for that."),
    rule(
        "CANCEL-17",
        Must,
        Warning,
        R,
        "A permission request that ends with the error for cancelled work was not granted.",
    ),
    rule("CANCEL-18", Must, Note, T,
        "A cancelled prompt may end with the stop reason or with the error; both are read as the stop reason."),
    rule("CANCEL-20", Should, Error, E, "The id of a request to cancel is not null."),
    rule(
        "CANCEL-21",
        May,
        Note,
        R,
        "Unknown notifications that begin with $/ are ignored, and such requests are unknown methods; $/cancelRequest, which some peers send, is read as $/cancel_request and reported.",
    ),
    rule("CANCEL-22", Must, Note, T, "A cancel stops the work of one session and of no other."),
    rule("CANCEL-23", Must, Note, T, "A cancel that comes when nothing runs does not touch the next prompt."),
];

fn nothing_runs(scene: &Scene<'_>) -> Option<Objection> {
    let session = scene.session()?;
    // Of a child that works, its parent may have said nothing yet.
    let idle = session.turn == Turn::Idle && session.parent().is_none();
    idle.then(|| Objection::new("/sessionId", "nothing runs in this session, so there is nothing to cancel"))
}

/// The answer may have crossed the cancel. That the agent had read the cancel shows where it has answered what was asked
/// after it.
fn not_cancelled(scene: &Scene<'_>) -> Option<Objection> {
    let session = scene.session()?;
    let stopped = session.has_cancelled(scene.message.request?) && session.turns.cancel_was_read(scene.state.answered);
    if !stopped || scene.state.tables.version > 1 || scene.message.text("/stopReason")? == "cancelled" {
        return None;
    }
    Some(Objection::new("/stopReason", "the turn was cancelled before, so cancelled was expected"))
}

fn given_up(scene: &Scene<'_>) -> Option<Objection> {
    let inner = scene.message.get("/code")?.parse() == Ok(ErrorCode::INTERNAL_ERROR.0);
    let says = inner && {
        let message = scene.message.text("/message")?;
        message.as_bytes().windows(6).any(|word| word.eq_ignore_ascii_case(b"cancel"))
    };
    says.then(|| Objection::new("", format!("work that was given up has the code {}", ErrorCode::REQUEST_CANCELLED)))
}

/// CANCEL-22, CANCEL-23: a cancel is bound to the turn that runs; where none runs it changes nothing. CANCEL-02: only
/// the agent knows how far its tools really are.
fn cancelled(state: &mut State, call: &Message<'_>) -> Option<Box<str>> {
    let client = state.config.role == Role::Client;
    let newest = state.newest();
    let session = state.sessions.get_mut(call.session)?;
    let idle = session.turn == Turn::Idle && id!("CANCEL-23").is_on(Way::Track);
    if !idle {
        session.stop_turn(newest);
        if client && id!("CANCEL-02").is_on(Way::Track) {
            session.tools.cancel();
        }
    }
    None
}
