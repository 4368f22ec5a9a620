//! What goes on beside the foreground, who may cancel it, and plans that are removed.

use super::*;

#[test]
fn what_is_in_the_background_is_listed_until_it_ends() {
    let mut pair = held(2);
    let misuse = pair.host.background("s", CALL).unwrap_err();
    assert_eq!((misuse.rule.as_str(), &*misuse.pointer), ("LIFE-32", "/update/background/0"));
    for wrong in ["[]", "{}", r#"{"type":"subagent","sessionId":"s"}"#, r#"{"type":"tool_call","toolCallId":1}"#] {
        assert_eq!(pair.host.background("s", wrong).unwrap_err().rule.as_str(), "LIFE-36", "{wrong}");
    }
    assert_eq!(pair.host.background("other", CALL).unwrap_err().rule.as_str(), "SESS-01");
    pair.quiet();
    let (prompt, _) = {
        let prompt = pair.prompt("hi");
        pair.host.stepped(prompt.serial).unwrap();
        (prompt, pair.inserted("hi"))
    };
    pair.say(r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"T"}"#);
    pair.update();
    pair.say(r#"{"sessionUpdate":"terminal_update","terminalId":"x","command":"ls"}"#);
    pair.update();
    pair.host.background("s", CALL).unwrap();
    let state = pair.update();
    assert_eq!((text(&state, "/state"), text(&state, "/background")), ("running".into(), format!("[{CALL}]")));
    // Twice is once (LIFE-34).
    pair.host.background("s", CALL).unwrap();
    pair.quiet();
    pair.host.respond(&prompt, END).unwrap();
    let idle = pair.update();
    assert_eq!((text(&idle, "/stopReason"), text(&idle, "/background")), ("end_turn".into(), format!("[{CALL}]")));
    pair.host.background("s", r#"{"type":"terminal","terminalId":"x"}"#).unwrap();
    let state = pair.update();
    assert_eq!((text(&state, "/state"), json::pointer(&state, "/stopReason")), ("idle".into(), None));
    assert_eq!(text(&state, "/background/1/terminalId"), "x");
    // A status that is not final leaves them alone.
    pair.say(r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"in_progress"}"#);
    pair.update();
    pair.say(r#"{"sessionUpdate":"terminal_update","terminalId":"x","exitStatus":null}"#);
    pair.update();
    pair.quiet();
    pair.say(r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"}"#);
    pair.update();
    let state = pair.update();
    assert_eq!(
        (text(&state, "/state"), text(&state, "/background")),
        ("idle".into(), r#"[{"type":"terminal","terminalId":"x"}]"#.into())
    );
    pair.say(r#"{"sessionUpdate":"terminal_update","terminalId":"x","exitStatus":{}}"#);
    pair.update();
    assert_eq!(text(&pair.update(), "/background"), "[]");
    pair.quiet();
}

#[test]
fn the_background_does_not_insert_a_held_prompt() {
    let mut pair = held(2);
    pair.say(r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"T"}"#);
    pair.update();
    pair.host.background("s", CALL).unwrap();
    assert_eq!(pair.state(), "idle");
    let prompt = pair.prompt("hi");
    pair.host.hold(prompt.serial).unwrap();
    pair.say(r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"completed"}"#);
    assert_eq!(text(&pair.update(), "/status"), "completed");
    // The prompt says nothing of a state yet.
    assert_eq!(pair.state(), "idle");
    pair.quiet();
    pair.host.insert(prompt.serial).unwrap();
    pair.inserted("hi");
}

#[test]
fn the_background_is_bounded_and_none_in_version_1() {
    let mut pair = held(2);
    let mut refused = None;
    for number in 0..300 {
        pair.say(&format!(r#"{{"sessionUpdate":"tool_call","toolCallId":"{number}","title":"T"}}"#));
        refused = pair.host.background("s", &format!(r#"{{"type":"tool_call","toolCallId":"{number}"}}"#)).err();
    }
    assert_eq!(refused.unwrap().rule.as_str(), "LIMIT-03");
    pair.pump();
    let last = pair.told.iter().rev().find_map(|event| match event {
        Event::Notification(told) => json::pointer(told.params(), "/update/background").map(str::to_owned),
        _ => None,
    });
    assert_eq!(json::items(&last.unwrap()).len(), 256);
    let mut pair = held(1);
    pair.host.background("s", CALL).unwrap();
    pair.quiet();
}

#[test]
fn handlers_of_cancels_show_what_can_be_cancelled() {
    let serves = ["tool_call/cancel", "terminal/cancel"];
    let mut pair = Pair::open(2, &serves);
    let capabilities = |pair: &mut Pair, update: &str| {
        pair.say(update);
        json::pointer(&pair.update(), "/capabilities").map(str::to_owned)
    };
    let offer = Some(r#"{"cancel":{}}"#.to_owned());
    let call = r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"T"}"#;
    assert_eq!(capabilities(&mut pair, call), offer);
    assert_eq!(capabilities(&mut pair, r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","title":"U"}"#), None);
    let terminal = r#"{"sessionUpdate":"terminal_update","terminalId":"t","command":"ls"}"#;
    assert_eq!(capabilities(&mut pair, terminal), offer);
    assert_eq!(capabilities(&mut pair, r#"{"sessionUpdate":"terminal_update","terminalId":"t","cwd":"/w"}"#), None);
    for (method, params) in [
        ("tool_call/cancel", r#"{"sessionId":"s","toolCallId":"t"}"#),
        ("terminal/cancel", r#"{"sessionId":"s","terminalId":"t"}"#),
    ] {
        let request = pair.ask(method, params);
        pair.host.respond(&request, "{}").unwrap();
        pair.result();
    }
    // A cancel that crosses the end is refused.
    pair.client.request("tool_call/cancel", r#"{"sessionId":"s","toolCallId":"t"}"#).unwrap();
    pair.client.request("terminal/cancel", r#"{"sessionId":"s","terminalId":"t"}"#).unwrap();
    pair.host
        .notify(
            "session/update",
            r#"{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"t","status":"failed"}}"#,
        )
        .unwrap();
    pair.host.notify("session/update", r#"{"sessionId":"s","update":{"sessionUpdate":"terminal_update","terminalId":"t","exitStatus":{"exitCode":1}}}"#).unwrap();
    for _ in 0..2 {
        assert_eq!(json::pointer(&pair.update(), "/capabilities"), Some("null"));
    }
    for _ in 0..2 {
        assert_eq!(pair.refusal().0, ErrorCode::INVALID_PARAMS);
    }
    pair.quiet();
    // Its own word counts, and without a handler nothing is offered.
    let own = r#"{"sessionUpdate":"tool_call","toolCallId":"u","title":"U","capabilities":null}"#;
    assert_eq!(capabilities(&mut pair, own).as_deref(), Some("null"));
    let done = r#"{"sessionUpdate":"tool_call","toolCallId":"v","title":"V","status":"completed"}"#;
    assert_eq!(capabilities(&mut pair, done), None);
    let mut pair = Pair::open(2, &[]);
    assert_eq!(capabilities(&mut pair, call), None);
    assert_eq!(capabilities(&mut pair, terminal), None);
}

#[test]
fn a_plan_is_removed_where_the_version_has_words_for_it() {
    let removed = r#"{"sessionUpdate":"plan_removed","planId":"p"}"#;
    let mut pair = Pair::open(2, &[]);
    pair.say(removed);
    assert_eq!(pair.update(), removed);
    let config = |config: Config| Config { versions: Versions::only(2), ..config };
    let (mut host, mut client) = (Host::new(config(Config::agent()), []), Connection::new(config(Config::client())));
    client.request("initialize", r#"{"info":{"name":"c","version":"1"}}"#).unwrap();
    for answer in ["{}", r#"{"sessionId":"s"}"#] {
        host.connection_mut().receive(client.transmit());
        client.consume(usize::MAX);
        let Some(Event::Request(request)) = host.poll_event() else { panic!() };
        host.respond(&request, answer).unwrap();
        client.receive(host.connection().transmit());
        host.connection_mut().consume(usize::MAX);
        while client.poll_event().is_some() {}
        let _ = client.request("session/new", r#"{"cwd":"/w"}"#);
    }
    host.notify("session/update", &format!(r#"{{"sessionId":"s","update":{removed}}}"#)).unwrap();
    let sent = String::from_utf8(host.connection().transmit().to_vec()).unwrap();
    let plan = r#"{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"p","entries":[]}}"#;
    assert_eq!(json::pointer(&sent, "/params/update"), Some(plan));
}
