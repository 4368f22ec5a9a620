//! What an agent tells of a session, beside its tools and its state.

use serde_json::{json, Value};

use super::agent::Agent;
use super::content::{block, blocks, text};
use super::work::Stage;
use crate::choices::Choices;
use crate::host::Step;

impl Agent {
    #[allow(clippy::needless_pass_by_value, reason = "an update is written where it is told")]
    pub(super) fn tell(&mut self, session: &str, update: Value) -> Step {
        self.base.notify("session/update", &json!({"sessionId": session, "update": update}))
    }

    /// One update of one session, of a kind that its stage allows.
    pub(super) fn update(&mut self, choices: &mut Choices) -> Step {
        match self.session(choices, |_| true) {
            Some(id) => self.update_one(&id, choices),
            None => Ok(false),
        }
    }

    pub(super) fn update_one(&mut self, id: &str, choices: &mut Choices) -> Step {
        let work = &self.works[id];
        // Without a replay, what is said comes from work that is under way.
        let may_say = work.stage != Stage::Resuming || work.is_working();
        let (past, update) = match choices.below(7) {
            0 => (false, self.setting(id, choices)),
            1 => (true, self.compaction(id, choices)),
            2 => (true, self.plan(choices)),
            3 | 4 if may_say => (true, self.message(id, choices)),
            5 if choices.one_in(4) => (true, self.tool_item(id, choices)),
            5 => (true, self.tool(id, choices)),
            6 => (true, self.terminal(id, choices)),
            _ => (false, None),
        };
        let Some(update) = update else { return Ok(false) };
        if past {
            self.works.entry(id.to_owned()).and_modify(|work| work.synced &= work.stage != Stage::Replaying);
        }
        self.tell(id, update)
    }

    /// What may be told at any time and is no part of the past.
    fn setting(&mut self, id: &str, choices: &mut Choices) -> Option<Value> {
        let work = self.works.get_mut(id)?;
        Some(match choices.below(6) {
            0 => json!({"sessionUpdate": "session_info_update", "title": "A title", "updatedAt": null}),
            1 => json!({"sessionUpdate": "available_commands_update", "availableCommands": commands(choices)}),
            2 => json!({"sessionUpdate": "usage_update", "used": choices.below(99), "size": 100,
                "cost": {"amount": 0.5, "currency": "credits"}}),
            3 if work.stage == Stage::Open => json!({"sessionUpdate": "notice", "severity": "warning",
                "title": "Careful.", "description": "It is hot."}),
            4 => {
                if work.options.is_empty() {
                    work.options = options(choices);
                }
                if let Some(option) = work.options.iter_mut().find(|option| option["type"] == "select") {
                    option["currentValue"] = json!(if choices.one_in(2) { "big" } else { "small" });
                }
                json!({"sessionUpdate": "config_option_update", "configOptions": work.options})
            }
            5 => json!({"sessionUpdate": "_weather", "sky": "grey"}),
            _ => return None,
        })
    }

    fn compaction(&mut self, id: &str, choices: &mut Choices) -> Option<Value> {
        let new = self.base.name("c");
        let work = self.works.get_mut(id)?;
        let open = work.compactions.clone().into_iter();
        Some(match choices.below(4) {
            0 => {
                work.compactions.insert(new.clone());
                json!({"sessionUpdate": "compaction_update", "compactionId": new, "status": "in_progress"})
            }
            1 | 2 => json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": choices.pick_from(open)?,
                "content": text("In short.")}),
            _ => {
                let ended = choices.pick_from(open)?;
                work.compactions.remove(&ended);
                match choices.below(3) {
                    0 => json!({"sessionUpdate": "compaction_update", "compactionId": ended, "status": "completed",
                        "summary": [text("All of it.")]}),
                    1 => json!({"sessionUpdate": "compaction_update", "compactionId": ended, "status": "cancelled"}),
                    _ => json!({"sessionUpdate": "compaction_update", "compactionId": ended, "status": "failed",
                        "error": "It went wrong."}),
                }
            }
        })
    }

    fn plan(&mut self, choices: &mut Choices) -> Option<Value> {
        let id = format!("p-{}", choices.below(3));
        Some(match choices.below(5) {
            0 | 1 => json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": id, "entries": [
                {"content": "Read.", "priority": "high", "status": "in_progress"},
                {"content": "Guess.", "priority": "_none", "status": "cancelled"}]}}),
            2 => json!({"sessionUpdate": "plan_update", "plan": {"type": "_graph", "planId": id, "nodes": []}}),
            3 if self.drafts => match choices.below(2) {
                0 => json!({"sessionUpdate": "plan_update", "plan":
                    {"type": "markdown", "planId": id, "content": "# Plan"}}),
                _ => json!({"sessionUpdate": "plan_update", "plan":
                    {"type": "file", "planId": id, "uri": "file:///work/plan.md"}}),
            },
            _ if self.drafts => json!({"sessionUpdate": "plan_removed", "planId": id}),
            _ => return None,
        })
    }

    /// A message or a part of one; messages of the past keep their ids.
    fn message(&mut self, id: &str, choices: &mut Choices) -> Option<Value> {
        let kinds = ["agent_message", "agent_thought", "user_message"];
        let new = (kinds[choices.below(kinds.len())], self.base.name("m"));
        let other = self.other_client();
        let past = self.past(id);
        let work = self.works.get_mut(id)?;
        if work.stage == Stage::Replaying && choices.one_in(2) {
            let (message, content) = choices.pick_from(past.into_iter())?;
            return Some(json!({"sessionUpdate": "user_message", "messageId": message, "content": content}));
        }
        let known = choices.pick(&work.messages).cloned().filter(|_| choices.one_in(2));
        let is_new = known.is_none();
        let (kind, message) = known.unwrap_or(new);
        if is_new {
            work.messages.push((kind, message.clone()));
        }
        let content = |choices: &mut Choices| if kind == "user_message" { other.clone() } else { block(choices) };
        let chunk = format!("{kind}_chunk");
        Some(match choices.below(6) {
            0..=2 => json!({"sessionUpdate": chunk, "messageId": message, "content": content(choices)}),
            3 => json!({"sessionUpdate": kind, "messageId": message, "content": null}),
            4 => json!({"sessionUpdate": kind, "messageId": message, "_meta": {"a": 1}}),
            _ => {
                let mut all = vec![content(choices)];
                all.extend(blocks(choices));
                json!({"sessionUpdate": kind, "messageId": message, "content": all})
            }
        })
    }
}

pub(super) fn commands(choices: &mut Choices) -> Value {
    let mut all = vec![json!({"type": "command", "name": "web", "description": "Searches.",
        "input": {"type": "text", "hint": "what"}})];
    if choices.one_in(2) {
        all.push(json!({"type": "_macro", "name": "all", "description": "Does it all."}));
    }
    json!(all)
}

/// Settings to begin with.
pub(super) fn options(choices: &mut Choices) -> Vec<Value> {
    let (big, small) = (json!({"value": "big", "name": "Big"}), json!({"value": "small", "name": "Small"}));
    let values = if choices.one_in(2) {
        json!([big, small])
    } else {
        json!([{"groupId": "a", "name": "A", "options": [big]}, {"groupId": "b", "name": "B", "options": [small]}])
    };
    let mut all = vec![json!({"configId": "model", "name": "Model", "category": "model", "type": "select",
        "currentValue": "big", "options": values})];
    if choices.one_in(2) {
        all.push(json!({"configId": "fast", "name": "Fast", "type": "boolean", "currentValue": false}));
    }
    if choices.one_in(2) {
        all.push(json!({"configId": "hue", "name": "Hue", "type": "_colour", "category": "_looks", "currentValue": 7}));
    }
    all
}
