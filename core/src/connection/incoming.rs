//! Frames: from bytes to an envelope whose params or result have been checked.

use std::borrow::Cow;
use std::ops::Range;

use super::body::Checked;
use super::report::{Breach, Subject};
use super::template_cache::{CacheHit, ParsedCall, Slots};
use super::{Connection, Consequence};
use crate::engine::{Policy, Role};
use crate::framing::Item;
use crate::json::{self, Kind, Scanner, SyntaxError, SyntaxKind};
use crate::jsonrpc::{Envelope, ErrorCode, Id, IdMember, Member, Version, LONGEST_NAME};
use crate::rules::Way;
use crate::validation::table::Kind as Sort;
use crate::validation::FieldIndex;

impl Connection {
    pub(super) fn incoming(&mut self, item: Item) {
        self.frames += 1;
        self.begin_frame(match &item {
            Item::Frame(bytes) | Item::Tail(bytes) | Item::TooLong { head: bytes } => bytes,
            Item::ByteOrderMark | Item::OtherFraming => &[],
        });
        match item {
            Item::Frame(bytes) => self.frame(bytes),
            Item::Tail(bytes) => {
                let subject = Subject::default();
                let breach = Breach::new(id!("FRAME-11"), "the stream ended without a line end after its last message");
                self.report(&subject, breach, Consequence::Delivered);
                self.frame(bytes);
            }
            Item::TooLong { head } => {
                self.hide_secrets(&head);
                let subject = Subject::default();
                let breach = Breach::new(
                    id!("LIMIT-01"),
                    format!("a frame of more than {} bytes", self.state.config.limits.frame),
                );
                let other = !head.is_empty() && !head.trim_ascii_start().starts_with(b"{");
                let noise = self.state.config.role == Role::Client && other && !self.may_be_batch(&head);
                if may_be_call(&head) && !noise {
                    self.refuse(&subject, ErrorCode::PARSE_ERROR, breach);
                } else {
                    self.drop_message(&subject, breach);
                }
            }
            Item::ByteOrderMark => {
                let breach = Breach::new(id!("FRAME-12"), "a byte order mark at the start of the stream");
                self.report(&Subject::default(), breach, Consequence::Delivered);
                // The frame behind it has this number.
                self.frames -= 1;
            }
            Item::OtherFraming => {
                let lines = self.state.config.framing == crate::framing::Framing::Lines;
                let (rule, message) = if lines {
                    (
                        id!("FRAME-13"),
                        "Content-Length headers: the peer speaks LSP framing instead of one message a line",
                    )
                } else {
                    (id!("FRAME-14"), "a message without the Content-Length header that was agreed on")
                };
                self.report(&Subject::default(), Breach::new(rule, message), Consequence::Delivered);
                self.frames -= 1;
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
        if let Some(mut message) = self.from_template(&text) {
            return self.message(text, &mut message);
        }
        let scratch = std::mem::take(&mut self.scratch);
        let mut slots = std::mem::take(&mut self.slots);
        slots.clear();
        match self.read(scanner, scratch, slots) {
            Ok((mut message, slots)) => {
                if let Some(read) = message.as_parsed() {
                    self.templates.insert(&text, &read, &slots);
                }
                self.slots = slots;
                self.message(text, &mut message);
            }
            Err(error) => self.not_json(text.as_bytes(), error),
        }
    }

    /// The message that a text is, if it lies in a template and its session is still known.
    pub(super) fn from_template(&mut self, text: &str) -> Option<Message> {
        let CacheHit { row, update, session, field_index, params } =
            self.templates.lookup(text, self.state.tables, &mut self.scratch)?;
        let session = Some(self.state.sessions.find(&session)?);
        Some(Message {
            version: Version::Right,
            id: IdMember::Absent,
            method: Member::Is(row.name.into()),
            params: Some((Kind::Object, params)),
            result: None,
            error: None,
            twice: None,
            checked: Checked {
                session,
                open: true,
                update,
                field_index,
                row: Some(row),
                walked: true,
                ..Checked::default()
            },
        })
    }

    /// The envelope, and its params or result held against the model where it is known by then what they should be.
    fn read(
        &self,
        mut scanner: Scanner<'_>,
        scratch: FieldIndex,
        slots: Slots,
    ) -> Result<(Message, Slots), SyntaxError> {
        let mut body = self.body_validator();
        (body.scratch, body.slots) = (scratch, slots);
        let envelope = Envelope::read(&mut scanner, &mut body)?;
        scanner.end()?;
        let slots = std::mem::take(&mut body.slots);
        let message = Message {
            version: envelope.version,
            id: envelope.id,
            method: match envelope.method {
                Member::Is(method) => Member::Is(match body.row {
                    Some(row) if row.name == method => Cow::Borrowed(row.name),
                    _ => self.method_name(method),
                }),
                Member::Absent => Member::Absent,
                Member::Wrong => Member::Wrong,
            },
            params: envelope.params,
            result: envelope.result,
            error: envelope.error,
            twice: envelope.twice,
            checked: body.finish(&scanner)?,
        };
        Ok((message, slots))
    }

    /// The static name of a method that the model knows.
    fn method_name(&self, name: Cow<'_, str>) -> Cow<'static, str> {
        match self.state.tables.methods.binary_search_by_key(&name.as_ref(), |row| row.name) {
            Ok(at) => Cow::Borrowed(self.state.tables.methods[at].name),
            Err(_) => Cow::Owned(name.into_owned()),
        }
    }

    /// Sorts a message: request, notification, response, or none of them.
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
            self.hide_secrets(text.as_bytes());
        }
        let is_call = message.method != Member::Absent;
        let is_answer = message.result.is_some() || message.error.is_some();
        let named = matches!(&subject.id, Some(Id::String(id)) if id.len() > LONGEST_NAME);
        let long = named || subject.method.as_ref().is_some_and(|method| method.len() > LONGEST_NAME);
        if is_call && long && id!("LIMIT-07").is_on(Way::Receive) {
            let what = if named { "an id" } else { "a method" };
            let breach = Breach::new(id!("LIMIT-07"), format!("{what} of more than {LONGEST_NAME} bytes"));
            let method = subject.method.filter(|method| method.len() <= LONGEST_NAME);
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
                Some(Breach::new(id!("RPC-06"), "an id that is neither well-formed text nor a whole number of 64 bits"))
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
        self.hide_secrets(frame);
        let subject = Subject::default();
        let first = frame.iter().find(|b| !b.is_ascii_whitespace());
        let object = first == Some(&b'{');
        // An agent's stdout carries what its libraries print; a client's messages come from one writer.
        let other = !object && !self.may_be_batch(frame);
        if self.state.config.role == Role::Client && other && id!("FRAME-04").is_on(Way::Receive) {
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
        self.hide_secrets(text.as_bytes());
        let subject = Subject::default();
        let rule = if kind == Kind::Array { id!("FRAME-03") } else { id!("RPC-22") };
        self.refuse(
            &subject,
            ErrorCode::INVALID_REQUEST,
            Breach::new(rule, format!("{} instead of a message", kind.name())),
        );
    }
}

/// One message, read.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) version: Version,
    pub(super) id: IdMember,
    pub(super) method: Member<Cow<'static, str>>,
    pub(super) params: Option<(Kind, Range<usize>)>,
    pub(super) result: Option<Range<usize>>,
    pub(super) error: Option<Range<usize>>,
    pub(super) twice: Option<&'static str>,
    pub(super) checked: Checked,
}

impl Message {
    /// What it is as a notification that nothing is wrong with.
    fn as_parsed(&self) -> Option<ParsedCall<'_>> {
        let Checked { edits, problems, invalid, session, open, update, field_index, row, walked } = &self.checked;
        let call = self.id == IdMember::Absent && self.version == Version::Right && self.twice.is_none();
        let answer = self.result.is_some() || self.error.is_some();
        let right = edits.is_none() && problems.is_empty() && invalid.is_none() && *open && *walked;
        let params =
            self.params.as_ref().filter(|(kind, _)| call && right && !answer && *kind == Kind::Object)?.1.clone();
        Some(ParsedCall { row: (*row)?, update: *update, session: session.as_ref()?, field_index, params })
    }
}

/// Whether a text that cannot be read may have been a call: an answer to an answer could go round for ever.
fn may_be_call(frame: &[u8]) -> bool {
    let has = |name: &[u8]| crate::json::mentions(frame, name);
    has(b"\"method\"") || !(has(b"\"error\"") || has(b"\"result\""))
}
