//! Random conversations of a client, with what the agent tells when it replays them.

use libacp::connection::Versions;
use libacp::view::View;
use libacp::{Config, Connection, Role};
use serde_json::{json, Value};

use crate::conversation::{message, update, user};
use crate::rng::Rng;

const SESSION: &str = "s";
const WORDS: [&str; 6] = ["a", "é\n", "\"", "🙂", " ", "<tag>"];
const STATUSES: [&str; 4] = ["pending", "in_progress", "completed", "failed"];

/// A client in a conversation.
pub(crate) struct Talk {
    client: Connection,
    version: u16,
    rng: Rng,
    requests: u64,
    turns: usize,
    /// Whether the agent gives ids to the user's messages. In version 2 it does.
    names: bool,
    /// What it replays.
    pub(crate) told: Vec<Value>,
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

impl Talk {
    pub(crate) fn new(version: u16, seed: u64) -> Self {
        let mut config = Config::new(Role::Client);
        (config.view, config.versions) = (true, Versions::only(version));
        let mut rng = Rng::new(seed);
        let names = version == 2 || rng.one_in(2);
        let client = Connection::new(config);
        let mut talk = Talk { client, version, rng, requests: 0, turns: 0, names, told: Vec::new() };
        let info = json!({"name": "x", "version": "1"});
        let (hello, welcome) = if version == 1 {
            (json!({}), json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}}))
        } else {
            (json!({"info": info}), json!({"protocolVersion": 2, "info": info, "capabilities": {"session": {}}}))
        };
        talk.call("initialize", &hello, &welcome);
        talk.call("session/new", &json!({"cwd": "/w", "mcpServers": []}), &json!({"sessionId": SESSION}));
        talk
    }

    pub(crate) fn view(&self) -> &View {
        self.client.view(SESSION).unwrap()
    }

    pub(crate) fn ask(&mut self, method: &str, params: &Value) {
        self.client.request(method, &params.to_string()).unwrap();
        self.client.consume(usize::MAX);
        self.requests += 1;
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.client.receive(bytes);
        while self.client.poll_event().is_some() {}
        self.client.consume(usize::MAX);
    }

    /// Answers the request that was asked last.
    pub(crate) fn answer(&mut self, outcome: &str, value: &Value) {
        self.feed(&message(&json!({"id": self.requests, outcome: value})));
    }

    fn call(&mut self, method: &str, params: &Value, result: &Value) {
        self.ask(method, params);
        self.answer("result", result);
    }

    pub(crate) fn tell(&mut self, told: &Value) {
        self.feed(&update(SESSION, told));
    }

    /// Tells something that is replayed.
    fn add(&mut self, told: Value) {
        self.tell(&told);
        self.told.push(told);
    }

    fn words(&mut self) -> &'static str {
        WORDS[self.rng.below(WORDS.len())]
    }

    fn blocks(&mut self) -> Vec<Value> {
        let link = json!({"type": "resource_link", "uri": "file:///w/a", "name": "a"});
        let words = self.words();
        let first = text(&format!("{} {words}", self.turns));
        [first, link, text(self.words())].into_iter().take(1 + self.rng.below(3)).collect()
    }

    /// A prompt, what the agent does, and the end of its work.
    pub(crate) fn turn(&mut self) {
        self.turns += 1;
        let (blocks, id) = (self.blocks(), format!("u-{}", self.turns));
        self.ask("session/prompt", &json!({"sessionId": SESSION, "prompt": blocks}));
        if self.version == 1 {
            let id = Some(&*id).filter(|_| self.names);
            for told in blocks.iter().map(|block| user(block, id)) {
                match id {
                    Some(_) => self.add(told),
                    None => self.told.push(told),
                }
            }
            self.updates();
            // What the user says is parted by what the agent says in each turn.
            let words = self.words();
            self.add(json!({"sessionUpdate": "agent_message_chunk", "content": text(words)}));
            return self.answer("result", &json!({"stopReason": "end_turn"}));
        }
        let first = self.rng.one_in(2);
        if first {
            self.answer("result", &json!({"messageId": id}));
        }
        if self.rng.one_in(2) {
            self.add(json!({"sessionUpdate": "user_message", "messageId": id, "content": blocks}));
        } else {
            for block in &blocks {
                self.add(user(block, Some(&id)));
            }
        }
        if !first {
            self.answer("result", &json!({"messageId": id}));
        }
        self.tell(&json!({"sessionUpdate": "state_update", "state": "running"}));
        self.updates();
        self.tell(&json!({"sessionUpdate": "state_update", "state": "idle", "stopReason": "end_turn"}));
    }

    fn updates(&mut self) {
        for _ in 0..self.rng.below(12) {
            let told = if self.version == 1 { self.first() } else { self.second() };
            self.add(told);
        }
    }

    /// An update of version 1.
    fn first(&mut self) -> Value {
        let (number, words) = (self.rng.below(3), self.words());
        let content = json!([{"type": "content", "content": text(words)}]);
        match self.rng.below(8) {
            kind @ 0..=3 => {
                let kind = ["agent_message_chunk", "agent_thought_chunk"][kind % 2];
                let id = [Value::Null, "m-1".into(), "m-2".into()][number].clone();
                json!({"sessionUpdate": kind, "messageId": id, "content": text(words)})
            }
            4 => {
                json!({"sessionUpdate": "tool_call", "toolCallId": format!("t-{number}"), "title": words, "kind": "edit"})
            }
            5 => json!({"sessionUpdate": "tool_call_update", "toolCallId": format!("t-{number}"), "title": null,
                "status": self.rng.pick(&STATUSES), "content": content, "_meta": {words: number}}),
            6 => {
                json!({"sessionUpdate": "plan", "entries": [{"content": words, "priority": "low", "status": "pending"}]})
            }
            _ => json!({"sessionUpdate": "_own", "x": [words, number]}),
        }
    }

    /// An update of version 2.
    fn second(&mut self) -> Value {
        let (number, words) = (self.rng.below(3), self.words());
        let item = json!({"type": "content", "content": text(words)});
        let (message, tool) = (format!("m-{number}"), format!("t-{number}"));
        // The beginning of a character, its end, and nothing.
        let piece = ["4pw=", "kw==", ""][number];
        let maybe = |value: Value| if number == 2 { Value::Null } else { value };
        match self.rng.below(14) {
            0 | 1 => json!({"sessionUpdate": "agent_message_chunk", "messageId": message, "content": text(words)}),
            2 => {
                json!({"sessionUpdate": "agent_thought_chunk", "messageId": format!("h-{number}"), "content": text(words)})
            }
            3 => {
                json!({"sessionUpdate": "agent_message", "messageId": message, "content": maybe(json!([text(words)]))})
            }
            4 => json!({"sessionUpdate": "agent_message", "messageId": message, "_meta": maybe(json!({words: 1}))}),
            5 => json!({"sessionUpdate": "tool_call_update", "toolCallId": tool, "title": maybe(words.into()),
                "status": self.rng.pick(&STATUSES)}),
            6 => json!({"sessionUpdate": "tool_call_update", "toolCallId": tool, "content": maybe(json!([item])),
                "rawInput": maybe(json!([words]))}),
            7 => json!({"sessionUpdate": "tool_call_content_chunk", "toolCallId": tool, "content": item}),
            8 => json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": format!("p-{number}"),
                "entries": [{"content": words, "priority": "low", "status": "pending"}]}}),
            9 => json!({"sessionUpdate": "plan_removed", "planId": format!("p-{number}")}),
            10 => json!({"sessionUpdate": "terminal_update", "terminalId": "x", "command": words,
                "output": maybe(json!({"data": "4pyT"}))}),
            11 => {
                json!({"sessionUpdate": "terminal_output_chunk", "terminalId": "x", "data": piece})
            }
            12 => json!({"sessionUpdate": "notice", "severity": "info", "title": words}),
            _ => json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "c", "content": text(words)}),
        }
    }
}
