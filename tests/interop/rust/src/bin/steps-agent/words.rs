//! What the agent says, in the words of each version: the SDK leaves that to its hosts.

use std::collections::BTreeMap;

use futures::future::AbortHandle;
use libacp_interop_rust::steps::checks::text;
use serde_json::{json, Value};

/// What agents say in turns that are the same for all: `turns.json` of the catalogue.
const TURNS: &str = include_str!("../../../../catalogue/turns.json");

/// A session, whether it is open or not.
pub(crate) struct Kept {
    pub(crate) cwd: String,
    pub(crate) further: Vec<Value>,
    pub(crate) mode: String,
    pub(crate) options: BTreeMap<String, Value>,
    pub(crate) history: Vec<Value>,
    pub(crate) turn: Option<AbortHandle>,
}

/// The version, and so the words.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Words {
    One,
    Two,
}

impl Words {
    pub(crate) fn are_2(self) -> bool {
        self == Words::Two
    }

    pub(crate) fn initialized(self, login: bool) -> Value {
        let info = json!({"name": "catalogue", "version": "1.0"});
        if self.are_2() {
            let ways = login.then(|| json!({"type": "agent", "methodId": "key", "name": "Key"}));
            let prompt = json!({"image": {}, "embeddedContext": {}});
            let session = json!({"prompt": prompt, "delete": {}, "additionalDirectories": {}});
            let can = json!({"session": session, "auth": {"logout": {}}});
            return json!({"protocolVersion": 2, "info": info, "capabilities": can, "authMethods": Vec::from_iter(ways)});
        }
        let ways = login.then(|| json!({"id": "key", "name": "Key"}));
        let sessions = json!({"list": {}, "resume": {}, "close": {}, "delete": {}, "additionalDirectories": {}});
        let prompts = json!({"image": true, "embeddedContext": true});
        let can = json!({"loadSession": true, "promptCapabilities": prompts, "sessionCapabilities": sessions,
            "auth": {"logout": {}}});
        json!({"protocolVersion": 1, "agentInfo": info, "agentCapabilities": can, "authMethods": Vec::from_iter(ways)})
    }

    /// What every answer that opens a session has.
    pub(crate) fn opened(self, kept: &Kept) -> Value {
        if self.are_2() {
            return json!({"configOptions": self.options(kept)});
        }
        let modes = ["ask", "code"].map(|id| json!({"id": id, "name": id}));
        let modes = json!({"currentModeId": kept.mode, "availableModes": modes});
        json!({"modes": modes, "configOptions": self.options(kept)})
    }

    pub(crate) fn options(self, kept: &Kept) -> Value {
        let (id, group) = if self.are_2() { ("configId", "groupId") } else { ("id", "group") };
        let choices = |values: [&str; 2]| values.map(|value| json!({"value": value, "name": value}));
        let grouped = |name: &str, values| json!({group: name, "name": name, "options": choices(values)});
        let styles = [grouped("prose", ["novel", "essay"]), grouped("verse", ["haiku", "sonnet"])];
        let all = [
            json!({"type": "select", id: "model", "name": "Model", "options": choices(["small", "large"])}),
            json!({"type": "select", id: "style", "name": "Style", "options": styles}),
            json!({"type": "boolean", id: "web", "name": "Search the web"}),
        ];
        let mut all = all
            .map(|mut option| {
                option["currentValue"] = kept.options[text(&option[id])].clone();
                option
            })
            .to_vec();
        if self.are_2() {
            all.insert(
                0,
                json!({"type": "select", id: "mode", "name": "Mode", "category": "mode", "currentValue": kept.mode,
                    "options": choices(["ask", "code"])}),
            );
        }
        all.into()
    }

    pub(crate) fn mode(self, kept: &Kept) -> Value {
        if self.are_2() {
            return json!({"sessionUpdate": "config_option_update", "configOptions": self.options(kept)});
        }
        json!({"sessionUpdate": "current_mode_update", "currentModeId": kept.mode})
    }

    /// A piece of a message of the agent, or of a thought.
    pub(crate) fn chunk(self, kind: &str, what: &str, message: &str) -> Value {
        let mut chunk =
            json!({"sessionUpdate": format!("agent_{kind}_chunk"), "content": {"type": "text", "text": what}});
        if self.are_2() {
            chunk["messageId"] = json!(message);
        }
        chunk
    }

    /// A message that is replayed, as `user_message` or `agent_message`.
    pub(crate) fn remembered(self, kind: &str, block: &Value, message: &str) -> Value {
        if self.are_2() {
            return json!({"sessionUpdate": kind, "messageId": message, "content": [block]});
        }
        json!({"sessionUpdate": format!("{kind}_chunk"), "content": block})
    }

    /// What the agent is asked about a tool call.
    pub(crate) fn permission(self, call: &str, meta: bool) -> Value {
        let options = json!([
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]);
        let call = json!({"toolCallId": call, "title": call});
        let mut asked = if self.are_2() {
            json!({"title": call["title"], "subject": {"type": "tool_call", "toolCall": call}, "options": options})
        } else {
            json!({"toolCall": call, "options": options})
        };
        if meta {
            asked["_meta"] = json!({"libacp.dev/trace": "abc"});
        }
        asked
    }

    /// The updates of a turn that is the same for all agents; none where it is not.
    pub(crate) fn turn(self, step: &str, cwd: &str, id: &str) -> Option<Vec<Value>> {
        let turns: Value = serde_json::from_str(TURNS).unwrap_or_default();
        let turn = libacp_interop_rust::steps::checks::fill(turns.get(step)?, cwd);
        Some(turn.as_array()?.iter().map(|said| self.said(said, id)).collect())
    }

    fn said(self, said: &Value, id: &str) -> Value {
        let with = |kind: &str, members: &Value| {
            let mut update = json!({"sessionUpdate": kind});
            members.as_object().into_iter().flatten().for_each(|(name, value)| update[name] = value.clone());
            update
        };
        let Some((word, what)) = said.as_object().and_then(|members| members.iter().next()) else { return Value::Null };
        match (word.as_str(), self) {
            ("message" | "thought", _) => {
                let message = said["id"].as_str().unwrap_or(word);
                self.chunk(word, text(what), &format!("{id}-{message}"))
            }
            ("call", Words::One) => with("tool_call", what),
            ("call" | "change", _) => with("tool_call_update", what),
            ("plan", Words::One) => json!({"sessionUpdate": "plan", "entries": what}),
            ("plan", Words::Two) => {
                json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "plan", "entries": what}})
            }
            ("update", _) => what.clone(),
            _ => said[if self.are_2() { "2" } else { "1" }].clone(),
        }
    }
}
