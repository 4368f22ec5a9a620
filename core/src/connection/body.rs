//! Params and results, validated while their envelope is read.
//!
//! The envelope hands each value over as it meets it. If its type is known by then it is validated on the spot, in the one
//! pass over the text; otherwise it is skipped and [`revalidate`]d once the envelope is complete.

use std::ops::Range;
use std::sync::Arc;

use super::event::Json;
use super::template_cache::Scratch;
use crate::engine::State;
use crate::json::{Edits, Kind, Scanner, SyntaxError};
use crate::jsonrpc::{Body, Id};
use crate::rules::Way;
use crate::validation::table::{self, Method, TypeId};
use crate::validation::{Fail, FieldIndex, Mode, Part, Problem, Slots, Validator};

/// Params or a result, and what validation found.
#[derive(Debug, Default)]
pub(super) struct Checked {
    pub(super) edits: Option<Edits>,
    pub(super) problems: Vec<Problem>,
    pub(super) invalid: Option<Box<Problem>>,
    pub(super) session: Option<Arc<str>>,
    /// Whether that session is open.
    pub(super) open: bool,
    pub(super) update: Option<&'static str>,
    pub(super) field_index: FieldIndex,
    /// The method, if it was known when the params came.
    pub(super) row: Option<&'static Method>,
    /// `false` if the expected type was not known when the value was read: a result before its id, a method that the model
    /// does not have.
    pub(super) walked: bool,
}

impl Checked {
    /// The text to deliver.
    pub(super) fn json(&mut self, frame: String, range: Range<usize>) -> Json {
        match self.edits.take() {
            Some(edits) => Json::whole(edits.apply(&frame, range)),
            None => Json::new(frame, range),
        }
    }
}

/// Validates the params or the result of one envelope.
pub(super) struct BodyValidator<'c> {
    state: &'c State,
    mode: Mode,
    done: Option<(Validator, Option<Box<Problem>>)>,
    pub(super) row: Option<&'static Method>,
    /// What the validator fills; taken by the first value.
    field_index: FieldIndex,
    /// Records slots; `None` where nobody wants them.
    pub(super) slots: Option<Slots>,
}

impl<'c> BodyValidator<'c> {
    fn new(state: &'c State) -> Self {
        BodyValidator {
            state,
            mode: state.mode(),
            done: None,
            row: None,
            field_index: FieldIndex::default(),
            slots: None,
        }
    }

    /// One that fills these buffers, slots included.
    pub(super) fn recording(state: &'c State, scratch: Scratch) -> Self {
        let Scratch { field_index, slots } = scratch;
        BodyValidator { field_index, slots: Some(slots), ..BodyValidator::new(state) }
    }
}

impl BodyValidator<'_> {
    fn method(&self, name: &str) -> Option<&'static Method> {
        self.state.method(name)
    }

    /// Validates the next value. Afterwards the scanner stands behind it, whatever it was.
    fn check(&mut self, scanner: &mut Scanner<'_>, ty: TypeId, part: Part) -> Result<(), SyntaxError> {
        let mark = scanner.checkpoint();
        let field_index = std::mem::take(&mut self.field_index);
        let mut validator = Validator::with(field_index, self.state.tables, self.state.config.drafts, self.mode, part);
        validator.slots = self.slots.take();
        let invalid = match validator.value(scanner, ty) {
            Ok(()) => None,
            Err(Fail::Syntax(error)) => return Err(error),
            Err(Fail::Invalid(problem)) => {
                scanner.rewind(mark);
                scanner.skip()?;
                Some(problem).filter(|problem| problem.rule.is_on(Way::Receive))
            }
        };
        self.slots = validator.slots.take();
        if let (Some(slots), Some(session)) = (&mut self.slots, validator.session()) {
            // A template is for one session, which is looked up by its id.
            slots.exclude(&session);
        }
        self.done = Some((validator, invalid));
        Ok(())
    }

    pub(super) fn finish(self, scanner: &Scanner<'_>) -> Result<Checked, SyntaxError> {
        let checked = self.done.is_some();
        let any = || Validator::new(self.state.tables, self.state.config.drafts, self.mode, Part::Notification);
        let (validator, invalid) = self.done.unwrap_or_else(|| (any(), None));
        let session = validator.session().map(|place| scanner.slice(place));
        let named = session.and_then(crate::json::unescape);
        let known = named.as_ref().and_then(|id| self.state.sessions.find(id));
        let open = known.is_some();
        let session = known.or_else(|| named.map(Arc::from));
        let update = validator.variant();
        let (edits, problems, field_index) = validator.finish(scanner)?;
        Ok(Checked { edits, problems, invalid, session, open, update, field_index, row: self.row, walked: checked })
    }
}

impl<'a> Body<'a> for BodyValidator<'_> {
    fn params(&mut self, scanner: &mut Scanner<'a>, method: Option<&str>) -> Result<(), SyntaxError> {
        self.row = method.and_then(|name| self.method(name));
        match self.row.filter(|row| row.phase != table::Phase::Start) {
            Some(row) if scanner.peek()? == Kind::Object => self.check(scanner, row.params, part_of(row)),
            _ => scanner.skip().map(drop),
        }
    }

    fn result(&mut self, scanner: &mut Scanner<'a>, id: Option<&Id>) -> Result<(), SyntaxError> {
        let of = |id| self.state.outbound.get(id).or_else(|| self.state.late.get(id));
        let row = id.and_then(of).and_then(|request| request.row);
        match row.filter(|row| row.phase != table::Phase::Start) {
            Some(row) if scanner.peek()? != Kind::Null => self.check(scanner, row.result, Part::Response),
            _ => scanner.skip().map(drop),
        }
    }
}

fn part_of(row: &Method) -> Part {
    if row.kind == table::Kind::Request {
        Part::Request
    } else {
        Part::Notification
    }
}

/// Validates one value of a text once more: its place or its type was not known when the text was read.
pub(super) fn revalidate(
    state: &State,
    text: &str,
    range: &Range<usize>,
    ty: TypeId,
    part: Part,
) -> Result<Checked, SyntaxError> {
    let mut scanner = Scanner::at(text, range.start, state.config.limits.depth);
    let mut body = BodyValidator::new(state);
    body.check(&mut scanner, ty, part)?;
    body.finish(&scanner)
}
