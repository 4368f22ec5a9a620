//! Checks and trackers: the code of a rule is a row, the messages it is about and one function.
//!
//! A message is named by its method, and a `session/update` also by its kind, as in `session/update:tool_call`, or its
//! form where it has both, as in `mcp/message:request`; `@makes` and the like are all methods with that effect on a session;
//! `*` is every message. Each message looks its rows up once, so a
//! rule costs nothing where it does not apply.

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
    /// Report it even under the strict policy: the fault lies in an earlier message, so refusing this one would not help.
    ReportAlways,
    /// The message goes through, and is reported where the host is strict: the peer's as the policy for the rule says; the
    /// host's own, as advice on a recommendation, where it has set that policy for notes.
    AdviseIfStrict,
    /// Remove the values at the finding's places and report it; on receive only.
    Strip,
    /// Remove them even under the strict policy: the rest of the message is of use without them.
    LeaveOut,
    /// Do not deliver the message; for notifications and answers.
    Drop,
    /// Misuse on send; on receive, answer with an error of this code, or drop what has no answer.
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
    /// An error, whose object is the body. The peer's end requests whatever is said of them.
    Error,
}

/// A rule that may object to a message.
#[derive(Debug)]
pub(crate) struct Check {
    pub(crate) rule: RuleId,
    pub(crate) on: MessageKind,
    pub(crate) messages: &'static [&'static str],
    /// What a finding means to the host's own message.
    pub(crate) send: Action,
    /// What it means to the peer's, under the tolerant policy.
    pub(crate) receive: Action,
    /// The kind of misuse when the host's message is refused.
    pub(crate) kind: MisuseKind,
    /// The versions in which it is tried, beside those of its rule.
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

    /// With another action on the host's own messages.
    pub(crate) const fn send(mut self, action: Action) -> Self {
        self.send = action;
        self
    }

    /// With another action on the peer's messages.
    pub(crate) const fn receive(mut self, action: Action) -> Self {
        self.receive = action;
        self
    }

    /// In one version only, where its rule is about several.
    pub(crate) const fn only(mut self, version: u16) -> Self {
        self.versions = Versions::only(version);
        self
    }

    /// With another kind of misuse.
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
    /// Whether the pointer ends with a name that the sender made up.
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

    /// One that is about all of these places; `None` where there are none.
    pub(crate) fn at_all(mut places: Vec<String>, message: &'static str) -> Option<Self> {
        if places.is_empty() {
            return None;
        }
        let also = places.split_off(1);
        Some(Finding { also, ..Finding::new(places.remove(0), message) })
    }

    /// One whose pointer ends with a name that the sender made up: the host is told of it, an answer does not repeat it.
    pub(crate) fn made_up(self) -> Self {
        Finding { made_up: true, ..self }
    }
}

/// What is remembered of messages that went through, in either direction.
#[derive(Debug)]
pub(crate) struct Tracker {
    /// The rules that it follows.
    pub(crate) rules: &'static [RuleId],
    pub(crate) on: MessageKind,
    pub(crate) messages: &'static [&'static str],
    /// What it returns for a call is kept until its answer; see [`RuleMessage::note`].
    pub(crate) track: fn(&mut State, &RuleMessage<'_>) -> Option<Box<str>>,
}

impl Check {
    fn is_of(&self, version: u16) -> bool {
        self.rule.rule().versions.contains(version) && self.versions.contains(version)
    }
}

impl Tracker {
    /// Whether it follows a rule of this version; what follows none is for all.
    fn is_of(&self, version: u16) -> bool {
        self.rules.is_empty() || self.rules.iter().any(|rule| rule.rule().versions.contains(version))
    }

    pub(crate) fn is_on(&self) -> bool {
        // All of them are asked, so that a proof sees each.
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

    /// The rows of a name as checks and trackers have them.
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

/// Most names differ in their length, which is quicker to see than what they say.
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
