//! C++: the part of the class `acp::Connection` that asks.

use std::fmt::Write as _;

use super::c::is_const;
use super::{folded, Owner, Said};
use crate::codegen::about::wrap;
use crate::model::getters::{Getter, Getters, Language, Parameter, Shape, Takes};

const WIDTH: usize = 120;

/// The part of `include/acp_connection.hpp`, and that of `include/acp_observer.hpp`.
pub(in crate::codegen) fn part(getters: &Getters, owner: Owner) -> String {
    let mut out = String::new();
    let all: Vec<&Getter> = match owner {
        Owner::Connection => getters.all().collect(),
        Owner::Observer => getters.of_observers().collect(),
    };
    for getter in all.into_iter().filter(|getter| getter.is_in(Language::C)) {
        for line in documentation(getter, owner) {
            let _ = writeln!(out, "    /// {line}");
        }
        let taken: Vec<String> = getter.parameters().iter().map(declared).collect();
        let constant = if is_const(getter) { " const" } else { "" };
        let (ty, body) = typed(getter, owner);
        let head = format!("    {ty} {}({}){constant} noexcept", getter.name, taken.join(", "));
        let short = format!("{head} {{ {} }}", body.join(" "));
        if body.len() == 1 && short.chars().count() <= WIDTH {
            let _ = writeln!(out, "{short}");
        } else {
            let body: Vec<String> = body.iter().map(|line| folded(&format!("        {line}"), WIDTH)).collect();
            let _ = write!(out, "{}\n    {{\n{}\n    }}\n", folded(&head, WIDTH), body.join("\n"));
        }
    }
    out
}

fn declared(parameter: &Parameter) -> String {
    let default = if parameter.default.is_some() { " = {}" } else { "" };
    match parameter.kind {
        Takes::Text | Takes::Id => format!("std::string_view {}{default}", parameter.name),
        Takes::Number => format!("std::uint64_t {}{default}", parameter.name),
    }
}

/// The type that a member function returns, and its body.
fn typed(getter: &Getter, owner: Owner) -> (String, Vec<String>) {
    let passed = getter.parameters();
    let passed = passed.iter().map(|parameter| match parameter.kind {
        Takes::Text | Takes::Id => format!(", detail::slice({})", parameter.name),
        Takes::Number => format!(", {}", parameter.name),
    });
    let call = format!("(acp_{}_{}, handle(){})", owner.name(), getter.name, passed.collect::<String>());
    let nothing = getter.may_be_nothing();
    let plain = |ty: &str, read: String, otherwise: &str| {
        if nothing {
            (format!("std::optional<{ty}>"), vec![format!("return {read};")])
        } else {
            (ty.to_owned(), vec![format!("return {read}.value_or({otherwise});")])
        }
    };
    let list = |ty: &str, handle: &str| {
        (ty.to_owned(), vec![format!("return list<{ty}, {handle}>(acp_connection_{});", getter.name)])
    };
    match &getter.gives {
        Shape::Boolean => plain("bool", format!("detail::read<bool>{call}"), "false"),
        Shape::Count => plain("std::size_t", format!("detail::read<std::size_t>{call}"), "0"),
        Shape::Uint16 => plain("std::uint16_t", format!("detail::read<std::uint16_t>{call}"), "0"),
        Shape::Request | Shape::Uint64 => plain("std::uint64_t", format!("detail::read<std::uint64_t>{call}"), "0"),
        Shape::Enum(name) => plain(name, format!("detail::read_enum<{name}>{call}"), &format!("{name}{{}}")),
        Shape::Text | Shape::Bytes | Shape::RequestId => {
            plain("std::string_view", format!("detail::read_text{call}"), "std::string_view()")
        }
        Shape::Json | Shape::SessionSnapshot | Shape::Session | Shape::Names | Shape::Rows(_) if nothing => {
            let told = format!("const auto told = detail::read_text{call};");
            let json = "return told ? std::optional<Json>(Json(*told)) : std::nullopt;".to_owned();
            ("std::optional<Json>".to_owned(), vec![told, json])
        }
        Shape::Json | Shape::SessionSnapshot | Shape::Session | Shape::Names | Shape::Rows(_) => {
            let json = format!("return Json(detail::read_text{call}.value_or(std::string_view()));");
            ("Json".to_owned(), vec![json])
        }
        Shape::Config => {
            ("Config".to_owned(), vec![format!("return Config(detail::read<acp_config *>{call}.value_or(nullptr));")])
        }
        Shape::Sessions => list("Sessions", "acp_sessions"),
        Shape::Requests => list("OpenRequests", "acp_requests"),
        Shape::Terminals => list("Terminals", "acp_terminals"),
    }
}

fn documentation(getter: &Getter, owner: Owner) -> Vec<String> {
    let (said, owner) = (Said::of(getter), owner.name());
    let mut text = said.text;
    for parameter in getter.takes.iter().filter(|parameter| parameter.kind == Takes::Id) {
        let _ = write!(text, " `{}` is JSON text.", parameter.name);
    }
    if !is_const(getter) && !getter.changes {
        let _ = write!(text, " Valid until the next call that changes the {owner}, this one included.");
    } else if matches!(getter.gives, Shape::Text | Shape::Bytes | Shape::Json) {
        let _ = write!(text, " Valid until the next call that changes the {owner}.");
    }
    if !getter.members.is_empty() {
        text.push_str(" acp.h lists the members.");
    }
    if let Some(nothing) = said.nothing {
        let _ = write!(text, " `std::nullopt` {nothing}.");
    }
    wrap(&text, 108)
}
