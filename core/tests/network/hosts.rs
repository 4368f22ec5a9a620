//! The two hosts of the simulated network: agents behind the server, and what the client has to do and hears.
//!
//! Each agent counts its questions from the beginning, so those of several have the same id. What a question is about is a
//! number that no other one has, and the host repeats it in its answer.

use std::collections::{HashMap, VecDeque};

use libacp::http::{Action, ClientSendError, ConnectionKey};
use serde_json::{json, Value};

use super::{Packet, World};

/// An agent of one connection.
#[derive(Debug, Default)]
pub(super) struct Agent {
    pub(super) outbox: VecDeque<String>,
    pub(super) full: bool,
    /// How many questions it has asked.
    asked: usize,
    /// Prompts that wait for the answer to a question, by its id: session and id of the prompt, what the question is about.
    waits: HashMap<String, (String, Value, u64)>,
}

impl World {
    /// The agent of a connection gets a message.
    pub(super) fn agent(&mut self, key: ConnectionKey, json: &str) {
        let message: Value = serde_json::from_str(json).expect("a message");
        let id = message["id"].clone();
        let params = &message["params"];
        let session = params["sessionId"].as_str().unwrap_or_default().to_owned();
        let mut out = Vec::new();
        let answer = |result: Value| json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string();
        match message["method"].as_str() {
            Some("initialize") => {
                let resume = if self.loads { Value::Null } else { json!({}) };
                let capabilities = json!({"loadSession": true, "sessionCapabilities": {"resume": resume}});
                out.push(answer(json!({"protocolVersion": 1, "agentCapabilities": capabilities})));
            }
            Some("session/new") => {
                let name = format!("s-{}", self.stored.len() + 1);
                self.stored.insert(name.clone(), 0);
                out.push(answer(json!({"sessionId": name})));
            }
            Some("session/prompt") => {
                self.update(&session, &mut out);
                if self.rng.one_in(3) {
                    self.asked += 1;
                    let about = self.asked;
                    let agent = self.agents.get_mut(&key).expect("the agent");
                    agent.asked += 1;
                    let question = format!("q-{}", agent.asked);
                    out.push(
                        json!({"jsonrpc": "2.0", "id": question, "method": "session/request_permission",
                        "params": {"sessionId": session, "options": [], "about": about}})
                        .to_string(),
                    );
                    if self.rng.one_in(4) {
                        out.push(
                            json!({"jsonrpc": "2.0", "method": "$/cancel_request",
                            "params": {"requestId": question, "about": about}})
                            .to_string(),
                        );
                    }
                    agent.waits.insert(question, (session, id, about));
                } else {
                    out.push(answer(json!({"stopReason": "end_turn"})));
                }
            }
            Some("session/load") => {
                for at in 0..3 {
                    out.push(
                        json!({"jsonrpc": "2.0", "method": "session/update",
                        "params": {"sessionId": session, "old": at, "total": 3}})
                        .to_string(),
                    );
                }
                out.push(answer(json!({})));
            }
            Some("session/resume" | "session/list") => out.push(answer(json!({}))),
            Some("_own/tick") => {
                let tick = params["tick"].as_u64().expect("a number");
                let seen = self.ticks_seen.entry((key, session.clone())).or_default();
                assert!(tick > *seen, "tick {tick} of {session} after {seen}");
                *seen = tick;
            }
            Some(other) => panic!("{other}"),
            None => {
                let agent = self.agents.get_mut(&key).expect("the agent");
                if let Some((session, prompt, about)) = agent.waits.remove(id.as_str().unwrap_or_default()) {
                    // The server answers by itself where nobody reads the session any more.
                    let right = message["error"].is_object() || message["result"]["about"] == about;
                    assert!(right, "an answer to another question than {about}: {message}");
                    self.update(&session, &mut out);
                    out.push(json!({"jsonrpc": "2.0", "id": prompt, "result": {"stopReason": "end_turn"}}).to_string());
                }
            }
        }
        self.agents.get_mut(&key).expect("the agent").outbox.extend(out);
    }

    fn update(&mut self, session: &str, out: &mut Vec<String>) {
        for _ in 0..=self.rng.below(8) {
            let number = self.stored.get_mut(session).expect("a session");
            *number += 1;
            out.push(
                json!({"jsonrpc": "2.0", "method": "session/update",
                "params": {"sessionId": session, "number": number, "text": "x".repeat(self.rng.below(200))}})
                .to_string(),
            );
        }
    }

    /// What the client has to do and to say.
    pub(super) fn act(&mut self) {
        while let Some(action) = self.client.poll_action() {
            match action {
                Action::Request(request) => {
                    self.note(&format!(
                        "{} {} {:?} {}",
                        request.exchange, request.method, request.headers, request.body
                    ));
                    let exchange = request.exchange;
                    self.resumed += usize::from(request.headers.iter().any(|(name, _)| name == "last-event-id"));
                    match self.rng.below(30) {
                        0 if self.storms() => self.post(exchange, true, Packet::Failed(exchange, false)),
                        // The client cannot know that it did not arrive.
                        1 if self.storms() => self.post(exchange, true, Packet::Failed(exchange, true)),
                        _ => self.post(exchange, true, Packet::Request(request)),
                    }
                }
                Action::Abort { exchange } => {
                    self.broken.insert(exchange);
                    self.post(exchange, true, Packet::Gone(exchange));
                }
                Action::Message { json, replayed } => self.host(&json, replayed),
                Action::Gap { session } => {
                    self.note(&format!("gap {session:?}"));
                    self.told += 1;
                    self.gaps.extend(session);
                }
                Action::Lost(lost) => {
                    self.note(&format!("{lost:?}"));
                    self.gaps.extend(lost.sessions);
                    for id in lost.calls {
                        let id: u64 = id.to_json().parse().expect("a call of the host");
                        assert!(self.calls.remove(&id).is_some(), "call {id} ended twice");
                        self.lost += 1;
                    }
                    for id in lost.questions {
                        let id: Value = serde_json::from_str(&id.to_json()).expect("an id");
                        let at = self.questions.iter().position(|(known, _)| *known == id).expect("an open question");
                        let question = self.questions.swap_remove(at);
                        self.late.push(question);
                    }
                }
                Action::Detached { session } => {
                    self.note(&format!("detached {session}"));
                    self.sessions.retain(|known| *known != session);
                }
                Action::Closed(why) => panic!("closed: {why:?}"),
                other => self.note(&format!("{other:?}")),
            }
        }
    }

    /// The host gets a message.
    fn host(&mut self, json: &str, replayed: bool) {
        let message: Value = serde_json::from_str(json).expect("a message");
        let params = &message["params"];
        match message["method"].as_str() {
            Some("session/update") if params["old"].is_number() => {
                // An answer does not wait for ever for a history that nobody reads.
                let froze = self.frozen.values().any(|until| self.now < until + 20_000);
                assert!(replayed || froze, "{json}");
            }
            Some("session/update") => {
                let session = params["sessionId"].as_str().expect("a session").to_owned();
                let number = params["number"].as_u64().expect("a number");
                let gap = self.gaps.remove(&session);
                let seen = self.updates_seen.entry(session).or_default();
                assert!(number == *seen + 1 || gap && number > *seen, "update {number} after {seen}");
                *seen = number;
            }
            Some("session/request_permission") => {
                let (id, about) = (message["id"].clone(), params["about"].as_u64().expect("a number"));
                let known = self.questions.iter().chain(&self.late).any(|(known, _)| *known == id);
                assert!(!known, "two questions with the same id: {json}");
                self.renamed += usize::from(is_given(&id));
                self.questions.push((id, about));
            }
            Some("$/cancel_request") => {
                let named = |(id, about): &(Value, u64)| *id == params["requestId"] && params["about"] == *about;
                // It comes on another stream than its question, and may come before it, or after the next one.
                if let Some(at) = self.questions.iter().position(named) {
                    let (id, about) = self.questions.swap_remove(at);
                    self.cancelled += usize::from(is_given(&id));
                    self.reply(&id, about).expect("an answer");
                }
            }
            Some(other) => panic!("{other}"),
            None => {
                let id = message["id"].as_u64().expect("a call of the host");
                assert!(self.calls.remove(&id).is_some(), "call {id} ended twice");
                self.ended += 1;
                if let Some(session) = message["result"]["sessionId"].as_str() {
                    self.sessions.push(session.to_owned());
                }
            }
        }
    }

    pub(super) fn call(&mut self, method: &str, session: Option<&str>) {
        let mut message =
            json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": {"cwd": "/w", "mcpServers": []}});
        if let Some(session) = session {
            message["params"] = json!({"sessionId": session, "prompt": []});
        }
        if self.client.send(&message.to_string()).is_ok() {
            self.note(&format!("host calls {message}"));
            self.calls.insert(self.next, session.map(str::to_owned));
            self.next += 1;
        }
    }

    /// The host does something.
    pub(super) fn wish(&mut self) {
        let session = (!self.sessions.is_empty()).then(|| self.sessions[self.rng.below(self.sessions.len())].clone());
        match (self.rng.below(10), session) {
            (0, _) if self.sessions.len() < 4 && self.calls.values().filter(|it| it.is_none()).count() < 3 => {
                self.call("session/new", None);
            }
            (1, _) if self.calls.len() < 20 => self.call("session/list", None),
            (2..=4, Some(session)) if !self.calls.values().any(|it| it.as_ref() == Some(&session)) => {
                self.call("session/prompt", Some(&session));
            }
            (5 | 6, Some(session)) => {
                let tick = self.ticks_sent.entry(session.clone()).or_default();
                *tick += 1;
                let message =
                    json!({"jsonrpc": "2.0", "method": "_own/tick", "params": {"sessionId": session, "tick": *tick}});
                let _ = self.client.send(&message.to_string());
            }
            (7, _) if !self.questions.is_empty() && self.rng.one_in(8) => {
                let (id, about) = self.questions.swap_remove(0);
                let _ = self.reply(&id, about);
            }
            (8, _) if !self.late.is_empty() && self.rng.one_in(20) => {
                let (id, about) = self.late.swap_remove(0);
                let sent = self.reply(&id, about);
                assert!(matches!(sent, Err(ClientSendError::Misuse { .. })), "{id}: {sent:?}");
            }
            _ => {}
        }
    }

    /// The host answers a question.
    pub(super) fn reply(&mut self, id: &Value, about: u64) -> Result<(), ClientSendError> {
        let result = json!({"outcome": {"outcome": "cancelled"}, "about": about});
        self.client.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string())
    }
}

/// Whether the client has given this id.
fn is_given(id: &Value) -> bool {
    id.as_str().is_some_and(|id| id.starts_with("libacp-q"))
}
