//! Inputs to begin with, from the vectors of version 2: what is fed and done there, as each target reads it.
//!
//! Of each area a scenario is taken if it has a message, or a kind of one, that none before it had.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Map, Value};

const VECTORS: &str = "tests/vectors";
/// What the names of these files begin with.
const NAME: &str = "version-2-";
/// So many files of a target, each of so many bytes at most.
const FILES: usize = 40;
const LONGEST: usize = 2000;

/// A scenario that is in version 2.
struct Scenario {
    agent: bool,
    strict: bool,
    /// With what is included, and how many steps of that there are.
    steps: Vec<Value>,
    begins: usize,
}

/// Writes the inputs of a target into its folder, if it has any of version 2; how many.
pub(super) fn write(target: &str, folder: &Path) -> Result<usize> {
    let make: fn(&Scenario, &[String]) -> Vec<Vec<u8>> = match target {
        "connection" => connection,
        "moulds" => moulds,
        "c" => c,
        "v2" => values,
        _ => return Ok(0),
    };
    let methods = methods()?;
    let (mut seen, mut count) = (BTreeSet::new(), 0);
    for scenario in scenarios()? {
        for input in make(&scenario, &methods).into_iter().filter(|input| input.len() <= LONGEST) {
            let words = words(&input);
            if count < FILES && !words.is_subset(&seen) {
                seen.extend(words);
                fs::write(folder.join(format!("{NAME}{count:02}")), input)?;
                count += 1;
            }
        }
    }
    Ok(count)
}

/// The methods of version 2 in the order of its tables.
fn methods() -> Result<Vec<String>> {
    let mut all = Vec::new();
    for file in ["methods", "methods_draft"] {
        let path = format!("core/protocol/v2/{file}.json");
        let text = fs::read_to_string(&path).with_context(|| path.clone())?;
        let methods: Map<String, Value> = serde_json::from_str(&text).context(path)?;
        all.extend(methods.into_iter().map(|(name, _)| name));
    }
    all.sort();
    Ok(all)
}

/// All of them, the first of each file before the second of any.
fn scenarios() -> Result<Vec<Scenario>> {
    let read = |path: &Path| fs::read_to_string(path).with_context(|| path.display().to_string());
    let shared: Map<String, Value> = serde_json::from_str(&read(&Path::new(VECTORS).join("include.json"))?)?;
    let mut all = Vec::new();
    for area in sorted(Path::new(VECTORS))? {
        for file in sorted(&area)?.into_iter().filter(|path| path.extension().is_some_and(|it| it == "jsonl")) {
            for (at, line) in read(&file)?.lines().enumerate() {
                let scenario: Value = serde_json::from_str(line)?;
                let mut steps = Vec::new();
                let first = scenario["steps"].as_array().into_iter().flatten().enumerate();
                let mut begins = 0;
                for (index, step) in first {
                    spread(step, &shared, &mut steps);
                    begins = if index == 0 && step.get("include").is_some() { steps.len() } else { begins };
                }
                let agrees = |step: &Value| step.to_string().contains(r#"protocolVersion\":2"#);
                if begins > 0 && steps[..begins].iter().any(agrees) {
                    let agent = scenario["config"]["role"] == "agent";
                    let strict = scenario["config"]["policy"] == "strict";
                    all.push((at, Scenario { agent, strict, steps, begins }));
                }
            }
        }
    }
    all.sort_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, scenario)| scenario).collect())
}

fn sorted(folder: &Path) -> Result<Vec<std::path::PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut all = fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    all.sort();
    Ok(all)
}

/// A step with what it includes.
fn spread(step: &Value, shared: &Map<String, Value>, out: &mut Vec<Value>) {
    match step["include"].as_str().and_then(|name| shared.get(name)).and_then(Value::as_array) {
        Some(steps) => steps.iter().for_each(|step| spread(step, shared, out)),
        None => out.push(step.clone()),
    }
}

/// The names that messages have: methods, kinds and types.
fn words(input: &[u8]) -> BTreeSet<String> {
    let text = String::from_utf8_lossy(input);
    let names = ["method", "sessionUpdate", "type", "state", "stopReason", "outcome", "mode"];
    let mut all = BTreeSet::new();
    for name in names {
        let quoted = format!("\"{name}\":\"");
        let values = text.split(&quoted).skip(1).filter_map(|rest| rest.split('"').next());
        all.extend(values.map(|value| format!("{name} {value}")));
    }
    all
}

/// The lines that steps feed.
fn lines(steps: &[Value]) -> impl Iterator<Item = &str> {
    steps.iter().filter_map(|step| step["feed"].as_str()).flat_map(str::lines).filter(|line| !line.is_empty())
}

/// A role, settings, and lines, each behind a byte that says what the host does besides; it has begun by itself.
fn connection(scenario: &Scenario, _: &[String]) -> Vec<Vec<u8>> {
    let mut input = vec![2 + u8::from(scenario.agent), 64 + u8::from(scenario.strict)];
    for (does, line) in (b'0'..=b'z').cycle().zip(lines(&scenario.steps[scenario.begins..])) {
        input.push(does);
        input.extend_from_slice(line.as_bytes());
        input.push(b'\n');
    }
    vec![input]
}

/// Lines of an agent's.
fn moulds(scenario: &Scenario, _: &[String]) -> Vec<Vec<u8>> {
    let lines: Vec<&str> = lines(&scenario.steps[scenario.begins..]).collect();
    if scenario.agent {
        return Vec::new();
    }
    // Twice, so that each line is one that may be known.
    vec![[&lines[..], &lines[..]].concat().join("\n").into_bytes()]
}

/// A role, settings, and lines: a byte that says what is called, and the text of the call.
fn c(scenario: &Scenario, _: &[String]) -> Vec<Vec<u8>> {
    // Version 2 alone; a framing and a limit that there are not, so that what is usual holds.
    let mut input = vec![4 + u8::from(scenario.agent), 0xf3 | u8::from(scenario.strict) << 2];
    let mut line = |what: u8, text: &str| {
        input.push(what);
        input.extend_from_slice(text.replace('\n', " ").as_bytes());
        input.push(b'\n');
    };
    for step in &scenario.steps {
        let call = |step: &Value| {
            let params = step["params_text"].as_str().map_or_else(|| step["params"].to_string(), str::to_owned);
            format!("{} {params}", step["method"].as_str().unwrap_or_default())
        };
        if let Some(text) = step["feed"].as_str() {
            text.lines().for_each(|text| line(b'0', text));
        } else if let Some(request) = step.get("request") {
            line(b'D', &call(request));
        } else if let Some(told) = step.get("notify") {
            line(b'F', &call(told));
        } else if let Some(text) = step["respond"]["result_text"].as_str() {
            let id = step["respond"]["id"].as_str().and_then(|id| id.parse::<u8>().ok()).unwrap_or(1);
            line(((id % 16) << 4) | 7, text);
        } else if step.get("expect").is_some() {
            line(b'M', "s-1");
        }
    }
    vec![input]
}

/// A method, whether its params or its result, the mode, and a value.
fn values(scenario: &Scenario, methods: &[String]) -> Vec<Vec<u8>> {
    let value = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let method = message["method"].as_str()?;
        let index = methods.iter().position(|known| known == method).and_then(|index| u8::try_from(index).ok())?;
        // Params of a notification or of a request, read tolerantly.
        let how = u8::from(message.get("id").is_none()) + (2 << 2);
        Some([&[index, how], message.get("params")?.to_string().as_bytes()].concat())
    };
    lines(&scenario.steps[scenario.begins..]).filter_map(value).collect()
}
