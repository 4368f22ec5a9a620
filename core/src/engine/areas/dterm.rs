//! DTERM: terminals that the agent runs and the client only shows (version 2).
//!
//! Types are in the model. The checks here need state: an id is not reused for another terminal, and a command is
//! cancelled only if its terminal allows that. Output is not kept. Terminals and tool calls are tracked separately, so
//! one of each may have the same id. While a session is being resumed, its history is replayed, and no update is
//! checked against the state.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::offer::{self, Offer};
use super::recent::Recent;
use crate::engine::{
    Action, Area, Check, Finding, MessageKind, MisuseKind, RuleContext, RuleMessage, Session, SessionState, State,
    Tracker,
};
use crate::json;
use crate::rules::Way;

const UPDATE: &[&str] = &["session/update:terminal_update"];
const CHUNK: &[&str] = &["session/update:terminal_output_chunk"];
const CANCEL: &[&str] = &["terminal/cancel"];
const ID: &str = "/update/terminalId";
const CAPABILITIES: &str = "/update/capabilities";

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("DTERM-01"), MessageKind::Call, UPDATE, used_again)
            .receive(Action::Report)
            .kind(MisuseKind::Session),
        Check::new(id!("DTERM-01"), MessageKind::Call, UPDATE, moved).send(Action::Report).receive(Action::Report),
        Check::new(id!("DTERM-11"), MessageKind::Call, UPDATE, no_command)
            .send(Action::AdviseIfStrict)
            .receive(Action::Pass),
        Check::new(id!("DTERM-17"), MessageKind::Call, UPDATE, still_offered)
            .send(Action::AdviseIfStrict)
            .receive(Action::Pass),
        Check::new(id!("DTERM-15"), MessageKind::Call, CANCEL, gone).kind(MisuseKind::Session),
        Check::new(id!("DTERM-14"), MessageKind::Call, CANCEL, not_offered).kind(MisuseKind::Capability),
    ],
    trackers: &[
        Tracker { rules: &[id!("DTERM-03")], on: MessageKind::Call, messages: CHUNK, track: heard_of },
        Tracker { rules: &[id!("DTERM-04"), id!("ENUM-11")], on: MessageKind::Call, messages: UPDATE, track: patched },
        Tracker { rules: &[id!("DTERM-10")], on: MessageKind::Call, messages: UPDATE, track: exited },
        Tracker { rules: &[id!("DTERM-14")], on: MessageKind::Call, messages: UPDATE, track: offered },
    ],
};

/// The terminals of a session that the agent has reported.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Displays(Recent<Display>);

/// The state of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Display {
    /// Whether there was a `terminal_update`; output may come before it.
    updated: bool,
    /// Digests of the last reported command and directory, to detect others.
    command: Option<u64>,
    cwd: Option<u64>,
    /// Whether the command has ended.
    exited: bool,
    /// Whether the client may cancel the command.
    offer: Offer,
}

impl Display {
    /// A command that has ended cannot be cancelled any more (DTERM-17).
    fn may_be_cancelled(&self) -> bool {
        self.offer.stands() && !(self.exited && id!("DTERM-17").is_on(Way::Track))
    }
}

impl Session {
    /// The ids of the terminals that the agent has reported, oldest first, and whether the command of each has ended
    /// (DTERM-03, DTERM-10; version 2, protocol page "Tool Calls"). At most the newest
    /// [`Limits::remembered`](crate::connection::Limits::remembered).
    pub fn display_terminals(&self) -> impl Iterator<Item = (&str, bool)> {
        self.displays.0.iter().map(|(id, display)| (id, display.exited))
    }

    /// The ids of the terminals whose command the client may cancel now with `terminal/cancel`, oldest first (DTERM-14;
    /// version 2).
    pub fn cancellable_terminals(&self) -> impl Iterator<Item = &str> {
        self.displays.0.iter().filter(|(_, display)| display.may_be_cancelled()).map(|(id, _)| id)
    }
}

/// Whether the command of this terminal may be cancelled now or, without an id, that of any terminal of the session
/// (DTERM-14).
pub(super) fn may_be_cancelled(session: &Session, id: Option<&str>) -> bool {
    match id {
        Some(id) => session.displays.0.get(id).is_some_and(Display::may_be_cancelled),
        None => session.cancellable_terminals().next().is_some(),
    }
}

/// The terminals of the session, unless its history is being replayed.
fn displays<'a>(context: &RuleContext<'a>) -> Option<&'a Recent<Display>> {
    let session = context.session().filter(|session| session.state == SessionState::Ready)?;
    Some(&session.displays.0)
}

/// The terminal that an update is about, if it is known.
fn known<'a>(context: &RuleContext<'a>) -> Option<&'a Display> {
    displays(context)?.get(&context.message.text(ID)?)
}

fn digest(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// Whether an update has another value than the known one.
fn other(update: &RuleMessage<'_>, pointer: &str, before: Option<u64>) -> bool {
    let told = update.text(pointer).map(|text| digest(&text));
    told.is_some() && before.is_some() && told != before
}

/// A terminal whose command has ended does not get another one.
fn used_again(context: &RuleContext<'_>) -> Option<Finding> {
    let known = known(context).filter(|known| known.exited)?;
    let members = [("/update/command", known.command), ("/update/cwd", known.cwd)];
    let (pointer, _) = members.into_iter().find(|(pointer, before)| other(&context.message, pointer, *before))?;
    Some(Finding::new(pointer, "the command of this terminal has ended; use a new id for another terminal"))
}

/// While a command runs, its text may be corrected; another directory most likely means another terminal.
fn moved(context: &RuleContext<'_>) -> Option<Finding> {
    let known = known(context).filter(|known| !known.exited)?;
    other(&context.message, "/update/cwd", known.cwd).then(|| {
        Finding::new("/update/cwd", "the working directory was a different one; use a new id for another terminal")
    })
}

fn no_command(context: &RuleContext<'_>) -> Option<Finding> {
    let id = context.message.text(ID)?;
    let displays = displays(context)?;
    let first = displays.get(&id).map_or_else(|| displays.is_new(&id), |display| !display.updated);
    (first && context.message.get("/update/command").is_none())
        .then(|| Finding::new("/update/command", "the first update of a terminal has its command; add it"))
}

fn still_offered(context: &RuleContext<'_>) -> Option<Finding> {
    let known = known(context);
    let exited = told_exit(&context.message).unwrap_or_else(|| known.is_some_and(|display| display.exited));
    let offers =
        context.message.given(CAPABILITIES).map_or_else(|| known.is_some_and(Display::may_be_cancelled), offer::told);
    (exited && offers).then(|| {
        Finding::new(CAPABILITIES, "the command has ended; set the terminal's capabilities to null in the same update")
    })
}

fn gone(context: &RuleContext<'_>) -> Option<Finding> {
    let id = context.message.text("/terminalId")?;
    let displays = displays(context)?;
    let why = match displays.get(&id) {
        Some(display) if display.offer.may_be_crossed(context) => return None,
        Some(display) if display.exited => "the command in this terminal has already ended",
        None if displays.is_new(&id) => "no terminal with this id in the session",
        _ => return None,
    };
    Some(Finding::new("/terminalId", why))
}

fn not_offered(context: &RuleContext<'_>) -> Option<Finding> {
    let display = displays(context)?.get(&context.message.text("/terminalId")?)?;
    (!display.offer.stands() && !display.offer.may_be_crossed(context)).then(|| {
        let why = "the terminal does not offer cancellation; session/cancel stops all work";
        Finding::new("/terminalId", why)
    })
}

/// Whether an update reports that the command has ended, or clears that; `None` if it does neither.
fn told_exit(update: &RuleMessage<'_>) -> Option<bool> {
    update.given("/update/exitStatus").map(|status| status != "null")
}

/// Changes the terminal that an update is about, which is created if there is none.
fn change(state: &mut State, update: &RuleMessage<'_>, change: impl FnOnce(&mut Display)) -> Option<Box<str>> {
    let limit = state.config.limits.remembered;
    let displays = &mut state.sessions.get_mut(update.session)?.displays.0;
    change(displays.entry(&update.operation?.id()?, limit, Display::default));
    None
}

fn heard_of(state: &mut State, chunk: &RuleMessage<'_>) -> Option<Box<str>> {
    change(state, chunk, |_| {})
}

fn patched(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let operation = update.operation?;
    let patch = |known: &mut Option<u64>, name| {
        if let Some(told) = operation.member(name) {
            *known = json::unescape(told).map(|text| digest(&text));
        }
    };
    change(state, update, |display| {
        display.updated = true;
        patch(&mut display.command, "command");
        patch(&mut display.cwd, "cwd");
    })
}

fn exited(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let exited = update.operation?.member("exitStatus")? != "null";
    let newest = state.newest;
    change(state, update, |display| {
        if exited {
            display.offer.end(newest);
        }
        display.exited = exited;
    })
}

fn offered(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let offers = offer::told(update.operation?.member("capabilities")?);
    let newest = state.newest;
    change(state, update, |display| display.offer.tell(offers, newest))
}
