//! Rust message types: one file per area of each version, with their traits listed beside them.
//!
//! `names` says what things are called, `docs` what is written about them; `objects` and `unions` write the types. The
//! traits and helpers that the types use are written by hand, in `core/src/schema/`.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::{screaming, MARK};
use crate::model::{Body, Field, Fields, Flat, Int, Kind, Model, Sender, Shape, TypeDef, TypeExpr, Union, Version};
use names::snake;

mod docs;
mod names;
mod objects;
mod unions;

/// The one type that the core has by hand: the id of a request, exact.
const REQUEST_ID: &str = "RequestId";

/// All files: path from the workspace's root, and text.
pub(super) fn files(model: &Model) -> Result<Vec<(String, String)>> {
    let mut out = Vec::new();
    for version in &model.versions {
        let rust = Rust::new(version);
        let folder = format!("core/src/schema/{}", version.folder());
        for area in version.areas.iter().filter(|area| !area.types.is_empty()) {
            out.push((format!("{folder}/{}.rs", area.name), rust.area(&area.name, &area.types)?));
        }
        out.push((format!("{folder}/traits.rs"), rust.traits()));
        out.push((format!("{folder}/mod.rs"), rust.index()));
        out.push((format!("core/tests/official/{}.rs", version.folder()), rust.comparison()));
    }
    Ok(out)
}

/// What the types of one version need to know of each other.
struct Rust<'m> {
    version: &'m Version,
    /// Types with a lifetime.
    borrowing: BTreeSet<String>,
    /// By type: members that stand in its JSON without being its own, when it is a part of something else.
    around: BTreeMap<&'m str, BTreeSet<&'m str>>,
}

impl<'m> Rust<'m> {
    fn new(version: &'m Version) -> Self {
        let mut rust = Self { version, borrowing: BTreeSet::new(), around: BTreeMap::new() };
        loop {
            let more = version.types.iter().filter(|(name, def)| !rust.has_lifetime(name) && rust.borrows(name, def));
            let more: Vec<_> = more.map(|(name, _)| name.clone()).collect();
            if more.is_empty() {
                break;
            }
            rust.borrowing.extend(more);
        }
        for (name, fields) in unions::inline(version) {
            if fields.values().any(|field| rust.expr_borrows(&field.ty)) {
                rust.borrowing.insert(name);
            }
        }
        while rust.spread() {}
        rust
    }

    fn has_lifetime(&self, name: &str) -> bool {
        self.borrowing.contains(name)
    }

    fn borrows(&self, name: &str, def: &TypeDef) -> bool {
        match &def.shape {
            _ if name == REQUEST_ID => false,
            Shape::Object { fields, flat } => {
                def.meta || flat.is_some() || fields.values().any(|field| self.expr_borrows(&field.ty))
            }
            Shape::Integer(_) | Shape::Codes(_) => false,
            Shape::Alias(ty) => self.expr_borrows(ty),
            Shape::String { .. } | Shape::Enum { .. } | Shape::Union(_) | Shape::AnyOf { .. } => true,
        }
    }

    fn expr_borrows(&self, ty: &TypeExpr) -> bool {
        match ty {
            TypeExpr::Any | TypeExpr::String | TypeExpr::Map(_) => true,
            TypeExpr::Boolean | TypeExpr::Double | TypeExpr::Integer(_) => false,
            TypeExpr::Named(name) => self.has_lifetime(name),
            TypeExpr::List(item) => self.expr_borrows(item),
        }
    }

    /// Hands members one step down, from unions and objects to what they are flattened with; whether any was new.
    fn spread(&mut self) -> bool {
        let mut pairs: Vec<(&'m str, &'m str)> = Vec::new();
        for (name, def) in &self.version.types {
            let (union, mut own) = match &def.shape {
                Shape::Union(union) => (Some(union), Vec::new()),
                Shape::Object { fields, flat } => {
                    let own = fields.keys().map(String::as_str).chain(def.meta.then_some("_meta")).collect();
                    match flat {
                        Some(Flat::Union(union)) => (Some(union), own),
                        _ => continue,
                    }
                }
                _ => continue,
            };
            own.extend(union.map(|union| union.tag.as_str()));
            own.extend(self.around.get(name.as_str()).into_iter().flatten());
            let bodies = union.into_iter().flat_map(|union| union.variants.values().map(|variant| &variant.body));
            for body in bodies {
                if let Body::Named(part) = body {
                    pairs.extend(own.iter().map(|member| (part.as_str(), *member)));
                }
            }
        }
        let mut new = false;
        for (part, member) in pairs {
            new |= self.around.entry(part).or_default().insert(member);
        }
        new
    }

    /// A named type with its lifetime.
    fn named(&self, name: &str) -> String {
        format!("{name}{}", if self.has_lifetime(name) { "<'a>" } else { "" })
    }

    /// The Rust type of a type expression.
    fn ty(&self, ty: &TypeExpr) -> String {
        match ty {
            TypeExpr::Any => "Raw<'a>".to_owned(),
            TypeExpr::Boolean => "bool".to_owned(),
            TypeExpr::String => "Str<'a>".to_owned(),
            TypeExpr::Double => "f64".to_owned(),
            TypeExpr::Integer(int) => integer(*int).to_owned(),
            TypeExpr::Named(name) => self.named(name),
            TypeExpr::List(item) => format!("Vec<{}>", self.ty(item)),
            TypeExpr::Map(value) => format!("Map<'a, {}>", self.ty(value)),
        }
    }

    /// Whether a constructor takes it as `impl Into<…>`: what a string literal converts to.
    fn converts(&self, ty: &TypeExpr) -> bool {
        match ty {
            TypeExpr::String => true,
            TypeExpr::Named(name) => match self.version.types.get(name).map(|def| &def.shape) {
                Some(Shape::String { .. } | Shape::Enum { .. }) => true,
                _ => name == REQUEST_ID,
            },
            _ => false,
        }
    }

    fn area(&self, area: &str, types: &[String]) -> Result<String> {
        let mut body = String::new();
        for name in types {
            if let Some(def) = self.version.types.get(name) {
                body += &self.type_def(name, def)?;
            }
        }
        // Only what is used is imported; generated files have no unused names either.
        let used = |word: &str| body.contains(word);
        let mut head = format!("//! {MARK}\n//!\n//! {}\n\n", docs::area(area, self.version.number));
        let own = [
            ("IntoOwned", "IntoOwned"),
            ("Map", "Map<"),
            ("Patch", "Patch<"),
            ("Raw", "Raw<"),
            ("Str", "Str<"),
            ("scalars::integer_type", "integer_type!"),
            ("scalars::string_enum", "string_enum!"),
            ("scalars::string_type", "string_type!"),
            ("unions", "unions::"),
        ];
        let own: Vec<_> = own.iter().filter(|(_, mark)| used(mark)).map(|(name, _)| *name).collect();
        let words: BTreeSet<_> = code_words(&body).collect();
        let derives: Vec<_> =
            ["Deserialize", "Deserializer", "Serialize"].into_iter().filter(|name| words.contains(name)).collect();
        if words.contains("VariantAccess") {
            head += "use serde::de::VariantAccess;\n";
        }
        if !derives.is_empty() {
            head.extend([format!("use serde::{{{}}};\n", derives.join(", "))]);
        }
        if used("RawValue") {
            head += "use serde_json::value::RawValue;\n";
        }
        let siblings = self.siblings(types);
        if !siblings.is_empty() {
            head.extend([format!("\nuse super::{{{}}};", siblings.join(", "))]);
        }
        head.extend([format!("\nuse crate::schema::{{{}}};\n\n", own.join(", "))]);
        Ok(head + &body)
    }

    /// Types of other files that those of one refer to.
    fn siblings(&self, own: &[String]) -> Vec<&'m str> {
        let defs = own.iter().filter_map(|name| self.version.types.get(name));
        let found: BTreeSet<_> =
            defs.flat_map(references).filter(|name| !own.iter().any(|mine| mine == name)).collect();
        found.into_iter().collect()
    }

    fn type_def(&self, name: &str, def: &TypeDef) -> Result<String> {
        let docs = docs::of_type(name, def);
        Ok(match &def.shape {
            _ if name == REQUEST_ID => format!("{docs}pub type {name} = crate::jsonrpc::Id;\n\n"),
            Shape::Object { fields, flat } => self.object(name, &docs, fields, def.meta, flat.as_ref())?,
            Shape::String { .. } => invocation("string_type", &format!("{docs}{name}\n")),
            Shape::Integer(int) => invocation("integer_type", &format!("{docs}{name}: {} {{}}\n", integer(*int))),
            Shape::Enum { values, .. } => {
                let values = values.iter().map(|(value, word)| {
                    format!("{}{} = {value:?},\n", docs::of_value(&word.doc, value), names::variant(value))
                });
                invocation("string_enum", &format!("{docs}{name} {{\n{}}}\n", indent(&values.collect::<String>())))
            }
            Shape::Codes(codes) => {
                let codes = codes.iter().map(|(number, code)| {
                    let docs = docs::of_value(code.doc.as_deref().unwrap_or_default(), &code.name);
                    format!("{docs}{} = {number},\n", code.name.to_uppercase())
                });
                invocation("integer_type", &format!("{docs}{name}: i32 {{\n{}}}\n", indent(&codes.collect::<String>())))
            }
            Shape::Union(union) => self.union(name, &docs, union, None)?,
            Shape::AnyOf { of, .. } => self.any_of(name, &docs, of, true),
            Shape::Alias(ty) => {
                let a = if self.has_lifetime(name) { "<'a>" } else { "" };
                let borrow = if self.has_lifetime(name) { "#[serde(borrow)] " } else { "" };
                let ty = self.ty(ty);
                format!(
                    "{docs}#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]\n#[serde(transparent)]\n\
                     pub struct {name}{a}({borrow}pub {ty});\n\n{}",
                    self.owned(name, &format!("{name}(self.0.into_owned())"))
                )
            }
        })
    }

    /// The implementation of `IntoOwned` for a type, with the expression that makes it.
    fn owned(&self, name: &str, make: &str) -> String {
        if !self.has_lifetime(name) {
            return format!("crate::schema::owned::never_borrow!({name});\n\n");
        }
        unions::into_owned_of(name, make)
    }

    fn traits(&self) -> String {
        let folder = self.version.folder();
        let mut names: Vec<_> = self.version.types.keys().filter(|name| *name != REQUEST_ID).collect();
        names.sort_unstable();
        let message = |name: &&String| {
            let null = self.version.types[*name].null_default;
            format!("{} = {}, {null};\n", self.named(name), screaming(name))
        };
        let messages: String = names.iter().map(message).collect();
        let (mut requests, mut notifications) = (String::new(), String::new());
        for (wire, method) in &self.version.methods {
            let from = match method.from {
                Sender::Client => "Client",
                Sender::Agent => "Agent",
                Sender::Both => "Both",
            };
            let told = match method.kind {
                Kind::Request => None,
                Kind::Notification => Some(&method.params),
                Kind::Both => Some(method.notification_params.as_ref().unwrap_or(&method.params)),
            };
            if let Some(result) = &method.result {
                let result = self.named(result).replace("'a", "'r");
                requests.extend([format!("{} = {wire:?}, {from}, {result};\n", method.params)]);
            }
            if let Some(params) = told {
                notifications.extend([format!("{params} = {wire:?}, {from};\n")]);
            }
        }
        format!(
            "//! {MARK}\n//!\n//! The traits of the types of version {}: their places in the tables, and the methods \
             whose params they are.\n\n\
             #[allow(clippy::wildcard_imports)]\nuse super::*;\n\
             use crate::schema::message::{{calls, messages, notifications, requests}};\n\n\
             {}{}{}{}",
            self.version.number,
            invocation("messages", &format!("{folder};\n{messages}")),
            invocation("requests", &requests),
            invocation("notifications", &notifications),
            self.calls(),
        )
    }

    /// The enums of all requests and all notifications, by who sends them.
    fn calls(&self) -> String {
        let mut out = String::new();
        for (side, sender) in [("Client", Sender::Client), ("Agent", Sender::Agent)] {
            for (kind, end) in [(Kind::Request, "Request"), (Kind::Notification, "Notification")] {
                let mut rows = String::new();
                for (wire, method) in &self.version.methods {
                    let fits =
                        [sender, Sender::Both].contains(&method.from) && [kind, Kind::Both].contains(&method.kind);
                    if fits {
                        let own = method.notification_params.as_ref().filter(|_| kind == Kind::Notification);
                        let params = own.unwrap_or(&method.params);
                        let variant = params.strip_suffix(end).unwrap_or(params);
                        rows.extend([format!("{params} = {variant}, {wire:?};\n")]);
                    }
                }
                let (who, what) = (side.to_lowercase(), end.to_lowercase());
                let head = format!("/// The {what}s that a {who} sends.\n{side}{end} of {end};\n");
                let head = head.replace("a agent", "an agent");
                out.extend([invocation("calls", &(head + &rows))]);
            }
        }
        out
    }

    fn index(&self) -> String {
        let areas: Vec<_> = self.version.areas.iter().filter(|area| !area.types.is_empty()).collect();
        let modules = joined(areas.iter().map(|area| format!("mod {};\n", snake(&area.name))));
        let uses = joined(areas.iter().map(|area| format!("pub use {}::*;\n", snake(&area.name))));
        let calls = "pub use traits::{AgentNotification, AgentRequest, ClientNotification, ClientRequest};\n";
        format!(
            "//! {MARK}\n//!\n//! The types of version {} of the protocol.\n\
             // Variants have the sizes that the protocol gives them; boxing each would cost an allocation per message.\n\
             #![allow(clippy::large_enum_variant)]\n\
             // Descriptions come from the model and are checked there; names are the specification's.\n\
             #![allow(clippy::doc_markdown, clippy::struct_field_names, clippy::enum_variant_names)]\n\
             #![allow(clippy::struct_excessive_bools, clippy::too_many_arguments, clippy::new_without_default)]\n\n\
             {modules}mod traits;\n\n{uses}{calls}",
            self.version.number
        )
    }

    /// The list of types that the test against the official crate goes through.
    fn comparison(&self) -> String {
        let mut names: Vec<_> = self.version.types.keys().filter(|name| *name != REQUEST_ID).collect();
        names.sort_unstable();
        let names = joined(names.into_iter().map(|name| format!("{name},\n")));
        format!("// {MARK}\n\n{}", invocation("compare", &format!("{};\n{names}", self.version.folder())))
    }

    /// What a member's Rust type is, and the serde attribute that goes with it.
    fn member(&self, at: &str, name: &str, field: &Field) -> Result<objects::Member> {
        objects::member(self, at, name, field)
    }
}

fn integer(int: Int) -> &'static str {
    match int {
        Int::I32 => "i32",
        Int::I64 => "i64",
        Int::U16 => "u16",
        Int::U32 => "u32",
        Int::U64 => "u64",
    }
}

/// One text after the other.
fn joined(texts: impl Iterator<Item = String>) -> String {
    texts.collect()
}

/// A macro with what it is given; `rustfmt` leaves that as it is.
fn invocation(name: &str, body: &str) -> String {
    format!("{name}! {{\n{}}}\n\n", indent(body))
}

fn indent(text: &str) -> String {
    text.lines().fold(String::new(), |out, line| out + "    " + line + "\n")
}

/// The types that a type refers to.
fn references(def: &TypeDef) -> Vec<&str> {
    fn of_fields(fields: &Fields) -> Vec<&str> {
        fields.values().filter_map(|field| field.ty.named()).collect()
    }
    fn of_union(union: &Union) -> impl Iterator<Item = &Body> {
        union.variants.values().map(|variant| &variant.body).chain(&union.untagged)
    }
    let (fields, union, types) = match &def.shape {
        Shape::Object { fields, flat: None } => (Some(fields), None, &[][..]),
        Shape::Object { fields, flat: Some(Flat::Union(union)) } => (Some(fields), Some(union), &[][..]),
        Shape::Object { fields, flat: Some(Flat::AnyOf(of)) } => (Some(fields), None, &of[..]),
        Shape::Union(union) => (None, Some(union), &[][..]),
        Shape::AnyOf { of, .. } => (None, None, &of[..]),
        Shape::Alias(ty) => (None, None, std::slice::from_ref(ty)),
        Shape::String { .. } | Shape::Integer(_) | Shape::Enum { .. } | Shape::Codes(_) => (None, None, &[][..]),
    };
    let mut out: Vec<_> = fields.into_iter().flat_map(of_fields).collect();
    for body in union.into_iter().flat_map(of_union) {
        match body {
            Body::Named(name) => out.push(name),
            Body::Fields(fields) => out.extend(of_fields(fields)),
        }
    }
    out.extend(types.iter().filter_map(TypeExpr::named));
    out
}

/// The identifiers of a text, comments and strings apart.
fn code_words(text: &str) -> impl Iterator<Item = &str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    code.flat_map(|line| line.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'))
}
