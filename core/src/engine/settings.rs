//! What a host decides before a connection begins.

use crate::framing::Framing;
use crate::jsonrpc::MAX_NAME_BYTES;
use crate::role::Role;
use crate::rules::RuleId;
use crate::schema::tables;
use crate::validation::table::Tables;
use crate::validation::DraftSet;
use crate::versions::Versions;

/// What happens to a peer's message that breaks a rule, by the rule's [`Severity`](crate::rules::Severity) where
/// [`Config::policies`] says so.
///
/// The policy that counts is that of the rule which the [`Violation`](crate::connection::Violation) names. What a message breaks
/// is one of these:
///
/// | the peer's message | `Tolerant` | `Strict` | `Off` |
/// | --- | --- | --- | --- |
/// | can be repaired: a member or an item that may be left out, a value that another one stands for | repaired, delivered, reported | refused or dropped, reported | repaired, delivered |
/// | can be used as it is: it comes at the wrong time, or names what is not known | delivered, reported | refused or dropped, reported | delivered |
/// | lacks what peers of an earlier date do not send (SESS-90) | delivered | delivered, reported | delivered |
/// | breaks a rule that forbids it now: a capability that was not advertised, a state that does not allow it | refused or dropped, reported | refused or dropped, reported | delivered where the rule is about more than the method |
/// | cannot be used: no JSON, without what must be there, a request about no session | refused or dropped, reported | refused or dropped, reported | refused or dropped, reported |
///
/// A request is refused by an answer with an error; a notification and an answer are dropped, and the request that the
/// answer was for ends as invalid. What cannot be undone is reported and goes through under each policy but `Off`: an
/// error that ends a request, and a way to log in that cannot be used, which is left out of the list. The host's own
/// messages do not depend on a policy, but for notes (see [`Config::policies`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// What can be repaired by the specification's tolerance rules is repaired, delivered and reported.
    #[default]
    Tolerant,
    /// It is refused and reported.
    Strict,
    /// It is let through and not reported.
    Off,
}

/// Bounds that hold whatever the peer sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Limits {
    /// Bytes of one frame, also of the list that answers a batch (32 MiB).
    pub frame: usize,
    /// Nesting of lists and objects in one frame, at most [`MAX_DEPTH`](crate::json::MAX_DEPTH) (128).
    pub depth: u32,
    /// Open requests in each direction, and entries of one batch (1,024).
    pub pending: usize,
    /// Sessions that are tracked at once (10,000).
    pub sessions: usize,
    /// Terminals that are tracked per session (1,024).
    pub terminals: usize,
    /// Things of one kind that are remembered per session beside terminals: tool calls, plans, compactions, modes
    /// (4,096).
    pub remembered: usize,
    /// Entries that a [view](Config::view) has in full, and as many stubs (4,096).
    pub view_entries: usize,
    /// Bytes of a session's view (16 MiB). All views of a connection together have 16 times as many.
    pub view_bytes: usize,
    /// Bytes of one content in a view: the text of a message, the items of a tool call, its raw input (4 MiB).
    pub view_content: usize,
    /// Bytes of a terminal's output in a view: at most so many, and at least the last half of that (1 MiB).
    pub view_output: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            frame: 32 << 20,
            depth: 128,
            pending: 1024,
            sessions: 10_000,
            terminals: 1024,
            remembered: 4096,
            view_entries: 4096,
            view_bytes: 16 << 20,
            view_content: 4 << 20,
            view_output: 1 << 20,
        }
    }
}

/// Long enough for work that stops between two steps, short enough for a person who waits.
const CANCEL_GRACE: u64 = 10_000;

/// What a host decides before a connection begins.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// The side that the host plays.
    pub role: Role,
    /// How messages are told apart on the transport.
    pub framing: Framing,
    /// What happens to the peer's messages that break a rule.
    pub policy: Policy,
    /// Another policy for the rules of one severity: notes, warnings, errors. Where all three are set, `policy` says
    /// nothing.
    ///
    /// Two of them also say how much a host wants to be held to itself: with strict notes it is advised of what is merely
    /// recommended (INIT-11, EXT-10), and with notes off it may send members that the specification does not have
    /// (EXT-01), as a host must that passes on what others say.
    pub policies: [Option<Policy>; 3],
    /// Bounds.
    pub limits: Limits,
    /// The versions of the protocol that may be agreed on: version 1 alone, unless the host says otherwise.
    pub versions: Versions,
    /// Drafts that are switched on; see [`draft`](Config::draft).
    pub drafts: DraftSet,
    /// Milliseconds after which a request of the host's own fails, unless the call says otherwise; `None` waits for
    /// ever.
    pub timeout: Option<u64>,
    /// Milliseconds that the peer has to answer a request after [`cancel`](crate::connection::Connection::cancel) has asked it to
    /// stop (10,000). Then the request ends with [`Outcome::Cancelled`](crate::connection::Outcome::Cancelled), and an answer that
    /// still comes is an [`Event::LateResponse`](crate::connection::Event::LateResponse). `None` waits for ever.
    pub cancel_grace: Option<u64>,
    /// Milliseconds after which the host is reminded, once, of a request of the peer's that it has not answered
    /// (RPC-15): an [advice event](crate::connection::Advice) with the method and the id. `None` reminds of nothing.
    pub reminder: Option<u64>,
    /// Whether a session may have several prompts at once (TURN-03), for agents that queue prompts or take them into the
    /// turn that runs; those say so in `_meta` of their capabilities (`promptQueueing`), since the specification has no
    /// word for it. A client's further prompts then go out with [advice](crate::connection::Advice) instead of misuse, and an agent's
    /// are delivered without a violation. The turn ends with the last answer, and `session/cancel` covers the prompts
    /// that are open when it is sent.
    pub prompt_queueing: bool,
    /// Whether each session is kept as a conversation, a [view](crate::view::View). Without it that costs nothing.
    pub view: bool,
    pub(crate) foreign_methods: Vec<Box<str>>,
}

impl Config {
    /// The defaults for a role: lines, tolerant, version 1, no drafts, no time-out, ten seconds to answer what was
    /// cancelled, no reminders, one prompt at a time.
    pub fn new(role: Role) -> Self {
        Config {
            role,
            framing: Framing::default(),
            policy: Policy::default(),
            policies: [None; 3],
            limits: Limits::default(),
            versions: Versions::default(),
            drafts: 0,
            timeout: None,
            cancel_grace: Some(CANCEL_GRACE),
            reminder: None,
            prompt_queueing: false,
            view: false,
            foreign_methods: Vec::new(),
        }
    }

    /// The defaults for a client.
    pub fn client() -> Self {
        Config::new(Role::Client)
    }

    /// The defaults for an agent.
    pub fn agent() -> Self {
        Config::new(Role::Agent)
    }

    /// Switches a draft on by its name in [`crate::schema::drafts::DRAFTS`].
    ///
    /// # Errors
    /// [`UnknownDraft`] when there is none of that name.
    pub fn draft(&mut self, name: &str) -> Result<(), UnknownDraft> {
        let index = crate::schema::drafts::DRAFTS.iter().position(|&draft| draft == name).ok_or(UnknownDraft)?;
        self.drafts |= 1 << (index + 1);
        Ok(())
    }

    /// Names a method that some peers have although it is neither the specification's nor begins with an underscore
    /// (EXT-07). It is then sent and delivered like an extension's; others stay unknown.
    ///
    /// # Errors
    /// [`NotForeign`] when such a method can be no peer's own.
    pub fn foreign_method(&mut self, name: &str) -> Result<(), NotForeign> {
        let in_model = || tables::all().flat_map(|tables| tables.methods).any(|method| method.name == name);
        if name.is_empty() || name.len() > MAX_NAME_BYTES {
            Err(NotForeign::Length)
        } else if name.starts_with('_') {
            Err(NotForeign::Extension)
        } else if name.starts_with("rpc.") || name.starts_with("$/") {
            Err(NotForeign::Reserved)
        } else if in_model() {
            Err(NotForeign::Specified)
        } else {
            if !self.is_foreign(name) {
                self.foreign_methods.push(name.into());
            }
            Ok(())
        }
    }

    /// The methods that [`foreign_method`](Config::foreign_method) named, in the order in which they were named.
    pub fn foreign_methods(&self) -> impl Iterator<Item = &str> {
        self.foreign_methods.iter().map(|name| &**name)
    }

    pub(crate) fn is_foreign(&self, method: &str) -> bool {
        self.foreign_methods.iter().any(|name| **name == *method)
    }

    /// The policy for one rule, by its severity.
    pub(crate) fn policy_for(&self, rule: RuleId) -> Policy {
        self.policies[rule.rule().severity as usize].unwrap_or(self.policy)
    }

    /// Whether a breach of a rule is repaired where that can be done, by its severity.
    pub(crate) fn repaired(&self) -> [bool; 3] {
        self.policies.map(|own| own.unwrap_or(self.policy) != Policy::Strict)
    }

    /// The tables that hold before a version is agreed on.
    pub(crate) fn first_tables(&self) -> &'static Tables {
        tables::version(self.versions.oldest()).unwrap_or(&tables::v1::TABLES)
    }
}

/// No draft has this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no draft has this name; libacp::schema::drafts::DRAFTS lists them")]
pub struct UnknownDraft;

/// Why a name is not that of a [foreign method](Config::foreign_method).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotForeign {
    /// It has no byte, or more than 4,096.
    #[error("expected a name of 1 to 4,096 bytes")]
    Length,
    /// It begins with an underscore: extensions need not be named.
    #[error("names that begin with an underscore are extensions, which need not be listed")]
    Extension,
    /// It begins with `rpc.` or `$/`.
    #[error("names that begin with rpc. or $/ belong to JSON-RPC and to the protocol")]
    Reserved,
    /// It is a method of version 1, version 2 or a draft.
    #[error("this method belongs to the specification, or to a draft that can be enabled")]
    Specified,
}
