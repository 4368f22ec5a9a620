//! A policy for requests for permission: allow, deny or ask, by the kind of the tool, its name, and the paths it touches.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::sync::Arc;

use super::paths::{fits, Pattern};
use super::policy_text::{self, PolicyError};
use super::text;
use crate::json::{self, Writer};
use crate::view::Entry;
use crate::Connection;

/// Decisions that are remembered.
const REMEMBERED: usize = 256;
/// Ids that are longer are not remembered with a decision.
const LONGEST: usize = 256;

/// What is done with a request for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Action {
    /// The tool call may run, this once.
    Allow,
    /// It may not.
    Deny,
    /// The user decides. Without anybody to ask, it may not run.
    Ask,
}

impl Action {
    /// `allow`, `deny` or `ask`.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::Allow => "allow",
            Action::Deny => "deny",
            Action::Ask => "ask",
        }
    }
}

/// What was decided about one request for permission, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Decision {
    /// What to do.
    pub action: Action,
    /// The id of the option to answer with. `None` for [`Action::Ask`]; with [`Action::Deny`] there is no option that
    /// rejects, and the answer is the outcome `cancelled`.
    pub option: Option<String>,
    /// The index of the rule that decided; `None` if none is about it.
    pub rule: Option<usize>,
    /// Why, in one sentence that contains nothing of the peer's.
    pub reason: String,
    /// The session of the request.
    pub session: Option<Arc<str>>,
    /// The id of the tool call, if the request names one.
    pub tool_call: Option<Box<str>>,
}

impl Decision {
    /// The decision as JSON text: an object with `action`, `optionId` (or null), `rule` (a JSON pointer into the policy, or
    /// null), `reason`, `sessionId` and `toolCallId` (or null).
    pub fn to_json(&self) -> String {
        let mut out = Writer::new();
        out.begin_object().key("action").string(self.action.as_str());
        let rule = self.rule.map(|rule| format!("/rules/{rule}"));
        let members = [
            ("optionId", self.option.as_deref()),
            ("rule", rule.as_deref()),
            ("reason", Some(&*self.reason)),
            ("sessionId", self.session.as_deref()),
            ("toolCallId", self.tool_call.as_deref()),
        ];
        for (name, value) in members {
            match value {
                Some(value) => out.key(name).string(value),
                None => out.key(name).null(),
            };
        }
        out.end_object();
        out.finish().unwrap_or_default()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) action: Action,
    pub(super) kinds: Vec<Box<str>>,
    pub(super) tools: Vec<Box<str>>,
    pub(super) paths: Vec<Pattern>,
    pub(super) in_roots: Option<bool>,
}

/// Rules that decide requests for permission (PERM-06; protocol page "Tool Calls"). The first rule that fits decides.
///
/// ```
/// use libacp::host::PermissionPolicy;
///
/// let policy = PermissionPolicy::read(r#"{
///     "rules": [
///         {"action": "deny", "path": ["**/.env", "**/.ssh/**"]},
///         {"action": "allow", "kind": ["read", "search"], "inRoots": true},
///         {"action": "ask", "tool": "bash*"}
///     ],
///     "otherwise": "ask"
/// }"#).unwrap();
/// let error = PermissionPolicy::read(r#"{"rules": [{"action": "allow", "kind": "reed"}]}"#).unwrap_err();
/// assert_eq!(error.pointer, "/rules/0/kind");
/// assert!(error.message.ends_with("did you mean read?"));
/// ```
///
/// | member of a rule | value | it fits if |
/// | --- | --- | --- |
/// | `action` | `allow`, `deny` or `ask` | |
/// | `kind` | a kind of tools, or a list | the tool call is of one of them; one whose kind was not told is `other`, a command is `execute` |
/// | `tool` | a pattern, or a list | it fits the tool's name, or the title of the tool call if its name was not told; `*` is any text and `?` any character |
/// | `path` | a pattern, or a list | it fits the paths of the tool call, its locations and the files of its diffs; steps are compared one by one, and `**` is any number of them |
/// | `inRoots` | a boolean | the paths are inside the session's directories, or not |
///
/// All members that a rule has must fit. Of several paths, all must fit a rule that allows, and one is enough for other
/// rules. A rule that allows by path fits no tool call that tells no path, and no command: what a command does, its text
/// does not tell.
///
/// The paths are what the agent says, compared as text after `.` and `..` were resolved. One that is not absolute was left
/// out of the request with a violation (TOOL-10) and is seen by no rule. So a policy saves the user
/// questions and keeps an agent from mistakes. What holds a malicious agent is where it runs, and how files are served.
///
/// A request for permission need not repeat what was told of its tool call. With [`Config::view`](crate::Config::view) the
/// policy knows it from the view; without, it knows the request alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionPolicy {
    pub(super) rules: Vec<Rule>,
    pub(super) otherwise: Action,
    decisions: VecDeque<Decision>,
}

impl Default for PermissionPolicy {
    /// Asks about everything.
    fn default() -> Self {
        PermissionPolicy { rules: Vec::new(), otherwise: Action::Ask, decisions: VecDeque::new() }
    }
}

impl PermissionPolicy {
    /// Reads a policy from JSON text: an object with `rules`, a list, and `otherwise`, the action if no rule fits (`ask`).
    ///
    /// # Errors
    /// [`PolicyError`] with the place and what was expected there. Members that are not known are refused.
    pub fn read(json: &str) -> Result<Self, PolicyError> {
        policy_text::read(json)
    }

    /// Decides a `session/request_permission` that `connection`, a client's, has received; `params` is its JSON text. It
    /// sends nothing: answer with the option, or with the outcome `cancelled`.
    ///
    /// Only options for this one call are chosen to allow it (`allow_once`); to deny it, `reject_once` is preferred to
    /// `reject_always`. The decision is remembered: [`decisions`](Self::decisions).
    pub fn decide(&mut self, connection: &Connection, params: &str) -> Decision {
        let call = Call::of(connection, params);
        let found = self.rules.iter().position(|rule| rule.fits(&call));
        let (action, why) = match found {
            Some(rule) => {
                let action = self.rules[rule].action;
                let does = ["allows", "denies", "asks about"][action as usize];
                (action, format!("rule {rule} {does} it"))
            }
            None => (self.otherwise, "no rule is about it".to_owned()),
        };
        let pick = |kinds: &[&str]| kinds.iter().find_map(|kind| option(params, kind));
        let (action, option, reason) = match action {
            Action::Allow if call.is_foreign => (Action::Ask, None, why + ", but nobody knows what it is about"),
            Action::Allow => match pick(&["allow_once"]) {
                Some(option) => (Action::Allow, Some(option), why),
                None => (Action::Ask, None, why + ", but no option allows it once"),
            },
            Action::Deny => match pick(&["reject_once", "reject_always"]) {
                Some(option) => (Action::Deny, Some(option), why),
                None => (Action::Deny, None, why + ", and no option rejects it"),
            },
            Action::Ask => (Action::Ask, None, why),
        };
        let short = |text: &Cow<'_, str>| text.len() <= LONGEST;
        let tool_call = call.id.filter(short).map(|id| (&*id).into());
        let session = text(params, "/sessionId").filter(short).map(|id| (&*id).into());
        let decision = Decision { action, option, rule: found, reason, session, tool_call };
        if self.decisions.len() == REMEMBERED {
            self.decisions.pop_front();
        }
        self.decisions.push_back(decision.clone());
        decision
    }

    /// The last 256 decisions, oldest first.
    pub fn decisions(&self) -> impl DoubleEndedIterator<Item = &Decision> {
        self.decisions.iter()
    }
}

/// The id of the first option of a kind.
fn option(params: &str, kind: &str) -> Option<String> {
    let options = json::pointer(params, "/options").map(json::items).unwrap_or_default();
    let found = options.into_iter().find(|option| text(option, "/kind").is_some_and(|found| found == kind))?;
    text(found, "/optionId").map(Cow::into_owned)
}

/// What a request for permission is about, as far as it is known.
struct Call<'a> {
    id: Option<Cow<'a, str>>,
    kind: Option<Cow<'a, str>>,
    tool: Option<Cow<'a, str>>,
    /// Paths, and whether each is inside the session's directories.
    paths: Vec<(Cow<'a, str>, bool)>,
    is_command: bool,
    /// Its subject is of a type that the specification does not have (PERM-12).
    is_foreign: bool,
}

impl<'a> Call<'a> {
    fn of(connection: &'a Connection, params: &'a str) -> Self {
        let told = json::pointer(params, "/toolCall").or_else(|| json::pointer(params, "/subject/toolCall"));
        let kind = text(params, "/subject/type");
        let is_command = kind.as_deref() == Some("command");
        let id = told.and_then(|call| text(call, "/toolCallId")).or_else(|| text(params, "/subject/toolCallId"));
        let name = text(params, "/sessionId");
        let session = name.as_ref().and_then(|name| connection.session(name));
        let view = name.as_ref().and_then(|name| connection.view(name));
        let known = id.as_ref().and_then(|id| view?.tool(id));
        let get = |member: &str| {
            let now = told.and_then(|call| text(call, &format!("/{member}")));
            now.or_else(|| json::unescape(known?.get(member)?))
        };
        let mut paths = Vec::new();
        paths.extend(text(params, "/subject/cwd"));
        paths.extend(told.map(paths_told).unwrap_or_default());
        paths.extend(known.map(paths_known).unwrap_or_default());
        let inside = |path: Cow<'a, str>| {
            let inside = session.is_some_and(|session| session.in_roots(&path));
            (path, inside)
        };
        Call {
            kind: if is_command { Some("execute".into()) } else { get("kind") },
            tool: get("name").or_else(|| get("title")),
            paths: paths.into_iter().map(inside).collect(),
            is_foreign: kind.is_some_and(|kind| !matches!(&*kind, "tool_call" | "command")),
            is_command: is_command || get("kind").is_some_and(|kind| kind == "execute"),
            id,
        }
    }
}

fn paths_told(call: &str) -> Vec<Cow<'_, str>> {
    let list = |place| json::pointer(call, place).map(json::items).unwrap_or_default();
    of_items(list("/locations").into_iter().chain(list("/content")))
}

fn paths_known(entry: &Entry) -> Vec<Cow<'_, str>> {
    let locations = entry.get("locations").map(json::items).unwrap_or_default();
    of_items(locations.into_iter().chain(entry.items()))
}

/// The paths of locations and of diffs: one of version 1 has its path, one of version 2 a list of changes.
fn of_items<'j>(items: impl Iterator<Item = &'j str>) -> Vec<Cow<'j, str>> {
    let mut paths = Vec::new();
    for item in items {
        paths.extend(text(item, "/path"));
        for change in json::pointer(item, "/changes").map(json::items).unwrap_or_default() {
            paths.extend(text(change, "/path"));
            paths.extend(text(change, "/oldPath"));
        }
    }
    paths
}

impl Rule {
    pub(super) fn new(action: Action) -> Self {
        Rule { action, kinds: Vec::new(), tools: Vec::new(), paths: Vec::new(), in_roots: None }
    }

    fn fits(&self, call: &Call<'_>) -> bool {
        let kind = call.kind.as_deref().unwrap_or("other");
        let kinds = self.kinds.is_empty() || self.kinds.iter().any(|known| **known == *kind);
        let tool = call.tool.as_deref();
        let tools = self.tools.is_empty()
            || tool.is_some_and(|tool| self.tools.iter().any(|pattern| fits(pattern, tool, false)));
        kinds && tools && self.fits_paths(call)
    }

    fn fits_paths(&self, call: &Call<'_>) -> bool {
        if self.paths.is_empty() && self.in_roots.is_none() {
            return true;
        }
        let fits = |(path, inside): &(Cow<'_, str>, bool)| {
            let pattern = self.paths.is_empty() || self.paths.iter().any(|pattern| pattern.fits(path));
            pattern && self.in_roots.is_none_or(|wanted| wanted == *inside)
        };
        if self.action == Action::Allow {
            return !call.is_command && !call.paths.is_empty() && call.paths.iter().all(fits);
        }
        call.paths.iter().any(fits)
    }
}
