//! Reading the vector files.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::base64::decode as base64;

#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) file: String,
    pub(crate) name: String,
    /// The rule that it is about.
    #[allow(dead_code, reason = "for the proof of the rules")]
    pub(crate) rule: Option<String>,
    pub(crate) config: Value,
    /// Includes are put in; the flag says that a step came from one.
    pub(crate) steps: Vec<(Value, bool)>,
}

pub(crate) fn vectors() -> PathBuf {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("tests/vectors"));
    above.into_iter().find(|folder| folder.is_dir()).expect("the repository's vectors")
}

/// All scenarios, file by file.
#[allow(dead_code, reason = "for those whose scenarios stand elsewhere")]
pub(crate) fn load(root: &Path) -> Vec<Scenario> {
    Shared::read(root).load(root)
}

/// What all scenarios share.
#[derive(Debug)]
pub(crate) struct Shared {
    include: Value,
    format: Value,
}

impl Shared {
    pub(crate) fn read(root: &Path) -> Shared {
        let read = |name: &str| serde_json::from_str(&fs::read_to_string(root.join(name)).unwrap()).unwrap();
        Shared { include: read("include.json"), format: read("format.json") }
    }

    /// The scenarios of a folder, file by file.
    pub(crate) fn load(&self, root: &Path) -> Vec<Scenario> {
        let mut files = Vec::new();
        find(root, &mut files);
        files.sort();
        let mut all = Vec::new();
        for path in files {
            let file = path.strip_prefix(root).unwrap().display().to_string();
            for line in fs::read_to_string(&path).unwrap().split('\n').filter(|line| !line.trim().is_empty()) {
                let scenario = self.scenario(&file, line).unwrap_or_else(|why| panic!("{file}: {why}: {line}"));
                assert!(
                    !all.iter().any(|other: &Scenario| other.file == file && other.name == scenario.name),
                    "{file}: {} twice",
                    scenario.name
                );
                all.push(scenario);
            }
        }
        all
    }

    /// The scenario of one line; the error says what is wrong with it.
    pub(crate) fn scenario(&self, file: &str, line: &str) -> Result<Scenario, String> {
        let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let known = self.format["scenario"].as_array().expect("the members of a scenario");
        let stranger = value.as_object().and_then(|all| all.keys().find(|name| !known.iter().any(|one| one == *name)));
        if let Some(name) = stranger {
            return Err(format!("a scenario has no member {name}"));
        }
        let mut steps = Vec::new();
        put_in(&value["steps"], &self.include, false, &mut steps);
        let name = value["name"].as_str().ok_or("no name")?.to_owned();
        let rule = value["rule"].as_str().map(str::to_owned);
        Ok(Scenario { file: file.to_owned(), name, rule, config: value["config"].clone(), steps })
    }
}

fn find(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            find(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push(path);
        }
    }
}

fn put_in(steps: &Value, include: &Value, included: bool, out: &mut Vec<(Value, bool)>) {
    for step in steps.as_array().expect("steps") {
        match step["include"].as_str() {
            Some(name) => put_in(&include[name], include, true, out),
            None => out.push((step.clone(), included)),
        }
    }
}

/// The bytes that a step feeds.
pub(crate) fn fed(step: &Value) -> Option<Vec<u8>> {
    if let Some(text) = step["feed"].as_str() {
        Some(text.as_bytes().to_vec())
    } else if let Some(text) = step["feed_base64"].as_str() {
        Some(base64(text))
    } else {
        let repeat = step.get("feed_repeat")?;
        let times = usize::try_from(repeat["times"].as_u64().unwrap()).unwrap();
        Some(repeat["text"].as_str().unwrap().repeat(times).into_bytes())
    }
}
