//! Enums that hosts see in events and errors.

use std::sync::Arc;

/// The kind of a [`Misuse`](crate::connection::Misuse).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MisuseKind {
    /// The call came too early, too late, or twice.
    Phase,
    /// The method does not exist, this side does not send it, or it is a notification and was sent as a request or vice
    /// versa.
    Method,
    /// The peer has not advertised a capability that the message needs.
    Capability,
    /// The params, the result or the error are not valid.
    Params,
    /// The session is not open on this connection.
    Session,
    /// The id or serial names no open request, or the id of a new request is not free.
    Id,
    /// A limit of the configuration is reached.
    Limit,
}

impl MisuseKind {
    /// The name of this value, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            MisuseKind::Phase => "phase",
            MisuseKind::Method => "method",
            MisuseKind::Capability => "capability",
            MisuseKind::Params => "params",
            MisuseKind::Session => "session",
            MisuseKind::Id => "id",
            MisuseKind::Limit => "limit",
        }
    }
}

/// The phase of the session in which an update was received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Timing {
    /// During a turn.
    Turn,
    /// During a replay: between `session/load`, or `session/resume` with `replayFrom`, and its answer or
    /// `replay_complete`. The update is history.
    Replay,
    /// Outside of turns: before the first prompt, or after the end of a turn (TURN-06).
    Idle,
    /// The notification is not about a session.
    None,
}

impl Timing {
    /// The name of this value, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            Timing::Turn => "turn",
            Timing::Replay => "replay",
            Timing::Idle => "idle",
            Timing::None => "none",
        }
    }
}

/// A terminal of a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct TerminalRef {
    /// The session it belongs to.
    pub session: Arc<str>,
    /// The terminal's id, unique within its session.
    pub terminal: Box<str>,
}
