//! TypeScript: one declaration file per protocol version, and one that names them.
//!
//! Every variant of a union is an interface whose tag is a literal. Unknown tags are typed as `_…`: a template type,
//! unlike `string`, lets the compiler leave that variant out once the tag was compared with a known one.

use std::fmt::Write as _;

use anyhow::Result;
use indexmap::IndexMap;

use super::about::{wrap, About};
use super::common::{calls, items, Form, Item, Member};
use super::MARK;
use crate::model::{Field, Int, Kind, Sender, TypeExpr, Version};

/// The interfaces that list the methods, with what they say.
const METHODS: [(&str, &str, Sender, Kind); 4] = [
    ("ClientRequests", "What a client may ask an agent.", Sender::Client, Kind::Request),
    ("ClientNotifications", "What a client may tell an agent.", Sender::Client, Kind::Notification),
    ("AgentRequests", "What an agent may ask a client.", Sender::Agent, Kind::Request),
    ("AgentNotifications", "What an agent may tell a client.", Sender::Agent, Kind::Notification),
];

const INDEX: &str = "
/** Messages of protocol version 1. */
export * as v1 from \"./types.v1.js\";
/** Messages of protocol version 2. */
export * as v2 from \"./types.v2.js\";

/** Names a request. A `bigint` is what does not fit a `number` exactly; null is what a peer sends that lost the id. */
export type RequestId = string | number | bigint | null;

/** Anything that JSON can say. */
export type Json = null | boolean | number | bigint | string | Json[] | { [key: string]: Json };

/** The protocol's versions. */
export type ProtocolVersion = 1 | 2;
";

/// `wasm/js/types.d.ts`.
pub(super) fn index() -> String {
    format!("// {MARK}\n{INDEX}")
}

/// `wasm/js/types.vN.d.ts`.
pub(super) fn file(version: &Version) -> Result<String> {
    let reserved: Vec<&str> = METHODS.iter().map(|methods| methods.0).chain(["Meta"]).collect();
    let items = items(version, &reserved)?;
    let mut out = format!("// {MARK}\n\n/** Extension data of an object, by name. */\n");
    out.push_str("export type Meta = { [key: string]: unknown };\n");
    for (name, item) in &items {
        out.push('\n');
        comment(&mut out, "", &item.about);
        declare(&mut out, name, item, &items);
    }
    for (name, says, sender, kind) in METHODS {
        let _ = write!(out, "\n/** {says} */\nexport interface {name} {{\n");
        for (method, params, result, about) in calls(version, sender, kind) {
            comment(&mut out, "  ", &about);
            let result = result.map(|result| format!("; result: {result}")).unwrap_or_default();
            let _ = writeln!(out, "  {}: {{ params: {params}{result} }};", quoted(method));
        }
        out.push_str("}\n");
    }
    Ok(out)
}

fn declare(out: &mut String, name: &str, item: &Item, items: &IndexMap<String, Item>) {
    let alias = |out: &mut String, parts: &[String]| {
        let parts = if let [one] = parts { format!(" {one}") } else { format!("\n  | {}", parts.join("\n  | ")) };
        let _ = writeln!(out, "export type {name} ={parts};");
    };
    match &item.form {
        Form::Record(record) => {
            let bases = match record.bases.as_slice() {
                [] => String::new(),
                bases => format!(" extends {}", bases.join(", ")),
            };
            if record.members.is_empty() && !record.open {
                let _ = writeln!(out, "export interface {name}{bases} {{}}");
                return;
            }
            let _ = writeln!(out, "export interface {name}{bases} {{");
            for member in &record.members {
                declare_member(out, member);
            }
            // An inherited index signature would only be repeated.
            if record.members.iter().any(|member| matches!(member, Member::OtherTag(_))) {
                out.push_str("  [key: string]: unknown;\n");
            }
            out.push_str("}\n");
        }
        Form::Choice(of) => alias(out, &of.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>()),
        Form::AnyOf(of) => alias(out, &of.iter().map(expression).collect::<Vec<_>>()),
        Form::Values { values, open } => {
            let mut parts: Vec<String> = values.keys().map(|value| quoted(value)).collect();
            parts.extend(open.then(|| "(string & {})".to_owned()));
            alias(out, &parts);
        }
        Form::Codes(codes) => {
            let parts: Vec<String> = codes.keys().cloned().chain(["(number & {})".to_owned()]).collect();
            alias(out, &parts);
        }
        Form::Alias(of) => {
            debug_assert!(of.named().is_none_or(|of| items.contains_key(of)), "{name} names what is not there");
            alias(out, &[expression(of)]);
        }
    }
}

fn declare_member(out: &mut String, member: &Member) {
    let name = member.name();
    let text = match member {
        Member::Tag(_, value) => format!("{name}: {}", quoted(value)),
        Member::OtherTag(_) => format!("{name}: `_${{string}}`"),
        Member::NoTag(_) => format!("{name}?: null"),
        Member::Meta => format!("{name}?: Meta | null"),
        Member::Field(_, field) => {
            comment(out, "  ", &About::of_field(field));
            let absent = if field.is_always_there() { "" } else { "?" };
            let null = if field.null || field.patch { " | null" } else { "" };
            format!("{name}{absent}: {}{null}", value(field))
        }
    };
    let _ = writeln!(out, "  {text};");
}

fn value(field: &Field) -> String {
    match &field.constant {
        // JSON's literals are TypeScript's literal types.
        Some(constant) => constant.to_string(),
        None => expression(&field.ty),
    }
}

fn expression(ty: &TypeExpr) -> String {
    match ty {
        TypeExpr::Any => "unknown".to_owned(),
        TypeExpr::Boolean => "boolean".to_owned(),
        TypeExpr::String => "string".to_owned(),
        TypeExpr::Double | TypeExpr::Integer(Int::I32 | Int::U16 | Int::U32) => "number".to_owned(),
        TypeExpr::Integer(Int::I64 | Int::U64) => "number | bigint".to_owned(),
        TypeExpr::Named(name) => name.clone(),
        TypeExpr::List(item) => match item.as_ref() {
            TypeExpr::Integer(Int::I64 | Int::U64) => format!("({})[]", expression(item)),
            _ => format!("{}[]", expression(item)),
        },
        TypeExpr::Map(value) => format!("{{ [key: string]: {} }}", expression(value)),
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Writes a `JSDoc` comment, or nothing where there is nothing to say.
fn comment(out: &mut String, indent: &str, about: &About) {
    let mut lines: Vec<String> = about.text.iter().flat_map(|text| wrap(text, 112)).collect();
    lines.extend(about.see.iter().map(|see| format!("@see {see}")));
    lines.extend(about.draft.iter().map(|draft| format!("@experimental Draft `{draft}`.")));
    for line in &mut lines {
        *line = line.replace("*/", "*\u{200b}/");
    }
    match lines.as_slice() {
        [] => {}
        [line] => {
            let _ = writeln!(out, "{indent}/** {line} */");
        }
        lines => {
            let _ = writeln!(out, "{indent}/**");
            for line in lines {
                let _ = writeln!(out, "{indent} * {line}");
            }
            let _ = writeln!(out, "{indent} */");
        }
    }
}
