//! The core's tables: the types, members and methods of one version as static data.
//!
//! Objects that carry the members of variants are expanded: each variant becomes an object with all of them, so that
//! whoever walks the tables meets no flattening.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use crate::model::{
    Body, Field, Fields, Flat, Int, Is, OnMissing, Open, Shape, TypeDef, TypeExpr, Union, Version, DRAFTS,
};
use shared::{refer, refer_from, Shared};

mod render;
mod shared;
#[cfg(test)]
mod tests;

/// A type's place in the table.
type Id = usize;

/// Any JSON value.
const ANY: Id = 0;

/// The files of `core/src/schema/tables`, each with its path: one for each version, and the types of all of them.
pub(super) fn files(versions: &[Version]) -> Vec<(String, String)> {
    let all: Vec<_> = versions.iter().map(Tables::of).collect();
    let shared = Shared::new(&all);
    let path = |name: &str| format!("core/src/schema/tables/{name}.rs");
    let each = all.iter().enumerate();
    let each = each.map(|(at, tables)| (path(&format!("v{}", tables.version.number)), tables.render(&shared, at)));
    each.chain([(path("types"), shared.render(&all))]).collect()
}

/// Stands for the type itself where the index of a member is wanted.
const WHOLE: usize = 255;
/// Stands for the tag that a union must have.
const TAG: usize = 254;

/// What is written about a type.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Entry {
    /// The Rust expression.
    text: String,
    /// Index of a member, and the rule that a wrong value of it breaks.
    rules: Vec<(usize, String)>,
    /// Index of a member, and another name that it goes by.
    aliases: Vec<(usize, String)>,
}

/// A member, ready to be written.
#[derive(Debug, Clone)]
struct Member {
    name: String,
    text: String,
    rule: Option<String>,
    alias: Option<String>,
}

struct Tables<'a> {
    version: &'a Version,
    types: Vec<Entry>,
    /// Places of named types; an alias has that of its target.
    ids: BTreeMap<&'a str, Id>,
    /// Places of types without a name, so that equal ones share one.
    anonymous: BTreeMap<Entry, Id>,
}

impl<'a> Tables<'a> {
    fn of(version: &'a Version) -> Self {
        let mut tables = Tables::new(version);
        for (name, def) in &version.types {
            if let (Some(&id), false) = (tables.ids.get(name.as_str()), matches!(def.shape, Shape::Alias(_))) {
                tables.types[id] = tables.shape(def, &[]);
            }
        }
        tables
    }

    /// Gives every named type its place; they come first, in alphabetical order.
    fn new(version: &'a Version) -> Self {
        let any = Entry { text: "Type::Any".to_owned(), ..Entry::default() };
        let mut tables =
            Self { version, types: vec![any.clone()], ids: BTreeMap::new(), anonymous: BTreeMap::from([(any, ANY)]) };
        let mut names: Vec<_> = version.types.keys().map(String::as_str).collect();
        names.sort_unstable();
        for name in &names {
            if !matches!(version.types[*name].shape, Shape::Alias(_)) {
                tables.ids.insert(name, tables.types.len());
                tables.types.push(Entry::default());
            }
        }
        for name in names {
            let target = tables.target(&TypeExpr::Named(name.to_owned()));
            let id = tables.expression(&target, None, 0);
            tables.ids.insert(name, id);
        }
        tables
    }

    /// What an expression stands for once aliases are followed.
    fn target(&self, ty: &TypeExpr) -> TypeExpr {
        let mut ty = ty;
        // A chain is never longer than there are types, so that a circle ends as well.
        for _ in 0..self.version.types.len() {
            match ty {
                TypeExpr::Named(name) => match &self.version.types[name].shape {
                    Shape::Alias(next) => ty = next,
                    _ => break,
                },
                _ => break,
            }
        }
        ty.clone()
    }

    fn add(&mut self, entry: Entry) -> Id {
        if let Some(&id) = self.anonymous.get(&entry) {
            return id;
        }
        let id = self.types.len();
        self.types.push(entry.clone());
        self.anonymous.insert(entry, id);
        id
    }

    fn add_text(&mut self, text: impl Into<String>) -> Id {
        self.add(Entry { text: text.into(), ..Entry::default() })
    }

    /// The place of an expression; `is` means what it is in the end, `min` the items of a list.
    fn expression(&mut self, ty: &TypeExpr, is: Option<Is>, min: u8) -> Id {
        match ty {
            TypeExpr::Any => ANY,
            TypeExpr::Boolean => self.add_text("Type::Boolean"),
            TypeExpr::String => self.add_text(string(is)),
            TypeExpr::Double => self.add_text("Type::Number { bounds: None }"),
            TypeExpr::Integer(_) if is == Some(Is::Line) => self.add_text("Type::Line"),
            TypeExpr::Integer(int) => self.add_text(integer(*int, None, None)),
            TypeExpr::Named(name) => {
                if let Some(&id) = self.ids.get(name.as_str()) {
                    return id;
                }
                let target = self.target(ty);
                self.expression(&target, is, min)
            }
            TypeExpr::List(item) => {
                let item = self.expression(item, is, 0);
                self.add_text(format!("Type::Array {{ item: {}, min: {min} }}", refer(item)))
            }
            TypeExpr::Map(value) => {
                let value = self.expression(value, is, 0);
                self.add_text(format!("Type::Map {{ value: {} }}", refer(value)))
            }
        }
    }

    fn member(&mut self, name: &str, field: &Field) -> Member {
        let ty = match (&field.ty, field.constant.as_ref().and_then(serde_json::Value::as_str)) {
            (_, Some(value)) => self.add_text(format!("Type::Enum {{ values: &[{value:?}], open: false }}")),
            (TypeExpr::Integer(int), _) if field.is != Some(Is::Line) => {
                self.add_text(integer(*int, field.minimum, field.maximum))
            }
            (TypeExpr::Double, _) if field.minimum.is_some() || field.maximum.is_some() => {
                let least = field.minimum.unwrap_or(i64::from(i32::MIN));
                let most = field.maximum.unwrap_or(i64::from(i32::MAX));
                self.add_text(format!("Type::Number {{ bounds: Some(({least}, {most})) }}"))
            }
            (ty, _) => self.expression(ty, field.is, field.min_items.unwrap_or(0)),
        };
        let empty = field.on_missing == Some(OnMissing::Empty);
        let absent = field.on_missing == Some(OnMissing::Absent);
        let flags = [field.required, field.null, field.on_error, field.on_null, field.skip_items, empty, absent];
        let flags: u8 = flags.iter().enumerate().map(|(bit, &set)| u8::from(set) << bit).sum();
        let draft = draft(field.draft.as_ref());
        let text = format!("f({name:?}, {}, {flags}, {draft})", refer_from(draft, ty));
        Member { name: name.to_owned(), text, rule: field.rule.clone(), alias: field.alias.clone() }
    }

    /// An object's own members, then `_meta`, then those that it takes from around it.
    fn members(&mut self, fields: &Fields, meta: bool, around: &[Member]) -> Vec<Member> {
        let mut members: Vec<_> = fields.iter().map(|(name, field)| self.member(name, field)).collect();
        if meta {
            let field = Field { null: true, on_error: true, ..Field::new(TypeExpr::Map(Box::new(TypeExpr::Any))) };
            members.push(self.member("_meta", &field));
        }
        for member in around {
            if members.iter().all(|own| own.name != member.name) {
                members.push(member.clone());
            }
        }
        members
    }

    /// What a type is, with the members of the object around it.
    fn shape(&mut self, def: &TypeDef, around: &[Member]) -> Entry {
        let text = match &def.shape {
            Shape::Object { fields, flat } => {
                let members = self.members(fields, def.meta, around);
                match flat {
                    None => return object(&members),
                    Some(Flat::Union(union)) => self.union(union, &members),
                    Some(Flat::AnyOf(of)) => self.any_of(of, 0, &members),
                }
            }
            Shape::Union(union) => self.union(union, around),
            Shape::AnyOf { of, min_items } => self.any_of(of, min_items.unwrap_or(0), around),
            Shape::String { is } => string(*is).to_owned(),
            Shape::Integer(int) => integer(*int, None, None),
            Shape::Codes(_) => integer(Int::I32, None, None),
            Shape::Enum { values, open } => {
                let values: Vec<_> = values.keys().collect();
                format!("Type::Enum {{ values: &{values:?}, open: {open} }}")
            }
            // Aliases have the place of their target, and are never asked.
            Shape::Alias(_) => "Type::Any".to_owned(),
        };
        let rule = |at: usize, rule: &Option<String>| rule.clone().map(|rule| (at, rule));
        let rules = [rule(TAG, &def.tag_rule), rule(WHOLE, &def.rule)].into_iter().flatten().collect();
        Entry { text, rules, aliases: Vec::new() }
    }

    fn any_of(&mut self, of: &[TypeExpr], min: u8, around: &[Member]) -> String {
        let place = |ty: &TypeExpr| match ty {
            TypeExpr::Named(name) => self.merged(name, around),
            _ => self.expression(ty, None, min),
        };
        let of: Vec<_> = of.iter().map(place).map(refer).collect();
        format!("Type::AnyOf {{ of: &[{}] }}", of.join(", "))
    }

    fn union(&mut self, union: &Union, around: &[Member]) -> String {
        let mut variants = String::new();
        for (tag, variant) in &union.variants {
            let ty = self.body(&variant.body, around);
            let draft = draft(variant.draft.as_ref());
            let _ = writeln!(variants, "v({tag:?}, {}, {draft}),", refer_from(draft, ty));
        }
        let other = match &union.open {
            Open::No => "Other::Closed".to_owned(),
            Open::With(_) if !union.closed_to.is_empty() => format!("Other::Except(&{:?})", union.closed_to),
            Open::With(fields) if fields.is_empty() && around.is_empty() => {
                format!("Other::Open({})", refer(ANY))
            }
            Open::With(fields) => {
                let members = self.members(fields, false, around);
                format!("Other::Open({})", refer(self.add(object(&members))))
            }
        };
        let untagged = union.untagged.as_ref().map(|body| refer(self.body(body, around)));
        let untagged = untagged.map_or_else(|| "None".to_owned(), |id| format!("Some({id})"));
        let tag = &union.tag;
        format!("Type::Union {{ tag: {tag:?}, variants: &[\n{variants}], other: {other}, untagged: {untagged} }}")
    }

    fn body(&mut self, body: &Body, around: &[Member]) -> Id {
        match body {
            Body::Named(name) => self.merged(name, around),
            Body::Fields(fields) => {
                let members = self.members(fields, false, around);
                self.add(object(&members))
            }
        }
    }

    /// A named type with the members of the object around it.
    fn merged(&mut self, name: &str, around: &[Member]) -> Id {
        let ty = TypeExpr::Named(name.to_owned());
        if around.is_empty() {
            return self.expression(&ty, None, 0);
        }
        match self.target(&ty) {
            TypeExpr::Named(name) => {
                let entry = self.shape(&self.version.types[&name], around);
                self.add(entry)
            }
            other => self.expression(&other, None, 0),
        }
    }
}

fn object(members: &[Member]) -> Entry {
    let texts: Vec<_> = members.iter().map(|member| member.text.as_str()).collect();
    let rules = members.iter().enumerate().filter_map(|(i, member)| Some((i, member.rule.clone()?)));
    let aliases = members.iter().enumerate().filter_map(|(i, member)| Some((i, member.alias.clone()?)));
    Entry {
        text: format!("Type::Object {{ fields: &[\n{}] }}", texts.join(",\n")),
        rules: rules.collect(),
        aliases: aliases.collect(),
    }
}

fn string(is: Option<Is>) -> &'static str {
    match is {
        Some(Is::AbsolutePath) => "Type::String(StringKind::AbsolutePath)",
        Some(Is::Name) => "Type::String(StringKind::Name)",
        Some(Is::Uri) => "Type::String(StringKind::Uri)",
        Some(Is::Base64) => "Type::String(StringKind::Base64)",
        Some(Is::DateTime) => "Type::String(StringKind::DateTime)",
        Some(Is::Currency) => "Type::String(StringKind::Currency)",
        Some(Is::Icon) => "Type::String(StringKind::Icon)",
        Some(Is::Line) | None => "Type::String(StringKind::Plain)",
    }
}

fn integer(int: Int, minimum: Option<i64>, maximum: Option<i64>) -> String {
    let (least, most) = match int {
        Int::I32 => ("i32::MIN as i64", "i32::MAX as u64"),
        Int::I64 => ("i64::MIN", "i64::MAX as u64"),
        Int::U16 => ("0", "u16::MAX as u64"),
        Int::U32 => ("0", "u32::MAX as u64"),
        Int::U64 => ("0", "u64::MAX"),
    };
    let least = minimum.map_or_else(|| least.to_owned(), |bound| bound.to_string());
    let most = maximum.map_or_else(|| most.to_owned(), |bound| bound.max(0).to_string());
    format!("Type::Integer {{ min: {least}, max: {most} }}")
}

/// The number of a draft, from 1; 0 is stable.
fn draft(name: Option<&String>) -> usize {
    name.and_then(|name| DRAFTS.iter().position(|draft| draft == name)).map_or(0, |i| i + 1)
}
