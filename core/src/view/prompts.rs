//! What is asked and not answered: the client's prompts, and the agent's questions.
//!
//! A prompt is an entry from when it is sent. In version 1 that is its place in the conversation. In version 2 the agent
//! takes it up when it will: until then the entry is pending, and then it has the id that the answer names, or that an update
//! with the same content has told before the answer. If the agent has said something meanwhile, the entry moves to the end.

use super::body::Body;
use super::content::plain;
use super::facts::Name;
use super::kind::EntryKind;
use super::{target, Block, View};
use crate::engine::operations::Speaker;
use crate::json::{self, Writer};
use crate::jsonrpc::Id;

const MESSAGE: EntryKind = EntryKind::Message(Speaker::User);
/// Params of a question that are longer are not kept.
const LONGEST: usize = 64 * 1024;

/// A prompt of the client's that has no answer yet.
#[derive(Debug, Clone)]
pub struct OpenPrompt {
    serial: u64,
    id: Box<str>,
    pub(super) index: u64,
    /// The message that it has become, as far as an update tells.
    message: Option<Box<str>>,
    /// It is in the conversation as it was sent, whatever the agent says of it.
    inserted: bool,
    /// How much of its text the agent has repeated.
    repeated: usize,
}

impl OpenPrompt {
    /// The serial number of the request.
    pub fn serial(&self) -> u64 {
        self.serial
    }

    /// The id of the request as JSON text.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The index of its entry.
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The id of the message that it has become, as far as it is known.
    pub fn message(&self) -> Option<&str> {
        self.message.as_deref()
    }
}

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

/// What the agent tells of a message of the user's, while prompts are open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Echo {
    /// It is no open prompt's, as far as it shows.
    Other,
    /// It says what is there.
    Repeats,
    /// It is what a prompt has become, at this index.
    Is(u64),
}

/// How a request ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ending<'a> {
    Result(&'a str),
    Failed,
}

impl View {
    /// The client sends a prompt. `inserted` says that it is in the conversation with that.
    pub(super) fn prompted(&mut self, serial: u64, id: &Id, params: &str, inserted: bool) {
        let story = target(&mut self.story, &mut self.next);
        if inserted {
            story.begin_turn();
        }
        let index = story.push(MESSAGE, None);
        let later = u64::from(!story.in_turn);
        let turn = story.turn + later;
        if let Some(entry) = story.get_mut(index) {
            entry.replace(json::pointer(params, "/prompt"), self.most);
            (entry.pending, entry.turn) = (!inserted, turn);
        }
        self.touched(index, true);
        self.prompts.push(OpenPrompt {
            serial,
            id: id.to_string().into(),
            index,
            message: None,
            inserted,
            repeated: 0,
        });
        self.list_prompts();
        if inserted {
            self.works("\"running\"");
        }
    }

    fn list_prompts(&mut self) {
        let list = json::list(self.prompts.iter(), |out, prompt| {
            out.begin_object().key("serial").unsigned(prompt.serial).key("id").string(&prompt.id);
            out.key("index").unsigned(prompt.index).key("messageId");
            match &prompt.message {
                Some(message) => out.string(message),
                None => out.null(),
            };
            out.end_object();
        });
        self.say(Name::Prompts, Some(&list));
    }

    /// Takes what the agent tells of a message of the user's for an open prompt's, if it is.
    pub(super) fn echoed(&mut self, id: Option<&str>, block: &str) -> Echo {
        let story = target(&mut self.story, &mut self.next);
        let text = plain(block).map(super::content::value);
        let mut found = None;
        for (at, prompt) in self.prompts.iter_mut().enumerate() {
            let Some(entry) = story.get(prompt.index) else { continue };
            if prompt.inserted {
                let rest = entry.text().get(prompt.repeated..).unwrap_or_default();
                let same = match &text {
                    Some(text) => rest.starts_with(&**text),
                    None => entry.blocks().any(|own| own == Block::Json(block)),
                };
                if same && id.is_none_or(|id| entry.id().is_none_or(|known| known == id)) {
                    prompt.repeated += text.map_or(0, |text| text.len());
                    if let (None, Some(id)) = (entry.id(), id) {
                        let index = prompt.index;
                        prompt.message = Some(id.into());
                        story.name(index, id);
                        self.touched(index, true);
                        self.list_prompts();
                    }
                    return Echo::Repeats;
                }
            } else if prompt.message.is_none() && id.is_some() {
                let same = match (entry.blocks().next(), &text) {
                    (Some(Block::Text(own)), Some(text)) => !text.is_empty() && own.starts_with(&**text),
                    (Some(Block::Json(own)), _) => own == block,
                    _ => false,
                };
                if same {
                    found = Some(at);
                    break;
                }
            }
        }
        let Some((at, id)) = found.zip(id) else { return Echo::Other };
        let index = self.insert(at, id);
        if let Some(entry) = target(&mut self.story, &mut self.next).get_mut(index) {
            entry.awaits_echo = true;
        }
        Echo::Is(index)
    }

    /// An open prompt is a message of this id from now on.
    fn insert(&mut self, at: usize, id: &str) -> u64 {
        let story = target(&mut self.story, &mut self.next);
        let before = self.prompts[at].index;
        let alone = (before + 1..story.next()).all(|index| {
            story.get(index).is_none_or(|entry| entry.gone || entry.pending || entry.kind == EntryKind::Terminal)
        });
        let opens = !story.in_turn;
        story.begin_turn();
        let index = if alone {
            before
        } else {
            let body = story.get_mut(before).map(|entry| std::mem::replace(&mut entry.body, Body::Nothing));
            self.revision += 1;
            story.remove(before, self.revision);
            let index = story.push(MESSAGE, None);
            if let (Some(entry), Some(body)) = (story.get_mut(index), body) {
                entry.body = body;
            }
            index
        };
        if opens {
            story.turn_from = story.turn_from.min(index);
        }
        let turn = story.turn;
        if let Some(entry) = story.get_mut(index) {
            (entry.pending, entry.turn) = (false, turn);
        }
        story.name(index, id);
        (self.prompts[at].index, self.prompts[at].message) = (index, Some(id.into()));
        self.touched(index, true);
        self.list_prompts();
        self.count();
        index
    }

    /// A prompt has ended: in version 1 its turn with it.
    pub(super) fn answered(&mut self, serial: u64, ending: Ending<'_>) {
        let Some(at) = self.prompts.iter().position(|prompt| prompt.serial == serial) else { return };
        if self.prompts[at].inserted {
            self.prompts.remove(at);
            self.list_prompts();
            if let Ending::Result(result) = ending {
                let reason = json::pointer(result, "/stopReason");
                self.say(Name::TurnUsage, json::pointer(result, "/usage"));
                self.stopped(reason, None);
            }
            if self.prompts.is_empty() {
                self.rests();
            }
            return;
        }
        let id = match ending {
            Ending::Result(result) => json::pointer(result, "/messageId").and_then(json::unescape),
            Ending::Failed => None,
        };
        match (&id, ending) {
            (Some(id), _) => self.took_up(at, id),
            (None, Ending::Failed) if self.prompts[at].message.is_none() => self.refused(at),
            _ => {}
        }
        self.prompts.remove(at);
        self.list_prompts();
    }

    /// An answer says which message a prompt has become.
    fn took_up(&mut self, at: usize, id: &str) {
        let story = target(&mut self.story, &mut self.next);
        let (index, taken) = (self.prompts[at].index, self.prompts[at].message.as_deref());
        if taken == Some(id) {
            return;
        }
        let known = story.find(MESSAGE, id);
        match (known, taken) {
            // It has come already, and said something else.
            (Some(_), None) => {
                self.revision += 1;
                story.remove(index, self.revision);
            }
            (Some(_), Some(_)) => {}
            (None, None) => {
                let index = self.insert(at, id);
                if let Some(entry) = target(&mut self.story, &mut self.next).get_mut(index) {
                    entry.awaits_echo = true;
                }
            }
            // What was taken for it was another client's.
            (None, Some(_)) => {
                let body = story.get(index).map(|entry| entry.body.clone());
                let index = story.push(MESSAGE, Some(id));
                if let (Some(entry), Some(body)) = (story.get_mut(index), body) {
                    (entry.body, entry.awaits_echo) = (body, true);
                }
                self.touched(index, true);
            }
        }
    }

    /// LIFE-18: it is no part of the conversation.
    fn refused(&mut self, at: usize) {
        let index = self.prompts[at].index;
        if let Some(entry) = target(&mut self.story, &mut self.next).get_mut(index) {
            (entry.pending, entry.discarded) = (false, true);
        }
        self.touched(index, true);
    }

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

    fn ask_about(&mut self, at: usize, serial: Option<u64>) {
        let story = target(&mut self.story, &mut self.next);
        let tool = self.questions[at].tool.as_deref();
        let Some(index) = tool.and_then(|id| story.find(EntryKind::ToolCall, id)) else { return };
        if let Some(entry) = story.get_mut(index) {
            entry.permission = serial;
        }
        self.touched(index, true);
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
