//! A client that does everything it may do.

use std::collections::BTreeMap;

use libacp::connection::{Notification, Outcome, Role};
use libacp::{Config, ErrorCode};
use serde_json::{json, Map, Value};

use crate::choices::Choices;
use crate::host::{Answer, Asked, Base, Host, Move, Sent, Step, REFUSED};

#[derive(Debug)]
pub(crate) struct Client {
    base: Base,
    /// What it says of itself.
    capabilities: Value,
    /// What the agent said of itself, whole.
    agent: Value,
    chats: BTreeMap<String, Chat>,
    /// Sessions that are not open: where they work.
    shelf: BTreeMap<String, String>,
    cursors: Vec<String>,
}

/// A session, as the client sees it.
#[derive(Debug, Clone, Default)]
struct Chat {
    cwd: String,
    /// It is being loaded, resumed or closed.
    busy: bool,
    prompts: usize,
    modes: Vec<String>,
    /// Each option's id, whether it is a switch, and its values.
    options: Vec<(String, bool, Vec<String>)>,
    terminals: BTreeMap<String, Terminal>,
}

#[derive(Debug, Clone, Default)]
struct Terminal {
    limit: Option<u64>,
    ended: bool,
}

impl Client {
    fn agent_has(&self, path: &str) -> bool {
        let value = self.agent.pointer(&format!("/agentCapabilities/{path}"));
        value.is_some_and(|value| *value == true || value.is_object())
    }

    fn initialize(&mut self, choices: &mut Choices) -> Step {
        if self.base.connection.phase() != libacp::connection::Phase::Start {
            return Ok(false);
        }
        let mut params = json!({"clientCapabilities": self.capabilities});
        if choices.one_in(2) {
            params["clientInfo"] = json!({"name": "a client", "version": "1"});
        }
        self.base.request("initialize", params)
    }

    /// The directories and servers of a session that is to be opened.
    fn place(&self, cwd: &str, choices: &mut Choices) -> Value {
        let mut params = json!({"cwd": cwd, "mcpServers": []});
        if self.agent_has("sessionCapabilities/additionalDirectories") && choices.one_in(2) {
            params["additionalDirectories"] = json!(["/more", format!("{cwd}-too")]);
        }
        if choices.one_in(3) {
            params["mcpServers"] = json!([{"name": "tools", "command": "/bin/tools", "args": [], "env": []}]);
        } else if self.agent_has("mcpCapabilities/http") && choices.one_in(2) {
            params["mcpServers"] = json!([{"type": "http", "name": "web", "url": "https://x.y/z", "headers": []}]);
        }
        params
    }

    fn new_session(&mut self, choices: &mut Choices) -> Step {
        if !self.base.ready() || self.chats.len() > 5 {
            return Ok(false);
        }
        let cwd = format!("/work/{}", choices.below(4));
        let params = self.place(&cwd, choices);
        self.base.request("session/new", params)
    }

    fn reopen(&mut self, method: &str, gate: &str, choices: &mut Choices) -> Step {
        if !self.base.ready() || !self.agent_has(gate) {
            return Ok(false);
        }
        let Some((id, cwd)) = choices.pick_from(self.shelf.clone().into_iter()) else { return Ok(false) };
        let mut params = self.place(&cwd, choices);
        params["sessionId"] = json!(id);
        let done = self.base.request(method, params)?;
        if done {
            self.shelf.remove(&id);
            self.chats.insert(id, Chat { cwd, busy: true, ..Chat::default() });
        }
        Ok(done)
    }

    fn fork(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.open(choices).filter(|_| self.agent_has("sessionCapabilities/fork")) else {
            return Ok(false);
        };
        let mut params = self.place(&self.chats[&id].cwd.clone(), choices);
        params["sessionId"] = json!(id);
        self.base.request("session/fork", params)
    }

    fn close(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.open(choices).filter(|_| self.agent_has("sessionCapabilities/close")) else {
            return Ok(false);
        };
        let done = self.base.request("session/close", json!({"sessionId": id}))?;
        self.chats.entry(id).and_modify(|chat| chat.busy |= done);
        Ok(done)
    }

    fn delete(&mut self, choices: &mut Choices) -> Step {
        if !self.base.ready() || !self.agent_has("sessionCapabilities/delete") {
            return Ok(false);
        }
        let Some(id) = choices.pick_from(self.shelf.clone().into_keys()) else { return Ok(false) };
        self.shelf.remove(&id);
        self.base.request("session/delete", json!({"sessionId": id}))
    }

    fn list(&mut self, choices: &mut Choices) -> Step {
        if !self.base.ready() || !self.agent_has("sessionCapabilities/list") {
            return Ok(false);
        }
        let mut params = json!({});
        if choices.one_in(3) {
            params["cwd"] = json!(format!("/work/{}", choices.below(4)));
        }
        if choices.one_in(2) && !self.cursors.is_empty() {
            params["cursor"] = json!(choices.pick(&self.cursors));
        }
        self.base.request("session/list", params)
    }

    /// A session that is open and not about to be closed.
    fn open(&mut self, choices: &mut Choices) -> Option<String> {
        let open = self.chats.iter().filter(|(_, chat)| !chat.busy).map(|(id, _)| id.clone());
        choices.pick_from(open.collect::<Vec<_>>().into_iter()).filter(|_| self.base.ready())
    }

    fn prompt(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.open(choices).filter(|id| self.chats[id].prompts == 0) else { return Ok(false) };
        let mut prompt = vec![json!({"type": "text", "text": "Do it."})];
        let blocks = [
            ("image", json!({"type": "image", "data": "QQ==", "mimeType": "image/png"})),
            ("audio", json!({"type": "audio", "data": "QQ==", "mimeType": "audio/wav"})),
            ("embeddedContext", json!({"type": "resource", "resource": {"uri": "file:///x", "text": "x"}})),
        ];
        for (capability, block) in blocks {
            if self.agent_has(&format!("promptCapabilities/{capability}")) && choices.one_in(3) {
                prompt.push(block);
            }
        }
        let done = self.base.request("session/prompt", json!({"sessionId": id, "prompt": prompt}))?;
        self.chats.entry(id).and_modify(|chat| chat.prompts += usize::from(done));
        Ok(done)
    }

    fn cancel(&mut self, choices: &mut Choices) -> Step {
        let running = self.chats.iter().filter(|(_, chat)| chat.prompts > 0 && !chat.busy).map(|(id, _)| id.clone());
        let Some(id) = choices.pick_from(running.collect::<Vec<_>>().into_iter()) else { return Ok(false) };
        self.base.notify("session/cancel", &json!({"sessionId": id}))
    }

    fn set_mode(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.open(choices) else { return Ok(false) };
        let Some(mode) = choices.pick(&self.chats[&id].modes) else { return Ok(false) };
        let params = json!({"sessionId": id, "modeId": mode});
        self.base.request("session/set_mode", params)
    }

    fn set_option(&mut self, choices: &mut Choices) -> Step {
        let Some(id) = self.open(choices) else { return Ok(false) };
        let Some((option, switch, values)) = choices.pick(&self.chats[&id].options) else { return Ok(false) };
        let params = if *switch {
            json!({"sessionId": id, "configId": option, "type": "boolean", "value": choices.one_in(2)})
        } else {
            json!({"sessionId": id, "configId": option, "value": choices.pick(values)})
        };
        self.base.request("session/set_config_option", params)
    }

    fn log_in_or_out(&mut self, choices: &mut Choices) -> Step {
        if !self.base.ready() {
            return Ok(false);
        }
        match choices.below(3) {
            0 => match self.agent.pointer("/authMethods/0/id").cloned() {
                Some(id) => self.base.request("authenticate", json!({"methodId": id})),
                None => Ok(false),
            },
            1 if self.agent_has("auth/logout") => self.base.request("logout", json!({})),
            2 if self.agent_has("auth/status") => self.base.request("auth/status", json!({})),
            _ => Ok(false),
        }
    }

    /// What a terminal's command has printed.
    fn output(&mut self, asked: &Asked, choices: &mut Choices) -> Value {
        let terminal = self.terminal(asked);
        let Some(terminal) = terminal else { return json!({"output": "", "truncated": false}) };
        terminal.ended |= choices.one_in(4);
        let text = "some output é";
        let mut start = text.len().saturating_sub(usize::try_from(terminal.limit.unwrap_or(99)).unwrap_or(99));
        while !text.is_char_boundary(start) {
            start += 1;
        }
        let mut result = json!({"output": text[start..], "truncated": start > 0});
        if terminal.ended {
            result["exitStatus"] = json!({"exitCode": 0, "signal": null});
        }
        result
    }

    fn terminal(&mut self, asked: &Asked) -> Option<&mut Terminal> {
        self.chat(asked)?.terminals.get_mut(asked.params["terminalId"].as_str()?)
    }

    fn chat(&mut self, asked: &Asked) -> Option<&mut Chat> {
        self.chats.get_mut(&asked.session).filter(|_| !asked.stale)
    }

    /// What the answer that opens a session says of it.
    fn opened(&mut self, id: &str, cwd: &str, result: &Value) {
        let chat = self.chats.entry(id.to_owned()).or_default();
        chat.busy = false;
        cwd.clone_into(&mut chat.cwd);
        let strings = |list: &Value, name: &str| -> Vec<String> {
            let items = list.as_array().into_iter().flatten();
            items.filter_map(|item| item[name].as_str()).map(str::to_owned).collect()
        };
        chat.modes = strings(&result["modes"]["availableModes"], "id");
        let options = result["configOptions"].as_array().into_iter().flatten();
        chat.options = options
            .filter_map(|option| {
                let switch = option["type"] == "boolean";
                Some((option["id"].as_str()?.to_owned(), switch, strings(&option["options"], "value")))
            })
            .collect();
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
        ("session/load", |client, choices| client.reopen("session/load", "loadSession", choices)),
        ("session/resume", |client, choices| client.reopen("session/resume", "sessionCapabilities/resume", choices)),
        ("session/fork", Self::fork),
        ("session/close", Self::close),
        ("session/delete", Self::delete),
        ("session/list", Self::list),
        ("session/prompt", Self::prompt),
        ("session/prompt", Self::prompt),
        ("session/prompt", Self::prompt),
        ("session/cancel", Self::cancel),
        ("session/set_mode", Self::set_mode),
        ("session/set_config_option", Self::set_option),
        ("logging in and out", Self::log_in_or_out),
        ("client takes back", |client, choices| client.base.take_back(choices)),
        ("client extends", |client, choices| client.base.extend(choices)),
        ("client extends", |client, choices| client.base.extend(choices)),
    ];

    fn new(config: Config, drafts: bool, base: impl FnOnce(Config) -> Base, choices: &mut Choices) -> Self {
        assert_eq!(config.role, Role::Client);
        let mut capabilities = json!({"fs": {}});
        let mut say = |path: &str, value: Value| {
            if choices.below(3) > 0 {
                crate::put(&mut capabilities, path, value);
            }
        };
        say("fs.readTextFile", json!(true));
        say("fs.writeTextFile", json!(true));
        say("terminal", json!(true));
        say("session.compaction", json!({}));
        say("session.notices", json!({}));
        say("session.configOptions.boolean", json!({}));
        say("elicitation.form", json!({}));
        say("elicitation.url", json!({}));
        if drafts {
            say("plan", json!({}));
        }
        Client {
            base: base(config),
            capabilities,
            agent: Value::Null,
            chats: BTreeMap::new(),
            shelf: BTreeMap::new(),
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
                let id = result["sessionId"].as_str().unwrap_or_default().to_owned();
                self.opened(&id, cwd, &result);
            }
            ("session/load" | "session/resume", Some(result)) => self.opened(&sent.session, cwd, &result),
            ("session/load" | "session/resume", None) => {
                self.chats.remove(&sent.session);
                self.shelf.insert(sent.session.clone(), cwd.to_owned());
            }
            ("session/close", Some(_)) => {
                self.base.leave(&sent.session);
                if let Some(chat) = self.chats.remove(&sent.session) {
                    self.shelf.insert(sent.session.clone(), chat.cwd);
                }
            }
            ("session/close", None) => {
                self.chats.entry(sent.session.clone()).and_modify(|chat| chat.busy = false);
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
                    if !self.chats.contains_key(id) && !leaving {
                        self.shelf.insert(id.to_owned(), cwd.to_owned());
                    }
                }
            }
            _ => {}
        }
    }

    fn answer(&mut self, asked: &Asked, choices: &mut Choices) -> Result<Answer, String> {
        let ended = json!({"exitCode": 0});
        match &*asked.method {
            "session/request_permission" if asked.cancelled && choices.one_in(2) => {
                return Ok(Answer::Error(ErrorCode::REQUEST_CANCELLED));
            }
            // A terminal that cannot be released would leak.
            method if method != "terminal/release" && choices.one_in(10) => return Ok(REFUSED),
            _ => {}
        }
        Ok(Answer::Result(match &*asked.method {
            "session/request_permission" => {
                let options = asked.params["options"].as_array().cloned().unwrap_or_default();
                match choices.pick(&options) {
                    Some(option) if !choices.one_in(4) => {
                        json!({"outcome": {"outcome": "selected", "optionId": option["optionId"]}})
                    }
                    _ => json!({"outcome": {"outcome": "cancelled"}}),
                }
            }
            "fs/read_text_file" => json!({"content": "text\n"}),
            "terminal/create" => {
                let id = self.base.name("t");
                if let Some(chat) = self.chat(asked) {
                    let limit = asked.params["outputByteLimit"].as_u64();
                    chat.terminals.insert(id.clone(), Terminal { limit, ended: false });
                }
                json!({"terminalId": id})
            }
            "terminal/output" => self.output(asked, choices),
            "terminal/wait_for_exit" => {
                self.terminal(asked).into_iter().for_each(|terminal| terminal.ended = true);
                ended
            }
            "terminal/release" => {
                let id = asked.params["terminalId"].as_str().unwrap_or_default();
                if let Some(chat) = self.chat(asked) {
                    chat.terminals.remove(id);
                }
                json!({})
            }
            "elicitation/create" => match choices.below(3) {
                0 => json!({"action": "cancel"}),
                1 => json!({"action": "decline"}),
                _ if asked.params["mode"] == "url" => json!({"action": "accept"}),
                _ => json!({"action": "accept", "content": {"name": "x"}}),
            },
            _ => Value::Object(Map::new()),
        }))
    }
}
