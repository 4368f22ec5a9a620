//! Writes the model's files: one file per area, one field, value or variant per line, members in the README's order.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Map, Value};

use super::load::METHOD_FILES;
use super::{
    dialect, Body, Field, Fields, Flat, Method, Model, Open, Shape, TypeDef, TypeExpr, Union, Variant, Version, Word,
};

/// Writes every file of the versions below `root`, and removes area files that the model no longer has. The sources and
/// the dialects are written by people only.
pub(crate) fn model(model: &Model, root: &Path) -> Result<()> {
    for version in &model.versions {
        let folder = root.join(version.folder());
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let files = files(version);
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            let by_people = path.file_stem().is_some_and(|name| name == dialect::FILE);
            let written = path.file_name().is_some_and(|name| files.iter().any(|(file, _)| name == file.as_str()));
            let known = by_people || written;
            if path.extension().is_some_and(|ext| ext == "json") && !known {
                fs::remove_file(&path)?;
            }
        }
        for (name, text) in files {
            let path = folder.join(name);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
    }
    Ok(())
}

/// The files of a version: name and text. Areas without types have none.
pub(crate) fn files(version: &Version) -> Vec<(String, String)> {
    let areas = version.areas.iter().filter(|area| !area.types.is_empty());
    let mut files: Vec<_> = areas
        .map(|area| {
            let mut out = Block::default();
            for name in &area.types {
                if let Some(def) = version.types.get(name) {
                    out.block(name, &type_block(def));
                }
            }
            (format!("{}.json", area.name), out.file())
        })
        .collect();
    let (drafts, stable): (Vec<_>, Vec<_>) = version.methods.iter().partition(|(_, method)| method.draft.is_some());
    for (name, methods) in METHOD_FILES.into_iter().zip([stable, drafts]) {
        let mut out = Block::default();
        for (method, row) in &methods {
            out.block(method, &method_block(row));
        }
        if !methods.is_empty() {
            files.push((format!("{name}.json"), out.file()));
        }
    }
    files
}

/// The whole version as one JSON value, wherever its parts stand: types by name, and methods.
pub(crate) fn value(version: &Version) -> Value {
    let types = version.types.iter().map(|(name, def)| (name.clone(), type_block(def).value()));
    let methods = version.methods.iter().map(|(name, method)| (name.clone(), method_block(method).value()));
    let parts = [("types", types.collect::<Map<_, _>>()), ("methods", methods.collect())];
    Value::Object(parts.into_iter().map(|(name, part)| (name.to_owned(), Value::Object(part))).collect())
}

/// The members of a JSON object that stand on lines of their own.
#[derive(Default)]
struct Block(Vec<String>);

impl Block {
    fn line(&mut self, name: &str, value: &Value) {
        self.0.push(format!("{}: {}", Value::from(name), inline(value)));
    }

    fn text(&mut self, name: &str, value: Option<&String>) {
        if let Some(value) = value {
            self.line(name, &Value::from(value.as_str()));
        }
    }

    fn flag(&mut self, name: &str, set: bool) {
        if set {
            self.line(name, &Value::Bool(true));
        }
    }

    fn block(&mut self, name: &str, inner: &Block) {
        self.0.push(format!("{}: {}", Value::from(name), inner.render()));
    }

    fn render(&self) -> String {
        if self.0.is_empty() {
            return "{}".to_owned();
        }
        let body = self.0.join(",\n").replace('\n', "\n  ");
        format!("{{\n  {body}\n}}")
    }

    fn file(&self) -> String {
        self.render() + "\n"
    }

    fn value(&self) -> Value {
        serde_json::from_str(&self.render()).expect("a block is an object")
    }
}

/// JSON on one line, with a space after each colon and comma.
fn inline(value: &Value) -> String {
    fn put(value: &Value, out: &mut String) {
        match value {
            Value::Object(members) => {
                out.push('{');
                for (i, (name, value)) in members.iter().enumerate() {
                    let _ = write!(out, "{}{}: ", if i > 0 { ", " } else { "" }, Value::from(name.as_str()));
                    put(value, out);
                }
                out.push('}');
            }
            Value::Array(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    out.push_str(if i > 0 { ", " } else { "" });
                    put(item, out);
                }
                out.push(']');
            }
            scalar => {
                let _ = write!(out, "{scalar}");
            }
        }
    }
    let mut out = String::new();
    put(value, &mut out);
    out
}

fn type_block(def: &TypeDef) -> Block {
    let mut out = Block::default();
    out.text("doc", def.doc.as_ref());
    out.text("page", def.page.as_ref());
    out.text("draft", def.draft.as_ref());
    out.text("source", def.source.as_ref());
    if def.null_default {
        out.line("null", &Value::from("default"));
    }
    if !def.meta {
        out.line("meta", &Value::Bool(false));
    }
    out.text("rule", def.rule.as_ref());
    out.text("tag-rule", def.tag_rule.as_ref());
    out.text("untagged-tag", def.untagged_tag.as_ref());
    out.flag("forwarded", def.forwarded);
    match &def.shape {
        Shape::Object { fields, flat } => {
            out.block("object", &fields_block(fields));
            match flat {
                Some(Flat::Union(union)) => out.block("union", &union_block(union)),
                Some(Flat::AnyOf(of)) => out.line("any-of", &types(of)),
                None => {}
            }
        }
        Shape::String { is } => {
            let kind = is.map(|is| ("is".to_owned(), Value::from(is.name())));
            out.line("string", &Value::Object(kind.into_iter().collect()));
        }
        Shape::Integer(int) => out.line("integer", &Value::from(int.name())),
        Shape::Enum { values, open } => {
            let mut block = Block::default();
            for (value, word) in values {
                block.line(value, &word_value(word));
            }
            out.block("enum", &block);
            out.flag("open", *open);
        }
        Shape::Codes(codes) => {
            let mut block = Block::default();
            for (number, code) in codes {
                let mut members = Map::new();
                members.insert("name".to_owned(), Value::from(code.name.as_str()));
                text(&mut members, "source", code.source.as_ref());
                text(&mut members, "doc", code.doc.as_ref());
                block.line(number, &Value::Object(members));
            }
            out.block("codes", &block);
        }
        Shape::Union(union) => out.block("union", &union_block(union)),
        Shape::AnyOf { of, min_items } => {
            out.line("any-of", &types(of));
            if let Some(min) = min_items {
                out.line("min-items", &Value::from(*min));
            }
        }
        Shape::Alias(ty) => out.line("alias", &Value::from(ty.to_string())),
    }
    out
}

fn word_value(word: &Word) -> Value {
    let Some(source) = &word.source else { return Value::from(word.doc.as_str()) };
    let members = [("source", source), ("doc", &word.doc)];
    Value::Object(members.map(|(name, value)| (name.to_owned(), Value::from(value.as_str()))).into_iter().collect())
}

fn types(of: &[TypeExpr]) -> Value {
    of.iter().map(|ty| Value::from(ty.to_string())).collect()
}

fn fields_block(fields: &Fields) -> Block {
    let mut out = Block::default();
    for (name, field) in fields {
        out.line(name, &field_value(field));
    }
    out
}

fn fields_value(fields: &Fields) -> Value {
    Value::Object(fields.iter().map(|(name, field)| (name.clone(), field_value(field))).collect())
}

fn union_block(union: &Union) -> Block {
    let mut out = Block::default();
    out.line("tag", &Value::from(union.tag.as_str()));
    let mut variants = Block::default();
    for (tag, variant) in &union.variants {
        variants.line(tag, &variant_value(variant));
    }
    out.block("variants", &variants);
    match &union.open {
        Open::No => {}
        Open::With(fields) if fields.is_empty() => out.line("open", &Value::Bool(true)),
        Open::With(fields) => out.block("open", &fields_block(fields)),
    }
    if !union.closed_to.is_empty() {
        out.line("closed-to", &Value::from(union.closed_to.as_slice()));
    }
    if let Some(body) = &union.untagged {
        out.line("untagged", &body_value(body, Map::new()));
    }
    out
}

fn variant_value(variant: &Variant) -> Value {
    let mut rest = Map::new();
    text(&mut rest, "draft", variant.draft.as_ref());
    text(&mut rest, "source", variant.source.as_ref());
    text(&mut rest, "doc", variant.doc.as_ref());
    body_value(&variant.body, rest)
}

fn body_value(body: &Body, rest: Map<String, Value>) -> Value {
    let own = match body {
        Body::Named(name) if rest.is_empty() => return Value::from(name.as_str()),
        Body::Named(name) => Some(("type".to_owned(), Value::from(name.as_str()))),
        Body::Fields(fields) if fields.is_empty() => None,
        Body::Fields(fields) => Some(("object".to_owned(), fields_value(fields))),
    };
    Value::Object(own.into_iter().chain(rest).collect())
}

fn text(members: &mut Map<String, Value>, name: &str, value: Option<&String>) {
    if let Some(value) = value {
        members.insert(name.to_owned(), Value::from(value.as_str()));
    }
}

fn field_value(field: &Field) -> Value {
    let flag = |name: &'static str, set: bool| set.then_some((name, Value::Bool(true)));
    let word = |name: &'static str, set: bool, word: &str| set.then(|| (name, Value::from(word)));
    let own = |name: &'static str, value: Option<&String>| value.map(|value| (name, Value::from(value.as_str())));
    let members = [
        Some(("type", Value::from(field.ty.to_string()))),
        flag("required", field.required),
        flag("null", field.null),
        field.default.clone().map(|value| ("default", value)),
        field.constant.clone().map(|value| ("const", value)),
        word("on-error", field.on_error, "default"),
        word("on-null", field.on_null, "default"),
        field.on_missing.map(|read| ("on-missing", Value::from(read.name()))),
        word("items", field.skip_items, "skip"),
        field.min_items.map(|min| ("min-items", Value::from(min))),
        field.minimum.map(|min| ("minimum", Value::from(min))),
        field.maximum.map(|max| ("maximum", Value::from(max))),
        flag("patch", field.patch),
        field.is.map(|is| ("is", Value::from(is.name()))),
        own("rule", field.rule.as_ref()),
        own("alias", field.alias.as_ref()),
        own("draft", field.draft.as_ref()),
        own("source", field.source.as_ref()),
        own("doc", field.doc.as_ref()),
    ];
    Value::Object(members.into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect())
}

fn method_block(method: &Method) -> Block {
    let mut out = Block::default();
    out.text("doc", method.doc.as_ref());
    out.text("page", method.page.as_ref());
    out.text("draft", method.draft.as_ref());
    out.text("source", method.source.as_ref());
    out.line("from", &Value::from(method.from.name()));
    out.line("kind", &Value::from(method.kind.name()));
    out.line("params", &Value::from(method.params.as_str()));
    out.text("notification-params", method.notification_params.as_ref());
    out.text("result", method.result.as_ref());
    out.line("scope", &Value::from(method.scope.name()));
    out.line("phase", &Value::from(method.phase.name()));
    out.text("effect", method.effect.map(|effect| effect.name().to_owned()).as_ref());
    out.text("retry", method.retry.map(|retry| retry.name().to_owned()).as_ref());
    if let Some(gate) = &method.gate {
        let members = [("of", gate.of.name()), ("path", gate.path.as_str()), ("form", gate.form.name())];
        let members = members.into_iter().map(|(name, value)| (name.to_owned(), Value::from(value)));
        let mut members: Map<_, _> = members.collect();
        text(&mut members, "source", gate.source.as_ref());
        out.line("gate", &Value::Object(members));
    }
    out.text("gate-rule", method.gate_rule.as_ref());
    out
}
