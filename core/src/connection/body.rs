//! Params and results held against the model while their envelope is read.

use std::ops::Range;
use std::sync::Arc;

use super::event::Json;
use super::template_cache::Slots;
use super::{Connection, State};
use crate::json::{Edits, Kind, Scanner, SyntaxError};
use crate::jsonrpc::{Body, Id};
use crate::rules::Way;
use crate::validation::table::{self, Method, TypeId};
use crate::validation::{Fail, FieldIndex, Mode, Part, Problem, Validator};

/// Params or a result, checked.
#[derive(Debug, Default)]
pub(super) struct Checked {
    pub(super) edits: Option<Edits>,
    pub(super) problems: Vec<Problem>,
    pub(super) invalid: Option<Box<Problem>>,
    pub(super) session: Option<Arc<str>>,
    /// Whether that session is known.
    pub(super) open: bool,
    pub(super) update: Option<&'static str>,
    pub(super) field_index: FieldIndex,
    /// The method, if it was known when the params came.
    pub(super) row: Option<&'static Method>,
    /// Whether it was checked against a type; otherwise nobody knew yet what it should be.
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

/// What the core knows when it checks a value.
pub(super) struct BodyValidator<'c> {
    state: &'c State,
    mode: Mode,
    done: Option<(Validator, Option<Box<Problem>>)>,
    pub(super) row: Option<&'static Method>,
    /// Room for what a walk sees.
    pub(super) scratch: FieldIndex,
    /// The slots of a template.
    pub(super) slots: Slots,
}

impl BodyValidator<'_> {
    fn method(&self, name: &str) -> Option<&'static Method> {
        self.state.method(name)
    }

    /// Checks the value that comes next; afterwards the scanner stands behind it, whatever it was.
    fn check(&mut self, scanner: &mut Scanner<'_>, ty: TypeId, part: Part) -> Result<(), SyntaxError> {
        let mark = scanner.checkpoint();
        let scratch = std::mem::take(&mut self.scratch);
        let mut validator = Validator::with(scratch, self.state.tables, self.state.config.drafts, self.mode, part);
        validator.slots = Some(std::mem::take(&mut self.slots));
        let invalid = match validator.value(scanner, ty) {
            Ok(()) => None,
            Err(Fail::Syntax(error)) => return Err(error),
            Err(Fail::Invalid(problem)) => {
                scanner.rewind(mark);
                scanner.skip()?;
                Some(problem).filter(|problem| problem.rule.is_on(Way::Receive))
            }
        };
        if let (Some(mut slots), Some(session)) = (validator.slots.take(), validator.session()) {
            // The session is looked up by its id.
            slots.retain(|(slot, _)| *slot != session);
            self.slots = slots;
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

impl Connection {
    pub(super) fn mode(&self) -> Mode {
        match self.state.config.repaired() {
            [true, true, true] => Mode::Tolerant,
            [false, false, false] => Mode::Strict,
            some => Mode::Mixed(some),
        }
    }

    pub(super) fn body_validator(&self) -> BodyValidator<'_> {
        BodyValidator {
            state: &self.state,
            mode: self.mode(),
            done: None,
            row: None,
            scratch: FieldIndex::default(),
            slots: Slots::new(),
        }
    }

    /// Checks one value of a text a second time: its place or its type was not known when the text was read.
    pub(super) fn revalidate(
        &self,
        text: &str,
        range: &Range<usize>,
        ty: TypeId,
        part: Part,
    ) -> Result<Checked, SyntaxError> {
        let mut scanner = Scanner::at(text, range.start, self.state.config.limits.depth);
        let mut checker = self.body_validator();
        checker.check(&mut scanner, ty, part)?;
        checker.finish(&scanner)
    }
}
