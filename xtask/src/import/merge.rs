//! Puts structure from the schemas and meaning from the model together.

use anyhow::{ensure, Result};
use indexmap::IndexMap;

use super::schema::Types;
use crate::model::{Area, Body, Field, Fields, Flat, Is, Method, Open, Shape, TypeDef, Union, Version};

/// Stands for a draft that nobody has named yet.
pub(super) const UNNAMED: &str = "unnamed";

/// Where new types wait for a place.
const UNSORTED: &str = "unsorted";

/// Marks what only the unstable schema has, and checks that it changes nothing else.
pub(super) fn drafts(stable: &Types, mut unstable: Types) -> Result<Types> {
    for (name, def) in &mut unstable {
        let Some(old) = stable.get(name) else {
            def.draft = Some(UNNAMED.to_owned());
            continue;
        };
        let mut without = def.clone();
        if let (Some(fields), Some(rest), Some(old)) = (fields(def), fields(&mut without), object(old)) {
            for (field, value) in fields.iter_mut().filter(|(field, _)| !old.contains_key(*field)) {
                value.draft = Some(UNNAMED.to_owned());
                rest.shift_remove(field);
            }
        }
        if let (Some(union), Some(rest), Some(old)) = (union_mut(def), union_mut(&mut without), union(old)) {
            for (tag, value) in union.variants.iter_mut().filter(|(tag, _)| !old.variants.contains_key(*tag)) {
                value.draft = Some(UNNAMED.to_owned());
                rest.variants.shift_remove(tag);
            }
        }
        // Where other values are legal anyhow, to know one earlier changes nothing.
        match (&mut without.shape, &old.shape) {
            (Shape::Enum { values, open: true }, Shape::Enum { values: old, .. }) => {
                values.retain(|value, _| old.contains_key(value));
            }
            (Shape::Codes(codes), Shape::Codes(old)) => codes.retain(|code, _| old.contains_key(code)),
            _ => {}
        }
        ensure!(&without == old, "{name}: the unstable schema changes what is stable, which the model cannot say");
    }
    for name in stable.keys() {
        ensure!(unstable.contains_key(name), "{name}: only the stable schema has it, which the model cannot say");
    }
    Ok(unstable)
}

/// The new version: structure from the schemas, everything else from what was there. What is marked with a source stays
/// as it was; [`super::facts`] says what the schemas make of it.
pub(super) fn version(old: &Version, mut types: Types, methods: IndexMap<String, Method>) -> Version {
    let mut new = Version {
        number: old.number,
        areas: Vec::new(),
        types: IndexMap::new(),
        methods: IndexMap::new(),
        parts: old.parts.clone(),
        dialect: old.dialect.clone(),
    };
    for area in &old.areas {
        let mut names = Vec::new();
        for name in &area.types {
            let was = &old.types[name];
            let is = match types.shift_remove(name) {
                _ if was.source.is_some() => was.clone(),
                Some(is) => merge_type(was, is),
                None => continue,
            };
            names.push(name.clone());
            new.types.insert(name.clone(), is);
        }
        new.areas.push(Area { name: area.name.clone(), types: names });
    }
    let unsorted: Vec<_> = types.keys().cloned().collect();
    match new.areas.iter_mut().find(|area| area.name == UNSORTED) {
        Some(area) => area.types.extend(unsorted),
        None => new.areas.push(Area { name: UNSORTED.to_owned(), types: unsorted }),
    }
    new.types.extend(types);
    let mut methods = methods;
    for (name, was) in &old.methods {
        match methods.shift_remove(name) {
            _ if was.source.is_some() => new.methods.insert(name.clone(), was.clone()),
            Some(is) => new.methods.insert(name.clone(), merge_method(was, is)),
            None => None,
        };
    }
    new.methods.extend(methods);
    new
}

fn merge_method(was: &Method, is: Method) -> Method {
    let Method { doc, page, scope, phase, effect, retry, gate, gate_rule, from, .. } = was.clone();
    Method {
        doc,
        page,
        scope,
        phase,
        effect,
        retry,
        gate,
        gate_rule,
        from,
        draft: draft(was.draft.as_ref(), is.draft),
        ..is
    }
}

/// The name that people gave, if it still is a draft.
fn draft(was: Option<&String>, is: Option<String>) -> Option<String> {
    is.map(|unnamed| was.cloned().unwrap_or(unnamed))
}

fn merge_type(was: &TypeDef, is: TypeDef) -> TypeDef {
    let mut new = TypeDef {
        doc: was.doc.clone(),
        page: was.page.clone(),
        draft: draft(was.draft.as_ref(), is.draft.clone()),
        null_default: was.null_default,
        rule: was.rule.clone(),
        tag_rule: was.tag_rule.clone(),
        untagged_tag: was.untagged_tag.clone(),
        forwarded: was.forwarded,
        ..is
    };
    match (&was.shape, &mut new.shape) {
        (Shape::String { is: was }, Shape::String { is }) => *is = is.or(*was),
        (Shape::Enum { values: was, open: was_open }, Shape::Enum { values, open }) => {
            // Opened by people, where the words of the specification allow what its schema does not.
            *open |= was_open;
            keep(was, values, |word| word.source.is_some());
            for (value, word) in values {
                if let Some(was) = was.get(value) {
                    word.clone_from(was);
                }
            }
        }
        (Shape::Codes(was), Shape::Codes(is)) => {
            keep(was, is, |code| code.source.is_some());
            for (number, code) in is {
                if let Some(was) = was.get(number) {
                    code.clone_from(was);
                }
            }
        }
        _ => {}
    }
    if let (Some(old), Some(new)) = (object(was), fields(&mut new)) {
        merge_fields(old, new);
    }
    if let (Some(old), Some(new)) = (union(was), union_mut(&mut new)) {
        merge_union(old, new);
    }
    new
}

/// Puts what is marked back to its place.
fn keep<T: Clone>(was: &IndexMap<String, T>, is: &mut IndexMap<String, T>, marked: impl Fn(&T) -> bool) {
    for (at, (name, old)) in was.iter().enumerate().filter(|(_, (_, old))| marked(old)) {
        match is.get_mut(name) {
            Some(new) => new.clone_from(old),
            None => drop(is.shift_insert(at.min(is.len()), name.clone(), old.clone())),
        }
    }
}

fn merge_fields(was: &Fields, is: &mut Fields) {
    for (name, new) in is.iter_mut() {
        if let Some(old) = was.get(name) {
            merge_field(old, new);
        }
    }
    keep(was, is, |field| field.source.is_some());
}

fn merge_field(was: &Field, is: &mut Field) {
    is.patch = was.patch;
    is.on_missing = was.on_missing;
    // The words of the schema may say of an address more than its format does.
    is.is = was.is.filter(|own| *own == Is::Icon).or(is.is).or(was.is);
    is.rule.clone_from(&was.rule);
    is.alias.clone_from(&was.alias);
    is.doc.clone_from(&was.doc);
    is.draft = draft(was.draft.as_ref(), is.draft.take());
}

fn merge_union(was: &Union, is: &mut Union) {
    for (tag, new) in &mut is.variants {
        let Some(old) = was.variants.get(tag) else {
            continue;
        };
        new.draft = draft(old.draft.as_ref(), new.draft.take());
        new.doc.clone_from(&old.doc);
        merge_body(&old.body, &mut new.body);
    }
    keep(&was.variants, &mut is.variants, |variant| variant.source.is_some());
    // Opened by people, because receivers take more than the schema lists.
    if !was.closed_to.is_empty() {
        is.open.clone_from(&was.open);
        is.closed_to.clone_from(&was.closed_to);
    }
    if let (Open::With(was), Open::With(is)) = (&was.open, &mut is.open) {
        merge_fields(was, is);
    }
    if let (Some(was), Some(is)) = (&was.untagged, &mut is.untagged) {
        merge_body(was, is);
    }
}

fn merge_body(was: &Body, is: &mut Body) {
    if let (Body::Fields(was), Body::Fields(is)) = (was, is) {
        merge_fields(was, is);
    }
}

/// The members of an object.
pub(super) fn object(def: &TypeDef) -> Option<&Fields> {
    match &def.shape {
        Shape::Object { fields, .. } => Some(fields),
        _ => None,
    }
}

fn fields(def: &mut TypeDef) -> Option<&mut Fields> {
    match &mut def.shape {
        Shape::Object { fields, .. } => Some(fields),
        _ => None,
    }
}

/// The union that a type is or carries.
pub(super) fn union(def: &TypeDef) -> Option<&Union> {
    match &def.shape {
        Shape::Union(union) | Shape::Object { flat: Some(Flat::Union(union)), .. } => Some(union),
        _ => None,
    }
}

fn union_mut(def: &mut TypeDef) -> Option<&mut Union> {
    match &mut def.shape {
        Shape::Union(union) | Shape::Object { flat: Some(Flat::Union(union)), .. } => Some(union),
        _ => None,
    }
}
