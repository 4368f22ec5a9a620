//! What scenarios may consist of: everything else is an error, wherever it stands.

use serde_json::{Map, Value};

use super::Failed;

const SCENARIO: &[&str] = &["name", "host", "peer", "bare", "hooks", "handlers", "refused", "gaps", "steps", "fails"];
const HOST: &[&str] = &[
    "policy",
    "drafts",
    "capabilities",
    "auth_methods",
    "timeout",
    "max_requests",
    "expose_errors",
    "files",
    "terminals",
    "later",
    "versions",
    "merge_chunks",
];
const HOOKS: &[&str] = &["update", "violation", "advice", "error", "late_response"];
/// What a step or an action is, and what else may stand in it.
type Rows = &'static [(&'static str, &'static [&'static str])];
const STEPS: Rows = &[
    ("send", &["times"]),
    ("out", &[]),
    ("see", &["times"]),
    ("call", &["with", "as", "session", "iterate", "begin", "wait"]),
    ("request", &["with", "as", "session"]),
    ("notify", &["with", "session"]),
    ("work", &["then", "as"]),
    ("go", &[]),
    ("cancel", &[]),
    ("drop", &[]),
    ("close", &[]),
    ("eof", &[]),
    ("wait", &[]),
];
const EVENTS: Rows = &[
    ("handler", &["session", "id", "params"]),
    ("cancelled", &[]),
    ("data", &[]),
    ("update", &["is", "meta"]),
    ("done", &["result", "error"]),
    ("hook", &["session", "is", "rule", "method"]),
];
const ACTIONS: Rows = &[
    ("update", &[]),
    ("do", &["with", "as"]),
    ("request", &["with", "as"]),
    ("notify", &["with"]),
    ("wait", &[]),
    ("data", &[]),
    ("see", &[]),
    ("return", &[]),
    ("fail", &[]),
    ("raise", &[]),
];
const OF_TURNS: Rows = &[
    ("message", &["text", "content", "message_id"]),
    ("thought", &["text", "content", "message_id"]),
    ("plan", &["entries", "id"]),
    ("remove_plan", &["id"]),
    ("tool_call", &["id", "title", "kind", "status", "content", "locations", "raw_input", "then"]),
    ("ask_permission", &["tool_call", "options"]),
    ("read_text_file", &["path", "line", "limit"]),
    ("write_text_file", &["path", "content"]),
    ("terminal", &["command", "args", "env", "cwd", "output_byte_limit", "then"]),
    ("hold", &[]),
    ("insert", &[]),
    ("background", &["terminal"]),
    ("display_terminal", &["id", "command", "cwd", "then"]),
];
const OF_TOOL_CALLS: Rows = &[
    ("text", &["text"]),
    ("diff", &["path", "new_text", "old_text"]),
    ("change", &["status", "title", "kind", "content", "locations", "raw_input", "raw_output"]),
    ("complete", &["raw_output"]),
    ("fail", &["text"]),
    ("ask_permission", &["options"]),
    ("append", &["text", "content"]),
    ("show", &["terminal"]),
    ("cancelled", &[]),
    ("background", &[]),
];
const OF_DISPLAYS: Rows = &[("write", &["text"]), ("exit", &["code", "signal"]), ("background", &[])];
const OF_TERMINALS: Rows = &[("wait", &[]), ("output", &[]), ("kill", &[])];

pub(super) fn check(scenario: &Value) -> Result<(), Failed> {
    only("a scenario", object(scenario)?, SCENARIO)?;
    if let Some(host) = scenario.get("host") {
        only("host", object(host)?, HOST)?;
    }
    for hook in list(scenario, "hooks") {
        word("a hook", hook, HOOKS)?;
    }
    for runs in scenario["handlers"].as_object().into_iter().flat_map(Map::values) {
        for run in runs.as_array().into_iter().flatten() {
            actions(run, &[OF_TURNS])?;
        }
    }
    for step in list(scenario, "steps") {
        let head = row("a step", step, STEPS)?;
        actions(&step["then"], &[OF_TURNS])?;
        if head == "see" {
            row("an event", &step["see"], EVENTS)?;
        }
        if let Some(hook) = step["see"].get("hook") {
            word("a hook", hook, HOOKS)?;
        }
    }
    Ok(())
}

fn actions(run: &Value, conveniences: &[Rows]) -> Result<(), Failed> {
    for action in run.as_array().into_iter().flatten() {
        if row("an action", action, ACTIONS)? != "do" {
            continue;
        }
        let what = action["do"].as_str().unwrap_or_default();
        let known = conveniences.iter().flat_map(|rows| rows.iter()).find(|(name, _)| *name == what);
        let (_, members) = known.ok_or_else(|| failed(&format!("there is no convenience {what:?} here")))?;
        if let Some(with) = action.get("with") {
            only(what, object(with)?, members)?;
        }
        let inside: &[Rows] = match what {
            "tool_call" => &[OF_TOOL_CALLS, OF_TURNS],
            "terminal" => &[OF_TERMINALS, OF_TURNS],
            "display_terminal" => &[OF_DISPLAYS, OF_TURNS],
            _ => continue,
        };
        actions(&action["with"]["then"], inside)?;
    }
    Ok(())
}

fn list<'s>(scenario: &'s Value, name: &str) -> impl Iterator<Item = &'s Value> {
    scenario[name].as_array().into_iter().flatten()
}

fn object(value: &Value) -> Result<&Map<String, Value>, Failed> {
    value.as_object().ok_or_else(|| failed(&format!("no object: {value}")))
}

fn only(what: &str, object: &Map<String, Value>, members: &[&str]) -> Result<(), Failed> {
    match object.keys().find(|name| !members.contains(&name.as_str())) {
        Some(name) => Err(failed(&format!("{what} has no member {name:?}"))),
        None => Ok(()),
    }
}

fn word(what: &str, word: &Value, words: &[&str]) -> Result<(), Failed> {
    let known = word.as_str().is_some_and(|word| words.contains(&word));
    known.then_some(()).ok_or_else(|| failed(&format!("{word} is not {what}")))
}

fn row(what: &str, value: &Value, rows: Rows) -> Result<&'static str, Failed> {
    let found = object(value)?;
    // What several have, as `wait`, stands behind what one has alone.
    let head = rows.iter().find(|(head, _)| found.contains_key(*head));
    let (head, members) = head.ok_or_else(|| failed(&format!("{value} is not {what}")))?;
    let all: Vec<_> = members.iter().copied().chain([*head]).collect();
    only(what, found, &all)?;
    Ok(head)
}

fn failed(why: &str) -> Failed {
    Failed { how: "format", why: why.to_owned() }
}
