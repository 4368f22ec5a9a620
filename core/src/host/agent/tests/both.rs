//! What holds in both versions, and in version 1.

use super::*;

const COMMANDS: &str =
    r#"{"update":{"sessionUpdate":"available_commands_update","availableCommands":[{"name":"x","description":"X"}]}}"#;

#[test]
fn a_cancel_is_seen_for_each_prompt_before_the_notification() {
    let mut pair = Pair::open(1, &[]);
    let prompt = pair.prompt("hi");
    let asked = r#"{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"y","name":"Y","kind":"allow_once"}]}"#;
    pair.host.request_with("session/request_permission", asked, CallOptions::default()).unwrap();
    let Some(Event::Request(_)) = pair.told() else { panic!() };
    pair.client.notify("session/cancel", r#"{"sessionId":"s"}"#).unwrap();
    let Some(Event::Cancel(cancel)) = pair.seen() else { panic!() };
    assert_eq!((&cancel.id, cancel.serial, &*cancel.method), (&prompt.id, prompt.serial, "session/prompt"));
    let Some(Event::Notification(_)) = pair.seen() else { panic!() };
    let Some(Event::Response(_)) = pair.seen() else { panic!() };
    let Some(Event::Answered(_)) = pair.told() else { panic!() };
    pair.host.respond(prompt.serial, r#"{"stopReason":"cancelled"}"#).unwrap();
    assert_eq!(pair.result(), r#"{"stopReason":"cancelled"}"#);
    pair.quiet();
}

#[test]
fn what_is_said_of_a_new_session_follows_its_answer() {
    for version in VERSIONS {
        let mut pair = Pair::new(version, &[]);
        let request = pair.ask("session/new", r#"{"cwd":"/w","mcpServers":[]}"#);
        pair.host.notify_opened(request.serial, "session/update", COMMANDS).unwrap();
        pair.quiet();
        pair.host.respond(&request, r#"{"sessionId":"s"}"#).unwrap();
        assert_eq!(text(&pair.result(), "/sessionId"), "s");
        assert_eq!(text(&pair.update(), "/availableCommands/0/name"), "x");
        pair.quiet();
        let late = pair.host.notify_opened(request.serial, "session/update", COMMANDS).unwrap_err();
        assert_eq!(late.rule.as_str(), "RPC-15");
    }
}

#[test]
fn what_is_said_of_a_session_that_is_not_opened_is_dropped() {
    for version in VERSIONS {
        let mut pair = Pair::new(version, &[]);
        let request = pair.ask("session/new", r#"{"cwd":"/w","mcpServers":[]}"#);
        pair.host.notify_opened(request.serial, "session/update", COMMANDS).unwrap();
        pair.host.respond_error(&request, ErrorCode::INTERNAL_ERROR, "no", None).unwrap();
        assert_eq!(pair.response().outcome.name(), "error");
        pair.quiet();
    }
}

#[test]
fn a_history_comes_before_the_answer() {
    let mut pair = Pair::new(1, &["session/load"]);
    let request = pair.ask("session/load", r#"{"sessionId":"s","cwd":"/w","mcpServers":[]}"#);
    let said = r#"{"update":{"sessionUpdate":"user_message_chunk","content":{"type":"text","text":"hi"}}}"#;
    pair.host.notify_opened(request.serial, "session/update", said).unwrap();
    assert_eq!(text(&pair.update(), "/content/text"), "hi");
    pair.host.respond(&request, "{}").unwrap();
    pair.result();
    pair.quiet();
}

#[test]
fn a_close_takes_questions_back() {
    let mut pair = Pair::open(1, &[]);
    let prompt = pair.prompt("hi");
    pair.permission();
    pair.client.request("session/close", r#"{"sessionId":"s"}"#).unwrap();
    let Some(Event::Answered(_)) = pair.told() else { panic!() };
    let Some(Event::Cancel(_)) = pair.seen() else { panic!() };
    let close = pair.request("session/close");
    let Some(Event::Response(_)) = pair.seen() else { panic!() };
    pair.host.respond(&prompt, r#"{"stopReason":"cancelled"}"#).unwrap();
    pair.host.respond(&close, "{}").unwrap();
    pair.result();
    pair.result();
    pair.quiet();
}
