//! Work without a prompt: when it can be, who waits for it, and who ends it.

use super::*;

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
