//! An agent that does everything it may do; `updates` has what it tells of a session.

use std::collections::{BTreeMap, BTreeSet};

use libacp::connection::{Notification, Outcome, Role};
use libacp::{Config, ErrorCode};
use serde_json::{json, Value};

use crate::choices::Choices;
use crate::host::{Answer, Asked, Base, Host, Move, Sent, Step, REFUSED};

#[derive(Debug)]
pub(crate) struct Agent {
    pub(crate) base: Base,
    capabilities: Value,
    logins: Value,
    /// What the client said of itself, whole.
    client: Value,
    pub(crate) works: BTreeMap<String, Work>,
    /// Every session that there is, open or not: where it works.
    store: BTreeMap<String, String>,
    /// Questions on a web page that the user has agreed to, with their sessions; they end with these.
    pages: Vec<(String, String)>,
    /// A plan has an id, in this draft.
    pub(crate) drafts: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Stage {
    Loading,
    Resuming,
    #[default]
    Open,
}

/// A session, as the agent sees it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Work {
    pub(crate) stage: Stage,
    pub(crate) running: bool,
    /// A turn has ended, so that what belongs to turns has its time.
    pub(crate) ended: bool,
    cancelled: bool,
    /// Tool calls: whether one has been reported, and its status.
    pub(crate) tools: BTreeMap<String, (bool, &'static str)>,
    pub(crate) terminals: BTreeSet<String>,
    pub(crate) compactions: BTreeSet<String>,
    pub(crate) modes: Vec<String>,
    pub(crate) options: Vec<Value>,
}

impl Work {
    /// Whether what belongs to a turn may be told now.
    pub(crate) fn may_work(&self) -> bool {
        self.stage == Stage::Loading || (self.stage == Stage::Open && (self.running || !self.ended))
    }
}

impl Agent {
    pub(crate) fn client_has(&self, path: &str) -> bool {
        let value = self.client.pointer(&format!("/clientCapabilities/{path}"));
        value.is_some_and(|value| *value == true || value.is_object())
    }

    /// A session of one of some kind.
    pub(crate) fn session(&self, choices: &mut Choices, fits: impl Fn(&Work) -> bool) -> Option<String> {
        let fitting = self.works.iter().filter(|(_, work)| fits(work)).map(|(id, _)| id.clone());
        choices
            .pick_from(fitting.collect::<Vec<_>>().into_iter())
            .filter(|_| self.base.connection.can("session/update"))
    }

    fn open(&self, choices: &mut Choices) -> Option<String> {
        self.session(choices, |work| work.stage == Stage::Open)
    }

    fn ask_permission(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.open(choices) else { return Ok(false) };
        let new = self.base.name("tool");
        let work = self.works.entry(id.clone()).or_default();
        let open = work.tools.iter().filter(|(_, (_, status))| !is_final(status)).map(|(id, _)| id.clone());
        let tool = choices.pick_from(open.collect::<Vec<_>>().into_iter()).unwrap_or(new);
        work.tools.entry(tool.clone()).or_insert((false, "pending"));
        let options = json!([
            {"optionId": "yes", "name": "Yes", "kind": "allow_once"},
            {"optionId": "no", "name": "No", "kind": "reject_once"},
        ]);
        let params = json!({"sessionId": id, "toolCall": {"toolCallId": tool}, "options": options});
        self.base.request("session/request_permission", params)
    }

    fn touch_file(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.open(choices) else { return Ok(false) };
        let path = format!("{}/file", self.store.get(&id).map_or("/work", |cwd| cwd));
        let (read, write) = (self.client_has("fs/readTextFile"), self.client_has("fs/writeTextFile"));
        if read && choices.one_in(2) {
            self.base.request("fs/read_text_file", json!({"sessionId": id, "path": path, "line": 1, "limit": 20}))
        } else if write {
            self.base.request("fs/write_text_file", json!({"sessionId": id, "path": path, "content": "text"}))
        } else {
            Ok(false)
        }
    }

    fn create_terminal(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.open(choices).filter(|_| self.client_has("terminal")) else { return Ok(false) };
        let mut params = json!({"sessionId": id, "command": "ls"});
        if choices.one_in(2) {
            params["outputByteLimit"] = json!(choices.below(20));
        }
        self.base.request("terminal/create", params)
    }

    fn use_terminal(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.session(choices, |work| !work.terminals.is_empty()) else { return Ok(false) };
        let terminals = &self.works[&id].terminals;
        let Some(terminal) = choices.pick_from(terminals.clone().into_iter()) else { return Ok(false) };
        let method = ["terminal/output", "terminal/wait_for_exit", "terminal/kill", "terminal/release"];
        let method = method[choices.below(4)];
        let done = self.base.request(method, json!({"sessionId": id, "terminalId": terminal}))?;
        if method == "terminal/release" {
            self.works.entry(id).and_modify(|work| work.terminals.retain(|open| *open != terminal));
        }
        Ok(done)
    }

    fn ask_user(&mut self, choices: &mut Choices) -> Step {
        let (form, url) = (self.client_has("elicitation/form"), self.client_has("elicitation/url"));
        let mut params = json!({"message": "Well?"});
        let open: Vec<Asked> = self.base.todo.iter().filter(|asked| asked.method != "initialize").cloned().collect();
        match (self.open(choices), choices.pick(&open)) {
            (_, Some(asked)) if choices.one_in(3) => {
                params["requestId"] = serde_json::from_str(&asked.id.to_json()).unwrap_or_default();
            }
            (Some(id), _) => params["sessionId"] = json!(id),
            _ => return Ok(false),
        }
        if form && (!url || choices.one_in(2)) {
            params["mode"] = json!("form");
            params["requestedSchema"] = json!({"type": "object", "properties": {"name": {"type": "string"}}});
        } else if url {
            params["mode"] = json!("url");
            params["url"] = json!("https://x.y/z");
            params["elicitationId"] = json!(self.base.name("page"));
        } else {
            return Ok(false);
        }
        self.base.request("elicitation/create", params)
    }

    fn complete(&mut self, _: &mut Choices) -> Step {
        match self.pages.pop().filter(|_| self.base.ready()) {
            Some((_, id)) => self.base.notify("elicitation/complete", &json!({"elicitationId": id})),
            None => Ok(false),
        }
    }

    /// Tells of a session whose id is still on its way (SESS-52).
    fn tell_early(&mut self, choices: &mut Choices) -> Step {
        let name = self.base.name("s");
        let new = self.base.todo.iter_mut().filter(|asked| asked.method == "session/new");
        let Some(asked) = choices.pick_from(new) else { return Ok(false) };
        let id = asked.early.get_or_insert(name).clone();
        let update = json!({"sessionUpdate": "session_info_update", "title": "A session"});
        self.base.notify("session/update", &json!({"sessionId": id, "update": update}))
    }

    /// The settings that a session begins with, as its answer says them.
    fn settings(&mut self, id: &str, cwd: &str, choices: &mut Choices) -> Value {
        let switches = self.client_has("session/configOptions/boolean");
        self.store.insert(id.to_owned(), cwd.to_owned());
        let work = self.works.entry(id.to_owned()).or_default();
        work.stage = Stage::Open;
        (work.modes, work.options) = (Vec::new(), Vec::new());
        let mut result = json!({});
        if choices.one_in(2) {
            work.modes = vec!["ask".into(), "code".into()];
            let modes = json!([{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]);
            result["modes"] = json!({"currentModeId": "ask", "availableModes": modes});
        }
        if choices.one_in(2) {
            let values = json!([{"value": "big", "name": "Big"}, {"value": "small", "name": "Small"}]);
            work.options.push(json!({"id": "model", "name": "Model", "category": "model", "type": "select",
                "currentValue": "big", "options": values}));
        }
        if switches && choices.one_in(2) {
            work.options.push(json!({"id": "fast", "name": "Fast", "type": "boolean", "currentValue": false}));
        }
        if !work.options.is_empty() {
            result["configOptions"] = json!(work.options);
        }
        result
    }

    fn page(&self, asked: &Asked) -> Value {
        let from: usize = asked.params["cursor"].as_str().and_then(|text| text.parse().ok()).unwrap_or(0);
        let fits = |cwd: &str| asked.params["cwd"].as_str().is_none_or(|wanted| wanted == cwd);
        let fitting: Vec<_> = self.store.iter().filter(|(_, cwd)| fits(cwd)).collect();
        let page = fitting.iter().skip(from).take(2);
        let sessions: Vec<_> = page.map(|(id, cwd)| json!({"sessionId": id, "cwd": cwd})).collect();
        let mut result = json!({"sessions": sessions});
        if from + 2 < fitting.len() {
            result["nextCursor"] = json!((from + 2).to_string());
        }
        result
    }

    fn stop_reason(&mut self, asked: &Asked, choices: &mut Choices) -> Answer {
        let work = self.works.get(&asked.session).filter(|_| !asked.stale);
        let cancelled = work.is_none_or(|work| work.cancelled) || asked.cancelled;
        // TOOL-32: a turn with tool calls under way does not end by itself.
        let busy = work.is_some_and(|work| work.tools.values().any(|(_, status)| !is_final(status)));
        if let Some(work) = self.works.get_mut(&asked.session).filter(|_| !asked.stale) {
            (work.running, work.ended, work.cancelled) = (false, true, false);
        }
        match (cancelled, choices.below(6)) {
            (true, 0) => Answer::Error(ErrorCode::REQUEST_CANCELLED),
            (true, 1..5) => Answer::Result(json!({"stopReason": "cancelled"})),
            (_, 2) => REFUSED,
            (_, 0 | 1 | 5) if !busy => Answer::Result(json!({"stopReason": "end_turn"})),
            (_, 3) => Answer::Result(json!({"stopReason": "max_tokens"})),
            _ => Answer::Result(json!({"stopReason": "refusal"})),
        }
    }

    /// What a refusal leaves behind.
    fn refuse(&mut self, asked: &Asked) -> Answer {
        if matches!(&*asked.method, "session/load" | "session/resume") {
            self.works.remove(&asked.session);
        }
        REFUSED
    }
}

pub(crate) fn is_final(status: &str) -> bool {
    matches!(status, "completed" | "failed")
}

impl Host for Agent {
    const MOVES: &'static [Move<Self>] = &[
        ("agent answers", Self::answer_one),
        ("agent answers", Self::answer_one),
        ("agent answers", Self::answer_one),
        ("agent answers", Self::answer_one),
        ("session/update", Self::update),
        ("session/update", Self::update),
        ("session/update", Self::update),
        ("session/update", Self::update),
        ("session/request_permission", Self::ask_permission),
        ("session/request_permission", Self::ask_permission),
        ("fs", Self::touch_file),
        ("terminal/create", Self::create_terminal),
        ("terminal", Self::use_terminal),
        ("terminal", Self::use_terminal),
        ("elicitation/create", Self::ask_user),
        ("elicitation/complete", Self::complete),
        ("early update", Self::tell_early),
        ("agent takes back", |agent, choices| agent.base.take_back(choices)),
        ("agent extends", |agent, choices| agent.base.extend(choices)),
        ("agent extends", |agent, choices| agent.base.extend(choices)),
    ];

    fn new(config: Config, drafts: bool, base: impl FnOnce(Config) -> Base, choices: &mut Choices) -> Self {
        assert_eq!(config.role, Role::Agent);
        let mut capabilities = json!({});
        let mut say = |path: &str, value: Value| {
            if choices.below(3) > 0 {
                crate::put(&mut capabilities, path, value);
            }
        };
        for flag in ["loadSession", "promptCapabilities.image", "promptCapabilities.audio", "mcpCapabilities.http"] {
            say(flag, json!(true));
        }
        say("promptCapabilities.embeddedContext", json!(true));
        for name in ["list", "delete", "resume", "close", "additionalDirectories"] {
            say(&format!("sessionCapabilities.{name}"), json!({}));
        }
        say("auth.logout", json!({}));
        if drafts {
            say("sessionCapabilities.fork", json!({}));
            say("auth.status", json!({}));
        }
        let logins = if choices.one_in(2) { json!([{"id": "key", "name": "A key"}]) } else { json!([]) };
        Agent {
            base: base(config),
            capabilities,
            logins,
            client: Value::Null,
            works: BTreeMap::new(),
            store: BTreeMap::new(),
            pages: Vec::new(),
            drafts,
        }
    }

    fn base(&mut self) -> &mut Base {
        &mut self.base
    }

    fn told(&mut self, told: &Notification) {
        if let (Some(session), "session/cancel") = (&told.session, &*told.method) {
            self.works.entry(session.to_string()).and_modify(|work| work.cancelled = work.running);
        }
    }

    fn asked(&mut self, asked: &Asked) {
        let stage = match &*asked.method {
            "session/load" => Stage::Loading,
            "session/resume" => Stage::Resuming,
            "session/prompt" => {
                self.works.entry(asked.session.clone()).and_modify(|work| work.running = true);
                return;
            }
            _ => return,
        };
        self.works.insert(asked.session.clone(), Work { stage, ..Work::default() });
    }

    fn ended(&mut self, sent: &Sent, outcome: &Outcome) {
        let result: Option<Value> = outcome.result().and_then(|text| serde_json::from_str(text).ok());
        let Some(result) = result else { return };
        match &*sent.method {
            "terminal/create" => {
                let id = result["terminalId"].as_str().unwrap_or_default().to_owned();
                self.works.entry(sent.session.clone()).and_modify(|work| work.terminals.extend([id]));
            }
            "elicitation/create" if result["action"] == "accept" => {
                let id = sent.params["elicitationId"].as_str().map(str::to_owned);
                self.pages.extend(id.map(|id| (sent.session.clone(), id)));
            }
            _ => {}
        }
    }

    fn answer(&mut self, asked: &Asked, choices: &mut Choices) -> Result<Answer, String> {
        if asked.method == "session/prompt" {
            return Ok(self.stop_reason(asked, choices));
        }
        if asked.early.is_none() && choices.one_in(10) {
            return Ok(self.refuse(asked));
        }
        let cwd = asked.params["cwd"].as_str().unwrap_or_default();
        Ok(Answer::Result(match &*asked.method {
            "initialize" => {
                self.client = asked.params.clone();
                json!({"agentCapabilities": self.capabilities, "authMethods": self.logins})
            }
            "session/new" | "session/fork" => {
                let id = asked.early.clone().unwrap_or_else(|| self.base.name("s"));
                let mut result = self.settings(&id, cwd, choices);
                result["sessionId"] = json!(id);
                result
            }
            "session/load" | "session/resume" if !self.store.contains_key(&asked.session) => {
                return Ok(self.refuse(asked))
            }
            "session/load" | "session/resume" => self.settings(&asked.session, cwd, choices),
            "session/close" => {
                self.works.remove(&asked.session);
                self.pages.retain(|(session, _)| *session != asked.session);
                self.base.leave(&asked.session);
                json!({})
            }
            "session/delete" => {
                self.pages.retain(|(session, _)| *session != asked.session);
                self.store.remove(&asked.session);
                json!({})
            }
            "session/list" => self.page(asked),
            "session/set_config_option" => {
                let work = self.works.get_mut(&asked.session).filter(|_| !asked.stale);
                let Some(Work { options, .. }) = work else { return Ok(REFUSED) };
                for option in options.iter_mut().filter(|option| option["id"] == asked.params["configId"]) {
                    option["currentValue"] = asked.params["value"].clone();
                }
                json!({"configOptions": options})
            }
            "auth/status" => json!({"state": "authenticated"}),
            _ => json!({}),
        }))
    }

    fn give_back(&mut self) -> Result<(), String> {
        for (id, work) in &mut self.works {
            for terminal in std::mem::take(&mut work.terminals) {
                self.base.request("terminal/release", json!({"sessionId": id, "terminalId": terminal}))?;
            }
        }
        Ok(())
    }
}
