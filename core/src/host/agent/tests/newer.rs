//! Version 2: a host with the words of version 1, and a client that knows nothing of them.

use super::*;

const MODES: &str =
    r#"{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"code","name":"Code"}]}"#;
const ASKED: &str =
    r#"{"sessionId":"s","toolCall":{"toolCallId":"t"},"options":[{"optionId":"n","name":"N","kind":"reject_once"}]}"#;

#[test]
fn a_prompt_becomes_a_message_and_its_result_a_state() {
    let mut pair = Pair::open(2, &[]);
    let (prompt, first) = pair.prompted("hi");
    assert_eq!(&*prompt.method, "session/prompt");
    let usage =
        r#"{"stopReason":"end_turn","usage":{"totalTokens":2,"inputTokens":1,"outputTokens":1},"_meta":{"a":1}}"#;
    pair.host.respond(&prompt, usage).unwrap();
    let idle = pair.update();
    assert_eq!((text(&idle, "/stopReason"), text(&idle, "/usage/totalTokens")), ("end_turn".into(), "2".into()));
    assert_eq!(text(&idle, "/_meta/a"), "1");
    let (prompt, second) = pair.prompted("hi");
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
    let (prompt, _) = pair.prompted("hi");
    for (result, rule) in [("{}", "TURN-01"), ("null", "TURN-01"), (r#"{"stopReason":"odd"}"#, "ENUM-01")] {
        let misuse = pair.host.respond(&prompt.id, result).unwrap_err();
        assert_eq!((misuse.rule.as_str(), &*misuse.pointer), (rule, "/stopReason"), "{misuse}");
    }
    let misuse = pair.host.respond_error(&prompt, ErrorCode::INTERNAL_ERROR, "no", Some("{")).unwrap_err();
    assert_eq!(misuse.rule.as_str(), "RPC-21");
    pair.host.respond(&prompt.id, r#"{"stopReason":"refusal"}"#).unwrap();
    assert_eq!(pair.state(), "idle refusal");
    pair.quiet();
}

#[test]
fn prompts_wait_for_the_end_of_the_turn() {
    let mut pair = Pair::open(2, &[]);
    let (first, _) = pair.prompted("one");
    let prompt = |said: &str| format!(r#"{{"sessionId":"s","prompt":[{{"type":"text","text":"{said}"}}]}}"#);
    pair.client.request("session/prompt", &prompt("two")).unwrap();
    let third = pair.client.request("session/prompt", &prompt("three")).unwrap();
    pair.quiet();
    pair.client.cancel(&third).unwrap();
    pair.pump();
    assert_eq!(pair.refusal().0, ErrorCode::REQUEST_CANCELLED);
    pair.host.respond(&first, r#"{"stopReason":"end_turn"}"#).unwrap();
    let second = pair.request("session/prompt");
    assert_eq!(pair.state(), "idle end_turn");
    pair.inserted("two");
    pair.host.respond(&second, r#"{"stopReason":"max_tokens"}"#).unwrap();
    assert_eq!(pair.state(), "idle max_tokens");
    for number in 0..70 {
        pair.client.request("session/prompt", &prompt(&number.to_string())).unwrap();
    }
    let _ = pair.request("session/prompt");
    pair.inserted("0");
    for _ in 65..70 {
        assert_eq!(pair.response().outcome.name(), "error");
    }
    pair.quiet();
}

#[test]
fn a_cancel_stops_what_is_served_what_waits_and_what_is_asked() {
    let mut pair = Pair::open(2, &[]);
    let (prompt, _) = pair.prompted("one");
    pair.client.request("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"two"}]}"#).unwrap();
    pair.permission();
    assert_eq!(pair.state(), "requires_action");
    pair.client.notify("session/cancel", r#"{"sessionId":"s"}"#).unwrap();
    let Some(Event::Cancel(cancel)) = pair.seen() else { panic!() };
    assert_eq!((cancel.id, cancel.serial), (prompt.id.clone(), prompt.serial));
    let Some(Event::Notification(_)) = pair.seen() else { panic!() };
    let Some(Event::Response(answer)) = pair.seen() else { panic!() };
    assert_eq!(text(answer.outcome.result().unwrap(), "/outcome/outcome"), "cancelled");
    let Some(Event::Answered(_)) = pair.told() else { panic!() };
    assert_eq!(pair.refusal().0, ErrorCode::REQUEST_CANCELLED);
    pair.host.respond_error(&prompt, ErrorCode::INTERNAL_ERROR, "aborted", None).unwrap();
    assert_eq!(pair.state(), "idle cancelled");
    // It does not touch the next one (CANCEL-23).
    let (prompt, _) = pair.prompted("three");
    pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
    assert_eq!(pair.state(), "idle end_turn");
    pair.quiet();
}

#[test]
fn a_session_that_is_closed_ends_its_work_first() {
    for ends in [false, true] {
        let mut pair = Pair::open(2, &[]);
        let (prompt, _) = pair.prompted("one");
        pair.client.request("session/close", r#"{"sessionId":"s"}"#).unwrap();
        let Some(Event::Cancel(cancel)) = pair.seen() else { panic!() };
        assert_eq!(cancel.serial, prompt.serial);
        let close = pair.request("session/close");
        if ends {
            pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
        }
        pair.host.respond(&close, "{}").unwrap();
        assert_eq!(pair.state(), "idle cancelled");
        pair.result();
        assert_eq!(pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).is_ok(), !ends);
        pair.quiet();
        assert!(pair.host.connection().sessions().next().is_none());
    }
}

#[test]
fn a_permission_blocks_the_work() {
    for (answer, seen) in [
        (r#"{"outcome":"selected","optionId":"y"}"#, r#"{"outcome":"selected","optionId":"y"}"#),
        (r#"{"outcome":"cancelled"}"#, r#"{"outcome":"selected","optionId":"n"}"#),
    ] {
        let mut pair = Pair::open(2, &[]);
        let (prompt, _) = pair.prompted("one");
        let first = pair.permission();
        let asked = r#"{"type":"tool_call","toolCall":{"toolCallId":"t","title":"Run"}}"#;
        assert_eq!((text(first.params(), "/title"), text(first.params(), "/subject")), ("Run".into(), asked.into()));
        assert_eq!(pair.state(), "requires_action");
        let form =
            r#"{"sessionId":"s","message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}"#;
        pair.host.request_with("elicitation/create", form, CallOptions::default()).unwrap();
        let Some(Event::Request(second)) = pair.told() else { panic!() };
        pair.client.respond(&first, &format!("{{\"outcome\":{answer}}}")).unwrap();
        let Some(Event::Response(response)) = pair.seen() else { panic!() };
        assert_eq!(text(response.outcome.result().unwrap(), "/outcome"), seen);
        pair.quiet();
        pair.client.respond(&second, r#"{"action":"decline"}"#).unwrap();
        let Some(Event::Response(_)) = pair.seen() else { panic!() };
        assert_eq!(pair.state(), "running");
        pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
        assert_eq!(pair.state(), "idle end_turn");
        pair.quiet();
    }
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
    assert_eq!(pair.state(), "idle");
    assert_eq!(text(&pair.result(), "/configOptions/0/currentValue"), "ask");
    pair.quiet();
    // The session is open, so that it can be resumed without a handler, also while it works.
    let (prompt, _) = pair.prompted("one");
    pair.client.request("session/resume", r#"{"sessionId":"s","cwd":"/x"}"#).unwrap();
    assert_eq!(pair.state(), "running");
    assert_eq!(text(&pair.result(), "/configOptions/0/currentValue"), "ask");
    pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
    assert_eq!(pair.state(), "idle end_turn");
    pair.quiet();
}

#[test]
fn what_nobody_restores_is_refused() {
    let mut pair = Pair::open(2, &[]);
    let mut code = |params: &str| {
        pair.client.request("session/resume", params).unwrap();
        pair.refusal()
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
fn nothing_is_kept_of_what_is_over() {
    let mut pair = Pair::open(2, &[]);
    for _ in 0..3 {
        let (prompt, _) = pair.prompted("one");
        let asked = pair.permission();
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

#[test]
fn a_session_that_is_deleted_answers_what_waits() {
    let mut pair = Pair::open(2, &[]);
    let (prompt, _) = pair.prompted("one");
    pair.client.request("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"two"}]}"#).unwrap();
    let delete = pair.ask("session/delete", r#"{"sessionId":"s"}"#);
    pair.host.respond(&delete, "{}").unwrap();
    pair.result();
    assert_eq!(pair.refusal().0, ErrorCode::REQUEST_CANCELLED);
    pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
    pair.quiet();
    assert_eq!(pair.host.agent().newer.kept(), [0; 4]);
}

#[test]
fn the_host_is_told_of_no_prompt_that_it_has_not_seen() {
    let mut pair = Pair::open(2, &[]);
    let (prompt, _) = pair.prompted("one");
    pair.client.request("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"two"}]}"#).unwrap();
    pair.pump();
    pair.host.connection_mut().handle_timeout(5000);
    pair.quiet();
    pair.host.connection_mut().receive_eof();
    let Some(Event::Closed(closed)) = pair.seen() else { panic!() };
    assert_eq!(closed.unanswered, []);
    assert_eq!(pair.refusal().0, ErrorCode::REQUEST_CANCELLED);
    pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
    assert_eq!(pair.state(), "idle end_turn");
    pair.quiet();
}

#[test]
fn questions_of_background_work_outlive_a_cancel() {
    let mut pair = Pair::open(2, &[]);
    let (prompt, _) = pair.prompted("one");
    pair.say(r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"T"}"#);
    pair.update();
    pair.say(
        r#"{"sessionUpdate":"state_update","state":"running","background":[{"type":"tool_call","toolCallId":"t"}]}"#,
    );
    pair.update();
    let asked = pair.permission();
    pair.quiet();
    pair.client.notify("session/cancel", r#"{"sessionId":"s"}"#).unwrap();
    let Some(Event::Cancel(_)) = pair.seen() else { panic!() };
    let Some(Event::Notification(_)) = pair.seen() else { panic!() };
    pair.quiet();
    pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
    let idle = pair.update();
    assert_eq!((text(&idle, "/stopReason"), text(&idle, "/background/0/toolCallId")), ("cancelled".into(), "t".into()));
    pair.client.respond(&asked, r#"{"outcome":{"outcome":"selected","optionId":"y"}}"#).unwrap();
    let Some(Event::Response(_)) = pair.seen() else { panic!() };
    pair.quiet();
}

#[test]
fn a_question_that_the_host_takes_back_is_cancelled() {
    let mut pair = Pair::open(2, &[]);
    let (prompt, _) = pair.prompted("one");
    let id = pair.host.request_with("session/request_permission", ASKED, CallOptions::default()).unwrap();
    let Some(Event::Request(asked)) = pair.told() else { panic!() };
    assert_eq!(text(asked.params(), "/title"), "Allow this tool call?");
    assert_eq!(pair.state(), "requires_action");
    pair.host.cancel(&id).unwrap();
    let Some(Event::Response(answer)) = pair.seen() else { panic!() };
    assert_eq!(text(answer.outcome.result().unwrap(), "/outcome/outcome"), "cancelled");
    let Some(Event::Answered(_)) = pair.told() else { panic!() };
    assert_eq!(pair.state(), "running");
    pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
    assert_eq!(pair.state(), "idle end_turn");
}

#[test]
fn an_outcome_that_nobody_knows_allows_nothing() {
    let mut pair = Pair::open(2, &[]);
    let asked = pair.permission();
    pair.quiet();
    pair.client.respond(&asked, r#"{"outcome":{"outcome":"_later"}}"#).unwrap();
    pair.host.connection_mut().receive(pair.client.transmit());
    assert!(matches!(pair.host.poll_event(), Some(Event::Violation(broken)) if broken.rule.as_str() == "PERM-15"));
    let Some(Event::Response(answer)) = pair.host.poll_event() else { panic!() };
    assert_eq!(answer.outcome.result(), Some(r#"{"outcome":{"outcome":"cancelled"}}"#));
}

#[test]
fn an_action_that_nobody_knows_is_a_cancel() {
    let mut pair = Pair::open(2, &[]);
    let form = r#"{"sessionId":"s","message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}"#;
    pair.host.request_with("elicitation/create", form, CallOptions::default()).unwrap();
    let Some(Event::Request(asked)) = pair.told() else { panic!() };
    pair.client.respond(&asked, r#"{"action":"_later"}"#).unwrap();
    pair.host.connection_mut().receive(pair.client.transmit());
    let answer = std::iter::from_fn(|| pair.host.poll_event()).find_map(|event| match event {
        Event::Response(answer) => Some(answer),
        _ => None,
    });
    assert_eq!(answer.unwrap().outcome.result(), Some(r#"{"action":"cancel"}"#));
}

#[test]
fn a_cursor_that_the_agent_does_not_know_is_refused() {
    let mut pair = Pair::open(2, &["session/load", "session/resume"]);
    let cursor = r#"{"sessionId":"s","cwd":"/w","replayFrom":{"type":"_mark"}}"#;
    pair.client.request("session/resume", cursor).unwrap();
    assert_eq!(pair.refusal().0, ErrorCode::INVALID_PARAMS);
    let resume = pair.ask("session/resume", r#"{"sessionId":"s","cwd":"/w","replayFrom":null}"#);
    assert_eq!(&*resume.method, "session/resume");
    pair.host.respond_error(&resume, ErrorCode::INTERNAL_ERROR, "no", None).unwrap();
    assert_eq!(pair.refusal().0, ErrorCode::INTERNAL_ERROR);
    let (prompt, _) = pair.prompted("one");
    pair.host.respond(&prompt, r#"{"stopReason":"end_turn"}"#).unwrap();
    assert_eq!(pair.state(), "idle end_turn");
    pair.quiet();
}
