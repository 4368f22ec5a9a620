//! Reading the vectors of the remote transports, and comparing what happened with what they say.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{json, Map, Value};

#[derive(Debug)]
pub(crate) struct Scenario {
    pub(crate) file: String,
    pub(crate) name: String,
    #[allow(dead_code, reason = "for the proof of the rules")]
    pub(crate) rule: Option<String>,
    /// The point at which peers differ that it is about.
    #[allow(dead_code, reason = "for the tests alone")]
    pub(crate) point: Option<u64>,
    pub(crate) options: Value,
    /// Whether it is about a client.
    asks: bool,
    pub(crate) steps: Vec<Value>,
    /// The longest body or stream, in bytes.
    longest: usize,
}

pub(crate) type Outcome = Result<(), String>;

pub(crate) fn folder() -> PathBuf {
    let above = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|folder| folder.join("tests/http"));
    above.into_iter().find(|folder| folder.join("README.md").is_file()).expect("the repository's vectors")
}

/// All scenarios, file by file.
pub(crate) fn load() -> Vec<Scenario> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder()).expect("the vectors").map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    let mut all: Vec<Scenario> = Vec::new();
    for path in files {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for line in fs::read_to_string(&path).expect("a file").split('\n').filter(|line| !line.is_empty()) {
            let scenario = read(&file, line).unwrap_or_else(|why| panic!("{file}: {why}: {line}"));
            let twice = all.iter().any(|other| other.file == file && other.name == scenario.name);
            assert!(!twice, "{file}: {} twice", scenario.name);
            all.push(scenario);
        }
    }
    all
}

/// One line.
pub(crate) fn read(file: &str, line: &str) -> Result<Scenario, String> {
    let value: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    only(&value, &["name", "rule", "point", "server", "client", "steps"])?;
    let include = fs::read_to_string(folder().join("include.json")).map_err(|error| error.to_string())?;
    let include: Value = serde_json::from_str(&include).map_err(|error| error.to_string())?;
    let mut steps = Vec::new();
    put_in(&value["steps"], &include, &mut steps)?;
    let longest = steps
        .iter()
        .flat_map(|step| ["body", "body_text", "messages", "bytes", "events", "json", "raw"].map(|name| &step[name]));
    let longest = longest.map(|value| value.to_string().len() + 16).max().unwrap_or(1);
    let told = ["client", "server"].map(|end| value[end].clone()).into_iter().find(|it| !it.is_null());
    let options = told.unwrap_or_else(|| json!({}));
    Ok(Scenario {
        file: file.to_owned(),
        name: value["name"].as_str().ok_or("no name")?.to_owned(),
        rule: value["rule"].as_str().map(str::to_owned),
        point: value["point"].as_u64(),
        options,
        asks: value["client"].is_object(),
        steps,
        longest,
    })
}

fn put_in(steps: &Value, include: &Value, out: &mut Vec<Value>) -> Outcome {
    for step in steps.as_array().ok_or("no steps")? {
        match step["include"].as_str() {
            Some(name) if include[name].is_array() => put_in(&include[name], include, out)?,
            Some(name) => return Err(format!("there is nothing of the name {name} to include")),
            None => out.push(step.clone()),
        }
    }
    Ok(())
}

impl Scenario {
    /// The sizes of pieces in which it is replayed.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = usize> {
        let long = self.longest > 400;
        (1..=self.longest.min(400)).filter(move |size| !long || size % 37 < 4).chain([usize::MAX])
    }

    pub(crate) fn run(&self, size: usize) -> Outcome {
        if self.asks {
            crate::ask::run(self, size)
        } else {
            crate::serve::run(self, size)
        }
    }
}

/// A message of a vector as text: a text as it is, any other value as JSON.
pub(crate) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// A message as a vector says it.
pub(crate) fn value_of(json: &str) -> Value {
    serde_json::from_str(json).unwrap_or_else(|_| json.into())
}

/// Headers, which are pairs, by name.
pub(crate) fn pairs(headers: &Value) -> Map<String, Value> {
    let pair = |pair: &Value| (pair[0].as_str().unwrap_or_default().to_owned(), pair[1].clone());
    headers.as_array().into_iter().flatten().map(pair).collect()
}

/// Refuses members that the format does not have.
pub(crate) fn only(value: &Value, known: &[&str]) -> Outcome {
    let stranger = value.as_object().and_then(|all| all.keys().find(|name| !known.contains(&name.as_str())));
    stranger.map_or(Ok(()), |name| Err(format!("{name} is no member of {value}")))
}

/// Whether a value is what was expected, of which it may have more members at the top.
pub(crate) fn same(what: &str, found: &Value, expected: &Value) -> Outcome {
    let fits = match (found.as_object(), expected.as_object()) {
        (Some(found), Some(expected)) => expected.iter().all(|(name, value)| match name.as_str() {
            "headers" => value.as_object().is_some_and(|all| {
                all.iter().all(|(name, value)| found["headers"].get(name).unwrap_or(&Value::Null) == value)
            }),
            _ => found.get(name) == Some(value),
        }),
        _ => found == expected,
    };
    if fits {
        Ok(())
    } else {
        Err(format!("{what} is {found}, expected {expected}"))
    }
}
