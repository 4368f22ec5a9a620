//! What an agent tells of a session.

use serde_json::{json, Value};

use crate::agent::{is_final, Agent, Stage};
use crate::choices::Choices;
use crate::host::Step;

impl Agent {
    /// One update of one session, of a kind that its stage allows.
    pub(crate) fn update(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.session(choices, |_| true) else { return Ok(false) };
        let work = &self.works[&id];
        let update = match choices.below(3) {
            0 => self.setting(&id, choices),
            1 if work.stage == Stage::Open => self.aside(&id, choices),
            _ if work.may_work() => self.work(&id, choices),
            _ => None,
        };
        let Some(update) = update else { return Ok(false) };
        self.base.notify("session/update", &json!({"sessionId": id, "update": update}))
    }

    /// What may be told at any time.
    fn setting(&mut self, id: &str, choices: &mut Choices) -> Option<Value> {
        let work = self.works.get_mut(id)?;
        let open = work.stage == Stage::Open;
        Some(match choices.below(5) {
            0 => json!({"sessionUpdate": "session_info_update", "title": "A title", "updatedAt": null}),
            1 => json!({"sessionUpdate": "available_commands_update", "availableCommands":
                [{"name": "web", "description": "Search.", "input": {"hint": "what"}}]}),
            2 => json!({"sessionUpdate": "usage_update", "used": choices.below(99), "size": 100,
                "cost": {"amount": 0.5, "currency": "EUR"}}),
            3 if open => {
                let mode = choices.pick(&work.modes)?;
                json!({"sessionUpdate": "current_mode_update", "currentModeId": mode})
            }
            4 if open && !work.options.is_empty() => {
                if let Some(option) = work.options.iter_mut().find(|option| option["type"] == "select") {
                    option["currentValue"] = json!(if choices.one_in(2) { "big" } else { "small" });
                }
                json!({"sessionUpdate": "config_option_update", "configOptions": work.options})
            }
            _ => return None,
        })
    }

    /// What is told beside the conversation to clients that want it.
    fn aside(&mut self, id: &str, choices: &mut Choices) -> Option<Value> {
        let (notices, compactions) = (self.client_has("session/notices"), self.client_has("session/compaction"));
        let plans = self.drafts && self.client_has("plan");
        let new = self.base.name("c");
        let work = self.works.get_mut(id)?;
        let open = work.compactions.clone().into_iter();
        Some(match choices.below(5) {
            0 if notices => json!({"sessionUpdate": "notice", "severity": "warning", "title": "Careful."}),
            1 if compactions => {
                work.compactions.insert(new.clone());
                json!({"sessionUpdate": "compaction_update", "compactionId": new, "status": "in_progress"})
            }
            2 if compactions => json!({"sessionUpdate": "compaction_summary_chunk",
                "compactionId": choices.pick_from(open)?, "content": text()}),
            3 if compactions => {
                let ended = choices.pick_from(open)?;
                work.compactions.remove(&ended);
                match choices.below(2) {
                    0 => json!({"sessionUpdate": "compaction_update", "compactionId": ended, "status": "completed",
                        "summary": [text()]}),
                    _ => json!({"sessionUpdate": "compaction_update", "compactionId": ended, "status": "failed",
                        "error": "It went wrong."}),
                }
            }
            4 if plans => match choices.below(2) {
                0 => json!({"sessionUpdate": "plan_update", "plan":
                    {"type": "markdown", "planId": format!("p-{}", choices.below(3)), "content": "# Plan"}}),
                _ => json!({"sessionUpdate": "plan_removed", "planId": format!("p-{}", choices.below(3))}),
            },
            _ => return None,
        })
    }

    /// What belongs to a turn, or to the past that is told again.
    fn work(&mut self, id: &str, choices: &mut Choices) -> Option<Value> {
        let new = self.base.name("tool");
        let work = self.works.get_mut(id)?;
        Some(match choices.below(6) {
            0 => json!({"sessionUpdate": "agent_message_chunk", "content": text()}),
            1 => json!({"sessionUpdate": "agent_thought_chunk", "messageId": "m", "content": text()}),
            2 => json!({"sessionUpdate": "user_message_chunk", "content": text(), "messageId": "u"}),
            3 => json!({"sessionUpdate": "plan", "entries":
                [{"content": "Read.", "priority": "high", "status": "in_progress"}]}),
            4 => {
                let unreported = work.tools.iter().filter(|(_, (reported, _))| !reported).map(|(id, _)| id.clone());
                let known = choices.pick_from(unreported.collect::<Vec<_>>().into_iter());
                let tool = known.unwrap_or(new);
                let status = if choices.one_in(3) { "in_progress" } else { "pending" };
                work.tools.insert(tool.clone(), (true, status));
                let content = content(&work.terminals.iter().cloned().collect::<Vec<_>>(), choices);
                json!({"sessionUpdate": "tool_call", "toolCallId": tool, "title": "A tool", "kind": "edit",
                    "status": status, "content": content, "rawInput": {"a": 1}})
            }
            _ => {
                let open = work.tools.iter().filter(|(_, (_, status))| !is_final(status)).map(|(id, _)| id.clone());
                let tool = choices.pick_from(open.collect::<Vec<_>>().into_iter())?;
                let status = ["in_progress", "completed", "failed"][choices.below(3)];
                work.tools.entry(tool.clone()).and_modify(|(_, known)| *known = status);
                let content = content(&work.terminals.iter().cloned().collect::<Vec<_>>(), choices);
                json!({"sessionUpdate": "tool_call_update", "toolCallId": tool, "status": status, "content": content})
            }
        })
    }
}

fn text() -> Value {
    json!({"type": "text", "text": "some text"})
}

/// What a tool call shows.
fn content(terminals: &[String], choices: &mut Choices) -> Value {
    match choices.pick(terminals) {
        Some(terminal) if choices.one_in(2) => json!([{"type": "terminal", "terminalId": terminal}]),
        _ if choices.one_in(2) => json!([{"type": "diff", "path": "/work/x", "oldText": "a", "newText": "b"}]),
        _ => json!([{"type": "content", "content": text()}]),
    }
}
