//! Objects: structs with a constructor.

use anyhow::{bail, Result};
use serde_json::Value;

use super::{docs, joined, names, unions, Rust};
use crate::model::{Field, Fields, Flat, OnMissing, Shape, TypeExpr};

/// How a member of an object is written in Rust.
pub(super) struct Member {
    /// Its name in Rust.
    name: String,
    docs: String,
    /// What stands in `#[serde(…)]` for both directions.
    both: Vec<String>,
    /// What stands there for reading.
    read: Vec<String>,
    /// What stands there for writing.
    write: Vec<String>,
    ty: String,
    /// Its value where a constructor is not told.
    default: Option<String>,
    /// Whether a constructor converts it.
    into: bool,
}

impl Member {
    /// What a constructor takes for it: the value itself, also where one that is received may be without it.
    fn given(&self) -> &str {
        let inner = self.ty.strip_prefix("Option<").and_then(|ty| ty.strip_suffix('>'));
        inner.filter(|_| self.default.is_none()).unwrap_or(&self.ty)
    }
}

pub(super) fn member(rust: &Rust<'_>, at: &str, name: &str, field: &Field) -> Result<Member> {
    let rust_name = names::member(name);
    let base = rust.ty(&field.ty);
    let mut both = Vec::new();
    if names::camel(rust_name.trim_start_matches("r#")) != name {
        both.push(format!("rename = {name:?}"));
    }
    let (mut read, mut write) = (Vec::new(), Vec::new());
    // An id knows null itself.
    let null = field.null && field.ty != TypeExpr::Named(super::REQUEST_ID.to_owned());
    let empty = match &field.ty {
        TypeExpr::List(_) => Some("Vec"),
        TypeExpr::Map(_) => Some("Map"),
        _ => None,
    };
    let (ty, default) = if field.patch {
        read.push("default".to_owned());
        write.push("skip_serializing_if = \"Patch::is_absent\"".to_owned());
        (format!("Patch<{base}>"), Some("Patch::Absent".to_owned()))
    } else if field.required && null {
        bail!("{at}: no way to write a member in Rust that must be there and may be null")
    } else if field.on_missing == Some(OnMissing::Absent) {
        read.push("default".to_owned());
        write.push("skip_serializing_if = \"Option::is_none\"".to_owned());
        (format!("Option<{base}>"), None)
    } else if field.required {
        if field.on_error || field.on_null || (field.on_missing.is_some() && empty.is_some()) {
            read.push("default".to_owned());
        }
        (base, None)
    } else if let (Some(default), false) = (&field.default, null) {
        let (path, value) = default_of(rust, at, &field.ty, default)?;
        read.push(path);
        (base, Some(value))
    } else if let (Some(container), false) = (empty, null) {
        read.push("default".to_owned());
        write.push(format!("skip_serializing_if = \"{container}::is_empty\""));
        (base, Some(format!("{container}::new()")))
    } else {
        read.push("default".to_owned());
        write.push("skip_serializing_if = \"Option::is_none\"".to_owned());
        (format!("Option<{base}>"), Some("None".to_owned()))
    };
    if field.draft.is_some() && default.is_some() {
        // With the draft off nobody has checked it: another extension may use the name.
        read.push("deserialize_with = \"unions::draft\"".to_owned());
        if write.is_empty() {
            // Where the draft is off, peers do not know the member.
            write.push("skip_serializing_if = \"unions::is_default\"".to_owned());
        }
    } else if field.on_null && !ty.starts_with("Option") {
        read.push("deserialize_with = \"unions::null_as_default\"".to_owned());
    }
    let into = field.required && rust.converts(&field.ty);
    Ok(Member { name: rust_name, docs: docs::of_member(name, field), both, read, write, ty, default, into })
}

/// What absence stands for: as serde is told, and as an expression.
fn default_of(rust: &Rust<'_>, at: &str, ty: &TypeExpr, value: &Value) -> Result<(String, String)> {
    let plain = "default".to_owned();
    Ok(match (value, ty) {
        (Value::Bool(false), _) => (plain, "false".to_owned()),
        (Value::Array(items), _) if items.is_empty() => (plain, "Vec::new()".to_owned()),
        (Value::Object(members), TypeExpr::Map(_)) if members.is_empty() => (plain, "Map::new()".to_owned()),
        (Value::Object(members), TypeExpr::Named(name)) if members.is_empty() => (plain, format!("{name}::new()")),
        (Value::String(text), TypeExpr::Named(name)) => {
            let known = match rust.version.types.get(name).map(|def| &def.shape) {
                Some(Shape::Enum { values, .. }) if values.contains_key(text) => names::variant(text),
                _ => bail!("{at}: no way to write the default {value} in Rust"),
            };
            (format!("default = \"{name}::usual\""), format!("{name}::{known}"))
        }
        _ => bail!("{at}: no way to write the default {value} in Rust"),
    })
}

/// `_meta`, as all objects have it that do not say otherwise.
///
/// Beside members that tell leaving out from null, it tells them apart too.
fn meta(patch: bool) -> Member {
    let (ty, default, skip) = if patch {
        ("Patch<Raw<'a>>", "Patch::Absent", "skip_serializing_if = \"Patch::is_absent\"")
    } else {
        ("Option<Raw<'a>>", "None", "skip_serializing_if = \"Option::is_none\"")
    };
    Member {
        name: "meta".to_owned(),
        docs: "/// Extension metadata (`_meta`): an object.\n".to_owned(),
        both: vec!["rename = \"_meta\"".to_owned()],
        read: vec!["borrow".to_owned(), "default".to_owned()],
        write: vec![skip.to_owned()],
        ty: ty.to_owned(),
        default: Some(default.to_owned()),
        into: false,
    }
}

impl Rust<'_> {
    /// A struct, with what it needs for itself.
    pub(super) fn object(
        &self,
        name: &str,
        docs: &str,
        fields: &Fields,
        has_meta: bool,
        flat: Option<&Flat>,
    ) -> Result<String> {
        let members = fields.iter().map(|(field, def)| self.member(&format!("{name}.{field}"), field, def));
        let mut members = members.collect::<Result<Vec<_>>>()?;
        if has_meta {
            members.push(meta(fields.values().any(|field| field.patch)));
        } else if let Some(first) = members.iter_mut().find(|member| member.ty.contains("'a")) {
            // One such attribute is enough for a struct to borrow.
            first.read.push("borrow".to_owned());
        }
        let part = flat.map(|flat| self.flat(name, flat)).transpose()?;
        let a = if self.has_lifetime(name) { "<'a>" } else { "" };
        let mut out = match &part {
            None => format!(
                "{docs}#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]\n\
                 #[serde(rename_all = \"camelCase\")]\n#[non_exhaustive]\npub struct {name}{a} {{\n{}}}\n\n",
                list(&members, |member| [&member.both[..], &member.read, &member.write].concat(), "pub ")
            ),
            Some(part) => format!(
                "{docs}#[derive(Debug, Clone, PartialEq, Serialize)]\n\
                 #[serde(rename_all = \"camelCase\")]\n#[non_exhaustive]\npub struct {name}{a} {{\n{}\
                 /// {}\n#[serde(flatten)]\npub {}: {}<'a>,\n}}\n\n{}{}",
                list(&members, |member| [&member.both[..], &member.write].concat(), "pub "),
                part.doc,
                part.member,
                part.ty,
                read_in_parts(name, &members, part),
                part.text
            ),
        };
        out += &constructor(name, a, &members, part.as_ref());
        out += &self.setters(name, fields, &members);
        let mut make = joined(members.iter().map(|member| format!("{0}: self.{0}.into_owned(),\n", member.name)));
        if let Some(part) = &part {
            make.extend([format!("{0}: self.{0}.into_owned(),\n", part.member)]);
        }
        out += &self.owned(name, &format!("{name} {{\n{make}}}"));
        for (field, def) in fields {
            // The default of a member is the enum's business, but only this one needs it.
            if let (Some(Value::String(text)), TypeExpr::Named(ty)) = (&def.default, &def.ty) {
                out.extend([format!(
                    "impl {} {{\n/// The default of `{field}`.\n\
                     const fn usual() -> Self {{\n{ty}::{}\n}}\n}}\n\n",
                    self.named(ty).replace("'a", "'_"),
                    names::variant(text)
                )]);
            }
        }
        Ok(out)
    }
}

impl Rust<'_> {
    /// Builder methods for what a constructor leaves out. Those of version 2 come with a high level that speaks it: they take
    /// a part of every build.
    fn setters(&self, name: &str, fields: &Fields, members: &[Member]) -> String {
        let mut rows = String::new();
        if self.version.number > 1 {
            return rows;
        }
        for (index, member) in members.iter().enumerate().filter(|(_, member)| member.default.is_some()) {
            let converts = fields.values().nth(index).is_some_and(|field| self.converts(&field.ty));
            let inner = member.ty.strip_prefix("Option<").and_then(|ty| ty.strip_suffix('>'));
            let kind = match (inner, converts) {
                (Some(_), true) => "some_into",
                (Some(_), false) => "some",
                (None, _) => "plain",
            };
            rows.extend([format!("{}: {kind} {};\n", member.name, inner.unwrap_or(&member.ty))]);
        }
        if rows.is_empty() {
            return rows;
        }
        super::invocation("crate::schema::setters::setters", &format!("{};\n{rows}", self.named(name)))
    }
}

/// Reads a struct's own members, then what they are flattened with, from the same text.
fn read_in_parts(name: &str, members: &[Member], part: &unions::Part) -> String {
    let read = |member: &Member| [&member.both[..], &member.read].concat();
    let (declared, own) = if members.is_empty() {
        (String::new(), String::new())
    } else {
        let a = if members.iter().any(|member| member.ty.contains("'a")) { "<'a>" } else { "" };
        let bare: String = list(members, read, "")
            .lines()
            .filter(|line| !line.starts_with("///"))
            .fold(String::new(), |text, line| text + line + "\n");
        (
            format!("#[derive(Deserialize)]\n#[serde(rename_all = \"camelCase\")]\nstruct Own{a} {{\n{bare}}}\n\n"),
            "let own: Own = unions::part(json)?;\n".to_owned(),
        )
    };
    let moved = joined(members.iter().map(|member| format!("{0}: own.{0},\n", member.name)));
    format!(
        "impl<'de: 'a, 'a> Deserialize<'de> for {name}<'a> {{\n\
             fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {{\n{declared}\
             let json = <&'de RawValue>::deserialize(deserializer)?;\n{own}\
             Ok({name} {{ {moved}{}: unions::part(json)? }})\n}}\n}}\n\n",
        part.member
    )
}

/// The members as lines of a struct.
fn list(members: &[Member], attributes: impl Fn(&Member) -> Vec<String>, public: &str) -> String {
    let line = |member: &Member| {
        let attributes = attributes(member);
        let serde =
            if attributes.is_empty() { String::new() } else { format!("#[serde({})]\n", attributes.join(", ")) };
        format!("{}{serde}{public}{}: {},\n", member.docs, member.name, member.ty)
    };
    members.iter().map(line).collect()
}

/// `new` with what must be there; `Default` where nothing must.
fn constructor(name: &str, a: &str, members: &[Member], part: Option<&unions::Part>) -> String {
    let needed: Vec<_> = members.iter().filter(|member| member.default.is_none()).collect();
    let mut takes: Vec<_> = needed
        .iter()
        .map(|member| {
            let ty = member.given();
            let ty = if member.into { format!("impl Into<{ty}>") } else { ty.to_owned() };
            format!("{}: {ty}", member.name)
        })
        .collect();
    let mut sets: String = members
        .iter()
        .map(|member| match (&member.default, member.into) {
            (Some(default), _) => format!("{}: {default},\n", member.name),
            (None, into) if member.given() != member.ty => {
                let into = if into { ".into()" } else { "" };
                format!("{0}: Some({0}{into}),\n", member.name)
            }
            (None, true) => format!("{0}: {0}.into(),\n", member.name),
            (None, false) => format!("{},\n", member.name),
        })
        .collect();
    if let Some(part) = part {
        takes.push(format!("{}: {}<'a>", part.member, part.ty));
        sets.extend([format!("{},\n", part.member)]);
    }
    let what = if takes.is_empty() {
        "Creates a value without any of the optional fields."
    } else {
        "Creates a value with the required fields."
    };
    let constant = if takes.is_empty() && !sets.contains("::new()") { "const " } else { "" };
    let (lifetime, used) = match (a, takes.iter().any(|take| take.contains("'a"))) {
        ("", _) => ("", ""),
        (_, true) => ("<'a>", "<'a>"),
        (_, false) => ("", "<'_>"),
    };
    let mut out = format!(
        "impl{lifetime} {name}{used} {{\n/// {what}\n#[must_use]\npub {constant}fn new({}) -> Self {{\n{name} {{\n{sets}}}\n}}\n}}\n\n",
        takes.join(", ")
    );
    if takes.is_empty() {
        let a = if a.is_empty() { "" } else { "<'_>" };
        out.extend([format!("impl Default for {name}{a} {{\nfn default() -> Self {{\nSelf::new()\n}}\n}}\n\n")]);
    }
    out
}
