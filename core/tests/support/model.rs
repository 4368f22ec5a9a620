//! The model's JSON files, read by themselves: what tests expect must not come from what is generated from them.
//!
//! Also makes the smallest values that fit a type. Every name and id in them is `x`, so that a test which opens a
//! session `x` with a mode `x` has made all of them mean something.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::{json, Map, Value};

/// Variants that mean the least, where a union has one of these.
const PLAIN: &[&str] = &["text", "id"];
/// Deeper than any type that must be filled in.
const DEEP: usize = 32;

/// One version of the protocol.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) version: u16,
    /// Methods by name, drafts among them.
    pub(crate) methods: BTreeMap<String, Value>,
    types: BTreeMap<String, Value>,
}

impl Model {
    pub(crate) fn load(version: u16) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("protocol/v{version}"));
        let (mut methods, mut types) = (BTreeMap::new(), BTreeMap::new());
        for entry in fs::read_dir(folder).expect("the model") {
            let path = entry.expect("an entry").path();
            // What differs between versions, and what parts of calls need, are no lists of types.
            if path.ends_with("dialect.json") || path.ends_with("parts.json") {
                continue;
            }
            let is_methods = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("methods"));
            let text = fs::read_to_string(&path).expect("a file of the model");
            let items: BTreeMap<String, Value> = serde_json::from_str(&text).expect("JSON");
            if is_methods { &mut methods } else { &mut types }.extend(items);
        }
        Model { version, methods, types }
    }

    /// The smallest params of a method, as a request or as a notification.
    pub(crate) fn params(&self, method: &str, request: bool) -> Value {
        let Some(row) = self.methods.get(method) else { return json!({}) };
        let own = row.get("notification-params").filter(|_| !request);
        self.value(own.unwrap_or(&row["params"]).as_str().expect("the name of a type"), &Value::Null, DEEP)
    }

    /// The variants of a union, each with its draft.
    #[allow(dead_code)]
    pub(crate) fn variants(&self, ty: &str) -> Vec<(String, Option<String>)> {
        let variants = self.types[ty]["union"]["variants"].as_object().expect("a union");
        let draft = |variant: &Value| variant["draft"].as_str().map(str::to_owned);
        variants.iter().map(|(name, variant)| (name.clone(), draft(variant))).collect()
    }

    /// The member of a side's capabilities that a path names.
    pub(crate) fn capability(&self, side: &str, path: &str) -> Option<&Value> {
        let mut ty = if side == "client" { "ClientCapabilities" } else { "AgentCapabilities" };
        let mut field = &Value::Null;
        for name in path.split('.') {
            field = self.types.get(ty)?["object"].get(name)?;
            ty = field["type"].as_str()?;
        }
        Some(field)
    }

    /// The smallest object that says yes there.
    pub(crate) fn marker(&self, side: &str, path: &str) -> Value {
        let ty = self.capability(side, path).and_then(|field| field["type"].as_str()).expect("a capability");
        self.value(ty, &Value::Null, DEEP)
    }

    /// The smallest value of a type expression; `field` says more about it, if it is a member's.
    fn value(&self, ty: &str, field: &Value, deep: usize) -> Value {
        assert!(deep > 0, "{ty} has no smallest value");
        if let Some(value) = field.get("const").or_else(|| field.get("default")) {
            return value.clone();
        }
        if let Some(item) = ty.strip_prefix('[').and_then(|ty| ty.strip_suffix(']')) {
            return json!([self.value(item, &json!({"is": field["is"]}), deep - 1)]);
        }
        match ty {
            "string" => json!(string(field["is"].as_str())),
            "boolean" => json!(true),
            "ProtocolVersion" => json!(self.version),
            "RequestId" => json!("x"),
            "double" | "int32" | "int64" | "uint16" | "uint32" | "uint64" => json!(1),
            "any" => json!({}),
            _ if ty.starts_with('{') => json!({}),
            _ => self.named(self.types.get(ty).unwrap_or_else(|| panic!("no type {ty}")), deep - 1),
        }
    }

    fn named(&self, ty: &Value, deep: usize) -> Value {
        if let Some(alias) = ty["alias"].as_str() {
            return self.value(alias, &Value::Null, deep);
        }
        if let Some(kind) = ty.get("string") {
            return json!(string(kind["is"].as_str()));
        }
        if let Some(values) = ty["enum"].as_object() {
            return json!(values.keys().next());
        }
        if let Some(codes) = ty["codes"].as_object() {
            return codes.keys().next().and_then(|code| code.parse::<i64>().ok()).into();
        }
        if ty.get("integer").is_some() {
            return json!(1);
        }
        let mut members = self.members(ty, deep);
        if let Some(first) = ty["any-of"].get(0).and_then(Value::as_str) {
            match self.value(first, &Value::Null, deep) {
                Value::Object(more) => members.extend(more),
                other => return other,
            }
        }
        Value::Object(members)
    }

    /// The required members of an object, those with a default, and those of its plainest variant.
    fn members(&self, ty: &Value, deep: usize) -> Map<String, Value> {
        let none = Map::new();
        let fields = ty["object"].as_object().unwrap_or(&none).iter();
        let wanted = fields.filter(|(_, field)| {
            field.get("draft").is_none() && (field["required"] == true || field.get("default").is_some())
        });
        let mut members: Map<String, Value> = wanted
            .map(|(name, field)| (name.clone(), self.value(field["type"].as_str().expect("a type"), field, deep - 1)))
            .collect();
        let Some(union) = ty.get("union") else { return members };
        let variant = if let Some(untagged) = union.get("untagged") {
            untagged
        } else {
            let (tag, variant) = plainest(union["variants"].as_object().expect("variants"));
            members.insert(union["tag"].as_str().expect("a tag").into(), json!(tag));
            variant
        };
        match variant.as_str().or_else(|| variant["type"].as_str()) {
            Some(name) => {
                members.extend(self.value(name, &Value::Null, deep - 1).as_object().cloned().unwrap_or_default());
            }
            None => members.extend(self.members(variant, deep - 1)),
        }
        members
    }
}

fn plainest(variants: &Map<String, Value>) -> (&String, &Value) {
    let plain = PLAIN.iter().find_map(|name| variants.get_key_value(*name));
    let stable = || variants.iter().find(|(_, variant)| variant.get("draft").is_none());
    plain.or_else(stable).expect("a variant")
}

fn string(kind: Option<&str>) -> &'static str {
    match kind {
        None | Some("name") => "x",
        Some("absolute-path") => "/x",
        Some("uri") => "x:x",
        Some("base64") => "eHh4",
        Some("date-time") => "2026-11-21",
        Some("currency") => "XXX",
        Some("icon") => "data:,x",
        Some(other) => panic!("a kind of string that the model's notes do not have: {other}"),
    }
}
