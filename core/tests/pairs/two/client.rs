//! A client of version 2 that does everything it may do.

use std::collections::BTreeMap;

use libacp::connection::{Notification, Outcome, Phase, Role, Turn};
use libacp::{Config, ErrorCode};
use serde_json::{json, Map, Value};

use super::content::{link, text};
use crate::choices::Choices;
use crate::host::{Answer, Asked, Base, Host, Move, Sent, Step, REFUSED};

/// Sessions that are open at once.
const CHATS: usize = 3;
/// Prompts of one session that have no answer.
const HELD: usize = 4;

#[derive(Debug)]
pub(crate) struct Client {
    base: Base,
    /// What it says of itself.
    capabilities: Value,
    /// What the agent said of itself, whole.
    agent: Value,
    /// Something else than `initialize` was asked, so that this is not asked again.
    began: bool,
    chats: BTreeMap<String, Chat>,
    /// Sessions that are not open: where they work.
    shelf: BTreeMap<String, String>,
    archive: BTreeMap<String, String>,
    cursors: Vec<String>,
}

/// A session, as the client sees it.
#[derive(Debug, Clone, Default)]
struct Chat {
    cwd: String,
    /// It is being resumed or closed.
    busy: bool,
    prompts: usize,
}

impl Client {
    fn agent_has(&self, path: &str) -> bool {
        self.agent.pointer(&format!("/capabilities/{path}")).is_some_and(Value::is_object)
    }

    fn ask(&mut self, method: &str, params: Value) -> Step {
        self.began = true;
        self.base.request(method, params)
    }

    fn initialize(&mut self, choices: &mut Choices) -> Step {
        let again = self.base.ready() && !self.began && choices.one_in(3);
        if !again && self.base.connection.phase() != Phase::Start {
            return Ok(false);
        }
        let info = json!({"name": "a client", "version": "1"});
        let mut params = json!({"capabilities": self.capabilities, "info": info});
        if choices.one_in(4) && self.base.connection.config().versions.contains(1) {
            params["clientCapabilities"] = json!({});
            params["clientInfo"] = params["info"].clone();
        }
        self.base.request("initialize", params)
    }

    /// The directories and servers of a session that is to be opened.
    fn place(&self, cwd: &str, choices: &mut Choices) -> Value {
        let mut params = json!({"cwd": cwd});
        if self.agent_has("session/additionalDirectories") && choices.one_in(2) {
            params["additionalDirectories"] = json!(["/more", format!("{cwd}-too")]);
        }
        let mut servers = Vec::new();
        if self.agent_has("session/mcp/stdio") && choices.one_in(2) {
            servers.push(json!({"type": "stdio", "name": "tools", "command": "/bin/tools"}));
        }
        if self.agent_has("session/mcp/http") && choices.one_in(2) {
            servers.push(json!({"type": "http", "name": "web", "url": "https://x.y/z"}));
        }
        if !servers.is_empty() {
            params["mcpServers"] = json!(servers);
        }
        params
    }

    fn may(&self) -> bool {
        self.base.ready() && self.agent_has("session")
    }

    fn new_session(&mut self, choices: &mut Choices) -> Step {
        if !self.may() || self.chats.len() >= CHATS {
            return Ok(false);
        }
        let cwd = format!("/work/{}", choices.below(4));
        let params = self.place(&cwd, choices);
        self.ask("session/new", params)
    }

    fn resume(&mut self, choices: &mut Choices) -> Step {
        if !self.may() {
            return Ok(false);
        }
        let Some((id, cwd)) = choices.pick_from(self.shelf.clone().into_iter()) else { return Ok(false) };
        let mut params = self.place(&cwd, choices);
        params["sessionId"] = json!(id);
        if choices.one_in(2) {
            params["replayFrom"] = json!({"type": "start"});
        }
        let done = self.ask("session/resume", params)?;
        if done {
            self.shelf.remove(&id);
            self.chats.insert(id, Chat { cwd, busy: true, prompts: 0 });
        }
        Ok(done)
    }

    fn fork(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.open(choices).filter(|_| self.agent_has("session/fork")) else { return Ok(false) };
        let mut params = self.place(&self.chats[&id].cwd.clone(), choices);
        params["sessionId"] = json!(id);
        self.ask("session/fork", params)
    }

    fn leave(&mut self, method: &str, choices: &mut Choices) -> Step {
        let Some(id) = self.open(choices) else { return Ok(false) };
        let done = self.ask(method, json!({"sessionId": id}))?;
        self.chats.entry(id).and_modify(|chat| chat.busy |= done);
        Ok(done)
    }

    /// What is asked about sessions that need not be open.
    fn keep(&mut self, choices: &mut Choices) -> Step {
        if !self.may() {
            return Ok(false);
        }
        let known = self.shelf.keys().chain(self.archive.keys()).chain(self.chats.keys()).cloned();
        let any = choices.pick_from(known.collect::<Vec<_>>().into_iter());
        match (choices.below(9), any) {
            (0 | 8, Some(id)) if self.shelf.contains_key(&id) && self.agent_has("session/delete") => {
                self.shelf.remove(&id);
                self.ask("session/delete", json!({"sessionId": id}))
            }
            (1, _) if self.agent_has("session/archive") => self.leave("session/archive", choices),
            (2 | 3, _) if self.agent_has("session/archive") => {
                let Some((id, cwd)) = self.archive.pop_first() else { return Ok(false) };
                self.shelf.insert(id.clone(), cwd);
                self.ask("session/unarchive", json!({"sessionId": id}))
            }
            (4 | 5, Some(id)) if self.agent_has("session/status") => {
                self.ask("session/status", json!({"sessionId": id}))
            }
            (6 | 7, Some(id)) if self.agent_has("session/title") => {
                self.ask("session/set_title", json!({"sessionId": id, "title": "A better title"}))
            }
            _ => Ok(false),
        }
    }

    fn list(&mut self, choices: &mut Choices) -> Step {
        if !self.may() {
            return Ok(false);
        }
        let mut params = json!({});
        if choices.one_in(3) {
            params["cwd"] = json!(format!("/work/{}", choices.below(4)));
        }
        if choices.one_in(2) && !self.cursors.is_empty() {
            params["cursor"] = json!(choices.pick(&self.cursors));
        }
        if self.agent_has("session/archive") && choices.one_in(3) {
            params["archived"] = json!("include");
        }
        self.ask("session/list", params)
    }

    /// A session that is open and not about to be closed.
    fn open(&mut self, choices: &mut Choices) -> Option<String> {
        let open = self.chats.iter().filter(|(_, chat)| !chat.busy).map(|(id, _)| id.clone());
        choices.pick_from(open.collect::<Vec<_>>().into_iter()).filter(|_| self.may())
    }

    /// A message of the user's, whether the agent works or not; some say the same.
    fn prompt(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.open(choices).filter(|id| self.chats[id].prompts < HELD) else { return Ok(false) };
        let mut prompt = vec![if choices.one_in(6) { link() } else { text(&format!("Do {}.", choices.below(3))) }];
        let blocks = [
            ("image", json!({"type": "image", "data": "QQ==", "mimeType": "image/png"})),
            ("audio", json!({"type": "audio", "data": "QQ==", "mimeType": "audio/wav"})),
            ("embeddedContext", json!({"type": "resource", "resource": {"uri": "file:///x", "text": "x"}})),
        ];
        for (capability, block) in blocks {
            if self.agent_has(&format!("session/prompt/{capability}")) && choices.one_in(3) {
                prompt.push(block);
            }
        }
        let done = self.ask("session/prompt", json!({"sessionId": id, "prompt": prompt}))?;
        self.chats.entry(id).and_modify(|chat| chat.prompts += usize::from(done));
        Ok(done)
    }

    fn cancel(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.open(choices) else { return Ok(false) };
        let works = self.base.connection.session(&id).is_some_and(|session| session.turn != Turn::Idle);
        if works || choices.one_in(8) {
            self.base.notify("session/cancel", &json!({"sessionId": id}))
        } else {
            Ok(false)
        }
    }

    /// Cancels one of the tool calls or of the terminals that offer it.
    fn cancel_one(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.open(choices) else { return Ok(false) };
        let Some(session) = self.base.connection.session(&id) else { return Ok(false) };
        let tools: Vec<String> = session.cancellable_tool_calls().map(str::to_owned).collect();
        let terminals: Vec<String> = session.cancellable_terminals().map(str::to_owned).collect();
        match (choices.pick(&tools), choices.pick(&terminals)) {
            (Some(tool), _) if choices.one_in(2) => {
                self.ask("tool_call/cancel", json!({"sessionId": id, "toolCallId": tool}))
            }
            (_, Some(terminal)) => self.ask("terminal/cancel", json!({"sessionId": id, "terminalId": terminal})),
            _ => Ok(false),
        }
    }

    fn set_option(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.open(choices) else { return Ok(false) };
        let known = self.base.connection.session(&id).and_then(|session| session.config_options());
        let options: Vec<Value> = known.and_then(|list| serde_json::from_str(list).ok()).unwrap_or_default();
        let Some(option) = choices.pick(&options) else { return Ok(false) };
        let (kind, value) = match option["type"].as_str() {
            Some("select") => ("id", json!(if choices.one_in(2) { "big" } else { "small" })),
            Some("boolean") => ("boolean", json!(choices.one_in(2))),
            _ => ("_colour", json!(choices.below(9))),
        };
        let params = json!({"sessionId": id, "configId": option["configId"], "type": kind, "value": value});
        self.ask("session/set_config_option", params)
    }

    fn log_in_or_out(&mut self, choices: &mut Choices) -> Step {
        if !self.base.ready() {
            return Ok(false);
        }
        let logins = self.agent["authMethods"].as_array().cloned().unwrap_or_default();
        let driven: Vec<&Value> = logins.iter().filter(|login| login["type"] != "terminal").collect();
        match choices.below(3) {
            0 => match choices.pick(&driven) {
                Some(login) => self.ask("auth/login", json!({"methodId": login["methodId"]})),
                None => Ok(false),
            },
            1 if !logins.is_empty() => self.ask("auth/logout", json!({})),
            2 if self.agent_has("auth/status") => self.ask("auth/status", json!({})),
            _ => Ok(false),
        }
    }

    fn extend(&mut self, choices: &mut Choices) -> Step {
        self.began |= self.base.ready();
        self.base.extend(choices)
    }

    /// Whether it is being resumed or closed: it may be resumed twice at once.
    fn is_busy(&self, id: &str) -> bool {
        let moves = |method: &str| matches!(method, "session/resume" | "session/close" | "session/archive");
        self.base.sent.values().any(|sent| sent.session == id && moves(&sent.method))
    }

    /// The answer that opens a session has come.
    fn opened(&mut self, id: &str, cwd: &str) {
        let busy = self.is_busy(id);
        let chat = self.chats.entry(id.to_owned()).or_default();
        chat.busy = busy;
        cwd.clone_into(&mut chat.cwd);
    }
}

impl Host for Client {
    const MOVES: &'static [Move<Self>] = &[
        ("client answers", Self::answer_one),
        ("client answers", Self::answer_one),
        ("client answers", Self::answer_one),
        ("initialize", Self::initialize),
        ("initialize", Self::initialize),
        ("session/new", Self::new_session),
        ("session/resume", Self::resume),
        ("session/resume", Self::resume),
        ("session/fork", Self::fork),
        ("session/close", |client, choices| client.leave("session/close", choices)),
        ("session/list", Self::list),
        ("sessions in store", Self::keep),
        ("sessions in store", Self::keep),
        ("session/prompt", Self::prompt),
        ("session/prompt", Self::prompt),
        ("session/prompt", Self::prompt),
        ("session/prompt", Self::prompt),
        ("session/cancel", Self::cancel),
        ("cancel of one thing", Self::cancel_one),
        ("session/set_config_option", Self::set_option),
        ("logging in and out", Self::log_in_or_out),
        ("client takes back", |client, choices| client.base.take_back(choices)),
        ("client extends", Self::extend),
    ];

    fn new(config: Config, _: bool, base: impl FnOnce(Config) -> Base, choices: &mut Choices) -> Self {
        assert_eq!(config.role, Role::Client);
        let mut capabilities = json!({});
        for path in ["auth.terminal", "elicitation.form", "elicitation.url"] {
            if choices.below(3) > 0 {
                crate::put(&mut capabilities, path, json!({}));
            }
        }
        Client {
            base: base(config),
            capabilities,
            agent: Value::Null,
            began: false,
            chats: BTreeMap::new(),
            shelf: BTreeMap::new(),
            archive: BTreeMap::new(),
            cursors: Vec::new(),
        }
    }

    fn base(&mut self) -> &mut Base {
        &mut self.base
    }

    fn told(&mut self, _: &Notification) {}

    fn asked(&mut self, _: &Asked) {}

    fn ended(&mut self, sent: &Sent, outcome: &Outcome) {
        let result: Option<Value> = outcome.result().and_then(|text| serde_json::from_str(text).ok());
        let cwd = sent.params["cwd"].as_str().unwrap_or_default();
        match (&*sent.method, result) {
            ("initialize", Some(result)) => self.agent = result,
            ("session/new" | "session/fork", Some(result)) => {
                self.opened(result["sessionId"].as_str().unwrap_or_default(), cwd);
            }
            ("session/resume", Some(_)) => self.opened(&sent.session, cwd),
            ("session/resume", None) => {
                self.chats.remove(&sent.session);
                self.shelf.insert(sent.session.clone(), cwd.to_owned());
            }
            ("session/close" | "session/archive", Some(_)) => {
                self.base.leave(&sent.session);
                if let Some(chat) = self.chats.remove(&sent.session) {
                    let to = if sent.method == "session/close" { &mut self.shelf } else { &mut self.archive };
                    to.insert(sent.session.clone(), chat.cwd);
                }
            }
            ("session/close" | "session/archive", None) => {
                let busy = self.is_busy(&sent.session);
                self.chats.entry(sent.session.clone()).and_modify(|chat| chat.busy = busy);
            }
            ("session/prompt", _) => {
                self.chats.entry(sent.session.clone()).and_modify(|chat| chat.prompts = chat.prompts.saturating_sub(1));
            }
            ("session/list", Some(result)) => {
                self.cursors.extend(result["nextCursor"].as_str().map(str::to_owned));
                for listed in result["sessions"].as_array().into_iter().flatten() {
                    let (Some(id), Some(cwd)) = (listed["sessionId"].as_str(), listed["cwd"].as_str()) else {
                        continue;
                    };
                    let leaving = self.base.sent.values().any(|sent| sent.session == id);
                    let elsewhere = self.chats.contains_key(id) || self.archive.contains_key(id);
                    if !elsewhere && !leaving {
                        self.shelf.insert(id.to_owned(), cwd.to_owned());
                    }
                }
            }
            _ => {}
        }
    }

    fn answer(&mut self, asked: &Asked, choices: &mut Choices) -> Result<Answer, String> {
        if choices.one_in(10) {
            return Ok(REFUSED);
        }
        Ok(Answer::Result(match &*asked.method {
            "session/request_permission" if asked.cancelled && choices.one_in(2) => {
                return Ok(Answer::Error(ErrorCode::REQUEST_CANCELLED));
            }
            "session/request_permission" => {
                let options = asked.params["options"].as_array().cloned().unwrap_or_default();
                match choices.pick(&options) {
                    Some(option) if !choices.one_in(4) => {
                        json!({"outcome": {"outcome": "selected", "optionId": option["optionId"]}})
                    }
                    _ => json!({"outcome": {"outcome": "cancelled"}}),
                }
            }
            "elicitation/create" => match choices.below(3) {
                0 => json!({"action": "cancel"}),
                1 => json!({"action": "decline"}),
                _ if asked.params["mode"] == "url" => json!({"action": "accept"}),
                _ => json!({"action": "accept", "content": {"name": "x", "shade": [1]}}),
            },
            _ => Value::Object(Map::new()),
        }))
    }
}
