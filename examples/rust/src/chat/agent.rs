//! The agent: what it answers, and when it takes its next step.

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant, SystemTime};

use libacp::connection::{Notification, Outcome, Request, Response};
use libacp::{Config, Connection, ErrorCode, Event, Id};
use serde_json::{json, Value};

use super::scene::{self, Stage, Step, Steps};
use super::store::{Header, Store};
use crate::link::Link;
use crate::tap::Tap;
use crate::{shown, Result};

/// Models that do not exist.
const MODELS: [(&str, &str); 2] = [("small", "Small"), ("large", "Large")];
const MODES: [(&str, &str); 2] = [("ask", "Ask first"), ("auto", "Just do it")];
/// Tokens that fit into a context that does not exist either.
const CONTEXT: u64 = 20_000;

/// One session.
#[derive(Debug)]
struct Chat {
    cwd: String,
    auto: bool,
    model: usize,
    turns: usize,
    used: u64,
    running: Option<Running>,
}

/// A prompt that is being answered.
#[derive(Debug)]
struct Running {
    request: Id,
    steps: Steps,
    due: Instant,
    /// The permission request that it waits for, with what follows.
    asked: Option<(Id, Vec<Step>, Vec<Step>)>,
    /// A tool call that has not ended.
    tool: Option<String>,
}

/// The agent.
pub struct Agent {
    link: Link,
    chats: HashMap<String, Chat>,
    store: Store,
}

type Reply = std::result::Result<Value, (ErrorCode, &'static str)>;

impl Agent {
    /// An agent on the standard streams that keeps its sessions in `store`.
    pub fn new(store: Store) -> Result<Self> {
        let connection = Connection::new(Config::agent());
        let link = Link::new(connection, io::stdin(), io::stdout(), Tap::new(None)?, None);
        Ok(Agent { link, chats: HashMap::new(), store })
    }

    /// Serves the client until it leaves.
    pub fn run(&mut self) -> Result<()> {
        loop {
            match self.link.event_by(self.due())? {
                Some(Event::Request(request)) => self.request(&request)?,
                Some(Event::Notification(notification)) => self.notification(&notification)?,
                Some(Event::Response(response)) => self.response(&response)?,
                Some(Event::Violation(violation)) => {
                    eprintln!("{}", shown(&format!("{}: {}", violation.rule, violation.message)));
                }
                Some(Event::Closed(_)) => return self.link.close_output(),
                _ => {}
            }
            self.steps(Instant::now())?;
        }
    }

    /// When the next step is due.
    fn due(&self) -> Option<Instant> {
        let running = self.chats.values().filter_map(|chat| chat.running.as_ref());
        running.filter(|running| running.asked.is_none()).map(|running| running.due).min()
    }

    /// Takes all steps that are due.
    fn steps(&mut self, now: Instant) -> Result<()> {
        let ids: Vec<String> = self.chats.keys().cloned().collect();
        for id in ids {
            while let Some(step) = self.next_step(&id, now) {
                self.step(&id, step)?;
            }
        }
        Ok(())
    }

    fn next_step(&mut self, id: &str, now: Instant) -> Option<Step> {
        let running = self.chats.get_mut(id)?.running.as_mut()?;
        if running.asked.is_some() || running.due > now {
            return None;
        }
        Some(running.steps.pop_front().unwrap_or(Step::End))
    }

    fn step(&mut self, id: &str, step: Step) -> Result<()> {
        match step {
            Step::End => self.end_turn(id, "end_turn"),
            Step::Wait(time) => {
                if let Some(running) = self.running(id) {
                    running.due += Duration::from_millis(time);
                }
                Ok(())
            }
            Step::Update(update) => self.update(id, &update),
            Step::Ask { tool, granted, denied } => {
                let params = json!({"sessionId": id, "toolCall": {"toolCallId": tool}, "options": [
                    {"optionId": "allow", "name": "Allow", "kind": "allow_once"},
                    {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
                    {"optionId": "reject", "name": "Reject", "kind": "reject_once"},
                ]});
                let asked = self.link.connection.request("session/request_permission", &params.to_string())?;
                if let Some(running) = self.running(id) {
                    running.asked = Some((asked, granted, denied));
                }
                Ok(())
            }
        }
    }

    fn running(&mut self, id: &str) -> Option<&mut Running> {
        self.chats.get_mut(id)?.running.as_mut()
    }

    /// Tells the client, and remembers for the next one.
    fn update(&mut self, id: &str, update: &Value) -> Result<()> {
        self.link.connection.notify("session/update", &json!({"sessionId": id, "update": update}).to_string())?;
        self.store.add(id, update)?;
        if let Some(running) = self.running(id) {
            let done = matches!(update["status"].as_str(), Some("completed" | "failed"));
            if let Some(tool) = update["toolCallId"].as_str() {
                running.tool = (!done).then(|| tool.to_owned());
            }
        }
        Ok(())
    }

    fn end_turn(&mut self, id: &str, reason: &str) -> Result<()> {
        let Some(chat) = self.chats.get_mut(id) else { return Ok(()) };
        let Some(running) = chat.running.take() else { return Ok(()) };
        chat.used = (chat.used + 700).min(CONTEXT);
        let usage = json!({"sessionUpdate": "usage_update", "used": chat.used, "size": CONTEXT});
        if let Some(tool) = running.tool {
            self.update(id, &json!({"sessionUpdate": "tool_call_update", "toolCallId": tool, "status": "failed"}))?;
        }
        self.update(id, &usage)?;
        self.link.connection.respond(&running.request, &json!({ "stopReason": reason }).to_string())?;
        Ok(())
    }

    fn request(&mut self, request: &Request) -> Result<()> {
        let params: Value = request.params_as()?;
        let mut opened = None;
        let reply = match &*request.method {
            "initialize" => Ok(json!({
                "agentInfo": {"name": "libacp-chat", "title": "Chat example", "version": env!("CARGO_PKG_VERSION")},
                "agentCapabilities": {"loadSession": true, "sessionCapabilities": {"list": {}}},
            })),
            "session/new" => {
                let id = self.new_session(&params)?;
                let mut result = self.chats.get(&id).map(state).unwrap_or_default();
                result["sessionId"] = json!(id);
                opened = Some(id);
                Ok(result)
            }
            "session/load" => {
                opened = params["sessionId"].as_str().map(str::to_owned);
                self.load(&params)?
            }
            "session/list" => self.list(),
            "session/prompt" => return self.prompt(&request.id, &params),
            "session/set_mode" => self.set_mode(&params),
            "session/set_config_option" => self.set_option(&params),
            _ => Err((ErrorCode::METHOD_NOT_FOUND, "This agent does not serve that")),
        };
        match reply {
            Ok(result) => self.link.connection.respond(&request.id, &result.to_string())?,
            Err((code, why)) => self.link.connection.respond_error(&request.id, code, why, None)?,
        }
        // An id that could not be loaded is not open, and is told nothing.
        if let Some(id) = opened.filter(|id| self.chats.contains_key(id)) {
            let update = json!({"sessionUpdate": "available_commands_update", "availableCommands": scene::commands()});
            self.link.connection.notify("session/update", &json!({"sessionId": id, "update": update}).to_string())?;
        }
        Ok(())
    }

    fn new_session(&mut self, params: &Value) -> io::Result<String> {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let id = format!("{:013}-{}-{}", since.as_millis(), std::process::id(), self.chats.len());
        let cwd = params["cwd"].as_str().unwrap_or("/").to_owned();
        self.store.begin(&Header { id: id.clone(), cwd: cwd.clone() })?;
        let chat = Chat { cwd, auto: false, model: 0, turns: 0, used: 0, running: None };
        self.chats.insert(id.clone(), chat);
        Ok(id)
    }

    fn load(&mut self, params: &Value) -> Result<Reply> {
        let id = params["sessionId"].as_str().unwrap_or_default();
        let Ok((header, updates)) = self.store.load(id) else {
            return Ok(Err((ErrorCode::RESOURCE_NOT_FOUND, "There is no such session")));
        };
        for update in &updates {
            self.link.connection.notify("session/update", &json!({"sessionId": id, "update": update}).to_string())?;
        }
        let turns = updates.iter().filter(|update| update["sessionUpdate"] == "user_message_chunk").count();
        let used = updates.iter().rev().find_map(|update| update["used"].as_u64()).unwrap_or(0);
        let chat = Chat { cwd: header.cwd, auto: false, model: 0, turns, used, running: None };
        let state = state(&chat);
        self.chats.insert(id.to_owned(), chat);
        Ok(Ok(state))
    }

    fn list(&self) -> Reply {
        let all = self.store.list().map_err(|_| (ErrorCode::INTERNAL_ERROR, "The sessions cannot be read"))?;
        let sessions: Vec<Value> = all.iter().map(|it| json!({"sessionId": it.id, "cwd": it.cwd})).collect();
        Ok(json!({ "sessions": sessions }))
    }

    fn prompt(&mut self, request: &Id, params: &Value) -> Result<()> {
        let id = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let mut text = String::new();
        for block in params["prompt"].as_array().into_iter().flatten() {
            self.store.add(&id, &json!({"sessionUpdate": "user_message_chunk", "content": block}))?;
            text.push_str(block["text"].as_str().unwrap_or_default());
        }
        let Some(chat) = self.chats.get_mut(&id) else { return Ok(()) };
        let stage = Stage { cwd: &chat.cwd, turn: chat.turns, auto: chat.auto, model: MODELS[chat.model].1 };
        let steps = scene::scene(text.trim(), &stage);
        chat.turns += 1;
        let first = chat.turns == 1;
        chat.running = Some(Running { request: request.clone(), steps, due: Instant::now(), asked: None, tool: None });
        if first {
            let title: String = text.chars().take(40).collect();
            self.update(&id, &json!({"sessionUpdate": "session_info_update", "title": title}))?;
        }
        Ok(())
    }

    fn set_mode(&mut self, params: &Value) -> Reply {
        let Some(chat) = self.chats.get_mut(params["sessionId"].as_str().unwrap_or_default()) else {
            return Err((ErrorCode::RESOURCE_NOT_FOUND, "There is no such session"));
        };
        chat.auto = params["modeId"] == "auto";
        Ok(json!({}))
    }

    fn set_option(&mut self, params: &Value) -> Reply {
        let Some(chat) = self.chats.get_mut(params["sessionId"].as_str().unwrap_or_default()) else {
            return Err((ErrorCode::RESOURCE_NOT_FOUND, "There is no such session"));
        };
        chat.model = MODELS.iter().position(|(value, _)| params["value"] == *value).unwrap_or(chat.model);
        Ok(json!({"configOptions": state(chat)["configOptions"]}))
    }

    fn notification(&mut self, notification: &Notification) -> Result<()> {
        match (&*notification.method, notification.session.as_deref()) {
            ("session/cancel", Some(id)) => self.end_turn(id, "cancelled"),
            _ => Ok(()),
        }
    }

    /// The user has decided, or has cancelled and with that ended the turn.
    fn response(&mut self, response: &Response) -> Result<()> {
        let Some(id) = response.session.as_deref() else { return Ok(()) };
        let Some(running) = self.running(id) else { return Ok(()) };
        let Some((_, granted, denied)) = running.asked.take_if(|(asked, ..)| *asked == response.id) else {
            return Ok(());
        };
        let outcome: Value = match &response.outcome {
            Outcome::Result(_) => response.outcome.result_as()?.unwrap_or_default(),
            _ => Value::Null,
        };
        let chosen = outcome["outcome"]["optionId"].as_str();
        let steps = if matches!(chosen, Some("allow" | "always")) { granted } else { denied };
        running.steps.extend(steps);
        running.due = Instant::now();
        if chosen == Some("always") {
            if let Some(chat) = self.chats.get_mut(id) {
                chat.auto = true;
            }
            self.update(id, &json!({"sessionUpdate": "current_mode_update", "currentModeId": "auto"}))?;
        }
        Ok(())
    }
}

/// What a session can be set to, and is.
fn state(chat: &Chat) -> Value {
    let modes: Vec<Value> = MODES.iter().map(|(id, name)| json!({"id": id, "name": name})).collect();
    let choices: Vec<Value> = MODELS.iter().map(|(value, name)| json!({"value": value, "name": name})).collect();
    json!({
        "modes": {"currentModeId": MODES[usize::from(chat.auto)].0, "availableModes": modes},
        "configOptions": [{
            "id": "model", "name": "Model", "category": "model", "type": "select",
            "currentValue": MODELS[chat.model].0, "options": choices,
        }],
    })
}
