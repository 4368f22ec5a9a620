//! A host of an agent and a raw connection of a client, with nothing between them but bytes.

use std::collections::VecDeque;

use crate::connection::{CallOptions, Notification, Outcome, Policy, Request, Response};
use crate::host::Host;
use crate::{json, Config, Connection, ErrorCode, Event, Versions};

const VERSIONS: [u16; 2] = [1, 2];
const END: &str = r#"{"stopReason":"end_turn"}"#;
const TEXT: &str = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}"#;
const CALL: &str = r#"{"type":"tool_call","toolCallId":"t"}"#;

/// Params by name: `{"a":"b"}` without the noise.
fn text(of: &str, pointer: &str) -> String {
    json::pointer(of, pointer).map_or_else(String::new, |found| json::unescape(found).map_or(found.into(), Into::into))
}

/// The two sides of a conversation, and what each has seen and not looked at yet.
struct Pair {
    host: Host,
    client: Connection,
    seen: VecDeque<Event>,
    told: VecDeque<Event>,
}

impl Pair {
    /// They have agreed on a version. The host has handlers for these methods, and capabilities for them.
    fn new(version: u16, handlers: &[&str]) -> Self {
        let drafts = u32::MAX;
        let versions = Versions::only(version);
        let policy = Policy::Strict;
        let agent = Config { policy, reminder: Some(1000), versions, drafts, ..Config::agent() };
        let host = Host::new(agent, handlers.iter().map(|name| (*name).to_owned()));
        let client = Connection::new(Config { policy, versions, drafts, ..Config::client() });
        let mut pair = Pair { host, client, seen: VecDeque::new(), told: VecDeque::new() };
        let hello = match version {
            1 => {
                r#"{"clientInfo":{"name":"c","version":"1"},"clientCapabilities":{"fs":{},"terminal":false,"elicitation":{"form":{}},"auth":{"terminal":true},"session":{"configOptions":{"boolean":{}}}}}"#
            }
            _ => {
                r#"{"info":{"name":"c","version":"1"},"capabilities":{"elicitation":{"form":{}},"auth":{"terminal":{}}}}"#
            }
        };
        pair.client.request("initialize", hello).unwrap();
        let request = pair.request("initialize");
        assert_eq!(text(request.params(), "/clientInfo/name"), "c");
        let welcome = r#"{"agentInfo":{"name":"a","version":"1"},"agentCapabilities":{"loadSession":true,
            "promptCapabilities":{"image":true},"mcpCapabilities":{"http":true,"sse":true},
            "sessionCapabilities":{"list":{},"resume":{},"close":{},"delete":{},"fork":{}},"auth":{"logout":{}}},
            "authMethods":[{"id":"web","name":"Web"}]}"#;
        pair.host.respond(&request, welcome).unwrap();
        pair.result();
        pair
    }

    /// With an open session `s`.
    fn open(version: u16, handlers: &[&str]) -> Self {
        let mut pair = Pair::new(version, handlers);
        let request = pair.ask("session/new", r#"{"cwd":"/w","mcpServers":[]}"#);
        pair.host.respond(&request, r#"{"sessionId":"s"}"#).unwrap();
        pair.result();
        pair
    }

    /// Carries bytes until nobody has anything to say. Nobody may break a rule or be advised.
    fn pump(&mut self) {
        loop {
            let out = self.host.connection().transmit().to_vec();
            self.host.connection_mut().consume(out.len());
            self.client.receive(&out);
            let back = self.client.transmit().to_vec();
            self.client.consume(back.len());
            self.host.connection_mut().receive(&back);
            let (seen, told) = (self.seen.len(), self.told.len());
            self.seen.extend(std::iter::from_fn(|| self.host.poll_event()));
            self.told.extend(std::iter::from_fn(|| self.client.poll_event()));
            for event in self.seen.iter().skip(seen).chain(self.told.iter().skip(told)) {
                assert!(!matches!(event, Event::Violation(_) | Event::Advice(_)), "{event:?}");
            }
            if out.is_empty() && back.is_empty() {
                return;
            }
        }
    }

    /// What the host sees next.
    fn seen(&mut self) -> Option<Event> {
        self.pump();
        self.seen.pop_front()
    }

    /// What the client is told next.
    fn told(&mut self) -> Option<Event> {
        self.pump();
        self.told.pop_front()
    }

    fn request(&mut self, method: &str) -> Request {
        match self.seen() {
            Some(Event::Request(request)) if request.method == method => request,
            other => panic!("{method}: {other:?}"),
        }
    }

    /// A request of the client as the host sees it.
    fn ask(&mut self, method: &str, params: &str) -> Request {
        self.client.request(method, params).unwrap();
        self.pump();
        match self.seen.pop_front() {
            Some(Event::Request(request)) => request,
            other => panic!("{method}: {other:?}"),
        }
    }

    fn response(&mut self) -> Response {
        match self.told() {
            Some(Event::Response(response)) => response,
            other => panic!("{other:?}"),
        }
    }

    /// The result of the request that the client has sent.
    fn result(&mut self) -> String {
        let mut response = self.response();
        response.outcome.take_result().unwrap_or_else(|| panic!("{response:?}"))
    }

    fn notification(&mut self) -> Notification {
        match self.told() {
            Some(Event::Notification(notification)) => notification,
            other => panic!("{other:?}"),
        }
    }

    /// The update that the client is told next.
    fn update(&mut self) -> String {
        let params = self.notification().take_params();
        json::pointer(&params, "/update").unwrap().to_owned()
    }

    /// Has the host say an update of the session `s`.
    fn say(&mut self, update: &str) {
        self.host.notify("session/update", &format!(r#"{{"sessionId":"s","update":{update}}}"#)).unwrap();
    }

    /// A prompt of the client as the host sees it, in the session `s`.
    fn prompt(&mut self, said: &str) -> Request {
        let prompt = format!(r#"{{"sessionId":"s","prompt":[{{"type":"text","text":"{said}"}}]}}"#);
        self.ask("session/prompt", &prompt)
    }

    /// The code and the data of the error that answers the request of the client.
    fn refusal(&mut self) -> (ErrorCode, String) {
        match self.response().outcome {
            Outcome::Error(error) => (error.code, error.data.unwrap_or_default()),
            other => panic!("{other:?}"),
        }
    }

    /// The state that the client is told next, with the stop reason.
    fn state(&mut self) -> String {
        let update = self.update();
        assert_eq!(text(&update, "/sessionUpdate"), "state_update", "{update}");
        format!("{} {}", text(&update, "/state"), text(&update, "/stopReason")).trim_end().to_owned()
    }

    /// A prompt that has become a message: as the host sees it, and the id of the message.
    fn prompted(&mut self, said: &str) -> (Request, String) {
        let prompt = self.prompt(said);
        (prompt, self.inserted(said))
    }

    fn inserted(&mut self, said: &str) -> String {
        let id = text(&self.result(), "/messageId");
        let echo = self.update();
        assert_eq!(text(&echo, "/sessionUpdate"), "user_message");
        assert_eq!((text(&echo, "/messageId"), text(&echo, "/content/0/text")), (id.clone(), said.to_owned()));
        assert_eq!(self.state(), "running");
        id
    }

    /// Has the host ask for permission, and the client see it.
    fn permission(&mut self) -> Request {
        let asked = r#"{"sessionId":"s","toolCall":{"toolCallId":"t","title":"Run","kind":null},"options":[{"optionId":"y","name":"Y","kind":"allow_once"},{"optionId":"n","name":"N","kind":"reject_once"}]}"#;
        self.host.request_with("session/request_permission", asked, CallOptions::default()).unwrap();
        match self.told() {
            Some(Event::Request(request)) => request,
            other => panic!("{other:?}"),
        }
    }

    /// Nobody has seen anything else.
    fn quiet(&mut self) {
        self.pump();
        assert!(self.seen.is_empty() && self.told.is_empty(), "{:?} {:?}", self.seen, self.told);
    }
}

/// Handlers see prompts before these are messages.
fn held(version: u16) -> Pair {
    let mut pair = Pair::open(version, &[]);
    pair.host.hold_prompts();
    pair
}

fn cancelled(pair: &mut Pair) -> (u64, crate::Id) {
    match pair.seen() {
        Some(Event::Cancel(cancel)) => (cancel.serial, cancel.id),
        other => panic!("{other:?}"),
    }
}

fn told_cancel(pair: &mut Pair) {
    pair.client.notify("session/cancel", r#"{"sessionId":"s"}"#).unwrap();
}

mod beside;
mod both;
mod down;
mod held;
mod newer;
mod shapes;
mod walk;
mod work;
