//! Reads the model's files. Whatever the format does not know is an error that names the file, the type and the field.

use std::fs;
use std::path::Path;

use anyhow::{ensure, Context, Result};
use indexmap::IndexMap;
use serde_json::Value;

use super::node::Node;
use super::{dialect, source};
use super::{
    is_type_name, Area, Body, Code, Effect, Field, Fields, Flat, Gate, GateForm, Int, Is, Kind, Method, Model,
    OnMissing, Open, Part, Phase, Retry, Scope, Sender, Shape, TypeDef, Union, Variant, Version, Word, VERSIONS,
};

/// Reads all versions below `root`. A version without files is empty.
pub(crate) fn model(root: &Path) -> Result<Model> {
    let versions = VERSIONS.iter().map(|&number| version(number, &root.join(format!("v{number}"))));
    Ok(Model { versions: versions.collect::<Result<_>>()?, sources: source::load(root)? })
}

fn version(number: u16, folder: &Path) -> Result<Version> {
    let mut files = Vec::new();
    if folder.exists() {
        for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
            let path = entry?.path();
            if path.extension().is_some_and(|ext| ext == "json") {
                let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
                files.push((name, text));
            }
        }
    }
    files.sort();
    parse(number, &files)
}

/// Where methods stand: the stable ones, and those of drafts.
pub(super) const METHOD_FILES: [&str; 2] = ["methods", "methods_draft"];

/// Where the parts of calls stand.
const PARTS_FILE: &str = "parts";

/// Reads one version from its files: name without extension, and text.
pub(crate) fn parse(number: u16, files: &[(String, String)]) -> Result<Version> {
    let mut version = Version {
        number,
        areas: Vec::new(),
        types: IndexMap::new(),
        methods: IndexMap::new(),
        parts: Vec::new(),
        dialect: None,
    };
    for (file, text) in files {
        let at = format!("v{number}/{file}.json");
        let value: Value = serde_json::from_str(text).with_context(|| at.clone())?;
        let node = Node { at, value: &value };
        if METHOD_FILES.contains(&file.as_str()) {
            for (name, node) in node.entries()? {
                version.methods.insert(name.to_owned(), method(&node)?);
            }
            continue;
        }
        if file == PARTS_FILE {
            version.parts = node.list()?.iter().map(part).collect::<Result<_>>()?;
            continue;
        }
        if file == dialect::FILE {
            version.dialect = Some(dialect::read(&node)?);
            continue;
        }
        let mut types = Vec::new();
        for (name, node) in node.entries()? {
            ensure!(is_type_name(name), "{}: expected a type name in PascalCase", node.at);
            ensure!(!version.types.contains_key(name), "{}: the type is in another file too", node.at);
            version.types.insert(name.to_owned(), type_def(&node)?);
            types.push(name.to_owned());
        }
        version.areas.push(Area { name: file.clone(), types });
    }
    Ok(version)
}

const FORMS: [&str; 8] = ["object", "string", "integer", "enum", "codes", "union", "any-of", "alias"];

/// What a type has beside its form.
const TYPE: [&str; 12] = [
    "doc",
    "page",
    "draft",
    "source",
    "null",
    "meta",
    "rule",
    "tag-rule",
    "untagged-tag",
    "forwarded",
    "open",
    "min-items",
];

fn type_def(node: &Node<'_>) -> Result<TypeDef> {
    node.only(&[&TYPE[..], &FORMS[..]].concat())?;
    let meta = match node.get("meta") {
        None => true,
        Some(meta) if meta.value == &Value::Bool(false) => false,
        Some(meta) => return meta.expected("false, or no such member"),
    };
    Ok(TypeDef {
        doc: node.text("doc")?,
        page: node.text("page")?,
        draft: node.text("draft")?,
        source: node.text("source")?,
        null_default: node.word("null", "default")?,
        meta,
        rule: node.text("rule")?,
        tag_rule: node.text("tag-rule")?,
        untagged_tag: node.text("untagged-tag")?,
        forwarded: node.flag("forwarded")?,
        shape: shape(node)?,
    })
}

fn shape(node: &Node<'_>) -> Result<Shape> {
    let members = node.map()?;
    let forms: Vec<_> = FORMS.into_iter().filter(|form| members.contains_key(*form)).collect();
    let only_with = |name: &str, form: &str| match node.get(name) {
        Some(node) if !forms.contains(&form) => node.expected(&format!("no such member without {form}")),
        _ => Ok(()),
    };
    only_with("open", "enum")?;
    only_with("min-items", "any-of")?;
    let form = |name| node.need(name);
    Ok(match forms[..] {
        ["object"] => Shape::Object { fields: fields(&form("object")?)?, flat: None },
        ["object", "union"] => {
            Shape::Object { fields: fields(&form("object")?)?, flat: Some(Flat::Union(union(&form("union")?)?)) }
        }
        ["object", "any-of"] => {
            Shape::Object { fields: fields(&form("object")?)?, flat: Some(Flat::AnyOf(form("any-of")?.types()?)) }
        }
        ["string"] => {
            let node = form("string")?;
            node.only(&["is"])?;
            Shape::String { is: is(&node)? }
        }
        ["integer"] => Shape::Integer(form("integer")?.named(Int::NAMES, Int::parse)?),
        ["enum"] => {
            let values = form("enum")?.entries()?;
            let values = values.into_iter().map(|(value, node)| Ok((value.to_owned(), word(&node)?)));
            Shape::Enum { values: values.collect::<Result<_>>()?, open: node.flag("open")? }
        }
        ["codes"] => {
            let codes = form("codes")?.entries()?;
            let codes = codes.into_iter().map(|(number, node)| {
                ensure!(number.parse::<i32>().is_ok(), "{}: expected a 32-bit integer as the name", node.at);
                node.only(&["name", "source", "doc"])?;
                let name = node.need("name")?.str()?.to_owned();
                Ok((number.to_owned(), Code { name, source: node.text("source")?, doc: node.text("doc")? }))
            });
            Shape::Codes(codes.collect::<Result<_>>()?)
        }
        ["union"] => Shape::Union(union(&form("union")?)?),
        ["any-of"] => Shape::AnyOf { of: form("any-of")?.types()?, min_items: node.number("min-items")? },
        ["alias"] => Shape::Alias(form("alias")?.type_expr()?),
        _ => return node.expected(&format!("one of {} (object may have union or any-of beside it)", FORMS.join(", "))),
    })
}

fn word(node: &Node<'_>) -> Result<Word> {
    if let Some(doc) = node.value.as_str() {
        return Ok(Word { doc: doc.to_owned(), source: None });
    }
    node.only(&["source", "doc"])?;
    let source = Some(node.need("source")?.str()?.to_owned());
    Ok(Word { doc: node.need("doc")?.str()?.to_owned(), source })
}

fn union(node: &Node<'_>) -> Result<Union> {
    node.only(&["tag", "variants", "open", "closed-to", "untagged"])?;
    let variants = node.need("variants")?.entries()?;
    let variants = variants.into_iter().map(|(tag, node)| Ok((tag.to_owned(), variant(&node)?)));
    let open = match node.get("open") {
        None => Open::No,
        Some(Node { value: Value::Bool(true), .. }) => Open::With(Fields::new()),
        Some(node) => Open::With(fields(&node)?),
    };
    let closed_to = node.get("closed-to").map_or(Ok(Vec::new()), |node| node.texts())?;
    if !closed_to.is_empty() && open != Open::With(Fields::new()) {
        return node.expected("closed-to only beside \"open\": true");
    }
    let untagged = node.get("untagged").map(|node| Ok::<_, anyhow::Error>(variant(&node)?.body)).transpose()?;
    let tag = node.need("tag")?.str()?.to_owned();
    Ok(Union { tag, variants: variants.collect::<Result<_>>()?, open, closed_to, untagged })
}

fn variant(node: &Node<'_>) -> Result<Variant> {
    if node.value.is_string() {
        return Ok(Variant { body: Body::Named(node.type_name()?), draft: None, source: None, doc: None });
    }
    node.only(&["type", "object", "draft", "source", "doc"])?;
    let body = match (node.get("type"), node.get("object")) {
        (Some(name), None) => Body::Named(name.type_name()?),
        (None, Some(object)) => Body::Fields(fields(&object)?),
        (None, None) => Body::Fields(Fields::new()),
        (Some(_), Some(_)) => return node.expected("only one of type and object"),
    };
    Ok(Variant { body, draft: node.text("draft")?, source: node.text("source")?, doc: node.text("doc")? })
}

fn is(node: &Node<'_>) -> Result<Option<Is>> {
    node.get("is").map(|node| node.named(Is::NAMES, Is::parse)).transpose()
}

fn fields(node: &Node<'_>) -> Result<Fields> {
    node.entries()?.into_iter().map(|(name, node)| Ok((name.to_owned(), field(&node)?))).collect()
}

const FIELD: [&str; 19] = [
    "type",
    "required",
    "null",
    "default",
    "const",
    "on-error",
    "on-null",
    "on-missing",
    "items",
    "min-items",
    "minimum",
    "maximum",
    "patch",
    "is",
    "rule",
    "alias",
    "draft",
    "source",
    "doc",
];

fn field(node: &Node<'_>) -> Result<Field> {
    node.only(&FIELD)?;
    Ok(Field {
        ty: node.need("type")?.type_expr()?,
        required: node.flag("required")?,
        null: node.flag("null")?,
        default: node.get("default").map(|node| node.value.clone()),
        constant: node.get("const").map(|node| node.value.clone()),
        on_error: node.word("on-error", "default")?,
        on_null: node.word("on-null", "default")?,
        on_missing: node.get("on-missing").map(|node| node.named(OnMissing::NAMES, OnMissing::parse)).transpose()?,
        skip_items: node.word("items", "skip")?,
        min_items: node.number("min-items")?,
        minimum: node.number("minimum")?,
        maximum: node.number("maximum")?,
        patch: node.flag("patch")?,
        is: is(node)?,
        rule: node.text("rule")?,
        alias: node.text("alias")?,
        draft: node.text("draft")?,
        source: node.text("source")?,
        doc: node.text("doc")?,
    })
}

const METHOD: [&str; 15] = [
    "doc",
    "page",
    "draft",
    "source",
    "from",
    "kind",
    "params",
    "notification-params",
    "result",
    "scope",
    "phase",
    "effect",
    "retry",
    "gate",
    "gate-rule",
];

fn method(node: &Node<'_>) -> Result<Method> {
    node.only(&METHOD)?;
    let name = |name| node.get(name).map(|node| node.type_name()).transpose();
    Ok(Method {
        doc: node.text("doc")?,
        page: node.text("page")?,
        draft: node.text("draft")?,
        source: node.text("source")?,
        from: node.need("from")?.named(Sender::NAMES, Sender::parse)?,
        kind: node.need("kind")?.named(Kind::NAMES, Kind::parse)?,
        params: node.need("params")?.type_name()?,
        notification_params: name("notification-params")?,
        result: name("result")?,
        scope: node.need("scope")?.named(Scope::NAMES, Scope::parse)?,
        phase: node.need("phase")?.named(Phase::NAMES, Phase::parse)?,
        effect: node.get("effect").map(|node| node.named(Effect::NAMES, Effect::parse)).transpose()?,
        retry: node.get("retry").map(|node| node.named(Retry::NAMES, Retry::parse)).transpose()?,
        gate: node.get("gate").map(|node| gate(&node)).transpose()?,
        gate_rule: node.text("gate-rule")?,
    })
}

fn part(node: &Node<'_>) -> Result<Part> {
    node.only(&["name", "methods", "of", "path", "rule", "draft"])?;
    let needs = match node.get("path") {
        Some(path) => Some((node.need("of")?.named(Sender::NAMES, Sender::parse)?, path.str()?.to_owned())),
        None => None,
    };
    Ok(Part {
        name: node.need("name")?.str()?.to_owned(),
        methods: node.need("methods")?.texts()?,
        needs,
        rule: node.need("rule")?.str()?.to_owned(),
        draft: node.text("draft")?,
    })
}

fn gate(node: &Node<'_>) -> Result<Gate> {
    node.only(&["of", "path", "form", "source"])?;
    Ok(Gate {
        of: node.need("of")?.named(Sender::NAMES, Sender::parse)?,
        path: node.need("path")?.str()?.to_owned(),
        form: node.need("form")?.named(GateForm::NAMES, GateForm::parse)?,
        source: node.text("source")?,
    })
}
