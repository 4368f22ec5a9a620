//! What a session shows: the SDK hands on updates, and clients fold them.

use std::collections::BTreeMap;

use libacp_interop_rust::steps::checks::{list, text, tool};
use serde_json::{json, Value};

/// A session as it is told, in either version.
pub(crate) struct Fold {
    /// What the steps ask about, as far as it stands there as it is shown.
    pub(crate) shown: Value,
    /// The id of each message, and its line of the transcript.
    messages: Vec<(Option<String>, usize)>,
    calls: Vec<(String, Value)>,
    terminals: BTreeMap<String, (Vec<u8>, Value)>,
}

impl Default for Fold {
    fn default() -> Self {
        let shown = json!({"state": "idle", "commands": [], "unknown": [], "transcript": [], "options": {}});
        Fold { shown, messages: Vec::new(), calls: Vec::new(), terminals: BTreeMap::new() }
    }
}

impl Fold {
    /// What the answer that opens a session has, and an update of its options.
    pub(crate) fn open(&mut self, result: &Value) {
        if let Some(mode) = result["modes"].get("currentModeId") {
            self.shown["mode"] = mode.clone();
        }
        for option in list(&result["configOptions"]) {
            let id = text(option.get("configId").unwrap_or(&option["id"]));
            if option["category"] == "mode" {
                self.shown["mode"] = option["currentValue"].clone();
            }
            self.shown["options"][id] = option["currentValue"].clone();
        }
    }

    fn transcript(&mut self) -> Option<&mut Vec<Value>> {
        self.shown["transcript"].as_array_mut()
    }

    /// Text that belongs to a message: to that with its id, or to the last one where there is none.
    pub(crate) fn say(&mut self, role: &str, id: Option<&str>, said: &str, whole: bool) {
        let last = list(&self.shown["transcript"]).count().wrapping_sub(1);
        let here = |(known, line): &&(Option<String>, usize)| match id {
            Some(id) => known.as_deref() == Some(id),
            None => *line == last,
        };
        let found = self.messages.iter().rev().find(here).map(|(_, line)| *line);
        let found = found.filter(|line| self.shown["transcript"][line][0] == role);
        let line = found.unwrap_or(last.wrapping_add(1));
        if found.is_none() {
            self.messages.push((id.map(str::to_owned), line));
            self.transcript().into_iter().for_each(|all| all.push(json!([role, ""])));
        }
        if let Some(Value::String(told)) = self.shown["transcript"][line].get_mut(1) {
            if whole {
                told.clear();
            }
            told.push_str(said);
        }
    }

    pub(crate) fn take(&mut self, update: &Value) {
        let kind = text(&update["sessionUpdate"]);
        let (said, chunk) = kind.strip_suffix("_chunk").map_or((kind, false), |said| (said, true));
        if let Some((role, what)) = said.split_once('_').filter(|(_, what)| ["message", "thought"].contains(what)) {
            let texts = match &update["content"] {
                Value::Array(blocks) => blocks.iter().map(|block| text(&block["text"])).collect(),
                block => text(&block["text"]).to_owned(),
            };
            let role = if what == "thought" { what } else { role };
            return self.say(role, update["messageId"].as_str(), &texts, !chunk);
        }
        let member = |name: &str| update[name].clone();
        match kind {
            "plan" => self.shown["plan"] = member("entries"),
            "plan_update" => self.shown["plan"] = update["plan"]["entries"].clone(),
            "tool_call" | "tool_call_update" => self.call(update),
            "terminal_update" | "terminal_output_chunk" => self.terminal(update),
            "available_commands_update" => {
                let all = list(&update["availableCommands"]);
                self.shown["commands"] = all.map(|each| json!([each["name"], each["input"]["hint"]])).collect();
            }
            "current_mode_update" => self.shown["mode"] = member("currentModeId"),
            "config_option_update" => self.open(update),
            "usage_update" => self.shown["usage"] = update.clone(),
            "session_info_update" => self.shown["title"] = member("title"),
            "state_update" => {
                self.shown["state"] = member("state");
                self.shown["stop"] = member("stopReason");
                self.shown["error"] = member("error");
            }
            _ => self.shown["unknown"].as_array_mut().into_iter().for_each(|all| all.push(update.clone())),
        }
    }

    fn call(&mut self, update: &Value) {
        let id = text(&update["toolCallId"]);
        if !self.calls.iter().any(|(other, _)| other == id) {
            self.calls.push((id.to_owned(), json!({"content": []})));
            let line = json!(["tool_call", update["title"]]);
            self.transcript().into_iter().for_each(|all| all.push(line.clone()));
        }
        let Some((_, call)) = self.calls.iter_mut().find(|(other, _)| other == id) else { return };
        for (name, value) in update.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()) {
            call[name] = value.clone();
        }
    }

    fn terminal(&mut self, update: &Value) {
        let (output, exit) = self.terminals.entry(text(&update["terminalId"]).to_owned()).or_default();
        output.extend(base64(text(&update["data"])));
        if let Some(code) = update["exitStatus"].get("exitCode") {
            *exit = code.clone();
        }
    }

    /// All that the steps ask about.
    pub(crate) fn seen(&self) -> Value {
        let mut seen = self.shown.clone();
        let of = |role: &str| {
            let lines = list(&self.shown["transcript"]).filter(|line| line[0] == role);
            json!(lines.map(|line| text(&line[1])).collect::<String>())
        };
        seen["text"] = of("agent");
        seen["thoughts"] = of("thought");
        seen["tools"] = self.calls.iter().map(|(_, call)| tool(call)).collect();
        let terminals = self.terminals.values();
        seen["terminals"] =
            terminals.map(|(output, exit)| json!({"output": String::from_utf8_lossy(output), "exit": exit})).collect();
        seen
    }
}

/// The bytes of base64.
fn base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u32> = text.bytes().filter_map(value).map(u32::from).collect();
    let bytes = digits.chunks(4).flat_map(|digits| {
        let joined = digits.iter().fold(0, |joined, digit| joined << 6 | digit) << (6 * (4 - digits.len()));
        joined.to_be_bytes()[1..digits.len()].to_vec()
    });
    bytes.collect()
}
