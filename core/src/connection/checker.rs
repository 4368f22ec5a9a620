//! Params and results held against the model while their envelope is read.

use std::ops::Range;
use std::sync::Arc;

use super::event::Json;
use super::mould::Holes;
use super::{Connection, State};
use crate::json::{Edits, Kind, Scanner, SyntaxError};
use crate::jsonrpc::{Body, Id};
use crate::rules::Way;
use crate::validation::table::{self, Method, TypeId};
use crate::validation::{Facts, Fail, Mode, Part, Problem, Walker};

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
    pub(super) facts: Facts,
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
pub(super) struct Checker<'c> {
    state: &'c State,
    mode: Mode,
    done: Option<(Walker, Option<Box<Problem>>)>,
    pub(super) row: Option<&'static Method>,
    /// Room for what a walk sees.
    pub(super) spare: Facts,
    /// The holes of a mould.
    pub(super) holes: Holes,
}

impl Checker<'_> {
    fn method(&self, name: &str) -> Option<&'static Method> {
        self.state.method(name)
    }

    /// Checks the value that comes next; afterwards the scanner stands behind it, whatever it was.
    fn check(&mut self, scanner: &mut Scanner<'_>, ty: TypeId, part: Part) -> Result<(), SyntaxError> {
        let mark = scanner.mark();
        let spare = std::mem::take(&mut self.spare);
        let mut walker = Walker::with(spare, self.state.tables, self.state.config.drafts, self.mode, part);
        walker.holes = Some(std::mem::take(&mut self.holes));
        let invalid = match walker.value(scanner, ty) {
            Ok(()) => None,
            Err(Fail::Syntax(error)) => return Err(error),
            Err(Fail::Invalid(problem)) => {
                scanner.rewind(mark);
                scanner.skip()?;
                Some(problem).filter(|problem| problem.rule.is_on(Way::Receive))
            }
        };
        if let (Some(mut holes), Some(session)) = (walker.holes.take(), walker.session()) {
            // The session is looked up by its id.
            holes.retain(|(hole, _)| *hole != session);
            self.holes = holes;
        }
        self.done = Some((walker, invalid));
        Ok(())
    }

    pub(super) fn finish(self, scanner: &Scanner<'_>) -> Result<Checked, SyntaxError> {
        let checked = self.done.is_some();
        let any = || Walker::new(self.state.tables, self.state.config.drafts, self.mode, Part::Notification);
        let (walker, invalid) = self.done.unwrap_or_else(|| (any(), None));
        let session = walker.session().map(|place| scanner.slice(place));
        let named = session.and_then(crate::json::unescape);
        let known = named.as_ref().and_then(|id| self.state.sessions.find(id));
        let open = known.is_some();
        let session = known.or_else(|| named.map(Arc::from));
        let update = walker.variant();
        let (edits, problems, facts) = walker.finish(scanner)?;
        Ok(Checked { edits, problems, invalid, session, open, update, facts, row: self.row, walked: checked })
    }
}

impl<'a> Body<'a> for Checker<'_> {
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

    pub(super) fn checker(&self) -> Checker<'_> {
        Checker {
            state: &self.state,
            mode: self.mode(),
            done: None,
            row: None,
            spare: Facts::default(),
            holes: Holes::new(),
        }
    }

    /// Checks one value of a text a second time: its place or its type was not known when the text was read.
    pub(super) fn check_again(
        &self,
        text: &str,
        range: &Range<usize>,
        ty: TypeId,
        part: Part,
    ) -> Result<Checked, SyntaxError> {
        let mut scanner = Scanner::at(text, range.start, self.state.config.limits.depth);
        let mut checker = self.checker();
        checker.check(&mut scanner, ty, part)?;
        checker.finish(&scanner)
    }
}
