//! The protocol itself: the state of a conversation, which messages it allows, and what each message changes.
//!
//! Theory of operation. A [`State`] is what both sides of a connection know: the version, the capabilities, open
//! requests, sessions and their contents. There are two operations. *Judging* checks a message against a state:
//! admission decides whether this side may use the method now ([`Attempt`]), then the checks of the catalogue's rules
//! run, each a row with the messages that it applies to. *Applying* changes the state by an accepted message: the
//! trackers, rows of the same form. Neither reads or writes bytes or reports anything, and times are numbers that are
//! passed in. So the same engine serves a connection, which judges its host and its peer, and an observer.
//!
//! Read in this order: `settings`, `names` (enums that hosts see, too), `state`, `session`, `session_table`, `early`,
//! `pending`, `key` (the state), `admission`, `rows` (checks and trackers), `context` (their input), `areas` (all of
//! them, by the areas of the catalogue), `questions` (requests that ask the user), `operations` (what updates do to a
//! conversation).
//!
//! Nothing here imports the connection or anything above it; a test says so.

pub(crate) mod admission;
pub(crate) mod areas;
mod context;
mod early;
mod key;
mod names;
pub(crate) mod operations;
mod pending;
pub(crate) mod questions;
mod rows;
mod session;
mod session_table;
mod settings;
mod state;

pub(crate) use admission::{too_early, Attempt, Gates, Refusal};
pub(crate) use areas::{key_of, withheld, Submitted, KEPT};
pub use areas::{Login, LoginKind};
pub(crate) use context::{kind_of, RuleContext, RuleMessage, ATTACHING, CLOSING, ENDING, OPENING};
pub use key::RequestKey;
pub use names::{MisuseKind, TerminalRef, Timing};
pub use pending::OpenRequest;
pub(crate) use pending::{Late, Pending};
pub(crate) use rows::{rows, Action, Area, Check, Finding, MessageKind, RuleSet, Tracker, REFUSE};
pub(crate) use session::{unknown, Sessions, Standing};
pub use session::{Session, SessionState, Turn};
pub use settings::{Config, Limits, NotForeign, Policy, UnknownDraft};

pub use crate::role::Role;
pub(crate) use state::{find_method, Side, State};
