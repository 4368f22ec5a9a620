//! MODE: session modes.
//!
//! The alias `modeId` of `current_mode_update` (MODE-05) is in the model. MODE-04 needs no code: no check depends on
//! the turn. Read `conf` next: config options replace modes.

use std::borrow::Cow;

use super::recent::KEPT;
use crate::engine::{
    Action, Area, Check, Finding, MessageKind, MisuseKind, RuleContext, RuleMessage, Session, SessionState, State,
    Tracker, OPENING,
};
use crate::json;
use crate::jsonrpc::ErrorCode;
use crate::map::StringMap;
use crate::rules::Way;

const SET: &[&str] = &["session/set_mode"];
const PROMPT: &[&str] = &["session/prompt"];
const CHANGED: &[&str] = &["session/update:current_mode_update"];

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("MODE-01"), MessageKind::Call, SET, not_offered),
        Check::new(id!("MODE-02"), MessageKind::Call, SET, none_offered)
            .receive(Action::Refuse(ErrorCode::METHOD_NOT_FOUND))
            .kind(MisuseKind::Capability),
        Check::new(id!("MODE-03"), MessageKind::Answer, OPENING, contradictory).receive(Action::Report),
        Check::new(id!("MODE-06"), MessageKind::Call, CHANGED, unknown).send(Action::Pass).receive(Action::Report),
        Check::new(id!("MODE-08"), MessageKind::Answer, OPENING, diverging)
            .send(Action::ReportAlways)
            .receive(Action::ReportAlways),
        Check::new(id!("MODE-08"), MessageKind::Answer, PROMPT, drifted)
            .send(Action::ReportAlways)
            .receive(Action::ReportAlways),
    ],
    trackers: &[
        Tracker { rules: &[id!("MODE-07")], on: MessageKind::Answer, messages: OPENING, track: offered },
        Tracker { rules: &[id!("MODE-07")], on: MessageKind::Call, messages: SET, track: asked },
        Tracker { rules: &[id!("MODE-07")], on: MessageKind::Answer, messages: SET, track: agreed },
        Tracker { rules: &[id!("MODE-07")], on: MessageKind::Call, messages: CHANGED, track: changed },
        Tracker { rules: &[id!("MODE-08")], on: MessageKind::Answer, messages: PROMPT, track: compared },
    ],
};

/// The modes of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Modes {
    offer: Offer,
    current: Option<Box<str>>,
    /// It was reported already that the config option for modes differs (MODE-08).
    told: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum Offer {
    #[default]
    Nothing,
    /// The list as JSON text, and the ids in it, against which changes are checked.
    Modes { list: Box<str>, ids: Box<[Box<str>]> },
    /// More than the limit: changes are not checked.
    TooMany,
}

impl Session {
    /// The id of the current mode, if known: the value of the session's config option for modes if there is one
    /// (MODE-08), else the mode that was last set or reported (MODE-07; protocol page "Session Modes").
    pub fn mode(&self) -> Option<Cow<'_, str>> {
        self.options.mode().filter(|_| id!("MODE-08").is_on(Way::Track)).or(self
            .modes
            .current
            .as_deref()
            .map(Cow::Borrowed))
    }

    /// The modes that the session offers as JSON text, a list of `{"id", "name", "description"?}`. `None` if it offers
    /// none, or more than [`Limits::remembered`](crate::connection::Limits::remembered) or 256 KiB of them.
    pub fn available_modes(&self) -> Option<&str> {
        match &self.modes.offer {
            Offer::Modes { list, .. } => Some(list),
            Offer::Nothing | Offer::TooMany => None,
        }
    }
}

impl Modes {
    /// Whether a mode is offered; `None` if that is not known.
    fn has(&self, id: &str) -> Option<bool> {
        match &self.offer {
            Offer::Modes { ids, .. } => Some(ids.iter().any(|known| **known == *id)),
            Offer::Nothing | Offer::TooMany => None,
        }
    }
}

const LIST: &str = "/modes/availableModes";

fn mode_ids(list: &str) -> impl Iterator<Item = Cow<'_, str>> {
    json::items(list).into_iter().filter_map(|mode| json::unescape(json::pointer(mode, "/id")?))
}

fn not_offered(context: &RuleContext<'_>) -> Option<Finding> {
    strange(context, "/modeId", "not a mode of this session; use an id from its availableModes")
}

fn none_offered(context: &RuleContext<'_>) -> Option<Finding> {
    let session = context.session()?;
    if session.state != SessionState::Ready || session.modes.offer != Offer::Nothing {
        return None;
    }
    Some(Finding::new("/modeId", "this session offers no modes; it may have a config option for them"))
}

fn contradictory(context: &RuleContext<'_>) -> Option<Finding> {
    let current = context.message.text("/modes/currentModeId")?;
    let mut seen = StringMap::default();
    let list = context.message.get(LIST).unwrap_or("[]");
    if let Some(twice) = mode_ids(list).position(|id| !seen.add(id)) {
        let place = format!("{LIST}/{twice}/id");
        return Some(Finding::new(place, "another mode already has this id"));
    }
    if seen.has(&current) {
        return None;
    }
    Some(Finding::new("/modes/currentModeId", "not one of availableModes"))
}

fn unknown(context: &RuleContext<'_>) -> Option<Finding> {
    strange(context, "/update/currentModeId", "not a mode that this session offers")
}

fn strange(context: &RuleContext<'_>, pointer: &'static str, message: &'static str) -> Option<Finding> {
    let known = context.session()?.modes.has(&context.message.text(pointer)?)?;
    (!known).then(|| Finding::new(pointer, message))
}

/// Whether the config option for modes in a list has this mode among its values, but another current value.
fn differs(options: &str, mode: &str) -> bool {
    super::conf::mode_of(options, mode).is_some_and(|other| other != mode)
}

fn opens_diverging(answer: &RuleMessage<'_>) -> bool {
    let mode = answer.text("/modes/currentModeId");
    mode.zip(answer.get("/configOptions")).is_some_and(|(mode, options)| differs(options, &mode))
}

const DIVERGING: &str = "the config option for modes has a different mode as its value; clients use the option";

fn diverging(context: &RuleContext<'_>) -> Option<Finding> {
    opens_diverging(&context.message).then(|| Finding::new("/modes/currentModeId", DIVERGING))
}

/// The mode and the config option change one after the other, so they are compared when a turn ends.
fn drifted(context: &RuleContext<'_>) -> Option<Finding> {
    let session = context.session()?;
    (!session.modes.told && has_drifted(session)).then(|| Finding::new("", DIVERGING))
}

fn has_drifted(session: &Session) -> bool {
    let mode = session.modes.current.as_deref();
    mode.zip(session.config_options()).is_some_and(|(mode, options)| differs(options, mode))
}

fn compared(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(answer.session)?;
    session.modes.told = has_drifted(session);
    None
}

fn offered(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let current = answer.text("/modes/currentModeId")?;
    let list = answer.get(LIST).unwrap_or("[]");
    let fits = list.len() <= KEPT && json::items(list).len() <= state.config.limits.remembered;
    let offer = if fits {
        Offer::Modes { list: list.into(), ids: mode_ids(list).map(Into::into).collect() }
    } else {
        Offer::TooMany
    };
    state.sessions.known.get_mut(&answer.opens()?)?.modes =
        Modes { offer, current: Some(current.into()), told: opens_diverging(answer) };
    None
}

fn asked(_: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    call.text("/modeId").map(Into::into)
}

fn agreed(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    answer.body?;
    state.sessions.get_mut(answer.session)?.modes.current = answer.note().map(Into::into);
    None
}

fn changed(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let current = json::unescape(update.operation?.body)?;
    state.sessions.get_mut(update.session)?.modes.current = Some(current.into());
    None
}
