//! What this proxy does: adds context to prompts, takes secrets out of updates, counts tool calls, and says no.

use std::collections::{BTreeMap, BTreeSet};

use libacp::connection::{Notification, Request};
use libacp::relay::Side;
use serde::Deserialize;
use serde_json::{json, Value};

use crate::proxy::Answer;
use crate::redact::{redact, redact_all};

/// How the host wants it; all members may be left out.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Rules {
    /// Text that goes before each prompt.
    pub context: String,
    /// Secrets in updates begin with this, and are taken out.
    pub secret: String,
    /// Commands and tools whose name or title has one of these words are refused.
    pub refuse: Vec<String>,
}

/// Sessions and tool calls that are remembered; more than that are counted without looking for repeats.
const REMEMBERED: usize = 10_000;
/// A secret whose end has not come after this many bytes is none.
const HELD: usize = 4096;

/// The rules, and what has happened so far.
#[derive(Debug)]
pub struct Policy {
    rules: Rules,
    tool_calls: u64,
    refused: u64,
    seen: BTreeSet<(String, String)>,
    /// The last chunk's end that may be the beginning of a secret, by session, with the update that it stood in.
    held: BTreeMap<String, Value>,
}

impl Policy {
    /// Nothing has happened yet.
    pub fn new(rules: Rules) -> Self {
        Policy { rules, tool_calls: 0, refused: 0, seen: BTreeSet::new(), held: BTreeMap::new() }
    }

    /// Tool calls that the agent has reported.
    pub fn tool_calls(&self) -> u64 {
        self.tool_calls
    }

    /// Tools and commands that were refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    // ANCHOR: request
    pub(crate) fn request(&mut self, from: Side, request: &Request) -> Answer {
        match (from, &*request.method) {
            (Side::Client, "session/prompt") => Answer::Ask(self.with_context(request.params())),
            // An own method of this proxy, which any client may ask.
            (Side::Client, "_proxy/counts") => {
                Answer::Result(json!({"toolCalls": self.tool_calls, "refused": self.refused}).to_string())
            }
            (Side::Agent, "terminal/create") if self.forbids_command(request.params()) => {
                self.refused += 1;
                Answer::Refuse("A policy of the proxy forbids this command")
            }
            (Side::Agent, "session/request_permission") => match self.rejection(request.params()) {
                Some(outcome) => {
                    self.refused += 1;
                    Answer::Result(json!({ "outcome": outcome }).to_string())
                }
                None => Answer::Ask(request.params().to_owned()),
            },
            _ => Answer::Ask(request.params().to_owned()),
        }
    }
    // ANCHOR_END: request

    /// What the other side is told instead of this, in order.
    pub(crate) fn notification(&mut self, from: Side, notification: &Notification) -> Vec<String> {
        let mut params: Value = match serde_json::from_str(notification.params()) {
            Ok(params) if from == Side::Agent && notification.method == "session/update" => params,
            _ => return vec![notification.params().to_owned()],
        };
        self.count(&params);
        let session = text(&params, "/sessionId").to_owned();
        let mut told = Vec::new();
        if let Some(before) = self.held.remove(&session) {
            if same_stream(&before, &params) {
                let joined = text(&before, TEXT).to_owned() + text(&params, TEXT);
                set_text(&mut params, joined);
            } else {
                told.push(self.whole(before));
            }
        }
        if params.pointer(TEXT).is_some_and(Value::is_string) {
            let all = text(&params, TEXT).to_owned();
            let (clean, held) = redact(&all, &self.rules.secret);
            if held > 0 && held < HELD && self.held.len() < REMEMBERED {
                let mut end = params.clone();
                set_text(&mut end, all[all.len() - held..].to_owned());
                self.held.insert(session, end);
                if !clean.is_empty() {
                    set_text(&mut params, clean);
                    told.push(params.to_string());
                }
                return told;
            }
        }
        told.push(self.whole(params));
        told
    }

    /// What was held back is told before the agent asks or answers anything in its session.
    pub(crate) fn held_back(&mut self, from: Side, session: Option<&str>) -> Option<String> {
        let held = self.held.remove(session.filter(|_| from == Side::Agent)?)?;
        Some(self.whole(held))
    }

    /// Without the secrets in any of its texts.
    fn whole(&self, mut params: Value) -> String {
        if let Some(update) = params.get_mut("update") {
            clean(update, &self.rules.secret);
        }
        params.to_string()
    }

    fn with_context(&self, params: &str) -> String {
        let Ok(mut changed) = serde_json::from_str::<Value>(params) else { return params.to_owned() };
        match changed.get_mut("prompt") {
            Some(Value::Array(blocks)) if !self.rules.context.is_empty() => {
                blocks.insert(0, json!({"type": "text", "text": self.rules.context}));
                changed.to_string()
            }
            _ => params.to_owned(),
        }
    }

    /// Each tool call once, whatever its updates say.
    fn count(&mut self, params: &Value) {
        if params.pointer("/update/sessionUpdate").and_then(Value::as_str) != Some("tool_call") {
            return;
        }
        let id = (text(params, "/sessionId").to_owned(), text(params, "/update/toolCallId").to_owned());
        if self.seen.contains(&id) {
            return;
        }
        self.tool_calls += 1;
        if self.seen.len() < REMEMBERED {
            self.seen.insert(id);
        }
    }

    fn forbids(&self, words: &str) -> bool {
        let mut words = words.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')));
        words.any(|word| self.rules.refuse.iter().any(|refused| refused == word))
    }

    fn forbids_command(&self, params: &str) -> bool {
        let Ok(params) = serde_json::from_str::<Value>(params) else { return true };
        let args = params.get("args").and_then(Value::as_array).into_iter().flatten();
        self.forbids(text(&params, "/command")) || args.filter_map(Value::as_str).any(|arg| self.forbids(arg))
    }

    /// The agent's own way of being told no, where the policy says no.
    fn rejection(&self, params: &str) -> Option<Value> {
        let params: Value = serde_json::from_str(params).ok()?;
        if !self.forbids(text(&params, "/toolCall/title")) {
            return None;
        }
        let options = params.get("options").and_then(Value::as_array)?;
        let reject = options.iter().find(|option| text(option, "/kind").starts_with("reject"));
        Some(match reject {
            Some(option) => json!({"outcome": "selected", "optionId": option["optionId"]}),
            None => json!({"outcome": "cancelled"}),
        })
    }
}

const TEXT: &str = "/update/content/text";

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn set_text(params: &mut Value, text: String) {
    if let Some(place) = params.pointer_mut(TEXT) {
        *place = Value::String(text);
    }
}

/// Whether two chunks are one text to their reader.
fn same_stream(one: &Value, other: &Value) -> bool {
    let same = |pointer| one.pointer(pointer) == other.pointer(pointer);
    same("/update/sessionUpdate") && same("/update/messageId") && other.pointer(TEXT).is_some_and(Value::is_string)
}

fn clean(value: &mut Value, secret: &str) {
    match value {
        Value::String(text) => *text = redact_all(text, secret),
        Value::Array(items) => items.iter_mut().for_each(|item| clean(item, secret)),
        // Ids are no text, and must stay what they are on both sides.
        Value::Object(members) => {
            members.iter_mut().filter(|(name, _)| !name.ends_with("Id")).for_each(|(_, member)| clean(member, secret));
        }
        _ => {}
    }
}
