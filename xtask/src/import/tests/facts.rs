//! What is said of marked facts: a schema that lacks them, has them as drafts, confirms them or has something else.

use serde_json::{json, Value};

use super::super::facts::{judge, Fact, Found};
use super::refreshed;
use crate::model::{load, write, Version};

/// A model in which everything that can be marked is.
const TYPES: &str = r#"{
    "AgentCapabilities": {"doc": "C.", "object": {
        "first": {"type": "any", "doc": "Before."},
        "shows": {"type": "Shows", "null": true, "source": "announced"},
        "last": {"type": "any", "doc": "After."}
    }},
    "Shows": {"doc": "S.", "source": "announced", "object": {
        "deep": {"type": "boolean", "source": "announced", "doc": "D."},
        "wide": {"type": "string", "doc": "W."}
    }},
    "Union": {"doc": "U.", "union": {"tag": "type", "variants": {
        "a": "Shows",
        "b": {"type": "Shows", "source": "announced"},
        "c": {"object": {"x": {"type": "string", "source": "announced"}}}
    }}},
    "Colour": {"doc": "E.", "enum": {"red": "R.", "blue": {"source": "announced", "doc": "B."}}, "open": true},
    "Code": {"doc": "Co.", "codes": {"-1": {"name": "one"}, "-2": {"name": "two", "source": "announced"}}}
}"#;
const METHODS: &str = r#"{
    "show": {"doc": "Shows.", "source": "announced", "from": "client", "kind": "request", "params": "Shows",
        "scope": "connection", "phase": "ready",
        "gate": {"of": "agent", "path": "shows.deep", "form": "boolean", "source": "announced"}, "gate-rule": "A-01"}
}"#;
/// Where they are marked.
const MARKED: [&str; 9] = [
    "v1/area.json › AgentCapabilities › object › shows",
    "v1/area.json › Shows",
    "v1/area.json › Shows › object › deep",
    "v1/area.json › Union › union › variants › b",
    "v1/area.json › Union › union › variants › c › object › x",
    "v1/area.json › Colour › enum › blue",
    "v1/area.json › Code › codes › -2",
    "v1/methods.json › show",
    "v1/methods.json › show › gate",
];

fn model() -> Version {
    let files = [("area", TYPES), ("methods", METHODS)].map(|(name, text)| (name.to_owned(), text.to_owned()));
    load::parse(1, &files).unwrap()
}

/// The schema without the marked facts.
fn before() -> Value {
    let variant = |tag: &str| json!({"type": "object", "properties": {"type": {"type": "string", "const": tag}}, "required": ["type"]});
    let colour = json!({"anyOf": [{"type": "string", "const": "red"}, {"type": "string"}]});
    let code = json!({"anyOf": [
        {"type": "integer", "format": "int32", "const": -1, "title": "One"}, {"type": "integer", "format": "int32"}
    ]});
    json!({
        "AgentCapabilities": {"type": "object", "properties": {"_meta": {}, "first": {}, "last": {}}},
        "Union": {"oneOf": [variant("a"), variant("c")]},
        "Colour": colour,
        "Code": code,
    })
}

/// The schema with all of them.
fn after() -> Value {
    let mut schema = before();
    let shows = json!({"$ref": "#/$defs/Shows"});
    schema["AgentCapabilities"]["properties"]["shows"] = json!({"anyOf": [shows, {"type": "null"}]});
    schema["Shows"] = json!({"type": "object", "x-method": "show", "x-side": "agent",
        "properties": {"_meta": {}, "deep": {"type": "boolean"}, "wide": {"type": "string"}}});
    let named = json!({"type": "object", "properties": {"type": {"type": "string", "const": "b"}},
        "required": ["type"], "allOf": [shows]});
    let union = schema["Union"]["oneOf"].as_array_mut().unwrap();
    union[1]["properties"]["x"] = json!({"type": "string"});
    union.push(named);
    schema["Colour"]["anyOf"].as_array_mut().unwrap().insert(1, json!({"type": "string", "const": "blue"}));
    let two = json!({"type": "integer", "format": "int32", "const": -2, "title": "Two"});
    schema["Code"]["anyOf"].as_array_mut().unwrap().insert(1, two);
    schema
}

fn facts(stable: &Value, unstable: &Value) -> Vec<Fact> {
    judge(&model(), |bare| refreshed(bare, stable, unstable)).unwrap()
}

fn found(facts: &[Fact]) -> Vec<(&str, String)> {
    facts.iter().map(|fact| (fact.at.as_str(), fact.found.to_string())).collect()
}

fn all(found: &str) -> Vec<(&'static str, String)> {
    MARKED.map(|at| (at, found.to_owned())).into()
}

#[test]
fn what_the_schemas_lack_stays_in_its_place() {
    assert_eq!(found(&facts(&before(), &before())), all("lacking"));
    let old = model();
    let mut schema = before();
    // Its union names a type by which the model says more than the schema does.
    schema["Union"]["oneOf"][0]["allOf"] = json!([{"$ref": "#/$defs/Shows"}]);
    let new = refreshed(&old, &schema, &schema).unwrap();
    assert_eq!(write::files(&new).len(), 2);
    for ((name, new), (_, old)) in write::files(&new).iter().zip(write::files(&old)) {
        // `_meta` of the capabilities apart, which the short model does not mention.
        assert_eq!(new, &old, "{name}");
    }
}

#[test]
fn what_the_schemas_have_in_the_same_shape_is_confirmed() {
    assert_eq!(found(&facts(&after(), &after())), all("confirmed"));
}

#[test]
fn what_only_the_unstable_schemas_have_is_a_draft_there() {
    let mut stable = before();
    stable["Union"]["oneOf"][1] = after()["Union"]["oneOf"][1].clone();
    let facts = facts(&stable, &after());
    for (at, found) in found(&facts) {
        // A member of a new type is no draft by itself, nor is a value where others are legal.
        let itself = ["deep", "x", "blue", "-2"].iter().any(|end| at.ends_with(end));
        assert_eq!(found, if itself { "confirmed" } else { "there as a draft" }, "{at}");
    }
}

#[test]
fn a_draft_that_the_schemas_have_as_stable_is_changed() {
    let types = r#"{"A": {"doc": "A.", "draft": "nes", "source": "announced", "meta": false, "object": {}}}"#;
    let old = load::parse(1, &[("area".to_owned(), types.to_owned())]).unwrap();
    let schema = json!({"A": {"type": "object", "properties": {}}});
    let judged = |stable: &Value| judge(&old, |bare| refreshed(bare, stable, &schema)).unwrap().remove(0).found;
    assert_eq!(judged(&json!({})), Found::Confirmed);
    assert_eq!(judged(&schema), Found::Changed(vec!["draft: not in the schemas".to_owned()]));
}

#[test]
fn other_shapes_are_told_and_not_taken() {
    let mut schema = after();
    schema["AgentCapabilities"]["properties"]["shows"] = json!({"type": "boolean"});
    schema["Shows"]["properties"]["deep"] = json!({"type": "string"});
    schema["Shows"]["properties"]["more"] = json!({"type": "string"});
    schema["Shows"]["required"] = json!(["wide"]);
    schema["Union"]["oneOf"][2]["allOf"][0]["$ref"] = json!("#/$defs/Colour");
    let expected = [
        "changed (type: \"Shows\" in the model, \"boolean\" in the schemas; null: not in the schemas)",
        "changed (object › wide › required: not in the model; object › more: not in the model)",
        "changed (type: \"boolean\" in the model, \"string\" in the schemas)",
        "changed (type: \"Shows\" in the model, \"Colour\" in the schemas)",
        "confirmed",
        "confirmed",
        "confirmed",
        "confirmed",
        "lacking",
    ];
    let facts = facts(&schema, &schema);
    assert_eq!(facts.iter().map(|fact| fact.found.to_string()).collect::<Vec<_>>(), expected);

    let new = refreshed(&model(), &schema, &schema).unwrap();
    let (new, old) = (write::value(&new), write::value(&model()));
    assert_eq!(new["types"]["Shows"], old["types"]["Shows"]);
    assert_eq!(
        new["types"]["AgentCapabilities"]["object"]["shows"],
        old["types"]["AgentCapabilities"]["object"]["shows"]
    );
    assert_eq!(new["methods"], old["methods"]);
}
