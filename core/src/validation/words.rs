//! Descriptions of what was expected, and the small tests that go with them.

use std::borrow::Cow;

use super::table::{Type, Variant};
use crate::json::Decimal;
use crate::rules::RuleId;
use crate::text::joined;

/// A rule of the model stays; the general rules give way to the one that says what was done.
pub(super) fn specific(rule: RuleId, general: RuleId) -> RuleId {
    if [id!("RPC-20"), id!("ENUM-10"), id!("ENUM-07"), id!("ENUM-03")].contains(&rule) {
        general
    } else {
        rule
    }
}

/// Whether the model's rule for a member takes the place of this one.
pub(super) fn general(rule: RuleId) -> bool {
    [id!("RPC-20"), id!("ENUM-10"), id!("ENUM-07"), id!("ENUM-03"), id!("TOOL-11"), id!("RPC-34")].contains(&rule)
}

/// Exact, not by way of a double. `1.0`, `1e0` and `-0` do not count as integers here.
pub(super) fn integer_within(text: &str, min: i64, max: u64) -> bool {
    if let Ok(value) = text.parse::<u64>() {
        value <= max && (min <= 0 || value >= min.unsigned_abs())
    } else {
        text.parse::<i64>().is_ok_and(|value| value >= min && value != 0)
    }
}

/// Whether a JSON number is within bounds or, without bounds, fits a double.
pub(super) fn number_within(text: &str, bounds: Option<(i32, i32)>) -> bool {
    let Some(number) = Decimal::read(text) else { return false };
    let Some((low, high)) = bounds else { return number.is_finite() };
    let below = |a: &Decimal, b: i32| Decimal::read(&b.to_string()).map(|b| (a.is_below(&b), b.is_below(a)));
    below(&number, low).is_some_and(|(below, _)| !below) && below(&number, high).is_some_and(|(_, above)| !above)
}

pub(super) fn tags(variants: &'static [Variant]) -> impl Iterator<Item = &'static str> {
    variants.iter().filter(|variant| variant.draft == 0).map(|variant| variant.tag)
}

pub(super) fn one_of<'a>(values: impl Iterator<Item = &'a str>) -> Cow<'static, str> {
    let list: Vec<String> = values.map(|value| format!("\"{value}\"")).collect();
    Cow::Owned(format!("one of {}", joined(&list, ", ")))
}

pub(super) fn expected(ty: &Type) -> Cow<'static, str> {
    Cow::Borrowed(match ty {
        Type::Any => "any value",
        Type::Boolean => "a boolean",
        Type::Integer { min, max } => return Cow::Owned(format!("a whole number from {min} to {max}")),
        Type::Line => "a line number from 1",
        Type::Number { bounds: None } => "a number",
        Type::Number { bounds: Some((low, high)) } => return Cow::Owned(format!("a number from {low} to {high}")),
        Type::String(kind) => kind.name(),
        Type::Enum { values, .. } => return one_of(values.iter().copied()),
        Type::Array { .. } => "a list",
        Type::Map { .. } | Type::Object { .. } | Type::Union { .. } => "an object",
        Type::AnyOf { .. } => "one of the forms that the specification lists",
    })
}

#[cfg(test)]
mod tests {
    use super::number_within;

    #[test]
    fn numbers_compare_like_doubles() {
        let numbers = [
            "0",
            "-0",
            "0.0",
            "0e9",
            "-0.0E-9",
            "1",
            "1.0",
            "1e0",
            "10e-1",
            "0.1e1",
            "0.10",
            "1.0000001",
            "0.999999999",
            "-1",
            "-1.5",
            "-15e-1",
            "-0.01",
            "-2",
            "2",
            "19.99e-1",
            "200e-2",
            "2.01",
            "20",
            "1e1",
            "123456789e-8",
            "1e-400",
            "-1e-400",
            "1e99999999999",
            "-1e99999999999",
            "1e-99999999999",
            "0e99999999999",
            "1e308",
            "1.7976931348623157e308",
            "1.8e308",
            "-1.8e308",
            "1e309",
            "-1e309",
            "0.00001e312",
            "0.00001e314",
            "100000e303",
            "100000e304",
        ];
        for text in numbers {
            let number: f64 = text.parse().unwrap();
            assert_eq!(number_within(text, None), number.is_finite(), "{text}");
            for (low, high) in [(0, 1), (-1, 2), (-2, -1), (1, 20), (0, i32::MAX), (i32::MIN, 0)] {
                // Doubles cannot represent numbers that are closer to zero.
                let tiny = text.contains("e-400") || text.contains("e-99999999999");
                let number = if tiny { f64::MIN_POSITIVE.copysign(number) } else { number };
                let within = number >= low.into() && number <= high.into();
                assert_eq!(number_within(text, Some((low, high))), within, "{text} in {low}..={high}");
            }
        }
    }
}
