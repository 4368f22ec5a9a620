//! Tool calls of version 1 in the shapes of version 2, in which an update creates a call, and null clears a member.

use std::collections::{HashMap, VecDeque};

use super::diff;
use super::object::{each, text, Object};

/// What version 1 says of a tool call beside its id; null says nothing there.
const MEMBERS: &[&str] = &["name", "title", "kind", "status", "content", "locations", "rawInput", "rawOutput"];
/// Maximum length of a title that is kept, in bytes.
const LONGEST: usize = 1024;

/// The tool calls that a session knows, with their titles; the oldest are forgotten.
#[derive(Debug, Default)]
pub(super) struct Tools {
    titles: HashMap<Box<str>, Box<str>>,
    oldest: VecDeque<Box<str>>,
}

impl Tools {
    pub(super) fn has(&self, id: &str) -> bool {
        self.titles.contains_key(id)
    }

    pub(super) fn title(&self, id: &str) -> Option<&str> {
        self.titles.get(id).map(|title| &**title).filter(|title| !title.is_empty())
    }

    /// A tool call was shown; so many are kept.
    pub(super) fn shown(&mut self, call: &str, keep: usize) {
        let Some(id) = text(call, "/toolCallId").filter(|id| id.len() <= LONGEST) else { return };
        if !self.has(&id) {
            if self.oldest.len() >= keep {
                self.oldest.pop_front().map(|oldest| self.titles.remove(&oldest));
            }
            self.oldest.push_back((*id).into());
            self.titles.insert((*id).into(), Box::default());
        }
        if let Some(title) = text(call, "/title").filter(|title| title.len() <= LONGEST) {
            self.titles.insert((*id).into(), (*title).into());
        }
    }
}

/// Changes to a tool call.
pub(super) fn update(call: &str) -> String {
    let mut call = Object::of(call);
    call.retain(|name, value| value != "null" || !MEMBERS.contains(&name));
    call.change("content", |content| each(content, item));
    call.write()
}

/// More content of a tool call.
pub(super) fn chunk(chunk: &str) -> String {
    let mut chunk = Object::of(chunk);
    chunk.change("content", item);
    chunk.write()
}

/// A tool call from its start. One whose id is known begins again, so that nothing of it stays (TOOL-02).
pub(super) fn start(call: &str, again: bool) -> String {
    let fresh = update(call);
    let mut call = Object::of(&fresh);
    call.set("sessionUpdate", "\"tool_call_update\"");
    for name in MEMBERS.iter().filter(|_| again) {
        call.set_absent(name, "null");
    }
    call.write()
}

fn item(item: &str) -> String {
    if text(item, "/type").is_some_and(|kind| kind == "diff") {
        diff::item(item)
    } else {
        item.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn null_changes_nothing_and_a_restart_clears() {
        let call = r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"T","kind":null,"rawInput":{"a":null},"capabilities":null}"#;
        let once = r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","title":"T","rawInput":{"a":null},"capabilities":null}"#;
        let again = r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","title":"T","rawInput":{"a":null},"capabilities":null,"name":null,"kind":null,"status":null,"content":null,"locations":null,"rawOutput":null}"#;
        assert_eq!((start(call, false), start(call, true)), (once.to_owned(), again.to_owned()));
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut tools = Tools::default();
        for number in 0..100 {
            tools.shown(&format!("{{\"toolCallId\":\"{number}\",\"title\":\"T{number}\"}}"), 10);
        }
        assert!(!tools.has("89") && tools.has("90") && tools.title("99") == Some("T99"));
        assert_eq!((tools.titles.len(), tools.oldest.len()), (10, 10));
    }
}
