//! A relay between two sides that are written by hand.

use libacp::relay::{Relay, Side};
use libacp::{Config, ErrorCode, Event, Versions};
use serde_json::{json, Value};

/// Passes all on, and says what waits for both sides then: for the client, for the agent.
fn say(relay: &mut Relay, from: Side, message: &Value) -> (Vec<Value>, Vec<Value>) {
    let mut whole = json!({"jsonrpc": "2.0"});
    whole.as_object_mut().unwrap().extend(message.as_object().unwrap().clone());
    relay.receive(from, format!("{whole}\n").as_bytes());
    pass(relay)
}

fn pass(relay: &mut Relay) -> (Vec<Value>, Vec<Value>) {
    for from in [Side::Client, Side::Agent] {
        while let Some(event) = relay.poll_event(from) {
            let _ = relay.pass(from, &event);
        }
    }
    (heard(relay, Side::Client), heard(relay, Side::Agent))
}

fn heard(relay: &mut Relay, to: Side) -> Vec<Value> {
    let text = String::from_utf8(relay.transmit(to).to_vec()).unwrap();
    relay.consume(to, text.len());
    let read = |line: &str| {
        let mut message: Value = serde_json::from_str(line).unwrap();
        message.as_object_mut().unwrap().remove("jsonrpc");
        message
    };
    text.lines().map(read).collect()
}

fn one(messages: Vec<Value>) -> Value {
    assert_eq!(messages.len(), 1, "{messages:?}");
    messages.into_iter().next().unwrap()
}

/// Greeted on both sides, with a session.
fn opened() -> Relay {
    let mut relay = Relay::new();
    let hello = json!({"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": true}}, "_meta": {"a": 1}});
    let (nothing, asked) =
        say(&mut relay, Side::Client, &json!({"id": "init", "method": "initialize", "params": hello}));
    let asked = one(asked);
    assert_eq!((nothing.len(), &asked["params"]["_meta"]), (0, &json!({"a": 1})));
    let can = json!({"protocolVersion": 1, "agentCapabilities": {"loadSession": true}, "agentInfo": {"name": "far", "version": "1"}});
    let (answer, _) = say(&mut relay, Side::Agent, &json!({"id": asked["id"], "result": can}));
    let answer = one(answer);
    assert_eq!((&answer["id"], &answer["result"]["agentInfo"]["name"]), (&json!("init"), &json!("far")));
    let new = json!({"id": "new", "method": "session/new", "params": {"cwd": "/", "mcpServers": []}});
    let asked = one(say(&mut relay, Side::Client, &new).1);
    let answer = one(say(&mut relay, Side::Agent, &json!({"id": asked["id"], "result": {"sessionId": "s"}})).0);
    assert_eq!(answer, json!({"id": "new", "result": {"sessionId": "s"}}));
    relay
}

fn prompt(relay: &mut Relay, id: &str) -> Value {
    let prompt = json!({"sessionId": "s", "prompt": [{"type": "text", "text": "go"}]});
    one(say(relay, Side::Client, &json!({"id": id, "method": "session/prompt", "params": prompt})).1)
}

#[test]
fn both_sides_ask_under_ids_of_their_own() {
    let mut relay = opened();
    let asked = prompt(&mut relay, "same");
    let update = json!({"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "hi"}, "unknown": 1}});
    let told = one(say(&mut relay, Side::Agent, &json!({"method": "session/update", "params": update})).0);
    assert_eq!(told["params"], update);
    // The id of the client's own request, which is another's on this side.
    let read = json!({"id": "same", "method": "fs/read_text_file", "params": {"sessionId": "s", "path": "/a"}});
    let asks = one(say(&mut relay, Side::Agent, &read).0);
    let error = json!({"code": -32002, "message": "None", "data": {"uri": "/a"}});
    let refused = one(say(&mut relay, Side::Client, &json!({"id": asks["id"], "error": error})).1);
    assert_eq!(refused, json!({"id": "same", "error": error}));
    let end = one(say(&mut relay, Side::Agent, &json!({"id": asked["id"], "result": {"stopReason": "end_turn"}})).0);
    assert_eq!(end, json!({"id": "same", "result": {"stopReason": "end_turn"}}));
}

#[test]
fn methods_of_extensions_pass_in_both_directions() {
    let mut relay = opened();
    for (from, index) in [(Side::Client, 1), (Side::Agent, 0)] {
        let both = say(&mut relay, from, &json!({"id": 9, "method": "_own/ask", "params": [1, {"x": null}]}));
        let asked = one([both.0, both.1].into_iter().nth(index).unwrap());
        assert_eq!((&asked["method"], &asked["params"]), (&json!("_own/ask"), &json!([1, {"x": null}])));
        let both = say(&mut relay, from.other(), &json!({"id": asked["id"], "result": [2]}));
        assert_eq!(one([both.1, both.0].into_iter().nth(index).unwrap()), json!({"id": 9, "result": [2]}));
        let both = say(&mut relay, from, &json!({"method": "_own/tell", "params": {"y": 1}}));
        let told = one([both.0, both.1].into_iter().nth(index).unwrap());
        assert_eq!(told, json!({"method": "_own/tell", "params": {"y": 1}}));
    }
}

#[test]
fn what_is_cancelled_is_cancelled_under_the_id_that_the_other_side_knows() {
    let mut relay = opened();
    let asked = one(say(&mut relay, Side::Client, &json!({"id": "mine", "method": "_own/ask", "params": {}})).1);
    let cancel = json!({"method": "$/cancel_request", "params": {"requestId": "mine"}});
    let told = one(say(&mut relay, Side::Client, &cancel).1);
    assert_eq!(told, json!({"method": "$/cancel_request", "params": {"requestId": asked["id"]}}));
    let error = json!({"code": -32800, "message": "Cancelled"});
    let answer = one(say(&mut relay, Side::Agent, &json!({"id": asked["id"], "error": error})).0);
    assert_eq!(answer["id"], "mine");
    // Once it has been answered, there is nothing left of it.
    assert_eq!(say(&mut relay, Side::Client, &cancel).1, Vec::<Value>::new());
    let asked = prompt(&mut relay, "turn");
    let stop = json!({"method": "session/cancel", "params": {"sessionId": "s"}});
    assert_eq!(one(say(&mut relay, Side::Client, &stop).1), stop);
    let answer = say(&mut relay, Side::Agent, &json!({"id": asked["id"], "result": {"stopReason": "cancelled"}})).0;
    assert_eq!(one(answer)["result"]["stopReason"], "cancelled");
}

#[test]
fn a_question_that_the_agent_takes_back_is_taken_back_from_the_client_too() {
    let with = |config: Config| {
        let mut config = config;
        config.versions = Versions::ALL;
        config
    };
    let mut relay = Relay::with(with(Config::agent()), with(Config::client()));
    let side = |name: &str| json!({"protocolVersion": 2, "info": {"name": name, "version": "1"}, "capabilities": {}});
    let asked = one(say(&mut relay, Side::Client, &json!({"id": 0, "method": "initialize", "params": side("c")})).1);
    let mut agent = side("a");
    agent["capabilities"]["session"] = json!({});
    say(&mut relay, Side::Agent, &json!({"id": asked["id"], "result": agent}));
    let new = json!({"id": 1, "method": "session/new", "params": {"cwd": "/"}});
    let asked = one(say(&mut relay, Side::Client, &new).1);
    say(&mut relay, Side::Agent, &json!({"id": asked["id"], "result": {"sessionId": "s"}}));
    let params =
        json!({"sessionId": "s", "title": "Run?", "options": [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]});
    let ask = json!({"id": "p", "method": "session/request_permission", "params": params});
    let asks = one(say(&mut relay, Side::Agent, &ask).0);
    let back = json!({"method": "$/cancel_request", "params": {"requestId": "p"}});
    let (client, agent) = say(&mut relay, Side::Agent, &back);
    let cancelled = json!({"outcome": {"outcome": "cancelled"}});
    assert_eq!(one(agent), json!({"id": "p", "result": cancelled}));
    assert_eq!(one(client), json!({"method": "$/cancel_request", "params": {"requestId": asks["id"]}}));
    let (client, agent) = say(&mut relay, Side::Client, &json!({"id": asks["id"], "result": cancelled}));
    assert_eq!((client.len(), agent.len()), (0, 0));
}

#[test]
fn what_breaks_the_rules_does_not_pass() {
    let mut relay = opened();
    // A session that nobody has opened, and a capability that the client has not.
    let foreign = json!({"sessionId": "other", "prompt": []});
    let (answer, asked) =
        say(&mut relay, Side::Client, &json!({"id": 1, "method": "session/prompt", "params": foreign}));
    assert_eq!((one(answer)["id"].clone(), asked.len()), (json!(1), 0));
    let write = json!({"sessionId": "s", "path": "/a", "content": ""});
    let (asked, answer) =
        say(&mut relay, Side::Agent, &json!({"id": 2, "method": "fs/write_text_file", "params": write}));
    assert_eq!((asked.len(), &one(answer)["id"]), (0, &json!(2)));
    // An answer that is none is an error for who has asked.
    let asked = prompt(&mut relay, "turn");
    let answer = one(say(&mut relay, Side::Agent, &json!({"id": asked["id"], "result": {"stopReason": 5}})).0);
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("turn"), &json!(-32603)));
    // What the host makes of an event is judged as well.
    let prompt = json!({"sessionId": "s", "prompt": [{"type": "text", "text": "go"}]});
    let asked = json!({"jsonrpc": "2.0", "id": 4, "method": "session/prompt", "params": prompt});
    relay.receive(Side::Client, format!("{asked}\n").as_bytes());
    let mut events = std::iter::from_fn(|| relay.poll_event(Side::Client));
    let event = events.find(|event| matches!(event, Event::Request(_))).unwrap();
    assert!(relay.pass_with(Side::Client, &event, r#"{"sessionId":"s","prompt":7}"#).is_err());
    let answer = one(heard(&mut relay, Side::Client));
    assert_eq!((&answer["id"], &answer["error"]["data"]["pointer"]), (&json!(4), &json!("/prompt")));
}

#[test]
fn the_host_answers_and_changes_what_it_wants() {
    let mut relay = opened();
    relay.receive(Side::Client, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"_own/a\",\"params\":{}}\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"_own/b\",\"params\":{}}\n");
    let Some(Event::Request(first)) = relay.poll_event(Side::Client) else { panic!() };
    relay.connection_mut(Side::Client).respond_error(&first.id, ErrorCode::INVALID_PARAMS, "No", None).unwrap();
    let second = relay.poll_event(Side::Client).unwrap();
    relay.pass_with(Side::Client, &second, r#"{"more":true}"#).unwrap();
    assert_eq!(one(heard(&mut relay, Side::Client))["error"]["message"], "No");
    let asked = one(heard(&mut relay, Side::Agent));
    assert_eq!((&asked["method"], &asked["params"]), (&json!("_own/b"), &json!({"more": true})));
    let refusal =
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"error\":{{\"code\":1,\"message\":\"no\"}}}}\n", asked["id"]);
    relay.receive(Side::Agent, refusal.as_bytes());
    let answer = relay.poll_event(Side::Agent).unwrap();
    relay.pass_with(Side::Agent, &answer, "{}").unwrap();
    assert_eq!(one(heard(&mut relay, Side::Client)), json!({"id": 2, "result": {}}));
}

#[test]
fn a_side_that_has_ended_leaves_nobody_waiting() {
    let mut relay = opened();
    prompt(&mut relay, "turn");
    relay.receive_eof(Side::Agent);
    let answer = one(pass(&mut relay).0);
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!("turn"), &json!(-32603)));
    // And what is asked afterwards is answered as well.
    let late = one(say(&mut relay, Side::Client, &json!({"id": "late", "method": "_own/ask", "params": {}})).0);
    assert_eq!((&late["id"], late["error"].is_object()), (&json!("late"), true));
}

#[test]
fn what_waits_for_a_side_is_bounded_by_its_host() {
    let mut relay = opened();
    prompt(&mut relay, "turn");
    let text = "x".repeat(1024);
    let update = json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s", "update": {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}});
    let line = format!("{update}\n");
    let mut sent = 0;
    while relay.is_hungry(Side::Agent) {
        relay.receive(Side::Agent, line.as_bytes());
        while let Some(event) = relay.poll_event(Side::Agent) {
            relay.pass(Side::Agent, &event).unwrap();
        }
        sent += 1;
        assert!(sent < 2000, "it is never full");
    }
    // A client that reads nothing is not read either, as its requests may be answered at once.
    assert!(!relay.is_hungry(Side::Client) && relay.transmit(Side::Client).len() < 1024 * 1024 + 2 * line.len());
    assert_eq!(heard(&mut relay, Side::Client).len(), sent);
    assert!(relay.is_hungry(Side::Agent));
}
