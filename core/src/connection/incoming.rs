//! Frames: from bytes to messages, and the order in which a message is checked.

use super::parse::{from_template, read, Message};
use super::report::{Breach, Subject};
use super::{Connection, Consequence};
use crate::engine::{Policy, Role};
use crate::framing::Item;
use crate::json::{self, Kind, Scanner, SyntaxError, SyntaxKind};
use crate::jsonrpc::{ErrorCode, Id, IdMember, Member, Version, MAX_NAME_BYTES};
use crate::rules::Way;
use crate::validation::table::Kind as Sort;

impl Connection {
    pub(super) fn incoming(&mut self, item: Item) {
        self.receiving.begin(&item);
        match item {
            Item::Frame(bytes) => self.frame(bytes),
            Item::Tail(bytes) => {
                let subject = Subject::default();
                let breach = Breach::new(id!("FRAME-11"), "the stream ended without a line end after its last message");
                self.report(&subject, breach, Consequence::Delivered);
                self.frame(bytes);
            }
            Item::TooLong { head } => {
                self.receiving.hide_secrets(&head);
                let subject = Subject::default();
                let breach = Breach::new(
                    id!("LIMIT-01"),
                    format!("a frame of more than {} bytes", self.state.config.limits.frame),
                );
                let other = !head.is_empty() && !head.trim_ascii_start().starts_with(b"{");
                let noise = self.state.config.role() == Role::Client && other && !self.may_be_batch(&head);
                if may_be_call(&head) && !noise {
                    self.refuse(&subject, ErrorCode::PARSE_ERROR, breach);
                } else {
                    self.drop_message(&subject, breach);
                }
            }
            Item::ByteOrderMark => {
                let breach = Breach::new(id!("FRAME-12"), "a byte order mark at the start of the stream");
                self.report(&Subject::default(), breach, Consequence::Delivered);
            }
            Item::OtherFraming => {
                let lines = self.state.config.framing == crate::framing::Framing::Lines;
                let (rule, message) = if lines {
                    (
                        id!("FRAME-13"),
                        "Content-Length headers: the peer uses LSP framing instead of one message per line",
                    )
                } else {
                    (id!("FRAME-14"), "a message without the Content-Length header that was agreed on")
                };
                self.report(&Subject::default(), Breach::new(rule, message), Consequence::Delivered);
            }
        }
    }

    fn frame(&mut self, bytes: Vec<u8>) {
        match json::text(bytes) {
            Ok(text) => self.text(text),
            Err(error) if !id!("FRAME-01").is_on(Way::Receive) => {
                self.text(String::from_utf8_lossy(error.as_bytes()).into_owned());
            }
            Err(error) => {
                let offset = error.utf8_error().valid_up_to();
                self.not_json(error.as_bytes(), SyntaxError { offset, kind: SyntaxKind::Utf8 });
            }
        }
    }

    pub(super) fn text(&mut self, text: String) {
        let mut scanner = Scanner::new(&text, self.state.config.limits.depth);
        match scanner.peek() {
            Ok(Kind::Object) => {}
            Ok(kind) => {
                let whole = scanner.skip().and_then(|_| scanner.end());
                return match whole {
                    Ok(()) if kind == Kind::Array && self.takes_batches() => self.batch(&text),
                    Ok(()) => self.not_an_object(kind, &text),
                    Err(error) => self.not_json(text.as_bytes(), error),
                };
            }
            Err(error) => return self.not_json(text.as_bytes(), error),
        }
        // The message stays where it is made: it is large, and a copy would cost as much as some of the checks.
        if let Some(mut message) = from_template(&mut self.receiving.templates, &self.state, &text) {
            return self.message(text, &mut message);
        }
        match read(&mut self.receiving.templates, &self.state, &text, scanner) {
            Ok(mut message) => self.message(text, &mut message),
            Err(error) => self.not_json(text.as_bytes(), error),
        }
    }

    /// Sorts a message: request, notification, response, or none of them.
    ///
    /// The order of the checks is the protocol's precedence. Each answer names one rule, so the first fault counts, and it
    /// must be one that can be answered without doing harm:
    ///
    /// 1. Names that are too long (LIMIT-07), as whatever comes later keeps or repeats them.
    /// 2. An id that is open (RPC-10) and a call that is an answer as well (RPC-02): an answer with that id would end another
    ///    request, of either side. So the refusal has no id.
    /// 3. Answers leave here. One without result and error (RPC-03) still ends its request, so that nobody waits for ever.
    /// 4. Members that stand twice (RPC-02), then bad ids (RPC-06 to RPC-08): what is refused from here on is refused by its
    ///    id, so it must be known which one that is.
    /// 5. A method that is not a string (RPC-02), and last the version (RPC-01): a tolerant host reports that one and goes on.
    ///
    /// What depends on the method is checked by [`call`](Self::call).
    fn message(&mut self, text: String, message: &mut Message) {
        let mut subject = Subject::default();
        if let IdMember::Id(id) = &message.id {
            subject.id = Some(id.clone());
        }
        if let Member::Is(method) = &message.method {
            subject.method = Some(method.clone());
        }
        subject.session.clone_from(&message.checked.session);
        if message.twice.is_some() {
            self.receiving.hide_secrets(text.as_bytes());
        }
        let is_call = message.method != Member::Absent;
        let is_answer = message.result.is_some() || message.error.is_some();
        let named = matches!(&subject.id, Some(Id::String(id)) if id.len() > MAX_NAME_BYTES);
        let long = named || subject.method.as_ref().is_some_and(|method| method.len() > MAX_NAME_BYTES);
        if is_call && long && id!("LIMIT-07").is_on(Way::Receive) {
            let what = if named { "an id" } else { "a method" };
            let breach = Breach::new(id!("LIMIT-07"), format!("{what} of more than {MAX_NAME_BYTES} bytes"));
            let method = subject.method.filter(|method| method.len() <= MAX_NAME_BYTES);
            let subject = Subject { id: subject.id.filter(|_| !named), method, session: subject.session };
            return if message.id == IdMember::Absent {
                self.drop_message(&subject, breach);
            } else {
                self.refuse(&subject, ErrorCode::INVALID_REQUEST, breach);
            };
        }
        if let (true, Some(id)) = (is_call, &subject.id) {
            let is_open = self.state.inbound.get(id).is_some() || self.repeats.has(id);
            if is_open && id!("RPC-10").is_on(Way::Receive) {
                // An answer with this id would end the first request, so the refusal carries none.
                let breach = Breach::new(id!("RPC-10"), format!("the id {id} names a request that is still open"));
                let anonymous = Subject { id: None, ..subject };
                return self.refuse(&anonymous, ErrorCode::INVALID_REQUEST, breach);
            }
        }
        if is_call && is_answer && id!("RPC-02").is_on(Way::Receive) {
            let breach = Breach::new(id!("RPC-02"), "both a call and an answer");
            return self.refuse(&Subject { id: None, ..subject }, ErrorCode::INVALID_REQUEST, breach);
        }
        if is_answer && !is_call {
            return self.answer(text, message, &subject);
        }
        if let (false, Some(id)) = (is_call, &subject.id) {
            let open = self.state.outbound.remove(id).or_else(|| self.take_late(id));
            if let Some(request) = open.filter(|_| id!("RPC-03").is_on(Way::Receive)) {
                let (method, session) = (Some(request.method.clone()), request.session.clone());
                let subject = Subject { method, session, ..subject };
                return self.unusable(request, &subject, Breach::new(id!("RPC-03"), "neither a result nor an error"));
            }
        }
        if !is_call {
            let breach = Breach::new(id!("RPC-02"), "neither method nor result nor error");
            return self.refuse(&Subject { id: None, ..subject }, ErrorCode::INVALID_REQUEST, breach);
        }
        if let Some(name) = message.twice.filter(|_| id!("RPC-02").is_on(Way::Receive)) {
            let id = if name == "id" { None } else { subject.id.take() };
            let breach = Breach::new(id!("RPC-02"), format!("the member {name} twice"));
            if message.id == IdMember::Absent {
                return self.drop_message(&subject, breach);
            }
            return self.refuse(&Subject { id, ..subject }, ErrorCode::INVALID_REQUEST, breach);
        }
        let bad_id = match message.id {
            IdMember::Fraction => Some(Breach::new(id!("RPC-08"), "an id with a fraction or an exponent")),
            IdMember::Invalid => {
                Some(Breach::new(id!("RPC-06"), "an id that is neither a well-formed string nor a 64-bit integer"))
            }
            IdMember::Id(Id::Null) if self.forbids_null(message) => {
                Some(Breach::new(id!("RPC-07"), "a request with the id null"))
            }
            IdMember::Absent | IdMember::Id(_) => None,
        };
        if let Some(breach) = bad_id {
            return self.refuse(&subject, ErrorCode::INVALID_REQUEST, breach);
        }
        if message.method == Member::Wrong {
            let breach = Breach::new(id!("RPC-02"), "a method that is not a string");
            return self.refuse(&Subject { id: None, ..subject }, ErrorCode::INVALID_REQUEST, breach);
        }
        let version = match message.version {
            Version::Right => None,
            Version::Missing => Some("no jsonrpc member"),
            Version::Wrong => Some("a jsonrpc member that is not \"2.0\""),
        };
        if let Some(wrong) = version.filter(|_| id!("RPC-01").is_on(Way::Receive)) {
            let breach = Breach::new(id!("RPC-01"), wrong);
            if self.state.config.policy_for(id!("RPC-01")) != Policy::Strict {
                self.report(&subject, breach, Consequence::Delivered);
            } else if subject.id.is_some() {
                return self.refuse(&subject, ErrorCode::INVALID_REQUEST, breach);
            } else {
                return self.drop_message(&subject, breach);
            }
        }
        self.call(text, message, subject);
    }

    /// RPC-07: not every version has the id null. With it, a notification is wrong for having an id at all (RPC-29).
    fn forbids_null(&self, message: &Message) -> bool {
        let Member::Is(method) = &message.method else { return false };
        let tells = self.state.method(method).is_some_and(|row| row.kind == Sort::Notification);
        !self.state.tables.dialect.null_ids && !tells && id!("RPC-07").is_on(Way::Receive)
    }

    /// Text that is not JSON (RPC-21), or noise between messages (FRAME-04).
    fn not_json(&mut self, frame: &[u8], error: SyntaxError) {
        self.receiving.hide_secrets(frame);
        let subject = Subject::default();
        let first = frame.iter().find(|b| !b.is_ascii_whitespace());
        let object = first == Some(&b'{');
        // An agent's stdout carries what its libraries print; a client's messages come from one writer.
        let other = !object && !self.may_be_batch(frame);
        if self.state.config.role() == Role::Client && other && id!("FRAME-04").is_on(Way::Receive) {
            let breach = Breach::new(id!("FRAME-04"), "a line that is not a message: output that belongs on stderr?");
            return match self.state.config.policy_for(id!("FRAME-04")) {
                Policy::Tolerant | Policy::Off => self.drop_message(&subject, breach),
                Policy::Strict => self.refuse(&subject, ErrorCode::PARSE_ERROR, breach),
            };
        }
        let rule = match error.kind {
            SyntaxKind::Utf8 | SyntaxKind::Surrogate => id!("FRAME-01"),
            SyntaxKind::Depth => id!("LIMIT-02"),
            _ if !object && first != Some(&b'[') => id!("FRAME-05"),
            _ => id!("RPC-21"),
        };
        let breach = Breach::new(rule, error.to_string());
        if may_be_call(frame) {
            self.refuse(&subject, ErrorCode::PARSE_ERROR, breach);
        } else {
            self.drop_message(&subject, breach);
        }
    }

    /// JSON that cannot be a message (RPC-22, FRAME-03).
    fn not_an_object(&mut self, kind: Kind, text: &str) {
        self.receiving.hide_secrets(text.as_bytes());
        let subject = Subject::default();
        let rule = if kind == Kind::Array { id!("FRAME-03") } else { id!("RPC-22") };
        self.refuse(
            &subject,
            ErrorCode::INVALID_REQUEST,
            Breach::new(rule, format!("{} instead of a message", kind.name())),
        );
    }
}

/// Whether a text that cannot be read may have been a call: an answer to an answer could go round for ever.
fn may_be_call(frame: &[u8]) -> bool {
    let has = |name: &[u8]| crate::json::mentions(frame, name);
    has(b"\"method\"") || !(has(b"\"error\"") || has(b"\"result\""))
}
