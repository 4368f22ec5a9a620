//! A host on the client's side and a raw connection on the agent's, which talk by bytes. The rules of both judge everything:
//! a violation on either side, advice, or a call that is misuse fails the test.

mod asking;
mod ends;
mod orders;
mod random;
mod sessions;
mod stopping;

use crate::connection::{Outcome, Response, Versions};
use crate::host::Host;
use crate::{Config, Connection, Event};

pub(super) const RUNNING: &str = r#"{"sessionUpdate":"state_update","state":"running"}"#;
pub(super) const IDLE: &str = r#"{"sessionUpdate":"state_update","state":"idle"}"#;
pub(super) const DONE: &str = r#"{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}"#;

/// A session `s` that is open, in one version.
pub(super) struct Pair {
    pub(super) client: Host,
    pub(super) agent: Connection,
    /// What the client's host was told, and what the update belonged to.
    pub(super) told: Vec<(Event, Option<u64>)>,
    /// What the agent was asked.
    pub(super) asked: Vec<Event>,
}

impl Pair {
    /// Two sides that have said nothing yet. The agent speaks one version, the client both.
    pub(super) fn silent(version: u16) -> Self {
        let versions = Versions::only(version);
        let agent = Connection::new(Config { versions, ..Config::agent() });
        let client = Host::new(Config { versions: Versions::ALL, ..Config::client() }, []);
        Pair { client, agent, told: Vec::new(), asked: Vec::new() }
    }

    /// The agent answers the oldest prompt: with an idle in version 2, in which the prompt was answered before.
    pub(super) fn end_turn(&mut self, reason: &str) {
        match self.agent.version() {
            Some(1) => self.answer(&format!(r#"{{"stopReason":"{reason}"}}"#)),
            _ => self.tell(&format!(r#"{{"sessionUpdate":"state_update","state":"idle","stopReason":"{reason}"}}"#)),
        }
    }

    /// In version 2 the agent takes the oldest prompt: echo, answer, running.
    pub(super) fn begin_turn(&mut self, message: &str) {
        if self.agent.version() == Some(2) {
            self.echo(message);
            self.answer(&format!(r#"{{"messageId":"{message}"}}"#));
            self.tell(RUNNING);
        }
    }

    pub(super) fn echo(&mut self, message: &str) {
        self.tell(&format!(
            r#"{{"sessionUpdate":"user_message","messageId":"{message}","content":[{{"type":"text","text":"Hi"}}]}}"#
        ));
    }

    /// Two sides that have agreed on a version.
    pub(super) fn new(version: u16) -> Self {
        let mut pair = Self::silent(version);
        pair.call("initialize", r#"{"clientInfo":{"name":"c","version":"1"}}"#);
        pair.answer(hello(version));
        pair.clear();
        pair
    }

    /// As `new`, with an open session.
    pub(super) fn open(version: u16) -> Self {
        let mut pair = Self::new(version);
        pair.call("session/new", r#"{"cwd":"/w","mcpServers":[]}"#);
        pair.answer(r#"{"sessionId":"s"}"#);
        pair.clear();
        pair
    }

    /// Sends a request of the client and returns its serial.
    pub(super) fn call(&mut self, method: &str, params: &str) -> u64 {
        let id = self.client.request_with(method, params, crate::connection::CallOptions::default());
        let id = id.unwrap_or_else(|misuse| panic!("{method}: {misuse}"));
        let serial = self.client.connection().pending_by_id(&id).expect("it is open").serial;
        self.pump();
        serial
    }

    pub(super) fn prompt(&mut self) -> u64 {
        self.call("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"Hi"}]}"#)
    }

    /// The agent answers the oldest request of the client.
    pub(super) fn answer(&mut self, result: &str) {
        let serial = self.agent.unanswered().next().expect("an open request").serial;
        self.agent.respond(serial, result).unwrap_or_else(|misuse| panic!("{result}: {misuse}"));
        self.pump();
    }

    pub(super) fn refuse(&mut self, code: i32) {
        let serial = self.agent.unanswered().next().expect("an open request").serial;
        self.agent.respond_error(serial, crate::ErrorCode(code), "no", None).expect("it can be refused");
        self.pump();
    }

    /// The agent tells an update of the session.
    pub(super) fn tell(&mut self, update: &str) {
        let params = format!(r#"{{"sessionId":"s","update":{update}}}"#);
        self.agent.notify("session/update", &params).unwrap_or_else(|misuse| panic!("{update}: {misuse}"));
        self.pump();
    }

    pub(super) fn chunk(&mut self) {
        let id = if self.agent.version() == Some(2) { r#""messageId":"a","# } else { "" };
        self.tell(&format!(r#"{{"sessionUpdate":"agent_message_chunk",{id}"content":{{"type":"text","text":"x"}}}}"#));
    }

    /// Waits until the client's time is up, and sees that a prompt has not ended before.
    pub(super) fn elapse(&mut self, prompt: u64) {
        let due = self.client.poll_timeout().expect("a time");
        self.client.handle_timeout(due - 1);
        self.pump();
        assert_eq!(self.end(prompt), None);
        self.client.handle_timeout(due);
        self.pump();
    }

    /// Moves bytes until both are silent.
    pub(super) fn pump(&mut self) {
        loop {
            let sent = self.client.connection().transmit().to_vec();
            self.client.connection_mut().consume(sent.len());
            self.agent.receive(&sent);
            while let Some(event) = self.agent.poll_event() {
                assert!(!matches!(event, Event::Violation(_) | Event::Advice(_)), "{event:?}");
                self.asked.push(event);
            }
            let said = self.agent.transmit().to_vec();
            self.agent.consume(said.len());
            self.client.connection_mut().receive(&said);
            while let Some(event) = self.client.poll_event() {
                assert!(!matches!(event, Event::Violation(_) | Event::Advice(_)), "{event:?}");
                self.told.push((event, self.client.exchange()));
            }
            if sent.is_empty() && said.is_empty() {
                break;
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.told.clear();
        self.asked.clear();
    }

    /// The calls that have ended, in their order.
    pub(super) fn ended(&self) -> impl Iterator<Item = &Response> {
        self.told.iter().filter_map(|(event, _)| match event {
            Event::Response(response) => Some(response),
            _ => None,
        })
    }

    /// How a call has ended, in words; `None` while it is open.
    pub(super) fn end(&self, serial: u64) -> Option<String> {
        let mut ends = self.ended().filter(|response| response.serial == serial);
        let end = ends.next()?;
        assert!(ends.next().is_none(), "{serial} ends twice");
        Some(match &end.outcome {
            Outcome::Result(_) => end.outcome.result().unwrap_or_default().to_owned(),
            Outcome::Error(error) => format!("{} {}", error.code, error.message),
            other => other.name().to_owned(),
        })
    }

    /// The methods of the notifications that the agent has heard.
    pub(super) fn heard(&self) -> Vec<&str> {
        let names = self.asked.iter().filter_map(|event| match event {
            Event::Notification(notification) => Some(&*notification.method),
            Event::Cancel(_) => Some("$/cancel_request"),
            _ => None,
        });
        names.collect()
    }
}

pub(super) fn hello(version: u16) -> &'static str {
    match version {
        1 => {
            r#"{"agentInfo":{"name":"a","version":"1"},"agentCapabilities":{"loadSession":true,"sessionCapabilities":{"close":{},"resume":{},"list":{},"delete":{}}}}"#
        }
        _ => r#"{"info":{"name":"a","version":"1"},"capabilities":{"session":{"delete":{}}}}"#,
    }
}
