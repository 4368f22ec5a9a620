//! What `can` and `why_not` say of a part of a call is what becomes of the call: every part that any version has, in every
//! method, in both versions, with its capability and without it, with drafts on and off.

#[path = "support/model.rs"]
#[allow(dead_code)]
mod model;

use std::collections::BTreeSet;

use libacp::connection::{Config, Connection, Versions};
use libacp::{Id, Role};
use model::Model;
use serde_json::{json, Value};

/// What a host advertises that serves everything, by version and side.
fn everything(version: u16, side: Role) -> Value {
    match (version, side) {
        (1, Role::Client) => json!({"plan": {}, "subagents": {}, "elicitation": {"form": {}, "url": {}}, "session": {
            "notices": {}, "compaction": {}, "promptSuggestions": {}, "configOptions": {"boolean": {}}}}),
        (1, Role::Agent) => json!({"loadSession": true,
            "promptCapabilities": {"image": true, "audio": true, "embeddedContext": true},
            "mcpCapabilities": {"http": true, "sse": true, "acp": true},
            "sessionCapabilities": {"resume": {}, "fork": {}, "additionalDirectories": {}, "options": {},
                "systemPrompt": {"mode": {"override": {}}}}}),
        (_, Role::Client) => json!({"elicitation": {"form": {}, "url": {}}}),
        (_, Role::Agent) => json!({"session": {"prompt": {"image": {}, "audio": {}, "embeddedContext": {}},
            "mcp": {"stdio": {}, "http": {}, "acp": {}}, "fork": {}, "additionalDirectories": {},
            "systemPrompt": {"mode": {"override": {}}}}}),
    }
}

fn without(mut capabilities: Value, path: Option<&str>) -> Value {
    let Some(path) = path else { return capabilities };
    let (before, last) = path.rsplit_once('.').unwrap_or(("", path));
    let holder = before.split('.').filter(|name| !name.is_empty()).fold(&mut capabilities, |at, name| &mut at[name]);
    holder.as_object_mut().and_then(|members| members.remove(last)).unwrap_or_else(|| panic!("no capability {path}"));
    capabilities
}

/// A connection that is ready, with the session `s` open.
fn connection(version: u16, role: Role, drafts: &[&str], lacking: Option<(&str, &str)>) -> Connection {
    let mut config = Config::new(role);
    config.versions = Versions::only(version);
    for draft in drafts {
        config.draft(draft).expect("a draft");
    }
    let of = |side: Role| {
        without(everything(version, side), lacking.filter(|(of, _)| *of == side.name()).map(|(_, path)| path))
    };
    let (client, agent) = (of(Role::Client), of(Role::Agent));
    let info = json!({"name": "x", "version": "1"});
    let (hello, welcome) = if version == 1 {
        (
            json!({"protocolVersion": 1, "clientInfo": info, "clientCapabilities": client}),
            json!({"protocolVersion": 1, "agentInfo": info, "agentCapabilities": agent}),
        )
    } else {
        (
            json!({"protocolVersion": 2, "info": info, "capabilities": client}),
            json!({"protocolVersion": 2, "info": info, "capabilities": agent}),
        )
    };
    let mut connection = Connection::new(config);
    let opened = json!({"sessionId": "s", "configOptions": [{if version == 1 { "id" } else { "configId" }: "o", "name": "O",
        "type": "select", "currentValue": "a", "options": [{"value": "a", "name": "A"}]}]});
    let calls = [("initialize", hello, welcome), ("session/new", json!({"cwd": "/w", "mcpServers": []}), opened)];
    for (at, (method, params, result)) in (1_i64..).zip(calls) {
        if role == Role::Client {
            let id = connection.request(method, &params.to_string()).expect("a call");
            connection.receive(format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n").as_bytes());
            while connection.poll_event().is_some() {}
        } else {
            connection.receive(
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{at},\"method\":\"{method}\",\"params\":{params}}}\n").as_bytes(),
            );
            while connection.poll_event().is_some() {}
            connection.respond(&Id::from(at), &result.to_string()).expect("an answer");
        }
        while connection.poll_event().is_some() {}
    }
    assert_eq!(connection.version(), Some(version));
    connection
}

fn update(update: &Value) -> Value {
    json!({"sessionId": "s", "update": update})
}

/// A call of this method that has the part.
fn call(version: u16, method: &str, part: &str) -> Value {
    let text = json!({"type": "text", "text": "a"});
    let prompt = |block: Value| json!({"sessionId": "s", "prompt": [block]});
    let server = |server: Value| opening(method, "mcpServers", json!([server]));
    match part {
        "image" | "audio" => prompt(json!({"type": part, "data": "aGk=", "mimeType": "x/y"})),
        "resource" => prompt(json!({"type": part, "resource": {"uri": "file:///a", "text": "a"}})),
        "additionalDirectories" => opening(method, part, json!(["/a"])),
        "systemPrompt" => opening(method, part, json!({"mode": "append", "content": [text]})),
        "systemPromptOverride" => opening(method, "systemPrompt", json!({"mode": "override", "content": [text]})),
        "configOptions" => opening(method, part, json!([{"configId": "o", "value": "a"}])),
        "stdio" if version == 1 => server(json!({"name": "n", "command": "/bin/n", "args": [], "env": []})),
        "stdio" => server(json!({"type": part, "name": "n", "command": "/bin/n", "args": [], "env": []})),
        "http" | "sse" => server(json!({"type": part, "name": "n", "url": "https://a.b/mcp", "headers": []})),
        "acp" => server(json!({"type": part, "name": "n", "serverId": "n"})),
        "form" => {
            json!({"sessionId": "s", "mode": part, "message": "a", "requestedSchema": {"type": "object", "properties": {}}})
        }
        "url" => json!({"sessionId": "s", "mode": part, "message": "a", "elicitationId": "e", "url": "https://a.b/c"}),
        "notice" => update(&json!({"sessionUpdate": part, "severity": "info", "title": "a"})),
        "compaction_update" => update(&json!({"sessionUpdate": part, "compactionId": "c", "status": "in_progress"})),
        "compaction_summary_chunk" => update(&json!({"sessionUpdate": part, "compactionId": "c", "content": text})),
        "plan_update" => {
            update(&json!({"sessionUpdate": part, "plan": {"type": "items", "planId": "p", "entries": []}}))
        }
        "plan_removed" => update(&json!({"sessionUpdate": part, "planId": "p"})),
        "subagent_update" => update(&json!({"sessionUpdate": part, "sessionId": "c"})),
        "session_message" => update(&json!({"sessionUpdate": part, "messageId": "m", "content": [text]})),
        "session_message_chunk" => update(&json!({"sessionUpdate": part, "messageId": "m", "content": text})),
        "session" if version == 1 => update(&json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "a",
            "content": [{"type": part, "sessionId": "s"}]})),
        "session" => update(&json!({"sessionUpdate": "tool_call_update", "toolCallId": "t", "title": "a",
            "content": [{"type": part, "sessionId": "s"}]})),
        "prompt_suggestions_update" => update(&json!({"sessionUpdate": part, "suggestions": [{"prompt": [text]}]})),
        "tool_call" => update(&json!({"sessionUpdate": part, "toolCallId": "t", "title": "a"})),
        "plan" => update(&json!({"sessionUpdate": part, "entries": []})),
        "current_mode_update" => update(&json!({"sessionUpdate": part, "currentModeId": "m"})),
        // The options stand in the answer.
        "boolean" if method == "session/set_config_option" && version == 1 => {
            json!({"sessionId": "s", "configId": "o", "value": "a"})
        }
        "boolean" if method == "session/set_config_option" => {
            json!({"sessionId": "s", "configId": "o", "type": "id", "value": "a"})
        }
        "boolean" if method != "session/update" => opening(method, "cwd", json!("/w")),
        "boolean" => {
            let id = if version == 1 { "id" } else { "configId" };
            update(&json!({"sessionUpdate": "config_option_update",
                "configOptions": [{id: "o", "name": "O", "type": part, "currentValue": true}]}))
        }
        other => panic!("what a call with {other} looks like"),
    }
}

/// A call that opens a session, with one member more.
fn opening(method: &str, name: &str, value: Value) -> Value {
    let mut params = json!({"cwd": "/w", "mcpServers": []});
    if method != "session/new" {
        params["sessionId"] = json!("s");
    }
    params[name] = value;
    params
}

/// What one version's files say of its parts.
fn parts(version: u16) -> Vec<Value> {
    let path = format!("{}/protocol/v{version}/parts.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// Every method that has a part of this name in any version.
fn all() -> BTreeSet<(String, String)> {
    let rows = [1, 2].into_iter().flat_map(parts);
    rows.flat_map(|row| {
        let name = row["name"].as_str().unwrap().to_owned();
        let methods: Vec<Value> = row["methods"].as_array().unwrap().clone();
        methods.into_iter().map(move |method| (method.as_str().unwrap().to_owned(), name.clone()))
    })
    .collect()
}

#[test]
fn can_says_what_becomes_of_the_call() {
    let drafts: BTreeSet<String> = [1, 2]
        .into_iter()
        .flat_map(|version| Model::load(version).methods.into_values().collect::<Vec<_>>())
        .chain([1, 2].into_iter().flat_map(parts))
        .filter_map(|row| row["draft"].as_str().map(str::to_owned))
        .collect();
    let drafts: Vec<&str> = drafts.iter().map(String::as_str).collect();
    let (mut failures, mut sent, mut refused) = (Vec::new(), 0, 0);
    for version in [1, 2] {
        let (model, rows) = (Model::load(version), parts(version));
        for (method, part) in all() {
            let Some(sender) = model.methods.get(&method).map(|row| row["from"].as_str().unwrap()) else { continue };
            let role = if sender == "client" { Role::Client } else { Role::Agent };
            let row = rows
                .iter()
                .find(|row| row["name"] == *part && row["methods"].as_array().unwrap().contains(&json!(method)));
            let capability = row.and_then(|row| Some((row["of"].as_str()?, row["path"].as_str()?)));
            for lacking in [None, capability] {
                for drafts in [&[][..], &drafts] {
                    let mut connection = connection(version, role, drafts, lacking);
                    let name = format!("{method}:{part}");
                    if part == "compaction_summary_chunk" {
                        // It goes on with something that has begun, where that may be.
                        let begun = call(version, &method, "compaction_update").to_string();
                        drop(connection.notify(&method, &begun));
                    }
                    let mut told = connection.why_not(&name).map(|misuse| misuse.rule.as_str());
                    let params = call(version, &method, &part).to_string();
                    let done = if model.methods[&*method]["kind"] == "notification" {
                        connection.notify(&method, &params)
                    } else {
                        connection.request(&method, &params).map(drop)
                    };
                    let done = done.err().map(|misuse| misuse.rule.as_str());
                    // Without its draft there is no such thing, which the model says by rules of its own.
                    if drafts.is_empty() && row.is_some_and(|row| row.get("draft").is_some()) && done.is_some() {
                        told = told.and(done);
                    }
                    *(if done.is_some() { &mut refused } else { &mut sent }) += 1;
                    if told != done {
                        let how = format!("lacking {lacking:?}, {} drafts", drafts.len());
                        failures.push(format!("version {version}, {name}, {how}: why_not {told:?}, call {done:?}"));
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}\n{} differ", failures.join("\n"), failures.len());
    assert!(sent > 100 && refused > 50, "{sent} sent, {refused} refused");
}
