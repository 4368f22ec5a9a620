//! Configuration: what a host decides before a connection begins.

use crate::framing::Framing;
use crate::jsonrpc::MAX_NAME_BYTES;
use crate::role::Role;
use crate::rules::RuleId;
use crate::schema::tables;
use crate::validation::table::Tables;
use crate::validation::DraftSet;
use crate::versions::Versions;

/// What happens to a peer's message that breaks a rule.
///
/// [`Config::policy`] is for all rules, [`Config::policies`] for those of one [`Severity`](crate::rules::Severity).
/// What counts is the policy for the rule that the [`Violation`](crate::connection::Violation) names:
///
/// | the peer's message | `Tolerant` | `Strict` | `Off` |
/// | --- | --- | --- | --- |
/// | can be repaired: a member or an item that may be left out, a value that another one stands for | repaired, delivered, reported | refused or dropped, reported | repaired, delivered |
/// | can be used as it is: it comes at the wrong time, or names something unknown | delivered, reported | refused or dropped, reported | delivered |
/// | lacks a message that older peers do not send (SESS-90) | delivered | delivered, reported | delivered |
/// | breaks a rule that forbids it now: a capability that was not advertised, a state that does not allow it | refused or dropped, reported | refused or dropped, reported | delivered if the rule is about more than the method |
/// | cannot be used: it is not JSON, lacks a required member, or is a request about an unknown session | refused or dropped, reported | refused or dropped, reported | refused or dropped, reported |
///
/// A request is refused by an answer with an error. A notification or an answer is dropped; the request that the answer
/// was for ends with [`Outcome::Invalid`](crate::connection::Outcome::Invalid). Two things cannot be refused and are
/// reported under every policy but `Off`: an error that ends a request, and an authentication method that cannot be
/// used, which is removed from the list. The host's own messages do not depend on the policy, except for notes (see
/// [`Config::policies`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Policy {
    /// Repair what the specification allows receivers to repair; deliver and report the message.
    #[default]
    Tolerant,
    /// Refuse and report the message.
    Strict,
    /// Deliver the message and report nothing.
    Off,
}

/// Bounds on memory and work that hold whatever the peer sends (LIMIT-01 to LIMIT-07). The defaults are in parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Limits {
    /// Maximum length of a frame in bytes, also of the response to a batch (32 MiB).
    pub frame: usize,
    /// Maximum nesting of lists and objects in a frame; at most [`MAX_DEPTH`](crate::json::MAX_DEPTH) takes effect
    /// (128).
    pub depth: u32,
    /// Maximum number of open requests in each direction, and of entries in one batch (1,024).
    pub pending: usize,
    /// Maximum number of sessions that are tracked at once (10,000).
    pub sessions: usize,
    /// Maximum number of terminals that are tracked per session (1,024).
    pub terminals: usize,
    /// Maximum number of other items of one kind that are tracked per session: tool calls, plans, compactions, modes
    /// (4,096).
    pub remembered: usize,
    /// Maximum number of complete entries in a [view](Config::view), and of stubs (4,096).
    pub view_entries: usize,
    /// Maximum size of a session's view in bytes (16 MiB). All views of a connection together may have 16 times as
    /// much.
    pub view_bytes: usize,
    /// Maximum size of one content in a view in bytes: the text of a message, the items of a tool call, its raw input
    /// (4 MiB).
    pub view_content: usize,
    /// Maximum size of a terminal's output in a view in bytes; at least the last half of that is kept (1 MiB).
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

/// In milliseconds. Long enough for work that stops between two steps, short enough for a waiting user.
const CANCEL_GRACE: u64 = 10_000;

/// The configuration of a connection. It does not change once the connection is created.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Config {
    /// The side of the host.
    pub role: Role,
    /// How messages are separated on the transport.
    pub framing: Framing,
    /// What happens to messages of the peer that break a rule.
    pub policy: Policy,
    /// Policies for the rules of one severity, in the order notes, warnings, errors. `None` leaves them to `policy`.
    ///
    /// The policy for notes also affects what the host sends. Under [`Policy::Strict`] the host gets advice on
    /// recommendations (INIT-11, EXT-10). Under [`Policy::Off`] it may send members that the specification does not
    /// have (EXT-01), as needed by a host that forwards messages.
    pub policies: [Option<Policy>; 3],
    /// Bounds on memory and work.
    pub limits: Limits,
    /// The protocol versions that may be agreed on. The default is version 1 alone.
    pub versions: Versions,
    /// The drafts that are enabled; see [`draft`](Config::draft).
    pub drafts: DraftSet,
    /// Milliseconds after which a request of the host ends with
    /// [`Outcome::Timeout`](crate::connection::Outcome::Timeout), unless the call has a limit of its own. `None` (the
    /// default) waits without limit.
    pub timeout: Option<u64>,
    /// Milliseconds that the peer has to answer a request after [`cancel`](crate::connection::Connection::cancel)
    /// (10,000). Then the request ends with [`Outcome::Cancelled`](crate::connection::Outcome::Cancelled), and a later
    /// response is an [`Event::LateResponse`](crate::connection::Event::LateResponse). `None` waits without limit.
    pub cancel_grace: Option<u64>,
    /// Milliseconds after which the host is reminded, once, of a request of the peer that it has not answered (RPC-15),
    /// by an [`Advice`](crate::connection::Advice) event with the method and the id. `None` (the default) never
    /// reminds.
    pub reminder: Option<u64>,
    /// Whether a session may have several prompts at once (TURN-03), for agents that queue prompts or add them to the
    /// running turn. The specification has no capability for it; such agents announce it as `promptQueueing` in `_meta`
    /// of their capabilities. With it, a client's further prompts are sent with [`Advice`](crate::connection::Advice)
    /// instead of being misuse, and an agent receives them without a violation. The turn ends with the last answer, and
    /// `session/cancel` is about the prompts that are open when it is sent.
    pub prompt_queueing: bool,
    /// Whether the connection keeps a [view](crate::view::View) of each session's conversation. `false` costs nothing.
    pub view: bool,
    pub(crate) foreign_methods: Vec<Box<str>>,
}

impl Config {
    /// The default configuration for a side: one message per line, the tolerant policy, version 1, no drafts, no time
    /// limit for answers but ten seconds after a cancel, no reminders, one prompt at a time.
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

    /// The host's side. Where it is known when the program is built, the compiler leaves out what only agents need.
    pub(crate) const fn role(&self) -> Role {
        if cfg!(clients_only) {
            Role::Client
        } else {
            self.role
        }
    }

    /// The default configuration for a client.
    pub fn client() -> Self {
        Config::new(Role::Client)
    }

    /// The default configuration for an agent.
    pub fn agent() -> Self {
        Config::new(Role::Agent)
    }

    /// Enables a draft by its name in [`crate::schema::drafts::DRAFTS`].
    ///
    /// # Errors
    /// [`UnknownDraft`] when no draft has this name.
    pub fn draft(&mut self, name: &str) -> Result<(), UnknownDraft> {
        if cfg!(clients_only) {
            return Err(UnknownDraft);
        }
        let index = crate::schema::drafts::DRAFTS.iter().position(|&draft| draft == name).ok_or(UnknownDraft)?;
        self.drafts |= 1 << (index + 1);
        Ok(())
    }

    /// Allows a method that some peers use although the specification does not have it and its name does not begin with
    /// an underscore (EXT-07). It is then sent and delivered like an extension method.
    ///
    /// # Errors
    /// [`NotForeign`] when the name cannot be that of such a method.
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

    /// The methods that [`foreign_method`](Config::foreign_method) allowed, in the order of the calls.
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

    /// Whether messages that break a rule are repaired if possible, by the rule's severity.
    pub(crate) fn repaired(&self) -> [bool; 3] {
        self.policies.map(|own| own.unwrap_or(self.policy) != Policy::Strict)
    }

    /// The tables in use before a version is agreed on.
    pub(crate) fn first_tables(&self) -> &'static Tables {
        tables::version(self.versions.oldest()).unwrap_or(&tables::v1::TABLES)
    }
}

/// No draft has this name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no draft has this name; libacp::schema::drafts::DRAFTS lists them")]
pub struct UnknownDraft;

/// Why a name cannot be that of a [foreign method](Config::foreign_method).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotForeign {
    /// It is empty or longer than 4,096 bytes.
    #[error("expected a name of 1 to 4,096 bytes")]
    Length,
    /// It begins with an underscore. Extension methods need not be allowed one by one.
    #[error("names that begin with an underscore are extensions, which need not be listed")]
    Extension,
    /// It begins with `rpc.` or `$/`, which are reserved.
    #[error("names that begin with rpc. or $/ belong to JSON-RPC and to the protocol")]
    Reserved,
    /// It is a method of the specification, in some version or draft.
    #[error("this method belongs to the specification, or to a draft that can be enabled")]
    Specified,
}
