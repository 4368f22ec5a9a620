//! What was expected, in words, and the small tests that go with them.

use std::borrow::Cow;

use super::table::{Type, Variant};

/// A rule of the model stays; the general rules give way to the one that says what was done.
pub(super) fn specific(rule: &'static str, general: &'static str) -> &'static str {
    if matches!(rule, "RPC-20" | "ENUM-10" | "ENUM-07") {
        general
    } else {
        rule
    }
}

/// Exact, without a detour through a double; `1.0`, `1e0` and `-0` are not whole numbers here.
pub(super) fn integer_within(text: &str, min: i64, max: u64) -> bool {
    if let Ok(value) = text.parse::<u64>() {
        value <= max && (min <= 0 || value >= min.unsigned_abs())
    } else {
        text.parse::<i64>().is_ok_and(|value| value >= min && value != 0)
    }
}

pub(super) fn tags(variants: &[Variant]) -> Cow<'static, str> {
    one_of(variants.iter().filter(|variant| variant.draft == 0).map(|variant| variant.tag))
}

fn one_of<'a>(values: impl Iterator<Item = &'a str>) -> Cow<'static, str> {
    let list: Vec<String> = values.map(|value| format!("\"{value}\"")).collect();
    Cow::Owned(format!("one of {}", list.join(", ")))
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
