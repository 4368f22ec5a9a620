//! PERM: permission requests.
//!
//! The answers that a cancel brings are in the connection (`dismiss`); types are in the model.

use std::borrow::Cow;

use super::catalogue::{rule, E, R, T};
use super::recent::KEPT;
use super::scene::{Action, Check, Message, Objection, On, Scene, Tracker};
use super::{Area, Level, Severity};
use crate::connection::State;
use crate::json;
use crate::map::{Map, Names, Set};
use Level::{Must, MustNot, Should};
use Severity::{Error, Note, Warning};

const REQUEST: &[&str] = &["session/request_permission"];
/// Messages that say that a tool runs.
const TOOLS: &[&str] = &["session/update:tool_call", "session/update:tool_call_update"];

/// What is known of a session's tools that need permission (PERM-18).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Permits {
    /// Tool calls with open requests, and how many; no more than requests can be open.
    waiting: Map<Box<str>, usize>,
    /// Tool calls of the turn whose last request was not granted.
    denied: Set<Box<str>>,
}

pub(super) static AREA: Area = Area {
    name: "PERM",
    title: "Permission requests",
    rules: RULES,
    checks: &[
        Check::new(id!("PERM-02"), On::Call, REQUEST, no_option).send(Action::Report).receive(Action::Report),
        Check::new(id!("PERM-03"), On::Call, REQUEST, same_option).receive(Action::Report),
        Check::new(id!("PERM-04"), On::Answer, REQUEST, not_offered).receive(Action::Drop),
        Check::new(id!("PERM-18"), On::Call, TOOLS, runs_without).send(Action::Report).receive(Action::Pass),
    ],
    trackers: &[
        Tracker { rules: &[id!("PERM-18")], on: On::Call, messages: REQUEST, track: asked },
        Tracker { rules: &[id!("PERM-18")], on: On::Answer, messages: REQUEST, track: answered },
        Tracker { rules: &[id!("PERM-18")], on: On::Answer, messages: &["session/prompt"], track: forget },
    ],
};

pub(super) static RULES: &[super::Rule] = &[
    rule("PERM-01", Must, Error, E | R, "A permission request names its session and options with id, name and kind."),
    rule("PERM-02", Must, Warning, E | R, "At least one option is offered."),
    rule("PERM-03", Must, Warning, E | R, "The ids of the options of one request are unique."),
    rule("PERM-04", Must, Error, E | R, "A selected outcome repeats an option id that was offered."),
    rule("PERM-05", Must, Error, T, "When the turn is cancelled, the outcome is cancelled."),
    rule("PERM-08", Must, Error, E | R, "The tool call of a permission request is an update with an id."),
    rule(
        "PERM-09",
        Must,
        Note,
        E | R | T,
        "The tool call of a permission request updates what is on display, in its place among the updates.",
    ),
    rule("PERM-10", Must, Error, E | R, "A permission request has a title (v2)."),
    rule(
        "PERM-12",
        Should,
        Warning,
        E | R,
        "What a permission is asked for has a type; unknown types are delivered as they came (v2).",
    ),
    rule(
        "PERM-13",
        Must,
        Error,
        E | R,
        "A command that asks for permission names itself and an absolute working directory (v2).",
    ),
    rule(
        "PERM-15",
        MustNot,
        Error,
        E | R,
        "An outcome is an object that says what it is; what does not, approves nothing (v2).",
    ),
    rule(
        "PERM-16",
        Must,
        Warning,
        E | R,
        "An option has a kind; kinds of an agent's own begin with an underscore (v2).",
    ),
    rule("PERM-17", Must, Error, E | R, "The kind of an option is one of the four that exist."),
    rule("PERM-18", Should, Note, E | T, "A tool call does not run before its permission is given."),
    rule("PERM-19", Must, Warning, T, "Every permission request is answered in the end."),
];

fn option_ids<'a>(call: &Message<'a>) -> impl Iterator<Item = Cow<'a, str>> {
    call.items("/options").into_iter().filter_map(|item| json::unescape(json::pointer(item, "/optionId")?))
}

fn no_option(scene: &Scene<'_>) -> Option<Objection> {
    let none = option_ids(&scene.message).next().is_none();
    none.then(|| Objection::new("/options", "no option, so that the user can only dismiss the request"))
}

fn same_option(scene: &Scene<'_>) -> Option<Objection> {
    let mut seen = Names::default();
    let twice = option_ids(&scene.message).position(|id| !seen.add(id))?;
    Some(Objection::new(format!("/options/{twice}/optionId"), "another option of this request has this id already"))
}

/// The tool call that a permission request is about; version 2 has it in the subject.
fn tool_call<'a>(call: &Message<'a>) -> Option<Cow<'a, str>> {
    call.text("/toolCall/toolCallId").or_else(|| call.text("/subject/toolCall/toolCallId"))
}

/// Notes the tool call and the options by what they mean, so that the answer can be held against them; more than
/// [`KEPT`] of them are no dialog.
fn asked(state: &mut State, call: &Message<'_>) -> Option<Box<str>> {
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
                writer.key(&id).boolean(kind.starts_with("allow"));
            }
        }
        writer.end_object();
    }
    writer.end_object();
    writer.finish().ok().map(Into::into)
}

/// What the option that was selected means, if it was offered.
fn allows(answer: &Message<'_>) -> Option<bool> {
    let selected = answer.text("/outcome/optionId")?;
    let options = json::members(json::pointer(answer.note()?, "/options")?);
    options.iter().find(|(id, _)| *id == selected).map(|(_, allow)| *allow == "true")
}

fn answered(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    let id = json::unescape(json::pointer(answer.note()?, "/call")?)?;
    let keep = state.config.limits.pending;
    let permits = &mut state.sessions.get_mut(answer.session)?.permits;
    if let Some(open) = permits.waiting.get_mut(&*id) {
        *open -= 1;
        if *open == 0 {
            permits.waiting.remove(&*id);
        }
    }
    if allows(answer) == Some(true) {
        permits.denied.remove(&*id);
    } else if permits.denied.len() < keep {
        permits.denied.insert(id.into(), ());
    }
    None
}

impl Permits {
    /// Tool calls do not outlive their turn.
    pub(super) fn forget(&mut self) {
        self.denied.clear();
    }
}

fn forget(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(answer.session)?;
    if session.prompts == 0 {
        session.permits.forget();
    }
    None
}

fn runs_without(scene: &Scene<'_>) -> Option<Objection> {
    let update = &scene.message;
    if update.get("/update/status")? != "\"in_progress\"" {
        return None;
    }
    let permits = &scene.session()?.permits;
    let id = update.text("/update/toolCallId")?;
    let why = if permits.waiting.contains_key(&*id) {
        "the permission that this tool waits for has not been given yet; leave it pending"
    } else if permits.denied.contains_key(&*id) {
        "the permission for this tool was not given; report it as failed"
    } else {
        return None;
    };
    Some(Objection::new("/update/status", why))
}

fn not_offered(scene: &Scene<'_>) -> Option<Objection> {
    scene.message.text("/outcome/optionId")?;
    json::pointer(scene.message.note()?, "/options")?;
    if allows(&scene.message).is_some() {
        return None;
    }
    Some(Objection::new("/outcome/optionId", "not an option of the request, so it approves nothing"))
}
