//! PERM: permission requests.
//!
//! The answers that a cancel brings are in the connection (`answer_permissions`); types are in the model.

use std::collections::HashSet;

use super::catalogue::{rule, E, R, T};
use super::scene::{Action, Check, Message, Objection, On, Scene, Tracker};
use super::{Area, Level, Severity};
use crate::connection::State;
use crate::json;
use Level::{May, Must, Should};
use Severity::{Error, Note, Warning};

const REQUEST: &[&str] = &["session/request_permission"];
/// Option ids are kept for the answer up to this many bytes; a request with more than that is not a dialog.
const KEPT: usize = 16 * 1024;

pub(super) static AREA: Area = Area {
    name: "PERM",
    title: "Permission requests",
    rules: &[
        rule(
            "PERM-01",
            Must,
            Error,
            E | R,
            "A permission request names its session and options with id, name and kind.",
        ),
        rule("PERM-02", Must, Warning, E | R, "At least one option is offered."),
        rule("PERM-03", Must, Warning, E | R, "The ids of the options of one request are unique."),
        rule("PERM-04", Must, Error, E | R, "A selected outcome repeats an option id that was offered."),
        rule("PERM-05", Must, Error, E, "When the turn is cancelled, the outcome is cancelled."),
        rule(
            "PERM-06",
            May,
            Note,
            T,
            "A client may answer by the user's settings; the connection never decides by itself.",
        ),
        rule("PERM-08", Must, Error, E | R, "The tool call of a permission request is an update with an id."),
        rule("PERM-17", Must, Warning, E | R, "The kind of an option is one of the four that exist."),
        rule("PERM-18", Should, Note, E | T, "A tool call does not run before its permission is given."),
        rule("PERM-19", Must, Warning, T, "Every permission request is answered in the end."),
    ],
    checks: &[
        Check::new("PERM-02", On::Call, REQUEST, no_option).send(Action::Report).receive(Action::Report),
        Check::new("PERM-03", On::Call, REQUEST, same_option).receive(Action::Report),
        Check::new("PERM-04", On::Answer, REQUEST, not_offered).receive(Action::Drop),
    ],
    trackers: &[Tracker { on: On::Call, messages: REQUEST, track: note_options }],
};

fn option_ids<'a>(call: &Message<'a>) -> impl Iterator<Item = std::borrow::Cow<'a, str>> {
    call.items("/options").into_iter().filter_map(|item| json::unescape(json::pointer(item, "/optionId")?))
}

fn no_option(scene: &Scene<'_>) -> Option<Objection> {
    let none = option_ids(&scene.message).next().is_none();
    none.then(|| Objection::new("/options", "no option, so that the user can only dismiss the request"))
}

fn same_option(scene: &Scene<'_>) -> Option<Objection> {
    let mut seen = HashSet::new();
    let twice = option_ids(&scene.message).position(|id| !seen.insert(id))?;
    Some(Objection::new(format!("/options/{twice}/optionId"), "another option of this request has this id already"))
}

/// The ids of the options, so that the answer can be held against them.
fn note_options(_: &mut State, call: &Message<'_>) -> Option<Box<str>> {
    let mut writer = json::Writer::new();
    writer.begin_array();
    for id in option_ids(call) {
        writer.string(&id);
    }
    writer.end_array();
    writer.finish().ok().filter(|note| note.len() <= KEPT).map(Into::into)
}

fn not_offered(scene: &Scene<'_>) -> Option<Objection> {
    let selected = scene.message.text("/outcome/optionId")?;
    let offered = json::items(scene.message.note()?);
    if offered.into_iter().filter_map(json::unescape).any(|id| id == selected) {
        return None;
    }
    Some(Objection::new("/outcome/optionId", "not an option of the request, so it approves nothing"))
}
