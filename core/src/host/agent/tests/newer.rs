//! Version 2: a host with the words of version 1, and a client that knows nothing of them.

use super::*;
use crate::{json, ErrorCode};

const PERMISSION: &str = r#"{"sessionId":"s","toolCall":{"toolCallId":"t","title":"Run","kind":null},"options":[{"optionId":"y","name":"Y","kind":"allow_once"},{"optionId":"n","name":"N","kind":"reject_once"}]}"#;
const MODES: &str =
    r#"{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"code","name":"Code"}]}"#;

/// The state that the client is told next, with the stop reason.
fn state(pair: &mut Pair) -> String {
    let update = pair.update();
    assert_eq!(text(&update, "/sessionUpdate"), "state_update", "{update}");
    format!("{} {}", text(&update, "/state"), text(&update, "/stopReason")).trim_end().to_owned()
}

/// A prompt that has become a message: as the host sees it, and the id of the message.
fn prompted(pair: &mut Pair, said: &str) -> (Request, String) {
    let prompt = pair.prompt(said);
    (prompt, inserted(pair, said))
}

fn inserted(pair: &mut Pair, said: &str) -> String {
    let id = text(&pair.result(), "/messageId");
    let echo = pair.update();
    assert_eq!(text(&echo, "/sessionUpdate"), "user_message");
    assert_eq!((text(&echo, "/messageId"), text(&echo, "/content/0/text")), (id.clone(), said.to_owned()));
    assert_eq!(state(pair), "running");
    id
}

#[test]
fn a_prompt_becomes_a_message_and_its_result_a_state() {
    let mut pair = Pair::open(2, &[]);
    let (prompt, first) = prompted(&mut pair, "hi");
    assert_eq!(&*prompt.method, "session/prompt");
    let usage =
        r#"{"stopReason":"end_turn","usage":{"totalTokens":2,"inputTokens":1,"outputTokens":1},"_meta":{"a":1}}"#;
    pair.host.respond(&prompt, usage).unwrap();
    let idle = pair.update();
    assert_eq!((text(&idle, "/stopReason"), text(&idle, "/usage/totalTokens")), ("end_turn".into(), "2".into()));
    assert_eq!(text(&idle, "/_meta/a"), "1");
    let (prompt, second) = prompted(&mut pair, "hi");
    assert_ne!(first, second);
    pair.host.respond_error(prompt.serial, ErrorCode::INTERNAL_ERROR, "no", Some("{\"x\":1}")).unwrap();
    let idle = pair.update();
    assert_eq!(text(&idle, "/error"), r#"{"code":-32603,"message":"no","data":{"x":1}}"#);
    let again = pair.host.respond(prompt.serial, r#"{"stopReason":"end_turn"}"#).unwrap_err();
    assert_eq!(again.rule.as_str(), "RPC-15");
    pair.quiet();
}

#[test]
fn a_result_that_is_none_ends_nothing() {
    let mut pair = Pair::open(2, &[]);
    let (prompt, _) = prompted(&mut pair, "hi");
    for (result, rule) in [("{}", "TURN-01"), ("null", "TURN-01"), (r#"{"stopReason":"odd"}"#, "ENUM-01")] {
        let misuse = pair.host.respond(&prompt.id, result).unwrap_err();
        assert_eq!((misuse.rule.as_str(), &*misuse.pointer), (rule, "/stopReason"), "{misuse}");
    }
    let misuse = pair.host.respond_error(&prompt, ErrorCode::INTERNAL_ERROR, "no", Some("{")).unwrap_err();
    assert_eq!(misuse.rule.as_str(), "RPC-21");
    pair.host.respond(&prompt.id, r#"{"stopReason":"refusal"}"#).unwrap();
    assert_eq!(state(&mut pair), "idle refusal");
    pair.quiet();
}

#[test]
fn prompts_wait_for_the_end_of_the_turn() {
    let mut pair = Pair::open(2, &[]);
    let (first, _) = prompted(&mut pair, "one");
    let prompt = |said: &str| format!(r#"{{"sessionId":"s","prompt":[{{"type":"text","text":"{said}"}}]}}"#);
    pair.client.request("session/prompt", &prompt("two")).unwrap();
    let third = pair.client.request("session/prompt", &prompt("three")).unwrap();
    pair.quiet();
    pair.client.cancel(&third).unwrap();
    pair.pump();
    assert!(
        matches!(&pair.response().outcome, crate::connection::Outcome::Error(error) if error.code == ErrorCode::REQUEST_CANCELLED)
    );
    pair.host.respond(&first, r#"{"stopReason":"end_turn"}"#).unwrap();
    let second = pair.request("session/prompt");
    assert_eq!(state(&mut pair), "idle end_turn");
    inserted(&mut pair, "two");
    pair.host.respond(&second, r#"{"stopReason":"max_tokens"}"#).unwrap();
    assert_eq!(state(&mut pair), "idle max_tokens");
    for number in 0..70 {
        pair.client.request("session/prompt", &prompt(&number.to_string())).unwrap();
    }
    let _ = pair.request("session/prompt");
    inserted(&mut pair, "0");
    for _ in 65..70 {
        assert_eq!(pair.response().outcome.name(), "error");
    }
    pair.quiet();
}

#[test]
fn a_cancel_stops_what_is_served_what_waits_and_what_is_asked() {
    let mut pair = Pair::open(2, &[]);
    let (prompt, _) = prompted(&mut pair, "one");
    pair.client.request("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"two"}]}"#).unwrap();
    pair.host.request_with("session/request_permission", PERMISSION, Default::default()).unwrap();
    let Some(Event::Request(_)) = pair.told() else { panic!() };
    assert_eq!(state(&mut pair), "requires_action");
    pair.client.notify("session/cancel", r#"{"sessionId":"s"}"#).unwrap();
    let Some(Event::Cancel(cancel)) = pair.seen() else { panic!() };
    assert_eq!((cancel.id, cancel.serial), (prompt.id.clone(), prompt.serial));
    let Some(Event::Notification(_)) = pair.seen() else { panic!() };
    let Some(Event::Response(answer)) = pair.seen() else { panic!() };
    assert_eq!(text(answer.outcome.result().unwrap(), "/outcome/outcome"), "cancelled");
    let Some(Event::Answered(_)) = pair.told() else { panic!() };
    assert!(
        matches!(&pair.response().outcome, crate::connection::Outcome::Error(error) if error.code == ErrorCode::REQUEST_CANCELLED)
    );
    pair.host.respond_error(&prompt, ErrorCode::INTERNAL_ERROR, "aborted", None).unwrap();
    assert_eq!(state(&mut pair), "idle cancelled");
    // It does not touch the next one (CANCEL-23).
    let (prompt, _) = prompted(&mut pair, "three");
    pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
    assert_eq!(state(&mut pair), "idle end_turn");
    pair.quiet();
}

#[test]
fn a_session_that_is_closed_ends_its_work_first() {
    for ends in [false, true] {
        let mut pair = Pair::open(2, &[]);
        let (prompt, _) = prompted(&mut pair, "one");
        pair.client.request("session/close", r#"{"sessionId":"s"}"#).unwrap();
        let Some(Event::Cancel(cancel)) = pair.seen() else { panic!() };
        assert_eq!(cancel.serial, prompt.serial);
        let close = pair.request("session/close");
        if ends {
            pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
        }
        pair.host.respond(&close, "{}").unwrap();
        assert_eq!(state(&mut pair), "idle cancelled");
        pair.result();
        assert_eq!(pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).is_ok(), !ends);
        pair.quiet();
        assert!(pair.host.connection().sessions().next().is_none());
    }
}

#[test]
fn chunks_get_the_ids_of_their_messages() {
    let mut pair = Pair::open(2, &[]);
    let (prompt, _) = prompted(&mut pair, "one");
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
    assert_eq!(state(&mut pair), "idle end_turn");
    let _ = prompted(&mut pair, "two");
    assert_ne!(id(&mut pair, "agent_message_chunk", ""), fourth);
}

#[test]
fn tool_calls_begin_with_an_update() {
    let mut pair = Pair::open(2, &[]);
    let _ = prompted(&mut pair, "one");
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
fn a_permission_blocks_the_work() {
    for (answer, seen) in [
        (r#"{"outcome":"selected","optionId":"y"}"#, r#"{"outcome":"selected","optionId":"y"}"#),
        (r#"{"outcome":"cancelled"}"#, r#"{"outcome":"selected","optionId":"n"}"#),
    ] {
        let mut pair = Pair::open(2, &[]);
        let (prompt, _) = prompted(&mut pair, "one");
        pair.host.request_with("session/request_permission", PERMISSION, Default::default()).unwrap();
        let Some(Event::Request(first)) = pair.told() else { panic!() };
        let asked = r#"{"type":"tool_call","toolCall":{"toolCallId":"t","title":"Run"}}"#;
        assert_eq!((text(first.params(), "/title"), text(first.params(), "/subject")), ("Run".into(), asked.into()));
        assert_eq!(state(&mut pair), "requires_action");
        let form =
            r#"{"sessionId":"s","message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}"#;
        pair.host.request_with("elicitation/create", form, Default::default()).unwrap();
        let Some(Event::Request(second)) = pair.told() else { panic!() };
        pair.client.respond(&first, &format!("{{\"outcome\":{answer}}}")).unwrap();
        let Some(Event::Response(response)) = pair.seen() else { panic!() };
        assert_eq!(text(response.outcome.result().unwrap(), "/outcome"), seen);
        pair.quiet();
        pair.client.respond(&second, r#"{"action":"decline"}"#).unwrap();
        let Some(Event::Response(_)) = pair.seen() else { panic!() };
        assert_eq!(state(&mut pair), "running");
        pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
        assert_eq!(state(&mut pair), "idle end_turn");
        pair.quiet();
    }
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
fn a_load_is_a_resume_with_a_replay() {
    let mut pair = Pair::new(2, &["session/load"]);
    let load = r#"{"sessionId":"s","cwd":"/w","replayFrom":{"type":"start"}}"#;
    let request = pair.ask("session/resume", load);
    assert_eq!(
        (&*request.method, request.params()),
        ("session/load", r#"{"sessionId":"s","cwd":"/w","mcpServers":[]}"#)
    );
    let said = r#"{"update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"}}}"#;
    pair.host.notify_opened(request.serial, "session/update", said).unwrap();
    assert!(!text(&pair.update(), "/messageId").is_empty());
    pair.say(r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"ho"}}"#);
    assert_eq!(text(&pair.update(), "/content/text"), "ho");
    pair.host.respond(&request, &format!("{{\"modes\":{MODES}}}")).unwrap();
    assert_eq!(text(&pair.update(), "/sessionUpdate"), "replay_complete");
    assert_eq!(state(&mut pair), "idle");
    assert_eq!(text(&pair.result(), "/configOptions/0/currentValue"), "ask");
    pair.quiet();
    // The session is open, so that it can be resumed without a handler, also while it works.
    let (prompt, _) = prompted(&mut pair, "one");
    pair.client.request("session/resume", r#"{"sessionId":"s","cwd":"/x"}"#).unwrap();
    assert_eq!(state(&mut pair), "running");
    assert_eq!(text(&pair.result(), "/configOptions/0/currentValue"), "ask");
    pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
    assert_eq!(state(&mut pair), "idle end_turn");
    pair.quiet();
}

#[test]
fn what_nobody_restores_is_refused() {
    let mut pair = Pair::open(2, &[]);
    let mut code = |params: &str| {
        pair.client.request("session/resume", params).unwrap();
        match pair.response().outcome {
            crate::connection::Outcome::Error(error) => (error.code, error.data.unwrap_or_default()),
            other => panic!("{other:?}"),
        }
    };
    let replay = r#"{"sessionId":"s","cwd":"/w","replayFrom":{"type":"start"}}"#;
    assert_eq!(code(replay).0, ErrorCode::INVALID_PARAMS);
    let other = code(r#"{"sessionId":"other","cwd":"/w"}"#);
    assert_eq!(other.0, ErrorCode::RESOURCE_NOT_FOUND);
    assert_eq!(text(&other.1, "/sessionId"), "other");
    pair.quiet();
}

#[test]
fn open_sessions_are_listed_without_a_handler() {
    let mut pair = Pair::open(2, &[]);
    let request = pair.ask("session/new", r#"{"cwd":"/x"}"#);
    pair.host.respond(&request, r#"{"sessionId":"t"}"#).unwrap();
    pair.result();
    pair.host
        .notify("session/update", r#"{"sessionId":"t","update":{"sessionUpdate":"session_info_update","title":"T"}}"#)
        .unwrap();
    pair.update();
    let mut list = |params: &str| {
        pair.client.request("session/list", params).unwrap();
        pair.result()
    };
    assert_eq!(list("{}"), r#"{"sessions":[{"sessionId":"s","cwd":"/w"},{"sessionId":"t","cwd":"/x","title":"T"}]}"#);
    assert_eq!(list(r#"{"cwd":"/w"}"#), r#"{"sessions":[{"sessionId":"s","cwd":"/w"}]}"#);
    let mut pair = Pair::open(2, &["session/list"]);
    assert_eq!(&*pair.ask("session/list", "{}").method, "session/list");
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

#[test]
fn nothing_is_kept_of_what_is_over() {
    let mut pair = Pair::open(2, &[]);
    for _ in 0..3 {
        let (prompt, _) = prompted(&mut pair, "one");
        pair.host.request_with("session/request_permission", PERMISSION, Default::default()).unwrap();
        let Some(Event::Request(asked)) = pair.told() else { panic!() };
        pair.client.respond(&asked, r#"{"outcome":{"outcome":"selected","optionId":"y"}}"#).unwrap();
        pair.pump();
        pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
        pair.pump();
        pair.seen.clear();
        pair.told.clear();
    }
    let close = pair.ask("session/close", r#"{"sessionId":"s"}"#);
    pair.host.respond(&close, "{}").unwrap();
    pair.pump();
    assert_eq!(pair.host.agent().newer.kept(), [0; 4], "sessions, prompts, questions, requests");
}
