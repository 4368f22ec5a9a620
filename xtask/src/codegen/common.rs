//! The model as languages without sum types see it: plain records, and choices among them.
//!
//! Unions become one record per variant with its tag as a literal member, so that comparing the tag narrows the type.
//! Where a variant is a union itself, its variants are multiplied out. A record is named after the union and the tag,
//! as in `SessionUpdatePlan`; where that is what the model calls the variant's type, that type itself has the tag.
//! `Other` is for tags that the model does not know, `Untagged` for no tag, `Base` for what all variants share.
//!
//! Read [`super::typescript`] and [`super::python`] next for what is made of it.

use anyhow::{bail, ensure, Context, Result};
use indexmap::IndexMap;

use super::about::{address, About};
use super::pascal;
use crate::model::{
    Body, Code, Field, Fields, Flat, Kind, Method, Open, Sender, Shape, TypeDef, TypeExpr, Union, Version, Word,
};

/// A named type of the target language.
#[derive(Debug, Clone)]
pub(crate) struct Item<'a> {
    /// What is said about it.
    pub(crate) about: About,
    /// What it is.
    pub(crate) form: Form<'a>,
}

/// The forms of an [`Item`].
#[derive(Debug, Clone)]
pub(crate) enum Form<'a> {
    /// An object.
    Record(Record<'a>),
    /// One of these items; the flag marks those for unknown tags.
    Choice(Vec<(String, bool)>),
    /// The first that fits.
    AnyOf(&'a [TypeExpr]),
    /// Strings; `open` where others are legal.
    Values { values: &'a IndexMap<String, Word>, open: bool },
    /// Integers; others are legal.
    Codes(&'a IndexMap<String, Code>),
    /// Another name.
    Alias(TypeExpr),
}

/// An object.
#[derive(Debug, Clone, Default)]
pub(crate) struct Record<'a> {
    /// Records whose members it has too.
    pub(crate) bases: Vec<String>,
    /// Its own members.
    pub(crate) members: Vec<Member<'a>>,
    /// Stands for an unknown tag, so that members without a name are likely.
    pub(crate) open: bool,
    /// Told from its siblings by the presence of the tag, not by its value alone.
    pub(crate) sealed: bool,
}

/// A member of a [`Record`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Member<'a> {
    /// The tag with this value.
    Tag(&'a str, &'a str),
    /// The tag with a value that the model does not know.
    OtherTag(&'a str),
    /// The tag, absent or null.
    NoTag(&'a str),
    /// A member of the model.
    Field(&'a str, &'a Field),
    /// `_meta`.
    Meta,
}

impl<'a> Member<'a> {
    /// Its name in JSON.
    pub(crate) fn name(&self) -> &'a str {
        match self {
            Self::Tag(name, _) | Self::OtherTag(name) | Self::NoTag(name) | Self::Field(name, _) => name,
            Self::Meta => "_meta",
        }
    }
}

/// Every item of a version by name, in the model's order. `reserved` names are those that the language's file adds.
pub(crate) fn items<'a>(version: &'a Version, reserved: &[&str]) -> Result<IndexMap<String, Item<'a>>> {
    let mut items = IndexMap::new();
    let mut folded = Vec::new();
    let mut add = |name: String, item: Item<'a>| {
        ensure!(!reserved.contains(&name.as_str()), "{name} is a name that generated files use themselves");
        ensure!(items.insert(name.clone(), item).is_none(), "two generated types would be called {name}");
        Ok(())
    };
    for (name, def) in &version.types {
        let about = About::of_type(def);
        let form = match &def.shape {
            Shape::Object { fields, flat: None } => Form::Record(record(fields, def.meta)),
            Shape::Object { flat: Some(_), .. } | Shape::Union(_) => {
                if let Some(base) = base_of(name, def) {
                    let text = vec![format!("The members that every `{name}` has.")];
                    let about = About { text, ..about.clone() };
                    let Shape::Object { fields, .. } = &def.shape else { bail!("{name} has a base but no members") };
                    add(base, Item { about, form: Form::Record(record(fields, def.meta)) })?;
                }
                let mut choice = Vec::new();
                for arm in arms(version, name, def)? {
                    let records = arm.records.len();
                    let mut group = Vec::new();
                    for (suffix, record) in arm.records {
                        let name = format!("{}{suffix}", arm.name);
                        group.push((name.clone(), record.open));
                        if record.bases.contains(&name) {
                            folded.push((name, record));
                            continue;
                        }
                        add(name, Item { about: arm.about.clone(), form: Form::Record(record) })?;
                    }
                    if records == 1 {
                        choice.append(&mut group);
                    } else {
                        add(arm.name.clone(), Item { about: arm.about, form: Form::Choice(group) })?;
                        choice.push((arm.name, false));
                    }
                }
                Form::Choice(choice)
            }
            Shape::String { .. } => Form::Alias(TypeExpr::String),
            Shape::Integer(int) => Form::Alias(TypeExpr::Integer(*int)),
            Shape::Enum { values, open } => Form::Values { values, open: *open },
            Shape::Codes(codes) => Form::Codes(codes),
            Shape::AnyOf { of, .. } => Form::AnyOf(of),
            Shape::Alias(of) => Form::Alias(of.clone()),
        };
        add(name.clone(), Item { about, form })?;
    }
    for (name, variant) in folded {
        fold(&mut items, &name, variant)?;
    }
    Ok(items)
}

/// Gives a type the tag of the variant that would have the same name, as there is no other place for either.
fn fold<'a>(items: &mut IndexMap<String, Item<'a>>, name: &str, variant: Record<'a>) -> Result<()> {
    for (user, item) in &*items {
        let Form::Record(record) = &item.form else { continue };
        let uses = |member: &Member| matches!(member, Member::Field(_, field) if field.ty.named() == Some(name));
        ensure!(!record.members.iter().any(uses), "{user} uses {name} without the tag that generated types give it");
    }
    let Some(Item { form: Form::Record(record), .. }) = items.get_mut(name) else { bail!("{name} is not an object") };
    record.members.splice(0..0, variant.members);
    record.bases = variant.bases.into_iter().filter(|base| base != name).collect();
    record.sealed = variant.sealed;
    Ok(())
}

/// Every member of a record, those of its bases first; a later one of the same name takes the earlier one's place.
pub(crate) fn flatten<'a>(items: &IndexMap<String, Item<'a>>, record: &Record<'a>) -> Result<Vec<Member<'a>>> {
    let mut members: IndexMap<&str, Member<'a>> = IndexMap::new();
    let tags = |member: &&Member| !matches!(member, Member::Field(..) | Member::Meta);
    members.extend(record.members.iter().filter(tags).map(|member| (member.name(), *member)));
    for base in &record.bases {
        let item = items.get(base).with_context(|| format!("no type {base}"))?;
        let Form::Record(base) = &item.form else { bail!("{base} is not an object") };
        for member in flatten(items, base)? {
            members.entry(member.name()).or_insert(member);
        }
    }
    for member in &record.members {
        members.insert(member.name(), *member);
    }
    // `_meta` is everywhere and says least: last.
    if let Some(meta) = members.shift_remove("_meta") {
        members.insert("_meta", meta);
    }
    Ok(members.into_values().collect())
}

fn record(fields: &Fields, meta: bool) -> Record<'_> {
    let members = fields.iter().map(|(name, field)| Member::Field(name, field));
    Record { members: members.chain(meta.then_some(Member::Meta)).collect(), ..Record::default() }
}

/// The record with what all variants of a flattened union share, where there is anything.
fn base_of(name: &str, def: &TypeDef) -> Option<String> {
    match &def.shape {
        Shape::Object { fields, flat: Some(_) } if def.meta || !fields.is_empty() => Some(format!("{name}Base")),
        _ => None,
    }
}

/// A variant: one record, or several where it is a union itself.
struct Arm<'a> {
    name: String,
    about: About,
    records: Vec<(String, Record<'a>)>,
}

fn arms<'a>(version: &'a Version, name: &str, def: &'a TypeDef) -> Result<Vec<Arm<'a>>> {
    let base = base_of(name, def);
    let union = match &def.shape {
        Shape::Union(union) | Shape::Object { flat: Some(Flat::Union(union)), .. } => union,
        Shape::Object { flat: Some(Flat::AnyOf(of)), .. } => {
            let arm = |ty: &'a TypeExpr| {
                let TypeExpr::Named(part) = ty else { bail!("{name} takes the members of {ty}, which is no object") };
                let about = About::of_type(def);
                let records = records(version, base.as_deref(), None, part)?;
                Ok(Arm { name: format!("{name}With{part}"), about, records })
            };
            return of.iter().map(arm).collect();
        }
        _ => return Ok(Vec::new()),
    };
    union_arms(version, name, def, base.as_deref(), union)
}

fn union_arms<'a>(
    version: &'a Version,
    name: &str,
    def: &TypeDef,
    base: Option<&str>,
    union: &'a Union,
) -> Result<Vec<Arm<'a>>> {
    let own = |fields: &'a Fields, tag| {
        let members = fields.iter().map(|(name, field)| Member::Field(name, field));
        let members = std::iter::once(tag).chain(members).collect();
        Record { bases: base.map(str::to_owned).into_iter().collect(), members, ..Record::default() }
    };
    let body = |body: &'a Body, tag| match body {
        Body::Named(part) => records(version, base, Some(tag), part),
        Body::Fields(fields) => Ok(vec![(String::new(), own(fields, tag))]),
    };
    let named = |body: &Body| match body {
        Body::Named(part) => version.types.get(part).map(About::of_type).unwrap_or_default(),
        Body::Fields(_) => About::default(),
    };
    let mut arms = Vec::new();
    for (tag, variant) in &union.variants {
        let mut about = named(&variant.body);
        if let Some(doc) = &variant.doc {
            about.text.insert(0, doc.clone());
        }
        about.see = about.see.or_else(|| def.page.as_deref().map(address));
        about.draft = variant.draft.clone().or(about.draft).or_else(|| def.draft.clone());
        let records = body(&variant.body, Member::Tag(&union.tag, tag))?;
        arms.push(Arm { name: format!("{name}{}", pascal(tag)), about, records });
    }
    if let Some(untagged) = &union.untagged {
        let mut about = named(untagged);
        about.text.push(format!("The variant without `{}`.", union.tag));
        let records = body(untagged, Member::NoTag(&union.tag))?;
        arms.push(Arm { name: format!("{name}Untagged"), about, records });
    }
    if let Open::With(fields) = &union.open {
        let mut record = own(fields, Member::OtherTag(&union.tag));
        record.open = true;
        let text = vec![
            format!("The variant of `{name}` for an unknown `{}`.", union.tag),
            "Extension values begin with `_`; others come from later versions.".to_owned(),
        ];
        let about = About { text, draft: def.draft.clone(), ..About::default() };
        arms.push(Arm { name: format!("{name}Other"), about, records: vec![(String::new(), record)] });
    }
    if union.untagged.is_some() {
        arms.iter_mut().flat_map(|arm| &mut arm.records).for_each(|(_, record)| record.sealed = true);
    }
    Ok(arms)
}

/// The records that a variant with the members of `part` becomes, with what their names end in.
fn records<'a>(
    version: &'a Version,
    base: Option<&str>,
    tag: Option<Member<'a>>,
    part: &str,
) -> Result<Vec<(String, Record<'a>)>> {
    let leaves = leaves(version, part)?.into_iter().map(|(suffix, leaf, open)| {
        let bases = base.map(str::to_owned).into_iter().chain([leaf]).collect();
        (suffix, Record { bases, members: tag.into_iter().collect(), open, ..Record::default() })
    });
    Ok(leaves.collect())
}

/// The records that a type is a choice of: what their names add to the type's, their names, and whether they stand
/// for unknown tags. An object is its own only one.
fn leaves(version: &Version, name: &str) -> Result<Vec<(String, String, bool)>> {
    let def = version.types.get(name).with_context(|| format!("no type {name}"))?;
    match &def.shape {
        Shape::Object { flat: None, .. } => return Ok(vec![(String::new(), name.to_owned(), false)]),
        Shape::Alias(TypeExpr::Named(of)) => return leaves(version, of),
        Shape::Object { .. } | Shape::Union(_) => {}
        _ => bail!("the variant {name} is not an object"),
    }
    let mut leaves = Vec::new();
    for arm in arms(version, name, def)? {
        for (suffix, record) in arm.records {
            let full = format!("{}{suffix}", arm.name);
            leaves.push((full[name.len()..].to_owned(), full, record.open));
        }
    }
    Ok(leaves)
}

/// A call of a version: the method's name, its params, its result where it is a request, and what is said about it.
pub(crate) type Call<'a> = (&'a str, &'a str, Option<&'a str>, About);

/// The calls that one side may make.
pub(crate) fn calls<'a>(version: &'a Version, sender: Sender, kind: Kind) -> Vec<Call<'a>> {
    let sent = |method: &&Method| method.from == sender || method.from == Sender::Both;
    let methods = version.methods.iter().filter(|(_, method)| sent(method));
    let methods = methods.filter(|(_, method)| method.kind == kind || method.kind == Kind::Both);
    let call = |(name, method): (&'a String, &'a Method)| {
        let told = kind == Kind::Notification;
        let params = if told { method.notification_params.as_ref() } else { None };
        let result = if told { None } else { method.result.as_deref() };
        (name.as_str(), params.unwrap_or(&method.params).as_str(), result, About::of_method(method))
    };
    methods.map(call).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{json, Value};

    use super::*;
    use crate::model::load;

    fn version(types: &Value) -> Version {
        let files = [("a".to_owned(), types.to_string()), ("methods".to_owned(), "{}".to_owned())];
        load::parse(1, &files).unwrap()
    }

    fn members(items: &IndexMap<String, Item>, name: &str) -> Vec<String> {
        let Form::Record(record) = &items[name].form else { panic!("{name} is no record") };
        let show = |member: Member| match member {
            Member::Tag(name, value) => format!("{name}={value}"),
            Member::OtherTag(name) => format!("{name}=_"),
            Member::NoTag(name) => format!("no {name}"),
            Member::Field(..) | Member::Meta => member.name().to_owned(),
        };
        flatten(items, record).unwrap().into_iter().map(show).collect()
    }

    fn choice<'a>(items: &'a IndexMap<String, Item>, name: &str) -> Vec<(&'a str, bool)> {
        let Form::Choice(of) = &items[name].form else { panic!("{name} is no choice") };
        of.iter().map(|(name, other)| (name.as_str(), *other)).collect()
    }

    #[test]
    fn multiplies_unions_within_unions_out() {
        let version = version(&json!({
            "Leaf": {"object": {"x": {"type": "string", "required": true}}},
            "Inner": {
                "object": {"y": {"type": "string"}},
                "union": {"tag": "in", "variants": {"leaf": "Leaf", "bare": {}}, "open": true, "untagged": {}}
            },
            "Outer": {"union": {"tag": "out", "variants": {"inner": "Inner", "leaf": "Leaf"}}}
        }));
        let items = items(&version, &[]).unwrap();
        assert_eq!(choice(&items, "Outer"), [("OuterInner", false), ("OuterLeaf", false)]);
        let inner = ["OuterInnerLeaf", "OuterInnerBare", "OuterInnerUntagged"].map(|name| (name, false));
        assert_eq!(choice(&items, "OuterInner"), [&inner[..], &[("OuterInnerOther", true)]].concat());
        assert_eq!(members(&items, "InnerBase"), ["y", "_meta"]);
        assert_eq!(members(&items, "OuterInnerLeaf"), ["out=inner", "in=leaf", "y", "x", "_meta"]);
        assert_eq!(members(&items, "OuterInnerUntagged"), ["out=inner", "no in", "y", "_meta"]);
        assert_eq!(members(&items, "OuterInnerOther"), ["out=inner", "in=_", "y", "_meta"]);
        assert_eq!(members(&items, "OuterLeaf"), ["out=leaf", "x", "_meta"]);
    }

    #[test]
    fn gives_a_type_the_tag_where_names_meet() {
        let mut types = json!({
            "Server": {"union": {"tag": "type", "variants": {"http": "ServerHttp"}}},
            "ServerHttp": {"object": {"url": {"type": "string"}}}
        });
        let model = version(&types);
        let items = super::items(&model, &[]).unwrap();
        assert_eq!(choice(&items, "Server"), [("ServerHttp", false)]);
        assert_eq!(members(&items, "ServerHttp"), ["type=http", "url", "_meta"]);

        // Elsewhere the type has no tag, so one name cannot stand for both.
        types["User"] = json!({"object": {"server": {"type": "ServerHttp"}}});
        let error = super::items(&version(&types), &[]).unwrap_err();
        assert!(error.to_string().starts_with("User uses ServerHttp"), "{error}");
    }

    #[test]
    fn refuses_names_that_meet() {
        let types = json!({
            "Server": {"union": {"tag": "type", "variants": {"http": {}}}},
            "ServerHttp": {"string": {}}
        });
        let error = items(&version(&types), &[]).unwrap_err();
        assert_eq!(error.to_string(), "two generated types would be called ServerHttp");
        let error = items(&version(&json!({"Meta": {"string": {}}})), &["Meta"]).unwrap_err();
        assert!(error.to_string().starts_with("Meta is a name"), "{error}");
    }
}
