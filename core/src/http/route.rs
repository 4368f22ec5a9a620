//! What the transport reads of a message, and which stream it belongs to (HTTP-08, HTTP-10).
//!
//! A message is read once, for its kind, its id and the session that it names; nothing else of it matters here. Which
//! methods belong to a session is data: `cargo xtask codegen` writes `methods.rs` from the model. An unknown method, such as
//! an extension, belongs to the session that its params name.

use std::borrow::Cow;
use std::ops::Range;

use super::methods::{METHODS, OPENS};
use crate::json::{self, Kind, Scanner, SyntaxError, MAX_DEPTH};
use crate::rules::{RuleId, Way};
use crate::Id;

/// The longest name of a method, and the longest id, that a message may have.
pub(super) const NAME: usize = crate::jsonrpc::MAX_NAME_BYTES;

/// What a successful call does to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Effect {
    /// Nothing that matters to the streams.
    #[default]
    None,
    /// Its answer names a new session.
    Makes,
    /// It opens the session that its params name.
    Attaches,
    /// It ends the session that its params name.
    Ends,
}

impl Effect {
    /// Whether the answer comes on the stream of the connection although a session has to do with it (HTTP-10).
    pub(super) fn opens(self) -> bool {
        matches!(self, Effect::Makes | Effect::Attaches)
    }
}

/// A method.
#[derive(Debug)]
pub(super) struct Row {
    name: &'static str,
    scoped: bool,
    effect: Effect,
    again: bool,
}

pub(super) const fn row(name: &'static str, scoped: bool, effect: Effect, again: bool) -> Row {
    Row { name, scoped, effect, again }
}

fn find(method: &str) -> Option<&'static Row> {
    METHODS.binary_search_by(|row| row.name.cmp(method)).ok().map(|at| &METHODS[at])
}

/// Whether a message may be sent once more if nobody knows whether it arrived.
pub(super) fn may_repeat(method: &str) -> bool {
    find(method).is_some_and(|row| row.again)
}

/// A way to open a session again.
#[derive(Debug)]
pub(super) struct Opens {
    version: u16,
    method: &'static str,
    capability: &'static str,
    boolean: bool,
}

pub(super) const fn opens(version: u16, method: &'static str, capability: &'static str, boolean: bool) -> Opens {
    Opens { version, method, capability, boolean }
}

/// How a session is opened again by an agent that has answered `initialize` with this result; `None` if it cannot be.
pub(super) fn opens_again(result: &str) -> Option<&'static str> {
    let version = json::pointer(result, "/protocolVersion")?;
    let offers = |way: &&Opens| match json::pointer(result, way.capability) {
        Some(value) if way.boolean => value == "true",
        Some(value) => value != "null",
        None => false,
    };
    OPENS.iter().filter(|way| version.parse() == Ok(way.version)).find(offers).map(|way| way.method)
}

/// The kind of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Request,
    Notification,
    /// An answer with a result.
    Result,
    /// An answer with an error.
    Error,
}

/// What the transport reads of a message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Summary<'a> {
    pub(super) form: Form,
    /// Null for an answer to something that could not be read.
    pub(super) id: Option<Id>,
    /// Where the id stands; empty without one.
    pub(super) id_place: Range<usize>,
    /// Empty for an answer.
    pub(super) method: Cow<'a, str>,
    /// The session of a call: `sessionId` in its params, where the method belongs to a session.
    pub(super) session: Option<Cow<'a, str>>,
    /// `sessionId` in the result of an answer.
    pub(super) made: Option<Cow<'a, str>>,
    /// `requestId` in the params of a call.
    pub(super) cancels: Option<Id>,
    /// Where that stands; empty without it.
    pub(super) cancels_place: Range<usize>,
    pub(super) effect: Effect,
}

impl Summary<'_> {
    pub(super) fn is_answer(&self) -> bool {
        matches!(self.form, Form::Result | Form::Error)
    }

    pub(super) fn is_initialize(&self) -> bool {
        self.form == Form::Request && self.method == "initialize"
    }
}

/// Why a text is no message that the transport can carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is not JSON (RPC-21).
    Syntax,
    /// It is a batch (HTTP-15, WS-08).
    Batch,
    /// It is another JSON value, or an object that is neither a call nor an answer (RPC-02).
    Message,
}

impl Unreadable {
    /// Why the message of a host cannot be sent: the rule, and what is wrong.
    pub(super) fn misuse(self) -> (RuleId, &'static str) {
        match self {
            Unreadable::Syntax => (id!("RPC-21"), "the message is not JSON"),
            Unreadable::Batch if id!("HTTP-15").is_on(Way::Send) => (id!("HTTP-15"), "batches cannot be sent"),
            Unreadable::Batch | Unreadable::Message => (id!("RPC-22"), "the message is no call and no answer"),
        }
    }
}

impl From<SyntaxError> for Unreadable {
    fn from(_: SyntaxError) -> Self {
        Unreadable::Syntax
    }
}

impl<'a> Summary<'a> {
    /// Reads a text. All of it is checked to be JSON, and members that decide where it goes must not occur twice: readers
    /// differ in which of them counts.
    pub(super) fn read(text: &'a str) -> Result<Self, Unreadable> {
        let mut scanner = Scanner::new(text, MAX_DEPTH);
        let kind = scanner.peek()?;
        if kind != Kind::Object {
            scanner.skip()?;
            scanner.end()?;
            return Err(if kind == Kind::Array { Unreadable::Batch } else { Unreadable::Message });
        }
        let mut read = Members::default();
        let mut more = scanner.enter(Kind::Object)?;
        while more {
            let key = scanner.key()?.value();
            match &*key {
                "id" => {
                    let place = scanner.skip()?;
                    read.set(0, |read| {
                        read.id = Id::from_json(scanner.slice(place.clone()));
                        read.id_place = place;
                        // One that is none cannot be matched with anything.
                        read.wrong |= read.id.is_none();
                    });
                }
                "method" if scanner.peek()? == Kind::String => {
                    let method = scanner.string()?.value();
                    read.set(1, |read| read.method = Some(method));
                }
                "params" => {
                    let inside = inside(&mut scanner)?;
                    read.set(2, |read| read.params = inside);
                }
                "result" => {
                    let inside = inside(&mut scanner)?;
                    // One that is named twice is none, and nothing else of a result is of interest.
                    read.set(3, |read| (read.result, read.made) = (true, inside.session.filter(|_| !inside.twice)));
                }
                "error" => {
                    scanner.skip()?;
                    read.set(4, |read| read.error = true);
                }
                _ => {
                    read.wrong |= key == "method";
                    scanner.skip()?;
                }
            }
            more = scanner.more(Kind::Object)?;
        }
        scanner.end()?;
        read.summary().ok_or(Unreadable::Message)
    }
}

/// The members of a message that were found.
#[derive(Debug, Default)]
struct Members<'a> {
    seen: u8,
    wrong: bool,
    id: Option<Id>,
    id_place: Range<usize>,
    method: Option<Cow<'a, str>>,
    params: Inside<'a>,
    result: bool,
    /// The session that the result names.
    made: Option<Cow<'a, str>>,
    error: bool,
}

impl<'a> Members<'a> {
    fn set(&mut self, place: u8, set: impl FnOnce(&mut Self)) {
        self.wrong |= self.seen & 1 << place != 0;
        self.seen |= 1 << place;
        set(self);
    }

    fn summary(self) -> Option<Summary<'a>> {
        let Members { wrong, id, id_place, method, params, result, made, error, .. } = self;
        let long = |id: &Id| matches!(id, Id::String(text) if text.len() > NAME);
        let form = match (&method, &id, result, error) {
            (Some(_), Some(_), false, false) => Form::Request,
            (Some(_), None, false, false) => Form::Notification,
            (None, Some(_), true, false) => Form::Result,
            (None, Some(_), false, true) => Form::Error,
            _ => return None,
        };
        // An answer has no method.
        let known = method.as_deref().and_then(find);
        let method = method.unwrap_or_default();
        let params = if matches!(form, Form::Request | Form::Notification) { params } else { Inside::default() };
        if wrong || params.twice || method.len() > NAME || id.as_ref().is_some_and(long) {
            return None;
        }
        let session = params.session.filter(|_| known.is_none_or(|row| row.scoped));
        Some(Summary {
            form,
            id,
            id_place,
            session,
            made,
            cancels: params.request,
            cancels_place: params.request_place,
            effect: known.map(|row| row.effect).unwrap_or_default(),
            method,
        })
    }
}

/// What is read of params or a result.
#[derive(Debug, Default)]
struct Inside<'a> {
    session: Option<Cow<'a, str>>,
    request: Option<Id>,
    request_place: Range<usize>,
    twice: bool,
}

fn inside<'a>(scanner: &mut Scanner<'a>) -> Result<Inside<'a>, SyntaxError> {
    let mut found = Inside::default();
    if scanner.peek()? != Kind::Object {
        scanner.skip()?;
        return Ok(found);
    }
    let mut more = scanner.enter(Kind::Object)?;
    let (mut session, mut request) = (false, false);
    while more {
        let key = scanner.key()?;
        let kind = scanner.peek()?;
        if key.is("sessionId") {
            found.twice |= session;
            session = true;
            if kind == Kind::String {
                found.session = Some(scanner.string()?.value());
            } else {
                scanner.skip()?;
            }
        } else {
            let place = scanner.skip()?;
            if key.is("requestId") {
                found.twice |= request;
                request = true;
                found.request = Id::from_json(scanner.slice(place.clone()));
                found.request_place = place;
            }
        }
        more = scanner.more(Kind::Object)?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Summary<'_> {
        Summary::read(text).expect(text)
    }

    #[test]
    fn methods_belong_to_the_session_that_their_params_name() {
        for (method, scoped, effect) in [
            ("session/prompt", true, Effect::None),
            ("session/load", true, Effect::Attaches),
            ("session/resume", true, Effect::Attaches),
            ("session/fork", true, Effect::Makes),
            ("session/new", false, Effect::Makes),
            ("session/close", true, Effect::Ends),
            ("session/list", false, Effect::None),
            ("initialize", false, Effect::None),
            ("$/cancel_request", false, Effect::None),
            ("session/request_permission", true, Effect::None),
            ("elicitation/create", true, Effect::None),
            ("_own/method", true, Effect::None),
        ] {
            let text =
                format!(r#"{{"id":1,"method":"{method}","params":{{"a":[{{"sessionId":"x"}}],"sessionId":"s"}}}}"#);
            let summary = read(&text);
            assert_eq!((summary.session.is_some(), summary.effect), (scoped, effect), "{method}");
            assert_eq!(summary.form, Form::Request);
        }
        assert_eq!(read(r#"{"method":"elicitation/create","params":{}}"#).session, None);
        assert!(METHODS.windows(2).all(|two| two[0].name < two[1].name));
    }

    #[test]
    fn answers_are_told_apart() {
        let summary = read(r#" {"jsonrpc":"2.0","result":{"\u0073essionId":"a\u0062"},"id":"q"} "#);
        assert_eq!((summary.form, summary.id, summary.made.as_deref()), (Form::Result, Some("q".into()), Some("ab")));
        let summary = read(r#"{"id":null,"error":{"code":1}}"#);
        assert_eq!((summary.form, summary.id), (Form::Error, Some(Id::Null)));
        let summary = read(r#"{"method":"$/cancel_request","params":{"requestId":7}}"#);
        assert_eq!((summary.form, summary.cancels), (Form::Notification, Some(Id::Number(7))));
    }

    #[test]
    fn what_cannot_be_routed_is_told() {
        for (text, why) in [
            ("", Unreadable::Syntax),
            ("{", Unreadable::Syntax),
            ("[{]", Unreadable::Syntax),
            (r#"{"id":1,"method":"x"} x"#, Unreadable::Syntax),
            ("[]", Unreadable::Batch),
            (r#" [{"id":1,"method":"x"}]"#, Unreadable::Batch),
            ("7", Unreadable::Message),
            ("{}", Unreadable::Message),
            (r#"{"id":1}"#, Unreadable::Message),
            (r#"{"id":1,"result":1,"error":{}}"#, Unreadable::Message),
            (r#"{"result":1}"#, Unreadable::Message),
            (r#"{"id":1.5,"method":"x"}"#, Unreadable::Message),
            (r#"{"id":1,"method":7}"#, Unreadable::Message),
            (r#"{"id":1,"id":2,"method":"x"}"#, Unreadable::Message),
            (r#"{"id":1,"method":"x","method":"y"}"#, Unreadable::Message),
            (r#"{"id":1,"method":"x","params":{"sessionId":"a","sessionId":"b"}}"#, Unreadable::Message),
            (r#"{"id":1,"method":"x","params":{},"params":{"sessionId":"b"}}"#, Unreadable::Message),
        ] {
            assert_eq!(Summary::read(text), Err(why), "{text}");
        }
        let long = format!(r#"{{"id":"{}","method":"x"}}"#, "x".repeat(NAME + 1));
        assert_eq!(Summary::read(&long), Err(Unreadable::Message));
    }

    #[test]
    fn a_session_is_opened_again_as_the_agent_can() {
        for (result, way) in [
            (r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true}}"#, Some("session/load")),
            (r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":false}}"#, None),
            (
                r#"{"protocolVersion":1,"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"resume":{}}}}"#,
                Some("session/resume"),
            ),
            (r#"{"protocolVersion":1,"agentCapabilities":{"sessionCapabilities":{"resume":null}}}"#, None),
            (r#"{"protocolVersion":2,"capabilities":{"session":{}}}"#, Some("session/resume")),
            (r#"{"protocolVersion":2,"agentCapabilities":{"loadSession":true}}"#, None),
            (r#"{"agentCapabilities":{"loadSession":true}}"#, None),
        ] {
            assert_eq!(opens_again(result), way, "{result}");
        }
    }

    #[test]
    fn what_may_not_run_twice_is_not_repeated() {
        for method in ["session/list", "session/cancel", "$/cancel_request", "session/load", "initialize"] {
            assert!(may_repeat(method), "{method}");
        }
        for method in ["session/prompt", "session/new", "session/fork", "_own", "nes/accept"] {
            assert!(!may_repeat(method), "{method}");
        }
    }
}
