//! C: the functions of `ffi` that ask a connection something, one file for each group.

use std::fmt::Write as _;

use anyhow::{Context, Result};

use super::{json_list, value, Owner, Said, ALLOWED};
use crate::codegen::about::wrap;
use crate::codegen::MARK;
use crate::model::getters::{Getter, Getters, Language, Parameter, Shape, Takes};

/// How a function is made.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Form {
    /// It looks into the connection.
    Ask,
    /// It makes a text, which the connection keeps.
    Tell,
    /// It changes the connection, and makes nothing.
    Change,
    /// It makes a handle.
    Make,
}

pub(super) fn form(getter: &Getter) -> Form {
    match getter.gives {
        _ if getter.changes => Form::Change,
        Shape::Config | Shape::Sessions | Shape::Requests | Shape::Terminals => Form::Make,
        Shape::Names | Shape::Rows(_) | Shape::RequestId => Form::Tell,
        _ if getter.made => Form::Tell,
        _ => Form::Ask,
    }
}

/// Whether the function takes a pointer to a constant connection.
pub(super) fn is_const(getter: &Getter) -> bool {
    matches!(form(getter), Form::Ask | Form::Make)
}

/// `ffi/src/GROUP.rs`.
pub(in crate::codegen) fn file(getters: &Getters, group: &str) -> Result<String> {
    let group = getters.groups.get(group).with_context(|| format!("there is no group {group}"))?;
    let mut functions = String::new();
    let owners: &[Owner] =
        if group.of_observers { &[Owner::Connection, Owner::Observer] } else { &[Owner::Connection] };
    for owner in owners {
        for getter in group.getters.iter().filter(|getter| getter.is_in(Language::C)) {
            function(&mut functions, getters, getter, *owner);
        }
    }
    let mut out = format!("// {MARK}\n//! {}\n\n{ALLOWED}", group.about);
    let words: Vec<&str> = functions.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let ours = [("Id", "use libacp::Id;\n"), ("list", "use libacp::json::list;\n")];
    let used: String = ours.iter().filter(|(name, _)| words.contains(name)).map(|(_, import)| *import).collect();
    out.push_str(&used);
    if !used.is_empty() {
        out.push('\n');
    }
    for (path, names) in [
        (
            "crate::border",
            &["acp_slice", "acp_status", "change", "make", "output", "shared", "ACP_INVALID_ARGUMENT"][..],
        ),
        ("crate::config", &["acp_config"]),
        ("crate::connection", &["acp_connection", "ask", "tell"]),
        ("crate::lists", &["acp_requests", "acp_sessions", "acp_terminals"]),
        ("crate::numbers", &["Number"]),
        ("crate::observer", &["acp_observer"]),
    ] {
        let used = |name: &&&str| match **name {
            "Number" => functions.contains(".number()"),
            name => words.contains(&name),
        };
        let used: Vec<&str> = names.iter().filter(used).copied().collect();
        if !used.is_empty() {
            let _ = writeln!(out, "use {path}::{{{}}};", used.join(", "));
        }
    }
    Ok(out + "\n" + &functions)
}

fn function(out: &mut String, getters: &Getters, getter: &Getter, owner: Owner) {
    let parameters = getter.parameters();
    for line in documentation(getters, getter, owner) {
        let _ = writeln!(out, "/// {line}");
    }
    let (name, owner) = (&getter.name, owner.name());
    let pointer = if is_const(getter) { "*const" } else { "*mut" };
    let mut declared = vec![format!("{owner}: {pointer} acp_{owner}")];
    declared.extend(parameters.iter().map(|parameter| format!("{}: {}", parameter.name, parameter_type(parameter))));
    declared.push(format!("out: *mut {}", output_type(getter)));
    let promised: Vec<&str> = parameters.iter().filter(|one| one.kind != Takes::Number).map(|one| &*one.name).collect();
    let promised: Vec<String> =
        [owner].into_iter().chain(promised).chain(["out"]).map(|name| format!("`{name}`")).collect();
    let promised =
        promised.split_last().map_or_else(String::new, |(last, first)| format!("{} and {last}", first.join(", ")));
    let given = match parameters.as_slice() {
        [one] if one.kind != Takes::Number => argument(one).trim_end_matches('?').to_owned(),
        several => format!("Ok({})", tuple(several, argument)),
    };
    let taken = tuple(&parameters, |parameter| parameter.name.clone());
    let body = match form(getter) {
        Form::Ask => {
            format!("ask({owner}, out, || {given}, |core, {taken}| {})", value("core", getter, |e| convert(getter, e)))
        }
        Form::Tell => {
            format!("tell({owner}, out, || {given}, |core, {taken}| {})", value("core", getter, |e| convert(getter, e)))
        }
        Form::Change => {
            let given: Vec<String> = getter.takes.iter().map(argument).collect();
            let call = format!("{owner}.core_mut().{}({})", getter.core, given.join(", "));
            format!("change({owner}, |{owner}| output(out, || Ok({call})))")
        }
        Form::Make => {
            let core = format!("shared(connection)?.core().{}()", getter.core);
            let made = match getter.gives {
                Shape::Config => format!("acp_config::of({core}.clone())"),
                Shape::Terminals => "acp_terminals::new(shared(connection)?.core())".to_owned(),
                _ => format!("{}::new({core})", output_type(getter).trim_start_matches("*mut ")),
            };
            format!("make(out, || Ok({made}))")
        }
    };
    let _ = write!(
        out,
        "#[no_mangle]\npub unsafe extern \"C\" fn acp_{owner}_{name}({}) -> acp_status {{\n\
         // SAFETY: {promised} are as the header requires.\nunsafe {{ {body} }}\n}}\n\n",
        declared.join(", ")
    );
}

/// What stands between the brackets of a call or a pattern: `()` for none, one by itself.
fn tuple(parameters: &[Parameter], written: impl Fn(&Parameter) -> String) -> String {
    let written: Vec<String> = parameters.iter().map(written).collect();
    match written.as_slice() {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    }
}

fn argument(parameter: &Parameter) -> String {
    let name = &parameter.name;
    match parameter.kind {
        Takes::Text => format!("{name}.text()?"),
        Takes::Id => format!("Id::from_json({name}.text()?).ok_or(ACP_INVALID_ARGUMENT)?"),
        Takes::Number => name.clone(),
    }
}

fn parameter_type(parameter: &Parameter) -> &'static str {
    match parameter.kind {
        Takes::Text | Takes::Id => "acp_slice",
        Takes::Number => "u64",
    }
}

fn output_type(getter: &Getter) -> &'static str {
    match getter.gives {
        Shape::Boolean => "bool",
        Shape::Count => "usize",
        Shape::Uint16 => "u16",
        Shape::Enum(_) => "i32",
        Shape::Request | Shape::Uint64 => "u64",
        Shape::Config => "*mut acp_config",
        Shape::Sessions => "*mut acp_sessions",
        Shape::Requests => "*mut acp_requests",
        Shape::Terminals => "*mut acp_terminals",
        Shape::Text
        | Shape::Bytes
        | Shape::Json
        | Shape::SessionSnapshot
        | Shape::Session
        | Shape::Names
        | Shape::Rows(_)
        | Shape::RequestId => "acp_slice",
    }
}

/// What the core gives as what goes out.
fn convert(getter: &Getter, expression: &str) -> String {
    match &getter.gives {
        Shape::Enum(_) => format!("{expression}.number()"),
        Shape::Request => format!("{expression}.serial"),
        Shape::RequestId => format!("{expression}.id.to_json()"),
        list @ (Shape::Names | Shape::Rows(_)) => json_list(expression, list),
        Shape::Text | Shape::Json | Shape::SessionSnapshot if getter.made => format!("String::from({expression})"),
        Shape::Text | Shape::Bytes | Shape::Json => format!("acp_slice::from({expression})"),
        _ => expression.to_owned(),
    }
}

/// The comment of a function: what it is for, its parameters, its output, and the statuses that it returns.
fn documentation(getters: &Getters, getter: &Getter, owner: Owner) -> Vec<String> {
    let (said, owner) = (Said::of(getter), owner.name());
    let mut items = vec![format!("`{owner}`: the {owner}")];
    for parameter in getter.parameters() {
        let json = if parameter.kind == Takes::Id { " as JSON text" } else { "" };
        items.push(format!("`{}`: {}{json}", parameter.name, parameter.doc));
    }
    let until = match form(getter) {
        Form::Tell => format!("; valid until the next call that changes the {owner}, this function included"),
        _ => format!("; valid until the next call that changes the {owner}"),
    };
    let frees = |list: &str| format!("; the caller owns it and frees it with `acp_{list}_free`");
    let output = match &getter.gives {
        Shape::Enum(name) => getters.enums[name]
            .c
            .as_ref()
            .map_or_else(|| "a number".to_owned(), |prefix| format!("one of `{prefix}_…`")),
        Shape::Text => format!("the text{until}"),
        Shape::Bytes => format!("the bytes, not copied{until}"),
        Shape::RequestId => format!("the id as JSON text{until}"),
        Shape::Json | Shape::SessionSnapshot | Shape::Session => format!("JSON text{until}"),
        Shape::Names => format!("JSON text, a list of strings{until}"),
        Shape::Rows(members) => {
            let names: Vec<String> = members.keys().map(|name| format!("\"{name}\"")).collect();
            format!("JSON text, a list of objects `{{{}}}`{until}", names.join(", "))
        }
        Shape::Request => format!("the request's serial number on this {owner}"),
        Shape::Config => format!("a copy{}", frees("config")),
        Shape::Sessions => format!("a list{}", frees("sessions")),
        Shape::Requests => format!("a list{}", frees("requests")),
        Shape::Terminals => format!("a list{}", frees("terminals")),
        Shape::Boolean => "true or false".to_owned(),
        Shape::Count => getter.unit.clone().unwrap_or_else(|| "the number".to_owned()),
        Shape::Uint16 | Shape::Uint64 => "the number".to_owned(),
    };
    items.push(format!("`*out`: {output}"));
    let mut statuses = vec!["`ACP_OK`".to_owned()];
    statuses.extend(said.nothing.map(|nothing| format!("`ACP_NONE` {nothing}")));
    for id in getter.parameters().iter().filter(|parameter| parameter.kind == Takes::Id) {
        statuses.push(format!("`ACP_INVALID_ARGUMENT` if `{}` cannot be an id", id.name));
    }
    items.push(match statuses.as_slice() {
        [ok] => format!("returns: {ok} or a general error"),
        several => format!("returns: {}; or a general error", several.join("; ")),
    });
    items.extend(said.see.map(|see| format!("see {see}")));
    let mut lines = wrap(&said.text, 112);
    let mut list = |items: &[String]| {
        if !items.is_empty() {
            lines.push(String::new());
        }
        for item in items {
            let mut marks = ["- "].into_iter().chain(std::iter::repeat("  "));
            lines.extend(wrap(item, 110).into_iter().map(|line| marks.next().unwrap_or_default().to_owned() + &line));
        }
    };
    list(&getter.members);
    list(&items);
    lines
}
