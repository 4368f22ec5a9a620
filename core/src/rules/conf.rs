//! CONF: config options and their values.
//!
//! A session's list is kept as it came; it is read again where a message is held against it, which is rare. Types are
//! in the model: a current value is required (CONF-02), an option of another type than `select` and `boolean` is left
//! out (CONF-12), own categories begin with an underscore (CONF-14).

use std::borrow::Cow;

use super::catalogue::{rule, E, R, T};
use super::recent::KEPT;
use super::scene::{Action, Check, Message, Objection, On, Scene, Tracker, OPENING};
use super::{Area, Level, Severity};
use crate::connection::{MisuseKind, Role, Session, SessionState, State};
use crate::json;
use crate::map::Names;
use Level::{May, Must, MustNot, Should};
use Severity::{Error, Note, Warning};

const SET: &[&str] = &["session/set_config_option"];
const UPDATE: &[&str] = &["session/update:config_option_update"];
/// Answers that list the options of a session, or of one that there may be.
const LISTING: &[&str] =
    &["session/new", "session/load", "session/resume", "session/fork", "session/set_config_option", "session/options"];

pub(super) static AREA: Area = Area {
    name: "CONF",
    title: "Session config options",
    rules: RULES,
    checks: &[
        Check::new(id!("CONF-05"), On::Call, SET, not_offered),
        Check::new(id!("CONF-09"), On::Call, SET, wrong_type),
        Check::new(id!("CONF-03"), On::Answer, LISTING, same_id).receive(Action::Report),
        Check::new(id!("CONF-03"), On::Call, UPDATE, same_id).receive(Action::Report),
        Check::new(id!("CONF-04"), On::Answer, LISTING, not_listed).receive(Action::Report),
        Check::new(id!("CONF-04"), On::Call, UPDATE, not_listed).receive(Action::Report),
        Check::new(id!("CONF-06"), On::Answer, SET, changed_one_missing).receive(Action::Report),
        Check::new(id!("CONF-08"), On::Answer, LISTING, switch).receive(Action::Report).kind(MisuseKind::Capability),
        Check::new(id!("CONF-08"), On::Call, UPDATE, switch).receive(Action::Report).kind(MisuseKind::Capability),
        Check::new(id!("CONF-18"), On::Call, OPENING, values_too_early).kind(MisuseKind::Capability),
    ],
    trackers: &[
        Tracker { rules: &[id!("CONF-01"), id!("CONF-15")], on: On::Answer, messages: OPENING, track: listed },
        Tracker { rules: &[id!("CONF-06")], on: On::Call, messages: SET, track: asked },
        Tracker { rules: &[id!("CONF-15"), id!("CONF-17")], on: On::Answer, messages: SET, track: listed },
        Tracker { rules: &[id!("CONF-07"), id!("CONF-15")], on: On::Call, messages: UPDATE, track: listed },
    ],
};

pub(super) static RULES: &[super::Rule] = &[
    rule("CONF-01", May, Note, T, "A session that opens may list its options with their values."),
    rule("CONF-02", Must, Warning, E | R, "Every option has a value from the start."),
    rule("CONF-03", Must, Warning, E | R, "The ids of a session's options are unique."),
    rule("CONF-04", Must, Warning, E | R, "The value of a selection is one of its values, plain or in groups."),
    rule("CONF-05", Must, Error, E | R, "Known options are set to values that they list."),
    rule("CONF-06", Must, Warning, E | R | T, "The answer to a change lists all options, the changed one among them."),
    rule("CONF-07", Must, Note, T, "An update of the options lists all of them and takes the place of the old list."),
    rule("CONF-08", MustNot, Warning, E | R, "Switches are listed only for clients that advertise them."),
    rule("CONF-09", Must, Error, E | R, "A switch is set by a boolean, a selection by a string."),
    rule("CONF-11", Must, Warning, E | R, "Version 1 names ids id and group in lists, and configId in a change."),
    rule("CONF-12", Should, Warning, E | R, "Options of a type that does not exist are left out."),
    rule("CONF-14", Must, Warning, E | R, "Own categories begin with an underscore."),
    rule("CONF-15", Should, Note, T, "The agent's order of the options is kept."),
    rule("CONF-17", Must, Note, T, "A change may change other options too: the answered list is what counts."),
    // This number is the catalogue's own: what the rule says was proposed after it was numbered.
    rule(
        "CONF-18",
        Must,
        Error,
        E | R,
        "Values to start with are given only to agents that advertise that (v1, draft).",
    ),
];

/// So many options are compared with each other faster than a table of them is made.
const FEW: usize = 16;

/// A session's options, as last listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Options {
    list: Option<Box<str>>,
    /// There was a list that was too long to keep.
    unknown: bool,
}

impl Options {
    /// The value of the option for modes.
    pub(super) fn mode(&self) -> Option<Cow<'_, str>> {
        json::items(self.list.as_deref()?).into_iter().find_map(mode_value)
    }
}

impl Session {
    /// The session's config options as JSON text, a list in the agent's order (CONF-15) as the agent listed them last
    /// (CONF-07, CONF-17; protocol page "Session Config Options"): selections
    /// `{"id", "name", "type": "select", "currentValue", "options", …}` and switches
    /// `{"id", "name", "type": "boolean", "currentValue", …}`. `None` when it has told of none, or of more than 256 KiB.
    pub fn config_options(&self) -> Option<&str> {
        self.options.list.as_deref()
    }
}

/// The value of an option for modes.
fn mode_value(option: &str) -> Option<Cow<'_, str>> {
    let category = text(option, "/category")?;
    text(option, "/currentValue").filter(|_| category == "mode")
}

/// The value of the option for modes in a list, if this mode is one of its values.
pub(super) fn mode_of<'a>(list: &'a str, mode: &str) -> Option<Cow<'a, str>> {
    let option = json::items(list).into_iter().find(|option| mode_value(option).is_some())?;
    values(option).any(|value| value == mode).then(|| mode_value(option)).flatten()
}

fn place(message: &Message<'_>) -> &'static str {
    if message.method == "session/update" {
        "/update/configOptions"
    } else {
        "/configOptions"
    }
}

fn text<'a>(json: &'a str, pointer: &str) -> Option<Cow<'a, str>> {
    json::unescape(json::pointer(json, pointer)?)
}

/// CONF-11: where the id of an option stands.
fn id_name(scene: &Scene<'_>) -> &'static str {
    if scene.state.tables.version > 1 {
        "configId"
    } else {
        "id"
    }
}

/// The options that a message lists: the id of each, its type, its value and the values to choose from.
fn options<'s, 'a>(scene: &'s Scene<'a>) -> &'s [[Option<&'a str>; 4]] {
    scene.options(place(&scene.message), [id_name(scene), "type", "currentValue", "options"])
}

/// The values of a selection, plain or in groups.
fn values(option: &str) -> impl Iterator<Item = Cow<'_, str>> {
    values_of(json::pointer(option, "/options"))
}

fn values_of(list: Option<&str>) -> impl Iterator<Item = Cow<'_, str>> {
    let entries = json::columns(list.unwrap_or("[]"), ["value", "options"]);
    let values = entries.into_iter().flat_map(|[value, group]| match group {
        Some(group) => json::columns(group, ["value"]),
        None => vec![[value]],
    });
    values.filter_map(|[value]| string(value))
}

fn string(json: Option<&str>) -> Option<Cow<'_, str>> {
    json.and_then(json::unescape)
}

fn is_switch(option: &str) -> bool {
    text(option, "/type").is_some_and(|kind| kind == "boolean")
}

/// The known option that a change is about; `Err` when there is none of this id.
fn option_of<'a>(scene: &Scene<'a>) -> Option<Result<&'a str, ()>> {
    let session = scene.session()?;
    if session.state != SessionState::Ready || session.options.unknown {
        return None;
    }
    let id = scene.message.text("/configId")?;
    let list = session.options.list.as_deref().unwrap_or("[]");
    let at = json::columns(list, [id_name(scene)]).iter().position(|[known]| string(*known).as_ref() == Some(&id));
    Some(at.and_then(|at| json::items(list).into_iter().nth(at)).ok_or(()))
}

fn not_offered(scene: &Scene<'_>) -> Option<Objection> {
    let Ok(option) = option_of(scene)? else {
        return Some(Objection::new("/configId", "not an option of this session; take an id that it has listed"));
    };
    let value = scene.message.text("/value")?;
    if is_switch(option) || values(option).any(|known| known == value) {
        return None;
    }
    Some(Objection::new("/value", "not one of the values that the option lists"))
}

fn wrong_type(scene: &Scene<'_>) -> Option<Objection> {
    let option = option_of(scene)?.ok()?;
    let boolean = matches!(scene.message.get("/value")?, "true" | "false");
    if boolean == is_switch(option) {
        return None;
    }
    let expected = if boolean {
        "the option is a selection: one of its values as a string, and no type"
    } else {
        "the option is a switch: true or false, and the type \"boolean\""
    };
    Some(Objection::new("/value", expected))
}

fn values_too_early(scene: &Scene<'_>) -> Option<Objection> {
    // Where the draft is off, the member is another extension's.
    let given = scene.state.config.has_draft("session_options") && scene.message.get("/configOptions").is_some();
    if scene.state.tables.version > 1 || !given || scene.advertises(Role::Agent, "/sessionCapabilities/options") {
        return None;
    }
    Some(Objection::new("/configOptions", "the agent did not advertise sessionCapabilities.options; set options later"))
}

fn same_id(scene: &Scene<'_>) -> Option<Objection> {
    let place = place(&scene.message);
    let name = id_name(scene);
    let options = options(scene);
    let id = |at: usize| string(options[at][0]);
    let twice = if options.len() <= FEW {
        (1..options.len()).find(|&at| id(at).is_some_and(|own| (0..at).any(|before| id(before).as_ref() == Some(&own))))
    } else {
        let mut seen = Names::default();
        (0..options.len()).find(|&at| id(at).is_some_and(|id| !seen.add(id)))
    }?;
    Some(Objection::new(format!("{place}/{twice}/{name}"), "another option has this id already"))
}

fn not_listed(scene: &Scene<'_>) -> Option<Objection> {
    let place = place(&scene.message);
    let wrong = |[_, kind, current, values]: &[Option<&str>; 4]| {
        let current = string(*current).filter(|_| string(*kind).is_none_or(|kind| kind != "boolean"));
        current.is_some_and(|current| values_of(*values).all(|value| value != current))
    };
    let at = options(scene).iter().position(wrong)?;
    Some(Objection::new(format!("{place}/{at}/currentValue"), "not one of the values that the option lists"))
}

fn changed_one_missing(scene: &Scene<'_>) -> Option<Objection> {
    let changed = scene.message.note()?;
    let name = id_name(scene);
    let ids = json::columns(scene.message.get("/configOptions").unwrap_or("[]"), [name]);
    if scene.message.body.is_none() || ids.into_iter().any(|[id]| string(id).is_some_and(|id| id == changed)) {
        return None;
    }
    Some(Objection::new("/configOptions", "the option that was set is missing; the list is to be complete"))
}

fn switch(scene: &Scene<'_>) -> Option<Objection> {
    let place = place(&scene.message);
    let may_have = scene.state.tables.version == 1 && scene.message.may_have("boolean");
    if !may_have || scene.advertises(Role::Client, "/session/configOptions/boolean") {
        return None;
    }
    let at = scene.message.items(place).into_iter().position(is_switch)?;
    Some(Objection::new(
        format!("{place}/{at}/type"),
        "a switch, which the client did not advertise; offer a selection of two values, or leave it out",
    ))
}

fn asked(_: &mut State, call: &Message<'_>) -> Option<Box<str>> {
    call.text("/configId").map(Into::into)
}

/// CONF-01, CONF-06, CONF-07: each list is complete.
fn listed(state: &mut State, message: &Message<'_>) -> Option<Box<str>> {
    let list = message.get(place(message))?;
    let unknown = list.len() > KEPT;
    let list = (!unknown).then(|| list.into());
    state.sessions.told_mut(&message.opens()?)?.options = Options { list, unknown };
    None
}
