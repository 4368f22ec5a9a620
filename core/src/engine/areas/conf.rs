//! CONF: config options and their values.
//!
//! A session's list is kept as it was received, and parsed only when a message is checked against it, which is rare.
//! Types are in the model: a current value is required (CONF-02), version 1 omits options of other types than `select`
//! and `boolean` (CONF-12), custom categories begin with an underscore (CONF-14), a selection has a value (CONF-21).

use std::borrow::Cow;

use super::recent::KEPT;
use crate::engine::{
    Action, Area, Check, Finding, MessageKind, MisuseKind, RuleContext, RuleMessage, Session, SessionState, State,
    Tracker, OPENING,
};
use crate::json;
use crate::jsonrpc::{ErrorCode, MAX_NAME_BYTES};
use crate::map::StringMap;

const SET: &[&str] = &["session/set_config_option"];
const UPDATE: &[&str] = &["session/update:config_option_update"];
/// Methods whose answers list config options.
const LISTING: &[&str] =
    &["session/new", "session/load", "session/resume", "session/fork", "session/set_config_option", "session/options"];

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("CONF-05"), MessageKind::Call, SET, not_offered),
        Check::new(id!("CONF-09"), MessageKind::Call, SET, wrong_value),
        Check::new(id!("CONF-10"), MessageKind::Call, SET, wrong_type),
        Check::new(id!("CONF-19"), MessageKind::Error, SET, not_served)
            .send(Action::Report)
            .receive(Action::ReportAlways),
        Check::new(id!("CONF-21"), MessageKind::Answer, LISTING, same_value).receive(Action::Report),
        Check::new(id!("CONF-21"), MessageKind::Call, UPDATE, same_value).receive(Action::Report),
        Check::new(id!("CONF-03"), MessageKind::Answer, LISTING, same_id).receive(Action::Report),
        Check::new(id!("CONF-03"), MessageKind::Call, UPDATE, same_id).receive(Action::Report),
        Check::new(id!("CONF-04"), MessageKind::Answer, LISTING, not_listed).receive(Action::Report),
        Check::new(id!("CONF-04"), MessageKind::Call, UPDATE, not_listed).receive(Action::Report),
        Check::new(id!("CONF-06"), MessageKind::Answer, SET, changed_one_missing).receive(Action::Report),
        Check::new(id!("CONF-06"), MessageKind::Answer, SET, not_changed)
            .send(Action::Report)
            .receive(Action::Report)
            .only(2),
        Check::new(id!("CONF-08"), MessageKind::Answer, LISTING, switch)
            .receive(Action::Report)
            .kind(MisuseKind::Capability),
        Check::new(id!("CONF-08"), MessageKind::Call, UPDATE, switch)
            .receive(Action::Report)
            .kind(MisuseKind::Capability),
        Check::new(id!("CONF-18"), MessageKind::Call, OPENING, values_too_early).kind(MisuseKind::Capability),
    ],
    trackers: &[
        Tracker { rules: &[id!("CONF-01"), id!("CONF-15")], on: MessageKind::Answer, messages: OPENING, track: listed },
        Tracker { rules: &[id!("CONF-06")], on: MessageKind::Call, messages: SET, track: asked },
        Tracker { rules: &[id!("CONF-15"), id!("CONF-17")], on: MessageKind::Answer, messages: SET, track: listed },
        Tracker { rules: &[id!("CONF-07"), id!("CONF-15")], on: MessageKind::Call, messages: UPDATE, track: listed },
    ],
};

/// Up to this number of options, comparing each with each is faster than building a table.
const FEW: usize = 16;

/// A session's options, as last listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Options {
    list: Option<Box<str>>,
    /// The list was too long to keep.
    unknown: bool,
}

impl Options {
    /// The value of the option of the category `mode`.
    pub(super) fn mode(&self) -> Option<Cow<'_, str>> {
        json::items(self.list.as_deref()?).into_iter().find_map(mode_value)
    }
}

impl Session {
    /// The session's config options as JSON text, a list in the agent's order (CONF-15) as last reported (CONF-07, CONF-17;
    /// protocol page "Session Config Options"): selections
    /// `{"id", "name", "type": "select", "currentValue", "options", …}` and switches
    /// `{"id", "name", "type": "boolean", "currentValue", …}`. `None` if none were reported, or more than 256 KiB.
    pub fn config_options(&self) -> Option<&str> {
        self.options.list.as_deref()
    }
}

/// The value of an option, if its category is `mode`.
fn mode_value(option: &str) -> Option<Cow<'_, str>> {
    let category = text(option, "/category")?;
    text(option, "/currentValue").filter(|_| category == "mode")
}

/// The value of the option of the category `mode` in a list, if this mode is one of its values.
pub(super) fn mode_of<'a>(list: &'a str, mode: &str) -> Option<Cow<'a, str>> {
    let option = json::items(list).into_iter().find(|option| mode_value(option).is_some())?;
    values(option).any(|value| value == mode).then(|| mode_value(option)).flatten()
}

fn place(message: &RuleMessage<'_>) -> &'static str {
    if message.method == "session/update" {
        "/update/configOptions"
    } else {
        "/configOptions"
    }
}

fn text<'a>(json: &'a str, pointer: &str) -> Option<Cow<'a, str>> {
    json::unescape(json::pointer(json, pointer)?)
}

/// CONF-11: the name of an option's id.
fn id_name(context: &RuleContext<'_>) -> &'static str {
    context.state.tables.dialect.config_option_id
}

/// The options that a message lists: id, type, current value and values of each.
fn options<'s, 'a>(context: &'s RuleContext<'a>) -> &'s [[Option<&'a str>; 4]] {
    context.options(place(&context.message), [id_name(context), "type", "currentValue", "options"])
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

/// Whether an option of this type lists its values. No type means `select`; other types are not known.
fn is_selection(kind: Option<Cow<'_, str>>) -> bool {
    kind.is_none_or(|kind| kind == "select")
}

fn is_switch(option: &str) -> bool {
    text(option, "/type").is_some_and(|kind| kind == "boolean")
}

/// The known option that a change is about; `Err` if there is none with this id.
fn option_of<'a>(context: &RuleContext<'a>) -> Option<Result<&'a str, ()>> {
    let session = context.session()?;
    if session.state != SessionState::Ready || session.options.unknown {
        return None;
    }
    let id = context.message.text("/configId")?;
    let list = session.options.list.as_deref().unwrap_or("[]");
    let at = json::columns(list, [id_name(context)]).iter().position(|[known]| string(*known).as_ref() == Some(&id));
    Some(at.and_then(|at| json::items(list).into_iter().nth(at)).ok_or(()))
}

fn not_offered(context: &RuleContext<'_>) -> Option<Finding> {
    let Ok(option) = option_of(context)? else {
        return Some(Finding::new("/configId", "not an option of this session; use an id that it has listed"));
    };
    let value = context.message.text("/value")?;
    if !is_selection(string(json::pointer(option, "/type"))) || values(option).any(|known| known == value) {
        return None;
    }
    Some(Finding::new("/value", "not one of the values that the option lists"))
}

fn wrong_value(context: &RuleContext<'_>) -> Option<Finding> {
    let option = option_of(context)?.ok()?;
    let boolean = matches!(context.message.get("/value")?, "true" | "false");
    if boolean == is_switch(option) {
        return None;
    }
    let expected = if boolean {
        "this is a select option; give one of its values as a string, without a type"
    } else {
        "the option is a switch: true or false, and the type \"boolean\""
    };
    Some(Finding::new("/value", expected))
}

/// CONF-10: the type of a change for each type of option. Custom types have custom changes.
const CHANGES: &[(&str, &str)] = &[("select", "id"), ("boolean", "boolean")];

fn wrong_type(context: &RuleContext<'_>) -> Option<Finding> {
    let option = option_of(context)?.ok()?;
    let (kind, change) = (text(option, "/type")?, context.message.text("/type")?);
    let (_, right) = CHANGES.iter().find(|(known, _)| *known == kind)?;
    if change == *right {
        return None;
    }
    Some(Finding::new("/type", format!("the option has the type {kind}, so a change has the type {right}")))
}

fn not_served(context: &RuleContext<'_>) -> Option<Finding> {
    let code = ErrorCode(context.message.get("/code")?.parse().ok()?);
    let listed = context.session()?.options.list.as_deref().is_some_and(|list| !json::items(list).is_empty());
    (code == ErrorCode::METHOD_NOT_FOUND && listed)
        .then(|| Finding::new("/code", "the session lists options, so the agent has to serve changes to them"))
}

fn values_too_early(context: &RuleContext<'_>) -> Option<Finding> {
    // If the draft is off, the member belongs to an extension.
    let given = context.message.get("/configOptions").is_some();
    context.lacks("configOptions").filter(|_| given)?;
    Some(Finding::new("/configOptions", "the agent did not advertise sessionCapabilities.options; set options later"))
}

fn same_id(context: &RuleContext<'_>) -> Option<Finding> {
    let place = place(&context.message);
    let name = id_name(context);
    let options = options(context);
    let id = |at: usize| string(options[at][0]);
    let twice = if options.len() <= FEW {
        (1..options.len()).find(|&at| id(at).is_some_and(|own| (0..at).any(|before| id(before).as_ref() == Some(&own))))
    } else {
        let mut seen = StringMap::default();
        (0..options.len()).find(|&at| id(at).is_some_and(|id| !seen.add(id)))
    }?;
    Some(Finding::new(format!("{place}/{twice}/{name}"), "another option already has this id"))
}

fn same_value(context: &RuleContext<'_>) -> Option<Finding> {
    let place = place(&context.message);
    let twice = |[_, kind, _, values]: &[Option<&str>; 4]| {
        let mut seen = StringMap::default();
        is_selection(string(*kind)) && values_of(*values).any(|value| !seen.add(value))
    };
    let at = options(context).iter().position(twice)?;
    Some(Finding::new(format!("{place}/{at}/options"), "a value is listed twice"))
}

fn not_listed(context: &RuleContext<'_>) -> Option<Finding> {
    let place = place(&context.message);
    let wrong = |[_, kind, current, values]: &[Option<&str>; 4]| {
        let current = string(*current).filter(|_| is_selection(string(*kind)));
        current.is_some_and(|current| values_of(*values).all(|value| value != current))
    };
    let at = options(context).iter().position(wrong)?;
    Some(Finding::new(format!("{place}/{at}/currentValue"), "not one of the values that the option lists"))
}

fn changed_one_missing(context: &RuleContext<'_>) -> Option<Finding> {
    let changed = text(context.message.note()?, "/id")?;
    let name = id_name(context);
    let ids = json::columns(context.message.get("/configOptions").unwrap_or("[]"), [name]);
    if context.message.body.is_none() || ids.into_iter().any(|[id]| string(id).is_some_and(|id| id == changed)) {
        return None;
    }
    Some(Finding::new("/configOptions", "the changed option is missing; the list must be complete"))
}

fn not_changed(context: &RuleContext<'_>) -> Option<Finding> {
    let note = context.message.note()?;
    let (changed, value) = (text(note, "/id")?, json::pointer(note, "/value")?);
    let of_it = |[id, ..]: &[Option<&str>; 4]| string(*id).as_ref() == Some(&changed);
    let at = options(context).iter().position(of_it)?;
    // The meaning of a value of a custom type is not known.
    let kind = string(options(context)[at][1])?;
    CHANGES.iter().find(|(known, _)| *known == kind)?;
    let now = options(context)[at][2]?;
    let same = now == value || json::unescape(now).is_some_and(|now| json::unescape(value) == Some(now));
    (!same).then(|| {
        let place = format!("/configOptions/{at}/currentValue");
        Finding::new(place, "not the value to which the option was set; refuse a change that cannot be made")
    })
}

fn switch(context: &RuleContext<'_>) -> Option<Finding> {
    let place = place(&context.message);
    context.message.may_have("boolean").then(|| context.lacks("boolean"))??;
    let at = context.message.items(place).into_iter().position(is_switch)?;
    Some(Finding::new(
        format!("{place}/{at}/type"),
        "the client did not advertise boolean options; use a select option with two values, or leave it out",
    ))
}

fn asked(_: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let mut out = json::Writer::new();
    out.begin_object().key("id").string(&call.text("/configId")?);
    if let Some(value) = call.get("/value").filter(|value| value.len() <= MAX_NAME_BYTES) {
        out.key("value").json(value);
    }
    out.end_object();
    out.finish().ok().map(Into::into)
}

/// CONF-01, CONF-06, CONF-07: each list is complete.
fn listed(state: &mut State, message: &RuleMessage<'_>) -> Option<Box<str>> {
    let list = message.fact("/configOptions")?;
    let unknown = list.len() > KEPT;
    let list = (!unknown).then(|| list.into());
    state.sessions.told_mut(&message.opens()?)?.options = Options { list, unknown };
    None
}
