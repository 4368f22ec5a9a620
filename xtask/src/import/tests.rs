//! Small schemas and what becomes of them.

use serde_json::{json, Value};

mod facts;
mod folder;

use super::{merge, refresh, schema::Schema};
use crate::model::{load, write, Version};

/// The types of a schema as the model writes them.
fn types(definitions: &Value) -> Value {
    let empty = load::parse(1, &[]).unwrap();
    let version = refreshed(&empty, definitions, definitions).unwrap();
    let files = write::files(&version);
    files.iter().find(|(name, _)| name == "unsorted.json").map(|(_, text)| serde_json::from_str(text).unwrap()).unwrap()
}

fn refreshed(old: &Version, stable: &Value, unstable: &Value) -> anyhow::Result<Version> {
    refresh(old, &json!({"$defs": stable}), &json!({"$defs": unstable}))
}

fn variant(tag: &str, value: &str, name: &str) -> Value {
    json!({
        "type": "object", "properties": {tag: {"type": "string", "const": value}}, "required": [tag],
        "allOf": [{"$ref": format!("#/$defs/{name}")}],
    })
}

#[test]
fn fields_carry_their_marks() {
    let given = types(&json!({"A": {"type": "object", "required": ["id"], "properties": {
        "_meta": {"type": ["object", "null"], "additionalProperties": true},
        "id": {"allOf": [{"$ref": "#/$defs/Id"}], "description": "Not copied."},
        "other": {"anyOf": [{"$ref": "#/$defs/Id"}, {"type": "null"}], "x-deserialize-default-on-error": true},
        "list": {
            "type": ["array", "null"], "items": {"type": "string"}, "minItems": 1,
            "x-deserialize-skip-invalid-items": true,
        },
        "map": {"type": "object", "additionalProperties": {"type": "boolean"}, "x-deserialize-default-on-null": true},
        "size": {"type": "integer", "format": "uint16", "minimum": 0, "maximum": 65535},
        "line": {"type": "integer", "format": "uint32", "minimum": 1},
        "caps": {"allOf": [{"$ref": "#/$defs/Id"}], "default": {"deep": {"er": false}}},
        "when": {"type": "string", "format": "date-time"},
        "data": {"type": "string", "contentEncoding": "base64"},
        "raw": {},
    }}, "Id": {"type": "string"}}));
    let expected = json!({
        "id": {"type": "Id", "required": true},
        "other": {"type": "Id", "null": true, "on-error": "default"},
        "list": {"type": "[string]", "null": true, "items": "skip", "min-items": 1},
        "map": {"type": "{boolean}", "on-null": "default"},
        "size": {"type": "uint16"},
        "line": {"type": "uint32", "minimum": 1},
        "caps": {"type": "Id", "default": {}},
        "when": {"type": "string", "is": "date-time"},
        "data": {"type": "string", "is": "base64"},
        "raw": {"type": "any"},
    });
    assert_eq!(given["A"], json!({"object": expected}));
    assert_eq!(given["Id"], json!({"string": {}}));
}

#[test]
fn strings_and_integers_with_names_are_enums_and_codes() {
    let given = types(&json!({
        "Open": {"anyOf": [{"type": "string", "const": "a"}, {"type": "string"}]},
        "Closed": {"oneOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]},
        "Code": {"anyOf": [
            {"type": "integer", "format": "int32", "const": -32700, "title": "Parse error"},
            {"type": "integer", "format": "int32"},
        ]},
    }));
    assert_eq!(given["Open"], json!({"enum": {"a": ""}, "open": true}));
    assert_eq!(given["Closed"], json!({"enum": {"a": "", "b": ""}}));
    assert_eq!(given["Code"], json!({"codes": {"-32700": {"name": "parse_error"}}}));
}

#[test]
fn unions_say_what_other_tags_mean() {
    let object = json!({"type": "object", "required": ["x"], "properties": {"x": {"type": "string"}}});
    let unknown = json!({
        "type": "object", "properties": {"type": {"type": "string"}, "x": {"type": "string"}},
        "required": ["type", "x"], "not": {}, "additionalProperties": true,
    });
    let given = types(&json!({
        "A": object,
        "Closed": {"oneOf": [variant("type", "a", "A")]},
        "Open": {"anyOf": [variant("type", "a", "A"), unknown]},
        "Scoped": {"anyOf": [variant("type", "a", "A"), {
            "type": "object", "properties": {"type": {"type": "string"}}, "required": ["type"], "not": {},
            "anyOf": [{"allOf": [{"$ref": "#/$defs/A"}]}],
        }]},
        "Untagged": {"anyOf": [variant("type", "a", "A"), {"allOf": [{"$ref": "#/$defs/A"}]}]},
        "Flat": {"type": "object", "properties": {"state": {"type": ["string", "null"]}, "y": {}}, "anyOf": [
            {"type": "object", "properties": {"state": {"type": "string", "const": "done"}}, "required": ["state"]},
            {"type": "object", "properties": {"state": {"type": "null"}}},
        ]},
    }));
    let x = json!({"x": {"type": "string", "required": true}});
    let a = json!({"a": "A"});
    assert_eq!(given["Closed"], json!({"union": {"tag": "type", "variants": a}}));
    assert_eq!(given["Open"], json!({"union": {"tag": "type", "variants": a, "open": x}}));
    let scope = json!({"x": {"type": "string"}});
    assert_eq!(given["Scoped"], json!({"union": {"tag": "type", "variants": a, "open": scope}}));
    assert_eq!(given["Untagged"], json!({"union": {"tag": "type", "variants": a, "open": x, "untagged": "A"}}));
    let union = json!({"tag": "state", "variants": {"done": {}}, "untagged": {}});
    assert_eq!(given["Flat"], json!({"meta": false, "object": {"y": {"type": "any"}}, "union": union}));
}

#[test]
fn alternatives_without_a_tag_are_tried_in_order() {
    let given = types(&json!({
        "Id": {"anyOf": [{"type": "null"}, {"type": "integer", "format": "int64"}, {"type": "string"}]},
        "User": {"type": "object", "required": ["id"], "properties": {"id": {"$ref": "#/$defs/Id"}}},
        "Lists": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Id"}, "minItems": 1}]},
        "Answer": {"anyOf": [{"properties": {"result": {}}, "required": ["result"]}]},
    }));
    assert_eq!(given["Id"], json!({"any-of": ["int64", "string"]}));
    assert_eq!(given["User"]["object"]["id"], json!({"type": "Id", "required": true, "null": true}));
    assert_eq!(given["Lists"], json!({"any-of": ["[Id]"], "min-items": 1}));
    assert_eq!(given["Answer"], json!({"any-of": ["AnswerResult"]}));
    assert_eq!(given["AnswerResult"]["object"], json!({"result": {"type": "any", "required": true}}));
}

#[test]
fn unknown_keywords_are_errors() {
    let file = json!({"$defs": {"A": {"type": "object", "properties": {"x": {"type": "string", "enum": ["a"]}}}}});
    let error = format!("{:#}", Schema::new(&file).unwrap().types().unwrap_err());
    assert_eq!(error, "A: field x: unknown keyword enum");
}

#[test]
fn what_only_the_unstable_schema_has_is_a_draft() {
    let stable = json!({"A": {"type": "object", "properties": {"x": {}}}});
    let unstable = json!({"A": {"type": "object", "properties": {"x": {}, "y": {}}}, "B": {"type": "string"}});
    let read = |definitions| Schema::new(&json!({"$defs": definitions})).unwrap().types().unwrap();
    let types = merge::drafts(&read(stable.clone()), read(unstable)).unwrap();
    let fields = merge::object(&types["A"]).unwrap();
    assert_eq!(fields["x"].draft, None);
    assert_eq!(fields["y"].draft.as_deref(), Some(merge::UNNAMED));
    assert_eq!(types["B"].draft.as_deref(), Some(merge::UNNAMED));
    assert_eq!(types["A"].draft, None);

    let changed = json!({"A": {"type": "object", "properties": {"x": {"type": "string"}}}});
    assert!(merge::drafts(&read(stable), read(changed)).is_err());
}

#[test]
fn what_people_wrote_stays() {
    let old = r#"{
        "A": {"doc": "A.", "page": "p", "null": "default", "object": {
            "x": {"type": "string", "is": "absolute-path", "rule": "X-01", "doc": "X."},
            "y": {"type": "string", "patch": true, "draft": "session_fork"},
            "gone": {"type": "string", "doc": "Gone."},
            "nes": {"type": "any", "draft": "nes", "source": "rfd"}
        }},
        "Gone": {"doc": "Gone.", "string": {}},
        "Proposed": {"doc": "Proposed.", "source": "rfd", "string": {}},
        "E": {"enum": {"a": "A."}}
    }"#;
    let methods = r#"{
        "a/get": {"doc": "Gets.", "from": "both", "kind": "request", "params": "Gone", "scope": "session",
            "phase": "any", "gate": {"of": "agent", "path": "a", "form": "presence"}, "gate-rule": "A-01"},
        "a/gone": {"from": "both", "kind": "request", "params": "Gone", "scope": "session", "phase": "any"}
    }"#;
    let files = [("area", old), ("methods", methods)].map(|(name, text)| (name.to_owned(), text.to_owned()));
    let old = load::parse(1, &files).unwrap();
    let a = |more: Value| {
        let mut properties = json!({"x": {"type": "string"}});
        properties.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({
            "A": {"type": "object", "properties": properties, "required": ["x"], "x-method": "a/get", "x-side": "agent"},
            "E": {"oneOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]},
            "New": {"type": "string"},
        })
    };
    let new = refreshed(&old, &a(json!({})), &a(json!({"y": {"type": "string"}}))).unwrap();
    let written: Vec<Value> = write::files(&new).iter().map(|(_, text)| serde_json::from_str(text).unwrap()).collect();
    let [area, unsorted, methods] = &written[..] else { panic!("expected three files") };
    assert_eq!(
        area["A"],
        json!({"doc": "A.", "page": "p", "null": "default", "meta": false, "object": {
            "x": {"type": "string", "required": true, "is": "absolute-path", "rule": "X-01", "doc": "X."},
            "y": {"type": "string", "patch": true, "draft": "session_fork"},
            "nes": {"type": "any", "draft": "nes", "source": "rfd"},
        }})
    );
    assert_eq!(area["E"], json!({"enum": {"a": "A.", "b": ""}}));
    assert_eq!(area.as_object().unwrap().keys().collect::<Vec<_>>(), ["A", "Proposed", "E"]);
    assert_eq!(unsorted, &json!({"New": {"string": {}}}));
    assert_eq!(
        methods,
        &json!({"a/get": {
            "doc": "Gets.", "from": "both", "kind": "request", "params": "A", "scope": "session", "phase": "any",
            "gate": {"of": "agent", "path": "a", "form": "presence"}, "gate-rule": "A-01",
        }})
    );
}
