//! The protocol and nothing else: what a conversation is, which messages it allows, and what each message changes.
//!
//! Theory of operation. A [`State`] is what both sides of a connection know: the version, what each side can do, open
//! requests, sessions and what is in them. Two operations matter. *Judging* holds a message against a state: admission
//! asks whether the method may be used now by this side ([`Attempt`]), then the checks of the catalogue's rules are asked,
//! each a row that names the messages it is about. *Applying* changes the state by a message that went through: the
//! trackers, rows of the same form. Neither reads or writes bytes or reports anything, and there is no clock but the numbers
//! that are passed in. So one engine serves a connection, which judges its host and its peer, and an observer.
//!
//! Read in this order: `settings`, `names` (words that hosts see too), `state`, `session`, `table`, `early`, `pending`,
//! `key` (what is known), `admission`, `rows` (checks and trackers), `context` (what they see), `areas` (all of them, by the
//! areas of the catalogue), `questions` (requests that end with the work they belong to), `operations` (what updates do, for who keeps a
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
