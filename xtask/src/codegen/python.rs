//! Python: per protocol version a stub for type checkers and editors, and a module for what runs.
//!
//! The stub (`vN.pyi`) says everything, with `NotRequired` and docstrings. The module (`vN.py`) holds the same types
//! as text, which `python/libacp/types/_lazy.py` turns into real `TypedDict`s and `Literal`s when they are first asked
//! for: some hundred classes would cost every program several milliseconds at import, on Python 3.9 without a
//! dependency even twice the classes.
//!
//! Python has no template types, so a union leaves out the record for unknown tags: with it, comparing the tag would
//! narrow nothing. It is there by name (`ContentBlockOther`) for whoever casts to it.

use std::fmt::Write as _;

use anyhow::Result;
use indexmap::IndexMap;

use super::about::{wrap, About};
use super::common::{calls, flatten, items, Form, Item, Member};
use super::MARK;
use crate::model::{Field, Kind, Sender, TypeExpr, Version};

/// Names of the lists of methods: the type of the methods' names, the table, and the protocols of what sends them.
struct Calls {
    sender: Sender,
    kind: Kind,
    says: &'static str,
    names: &'static str,
    table: &'static str,
    send: &'static str,
    call: Option<&'static str>,
}

const CALLS: [Calls; 4] = [
    Calls {
        sender: Sender::Client,
        kind: Kind::Request,
        says: "What a client may ask an agent",
        names: "ClientRequest",
        table: "CLIENT_REQUESTS",
        send: "SendClientRequest",
        call: Some("CallAgent"),
    },
    Calls {
        sender: Sender::Client,
        kind: Kind::Notification,
        says: "What a client may tell an agent",
        names: "ClientNotification",
        table: "CLIENT_NOTIFICATIONS",
        send: "SendClientNotification",
        call: None,
    },
    Calls {
        sender: Sender::Agent,
        kind: Kind::Request,
        says: "What an agent may ask a client",
        names: "AgentRequest",
        table: "AGENT_REQUESTS",
        send: "SendAgentRequest",
        call: Some("CallClient"),
    },
    Calls {
        sender: Sender::Agent,
        kind: Kind::Notification,
        says: "What an agent may tell a client",
        names: "AgentNotification",
        table: "AGENT_NOTIFICATIONS",
        send: "SendAgentNotification",
        call: None,
    },
];

/// How a type is written: in a stub newer syntax is legal on every Python, in text that runs it is not.
#[derive(Clone, Copy, PartialEq)]
enum Dialect {
    Stub,
    Runtime,
}

fn all(version: &Version) -> Result<IndexMap<String, Item<'_>>> {
    let mut reserved = vec!["Meta", "Any", "Literal", "Protocol", "NotRequired", "TypeAlias", "TypedDict"];
    reserved.extend(CALLS.iter().flat_map(|calls| [calls.names, calls.send].into_iter().chain(calls.call)));
    items(version, &reserved)
}

/// `python/libacp/types/vN.pyi`.
pub(super) fn stub(version: &Version) -> Result<String> {
    let items = all(version)?;
    let mut out = format!(
        "# {MARK}\n\"\"\"Messages of protocol version {}.\n\n\
         Objects are plain dicts; these types describe them. Comparing a union's tag narrows it. In an open union, a tag may\n\
         also begin with ``_``, or come from a later version: such a value has the type whose name ends in ``Other``, which\n\
         the union leaves out so that narrowing works.\n\"\"\"\n\n\
         from collections.abc import Awaitable, Mapping\n\
         from typing import Any, Final, Literal, Protocol, TypeVar, final, overload\n\n\
         from typing_extensions import NotRequired, TypeAlias, TypedDict\n\n\
         _Sent = TypeVar(\"_Sent\", covariant=True)\n\n\
         Meta: TypeAlias = dict[str, Any]\n\"\"\"Extension data of an object, by name.\"\"\"\n",
        version.number
    );
    for (name, item) in &items {
        match &item.form {
            Form::Record(record) => {
                let sealed = if record.sealed { "@final\n" } else { "" };
                let _ = write!(out, "\n{sealed}class {name}(TypedDict):\n");
                let start = out.len();
                docstring(&mut out, "    ", &item.about);
                for member in flatten(&items, record)? {
                    let (ty, required, about) = declared(&member, Dialect::Stub);
                    let Some(ty) = ty else { continue };
                    let ty = if required { ty } else { format!("NotRequired[{ty}]") };
                    let _ = writeln!(out, "    {}: {ty}", member.name());
                    docstring(&mut out, "    ", &about);
                }
                if out.len() == start {
                    out.push_str("    pass\n");
                }
            }
            form => {
                if let Some(ty) = alias(form, Dialect::Stub) {
                    let _ = write!(out, "\n{name}: TypeAlias = {ty}\n");
                    docstring(&mut out, "", &item.about);
                }
            }
        }
    }
    for group in &CALLS {
        stub_calls(&mut out, version, group);
    }
    out.push_str("\nERROR_CODES: Final[Mapping[str, int]]\n\"\"\"The error codes by name.\"\"\"\n");
    Ok(out)
}

fn stub_calls(out: &mut String, version: &Version, group: &Calls) {
    let calls = calls(version, group.sender, group.kind);
    let names: Vec<String> = calls.iter().map(|call| quoted(call.0)).collect();
    let Calls { says, names: name, table, send, .. } = group;
    let _ = write!(out, "\n{name}: TypeAlias = Literal[\n    {},\n]\n\"\"\"{says}.\"\"\"\n", names.join(",\n    "));
    let (holds, means) = match group.kind {
        Kind::Notification => ("str", "the name of the type of its params"),
        _ => ("tuple[str, str]", "the names of the types of its params and its result"),
    };
    let _ = write!(out, "\n{table}: Final[Mapping[{name}, {holds}]]\n\"\"\"{says}: each method, with {means}.\"\"\"\n");
    let mut protocol = |name: &str, doc: &str, awaits: bool| {
        let (base, sent) = if awaits { ("Protocol", "") } else { ("Protocol[_Sent]", "_Sent") };
        let _ = write!(out, "\nclass {name}({base}):\n    \"\"\"{doc}\"\"\"\n\n");
        for (method, params, result, about) in &calls {
            let result = if awaits { format!("Awaitable[{}]", result.unwrap_or("None")) } else { sent.to_owned() };
            let _ = write!(
                out,
                "    @overload\n    def __call__(self, method: Literal[{}], params: {params}, /) -> {result}:",
                quoted(method)
            );
            if about.text.is_empty() && about.see.is_none() && about.draft.is_none() {
                out.push_str(" ...\n");
            } else {
                out.push('\n');
                docstring(out, "        ", about);
                out.push_str("        ...\n");
            }
        }
    };
    protocol(send, &format!("{says}: a function that sends it and returns at once."), false);
    if let Some(call) = group.call {
        protocol(call, &format!("{says}: a function whose result is awaited."), true);
    }
}

/// `python/libacp/types/vN.py`.
pub(super) fn module(version: &Version) -> Result<String> {
    let items = all(version)?;
    let mut out = format!(
        "# {MARK}\n\"\"\"Messages of protocol version {}; ``v{0}.pyi`` beside this file documents them.\n\n\
         The types are real when asked for, and cost nothing before.\n\"\"\"\n\n\
         from ._lazy import lazy as _lazy\n\n\
         # Members by record; a name that ends in \"?\" may be absent.\n_RECORDS = {{\n",
        version.number
    );
    let mut aliases = vec![("Meta".to_owned(), "dict[str, Any]".to_owned())];
    let mut errors = String::new();
    for (name, item) in &items {
        match &item.form {
            Form::Record(record) => {
                let mut members = Vec::new();
                for member in flatten(&items, record)? {
                    let (ty, required, _) = declared(&member, Dialect::Runtime);
                    let Some(ty) = ty else { continue };
                    let absent = if required { "" } else { "?" };
                    members.push(format!("{}: {}", quoted(&format!("{}{absent}", member.name())), single(&ty)));
                }
                let _ = writeln!(out, "    {}: {{{}}},", quoted(name), members.join(", "));
            }
            form => {
                if let Form::Codes(codes) = form {
                    errors
                        .extend(codes.iter().map(|(number, code)| format!("    {}: {number},\n", quoted(&code.name))));
                }
                aliases.extend(alias(form, Dialect::Runtime).map(|ty| (name.clone(), ty)));
            }
        }
    }
    let mut tables = String::new();
    for group in &CALLS {
        let calls = calls(version, group.sender, group.kind);
        let names: Vec<String> = calls.iter().map(|call| quoted(call.0)).collect();
        aliases.push((group.names.to_owned(), format!("Literal[{}]", names.join(", "))));
        let _ = write!(tables, "\n{} = {{\n", group.table);
        for (method, params, result, _) in calls {
            let types = match result {
                Some(result) => format!("({}, {})", quoted(params), quoted(result)),
                None => quoted(params),
            };
            let _ = writeln!(tables, "    {}: {types},", quoted(method));
        }
        tables.push_str("}\n");
    }
    out.push_str("}\n\n_ALIASES = {\n");
    for (name, ty) in &aliases {
        let _ = writeln!(out, "    {}: {},", quoted(name), single(ty));
    }
    let protocols = |generic: bool| {
        let names = CALLS.iter().filter_map(|calls| if generic { Some(calls.send) } else { calls.call });
        names.map(|name| format!("{}: {}", quoted(name), if generic { "True" } else { "False" })).collect::<Vec<_>>()
    };
    let protocols = [protocols(true), protocols(false)].concat().join(",\n    ");
    let _ = write!(
        out,
        "}}\n\n# Whether each protocol takes the type of what is returned.\n_PROTOCOLS = {{\n    {protocols},\n}}\n\
         {tables}\nERROR_CODES = {{\n{errors}}}\n\n\
         __getattr__, __dir__ = _lazy(__name__, _RECORDS, _ALIASES, _PROTOCOLS)\n"
    );
    Ok(out)
}

/// A member's type, whether it must be there, and what is said about it. The tag of an untagged record has no type:
/// its absence is what tells such a record.
fn declared(member: &Member, dialect: Dialect) -> (Option<String>, bool, About) {
    match member {
        Member::Tag(_, value) => (Some(format!("Literal[{}]", quoted(value))), true, About::default()),
        Member::OtherTag(_) => (Some("str".to_owned()), true, About::default()),
        Member::NoTag(_) => (None, false, About::default()),
        Member::Meta => (Some(union(&["Meta".to_owned(), "None".to_owned()], dialect)), false, About::default()),
        Member::Field(_, field) => {
            let ty = match constant(field) {
                Some(constant) => constant,
                None => expression(&field.ty),
            };
            let null = field.null || field.patch;
            let ty = if null && ty != "Any" { union(&[ty, "None".to_owned()], dialect) } else { ty };
            (Some(ty), field.is_always_there(), About::of_field(field))
        }
    }
}

fn constant(field: &Field) -> Option<String> {
    let constant = field.constant.as_ref()?;
    Some(match constant {
        serde_json::Value::Bool(value) => format!("Literal[{}]", if *value { "True" } else { "False" }),
        serde_json::Value::Null => "None".to_owned(),
        // Python has no literal types of floats and containers.
        serde_json::Value::String(text) => format!("Literal[{}]", quoted(text)),
        serde_json::Value::Number(number) if number.is_i64() => format!("Literal[{number}]"),
        _ => return None,
    })
}

/// The type that a name stands for; nothing for records.
fn alias(form: &Form, dialect: Dialect) -> Option<String> {
    Some(match form {
        Form::Record(_) => return None,
        Form::Choice(of) => {
            let known = of.iter().filter(|(_, other)| !other).map(|(name, _)| name.clone());
            union(&known.collect::<Vec<_>>(), dialect)
        }
        Form::AnyOf(of) => {
            let of: Vec<String> = of.iter().map(expression).collect();
            // Checkers find no type for a list that is written down where several lists may stand.
            let inner: Option<Vec<&str>> =
                of.iter().map(|each| each.strip_prefix("list[")?.strip_suffix(']')).collect();
            match inner {
                Some(inner) => {
                    format!("list[{}]", union(&inner.into_iter().map(str::to_owned).collect::<Vec<_>>(), dialect))
                }
                None => union(&of, dialect),
            }
        }
        Form::Values { values, open } => {
            let values: Vec<String> = values.keys().map(|value| quoted(value)).collect();
            let literal = format!("Literal[{}]", values.join(", "));
            if *open {
                union(&[literal, "str".to_owned()], dialect)
            } else {
                literal
            }
        }
        Form::Codes(_) => "int".to_owned(),
        Form::Alias(of) => expression(of),
    })
}

fn union(of: &[String], dialect: Dialect) -> String {
    match (of, dialect) {
        ([one], _) => one.clone(),
        (_, Dialect::Stub) => of.join(" | "),
        (_, Dialect::Runtime) => format!("Union[{}]", of.join(", ")),
    }
}

fn expression(ty: &TypeExpr) -> String {
    match ty {
        TypeExpr::Any => "Any".to_owned(),
        TypeExpr::Boolean => "bool".to_owned(),
        TypeExpr::String => "str".to_owned(),
        TypeExpr::Double => "float".to_owned(),
        TypeExpr::Integer(_) => "int".to_owned(),
        TypeExpr::Named(name) => name.clone(),
        TypeExpr::List(item) => format!("list[{}]", expression(item)),
        TypeExpr::Map(value) => format!("dict[str, {}]", expression(value)),
    }
}

/// A string literal. JSON's escapes are Python's, as long as no character is beyond the first plane and escaped.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A string literal in single quotes, for types that hold double ones.
fn single(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}

/// Writes a docstring, or nothing where there is nothing to say.
fn docstring(out: &mut String, indent: &str, about: &About) {
    let mut lines: Vec<String> = about.text.iter().flat_map(|text| wrap(text, 112 - indent.len())).collect();
    lines.extend(about.draft.iter().map(|draft| format!("Draft: `{draft}`.")));
    lines.extend(about.see.iter().map(|see| format!("See {see}")));
    for line in &mut lines {
        *line = line.replace('\\', "\\\\").replace("\"\"\"", "'''");
    }
    match lines.as_slice() {
        [] => {}
        [line] if !line.ends_with('"') => {
            let _ = writeln!(out, "{indent}\"\"\"{line}\"\"\"");
        }
        [first, rest @ ..] => {
            let _ = writeln!(out, "{indent}\"\"\"{first}");
            for line in rest {
                let _ = writeln!(out, "{indent}{line}");
            }
            let _ = writeln!(out, "{indent}\"\"\"");
        }
    }
}
