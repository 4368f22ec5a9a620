//! What things are called in Rust.

use crate::model::TypeExpr;

/// A member's name: `snake_case`, raw where Rust has the word.
pub(super) fn member(name: &str) -> String {
    let name = snake(name.trim_start_matches('_'));
    match name.as_str() {
        "type" | "const" | "enum" | "move" | "ref" | "override" | "box" | "do" | "final" => format!("r#{name}"),
        _ => name,
    }
}

/// `snake_case` from `camelCase` and `PascalCase`.
pub(super) fn snake(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if c.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(if c == '-' || c == '/' { '_' } else { c.to_ascii_lowercase() });
    }
    out
}

/// `camelCase` from `snake_case`, as serde's `rename_all` makes it.
pub(super) fn camel(text: &str) -> String {
    let pascal = variant(text);
    pascal.get(..1).unwrap_or_default().to_ascii_lowercase() + pascal.get(1..).unwrap_or_default()
}

/// A variant's name: `PascalCase` from a value as it is sent.
pub(super) fn variant(value: &str) -> String {
    let words = value.split(['_', '-', '/', '.', ' ', '$']);
    words.filter_map(|word| Some(word.get(..1)?.to_ascii_uppercase() + word.get(1..)?)).collect()
}

/// What tells the names of alternatives apart: their words without those that all of them share at either end.
pub(super) fn distinct(names: &[&str], around: &str) -> Vec<String> {
    let split: Vec<Vec<String>> = names.iter().map(|name| words(name)).collect();
    let around = words(around);
    let all: Vec<&[String]> =
        if split.len() > 1 { split.iter().map(Vec::as_slice).collect() } else { vec![&split[0], &around] };
    let shortest = all.iter().map(|words| words.len()).min().unwrap_or(0);
    let same = |at: &dyn Fn(&[String]) -> String| all.windows(2).all(|pair| at(pair[0]) == at(pair[1]));
    let start = (0..shortest).take_while(|&i| same(&|words| words[i].clone())).count();
    let end = (0..shortest - start).take_while(|&i| same(&|words| words[words.len() - 1 - i].clone())).count();
    let rest = |words: &Vec<String>| {
        let rest = words[start..words.len() - end].concat();
        if rest.is_empty() {
            words.concat()
        } else {
            rest
        }
    };
    split.iter().map(rest).collect()
}

/// What all names share at their ends, joined: `ElicitationSessionScope`, `ElicitationRequestScope` share
/// `ElicitationScope`. With the last shared word alone, for a member that holds one of them.
pub(super) fn common(names: &[&str]) -> Option<(String, String)> {
    let first = words(names.first()?);
    let own = words(distinct(names, "").first()?);
    let start = first.windows(own.len()).position(|window| window == own)?;
    let (before, after) = (&first[..start], &first[start + own.len()..]);
    Some((before.concat() + &after.concat(), snake(after.last()?)))
}

fn words(name: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for c in name.chars() {
        match out.last_mut() {
            Some(word) if !c.is_ascii_uppercase() => word.push(c),
            _ => out.push(c.to_string()),
        }
    }
    out
}

/// The variant of an any-of that holds a type expression.
pub(super) fn alternative(ty: &TypeExpr, distinct: Option<&str>) -> String {
    match (ty, distinct) {
        (TypeExpr::List(item), _) => alternative(item, distinct) + "s",
        (_, Some(name)) => name.to_owned(),
        (TypeExpr::Boolean, _) => "Boolean".to_owned(),
        (TypeExpr::Double, _) => "Number".to_owned(),
        (TypeExpr::Integer(_), _) => "Integer".to_owned(),
        (TypeExpr::Map(_), _) => "Object".to_owned(),
        (TypeExpr::String | TypeExpr::Named(_) | TypeExpr::Any, _) => "String".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_variants() {
        assert_eq!(member("sessionId"), "session_id");
        assert_eq!(member("type"), "r#type");
        assert_eq!(member("_meta"), "meta");
        assert_eq!(camel("any_of"), "anyOf");
        assert_eq!(variant("date-time"), "DateTime");
        assert_eq!(variant("searchAndReplace"), "SearchAndReplace");
        assert_eq!(variant("allow_once"), "AllowOnce");
    }

    #[test]
    fn alternatives_lose_what_they_share() {
        let names = ["ElicitationSessionScope", "ElicitationRequestScope"];
        assert_eq!(distinct(&names, ""), ["Session", "Request"]);
        assert_eq!(common(&names), Some(("ElicitationScope".to_owned(), "scope".to_owned())));
        assert_eq!(distinct(&["UnstructuredCommandInput"], "AvailableCommandInput"), ["Unstructured"]);
        assert_eq!(distinct(&["TitledMultiSelectItems"], "MultiSelectItems"), ["Titled"]);
        assert_eq!(distinct(&["McpServerStdio"], "McpServer"), ["Stdio"]);
    }
}
