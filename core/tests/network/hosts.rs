//! The two hosts of the simulated network: agents behind the server, and what the client has to do and hears.

use libacp::http::{Action, ConnectionKey};
use serde_json::{json, Value};

use super::{Packet, World};

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
                    let question = format!("q-{}", self.asked);
                    out.push(
                        json!({"jsonrpc": "2.0", "id": question, "method": "session/request_permission",
                        "params": {"sessionId": session, "options": []}})
                        .to_string(),
                    );
                    self.agents.get_mut(&key).expect("the agent").waits.insert(question, (session, id));
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
                if let Some((session, prompt)) = agent.waits.remove(id.as_str().unwrap_or_default()) {
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
                    self.questions.retain(|id| {
                        !lost.questions.iter().any(|gone| json!(id) == gone.to_json().as_str().trim_matches('"'))
                    });
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
            Some("session/request_permission") => self.questions.push(message["id"].clone()),
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
            (7, _) if !self.questions.is_empty() => {
                let id = self.questions.swap_remove(0);
                let answer = json!({"jsonrpc": "2.0", "id": id, "result": {"outcome": {"outcome": "cancelled"}}});
                let _ = self.client.send(&answer.to_string());
            }
            _ => {}
        }
    }
}
