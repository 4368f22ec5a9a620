//! Reads an official JSON Schema into the model's terms. A keyword that it does not know is an error, so that nothing
//! new upstream is lost in silence.

use std::collections::BTreeSet;

use anyhow::{bail, ensure, Context, Result};
use indexmap::IndexMap;
use serde_json::{Map, Value};

use super::keywords::{alternatives, constants, has_meta, is_null, kind, known, plain, reference, tag, width};
use crate::model::{Body, Field, Fields, Flat, Int, Is, Open, Shape, TypeDef, TypeExpr, Union, Variant};

/// Types by name, as one schema has them.
pub(super) type Types = IndexMap<String, TypeDef>;

/// A schema with its definitions.
pub(super) struct Schema<'a> {
    definitions: &'a Map<String, Value>,
    /// Names of types that take null, which the model says where they are used.
    nullable: BTreeSet<&'a str>,
}

impl<'a> Schema<'a> {
    /// Prepares a parsed schema file.
    pub(super) fn new(file: &'a Value) -> Result<Self> {
        let definitions = file["$defs"].as_object().context("expected an object $defs")?;
        let takes_null = |value: &Value| alternatives(value).is_some_and(|of| of.iter().any(is_null));
        let nullable = definitions.iter().filter(|(_, value)| takes_null(value)).map(|(name, _)| name.as_str());
        Ok(Self { definitions, nullable: nullable.collect() })
    }

    /// The definitions that are part of the protocol, without those that only describe the envelope.
    fn payloads(&self) -> impl Iterator<Item = (&'a String, &'a Value)> + '_ {
        let envelope = |name: &str, value: &Value| {
            value.get("x-docs-ignore").is_some() || matches!(name, "ExtRequest" | "ExtResponse" | "ExtNotification")
        };
        self.definitions.iter().filter(move |(name, value)| !envelope(name, value))
    }

    /// All types.
    pub(super) fn types(&self) -> Result<Types> {
        let mut types = Types::new();
        for (name, value) in self.payloads() {
            let def = self.type_def(name, value, &mut types).with_context(|| name.clone())?;
            types.insert(name.clone(), def);
        }
        Ok(types)
    }

    /// The types that methods use: name of the type, of the method, and of the side that receives it.
    pub(super) fn calls(&self) -> Vec<(&'a str, &'a str, &'a str)> {
        let call = |(name, value): (&'a String, &'a Value)| {
            Some((name.as_str(), value.get("x-method")?.as_str()?, value.get("x-side")?.as_str()?))
        };
        self.payloads().filter_map(call).collect()
    }

    fn type_def(&self, name: &str, value: &Value, more: &mut Types) -> Result<TypeDef> {
        let members = known(
            value,
            &[
                "type",
                "properties",
                "required",
                "anyOf",
                "oneOf",
                "allOf",
                "format",
                "minimum",
                "maximum",
                "discriminator",
                "additionalProperties",
                "x-side",
                "x-method",
            ],
        )?;
        let properties = value.get("properties").and_then(Value::as_object);
        let shape = if let Some(of) = alternatives(value) {
            let fields = self.fields(value)?;
            let flat = members.get("type") == Some(&Value::from("object")) || properties.is_some();
            self.choice(name, of, flat.then_some(fields), more)?
        } else if let Some(target) = reference(value) {
            Shape::Alias(TypeExpr::Named(target.to_owned()))
        } else {
            match members.get("type").and_then(Value::as_str) {
                Some("object") => Shape::Object { fields: self.fields(value)?, flat: None },
                Some("string") => Shape::String { is: (name == "AbsolutePath").then_some(Is::AbsolutePath) },
                Some("integer") => Shape::Integer(width(value)?),
                None => Shape::Alias(TypeExpr::Any),
                Some(other) => bail!("a named {other} is not part of the format"),
            }
        };
        Ok(TypeDef { meta: has_meta(value, &shape), ..plain(shape) })
    }

    fn choice(&self, name: &str, of: &[Value], fields: Option<Fields>, more: &mut Types) -> Result<Shape> {
        if fields.is_none() && of.iter().any(|alternative| alternative.get("const").is_some()) {
            return constants(of);
        }
        if let Some(tag) = of.iter().find_map(tag) {
            let union = self.union(tag, of)?;
            return Ok(match fields {
                Some(mut fields) => {
                    fields.shift_remove(tag);
                    Shape::Object { fields, flat: Some(Flat::Union(union)) }
                }
                None => Shape::Union(union),
            });
        }
        let mut types = Vec::new();
        let mut min_items = None;
        for alternative in of.iter().filter(|alternative| !is_null(alternative)) {
            let expr = if alternative.get("properties").is_some() {
                // An object without a name is named after the member that sets it apart.
                let apart = alternative["required"][0].as_str().context("an alternative without a required member")?;
                let named = format!("{name}{}{}", apart[..1].to_uppercase(), &apart[1..]);
                let shape = Shape::Object { fields: self.fields(alternative)?, flat: None };
                more.insert(named.clone(), TypeDef { meta: has_meta(alternative, &shape), ..plain(shape) });
                TypeExpr::Named(named)
            } else {
                let field = self.field(alternative)?;
                min_items = min_items.or(field.min_items);
                field.ty
            };
            types.push(expr);
        }
        Ok(match fields {
            Some(fields) => Shape::Object { fields, flat: Some(Flat::AnyOf(types)) },
            None => Shape::AnyOf { of: types, min_items },
        })
    }

    fn union(&self, tag: &str, of: &[Value]) -> Result<Union> {
        let mut union = Union {
            tag: tag.to_owned(),
            variants: IndexMap::new(),
            open: Open::No,
            closed_to: Vec::new(),
            untagged: None,
        };
        let mut fallback = Open::No;
        for alternative in of {
            known(
                alternative,
                &[
                    "type",
                    "properties",
                    "required",
                    "allOf",
                    "anyOf",
                    "oneOf",
                    "not",
                    "unevaluatedProperties",
                    "additionalProperties",
                ],
            )?;
            let mut fields = self.fields(alternative)?;
            fields.shift_remove(tag);
            let body = match reference(alternative) {
                Some(target) => Body::Named(target.to_owned()),
                None => Body::Fields(fields.clone()),
            };
            let told = &alternative["properties"][tag];
            if let Some(value) = told["const"].as_str() {
                union.variants.insert(value.to_owned(), Variant { body, draft: None, source: None, doc: None });
            } else if is_null(told) {
                union.untagged = Some(body);
            } else if told["type"] == "string" {
                fields.extend(self.of_alternatives(alternative)?);
                union.open = Open::With(fields);
            } else {
                // Nothing about the tag: it is what an absent tag means, and any value that no variant claims.
                fallback = Open::With(self.needed(alternative)?);
                union.untagged = Some(body);
            }
        }
        if union.open == Open::No {
            union.open = fallback;
        }
        Ok(union)
    }

    /// The members that an alternative has from one of the types that it names in turn: which of them is open.
    fn of_alternatives(&self, alternative: &Value) -> Result<Fields> {
        let inner = ["anyOf", "oneOf"].iter().filter_map(|word| alternative[*word].as_array()).flatten();
        let mut fields = Fields::new();
        for target in inner.filter_map(reference).filter_map(|name| self.definitions.get(name)) {
            let members = self.fields(target)?.into_iter();
            fields.extend(members.map(|(name, field)| (name, Field { required: false, ..field })));
        }
        Ok(fields)
    }

    /// The required members of an alternative, also where it refers to a type.
    fn needed(&self, alternative: &Value) -> Result<Fields> {
        let target = reference(alternative).and_then(|name| self.definitions.get(name)).unwrap_or(alternative);
        let fields = self.fields(target)?.into_iter();
        Ok(fields.filter(|(_, field)| field.required).collect())
    }

    fn fields(&self, value: &Value) -> Result<Fields> {
        let required = value["required"].as_array().map_or(&[][..], Vec::as_slice);
        let properties = value["properties"].as_object();
        let properties = properties.into_iter().flatten().filter(|(name, _)| *name != "_meta");
        let field = |(name, value): (&String, &Value)| {
            let field = self.field(value).with_context(|| format!("field {name}"))?;
            Ok((name.clone(), Field { required: required.iter().any(|other| other == name.as_str()), ..field }))
        };
        properties.map(field).collect()
    }

    fn field(&self, value: &Value) -> Result<Field> {
        let members = known(
            value,
            &[
                "type",
                "$ref",
                "allOf",
                "anyOf",
                "items",
                "format",
                "minimum",
                "maximum",
                "minItems",
                "const",
                "default",
                "contentEncoding",
                "additionalProperties",
                "x-deserialize-default-on-error",
                "x-deserialize-default-on-null",
                "x-deserialize-skip-invalid-items",
                // Too fine for the model: the one non-empty string, and that a string is a pattern.
                "minLength",
            ],
        )?;
        let marked = |name: &str| members.get(name) == Some(&Value::Bool(true));
        let (ty, null) = expression(value)?;
        let integer = match ty {
            TypeExpr::Integer(int) => Some(int),
            _ => None,
        };
        let bound = |name: &str| {
            let value = members.get(name)?;
            let bound = value.as_i64().or_else(|| value.as_f64().map(|bound| bound as i64))?;
            let implied = match (name, integer) {
                ("minimum", Some(Int::U16 | Int::U32 | Int::U64)) => bound == 0,
                ("maximum", Some(Int::U16)) => bound == i64::from(u16::MAX),
                ("maximum", Some(Int::U32)) => bound == i64::from(u32::MAX),
                _ => false,
            };
            (!implied).then_some(bound)
        };
        let null = null || ty.named().is_some_and(|name| self.nullable.contains(name));
        Ok(Field {
            null,
            // What an object holds by default is what its own members default to.
            default: members.get("default").map(|value| {
                if value.is_object() {
                    Value::Object(Map::new())
                } else {
                    value.clone()
                }
            }),
            constant: members.get("const").cloned(),
            on_error: marked("x-deserialize-default-on-error"),
            on_null: marked("x-deserialize-default-on-null"),
            skip_items: marked("x-deserialize-skip-invalid-items"),
            min_items: members.get("minItems").and_then(Value::as_u64).map(u8::try_from).transpose()?,
            minimum: bound("minimum"),
            maximum: bound("maximum"),
            is: kind(value),
            ..Field::new(ty)
        })
    }
}

/// The type that a value holds, and whether it may be null.
fn expression(value: &Value) -> Result<(TypeExpr, bool)> {
    if let Some(target) = reference(value) {
        return Ok((TypeExpr::Named(target.to_owned()), false));
    }
    if let Some(of) = alternatives(value) {
        let [one, null] = of else { bail!("expected a type or null") };
        ensure!(is_null(null), "expected null as the second alternative");
        return Ok((expression(one)?.0, true));
    }
    let (name, null) = match &value["type"] {
        Value::Null => return Ok((TypeExpr::Any, false)),
        Value::String(name) => (name.as_str(), false),
        Value::Array(names) => match names.as_slice() {
            [Value::String(name), Value::String(null)] if null == "null" => (name.as_str(), true),
            _ => bail!("expected a type and null"),
        },
        _ => bail!("expected a type"),
    };
    let inner = |key: &str| match value.get(key) {
        None | Some(Value::Bool(true)) => Ok(Box::new(TypeExpr::Any)),
        Some(inner) => Ok::<_, anyhow::Error>(Box::new(expression(inner)?.0)),
    };
    let ty = match name {
        "string" => TypeExpr::String,
        "boolean" => TypeExpr::Boolean,
        "number" => TypeExpr::Double,
        "integer" => TypeExpr::Integer(width(value)?),
        "array" => TypeExpr::List(inner("items")?),
        "object" => TypeExpr::Map(inner("additionalProperties")?),
        // The tag of an alternative that stands for its absence; its type is never used.
        "null" => TypeExpr::Any,
        other => bail!("unknown type {other}"),
    };
    Ok((ty, null))
}
