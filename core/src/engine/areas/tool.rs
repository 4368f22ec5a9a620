//! TOOL: tool calls and their updates.
//!
//! Types, kinds, paths and line numbers are in the model. The checks here need state: which calls were reported, their
//! status, and whether they can be cancelled. `calls` has that state, `content` checks the content of calls, `patch`
//! reads git patches. While a session is being loaded or resumed, its history is replayed, and no update is checked
//! against the state.

mod calls;
mod content;
mod patch;

use std::borrow::Cow;
use std::sync::Arc;

pub(crate) use calls::Tools;

use super::offer::{self, Offer};
use crate::engine::{
    Action, Area, Check, Finding, MessageKind, MisuseKind, RuleContext, RuleMessage, Session, SessionState, State,
    Tracker, Turn,
};
use crate::json;
use crate::rules::Way;
use calls::{Call, Status};

const CREATED: &[&str] = &["session/update:tool_call"];
const CHANGED: &[&str] = &["session/update:tool_call_update"];
const CHUNK: &[&str] = &["session/update:tool_call_content_chunk"];
const ASKED: &[&str] = &["session/request_permission"];
/// Messages that show a tool call.
const SHOWING: &[&str] = &["session/update:tool_call", "session/update:tool_call_update", "session/request_permission"];
/// The same, with the updates for chunks of content.
const LINKING: &[&str] = &[
    "session/update:tool_call",
    "session/update:tool_call_update",
    "session/update:tool_call_content_chunk",
    "session/request_permission",
];
/// Messages that may show a diff, in version 2.
const DIFFS: &[&str] =
    &["session/update:tool_call_update", "session/update:tool_call_content_chunk", "session/request_permission"];
/// Messages that change a tool call. A second `tool_call` with the same id breaks TOOL-02.
const ENDING: &[&str] = &["session/update:tool_call_update", "session/request_permission"];
const PROMPT: &[&str] = &["session/prompt"];
const CANCEL: &[&str] = &["tool_call/cancel"];

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("TOOL-02"), MessageKind::Call, CREATED, used_id).receive(Action::Report),
        Check::new(id!("TOOL-04"), MessageKind::Call, CHANGED, unknown).send(Action::Report).receive(Action::Report),
        Check::new(id!("TOOL-20"), MessageKind::Call, ENDING, untitled)
            .send(Action::AdviseIfStrict)
            .receive(Action::Pass),
        Check::new(id!("TOOL-09"), MessageKind::Call, ENDING, ended).send(Action::Pass).receive(Action::Report),
        Check::new(id!("TOOL-39"), MessageKind::Call, ENDING, still_offered)
            .send(Action::AdviseIfStrict)
            .receive(Action::Pass),
        Check::new(id!("TOOL-38"), MessageKind::Call, CANCEL, gone).kind(MisuseKind::Session),
        Check::new(id!("TOOL-37"), MessageKind::Call, CANCEL, not_offered).kind(MisuseKind::Capability),
        Check::new(id!("TOOL-12"), MessageKind::Call, SHOWING, content::no_terminal)
            .receive(Action::Report)
            .kind(MisuseKind::Session),
        Check::new(id!("TOOL-34"), MessageKind::Call, SHOWING, content::link_not_advertised)
            .receive(Action::Report)
            .kind(MisuseKind::Capability),
        Check::new(id!("TOOL-35"), MessageKind::Call, LINKING, content::no_session)
            .receive(Action::Report)
            .kind(MisuseKind::Session),
        Check::new(id!("TOOL-28"), MessageKind::Call, DIFFS, content::odd_patch)
            .send(Action::Report)
            .receive(Action::Report),
        Check::new(id!("TOOL-27"), MessageKind::Call, DIFFS, content::other_files)
            .send(Action::Report)
            .receive(Action::Report),
        Check::new(id!("TOOL-32"), MessageKind::Answer, PROMPT, dangling)
            .send(Action::ReportAlways)
            .receive(Action::ReportAlways),
    ],
    trackers: &[
        Tracker { rules: &[id!("TOOL-05")], on: MessageKind::Call, messages: CREATED, track: created },
        Tracker { rules: &[id!("TOOL-06")], on: MessageKind::Call, messages: CHANGED, track: changed },
        Tracker { rules: &[id!("TOOL-18")], on: MessageKind::Call, messages: CHANGED, track: changed },
        Tracker { rules: &[id!("TOOL-23")], on: MessageKind::Call, messages: CHUNK, track: heard_of },
        Tracker { rules: &[id!("PERM-09")], on: MessageKind::Call, messages: ASKED, track: changed },
        Tracker { rules: &[id!("TOOL-37")], on: MessageKind::Call, messages: ENDING, track: offered },
        Tracker { rules: &[], on: MessageKind::Call, messages: SHOWING, track: announced },
        Tracker { rules: &[id!("TOOL-32")], on: MessageKind::Answer, messages: PROMPT, track: turn_ended },
    ],
};

/// Pointers to the members of a tool call, concatenated at compile time.
#[derive(Debug)]
struct Places {
    call: &'static str,
    id: &'static str,
    title: &'static str,
    status: &'static str,
    content: &'static str,
    capabilities: &'static str,
    meta: &'static str,
}

macro_rules! places {
    ($($call:literal)*) => {
        [$(Places {
            call: $call,
            id: concat!($call, "/toolCallId"),
            title: concat!($call, "/title"),
            status: concat!($call, "/status"),
            content: concat!($call, "/content"),
            capabilities: concat!($call, "/capabilities"),
            meta: concat!($call, "/_meta"),
        }),*]
    };
}

/// For updates, and for permission requests of each version; the dialect says which.
static PLACES: [Places; 3] = places!("/update" "/toolCall" "/subject/toolCall");

/// The tool call that a message shows, and the pointers to its members.
#[derive(Debug, Clone, Copy)]
struct Shown<'s, 'a> {
    message: &'s RuleMessage<'a>,
    places: &'static Places,
}

impl<'s, 'a> Shown<'s, 'a> {
    /// The tool call of an update or of a permission request.
    fn of(message: &'s RuleMessage<'a>, state: &State) -> Option<Self> {
        if message.method == "session/update" {
            return Some(Shown { message, places: &PLACES[0] });
        }
        let call = state.tables.dialect.permission_tool_call;
        let places = PLACES.iter().find(|places| places.call == call)?;
        // In an unknown subject, this member may mean something else.
        let subject = &call[..call.rfind('/')?];
        let other = !subject.is_empty() && message.text(&format!("{subject}/type"))? != "tool_call";
        (!other).then_some(Shown { message, places })
    }

    fn id(&self) -> Option<Cow<'a, str>> {
        self.message.text(self.places.id)
    }

    /// The new status. Version 1 reads null as absent; in version 2 it resets the status to `pending`.
    fn status(&self, state: &State) -> Option<Status> {
        status(self.message.given(self.places.status)?, state)
    }

    /// Whether it allows or forbids to cancel the call; `None` if it does neither.
    fn offers_cancel(&self) -> Option<bool> {
        self.message.given(self.places.capabilities).map(offer::told)
    }
}

/// The status that this JSON reports.
fn status(told: &str, state: &State) -> Option<Status> {
    if told == "null" {
        return clears(state).then_some(Status::Pending);
    }
    json::unescape(told).map(|name| Status::parse(&name))
}

/// Whether null in an update clears a member.
fn clears(state: &State) -> bool {
    let rule = id!("TOOL-19");
    state.has_rule(rule) && rule.is_on(Way::Track) && id!("ENUM-11").is_on(Way::Track)
}

/// The session, unless its history is being replayed.
fn session<'a>(context: &RuleContext<'a>) -> Option<&'a Session> {
    context.session().filter(|session| session.state == SessionState::Ready)
}

/// The tool call that a message shows, if it is known.
fn known<'a>(context: &RuleContext<'a>) -> Option<&'a Call> {
    let id = Shown::of(&context.message, context.state)?.id()?;
    session(context)?.tools.calls.get(&id)
}

fn used_id(context: &RuleContext<'_>) -> Option<Finding> {
    known(context)?.reported.then(|| {
        Finding::new("/update/toolCallId", "a tool call of this session already has this id; send a tool_call_update")
    })
}

fn unknown(context: &RuleContext<'_>) -> Option<Finding> {
    session(context)?
        .tools
        .is_new(&Shown::of(&context.message, context.state)?.id()?)
        .then(|| Finding::new("/update/toolCallId", "no tool call with this id was reported; start with a tool_call"))
}

/// A chunk or a permission request may have come before the first update.
fn untitled(context: &RuleContext<'_>) -> Option<Finding> {
    let shown = Shown::of(&context.message, context.state)?;
    let tools = &session(context)?.tools;
    let id = shown.id()?;
    let first = tools.calls.get(&id).map_or_else(|| tools.is_new(&id), |call| !call.reported);
    (first && shown.message.get(shown.places.title).is_none()).then(|| {
        Finding::new(shown.places.title, "the first report of a tool call has a title; say in a few words what it does")
    })
}

fn ended(context: &RuleContext<'_>) -> Option<Finding> {
    let known = known(context)?;
    let shown = Shown::of(&context.message, context.state)?;
    if !known.status.is_final() || shown.status(context.state)? == known.status {
        return None;
    }
    Some(Finding::new(shown.places.status, format!("the tool call is already {}", known.status.name())))
}

fn still_offered(context: &RuleContext<'_>) -> Option<Finding> {
    let shown = Shown::of(&context.message, context.state)?;
    let before = known(context);
    let ends = match shown.status(context.state) {
        Some(status) => status.is_final(),
        None => before.is_some_and(|call| call.status.is_final()),
    };
    let offers = shown.offers_cancel().unwrap_or_else(|| before.is_some_and(Call::may_be_cancelled));
    (ends && offers).then(|| {
        Finding::new(
            shown.places.capabilities,
            "the tool call has ended; set its capabilities to null in the same update",
        )
    })
}

/// The session's tool calls, and the id of the one to cancel.
fn to_cancel<'a>(context: &RuleContext<'a>) -> Option<(&'a Tools, Cow<'a, str>)> {
    Some((&session(context)?.tools, context.message.text("/toolCallId")?))
}

fn gone(context: &RuleContext<'_>) -> Option<Finding> {
    let (tools, id) = to_cancel(context)?;
    let why: Cow<'static, str> = match tools.calls.get(&id) {
        Some(call) if call.offer.may_be_crossed(context) => return None,
        Some(call) if call.status.is_final() => format!("the tool call is already {}", call.status.name()).into(),
        None if tools.is_new(&id) => "no tool call with this id in the session".into(),
        _ => return None,
    };
    Some(Finding::new("/toolCallId", why))
}

fn not_offered(context: &RuleContext<'_>) -> Option<Finding> {
    let (tools, id) = to_cancel(context)?;
    let call = tools.calls.get(&id)?;
    (!call.offer.stands() && !call.offer.may_be_crossed(context)).then(|| {
        Finding::new("/toolCallId", "the tool call does not offer cancellation; session/cancel stops all work")
    })
}

/// Whether this tool call may be cancelled now or, without an id, any tool call of the session (TOOL-37).
pub(super) fn may_be_cancelled(session: &Session, id: Option<&str>) -> bool {
    match id {
        Some(id) => session.tools.calls.get(id).is_some_and(Call::may_be_cancelled),
        None => session.cancellable_tool_calls().next().is_some(),
    }
}

fn dangling(context: &RuleContext<'_>) -> Option<Finding> {
    let session = session(context)?;
    // With another open prompt, the turn continues.
    if context.message.text("/stopReason")? != "end_turn" || session.prompts > 1 {
        return None;
    }
    let tools = &session.tools;
    let reported = |id: &&Arc<str>| tools.calls.get(id).is_some_and(|call| call.reported);
    let count = tools.open.keys().filter(reported).count();
    if count == 0 {
        return None;
    }
    Some(Finding::new(
        "",
        format!("tool calls still pending or in progress: {count}; the session's snapshot lists them"),
    ))
}

/// TOOL-12: later updates may list the terminal without announcing it again.
fn announced(state: &mut State, message: &RuleMessage<'_>) -> Option<Box<str>> {
    let id = content::own_terminal(message.operation?.get("_meta")?)?;
    let limit = state.config.limits.remembered;
    state.sessions.get_mut(message.session)?.tools.own_terminals.entry(&id, limit, || ());
    None
}

fn created(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let told = update.operation?.member("status").and_then(|told| status(told, state));
    let status = told.unwrap_or(Status::Pending);
    change(state, update, |call, turn| *call = Call { status, reported: true, turn, offer: Offer::default() })
}

/// TOOL-04, TOOL-06, TOOL-18: an update of an unknown call creates it.
fn changed(state: &mut State, message: &RuleMessage<'_>) -> Option<Box<str>> {
    let status = message.operation?.member("status").and_then(|told| status(told, state));
    // In version 1 only a `tool_call` reports a tool call.
    let reports = message.method == "session/update" && clears(state);
    let newest = state.newest;
    change(state, message, |call, _| {
        call.reported |= reports;
        if let Some(status) = status {
            if status.is_final() {
                call.offer.end(newest);
            }
            call.status = status;
        }
    })
}

fn heard_of(state: &mut State, chunk: &RuleMessage<'_>) -> Option<Box<str>> {
    change(state, chunk, |_, _| {})
}

fn offered(state: &mut State, message: &RuleMessage<'_>) -> Option<Box<str>> {
    let offers = offer::told(message.operation?.member("capabilities")?);
    let newest = state.newest;
    change(state, message, |call, _| call.offer.tell(offers, newest))
}

/// Changes the tool call that a message shows, which is created if there is none. `change` gets the number of the
/// running turn.
fn change(
    state: &mut State,
    message: &RuleMessage<'_>,
    change: impl FnOnce(&mut Call, Option<u64>),
) -> Option<Box<str>> {
    let limit = state.config.limits.remembered;
    let session = state.sessions.get_mut(message.session)?;
    let (running, tools) = (session.turn != Turn::Idle, &mut session.tools);
    let turn = running.then_some(tools.turns);
    tools.change(&message.operation?.id()?, running, limit, |call| change(call, turn));
    None
}

fn turn_ended(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(answer.session)?;
    if session.prompts == 0 {
        session.tools.leave_over();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::PLACES;
    use crate::schema::tables;

    #[test]
    fn the_tool_call_of_a_permission_has_places_in_each_version() {
        for tables in tables::all() {
            let call = tables.dialect.permission_tool_call;
            assert!(PLACES.iter().any(|places| places.call == call), "{call}");
        }
    }
}
