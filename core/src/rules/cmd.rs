//! CMD: slash commands.
//!
//! The shape of a command is in the model, which leaves out commands without a name or a description, and takes out an
//! input that does not fit.

use super::catalogue::{rule, E, R, T};
use super::recent::KEPT;
use super::scene::{Action, Check, Message, Objection, On, Scene, Tracker};
use super::{Area, Level, Severity};
use crate::connection::{Session, State};
use crate::json;
use crate::map::Names;
use Level::{May, Must, Should};
use Severity::{Note, Warning};

const UPDATE: &[&str] = &["session/update:available_commands_update"];
const LIST: &str = "/update/availableCommands";

pub(super) static AREA: Area = Area {
    name: "CMD",
    title: "Slash commands",
    rules: RULES,
    checks: &[Check::new(id!("CMD-06"), On::Call, UPDATE, odd_name).send(Action::Report).receive(Action::Pass)],
    trackers: &[Tracker { rules: &[id!("CMD-01"), id!("CMD-05")], on: On::Call, messages: UPDATE, track: listed }],
};

pub(super) static RULES: &[super::Rule] = &[
    rule("CMD-01", May, Note, T, "The commands of a session may be told at any time; each list replaces the last."),
    rule("CMD-02", Must, Warning, E | R, "A command has a name and a description; one that has not is left out."),
    rule("CMD-03", Must, Warning, E | R, "The input of a command has a hint; one that has not is read as none."),
    rule("CMD-04", Must, Warning, E | R, "The input of a command has a type (v2)."),
    rule("CMD-05", Must, Note, T, "A command is a prompt whose text begins with a slash and its name."),
    rule("CMD-06", Should, Note, E, "Names of commands are unique, and have neither slash nor blank in them."),
];

/// The commands of a session, as last listed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Commands(Option<Box<str>>);

impl Session {
    /// The session's commands as JSON text, a list of `{"name", "description", "input"?}` as it was told last (CMD-01;
    /// protocol page "Slash Commands"); `None` when it has told of none, or of more than 256 KiB.
    pub fn commands(&self) -> Option<&str> {
        self.commands.0.as_deref()
    }

    /// The text of a prompt that runs a command, `/name` or `/name input`; `None` when the session has not listed it
    /// (CMD-05).
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

fn odd_name(scene: &Scene<'_>) -> Option<Objection> {
    let mut seen = Names::default();
    let at = names(scene.message.get(LIST)?).position(|name| {
        let odd = name.is_empty() || name.contains(|c: char| c == '/' || c.is_whitespace());
        odd || !seen.add(name)
    })?;
    Some(Objection::new(
        format!("{LIST}/{at}/name"),
        "a name that is empty, used twice, or has a slash or a blank in it",
    ))
}

fn listed(state: &mut State, update: &Message<'_>) -> Option<Box<str>> {
    let list = update.get(LIST)?;
    state.sessions.get_mut(update.session)?.commands = Commands((list.len() <= KEPT).then(|| list.into()));
    None
}
