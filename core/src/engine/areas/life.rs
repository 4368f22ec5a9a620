//! LIFE: how prompts begin and end in version 2.
//!
//! A prompt is answered when its message is inserted into the conversation, with the id under which an update echoes
//! it; state updates report what the agent then does. So the foreground work of a session has two sources: open
//! prompts, and the last reported state. The session is busy if either says so:
//!
//! | event | changes |
//! | --- | --- |
//! | a prompt is sent | one more is open; no work on it was reported yet |
//! | a prompt is answered with an id | one fewer; work on it is awaited, unless some ended since its message was echoed |
//! | a prompt is refused | one fewer, and nothing else (LIFE-26) |
//! | `running`, `requires_action`, another state | there is work, awaited or not |
//! | `idle` | there is none; an open prompt may still start some, because the two may have crossed on the wire |
//! | `unknown` | no known work; a running cancellation continues (LIFE-40) |
//! | `session/cancel`, `session/close` | the work is being cancelled, until `idle` or until none of its prompts is open |
//!
//! `work` has that, `echo` the user's messages, `sides` which messages are the user's and which the agent's, `keys`
//! which prompts are repeated, `background` the background work, `replay` the end of the history. Types are in the
//! model. The connection answers permission requests and elicitations of cancelled work (`connection/auto_answer`), and
//! reports `cancelled` if an agent's host gives another stop reason for such work (LIFE-15).

mod background;
mod echo;
mod keys;
mod replay;
mod sides;
mod work;

use crate::engine::{Action, Area, Check, Finding, MessageKind, MisuseKind, RuleContext, RuleMessage, State, Tracker};
use crate::jsonrpc::ErrorCode;
use crate::rules::Way;

pub(crate) use keys::{key_of, Submitted};
pub(super) use replay::has_replay;
pub(crate) use work::Work;

const PROMPT: &[&str] = &["session/prompt"];
const STATE: &[&str] = &["session/update:state_update"];
const USER: &[&str] = &["session/update:user_message", "session/update:user_message_chunk"];
const AGENT: &[&str] = &[
    "session/update:agent_message",
    "session/update:agent_message_chunk",
    "session/update:agent_thought",
    "session/update:agent_thought_chunk",
];
const QUESTIONS: &[&str] = &["session/request_permission", "elicitation/create"];
/// Updates of all messages of version 2.
pub(super) const MESSAGES: &[&str] = &[
    "session/update:user_message",
    "session/update:user_message_chunk",
    "session/update:agent_message",
    "session/update:agent_message_chunk",
    "session/update:agent_thought",
    "session/update:agent_thought_chunk",
];
/// Messages that name a tool call or a terminal.
const ENTITIES: &[&str] = &[
    "session/update:tool_call_update",
    "session/update:tool_call_content_chunk",
    "session/update:terminal_update",
    "session/update:terminal_output_chunk",
    "session/request_permission",
];
/// Kinds of updates that version 2 has replaced.
const REPLACED: &[&str] = &["tool_call", "plan", "current_mode_update"];

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("LIFE-16"), MessageKind::Call, &["session/update"], old_kind)
            .send(Action::Pass)
            .receive(Action::Report),
        Check::new(id!("LIFE-01"), MessageKind::Answer, PROMPT, ends_with_the_answer).receive(Action::Report),
        Check::new(id!("LIFE-24"), MessageKind::Error, PROMPT, echo::inserted)
            .receive(Action::Report)
            .kind(MisuseKind::Phase),
        Check::new(id!("LIFE-21"), MessageKind::Error, PROMPT, another_error)
            .send(Action::Report)
            .receive(Action::Pass),
        Check::new(id!("LIFE-18"), MessageKind::Call, USER, echo::of_a_refused)
            .send(Action::Report)
            .receive(Action::Report),
        Check::new(id!("LIFE-03"), MessageKind::Call, STATE, echo::missing)
            .send(Action::ReportAlways)
            .receive(Action::ReportAlways),
        Check::new(id!("LIFE-04"), MessageKind::Call, STATE, work::never_began)
            .send(Action::Report)
            .receive(Action::Report),
        Check::new(id!("LIFE-05"), MessageKind::Call, STATE, work::no_reason)
            .send(Action::Report)
            .receive(Action::ReportAlways),
        Check::new(id!("LIFE-15"), MessageKind::Call, STATE, work::not_cancelled)
            .send(Action::Pass)
            .receive(Action::ReportAlways),
        Check::new(id!("LIFE-15"), MessageKind::Call, AGENT, work::late)
            .send(Action::ReportAlways)
            .receive(Action::ReportAlways),
        Check::new(id!("LIFE-13"), MessageKind::Call, MESSAGES, sides::other)
            .send(Action::Report)
            .receive(Action::Report),
        Check::new(id!("LIFE-31"), MessageKind::Call, STATE, background::left_out).receive(Action::Report),
        Check::new(id!("LIFE-32"), MessageKind::Call, STATE, background::not_announced).receive(Action::Report),
        Check::new(id!("LIFE-33"), MessageKind::Call, STATE, background::not_ended).receive(Action::Report),
        Check::new(id!("LIFE-34"), MessageKind::Call, STATE, background::twice).receive(Action::Report),
        Check::new(id!("LIFE-37"), MessageKind::Call, PROMPT, keys::length),
        Check::new(id!("LIFE-39"), MessageKind::Call, PROMPT, keys::other_content).receive(Action::Report),
        Check::new(id!("LIFE-38"), MessageKind::Answer, PROMPT, keys::other_message)
            .send(Action::Pass)
            .receive(Action::Report),
        Check::new(id!("LIFE-38"), MessageKind::Error, PROMPT, keys::refused)
            .send(Action::Pass)
            .receive(Action::Report),
        Check::new(id!("SESS-90"), MessageKind::Answer, replay::RESUME, replay::missing)
            .send(Action::AdviseIfStrict)
            .receive(Action::AdviseIfStrict),
        Check::new(id!("SESS-91"), MessageKind::Call, replay::COMPLETE, replay::not_asked)
            .receive(Action::Report)
            .kind(MisuseKind::Phase),
        Check::new(id!("SESS-92"), MessageKind::Call, replay::OF_THE_PAST, replay::history)
            .receive(Action::Report)
            .kind(MisuseKind::Phase),
        Check::new(id!("SESS-77"), MessageKind::Answer, &["session/resume"], work::no_state)
            .receive(Action::ReportAlways)
            .kind(MisuseKind::Phase),
        Check::new(id!("SESS-79"), MessageKind::Answer, &["session/close"], work::still_works)
            .receive(Action::ReportAlways)
            .kind(MisuseKind::Phase),
    ],
    trackers: &[
        Tracker { rules: &[id!("LIFE-02")], on: MessageKind::Call, messages: PROMPT, track: prompted },
        Tracker {
            rules: &[id!("LIFE-02"), id!("LIFE-26")],
            on: MessageKind::Answer,
            messages: PROMPT,
            track: answered,
        },
        Tracker { rules: &[id!("LIFE-38")], on: MessageKind::Call, messages: PROMPT, track: keys::prompted },
        // After the row above, which needs the state of the key before this answer.
        Tracker { rules: &[id!("LIFE-38")], on: MessageKind::Answer, messages: PROMPT, track: keys::answered },
        Tracker { rules: &[id!("LIFE-38")], on: MessageKind::Call, messages: replay::RESUME, track: keys::resumed },
        Tracker { rules: &[id!("SESS-92")], on: MessageKind::Call, messages: replay::RESUME, track: replay::asked },
        Tracker {
            rules: &[id!("SESS-92")],
            on: MessageKind::Call,
            messages: replay::COMPLETE,
            track: replay::complete,
        },
        Tracker { rules: &[id!("SESS-92")], on: MessageKind::Call, messages: replay::CHILD, track: replay::announced },
        Tracker {
            rules: &[id!("SESS-92")],
            on: MessageKind::Answer,
            messages: replay::RESUME,
            track: replay::answered,
        },
        // Before the state changes: which echo is missing depends on the earlier state.
        Tracker { rules: &[id!("LIFE-03")], on: MessageKind::Call, messages: STATE, track: echo::work_ended },
        Tracker {
            rules: &[id!("LIFE-02"), id!("LIFE-25"), id!("LIFE-27")],
            on: MessageKind::Call,
            messages: STATE,
            track: work::told,
        },
        Tracker { rules: &[id!("LIFE-35")], on: MessageKind::Call, messages: STATE, track: background::listed },
        Tracker { rules: &[id!("LIFE-03"), id!("LIFE-24")], on: MessageKind::Call, messages: USER, track: echo::told },
        Tracker { rules: &[id!("LIFE-15")], on: MessageKind::Call, messages: AGENT, track: work::said },
        Tracker { rules: &[id!("LIFE-13")], on: MessageKind::Call, messages: MESSAGES, track: sides::seen },
        Tracker { rules: &[id!("SESS-77")], on: MessageKind::Call, messages: USER, track: work::replayed },
        Tracker { rules: &[id!("SESS-77")], on: MessageKind::Call, messages: AGENT, track: work::replayed },
        Tracker {
            rules: &[id!("SESS-77")],
            on: MessageKind::Call,
            messages: &["session/resume"],
            track: work::resumed,
        },
        Tracker {
            rules: &[id!("LIFE-32")],
            on: MessageKind::Call,
            messages: &["session/resume"],
            track: background::resumed,
        },
        Tracker {
            rules: &[id!("LIFE-32")],
            on: MessageKind::Answer,
            messages: &["session/fork"],
            track: background::forked,
        },
        Tracker {
            rules: &[id!("LIFE-32"), id!("LIFE-33")],
            on: MessageKind::Call,
            messages: ENTITIES,
            track: background::met,
        },
        Tracker { rules: &[id!("CANCEL-24")], on: MessageKind::Call, messages: QUESTIONS, track: background::asked },
    ],
};

/// A peer's unknown update is delivered unchanged and changes nothing, so a report is enough. The model refuses the
/// host's (ENUM-01).
fn old_kind(context: &RuleContext<'_>) -> Option<Finding> {
    let kind = context.message.text("/update/sessionUpdate")?;
    REPLACED.contains(&&*kind).then(|| {
        let message = "version 2 has no such update: tool calls come as tool_call_update, plans as plan_update, and a \
                       mode is a config option";
        Finding::new("/update/sessionUpdate", message)
    })
}

fn ends_with_the_answer(context: &RuleContext<'_>) -> Option<Finding> {
    context.message.get("/stopReason")?;
    let message = "the answer to a prompt does not end the work; an idle state_update has the stop reason";
    Some(Finding::new("/stopReason", message))
}

/// A prompt that was cancelled before it was inserted is answered with one specific error.
fn another_error(context: &RuleContext<'_>) -> Option<Finding> {
    let request = context.message.request?;
    let cancelled = request.cancelled || context.session().is_some_and(|session| session.has_cancelled(request));
    if !cancelled || context.message.get("/code")?.parse() == Ok(ErrorCode::REQUEST_CANCELLED.0) {
        return None;
    }
    let message = format!(
        "the prompt was cancelled before it was accepted; the code for that is {}",
        ErrorCode::REQUEST_CANCELLED
    );
    Some(Finding::new("/code", message))
}

fn prompted(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(call.session)?;
    let note = session.work.echoes.prompted(call, session.turn);
    session.prompt_sent();
    note
}

fn answered(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let request = answer.request?;
    // A message that was inserted for an earlier request with the same key starts no work.
    let repeats = state.sessions.get(answer.session?)?.repeats(request) && id!("LIFE-38").is_on(Way::Track);
    let over = if repeats { Some(true) } else { echo::answered(state, answer) };
    let session = state.sessions.get_mut(answer.session)?;
    session.prompt_answered(request, answer.body.is_some(), over);
    None
}
