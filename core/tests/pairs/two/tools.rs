//! The tool calls and terminals that an agent tells of.

use serde_json::{json, Value};

use super::agent::Agent;
use super::content::item;
use crate::choices::Choices;

/// Statuses that a tool call may have; all from `ENDING` on are final.
const STATUSES: &[&str] = &["pending", "in_progress", "paused", "_queued", "completed", "failed", "cancelled"];
const ENDING: usize = 4;
/// What a terminal prints; the bytes of one character may come in two pieces.
const PRINTED: &[&str] = &["", "QQ==", "w6k=", "ww==", "qQ=="];

impl Agent {
    /// A further item of what a tool call shows.
    pub(super) fn tool_item(&mut self, session: &str, choices: &mut Choices) -> Option<Value> {
        let new = self.base.name("tool");
        let work = self.works.get_mut(session)?;
        let terminals: Vec<String> = work.terminals.keys().cloned().collect();
        let id = choices.pick(&work.tool_ids()).cloned().filter(|_| !choices.one_in(4)).unwrap_or(new);
        work.tools.entry(id.clone()).or_default();
        let item = item(session, &terminals, choices);
        Some(json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": id, "content": item}))
    }

    /// A tool call as it stands now, in full or as far as it has changed.
    pub(super) fn tool(&mut self, session: &str, choices: &mut Choices) -> Option<Value> {
        let new = self.base.name("tool");
        let work = self.works.get_mut(session)?;
        let terminals: Vec<String> = work.terminals.keys().cloned().collect();
        let known = choices.pick_from(work.tools.keys().cloned().collect::<Vec<_>>().into_iter());
        let id = known.filter(|_| !choices.one_in(3)).unwrap_or(new);
        let tool = work.tools.entry(id.clone()).or_default();
        let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id});
        if !std::mem::replace(&mut tool.told, true) {
            update["title"] = json!("A tool");
            update["kind"] = json!(["edit", "execute", "_dance"][choices.below(3)]);
            update["rawInput"] = json!({"a": 1});
            update["locations"] = json!([{"path": "/work/x", "line": 1}]);
        }
        if choices.one_in(3) {
            let items: Vec<Value> = (0..choices.below(3)).map(|_| item(session, &terminals, choices)).collect();
            update["content"] = json!(items);
        } else if choices.one_in(4) {
            update["content"] = Value::Null;
            update["name"] = Value::Null;
        }
        // What has ended stays so.
        if !tool.ended && choices.one_in(2) {
            let status = choices.below(STATUSES.len() + 1);
            update["status"] = STATUSES.get(status).map_or(Value::Null, |status| json!(status));
            tool.ended = (ENDING..STATUSES.len()).contains(&status);
        }
        if tool.ended && tool.offers {
            update["capabilities"] = Value::Null;
            tool.offers = false;
        } else if !tool.ended && choices.one_in(2) {
            tool.offers = !tool.offers;
            update["capabilities"] = if tool.offers { json!({"cancel": {}}) } else { json!({}) };
        }
        Some(update)
    }

    /// The last of a tool call.
    pub(super) fn end_tool(&mut self, session: &str, id: &str, status: &str) -> Result<(), String> {
        let update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status,
            "capabilities": null});
        self.tell(session, update)?;
        if let Some(tool) = self.works.get_mut(session).and_then(|work| work.tools.get_mut(id)) {
            (tool.ended, tool.offers) = (true, false);
        }
        Ok(())
    }

    /// A terminal as it stands now, or what it has printed.
    pub(super) fn terminal(&mut self, session: &str, choices: &mut Choices) -> Option<Value> {
        let new = self.base.name("t");
        let work = self.works.get_mut(session)?;
        let known = choices.pick_from(work.terminals.keys().cloned().collect::<Vec<_>>().into_iter());
        let id = known.filter(|_| !choices.one_in(3)).unwrap_or(new);
        let terminal = work.terminals.entry(id.clone()).or_default();
        let data = PRINTED[choices.below(PRINTED.len())];
        if choices.one_in(3) {
            return Some(json!({"sessionUpdate": "terminal_output_chunk", "terminalId": id, "data": data}));
        }
        let mut update = json!({"sessionUpdate": "terminal_update", "terminalId": id});
        if !std::mem::replace(&mut terminal.told, true) {
            update["command"] = json!("ls");
            update["cwd"] = json!("/work");
            update["size"] = json!({"cols": 80, "rows": 24});
        }
        if choices.one_in(3) {
            update["output"] = if choices.one_in(4) { Value::Null } else { json!({"data": data}) };
        }
        if !terminal.ended && choices.one_in(4) {
            terminal.ended = true;
            update["exitStatus"] =
                [json!({}), json!({"exitCode": -1}), json!({"signal": "SIGTERM"})][choices.below(3)].clone();
        }
        if terminal.ended && terminal.offers {
            update["capabilities"] = Value::Null;
            terminal.offers = false;
        } else if !terminal.ended && choices.one_in(2) {
            terminal.offers = !terminal.offers;
            update["capabilities"] = if terminal.offers { json!({"cancel": {}}) } else { json!({}) };
        }
        Some(update)
    }

    pub(super) fn end_terminal(&mut self, session: &str, id: &str) -> Result<(), String> {
        let update = json!({"sessionUpdate": "terminal_update", "terminalId": id, "command": "ls", "cwd": "/work",
            "exitStatus": {"signal": "SIGKILL"}, "capabilities": null});
        self.tell(session, update)?;
        if let Some(terminal) = self.works.get_mut(session).and_then(|work| work.terminals.get_mut(id)) {
            (terminal.ended, terminal.offers) = (true, false);
        }
        Ok(())
    }
}
