//! The model's files: loading and writing give each other back, and errors say where they are.

use std::path::Path;

use super::{each_mark, load, source, write, Body, Model, Open, Shape, TypeExpr, Version};

/// One type of every form, as the writer writes it.
const TYPES: &str = r#"{
  "Item": {
    "doc": "An item.",
    "page": "protocol/v1/items",
    "draft": "nes",
    "source": "proposed",
    "null": "default",
    "meta": false,
    "rule": "ITEM-02",
    "tag-rule": "ITEM-03",
    "object": {
      "id": {"type": "ItemId", "required": true, "rule": "ITEM-01", "doc": "Its \"name\"."},
      "tags": {"type": "{[string]}", "null": true, "default": {"a": ["b"]}, "on-error": "default", "on-null": "default", "items": "skip"},
      "size": {"type": "uint16", "minimum": 1, "maximum": 9, "patch": true, "is": "line", "draft": "nes", "source": "proposed"},
      "list": {"type": "[any]", "min-items": 1},
      "kind": {"type": "string", "const": "item"}
    },
    "union": {
      "tag": "type",
      "variants": {
        "bare": {},
        "named": "Other",
        "later": {"type": "Other", "draft": "nes", "source": "announced", "doc": "Later."},
        "soon": {"type": "Other", "source": "announced"},
        "own": {"object": {"x": {"type": "double"}}}
      },
      "open": {
        "x": {"type": "double", "required": true}
      },
      "untagged": {}
    }
  },
  "ItemId": {
    "string": {"is": "uri"}
  },
  "Other": {
    "object": {},
    "any-of": ["Item", "Other"]
  },
  "Count": {
    "integer": "uint64"
  },
  "Color": {
    "enum": {
      "red": "Like blood.",
      "blue": "",
      "green": {"source": "announced", "doc": "Like grass."}
    },
    "open": true
  },
  "Codes": {
    "codes": {
      "-32700": {"name": "parse_error", "doc": "Not JSON."},
      "-32000": {"name": "other", "source": "proposed"}
    }
  },
  "Lists": {
    "any-of": ["[Item]", "[Other]"],
    "min-items": 1
  },
  "Alias": {
    "alias": "Item"
  }
}
"#;

const METHODS: &str = r#"{
  "item/get": {
    "doc": "Gets an item.",
    "page": "protocol/v1/items",
    "from": "client",
    "kind": "both",
    "params": "Item",
    "notification-params": "Other",
    "result": "Item",
    "scope": "session",
    "phase": "ready",
    "gate": {"of": "agent", "path": "items.get", "form": "boolean", "source": "announced"},
    "gate-rule": "ITEM-02"
  },
  "item/put": {
    "source": "announced",
    "from": "client",
    "kind": "notification",
    "params": "Item",
    "scope": "session",
    "phase": "ready"
  }
}
"#;

fn files(types: &str, methods: &str) -> Vec<(String, String)> {
    [("items", types), ("methods", methods)].map(|(name, text)| (name.to_owned(), text.to_owned())).into()
}

fn version() -> Version {
    load::parse(1, &files(TYPES, METHODS)).unwrap()
}

#[test]
fn writes_what_it_read() {
    let written = write::files(&version());
    let expected = [("items.json", TYPES), ("methods.json", METHODS)];
    for ((name, text), (expected_name, expected)) in written.iter().zip(expected) {
        assert_eq!((name.as_str(), text.as_str()), (expected_name, expected));
    }
    assert_eq!(written.len(), 2);
}

#[test]
fn reads_what_it_means() {
    let version = version();
    version.areas.iter().for_each(|area| assert_eq!(area.name, "items"));
    let Shape::Object { fields, flat: Some(super::Flat::Union(union)) } = &version.types["Item"].shape else {
        panic!("not an object with a union");
    };
    assert_eq!(fields["tags"].ty.to_string(), "{[string]}");
    assert!(fields["id"].required && !fields["tags"].required);
    assert_eq!(union.variants["bare"].body, Body::Fields(super::Fields::new()));
    assert_eq!(union.untagged, Some(Body::Fields(super::Fields::new())));
    assert!(matches!(&union.open, Open::With(fields) if fields["x"].ty == TypeExpr::Double));
}

#[test]
fn the_projects_model_is_as_written_and_means_something() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(super::FOLDER);
    let model = load::model(&root).unwrap();
    model.check().unwrap();
    for version in &model.versions {
        assert!(!version.types.is_empty());
        for (name, text) in write::files(version) {
            let path = root.join(version.folder()).join(&name);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), text, "{}", path.display());
        }
    }
}

#[test]
fn what_a_dialect_names_must_exist() {
    type Change = fn(&mut super::Dialect);
    let wrong: [(Change, &str); 4] = [
        (|dialect| dialect.client.capabilities = "skills".to_owned(), "InitializeRequest has no member skills"),
        (|dialect| dialect.agent.info = "who".to_owned(), "InitializeResponse has no member who"),
        (|dialect| dialect.config_option_id = "key".to_owned(), "SessionConfigOption has no member key"),
        (|dialect| dialect.listed_logins.push("login".to_owned()), "there is no method login"),
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join(super::FOLDER);
    for (change, expected) in wrong {
        let mut model = load::model(&root).unwrap();
        change(model.versions[1].dialect.as_mut().unwrap());
        let error = model.check().unwrap_err().to_string();
        assert!(error.ends_with(expected), "{error}");
    }
}

#[test]
fn errors_name_the_file_the_type_and_the_field() {
    let wrong = [
        (r#"{"A": {"object": {"b": {"type": "strin"}}}}"#, "v1/items.json › A › object › b › type: expected a type"),
        (r#"{"A": {"object": {"b": {"type": "any", "nul": true}}}}"#, "A › object › b › nul: unknown member"),
        (r#"{"A": {"object": {"b": {"type": "any", "required": false}}}}"#, "b › required: expected true"),
        (r#"{"A": {"string": {"is": "url"}}}"#, "A › string › is: expected one of absolute-path"),
        (r#"{"A": {"doc": "x"}}"#, "A: expected one of object, string"),
        (r#"{"A": {"string": {}, "integer": "int32"}}"#, "A: expected one of object, string"),
        (r#"{"A": {"enum": {"a": {"doc": "A."}}}}"#, "A › enum › a: expected a member source"),
        (r#"{"A": {"string": {}, "open": true}}"#, "A › open: expected no such member without enum"),
        (r#"{"a": {"string": {}}}"#, "v1/items.json › a: expected a type name"),
        (r#"{"A": {"union": {"variants": {}}}}"#, "A › union: expected a member tag"),
        ("[]", "v1/items.json: expected an object"),
    ];
    for (types, expected) in wrong {
        let error = load::parse(1, &files(types, "{}")).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} does not say {expected:?}");
    }
}

#[test]
fn check_finds_names_that_mean_nothing() {
    let wrong = [
        (r#"{"A": {"object": {"b": {"type": "[Gone]"}}}}"#, "{}", "v1 › A: b: there is no type Gone"),
        (r#"{"A": {"alias": "Gone"}}"#, "{}", "v1 › A: there is no type Gone"),
        (r#"{"A": {"draft": "gone", "string": {}}}"#, "{}", "v1 › A: there is no draft gone"),
        (
            r#"{"A": {"string": {}}, "B": {"union": {"tag": "t", "variants": {"a": "A"}}}}"#,
            "{}",
            "v1 › B: a: expected a type with members, not A",
        ),
        (
            "{}",
            r#"{"m": {"from": "client", "kind": "request", "params": "Gone", "scope": "session", "phase": "any", "retry": "safe"}}"#,
            "v1/methods.json › m: there is no type Gone",
        ),
        (
            r#"{"AgentCapabilities": {"object": {"a": {"type": "AgentCapabilities"}}}}"#,
            r#"{"m": {"from": "client", "kind": "request", "params": "AgentCapabilities", "scope": "session", "phase": "any", "retry": "safe",
                "gate": {"of": "agent", "path": "a.b", "form": "presence"}, "gate-rule": "A-01"}}"#,
            "v1/methods.json › m: gate a.b: AgentCapabilities has no member b",
        ),
        (
            r#"{"AgentCapabilities": {"object": {"a": {"type": "boolean"}}}}"#,
            r#"{"m": {"from": "client", "kind": "request", "params": "AgentCapabilities", "scope": "session", "phase": "any", "retry": "safe",
                "gate": {"of": "agent", "path": "a", "form": "presence"}, "gate-rule": "A-01"}}"#,
            "v1/methods.json › m: gate a: boolean does not say yes by presence",
        ),
    ];
    for (types, methods, expected) in wrong {
        let version = load::parse(1, &files(types, methods)).unwrap();
        let error = format!("{:#}", super::check::version(&version).unwrap_err());
        assert_eq!(error, expected);
    }
}

#[test]
fn every_mark_can_be_visited() {
    let mut version = version();
    let mut marks = Vec::new();
    let written = write::value(&version);
    each_mark(&mut version, &mut |path, mark| {
        if let Some(source) = mark.take() {
            let at = path.iter().try_fold(&written, |value, name| value.get(name)).unwrap();
            assert_eq!(at["source"], source.as_str(), "{path:?}");
            marks.push(path.join("/"));
        }
    });
    assert_eq!(
        marks,
        [
            "types/Item",
            "types/Item/object/size",
            "types/Item/union/variants/later",
            "types/Item/union/variants/soon",
            "types/Color/enum/green",
            "types/Codes/codes/-32000",
            "methods/item/get/gate",
            "methods/item/put",
        ]
    );
    assert!(!write::value(&version).to_string().contains("source"), "a mark that no visit reaches");
}

#[test]
fn sources_are_read_and_named() {
    let text = r#"{
        "announced": {"kind": "announcement", "page": "announcements/x", "date": "2026-11-20"},
        "proposed": {"kind": "proposal", "page": "rfds/x"}
    }"#;
    let sources = source::parse(text).unwrap();
    assert_eq!(sources["announced"].to_string(), "announcement announcements/x of 2026-11-20");
    assert_eq!(sources["proposed"].to_string(), "proposal rfds/x");
    let check = |types: &str| {
        let version = load::parse(1, &files(types, "{}")).unwrap();
        source::check(&Model { versions: vec![version], sources: sources.clone() }).map_err(|error| error.to_string())
    };
    let both = r#"{"A": {"source": "announced", "object": {"x": {"type": "any", "source": "proposed"}}}}"#;
    assert_eq!(check(both), Ok(()));
    let other = r#"{"A": {"object": {"x": {"type": "any", "source": "other"}}}}"#;
    assert_eq!(check(other), Err("v1 › A › object › x: there is no source other".to_owned()));
    let one = r#"{"A": {"source": "announced", "string": {}}}"#;
    assert_eq!(check(one), Err("sources.json › proposed: no fact names this source".to_owned()));

    for (wrong, expected) in [
        (r#"{"a": {"kind": "rumour", "page": "x"}}"#, "a › kind: expected one of announcement, proposal"),
        (r#"{"a": {"kind": "announcement", "page": "x"}}"#, "a: expected the date of the announcement"),
        (r#"{"a": {"kind": "proposal", "page": "x", "date": "20 November"}}"#, "a › date: expected YYYY-MM-DD"),
        (r#"{"a": {"kind": "proposal"}}"#, "a: expected a member page"),
    ] {
        let error = source::parse(wrong).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} does not say {expected:?}");
    }
}
