//! What an agent asks the user.

use serde_json::json;

use super::agent::Agent;
use super::work::{Stage, Work};
use crate::choices::Choices;
use crate::host::{Asked, Step};

impl Agent {
    fn open(&self, choices: &mut Choices) -> Option<String> {
        self.session(choices, |work| work.stage == Stage::Open)
    }

    pub(super) fn ask_permission(&mut self, choices: &mut Choices) -> Step {
        let Some(session) = self.open(choices) else { return Ok(false) };
        let mut params = json!({"sessionId": session, "title": "May I?", "options": [
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
            {"optionId": "maybe", "name": "Maybe", "kind": "_later"},
        ]});
        if choices.one_in(2) {
            params["description"] = json!("It would help.");
        }
        match choices.below(5) {
            0 | 1 => {
                let Some(mut tool) = self.tool(&session, choices) else { return Ok(false) };
                if let Some(members) = tool.as_object_mut() {
                    members.remove("sessionUpdate");
                }
                params["subject"] = json!({"type": "tool_call", "toolCall": tool});
            }
            2 => {
                params["subject"] = json!({"type": "command", "command": "rm x", "cwd": "/work"});
                let work = &self.works[&session];
                let some = |all: Vec<&String>, choices: &mut Choices| choices.pick(&all).map(|id| json!(id));
                if let Some(id) = some(work.tools.keys().collect(), choices).filter(|_| choices.one_in(2)) {
                    params["subject"]["toolCallId"] = id;
                }
                if let Some(id) = some(work.terminals.keys().collect(), choices).filter(|_| choices.one_in(2)) {
                    params["subject"]["terminalId"] = id;
                }
            }
            3 => params["subject"] = json!({"type": "_journey", "to": "Rome"}),
            _ => {}
        }
        self.base.request("session/request_permission", params)
    }

    pub(super) fn ask_user(&mut self, choices: &mut Choices) -> Step {
        let (form, url) = (self.client_has("elicitation/form"), self.client_has("elicitation/url"));
        let mut params = json!({"message": "Well?"});
        let asked: Vec<Asked> = self.base.todo.iter().filter(|asked| asked.method != "initialize").cloned().collect();
        match (self.open(choices), choices.pick(&asked)) {
            (_, Some(asked)) if choices.one_in(3) && self.base.ready() => {
                params["requestId"] = serde_json::from_str(&asked.id.to_json()).unwrap_or_default();
            }
            (Some(id), _) => {
                let tools = self.works.get(&id).map(Work::tool_ids).unwrap_or_default();
                if let Some(tool) = choices.pick(&tools).filter(|_| choices.one_in(2)) {
                    params["toolCallId"] = json!(tool);
                }
                params["sessionId"] = json!(id);
            }
            _ => return Ok(false),
        }
        if form && (!url || choices.one_in(2)) {
            params["mode"] = json!("form");
            params["requestedSchema"] = json!({"type": "object", "required": ["name"], "properties":
                {"name": {"type": "string"}, "shade": {"type": "_colour"}}});
        } else if url {
            params["mode"] = json!("url");
            params["url"] = json!("https://x.y/z");
            params["elicitationId"] = json!(self.base.name("page"));
        } else {
            return Ok(false);
        }
        self.base.request("elicitation/create", params)
    }

    pub(super) fn complete(&mut self, _: &mut Choices) -> Step {
        match self.pages.pop().filter(|_| self.base.ready()) {
            Some((_, id)) => self.base.notify("elicitation/complete", &json!({"elicitationId": id})),
            None => Ok(false),
        }
    }
}
