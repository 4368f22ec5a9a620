//! Checks the values of a form against its schema.
//!
//! Patterns are never evaluated: they come from the agent, and their cost is unbounded (ELIC-10). Formats are not
//! checked: they only help the client, and unknown ones are allowed (ELIC-11).

use std::borrow::Cow;

use crate::json::{self, Decimal};
use crate::map::StringMap;

/// The pointer to an invalid value in the result, and what was expected.
pub(super) type Mismatch = (String, String);

/// Checks the content of an answer against the schema of its request. No content counts as an empty object.
pub(super) fn mismatch(schema: &str, content: Option<&str>) -> Option<Mismatch> {
    let fields: StringMap<'_> =
        json::members(json::pointer(schema, "/properties").unwrap_or("{}")).into_iter().collect();
    let values: StringMap<'_> = json::members(content.unwrap_or("{}")).into_iter().collect();
    let required = json::pointer(schema, "/required").map(json::items).unwrap_or_default();
    for name in required.into_iter().filter_map(json::unescape) {
        if !values.has(&name) {
            return Some((place(&name), "a value, which the form requires".to_owned()));
        }
    }
    // In the order of the text, so that the same answer always has the same finding.
    json::members(content.unwrap_or("{}")).into_iter().find_map(|(name, value)| {
        let expected = wrong(fields.get(&name)?, value)?;
        Some((place(&name), expected.into_owned()))
    })
}

fn place(name: &str) -> String {
    format!("/content/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// What a field expects, if the value is wrong.
fn wrong(field: &str, value: &str) -> Option<Cow<'static, str>> {
    let get = |name: &str| json::pointer(field, name).filter(|text| *text != "null");
    match &*get("/type").and_then(json::unescape)? {
        "string" => {
            let Some(text) = json::unescape(value) else { return Some("a string".into()) };
            outside(text.chars().count(), get("/minLength"), get("/maxLength"), "characters")
                .or_else(|| not_offered(&text, get("/enum"), get("/oneOf")))
        }
        "integer" if !is_whole(value) => Some("a whole number".into()),
        "number" | "integer" => beyond(value, get("/minimum"), get("/maximum")),
        "boolean" if !matches!(value, "true" | "false") => Some("true or false".into()),
        "array" => {
            if !value.starts_with('[') {
                return Some("a list of strings".into());
            }
            let items = json::items(value);
            outside(items.len(), get("/minItems"), get("/maxItems"), "choices").or_else(|| {
                items.into_iter().find_map(|item| match json::unescape(item) {
                    Some(text) => not_offered(&text, get("/items/enum"), get("/items/anyOf")),
                    None => Some("a list of strings".into()),
                })
            })
        }
        // A field of an unknown type accepts any value (ELIC-08).
        _ => None,
    }
}

fn is_whole(value: &str) -> bool {
    Decimal::read(value).is_some_and(|number| number.is_whole())
}

fn beyond(value: &str, minimum: Option<&str>, maximum: Option<&str>) -> Option<Cow<'static, str>> {
    let Some(number) = Decimal::read(value) else { return Some("a number".into()) };
    let below = |bound: &str| Decimal::read(bound).is_some_and(|bound| number.is_below(&bound));
    let above = |bound: &str| Decimal::read(bound).is_some_and(|bound| bound.is_below(&number));
    match (minimum, maximum) {
        _ if !number.is_finite() => Some("a number".into()),
        (Some(least), _) if below(least) => Some(format!("a number from {least}").into()),
        (_, Some(most)) if above(most) => Some(format!("a number up to {most}").into()),
        _ => None,
    }
}

fn outside(count: usize, least: Option<&str>, most: Option<&str>, what: &str) -> Option<Cow<'static, str>> {
    let bound = |text: Option<&str>| text.and_then(|text| text.parse::<u64>().ok());
    let count = count as u64;
    match (bound(least), bound(most)) {
        (Some(least), _) if count < least => Some(format!("at least {least} {what}").into()),
        (_, Some(most)) if count > most => Some(format!("at most {most} {what}").into()),
        _ => None,
    }
}

/// Expects one of the values that a field lists, with or without labels, if it lists any.
fn not_offered(text: &str, plain: Option<&str>, labelled: Option<&str>) -> Option<Cow<'static, str>> {
    let plain = plain.map(json::items).unwrap_or_default().into_iter();
    let labelled = labelled.map(json::items).unwrap_or_default().into_iter();
    let mut offered = plain.chain(labelled.filter_map(|option| json::pointer(option, "/const"))).peekable();
    offered.peek()?;
    let found = offered.any(|value| json::unescape(value).is_some_and(|value| value == text));
    (!found).then(|| "one of the values that the field offers".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_held_against_their_fields() {
        let cases = [
            (
                r#"{"type":"string","minLength":2,"maxLength":3}"#,
                &[r#""é€""#, r#""abc""#][..],
                &[r#""a""#, r#""abcd""#, "1"][..],
            ),
            (r#"{"type":"string","enum":["a","b"]}"#, &[r#""a""#, r#""\u0062""#], &[r#""c""#, r#""""#]),
            (r#"{"type":"string","oneOf":[{"const":"a","title":"A"}],"enum":null}"#, &[r#""a""#], &[r#""A""#]),
            (r#"{"type":"string","pattern":"^(a+)+$","format":"_own"}"#, &[r#""b""#], &["true"]),
            (
                r#"{"type":"integer","minimum":-1,"maximum":9007199254740993}"#,
                &["-1", "2.0", "9007199254740993"],
                &["-2", "1.5", "9007199254740994", r#""1""#],
            ),
            (r#"{"type":"number","minimum":0.5}"#, &["0.5", "1e3"], &["0.25", "-1", "true"]),
            (r#"{"type":"boolean"}"#, &["true", "false"], &["1", r#""true""#]),
            (
                r#"{"type":"array","minItems":1,"maxItems":2,"items":{"type":"string","enum":["a","b","c"]}}"#,
                &[r#"["a"]"#, r#"["c","b"]"#],
                &["[]", r#"["a","b","c"]"#, r#"["d"]"#, "[1]", r#""a""#],
            ),
            (r#"{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}"#, &[r#"["a"]"#, "[]"], &[r#"["A"]"#]),
            (r#"{"type":"_color"}"#, &["1", "[]"], &[]),
        ];
        for (field, right, wrong) in cases {
            let schema = format!(r#"{{"type":"object","properties":{{"f":{field}}},"required":["f"]}}"#);
            let check = |value: &str| mismatch(&schema, Some(&format!(r#"{{"f":{value},"other":1}}"#)));
            for value in right {
                assert_eq!(check(value), None, "{field} {value}");
            }
            for value in wrong {
                assert_eq!(check(value).map(|(place, _)| place).as_deref(), Some("/content/f"), "{field} {value}");
            }
            for missing in [None, Some("{}")] {
                assert_eq!(mismatch(&schema, missing).unwrap().0, "/content/f");
            }
        }
        assert_eq!(mismatch(r#"{"type":"object","properties":{}}"#, None), None);
    }
}
