//! Unions: enums that are read by a look at the tag, or by trying one alternative after the other.

use anyhow::{ensure, Result};

use super::{docs, joined, names, Rust};
use crate::model::{Body, Fields, Flat, Shape, TypeExpr, Union, Version};

/// What is flattened into a struct: the member that holds it, its type, and the definition of that.
pub(super) struct Part {
    pub(super) member: String,
    pub(super) doc: String,
    pub(super) ty: String,
    pub(super) text: String,
}

/// A variant of a union's enum.
struct Arm {
    /// The tag's value; `None` for the variant without a tag.
    tag: Option<String>,
    name: String,
    docs: String,
    /// The type that it holds, without its lifetime; `None` for a tag alone.
    holds: Option<String>,
    /// Whether only a draft has it.
    draft: bool,
}

/// The members of variants that have no named type, with the name that their struct gets.
pub(super) fn inline(version: &Version) -> Vec<(String, &Fields)> {
    let mut out = Vec::new();
    for (name, def) in &version.types {
        let (name, union) = match &def.shape {
            Shape::Union(union) => (name.clone(), union),
            Shape::Object { flat: Some(Flat::Union(union)), .. } => (flat_name(name, union), union),
            _ => continue,
        };
        let bodies = union.variants.iter().map(|(tag, variant)| (names::variant(tag), &variant.body));
        for (arm, body) in bodies.chain(union.untagged.iter().map(|body| (UNTAGGED.to_owned(), body))) {
            if let Body::Fields(fields) = body {
                out.push((name.clone() + &arm, fields));
            }
        }
    }
    out
}

/// What the variant without a tag is called where its type has no name either.
const UNTAGGED: &str = "Untagged";

/// What keeps a value that nobody here knows. No value of the protocol is called so, unlike "other" and "unknown".
const CATCH_ALL: &str = "Unrecognized";

/// The name of the enum that an object is flattened with.
fn flat_name(object: &str, union: &Union) -> String {
    object.to_owned() + &names::variant(flat_tag(union))
}

/// The tag as a member's name: `type` is a word of Rust's own.
fn flat_tag(union: &Union) -> &str {
    if union.tag == "type" {
        "kind"
    } else {
        &union.tag
    }
}

impl Rust<'_> {
    /// The enum of a union; `flat` lists the members that are not its own where it is flattened into an object.
    pub(super) fn union(&self, name: &str, docs: &str, union: &Union, flat: Option<&[&str]>) -> Result<String> {
        let mut extra = String::new();
        let mut arms = Vec::new();
        for (tag, variant) in &union.variants {
            let named = match &variant.body {
                Body::Named(ty) => self.version.types.get(ty).and_then(|def| def.doc.as_deref()),
                Body::Fields(_) => None,
            };
            arms.push(Arm {
                tag: Some(tag.clone()),
                name: names::variant(tag),
                docs: docs::of_variant(variant.doc.as_deref().or(named), tag, variant.draft.as_deref()),
                holds: self.body(name, &names::variant(tag), &variant.body, &mut extra)?,
                draft: variant.draft.is_some(),
            });
        }
        if let Some(body) = &union.untagged {
            let own = match body {
                Body::Named(ty) => names::distinct(&[ty], name).remove(0),
                Body::Fields(_) => UNTAGGED.to_owned(),
            };
            let holds = self.body(name, &own, body, &mut extra)?;
            let docs = format!("/// The variant without the member `{}`.\n", union.tag);
            arms.push(Arm { tag: None, name: own, docs, holds, draft: false });
        }
        ensure!(arms.iter().all(|arm| arm.name != CATCH_ALL), "{name}: a variant is called {CATCH_ALL}");
        let (with, helper) = match flat {
            None => ("unions::as_sent".to_owned(), String::new()),
            Some(own) => {
                let list: Vec<_> = own.iter().map(|name| format!("{name:?}")).collect();
                let path = format!("{name}::rest");
                let helper = format!(
                    "impl {name}<'_> {{\n\
                     fn rest<S: serde::Serializer>(_tag: &Str<'_>, json: &Raw<'_>, to: S) -> Result<S::Ok, S::Error> {{\n\
                     unions::rest(json, &[{}], to)\n}}\n}}\n\n",
                    list.join(", ")
                );
                (path, helper)
            }
        };
        let variants: String = arms.iter().map(|arm| self.variant(name, arm)).collect();
        let helper =
            arms.iter().filter_map(|arm| self.within(name, &union.tag, arm)).fold(helper, |all, one| all + &one);
        let known: String = arms
            .iter()
            .filter_map(|arm| {
                let tag = arm.tag.as_ref()?;
                Some(if arm.draft && arm.holds.is_some() {
                    format!(
                        "Some({tag:?}) => unions::of_draft(object, Self::{}, |json| \
                         Self::{CATCH_ALL} {{ tag: {tag:?}.into(), json }}),\n",
                        arm.name
                    )
                } else {
                    format!("Some({tag:?}) => {},\n", read(arm))
                })
            })
            .collect();
        let absent = match arms.iter().find(|arm| arm.tag.is_none()) {
            Some(arm) => read(arm),
            None => format!("Err(serde::de::Error::missing_field({:?}))", union.tag),
        };
        let owned: String = arms.iter().map(|arm| into_owned(name, arm)).collect();
        Ok(format!(
            "{docs}#[derive(Debug, Clone, PartialEq, Serialize)]\n#[serde(tag = {tag:?})]\n#[non_exhaustive]\n\
             pub enum {name}<'a> {{\n{variants}/// A variant that this library does not know.\n\
             #[serde(untagged, serialize_with = {with:?})]\n{CATCH_ALL} {{\n/// The value of `{tag}`.\ntag: Str<'a>,\n\
             /// The object, as JSON text as it was sent.\njson: Raw<'a>,\n}},\n}}\n\n\
             impl<'de: 'a, 'a> Deserialize<'de> for {name}<'a> {{\n\
             fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {{\n\
             unions::union(deserializer)\n}}\n}}\n\n\
             impl<'de: 'a, 'a> unions::Union<'de> for {name}<'a> {{\n\
             const NAME: &'static str = {union_name:?};\n\n\
             fn variant<A: VariantAccess<'de>>(tag: Option<Str<'de>>, object: A) -> Result<Self, A::Error> {{\n\
             match tag.as_deref() {{\n{known}None => {absent},\n\
             Some(_) => Ok({name}::{CATCH_ALL} {{ tag: tag.unwrap_or_default(), json: object.newtype_variant()? }}),\n\
             }}\n}}\n}}\n\n\
             {}{}{helper}{extra}",
            self.conversions(name, &arms),
            into_owned_of(name, &format!(
                "match self {{\n{owned}{name}::{CATCH_ALL} {{ tag, json }} => {name}::{CATCH_ALL} {{ tag: tag.into_owned(), \
                 json: json.into_owned() }},\n}}"
            )),
            tag = union.tag,
            union_name = format!("$union {}", union.tag),
        ))
    }

    /// An enum of alternatives without a tag; `open` keeps what fits none.
    pub(super) fn any_of(&self, name: &str, docs: &str, of: &[TypeExpr], open: bool) -> String {
        let types: Vec<_> = of.iter().filter_map(TypeExpr::named).collect();
        let distinct = if types.is_empty() { Vec::new() } else { names::distinct(&types, name) };
        let mut distinct = distinct.iter();
        let arms: Vec<_> = of
            .iter()
            .filter(|ty| **ty != TypeExpr::Any)
            .map(|ty| {
                let own = ty.named().and_then(|_| distinct.next());
                (names::alternative(ty, own.map(String::as_str)), self.ty(ty), ty.to_string())
            })
            .collect();
        let variants =
            joined(arms.iter().map(|(arm, ty, text)| format!("/// The alternative `{text}`.\n{arm}({ty}),\n")));
        let tries = arms.iter().map(|(arm, ..)| {
            format!("if let Some(value) = unions::fits(json) {{\nreturn Ok({name}::{arm}(value));\n}}\n")
        });
        let tries = joined(tries);
        let owned =
            arms.iter().map(|(arm, ..)| format!("{name}::{arm}(value) => {name}::{arm}(value.into_owned()),\n"));
        let owned = joined(owned);
        let (variant, otherwise, owned_variant) = if open {
            (
                format!("/// None of these: the JSON text as it was sent.\n{CATCH_ALL}(Raw<'a>),\n"),
                format!("Ok({name}::{CATCH_ALL}(json.into()))"),
                format!("{name}::{CATCH_ALL}(json) => {name}::{CATCH_ALL}(json.into_owned()),\n"),
            )
        } else {
            let list: Vec<_> = arms.iter().map(|(_, _, text)| text.as_str()).collect();
            let message = format!("expected the members of {}", list.join(" or "));
            (String::new(), format!("Err(serde::de::Error::custom({message:?}))"), String::new())
        };
        format!(
            "{docs}#[derive(Debug, Clone, PartialEq, Serialize)]\n#[serde(untagged)]\n#[non_exhaustive]\n\
             pub enum {name}<'a> {{\n{variants}{variant}}}\n\n\
             impl<'de: 'a, 'a> Deserialize<'de> for {name}<'a> {{\n\
             fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {{\n\
             let json = <&'de RawValue>::deserialize(deserializer)?;\n{tries}{otherwise}\n}}\n}}\n\n{}",
            into_owned_of(name, &format!("match self {{\n{owned}{owned_variant}}}"))
        )
    }

    /// What an object is flattened with.
    pub(super) fn flat(&self, name: &str, flat: &Flat) -> Result<Part> {
        match flat {
            Flat::Union(union) => {
                let ty = flat_name(name, union);
                let mut own: Vec<&str> = Vec::new();
                if let Some(def) = self.version.types.get(name) {
                    if let Shape::Object { fields, .. } = &def.shape {
                        own.extend(fields.keys().map(String::as_str));
                    }
                    own.extend(def.meta.then_some("_meta"));
                }
                own.extend(self.around.get(name).into_iter().flatten());
                let docs = format!("/// The variants of [`{name}`], by its member `{}`.\n", union.tag);
                Ok(Part {
                    member: names::member(&names::snake(flat_tag(union))),
                    doc: format!("The variant by the member `{}`. Its members are members of this object.", union.tag),
                    text: self.union(&ty, &docs, union, Some(&own))?,
                    ty,
                })
            }
            Flat::AnyOf(of) => {
                let types: Vec<_> = of.iter().filter_map(TypeExpr::named).collect();
                let common = names::common(&types);
                ensure!(common.is_some(), "{name}: the alternatives of any-of share no name");
                let (ty, member) = common.unwrap_or_default();
                // The first object that has it brings it along.
                let first = self.version.types.iter().find(|(_, def)| match &def.shape {
                    Shape::Object { flat: Some(Flat::AnyOf(other)), .. } => other == of,
                    _ => false,
                });
                let docs = "/// One of several sets of members that an object may have in addition to its own.\n";
                let text = match first {
                    Some((first, _)) if first == name => self.any_of(&ty, docs, of, false),
                    _ => String::new(),
                };
                Ok(Part {
                    member,
                    doc: "One of several sets of members. They are members of this object.".to_owned(),
                    ty,
                    text,
                })
            }
        }
    }

    /// The type that a variant holds; members without a named type get one.
    fn body(&self, union: &str, arm: &str, body: &Body, extra: &mut String) -> Result<Option<String>> {
        Ok(match body {
            Body::Named(name) => Some(name.clone()),
            Body::Fields(fields) if fields.is_empty() => None,
            Body::Fields(fields) => {
                let name = format!("{union}{arm}");
                *extra += &self.inline(&name, fields)?;
                Some(name)
            }
        })
    }

    fn inline(&self, name: &str, fields: &Fields) -> Result<String> {
        let docs = "/// The members of a variant that has no name in the specification.\n";
        self.object(name, docs, fields, false, None)
    }

    /// How a variant is written that is a union as well: what nobody here knows of it has this union's tag too, which
    /// stands there already.
    fn within(&self, union: &str, tag: &str, arm: &Arm) -> Option<String> {
        let ty = self.nested(arm)?;
        Some(format!(
            "impl {union}<'_> {{\n\
             fn {}<S: serde::Serializer>(value: &{ty}<'_>, to: S) -> Result<S::Ok, S::Error> {{\n\
             match value {{\n{ty}::{CATCH_ALL} {{ json, .. }} => unions::rest(json, &[{tag:?}], to),\n\
             value => value.serialize(to),\n}}\n}}\n}}\n\n",
            names::snake(&arm.name)
        ))
    }

    /// The union that a variant of another one holds.
    fn nested<'a>(&self, arm: &'a Arm) -> Option<&'a String> {
        let ty = arm.holds.as_ref().filter(|_| arm.tag.is_some())?;
        matches!(self.version.types.get(ty)?.shape, Shape::Union(_)).then_some(ty)
    }

    fn variant(&self, union: &str, arm: &Arm) -> String {
        let serde = match (&arm.tag, self.nested(arm)) {
            (Some(tag), Some(_)) => {
                let with = format!("{union}::{}", names::snake(&arm.name));
                format!("#[serde(rename = {tag:?}, serialize_with = {with:?})]\n")
            }
            (Some(tag), None) => format!("#[serde(rename = {tag:?})]\n"),
            (None, _) => "#[serde(untagged)]\n".to_owned(),
        };
        let holds = arm.holds.as_ref().map_or_else(String::new, |ty| format!("({})", self.named(ty)));
        format!("{}{serde}{}{holds},\n", arm.docs, arm.name)
    }

    /// `From` for what only one variant holds.
    fn conversions(&self, name: &str, arms: &[Arm]) -> String {
        let holders = |ty: &String| arms.iter().filter(|arm| arm.holds.as_ref() == Some(ty)).count();
        let single = arms.iter().filter_map(|arm| Some((arm, arm.holds.as_ref().filter(|ty| holders(ty) == 1)?)));
        joined(single.map(|(arm, ty)| {
            let (lifetime, used) = if self.has_lifetime(ty) { ("<'a>", "<'a>") } else { ("", "<'_>") };
            let ty = self.named(ty);
            format!(
                "impl{lifetime} From<{ty}> for {name}{used} {{\nfn from(value: {ty}) -> Self {{\n\
                     {name}::{}(value)\n}}\n}}\n\n",
                arm.name
            )
        }))
    }
}

/// How a variant is read.
fn read(arm: &Arm) -> String {
    match arm.holds {
        Some(_) => format!("object.newtype_variant().map(Self::{})", arm.name),
        None => format!("object.unit_variant().map(|()| Self::{})", arm.name),
    }
}

fn into_owned(name: &str, arm: &Arm) -> String {
    match arm.holds {
        Some(_) => format!("{name}::{0}(value) => {name}::{0}(value.into_owned()),\n", arm.name),
        None => format!("{name}::{0} => {name}::{0},\n", arm.name),
    }
}

/// `IntoOwned` for a type that has a lifetime.
pub(super) fn into_owned_of(name: &str, make: &str) -> String {
    format!(
        "impl IntoOwned for {name}<'_> {{\ntype Owned = {name}<'static>;\n\n\
         fn into_owned(self) -> Self::Owned {{\n{make}\n}}\n}}\n\n"
    )
}
