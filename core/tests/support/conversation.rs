//! The beginning of a recording, up to where a session is loaded or closed, and what the agent tells when it replays it.

use std::path::Path;

use libacp::view::{Speaker, View};
use libacp::Role;
use serde_json::{json, Map, Value};

use crate::recording;

/// Updates of what a session has one of. Agents tell it in the answer to a load, and otherwise when it changes.
const FACTS: [&str; 5] =
    ["state_update", "usage_update", "session_info_update", "config_option_update", "current_mode_update"];
/// What answers to the calls that open a session tell of it.
const OPENED: [&str; 3] = ["modes", "configOptions", "availableCommands"];

pub(crate) fn message(members: &Value) -> Vec<u8> {
    let mut message = json!({"jsonrpc": "2.0"});
    message.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    (message.to_string() + "\n").into_bytes()
}

pub(crate) fn update(session: &str, told: &Value) -> Vec<u8> {
    message(&json!({"method": "session/update", "params": {"sessionId": session, "update": told}}))
}

/// How a session is loaded again: the call, what the agent tells, and its answer.
pub(crate) struct Replayed {
    pub(crate) load: (&'static str, Value),
    pub(crate) updates: Vec<Value>,
    pub(crate) result: Value,
}

/// The call that has a session replayed.
pub(crate) fn load(version: u64, session: &str, cwd: &Value) -> (&'static str, Value) {
    match version {
        1 => ("session/load", json!({"sessionId": session, "cwd": cwd, "mcpServers": []})),
        _ => ("session/resume", json!({"sessionId": session, "cwd": cwd, "replayFrom": {"type": "start"}})),
    }
}

pub(crate) struct Told {
    pub(crate) version: u64,
    pub(crate) bytes: Vec<(Role, Vec<u8>)>,
    messages: Vec<(Role, Value)>,
    /// The sessions that were opened, each with the params and the result.
    pub(crate) sessions: Vec<(String, Value, Value)>,
}

/// Reads a recording. The agent of version 1 offers to load sessions, whether it did or not.
pub(crate) fn beginning(path: &Path) -> Told {
    let mut told = Told { version: 1, bytes: Vec::new(), messages: Vec::new(), sessions: Vec::new() };
    let mut opening = Value::Null;
    for (direction, bytes) in recording::records(path) {
        let from = match direction {
            '>' => Role::Client,
            '<' => Role::Agent,
            _ => break,
        };
        let Ok(mut parsed) = serde_json::from_slice::<Value>(&bytes) else {
            told.bytes.push((from, bytes));
            continue;
        };
        let method = parsed["method"].as_str().unwrap_or_default().to_owned();
        if matches!(&*method, "session/load" | "session/resume" | "session/close") {
            break;
        }
        if let Some(version) = parsed["result"]["protocolVersion"].as_u64() {
            told.version = version;
            if version == 1 {
                parsed["result"]["agentCapabilities"]["loadSession"] = true.into();
            }
        }
        if method == "session/new" {
            opening = parsed["params"].clone();
        } else if let Some(id) = parsed["result"]["sessionId"].as_str() {
            told.sessions.push((id.to_owned(), opening.clone(), parsed["result"].clone()));
        }
        told.bytes.push((from, message(&parsed)));
        told.messages.push((from, parsed));
    }
    told
}

impl Told {
    /// What an agent replays that leaves out nothing: the prompts with the ids that it has given them, what its questions
    /// say of tool calls, and its updates.
    pub(crate) fn replayed(&self, session: &(String, Value, Value), view: &View) -> Replayed {
        let (id, opening, opened) = session;
        let mut settings: Map<String, Value> = opened.as_object().unwrap().clone();
        settings.retain(|name, _| OPENED.contains(&name.as_str()));
        let mut prompts = view.entries().filter(|entry| entry.speaker() == Some(Speaker::User));
        let (mut updates, mut answers) = (Vec::new(), Vec::new());
        for (from, message) in &self.messages {
            let params = &message["params"];
            if message["method"].is_null() && answers.contains(&&message["id"]) {
                let options =
                    message["result"].get("configOptions").map(|list| ("configOptions".to_owned(), list.clone()));
                settings.extend(options);
            }
            if params["sessionId"] != **id {
                continue;
            }
            match message["method"].as_str().unwrap_or_default() {
                "session/prompt" if self.version == 1 => {
                    let given = prompts.next().unwrap().id();
                    updates.extend(params["prompt"].as_array().unwrap().iter().map(|block| user(block, given)));
                }
                "session/request_permission" => {
                    let subject = if self.version == 1 { params } else { &params["subject"] };
                    if let Some(told) = subject["toolCall"].as_object() {
                        let mut told = told.clone();
                        told.insert("sessionUpdate".into(), "tool_call_update".into());
                        updates.push(told.into());
                    }
                }
                "session/set_mode" => settings["modes"]["currentModeId"] = params["modeId"].clone(),
                "session/set_config_option" => answers.push(&message["id"]),
                "session/update" => {
                    let told = &params["update"];
                    let kind = told["sessionUpdate"].as_str().unwrap();
                    match kind {
                        "config_option_update" => settings["configOptions"] = told["configOptions"].clone(),
                        "current_mode_update" => settings["modes"]["currentModeId"] = told["currentModeId"].clone(),
                        _ => {}
                    }
                    let is_echo = self.version == 1 && kind == "user_message_chunk";
                    if *from == Role::Agent && !FACTS.contains(&kind) && !is_echo {
                        updates.push(told.clone());
                    }
                }
                _ => {}
            }
        }
        if self.version == 2 {
            updates.push(json!({"sessionUpdate": "state_update", "state": "idle"}));
        }
        Replayed { load: load(self.version, id, &opening["cwd"]), updates, result: settings.into() }
    }
}

/// A block of a prompt as an agent of version 1 tells it.
pub(crate) fn user(block: &Value, id: Option<&str>) -> Value {
    let mut told = json!({"sessionUpdate": "user_message_chunk", "content": block});
    if let Some(id) = id {
        told["messageId"] = id.into();
    }
    told
}
