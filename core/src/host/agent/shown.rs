//! What the client of version 1 has been shown of things that version 2 shows piece by piece: the content of tool calls, the
//! agent's own terminals, and the plan. There each report has all of it, so that the end of it is kept.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt::Write as _;

use super::object::{quoted, text};
use crate::json;
use crate::view::output::Output;

/// Maximum number of tool calls, and of terminals, of a session that are kept. The oldest are forgotten.
const MOST: usize = 64;
/// Maximum length of the content of a tool call, in bytes. The oldest items are given up, but never the newest.
const CONTENT: usize = 64 * 1024;
/// How many of the last bytes of a terminal are shown.
const TAIL: usize = 16 * 1024;
/// Maximum length of an id or a command line that is kept.
const LONGEST: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Shown {
    calls: VecDeque<(Box<str>, VecDeque<Box<str>>)>,
    terminals: VecDeque<(Box<str>, Terminal)>,
    /// The id of the plan that was told last.
    pub(super) plan: Option<Box<str>>,
}

/// A terminal of the agent, which the client only shows.
#[derive(Debug, Clone, Default)]
struct Terminal {
    command: Option<Box<str>>,
    output: Output,
    /// How its command has ended, as a line.
    exit: Option<Box<str>>,
}

impl Shown {
    /// The content of a tool call is this list from now on.
    pub(super) fn replace(&mut self, call: &str, content: &str) {
        let items = json::items(content).into_iter().map(Into::into).collect();
        self.put(call, items);
    }

    /// The content of a tool call with another item, which [`put`](Self::put) keeps once it is sent.
    pub(super) fn appended(&self, call: &str, item: &str) -> VecDeque<Box<str>> {
        let known = self.calls.iter().find(|(id, _)| **id == *call);
        let mut items = known.map(|(_, items)| items.clone()).unwrap_or_default();
        items.push_back(item.into());
        fit(&mut items);
        items
    }

    pub(super) fn put(&mut self, call: &str, mut items: VecDeque<Box<str>>) {
        fit(&mut items);
        self.calls.retain(|(id, _)| **id != *call);
        if call.len() <= LONGEST {
            self.calls.push_back((call.into(), items));
        }
        if self.calls.len() > MOST {
            self.calls.pop_front();
        }
    }

    /// A list of content in the shapes of version 1.
    pub(super) fn content<'i>(&self, items: impl IntoIterator<Item = &'i str>) -> String {
        let shown: Vec<Cow<'_, str>> = items.into_iter().map(|item| self.item(item)).collect();
        format!("[{}]", shown.join(","))
    }

    /// Whether a list shows a terminal of the agent's own.
    pub(super) fn has_own(&self, content: &str) -> bool {
        !self.terminals.is_empty() && json::items(content).into_iter().any(|item| self.own(item).is_some())
    }

    /// The tool calls that show a terminal, each with all of its content.
    pub(super) fn showing(&self, terminal: &str) -> Vec<(String, String)> {
        let shows = |item: &str| terminal_of(item).is_some_and(|id| *id == *terminal);
        let of_it = self.calls.iter().filter(|(_, items)| items.iter().any(|item| shows(item)));
        of_it.map(|(id, items)| (id.to_string(), self.content(items.iter().map(|item| &**item)))).collect()
    }

    /// Takes an update of a terminal. Returns whether something else is shown of it.
    pub(super) fn terminal(&mut self, id: &str, update: &str) -> bool {
        let member = |name: &str| json::member(update, name);
        let terminal = self.terminal_mut(id);
        if let Some(command) = member("command") {
            terminal.command = json::unescape(command).filter(|line| line.len() <= LONGEST).map(Into::into);
        }
        if let Some(output) = member("output") {
            terminal.output = Output::default();
            if let Some(data) = text(output, "/data") {
                terminal.output.append(&data, TAIL);
            }
        }
        if let Some(exit) = member("exitStatus") {
            terminal.exit = (exit != "null").then(|| ended(exit).into());
        }
        ["command", "output", "exitStatus"].iter().any(|name| member(name).is_some())
    }

    /// More output of a terminal, as base64.
    pub(super) fn printed(&mut self, id: &str, data: &str) {
        self.terminal_mut(id).output.append(data, TAIL);
    }

    fn terminal_mut(&mut self, id: &str) -> &mut Terminal {
        let at = self.terminals.iter().position(|(known, _)| **known == *id).unwrap_or_else(|| {
            if self.terminals.len() >= MOST {
                self.terminals.pop_front();
            }
            self.terminals.push_back((id.into(), Terminal::default()));
            self.terminals.len() - 1
        });
        &mut self.terminals[at].1
    }

    fn own(&self, item: &str) -> Option<&Terminal> {
        let id = terminal_of(item)?;
        self.terminals.iter().find(|(known, _)| **known == *id).map(|(_, terminal)| terminal)
    }

    fn item<'i>(&self, item: &'i str) -> Cow<'i, str> {
        self.own(item).map_or(Cow::Borrowed(item), |terminal| {
            let shown = quoted(&terminal.text());
            format!("{{\"type\":\"content\",\"content\":{{\"type\":\"text\",\"text\":{shown}}}}}").into()
        })
    }
}

impl Terminal {
    /// What it shows, as Markdown.
    fn text(&self) -> String {
        let output = self.output.text();
        // What is printed does not end the block that it stands in.
        let longest = output.split(|c| c != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let mut shown = format!("{fence}\n");
        if let Some(command) = &self.command {
            let _ = writeln!(shown, "$ {}", command.replace('\n', " "));
        }
        if self.output.before() > 0 {
            shown.push_str("…\n");
        }
        shown.push_str(&output);
        if !shown.ends_with('\n') {
            shown.push('\n');
        }
        if let Some(exit) = &self.exit {
            let _ = writeln!(shown, "{exit}");
        }
        shown.push_str(&fence);
        shown
    }
}

/// How a command has ended, for people.
fn ended(exit: &str) -> String {
    let signal = text(exit, "/signal").filter(|signal| signal.len() <= LONGEST);
    match (json::member(exit, "exitCode").filter(|code| *code != "null" && code.len() < 32), signal) {
        (_, Some(signal)) => format!("[ended by {signal}]"),
        (Some(code), None) => format!("[exited with {code}]"),
        (None, None) => "[exited]".to_owned(),
    }
}

fn terminal_of(item: &str) -> Option<Cow<'_, str>> {
    text(item, "/type").filter(|kind| kind == "terminal")?;
    text(item, "/terminalId")
}

fn fit(items: &mut VecDeque<Box<str>>) {
    let mut length: usize = items.iter().map(|item| item.len()).sum();
    while length > CONTENT && items.len() > 1 {
        length -= items.pop_front().map_or(0, |item| item.len());
    }
}
