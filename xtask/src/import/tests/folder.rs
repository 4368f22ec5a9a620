//! The command on a folder of its own: what it changes there, and that with `--check` it changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{json, Value};

use super::super::import;

const TYPES: &str = r#"{
  "Ask": {
    "doc": "Asks.",
    "object": {
      "cwd": {"type": "string", "required": true, "doc": "Where."},
      "size": {"type": "uint32", "null": true, "doc": "How much."},
      "hint": {"type": "string", "source": "announced", "doc": "What for."}
    }
  },
  "Kind": {
    "doc": "Kinds.",
    "enum": {
      "a": "A.",
      "b": "B."
    }
  }
}
"#;
const METHODS: &str = r#"{
  "ask": {
    "doc": "Asks.",
    "from": "client",
    "kind": "request",
    "params": "Ask",
    "scope": "connection",
    "phase": "ready"
  }
}
"#;
const SOURCES: &str = r#"{"announced": {"kind": "announcement", "page": "announcements/hints", "date": "2026-11-20"}}"#;

/// A folder that is removed in the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = Folder(std::env::temp_dir().join(format!("libacp-import-{name}-{}", std::process::id())));
        let _ = fs::remove_dir_all(&folder.0);
        for (file, text) in [("v1/area.json", TYPES), ("v1/methods.json", METHODS), ("sources.json", SOURCES)] {
            folder.put(&format!("model/{file}"), text);
        }
        folder.put_schema(&schema());
        folder
    }

    fn put(&self, file: &str, text: &str) {
        let path = self.0.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn put_schema(&self, definitions: &Value) {
        for file in ["schema.json", "schema.unstable.json"] {
            self.put(&format!("schemas/v1/{file}"), &json!({"$defs": definitions}).to_string());
            self.put(&format!("schemas/v2/{file}"), &json!({"$defs": {}}).to_string());
        }
    }

    fn import(&self, check: bool) -> Result<(), String> {
        let run = import(&self.0.join("model"), &self.0.join("schemas"), check);
        run.map_err(|error| format!("{error:#}"))
    }

    /// Every file and folder with its text and the time when it was written.
    fn state(&self) -> BTreeMap<PathBuf, (Option<String>, SystemTime)> {
        fn walk(folder: &Path, state: &mut BTreeMap<PathBuf, (Option<String>, SystemTime)>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let time = fs::metadata(&path).unwrap().modified().unwrap();
                if path.is_dir() {
                    walk(&path, state);
                    state.insert(path, (None, time));
                } else {
                    state.insert(path.clone(), (Some(fs::read_to_string(&path).unwrap()), time));
                }
            }
        }
        let mut state = BTreeMap::new();
        walk(&self.0, &mut state);
        state
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What the model says, save for the fact that it marks.
fn schema() -> Value {
    json!({
        "Ask": {"type": "object", "x-method": "ask", "x-side": "agent", "required": ["cwd"], "properties": {
            "_meta": {}, "size": {"type": ["integer", "null"], "format": "uint32"}, "cwd": {"type": "string"},
        }},
        "Kind": {"oneOf": [{"type": "string", "const": "a"}, {"type": "string", "const": "b"}]},
    })
}

/// Changes of the schema, and what a check says of each.
fn changes() -> Vec<(Value, &'static str)> {
    let with = |change: &dyn Fn(&mut Value)| {
        let mut schema = schema();
        change(&mut schema);
        schema
    };
    let members = |schema: &mut Value| schema["Ask"]["properties"].take();
    vec![
        (
            with(&|schema| schema["Ask"]["properties"]["more"] = json!({"type": "string"})),
            "v1/area.json › Ask › object › more: not in the model",
        ),
        (
            with(&|schema| {
                let mut left = members(schema);
                left.as_object_mut().unwrap().shift_remove("size");
                schema["Ask"]["properties"] = left;
            }),
            "v1/area.json › Ask › object › size: not in the schemas",
        ),
        (
            with(&|schema| schema["Ask"]["properties"]["cwd"] = json!({"type": "boolean"})),
            "v1/area.json › Ask › object › cwd › type: \"string\" in the model, \"boolean\" in the schemas",
        ),
        (
            with(&|schema| schema["Ask"]["required"] = json!([])),
            "v1/area.json › Ask › object › cwd › required: not in the schemas",
        ),
        (
            with(&|schema| schema["Kind"]["oneOf"][1]["const"] = json!("c")),
            "v1/area.json › Kind › enum › c: not in the model",
        ),
        (with(&|schema| schema["New"] = json!({"type": "string"})), "v1/unsorted.json › New: not in the model"),
        (
            with(&|schema| schema["New"] = json!({"type": "object", "x-method": "new", "x-side": "agent"})),
            "v1/methods.json › new: not in the model",
        ),
        (
            with(&|schema| drop(schema.as_object_mut().unwrap().shift_remove("Kind"))),
            "v1/area.json › Kind: not in the schemas",
        ),
        (
            with(&|schema| schema["Ask"]["properties"]["hint"] = json!({"type": "string"})),
            "v1/area.json › Ask › object › hint: confirmed",
        ),
        (
            with(&|schema| schema["Ask"]["properties"]["hint"] = json!({"type": "boolean"})),
            "v1/area.json › Ask › object › hint: changed (type: \"string\" in the model, \"boolean\" in the schemas)",
        ),
    ]
}

#[test]
fn a_check_passes_where_nothing_changed_and_writes_nothing() {
    let folder = Folder::new("same");
    let before = folder.state();
    assert_eq!(folder.import(true), Ok(()));
    assert_eq!(folder.state(), before);
}

#[test]
fn a_check_fails_on_every_change_and_writes_nothing() {
    let folder = Folder::new("changed");
    for (schema, expected) in changes() {
        folder.put_schema(&schema);
        let before = folder.state();
        let said = folder.import(true).unwrap_err();
        assert!(said.contains(expected), "{said:?} does not say {expected:?}");
        assert_eq!(folder.state(), before, "{expected}");
    }
}

#[test]
fn an_import_takes_every_change_but_what_is_marked() {
    for (at, (schema, expected)) in changes().into_iter().enumerate() {
        let folder = Folder::new(&format!("taken-{at}"));
        folder.put_schema(&schema);
        folder.import(false).unwrap();
        let text = fs::read_to_string(folder.0.join("model/v1/area.json")).unwrap();
        assert!(text.contains(r#""hint": {"type": "string", "source": "announced", "doc": "What for."}"#), "{text}");
        assert_eq!(fs::read_to_string(folder.0.join("model/sources.json")).unwrap(), SOURCES);
        // What is left for people: words, and facts that the schemas have settled.
        let left = folder.import(true).err().unwrap_or_default();
        assert_eq!(left.contains(expected), expected.contains("hint"), "{left:?}");
        assert!(!left.contains("differ from the model"), "{left:?}");
    }
}

#[test]
fn a_schema_that_cannot_be_read_changes_nothing() {
    let folder = Folder::new("unknown");
    let mut schema = schema();
    schema["Ask"]["properties"]["cwd"] = json!({"type": "string", "enum": ["a"]});
    folder.put_schema(&schema);
    let before = folder.state();
    for check in [true, false] {
        let said = folder.import(check).unwrap_err();
        assert_eq!(said, "v1: Ask: field cwd: unknown keyword enum");
        assert_eq!(folder.state(), before);
    }
}
