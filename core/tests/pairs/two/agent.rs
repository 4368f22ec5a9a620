//! An agent of version 2 that does everything it may do.

use std::collections::{BTreeMap, BTreeSet};

use libacp::connection::{Notification, Outcome, Role};
use libacp::{Config, ErrorCode, Id};
use serde_json::{json, Value};

use super::updates::{commands, options};
use super::work::{Stage, Terminal, Tool, Work};
use crate::choices::Choices;
use crate::host::{Answer, Asked, Base, Host, Move, Sent, Step, REFUSED};

/// Messages of a session's past that are kept.
const KEPT: usize = 8;

#[derive(Debug)]
pub(crate) struct Agent {
    pub(super) base: Base,
    capabilities: Value,
    /// What the client said of itself, whole.
    client: Value,
    pub(super) works: BTreeMap<String, Work>,
    /// Every session that there is, open or not.
    store: BTreeMap<String, Kept>,
    /// Questions on a web page that the user has agreed to, with their sessions; they end with these.
    pub(super) pages: Vec<(String, String)>,
    pub(super) drafts: bool,
    /// Prompts that have no answer and whose messages have an id.
    pub(super) inserted: BTreeMap<Id, String>,
    /// Prompts that were cancelled before that.
    pub(super) dropped: BTreeSet<Id>,
}

/// What is kept of a session.
#[derive(Debug, Clone, Default)]
struct Kept {
    cwd: String,
    archived: bool,
    past: Vec<(String, Value)>,
}

impl Agent {
    pub(super) fn client_has(&self, path: &str) -> bool {
        self.client.pointer(&format!("/capabilities/{path}")).is_some_and(Value::is_object)
    }

    /// A session of some kind.
    pub(super) fn session(&self, choices: &mut Choices, fits: impl Fn(&Work) -> bool) -> Option<String> {
        let fitting = self.works.iter().filter(|(_, work)| fits(work)).map(|(id, _)| id.clone());
        choices
            .pick_from(fitting.collect::<Vec<_>>().into_iter())
            .filter(|_| self.base.connection.can("session/update"))
    }

    /// Keeps a message of the user's.
    pub(super) fn remember(&mut self, session: &str, id: &str, content: &Value) {
        let past = &mut self.store.entry(session.to_owned()).or_default().past;
        past.push((id.to_owned(), content.clone()));
        past.truncate(KEPT);
    }

    pub(super) fn past(&self, session: &str) -> Vec<(String, Value)> {
        self.store.get(session).map(|kept| kept.past.clone()).unwrap_or_default()
    }

    fn say_login(&mut self, choices: &mut Choices) -> Step {
        let may = self.drafts && self.base.ready() && self.capabilities["auth"]["status"].is_object();
        let state = ["authenticated", "unauthenticated", "_expired"][choices.below(3)];
        if may {
            self.base.notify("auth/status_update", &json!({"state": state}))
        } else {
            Ok(false)
        }
    }

    /// What there is to say at the start.
    fn welcome(&mut self, choices: &mut Choices) -> Value {
        let mut logins = Vec::new();
        if choices.one_in(2) {
            logins.push(json!({"type": "agent", "methodId": "key", "name": "A key"}));
        }
        if choices.one_in(3) {
            logins.push(json!({"type": "_ring", "methodId": "ring", "name": "A ring", "stone": "blue"}));
        }
        if self.client_has("auth/terminal") && choices.one_in(2) {
            logins.push(json!({"type": "terminal", "methodId": "tty", "name": "By hand", "args": ["login"],
                "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "1"}]}));
        }
        let info = json!({"name": "an agent", "version": "1"});
        json!({"info": info, "capabilities": self.capabilities, "authMethods": logins})
    }

    /// What the answer that opens a session says of it.
    fn settings(&mut self, id: &str, cwd: &str, choices: &mut Choices) -> Value {
        cwd.clone_into(&mut self.store.entry(id.to_owned()).or_default().cwd);
        let work = self.works.entry(id.to_owned()).or_insert_with(|| Work::new(Stage::Open));
        work.stage = Stage::Open;
        if work.options.is_empty() && choices.one_in(2) {
            work.options = options(choices);
        }
        let mut result = json!({});
        if !work.options.is_empty() {
            result["configOptions"] = json!(work.options);
        }
        if choices.one_in(2) {
            result["availableCommands"] = commands(choices);
        }
        result
    }

    fn page(&self, asked: &Asked) -> Value {
        let from: usize = asked.params["cursor"].as_str().and_then(|text| text.parse().ok()).unwrap_or(0);
        let all = asked.params["archived"] == "include";
        let fits = |kept: &Kept| {
            let wanted = asked.params["cwd"].as_str().is_none_or(|wanted| wanted == kept.cwd);
            wanted && !kept.cwd.is_empty() && (all || !kept.archived)
        };
        let fitting: Vec<_> = self.store.iter().filter(|(_, kept)| fits(kept)).collect();
        let page = fitting.iter().skip(from).take(2);
        let sessions: Vec<_> = page.map(|(id, kept)| json!({"sessionId": id, "cwd": kept.cwd})).collect();
        let mut result = json!({"sessions": sessions});
        if from + 2 < fitting.len() {
            result["nextCursor"] = json!((from + 2).to_string());
        }
        result
    }

    fn resume(&mut self, asked: &Asked, choices: &mut Choices) -> Result<Answer, String> {
        if !self.store.contains_key(&asked.session) {
            self.works.remove(&asked.session);
            return Ok(REFUSED);
        }
        // Each replay ends with a mark, and a state comes behind it.
        if self.works.contains_key(&asked.session) && asked.params["replayFrom"].is_object() {
            self.tell(&asked.session, json!({"sessionUpdate": "replay_complete"}))?;
            let marked = |work: &mut Work| {
                work.replays = work.replays.saturating_sub(1);
                work.stage = if work.replays > 0 { Stage::Replaying } else { Stage::Resuming };
                work.synced = false;
            };
            self.works.entry(asked.session.clone()).and_modify(marked);
        }
        if self.works.get(&asked.session).is_some_and(|work| !work.synced) {
            self.idle(&asked.session, None, choices)?;
        }
        let cwd = asked.params["cwd"].as_str().unwrap_or_default();
        Ok(Answer::Result(self.settings(&asked.session, cwd, choices)))
    }

    /// Whether what is to be cancelled still goes on.
    fn cancel_one(&mut self, asked: &Asked) -> Answer {
        let work = self.works.get(&asked.session).filter(|_| !asked.stale);
        let id = |name: &str| asked.params[name].as_str().unwrap_or_default().to_owned();
        let goes_on = work.is_some_and(|work| {
            work.tools.get(&id("toolCallId")).is_some_and(|tool| !tool.ended)
                || work.terminals.get(&id("terminalId")).is_some_and(|terminal| !terminal.ended)
        });
        if goes_on {
            Answer::Result(json!({}))
        } else {
            Answer::Error(ErrorCode::INVALID_PARAMS)
        }
    }

    fn set_option(&mut self, asked: &Asked) -> Answer {
        let work = self.works.get_mut(&asked.session).filter(|_| !asked.stale);
        let Some(Work { options, .. }) = work else { return REFUSED };
        for option in options.iter_mut().filter(|option| option["configId"] == asked.params["configId"]) {
            option["currentValue"] = asked.params["value"].clone();
        }
        Answer::Result(json!({"configOptions": options}))
    }

    fn result(&mut self, asked: &Asked, choices: &mut Choices) -> Result<Answer, String> {
        let cwd = asked.params["cwd"].as_str().unwrap_or_default();
        Ok(Answer::Result(match &*asked.method {
            "initialize" => {
                self.client = asked.params.clone();
                self.welcome(choices)
            }
            "session/new" | "session/fork" => {
                let id = asked.early.clone().unwrap_or_else(|| self.base.name("s"));
                let mut result = self.settings(&id, cwd, choices);
                result["sessionId"] = json!(id);
                result
            }
            "session/resume" => return self.resume(asked, choices),
            "session/close" | "session/archive" => {
                self.close(&asked.session, choices)?;
                self.pages.retain(|(session, _)| *session != asked.session);
                if let Some(kept) = self.store.get_mut(&asked.session) {
                    kept.archived |= asked.method == "session/archive";
                }
                json!({})
            }
            "session/unarchive" => {
                self.store.entry(asked.session.clone()).and_modify(|kept| kept.archived = false);
                json!({})
            }
            "session/delete" => {
                self.pages.retain(|(session, _)| *session != asked.session);
                self.store.remove(&asked.session);
                json!({})
            }
            "session/list" => self.page(asked),
            "session/status" => json!({"status": "open", "state": {"state": "running"}}),
            "session/set_title" => json!({"title": asked.params["title"]}),
            "session/set_config_option" => return Ok(self.set_option(asked)),
            "tool_call/cancel" | "terminal/cancel" => return Ok(self.cancel_one(asked)),
            "auth/status" => json!({"state": "authenticated"}),
            _ => json!({}),
        }))
    }
}

impl Host for Agent {
    const MOVES: &'static [Move<Self>] = &[
        ("agent answers", Self::answer_one),
        ("agent answers", Self::answer_one),
        ("agent answers", Self::answer_one),
        ("agent answers", Self::answer_one),
        ("agent answers", Self::answer_one),
        ("session/update", Self::update),
        ("session/update", Self::update),
        ("session/update", Self::update),
        ("session/update", Self::update),
        ("session/update", Self::update),
        ("echo", Self::echo_one),
        ("state", Self::tell_state),
        ("state", Self::tell_state),
        ("session/request_permission", Self::ask_permission),
        ("session/request_permission", Self::ask_permission),
        ("elicitation/create", Self::ask_user),
        ("elicitation/complete", Self::complete),
        ("early update", Self::tell_early),
        ("early update", Self::tell_early),
        ("auth/status_update", Self::say_login),
        ("agent takes back", |agent, choices| agent.base.take_back(choices)),
        ("agent extends", |agent, choices| agent.base.extend(choices)),
    ];

    fn new(config: Config, drafts: bool, base: impl FnOnce(Config) -> Base, choices: &mut Choices) -> Self {
        assert_eq!(config.role, Role::Agent);
        let mut capabilities = json!({});
        let mut say = |path: &str| {
            if choices.below(3) > 0 {
                crate::put(&mut capabilities, path, json!({}));
            }
        };
        for name in ["prompt.image", "prompt.audio", "prompt.embeddedContext", "mcp.stdio", "mcp.http"] {
            say(&format!("session.{name}"));
        }
        say("session.delete");
        say("session.additionalDirectories");
        if drafts {
            say("auth.status");
            for name in ["fork", "archive", "status", "title"] {
                say(&format!("session.{name}"));
            }
        }
        if choices.one_in(20) {
            capabilities["session"] = Value::Null;
        } else if capabilities["session"].is_null() {
            capabilities["session"] = json!({});
        }
        Agent {
            base: base(config),
            capabilities,
            client: Value::Null,
            works: BTreeMap::new(),
            store: BTreeMap::new(),
            pages: Vec::new(),
            drafts,
            inserted: BTreeMap::new(),
            dropped: BTreeSet::new(),
        }
    }

    fn base(&mut self) -> &mut Base {
        &mut self.base
    }

    fn told(&mut self, told: &Notification) {
        if let (Some(session), "session/cancel") = (&told.session, &*told.method) {
            self.stop(session);
        }
    }

    fn asked(&mut self, asked: &Asked) {
        match &*asked.method {
            "session/resume" => {
                let replays = asked.params["replayFrom"].is_object();
                let open = self.works.get(&asked.session).map_or(0, |work| work.replays) + usize::from(replays);
                let mut work = Work::new(if open > 0 { Stage::Replaying } else { Stage::Resuming });
                work.replays = open;
                // It may be open already, and then these are as before.
                if let Some(before) = self.works.remove(&asked.session) {
                    (work.options, work.background) = (before.options, before.background);
                }
                // What runs since before.
                let tool = Tool { told: true, ..Tool::default() };
                work.tools.insert(self.base.name("tool"), tool);
                work.terminals.insert(self.base.name("t"), Terminal { told: true, ..Terminal::default() });
                self.works.insert(asked.session.clone(), work);
            }
            "session/close" | "session/archive" => self.stop(&asked.session),
            _ => {}
        }
    }

    fn ended(&mut self, sent: &Sent, outcome: &Outcome) {
        let result: Option<Value> = outcome.result().and_then(|text| serde_json::from_str(text).ok());
        let Some(result) = result else { return };
        if sent.method == "elicitation/create" && result["action"] == "accept" {
            let id = sent.params["elicitationId"].as_str().map(str::to_owned);
            self.pages.extend(id.map(|id| (sent.session.clone(), id)));
        }
    }

    fn answer(&mut self, asked: &Asked, choices: &mut Choices) -> Result<Answer, String> {
        if asked.early.is_none() && choices.one_in(10) {
            if asked.method == "session/resume" {
                self.works.remove(&asked.session);
            }
            return Ok(REFUSED);
        }
        self.result(asked, choices)
    }

    fn answer_one(&mut self, choices: &mut Choices) -> Step {
        self.answer_some(choices)
    }

    fn rest(&mut self, choices: &mut Choices) -> Step {
        self.rest_one(choices)
    }
}
