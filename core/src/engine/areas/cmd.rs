//! CMD: slash commands.
//!
//! The type of a command is in the model, which omits commands without a name or a description, and removes an invalid
//! input.

use super::recent::KEPT;
use crate::engine::{
    Action, Area, Check, Finding, MessageKind, RuleContext, RuleMessage, Session, State, Tracker, OPENING,
};
use crate::json;
use crate::map::StringMap;

const UPDATE: &[&str] = &["session/update:available_commands_update"];
pub(super) static AREA: Area = Area {
    checks: &[
        Check::new(id!("CMD-06"), MessageKind::Call, UPDATE, odd_name).send(Action::Report).receive(Action::Pass),
        Check::new(id!("CMD-09"), MessageKind::Call, UPDATE, wrong_name).receive(Action::Report),
        Check::new(id!("CMD-09"), MessageKind::Answer, OPENING, wrong_name).receive(Action::Report),
    ],
    trackers: &[
        Tracker { rules: &[id!("CMD-01"), id!("CMD-05")], on: MessageKind::Call, messages: UPDATE, track: listed },
        Tracker { rules: &[id!("CMD-08")], on: MessageKind::Answer, messages: OPENING, track: listed },
    ],
};

/// The commands of a session, as last listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Commands(Option<Box<str>>);

impl Session {
    /// The session's commands as JSON text, a list of `{"name", "description", "input"?}` as last reported (CMD-01;
    /// protocol page "Slash Commands"). `None` if none were reported, or more than 256 KiB.
    pub fn commands(&self) -> Option<&str> {
        self.commands.0.as_deref()
    }

    /// The text of a prompt that runs a command, `/name` or `/name input`; `None` if the session has not listed the
    /// command (CMD-05).
    pub fn command_text(&self, name: &str, input: &str) -> Option<String> {
        names(self.commands()?).any(|known| known == name).then(|| match input {
            "" => format!("/{name}"),
            input => format!("/{name} {input}"),
        })
    }
}

fn names(list: &str) -> impl Iterator<Item = std::borrow::Cow<'_, str>> {
    json::items(list).into_iter().filter_map(|command| json::unescape(json::pointer(command, "/name")?))
}

fn place(message: &RuleMessage<'_>) -> &'static str {
    if message.method == "session/update" {
        "/update/availableCommands"
    } else {
        "/availableCommands"
    }
}

/// A finding for the first name that is odd, or a duplicate.
fn first(context: &RuleContext<'_>, odd: impl Fn(&str) -> bool, why: &'static str) -> Option<Finding> {
    let place = place(&context.message);
    let mut seen = StringMap::default();
    let mut all = json::columns(context.message.get(place)?, ["name"]).into_iter();
    let at = all.position(|[name]| {
        let name = name.and_then(json::unescape);
        name.is_some_and(|name| odd(&name) || !seen.add(name))
    })?;
    Some(Finding::new(format!("{place}/{at}/name"), why))
}

fn odd_name(context: &RuleContext<'_>) -> Option<Finding> {
    let odd = |name: &str| name.is_empty() || name.contains(|c: char| c == '/' || c.is_whitespace());
    first(context, odd, "a name that is empty, is used twice, or contains a slash or a space")
}

/// CMD-09: a name has no white space and no slash at its start.
fn wrong_name(context: &RuleContext<'_>) -> Option<Finding> {
    let wrong = |name: &str| name.starts_with('/') || name.contains(char::is_whitespace);
    first(context, wrong, "a name that is used twice, begins with a slash, or contains a space")
}

fn listed(state: &mut State, message: &RuleMessage<'_>) -> Option<Box<str>> {
    let list = message.fact("/availableCommands")?;
    let commands = Commands((list.len() <= KEPT).then(|| list.into()));
    state.sessions.told_mut(&message.opens()?)?.commands = commands;
    None
}
