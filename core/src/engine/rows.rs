//! Checks and trackers: a row has the rule, the messages that it applies to, and a function.
//!
//! A message is named by its method; a `session/update` also by its kind, as in `session/update:tool_call`; a method
//! that is both a request and a notification also by its form, as in `mcp/message:request`. `@makes` and the like stand
//! for all methods with that effect on a session, `*` for every message. The rows are looked up once per message, so a
//! rule costs nothing for other messages.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::OnceLock;

use super::areas::AREAS;
use super::context::{RuleContext, RuleMessage};
use super::names::MisuseKind;
use super::operations;
use super::state::State;
use crate::jsonrpc::ErrorCode;
use crate::rules::{RuleId, Way};
use crate::schema::tables;
use crate::versions::{Versions, VERSIONS};

/// The code of one area of the catalogue.
#[derive(Debug)]
pub(crate) struct Area {
    pub(crate) checks: &'static [Check],
    pub(crate) trackers: &'static [Tracker],
}

/// What happens when a check finds that a message breaks its rule.
///
/// | action | the host's own message | the peer's message, tolerant | the peer's message, strict |
/// | --- | --- | --- | --- |
/// | `Pass` | sent | delivered | delivered |
/// | `Report` | sent, advice | delivered, violation | refused or dropped, violation |
/// | `Tell` | sent, advice | delivered, violation | delivered, violation |
/// | `Hint` | sent, advice under strict notes | delivered, violation under strict notes | the same |
/// | `Strip` | misuse | repaired, violation | refused or dropped, violation |
/// | `LeaveOut` | misuse | repaired, violation | repaired, violation |
/// | `Drop`, `Refuse` | misuse | dropped or refused, violation | dropped or refused, violation |
///
/// Under the policy `Off`, all but `Strip` pass without a violation. An error that ends a request is always delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Nothing: the rule does not bind this direction.
    Pass,
    /// Report it; the message goes through.
    Report,
    /// Report it even under the strict policy: the fault lies in an earlier message, so refusing this one would not
    /// help.
    ReportAlways,
    /// The message goes through. It is reported only under [`Policy::Strict`](super::Policy::Strict): the peer's if
    /// that is the policy for the rule; the host's own, as advice, if that is the policy for notes.
    AdviseIfStrict,
    /// Remove the values at the finding's places and report it; on receive only.
    Strip,
    /// Remove them even under the strict policy: the rest of the message is useful without them.
    LeaveOut,
    /// Do not deliver the message; for notifications and answers.
    Drop,
    /// Misuse on send. On receive, answer a request with an error of this code, and drop any other message.
    Refuse(ErrorCode),
}

/// -32602, the usual answer.
pub(crate) const REFUSE: Action = Action::Refuse(ErrorCode::INVALID_PARAMS);

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MessageKind {
    /// A request or a notification.
    Call,
    /// A result.
    Answer,
    /// An error, whose object is the body. An error of the peer ends its request even if it breaks a rule.
    Error,
}

/// A check of a rule.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) rule: RuleId,
    pub(crate) on: MessageKind,
    pub(crate) messages: &'static [&'static str],
    /// What a finding does to the host's own message.
    pub(crate) send: Action,
    /// What it does to the peer's message, under the tolerant policy.
    pub(crate) receive: Action,
    /// The kind of misuse when the host's message is refused.
    pub(crate) kind: MisuseKind,
    /// The versions in which it runs, of those that have the rule.
    versions: Versions,
    pub(crate) test: fn(&RuleContext<'_>) -> Option<Finding>,
}

impl Check {
    /// A check that refuses in both directions.
    pub(crate) const fn new(
        rule: RuleId,
        on: MessageKind,
        messages: &'static [&'static str],
        test: fn(&RuleContext<'_>) -> Option<Finding>,
    ) -> Self {
        Check {
            rule,
            on,
            messages,
            send: REFUSE,
            receive: REFUSE,
            kind: MisuseKind::Params,
            versions: Versions::ALL,
            test,
        }
    }

    /// Sets the action on the host's own messages.
    pub(crate) const fn send(mut self, action: Action) -> Self {
        self.send = action;
        self
    }

    /// Sets the action on the peer's messages.
    pub(crate) const fn receive(mut self, action: Action) -> Self {
        self.receive = action;
        self
    }

    /// Restricts the check to one version, if its rule is in several.
    pub(crate) const fn only(mut self, version: u16) -> Self {
        self.versions = Versions::only(version);
        self
    }

    /// Sets the kind of misuse.
    pub(crate) const fn kind(mut self, kind: MisuseKind) -> Self {
        self.kind = kind;
        self
    }
}

/// What a check found wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    /// JSON pointer into the params or the result.
    pub(crate) pointer: Cow<'static, str>,
    /// Further places of the same kind.
    pub(crate) also: Vec<String>,
    /// Whether the pointer ends with a name that the sender chose.
    pub(crate) made_up: bool,
    /// What is wrong, what was expected and, for the host, what to do instead.
    pub(crate) message: Cow<'static, str>,
}

impl Finding {
    pub(crate) fn new(pointer: impl Into<Cow<'static, str>>, message: impl Into<Cow<'static, str>>) -> Self {
        Finding::of(pointer.into(), message.into())
    }

    /// Out of line: hundreds of checks call it, each with its own texts.
    #[inline(never)]
    fn of(pointer: Cow<'static, str>, message: Cow<'static, str>) -> Self {
        Finding { pointer, also: Vec::new(), made_up: false, message }
    }

    /// A finding about all of these places; `None` if there are none.
    pub(crate) fn at_all(mut places: Vec<String>, message: &'static str) -> Option<Self> {
        if places.is_empty() {
            return None;
        }
        let also = places.split_off(1);
        Some(Finding { also, ..Finding::new(places.remove(0), message) })
    }

    /// Marks that the pointer ends with a name that the sender chose. It is reported to the host, but not repeated to
    /// the peer.
    pub(crate) fn made_up(self) -> Self {
        Finding { made_up: true, ..self }
    }
}

/// Updates the state by an accepted message, in either direction.
#[derive(Debug)]
pub(crate) struct Tracker {
    /// The rules that need this state.
    pub(crate) rules: &'static [RuleId],
    pub(crate) on: MessageKind,
    pub(crate) messages: &'static [&'static str],
    /// The result for a request is kept until its answer; see [`RuleMessage::note`].
    pub(crate) track: fn(&mut State, &RuleMessage<'_>) -> Option<Box<str>>,
}

impl Check {
    fn is_of(&self, version: u16) -> bool {
        self.rule.rule().versions.contains(version) && self.versions.contains(version)
    }
}

impl Tracker {
    /// Whether this version has one of its rules. A tracker without rules runs in all versions.
    fn is_of(&self, version: u16) -> bool {
        self.rules.is_empty() || self.rules.iter().any(|rule| rule.rule().versions.contains(version))
    }

    pub(crate) fn is_on(&self) -> bool {
        // Every rule is evaluated, without a shortcut, so that `cargo xtask rules --prove` sees each.
        self.rules.iter().filter(|rule| !rule.is_on(Way::Track)).count() == 0
    }
}

/// The checks and trackers of one name.
#[derive(Debug, Default)]
struct Rows {
    checks: Vec<&'static Check>,
    trackers: Vec<&'static Tracker>,
}

/// The rows of each message: by method, and then by the kind of a `session/update`, with those for every kind under "".
/// Both are short lists in order.
#[derive(Debug, Default)]
struct Index {
    any: Rows,
    methods: Vec<(&'static str, Vec<(&'static str, Rows)>)>,
}

impl Index {
    fn of(on: MessageKind, version: u16) -> Self {
        let mut index = Index::default();
        let methods = tables::version(version).map_or(&[][..], |tables| tables.methods);
        let named = |name: &'static str| {
            let all = methods.iter().filter(move |row| row.effect.name() == name).map(|row| row.name);
            std::iter::once(name).filter(|name| !name.starts_with('@')).chain(all)
        };
        for area in AREAS {
            for check in area.checks.iter().filter(|check| check.on == on && check.is_of(version)) {
                check.messages.iter().flat_map(|name| named(name)).for_each(|name| index.rows(name).checks.push(check));
            }
            for tracker in area.trackers.iter().filter(|tracker| tracker.on == on && tracker.is_of(version)) {
                tracker
                    .messages
                    .iter()
                    .flat_map(|name| named(name))
                    .for_each(|name| index.rows(name).trackers.push(tracker));
            }
        }
        index
    }

    /// The rows of a name.
    fn rows(&mut self, name: &'static str) -> &mut Rows {
        if name == "*" {
            return &mut self.any;
        }
        let (method, kind) = name.split_once(':').unwrap_or((name, ""));
        entry(entry(&mut self.methods, method), kind)
    }
}

fn entry<'l, T: Default>(list: &'l mut Vec<(&'static str, T)>, name: &'static str) -> &'l mut T {
    let at = list.binary_search_by(|(known, _)| order(known, name)).unwrap_or_else(|at| {
        list.insert(at, (name, T::default()));
        at
    });
    &mut list[at].1
}

fn find<'l, T>(list: &'l [(&'static str, T)], name: &str) -> Option<&'l T> {
    let at = list.binary_search_by(|(known, _)| order(known, name)).ok()?;
    Some(&list[at].1)
}

/// By length first: most names differ in it, and comparing it is cheap.
fn order(one: &str, other: &str) -> Ordering {
    one.len().cmp(&other.len()).then_with(|| one.cmp(other))
}

/// The checks and trackers that apply to one message.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RuleSet {
    all: [Option<&'static Rows>; 3],
    /// What calls of this kind do to a conversation.
    pub(super) does: Option<&'static operations::Row>,
}

impl RuleSet {
    pub(crate) fn checks(self) -> impl Iterator<Item = &'static Check> {
        self.all.into_iter().flatten().flat_map(|rows| rows.checks.iter().copied())
    }

    pub(crate) fn trackers(self) -> impl Iterator<Item = &'static Tracker> {
        self.all.into_iter().flatten().flat_map(|rows| rows.trackers.iter().copied())
    }
}

/// The rows for a message in a version; `kind` is the kind of a `session/update`.
pub(crate) fn rows(version: u16, on: MessageKind, method: &str, kind: Option<&str>) -> RuleSet {
    static INDEXES: [[OnceLock<Index>; 3]; VERSIONS.len()] = [const { [const { OnceLock::new() }; 3] }; VERSIONS.len()];
    let index = INDEXES[usize::from(version) - 1][on as usize].get_or_init(|| Index::of(on, version));
    let kinds = find(&index.methods, method);
    let all = kinds.and_then(|kinds| find(kinds, ""));
    let this = kinds.zip(kind).and_then(|(kinds, kind)| find(kinds, kind));
    let does = (on == MessageKind::Call).then(|| operations::row_of(version, method, kind)).flatten();
    RuleSet { all: [Some(&index.any), all, this], does }
}
