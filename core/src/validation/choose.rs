//! Deciding which of several types a value has: by its tag, or by trying.

use std::ops::Range;

use super::problem::{Problem, Segment, MISSING};
use super::table::{Other, Type, TypeId, Variant};
use super::validator::names::TWICE;
use super::validator::{within, Fail, Read, Seen, Validator, Walk};
use super::words::{one_of, tags};
use super::Mode;
use crate::json::{Kind, Scanner, SyntaxError, Text};
use crate::rules::Way;

impl Validator {
    pub(super) fn union(
        &mut self,
        scanner: &mut Scanner<'_>,
        owner: TypeId,
        tag: &'static str,
        variants: &'static [Variant],
        other: Other,
        untagged: Option<TypeId>,
    ) -> Walk {
        let mark = scanner.checkpoint();
        self.naming.here = None;
        let (found, first) = if scanner.enter(Kind::Object)? { tag_of(scanner, tag)? } else { (None, None) };
        if let (Some(Ok(text)), Some(first)) = (found, first) {
            let known = variants.iter().find(|variant| text.is(variant.tag) && self.is_on(variant.draft));
            if let Some(Variant { tag: value, ty, .. }) = known {
                if let Type::Object { fields } = self.type_of(*ty) {
                    self.met(value);
                    self.expect_tag(tag, false);
                    let outcome = self.rest_of_object(scanner, *ty, fields, mark, first);
                    self.read = Read::default();
                    return outcome;
                }
            }
        }
        scanner.rewind(mark);
        let text = match (found, untagged) {
            (Some(Ok(text)), _) => text,
            (None | Some(Err(Kind::Null)), Some(ty)) => return self.tagged(scanner, tag, ty, false),
            (Some(Err(kind)), Some(ty)) if self.reads_as_none(owner, other, kind) => {
                let place = place_of(scanner, tag)?;
                if let Some(rule) = self.rule_of_tag(owner) {
                    let mut problem = Problem::new(rule, one_of(tags(variants)), kind.name());
                    problem.within(Segment::Name(tag));
                    self.file(problem);
                }
                if let Some(place) = place {
                    self.edits.push(place, "null");
                }
                self.discard_slots();
                return self.tagged(scanner, tag, ty, false);
            }
            (found, _) => {
                let found = if let Some(Err(kind)) = found { kind.name() } else { MISSING };
                let mut fail = self.invalid(one_of(tags(variants)), found);
                if let (Fail::Invalid(problem), Some(rule)) = (&mut fail, self.rule_of_tag(owner)) {
                    problem.rule = rule;
                }
                return Err(within(fail, Segment::Name(tag)));
            }
        };
        let known = variants.iter().find(|variant| text.is(variant.tag) && self.is_on(variant.draft));
        if let Some(variant) = known {
            self.met(variant.tag);
            return self.tagged(scanner, tag, variant.ty, false);
        }
        if let Some(ty) = untagged.filter(|_| self.is_untagged(owner, &text.value())) {
            return self.tagged(scanner, tag, ty, false);
        }
        let open = match other {
            Other::Closed => false,
            Other::Open(_) => true,
            Other::Except(mistakes) => id!("TOOL-36").is_on(Way::Track) && !mistakes.iter().any(|tag| text.is(tag)),
        };
        let before = self.problems.len();
        self.unknown(owner, open, text, || tags(variants).collect())
            .map_err(|fail| within(fail, Segment::Name(tag)))?;
        for problem in &mut self.problems[before..] {
            problem.within(Segment::Name(tag));
        }
        match other {
            Other::Open(ty) if !matches!(self.type_of(ty), Type::Any) => self.tagged(scanner, tag, ty, true),
            // Nothing is known about its members except that names must not be ambiguous. It is not a slot: with
            // another tag, the same text has another type.
            _ => {
                self.expect_tag(tag, true);
                let outcome = self.object(scanner, owner, &[]);
                self.read = Read::default();
                outcome
            }
        }
    }

    /// Whether a tag that is not a string counts as absent, according to the rule of its type (LIFE-30).
    fn reads_as_none(&self, owner: TypeId, other: Other, kind: Kind) -> bool {
        let open = matches!(other, Other::Open(_)) && kind != Kind::Null;
        self.rule_of_tag(owner).is_some_and(|rule| open && self.repairs(rule))
    }

    /// Checks the whole object, whose tag has been read.
    fn tagged(&mut self, scanner: &mut Scanner<'_>, tag: &'static str, ty: TypeId, extension: bool) -> Walk {
        self.expect_tag(tag, extension);
        let outcome = self.value(scanner, ty);
        self.read = Read::default();
        outcome
    }

    /// Notes that the next object has this tag in addition to its fields.
    fn expect_tag(&mut self, tag: &'static str, extension: bool) {
        if self.mode == Mode::Send {
            self.read.tags.push(tag);
            self.read.extension |= extension;
        }
    }

    /// Records a variant.
    fn met(&mut self, tag: &'static str) {
        self.variant.get_or_insert(tag);
        self.field_index.tag(tag);
    }

    pub(super) fn any_of(&mut self, scanner: &mut Scanner<'_>, of: &'static [TypeId]) -> Walk {
        let mark = scanner.checkpoint();
        let mode = self.mode;
        // First without repairs: with them, a list of the wrong type would become an empty list of the right one.
        let exact = if mode == Mode::Send { mode } else { Mode::Strict };
        let mut best: Option<(usize, Box<Problem>)> = None;
        let read = std::mem::take(&mut self.read);
        for attempt in [exact, mode] {
            for &ty in of {
                let (edits, problems, session) = (self.edits.len(), self.problems.len(), self.session.clone());
                let (depth, lists, variant, naming) = (self.depth, self.lists, self.variant, self.naming);
                self.mode = attempt;
                self.read = read.clone();
                let outcome = self.value(scanner, ty);
                self.mode = mode;
                self.naming = naming;
                match outcome {
                    // For another type, this name might be an unknown member, which nothing checks.
                    Err(Fail::Invalid(problem)) if problem.found == TWICE && attempt == mode => {
                        return Err(Fail::Invalid(problem));
                    }
                    Err(Fail::Invalid(problem)) => {
                        self.discard_slots();
                        let twice = problem.found == TWICE;
                        if best.as_ref().is_none_or(|(reached, _)| scanner.offset() > *reached) {
                            best = Some((scanner.offset(), problem));
                        }
                        self.edits.truncate(edits);
                        self.problems.truncate(problems);
                        self.session = session;
                        self.depth = depth;
                        self.lists = lists;
                        self.variant = variant;
                        scanner.rewind(mark);
                        if twice {
                            break;
                        }
                    }
                    done => return done,
                }
            }
            if attempt == mode {
                break;
            }
        }
        match best {
            Some((_, problem)) => Err(Fail::Invalid(problem)),
            None => Err(self.invalid("nothing", "a value")),
        }
    }
}

/// A member, if it is present: its text, or its type if it is not a string.
type Found<'a> = Option<Result<Text<'a>, Kind>>;

/// Inside an object: the value of its tag. Most often it is the first member; then the scanner stays behind it, so that
/// it is read once.
fn tag_of<'a>(scanner: &mut Scanner<'a>, tag: &str) -> Result<(Found<'a>, Option<Seen>), SyntaxError> {
    let mark = scanner.checkpoint();
    let key = scanner.key()?;
    if !key.is(tag) || scanner.peek()? != Kind::String {
        scanner.rewind(mark);
        return Ok((scanner.find_string(tag)?, None));
    }
    let value = scanner.checkpoint().offset();
    let text = scanner.string()?;
    let start = mark.offset();
    let first =
        Seen { name: start + 1..start + 1 + key.raw.len(), escaped: key.escaped, value: value..scanner.offset() };
    Ok((Some(Ok(text)), Some(first)))
}

/// The position of the value of a member of the next object.
fn place_of(scanner: &mut Scanner<'_>, name: &str) -> Result<Option<Range<usize>>, SyntaxError> {
    let mark = scanner.checkpoint();
    let mut more = scanner.enter(Kind::Object)?;
    let mut place = None;
    while more && place.is_none() {
        let this = scanner.key()?.is(name);
        place = Some(scanner.skip()?).filter(|_| this);
        more = scanner.more(Kind::Object)?;
    }
    scanner.rewind(mark);
    Ok(place)
}
