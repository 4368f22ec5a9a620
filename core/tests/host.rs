//! Replays `tests/policies`: what a policy decides about requests for permission, and which policies are refused. And
//! `tests/hosts/merging.json`: which chunks become one while they wait.

use std::fs;

use libacp::connection::Versions;
use libacp::framing::Framing;
use libacp::host::{Host, PermissionPolicy};
use libacp::{Config, Connection, Event};
use serde_json::{json, Value};

fn cases() -> Vec<Value> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/policies/permissions.jsonl");
    fs::read_to_string(path).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The request among the events that follow from a message.
fn feed(client: &mut Connection, message: &Value) -> Option<libacp::connection::Request> {
    client.receive(format!("{message}\n").as_bytes());
    client.consume(usize::MAX);
    let mut request = None;
    while let Some(event) = client.poll_event() {
        if let Event::Request(found) = event {
            request = Some(found);
        }
    }
    request
}

/// A client with the session `s`, which has been told these updates.
fn client(case: &Value) -> Connection {
    let version = case["version"].as_u64().unwrap();
    let mut config = Config::client();
    (config.view, config.versions) = (case["view"] != json!(false), Versions::only(version as u16));
    let mut client = Connection::new(config);
    let info = json!({"name": "a", "version": "1"});
    let (hello, welcome) = match version {
        1 => (
            json!({}),
            json!({"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"additionalDirectories": {}}}}),
        ),
        _ => (
            json!({"info": info}),
            json!({"protocolVersion": 2, "info": info, "capabilities": {"session": {"additionalDirectories": {}}}}),
        ),
    };
    client.request("initialize", &hello.to_string()).unwrap();
    feed(&mut client, &json!({"jsonrpc": "2.0", "id": 1, "result": welcome}));
    let new = json!({"cwd": "/work", "additionalDirectories": ["/more"], "mcpServers": []});
    client.request("session/new", &new.to_string()).unwrap();
    feed(&mut client, &json!({"jsonrpc": "2.0", "id": 2, "result": {"sessionId": "s"}}));
    client.request("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"Hi"}]}"#).unwrap();
    for update in case["told"].as_array().unwrap() {
        let params = json!({"sessionId": "s", "update": update});
        feed(&mut client, &json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
    }
    client
}

fn decided(case: &Value) -> Result<(), String> {
    let mut policy = PermissionPolicy::read(&case["policy"].to_string()).map_err(|error| error.to_string())?;
    let mut client = client(case);
    let question = json!({"jsonrpc": "2.0", "id": 9, "method": "session/request_permission", "params": case["params"]});
    let Some(request) = feed(&mut client, &question) else { return Err("the request was refused".into()) };
    let decision = policy.decide(&client, request.params());
    assert_eq!(policy.decisions().collect::<Vec<_>>(), [&decision]);
    let found: Value = serde_json::from_str(&decision.to_json()).unwrap();
    let differs = |(name, value): &(&String, &Value)| found[name.as_str()] != **value;
    match case["decides"].as_object().unwrap().iter().find(differs) {
        Some((name, _)) => Err(format!("{name} differs: {found}")),
        None => Ok(()),
    }
}

fn refused(case: &Value) -> Result<(), String> {
    match PermissionPolicy::read(case["policyText"].as_str().unwrap()) {
        Ok(_) => Err("the policy is taken".into()),
        Err(error) => {
            let message = case["wrong"]["message"].as_str().unwrap();
            let fits =
                error.pointer == case["wrong"]["pointer"].as_str().unwrap() && error.message.starts_with(message);
            if fits {
                Ok(())
            } else {
                Err(error.to_string())
            }
        }
    }
}

#[test]
fn policies_decide_as_the_cases_say() {
    let cases = cases();
    let run = |case: &Value| if case.get("wrong").is_some() { refused(case) } else { decided(case) };
    let wrong: Vec<String> =
        cases.iter().filter_map(|case| Some(format!("{}: {}", case["name"], run(case).err()?))).collect();
    assert!(cases.len() > 50 && wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

#[test]
fn each_case_can_fail() {
    for case in cases().iter().filter(|case| case.get("decides").is_some()) {
        let mut other = case.clone();
        other["decides"]["action"] = json!("nothing");
        assert!(decided(&other).is_err(), "{}", case["name"]);
    }
}

#[test]
fn decisions_are_remembered_up_to_a_bound() {
    let case = json!({"version": 1, "told": []});
    let client = client(&case);
    let mut policy = PermissionPolicy::default();
    for number in 0..1000 {
        let id = if number == 999 { "x".repeat(100_000) } else { number.to_string() };
        let params = json!({"sessionId": "s", "toolCall": {"toolCallId": id}, "options": []});
        policy.decide(&client, &params.to_string());
    }
    let remembered: Vec<_> = policy.decisions().map(|decision| decision.tool_call.as_deref()).collect();
    assert_eq!((remembered.len(), remembered[0], remembered[255]), (256, Some("744"), None));
}

/// The params of the updates that an agent writes.
fn written(said: &Value, framing: Framing, merges: bool) -> Vec<Value> {
    let mut config = Config::agent();
    config.framing = framing;
    let mut host = Host::new(config, []);
    host.merge_chunks(merges);
    let end = if framing == Framing::Lines { "\n" } else { "" };
    let new = json!({"cwd": "/work", "mcpServers": []});
    let asked = [("initialize", json!({"protocolVersion": 1})), ("session/new", new.clone()), ("session/new", new)];
    for (id, (method, params)) in asked.into_iter().enumerate() {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        host.connection_mut().receive(format!("{request}{end}").as_bytes());
        let Some(Event::Request(request)) = host.poll_event() else { panic!("no request") };
        let result = [json!({}), json!({"sessionId": "s"}), json!({"sessionId": "t"})][id].to_string();
        host.respond(&request, &result).unwrap();
    }
    let mut found = Vec::new();
    let mut take = |host: &mut Host| {
        while !host.connection().transmit().is_empty() {
            let count = host.connection().transmit().len();
            found.extend(String::from_utf8_lossy(host.connection().transmit()).lines().map(str::to_owned));
            host.connection_mut().consume(count);
        }
    };
    take(&mut host);
    for step in said.as_array().unwrap() {
        match step {
            Value::String(_) => take(&mut host),
            params => host.notify("session/update", &params.to_string()).unwrap(),
        }
    }
    take(&mut host);
    let frames = found.iter().map(|frame| serde_json::from_str::<Value>(frame).unwrap());
    frames.filter(|frame| frame["method"] == "session/update").map(|frame| frame["params"].clone()).collect()
}

#[test]
fn chunks_of_one_message_are_merged_while_they_wait() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/hosts/merging.json");
    let cases: Vec<Value> = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert!(cases.len() > 10);
    for case in cases {
        let (name, said) = (&case["name"], &case["said"]);
        for framing in [Framing::Lines, Framing::Messages] {
            assert_eq!(json!(written(said, framing, true)), case["written"], "{name}");
            let all: Vec<_> = said.as_array().unwrap().iter().filter(|step| step.is_object()).collect();
            assert_eq!(json!(written(said, framing, false)), json!(all), "{name}");
        }
    }
}
