//! Objects: their members, what is missing, and what does not belong.

use std::borrow::Cow;
use std::ops::Range;

use super::names::{Others, TWICE};
use super::{specific, within, Fail, Seen, Validator, Walk};
use crate::json::{Checkpoint, Kind, ListEditor, Scanner, Writer};
use crate::jsonrpc::MAX_NAME_BYTES;
use crate::nearest::nearest;
use crate::rules::Way;
use crate::validation::problem::{Problem, Segment, LONGER, MISSING, OF_A_DRAFT, UNKNOWN};
use crate::validation::table::{Field, Type, TypeId};
use crate::validation::words::expected;
use crate::validation::Mode;

impl Validator {
    pub(in crate::validation) fn object(
        &mut self,
        scanner: &mut Scanner<'_>,
        owner: TypeId,
        fields: &'static [Field],
    ) -> Walk {
        let head = scanner.checkpoint();
        let more = scanner.enter(Kind::Object)?;
        self.members(scanner, owner, fields, head, None, more)
    }

    /// An object that begins at `head` and whose first member, a union's tag, has been read.
    pub(in crate::validation) fn rest_of_object(
        &mut self,
        scanner: &mut Scanner<'_>,
        owner: TypeId,
        fields: &'static [Field],
        head: Checkpoint,
        first: Seen,
    ) -> Walk {
        let more = scanner.more(Kind::Object)?;
        self.members(scanner, owner, fields, head, Some(first), more)
    }

    #[allow(clippy::too_many_lines, reason = "one pass over the members, whose steps share their state")]
    fn members<'a>(
        &mut self,
        scanner: &mut Scanner<'a>,
        owner: TypeId,
        fields: &'static [Field],
        head: Checkpoint,
        first: Option<Seen>,
        mut more: bool,
    ) -> Walk {
        let mut trim = ListEditor::default();
        let mut seen = 0u64;
        let read = std::mem::take(&mut self.read);
        let outermost = self.depth == 0;
        let noted = self.depth < 2 && self.lists == 0;
        self.depth += 1;
        self.naming.here = None;
        if let Some(Seen { name, escaped, value }) = first.clone() {
            trim.keep(name.start - 1..value.end, &mut self.edits);
            if outermost {
                self.within = Some(name.start);
            }
            self.note(noted, outermost, name, escaped, value);
        }
        let mut others: Others<'a> = Others::new(first);
        // Members usually come in the order of the model.
        let mut next = 0;
        while more {
            let start = scanner.checkpoint().offset();
            let key = scanner.key()?;
            let name = start + 1..start + 1 + key.raw.len();
            let value_at = scanner.checkpoint().offset();
            if outermost {
                self.within = Some(name.start);
            }
            let is = |field: &Field| key.is(field.name) && self.is_on(field.draft);
            let found = fields[next..].iter().position(is).map(|at| next + at);
            if let Some(index) = found.or_else(|| fields[..next].iter().position(is)) {
                next = index + 1;
                let field = &fields[index];
                if seen & (1 << index) != 0 {
                    return Err(within(self.invalid("this member once", TWICE), Segment::Name(field.name)));
                }
                seen |= 1 << index;
                let keep = self.member(scanner, owner, &fields[index], index as u8)?;
                let place = start..scanner.offset();
                // With its quotes.
                let long = place.end - value_at > MAX_NAME_BYTES + 2 && field.name.ends_with("Id");
                if long && id!("LIMIT-07").is_on(self.way()) {
                    let problem =
                        Problem::new(id!("LIMIT-07"), format!("an id of at most {MAX_NAME_BYTES} bytes"), LONGER);
                    return Err(within(Fail::Invalid(Box::new(problem)), Segment::Name(field.name)));
                }
                if outermost && keep && field.name == "sessionId" {
                    self.session = Some(value_at..place.end);
                }
                if keep {
                    trim.keep(place, &mut self.edits);
                } else if let Some(empty) = self.empty(field) {
                    let value = value_at..place.end;
                    trim.keep(place, &mut self.edits);
                    self.edits.push(value, empty);
                } else {
                    // A required member that did not fit was reported already; do not report it as missing too.
                    if !field.has(Field::ABSENT) {
                        seen &= !(1 << index);
                    }
                    trim.drop(place, &mut self.edits);
                }
            } else {
                let own = (self.mode == Mode::Send || !id!("ENUM-13").is_on(Way::Track))
                    && !read.extension
                    && !read.tags.iter().any(|tag| key.is(tag));
                if own && !self.is_forwarded(owner) {
                    let found = if fields.iter().any(|field| key.is(field.name)) { OF_A_DRAFT } else { UNKNOWN };
                    self.own_member(&key.value(), scanner.peek()?, found, fields)?;
                }
                scanner.skip()?;
                let member = Seen { name: name.clone(), escaped: key.escaped, value: value_at..scanner.offset() };
                if !others.agree(scanner, member) {
                    let segment = self.segment(fields, &key.value());
                    return Err(within(self.invalid("this member once", TWICE), segment));
                }
                trim.keep(start..scanner.offset(), &mut self.edits);
            }
            self.note(noted, outermost, name, key.escaped, value_at..scanner.offset());
            more = scanner.more(Kind::Object)?;
        }
        let mut any = trim.any_kept();
        trim.finish(&mut self.edits);
        self.depth -= 1;
        let end = scanner.offset() - 1;
        for (index, field) in fields.iter().enumerate() {
            let missing = field.has(Field::REQUIRED) && seen & (1 << index) == 0 && self.is_on(field.draft);
            if !missing {
                continue;
            }
            if self.renamed(scanner, head, owner, field, index as u8)? {
                continue;
            }
            let ty = &self.tables.types[usize::from(field.ty)];
            let mut problem = Problem::new(self.rule(), expected(ty), MISSING);
            self.name(&mut problem, owner, field, index as u8);
            // A general rule may still be replaced by a more specific one.
            if problem.rule != self.rule() && !problem.rule.is_on(self.way()) {
                continue;
            }
            if field.has(Field::ABSENT) && self.repairs(problem.rule) {
                self.file(problem);
                continue;
            }
            let empty = self.empty(field).filter(|_| field.has(Field::EMPTY) && self.repairs(problem.rule));
            let Some(empty) = empty else { return Err(Fail::Invalid(Box::new(problem))) };
            let comma = if std::mem::replace(&mut any, true) { "," } else { "" };
            self.edits.push(end..end, format!("{comma}\"{}\":{empty}", field.name));
            self.file(problem);
        }
        Ok(())
    }

    /// Records a member of the outermost object, or of one of its members.
    fn note(&mut self, noted: bool, outermost: bool, name: Range<usize>, escaped: bool, value: Range<usize>) {
        if noted {
            let parent = self.within.filter(|_| !outermost);
            self.field_index.member(parent, name, escaped, value);
        }
    }

    /// CONT-14: content from elsewhere is passed on with all of its members.
    fn is_forwarded(&self, ty: TypeId) -> bool {
        self.tables.forwarded.contains(&ty) && id!("CONT-14").is_on(Way::Track)
    }

    /// The step to a member that is not among the fields. Names of the specification appear as they are.
    fn segment(&self, fields: &'static [Field], key: &str) -> Segment {
        let mut tags = self.tables.types.iter().filter_map(|ty| match ty {
            Type::Union { tag, .. } => Some(*tag),
            _ => None,
        });
        let known = fields.iter().map(|field| field.name).find(|name| *name == key);
        known.or_else(|| tags.find(|tag| *tag == key)).map_or_else(|| Segment::Key(key.into()), Segment::Name)
    }

    /// EXT-01: only the peer, which may be newer than the model, sends members that it does not have.
    fn own_member(&mut self, key: &str, kind: Kind, found: &'static str, fields: &'static [Field]) -> Walk {
        if key == "_meta" {
            // It may stand anywhere.
            let fits = matches!(kind, Kind::Object | Kind::Null) || !id!("EXT-02").is_on(self.way());
            let problem = || Box::new(Problem::new(id!("EXT-02"), "an object", kind.name()));
            return if fits { Ok(()) } else { Err(within(Fail::Invalid(problem()), Segment::Name("_meta"))) };
        }
        let known = fields.iter().filter(|field| self.is_on(field.draft)).map(|field| field.name);
        let expected = "a member of the specification; others go into _meta";
        let mut problem = Problem::new(id!("EXT-01"), expected, found).near(nearest(key, known));
        problem.within(Segment::Key(key.into()));
        self.file(problem);
        Ok(())
    }

    /// What stands in for a member that must be there and whose value is given up: an empty list or map; where the
    /// model allows for it to be missing, also an object whose own such members are empty strings.
    fn empty(&self, field: &Field) -> Option<Cow<'static, str>> {
        match self.tables.types[usize::from(field.ty)] {
            Type::Array { .. } if field.has(Field::REQUIRED) => Some("[]".into()),
            Type::Map { .. } if field.has(Field::REQUIRED) => Some("{}".into()),
            Type::Object { fields } if field.has(Field::EMPTY) => {
                let mut writer = Writer::new();
                writer.begin_object();
                for field in fields.iter().filter(|field| field.has(Field::REQUIRED)) {
                    writer.key(field.name).string("");
                }
                writer.end_object();
                writer.finish().ok().map(Cow::Owned)
            }
            _ => None,
        }
    }

    /// Checks the value of a known member. Returns `false` if it is to be removed.
    fn member(
        &mut self,
        scanner: &mut Scanner<'_>,
        owner: TypeId,
        field: &'static Field,
        index: u8,
    ) -> Result<bool, Fail> {
        if scanner.peek()? == Kind::Null && !matches!(self.tables.types[usize::from(field.ty)], Type::Any) {
            if field.has(Field::NULL) {
                scanner.literal()?;
                return Ok(true);
            }
            if field.has(Field::ON_NULL) && self.mode != Mode::Send {
                scanner.literal()?;
                return Ok(false);
            }
        }
        let mark = scanner.checkpoint();
        let (before, edits) = (self.problems.len(), self.edits.len());
        let (depth, lists, lenient) = (self.depth, self.lists, self.lenient);
        let on_error = field.has(Field::ON_ERROR | Field::ABSENT);
        let skip_items = field.has(Field::SKIP_ITEMS);
        let name = |validator: &Self, problem: &mut Problem| {
            validator.name(problem, owner, field, index);
            problem.rule = specific(problem.rule, id!("ENUM-08"));
        };
        let bad = self.lenient(scanner, mark, on_error, name, |validator, scanner| {
            let naming = validator.enter_member(owner, field, index);
            let outcome = match (&validator.tables.types[usize::from(field.ty)], scanner.peek()?) {
                (Type::Array { item, min }, Kind::Array) => validator.array(scanner, *item, *min, skip_items),
                _ => validator.value(scanner, field.ty),
            };
            validator.naming = naming;
            outcome
        });
        match bad {
            Ok(bad) => {
                let mut keep = bad.is_none();
                if let Some(problem) = bad {
                    keep = !problem.rule.is_on(self.way());
                    if !keep {
                        self.file(*problem);
                    }
                } else {
                    for at in before..self.problems.len() {
                        let mut problem = self.problems[at].clone();
                        self.name(&mut problem, owner, field, index);
                        self.problems[at] = problem;
                    }
                }
                Ok(keep)
            }
            Err(Fail::Invalid(mut problem)) => {
                self.name(&mut problem, owner, field, index);
                if problem.rule != self.rule() && !problem.rule.is_on(self.way()) {
                    // It is any JSON then.
                    self.edits.truncate(edits);
                    self.problems.truncate(before);
                    (self.depth, self.lists, self.lenient) = (depth, lists, lenient);
                    self.discard_slots();
                    scanner.rewind(mark);
                    scanner.skip()?;
                    return Ok(true);
                }
                Err(Fail::Invalid(problem))
            }
            Err(fail) => Err(fail),
        }
    }
}
