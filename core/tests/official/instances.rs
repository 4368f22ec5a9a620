//! Instances of the model's types: good ones in all shapes, and ones with a single thing wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::{json, Map, Value};

/// A text that says what an instance is about, and the instance.
pub(crate) type Instance = (String, Value);

/// The types of one version, as `core/protocol/` has them.
pub(crate) struct Model {
    types: BTreeMap<String, Value>,
    alone: BTreeSet<String>,
}

/// Drafts that only proposals have.
const OURS: [&str; 4] = ["nes", "mcp_connections", "session_options", "prompt_suggestions"];
/// Types that were announced after the official crate was published.
const LATER: [&str; 2] = ["ReplayComplete", "SessionReference"];

/// What announced members and variants after that.
const NEWS: [&str; 1] = ["idempotency-keys"];

/// Whether a type, or a member or variant of one, is none of the official crate's.
fn is_ours(def: &Value) -> bool {
    let is_one_of = |member: &str, names: &[&str]| def[member].as_str().is_some_and(|name| names.contains(&name));
    is_one_of("draft", &OURS) || is_one_of("type", &LATER) || is_one_of("source", &NEWS)
}

/// Takes out such members and variants.
fn without_ours(value: &mut Value) {
    if let Some(members) = value.as_object_mut() {
        members.retain(|_, member| !is_ours(member));
        members.values_mut().for_each(without_ours);
    }
}

/// What a variant of an object type is called, its members, and the fields that these come from.
type Base = (String, Map<String, Value>, Map<String, Value>);

/// How much of what is optional an instance has.
#[derive(Clone, Copy, PartialEq)]
enum Fill {
    Required,
    All,
}

impl Model {
    pub(crate) fn load(version: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("protocol").join(version);
        let mut types = BTreeMap::new();
        for entry in fs::read_dir(&folder).expect("the model's folder") {
            let path = entry.expect("a file of the model").path();
            // The files of methods begin alike, and two others hold no types.
            let others = ["methods", "dialect", "parts"];
            let has_types = |name: &str| !others.iter().any(|other| name.starts_with(other));
            if path.file_stem().is_some_and(|name| has_types(&name.to_string_lossy())) {
                let text = fs::read_to_string(&path).expect("a file of the model");
                types.extend(serde_json::from_str::<BTreeMap<String, Value>>(&text).expect("the model is JSON"));
            }
        }
        let ours = |name: &String, def: &Value| is_ours(def) || LATER.contains(&name.as_str());
        let alone = types.iter().filter(|(name, def)| ours(name, def)).map(|(name, _)| name.clone()).collect();
        types.values_mut().for_each(without_ours);
        Model { types, alone }
    }

    /// Whether the official crate does not have a type.
    pub(crate) fn is_ours_alone(&self, name: &str) -> bool {
        self.alone.contains(name)
    }

    /// Whether a host may send members of other protocols with it; a union is what all of its variants are.
    pub(crate) fn is_forwarded(&self, name: &str) -> bool {
        let def = &self.types[name];
        let mut variants = def["union"]["variants"].as_object().into_iter().flat_map(|variants| variants.values());
        let has = def["union"]["variants"].is_object();
        let named = |variant: &Value| variant.as_str().is_some_and(|name| self.is_forwarded(name));
        def["forwarded"] == true || (has && variants.all(named))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.types.keys().map(String::as_str)
    }

    /// Every instance of a type.
    pub(crate) fn instances(&self, name: &str) -> Vec<Instance> {
        let def = &self.types[name];
        let mut out: Vec<Instance> = Vec::new();
        let mut add = |kind: &str, value: Value| out.push((kind.to_owned(), value));
        for (kind, value) in [("null", json!(null)), ("a number", json!(17)), ("a list", json!([]))] {
            add(kind, value);
        }
        if def.get("enum").is_none() {
            add("a text", json!("text"));
        }
        add("an empty object", json!({}));
        if let Some(values) = def["enum"].as_object() {
            for value in values.keys() {
                add(&format!("value {value}"), json!(value));
            }
            add("unknown value", json!("something_new"));
            add("extension value", json!("_something_new"));
        }
        if let Some(codes) = def["codes"].as_object() {
            for code in codes.keys() {
                add(&format!("code {code}"), serde_json::from_str(code).expect("codes are numbers"));
            }
        }
        if def.get("integer").is_some() || def.get("codes").is_some() {
            for number in [json!(0), json!(-1), json!(65535), json!(65536), json!(4_294_967_296_u64), json!(1.5)] {
                add(&format!("number {number}"), number);
            }
        }
        if let Some(of) = def["any-of"].as_array().filter(|_| def.get("object").is_none()) {
            for ty in of.iter().filter_map(Value::as_str) {
                add(&format!("alternative {ty}"), self.of(ty, &Value::Null, Fill::All));
                add(&format!("smallest alternative {ty}"), self.of(ty, &Value::Null, Fill::Required));
            }
            for value in [json!(9_007_199_254_740_993_i64), json!(-3), json!(1.25), json!(true), json!("2\u{2028}3")] {
                add(&format!("scalar {value}"), value);
            }
        }
        if let Some(target) = def["alias"].as_str() {
            add("target", self.of(target, &Value::Null, Fill::All));
        }
        if def.get("union").is_some() || def.get("object").is_some() {
            out.extend(self.objects(name, def));
        }
        out
    }

    fn objects(&self, name: &str, def: &Value) -> Vec<Instance> {
        let mut out = Vec::new();
        for (kind, base, fields) in self.bases(name, def, Fill::All) {
            out.extend(self.spoilt(&kind, &base, &fields));
            let mut more = base.clone();
            more.insert("somethingNew".to_owned(), json!({"a": [1]}));
            out.push((format!("{kind}, unknown member"), Value::Object(more)));
            out.push((kind, Value::Object(base)));
        }
        for (kind, base, _) in self.bases(name, def, Fill::Required) {
            out.push((format!("{kind}, required only"), Value::Object(base)));
        }
        let Some(union) = def.get("union") else { return out };
        let tag = union["tag"].as_str().expect("unions have a tag");
        let own = self.members(def, Fill::All);
        let open = self.fill(&union["open"], Fill::All);
        let first = self.bases(name, def, Fill::All).remove(0).1;
        let with = |value: Option<Value>, base: &Map<String, Value>| {
            let mut object = base.clone();
            object.remove(tag);
            object.extend(value.map(|value| (tag.to_owned(), value)));
            Value::Object(object)
        };
        let empty: Map<_, _> = own.into_iter().chain(open).collect();
        let mut rich = empty.clone();
        rich.insert("extra".to_owned(), json!([1.50, {"b": null}]));
        for (tag, base, kind) in [
            (Some(json!("something_new")), &empty, "unknown tag"),
            (Some(json!("_something_new")), &empty, "extension tag"),
            (Some(json!("something_new")), &rich, "unknown tag with members"),
            (Some(json!("something_new")), &first, "unknown tag over the first variant"),
            (Some(json!(5)), &first, "tag of a wrong type"),
            (Some(json!(null)), &first, "null tag"),
            (None, &first, "no tag"),
            (None, &empty, "no tag and no members"),
        ] {
            out.push((kind.to_owned(), with(tag, base)));
        }
        out
    }

    /// Each variant of an object type: what it is, its members, and the fields that these come from.
    fn bases(&self, name: &str, def: &Value, fill: Fill) -> Vec<Base> {
        let own = self.members(def, fill);
        let fields = def["object"].as_object().cloned().unwrap_or_default();
        let mut out = Vec::new();
        let mut push = |kind: String, tag: Option<(&str, &str)>, part: Map<String, Value>, more: Map<String, Value>| {
            let tag = tag.map(|(tag, value)| (tag.to_owned(), json!(value)));
            let members = tag.into_iter().chain(own.clone()).chain(part).collect();
            out.push((kind, members, fields.clone().into_iter().chain(more).collect()));
        };
        if let Some(union) = def.get("union") {
            let tag = union["tag"].as_str().expect("unions have a tag");
            let variants = union["variants"].as_object().expect("unions have variants");
            let tagged = variants.iter().map(|(value, variant)| (Some((tag, value.as_str())), variant));
            let untagged = union.get("untagged").map(|variant| (None, variant));
            for (tag, variant) in tagged.chain(untagged) {
                let kind = tag.map_or("untagged".to_owned(), |(_, value)| format!("variant {value}"));
                if let Some(part) = variant.as_str().or(variant["type"].as_str()) {
                    for (inner, members, more) in self.bases(part, &self.types[part], fill) {
                        let kind = if inner == "whole" { kind.clone() } else { format!("{kind}/{inner}") };
                        // What a variant carries is spoilt where it is a type of its own.
                        let more = if def.get("object").is_some() { more } else { Map::new() };
                        push(kind, tag, members, more);
                    }
                } else {
                    let more = variant["object"].as_object().cloned().unwrap_or_default();
                    push(kind, tag, self.fill(&variant["object"], fill), more);
                }
            }
        } else if let Some(of) = def["any-of"].as_array() {
            for part in of.iter().filter_map(Value::as_str) {
                let (_, members, more) = self.bases(part, &self.types[part], fill).remove(0);
                push(part.to_owned(), None, members, more);
            }
        } else {
            assert!(def.get("object").is_some(), "{name} has no members");
            push("whole".to_owned(), None, Map::new(), Map::new());
        }
        out
    }

    /// One thing wrong at a time.
    fn spoilt(&self, kind: &str, base: &Map<String, Value>, fields: &Map<String, Value>) -> Vec<Instance> {
        let mut out = Vec::new();
        let mut add = |name: &str, what: &str, value: Option<Value>| {
            let mut object = base.clone();
            match value {
                Some(value) => object.insert(name.to_owned(), value),
                None => object.remove(name),
            };
            out.push((format!("{kind}, {name} {what}"), Value::Object(object)));
        };
        for (name, field) in fields {
            let ty = field["type"].as_str().expect("fields have a type");
            add(name, "null", Some(json!(null)));
            add(name, "absent", None);
            if let Some(wrong) = self.wrong(ty) {
                add(name, "of a wrong type", Some(wrong));
            }
            if let Some(item) = ty.strip_prefix('[').and_then(|ty| ty.strip_suffix(']')) {
                add(name, "empty", Some(json!([])));
                let good = self.of(item, field, Fill::Required);
                if let Some(wrong) = self.wrong(item) {
                    add(name, "with a bad item", Some(json!([good, wrong, good])));
                    add(name, "with bad items only", Some(json!([wrong])));
                }
                add(name, "with a null item", Some(json!([good, null])));
            }
            if let Some(value) = ty.strip_prefix('{').and_then(|ty| ty.strip_suffix('}')) {
                add(name, "empty", Some(json!({})));
                if let Some(wrong) = self.wrong(value) {
                    add(name, "with a bad value", Some(json!({"a": wrong})));
                }
            }
            if ty.starts_with("uint") || ty.starts_with("int") {
                for number in [json!(0), json!(-1), json!(1.5), json!(u64::from(u32::MAX) + 1), json!(u64::MAX)] {
                    add(name, &number.to_string(), Some(number));
                }
            }
            if ty == "double" {
                for number in [json!(0), json!(-1), json!(1e300), json!(9_007_199_254_740_993_u64)] {
                    add(name, &number.to_string(), Some(number));
                }
            }
            if field.get("is").is_some_and(|is| is == "absolute-path") {
                add(name, "relative", Some(json!("a/b")));
            }
        }
        add("_meta", "of a wrong type", Some(json!(5)));
        add("_meta", "null", Some(json!(null)));
        out
    }

    fn members(&self, def: &Value, fill: Fill) -> Map<String, Value> {
        let mut members = self.fill(&def["object"], fill);
        if fill == Fill::All && def.get("object").is_some() && def.get("meta").is_none() {
            members.insert("_meta".to_owned(), json!({"example.com/a": {"b": [1, "\u{2028}"]}}));
        }
        members
    }

    fn fill(&self, fields: &Value, fill: Fill) -> Map<String, Value> {
        let fields = fields.as_object().into_iter().flatten();
        let wanted = fields.filter(|(_, field)| fill == Fill::All || field.get("required").is_some());
        wanted
            .map(|(name, field)| (name.clone(), self.of(field["type"].as_str().expect("a type"), field, fill)))
            .collect()
    }

    /// A good value of a type expression.
    fn of(&self, ty: &str, field: &Value, fill: Fill) -> Value {
        if let Some(item) = ty.strip_prefix('[').and_then(|ty| ty.strip_suffix(']')) {
            return json!([self.of(item, field, fill)]);
        }
        if let Some(value) = ty.strip_prefix('{').and_then(|ty| ty.strip_suffix('}')) {
            return json!({"key": self.of(value, field, fill)});
        }
        match ty {
            "any" => json!({"any": [1, null, "thing"]}),
            // What absence stands for would not be written by every writer.
            "boolean" => json!(field["default"] != true),
            "string" => text(&field["is"]),
            "double" => json!(0.5),
            "int32" | "int64" => json!(-7),
            "uint16" | "uint32" | "uint64" => json!(7),
            name => self.named(name, fill),
        }
    }

    fn named(&self, name: &str, fill: Fill) -> Value {
        let def = &self.types[name];
        if let Some(values) = def["enum"].as_object() {
            return json!(values.keys().nth(1).or(values.keys().next()).expect("enums have values"));
        }
        if let Some(is) = def.get("string") {
            return text(&is["is"]);
        }
        if let Some(int) = def["integer"].as_str() {
            return self.of(int, &Value::Null, fill);
        }
        if let Some(code) = def["codes"].as_object().and_then(|codes| codes.keys().next()) {
            return serde_json::from_str(code).expect("codes are numbers");
        }
        if let Some(target) = def["alias"].as_str() {
            return self.of(target, &Value::Null, fill);
        }
        if let (Some(of), None) = (def["any-of"].as_array(), def.get("object")) {
            return self.of(of[0].as_str().expect("a type"), &Value::Null, fill);
        }
        Value::Object(self.bases(name, def, fill).remove(0).1)
    }

    /// A value that is not of a type, if there is one.
    fn wrong(&self, ty: &str) -> Option<Value> {
        match ty {
            "any" => None,
            "string" | "boolean" => Some(json!(17)),
            "double" | "int32" | "int64" | "uint16" | "uint32" | "uint64" => Some(json!("17")),
            _ if ty.starts_with('[') || ty.starts_with('{') => Some(json!("text")),
            name => {
                let def = &self.types[name];
                match def["alias"].as_str() {
                    Some(target) => self.wrong(target),
                    None if def.get("integer").is_some() || def.get("codes").is_some() => Some(json!("17")),
                    None => Some(json!(17.5)),
                }
            }
        }
    }
}

/// A good text of a kind.
fn text(is: &Value) -> Value {
    json!(match is.as_str() {
        Some("absolute-path") => "/home/a b/é.rs",
        Some("uri") => "file:///home/a",
        Some("base64") => "QUJD",
        Some("date-time") => "2026-11-21T20:54:19Z",
        Some("currency") => "EUR",
        Some("icon") => "https://a.b/i.png",
        _ => "a \"text\"\n\u{1F600}",
    })
}
