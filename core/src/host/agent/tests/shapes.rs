//! Version 2: what is said in the shapes of version 1.

use super::*;

const MODES: &str =
    r#"{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"code","name":"Code"}]}"#;

#[test]
fn chunks_get_the_ids_of_their_messages() {
    let mut pair = Pair::open(2, &[]);
    let (prompt, _) = pair.prompted("one");
    let chunk = |kind: &str, more: &str| {
        format!(r#"{{"sessionUpdate":"{kind}",{more}"content":{{"type":"text","text":"x"}}}}"#)
    };
    let id = |pair: &mut Pair, kind: &str, more: &str| {
        pair.say(&chunk(kind, more));
        let update = pair.update();
        assert_eq!((text(&update, "/content/text"), text(&update, "/sessionUpdate")), ("x".into(), kind.into()));
        text(&update, "/messageId")
    };
    let first = id(&mut pair, "agent_message_chunk", "");
    assert!(!first.is_empty());
    assert_eq!(id(&mut pair, "agent_message_chunk", r#""messageId":null,"#), first);
    let thought = id(&mut pair, "agent_thought_chunk", "");
    let second = id(&mut pair, "agent_message_chunk", "");
    assert!(first != thought && second != thought && second != first);
    assert_eq!(id(&mut pair, "agent_message_chunk", r#""messageId":"own","#), "own");
    let third = id(&mut pair, "agent_message_chunk", "");
    assert_ne!(third, second);
    pair.say(r#"{"sessionUpdate":"usage_update","used":1,"size":2,"cost":null}"#);
    assert_eq!(pair.update(), r#"{"sessionUpdate":"usage_update","used":1,"size":2}"#);
    assert_eq!(id(&mut pair, "agent_message_chunk", ""), third);
    pair.say(r#"{"sessionUpdate":"plan","entries":[]}"#);
    let plan = r#"{"sessionUpdate":"plan_update","plan":{"type":"items","planId":"main","entries":[]}}"#;
    assert_eq!(pair.update(), plan);
    let fourth = id(&mut pair, "agent_message_chunk", "");
    assert_ne!(fourth, third);
    pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
    assert_eq!(pair.state(), "idle end_turn");
    let _ = pair.prompted("two");
    assert_ne!(id(&mut pair, "agent_message_chunk", ""), fourth);
}

#[test]
fn tool_calls_begin_with_an_update() {
    let mut pair = Pair::open(2, &[]);
    let _ = pair.prompted("one");
    let diff = r#"{"type":"diff","path":"/a","oldText":"1\n","newText":"2\n"}"#;
    pair.say(&format!(
        r#"{{"sessionUpdate":"tool_call","toolCallId":"t","title":"T","kind":"edit","content":[{diff}]}}"#
    ));
    let call = pair.update();
    assert_eq!(text(&call, "/sessionUpdate"), "tool_call_update");
    assert_eq!(text(&call, "/content/0/changes/0/operation"), "modify");
    assert!(text(&call, "/content/0/patch/text").ends_with("-1\n+2\n"));
    pair.say(r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","rawOutput":1,"title":null}"#);
    assert_eq!(pair.update(), r#"{"sessionUpdate":"tool_call_update","toolCallId":"t","rawOutput":1}"#);
    pair.say(r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"Again"}"#);
    assert_eq!(json::pointer(&pair.update(), "/content"), Some("null"));
    pair.quiet();
}

#[test]
fn commands_and_shapes_of_version_2() {
    let mut pair = Pair::open(2, &[]);
    pair.say(r#"{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"x","description":"X","input":{"hint":"h"}},{"name":"y","description":"Y","input":null}]}"#);
    let commands = pair.update();
    assert_eq!(text(&commands, "/availableCommands/0/input"), r#"{"hint":"h","type":"text"}"#);
    assert_eq!(text(&commands, "/availableCommands/1/type"), "command");
    for update in [
        r#"{"sessionUpdate":"state_update","state":"running"}"#,
        r#"{"sessionUpdate":"agent_message","messageId":"a","content":[{"type":"text","text":"x"}]}"#,
        r#"{"sessionUpdate":"state_update","state":"idle","stopReason":"end_turn"}"#,
        r#"{"sessionUpdate":"_x","y":1}"#,
    ] {
        pair.say(update);
        assert_eq!(pair.update(), update);
    }
    let misuse = pair.host.notify(
        "session/update",
        r#"{"sessionId":"s","update":{"sessionUpdate":"current_mode_update","currentModeId":"x"}}"#,
    );
    assert_eq!(misuse.unwrap_err().rule.as_str(), "ENUM-01");
    pair.quiet();
}

#[test]
fn what_a_client_does_for_agents_of_version_1_cannot_be_asked() {
    let pair = Pair::open(2, &[]);
    for method in ["fs/read_text_file", "terminal/create", "session/update:prompt_suggestions_update"] {
        assert!(!pair.host.can(method), "{method}");
    }
    for method in [
        "session/update:tool_call",
        "session/update:plan",
        "session/update:current_mode_update",
        "session/request_permission",
    ] {
        assert!(pair.host.can(method), "{method}: {:?}", pair.host.why_not(method));
    }
}

#[test]
fn modes_are_an_option_of_the_session() {
    let mut pair = Pair::new(2, &[]);
    let request = pair.ask("session/new", r#"{"cwd":"/w","mcpServers":[{"type":"stdio","name":"m","command":"/m"}]}"#);
    assert_eq!(text(request.params(), "/mcpServers/0"), r#"{"name":"m","command":"/m","args":[],"env":[]}"#);
    let flag = r#"{"id":"f","name":"F","type":"boolean","currentValue":false}"#;
    pair.host.respond(&request, &format!(r#"{{"sessionId":"s","modes":{MODES},"configOptions":[{flag}]}}"#)).unwrap();
    let opened = pair.result();
    assert_eq!(
        (text(&opened, "/configOptions/0/category"), text(&opened, "/configOptions/1/configId")),
        ("mode".into(), "f".into())
    );
    let set =
        pair.ask("session/set_config_option", r#"{"sessionId":"s","configId":"mode","type":"id","value":"code"}"#);
    assert_eq!((&*set.method, set.params()), ("session/set_mode", r#"{"sessionId":"s","modeId":"code"}"#));
    pair.host.respond(&set, "{}").unwrap();
    assert_eq!(text(&pair.result(), "/configOptions/0/currentValue"), "code");
    let set =
        pair.ask("session/set_config_option", r#"{"sessionId":"s","configId":"f","type":"boolean","value":true}"#);
    assert_eq!((&*set.method, text(set.params(), "/type")), ("session/set_config_option", "boolean".into()));
    pair.host.respond(&set, &format!(r#"{{"configOptions":[{}]}}"#, flag.replace("false", "true"))).unwrap();
    let options = pair.result();
    assert_eq!(
        (text(&options, "/configOptions/0/currentValue"), text(&options, "/configOptions/1/currentValue")),
        ("code".into(), "true".into())
    );
    pair.say(r#"{"sessionUpdate":"current_mode_update","currentModeId":"ask"}"#);
    let update = pair.update();
    assert_eq!(text(&update, "/sessionUpdate"), "config_option_update");
    assert_eq!(
        (text(&update, "/configOptions/0/currentValue"), text(&update, "/configOptions/1/currentValue")),
        ("ask".into(), "true".into())
    );
    pair.say(r#"{"sessionUpdate":"config_option_update","configOptions":[]}"#);
    let update = pair.update();
    assert_eq!(
        (text(&update, "/configOptions/0/currentValue"), text(&update, "/configOptions/1")),
        ("ask".into(), String::new())
    );
    pair.quiet();
}

#[test]
fn a_login_has_its_old_name() {
    let mut pair = Pair::new(2, &[]);
    for (new, params, old) in [("auth/login", r#"{"methodId":"web"}"#, "authenticate"), ("auth/logout", "{}", "logout")]
    {
        let request = pair.ask(new, params);
        assert_eq!((&*request.method, request.params()), (old, params));
        pair.host.respond(&request, "{}").unwrap();
        assert_eq!(pair.result(), "{}");
    }
    pair.quiet();
}
