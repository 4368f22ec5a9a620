//! The client's prompts, until they are in the conversation.
//!
//! A prompt is an entry from when it is sent. In version 1 that is its place in the conversation. In version 2 the agent
//! takes it up when it will: until then the entry is pending, and then it has the id that the answer names, or that an update
//! with the same content has told before the answer, or tells after an answer without one. If the agent has said something
//! meanwhile, the entry moves to the end.

use super::body::Body;
use super::content::plain;
use super::facts::Name;
use super::kind::EntryKind;
use super::{target, Block, View};
use crate::engine::operations::Speaker;
use crate::json;
use crate::jsonrpc::Id;

const MESSAGE: EntryKind = EntryKind::Message(Speaker::User);
/// So many prompts that were answered without an id are awaited.
const UNNAMED: usize = 64;

/// A prompt of the client's that has no answer yet.
#[derive(Debug, Clone)]
pub struct OpenPrompt {
    serial: u64,
    id: Box<str>,
    pub(super) index: u64,
    /// The number of the story that has it.
    pub(super) story: u64,
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
        let (number, turn) = (story.number, story.turn + later);
        if let Some(entry) = story.get_mut(index) {
            entry.replace(json::pointer(params, "/prompt"), self.most);
            (entry.pending, entry.turn) = (!inserted, turn);
        }
        self.touched(index, true);
        self.prompts.push(OpenPrompt {
            serial,
            id: id.to_string().into(),
            index,
            story: number,
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

    /// Whether a message of the user's may be a prompt that is not in the conversation yet.
    pub(super) fn awaits_echo(&self) -> bool {
        !self.prompts.is_empty() || !self.unnamed.is_empty()
    }

    /// Takes what the agent tells of a message of the user's for a prompt's, if it is.
    pub(super) fn echoed(&mut self, id: Option<&str>, block: &str) -> Echo {
        let story = target(&mut self.story, &mut self.next);
        let text = plain(block).map(super::content::value);
        let mut found = None;
        for (at, prompt) in self.unnamed.iter_mut().chain(&mut self.prompts).enumerate() {
            let Some(entry) = story.get(prompt.index).filter(|_| prompt.story == story.number) else { continue };
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
        if let Some(at) = at.checked_sub(self.unnamed.len()) {
            return Echo::Is(self.insert_open(at, id));
        }
        let prompt = self.unnamed.remove(at);
        Echo::Is(self.insert(prompt.index, id))
    }

    /// An open prompt is a message of this id from now on.
    fn insert_open(&mut self, at: usize, id: &str) -> u64 {
        let index = self.insert(self.prompts[at].index, id);
        (self.prompts[at].index, self.prompts[at].message) = (index, Some(id.into()));
        self.list_prompts();
        index
    }

    /// The entry of a prompt is a message of this id from now on, which is yet to be told.
    fn insert(&mut self, before: u64, id: &str) -> u64 {
        let story = target(&mut self.story, &mut self.next);
        let alone = (before + 1..story.next()).all(|index| {
            story.get(index).is_none_or(|entry| entry.is_gone() || entry.pending || entry.kind == EntryKind::Terminal)
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
            (entry.pending, entry.turn, entry.awaits_echo) = (false, turn, true);
        }
        story.name(index, id);
        self.touched(index, true);
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
        if self.prompts[at].story != target(&mut self.story, &mut self.next).number {
            // What is told since then has it, or will have it.
            self.prompts.remove(at);
            return self.list_prompts();
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
        let prompt = self.prompts.remove(at);
        self.list_prompts();
        if id.is_none() && prompt.message.is_none() && matches!(ending, Ending::Result(_)) {
            self.unnamed.push(prompt);
            self.forget_unnamed();
        }
    }

    /// By the schema each answer names its message. Where an agent names none and tells none, they are given up.
    fn forget_unnamed(&mut self) {
        let number = target(&mut self.story, &mut self.next).number;
        self.unnamed.retain(|prompt| prompt.story == self.story.number || prompt.story == number);
        if self.unnamed.len() <= UNNAMED {
            return;
        }
        let OpenPrompt { index, story, .. } = self.unnamed.remove(0);
        if story == number {
            if let Some(entry) = target(&mut self.story, &mut self.next).get_mut(index) {
                entry.pending = false;
            }
            self.touched(index, false);
        }
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
            (None, None) => _ = self.insert_open(at, id),
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
}
