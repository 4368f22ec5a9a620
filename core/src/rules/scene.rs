//! What the code of a rule sees, and how it is found.
//!
//! Checks and trackers are rows: the messages they are about, and one function. A message is named by its method, and a
//! `session/update` also by its kind, as in `session/update:tool_call`, or its form where it has both, as in
//! `mcp/message:request`; `*` is every message. Each message looks its
//! rows up once, so a rule costs nothing where it does not apply.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::cmp::Ordering;
use std::sync::{Arc, OnceLock};

use super::{RuleId, Way, AREAS};
use crate::connection::{MisuseKind, OpenRequest, Role, Session, Sessions, State};
use crate::json;
use crate::jsonrpc::ErrorCode;
use crate::validation::table::{Kind, Method};
use crate::validation::Facts;

/// What happens when a check objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// Nothing: the rule does not bind this direction.
    Pass,
    /// The message goes through; a violation event (from the peer) or an advice event (the host's own) tells of it.
    Report,
    /// The same, also under the strict policy: what is told is not in the message itself.
    Tell,
    /// Advice on what is merely recommended, for hosts whose policy for notes is strict.
    Hint,
    /// What stands at the objection's places is taken out, and that is reported; on receive only.
    Strip,
    /// The same, also under the strict policy: the rest is of use without it.
    LeaveOut,
    /// Not delivered; for notifications and answers.
    Drop,
    /// Misuse on send; on receive the answer with this code, or a drop where nothing can be answered.
    Refuse(ErrorCode),
}

/// Calls whose answers open a session.
pub(crate) const OPENING: &[&str] = &["session/new", "session/load", "session/resume", "session/fork"];

/// Calls that open a session of a known id.
pub(crate) const ATTACHING: &[&str] = &["session/load", "session/resume"];

/// Calls that end the work of a session, which is not open once they are answered.
pub(crate) const ENDING: &[&str] = &["session/close", "session/archive"];

/// The kind by which a message is named beside its method: that of an update or, where a method is both a request and a
/// notification, which of the two it is.
pub(crate) fn kind_of<'k>(method: &Method, is_request: bool, update: Option<&'k str>) -> Option<&'k str> {
    match (method.kind, is_request) {
        (Kind::Both, true) => Some("request"),
        (Kind::Both, false) => Some("notification"),
        _ => update,
    }
}

/// -32602, the usual answer.
pub(crate) const REFUSE: Action = Action::Refuse(ErrorCode::INVALID_PARAMS);

/// What a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
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
    pub(crate) on: On,
    pub(crate) messages: &'static [&'static str],
    /// What an objection means to the host's own message.
    pub(crate) send: Action,
    /// What it means to the peer's, under the tolerant policy.
    pub(crate) receive: Action,
    /// The kind of misuse when the host's message is refused.
    pub(crate) kind: MisuseKind,
    pub(crate) test: fn(&Scene<'_>) -> Option<Objection>,
}

impl Check {
    /// A check that refuses in both directions.
    pub(crate) const fn new(
        rule: RuleId,
        on: On,
        messages: &'static [&'static str],
        test: fn(&Scene<'_>) -> Option<Objection>,
    ) -> Self {
        Check { rule, on, messages, send: REFUSE, receive: REFUSE, kind: MisuseKind::Params, test }
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

    /// With another kind of misuse.
    pub(crate) const fn kind(mut self, kind: MisuseKind) -> Self {
        self.kind = kind;
        self
    }
}

/// What a check says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Objection {
    /// JSON pointer into the params or the result.
    pub(crate) pointer: Cow<'static, str>,
    /// Further places of the same kind.
    pub(crate) also: Vec<String>,
    /// What is wrong, what was expected and, for the host, what to do instead.
    pub(crate) message: Cow<'static, str>,
}

impl Objection {
    pub(crate) fn new(pointer: impl Into<Cow<'static, str>>, message: impl Into<Cow<'static, str>>) -> Self {
        Objection::of(pointer.into(), message.into())
    }

    /// Out of line: hundreds of checks call it, each with its own texts.
    #[inline(never)]
    fn of(pointer: Cow<'static, str>, message: Cow<'static, str>) -> Self {
        Objection { pointer, also: Vec::new(), message }
    }

    /// One that is about all of these places; `None` where there are none.
    pub(crate) fn at_all(mut places: Vec<String>, message: &'static str) -> Option<Self> {
        if places.is_empty() {
            return None;
        }
        let also = places.split_off(1);
        Some(Objection { also, ..Objection::new(places.remove(0), message) })
    }
}

/// What is remembered of messages that went through, in either direction.
#[derive(Debug)]
pub(crate) struct Tracker {
    /// The rules that it follows.
    pub(crate) rules: &'static [RuleId],
    pub(crate) on: On,
    pub(crate) messages: &'static [&'static str],
    /// What it returns for a call is kept until its answer; see [`Message::note`].
    pub(crate) track: fn(&mut State, &Message<'_>) -> Option<Box<str>>,
}

impl Tracker {
    pub(crate) fn is_on(&self) -> bool {
        // All of them are asked, so that a proof sees each.
        self.rules.iter().filter(|rule| !rule.is_on(Way::Track)).count() == 0
    }
}

/// One message: a call, or an answer together with the call that it ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Message<'a> {
    /// The method, of an answer the method that was called.
    pub(crate) method: &'a str,
    /// The session it is about.
    pub(crate) session: Option<&'a Arc<str>>,
    /// Params of a call, result of an answer, an error that is to be judged; `None` where an error is tracked. They fit
    /// the model.
    pub(crate) body: Option<&'a str>,
    /// What was seen of the body when it was read, and the text that it stands in.
    pub(crate) facts: Option<(&'a str, &'a Facts)>,
    pub(crate) rows: Applying,
    /// The call that an answer ends, or the request that a call is.
    pub(crate) request: Option<&'a OpenRequest>,
}

impl<'a> Message<'a> {
    /// The end of a request: a result or an error.
    pub(crate) fn end(on: On, request: &'a OpenRequest, sessions: &Sessions, body: Option<&'a str>) -> Self {
        let session = sessions.of(request);
        let rows = rows(on, &request.method, None);
        Message { method: &request.method, session, body, facts: None, rows, request: Some(request) }
    }

    /// What the trackers noted when the call went through that this answer ends.
    pub(crate) fn note(&self) -> Option<&'a str> {
        self.request?.note.as_deref()
    }

    /// The id of the session that an answer opens or, of any other message, the session that it is about.
    pub(crate) fn opens(&self) -> Option<Cow<'a, str>> {
        match self.method {
            "session/new" | "session/fork" => self.text("/sessionId"),
            _ => self.session.map(|id| Cow::Borrowed(&**id)),
        }
    }

    /// The JSON at a pointer into the body.
    pub(crate) fn get(&self, pointer: &str) -> Option<&'a str> {
        #[cfg(test)]
        json::watch::look_up(self.body.unwrap_or_default(), pointer);
        let seen = self.facts.map_or(Err(()), |(text, facts)| facts.find(text, pointer));
        seen.unwrap_or_else(|()| json::pointer(self.body?, pointer)).filter(|value| *value != "null")
    }

    /// The string at a pointer into the body.
    pub(crate) fn text(&self, pointer: &str) -> Option<Cow<'a, str>> {
        json::unescape(self.get(pointer)?)
    }

    /// Whether there may be a variant of this name somewhere in the body.
    pub(crate) fn may_have(&self, tag: &str) -> bool {
        self.facts.is_none_or(|(_, facts)| facts.may_have(tag))
    }

    /// The items of the list at a pointer into the body.
    pub(crate) fn items(&self, pointer: &str) -> Vec<&'a str> {
        self.get(pointer).map(json::items).unwrap_or_default()
    }
}

/// A message and everything that is known when it comes.
#[derive(Debug)]
pub(crate) struct Scene<'a> {
    pub(crate) message: Message<'a>,
    /// Who sends it.
    pub(crate) sender: Role,
    pub(crate) state: &'a State,
    session: Option<&'a Session>,
    options: OnceCell<Vec<[Option<&'a str>; 4]>>,
}

impl<'a> Scene<'a> {
    #[inline]
    pub(crate) fn new(message: Message<'a>, sender: Role, state: &'a State) -> Self {
        let session = message.session.and_then(|id| state.sessions.told(message.method, id));
        Scene { message, sender, state, session, options: OnceCell::new() }
    }

    /// The config options in the list at a pointer, each with these members. Several rules are about them, so the list
    /// is read once, by the first that asks.
    pub(crate) fn options(&self, pointer: &str, members: [&str; 4]) -> &[[Option<&'a str>; 4]] {
        self.options.get_or_init(|| json::columns(self.message.get(pointer).unwrap_or("[]"), members))
    }

    /// Whether the host sends the message, or the peer.
    pub(crate) fn way(&self) -> Way {
        Way::of(self.sender == self.state.config.role)
    }

    /// What is known of the session that the message is about.
    pub(crate) fn session(&self) -> Option<&'a Session> {
        self.session
    }

    /// What the peer's capabilities say under `_meta` of one extension (EXT-10).
    pub(crate) fn peer_extension(&self, name: &str) -> Option<&'a str> {
        self.state.peer.extension(name)
    }

    /// Whether a side has advertised what stands at a pointer into its capabilities.
    pub(crate) fn advertises(&self, side: Role, pointer: &str) -> bool {
        super::cap::advertises(self.state, side, pointer)
    }
}

/// The rows of one name.
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
    fn of(on: On) -> Self {
        let mut index = Index::default();
        for area in AREAS {
            for check in area.checks.iter().filter(|check| check.on == on) {
                check.messages.iter().for_each(|name| index.rows(name).checks.push(check));
            }
            for tracker in area.trackers.iter().filter(|tracker| tracker.on == on) {
                tracker.messages.iter().for_each(|name| index.rows(name).trackers.push(tracker));
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

/// The rows that apply to one message.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Applying([Option<&'static Rows>; 3]);

impl Applying {
    pub(crate) fn checks(self) -> impl Iterator<Item = &'static Check> {
        self.0.into_iter().flatten().flat_map(|rows| rows.checks.iter().copied())
    }

    pub(crate) fn trackers(self) -> impl Iterator<Item = &'static Tracker> {
        self.0.into_iter().flatten().flat_map(|rows| rows.trackers.iter().copied())
    }
}

/// The rows for a message; `kind` is the kind of a `session/update`.
pub(crate) fn rows(on: On, method: &str, kind: Option<&str>) -> Applying {
    static CALLS: OnceLock<Index> = OnceLock::new();
    static ANSWERS: OnceLock<Index> = OnceLock::new();
    static ERRORS: OnceLock<Index> = OnceLock::new();
    let index = match on {
        On::Call => CALLS.get_or_init(|| Index::of(On::Call)),
        On::Answer => ANSWERS.get_or_init(|| Index::of(On::Answer)),
        On::Error => ERRORS.get_or_init(|| Index::of(On::Error)),
    };
    let kinds = find(&index.methods, method);
    let all = kinds.and_then(|kinds| find(kinds, ""));
    let this = kinds.zip(kind).and_then(|(kinds, kind)| find(kinds, kind));
    Applying([Some(&index.any), all, this])
}
