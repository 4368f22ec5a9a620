//! Prompts that are held, work without a prompt, and what runs in the background.

use super::*;

const END: &str = r#"{"stopReason":"end_turn"}"#;
const TEXT: &str = r#"{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"x"}}"#;
const CALL: &str = r#"{"type":"tool_call","toolCallId":"t"}"#;

/// Handlers see prompts before these are messages.
fn held(version: u16) -> Pair {
    let mut pair = Pair::open(version, &[]);
    pair.host.hold_prompts();
    pair
}

fn cancelled(pair: &mut Pair) -> (u64, crate::Id) {
    match pair.seen() {
        Some(Event::Cancel(cancel)) => (cancel.serial, cancel.id),
        other => panic!("{other:?}"),
    }
}

fn told_cancel(pair: &mut Pair) {
    pair.client.notify("session/cancel", r#"{"sessionId":"s"}"#).unwrap();
}

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

#[test]
fn work_needs_no_prompt() {
    let mut pair = held(2);
    let work = pair.host.begin_work("s").unwrap();
    assert_eq!(pair.state(), "running");
    pair.say(TEXT);
    assert_eq!(text(&pair.update(), "/content/text"), "x");
    let asked = pair.permission();
    assert_eq!(pair.state(), "requires_action");
    pair.client.respond(&asked, r#"{"outcome":{"outcome":"selected","optionId":"y"}}"#).unwrap();
    let Some(Event::Response(_)) = pair.seen() else { panic!() };
    assert_eq!(pair.state(), "running");
    for (result, rule) in [("{}", "TURN-01"), (r#"{"stopReason":"odd"}"#, "ENUM-01")] {
        assert_eq!(pair.host.end_work(work, result).unwrap_err().rule.as_str(), rule);
    }
    pair.quiet();
    pair.host.end_work(work, END).unwrap();
    assert_eq!(pair.state(), "idle end_turn");
    let failed = pair.host.begin_work("s").unwrap();
    assert_ne!(work, failed);
    assert_eq!(pair.state(), "running");
    pair.host.fail_work(failed, ErrorCode::INTERNAL_ERROR, "no", Some("1")).unwrap();
    let idle = pair.update();
    assert_eq!(text(&idle, "/error"), r#"{"code":-32603,"message":"no","data":1}"#);
    pair.quiet();
}

#[test]
fn work_is_refused_where_it_cannot_be() {
    for version in VERSIONS {
        let mut pair = held(version);
        let rule = |pair: &mut Pair, session: &str| pair.host.begin_work(session).unwrap_err().rule.as_str().to_owned();
        assert_eq!(rule(&mut pair, "other"), "SESS-01");
        let prompt = pair.prompt("hi");
        assert_eq!(rule(&mut pair, "s"), "LIFE-25", "a held prompt is served");
        pair.host.stepped(prompt.serial).unwrap();
        assert_eq!(rule(&mut pair, "s"), "LIFE-25");
        pair.host.respond(&prompt, END).unwrap();
        let work = pair.host.begin_work("s").unwrap();
        assert_eq!(rule(&mut pair, "s"), "LIFE-25");
        pair.host.end_work(work, END).unwrap();
        for number in [work, work + 1, 7] {
            assert_eq!(pair.host.end_work(number, END).unwrap_err().rule.as_str(), "LIFE-25");
        }
        let mut client = Host::new(Config::client(), []);
        assert_eq!(client.begin_work("s").unwrap_err().rule.as_str(), "EXT-07");
        let load = r#"{"sessionId":"l","cwd":"/w","mcpServers":[]}"#;
        let mut pair = Pair::new(version, &["session/load", "session/resume"]);
        pair.ask(if version == 1 { "session/load" } else { "session/resume" }, load);
        assert_eq!(rule(&mut pair, "l"), "TURN-20");
    }
}

#[test]
fn prompts_wait_for_the_end_of_work() {
    for version in VERSIONS {
        let mut pair = held(version);
        let work = pair.host.begin_work("s").unwrap();
        let prompt = r#"{"sessionId":"s","prompt":[{"type":"text","text":"hi"}]}"#;
        pair.client.request("session/prompt", prompt).unwrap();
        pair.pump();
        assert!(pair.seen.is_empty());
        pair.host.end_work(work, END).unwrap();
        let prompt = pair.request("session/prompt");
        pair.host.respond(&prompt, END).unwrap();
        pair.pump();
        let last = pair.told.pop_back().unwrap();
        match version {
            1 => assert!(matches!(last, Event::Response(_))),
            _ => assert!(matches!(last, Event::Notification(_))),
        }
        // One that is cancelled is never seen.
        let work = pair.host.begin_work("s").unwrap();
        let id = pair.client.request("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"two"}]}"#);
        pair.pump();
        pair.client.cancel(&id.unwrap()).unwrap();
        pair.pump();
        assert!(pair.seen.is_empty(), "{:?}", pair.seen);
        let Some(Event::Response(response)) = pair.told.pop_back() else { panic!() };
        match version {
            1 => assert_eq!(response.outcome.result(), Some(r#"{"stopReason":"cancelled"}"#)),
            _ => {
                assert!(
                    matches!(response.outcome, Outcome::Error(error) if error.code == ErrorCode::REQUEST_CANCELLED)
                );
            }
        }
        pair.host.end_work(work, END).unwrap();
        pair.pump();
        assert!(pair.seen.is_empty());
    }
}

#[test]
fn a_cancel_reaches_work() {
    for version in VERSIONS {
        for close in [false, true] {
            let mut pair = held(version);
            let work = pair.host.begin_work("s").unwrap();
            pair.client
                .request("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"a"}]}"#)
                .unwrap();
            pair.pump();
            pair.told.clear();
            if close {
                pair.client.request("session/close", r#"{"sessionId":"s"}"#).unwrap();
            } else {
                told_cancel(&mut pair);
                // A second one says nothing new.
                told_cancel(&mut pair);
            }
            assert_eq!(cancelled(&mut pair), (work, crate::Id::Null));
            pair.pump();
            let seen: Vec<_> = pair.seen.drain(..).collect();
            assert!(seen.iter().all(|event| matches!(event, Event::Notification(_) | Event::Request(_))), "{seen:?}");
            let Some(Event::Response(prompt)) = pair.told() else { panic!() };
            match version {
                1 => assert_eq!(prompt.outcome.result(), Some(r#"{"stopReason":"cancelled"}"#)),
                _ => assert!(
                    matches!(prompt.outcome, Outcome::Error(error) if error.code == ErrorCode::REQUEST_CANCELLED)
                ),
            }
            if let Some(Event::Request(request)) = seen.first() {
                pair.host.respond(request, "{}").unwrap();
                if version == 2 {
                    assert_eq!(pair.state(), "idle cancelled");
                }
                pair.result();
            }
            pair.host.end_work(work, END).unwrap();
            if version == 2 && !close {
                assert_eq!(pair.state(), "idle cancelled");
            }
            pair.quiet();
            if close {
                assert_eq!(pair.host.agent().works.count() + pair.host.agent().older.count(), 0);
                assert_eq!(pair.host.agent().newer.kept(), [0; 4]);
            }
        }
    }
}

#[test]
fn work_outlives_the_connection_without_harm() {
    for version in VERSIONS {
        let mut pair = held(version);
        let work = pair.host.begin_work("s").unwrap();
        let _ = pair.client.request("session/prompt", r#"{"sessionId":"s","prompt":[{"type":"text","text":"a"}]}"#);
        pair.pump();
        pair.told.clear();
        pair.host.connection_mut().receive_eof();
        let Some(Event::Closed(closed)) = pair.seen() else { panic!() };
        assert_eq!(closed.unanswered, [], "the host has not seen it");
        assert_eq!(pair.refusal().0, ErrorCode::REQUEST_CANCELLED);
        pair.host.end_work(work, END).unwrap();
        pair.pump();
        pair.told.clear();
        assert_eq!(pair.host.begin_work("s").unwrap_err().rule.as_str(), "RPC-33");
        assert_eq!(pair.host.background("s", CALL).is_err(), version == 2);
    }
}

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
