//! Prompts that are held, and what makes messages of them or refuses them.

use super::*;

#[test]
fn a_held_prompt_is_inserted_once() {
    let mut pair = held(2);
    let prompt = pair.prompt("hi");
    pair.quiet();
    pair.host.insert(prompt.serial).unwrap();
    pair.host.insert(prompt.serial).unwrap();
    pair.host.stepped(prompt.serial).unwrap();
    pair.inserted("hi");
    assert_eq!(pair.host.hold(prompt.serial).unwrap_err().rule.as_str(), "LIFE-24");
    pair.quiet();
    pair.host.respond_error(&prompt, ErrorCode::INTERNAL_ERROR, "no", None).unwrap();
    assert_eq!(pair.state(), "idle error");
    for serial in [prompt.serial, 99] {
        assert_eq!(pair.host.insert(serial).unwrap_err().rule.as_str(), "RPC-15");
        assert_eq!(pair.host.hold(serial).unwrap_err().rule.as_str(), "RPC-15");
        pair.host.stepped(serial).unwrap();
    }
    pair.quiet();
}

/// `IdleStateUpdate`: work that the agent stops for its own reasons uses another reason than `cancelled`.
#[test]
fn what_the_agent_gives_up_was_not_cancelled() {
    for (is_cancelled, state) in [(false, "idle error"), (true, "idle cancelled")] {
        let mut pair = held(2);
        let prompt = pair.prompt("hi");
        pair.host.insert(prompt.serial).unwrap();
        pair.inserted("hi");
        if is_cancelled {
            told_cancel(&mut pair);
            cancelled(&mut pair);
        }
        pair.host.respond_error(&prompt, ErrorCode::REQUEST_CANCELLED, "The agent ends", None).unwrap();
        assert_eq!(pair.state(), state);
    }
}

#[test]
fn the_first_step_inserts_what_its_handler_does_not_hold() {
    let mut pair = held(2);
    let prompt = pair.prompt("hi");
    pair.host.stepped(prompt.serial).unwrap();
    pair.inserted("hi");
    pair.host.respond(&prompt, END).unwrap();
    assert_eq!(pair.state(), "idle end_turn");
    let prompt = pair.prompt("ho");
    pair.host.hold(prompt.serial).unwrap();
    pair.host.stepped(prompt.serial).unwrap();
    pair.quiet();
    pair.host.respond(&prompt, END).unwrap();
    pair.inserted("ho");
    assert_eq!(pair.state(), "idle end_turn");
    pair.quiet();
}

#[test]
fn whatever_is_said_in_the_first_step_inserts_what_its_handler_does_not_hold() {
    for beside in [
        r#"{"sessionUpdate":"session_info_update","title":"T"}"#,
        r#"{"sessionUpdate":"available_commands_update","availableCommands":[]}"#,
    ] {
        let mut pair = held(2);
        let prompt = pair.prompt("hi");
        pair.say(beside);
        pair.inserted("hi");
        assert_eq!(text(&pair.update(), "/sessionUpdate"), text(beside, "/sessionUpdate"));
        pair.host.stepped(prompt.serial).unwrap();
        pair.quiet();
    }
    let mut pair = held(2);
    pair.prompt("hi");
    let params = r#"{"sessionId":"s","toolCall":{"toolCallId":"t","title":"T"},"options":[{"optionId":"y","name":"Y","kind":"allow_once"}]}"#;
    pair.host.request_with("session/request_permission", params, CallOptions::default()).unwrap();
    pair.inserted("hi");
    let Some(Event::Request(_)) = pair.told() else { panic!() };
    assert_eq!(pair.state(), "requires_action");
    pair.quiet();
}

#[test]
fn the_first_of_its_work_inserts_a_prompt() {
    let outputs = [
        TEXT,
        r#"{"sessionUpdate":"tool_call","toolCallId":"t","title":"T"}"#,
        r#"{"sessionUpdate":"plan","entries":[]}"#,
        r#"{"sessionUpdate":"terminal_update","terminalId":"x","command":"ls"}"#,
    ];
    for output in outputs {
        let mut pair = held(2);
        let prompt = pair.prompt("hi");
        pair.host.hold(prompt.serial).unwrap();
        // None of these is about the work on the prompt.
        for beside in [
            r#"{"sessionUpdate":"session_info_update","title":"T"}"#,
            r#"{"sessionUpdate":"usage_update","used":1,"size":2}"#,
            r#"{"sessionUpdate":"notice","severity":"info","title":"m"}"#,
        ] {
            pair.say(beside);
            assert_eq!(text(&pair.update(), "/sessionUpdate"), text(beside, "/sessionUpdate"));
        }
        // What cannot be sent inserts nothing.
        let wrong = r#"{"sessionId":"s","update":{"sessionUpdate":"agent_message_chunk","content":1}}"#;
        assert!(pair.host.notify("session/update", wrong).is_err());
        pair.quiet();
        pair.say(output);
        pair.inserted("hi");
        pair.update();
        pair.quiet();
    }
}

#[test]
fn whatever_is_said_first_inserts_what_no_handler_holds() {
    let mut pair = held(2);
    let prompt = pair.prompt("hi");
    pair.say(r#"{"sessionUpdate":"session_info_update","title":"T"}"#);
    pair.inserted("hi");
    assert_eq!(text(&pair.update(), "/title"), "T");
    pair.host.respond(&prompt, END).unwrap();
    assert_eq!(pair.state(), "idle end_turn");
    let _ = pair.prompt("ho");
    // What cannot be asked inserts nothing.
    assert!(pair
        .host
        .request_with("fs/read_text_file", r#"{"sessionId":"s","path":"/a"}"#, CallOptions::default())
        .is_err());
    pair.quiet();
    let form = r#"{"sessionId":"s","message":"m","mode":"form","requestedSchema":{"type":"object","properties":{}}}"#;
    pair.host.request_with("elicitation/create", form, CallOptions::default()).unwrap();
    pair.inserted("ho");
    let Some(Event::Request(_)) = pair.told() else { panic!() };
    assert_eq!(pair.state(), "requires_action");
    pair.quiet();
}

#[test]
fn an_error_refuses_what_is_no_message() {
    let mut pair = held(2);
    let prompt = pair.prompt("hi");
    assert_eq!(
        pair.host.respond_error(&prompt, ErrorCode(-32099), "no", Some("{")).unwrap_err().rule.as_str(),
        "RPC-21"
    );
    pair.quiet();
    pair.host.respond_error(&prompt, ErrorCode(-32099), "no", Some("{\"a\":1}")).unwrap();
    assert_eq!(pair.refusal(), (ErrorCode(-32099), "{\"a\":1}".to_owned()));
    pair.quiet();
    // A result that is none inserts nothing.
    let prompt = pair.prompt("ho");
    for (result, rule) in [("{}", "TURN-01"), (r#"{"stopReason":"odd"}"#, "ENUM-01")] {
        let misuse = pair.host.respond(&prompt, result).unwrap_err();
        assert_eq!((misuse.rule.as_str(), &*misuse.pointer), (rule, "/stopReason"));
    }
    pair.quiet();
    pair.host.respond(&prompt, r#"{"stopReason":"max_tokens"}"#).unwrap();
    pair.inserted("ho");
    assert_eq!(pair.state(), "idle max_tokens");
    pair.quiet();
    assert_eq!(pair.host.agent().newer.kept()[1], 0);
}

#[test]
fn a_cancel_before_the_insertion_refuses_whatever_the_handler_says() {
    for (by_request, ends) in [(true, 0), (true, 1), (true, 2), (false, 0), (false, 1), (false, 2)] {
        let mut pair = held(2);
        let prompt = pair.prompt("hi");
        pair.host.hold(prompt.serial).unwrap();
        if by_request {
            pair.client.cancel(&prompt.id).unwrap();
        } else {
            told_cancel(&mut pair);
        }
        assert_eq!(cancelled(&mut pair), (prompt.serial, prompt.id.clone()));
        assert_eq!(matches!(pair.seen(), Some(Event::Notification(_))), !by_request);
        pair.host.stepped(prompt.serial).unwrap();
        assert_eq!(pair.host.insert(prompt.serial).unwrap_err().rule.as_str(), "LIFE-21");
        // It goes out, and inserts nothing.
        pair.say(TEXT);
        pair.update();
        pair.quiet();
        match ends {
            0 => pair.host.respond(&prompt, END).unwrap(),
            1 => pair.host.respond(&prompt, r#"{"stopReason":"cancelled"}"#).unwrap(),
            _ => pair.host.respond_error(&prompt, ErrorCode::INTERNAL_ERROR, "no", Some("1")).unwrap(),
        }
        assert_eq!(pair.refusal(), (ErrorCode::REQUEST_CANCELLED, String::new()));
        pair.quiet();
        // It does not touch the next one (CANCEL-23).
        let prompt = pair.prompt("ho");
        pair.host.respond(&prompt, END).unwrap();
        pair.inserted("ho");
        assert_eq!(pair.state(), "idle end_turn");
        pair.quiet();
    }
}

#[test]
fn what_was_told_before_an_insertion_ends_with_the_refusal() {
    for fails in [false, true] {
        let mut pair = held(2);
        let prompt = pair.prompt("hi");
        pair.host.hold(prompt.serial).unwrap();
        let asked = pair.permission();
        assert_eq!(pair.state(), "requires_action");
        if fails {
            pair.client.respond(&asked, r#"{"outcome":{"outcome":"selected","optionId":"n"}}"#).unwrap();
            let Some(Event::Response(_)) = pair.seen() else { panic!() };
            assert_eq!(pair.state(), "running");
            pair.host.respond_error(&prompt, ErrorCode(-32099), "no", None).unwrap();
            assert_eq!(pair.refusal().0, ErrorCode(-32099));
            let idle = pair.update();
            assert_eq!((text(&idle, "/stopReason"), text(&idle, "/error/code")), ("error".into(), "-32099".into()));
        } else {
            // Work that waits for the user goes on to wait.
            pair.host.insert(prompt.serial).unwrap();
            let id = text(&pair.result(), "/messageId");
            assert_eq!(text(&pair.update(), "/messageId"), id);
            pair.quiet();
            pair.client.respond(&asked, r#"{"outcome":{"outcome":"selected","optionId":"y"}}"#).unwrap();
            let Some(Event::Response(_)) = pair.seen() else { panic!() };
            assert_eq!(pair.state(), "running");
            pair.host.respond(&prompt, END).unwrap();
            assert_eq!(pair.state(), "idle end_turn");
        }
        pair.quiet();
    }
}

#[test]
fn a_session_that_ends_refuses_what_is_held() {
    for (method, ends) in [("session/close", false), ("session/close", true), ("session/delete", false)] {
        let mut pair = held(2);
        let prompt = pair.prompt("hi");
        pair.client.request("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"two"}]}"#).unwrap();
        pair.pump();
        pair.client.request(method, r#"{"sessionId":"s"}"#).unwrap();
        if method == "session/close" {
            assert_eq!(cancelled(&mut pair).0, prompt.serial);
        }
        let request = pair.request(method);
        if ends {
            pair.host.respond(&prompt, END).unwrap();
        }
        pair.host.respond(&request, "{}").unwrap();
        pair.pump();
        let mut codes = Vec::new();
        while let Some(event) = pair.told() {
            match event {
                Event::Response(response) => codes.push(match response.outcome {
                    Outcome::Error(error) => error.code.0,
                    _ => 0,
                }),
                other => panic!("{other:?}"),
            }
        }
        codes.sort_unstable();
        assert_eq!(codes, [-32800, -32800, 0]);
        assert_eq!(pair.host.respond(&prompt, END).is_ok(), !ends);
        pair.quiet();
        assert_eq!(pair.host.agent().newer.kept(), [0; 4]);
    }
}

#[test]
fn nothing_is_held_in_version_1() {
    let mut pair = held(1);
    let prompt = pair.prompt("hi");
    pair.host.hold(prompt.serial).unwrap();
    pair.host.stepped(prompt.serial).unwrap();
    pair.host.insert(prompt.serial).unwrap();
    pair.quiet();
    pair.host.respond(&prompt, END).unwrap();
    assert_eq!(pair.result(), END);
    pair.quiet();
}
