//! What the agent asks the user, until it is answered.

use super::facts::Name;
use super::kind::EntryKind;
use super::View;
use crate::json::{self, Writer};
use crate::jsonrpc::Id;

/// Params of a question that are longer are not kept.
const LONGEST: usize = 64 * 1024;
/// Nor are those with which all open questions would have more.
const TOGETHER: usize = 8 * LONGEST;

/// A question of the agent's that has no answer yet: `session/request_permission` or `elicitation/create`.
#[derive(Debug, Clone)]
pub struct Question {
    serial: u64,
    id: Box<str>,
    method: Box<str>,
    tool: Option<Box<str>>,
    params: Option<Box<str>>,
}

impl Question {
    /// The serial number of the request.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// The id of the request as JSON text.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The method.
    pub fn method(&self) -> &str {
        &self.method
    }

    /// The id of the tool call that it is about.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }

    /// Its params as JSON text; `None` where they are longer than 64 KiB, or those of all open questions than 512 KiB.
    pub fn params(&self) -> Option<&str> {
        self.params.as_deref()
    }

    pub(super) fn bytes(&self) -> usize {
        self.params.as_ref().map_or(0, |params| params.len())
    }
}

impl View {
    /// The agent asks.
    pub(super) fn asked(&mut self, serial: u64, id: &Id, method: &str, params: &str, tool: Option<&str>) {
        let others = self.questions.iter().map(Question::bytes).sum::<usize>();
        let kept = params.len() <= LONGEST && others + params.len() <= TOGETHER && self.bytes() < self.bounds.bytes;
        let kept = Some(params).filter(|_| kept);
        self.ask_about(tool, Some(serial));
        let (tool, params) = (tool.map(Into::into), kept.map(Into::into));
        self.questions.push(Question { serial, id: id.to_string().into(), method: method.into(), tool, params });
        self.list_questions();
    }

    /// A question is answered, by whomever.
    pub(super) fn settled(&mut self, serial: u64) {
        let Some(at) = self.questions.iter().position(|question| question.serial == serial) else { return };
        let tool = self.questions.remove(at).tool;
        // Another one about the same tool call may be open.
        let other = self.questions.iter().rev().find(|other| other.tool == tool).map(Question::serial);
        self.ask_about(tool.as_deref(), other);
        self.list_questions();
    }

    /// What a replay has told of tool calls has none of the questions that were asked before it.
    pub(super) fn ask_again(&mut self) {
        for at in 0..self.questions.len() {
            let Question { tool, serial, .. } = self.questions[at].clone();
            self.ask_about(tool.as_deref(), Some(serial));
        }
    }

    /// Where a replay fails, what was shown before it stays: the question stands in both.
    fn ask_about(&mut self, tool: Option<&str>, serial: Option<u64>) {
        let Some(tool) = tool else { return };
        for story in [Some(&mut self.story), self.next.as_deref_mut()].into_iter().flatten() {
            let Some(index) = story.find(EntryKind::ToolCall, tool) else { continue };
            if let Some(entry) = story.get_mut(index) {
                entry.ask(serial);
            }
            self.revision += 1;
            story.touch(index, self.revision, false);
        }
    }

    fn list_questions(&mut self) {
        let optional = |out: &mut Writer, value: &Option<Box<str>>| match value {
            Some(value) => _ = out.string(value),
            None => _ = out.null(),
        };
        let list = json::list(self.questions.iter(), |out, question| {
            out.begin_object().key("serial").unsigned(question.serial).key("id").string(&question.id);
            out.key("method").string(&question.method).key("toolCallId");
            optional(out, &question.tool);
            out.key("params").json(question.params.as_deref().unwrap_or("null")).end_object();
        });
        self.say(Name::Questions, Some(&list));
    }
}

#[cfg(test)]
mod tests {
    use crate::{Config, Connection};

    fn hear(client: &mut Connection, message: &str) {
        client.receive(message.as_bytes());
        client.receive(b"\n");
        while client.poll_event().is_some() {}
    }

    #[test]
    fn questions_are_told_however_long_they_are_together() {
        let mut config = Config::client();
        config.view = true;
        let mut client = Connection::new(config);
        client.request("initialize", "{}").unwrap();
        hear(&mut client, r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}"#);
        client.request("session/new", r#"{"cwd":"/work","mcpServers":[]}"#).unwrap();
        hear(&mut client, r#"{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}"#);
        client.request("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"Hi"}]}"#).unwrap();
        let name = "n".repeat(60_000);
        for id in 10..30 {
            let options = format!(r#"[{{"optionId":"y","name":"{name}","kind":"allow_once"}}]"#);
            let params = format!(r#"{{"sessionId":"s","toolCall":{{"toolCallId":"t{id}"}},"options":{options}}}"#);
            let method = "session/request_permission";
            hear(&mut client, &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#));
        }
        let view = client.view("s").unwrap();
        let told: serde_json::Value = serde_json::from_str(&view.since(0).to_json()).unwrap();
        let told = told["questions"].as_array().unwrap();
        assert_eq!(told.len(), 20);
        let kept = told.iter().filter(|question| question["params"].is_object()).count();
        assert_eq!(kept, view.questions().iter().filter(|question| question.params().is_some()).count());
        assert_eq!(kept, 8);
    }
}
