//! A connection brought to where a combination wants it, and one message through it.
//!
//! Everything in this little world is called `x`, as in the params that the model's smallest values make: the session
//! with its mode and its option, the terminal, the way to log in, the question on a web page, the request that waits.

use libacp::connection::{self, CallOptions, Config, Connection, Consequence, Event, Misuse, Role};
use libacp::{ErrorCode, Id};
use serde_json::{json, Value};

use crate::case::{Case, Login, Outcome, Stage};

/// The id of the message under test when the peer sends it.
const ID: i64 = 99;

#[derive(Debug)]
pub(crate) struct Stand {
    connection: Connection,
    next_id: i64,
}

impl Stand {
    /// `Err` when the host may not say of itself what the combination wants it to.
    pub(crate) fn new(case: &Case<'_>) -> Result<Self, Misuse> {
        let mut config = Config::new(case.role);
        config.versions = case.versions;
        for draft in &case.drafts {
            config.draft(draft).expect("a draft of the model");
        }
        let mut stand = Stand { connection: Connection::new(config), next_id: 1 };
        if case.stage == Stage::Start {
            return Ok(stand);
        }
        let (hello, welcome) = (hello(case), welcome(case));
        stand.ask(Role::Client, "initialize", &hello, &Id::from("x"))?;
        if case.stage == Stage::Initializing {
            return Ok(stand);
        }
        stand.answer(Role::Client, &Id::from("x"), &welcome)?;
        assert_eq!(stand.connection.version(), Some(case.model.version));
        if case.stage == Stage::Agreed {
            return Ok(stand);
        }
        stand.log_in(case);
        stand.furnish(case);
        match case.stage {
            Stage::ClosedByHost => stand.connection.close(),
            Stage::ClosedByPeer => stand.connection.receive_eof(),
            _ => {}
        }
        stand.events();
        Ok(stand)
    }

    /// Lets the login be as it should.
    fn log_in(&mut self, case: &Case<'_>) {
        let known = match case.login {
            Login::Unlisted | Login::Listed => connection::Login::Unknown,
            Login::Required => {
                let id = Id::from("wanted");
                self.ask(Role::Client, "_x/wanted", &json!({}), &id).expect("an extension");
                self.refuse(&id, ErrorCode::AUTH_REQUIRED);
                connection::Login::Required
            }
            Login::Done => {
                let method = if case.model.version == 1 { "authenticate" } else { "auth/login" };
                self.exchange(Role::Client, method, &json!({"methodId": "x"}), &json!({}));
                connection::Login::Done
            }
        };
        assert_eq!(self.connection.login(), known);
    }

    /// The agent answers with an error.
    fn refuse(&mut self, id: &Id, code: ErrorCode) {
        if self.connection.role() == Role::Agent {
            self.connection.respond_error(id, code, "no", None).expect("an error");
        } else {
            self.feed(&format!(r#""id":{id},"error":{{"code":{},"message":"no"}}"#, code.0));
        }
        self.settle();
    }

    /// Opens what the method's params name, as far as the capabilities allow.
    fn furnish(&mut self, case: &Case<'_>) {
        if has_sessions(case) {
            self.exchange(Role::Client, "session/new", &case.model.params("session/new", true), &session(case));
            // TOOL-37, DTERM-14: these ask for more than capabilities of the connection.
            let offer = json!({"cancel": {}});
            match case.method {
                "tool_call/cancel" if case.model.version == 2 => {
                    let call = json!({"sessionUpdate": "tool_call_update", "toolCallId": "x", "capabilities": offer});
                    self.tell("session/update", &json!({"sessionId": "x", "update": call}));
                }
                "terminal/cancel" if case.model.version == 2 => {
                    let terminal =
                        json!({"sessionUpdate": "terminal_update", "terminalId": "x", "capabilities": offer});
                    self.tell("session/update", &json!({"sessionId": "x", "update": terminal}));
                }
                _ => {}
            }
        }
        if case.expected() != Outcome::Accepted {
            return;
        }
        match case.method {
            "terminal/output" | "terminal/wait_for_exit" | "terminal/kill" | "terminal/release" => {
                let create = json!({"sessionId": "x", "command": "x"});
                self.exchange(Role::Agent, "terminal/create", &create, &json!({"terminalId": "x"}));
            }
            "elicitation/complete" => {
                let ask = json!({"sessionId": "x", "message": "x", "mode": "url", "elicitationId": "x", "url": "x:x"});
                self.exchange(Role::Agent, "elicitation/create", &ask, &json!({"action": "accept"}));
            }
            "$/cancel_request" => self.ask(case.sender(), "_x/wait", &json!({}), &Id::from("x")).expect("an extension"),
            _ => {}
        }
    }

    /// A request and its answer, in either direction.
    fn exchange(&mut self, from: Role, method: &str, params: &Value, result: &Value) {
        let id = Id::from(self.next_id);
        self.next_id += 1;
        let done = self.ask(from, method, params, &id).and_then(|()| self.answer(from, &id, result));
        assert!(done.is_ok(), "{method}: {done:?}");
    }

    /// A notification of the agent's.
    fn tell(&mut self, method: &str, params: &Value) {
        if self.connection.role() == Role::Agent {
            self.connection.notify(method, &params.to_string()).expect("a notification");
        } else {
            self.feed(&format!(r#""method":"{method}","params":{params}"#));
        }
        self.settle();
    }

    fn ask(&mut self, from: Role, method: &str, params: &Value, id: &Id) -> Result<(), Misuse> {
        if from == self.connection.role() {
            let options = CallOptions::default().id(id.clone());
            self.connection.request_with(method, &params.to_string(), options)?;
        } else {
            self.feed(&format!(r#""id":{id},"method":"{method}","params":{params}"#));
        }
        self.settle();
        Ok(())
    }

    fn answer(&mut self, from: Role, id: &Id, result: &Value) -> Result<(), Misuse> {
        if from == self.connection.role() {
            self.feed(&format!(r#""id":{id},"result":{result}"#));
        } else {
            self.connection.respond(id, &result.to_string())?;
        }
        self.settle();
        Ok(())
    }

    fn feed(&mut self, members: &str) {
        self.connection.receive(format!("{{\"jsonrpc\":\"2.0\",{members}}}\n").as_bytes());
    }

    fn events(&mut self) -> Vec<Event> {
        std::iter::from_fn(|| self.connection.poll_event()).collect()
    }

    fn settle(&mut self) {
        self.events();
        self.connection.consume(usize::MAX);
    }

    /// The misuse that `why_not` names.
    pub(crate) fn why_not(&self, method: &str) -> Option<Misuse> {
        let misuse = self.connection.why_not(method);
        assert_eq!(self.connection.can(method), misuse.is_none());
        misuse
    }

    /// Sends or receives the message of a combination; what came of it, or what is wrong with that.
    pub(crate) fn run(&mut self, case: &Case<'_>) -> Result<Outcome, String> {
        let params = case.model.params(case.method, case.request).to_string();
        if case.sends {
            self.send(case, &params)
        } else {
            self.receive(case, &params)
        }
    }

    fn send(&mut self, case: &Case<'_>, params: &str) -> Result<Outcome, String> {
        let before = (self.connection.phase(), self.connection.pending().count());
        let done = if case.request {
            self.connection.request(case.method, params).map(drop)
        } else {
            self.connection.notify(case.method, params)
        };
        let sent: Vec<Value> = self.connection.transmit().split(|byte| *byte == b'\n').filter_map(parse).collect();
        let refused = self.events().into_iter().find(|event| !matches!(event, Event::Advice(_)));
        match done {
            Ok(()) => {
                let [message] = &*sent else { return Err(format!("{} messages were sent", sent.len())) };
                let whole = message["method"] == case.method && message.get("id").is_some() == case.request;
                (whole && refused.is_none())
                    .then_some(Outcome::Accepted)
                    .ok_or_else(|| format!("{message}, {refused:?}"))
            }
            Err(misuse) => {
                let after = (self.connection.phase(), self.connection.pending().count());
                let unchanged = sent.is_empty() && refused.is_none() && before == after;
                unchanged
                    .then_some(Outcome::Misuse(misuse.kind, misuse.rule.as_str()))
                    .ok_or_else(|| format!("{misuse}, and yet {sent:?}, {refused:?}, {after:?}"))
            }
        }
    }

    fn receive(&mut self, case: &Case<'_>, params: &str) -> Result<Outcome, String> {
        let id = if case.request { format!(r#""id":{ID},"#) } else { String::new() };
        self.feed(&format!(r#"{id}"method":"{}","params":{params}"#, case.method));
        let events = self.events();
        let sent: Vec<Value> = self.connection.transmit().split(|byte| *byte == b'\n').filter_map(parse).collect();
        let outcome = match (&*events, &*sent) {
            ([], []) => Outcome::Ignored,
            ([Event::Request(request)], []) if request.method == case.method && request.id == ID.into() => {
                Outcome::Accepted
            }
            ([Event::Notification(told)], []) if told.method == case.method => Outcome::Accepted,
            ([Event::Cancel(cancel)], []) if case.method == "$/cancel_request" && cancel.id == "x".into() => {
                Outcome::Accepted
            }
            ([Event::Violation(violation), acted @ ..], [answer]) => {
                let Consequence::Refused(code) = violation.consequence else { return Err(format!("{violation:?}")) };
                let told = json!({"id": ID, "code": code.0, "rule": violation.rule});
                let said = &answer["error"];
                if told != json!({"id": answer["id"], "code": said["code"], "rule": said["data"]["rule"]}) {
                    return Err(format!("told of {told}, answered {answer}"));
                }
                // RPC-29: whatever its form, a cancel of a session that there is, is acted upon.
                let acts = case.method == "session/cancel"
                    && code == ErrorCode::INVALID_REQUEST
                    && violation.rule == "RPC-29"
                    && has_sessions(case);
                let done = matches!(acted, [Event::Notification(told)] if told.method == case.method);
                if acts != done || !(acts || acted.is_empty()) {
                    return Err(format!("then {acted:?}"));
                }
                Outcome::Refused(code, violation.rule.as_str())
            }
            ([Event::Violation(violation), Event::Notification(told)], []) if told.method == case.method => {
                let delivered = violation.consequence == Consequence::Delivered;
                delivered.then_some(Outcome::Reported(violation.rule.as_str())).ok_or_else(|| format!("{events:?}"))?
            }
            ([Event::Violation(violation)], []) if violation.consequence == Consequence::Dropped => {
                Outcome::Dropped(violation.rule.as_str())
            }
            _ => return Err(format!("{events:?}, {sent:?}")),
        };
        Ok(outcome)
    }
}

fn has_sessions(case: &Case<'_>) -> bool {
    case.model.version == 1 || case.capabilities(Role::Agent)["session"].is_object()
}

fn parse(line: &[u8]) -> Option<Value> {
    (!line.is_empty()).then(|| serde_json::from_slice(line).expect("JSON is sent"))
}

/// The client's params of `initialize`.
fn hello(case: &Case<'_>) -> Value {
    let capabilities = case.capabilities(Role::Client);
    let info = json!({"name": "x", "version": "x"});
    let newest = if case.falls_back() { 2 } else { case.model.version };
    let mut hello = json!({"protocolVersion": newest});
    // INIT-13, INIT-16: what is proposed decides the names, so an agent that falls back has been told of nothing.
    if newest == 1 {
        hello["clientCapabilities"] = capabilities;
        hello["clientInfo"] = info;
    } else {
        hello["capabilities"] = if case.falls_back() { json!({}) } else { capabilities };
        hello["info"] = info;
    }
    hello
}

/// The agent's result.
fn welcome(case: &Case<'_>) -> Value {
    let capabilities = case.capabilities(Role::Agent);
    let info = json!({"name": "x", "version": "x"});
    if case.model.version == 1 {
        let login = if case.login == Login::Unlisted { json!([]) } else { json!([{"id": "x", "name": "x"}]) };
        json!({"protocolVersion": 1, "agentCapabilities": capabilities, "agentInfo": info, "authMethods": login})
    } else {
        let listed = json!([{"type": "agent", "methodId": "x", "name": "x"}]);
        let login = if case.login == Login::Unlisted { json!([]) } else { listed };
        json!({"protocolVersion": 2, "capabilities": capabilities, "info": info, "authMethods": login})
    }
}

/// The answer to `session/new`.
fn session(case: &Case<'_>) -> Value {
    let id = if case.model.version == 1 { "id" } else { "configId" };
    let values = json!([{"value": "x", "name": "x"}]);
    let option = json!({id: "x", "name": "x", "type": "select", "currentValue": "x", "options": values});
    let mut session = json!({"sessionId": "x", "configOptions": [option]});
    if case.model.version == 1 {
        session["modes"] = json!({"currentModeId": "x", "availableModes": [{"id": "x", "name": "x"}]});
    }
    session
}
