//! What can be asked of a connection, in each language: from `core/protocol/getters.json`.
//!
//! Each language has a table from [`Shape`]s to its types and conversions. The core's methods stand behind all of them:
//! [`value`] writes the call. What is said about a getter is put together by [`Said`], in the words of the language.

use crate::model::getters::{Getter, Of, Shape, Takes};

use super::about::address;

pub(super) mod c;
pub(super) mod cpp;
pub(super) mod javascript;
pub(super) mod python;
pub(super) mod replayers;

/// A part of a file that is generated begins with a line that has this behind the comment sign, and ends with one that has
/// [`END`].
pub(super) const BEGIN: &str =
    "Generated from core/protocol/getters.json by `cargo xtask codegen`, as far as the next such line.";
pub(super) const END: &str = "The end of what is generated.";

/// What the generated modules of Rust begin with.
const ALLOWED: &str = "\
// The generator writes all closures and conversions alike, whether a type needs one or not. Addresses are not in angle\n// brackets because the same text goes to other languages.
#![allow(clippy::doc_markdown, clippy::redundant_closure_for_method_calls, clippy::too_many_lines, clippy::useless_conversion)]

";

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::codegen) enum Owner {
    Connection,
    Observer,
}

impl Owner {
    /// Its name, as prose and C have it.
    fn name(self) -> &'static str {
        match self {
            Owner::Connection => "connection",
            Owner::Observer => "observer",
        }
    }
}

/// The core's value as an expression of the type `Option<T>`, where `convert` makes a `T` of what the core gives. `core` is
/// the connection; parameters have their names, ids as references.
fn value(core: &str, getter: &Getter, convert: impl Fn(&str) -> String) -> String {
    let given: Vec<String> = getter
        .takes
        .iter()
        .map(|taken| match taken.kind {
            Takes::Id => format!("&{}", taken.name),
            Takes::Text | Takes::Number => taken.name.clone(),
        })
        .collect();
    let call = if getter.field { String::new() } else { format!("({})", given.join(", ")) };
    let of = |receiver: &str| format!("{receiver}.{}{call}", getter.core);
    let mapped = |expression: String| match convert("value") {
        same if same == "value" => expression,
        converted => match converted.strip_suffix("(value)").filter(|function| !function.contains('(')) {
            Some(function) => format!("{expression}.map({function})"),
            None => format!("{expression}.map(|value| {converted})"),
        },
    };
    let parameters = getter.parameters();
    let found = |then: &str, value: &str| {
        let of = getter.of.map_or("", Of::name);
        format!("{core}.{of}({}).{then}(|{of}| {value})", parameters[0].name)
    };
    match (&getter.none, getter.of.map(Of::name)) {
        (_, Some(name)) if getter.otherwise => format!("Some({})", convert(&found("is_some_and", &of(name)))),
        (Some(_), Some(name)) => mapped(found("and_then", &of(name))),
        (None, Some(name)) => found("map", &convert(&of(name))),
        (Some(_), None) => mapped(of(core)),
        (None, None) => format!("Some({})", convert(&of(core))),
    }
}

/// A list as JSON text: a call of the function `list` that each binding has.
fn json_list(items: &str, shape: &Shape) -> String {
    let Shape::Rows(members) = shape else {
        return format!("list({items}, |out, name| {{ out.string(name); }})");
    };
    let names: Vec<String> = members.keys().map(|name| snake(name)).collect();
    let writes = members.iter().zip(&names).map(|((name, shape), variable)| {
        let write = match shape {
            Shape::Boolean => format!("boolean({variable})"),
            Shape::Enum(_) => format!("string({variable}.name())"),
            _ => format!("string({variable})"),
        };
        format!(".key({name:?}).{write}")
    });
    let writes: String = writes.collect();
    format!("list({items}, |out, ({})| {{ out.begin_object(){writes}.end_object(); }})", names.join(", "))
}

/// `snake_case` from `camelCase`.
fn snake(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

/// `camelCase` from `snake_case`.
fn camel(name: &str) -> String {
    let pascal = super::pascal(name);
    pascal.get(..1).map(|first| first.to_lowercase() + &pascal[1..]).unwrap_or_default()
}

/// What is said about a getter.
struct Said {
    /// What it is: sentences.
    text: String,
    /// When there is nothing: what goes on behind the language's word for that.
    nothing: Option<String>,
    /// The address of the specification's page.
    see: Option<String>,
}

impl Said {
    fn of(getter: &Getter) -> Self {
        let unit = getter.unit.iter().map(|unit| format!("In {unit}."));
        let draft = getter.draft.iter().map(|draft| format!("Draft `{draft}`."));
        let rule = getter.rule.iter().map(|rule| format!("Rule {rule}."));
        let text: Vec<String> = [getter.doc.clone()].into_iter().chain(unit).chain(draft).chain(rule).collect();
        Said { text: text.join(" "), nothing: getter.nothing(), see: getter.page.as_deref().map(address) }
    }
}

/// ``"`a`, `b` or `c`"``.
fn choice(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => quoted.join(""),
    }
}

/// Breaks a line of code that is too long behind commas; what follows stands below what the last open bracket holds.
fn folded(line: &str, width: usize) -> String {
    let mut out = String::new();
    let mut rest = line.to_owned();
    while rest.chars().count() > width {
        let fitting = rest.char_indices().take_while(|(at, c)| at + c.len_utf8() <= width);
        let Some(comma) = fitting.filter(|(at, c)| *c == ',' && rest[at + 1..].starts_with(' ')).last() else { break };
        let (head, tail) = rest.split_at(comma.0 + 1);
        let mut open = Vec::new();
        for (at, c) in head.char_indices() {
            match c {
                '(' => open.push(at + 1),
                ')' => drop(open.pop()),
                _ => {}
            }
        }
        let indent = open.last().copied().unwrap_or(8);
        out.push_str(head);
        out.push('\n');
        rest = " ".repeat(indent) + tail.trim_start();
    }
    out + &rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_in_each_manner() {
        assert_eq!(
            (camel("session_plan_ids"), snake("toolCallId")),
            ("sessionPlanIds".to_owned(), "tool_call_id".to_owned())
        );
        assert_eq!(choice(&["a".to_owned(), "b".to_owned(), "c".to_owned()]), "`a`, `b` or `c`");
    }

    #[test]
    fn long_lines_are_folded_below_their_bracket() {
        assert_eq!(
            folded("    return f(first, second(a), third);", 30),
            "    return f(first, second(a),\n             third);"
        );
        assert_eq!(folded("short", 30), "short");
    }
}
