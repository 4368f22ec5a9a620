//! The sentences that hosts read: what is wrong, where, what was expected, what was found, and what to do.
//!
//! The host's own mistakes are told with its own values, since only the host reads them. What a peer has sent is told by
//! its kind alone: reports end up in logs.

use libacp::{Config, Connection, Event};

const GREETING: &str = r#"{"clientCapabilities":{}}"#;

fn answer(client: &mut Connection, result: &str) {
    let lines = std::str::from_utf8(client.transmit()).unwrap().lines().count();
    client.consume(client.transmit().len());
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{lines},\"result\":{result}}}\n");
    client.receive(line.as_bytes());
    while client.poll_event().is_some() {}
}

/// A client whose agent has answered `initialize` and `session/new`.
fn client() -> Connection {
    let mut client = Connection::new(Config::client());
    client.request("initialize", GREETING).unwrap();
    answer(&mut client, r#"{"protocolVersion":1,"authMethods":[{"id":"token","name":"Token"}]}"#);
    client.request("session/new", r#"{"cwd":"/w","mcpServers":[]}"#).unwrap();
    client.consume(client.transmit().len());
    let modes = r#"{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"code","name":"Code"}]}"#;
    let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{\"sessionId\":\"s-1\",\"modes\":{modes}}}}}\n");
    client.receive(line.as_bytes());
    while client.poll_event().is_some() {}
    client
}

/// What the client's request is told.
fn refused(method: &str, params: &str) -> String {
    client().request(method, params).unwrap_err().to_string()
}

#[test]
fn misuse_says_what_is_wrong_and_what_was_meant() {
    let hello = r#""prompt":[{"type":"text","text":"Hello"}]"#;
    let long = "x".repeat(200);
    let cut = format!("\"{}…", "x".repeat(60));
    let cases = [
        // What is not there.
        ("session/prompt", r#"{"sessionId":"s-1"}"#.to_owned(), "TURN-04: /prompt: missing; expected a list"),
        (
            "session/prompt",
            r#"{"sessionId":"s-1","prompt":[{"text":"Hello"}]}"#.to_owned(),
            "TURN-04: /prompt/0/type: missing; expected one of \"text\", \"image\", \"audio\", \"resource_link\", \"resource\"",
        ),
        // Values of the host's own.
        (
            "session/new",
            r#"{"cwd":"src","mcpServers":[]}"#.to_owned(),
            "SESS-04: /cwd: expected an absolute path, found \"src\"",
        ),
        (
            "session/new",
            format!(r#"{{"cwd":"{long}","mcpServers":[]}}"#),
            &*format!("SESS-04: /cwd: expected an absolute path, found {cut}"),
        ),
        (
            "session/new",
            r#"{"cwd":"a\u001b[1m\u202e\u009b","mcpServers":[]}"#.to_owned(),
            "SESS-04: /cwd: expected an absolute path, found \"a\\x1b[1m\\u202e\\x9b\"",
        ),
        (
            "session/prompt",
            r#"{"sessionId":"s-1","prompt":"Hello"}"#.to_owned(),
            "TURN-04: /prompt: expected a list, found \"Hello\"",
        ),
        (
            "session/prompt",
            r#"{"sessionId":"s-1","prompt":[5]}"#.to_owned(),
            "TURN-04: /prompt/0: expected an object, found 5",
        ),
        // Words that are nearly right.
        (
            "session/prompt",
            format!(r#"{{"sessionId":"s-1",{hello},"messageID":"m"}}"#),
            "EXT-01: /messageID: unknown member; extensions go into _meta",
        ),
        (
            "session/new",
            r#"{"cwd":"/w","mcpServers":[],"mcpServer":[]}"#.to_owned(),
            "EXT-01: /mcpServer: unknown member; did you mean \"mcpServers\"? Extensions go into _meta",
        ),
        (
            "session/prompt",
            r#"{"sessionId":"s-1","prompt":[{"type":"txt","text":"Hello"}]}"#.to_owned(),
            "CONT-08: /prompt/0/type: expected one of \"text\", \"image\", \"audio\", \"resource_link\", \"resource\", \
             found \"txt\"; did you mean \"text\"?",
        ),
        (
            "session/promt",
            "{}".to_owned(),
            "EXT-07: no method \"session/promt\" in version 1 (drafts are off); did you mean \"session/prompt\"? \
             Own methods start with an underscore, and others have to be configured as foreign methods",
        ),
        // What the peer has said before.
        (
            "session/set_mode",
            r#"{"sessionId":"s-1","modeId":"fast"}"#.to_owned(),
            "MODE-01: /modeId: \"fast\" is not a mode of this session; use an id from its availableModes",
        ),
        (
            "authenticate",
            r#"{"methodId":"oauth"}"#.to_owned(),
            "AUTH-01: /methodId: \"oauth\" is not an id in the agent's authMethods; use one that the agent listed",
        ),
        (
            "session/load",
            r#"{"sessionId":"s-2","cwd":"/w","mcpServers":[]}"#.to_owned(),
            "SESS-09: session/load needs the capability loadSession, which the agent did not advertise; check before: \
             can(\"session/load\")",
        ),
    ];
    let told = cases.iter().map(|(method, params, _)| refused(method, params)).collect::<Vec<_>>();
    assert_eq!(told, cases.map(|(_, _, message)| message));
}

#[test]
fn misuse_shows_no_secrets() {
    for params in [
        r#"{"cwd":"/w","mcpServers":[{"name":"m","command":"/m","args":[],"env":"KEY=secret"}]}"#,
        r#"{"cwd":"/w","mcpServers":[{"type":"http","name":"m","url":"https://m","headers":"Bearer secret"}]}"#,
        r#"{"cwd":"/w","mcpServers":[],"_meta":"secret"}"#,
    ] {
        let message = refused("session/new", params);
        assert!(message.contains("a string") && !message.contains("secret"), "{message}");
    }
}

#[test]
fn an_agent_is_told_in_its_own_words() {
    let mut agent = Connection::new(Config::agent());
    let lines = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1,\
                 \"clientCapabilities\":{\"fs\":{\"readTextFile\":true}}}}\n\
                 {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/w\",\"mcpServers\":[]}}\n\
                 {\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"session/prompt\",\"params\":{\"sessionId\":\"s-1\",\
                 \"prompt\":[{\"type\":\"text\",\"text\":\"Hello\"}]}}\n";
    for (line, result) in lines.lines().zip(["{}", r#"{"sessionId":"s-1"}"#, ""]) {
        agent.receive(format!("{line}\n").as_bytes());
        while let Some(event) = agent.poll_event() {
            if let Event::Request(request) = event {
                if !result.is_empty() {
                    agent.respond(&request.id, result).unwrap();
                }
            }
        }
    }
    let update = |body: &str| format!("{{\"sessionId\":\"s-1\",\"update\":{{{body}}}}}");
    for (params, message) in [
        (
            update(r#""sessionUpdate":"agent_message_chunks","content":{"type":"text","text":"a"}"#),
            "did you mean \"agent_message_chunk\"?",
        ),
        (
            update(r#""sessionUpdate":"tool_call","toolCallId":"t","title":"T","kind":"reed""#),
            "found \"reed\"; did you mean \"read\"?",
        ),
        (
            update(r#""sessionUpdate":"tool_call_update","toolCallId":"t-9","status":"completed""#),
            "no tool call with the id \"t-9\" was reported; start with a tool_call",
        ),
    ] {
        let told = agent.notify("session/update", &params).map_or_else(
            |misuse| misuse.to_string(),
            |()| match agent.poll_event() {
                Some(Event::Advice(advice)) => advice.message,
                other => panic!("{params}: {other:?}"),
            },
        );
        assert!(told.ends_with(message), "{told}");
    }
    let params = r#"{"sessionId":"s-1","path":"/w/a","line":0}"#;
    let message = agent.request("fs/read_text_file", params).unwrap_err().to_string();
    assert!(message.ends_with("/line: expected a line number from 1, found 0"), "{message}");
}

#[test]
fn a_violation_tells_kinds_alone() {
    let mut agent = Connection::new(Config::agent());
    agent.receive(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}\n");
    while let Some(event) = agent.poll_event() {
        if let Event::Request(request) = event {
            agent.respond(&request.id, "{}").unwrap();
        }
    }
    for (params, expected) in [
        (r#"{"cwd":"planted","mcpServers":[]}"#, "expected an absolute path, found a relative path"),
        (r#"{"mcpServers":[]}"#, "missing; expected an absolute path"),
        (r#"{"cwd":"/w","mcpServers":"planted"}"#, "expected a list, found a string"),
    ] {
        let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/new\",\"params\":{params}}}\n");
        agent.receive(line.as_bytes());
        let Some(Event::Violation(violation)) = agent.poll_event() else { panic!("{params}: no violation") };
        assert_eq!(violation.message, expected, "{params}");
    }
}
