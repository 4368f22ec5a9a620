//! Numbers, and strings that mean more than their type says.

use super::{Fail, Validator, Walk};
use crate::json::{Decimal, Kind, Scanner};
use crate::rules::RuleId;
use crate::validation::problem::Problem;
use crate::validation::table::{StringKind, Type};
use crate::validation::words::{expected, integer_within, number_within};
use crate::validation::{Mode, Part};

impl Validator {
    pub(super) fn line(&mut self, scanner: &mut Scanner<'_>) -> Walk {
        let at = scanner.checkpoint().offset();
        let text = scanner.number()?;
        if integer_within(text, 1, u32::MAX.into()) {
            return Ok(());
        }
        if text == "0" && self.repairs(id!("TOOL-11")) {
            self.file(Problem::new(id!("TOOL-11"), expected(&Type::Line), "a number outside of that range"));
            self.edits.push(at..at + 1, "1");
            return Ok(());
        }
        self.other_integer(at, text, id!("TOOL-11"), &Type::Line, (1, u32::MAX.into()))
    }

    /// A number that is none of the integers that are wanted, or one of them in another spelling. `100.0` and `1e2` are
    /// whole numbers to JSON Schema, and Python writes them for some; decoders of most languages take neither.
    pub(super) fn other_integer(
        &mut self,
        at: usize,
        text: &str,
        rule: RuleId,
        ty: &Type,
        (min, max): (i64, u64),
    ) -> Walk {
        let plain = Decimal::read(text).and_then(|number| number.plain());
        let plain = plain.filter(|plain| integer_within(plain, min, max));
        let problem = if plain.is_some() {
            let expected = format!("{}, without fraction or exponent", expected(ty));
            Problem::new(rule, expected, "a number in another form")
        } else {
            Problem::new(rule, expected(ty), "a number outside of that range")
        };
        match plain.filter(|_| self.repairs(rule)) {
            Some(plain) => {
                self.edits.push(at..at + text.len(), plain);
                self.file(problem);
                Ok(())
            }
            None => Err(Fail::Invalid(Box::new(problem))),
        }
    }

    pub(super) fn string(&mut self, scanner: &mut Scanner<'_>, kind: StringKind) -> Walk {
        let text = scanner.string()?;
        let fits = match kind {
            StringKind::Plain => true,
            StringKind::Name => !text.raw.is_empty(),
            _ => kind.fits(&text.value()),
        };
        if fits {
            return Ok(());
        }
        if kind == StringKind::Name && !id!("ENUM-14").is_on(self.way()) {
            return Ok(());
        }
        let problem = if kind == StringKind::Name {
            Problem::new(id!("ENUM-14"), "a string that is not empty", "an empty one")
        } else {
            Problem::new(self.rule(), kind.name(), kind.other())
        };
        // The specification does not forbid empty names, so for the host this is only advice.
        if kind == StringKind::Name && self.mode == Mode::Send {
            self.file(problem);
            return Ok(());
        }
        // A relative path in a request can do harm, so it is refused. Elsewhere it is reported, and the host decides.
        // An image from any other location must not be fetched.
        let refuse = match kind {
            StringKind::AbsolutePath => self.part == Part::Request || !self.tables.dialect.relative_paths,
            StringKind::Icon => true,
            _ => false,
        };
        if refuse || !self.repairs(problem.rule) {
            return Err(Fail::Invalid(Box::new(problem)));
        }
        self.file(problem);
        Ok(())
    }
}

/// How deeply what the model does not describe may be nested for [`is_plain`].
pub(crate) const ROOM: u32 = 8;

/// A fast check: whether the next value is accepted under every policy, because it has no members, or because any value
/// is allowed and it is on a single line. Then the scanner is after it.
pub(crate) fn is_plain(scanner: &mut Scanner<'_>, ty: &Type) -> bool {
    let Ok(kind) = scanner.peek() else { return false };
    match (ty, kind) {
        (Type::Any, _) => scanner.skip().is_ok_and(|place| {
            let text = scanner.slice(place).as_bytes();
            scanner.lone_surrogates().is_empty() && memchr::memchr2(b'\n', b'\r', text).is_none()
        }),
        (Type::Boolean, Kind::Boolean) => scanner.literal().is_ok(),
        (Type::Integer { min, max }, Kind::Number) => {
            scanner.number().is_ok_and(|text| integer_within(text, *min, *max))
        }
        (Type::Line, Kind::Number) => scanner.number().is_ok_and(|text| integer_within(text, 1, u32::MAX.into())),
        (Type::Number { bounds }, Kind::Number) => scanner.number().is_ok_and(|text| number_within(text, *bounds)),
        (Type::String(kind), Kind::String) => {
            let text = scanner.string();
            scanner.lone_surrogates().is_empty()
                && text.is_ok_and(|text| *kind == StringKind::Plain || kind.fits(&text.value()))
        }
        (Type::Enum { values, .. }, Kind::String) => {
            scanner.string().is_ok_and(|text| values.iter().any(|value| text.is(value)))
        }
        _ => false,
    }
}
