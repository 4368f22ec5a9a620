//! Terminals of version 1, which the client runs for the agent.
//!
//! Nobody tells of them: what is known is in the agent's calls and in the client's answers. The answer to
//! `terminal/output` has all of the output, which takes the place of what there was. Calls refer to a terminal by the note
//! that the engine's trackers keep with them, its id.
//!
//! No agent tells of them again in a replay, and the client has them still: they belong to the conversation that is shown,
//! and go over to the one that takes its place.

use super::body::Most;
use super::entry::{Entry, Own};
use super::kind::EntryKind;
use super::story::Story;
use super::View;
use crate::json::{self, Writer};

/// What is asked for and not there yet.
#[derive(Debug, Clone)]
pub(super) struct Wanted {
    serial: u64,
    command: Option<Box<str>>,
    cwd: Option<Box<str>>,
}

impl Wanted {
    pub(super) fn bytes(&self) -> usize {
        [&self.command, &self.cwd].into_iter().flatten().map(|text| text.len()).sum()
    }
}

/// The calls that are about a terminal of the client's.
pub(super) fn is_about_one(method: &str) -> bool {
    matches!(method, "terminal/create" | "terminal/output" | "terminal/wait_for_exit" | "terminal/release")
}

/// A program and its arguments as one JSON string, as somebody would type them.
fn command_line(params: &str) -> Option<String> {
    let mut line = json::unescape(json::member(params, "command")?)?.into_owned();
    let args = json::items(json::member(params, "args").unwrap_or("[]"));
    for arg in args.into_iter().filter_map(json::unescape) {
        line.push(' ');
        if arg.is_empty() || arg.contains(char::is_whitespace) {
            json::quote(&mut line, &arg);
        } else {
            line.push_str(&arg);
        }
    }
    let mut out = String::with_capacity(line.len() + 2);
    json::quote(&mut out, &line);
    Some(out)
}

/// How a command has ended, without anything else that an answer has.
fn exit_status(result: &str) -> Option<String> {
    let mut out = Writer::new();
    out.begin_object();
    for name in ["exitCode", "signal"] {
        out.key(name).json(json::member(result, name).unwrap_or("null"));
    }
    out.end_object();
    out.finish().ok()
}

impl View {
    /// The agent asks for a terminal.
    pub(super) fn terminal_wanted(&mut self, serial: u64, params: &str) {
        let kept = |text: &&str| text.len() <= self.most.content && self.bytes() < self.bounds.bytes;
        let command = command_line(params);
        let command = command.as_deref().filter(kept).map(Into::into);
        let cwd = json::member(params, "cwd").filter(|cwd| *cwd != "null").filter(kept).map(Into::into);
        self.wanted.push(Wanted { serial, command, cwd });
    }

    /// The client has answered a call that is about a terminal: the new one, or the one of this id; `None` where it has
    /// failed.
    pub(super) fn terminal_answered(&mut self, serial: u64, method: &str, id: Option<&str>, result: Option<&str>) {
        let wanted = self.wanted.iter().position(|wanted| wanted.serial == serial).map(|at| self.wanted.remove(at));
        let Some(result) = result else { return };
        if let Some(wanted) = wanted {
            return self.terminal_made(&wanted, result);
        }
        let Some(index) = id.and_then(|id| self.story.find(EntryKind::Terminal, id)) else { return };
        let most = self.most;
        let Some(entry) = self.story.get_mut(index) else { return };
        let changed = match method {
            "terminal/output" => printed(entry, result, most),
            "terminal/wait_for_exit" => entry.set("exitStatus", exit_status(result).as_deref(), most),
            _ => {
                entry.own = Own::Released;
                false
            }
        };
        if changed {
            self.own_touched(index);
        }
    }

    fn terminal_made(&mut self, wanted: &Wanted, result: &str) {
        let Some(id) = json::member(result, "terminalId").and_then(json::unescape) else { return };
        let story = &mut self.story;
        // An id may be used again after its release.
        let known = story.find(EntryKind::Terminal, &id);
        let known = known.filter(|index| story.get(*index).is_some_and(|entry| entry.own != Own::Released));
        let index = known.unwrap_or_else(|| story.push(EntryKind::Terminal, Some(&id)));
        if let Some(entry) = story.get_mut(index) {
            entry.reset();
            entry.own = Own::Held;
            entry.set("command", wanted.command.as_deref(), self.most);
            entry.set("cwd", wanted.cwd.as_deref(), self.most);
        }
        self.own_touched(index);
    }

    /// A terminal of the client's own has changed, whatever is replayed.
    fn own_touched(&mut self, index: u64) {
        let next = self.next.take();
        self.touched(index, true);
        self.next = next;
    }

    /// Takes the terminals over that the client runs itself.
    pub(super) fn keep_terminals(&mut self, before: Story) {
        for terminal in before.into_own() {
            let index = self.story.adopt(terminal);
            self.touched(index, true);
        }
    }
}

/// Takes a snapshot of the output; whether that changes anything.
fn printed(entry: &mut Entry, result: &str, most: Most) -> bool {
    let given = |name| json::member(result, name).filter(|value| *value != "null");
    let ended = given("exitStatus").and_then(exit_status);
    let changed = ended.is_some_and(|status| entry.set("exitStatus", Some(&status), most));
    let Some(text) = given("output").and_then(json::unescape) else { return changed };
    entry.print(&text, given("truncated") == Some("true"), most) || changed
}
