//! TURN: prompt turns.
//!
//! TURN-15 is in the connection (`respond_error`); shapes are in the model.

use crate::engine::{
    Action, Area, Check, Finding, Late, MessageKind, MisuseKind, OpenRequest, RuleContext, RuleMessage, Session,
    SessionState, State, Tracker, Turn,
};
use crate::rules::Way;

const PROMPT: &[&str] = &["session/prompt"];
/// Updates that say what an agent does; the others may come at any time.
const WORK: &[&str] = &[
    "session/update:user_message_chunk",
    "session/update:agent_message_chunk",
    "session/update:agent_thought_chunk",
    "session/update:tool_call",
    "session/update:tool_call_update",
    "session/update:plan",
];

/// What is known of a session's turns beside whether one runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Turns {
    /// Whether the last one was cancelled, if one has ended.
    ended: Option<bool>,
    /// The agent gives ids to its messages.
    ids: bool,
    /// The kind of the message that the turn said last, if that had no id.
    kind: Option<Piece>,
    /// The id that a message of the turn had last, as JSON text.
    id: Box<str>,
    /// Requests up to this serial number were open when the turn was cancelled.
    stopped: u64,
    /// How many of the prompts among them are open.
    stopping: usize,
    /// Requests up to this serial number were cancelled before another prompt was sent.
    overtaken: u64,
}

impl Turns {
    /// Whether the peer has answered a request that was sent after the cancel.
    pub(super) fn cancel_was_read(&self, answered: u64) -> bool {
        answered > self.stopped
    }

    /// Whether a piece goes on with what the last turn said.
    fn goes_on(&self, piece: Piece, id: Option<&str>) -> bool {
        id.map_or(self.kind == Some(piece), |id| *id == *self.id)
    }
}

/// Kinds of messages that come in pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Piece {
    User,
    Agent,
    Thought,
}

impl Session {
    /// A turn begins, if none runs.
    pub(super) fn begin_turn(&mut self) {
        if self.turn == Turn::Idle {
            self.turn = Turn::Running;
            self.turns.kind = None;
            self.turns.id = Box::default();
        }
    }

    /// Cancels the turn that runs with its open prompts, none of which is newer than this request, and no later ones
    /// (CANCEL-23).
    pub(super) fn stop_turn(&mut self, newest: u64) {
        self.turn = Turn::Cancelling;
        (self.turns.stopped, self.turns.stopping) = (newest, self.prompts);
        self.work.cancelled();
    }

    /// Whether a prompt is open that was open when the turn was cancelled.
    pub(super) fn has_stopping(&self) -> bool {
        self.turn == Turn::Cancelling && self.turns.stopping > 0
    }

    /// One of these prompts has ended.
    pub(super) fn stopped_one(&mut self) {
        self.turns.stopping = self.turns.stopping.saturating_sub(1);
    }

    /// Another prompt is sent.
    pub(super) fn overtake_stopped(&mut self) {
        if self.turn == Turn::Cancelling {
            self.turns.overtaken = self.turns.stopped;
        }
    }

    /// Whether another prompt was sent after this one was cancelled.
    pub(super) fn has_overtaken(&self, prompt: &OpenRequest) -> bool {
        self.has_cancelled(prompt) && prompt.serial <= self.turns.overtaken
    }

    /// Whether this prompt was open when the turn was cancelled.
    pub(crate) fn has_cancelled(&self, prompt: &OpenRequest) -> bool {
        self.turn == Turn::Cancelling && prompt.serial <= self.turns.stopped
    }
}

pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("TURN-03"), MessageKind::Call, PROMPT, second_prompt)
            .receive(Action::Report)
            .kind(MisuseKind::Phase),
        Check::new(id!("TURN-03"), MessageKind::Call, PROMPT, queued_prompt).send(Action::Report).receive(Action::Pass),
        Check::new(id!("TURN-05"), MessageKind::Call, WORK, late)
            .send(Action::ReportAlways)
            .receive(Action::ReportAlways),
        Check::new(id!("TURN-10"), MessageKind::Call, PROMPT, own_id).receive(Action::Pass),
        Check::new(id!("TURN-11"), MessageKind::Call, &["session/update:user_message_chunk"], no_id)
            .send(Action::Report)
            .receive(Action::Pass),
        Check::new(id!("TURN-16"), MessageKind::Answer, PROMPT, nobody_cancelled)
            .send(Action::Pass)
            .receive(Action::Report),
    ],
    trackers: &[
        Tracker { rules: &[id!("TURN-02")], on: MessageKind::Call, messages: PROMPT, track: prompted },
        Tracker { rules: &[id!("TURN-02"), id!("TURN-19")], on: MessageKind::Answer, messages: PROMPT, track: ended },
        Tracker {
            rules: &[id!("TURN-11")],
            on: MessageKind::Call,
            messages: &["session/update:agent_message_chunk"],
            track: |state, update| said(state, update, Piece::Agent),
        },
        Tracker {
            rules: &[id!("TURN-11")],
            on: MessageKind::Call,
            messages: &["session/update:agent_thought_chunk"],
            track: |state, update| said(state, update, Piece::Thought),
        },
        Tracker {
            rules: &[id!("TURN-05")],
            on: MessageKind::Call,
            messages: &["session/update:user_message_chunk"],
            track: |state, update| said(state, update, Piece::User),
        },
        Tracker {
            rules: &[id!("TURN-05")],
            on: MessageKind::Call,
            messages: &["session/update:tool_call", "session/update:tool_call_update", "session/update:plan"],
            track: did,
        },
    ],
};

fn has_prompt(context: &RuleContext<'_>) -> bool {
    context.session().is_some_and(|session| session.prompts > 0)
}

fn second_prompt(context: &RuleContext<'_>) -> Option<Finding> {
    let wrong = !context.state.config.prompt_queueing && has_prompt(context);
    wrong.then(|| {
        let message = if is_being_cancelled(context) {
            "the turn of this session was cancelled and has not ended; wait for its end"
        } else {
            "a prompt of this session has not been answered; wait for the answer, or send session/cancel first"
        };
        Finding::new("", message)
    })
}

/// Whether there is nothing left to cancel: the turn itself was cancelled, or each of its prompts, which is also what
/// ends one that has run out of time.
fn is_being_cancelled(context: &RuleContext<'_>) -> bool {
    let (state, Some(session)) = (context.state, context.message.session) else { return false };
    let open: &[_] = match context.way() {
        Way::Send => &[&state.outbound, &state.late],
        _ => &[&state.inbound],
    };
    let prompts = open.iter().flat_map(|open| open.of_session(session)).filter(|request| request.method == PROMPT[0]);
    context.session().is_some_and(|session| session.turn == Turn::Cancelling)
        || prompts.filter(|prompt| prompt.late != Some(Late::Released)).all(|prompt| prompt.cancelled)
}

fn queued_prompt(context: &RuleContext<'_>) -> Option<Finding> {
    let queued = context.state.config.prompt_queueing && has_prompt(context);
    queued.then(|| {
        let message =
            "a prompt of this session has not been answered; only an agent that queues prompts accepts another";
        Finding::new("", message)
    })
}

/// TURN-06 allows for work in the background, so that only what goes on with something of the turn is late. After a turn
/// that was cancelled it is everything but what an earlier turn had left in the background.
fn late(context: &RuleContext<'_>) -> Option<Finding> {
    let session = context.session()?;
    let idle = session.turn == Turn::Idle && session.state == SessionState::Ready;
    // A prompt that was not answered in time may still be worked on.
    if !idle || session.late_prompts > 0 {
        return None;
    }
    let (turns, update) = (&session.turns, &context.message);
    let background = id!("TURN-06").is_on(Way::Track);
    let cancelled = turns.ended.unwrap_or(false);
    let goes_on = |piece| cancelled || turns.goes_on(piece, update.get("/update/messageId"));
    let late = match &*update.text("/update/sessionUpdate")? {
        _ if !background => true,
        _ if turns.ended.is_none() => false,
        "tool_call_update" => session.tools.is_late(&update.text("/update/toolCallId")?, cancelled),
        "user_message_chunk" => goes_on(Piece::User),
        "agent_message_chunk" => goes_on(Piece::Agent),
        "agent_thought_chunk" => goes_on(Piece::Thought),
        _ => cancelled,
    };
    late.then(|| Finding::new("/update", "the turn is over; its updates come before the answer to its prompt"))
}

fn own_id(context: &RuleContext<'_>) -> Option<Finding> {
    context.message.get("/messageId")?;
    Some(Finding::new("/messageId", "the agent assigns message ids, so a prompt has none; leave it out"))
}

fn no_id(context: &RuleContext<'_>) -> Option<Finding> {
    if context.message.get("/update/messageId").is_some() || !context.session()?.turns.ids {
        return None;
    }
    Some(Finding::new("/update/messageId", "other messages of this session have ids; give this one an id too"))
}

fn nobody_cancelled(context: &RuleContext<'_>) -> Option<Finding> {
    let request = context.message.request?;
    let asked = request.cancelled || context.session()?.has_cancelled(request);
    if asked || context.message.get("/stopReason")? != "\"cancelled\"" {
        return None;
    }
    Some(Finding::new("/stopReason", "the stop reason is cancelled, but the client did not cancel"))
}

/// TURN-09, TURN-11.
fn said(state: &mut State, update: &RuleMessage<'_>, piece: Piece) -> Option<Box<str>> {
    let session = state.sessions.get_mut(update.session)?;
    let (turns, idle) = (&mut session.turns, session.turn == Turn::Idle);
    let id = update.operation.and_then(|operation| operation.id);
    turns.ids |= id.is_some() && piece != Piece::User;
    if idle {
        return None;
    }
    turns.kind = if id.is_none() { Some(piece) } else { None };
    if let Some(id) = id.filter(|id| **id != *turns.id) {
        turns.id = id.into();
    }
    None
}

/// What comes after it is a message of its own.
fn did(state: &mut State, update: &RuleMessage<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(update.session)?;
    if session.turn != Turn::Idle {
        session.turns.kind = None;
    }
    None
}

fn prompted(state: &mut State, call: &RuleMessage<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(call.session)?;
    session.prompts += 1;
    session.begin_turn();
    None
}

/// TURN-19: the turn is over once its last prompt is answered; where it was cancelled, prompts that came after that are
/// the next turn.
fn ended(state: &mut State, answer: &RuleMessage<'_>) -> Option<Box<str>> {
    let session = state.sessions.get_mut(answer.session)?;
    session.prompts = session.prompts.saturating_sub(1);
    let cancelled = answer.request.is_some_and(|request| session.has_cancelled(request));
    if cancelled {
        session.stopped_one();
    }
    let over = session.prompts == 0 || cancelled && session.turns.stopping == 0;
    if over {
        let reason = answer.text("/stopReason");
        session.turn = Turn::Idle;
        session.turns.ended = Some(reason.map_or(cancelled, |reason| reason == "cancelled"));
        if session.prompts > 0 {
            session.tools.leave_over();
            session.permits.forget();
            session.begin_turn();
        }
    }
    None
}
