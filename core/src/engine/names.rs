//! Words for what happens, which hosts see in events and errors.

use std::sync::Arc;

/// Kinds of misuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MisuseKind {
    /// Too early, too late, or twice.
    Phase,
    /// No such method, or not from this side, or not in this form.
    Method,
    /// The peer did not advertise what this needs.
    Capability,
    /// Params, a result or an error that do not fit the model.
    Params,
    /// A session that is not open on this connection.
    Session,
    /// An id that names no open request.
    Id,
    /// A limit of the configuration.
    Limit,
}

impl MisuseKind {
    /// A name for it, the same in every language.
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

/// Where an update stands in the life of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Timing {
    /// Inside a prompt turn.
    Turn,
    /// Between `session/load`, or `session/resume` with `replayFrom`, and its answer or `replay_complete`: the past.
    Replay,
    /// No turn is running: before the first prompt or after the end of a turn (TURN-06).
    Idle,
    /// Not about a session.
    None,
}

impl Timing {
    /// A name for it, the same in every language.
    pub const fn name(self) -> &'static str {
        match self {
            Timing::Turn => "turn",
            Timing::Replay => "replay",
            Timing::Idle => "idle",
            Timing::None => "none",
        }
    }
}

/// A terminal, by session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct TerminalRef {
    /// The session it belongs to.
    pub session: Arc<str>,
    /// Its id there.
    pub terminal: Box<str>,
}
