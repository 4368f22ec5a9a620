//! PLAN: plans.
//!
//! The type of entries is in the model, which omits invalid ones. Plans with ids are a draft of version 1.

use super::recent::KEPT;
use crate::engine::{
    Action, Area, Check, Finding, MessageKind, MisuseKind, RuleContext, RuleMessage, Session, State, Tracker,
};
use crate::map::Set;

const UPDATED: &[&str] = &["session/update:plan_update"];
const REMOVED: &[&str] = &["session/update:plan_removed"];

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("PLAN-10"), MessageKind::Call, UPDATED, unwanted)
            .receive(Action::Report)
            .kind(MisuseKind::Capability),
        Check::new(id!("PLAN-10"), MessageKind::Call, REMOVED, unwanted)
            .receive(Action::Report)
            .kind(MisuseKind::Capability),
    ],
    trackers: &[
        Tracker {
            rules: &[id!("PLAN-03")],
            on: MessageKind::Call,
            messages: &["session/update:plan"],
            track: replaced,
        },
        Tracker {
            rules: &[id!("PLAN-07"), id!("PLAN-12"), id!("PLAN-13")],
            on: MessageKind::Call,
            messages: UPDATED,
            track: updated,
        },
        Tracker { rules: &[id!("PLAN-13")], on: MessageKind::Call, messages: REMOVED, track: removed },
    ],
};

/// The plans of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Plans {
    entries: Option<Box<str>>,
    ids: Set<Box<str>>,
}

impl Session {
    /// The entries of the session's plan as JSON text, a list of `{"content", "priority", "status"}` as last reported
    /// (PLAN-03; protocol page "Agent Plan"). `None` if there is no plan, or one of more than 256 KiB.
    pub fn plan(&self) -> Option<&str> {
        self.plans.entries.as_deref()
    }

    /// The ids of the session's plans with an id, in alphabetical order (PLAN-13; the draft `plan_operations`).
    pub fn plan_ids(&self) -> impl Iterator<Item = &str> {
        self.plans.ids.keys().map(|id| &**id)
    }
}

fn unwanted(context: &RuleContext<'_>) -> Option<Finding> {
    context.lacks(&context.message.text("/update/sessionUpdate")?)?;
    Some(Finding::new("/update/sessionUpdate", "the client did not advertise plan; send its entries as a plan"))
}

fn replaced(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let entries = update.operation?.get("entries")?;
    state.sessions.get_mut(update.session)?.plans.entries = (entries.len() <= KEPT).then(|| entries.into());
    None
}

fn updated(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let limit = state.config.limits.remembered;
    let ids = &mut state.sessions.get_mut(update.session)?.plans.ids;
    if ids.len() < limit {
        ids.insert(update.operation?.id()?.into(), ());
    }
    None
}

fn removed(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let id = update.operation?.id()?;
    state.sessions.get_mut(update.session)?.plans.ids.remove(&*id);
    None
}
