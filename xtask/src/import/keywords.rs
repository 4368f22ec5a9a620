//! Single JSON Schema keywords, read into the model's terms. [`super::schema`] puts them together.

use anyhow::{anyhow, bail, Context, Result};
use serde_json::{Map, Value};

use crate::model::{Code, Int, Is, Shape, TypeDef, Word};

/// Strings or integers that stand for something; a plain alternative opens them.
pub(super) fn constants(of: &[Value]) -> Result<Shape> {
    let open = of.iter().any(|alternative| alternative.get("const").is_none());
    let known = of.iter().filter_map(|alternative| Some((alternative, alternative.get("const")?)));
    if of[0]["type"] == "integer" {
        let code = |(alternative, value): (&Value, &Value)| {
            let title = alternative["title"].as_str().unwrap_or_default();
            (value.to_string(), Code { name: title.to_lowercase().replace(' ', "_"), source: None, doc: None })
        };
        return Ok(Shape::Codes(known.map(code).collect()));
    }
    let value =
        |(_, value): (&Value, &Value)| Ok((value.as_str().context("expected a string")?.to_owned(), Word::default()));
    Ok(Shape::Enum { values: known.map(value).collect::<Result<_>>()?, open })
}

pub(super) fn plain(shape: Shape) -> TypeDef {
    TypeDef {
        doc: None,
        page: None,
        draft: None,
        source: None,
        null_default: false,
        meta: true,
        rule: None,
        tag_rule: None,
        untagged_tag: None,
        forwarded: false,
        shape,
    }
}

/// Only objects are asked; everything else keeps the default, which says nothing.
pub(super) fn has_meta(value: &Value, shape: &Shape) -> bool {
    !matches!(shape, Shape::Object { .. }) || value["properties"].get("_meta").is_some()
}

pub(super) fn alternatives(value: &Value) -> Option<&[Value]> {
    value.get("anyOf").or_else(|| value.get("oneOf"))?.as_array().map(Vec::as_slice)
}

pub(super) fn is_null(value: &Value) -> bool {
    value["type"] == "null"
}

/// The member by which an alternative is told apart.
pub(super) fn tag(alternative: &Value) -> Option<&str> {
    let mut properties = alternative.get("properties")?.as_object()?.iter();
    properties.find(|(_, value)| value["const"].is_string()).map(|(name, _)| name.as_str())
}

/// The definition that a value refers to, directly or as the only part of `allOf`.
pub(super) fn reference(value: &Value) -> Option<&str> {
    let target = match value.get("allOf").and_then(Value::as_array).map(Vec::as_slice) {
        Some([one]) => one,
        Some(_) => return None,
        None => value,
    };
    target.get("$ref")?.as_str()?.strip_prefix("#/$defs/")
}

pub(super) fn width(value: &Value) -> Result<Int> {
    let format = value["format"].as_str().context("an integer without a format")?;
    Int::parse(format).ok_or_else(|| anyhow!("unknown integer format {format}"))
}

pub(super) fn kind(value: &Value) -> Option<Is> {
    match (value["format"].as_str(), value["contentEncoding"].as_str()) {
        (_, Some("base64")) => Some(Is::Base64),
        (Some("uri"), _) => Some(Is::Uri),
        (Some("date-time"), _) => Some(Is::DateTime),
        _ => None,
    }
}

/// The members of a schema, if they are all among those that can be read here.
pub(super) fn known<'a>(value: &'a Value, names: &[&str]) -> Result<&'a Map<String, Value>> {
    let members = value.as_object().context("expected an object")?;
    let words = ["title", "description"];
    match members.keys().find(|key| !names.contains(&key.as_str()) && !words.contains(&key.as_str())) {
        Some(key) => bail!("unknown keyword {key}"),
        None => Ok(members),
    }
}
