//! PLAN: plans.
//!
//! The shapes of entries are in the model, which leaves out entries that do not fit. Plans with ids are a draft of
//! version 1.

use super::catalogue::{rule, E, R, T};
use super::recent::KEPT;
use super::scene::{Action, Check, Message, Objection, On, Scene, Tracker};
use super::{Area, Level, Severity};
use crate::connection::{MisuseKind, Role, Session, State};
use crate::map::Set;
use Level::{Must, MustNot};
use Severity::{Error, Note, Warning};

const UPDATED: &[&str] = &["session/update:plan_update"];
const REMOVED: &[&str] = &["session/update:plan_removed"];

pub(super) static AREA: Area = Area {
    name: "PLAN",
    title: "Plans",
    rules: RULES,
    checks: &[
        Check::new(id!("PLAN-10"), On::Call, UPDATED, unwanted).receive(Action::Report).kind(MisuseKind::Capability),
        Check::new(id!("PLAN-10"), On::Call, REMOVED, unwanted).receive(Action::Report).kind(MisuseKind::Capability),
    ],
    trackers: &[
        Tracker { rules: &[id!("PLAN-03")], on: On::Call, messages: &["session/update:plan"], track: replaced },
        Tracker { rules: &[id!("PLAN-12"), id!("PLAN-13")], on: On::Call, messages: UPDATED, track: updated },
        Tracker { rules: &[id!("PLAN-13")], on: On::Call, messages: REMOVED, track: removed },
    ],
};

pub(super) static RULES: &[super::Rule] = &[
    rule("PLAN-03", Must, Note, T, "A new plan takes the place of the old one as a whole."),
    rule("PLAN-04", Must, Warning, E | R, "An entry has content, priority and status; one that has not is left out."),
    rule("PLAN-05", Must, Warning, E | R, "Priorities and statuses are of the three that exist."),
    rule("PLAN-06", Must, Error, E | R, "A plan update names its plan."),
    rule("PLAN-08", Must, Warning, E | R, "A plan has a type; types of an agent's own begin with an underscore (v2)."),
    rule("PLAN-10", MustNot, Warning, E | R, "Plans with ids are sent to clients that advertise them."),
    rule("PLAN-11", Must, Warning, E | R, "A plan in a file is named by a whole URI."),
    rule("PLAN-12", Must, Note, T, "Plans as entries, as a file and as Markdown are all taken."),
    rule("PLAN-13", Must, Note, E | R | T, "A plan that is removed is gone; removing an unknown one changes nothing."),
];

/// The plans of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Plans {
    entries: Option<Box<str>>,
    ids: Set<Box<str>>,
}

impl Session {
    /// The entries of the session's plan as JSON text, a list of `{"content", "priority", "status"}` that takes the
    /// place of the one before (PLAN-03; protocol page "Agent Plan"); `None` when there is no plan, or one of more than
    /// 256 KiB.
    pub fn plan(&self) -> Option<&str> {
        self.plans.entries.as_deref()
    }

    /// The ids of the session's plans that have one, in alphabetical order (PLAN-13; the draft `plan_operations`).
    pub fn plan_ids(&self) -> impl Iterator<Item = &str> {
        self.plans.ids.keys().map(|id| &**id)
    }
}

fn unwanted(scene: &Scene<'_>) -> Option<Objection> {
    if scene.state.tables.version > 1 || scene.advertises(Role::Client, "/plan") {
        return None;
    }
    Some(Objection::new("/update/sessionUpdate", "the client did not advertise plan; send its entries as a plan"))
}

fn replaced(state: &mut State, update: &Message<'_>) -> Option<Box<str>> {
    let entries = update.get("/update/entries")?;
    state.sessions.get_mut(update.session)?.plans.entries = (entries.len() <= KEPT).then(|| entries.into());
    None
}

fn updated(state: &mut State, update: &Message<'_>) -> Option<Box<str>> {
    let limit = state.config.limits.remembered;
    let ids = &mut state.sessions.get_mut(update.session)?.plans.ids;
    if ids.len() < limit {
        ids.insert(update.text("/update/plan/planId")?.into(), ());
    }
    None
}

fn removed(state: &mut State, update: &Message<'_>) -> Option<Box<str>> {
    let id = update.text("/update/planId")?;
    state.sessions.get_mut(update.session)?.plans.ids.remove(&*id);
    None
}
