//! Replays `tests/policies`: what a policy decides about requests for permission, and which policies are refused.

use std::fs;

use libacp::connection::Versions;
use libacp::host::PermissionPolicy;
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
