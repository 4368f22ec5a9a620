//! PERM: permission requests.
//!
//! The connection answers permission requests of cancelled work (`connection/auto_answer`). Types are in the model.

use std::borrow::Cow;

use super::recent::KEPT;
use crate::engine::{Action, Area, Check, Finding, MessageKind, RuleContext, RuleMessage, State, Tracker};
use crate::json;
use crate::map::{Map, Set, StringMap};

const REQUEST: &[&str] = &["session/request_permission"];
/// Messages that may report that a tool runs.
const TOOLS: &[&str] = &["session/update:tool_call", "session/update:tool_call_update"];

/// The tool calls of a session that need permission (PERM-18).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct PermissionState {
    /// Tool calls with open permission requests, and the number of these. The limit for open requests bounds it.
    waiting: Map<Box<str>, usize>,
    /// Tool calls of the turn whose last permission request was not granted.
    denied: Set<Box<str>>,
}

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("PERM-02"), MessageKind::Call, REQUEST, no_option).send(Action::Report).receive(Action::Report),
        Check::new(id!("PERM-03"), MessageKind::Call, REQUEST, same_option).receive(Action::Report),
        Check::new(id!("PERM-04"), MessageKind::Answer, REQUEST, not_offered).receive(Action::Drop),
        Check::new(id!("PERM-15"), MessageKind::Answer, REQUEST, not_understood)
            .send(Action::Pass)
            .receive(Action::ReportAlways),
        Check::new(id!("PERM-18"), MessageKind::Call, TOOLS, runs_without).send(Action::Report).receive(Action::Pass),
    ],
    trackers: &[
        Tracker { rules: &[id!("PERM-18")], on: MessageKind::Call, messages: REQUEST, track: asked },
        Tracker { rules: &[id!("PERM-18")], on: MessageKind::Answer, messages: REQUEST, track: answered },
        Tracker { rules: &[id!("PERM-18")], on: MessageKind::Answer, messages: &["session/prompt"], track: forget },
    ],
};

fn option_ids<'a>(call: &RuleMessage<'a>) -> impl Iterator<Item = Cow<'a, str>> {
    call.items("/options").into_iter().filter_map(|item| json::unescape(json::pointer(item, "/optionId")?))
}

fn no_option(context: &RuleContext<'_>) -> Option<Finding> {
    let none = option_ids(&context.message).next().is_none();
    none.then(|| Finding::new("/options", "there is no option, so the user can only dismiss the request"))
}

fn same_option(context: &RuleContext<'_>) -> Option<Finding> {
    let mut seen = StringMap::default();
    let twice = option_ids(&context.message).position(|id| !seen.add(id))?;
    Some(Finding::new(format!("/options/{twice}/optionId"), "another option of this request already has this id"))
}

/// The tool call of a permission request. In version 2 the subject has it, which may also be a command of a tool call.
fn tool_call<'a>(call: &RuleMessage<'a>) -> Option<Cow<'a, str>> {
    let places = ["/toolCall/toolCallId", "/subject/toolCall/toolCallId", "/subject/toolCallId"];
    places.into_iter().find_map(|place| call.text(place))
}

/// Notes the tool call and the meaning of each option, to check the answer. Options of more than [`KEPT`] bytes are not
/// noted.
fn asked(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let mut writer = json::Writer::new();
    writer.begin_object();
    if let Some(id) = tool_call(call).filter(|id| id.len() <= KEPT) {
        writer.key("call").string(&id);
        if let Some(session) = state.sessions.get_mut(call.session) {
            *session.permits.waiting.get_or_insert_with(id.into(), || 0) += 1;
        }
    }
    if call.items("/options").iter().map(|item| item.len()).sum::<usize>() <= KEPT {
        writer.key("options").begin_object();
        for item in call.items("/options") {
            let (id, kind) = (json::pointer(item, "/optionId"), json::pointer(item, "/kind"));
            if let Some((id, kind)) = id.and_then(json::unescape).zip(kind.and_then(json::unescape)) {
                match &*kind {
                    "allow_once" | "allow_always" => writer.key(&id).boolean(true),
                    "reject_once" | "reject_always" => writer.key(&id).boolean(false),
                    // Only the agent knows the meaning of a custom kind.
                    _ => writer.key(&id).null(),
                };
            }
        }
        writer.end_object();
    }
    writer.end_object();
    writer.finish().ok().map(Into::into)
}

/// What an option means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choice {
    Allow,
    Reject,
    /// A custom kind.
    Other,
}

/// The meaning of the selected option, if it was offered. An unknown outcome selects none (PERM-15).
fn choice(answer: &RuleMessage<'_>) -> Option<Choice> {
    let selected = answer.text("/outcome/optionId").filter(|_| is_known(answer))?;
    let options = json::members(json::pointer(answer.note()?, "/options")?);
    options.iter().find(|(id, _)| *id == selected).map(|(_, allows)| match *allows {
        "true" => Choice::Allow,
        "false" => Choice::Reject,
        _ => Choice::Other,
    })
}

/// Whether an outcome is one of the two of the specification.
fn is_known(answer: &RuleMessage<'_>) -> bool {
    answer.text("/outcome/outcome").is_some_and(|outcome| matches!(&*outcome, "selected" | "cancelled"))
}

fn not_understood(context: &RuleContext<'_>) -> Option<Finding> {
    (!is_known(&context.message)).then(|| Finding::new("/outcome/outcome", "an unknown outcome, which is not approval"))
}

fn answered(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let id = json::unescape(json::pointer(answer.note()?, "/call")?)?;
    let keep = state.config.limits.pending;
    let permits = &mut state.sessions.get_mut(answer.session)?.permits;
    if let Some(open) = permits.waiting.get_mut(&*id) {
        *open -= 1;
        if *open == 0 {
            permits.waiting.remove(&*id);
        }
    }
    if matches!(choice(answer), Some(Choice::Allow | Choice::Other)) {
        permits.denied.remove(&*id);
    } else if permits.denied.len() < keep {
        permits.denied.insert(id.into(), ());
    }
    None
}

impl PermissionState {
    /// Forgets the tool calls at the end of their turn.
    pub(super) fn forget(&mut self) {
        self.denied.clear();
    }
}

fn forget(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(answer.session)?;
    if session.prompts == 0 {
        session.permits.forget();
    }
    None
}

fn runs_without(context: &RuleContext<'_>) -> Option<Finding> {
    let update = &context.message;
    if update.get("/update/status")? != "\"in_progress\"" {
        return None;
    }
    let permits = &context.session()?.permits;
    let id = update.text("/update/toolCallId")?;
    let why = if permits.waiting.contains_key(&*id) {
        "the permission for this tool call has not been granted yet; leave it pending"
    } else if permits.denied.contains_key(&*id) {
        "the permission for this tool call was not granted; report it as failed"
    } else {
        return None;
    };
    Some(Finding::new("/update/status", why))
}

fn not_offered(context: &RuleContext<'_>) -> Option<Finding> {
    // In a custom outcome, this member may mean something else.
    context.message.text("/outcome/optionId").filter(|_| is_known(&context.message))?;
    json::pointer(context.message.note()?, "/options")?;
    if choice(&context.message).is_some() {
        return None;
    }
    Some(Finding::new("/outcome/optionId", "not an option of the request, so it is not approval"))
}
