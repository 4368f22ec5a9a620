//! Checking one value against one type, in one pass.
//!
//! Theory of operation. A value that does not fit makes its function return `Fail::Invalid`, and the path of the
//! problem grows as the error propagates. The first ancestor that the model marks as lenient catches it: it returns to
//! the start of its member or item, skips it as plain JSON, removes it from the text by an edit, and records the
//! problem. If no ancestor is lenient, the whole value is refused. Recorded problems get their outer path steps as each
//! container is left.
//!
//! Read `choose` next (unions, and types with alternatives), then `naming` (which rule a problem breaks).

pub(super) mod names;
mod naming;
mod object;
pub(crate) mod scalar;

use std::borrow::Cow;
use std::ops::Range;

use super::field_index::FieldIndex;
use super::problem::{Problem, Segment};
use super::slots::Slots;
use super::table::{Tables, Type, TypeId};
use super::validator::scalar::ROOM;
use super::words::{expected, general, integer_within, number_within, one_of, specific};
use super::{DraftSet, Mode, Part};
use crate::json::{Checkpoint, Edits, Kind, ListEditor, Scanner, SyntaxError, Text};
use crate::map::StringMap;
use crate::nearest::nearest;
use crate::rules::{RuleId, Way};
use names::{same, TWICE};

/// Why validation ended early.
#[derive(Debug)]
pub(crate) enum Fail {
    /// The text is not JSON, and the frame is lost.
    Syntax(SyntaxError),
    /// The value does not fit.
    Invalid(Box<Problem>),
}

impl From<SyntaxError> for Fail {
    fn from(error: SyntaxError) -> Self {
        Fail::Syntax(error)
    }
}

pub(super) type Walk = Result<(), Fail>;

/// The maximum number of problems reported per value. A hostile list could have millions.
const MAX_PROBLEMS: usize = 32;

/// Checks values, and collects edits, problems and what the connection needs to know.
#[derive(Debug)]
pub(crate) struct Validator {
    tables: &'static Tables,
    drafts: DraftSet,
    pub(super) mode: Mode,
    part: Part,
    /// The number of lenient ancestors of the current value.
    lenient: u32,
    pub(super) edits: Edits,
    pub(super) problems: Vec<Problem>,
    /// The number of problems beyond [`MAX_PROBLEMS`].
    suppressed: usize,
    /// The position of the outermost object's `sessionId`, with its quotes.
    pub(super) session: Option<Range<usize>>,
    pub(super) depth: u32,
    pub(super) variant: Option<&'static str>,
    /// What unions have read of the next object. Only kept for the host's own messages.
    pub(super) read: Read,
    pub(super) field_index: FieldIndex,
    /// The start of the name of the outermost object's member that is being checked.
    within: Option<usize>,
    /// The number of lists and maps around the current value.
    pub(super) lists: u32,
    /// The rules that a problem with the current value may be given. Only kept where they decide what happens.
    pub(super) naming: Naming,
    /// Records slots; `None` where nobody wants them.
    pub(crate) slots: Option<Slots>,
}

/// The positions of a member: its name without the quotes, and its value.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) name: Range<usize>,
    pub(super) escaped: bool,
    pub(super) value: Range<usize>,
}

impl Seen {
    fn text<'a>(&self, scanner: &Scanner<'a>) -> Text<'a> {
        Text { raw: scanner.slice(self.name.clone()), escaped: self.escaped }
    }
}

/// The rules that the model names for the members around a value.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Naming {
    /// The innermost of them.
    pub(super) around: Option<RuleId>,
    /// The rule of the member whose value this is.
    pub(super) here: Option<RuleId>,
}

/// Members of an object that are legitimate although they are not among its fields.
#[derive(Debug, Clone, Default)]
pub(super) struct Read {
    /// The tags of the unions that it belongs to.
    pub(super) tags: Vec<&'static str>,
    /// Its tag belongs to an extension, and so do its members.
    pub(super) extension: bool,
}

impl Validator {
    pub(crate) fn new(tables: &'static Tables, drafts: DraftSet, mode: Mode, part: Part) -> Self {
        Validator::with(FieldIndex::default(), tables, drafts, mode, part)
    }

    /// As `new`, filling an index whose allocation is reused.
    pub(crate) fn with(
        field_index: FieldIndex,
        tables: &'static Tables,
        drafts: DraftSet,
        mode: Mode,
        part: Part,
    ) -> Self {
        Validator {
            tables,
            drafts,
            mode,
            part,
            lenient: 0,
            edits: Edits::default(),
            problems: Vec::new(),
            suppressed: 0,
            session: None,
            depth: 0,
            variant: None,
            read: Read::default(),
            field_index,
            within: None,
            lists: 0,
            naming: Naming::default(),
            slots: None,
        }
    }

    /// The position of the outermost object's `sessionId`, with its quotes.
    pub(crate) fn session(&self) -> Option<Range<usize>> {
        self.session.clone()
    }

    /// The tag of the outermost union, if the model knows it.
    pub(crate) fn variant(&self) -> Option<&'static str> {
        self.variant
    }

    /// Whether it is a value of the host or of the peer.
    pub(super) fn way(&self) -> Way {
        Way::of(self.mode == Mode::Send)
    }

    /// The edits to make (including those for lone surrogates), the problems, and the index of members.
    pub(crate) fn finish(
        mut self,
        scanner: &Scanner<'_>,
    ) -> Result<(Option<Edits>, Vec<Problem>, FieldIndex), SyntaxError> {
        let lone = scanner.lone_surrogates().first().filter(|_| id!("FRAME-01").is_on(self.way()));
        if let Some(&first) = lone {
            if !self.repairs(id!("FRAME-01")) {
                return Err(SyntaxError { offset: first, kind: crate::json::SyntaxKind::Surrogate });
            }
            for &at in scanner.lone_surrogates() {
                self.edits.push(at..at + 6, "\\ufffd");
            }
            let found = "a lone surrogate, replaced by U+FFFD";
            self.file(Problem::new(id!("FRAME-01"), "well-formed Unicode", found));
        }
        if cfg!(feature = "prove") {
            let way = self.way();
            self.problems.retain(|problem| problem.rule.is_on(way));
        }
        if self.suppressed > 0 {
            let expected =
                format!("no more than {MAX_PROBLEMS} problems; {} more were treated in the same way", self.suppressed);
            self.problems.push(Problem::new(id!("LIMIT-06"), expected, "more"));
        }
        let edits = if self.edits.is_empty() { None } else { Some(self.edits) };
        if edits.is_some() {
            self.field_index.invalidate();
        }
        Ok((edits, self.problems, self.field_index))
    }

    pub(super) fn file(&mut self, problem: Problem) {
        if self.problems.len() < MAX_PROBLEMS || !id!("LIMIT-06").is_on(self.way()) {
            self.problems.push(problem);
        } else {
            self.suppressed += 1;
        }
    }

    /// Whether a value that breaks this rule is repaired or accepted, and reported.
    pub(super) fn repairs(&self, rule: RuleId) -> bool {
        match self.mode {
            Mode::Tolerant => true,
            Mode::Send | Mode::Strict => false,
            Mode::Mixed(repaired) => repaired[self.finally(rule).rule().severity as usize],
        }
    }

    /// The rule that a problem with the current value will finally have (see [`name`](Self::name)).
    fn finally(&self, rule: RuleId) -> RuleId {
        let Naming { around, here } = self.naming;
        if rule == self.rule() {
            around.unwrap_or(rule)
        } else {
            here.filter(|_| general(rule)).unwrap_or(rule)
        }
    }

    pub(super) fn invalid(&self, expected: impl Into<Cow<'static, str>>, found: &'static str) -> Fail {
        Fail::Invalid(Box::new(Problem::new(self.rule(), expected, found)))
    }

    fn rule(&self) -> RuleId {
        match self.part {
            Part::Request => id!("RPC-20"),
            Part::Notification | Part::Response => id!("ENUM-10"),
        }
    }

    /// Checks the next value.
    pub(crate) fn value(&mut self, scanner: &mut Scanner<'_>, ty: TypeId) -> Walk {
        let kind = scanner.peek()?;
        let owner = ty;
        let ty = &self.tables.types[usize::from(ty)];
        let start = scanner.offset();
        match (ty, kind) {
            (Type::Any, _) | (Type::Boolean, Kind::Boolean) => {
                scanner.skip()?;
            }
            (Type::Integer { min, max }, Kind::Number) => {
                let text = scanner.number()?;
                if !integer_within(text, *min, *max) {
                    self.other_integer(start, text, id!("RPC-34"), ty, (*min, *max))?;
                }
            }
            (Type::Line, Kind::Number) => self.line(scanner)?,
            (Type::Number { bounds }, Kind::Number) => {
                if !number_within(scanner.number()?, *bounds) {
                    return Err(self.invalid(expected(ty), "a number outside of that range"));
                }
            }
            (Type::String(kind), Kind::String) => self.string(scanner, *kind)?,
            (Type::Enum { values, open }, Kind::String) => {
                let text = scanner.string()?;
                if !values.iter().any(|value| text.is(value)) {
                    return self.unknown(owner, *open, text, || values.to_vec());
                }
            }
            (Type::Array { item, min }, Kind::Array) => return self.array(scanner, *item, *min, false),
            (Type::Map { value }, Kind::Object) => return self.map(scanner, *value),
            (Type::Object { fields }, Kind::Object) => return self.object(scanner, owner, fields),
            (Type::Union { tag, variants, other, untagged }, Kind::Object) => {
                return self.union(scanner, owner, tag, variants, *other, *untagged);
            }
            (Type::AnyOf { of }, _) => return self.any_of(scanner, of),
            _ => return Err(self.invalid(expected(ty), kind.name())),
        }
        if matches!(ty, Type::Any) && scanner.room() < ROOM {
            self.discard_slots();
        }
        if let Some(slots) = &mut self.slots {
            slots.record(start..scanner.offset(), owner);
        }
        Ok(())
    }

    /// A value that the model does not list: legal, let through with a report, or refused.
    pub(super) fn unknown(
        &mut self,
        ty: TypeId,
        open: bool,
        text: Text<'_>,
        words: impl FnOnce() -> Vec<&'static str>,
    ) -> Walk {
        let extension = text.value().starts_with('_');
        let found = if extension { "an extension value" } else { "an unknown value" };
        let legal = open && (extension || self.mode != Mode::Send);
        let named = self.rule_of_unknown(ty);
        if legal || named.is_some_and(|rule| !rule.is_on(self.way())) {
            return Ok(());
        }
        let rule = named.unwrap_or(if open { id!("ENUM-01") } else { self.closed() });
        let words = words();
        let near = nearest(&text.value(), words.iter().copied()).filter(|_| self.mode == Mode::Send);
        let problem = Problem::new(rule, one_of(words.into_iter()), found).near(near);
        // Values that the agent itself has listed may be sent back to it; the connection checks that.
        let keep = match self.mode {
            Mode::Send => rule == id!("PROV-11"),
            _ => self.part != Part::Request && self.lenient == 0 && self.repairs(rule),
        };
        if keep {
            self.file(problem);
            Ok(())
        } else {
            Err(Fail::Invalid(Box::new(problem)))
        }
    }

    /// The rule that a value breaks which the schema does not list, where it lists all there are.
    fn closed(&self) -> RuleId {
        let rules = [id!("ENUM-07"), id!("ENUM-03")];
        let of_this = |rule: &&RuleId| rule.rule().versions.contains(self.tables.version);
        rules.iter().find(of_this).copied().unwrap_or(id!("ENUM-07"))
    }

    fn array(&mut self, scanner: &mut Scanner<'_>, item: TypeId, min: u8, skip: bool) -> Walk {
        let mut trim = ListEditor::default();
        let (mut index, mut kept) = (0usize, 0usize);
        let mut more = scanner.enter(Kind::Array)?;
        self.naming.here = None;
        self.lists += 1;
        while more {
            let mark = scanner.checkpoint();
            let before = self.problems.len();
            let name = |_: &Self, problem: &mut Problem| problem.rule = specific(problem.rule, id!("ENUM-09"));
            let bad = self.lenient(scanner, mark, skip, name, |validator, scanner| validator.value(scanner, item));
            let place = mark.offset()..scanner.offset();
            match bad {
                Ok(None) => {
                    kept += 1;
                    trim.keep(place, &mut self.edits);
                }
                Ok(Some(problem)) if problem.rule.is_on(self.way()) => {
                    self.file(*problem);
                    trim.drop(place, &mut self.edits);
                }
                Ok(Some(_)) => trim.keep(place, &mut self.edits),
                Err(fail) => return Err(within(fail, Segment::Index(index))),
            }
            for problem in &mut self.problems[before..] {
                problem.within(Segment::Index(index));
            }
            index += 1;
            more = scanner.more(Kind::Array)?;
        }
        self.lists -= 1;
        trim.finish(&mut self.edits);
        if kept < usize::from(min) {
            return Err(self.invalid(format!("a list of at least {min}"), "a shorter list"));
        }
        Ok(())
    }

    fn map(&mut self, scanner: &mut Scanner<'_>, value: TypeId) -> Walk {
        let mut more = scanner.enter(Kind::Object)?;
        self.naming.here = None;
        self.lists += 1;
        // If the values may be anything, duplicate names are no problem either.
        let mut names = if matches!(self.type_of(value), Type::Any) { None } else { Some(StringMap::default()) };
        while more {
            let key = scanner.key()?.value();
            let before = self.problems.len();
            if let Some(names) = &mut names {
                let mark = scanner.checkpoint();
                let place = scanner.skip()?;
                let text = scanner.slice(place);
                if names.get(&key).is_some_and(|known| !same(known, text)) {
                    let fail = self.invalid("this name once", TWICE);
                    return Err(within(fail, Segment::Key(key.as_ref().into())));
                }
                names.put(key.clone(), text);
                scanner.rewind(mark);
            }
            self.value(scanner, value).map_err(|fail| within(fail, Segment::Key(key.as_ref().into())))?;
            for problem in &mut self.problems[before..] {
                problem.within(Segment::Key(key.as_ref().into()));
            }
            more = scanner.more(Kind::Object)?;
        }
        self.lists -= 1;
        Ok(())
    }

    pub(super) fn type_of(&self, ty: TypeId) -> &'static Type {
        &self.tables.types[usize::from(ty)]
    }

    /// Runs a check; if it fails and leniency applies here, to the rule as it is once the problem is named, moves
    /// behind the value as if it were any JSON.
    fn lenient<'s>(
        &mut self,
        scanner: &mut Scanner<'s>,
        mark: Checkpoint,
        applies: bool,
        name: impl FnOnce(&Self, &mut Problem),
        check: impl FnOnce(&mut Self, &mut Scanner<'s>) -> Walk,
    ) -> Result<Option<Box<Problem>>, Fail> {
        let applies = applies && matches!(self.mode, Mode::Tolerant | Mode::Mixed(_));
        let (edits, problems, depth, lists) = (self.edits.len(), self.problems.len(), self.depth, self.lists);
        self.lenient += u32::from(applies);
        let outcome = check(self, scanner);
        self.lenient -= u32::from(applies);
        match outcome {
            Ok(()) => Ok(None),
            Err(Fail::Invalid(problem)) if applies => {
                let mut named = problem.clone();
                name(self, &mut named);
                if !self.repairs(named.rule) {
                    return Err(Fail::Invalid(problem));
                }
                self.discard_slots();
                self.edits.truncate(edits);
                self.problems.truncate(problems);
                self.depth = depth;
                self.lists = lists;
                scanner.rewind(mark);
                scanner.skip()?;
                Ok(Some(named))
            }
            Err(fail) => Err(fail),
        }
    }

    /// What was seen does not say how another text would be read.
    pub(super) fn discard_slots(&mut self) {
        if let Some(slots) = &mut self.slots {
            slots.discard();
        }
    }

    pub(super) fn is_on(&self, draft: u8) -> bool {
        draft == 0 || self.drafts & (1 << draft) != 0
    }
}

pub(super) fn within(fail: Fail, segment: Segment) -> Fail {
    match fail {
        Fail::Invalid(mut problem) => {
            problem.within(segment);
            Fail::Invalid(problem)
        }
        Fail::Syntax(error) => Fail::Syntax(error),
    }
}
