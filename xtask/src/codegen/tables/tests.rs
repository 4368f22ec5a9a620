//! Small models and the tables that they give.

use crate::model::load;

/// The tables of a version without the spaces that `rustfmt` would settle.
fn table(types: &str, methods: &str) -> String {
    let files = [("types", types), ("methods", methods)].map(|(name, text)| (name.to_owned(), text.to_owned()));
    let version = load::parse(1, &files).unwrap();
    let texts: Vec<_> = super::files(&[version]).into_iter().map(|(_, text)| text).collect();
    texts.join("\n").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn flattened_unions_are_expanded() {
    let types = r#"{
        "Box": {"meta": false, "object": {"id": {"type": "string", "required": true}},
            "union": {"tag": "kind", "variants": {"big": "Big", "none": {}}, "open": true}},
        "Big": {"meta": false, "object": {"size": {"type": "uint32", "rule": "BOX-01"}}}
    }"#;
    let text = table(types, "{}");
    // 1 is Big and 2 is Box; what has no name follows.
    assert!(text.contains(r#"// 1 Big Type::Object { fields: &[ f("size", 4, 0, 0)] }"#), "{text}");
    assert!(text.contains(r#"v("big", 5, 0), v("none", 6, 0), ], other: Other::Open(6), untagged: None"#), "{text}");
    assert!(text.contains(r#"// 5 Type::Object { fields: &[ f("size", 4, 0, 0), f("id", 3, 1, 0)] }"#), "{text}");
    assert!(text.contains(r#"(1, 0, id!("BOX-01")), (5, 0, id!("BOX-01")), ]"#), "{text}");
    assert!(text.contains("pub const BOX: TypeId = 2;"), "{text}");
}

#[test]
fn equal_types_without_names_share_a_place() {
    let types = r#"{"A": {"object": {
        "x": {"type": "[string]", "is": "absolute-path"}, "y": {"type": "[string]", "is": "absolute-path"},
        "line": {"type": "uint32", "is": "line"}, "alias": {"type": "B"}, "more": {"type": "[B]", "draft": "nes"}
    }}, "B": {"alias": "any"}}"#;
    let text = table(types, "{}");
    assert!(text.contains(r#"f("x", 3, 0, 0), f("y", 3, 0, 0), f("line", 4, 0, 0), f("alias", 0, 0, 0)"#), "{text}");
    let nes = super::draft(Some(&"nes".to_owned()));
    assert!(nes > 0 && text.contains(&format!(r#"f("more", 5, 0, {nes}), f("_meta", 6, 6, 0)"#)), "{text}");
    assert!(
        text.contains("// 2 Type::String(StringKind::AbsolutePath), // 3 Type::Array { item: 2, min: 0 }"),
        "{text}"
    );
    assert!(text.contains("// 4 Type::Line,"), "{text}");
}

#[test]
fn types_that_only_drafts_lead_to_are_marked() {
    let types = r#"{
        "A": {"meta": false, "object": {"b": {"type": "B", "draft": "nes"}, "c": {"type": "C"}}},
        "B": {"meta": false, "object": {"c": {"type": "C"}, "d": {"type": "D"}}},
        "C": {"meta": false, "object": {}}, "D": {"meta": false, "object": {}}, "E": {"meta": false, "object": {}},
        "F": {"meta": false, "object": {}}
    }"#;
    let methods = r#"{
        "a": {"from": "client", "kind": "notification", "params": "A", "scope": "session", "phase": "any"},
        "e": {"from": "client", "kind": "notification", "params": "E", "scope": "session", "phase": "any", "draft": "nes"}
    }"#;
    let text = table(types, methods);
    let is_marked = |place: u8, name: &str| {
        let type_of = |mark: &str| text.contains(&format!("// {place} {name} {mark}Type::Object"));
        assert_ne!(type_of("d("), type_of(""), "{text}");
        type_of("d(")
    };
    // F is known by its name alone.
    let marked =
        [(1, "A"), (2, "B"), (3, "C"), (4, "D"), (5, "E"), (6, "F")].map(|(place, name)| is_marked(place, name));
    assert_eq!(marked, [false, true, false, true, true, false]);
}

#[test]
fn methods_are_sorted_and_carry_their_gate() {
    let types = r#"{"A": {"null": "default", "object": {}}}"#;
    let methods = r#"{
        "b": {"from": "agent", "kind": "notification", "params": "A", "scope": "session", "phase": "any"},
        "a": {"from": "client", "kind": "request", "params": "A", "result": "A", "scope": "connection",
            "phase": "ready", "effect": "makes", "retry": "safe", "gate": {"of": "agent", "path": "x.y", "form": "presence"}, "gate-rule": "X-01"}
    }"#;
    let text = table(types, methods);
    let (a, b) = (text.find(r#"Method { name: "a""#), text.find(r#"Method { name: "b""#));
    assert!(a.is_some() && a < b, "{text}");
    assert!(text.contains(r#"gate: Some(Gate { path: &["x", "y"], boolean: false, rule: id!("X-01") })"#), "{text}");
    assert!(text.contains("effect: Effect::Makes, retry: Retry::Safe, phase: Phase::Ready"), "{text}");
    assert!(
        text.contains(
            "result: 0, session: Scope::Session, effect: Effect::None, retry: Retry::Never, phase: Phase::Any, gate: None, draft: 0, null_params: true, null_result: false"
        ),
        "{text}"
    );
}
