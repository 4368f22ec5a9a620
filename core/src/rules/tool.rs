//! TOOL: tool calls and their updates.
//!
//! Types, kinds, paths and line numbers are in the model; here is what an update must agree with: which calls were
//! reported, how far they were, and which terminals are open. While a session loads, its past is told again, so that
//! nothing is held against what was known before.

use std::borrow::Cow;
use std::sync::Arc;

use super::catalogue::{rule, E, R, T};
use super::recent::Recent;
use super::scene::{Action, Check, Message, Objection, On, Scene, Tracker};
use super::{Area, Level, Severity};
use crate::connection::{MisuseKind, Role, Session, SessionState, State, Turn};
use crate::json;
use crate::map::Set;
use Level::{Must, MustNot, Should};
use Severity::{Error, Note, Warning};

const CREATED: &[&str] = &["session/update:tool_call"];
const CHANGED: &[&str] = &["session/update:tool_call_update"];
const ASKED: &[&str] = &["session/request_permission"];
/// Messages that show a tool call.
const SHOWING: &[&str] = &["session/update:tool_call", "session/update:tool_call_update", "session/request_permission"];
/// Messages that change one; a second `tool_call` of one id is another matter (TOOL-02).
const ENDING: &[&str] = &["session/update:tool_call_update", "session/request_permission"];
const PROMPT: &[&str] = &["session/prompt"];

pub(super) static AREA: Area = Area {
    name: "TOOL",
    title: "Tool calls",
    rules: RULES,
    checks: &[
        Check::new(id!("TOOL-02"), On::Call, CREATED, used_id).receive(Action::Report),
        Check::new(id!("TOOL-04"), On::Call, CHANGED, unknown).send(Action::Report).receive(Action::Report),
        Check::new(id!("TOOL-09"), On::Call, ENDING, ended).send(Action::Pass).receive(Action::Report),
        Check::new(id!("TOOL-12"), On::Call, SHOWING, no_terminal).receive(Action::Report).kind(MisuseKind::Session),
        Check::new(id!("TOOL-34"), On::Call, SHOWING, link_not_advertised)
            .receive(Action::Report)
            .kind(MisuseKind::Capability),
        Check::new(id!("TOOL-35"), On::Call, SHOWING, no_session).receive(Action::Report).kind(MisuseKind::Session),
        Check::new(id!("TOOL-32"), On::Answer, PROMPT, dangling).send(Action::Tell).receive(Action::Tell),
    ],
    trackers: &[
        Tracker { rules: &[id!("TOOL-05")], on: On::Call, messages: CREATED, track: created },
        Tracker { rules: &[id!("TOOL-06")], on: On::Call, messages: CHANGED, track: changed },
        Tracker { rules: &[id!("PERM-09")], on: On::Call, messages: ASKED, track: changed },
        Tracker { rules: &[], on: On::Call, messages: SHOWING, track: announced },
        Tracker { rules: &[id!("TOOL-32")], on: On::Answer, messages: PROMPT, track: turn_ended },
    ],
};

pub(super) static RULES: &[super::Rule] = &[
    rule("TOOL-02", Must, Warning, E | R, "The id of a tool call is used once in a session."),
    rule("TOOL-03", Must, Error, E | R, "A tool call is reported with its id and a title."),
    rule("TOOL-04", Should, Note, E | R, "An update is about a tool call that was reported before."),
    rule("TOOL-05", Must, Note, T, "A tool call begins as pending unless its report says otherwise."),
    rule("TOOL-06", Must, Note, T, "What an update leaves out, or sets to null, stays as it was."),
    rule("TOOL-07", Must, Warning, E | R, "A status is pending, in_progress, completed or failed."),
    rule("TOOL-08", Must, Warning, E | R, "A kind is one of the ten; an unknown one is read as none."),
    rule("TOOL-09", Should, Note, R, "A tool call that is completed or failed stays so."),
    rule("TOOL-10", Must, Warning, E | R, "Locations and diffs have absolute paths."),
    rule("TOOL-11", Must, Warning, E | R, "Lines are counted from 1; a 0 is read as 1."),
    rule("TOOL-12", Must, Warning, E | R, "A terminal that a tool call shows is open in its session, or one of the agent's own that `terminal_info` in _meta announces."),
    rule("TOOL-14", Must, Warning, E | R, "A diff has a path and the new text; without old text, the file is new."),
    rule("TOOL-15", Must, Warning, E | R, "Content blocks in a tool call are wrapped; a bare one is left out."),
    rule("TOOL-17", Should, Note, E | R, "A tool's own name is a text, or null, which says nothing (v2)."),
    rule(
        "TOOL-19",
        Must,
        Error,
        E | R,
        "A tool call update patches: what it leaves out stays, null clears, a value replaces (v2).",
    ),
    rule("TOOL-21", Must, Error, E | R, "A chunk of a tool call's content names its call and has one item (v2)."),
    rule(
        "TOOL-24",
        Must,
        Warning,
        E | R,
        "Kinds, statuses and contents of an agent's own begin with an underscore (v2).",
    ),
    rule("TOOL-26", Must, Warning, E | R, "A diff lists its changes, each with absolute paths (v2)."),
    rule("TOOL-27", Must, Warning, E | R, "The patch of a diff has a format and a text (v2)."),
    rule(
        "TOOL-32",
        Should,
        Note,
        E | R | T,
        "When a turn ends by itself, its tool calls have ended; those that have not are told.",
    ),
    // From here on the numbers are this catalogue's own: what these rules say was decided after it was numbered.
    rule(
        "TOOL-34",
        MustNot,
        Warning,
        E | R,
        "A tool call links to sessions only for clients that advertise child sessions (v1).",
    ),
    rule("TOOL-35", Must, Warning, E | R, "A session that a tool call links to is known to the client (v1)."),
    rule("TOOL-36", Must, Note, T, "Content of a type that is not known is passed on as it came (v1)."),
];

/// The tool calls of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Tools {
    calls: Recent<Call>,
    /// Those that are open and came up in this turn: a turn ends, and is cancelled, without a look at all others.
    open: Set<Arc<str>>,
    /// Turns that have ended.
    turns: u64,
    /// The terminals that the agent runs by itself and has announced.
    own_terminals: Recent<()>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Call {
    status: Status,
    /// Whether a `tool_call` has reported it: a permission request or an update may come before that.
    reported: bool,
    /// How many turns had ended when it came up in one; what that leaves open is told once, when it ends.
    turn: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Status {
    Pending,
    InProgress,
    Completed,
    Failed,
    /// The client has cancelled the turn; version 1 has no word for it on the wire (CANCEL-02).
    Cancelled,
}

impl Status {
    fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "pending" => Status::Pending,
            "in_progress" => Status::InProgress,
            "completed" => Status::Completed,
            "failed" => Status::Failed,
            "cancelled" => Status::Cancelled,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Status::Pending => "pending",
            Status::InProgress => "in_progress",
            Status::Completed => "completed",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
        }
    }

    /// A cancelled one may still turn out to have ended otherwise (CANCEL-07).
    fn is_final(self) -> bool {
        matches!(self, Status::Completed | Status::Failed)
    }

    fn is_open(self) -> bool {
        matches!(self, Status::Pending | Status::InProgress)
    }
}

impl Tools {
    /// Those that the turn has left unfinished count as cancelled.
    pub(super) fn cancel(&mut self) {
        for id in std::mem::take(&mut self.open).keys() {
            if let Some(call) = self.calls.get_mut(id) {
                call.status = Status::Cancelled;
            }
        }
    }

    /// Whether an update of this call comes too late, as the turn that it came up in has just ended (TURN-05). A call that
    /// was left open may go on in the background (TURN-06), unless the turn was cancelled.
    pub(super) fn is_late(&self, id: &str, cancelled: bool) -> bool {
        self.calls.get(id).map_or(cancelled, |call| {
            let of_the_last = call.turn.is_some_and(|turn| turn + 1 == self.turns);
            of_the_last && (cancelled || call.status.is_final())
        })
    }

    fn is_new(&self, id: &str) -> bool {
        self.calls.is_new(id)
    }

    /// Changes a call, which is made if there is none.
    fn change(&mut self, id: &str, running: bool, limit: usize, change: impl FnOnce(&mut Call)) {
        let turns = self.turns;
        let turn = running.then_some(turns);
        let is_listed = |call: &Call| call.turn == Some(turns) && call.status.is_open();
        let mut is_new = false;
        let new = || {
            is_new = true;
            Call { status: Status::Pending, reported: false, turn }
        };
        let (id, call, forgotten) = self.calls.entry_for(id, limit, new);
        let was_listed = !is_new && is_listed(call);
        change(call);
        match (was_listed, is_listed(call)) {
            (false, true) => _ = self.open.insert(id, ()),
            (true, false) => _ = self.open.remove(&id),
            _ => {}
        }
        if let Some(forgotten) = forgotten {
            self.open.remove(&forgotten);
        }
    }

    /// A turn has ended.
    pub(super) fn leave_over(&mut self) {
        self.turns += 1;
        self.open.clear();
    }
}

impl Session {
    /// The ids of the session's tool calls and the status of each, oldest first (TOOL-05, TOOL-06; protocol page "Tool
    /// Calls"): `pending`, `in_progress`, `completed`, `failed`, and `cancelled` where this side is the client and has
    /// cancelled the turn (CANCEL-02). Of more than
    /// [`Limits::remembered`](crate::connection::Limits::remembered), the newest.
    pub fn tool_calls(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.tools.calls.iter().map(|(id, call)| (id, call.status.name()))
    }
}

fn in_update(message: &Message<'_>) -> bool {
    message.method == "session/update"
}

fn id<'a>(message: &Message<'a>) -> Option<Cow<'a, str>> {
    message.text(if in_update(message) { "/update/toolCallId" } else { "/toolCall/toolCallId" })
}

fn status(message: &Message<'_>) -> Option<Status> {
    let name = message.text(if in_update(message) { "/update/status" } else { "/toolCall/status" })?;
    Status::parse(&name)
}

/// The session, unless it is telling its past or speaks version 2, which has other rules for tool calls.
fn session<'a>(scene: &Scene<'a>) -> Option<&'a Session> {
    scene.session().filter(|session| session.state == SessionState::Ready && scene.state.tables.version == 1)
}

fn used_id(scene: &Scene<'_>) -> Option<Objection> {
    let known = session(scene)?.tools.calls.get(&id(&scene.message)?)?;
    known.reported.then(|| {
        Objection::new("/update/toolCallId", "a tool call of this session has this id already; send a tool_call_update")
    })
}

fn unknown(scene: &Scene<'_>) -> Option<Objection> {
    session(scene)?
        .tools
        .is_new(&id(&scene.message)?)
        .then(|| Objection::new("/update/toolCallId", "no tool call with this id was reported; begin with a tool_call"))
}

fn ended(scene: &Scene<'_>) -> Option<Objection> {
    let known = session(scene)?.tools.calls.get(&id(&scene.message)?)?;
    if !known.status.is_final() || status(&scene.message)? == known.status {
        return None;
    }
    let place = if in_update(&scene.message) { "/update/status" } else { "/toolCall/status" };
    Some(Objection::new(place, format!("the tool call is {} already", known.status.name())))
}

fn text<'a>(item: &'a str, pointer: &str) -> Option<Cow<'a, str>> {
    json::unescape(json::pointer(item, pointer)?)
}

/// The first item of a tool call's content that is of a type, and for whose member this holds; and where it stands.
fn content(scene: &Scene<'_>, kind: &str, member: &str, is: impl Fn(&str) -> bool) -> Option<String> {
    // Most tool calls show none, and reading all their contents again would cost as much as the message itself.
    if !scene.message.may_have(kind) {
        return None;
    }
    let place = if in_update(&scene.message) { "/update/content" } else { "/toolCall/content" };
    let of_kind = |item: &&str| text(item, "/type").is_some_and(|it| it == kind);
    let found = |item: &&str| of_kind(item) && text(item, member).is_some_and(|value| is(&value));
    let at = scene.message.items(place).iter().position(found)?;
    Some(format!("{place}/{at}{member}"))
}

fn link_not_advertised(scene: &Scene<'_>) -> Option<Objection> {
    if scene.state.tables.version > 1 || scene.advertises(Role::Client, "/subagents") {
        return None;
    }
    let pointer = content(scene, "session", "/sessionId", |_| true)?;
    Some(Objection::new(pointer, "a link to a session, but the client did not advertise subagents"))
}

fn no_session(scene: &Scene<'_>) -> Option<Objection> {
    if scene.state.tables.version > 1 {
        return None;
    }
    let pointer = content(scene, "session", "/sessionId", |id| scene.state.sessions.get(id).is_none())?;
    Some(Objection::new(pointer, "no such session on this connection; announce a child by a subagent_update first"))
}

/// The terminal of the agent's own that a message announces. The specification has none, but agents and editors share a
/// habit: `terminal_info` in `_meta` names a terminal that the agent runs, and its output comes in `_meta` as well.
fn own_terminal<'a>(message: &Message<'a>) -> Option<Cow<'a, str>> {
    let meta = message.get(if in_update(message) { "/update/_meta" } else { "/toolCall/_meta" })?;
    let told =
        json::mentions(meta.as_bytes(), b"\"terminal_info\"").then(|| json::agreed(meta, "/terminal_info/terminal_id"));
    json::unescape(told??)
}

fn no_terminal(scene: &Scene<'_>) -> Option<Objection> {
    let session = session(scene)?;
    let gone = |id: &str| {
        // An update replaces the whole list, so what was shown before its release may stay; TERM-14 has the rest.
        let open = session.terminals.contains_key(id) || session.released.has(id);
        !open && session.tools.own_terminals.is_new(id) && own_terminal(&scene.message).as_deref() != Some(id)
    };
    Some(Objection::new(
        content(scene, "terminal", "/terminalId", gone)?,
        "no terminal with this id is open in the session; show it before it is released",
    ))
}

fn dangling(scene: &Scene<'_>) -> Option<Objection> {
    let session = session(scene)?;
    // With another prompt open, the turn goes on.
    if scene.message.text("/stopReason")? != "end_turn" || session.prompts > 1 {
        return None;
    }
    let tools = &session.tools;
    let reported = |id: &&Arc<str>| tools.calls.get(id).is_some_and(|call| call.reported);
    let count = tools.open.keys().filter(reported).count();
    if count == 0 {
        return None;
    }
    Some(Objection::new(
        "",
        format!("tool calls still pending or in progress: {count}; the session's snapshot lists them"),
    ))
}

/// TOOL-12: later updates list the terminal again, and need not announce it.
fn announced(state: &mut State, message: &Message<'_>) -> Option<Box<str>> {
    let id = own_terminal(message)?;
    let limit = state.config.limits.remembered;
    state.sessions.get_mut(message.session)?.tools.own_terminals.entry(&id, limit, || ());
    None
}

fn created(state: &mut State, update: &Message<'_>) -> Option<Box<str>> {
    let limit = state.config.limits.remembered;
    let status = status(update).unwrap_or(Status::Pending);
    let session = state.sessions.get_mut(update.session)?;
    let (running, tools) = (session.turn != Turn::Idle, &mut session.tools);
    let new = Call { status, reported: true, turn: running.then_some(tools.turns) };
    tools.change(&id(update)?, running, limit, |call| *call = new);
    None
}

/// TOOL-04, TOOL-06: an update of an unknown call makes it known.
fn changed(state: &mut State, update: &Message<'_>) -> Option<Box<str>> {
    let limit = state.config.limits.remembered;
    let session = state.sessions.get_mut(update.session)?;
    let (running, tools) = (session.turn != Turn::Idle, &mut session.tools);
    tools.change(&id(update)?, running, limit, |call| call.status = status(update).unwrap_or(call.status));
    None
}

fn turn_ended(state: &mut State, answer: &Message<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(answer.session)?;
    if session.prompts == 0 {
        session.tools.leave_over();
    }
    None
}
