//! One message, read: its envelope, and its params or result validated.

use std::borrow::Cow;
use std::ops::Range;

use super::body::{BodyValidator, Checked};
use super::template_cache::{CacheHit, ParsedCall, Scratch, TemplateCache};
use crate::engine::State;
use crate::json::{Kind, Scanner, SyntaxError};
use crate::jsonrpc::{Envelope, IdMember, Member, Version};
use crate::validation::table::Tables;
use crate::validation::Slots;

/// The members of one message. Places are those in its text.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) version: Version,
    pub(super) id: IdMember,
    pub(super) method: Member<Cow<'static, str>>,
    pub(super) params: Option<(Kind, Range<usize>)>,
    pub(super) result: Option<Range<usize>>,
    pub(super) error: Option<Range<usize>>,
    /// A member that stands there twice.
    pub(super) twice: Option<&'static str>,
    pub(super) checked: Checked,
}

impl Message {
    /// What a template of it has to give again; `None` unless it is a notification without anything to object to.
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

/// Reads and validates a text that is an object and matches no template; the scanner stands at its start. A text without
/// anything to object to may become a template.
pub(super) fn read(
    templates: &mut TemplateCache,
    state: &State,
    text: &str,
    scanner: Scanner<'_>,
) -> Result<Message, SyntaxError> {
    let (message, slots) = envelope(state, scanner, templates.take_scratch())?;
    if let Some(parsed) = message.as_parsed() {
        templates.insert(text, &parsed, &slots);
    }
    templates.recycle_slots(slots);
    Ok(message)
}

/// The message that a text is, if it matches a template whose session is still known.
#[inline]
pub(super) fn from_template(templates: &mut TemplateCache, state: &State, text: &str) -> Option<Message> {
    let CacheHit { row, update, session, field_index, params } = templates.lookup(text, state.tables)?;
    let session = Some(state.sessions.find(&session)?);
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

/// Reads the envelope. Params and result are validated in the same pass where it is known by then what they should be:
/// `method` and `id` most often come before them.
fn envelope(state: &State, mut scanner: Scanner<'_>, scratch: Scratch) -> Result<(Message, Slots), SyntaxError> {
    let mut body = BodyValidator::recording(state, scratch);
    let members = Envelope::read(&mut scanner, &mut body)?;
    scanner.end()?;
    let slots = body.slots.take().unwrap_or_default();
    let message = Message {
        version: members.version,
        id: members.id,
        method: match members.method {
            Member::Is(method) => Member::Is(match body.row {
                Some(row) if row.name == method => Cow::Borrowed(row.name),
                _ => static_name(state.tables, method),
            }),
            Member::Absent => Member::Absent,
            Member::Wrong => Member::Wrong,
        },
        params: members.params,
        result: members.result,
        error: members.error,
        twice: members.twice,
        checked: body.finish(&scanner)?,
    };
    Ok((message, slots))
}

/// A method's name, without an allocation where the model knows it.
fn static_name(tables: &Tables, name: Cow<'_, str>) -> Cow<'static, str> {
    match tables.methods.binary_search_by_key(&name.as_ref(), |row| row.name) {
        Ok(at) => Cow::Borrowed(tables.methods[at].name),
        Err(_) => Cow::Owned(name.into_owned()),
    }
}
