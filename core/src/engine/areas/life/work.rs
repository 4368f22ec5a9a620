//! The foreground work of a session: what is told of it, and what follows for the turn.

use std::borrow::Cow;

use super::super::recent::KEPT;
use super::background::Background;
use super::echo::Echoes;
use super::keys::Keys;
use super::replay::Replays;
use super::sides::Sides;
use crate::engine::operations::Speaker;
use crate::engine::{Finding, OpenRequest, RuleContext, RuleMessage, Session, SessionState, State, Turn};
use crate::json;
use crate::rules::Way;

/// The stop reason of work that the client has cancelled.
const CANCELLED: &str = "cancelled";

/// The state that was told last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Told {
    /// A new session is idle until something else is told.
    #[default]
    Idle,
    /// Also any state that is not known: what is not idle is work.
    Running,
    RequiresAction,
    /// Nobody knows: the agent has lost sight of it, or nothing was told of a child yet (LIFE-40).
    Unknown,
}

impl Told {
    fn of(name: &str) -> Self {
        match name {
            "requires_action" if id!("LIFE-06").is_on(Way::Track) => Told::RequiresAction,
            "running" | "requires_action" => Told::Running,
            "idle" => Told::Idle,
            "unknown" if id!("LIFE-40").is_on(Way::Track) => Told::Unknown,
            _ if id!("LIFE-28").is_on(Way::Track) => Told::Running,
            _ => Told::Idle,
        }
    }
}

/// Who told it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Teller {
    #[default]
    Itself,
    Parent,
}

/// What is known of a session's work in version 2.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is true or not whatever the others are")]
pub(crate) struct Work {
    told: Told,
    /// Work was told of since the last prompt was sent.
    began: bool,
    /// A message was inserted, and no state was told since.
    awaits: bool,
    /// An idle was told since then, which may have crossed the prompts that are open. Once they have ended without a
    /// message nobody waits for work any more.
    rested: bool,
    /// The client has cancelled work of which nothing was told. Its end may be told all the same, and need not be.
    unseen: bool,
    /// The client has cancelled what is under way, or what a message was inserted for. Work that begins later is other work.
    stopped: bool,
    /// Why the last work ended, as far as that was told since it began.
    reason: Option<Box<str>>,
    /// What failed, as JSON text, where the reason is an error.
    error: Option<Box<str>>,
    told_by: Teller,
    /// A state was told since the session was resumed, and no history since then.
    pub(super) synced: bool,
    /// The ids, as JSON text, of the last message and the last thought of the work.
    said: [Box<str>; 2],
    /// The same of the work that has ended last.
    over: [Box<str>; 2],
    pub(super) echoes: Echoes,
    pub(super) keys: Keys,
    pub(super) replays: Replays,
    pub(super) sides: Sides,
    pub(crate) background: Background,
}

impl Work {
    /// Whether the state that was told last says that the agent works.
    pub(super) fn is_under_way(&self) -> bool {
        matches!(self.told, Told::Running | Told::RequiresAction)
    }

    /// What goes on is being cancelled.
    pub(in crate::engine::areas) fn cancelled(&mut self) {
        self.stopped = self.told != Told::Idle || self.awaits && !self.rested;
        self.unseen = !self.is_under_way();
    }

    /// Whether the work that an idle would end is one that the client has cancelled.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether an idle with or without a stop reason would end work.
    pub(crate) fn would_end(&self, with_reason: bool) -> bool {
        self.told != Told::Idle || self.awaits && with_reason
    }

    /// Whether an idle with this reason ends what was cancelled before anything was told of it.
    fn ends_unseen(&self, reason: Option<&str>) -> bool {
        self.unseen && reason == Some(CANCELLED)
    }

    /// The session was closed, and is being resumed already, with so many replays.
    pub(in crate::engine::areas) fn resumed(&mut self, replays: usize) {
        self.replays = Replays::asked(replays);
        (self.background.elsewhere, self.keys.elsewhere) = (true, true);
    }

    /// What is known of a child before anything is told: it may have begun before it was announced, and what runs beside
    /// it may have been announced where its parent was opened before.
    pub(in crate::engine::areas) fn of_child(parent: &Work) -> Work {
        Work { told: Told::Unknown, background: Background::of_child(&parent.background), ..Work::default() }
    }
}

/// What is told of a session's foreground.
struct Report<'a> {
    state: Cow<'a, str>,
    reason: Option<Cow<'a, str>>,
    error: Option<&'a str>,
}

impl Session {
    /// Why the session's foreground work has ended, as the agent told it last (LIFE-05; protocol page "Prompt
    /// Lifecycle"): one of the five reasons of version 1, `error`, or a reason of the agent's own. `None` while it works,
    /// and where the agent gave none; in version 1 the answer to the prompt has it instead.
    pub fn stop_reason(&self) -> Option<&str> {
        self.work.reason.as_deref()
    }

    /// The error that came with the stop reason `error`, as JSON text of a JSON-RPC error object (LIFE-29).
    pub fn stop_error(&self) -> Option<&str> {
        self.work.error.as_deref()
    }

    /// What runs beside the foreground work, as the list that the agent told last (LIFE-35); `None` where it does not
    /// report that, and where the list is longer than what is kept.
    pub fn background(&self) -> Option<&str> {
        self.work.background.list()
    }

    /// Whether the state that was told last says that the agent works in the foreground (version 2).
    pub(crate) fn is_under_way(&self) -> bool {
        self.work.is_under_way()
    }

    /// Whether the agent works in the foreground, or is expected to because of a message that was inserted (version 2).
    /// Prompts without an answer do not count.
    pub(crate) fn is_working(&self) -> bool {
        self.work.is_under_way() || self.work.awaits
    }

    /// Whether the agent works, or may do so: nobody knows it of a child before its state is told.
    pub(in crate::engine::areas) fn may_work(&self) -> bool {
        self.turn != Turn::Idle || self.work.told == Told::Unknown
    }

    /// The turn that follows from what is known; `over` says that what was being cancelled has come to its end.
    fn settle(&mut self, over: bool) {
        let before = self.turn;
        let unseen = self.work.told == Told::Unknown;
        let cancelling = before == Turn::Cancelling && !over;
        let busy = self.prompts > 0 || self.work.awaits || self.work.is_under_way() || unseen && cancelling;
        self.turn = match (busy, cancelling, self.work.told) {
            (false, ..) => Turn::Idle,
            (true, true, _) => Turn::Cancelling,
            (true, false, Told::RequiresAction) => Turn::RequiresAction,
            (true, false, _) => Turn::Running,
        };
        if before != Turn::Idle && !unseen && (self.turn == Turn::Idle || before == Turn::Cancelling && over) {
            self.ended();
        }
        if self.turn != Turn::Idle && (before == Turn::Idle || before == Turn::Cancelling && over) {
            self.work.said = Default::default();
        }
    }

    fn ended(&mut self) {
        self.tools.leave_over();
        self.permits.forget();
    }

    pub(super) fn prompt_sent(&mut self) {
        // What was cancelled and never told of again does not touch the next prompt (CANCEL-23).
        let unseen = self.turn == Turn::Cancelling && !self.work.is_under_way();
        self.work.awaits &= !(unseen && self.work.stopped);
        self.work.stopped &= !unseen;
        self.overtake_stopped();
        self.work.began = false;
        self.settle(unseen && !self.has_stopping());
        self.prompts += 1;
        self.settle(false);
    }

    /// The answer ends nothing. A refused prompt has begun nothing, and of one that was answered late the work may be
    /// over, as its message shows, where that is known.
    pub(super) fn prompt_answered(&mut self, prompt: &OpenRequest, inserted: bool, over: Option<bool>) {
        self.prompts = self.prompts.saturating_sub(1);
        let (cancelled, overtaken) = (self.has_cancelled(prompt), self.has_overtaken(prompt));
        if cancelled {
            self.stopped_one();
        }
        // Where another prompt was sent since, what was cancelled is over unless it was told of (CANCEL-23).
        let told_of = !inserted || over.unwrap_or(self.work.began) || overtaken;
        let waits = !told_of && !self.work.is_under_way();
        self.work.rested &= !waits;
        self.work.awaits |= waits;
        self.work.awaits &= self.prompts > 0 || !self.work.rested;
        if cancelled && waits {
            (self.work.stopped, self.work.unseen) = (true, true);
        }
        // That this is over may be told, too.
        self.work.unseen |= inserted && overtaken && !self.work.is_under_way();
        let goes_on = self.work.is_under_way() || self.work.awaits && self.work.stopped;
        self.settle(cancelled && !goes_on && !self.has_stopping());
    }
}

/// LIFE-04, LIFE-05. An idle that has crossed a prompt says nothing of the work on it.
pub(super) fn told(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let told = update.operation?;
    let report = Report { state: told.text("state")?, reason: told.text("stopReason"), error: told.get("error") };
    let session = state.sessions.get_mut(update.session)?;
    session.work.synced = true;
    session.work.told_by = Teller::Itself;
    session.report(&report);
    None
}

impl Session {
    /// SESS-87: what the parent of a child says of its state; null takes back what was said.
    pub(in crate::engine::areas) fn mirror(&mut self, snapshot: &str, keep: usize) {
        let text = |place| json::unescape(json::pointer(snapshot, place)?);
        let report = Report {
            state: text("/state").unwrap_or("unknown".into()),
            reason: text("/stopReason"),
            error: json::pointer(snapshot, "/error").filter(|error| *error != "null"),
        };
        self.report(&report);
        self.work.told_by = Teller::Parent;
        if let Some(list) = json::pointer(snapshot, "/background") {
            self.work.background.replace(list, keep);
        }
    }

    fn report(&mut self, report: &Report<'_>) {
        let now = Told::of(&report.state);
        let work = &mut self.work;
        let before = std::mem::replace(&mut work.told, now);
        match now {
            Told::Idle => {
                // Repeated, it says the same once more; without a reason it leaves what is known.
                let reason = report.reason.as_deref();
                let belated = self.turn != Turn::Cancelling && work.ends_unseen(reason);
                work.unseen &= reason != Some(CANCELLED);
                work.stopped = false;
                if reason.is_some() || before != Told::Idle {
                    let failed = reason == Some("error") && id!("LIFE-29").is_on(Way::Track);
                    let error = report.error.filter(|error| failed && error.len() <= KEPT);
                    work.error = error.map(Into::into);
                    work.reason = reason.map(Into::into);
                }
                if before != Told::Idle {
                    work.echoes.work_ended();
                }
                work.awaits &= self.prompts > 0 || belated;
                work.rested = work.awaits && !belated;
            }
            Told::Unknown => {
                (work.reason, work.error) = (None, None);
                work.awaits &= self.prompts > 0;
            }
            Told::Running | Told::RequiresAction => {
                (work.reason, work.error) = (None, None);
                (work.began, work.awaits, work.unseen) = (true, false, false);
            }
        }
        let was = self.turn;
        if now == Told::Idle && before != Told::Idle {
            self.work.over = std::mem::take(&mut self.work.said);
        }
        self.settle(now == Told::Idle && !self.has_stopping());
        if before == Told::Unknown && now == Told::Idle && was == Turn::Idle {
            self.ended();
        }
    }
}

/// The ids of what the work says, as far as they are needed to see what comes too late.
pub(super) fn said(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(update.session)?;
    let told = update.operation?;
    let (id, speaker) = (told.id?, told.speaker()?);
    let last = &mut session.work.said[usize::from(speaker == Speaker::Thought)];
    if session.turn != Turn::Idle && **last != *id && id.len() <= KEPT {
        *last = id.into();
    }
    None
}

/// Where the last message of this kind is kept: messages and thoughts have ids of their own.
fn kind(update: &RuleMessage<'_>) -> Option<usize> {
    Some(usize::from(update.text("/update/sessionUpdate")?.starts_with("agent_thought")))
}

pub(super) fn resumed(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    state.sessions.get_mut(call.session)?.work.synced = false;
    None
}

/// The state comes after the history. Once it says that the agent works, that may go on at once.
pub(super) fn replayed(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(update.session)?;
    if session.state == SessionState::Loading && !session.work.is_under_way() {
        session.work.synced = false;
    }
    None
}

/// An idle that ends what was told of, or that has a reason to end: its reason, if it gives one.
fn idle<'a>(context: &RuleContext<'a>) -> Option<(&'a Session, Option<Cow<'a, str>>)> {
    let session = context.session().filter(|session| session.state == SessionState::Ready)?;
    let idle = Told::of(&context.message.text("/update/state")?) == Told::Idle;
    idle.then(|| (session, context.message.text("/update/stopReason")))
}

/// A snapshot may repeat the last reason; another one, where nothing was told of, ends what has never begun.
pub(super) fn never_began(context: &RuleContext<'_>) -> Option<Finding> {
    let (session, reason) = idle(context)?;
    let work = &session.work;
    let reason = reason?;
    let repeated = reason == work.reason.as_deref().unwrap_or_default();
    // Where nobody knew, it may have begun all the same.
    let unseen = work.told == Told::Unknown || work.told_by == Teller::Parent || work.ends_unseen(Some(&reason));
    if repeated || unseen || work.is_under_way() || session.turn == Turn::Cancelling {
        return None;
    }
    Some(Finding::new("/update/stopReason", "work ends that no state_update has started; send running first"))
}

pub(super) fn no_reason(context: &RuleContext<'_>) -> Option<Finding> {
    let (session, reason) = idle(context)?;
    // Of work that was cancelled LIFE-15 says more.
    let ends = reason.is_none() && session.work.is_under_way() && session.turn != Turn::Cancelling;
    ends.then(|| Finding::new("/update/stopReason", "the work ends without a stop reason; give one"))
}

/// The idle may have crossed the cancel. That the agent had read the cancel shows where it has answered what was asked
/// after it.
pub(super) fn not_cancelled(context: &RuleContext<'_>) -> Option<Finding> {
    let (session, reason) = idle(context)?;
    let ends = session.turn == Turn::Cancelling && session.work.is_under_way() && session.work.stopped;
    if !ends || reason.as_deref() == Some(CANCELLED) || !session.turns.cancel_was_read(context.state.answered) {
        return None;
    }
    Some(Finding::new("/update/stopReason", "the work had been cancelled, so the stop reason cancelled was expected"))
}

pub(super) fn late(context: &RuleContext<'_>) -> Option<Finding> {
    let session = context.session().filter(|session| session.state == SessionState::Ready)?;
    if session.turn != Turn::Idle || session.work.reason.as_deref() != Some(CANCELLED) {
        return None;
    }
    let goes_on = *session.work.over[kind(&context.message)?] == *context.message.get("/update/messageId")?;
    goes_on.then(|| Finding::new("/update", "the work was cancelled; its updates come before the idle state"))
}

pub(super) fn no_state(context: &RuleContext<'_>) -> Option<Finding> {
    let missing = !context.session()?.work.synced;
    missing.then(|| {
        Finding::new(
            "",
            "no state_update since the session was resumed; send one after the history and before the answer",
        )
    })
}

pub(super) fn still_works(context: &RuleContext<'_>) -> Option<Finding> {
    let works = context.session()?.work.is_under_way();
    works.then(|| {
        let message =
            "the session still works; its last updates and an idle with the stop reason cancelled come before \
                       the answer";
        Finding::new("", message)
    })
}
