//! What the agent asks the user, until it is answered.

use super::facts::Name;
use super::kind::EntryKind;
use super::View;
use crate::json::{self, Writer};
use crate::jsonrpc::Id;

/// Params of a question that are longer are not kept.
const LONGEST: usize = 64 * 1024;

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

    /// Its params as JSON text; `None` where they are longer than 64 KiB.
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
        let kept = Some(params).filter(|params| params.len() <= LONGEST && self.bytes() < self.bounds.bytes);
        let (tool, params) = (tool.map(Into::into), kept.map(Into::into));
        self.questions.push(Question { serial, id: id.to_string().into(), method: method.into(), tool, params });
        self.ask_about(self.questions.len() - 1, Some(serial));
        self.list_questions();
    }

    /// A question is answered, by whomever.
    pub(super) fn settled(&mut self, serial: u64) {
        let Some(at) = self.questions.iter().position(|question| question.serial == serial) else { return };
        self.ask_about(at, None);
        self.questions.remove(at);
        self.list_questions();
    }

    /// Where a replay fails, what was shown before it stays: the question stands in both.
    fn ask_about(&mut self, at: usize, serial: Option<u64>) {
        let Some(tool) = self.questions[at].tool.as_deref() else { return };
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
