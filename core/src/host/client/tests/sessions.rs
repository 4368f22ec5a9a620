//! The other calls of a client, in the words of version 1 with agents of both versions.

use super::{Pair, IDLE};
use crate::connection::CallOptions;
use crate::Event;

const NEW: &str = r#"{"cwd":"/w","mcpServers":[]}"#;
const OPTIONS: &str = r#"[{"configId":"m","name":"Mode","category":"mode","type":"select","currentValue":"a","options":[{"value":"a","name":"A"},{"value":"b","name":"B"}]},
{"configId":"w","name":"W","type":"boolean","currentValue":false}]"#;

impl Pair {
    /// The params of the request that the agent has to answer first.
    fn asks(&self) -> (String, serde_json::Value) {
        let last = self.asked.iter().rev().find_map(|event| match event {
            Event::Request(request) => Some((request.method.to_string(), request.params_as().unwrap())),
            _ => None,
        });
        last.expect("a request")
    }

    fn result(&self, serial: u64) -> serde_json::Value {
        serde_json::from_str(&self.end(serial).expect("an end")).unwrap()
    }
}

fn parsed(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn both_sides_meet_in_either_version() {
    for version in [1, 2] {
        let mut pair = Pair::silent(version);
        let params = r#"{"clientInfo":{"name":"c","version":"1"},"clientCapabilities":{"fs":{"readTextFile":true},"elicitation":{"form":{}}}}"#;
        let hello = pair.call("initialize", params);
        pair.answer(super::hello(version));
        let result = pair.result(hello);
        assert_eq!(result["protocolVersion"], version);
        assert_eq!(result["agentInfo"]["name"], "a");
        assert_eq!(result["agentCapabilities"]["loadSession"], true);
        assert_eq!(result["agentCapabilities"]["sessionCapabilities"]["close"], parsed("{}"));
        assert!(pair.agent.peer_name().as_deref() == Some("c") && pair.agent.can("elicitation/create:form"));
        assert_eq!(pair.agent.can("fs/read_text_file"), version == 1);
        for method in ["session/load", "session/resume", "session/new", "session/list", "session/close"] {
            assert!(pair.client.can(method), "{method}");
        }
    }
}

#[test]
fn a_session_has_the_modes_that_an_option_stands_for() {
    let mut pair = Pair::new(2);
    let opened = format!(r#"{{"sessionId":"s","configOptions":{OPTIONS}}}"#);
    let new = pair.call("session/new", NEW);
    pair.answer(&opened);
    let modes = parsed(r#"{"currentModeId":"a","availableModes":[{"id":"a","name":"A"},{"id":"b","name":"B"}]}"#);
    assert_eq!((&pair.result(new)["modes"], &pair.result(new)["configOptions"][1]["id"]), (&modes, &parsed("\"w\"")));
    assert!(pair.client.can("session/set_mode"));
    let set = pair.call("session/set_mode", r#"{"sessionId":"s","modeId":"b"}"#);
    let expected = parsed(r#"{"sessionId":"s","configId":"m","type":"id","value":"b"}"#);
    assert_eq!(pair.asks(), ("session/set_config_option".into(), expected));
    let changed = OPTIONS.replace(r#""currentValue":"a""#, r#""currentValue":"b""#);
    pair.answer(&format!(r#"{{"configOptions":{changed}}}"#));
    assert_eq!(pair.end(set).as_deref(), Some("{}"));
    assert_eq!(pair.ended().last().unwrap().method, "session/set_mode");
    let set = pair.call("session/set_config_option", r#"{"sessionId":"s","configId":"w","value":true}"#);
    assert_eq!(pair.asks().1["type"], "boolean");
    pair.answer(&format!(r#"{{"configOptions":{}}}"#, changed.replace("false", "true")));
    assert_eq!(
        pair.result(set)["configOptions"][1],
        parsed(r#"{"id":"w","name":"W","type":"boolean","currentValue":true}"#)
    );
    let set = pair.call("session/set_config_option", r#"{"sessionId":"s","configId":"m","value":"a"}"#);
    assert_eq!(pair.asks().1["type"], "id");
    pair.answer(&format!(r#"{{"configOptions":{}}}"#, OPTIONS.replace("false", "true")));
    assert_eq!(pair.result(set)["configOptions"][0]["currentValue"], "a");
}

#[test]
fn a_session_without_modes_has_none_to_set() {
    let mut pair = Pair::open(2);
    let params = r#"{"sessionId":"s","modeId":"b"}"#;
    let misuse = pair.client.request_with("session/set_mode", params, CallOptions::default()).unwrap_err();
    assert_eq!(misuse.rule.as_str(), "MODE-02");
    let params = params.replace("\"s\"", "\"x\"");
    let misuse = pair.client.request_with("session/set_mode", &params, CallOptions::default()).unwrap_err();
    assert_eq!(misuse.rule.as_str(), "SESS-01");
}

#[test]
fn a_load_is_a_resume_with_a_replay() {
    for version in [1, 2] {
        let mut pair = Pair::new(version);
        let load = pair.call("session/load", r#"{"sessionId":"s","cwd":"/w","mcpServers":[]}"#);
        let method = if version == 1 { "session/load" } else { "session/resume" };
        assert_eq!(pair.asks().0, method);
        pair.chunk();
        assert_eq!(pair.told.last().unwrap().1, Some(load));
        if version == 2 {
            assert_eq!(pair.asks().1["replayFrom"], parsed(r#"{"type":"start"}"#));
            pair.tell(IDLE);
        }
        pair.answer("{}");
        let ended = pair.ended().next().unwrap();
        assert_eq!((&*ended.method, pair.end(load).as_deref()), ("session/load", Some("{}")));
        let resume = pair.call("session/resume", r#"{"sessionId":"t","cwd":"/w","mcpServers":[]}"#);
        assert!(pair.asks().1.get("replayFrom").is_none());
        if version == 2 {
            let state = format!(r#"{{"sessionId":"t","update":{IDLE}}}"#);
            pair.agent.notify("session/update", &state).unwrap();
            pair.pump();
            assert_eq!(pair.told.last().unwrap().1, None);
        }
        pair.answer("{}");
        assert_eq!(pair.end(resume).as_deref(), Some("{}"));
    }
}

#[test]
fn a_program_that_serves_mcp_says_that_it_is_one() {
    let mut pair = Pair::silent(2);
    pair.call("initialize", "{}");
    pair.answer(r#"{"info":{"name":"a","version":"1"},"capabilities":{"session":{"mcp":{"stdio":{},"http":{}}}}}"#);
    let program = r#"{"name":"p","command":"/bin/p","args":[],"env":[]}"#;
    let site = r#"{"type":"http","name":"h","url":"https://h","headers":[]}"#;
    pair.call("session/new", &format!(r#"{{"cwd":"/w","mcpServers":[{program},{site}]}}"#));
    let servers = &pair.asks().1["mcpServers"];
    assert_eq!(
        (&servers[0]["type"], &servers[0]["command"], &servers[1]),
        (&parsed("\"stdio\""), &parsed("\"/bin/p\""), &parsed(site))
    );
}

#[test]
fn a_user_logs_in_and_out_in_either_version() {
    let logins = [
        (
            1,
            r#"{"agentInfo":{"name":"a","version":"1"},"agentCapabilities":{"auth":{"logout":{}}},"authMethods":[{"id":"l","name":"L"}]}"#,
        ),
        (
            2,
            r#"{"info":{"name":"a","version":"1"},"capabilities":{"session":{}},"authMethods":[{"type":"agent","methodId":"l","name":"L"}]}"#,
        ),
    ];
    for (version, hello) in logins {
        let mut pair = Pair::silent(version);
        let call = pair.call("initialize", r#"{"clientInfo":{"name":"c","version":"1"}}"#);
        pair.answer(hello);
        assert_eq!(pair.result(call)["authMethods"], parsed(r#"[{"id":"l","name":"L"}]"#));
        for (method, params) in [("authenticate", r#"{"methodId":"l"}"#), ("logout", "{}")] {
            assert!(pair.client.can(method), "{method}");
            pair.clear();
            pair.call(method, params);
            pair.answer("{}");
            assert_eq!(pair.ended().next().unwrap().method, method);
        }
    }
    let pair = Pair::new(2);
    assert!(!pair.client.can("logout") && !pair.client.can("authenticate"));
}

#[test]
fn what_version_1_has_passes_as_it_is() {
    for version in [1, 2] {
        let mut pair = Pair::open(version);
        let list = pair.call("session/list", "{}");
        let sessions = r#"{"sessions":[{"sessionId":"s","cwd":"/w"}]}"#;
        pair.answer(sessions);
        assert_eq!(pair.end(list).as_deref(), Some(sessions));
        let close = pair.call("session/close", r#"{"sessionId":"s"}"#);
        pair.answer("{}");
        assert_eq!(pair.end(close).as_deref(), Some("{}"));
    }
}
