//! Reading the members of a message in one pass.
//!
//! The pass hands `params` and `result` to the caller as it meets them. A caller that already knows their type checks
//! them at once; otherwise it skips them, and returns to them when the envelope is complete.

use std::borrow::Cow;
use std::ops::Range;

use super::Id;
use crate::json::{Kind, Scanner, SyntaxError};

/// The state of the `jsonrpc` member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Version {
    #[default]
    Missing,
    Right,
    Wrong,
}

/// The state of the `id` member.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum IdMember {
    #[default]
    Absent,
    Id(Id),
    /// A number with a fraction or an exponent.
    Fraction,
    /// Not an id: an object, a number beyond 64 bits, a string with a lone surrogate and so on.
    Invalid,
}

/// A member that may be present, have another type, or be absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) enum Member<T> {
    #[default]
    Absent,
    Is(T),
    /// A value of another type.
    Wrong,
}

/// The members of one message.
#[derive(Debug, Default)]
pub(crate) struct Envelope<'a> {
    pub(crate) version: Version,
    pub(crate) id: IdMember,
    pub(crate) method: Member<Cow<'a, str>>,
    pub(crate) params: Option<(Kind, Range<usize>)>,
    pub(crate) result: Option<Range<usize>>,
    pub(crate) error: Option<Range<usize>>,
    /// A member that occurs twice. `id` takes precedence, because then it is unclear which request is meant.
    pub(crate) twice: Option<&'static str>,
}

/// Receives `params` and `result` while the envelope is read.
pub(crate) trait Body<'a> {
    /// Reads the next value.
    fn params(&mut self, scanner: &mut Scanner<'a>, method: Option<&str>) -> Result<(), SyntaxError>;
    /// Reads the next value.
    fn result(&mut self, scanner: &mut Scanner<'a>, id: Option<&Id>) -> Result<(), SyntaxError>;
}

impl<'a> Envelope<'a> {
    /// Reads one object. The scanner is at its brace.
    pub(crate) fn read(scanner: &mut Scanner<'a>, body: &mut dyn Body<'a>) -> Result<Self, SyntaxError> {
        let mut envelope = Envelope::default();
        let mut more = scanner.enter(Kind::Object)?;
        while more {
            let key = scanner.key()?.value();
            let kind = scanner.peek()?;
            let start = scanner.checkpoint().offset();
            match key.as_ref() {
                "jsonrpc" => {
                    envelope.once("jsonrpc", envelope.version != Version::Missing);
                    let right = kind == Kind::String && scanner.string()?.is("2.0");
                    if kind != Kind::String {
                        scanner.skip()?;
                    }
                    envelope.version = if right { Version::Right } else { Version::Wrong };
                }
                "id" => {
                    envelope.once("id", envelope.id != IdMember::Absent);
                    let broken = scanner.lone_surrogates().len();
                    let place = scanner.skip()?;
                    let text = scanner.slice(place);
                    // A lone surrogate cannot be written back, and replacing it would make another id.
                    let whole = scanner.lone_surrogates().len() == broken;
                    let fraction = kind == Kind::Number && text.contains(['.', 'e', 'E']);
                    let other = if fraction { IdMember::Fraction } else { IdMember::Invalid };
                    envelope.id = Id::from_json(text).filter(|_| whole).map_or(other, IdMember::Id);
                }
                "method" => {
                    envelope.once("method", envelope.method != Member::Absent);
                    envelope.method = if kind == Kind::String {
                        Member::Is(scanner.string()?.value())
                    } else {
                        scanner.skip()?;
                        Member::Wrong
                    };
                }
                "params" => {
                    envelope.once("params", envelope.params.is_some());
                    let method = if let Member::Is(method) = &envelope.method { Some(method.as_ref()) } else { None };
                    body.params(scanner, method)?;
                    envelope.params = Some((kind, start..scanner.offset()));
                }
                "result" => {
                    envelope.once("result", envelope.result.is_some());
                    let id = if let IdMember::Id(id) = &envelope.id { Some(id) } else { None };
                    body.result(scanner, id)?;
                    envelope.result = Some(start..scanner.offset());
                }
                "error" => {
                    envelope.once("error", envelope.error.is_some());
                    envelope.error = Some(scanner.skip()?);
                }
                _ => {
                    scanner.skip()?;
                }
            }
            more = scanner.more(Kind::Object)?;
        }
        Ok(envelope)
    }

    fn once(&mut self, name: &'static str, again: bool) {
        if again && self.twice != Some("id") {
            self.twice = Some(name);
        }
    }
}
